//! Carries out the commands that the window sends.

use std::collections::BTreeSet;
use std::path::Path;

use crossbeam_channel::Sender;

use super::thread::Worker;
use crate::base::{ChangeEffect, EditKind, Result, invalid};
use crate::compute::KernelEdits;
use crate::engine::snapshot::Carried;
use crate::engine::{Config, Engine, Fork};
use crate::session::commands::{Command, Continuation, Pairing};
use crate::session::notices::{Notice, ReplacedKernels};

impl Worker {
    pub(super) fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::Configure(config) => self.configure(*config)?,
            // A held key requests steps faster than they are computed; the surplus is dropped.
            Command::Step => {
                self.stop_seeking()?;
                self.stepper.single_steps = 1;
            }
            Command::Seek(Some(goal)) => self.seek(goal)?,
            Command::Seek(None) => self.stop_seeking()?,
            Command::Restart => self.restart(),
            // The window uses outdated indices of bodies.
            Command::Select(Some(_)) if self.edits.is_renumbered() => {}
            Command::Select(body) => (self.edits.selected, self.publisher.is_stale) = (body, true),
            Command::Edit(edit) => self.edit(edit)?,
            Command::Attract(attractor) => self.set_attractor(attractor)?,
            Command::Undo => self.undo_or_redo(Engine::undo, "There is nothing to undo.")?,
            Command::Redo => self.undo_or_redo(Engine::redo, "There is nothing to redo.")?,
            Command::Paint(stroke) => self.paint(stroke)?,
            Command::SaveSnapshot(save) => self.save(save)?,
            Command::SetAutosaveFile(path) => self.autosave.set_file(path),
            Command::Capture(request) => self.capture(request)?,
            Command::Resume(path) => self.resume(&path)?,
            Command::ContinueFrom(moment) => self.continue_from(*moment)?,
            Command::EditKernels(edits) => self.edit_kernels(edits)?,
            Command::StartStudy(study) => self.study(study)?,
            Command::StopStudy => {}
            Command::Watch(watched) => {
                self.engine.keep_restore_points(watched.restore_points);
                self.measurements.watch(watched);
            }
            Command::Fork(answer) => self.fork(&answer)?,
            Command::Pair(pairing) => self.pair(pairing),
            // If the receiving simulation has ended, sending fails, and the autosave is dropped.
            Command::GiveAutosave(other) => drop(other.send(std::mem::take(&mut self.autosave))),
            Command::TakeAutosave(other) => {
                if let Ok(autosave) = other.recv() {
                    self.autosave = autosave;
                }
            }
            Command::ShowCells(depth) => (self.publisher.cells, self.publisher.is_stale) = (depth, true),
            Command::ShowLight(request) => self.set_light(request),
            Command::SetFrameInterval { interval, is_software } => {
                (self.stepper.picture, self.stepper.is_software) = (interval, is_software);
            }
            Command::AcknowledgeLoss => drop(self.unseen_losses.pop_front()),
            Command::FrameTaken => {
                self.publisher.screen_is_ready = true;
                self.edits.frame_taken();
            }
            Command::Quit(view) => self.end = Some(view),
        }
        Ok(())
    }

    /// Sends the state after the current burst of steps. Sends nothing if the program quits.
    fn fork(&mut self, answer: &Sender<Result<Fork>>) -> Result<()> {
        if self.finish_burst()? {
            // The window may no longer want a second simulation.
            let _ = answer.send(self.engine.fork());
        }
        Ok(())
    }

    /// Starts or stops taking turns on the device with another simulation.
    fn pair(&mut self, pairing: Option<Pairing>) {
        if pairing.is_some() != self.turns.is_some() {
            self.measurements.rates.reset();
        }
        self.stepper.every = pairing.as_ref().and_then(|pairing| pairing.every);
        self.turns = pairing.map(|pairing| pairing.turns);
    }

    /// Applies `config` to the simulation, or reports why it cannot be applied.
    fn configure(&mut self, mut config: Config) -> Result<()> {
        self.report_losses();
        self.leave_out_lost(&mut config);
        // A configuration that keeps the bodies waits for the burst to end, unless a later configuration replaces them.
        if !self.engine.reseeds(&config) && !self.settle_unless_reseeded()? {
            return Ok(());
        }
        let starts = config.running && !self.config().running;
        if starts || config.reverse != self.config().reverse {
            self.measurements.rates.reset();
        }
        if starts {
            self.stepper.stop();
        }
        let before = self.engine.devices().chosen().to_vec();
        let outcome = self.engine.configure(config.clone());
        if self.engine.devices().chosen() != before {
            self.measurements.devices_changed();
        }
        self.conclude(outcome, config);
        // The new configuration may allow another way to reach the goal.
        match self.stepper.goal {
            Some(goal) => self.seek(goal),
            None => Ok(()),
        }
    }

    /// Removes lost devices from a configuration that the window sent before it knew about the loss.
    fn leave_out_lost(&self, config: &mut Config) {
        let wanted = config.devices.len();
        config.devices.retain(|place| !self.unseen_losses.contains(place));
        let current = self.config();
        if config.devices.len() < wanted && config.mode.info() == current.mode.info() {
            config.bodies = config.bodies.or(current.bodies);
        }
    }

    /// Continues from the snapshot in the file `path`, or reports an error and keeps the current simulation.
    fn resume(&mut self, path: &Path) -> Result<()> {
        let outcome = Carried::load(path).and_then(|carried| match carried {
            Carried::Snapshot(snapshot) => {
                let view = snapshot.view.clone();
                self.engine.restore(*snapshot).map(|()| view)
            }
            Carried::Scene(_) => {
                Err(invalid!("{}: the file contains a scene but no snapshot", path.display()))
            }
        });
        match outcome {
            Ok(view) => {
                self.discard(Some(ChangeEffect::Reseed));
                self.publisher.is_stale = true;
                self.report_resumed(view)
            }
            Err(error) => {
                self.notifier.send(Notice::ResumeRefused(error));
                Ok(())
            }
        }
    }

    /// Goes back to an earlier moment of the run, or reports an error and keeps the current simulation.
    fn continue_from(&mut self, moment: Continuation) -> Result<()> {
        let Continuation { point, config, step, view } = moment;
        let config = Config { running: false, tuned: self.config().tuned.clone(), ..config };
        if let Err(error) = self.engine.continue_from(&point, config) {
            self.notifier.send(Notice::ResumeRefused(error));
            return Ok(());
        }
        self.discard(Some(ChangeEffect::Reseed));
        self.publisher.is_stale = true;
        self.report_resumed(view)?;
        // Unlike `seek`, always steps from the restore point, in the direction of the original run.
        self.stepper.goal = Some(step).filter(|step| *step != self.step());
        Ok(())
    }

    /// Reports to the window that the simulation continues from a snapshot. Pauses a simulation that has blown up.
    pub(super) fn report_resumed(&mut self, view: String) -> Result<()> {
        let config = Box::new(self.config().clone());
        let left = self.engine.suspended().cloned().collect();
        self.notifier.send(Notice::Resumed { config, left, view });
        if self.engine.checkpoint().state.has_blown_up() { self.halt() } else { Ok(()) }
    }

    /// Switches to edited kernels, or reports an error and keeps the previous kernels. Quitting the program interrupts
    /// the test of the edited kernels.
    fn edit_kernels(&mut self, edits: KernelEdits) -> Result<()> {
        if !self.settle()? {
            // Kernel edits are independent of the bodies, so they are kept for later.
            self.queue.waiting.push_back(Command::EditKernels(edits));
            return Ok(());
        }
        let before = self.engine.devices().edits();
        let names: BTreeSet<&String> = before.keys().chain(edits.keys()).collect();
        let changed = names.into_iter().filter(|name| before.get(*name) != edits.get(*name));
        let changed: Vec<String> = changed.cloned().collect();
        let queue = &mut self.queue;
        let goes_on = || {
            queue.receive();
            !queue.quits_now()
        };
        let Some(outcome) = self.engine.set_edits_unless(edits, goes_on).transpose() else { return Ok(()) };
        let outcome = outcome.map(|built| {
            self.discard(Some(ChangeEffect::Rebuild));
            self.publisher.is_stale = true;
            let (running, waiting) = changed.into_iter().partition(|name| built.contains(name.as_str()));
            ReplacedKernels { running, waiting }
        });
        self.notifier.send(Notice::KernelsReplaced(outcome));
        Ok(())
    }

    /// Completes the switch to the configuration `wanted`: discards outdated results, or reports why the switch failed.
    pub(super) fn conclude(&mut self, outcome: Result<Option<ChangeEffect>>, wanted: Config) {
        match outcome {
            Ok(effect) => self.discard(effect),
            Err(error) => {
                let current = Box::new(self.config().clone());
                self.notifier.send(Notice::Rejected { error, wanted: Box::new(wanted), current });
            }
        }
        self.publisher.is_stale = true;
    }

    /// Discards the results and pending steps that a change with the given effect makes outdated.
    pub(super) fn discard(&mut self, effect: Option<ChangeEffect>) {
        self.measurements.discard(effect);
        if effect >= Some(ChangeEffect::Rebuild) {
            self.measurements.profiler.discard(&self.engine);
        }
        if effect == Some(ChangeEffect::Reseed) {
            self.stepper.is_bursting = false;
            self.stepper.stop();
            self.edits.reset();
        }
    }

    /// Pauses a simulation whose values are no longer finite, and reports the blow-up.
    pub(super) fn halt(&mut self) -> Result<()> {
        let paused = self.pause()?;
        if let Some(series) = &paused.mode.info().series {
            let is_painted = self.engine.last_edit() == Some(EditKind::Stroke);
            let current = Box::new(paused);
            self.notifier.send(Notice::BlownUp { text: series.broken, is_painted, current });
        }
        Ok(())
    }
}
