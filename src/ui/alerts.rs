//! Messages to the user: error dialogs and toasts, also about blow-ups and failed autosaves.

use super::dialogs::Dialogs;
use super::toasts::Toasts;
use crate::session::Stats;

/// Title of the dialog about a kernel that does not build or run.
const KERNEL_FAILED: &str = "Kernel not replaced";
/// Title of the dialog about a simulation that blew up.
const BLOW_UP: &str = "The simulation blew up";
/// Title of the dialog about an autosave that failed.
const AUTOSAVE_FAILED: &str = "Autosave failed";

/// A simulation that stopped because its numbers are no longer finite.
#[derive(Debug, Clone, Copy, PartialEq)]
enum BlowUp {
    /// Reported since the last frame.
    Reported,
    /// Reported, and shown by the next frame.
    Expected,
    /// Shown on the screen: mode, number of the scene's start, and step.
    Shown(&'static str, u64, u64),
}

impl BlowUp {
    /// Returns the state after a frame with `stats`; `None` once another scene or an earlier step is shown.
    fn after(self, stats: &Stats) -> Option<Self> {
        let Stats { mode, generation, step, .. } = *stats;
        match self {
            Self::Reported => Some(Self::Expected),
            Self::Shown(of, start, at) if (of, start) != (mode, generation) || step < at => None,
            _ => Some(Self::Shown(mode, generation, step)),
        }
    }
}

/// Dialogs and toasts, and the state of the problems that they report.
#[derive(Debug, Default)]
pub(super) struct Alerts {
    pub dialogs: Dialogs,
    pub toasts: Toasts,
    blow_up: Option<BlowUp>,
    /// Why the last autosave failed; `None` if it succeeded.
    autosave_error: Option<String>,
}

impl Alerts {
    /// Reports that an autosave failed. Failures in a row share one dialog. A closed dialog opens again only for another reason.
    pub(super) fn autosave_failed(&mut self, reason: String) {
        if self.dialogs.has(AUTOSAVE_FAILED) || self.autosave_error.as_ref() != Some(&reason) {
            let advice =
                "The next autosave tries again. Until then, save a snapshot elsewhere to be safe (Ctrl+S).";
            self.dialogs.update(AUTOSAVE_FAILED, format!("{reason}. {advice}"));
        }
        self.autosave_error = Some(reason);
    }

    /// Reports that autosaves work again, if the last one failed.
    pub(super) fn autosave_succeeded(&mut self) {
        if self.autosave_error.take().is_some() {
            self.dialogs.withdraw(AUTOSAVE_FAILED);
            self.toasts.say("Autosave works again");
        }
    }

    /// Reports a blow-up; the dialog offers a restart, and undoing the last stroke if `can_undo`.
    pub(super) fn blew_up(&mut self, text: String, can_undo: bool) {
        self.dialogs.withdraw(BLOW_UP);
        self.dialogs.push_blow_up(BLOW_UP.to_owned(), text, can_undo);
        self.blow_up = Some(BlowUp::Reported);
    }

    /// Clears the blow-up and its dialog; returns whether a blow-up was set.
    pub(super) fn clear_blow_up(&mut self) -> bool {
        self.dialogs.withdraw(BLOW_UP);
        self.blow_up.take().is_some()
    }

    /// Clears the blow-up once `stats` show another scene or an earlier step.
    pub(super) fn update(&mut self, stats: &Stats) {
        if let Some(blow_up) = self.blow_up {
            self.blow_up = blow_up.after(stats);
            if self.blow_up.is_none() {
                self.dialogs.withdraw(BLOW_UP);
            }
        }
    }

    /// Reports that an edited kernel does not build or run; replaces the previous report.
    pub(super) fn kernel_failed(&mut self, text: String, log: Option<String>) {
        self.dialogs.withdraw(KERNEL_FAILED);
        self.dialogs.push(KERNEL_FAILED.to_owned(), text, log);
    }

    /// Reports that edited kernels run, and closes an earlier report of failure.
    pub(super) fn kernel_runs(&mut self, text: impl Into<String>) {
        self.dialogs.withdraw(KERNEL_FAILED);
        self.toasts.say(text);
    }
}
