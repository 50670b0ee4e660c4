//! What a walk of the tree sums, and how accurately.

use crate::compute::Device;
use crate::modes::{Define, flags};

/// Largest error that a cell may make, relative to the smallest acceleration near it.
pub(super) const OPENING: f32 = 0.004;

/// Quantity that a walk of the tree sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Walk {
    Forces,
    Potential,
}

impl Walk {
    /// Returns the macros of the program that sums the quantity.
    pub(super) fn defines(self, device: &Device) -> Vec<Define> {
        let is_potential = self == Self::Potential;
        flags(&[("POTENTIAL", is_potential), ("FP64", is_potential && device.info.fp64)])
    }
}
