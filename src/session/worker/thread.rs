//! The worker, which runs the simulation on its own thread, and its main loop.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;

use crossbeam_channel::{Receiver, TryRecvError, after, at, never, select};

use super::editing::EditState;
use super::measurements::{Measurements, SETTLED};
use super::publisher::Publisher;
use super::queue::CommandQueue;
use super::stepper::{Situation, Stepper};
use crate::base::{Result, invalid};
use crate::engine::{Config, Engine, LostDevice};
use crate::session::autosave::{Autosave, Ending};
use crate::session::commands::Command;
use crate::session::notices::{Moment, Notice, Notifier};
use crate::session::turns::Turns;

/// Runs the simulation until [`Command::Quit`] arrives or the window drops its end of the channel.
pub(in crate::session) fn run(
    engine: Engine,
    inbox: Receiver<Command>,
    publisher: Publisher,
    notifier: Notifier,
) {
    let mut worker = Worker {
        engine,
        notifier,
        queue: CommandQueue::new(inbox),
        stepper: Stepper::new(),
        measurements: Measurements::new(),
        edits: EditState::default(),
        publisher,
        autosave: Autosave::default(),
        turns: None,
        unseen_losses: VecDeque::new(),
        end: None,
    };
    let mut is_resumed = worker.engine.is_resumed();
    let mut has_failed = false;
    while worker.end.is_none() && !has_failed {
        // After a panic the last checkpoint can still be saved.
        let turn = catch_unwind(AssertUnwindSafe(|| match std::mem::take(&mut is_resumed) {
            true => worker.report_resumed(String::new()),
            false => worker.turn(),
        }));
        let panicked = || Err(invalid!("the simulation's thread ended unexpectedly"));
        worker.report_losses();
        if let Err(error) = turn.unwrap_or_else(|_| panicked()) {
            worker.notifier.send(Notice::Failed(worker.engine.crash_save(error)));
            has_failed = true;
        }
    }
    worker.close(has_failed);
}

/// State of the simulation's thread: the engine, and the parts that decide what the engine does next.
pub(super) struct Worker {
    pub engine: Engine,
    pub notifier: Notifier,
    pub queue: CommandQueue,
    pub stepper: Stepper,
    pub measurements: Measurements,
    pub edits: EditState,
    pub publisher: Publisher,
    pub autosave: Autosave,
    /// Handle for taking turns on the device; `None` unless a second simulation uses the device.
    pub turns: Option<Turns>,
    /// Indices of lost devices that the window may not know about yet. Configurations from the window may still name
    /// these devices.
    pub unseen_losses: VecDeque<usize>,
    /// `Some` once the program is quitting; contains the last camera position if there is a window.
    pub end: Option<Option<String>>,
}

impl Worker {
    /// Runs one pass of the main loop: carries out waiting commands, computes steps, and sends a frame if one is due.
    /// If there is nothing to do, waits for a command first.
    fn turn(&mut self) -> Result<()> {
        self.wait_for_work()?;
        self.obey_commands()?;
        if self.end.is_some() || !self.has_work() {
            return Ok(());
        }
        let _turn = match &self.turns {
            None => None,
            Some(turns) => {
                let queue = &mut self.queue;
                let quits = || {
                    queue.receive();
                    queue.quits_now()
                };
                match turns.take(quits) {
                    Some(turn) => Some(turn),
                    // The next pass of the main loop carries out `Quit`.
                    None => return Ok(()),
                }
            }
        };
        // Shows a changed state before starting a step, because the step may take a long time.
        let shows_first = self.publisher.is_due() && !self.stepper.is_bursting;
        if !shows_first && self.wants_steps() && !self.stepper.is_bursting {
            self.start_burst()?;
        }
        if self.stepper.is_bursting && !self.complete_burst()? {
            return Ok(());
        }
        if self.publisher.is_due() { self.publish() } else { Ok(()) }
    }

