//! Kernels that are edited while they run.

use std::collections::BTreeSet;

use super::{Engine, continued};
use crate::bodies::Points;
use crate::compute::{Device, Devices, Edits};
use crate::error::Result;
use crate::hand::Pull;
use crate::state::Matter;

impl Engine {
    /// Builds `edits` in place of the program's own kernels from now on, and goes on with them where it is. They are tried
    /// first, on a copy: those that do not build, or that the device refuses to run, change nothing. Those that what runs has
    /// no use for are built when something has. The files that were built.
    ///
    /// # Errors
    /// With the compiler's log if a kernel does not build; if the device refuses or fails.
    pub fn set_edits(&mut self, edits: Edits) -> Result<BTreeSet<&'static str>> {
        let before = self.devices.edits();
        self.devices.set_edits(edits);
        let built = |devices: &Devices| devices.iter().flat_map(Device::take_built).collect();
        let _: BTreeSet<&str> = built(&self.devices);
        self.rebuild().inspect_err(|_| self.devices.set_edits(before))?;
        self.devices.iter().for_each(Device::forget_edits);
        Ok(built(&self.devices))
    }

    fn rebuild(&mut self) -> Result<()> {
        let (state, mut extra) = self.past()?;
        let (config, resolved) = (self.config.clone(), self.resolved);
        config.mode.unsettle(&mut extra);
        let mut trial = continued(&self.devices, &config, resolved, (&state, &extra))?;
        if config.mode.info().work.matter == Matter::Bodies {
            trial.pull(&Pull { at: [0.0; 3], strength: 0.0, reach: 1.0 }, 0.0)?;
        }
        trial.start(1);
        while trial.advance()? {}
        trial.finish()?;
        trial.publish(Points::default())?.wait()?;
        trial.diagnostics()?;
        drop(trial);
        let way = self.backwards;
        self.carry_on(self.devices.clone(), &config, resolved, (state, extra))?;
        self.backwards = config.reverse;
        self.direct(way)?;
        // Another kernel may measure otherwise.
        self.baseline = None;
        Ok(())
    }
}
