//! Kernel variants of asteroids.

use super::cells::Cells;
use super::columns::Columns;
use super::solver::{AllPairs, Builder};
use crate::compute::{DeviceInfo, DeviceKind};
use crate::modes::variant::variant;
use crate::modes::{Together, Variant};

const ALL_PAIRS: &Builder = &Builder(AllPairs::build);

/// Tests every pair, with every operand in global memory.
pub const NAIVE: Variant =
    variant!("asteroids", "naive", ALL_PAIRS, "Tests every pair; reads everything from global memory.");

/// Loads positions into local memory once per work-group.
pub const TILED: Variant = Variant {
    local_bytes: |recipe| size_of::<[f32; 4]>() * recipe.work_group.next_multiple_of(8),
    ..variant!("asteroids", "tiled", ALL_PAIRS, "Loads positions into local memory once per work-group.")
};

/// Loads positions and velocities into local memory once per work-group.
pub const TILED_BOTH: Variant = Variant {
    local_bytes: |recipe| size_of::<[f32; 8]>() * recipe.work_group,
    ..variant!("asteroids", "tiled-both", ALL_PAIRS, "Like tiled, but local memory holds velocities too.")
};

/// Tests each pair once, in vectors, for CPUs.
pub const VECTOR: Variant = Variant {
    work_group: |_| 16,
    bodies_per_group: |recipe| 4 * recipe.work_group,
    sides: 2.0,
    ..variant!(
        "asteroids",
        "vector",
        &Builder(Columns::build),
        "For CPUs: tests each pair once, four bodies against 16 others at a time."
    )
};

/// Sorts bodies into cells and tests only neighbours.
pub const GRID: Variant = Variant {
    together: Together::No,
    has_limit: false,
    ..variant!(
        "asteroids",
        "grid",
        &Builder(Cells::build),
        "Sorts bodies into cells and tests only neighbours."
    )
};

/// All variants, slowest first.
pub static VARIANTS: [Variant; 5] = [NAIVE, TILED, TILED_BOTH, VECTOR, GRID];

/// Returns the variant that `auto` takes on a device for this many bodies. Testing all pairs is faster only for few bodies.
pub(super) fn auto_variant(device: &DeviceInfo, bodies: usize) -> &'static Variant {
    match device.kind {
        DeviceKind::Cpu if bodies <= 2_048 => &VECTOR,
        DeviceKind::Gpu | DeviceKind::Accelerator if bodies <= 8_192 => &TILED,
        _ => &GRID,
    }
}
