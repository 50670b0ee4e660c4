//! The solver of `tree` (Barnes and Hut 1986, Nature 324, 446): far bodies act together, as cells of an octree.

mod cpu;
mod gpu;

use super::solver::{Setup, Solver};
use crate::base::error::Result;
use crate::compute::{Device, DeviceKind};
use crate::modes::{Define, flags};

/// Memory for a body, in bytes: at most what the tree on a CPU needs.
pub(super) const BYTES_PER_BODY: usize = 192;

/// Memory for a body in the largest buffer, in bytes: two cells of eleven numbers on a CPU.
pub(super) const BYTES_IN_A_BUFFER: usize = 2 * 11 * size_of::<f32>();

/// Builds the solver for the kind of the device.
pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
    match setup.device.info.kind {
        DeviceKind::Cpu => cpu::CpuTree::build(setup),
        DeviceKind::Gpu | DeviceKind::Accelerator => gpu::GpuTree::build(setup),
    }
}

/// What a walk of the tree sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    Forces,
    Potential,
}

impl Walk {
    /// Returns the macros of its program.
    fn defines(self, device: &Device) -> Vec<Define> {
        let is_potential = self == Self::Potential;
        flags(&[("POTENTIAL", is_potential), ("FP64", is_potential && device.info.fp64)])
    }
}
