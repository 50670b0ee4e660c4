//! Takes snapshots of an engine, and creates engines that continue from snapshots.

use super::config::Config;
use super::core::Engine;
use super::snapshot::{Run, Snapshot};
use super::states::{Checkpoint, Clock, RestorePoint, SceneState};
use super::tuned::Tuned;
use crate::base::{Result, State, invalid};
use crate::compute::{DeviceInfo, Devices};
use crate::modes::Extra;

impl Engine {
    /// Creates an engine that continues from `snapshot`. On the device that wrote the snapshot, the engine keeps the
    /// stored kernel settings, so that all later states are bit-identical to those of an uninterrupted simulation. On
    /// any other device, settings left on `auto` use the measured settings in `tuned` where possible.
    ///
    /// # Errors
    /// Returns the same errors as [`Engine::new`], or an error if the snapshot is inconsistent.
    pub fn resume(devices: impl Into<Devices>, snapshot: Snapshot, tuned: &Tuned) -> Result<Self> {
        let devices = devices.into();
        let device = &devices[0];
        let is_same = snapshot.device == signature(&device.info);
        let mut runs = snapshot.runs.into_iter();
        let first = runs.next().ok_or_else(|| invalid!("the snapshot contains no scene"))?;
        let restore = |(nth, run): (u64, Run)| SceneState::from_run(run, &device.info, is_same, tuned, nth);
        let suspended = (2..).zip(runs).map(restore).collect::<Result<Vec<_>>>()?;
        let baseline = first.baseline;
        let mut scene = restore((1, first))?;
        if devices.pool().nth(1).is_some() {
            scene.config.devices = devices.chosen().to_vec();
        }
        let seedings = 1 + suspended.len() as u64;
        let engine = Self::with(devices, scene)?;
        Ok(Self { seedings, suspended, baseline, is_resumed: true, ..engine })
    }

    /// Replaces the current simulation with the simulation stored in `snapshot`.
    ///
    /// # Errors
    /// Returns the same errors as [`Engine::resume`]; the current simulation then continues unchanged.
    pub fn restore(&mut self, snapshot: Snapshot) -> Result<()> {
        let resumed = Self::resume(self.devices.clone(), snapshot, &self.config.tuned)?;
        let before = std::mem::replace(self, resumed);
        self.changes = before.changes + 1;
        self.keeps_restore_points = before.keeps_restore_points;
        // Numbers of scene starts must not repeat, so the count continues after a restore.
        self.seedings += before.seedings;
        self.clock.generation += before.seedings;
        self.suspended.iter_mut().for_each(|scene| scene.clock.generation += before.seedings);
        Ok(())
    }

