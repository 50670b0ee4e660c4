//! Recovery from a lost device: other devices continue from the last checkpoint, or a crash save writes it to a file.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::build::{Resolved, build, directed};
use super::config::Config;
use super::core::Engine;
use super::snapshot::EXTENSION;
use super::states::{Checkpoint, LostDevice};
use crate::base::{Error, Result, invalid};
use crate::compute::Devices;
use crate::modes::Simulation;

/// Maximum age of the last checkpoint when steps begin: first with one device, then with several devices. With several
/// devices, the limit is shorter, because the remaining devices resume from the checkpoint if a device is lost.
const CHECKPOINT_AGES: [Duration; 2] = [Duration::from_secs(10), Duration::from_secs(1)];
/// Minimum time between regular checkpoints, as a multiple of the time that copying the last checkpoint took.
const CHECKPOINT_SHARE: u32 = 300;
/// Minimum time between checkpoints that are taken only to keep restore points.
const RESTORE_POINT_AGE: Duration = Duration::from_millis(250);
/// Minimum time between checkpoints that are taken only to keep restore points, as a multiple of the time that copying
/// the last checkpoint took.
const RESTORE_POINT_SHARE: u32 = 30;

impl Engine {
    /// Takes a checkpoint before new steps if the last one is too old. Also takes one after a change if there are
    /// several devices or if restore points are kept.
    pub(super) fn update_checkpoint(&mut self) -> Result<()> {
        let age = CHECKPOINT_AGES[usize::from(self.devices.len() > 1)];
        let age = age.max(self.checkpoint.cost * CHECKPOINT_SHARE);
        // Limits the rate of checkpoints: while the user drags a slider, each burst begins with a change.
        let rests = self.checkpoint.taken.elapsed()
            > RESTORE_POINT_AGE.max(self.checkpoint.cost * RESTORE_POINT_SHARE);
        let has_changed =
            self.changed_since_checkpoint && (self.devices.len() > 1 || (self.keeps_restore_points && rests));
        let is_due = has_changed || self.checkpoint.taken.elapsed() > age;
        if let Some(start) = self.new_burst.take().filter(|_| is_due) {
            // The wait for queued steps does not count as cost of the checkpoint.
            self.simulation.finish()?;
            let begun = Instant::now();
            let (state, extra) = (self.simulation.state()?, self.simulation.extra()?);
            let checkpoint = Checkpoint::new(state, extra, start);
            self.checkpoint = Arc::new(Checkpoint { cost: begun.elapsed(), ..checkpoint });
            self.changed_since_checkpoint = false;
        }
        Ok(())
    }

    /// Returns the value of `outcome`, or `None` if a device failed and the others restarted from the last checkpoint.
    pub(super) fn or_recover<T>(&mut self, outcome: Result<T>) -> Result<Option<T>> {
        match outcome {
            Ok(outcome) => Ok(Some(outcome)),
            Err(error) => self.recover(error).map(|()| None),
        }
    }