    /// Receives commands. If there is nothing to do, waits for one, and measures the energy of a paused simulation.
    fn wait_for_work(&mut self) -> Result<()> {
        let verdict = self.measurements.accuracy.verdict();
        let outcome = self.measurements.distributions.outcome();
        // Commands may also have arrived during a burst.
        if self.has_work() || !self.queue.waiting.is_empty() {
            self.measurements.accuracy.receive(verdict.try_recv());
            self.measurements.distributions.receive(outcome.try_recv());
        } else {
            if !self.wants_steps() {
                // A pause may be long, so unfinished measurements release their memory.
                self.measurements.peaks.keep_only(None);
            }
            let settles = if self.lacks_energy() { after(SETTLED) } else { never() };
            let next_check = self.next_check_in_pause();
            let checks = next_check.map_or_else(never, at);
            let surveys = self.next_distributions_in_pause().map_or_else(never, at);
            select! {
                recv(self.queue.inbox) -> command => self.queue.waiting.push_back(command.unwrap_or(Command::Quit(None))),
                recv(verdict) -> verdict => {
                    self.measurements.accuracy.receive(verdict.map_err(|_| TryRecvError::Disconnected));
                    // While the simulation runs, the next frame shows the result anyway.
                    self.publisher.is_stale |= !self.config().running;
                }
                recv(outcome) -> outcome => {
                    self.measurements.distributions.receive(outcome.map_err(|_| TryRecvError::Disconnected));
                    self.publisher.is_stale |= !self.config().running;
                }
                recv(surveys) -> _ => self.compute_distributions()?,
                recv(settles) -> _ => self.measure_energy()?,
                recv(checks) -> _ => self.check_accuracy()?,
            }
        }
        self.queue.receive();
        Ok(())
    }

    fn obey_commands(&mut self) -> Result<()> {
        while self.end.is_none()
            && let Some(command) = self.queue.next()
        {
            self.obey(command)?;
        }
        Ok(())
    }

    /// Ends the worker: writes the autosave and the requested files.
    fn close(self, has_failed: bool) {
        let Self { mut engine, mut queue, mut autosave, notifier, stepper, end, .. } = self;
        let deadline = queue.deadline();
        let (file, requested) = queue.into_files();
        file.into_iter().for_each(|file| autosave.set_file(file));
        let (is_bursting, view) = (stepper.is_bursting, end.flatten());
        let ending = Ending { is_bursting, has_failed, requested, view, deadline };
        autosave.end(&mut engine, ending, &notifier);
    }

    pub(super) fn config(&self) -> &Config {
        self.engine.config()
    }

    /// Returns the number of steps since the scene began.
    pub(super) fn step(&self) -> u64 {
        self.engine.clock().0
    }

    pub(super) fn moment(&self) -> Moment {
        (self.engine.generation(), self.step(), self.engine.changes())
    }

    pub(super) fn situation(&self) -> Situation {
        let step_seconds = self.measurements.rates.rates().step_seconds;
        Situation {
            step: self.step(),
            is_backwards: self.engine.is_backwards(),
            step_seconds,
            read_seconds: self.publisher.read_ms * 1e-3,
            least_seconds: self.turns.as_ref().map_or(0.0, |turns| turns.exchange_times(step_seconds)),
            attracts: self.edits.attraction.is_some(),
        }
    }

    /// Returns whether the simulation should compute steps now. The first frame comes before the first step, even if the
    /// window has not yet taken a preview.
    pub(super) fn wants_steps(&self) -> bool {
        self.publisher.generation.is_some() && self.stepper.wants_steps(self.engine.config())
    }

    fn has_work(&self) -> bool {
        let steps = self.stepper.is_bursting || self.wants_steps();
        let may_step = self.publisher.screen_is_ready || self.stepper.is_free(self.config());
        self.publisher.is_due() || (steps && may_step)
    }

    /// Returns whether the simulation is paused, and a frame with its current state has been published.
    fn stands_still(&self) -> bool {
        !self.stepper.is_bursting && !self.wants_steps() && !self.publisher.is_stale
    }

    /// Returns whether the simulation is paused, and its energy has yet to be measured and can be measured quickly.
    fn lacks_energy(&self) -> bool {
        self.stands_still() && self.measurements.lacks_energy(self.moment(), self.engine.work_in_step())
    }

    /// Returns when to compute the distributions of the bodies of a paused simulation, or `None` if that is not needed.
    fn next_distributions_in_pause(&self) -> Option<Instant> {
        let has_any = !self.config().mode.info().distributions.is_empty();
        let due = self.measurements.distributions.due(self.moment());
        due.filter(|_| has_any && self.stands_still())
    }

    /// Returns when to measure the errors of more bodies if the simulation is paused and the colours show errors, or
    /// else `None`.
    fn next_check_in_pause(&self) -> Option<Instant> {
        let goes_on = self.stands_still() && self.config().mode.shows_errors();
        if goes_on { self.measurements.accuracy.next_in_pause() } else { None }
    }

    /// Tells the window which devices have failed and are no longer used.
    pub(super) fn report_losses(&mut self) {
        for LostDevice { error, place, step } in self.engine.take_lost_devices() {
            self.unseen_losses.push_back(place);
            self.measurements.devices_changed();
            let current = Box::new(self.config().clone());
            self.notifier.send(Notice::DeviceLost { error, step, current });
            self.measurements.rates.reset();
        }
    }
}
