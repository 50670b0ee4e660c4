//! Copies of a running engine.

use super::core::Engine;
use super::states::SceneState;
use crate::base::{Result, invalid};
use crate::compute::Devices;

/// Complete state of an engine. A second engine that continues from this state on the same device computes the same
/// bits.
pub struct Fork {
    devices: Devices,
    scene: SceneState,
    suspended: Vec<SceneState>,
    baseline: Option<f64>,
    /// Number of scene starts, and number of changes, so far. The second engine continues counting from these numbers.
    counts: (u64, u64),
}

impl Engine {
    /// Returns the state after the last complete burst, from which a second engine can continue. The second engine
    /// cannot undo earlier manual edits. Blocks until the device has finished.
    ///
    /// # Errors
    /// Returns an error if several devices or several MPI ranks compute the steps.
    pub fn fork(&mut self) -> Result<Fork> {
        if self.devices.ranks().is_some() {
            return Err(invalid!(
                "two simulations cannot run side by side under MPI; start gravitile without mpirun"
            ));
        }
        if self.devices.len() > 1 {
            return Err(invalid!(
                "two simulations cannot run side by side on several devices; select a single device first"
            ));
        }
        Ok(Fork {
            scene: self.scene_state()?,
            devices: self.devices.clone(),
            suspended: self.suspended.clone(),
            baseline: self.baseline,
            counts: (self.seedings, self.changes),
        })
    }
}

impl Fork {
    /// Opens the device a second time, and starts the second engine on it.
    ///
    /// # Errors
    /// Returns an error if a kernel fails to build, or if there is not enough memory.
    pub fn engine(self) -> Result<Engine> {
        let Self { devices, scene, suspended, baseline, counts: (seedings, changes) } = self;
        let is_backwards = scene.config.reverse;
        let engine = Engine::with(devices.reopened()?, scene)?;
        Ok(Engine { suspended, baseline, seedings, changes, is_backwards, ..engine })
    }
}

impl std::fmt::Debug for Fork {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scene, .. } = self;
        f.debug_struct("Fork").field("step", &scene.clock.step).finish_non_exhaustive()
    }
}
