//! How time goes: run, step, backwards, faster, and to a step.

use egui::{Align, Button, Label, Layout, RichText, WidgetInfo, WidgetType, vec2};

use super::keys::{self, Command};
use super::widgets::button as command;
use super::widgets::{Sink, live_number, tick};
use super::{Model, format, theme};
use crate::config::Config;

/// The largest burst that can be asked for.
pub(super) const MAX_STEPS_PER_FRAME: u32 = 10_000;

/// The first section of the panel; `films` while a film steps by itself.
pub(super) fn show(ui: &mut egui::Ui, model: &mut Model, films: bool, sink: &mut Sink) {
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.label(RichText::new("Run").strong().color(theme::of(ui).accent));
        reverse(ui, model.config, sink);
    });
    let (running, text) = match (films, model.config.running) {
        (true, _) => (true, "⏺ Filming"),
        (false, true) => (true, "⏸ Pause"),
        (false, false) => (false, "▶ Run"),
    };
    let size = vec2((ui.available_width() - 2.0 * ui.spacing().item_spacing.x) / 3.0, 24.0);
    ui.horizontal(|ui| {
        for (key, text, command) in [
            ("pause", text, Command::RunPause),
            ("step", "⏭ Step", Command::Step),
            ("restart", "⏮ Restart", Command::Restart),
        ] {
            let main = command == Command::RunPause && !running;
            let fill = if main { theme::of(ui).accent_fill } else { theme::of(ui).raised };
            let button = ui.add(Button::new(text).fill(fill).min_size(size));
            let button = button.on_hover_text(keys::hint(command));
            sink.note(key, &button);
            if button.clicked() {
                sink.commands.push(command);
            }
        }
    });
    ui.horizontal(|ui| {
        // As high as a line of text.
        ui.spacing_mut().interact_size.y = 18.0;
        ui.spacing_mut().button_padding.y = 0.0;
        if model.started() {
            clock(ui, model, sink);
        } else {
            ui.label(RichText::new("starting…").monospace().color(theme::of(ui).weak));
        }
    });
}

/// The step, which can be typed to go there, and the time; on the way to a step, where to and a way out.
fn clock(ui: &mut egui::Ui, model: &Model, sink: &mut Sink) {
    let stats = model.stats;
    let colour = theme::of(ui).weak;
    let weak = |text: String| RichText::new(text).monospace().color(colour);
    if let Some(goal) = stats.goal {
        let text = weak(format!("{} ⏵ {}", format::count(stats.step), format::count(goal)));
        // The way out comes first: what is left is the numbers'.
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            command(ui, sink, ("stay", "Stay here", "stop on the way"), Command::GoTo(None));
            ui.with_layout(Layout::left_to_right(Align::Center), |ui| ui.add(Label::new(text).truncate()));
        });
        return;
    }
    let help = "Steps since the scene began. Type one: it goes there as fast as it can and pauses, back by steps \
                backwards where those can undo steps and it is shorter, else from the start.";
    let label = ui.label(weak("step".to_owned())).on_hover_text(help);
    let text = |step| format::count(step as u64);
    if let Some(goal) =
        live_number(ui, sink, ("go to step", &label, help), stats.step as f64, (10.0, text), 0.0..=1e15)
    {
        sink.commands.push(Command::GoTo(Some(goal as u64)));
    }
    let speed = stats.steps_per_second * model.config.mode.time_step();
    let help = format!(
        "simulated time since the scene began; it goes on by {} a second",
        format::significant(if model.config.running { speed } else { 0.0 }, 3)
    );
    ui.label(weak(format!("time {}", format::significant(stats.time, 4)))).on_hover_text(help);
}

fn reverse(ui: &mut egui::Ui, config: &mut Config, sink: &mut Sink) {
    let reason = config.mode.backwards().err();
    let help = match reason {
        Some(reason) => format!("Time cannot go backwards here. {reason}"),
        None => format!("{}: steps that undo those before, but for rounding", keys::hint(Command::Reverse)),
    };
    ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
        let is_possible = reason.is_none() || config.reverse;
        let back = ui.add_enabled_ui(is_possible, |ui| tick(ui, &mut config.reverse, "backwards")).inner;
        let (enabled, on) = (back.enabled(), config.reverse);
        back.widget_info(|| WidgetInfo::selected(WidgetType::Checkbox, enabled, on, "Backwards"));
        sink.note("reverse", &back);
        back.on_hover_text(&help).on_disabled_hover_text(help);
    });
}

/// Buttons for half and twice the steps between two pictures.
pub(super) fn factors(ui: &mut egui::Ui, sink: &mut Sink) {
    for (key, text, which) in [("slower", "½×", Command::Slower), ("faster", "2×", Command::Faster)] {
        command(ui, sink, (key, text, &keys::hint(which)), which);
    }
}

/// Twice or half as many steps between two pictures as there are.
pub(super) fn change_speed(config: &mut Config, in_force: u32, faster: bool) {
    let now = config.steps_per_frame.unwrap_or(in_force.max(1));
    let next = if faster { now.saturating_mul(2) } else { now / 2 };
    config.steps_per_frame = Some(next.clamp(1, MAX_STEPS_PER_FRAME));
}
