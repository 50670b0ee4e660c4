//! Replaces kernels by edited kernels while a simulation runs.

use std::collections::BTreeSet;

use super::build::build;
use super::core::Engine;
use crate::base::bodies::Points;
use crate::base::edit::Attractor;
use crate::base::error::Result;
use crate::compute::{Device, KernelEdits};

impl Engine {
    /// Replaces built-in kernels by `edits`. First runs one step on a copy of the simulation. If this step fails, or
    /// `goes_on` returns false between two parts of the step, nothing changes. Kernels of other variants are built on
    /// first use. Returns the names of the kernel files that were built, or `None` if `goes_on` returned false.
    ///
    /// # Errors
    /// Returns the compiler's log if a kernel does not build, or an error if the device fails.
    pub fn set_edits_unless(
        &mut self,
        edits: KernelEdits,
        goes_on: impl FnMut() -> bool,
    ) -> Result<Option<BTreeSet<&'static str>>> {
        let before = self.devices.edits();
        self.devices.set_edits(edits);
        self.devices.iter().for_each(|device| drop(device.take_built()));
        let outcome = self.rebuild(goes_on);
        if !matches!(outcome, Ok(true)) {
            self.devices.set_edits(before);
            return outcome.map(|_| None);
        }
        self.devices.iter().for_each(Device::forget_edits);
        Ok(Some(self.devices.iter().flat_map(Device::take_built).collect()))
    }

    /// Replaces built-in kernels by `edits` like [`Engine::set_edits_unless`], but cannot be interrupted.
    pub fn set_edits(&mut self, edits: KernelEdits) -> Result<BTreeSet<&'static str>> {
        Ok(self.set_edits_unless(edits, || true)?.unwrap_or_default())
    }

    /// Tests the current kernels on a copy of the simulation, then switches to them. Returns false if interrupted.
    fn rebuild(&mut self, mut goes_on: impl FnMut() -> bool) -> Result<bool> {
        let mut scene = self.scene_state()?;
        scene.config.mode.unsettle(&mut scene.extra);
        let mut copy = build(&self.devices, &scene.config, scene.resolved, (&scene.state, &scene.extra))?;
        if self.config.mode.info().work.tools.is_ok() {
            copy.attract(&Attractor { at: [0.0; 3], strength: 0.0, reach: 1.0 }, 0.0)?;
        }
        copy.start(1);
        while copy.advance()? {
            if !goes_on() {
                return Ok(false);
            }
        }
        copy.finish()?;
        copy.publish(Points::default())?.wait()?;
        if !goes_on() {
            return Ok(false);
        }
        copy.diagnostics()?;
        drop(copy);
        let is_backwards = self.is_backwards;
        self.replace_simulation(self.devices.clone(), scene)?;
        self.set_direction(is_backwards)?;
        // Edited kernels may sum the energy differently.
        self.baseline = None;
        Ok(true)
    }
}
