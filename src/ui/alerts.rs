//! Messages to the user: error dialogs, toasts and warnings.

use super::action::Action;
use super::dialogs::{Dialogs, Message};
use super::model::Model;
use super::toasts::Toasts;
use super::warnings::{CloseOrbits, Fix, PastDrift, Warning, warnings};
use crate::base::{EditKind, Error};
use crate::modes::Mode;
use crate::session::Stats;

/// Title of the dialog shown when an edited kernel does not build or run.
const KERNEL_FAILED: &str = "Edited kernel rejected";
/// Title of the dialog shown when the simulation blows up.
const BLOW_UP: &str = "The simulation became unstable";
/// Title of the dialog shown when an autosave fails.
const AUTOSAVE_FAILED: &str = "Autosave failed";

/// State of a reported blow-up: the simulation has stopped because some of its numbers are no longer finite.
#[derive(Debug, Clone, Copy, PartialEq)]
enum BlowUp {
    /// A blow-up was reported, and no frame has been shown since.
    Reported,
    /// A blow-up was reported, and the next frame will show the step at which it happened.
    Expected,
    /// The blow-up is on the screen; the fields are the frame's mode, generation (see [`Stats::generation`]) and step.
    Shown(&'static str, u64, u64),
}

impl BlowUp {
    /// Returns the state after a frame with `stats`, or `None` if the frame shows a different scene or an earlier step.
    fn after(self, stats: &Stats) -> Option<Self> {
        let Stats { mode, generation, step, .. } = *stats;
        match self {
            Self::Reported => Some(Self::Expected),
            Self::Shown(of, start, at) if (of, start) != (mode, generation) || step < at => None,
            _ => Some(Self::Shown(mode, generation, step)),
        }
    }
}

/// Error dialogs, toasts, warnings, and the state of reported problems.
#[derive(Debug, Default)]
pub struct Alerts {
    pub(super) dialogs: Dialogs,
    /// The current toast (a short message), and the offer to continue the last session.
    pub toasts: Toasts,
    pub(super) undo: UndoTracker,
    blow_up: Option<BlowUp>,
    /// Texts of the warnings that are shown in this frame; `None` if the frame has not checked for warnings.
    pub(super) shown: Option<Vec<String>>,
    close_orbits: CloseOrbits,
    past_drift: PastDrift,
    /// Reason why the last autosave failed; `None` if it succeeded.
    autosave_error: Option<String>,
}

impl Alerts {
    /// Shows a toast with `text` for a few seconds.
    pub fn say(&mut self, text: impl Into<String>) {
        self.toasts.say(text);
    }

    /// Opens an error dialog that stays open until the user closes it; `log` is the compiler's log, if any.
    pub fn error(&mut self, title: impl Into<String>, text: impl Into<String>, log: Option<String>) {
        let (title, text) = (title.into(), text.into());
        self.dialogs.add(Message { title, text, log, ..Message::default() });
    }

    /// Opens an error dialog with `error` as its text.
    pub fn failed(&mut self, title: &str, error: &Error) {
        self.error(title, format!("{error}."), None);
    }

    /// Reports a failed autosave. Repeated failures share one dialog; a closed dialog reopens only for a new `reason`.
    pub fn autosave_failed(&mut self, reason: String) {
        if self.dialogs.has(AUTOSAVE_FAILED) || self.autosave_error.as_ref() != Some(&reason) {
            let advice = "gravitile will try again at the next autosave. Until then, save a snapshot to another folder (Ctrl+S).";
            self.dialogs.update(AUTOSAVE_FAILED, format!("{reason}. {advice}"));
        }
        self.autosave_error = Some(reason);
    }

    /// Reports that an autosave succeeded; shows a message if the previous autosave failed.
    pub fn autosave_succeeded(&mut self) {
        if self.autosave_error.take().is_some() {
            self.dialogs.withdraw(AUTOSAVE_FAILED);
            self.say("Autosave works again");
        }
    }

