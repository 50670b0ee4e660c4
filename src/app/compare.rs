//! Begins and ends the comparison of two simulations, and exchanges their places.

use crossbeam_channel::bounded;

use super::clock::waker;
use super::comparison::Comparison;
use super::viewer::Viewer;
use crate::base::Result;
use crate::session::{Command, Notice};
use crate::ui::{Half, ONE_SIMULATION};

impl Viewer {
    /// Begins a comparison with a copy of the simulation, or ends the comparison.
    pub(super) fn compare(&mut self) {
        if let Some(Comparison { active, has_original, .. }) = self.comparison {
            return self.keep(if has_original { active } else { active.other() });
        }
        if self.has_stopped("Could not compare") {
            return;
        }
        if self.exports.film.is_some() || self.ui.measurement.running.is_some() || self.reader.is_some() {
            return self
                .ui
                .alerts
                .say("Not possible now. Wait until the film, the measurement or the file is complete.");
        }
        self.go_live(true);
        self.cancel_gesture();
        let before = self.sim.config.clone();
        self.sim.config.free_run = false;
        self.configure(&before);
        let (context, wake) = (self.screen.window.context().clone(), waker(&self.proxy));
        match Comparison::new(&mut self.sim, (&context, &self.screen.look), wake) {
            Ok(comparison) => self.comparison = Some(comparison),
            Err(error) => self.ui.alerts.failed("Could not compare", &error),
        }
        self.screen.redraw();
    }

    /// Lets the panel edit the other simulation.
    pub(super) fn edit_other(&mut self) {
        let Some(comparison) = self.comparison.as_mut().filter(|comparison| comparison.has_started()) else {
            return;
        };
        let Comparison { other, view, active, has_original, turns, .. } = comparison;
        std::mem::swap(&mut self.sim, other);
        std::mem::swap(&mut self.screen.view, view);
        turns.swap(0, 1);
        (*active, *has_original) = (active.other(), !*has_original);
        // The steps of the history belong to the simulation that was active before.
        self.ui.undo.clear();
        self.screen.redraw();
    }

    /// Exchanges the halves of the picture.
    pub(super) fn swap_halves(&mut self) {
        if let Some(Comparison { active, .. }) = &mut self.comparison {
            *active = active.other();
        }
    }

    /// Ends the comparison, and continues with the simulation in this half.
    pub(super) fn keep(&mut self, half: Half) {
        let is_other = self.comparison.as_ref().is_some_and(|comparison| comparison.active != half);
        if is_other && self.comparison.as_ref().is_some_and(|comparison| !comparison.has_started()) {
            return self.ui.alerts.say("This simulation is still starting");
        }
        if is_other {
            self.edit_other();
        }
        let Some(Comparison { other, has_original, .. }) = self.comparison.take() else { return };
        if !has_original {
            let (give, take) = bounded(1);
            other.send(Command::GiveAutosave(give));
            self.sim.send(Command::TakeAutosave(take));
            self.autosave.saved = None;
        }
        self.sim.send(Command::Pair(None));
        self.screen.redraw();
    }

    /// Sends a command to the simulation, and to the other one if two are compared.
    pub(super) fn send_to_all(&self, command: impl Fn() -> Command) {
        self.sim.send(command());
        self.comparison.iter().for_each(|comparison| comparison.other.send(command()));
    }

    /// Returns whether two simulations are compared. If so, tells the user that the bodies cannot be edited.
    pub(super) fn refuses_edits(&mut self) -> bool {
        if self.comparison.is_some() {
            self.ui.alerts.say(ONE_SIMULATION);
        }
        self.comparison.is_some()
    }

    /// Keeps the compared simulations in step, and handles the notices of the one that the panel does not edit.
    pub(super) fn poll_comparison(&mut self) -> Result<()> {
        let Some(comparison) = &mut self.comparison else { return Ok(()) };
        comparison.keep_in_step(&mut self.sim);
        for notice in comparison.other.session.notices() {
            match notice {
                Notice::Failed(error) => {
                    let has_started =
                        self.comparison.take().is_some_and(|comparison| comparison.has_started());
                    let title = if has_started { "The comparison has ended" } else { "Could not compare" };
                    self.ui.alerts.failed(title, &error);
                    self.sim.send(Command::Pair(None));
                    return Ok(());
                }
                Notice::Rejected { error, wanted, current } => {
                    let other = self.comparison.as_mut().map(|comparison| &mut comparison.other);
                    if let Some(other) = other.filter(|other| other.config == *wanted) {
                        other.config = *current;
                    }
                    self.ui.alerts.failed("Could not apply the change to both simulations", &error);
                }
                Notice::BlownUp { text, .. } | Notice::Paused { text, .. } => {
                    let before = self.sim.config.clone();
                    self.sim.config.running = false;
                    self.configure(&before);
                    self.ui.alerts.say(format!("The other simulation: {text}"));
                }
                Notice::Refused(error) => self.ui.alerts.failed("This action is not possible", &error),
                Notice::Message(text) => self.ui.alerts.say(text),
                Notice::Captured(capture) => self.draw_capture(*capture)?,
                Notice::SnapshotSaved { is_asked_for: false, moment, outcome: Ok(()), .. } => {
                    self.autosave.saved = Some(moment);
                }
                Notice::SnapshotSaved { outcome: Err(error), .. } => {
                    self.ui.alerts.failed("Could not save the snapshot", &error);
                }
                Notice::SnapshotSaved { path, .. } => self.ui.alerts.say(format!("Saved {}", path.display())),
                _ => {}
            }
        }
        Ok(())
    }
}
