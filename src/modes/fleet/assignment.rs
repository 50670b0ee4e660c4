//! What a device contributes to a simulation on several devices.

use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The part of a pass over all bodies or grid cells that one device computes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    /// Indices of the units of work that the device computes.
    pub work: Range<usize>,
    /// Indices of the bodies or grid rows that the device updates. Only this device has their current data.
    pub own: Range<usize>,
    /// Position of the device among the `of` participating devices, starting at 0.
    pub nth: usize,
    /// Number of participating devices.
    pub of: usize,
}

/// Purpose for which data is gathered from the devices. Each purpose also requires the data of those listed before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Need {
    /// To draw the bodies or the flow.
    Picture,
    /// To draw, and to sum quantities such as the energy.
    Sums,
    /// To save or continue the simulation.
    State,
    /// To compare the last step with the exact result, which requires the state before the step as well.
    LastStep,
}
