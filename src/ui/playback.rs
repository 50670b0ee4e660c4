//! "Run" section of the panel: run, step, restart, time backwards, and the current step.

use egui::{Align, Button, Label, Layout, RichText, WidgetInfo, WidgetType, vec2};

use super::action::{Action, Collector};
use super::model::Model;
use super::numbers::{auto_number, live_number};
use super::widgets::{button, checkbox, heading, row, shortcut_button, tooltip, with_help};
use super::{jump, keys, theme};
use crate::base::{format, units};
use crate::engine::Config;

/// Maximum number of steps per frame that the user can choose.
pub(super) const MAX_STEPS_PER_FRAME: u32 = 10_000;

/// Shows the Run section of the panel; `is_filming` is true while a film is being recorded.
pub(super) fn show(ui: &mut egui::Ui, model: &mut Model, is_filming: bool, out: &mut Collector) {
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        heading(ui, "Run");
        shortcut_button(ui, out, ("open timeline", "Timeline"), Action::ToggleTimeline);
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            backwards(ui, model.config, out);
            let help =
                "Compute steps as fast as possible, without waiting for the screen; some steps are not shown";
            let free = with_help(checkbox(ui, &mut model.config.free_run, "Free run"), help);
            out.record("free run", &free);
            jump::reveal("free run", &free);
        });
    });
    let (is_running, text) = match (is_filming, model.is_past(), model.config.running) {
        (true, ..) => (true, "⏺ Recording"),
        (false, true, _) if model.timeline.plays => (true, "⏸ Pause replay"),
        (false, true, _) => (false, "▶ Replay"),
        (false, false, true) => (true, "⏸ Pause"),
        (false, false, false) => (false, "▶ Run"),
    };
    let size = vec2((ui.available_width() - 2.0 * ui.spacing().item_spacing.x) / 3.0, 24.0);
    ui.horizontal(|ui| {
        for (key, text, action) in [
            ("pause", text, Action::RunPause),
            ("step", "⏭ Step", Action::Step),
            ("restart", "⏮ Restart", Action::Restart),
        ] {
            let is_primary = action == Action::RunPause && !is_running;
            let fill = if is_primary { theme::of(ui).accent_fill } else { theme::of(ui).raised };
            let button = ui.add(Button::new(text).fill(fill).min_size(size));
            let button = button.on_hover_text(keys::hint(&action));
            out.button(key, &button, action);
        }
    });
    ui.horizontal(|ui| {
        // Keeps the height of this row at one line of text.
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().button_padding.y = 0.0;
        if model.stats.has_started() {
            clock(ui, model, out);
        } else {
            ui.label(RichText::new("Starting…").monospace().color(theme::of(ui).weak));
        }
    });
    speed(ui, model, out);
}

/// Shows the number of steps per frame, with buttons that halve and double it.
fn speed(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { config, stats, .. } = model;
    row(ui, "Steps/frame", "Simulation steps per displayed frame", |ui, label| {
        let range = 1..=MAX_STEPS_PER_FRAME;
        ui.spacing_mut().item_spacing.x = 3.0;
        let key = ("steps per frame", label);
        auto_number(ui, out, key, &mut config.steps_per_frame, stats.steps_per_frame, range);
        shortcut_button(ui, out, ("slower", "½×"), Action::Slower);
        shortcut_button(ui, out, ("faster", "2×"), Action::Faster);
    });
}

/// Shows the simulated time and an editable current step. During a seek, shows the target step and a stop button.
fn clock(ui: &mut egui::Ui, model: &Model, out: &mut Collector) {
    let stats = model.stats;
    let colour = theme::of(ui).weak;
    let weak = |text: String| RichText::new(text).monospace().color(colour);
    if let Some(goal) = stats.goal {
        let text = weak(format!("{} ⏵ {}", format::count(stats.step), format::count(goal)));
        // The button is laid out first, so that the numbers are truncated rather than the button.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            button(ui, out, ("stay", "Stop here", "Stop at the current step"), Action::GoTo(None));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(Label::new(text).truncate()));
        });
        return;
    }
    let help = "Current step. Type a number to go to that step and pause. Earlier steps are reached by running \
                backwards if possible, and otherwise by restarting the scene.";
    let label = ui.label(weak("step".to_owned())).on_hover_text(help);
    let text: fn(f64) -> String = |step| format::count(step as u64);
    let (step, speed) = (stats.step as f64, (10.0, text));
    if let Some(goal) = live_number(ui, out, ("go to step", &label, help), step, speed, 0.0..=1e15) {
        out.actions.push(Action::GoTo(Some(goal as u64)));
    }
    let units = &stats.config.start.units;
    let text = match units.date(stats.time) {
        Some(date) => date.to_string(),
        None => format!("time {}", units::quantity(stats.time, units.time.as_ref(), 4)),
    };
    let time = ui.label(weak(text));
    tooltip(time, || {
        let speed =
            if model.config.running { stats.steps_per_second * stats.config.mode.time_step() } else { 0.0 };
        let [time, speed] = [stats.time, speed].map(|time| units::quantity(time, units.time.as_ref(), 3));
        format!(
            "Simulated time since the scene began: {time}. Current speed: {speed} of simulated time per second of real time"
        )
    });
}

fn backwards(ui: &mut egui::Ui, config: &mut Config, out: &mut Collector) {
    let reason = config.mode.backwards().err();
    let is_possible = reason.is_none() || config.reverse;
    let back = ui.add_enabled_ui(is_possible, |ui| checkbox(ui, &mut config.reverse, "Backwards")).inner;
    let (enabled, on) = (back.enabled(), config.reverse);
    back.widget_info(|| WidgetInfo::selected(WidgetType::Checkbox, enabled, on, "Backwards"));
    out.record("reverse", &back);
    match reason {
        None => back.on_hover_text(keys::hint(&Action::Reverse)),
        Some(reason) => with_help(back, reason),
    };
}

/// Doubles or halves the steps per frame. If the setting is `auto`, starts from `in_use`, the number that `auto` chose.
pub(super) fn change_speed(config: &mut Config, in_use: u32, is_faster: bool) {
    let now = config.steps_per_frame.unwrap_or(in_use.max(1));
    let next = if is_faster { now.saturating_mul(2) } else { now / 2 };
    config.steps_per_frame = Some(next.clamp(1, MAX_STEPS_PER_FRAME));
}
