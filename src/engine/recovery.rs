//! What is left of a device that failed: the others go on from the last checkpoint.

use std::time::{Duration, Instant};

use super::{Clock, Engine, Resolved, continued, directed};
use crate::compute::Devices;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::modes::{Extra, Simulation};
use crate::state::State;

/// All that there was at the end of a burst: what a simulation goes on from when a device fails.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// Bodies, or the flow.
    pub state: State,
    pub(super) extra: Extra,
    pub(super) clock: Clock,
    taken: Instant,
    /// What it took.
    cost: Duration,
}

impl Checkpoint {
    pub(super) fn new(state: State, extra: Extra, clock: Clock) -> Self {
        Self { state, extra, clock, taken: Instant::now(), cost: Duration::ZERO }
    }

    /// Steps since the scene began.
    pub fn step(&self) -> u64 {
        self.clock.step
    }

    /// When it was taken.
    pub fn taken(&self) -> Instant {
        self.taken
    }
}

/// How old a checkpoint may be before the next burst takes another: with several devices it is what the others go on
/// from, with one alone what is saved.
const CHECKPOINT_AGES: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(1)];
/// One is taken no more often than that it is one part in so many of the time.
const CHECKPOINT_SHARE: u32 = 300;

/// A device that failed, and was left behind.
#[derive(Debug)]
pub struct Loss {
    /// Its failure.
    pub error: Error,
    /// Its place among those that may be chosen.
    pub place: usize,
    /// The step from which the others went on.
    pub step: u64,
}

impl Engine {
    /// Takes a checkpoint before a burst, if it is time.
    pub(super) fn check_in(&mut self) -> Result<()> {
        let age = CHECKPOINT_AGES[usize::from(self.devices.len() > 1)];
        let age = age.max(self.checkpoint.cost * CHECKPOINT_SHARE);
        let is_due = self.is_changed && self.devices.len() > 1 || self.checkpoint.taken.elapsed() > age;
        if std::mem::take(&mut self.is_fresh) && is_due {
            // The steps that are queued are no part of the cost.
            self.simulation.finish()?;
            let start = Instant::now();
            let (state, extra) = (self.simulation.state()?, self.simulation.extra()?);
            self.checkpoint = Checkpoint::new(state, extra, self.before);
            self.checkpoint.cost = start.elapsed();
            self.is_changed = false;
        }
        Ok(())
    }

    /// Goes on without a device that failed, if others are left: then there is no outcome, but steps to be taken again.
    pub(super) fn survive<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(error) => self.recover(error).map(|()| None),
        }
    }

    /// Goes on without the device that failed with `error`, from the last checkpoint.
    ///
    /// # Errors
    /// `error`, if it is not the failure of one of several devices, or the others cannot go on: then all stays as it was.
    pub fn recover(&mut self, error: Error) -> Result<()> {
        // Others go on since, so it was met before: what was asked of it is asked again.
        if let Error::OpenCl { key, .. } = error
            && key != 0
            && self.devices.iter().all(|device| device.key() != key)
        {
            return Ok(());
        }
        let (mut failures, mut lost_places) = (vec![error], Vec::new());
        let mut devices = self.devices.clone();
        while let Some(Error::OpenCl { key, .. }) = failures.last() {
            let lost = devices.iter().position(|device| device.key() == *key);
            lost_places.extend(lost.map(|at| devices.chosen()[at]));
            devices = match devices.without(*key) {
                Ok(Some(left)) => left,
                Ok(None) | Err(_) => break,
            };
            match self.go_back(devices.clone()) {
                Ok(step) => {
                    let losses = failures.into_iter().zip(lost_places);
                    self.losses.extend(losses.map(|(error, place)| Loss { error, place, step }));
                    return Ok(());
                }
                // One more.
                Err(error) => failures.push(error),
            }
        }
        // The first is what it began with.
        Err(failures.swap_remove(0))
    }

    /// Starts from the last checkpoint anew on `devices`, with all steps since then to be taken again; the step that it is
    /// of. On an error all stays as it was.
    fn go_back(&mut self, devices: Devices) -> Result<u64> {
        let config = Config {
            devices: devices.chosen().to_vec(),
            // What suits another device must not be taken for a wish for other bodies.
            bodies: Some(self.resolved.bodies),
            ..self.config.clone()
        };
        let resolved = Resolved::new(&config, &devices[0].info)?;
        let Checkpoint { state, extra, clock: Clock { step, .. }, .. } = &self.checkpoint;
        let (step, mut extra) = (*step, extra.clone());
        if resolved != self.resolved {
            config.mode.unsettle(&mut extra);
        }
        let mut simulation = continued(&devices, &config, resolved, (state, &extra))?;
        // Since the checkpoint time went one way: another takes another checkpoint.
        let again = self.clock.step.abs_diff(step);
        let was_backwards = if again > 0 { self.clock.step < step } else { self.backwards };
        if was_backwards != config.reverse {
            simulation.set(directed(&config, was_backwards)?.as_ref())?;
            self.is_changed = true;
        }
        simulation.start(u32::try_from(again).unwrap_or(u32::MAX));
        // What is left of the old one may wait for its device in vain, but not for ever.
        (self.devices, self.config, self.resolved) = (devices, config, resolved);
        (self.simulation, self.backwards) = (simulation, was_backwards);
        (self.is_fresh, self.replays) = (false, again > 0);
        Ok(step)
    }

    /// Takes the steps that are to be taken again.
    pub(super) fn catch_up(&mut self) -> Result<()> {
        while self.replays {
            self.advance()?;
        }
        Ok(())
    }

    /// Does something that waits, once all steps are taken; and again, if a device fails meanwhile and others are left.
    pub(super) fn insist<T>(&mut self, mut work: impl FnMut(&mut dyn Simulation) -> Result<T>) -> Result<T> {
        loop {
            self.catch_up()?;
            let outcome = work(self.simulation.as_mut());
            if let Some(outcome) = self.survive(outcome)? {
                return Ok(outcome);
            }
        }
    }

    /// The devices that were lost since this was last asked.
    pub fn take_losses(&mut self) -> Vec<Loss> {
        std::mem::take(&mut self.losses)
    }

    /// The last state that is known to be whole.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }
}
