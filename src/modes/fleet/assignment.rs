//! Part of each step that a device computes, portions of the data that devices exchange, and purposes for which their
//! data is gathered.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// Number of eighths of its work that a device computes first, if their results are exchanged while it computes the rest.
const EARLY: usize = 5;

/// The part of a pass over all bodies or grid cells that one device computes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Indices of the units of work that the device computes.
    pub work: Range<usize>,
    /// Indices of the bodies or grid rows that the device updates. Only this device has their current data.
    pub own: Range<usize>,
    /// Position of the device in the list of the `of` participating devices, starting at 0.
    pub nth: usize,
    /// Number of participating devices.
    pub of: usize,
}

impl Assignment {
    /// Returns the units of work that the device computes first, if the devices exchange results while they compute
    /// (see [`SharedSimulation::inner`](super::SharedSimulation::inner)).
    pub(crate) fn early(&self) -> Range<usize> {
        let Range { start, end } = self.work;
        start..start + (end - start) * EARLY / 8
    }
}

/// Part of the data that devices exchange after a stage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Portion {
    All,
    /// The edge rows, or the results of [`Assignment::early`].
    Early,
    /// The results of the units of work that are not early.
    Late,
}

/// Purpose for which data is gathered from the devices. Data gathered for one purpose also suffices for all purposes
/// listed before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Need {
    /// Drawing the bodies or the flow.
    Picture,
    /// Summing quantities such as the energy over all bodies or cells.
    Sums,
    /// Saving or continuing the simulation.
    State,
    /// Comparing the last step with the exact result, which also requires the state before the step.
    LastStep,
}
