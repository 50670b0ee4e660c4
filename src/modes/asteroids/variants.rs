//! Kernel variants of asteroids.

use super::cells::Cells;
use super::columns::Columns;
use super::solver::{AllPairs, Builder};
use crate::compute::{DeviceInfo, DeviceKind};
use crate::modes::{Together, Variant, variants};

const ALL_PAIRS: &Builder = &Builder(AllPairs::build);

variants! {
    "asteroids", Variant::BASE;
    /// Tests every pair and reads everything from global memory.
    NAIVE = "naive", ALL_PAIRS;
    /// Loads positions into local memory once per work-group.
    TILED = "tiled", ALL_PAIRS,
        local_bytes: |recipe| size_of::<[f32; 4]>() * recipe.work_group.next_multiple_of(8);
    /// Like tiled, but also loads velocities into local memory.
    TILED_BOTH = "tiled-both", ALL_PAIRS, local_bytes: |recipe| size_of::<[f32; 8]>() * recipe.work_group;
    /// For CPUs: tests each pair once, four bodies against 16 others at a time.
    VECTOR = "vector", &Builder(Columns::build),
        work_group: |_| 16,
        bodies_per_group: |recipe| 4 * recipe.work_group,
        sides: 2.0;
    /// Sorts bodies into cells and tests only neighbours.
    GRID = "grid", &Builder(Cells::build), together: Together::No, has_limit: false;
}

/// Returns the variant that `auto` selects. Variants that test all pairs are faster only for small numbers of bodies.
pub(super) fn auto_variant(device: &DeviceInfo, bodies: usize) -> &'static Variant {
    match device.kind {
        DeviceKind::Cpu if bodies <= 2_048 => &VECTOR,
        DeviceKind::Gpu | DeviceKind::Accelerator if bodies <= 8_192 => &TILED,
        _ => &GRID,
    }
}
