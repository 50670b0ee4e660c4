//! Errors: each said once, in a window that stays until it is closed.

use std::collections::VecDeque;

use egui::{Align2, Label, RichText};

use super::keys::{self, Command};
use super::theme;
use super::widgets::Sink;

#[derive(Debug, PartialEq)]
struct Message {
    title: String,
    text: String,
    log: Option<String>,
    /// Whether there is a button that restarts the scene, and one that undoes what was done last.
    restarts: bool,
    undoes: bool,
}

/// The most errors that wait: who comes back to more has lost the thread anyway, and each may carry a compiler's log.
const MOST: usize = 20;

/// For so long none takes a click, in seconds, after the first has opened, or after a button that was held then was let go of: it may
/// have opened under a hand that was clicking, or painting, there.
const CALM: f64 = 0.5;

/// Errors that wait to be read.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    /// Oldest first, each with how often it happened.
    waiting: VecDeque<(Message, usize)>,
    /// How many were too many.
    dropped: usize,
    /// Whether they take clicks, or from when on.
    calm: Calm,
}

#[derive(Debug, Default, PartialEq)]
enum Calm {
    #[default]
    Closed,
    /// A button is down that was down when it opened.
    Held,
    Until(f64),
    Reached,
}

impl Calm {
    /// How it is with a dialog on the screen; whether it takes clicks.
    fn is_reached(&mut self, ctx: &egui::Context) -> bool {
        let (now, is_held) = ctx.input(|input| (input.time, input.pointer.any_down()));
        *self = match *self {
            Self::Reached => Self::Reached,
            Self::Until(time) if now >= time => Self::Reached,
            Self::Until(time) => Self::Until(time),
            Self::Closed | Self::Held if is_held => Self::Held,
            Self::Closed | Self::Held => Self::Until(now + CALM),
        };
        if let Self::Until(time) = *self {
            ctx.request_repaint_after_secs((time - now) as f32);
        }
        *self == Self::Reached
    }
}

impl Dialogs {
    /// Adds an error; one that is waiting already is counted instead.
    pub fn push(&mut self, title: String, text: String, log: Option<String>) {
        self.add(Message { title, text, log, restarts: false, undoes: false });
    }

    /// Adds one that a restart of the scene may help against, or undoing what was painted last.
    pub fn push_broken(&mut self, title: String, text: String, undoes: bool) {
        self.add(Message { title, text, log: None, restarts: true, undoes });
    }

    /// Adds an error of which only the newest text counts: a dialog that waits under `title` is brought up to date in its place.
    pub fn update(&mut self, title: &str, text: String) {
        match self.waiting.iter_mut().find(|(message, _)| message.title == title) {
            Some((message, times)) => (message.text, *times) = (text, *times + 1),
            None => self.push(title.to_owned(), text, None),
        }
    }

    /// Whether an error waits under `title`.
    pub fn has(&self, title: &str) -> bool {
        self.waiting.iter().any(|(message, _)| message.title == title)
    }

    /// Takes back what was told under `title`: it is settled.
    pub fn withdraw(&mut self, title: &str) {
        self.waiting.retain(|(message, _)| message.title != title);
    }

    fn add(&mut self, message: Message) {
        if self.waiting.is_empty() {
            self.dropped = 0;
        }
        match self.waiting.iter_mut().find(|(waiting, _)| *waiting == message) {
            Some((_, times)) => *times += 1,
            None => self.waiting.push_back((message, 1)),
        }
        if self.waiting.len() > MOST {
            // The first is on the screen, and may be being read.
            self.waiting.remove(1);
            self.dropped += 1;
        }
    }

    /// Closes the error on the screen; whether there was one.
    pub fn close(&mut self) -> bool {
        self.waiting.pop_front().is_some()
    }

    /// Shows the oldest error.
    pub fn show(&mut self, ctx: &egui::Context, sink: &mut Sink) {
        let Some((message, times)) = self.waiting.front() else {
            self.calm = Calm::Closed;
            return;
        };
        let is_calm = self.calm.is_reached(ctx);
        let counts = [(self.waiting.len() - 1, "more"), (self.dropped, "dropped")];
        let words =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let more = words.collect::<Vec<_>>().join(" · ");
        let free = ctx.available_rect();
        let width: f32 = if message.log.is_some() { 640.0 } else { 420.0 };
        let (mut open, mut closed) = (true, false);
        // The title is no name: two errors may share it.
        let window = egui::Window::new(RichText::new(&message.title).color(theme::of_all(ctx).warning))
            .id("error".into())
            .open(&mut open)
            .collapsible(false)
            .resizable(message.log.is_some())
            .default_width(width.min(free.width() - 40.0))
            .pivot(Align2::CENTER_CENTER)
            .default_pos(free.center());
        window.show(ctx, |ui| closed = contents(ui, sink, (message, *times, &more), is_calm));
        if closed || (!open && is_calm) {
            self.close();
        }
    }
}

/// Whether it is to be closed.
fn contents(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (message, times, more): (&Message, usize, &str),
    is_calm: bool,
) -> bool {
    let Message { text, log, .. } = message;
    ui.label(text);
    if times > 1 {
        ui.label(RichText::new(format!("This happened {times} times.")).small().color(theme::of(ui).weak));
    }
    if let Some(log) = log {
        ui.add_space(4.0);
        egui::Frame::NONE.fill(theme::of(ui).sunken).corner_radius(4).inner_margin(8).show(ui, |ui| {
            egui::ScrollArea::both().max_height(320.0).auto_shrink([false, true]).show(ui, |ui| {
                // Never wrapped: the compiler's marks stand under what they mean.
                ui.add(Label::new(RichText::new(log).monospace()).extend().selectable(true));
            });
        });
    }
    ui.add_space(8.0);
    ui.add_enabled_ui(is_calm, |ui| buttons(ui, sink, message, more)).inner
}

/// Whether it is to be closed.
fn buttons(ui: &mut egui::Ui, sink: &mut Sink, message: &Message, more: &str) -> bool {
    let log = &message.log;
    ui.horizontal(|ui| {
        let close = ui.button("Close").on_hover_text("Escape closes too");
        sink.note("close", &close);
        if let Some(log) = log {
            let copy = ui.button("Copy log").on_hover_text("put the compiler's words on the clipboard");
            sink.note("copy log", &copy);
            if copy.clicked() {
                ui.ctx().copy_text(log.clone());
            }
        }
        let ways_on = [
            (message.undoes, "undo broken", "Undo the last stroke", Command::Undo),
            (message.restarts, "restart broken", "⏮ Restart", Command::Restart),
        ];
        let mut goes_on = false;
        for (_, key, label, command) in ways_on.into_iter().filter(|(is_one, ..)| *is_one) {
            let way_on = ui.button(label).on_hover_text(keys::hint(command));
            sink.note(key, &way_on);
            // Where there is something to undo, that settles it.
            goes_on |= way_on.clicked() && command == Command::Restart;
            sink.commands.extend(way_on.clicked().then_some(command));
        }
        ui.label(RichText::new(more).color(theme::of(ui).weak));
        close.clicked() || goes_on
    })
    .inner
}
