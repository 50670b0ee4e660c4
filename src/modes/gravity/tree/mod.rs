//! The solver of `tree` (Barnes and Hut 1986, Nature 324, 446): distant bodies act together, as cells of an octree.

mod cpu;
mod gpu;

use super::solver::{Setup, Solver};
use crate::base::error::Result;
use crate::compute::{Device, DeviceKind};
use crate::modes::{Define, flags};

/// Device memory per body, in bytes, for the tree on a CPU, which needs the most.
pub(super) const BYTES_PER_BODY: usize = 192;

/// Memory per body in the largest buffer, in bytes: two cells of eleven numbers on a CPU.
pub(super) const BYTES_IN_A_BUFFER: usize = 2 * 11 * size_of::<f32>();

/// Builds the solver for CPUs or GPUs, according to the device.
pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
    match setup.device.info.kind {
        DeviceKind::Cpu => cpu::CpuTree::build(setup),
        DeviceKind::Gpu | DeviceKind::Accelerator => gpu::GpuTree::build(setup),
    }
}

/// Quantity that a walk of the tree sums.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Walk {
    Forces,
    Potential,
}

impl Walk {
    /// Returns the macros of the program that sums the quantity.
    fn defines(self, device: &Device) -> Vec<Define> {
        let is_potential = self == Self::Potential;
        flags(&[("POTENTIAL", is_potential), ("FP64", is_potential && device.info.fp64)])
    }
}
