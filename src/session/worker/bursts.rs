//! Computes bursts (the steps between two frames), and carries out seeks.

use super::thread::Worker;
use crate::base::{ChangeEffect, Result, invalid};
use crate::engine::Config;
use crate::session::commands::Command;
use crate::session::notices::Notice;

impl Worker {
    /// Starts the next burst of steps. If no steps remain, ends a seek that has reached its goal, or pauses at step 0.
    pub(super) fn start_burst(&mut self) -> Result<()> {
        if let Some(goal) = self.stepper.goal {
            self.set_direction(goal < self.step())?;
        }
        let situation = self.situation();
        match self.stepper.next_burst(self.engine.config(), situation) {
            0 => self.check_arrival(),
            steps => self.begin_burst(steps),
        }
    }

    pub(super) fn begin_burst(&mut self, steps: u32) -> Result<()> {
        self.attract_for(steps)?;
        self.measurements.profiler.begin_burst(&self.engine, steps);
        self.engine.start(steps);
        (self.stepper.burst, self.stepper.is_bursting) = (steps, true);
        Ok(())
    }

    /// Returns the number of steps in the next burst while the simulation runs.
    pub(super) fn burst_length(&mut self) -> u32 {
        let situation = self.situation();
        self.stepper.burst_length(self.engine.config(), situation)
    }

    /// Completes the current burst of steps. Returns false if the program quits or a command replaces the bodies.
    pub(super) fn complete_burst(&mut self) -> Result<bool> {
        self.complete_unless(|worker, command| command.replaces_run(|config| worker.engine.reseeds(config)))
    }

    /// Completes the current burst of steps before a command that uses the state. Returns false if the program quits or
    /// a later command replaces the state. A command to resume from a snapshot does not count, because the snapshot may
    /// be invalid.
    pub(super) fn settle(&mut self) -> Result<bool> {
        self.complete_unless(|worker, command| {
            !matches!(command, Command::Resume(_))
                && command.replaces_run(|config| worker.engine.reseeds(config))
        })
    }

    /// Completes the current burst of steps. Returns false if the program quits or a waiting configuration replaces the
    /// bodies.
    pub(super) fn settle_unless_reseeded(&mut self) -> Result<bool> {
        self.complete_unless(|worker, command| match command {
            Command::Configure(config) => worker.engine.reseeds(config),
            _ => false,
        })
    }

    /// Completes the current burst of steps regardless of later commands. Returns false if the program quits.
    pub(super) fn finish_burst(&mut self) -> Result<bool> {
        self.complete_unless(|_, _| false)
    }

    fn complete_unless(&mut self, is_pointless: impl Fn(&Self, &Command) -> bool) -> Result<bool> {
        if !self.stepper.is_bursting {
            return Ok(true);
        }
        let is_complete = self.advance_unless(is_pointless)?;
        if is_complete {
            self.check_arrival()?;
        }
        Ok(is_complete)
    }

    /// Computes the current burst of steps. Stops and returns false if the program quits or if `is_pointless` returns
    /// true for a waiting command.
    pub(super) fn advance_unless(&mut self, is_pointless: impl Fn(&Self, &Command) -> bool) -> Result<bool> {
        while self.engine.advance()? {
            self.queue.receive();
            if self.queue.quits_now() || self.queue.discards_burst(|command| is_pointless(self, command)) {
                return Ok(false);
            }
        }
        self.stepper.is_bursting = false;
        self.measurements.profiler.end_burst(&self.engine);
        self.measurements.accuracy.stepped();
        (self.publisher.is_stale, self.publisher.has_new_series) = (true, true);
        Ok(true)
    }

    /// Seeks to the step `goal`. Reaches an earlier step by running backwards or by restarting, whichever takes fewer
    /// steps. After manual edits, only running backwards is possible, because a restart would lose the edits.
    pub(super) fn seek(&mut self, goal: u64) -> Result<()> {
        if !self.settle()? {
            return Ok(());
        }
        let step = self.step();
        let can_go_back = self.config().mode.backwards().is_ok();
        let is_edited = self.engine.is_edited();
        if goal < step && !(can_go_back && (step - goal <= goal || is_edited)) {
            if is_edited {
                self.stepper.goal = None;
                self.notifier.send(Notice::Refused(invalid!(
                    "this simulation cannot run backwards, and a restart to reach step {goal} would lose your edits; \
                     to discard the edits, restart the scene (R)"
                )));
                return Ok(());
            }
            self.restart();
            if self.measurements.energy_is_cheap(self.engine.work_in_step()) {
                // The energy drift refers to the energy at the start.
                self.measure_energy()?;
            }
        }
        self.stepper.single_steps = 0;
        self.stepper.goal = Some(goal).filter(|goal| *goal != self.step());
        self.publisher.is_stale = true;
        Ok(())
    }

    /// Restarts the scene from its first step.
    pub(super) fn restart(&mut self) {
        let outcome = self.engine.restart().map(|()| Some(ChangeEffect::Reseed));
        let wanted = self.config().clone();
        self.conclude(outcome, wanted);
    }

    /// Stops seeking after the current burst of steps, and stays at the step reached.
    pub(super) fn stop_seeking(&mut self) -> Result<()> {
        // The current burst must end before the direction of time changes.
        if self.stepper.goal.is_some() && self.settle()? && self.stepper.goal.take().is_some() {
            self.publisher.is_stale = true;
            self.set_direction(self.config().reverse)?;
        }
        Ok(())
    }

    fn set_direction(&mut self, backwards: bool) -> Result<()> {
        if self.engine.is_backwards() != backwards {
            self.engine.set_direction(backwards)?;
            self.measurements.accuracy.discard();
            self.measurements.rates.reset();
        }
        Ok(())
    }

    /// Ends a seek that has reached its goal, and pauses at step 0 when time runs backwards.
    fn check_arrival(&mut self) -> Result<()> {
        let step = self.step();
        if self.stepper.goal == Some(step) {
            self.stop_seeking()?;
        }
        if step == 0 && self.stepper.goal.is_none() && self.engine.is_backwards() && self.wants_steps() {
            let (text, current) = (
                "The simulation has run back to its start, step 0, and is now paused.",
                Box::new(self.pause()?),
            );
            self.notifier.send(Notice::Paused { text, current });
        }
        Ok(())
    }

    /// Pauses the simulation, and returns its new configuration.
    pub(super) fn pause(&mut self) -> Result<Config> {
        let paused = Config { running: false, ..self.config().clone() };
        self.engine.configure(paused.clone())?;
        self.stepper.stop();
        Ok(paused)
    }
}
