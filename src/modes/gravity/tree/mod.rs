//! The solver of `tree` (Barnes and Hut 1986, Nature 324, 446): distant bodies act together, as cells of an octree.

mod cpu;
mod gpu;
mod walk;

use super::solver::{Builder, Setup, Solver};
use crate::base::error::Result;
use crate::compute::DeviceKind;
use crate::modes::variant::variants;
use crate::modes::{Knob, Together, Variant};

/// Builds the solver for CPUs or GPUs, according to the device.
pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
    match setup.device.info.kind {
        DeviceKind::Cpu => cpu::CpuTree::build(setup),
        DeviceKind::Gpu | DeviceKind::Accelerator => gpu::GpuTree::build(setup),
    }
}

variants! {
    "gravity", Variant::BASE;
    /// Barnes–Hut tree: treats a group of distant bodies as one. Approximate; the work grows as n log n.
    TREE = "tree", &Builder(build),
        knobs: &[LEAF, GROUP],
        work_group: |_| 1,
        bodies_per_group: |_| 256,
        together: Together::No,
        has_limit: false,
        tolerance: 1e-2,
        normal_error: Some(2e-3);
}

const LEAF: Knob =
    Knob::new("leaf", "LEAF", &[16, 32], |device, _| if device.kind == DeviceKind::Cpu { 16 } else { 32 })
        .summary("Largest number of bodies in a cell of the tree; a cell with more bodies is split.");
const GROUP: Knob = Knob::new("group", "GROUP", &[16, 32, 64], |_, bodies| match bodies {
    2_000_000.. => 64,
    100_000.. => 32,
    _ => 16,
})
.summary("Number of neighbouring bodies that are computed together on a GPU. A CPU always uses 32.");
