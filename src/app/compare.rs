//! Begins and ends the comparison of two simulations, and switches between them.

use crossbeam_channel::bounded;

use super::clock::waker;
use super::comparison::Comparison;
use super::simulation::Simulation;
use super::viewer::Viewer;
use crate::base::Result;
use crate::engine::Config;
use crate::session::{Command, Notice};
use crate::ui::{Half, ONE_SIMULATION};

impl Viewer {
    /// Begins a comparison with a copy of the simulation, or ends the comparison.
    pub(super) fn compare(&mut self) {
        if let Some(Comparison { active, has_original, .. }) = self.comparison {
            return self.keep(if has_original { active } else { active.other() });
        }
        if self.has_stopped("Could not start the comparison") {
            return;
        }
        if self.exports.film.is_some() || self.ui.measurement.running.is_some() || self.reader.is_some() {
            return self.ui.alerts.say(
                "Cannot start a comparison while a film is being recorded, the speed is being measured or a file is being opened.",
            );
        }
        self.go_live(true);
        self.cancel_gesture();
        let before = self.sim.config.clone();
        self.sim.config.free_run = false;
        self.configure(&before);
        let (context, wake) = (self.screen.window.context().clone(), waker(&self.proxy));
        match Comparison::new(&mut self.sim, (&context, &self.screen.look), wake) {
            Ok(comparison) => self.comparison = Some(comparison),
            Err(error) => self.ui.alerts.failed("Could not start the comparison", &error),
        }
        self.screen.redraw();
    }

    /// Makes the panel edit the other one of the two compared simulations.
    pub(super) fn edit_other(&mut self) {
        let Some(comparison) = self.comparison.as_mut().filter(|comparison| comparison.has_started()) else {
            return;
        };
        let Comparison { other, view, active, has_original, turns, .. } = comparison;
        std::mem::swap(&mut self.sim, other);
        std::mem::swap(&mut self.screen.view, view);
        turns.swap(0, 1);
        (*active, *has_original) = (active.other(), !*has_original);
        self.ui.forget_run();
        self.screen.redraw();
    }

    /// Swaps the halves of the picture in which the two compared simulations are shown.
    pub(super) fn swap_halves(&mut self) {
        if let Some(Comparison { active, .. }) = &mut self.comparison {
            *active = active.other();
        }
    }

    /// Ends the comparison, and continues with the simulation shown in `half` of the picture.
    pub(super) fn keep(&mut self, half: Half) {
        let is_other = self.comparison.as_ref().is_some_and(|comparison| comparison.active != half);
        if is_other && self.comparison.as_ref().is_some_and(|comparison| !comparison.has_started()) {
            return self.ui.alerts.say("This simulation is still starting. Try again in a moment.");
        }
        if is_other {
            self.edit_other();
        }
        let Some(Comparison { other, has_original, .. }) = self.comparison.take() else { return };
        if !has_original {
            self.take_over_autosave(&other);
        }
        self.sim.send(Command::Pair(None));
        self.screen.redraw();
    }

    /// Makes the active simulation autosave to the file of `original`, the simulation from which it was copied.
    fn take_over_autosave(&mut self, original: &Simulation) {
        if original.failure.is_some() {
            self.autosave.restart();
            return self.start_autosave();
        }
        let (give, take) = bounded(1);
        original.send(Command::GiveAutosave(give));
        self.sim.send(Command::TakeAutosave(take));
        self.autosave.saved = None;
    }

    /// Handles the case that the active simulation has rejected the config `wanted`, although the other simulation may
    /// have applied it. Reverts the change in the other simulation, or ends the comparison if `wanted` would begin a
    /// new run.
    pub(super) fn active_rejected(&mut self, wanted: &Config) {
        if begins_run(&self.sim.config, wanted) {
            self.end_parted();
        } else if let Some(comparison) = &mut self.comparison {
            comparison.follow(wanted, &self.sim.config);
        }
    }

    /// Ends the comparison because one simulation could not begin a new run, while the other one may have begun it.
    fn end_parted(&mut self) {
        let Some(active) = self.comparison.as_ref().map(|comparison| comparison.active) else { return };
        self.keep(active);
        self.ui.alerts.say("The comparison has ended, because one of the simulations could not restart with the new settings");
    }

    /// Sends a command to the simulation, or to both simulations if two are compared.
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
                    let Some(mut comparison) = self.comparison.take() else { return Ok(()) };
                    let title = if comparison.has_started() {
                        "The comparison has ended"
                    } else {
                        "Could not start the comparison"
                    };
                    self.ui.alerts.failed(title, &error);
                    comparison.other.failure = Some(error);
                    if !comparison.has_original {
                        self.take_over_autosave(&comparison.other);
                    }
                    self.sim.send(Command::Pair(None));
                    return Ok(());
                }
                Notice::Rejected { error, wanted, current } => {
                    let (begins_run, reverse) = (begins_run(&current, &wanted), current.reverse);
                    let other = self.comparison.as_mut().map(|comparison| &mut comparison.other);
                    if let Some(other) = other.filter(|other| other.config == *wanted) {
                        other.config = *current;
                    }
                    self.ui.alerts.failed("Could not apply the change to both simulations", &error);
                    if begins_run {
                        self.end_parted();
                    } else {
                        // The active simulation may run backwards only if both can.
                        let before = self.sim.config.clone();
                        self.sim.config.reverse = reverse;
                        self.configure(&before);
                    }
                }
                Notice::KernelsReplaced(outcome) => self.kernels_replaced(outcome),
                Notice::BlownUp { text, .. } | Notice::Paused { text, .. } => {
                    let before = self.sim.config.clone();
                    self.sim.config.running = false;
                    self.configure(&before);
                    self.ui.alerts.say(format!("The other simulation: {text}"));
                }
                Notice::Refused(error) => {
                    self.ui.alerts.failed("Could not carry out the last action", &error);
                }
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

/// Returns whether a change of the config from `before` to `after` begins another run.
fn begins_run(before: &Config, after: &Config) -> bool {
    before.mode.info() != after.mode.info() || before.bodies != after.bodies || before.reseeds(after)
}
