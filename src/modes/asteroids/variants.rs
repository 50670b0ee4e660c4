//! Kernel variants of asteroids.

use super::cells::Cells;
use super::columns::Columns;
use super::solver::{AllPairs, Builder};
use crate::compute::{DeviceInfo, DeviceKind};
use crate::modes::{Counts, Together, Variant, variants};

const ALL_PAIRS: &Builder = &Builder(AllPairs::build);

/// Number of floating-point operations of `touches` in `kernels/asteroids/contact.cl`: 3 for the distance, 5 for its
/// square, 3 for the square of the reach, 1 to compare them.
const OPERATIONS: f64 = 12.0;
/// Size of a body's position and radius in device memory, in bytes.
const BODY: f64 = size_of::<[f32; 4]>() as f64;

/// Returns the operations and bytes per pair of a variant that tests each pair twice, once from each body. Work for
/// contacts is not counted, because contacts are rare.
fn tests(bytes: f64) -> Option<Counts> {
    Some(Counts { operations: OPERATIONS, bytes })
}

variants! {
    "asteroids", Variant::BASE;
    /// Tests every pair and reads everything from global memory.
    NAIVE = "naive", ALL_PAIRS, counts: |_| tests(2.0 * BODY);
    /// Loads positions into local memory once per work-group.
    TILED = "tiled", ALL_PAIRS,
        local_bytes: |recipe| size_of::<[f32; 4]>() * recipe.work_group.next_multiple_of(8),
        counts: |r| tests(r.bytes_per_pair());
    /// Like tiled, but also loads velocities into local memory.
    TILED_BOTH = "tiled-both", ALL_PAIRS,
        local_bytes: |recipe| size_of::<[f32; 8]>() * recipe.work_group,
        counts: |r| tests(2.0 * r.bytes_per_pair());
    /// For CPUs: tests each pair once, four bodies against 16 others at a time.
    VECTOR = "vector", &Builder(Columns::build),
        work_group: |_| 16,
        bodies_per_group: |recipe| 4 * recipe.work_group,
        // A test takes four multiply-adds and a minimum; four tests load five numbers. Each pair is tested once for
        // both bodies, so the counts are halved.
        counts: |_| Some(Counts { operations: 9.0 / 2.0, bytes: 1.25 * BODY / 8.0 }),
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