    /// Returns a snapshot of the state after the last complete burst. Blocks until the device has finished.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        let shown = self.scene_state()?;
        Ok(self.snapshot_of(shown))
    }

    /// Returns a snapshot of the last checkpoint, without accessing a device.
    pub fn last_snapshot(&self) -> Snapshot {
        let Checkpoint { state, extra, clock, .. } = Checkpoint::clone(&self.checkpoint);
        self.snapshot_of(self.scene_with(state, extra, clock))
    }

    /// Turns restore points on or off. If on, the engine also takes checkpoints after edits and parameter changes.
    pub fn keep_restore_points(&mut self, keeps: bool) {
        self.keeps_restore_points = keeps;
    }

    /// Returns the last checkpoint as a restore point, or `None` if an edit or a parameter change has followed it or if
    /// restore points are off.
    pub fn restore_point(&self) -> Option<RestorePoint> {
        (self.keeps_restore_points && !self.changed_since_checkpoint).then(|| RestorePoint {
            checkpoint: self.checkpoint.clone(),
            resolved: self.resolved,
            is_edited: self.is_edited,
            names: self.names.clone(),
            changes: self.changes,
            edits: self.devices.edits(),
        })
    }

    /// Continues from the state of `point` with the configuration `config`. On the same devices and with the same
    /// kernels, the same steps then give the same bits. Clears the undo history.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if `config` has another mode than the current one, if its devices or
    /// kernels cannot be used, or if the kernels have been edited since the restore point.
    pub fn continue_from(&mut self, point: &RestorePoint, config: Config) -> Result<()> {
        if config.mode.info() != self.config.mode.info() {
            let name = config.mode.info().name;
            return Err(invalid!("this step was computed in {name} mode; switch to {name} mode first"));
        }
        if point.edits != self.devices.edits() {
            return Err(invalid!(
                "this step was computed with different kernels; switch back to those kernels first"
            ));
        }
        let devices = match config.devices.is_empty() || config.devices == self.devices.chosen() {
            true => self.devices.clone(),
            false => self.devices.choose(&config.devices)?,
        };
        let RestorePoint { checkpoint, resolved, is_edited, names, .. } = point.clone();
        let Checkpoint { state, extra, clock, .. } = Checkpoint::clone(&checkpoint);
        let clock = Clock { generation: self.seedings + 1, ..clock };
        self.replace_simulation(
            devices,
            SceneState { config, resolved, state, extra, clock, is_edited, names },
        )?;
        self.seedings += 1;
        self.changes += 1;
        self.baseline = None;
        self.forget_edits();
        Ok(())
    }

    /// Returns a snapshot that contains the visible scene `shown` and the suspended scenes of other modes.
    fn snapshot_of(&self, shown: SceneState) -> Snapshot {
        let suspended = self.suspended.iter().map(|scene| scene.clone().into_run(None));
        Snapshot {
            device: signature(&self.devices[0].info),
            view: String::new(),
            runs: std::iter::once(shown.into_run(self.baseline)).chain(suspended).collect(),
        }
    }

    /// Returns the complete state of the current mode. Blocks until the device has finished.
    pub(super) fn scene_state(&mut self) -> Result<SceneState> {
        let (state, extra) = self.retry(|simulation| Ok((simulation.state()?, simulation.extra()?)))?;
        Ok(self.scene_with(state, extra, self.clock))
    }

    /// Returns a scene with the current configuration and the given state.
    fn scene_with(&self, state: State, extra: Extra, clock: Clock) -> SceneState {
        let (config, resolved, is_edited) = (self.config.clone(), self.resolved, self.is_edited);
        SceneState { config, resolved, state, extra, clock, is_edited, names: self.names.clone() }
    }
}

/// Returns the name and driver that identify a device.
fn signature(device: &DeviceInfo) -> [String; 2] {
    [device.name.clone(), device.driver.clone()]
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    use super::*;
    use crate::base::params;

    #[test]
    fn a_run_continues_exactly_from_a_checkpoint_right_after_a_change() {
        let mut config = Config { bodies: Some(300), ..Config::new(&crate::modes::gravity::INFO) };
        let device = crate::compute::list().unwrap().remove(0).open().unwrap();
        let mut engine = Engine::new(device, config.clone()).unwrap();
        engine.keep_restore_points(true);
        engine.run(3, |_| {}).unwrap();
        params::set(config.mode.as_mut(), "g", "1.37").unwrap();
        engine.configure(config.clone()).unwrap();
        // Makes the last checkpoint so old that the next step begins with a new one.
        let taken = Instant::now().checked_sub(Duration::from_secs(5)).unwrap();
        engine.checkpoint = Arc::new(Checkpoint { taken, ..Checkpoint::clone(&engine.checkpoint) });
        engine.run(5, |_| {}).unwrap();
        let point = engine.restore_point().unwrap();
        assert_eq!(point.step(), 3);
        let expected = engine.scene_state().unwrap().state.into_bodies().unwrap();
        engine.continue_from(&point, config).unwrap();
        engine.run(5, |_| {}).unwrap();
        let again = engine.scene_state().unwrap().state.into_bodies().unwrap();
        assert!(again.positions == expected.positions && again.velocities == expected.velocities);
    }
}
