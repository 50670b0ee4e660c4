//! How time goes: run, step, backwards, faster, and to a step.

use egui::{Button, RichText, vec2};

use super::keys::{self, Command};
use super::panel::{command, section};
use super::widgets::{Sink, live_number, row, switch};
use super::{Model, format, theme};
use crate::config::Config;

/// The largest burst that can be asked for.
pub(super) const MAX_STEPS_PER_FRAME: u32 = 10_000;

/// The first section of the panel.
pub(super) fn show(ui: &mut egui::Ui, model: &mut Model, sink: &mut Sink) {
    section(ui, "Run");
    let running = model.config.running;
    let size = vec2((ui.available_width() - 2.0 * ui.spacing().item_spacing.x) / 3.0, 28.0);
    ui.horizontal(|ui| {
        for (key, text, command) in [
            ("pause", if running { "⏸ Pause" } else { "▶ Run" }, Command::RunPause),
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
    let stats = model.stats;
    let progress = match model.started() {
        true => format!("step {} · time {}", format::count(stats.step), format::significant(stats.time, 4)),
        false => "starting…".to_owned(),
    };
    ui.label(RichText::new(progress).monospace().color(theme::of(ui).weak))
        .on_hover_text("steps and simulated time since the scene began");
    speed(ui, model, sink);
    reverse(ui, model.config, sink);
    go_to(ui, model, sink);
}

fn speed(ui: &mut egui::Ui, model: &Model, sink: &mut Sink) {
    let help = "Simulated time a second: the time step × the steps between two pictures × pictures a second.";
    row(ui, "Speed", help, |ui, _| {
        for (key, text, which) in [("slower", "½×", Command::Slower), ("faster", "2×", Command::Faster)] {
            command(ui, sink, (key, text, &keys::hint(which)), which);
        }
        let stats = model.stats;
        let speed = stats.steps_per_second * model.config.mode.time_step();
        if model.config.running && speed > 0.0 {
            let text = format!("{} a second", format::significant(speed, 3));
            ui.label(RichText::new(text).color(theme::of(ui).weak)).on_hover_text(help);
        }
    });
}

fn reverse(ui: &mut egui::Ui, config: &mut Config, sink: &mut Sink) {
    let reason = config.mode.backwards().err();
    let does = keys::hint(Command::Reverse);
    let help = match reason {
        Some(reason) => format!("Time cannot go backwards here. {reason}"),
        None => format!("Steps that undo those before, but for rounding: {does}"),
    };
    row(ui, "Backwards", &help, |ui, label| {
        let is_possible = reason.is_none() || config.reverse;
        let enabled = ui.add_enabled_ui(is_possible, |ui| {
            // A label that ticks it must not, where it cannot be ticked.
            let before = config.reverse;
            switch(ui, sink, "reverse", ("Backwards", label), &mut config.reverse);
            config.reverse = if is_possible { config.reverse } else { before };
        });
        enabled.response.on_hover_text(&help);
    });
}

/// A step to go to; while it is on its way there, where to and a way out.
fn go_to(ui: &mut egui::Ui, model: &Model, sink: &mut Sink) {
    let help = "Type a step: it goes there as fast as it can and pauses, back by steps backwards where those can undo \
                steps and it is shorter, else from the start.";
    row(ui, "Go to step", help, |ui, label| {
        if let Some(goal) = model.stats.goal {
            ui.label(RichText::new(format::count(goal)).monospace().color(theme::of(ui).strong));
            command(ui, sink, ("stay", "Stay here", "stop on the way"), Command::GoTo(None));
            return;
        }
        let text = |step| format::count(step as u64);
        let step = model.stats.step as f64;
        if let Some(goal) = live_number(ui, sink, ("go to step", label), step, (10.0, text), 0.0..=1e15) {
            sink.commands.push(Command::GoTo(Some(goal as u64)));
        }
    });
}

/// Twice or half as many steps between two pictures as there are.
pub(super) fn change_speed(config: &mut Config, in_force: u32, faster: bool) {
    let now = config.steps_per_frame.unwrap_or(in_force.max(1));
    let next = if faster { now.saturating_mul(2) } else { now / 2 };
    config.steps_per_frame = Some(next.clamp(1, MAX_STEPS_PER_FRAME));
}