    /// Drops the device that failed with `error`, and restarts the remaining devices from the last checkpoint.
    ///
    /// # Errors
    /// Returns `error` and changes nothing if no device is left, if `error` is not a device failure, or if the other
    /// devices cannot continue.
    pub fn recover(&mut self, error: Error) -> Result<()> {
        // The failed device was already removed, so the caller only has to try again.
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
            match self.restart_from_checkpoint(devices.clone()) {
                Ok(step) => {
                    let lost = failures.into_iter().zip(lost_places);
                    self.lost_devices.extend(lost.map(|(error, place)| LostDevice { error, place, step }));
                    return Ok(());
                }
                Err(error) => failures.push(error),
            }
        }
        Err(failures.swap_remove(0))
    }

    /// Restarts on `devices` from the last checkpoint, and plans to repeat later steps. Returns the checkpoint's step.
    fn restart_from_checkpoint(&mut self, devices: Devices) -> Result<u64> {
        let config = Config {
            devices: devices.chosen().to_vec(),
            // `auto` for another device must not change the number of bodies.
            bodies: Some(self.resolved.bodies),
            ..self.config.clone()
        };
        let resolved = Resolved::new(&config, &devices[0].info)?;
        let (step, mut extra) = (self.checkpoint.clock.step, self.checkpoint.extra.clone());
        if resolved != self.resolved {
            config.mode.unsettle(&mut extra);
        }
        let mut simulation = build(&devices, &config, resolved, (&self.checkpoint.state, &extra))?;
        // All steps since the checkpoint have the same direction: a change of direction takes a new checkpoint.
        let again = self.clock.step.abs_diff(step);
        let was_backwards = if again > 0 { self.clock.step < step } else { self.is_backwards };
        if was_backwards != config.reverse {
            simulation.set(directed(&config, was_backwards)?.as_ref())?;
            self.changed_since_checkpoint = true;
        }
        simulation.start(u32::try_from(again).unwrap_or(u32::MAX));
        // Dropping the old simulation may wait for its lost device, but only for a limited time.
        (self.devices, self.config, self.resolved) = (devices, config, resolved);
        (self.simulation, self.is_backwards) = (simulation, was_backwards);
        (self.new_burst, self.is_replaying) = (None, again > 0);
        Ok(step)
    }

    /// Finishes replaying the steps since the last checkpoint, if a device was lost.
    pub(super) fn finish_replay(&mut self) -> Result<()> {
        while self.is_replaying {
            self.advance()?;
        }
        Ok(())
    }

    /// Finishes any replay of steps, then calls `work`. If a device fails and others remain, recovers and tries again.
    pub(super) fn retry<T>(&mut self, mut work: impl FnMut(&mut dyn Simulation) -> Result<T>) -> Result<T> {
        loop {
            self.finish_replay()?;
            let outcome = work(self.simulation.as_mut());
            if let Some(outcome) = self.or_recover(outcome)? {
                return Ok(outcome);
            }
        }
    }

    /// Returns the devices that have been lost since the last call.
    pub fn take_lost_devices(&mut self) -> Vec<LostDevice> {
        std::mem::take(&mut self.lost_devices)
    }

    /// Returns the last checkpoint.
    pub fn checkpoint(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// Saves the last checkpoint to a file if a device or another rank failed with `error`. Returns `error` with the
    /// file's path added.
    pub fn crash_save(&self, error: Error) -> Error {
        if !matches!(error, Error::OpenCl { .. } | Error::Rank(_)) {
            return error;
        }
        let step = self.checkpoint.clock.step;
        let name = format!("gravitile-step-{step}");
        let elsewhere = || {
            let folder = dirs::state_dir().or_else(dirs::data_local_dir)?.join("gravitile");
            fs::create_dir_all(&folder).ok().map(|()| folder)
        };
        let saved = self.save_checkpoint(Path::new(""), &name).or_else(|error| match elsewhere() {
            Some(folder) => self.save_checkpoint(&folder, &name),
            None => Err(error),
        });
        Error::Invalid(match saved.map(|path| path.display().to_string()) {
            Ok(path) => format!(
                "{error}. The simulation at step {step} is saved in {path}; continue it with --resume"
            ),
            Err(why) => format!("{error}. The simulation at step {step} could not be saved: {why}"),
        })
    }

    /// Writes the last checkpoint to a new file in `folder`, and returns its path.
    fn save_checkpoint(&self, folder: &Path, name: &str) -> Result<PathBuf> {
        let names = (1..).map(|nth| if nth == 1 { name.to_owned() } else { format!("{name}-{nth}") });
        let mut paths = names.map(|name| folder.join(format!("{name}.{EXTENSION}")));
        let Some(path) = paths.find(|path| !path.exists()) else {
            return Err(invalid!("all possible names for the file are already in use"));
        };
        self.last_snapshot().save(&path)?;
        Ok(std::path::absolute(&path).unwrap_or(path))
    }
}
