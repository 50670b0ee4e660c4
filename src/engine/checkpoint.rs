//! Checkpoints: complete states in host memory that survive the failure of a device.

use std::time::{Duration, Instant};

use crate::base::error::Error;
use crate::base::state::State;
use crate::modes::Extra;

/// Position of a scene in time: step number and simulated time.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    /// Number of the seeding that the scene started from.
    pub generation: u64,
    pub step: u64,
    pub time: f64,
}

/// A complete state between two bursts, from which a simulation continues after a device failed.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// The bodies or the flow at the checkpoint.
    pub state: State,
    pub(super) extra: Extra,
    pub(super) clock: Clock,
    pub(super) taken: Instant,
    /// Time that taking the checkpoint took.
    pub(super) cost: Duration,
}

impl Checkpoint {
    pub(super) fn new(state: State, extra: Extra, clock: Clock) -> Self {
        Self { state, extra, clock, taken: Instant::now(), cost: Duration::ZERO }
    }

    /// Returns the number of steps since the scene began.
    pub fn step(&self) -> u64 {
        self.clock.step
    }

    /// Returns when the checkpoint was taken.
    pub fn taken(&self) -> Instant {
        self.taken
    }
}

/// A device that failed and no longer takes part.
#[derive(Debug)]
pub struct LostDevice {
    /// The error with which the device failed.
    pub error: Error,
    /// Index of the device among the devices that may be chosen.
    pub place: usize,
    /// Step of the checkpoint from which the other devices continued.
    pub step: u64,
}