    /// Reports that a simulation of `mode` blew up and stopped. Offers to restart. Also offers to undo
    /// a brush stroke if `can_undo` is true, or else to restart with a more stable parameter, if there is one.
    pub fn blew_up(&mut self, text: impl Into<String>, mode: &dyn Mode, can_undo: bool) {
        self.dialogs.withdraw(BLOW_UP);
        let stabilizer = Fix::of(mode, mode.info().stabilizer).map(Fix::restarting);
        let undo = can_undo.then(|| Fix::action("Undo last stroke", Action::Undo));
        let restart = Fix::action("⏮ Restart", Action::Restart);
        let fixes = undo.or(stabilizer).into_iter().chain([restart]).collect();
        self.dialogs.add(Message { title: BLOW_UP.to_owned(), text: text.into(), fixes, log: None });
        self.blow_up = Some(BlowUp::Reported);
    }

    /// Clears the report of a blow-up and closes its dialog; returns whether there was a report.
    pub(super) fn clear_blow_up(&mut self) -> bool {
        self.dialogs.withdraw(BLOW_UP);
        self.blow_up.take().is_some()
    }

    /// Returns the warnings about the simulation.
    pub(super) fn warnings(&mut self, model: &Model) -> Vec<Warning> {
        let warnings = warnings(model, (&mut self.close_orbits, &mut self.past_drift));
        self.shown = Some(warnings.iter().map(|warning| warning.text.clone()).collect());
        warnings
    }

    /// Shows a message about undone edits; `more` is the number of steps that can still be undone. Clears the report of a
    /// blow-up once a frame shows a different scene or a step before the blow-up.
    pub(super) fn update(&mut self, stats: &Stats, more: usize) {
        if let Some(blow_up) = self.blow_up {
            self.blow_up = blow_up.after(stats);
            if self.blow_up.is_none() {
                self.dialogs.withdraw(BLOW_UP);
            }
        }
        if let Some(text) = self.undo.update(stats, more) {
            self.say(text);
        }
    }

    /// Reports that an edited kernel does not build or run, replacing earlier reports. `log` is the compiler's log.
    pub fn kernel_failed(&mut self, text: String, log: Option<String>) {
        self.dialogs.withdraw(KERNEL_FAILED);
        self.error(KERNEL_FAILED, text, log);
    }

    /// Reports that edited kernels are now running, and closes any error dialog about a kernel.
    pub fn kernel_runs(&mut self, text: impl Into<String>) {
        self.dialogs.withdraw(KERNEL_FAILED);
        self.say(text);
    }
}

/// Keeps track of undo requests that the simulation has not carried out yet.
#[derive(Debug, Default)]
pub(super) struct UndoTracker {
    /// Generation (see [`Stats::generation`]) of the scene in which the requests were made.
    generation: u64,
    requested: usize,
    /// Number of edits that could be undone in the previous frame, and the kind of the newest edit.
    undoable: (usize, Option<EditKind>),
}

impl UndoTracker {
    /// Counts a request to undo an edit. The count never exceeds `undos`, the number of edits that can be undone.
    pub(super) fn request(&mut self, undos: usize) {
        self.requested = (self.requested + 1).min(undos);
    }

    /// Returns a message about the edits that have been undone since the previous frame, if any. `more` is the number of
    /// steps that can still be undone.
    fn update(&mut self, stats: &Stats, more: usize) -> Option<String> {
        let (before, kind) = std::mem::replace(&mut self.undoable, (stats.undos, stats.last_edit));
        let is_same = std::mem::replace(&mut self.generation, stats.generation) == stats.generation;
        // The list of edits also shrinks without a request, when its oldest entries are dropped.
        let undone = before.saturating_sub(stats.undos).min(self.requested);
        self.requested = if is_same { self.requested - undone } else { 0 };
        if !is_same || undone == 0 {
            return None;
        }
        let what = match (undone, kind) {
            (1, Some(kind)) => format!("Undid {}", kind.name()),
            _ => format!("Undid {undone} edits"),
        };
        Some(match stats.undos.max(more) {
            0 => format!("{what}; nothing more to undo"),
            more => format!("{what}; {more} more can be undone"),
        })
    }
}
