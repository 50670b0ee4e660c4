//! Part of each step that a device computes, and purposes for which the devices' data is gathered.

use std::ops::Range;

use serde::{Deserialize, Serialize};

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
