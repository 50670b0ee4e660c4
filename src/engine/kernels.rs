//! Kernels that are edited while they run.

use super::{Engine, build};
use crate::bodies::Points;
use crate::compute::Edits;
use crate::error::Result;

impl Engine {
    /// Builds `edits` in place of the program's own kernels from now on, and goes on with them where it is. They are tried
    /// first, on a copy: those that do not build, or that the device refuses to run, change nothing.
    ///
    /// # Errors
    /// With the compiler's log if a kernel does not build; if the device refuses or fails.
    pub fn set_edits(&mut self, edits: Edits) -> Result<()> {
        let before = self.devices.edits();
        self.devices.set_edits(edits);
        self.rebuild().inspect_err(|_| self.devices.set_edits(before))
    }

    fn rebuild(&mut self) -> Result<()> {
        let state = self.state()?;
        let mut trial = build(&self.devices, &self.config, self.resolved, &state)?;
        trial.start(1);
        while trial.advance()? {}
        trial.finish()?;
        trial.publish(Points::default())?.wait()?;
        trial.diagnostics()?;
        drop(trial);
        let (config, resolved) = (self.config.clone(), self.resolved);
        self.begin(&config, resolved, state)?;
        // Another kernel may measure otherwise.
        self.baseline = None;
        Ok(())
    }
}
