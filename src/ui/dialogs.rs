//! Error dialogs: one at a time, each open until the user closes it.

use std::collections::VecDeque;

use egui::{Align2, Label, RichText};

use super::action::Collector;
use super::theme;
use super::warnings::Fix;
use super::widgets::small;

/// Error message for a dialog, either on the screen or waiting in the queue.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Message {
    pub title: String,
    pub text: String,
    /// The kernel compiler's log, if the error came from the compiler.
    pub log: Option<String>,
    /// Buttons that remove the cause of the error.
    pub fixes: Vec<Fix>,
}

/// Maximum number of waiting error messages. It is limited because each message may contain a long log.
const CAPACITY: usize = 20;

/// Time, in seconds, for which a new dialog ignores clicks. Such clicks are probably meant for something below the
/// dialog.
const CLICK_DELAY: f64 = 0.5;

/// Queue of error messages that the user has not closed yet.
#[derive(Debug, Default)]
pub(super) struct Dialogs {
    /// Messages, oldest first, each with the number of times that it has occurred.
    waiting: VecDeque<(Message, usize)>,
    /// Number of messages discarded from the full queue since it was last empty.
    discarded: usize,
    guard: ClickGuard,
}

/// Whether the current dialog accepts clicks.
#[derive(Debug, Default, PartialEq)]
enum ClickGuard {
    #[default]
    Closed,
    /// Clicks are ignored because a mouse button has been held down since before the dialog opened.
    Held,
    /// Clicks are ignored until this time, in seconds of egui's clock.
    Until(f64),
    Accepts,
}

impl ClickGuard {
    /// Updates the guard in each frame of an open dialog; returns whether the dialog accepts clicks.
    fn update(&mut self, ctx: &egui::Context) -> bool {
        let (now, is_held) = ctx.input(|input| (input.time, input.pointer.any_down()));
        *self = match *self {
            Self::Accepts => Self::Accepts,
            Self::Until(time) if now >= time => Self::Accepts,
            Self::Until(time) => Self::Until(time),
            Self::Closed | Self::Held if is_held => Self::Held,
            Self::Closed | Self::Held => Self::Until(now + CLICK_DELAY),
        };
        if let Self::Until(time) = *self {
            ctx.request_repaint_after_secs((time - now) as f32);
        }
        *self == Self::Accepts
    }
}

impl Dialogs {
    /// Returns whether an error dialog is open.
    pub(super) fn is_open(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Replaces the text of the waiting error with this `title` and increments its count. If there is none, adds an error.
    pub(super) fn update(&mut self, title: &str, text: String) {
        match self.waiting.iter_mut().find(|(message, _)| message.title == title) {
            Some((message, times)) => (message.text, *times) = (text, *times + 1),
            None => self.add(Message { title: title.to_owned(), text, ..Message::default() }),
        }
    }

    /// Returns whether an error with this `title` is waiting.
    pub(super) fn has(&self, title: &str) -> bool {
        self.waiting.iter().any(|(message, _)| message.title == title)
    }

    /// Removes all errors with this `title`. Called when their cause is gone.
    pub(super) fn withdraw(&mut self, title: &str) {
        self.waiting.retain(|(message, _)| message.title != title);
    }

    /// Adds an error. If an equal error is already waiting, only increments its count.
    pub(super) fn add(&mut self, message: Message) {
        if self.waiting.is_empty() {
            self.discarded = 0;
        }
        match self.waiting.iter_mut().find(|(waiting, _)| *waiting == message) {
            Some((_, times)) => *times += 1,
            None => self.waiting.push_back((message, 1)),
        }
        if self.waiting.len() > CAPACITY {
            // The message at index 0 is on the screen.
            self.waiting.remove(1);
            self.discarded += 1;
        }
    }

    /// Closes the current dialog; returns whether a dialog was open.
    pub(super) fn close(&mut self) -> bool {
        self.waiting.pop_front().is_some()
    }

    /// Shows a dialog with the oldest waiting error, if any.
    pub(super) fn show(&mut self, ctx: &egui::Context, out: &mut Collector) {
        let Some((message, times)) = self.waiting.front() else {
            self.guard = ClickGuard::Closed;
            return;
        };
        let accepts_clicks = self.guard.update(ctx);
        let counts = [(self.waiting.len() - 1, "more"), (self.discarded, "discarded")];
        let counts =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        let more = counts.collect::<Vec<_>>().join(" · ");
        let free = ctx.available_rect();
        let width: f32 = if message.log.is_some() { 640.0 } else { 420.0 };
        let (mut is_open, mut is_closed) = (true, false);
        // A fixed id: two errors may share a title.
        let window = egui::Window::new(RichText::new(&message.title).color(theme::of_context(ctx).warning))
            .id("error".into())
            .open(&mut is_open)
            .collapsible(false)
            .resizable(message.log.is_some())
            .default_width(width.min(free.width() - 40.0))
            .pivot(Align2::CENTER_CENTER)
            .default_pos(free.center());
        window.show(ctx, |ui| is_closed = contents(ui, out, (message, *times, &more), accepts_clicks));
        if is_closed || (!is_open && accepts_clicks) {
            self.close();
        }
    }
}

/// Shows an error message and its buttons; returns whether to close the dialog.
fn contents(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (message, times, more): (&Message, usize, &str),
    accepts_clicks: bool,
) -> bool {
    let Message { text, log, .. } = message;
    ui.label(text);
    if times > 1 {
        ui.label(small(ui, format!("This error occurred {times} times.")));
    }
    if let Some(log) = log {
        ui.add_space(4.0);
        egui::Frame::NONE.fill(theme::of(ui).sunken).corner_radius(4).inner_margin(8).show(ui, |ui| {
            egui::ScrollArea::both().max_height(320.0).auto_shrink([false, true]).show(ui, |ui| {
                // Not wrapped, because compilers mark columns in the line below.
                ui.add(Label::new(RichText::new(log).monospace()).extend().selectable(true));
            });
        });
    }
    ui.add_space(8.0);
    ui.add_enabled_ui(accepts_clicks, |ui| buttons(ui, out, message, more)).inner
}

/// Shows the buttons for `message`, and `more`, a text about further messages. Returns whether to close the dialog.
fn buttons(ui: &mut egui::Ui, out: &mut Collector, message: &Message, more: &str) -> bool {
    ui.horizontal(|ui| {
        let close = ui.button("Close").on_hover_text("Close this message (Escape)");
        out.record("close", &close);
        if let Some(log) = &message.log {
            let copy = ui.button("Copy log").on_hover_text("Copy the compiler's log to the clipboard");
            out.record("copy log", &copy);
            if copy.clicked() {
                ui.ctx().copy_text(log.clone());
            }
        }
        message.fixes.iter().for_each(|fix| fix.show(ui, out));
        ui.label(RichText::new(more).color(theme::of(ui).weak));
        close.clicked()
    })
    .inner
}
