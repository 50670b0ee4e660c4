//! Kernel variants of gravity.

use super::all_pairs::AllPairs;
use super::mutual::{self, Mutual};
use super::parameters::Accuracy;
use super::solver::{Builder, source};
use super::tree::{self, Tree};
use crate::compute::{DeviceInfo, DeviceKind};
use crate::modes::{Counts, Knob, Recipe, Together, Variant, variants};

/// Smallest number of bodies with which the `mutual` variant has enough tiles of pairs to keep all compute units busy.
const MANY: usize = 12_288;

const ALL_PAIRS: &Builder = &Builder { solver: AllPairs::build, source };

/// Field values that gravity's variants use unless they set their own.
const BASE: Variant = Variant { counts: one_sided, ..Variant::BASE };

variants! {
    "gravity", BASE;
    /// Keeps everything in global memory, including the running sum of the forces.
    NAIVE = "naive", ALL_PAIRS,
        counts: |_| Some(Counts { operations: OPERATIONS, bytes: 4.0 * BODY });
    /// Keeps the body of each work-item, and the sum of the forces on it, in registers.
    PRIVATE = "private", ALL_PAIRS;
    /// Loads bodies into local memory once per work-group.
    TILED = "tiled", ALL_PAIRS, local_bytes: tile;
    /// Like the `tiled` variant, with the inner loop unrolled eight times.
    UNROLLED = "unrolled", ALL_PAIRS, local_bytes: tile;
    /// For CPUs: 16 bodies at once, one per vector lane; fast square root.
    VECTOR = "vector", ALL_PAIRS,
        knobs: &[LANES, VECTORS, ROOT],
        work_group: |_| 2,
        bodies_per_group: |r| r.work_group * (r.knob("lanes") * r.knob("vectors")) as usize;
    /// For GPUs: several bodies per work-item, each sum split over work-items; fast square root.
    BLOCKED = "blocked", ALL_PAIRS,
        knobs: &[K, SPLIT, UNROLL, ROOT, EQUAL],
        work_group: |device| if device.kind == DeviceKind::Cpu { 64 } else { 512 },
        bodies_per_group: |r| r.work_group / shares(r) * r.knob("k") as usize,
        local_bytes: |r| {
            let turn = shares(r) * r.knob("unroll") as usize;
            size_of::<[f32; 4]>() * r.work_group.next_multiple_of(turn)
        };
    /// Newton's third law: computes each pair once and applies the force to both bodies.
    MUTUAL = "mutual", &Builder { solver: Mutual::build, source },
        knobs: &[OWN_LANES, OWN, BLOCK, ROOT],
        work_group: |device| if device.kind == DeviceKind::Cpu { 1 } else { 32 },
        sides: 2.0,
        counts: |r| Some(Counts { operations: 0.5 * PAIR_OPERATIONS, bytes: r.bytes_per_pair() }),
        together: Together::Alike,
        bodies_per_group: mutual::bodies_per_group,
        bytes_per_body: mutual::BYTES_PER_BODY,
        local_bytes: mutual::local_bytes;
    /// Barnes–Hut tree: distant bodies act together, as cells of an octree. Approximate; its work grows as N log N.
    TREE = "tree", &Builder { solver: Tree::build, source: tree::source },
        knobs: &[LEAF, GROUP, SET, ORDER, CURVE, CRITERION, EXPANSIONS],
        work_group: |device| if device.kind == DeviceKind::Cpu { 1 } else { tree::WARP },
        has_fixed_group: true,
        bytes_per_body: tree::BYTES_PER_BODY,
        bodies_per_group: |r| {
            let (group, set) = (r.knob("group"), r.knob("set"));
            if r.work_group == 1 { group.max(set) as usize } else { group as usize }
        },
        together: Together::SameModel,
        has_limit: false,
        counts: |_| None,
        has_cells: true,
        tolerance: tree::TOLERANCE,
        normal_error: Some(tree::NORMAL_ERROR),
        own_params: &["opening"];
}

/// Number of floating-point operations of `attract` in `kernels/gravity/force.cl`, which computes the force of one body
/// on another: 3 for the distance, 5 for its square, 1 for the softening, 1 for the root, 3 for the factor, 6 for the
/// sum.
const OPERATIONS: f64 = 19.0;
/// Number of floating-point operations per pair if both forces are computed at once: 12 for the common factor, and 7
/// for each body.
const PAIR_OPERATIONS: f64 = 26.0;
/// Size of a body's position and mass in device memory, in bytes.
const BODY: f64 = size_of::<[f32; 4]>() as f64;

/// Returns the operations and bytes per pair of a variant that computes the force on each body separately.
fn one_sided(recipe: &Recipe) -> Option<Counts> {
    Some(Counts { operations: OPERATIONS, bytes: recipe.bytes_per_pair() })
}

/// Returns the smallest number of bodies for which the tree is faster than the variants that evaluate all pairs; `None`
/// if the tree cannot reach the accuracy.
///
/// Measured with the scene `galaxy` on two cores of a CPU and on an NVIDIA H100. Tuning measures the device in use.
fn tree_from(kind: DeviceKind, accuracy: Accuracy) -> Option<usize> {
    match (kind, accuracy) {
        (_, Accuracy::Exact) => None,
        (DeviceKind::Cpu, Accuracy::TenThousandth) => Some(4_096),
        (DeviceKind::Cpu, Accuracy::Thousandth) => Some(3_072),
        (DeviceKind::Gpu | DeviceKind::Accelerator, Accuracy::TenThousandth) => Some(36_864),
        (DeviceKind::Gpu | DeviceKind::Accelerator, Accuracy::Thousandth) => Some(28_672),
    }
}

/// Returns the variant that `auto` selects for a device, a number of bodies and a required accuracy of the forces.
pub(super) fn auto_variant(device: &DeviceInfo, bodies: usize, accuracy: Accuracy) -> &'static Variant {
    match device.kind {
        kind if tree_from(kind, accuracy).is_some_and(|from| bodies >= from) => &TREE,
        _ if bodies >= MANY => &MUTUAL,
        DeviceKind::Cpu => &VECTOR,
        DeviceKind::Gpu | DeviceKind::Accelerator => &BLOCKED,
    }
}

/// Returns a number of bodies with which the tree takes, and the window shows, at least 30 steps per second on the
/// device. The estimate for a CPU assumes that the CPU also draws the pictures.
pub(super) fn auto_bodies(device: &DeviceInfo) -> usize {
    // An NVIDIA H200 has 132 compute units.
    let most = match device.kind {
        DeviceKind::Cpu => 131_072,
        DeviceKind::Gpu | DeviceKind::Accelerator => 1_048_576,
    };
    let bodies = (8_192 * device.compute_units.max(1) as usize).min(most);
    let power = 1 << bodies.ilog2();
    if bodies >= power + power / 2 { power + power / 2 } else { power }
}

/// Returns the size, in bytes, of the local memory that holds one body per work-item.
fn tile(recipe: &Recipe) -> usize {
    size_of::<[f32; 4]>() * recipe.work_group
}

/// Returns the number of work-items that share the sum for one body.
fn shares(recipe: &Recipe) -> usize {
    recipe.work_group.min(recipe.knob("split") as usize)
}

const LANES: Knob = Knob::new("lanes", "LANES", &[8, 16], |_, _| 16)
    .summary("Number of bodies that are computed at once, in one vector.");
const VECTORS: Knob = Knob::new("vectors", "VECTORS", &[1, 2, 4], |_, _| 2)
    .summary("Number of vectors of bodies that each work-item computes.");
const K: Knob = Knob::new("k", "K", &[1, 2, 4, 8], |_, bodies| if bodies < 65_536 { 2 } else { 4 })
    .summary("Number of bodies for which each work-item adds up the forces.");
const SPLIT: Knob = Knob::new("split", "SPLIT", &[1, 2, 4, 8, 16, 32], |device, bodies| {
    // About a thousand work-items per compute unit keep a large GPU busy.
    let items = 1024 * device.compute_units as usize;
    let k = (K.guess)(device, bodies) as usize;
    (items * k).div_ceil(bodies).next_power_of_two().min(16) as u32
})
.summary("Number of work-items that together add up the forces on one body.");
const UNROLL: Knob = Knob::new("unroll", "UNROLL", &[8, 16, 32], |_, _| 16)
    .summary("How many times the inner loop is unrolled.");
const OWN_LANES: Knob = Knob {
    options: &[1, 8, 16],
    guess: |device, _| if device.kind == DeviceKind::Cpu { 16 } else { 1 },
    ..LANES
};
const OWN: Knob = Knob {
    summary: "Number of bodies, or vectors of bodies, that each work-item computes at once.",
    options: &[2, 4, 8, 10],
    guess: |device, bodies| match (device.kind, bodies) {
        (DeviceKind::Cpu, _) => 2,
        (_, 65_536..) => 10,
        (_, MANY..) => 8,
        _ => 4,
    },
    ..K
};
const BLOCK: Knob = Knob::new("block", "", &[128, 256, 512, 1024, 2048], |device, bodies| match device.kind {
    // Few blocks make the sums short; many blocks keep all compute units busy.
    DeviceKind::Cpu => {
        let blocks = (16 * device.compute_units as usize).isqrt().max(8);
        (bodies / blocks).next_power_of_two().clamp(128, 2048) as u32
    }
    _ if bodies < MANY => 128,
    _ => (bodies / 2048).next_power_of_two().clamp(256, 1024) as u32,
})
.summary("Approximate number of bodies in a block. Forces are computed tile by tile; a tile contains all pairs of bodies from two blocks.");
const ROOT: Knob = Knob::new("root", "ROOT", &[0, 1], |_, _| 1)
    .summary("1 (on): use the processor's reciprocal square root if the compiler supports it. 0 (off): use a portable computation.");
const EQUAL: Knob = Knob {
    never_hurts: true,
    ..Knob::new("equal", "EQUAL", &[0, 1], |_, _| 1)
        .summary("1 (on): if all masses are equal, multiply only the finished sum of the forces by the mass. 0 (off): multiply every term of the sum.")
};
const LEAF: Knob = Knob::new("leaf", "LEAF", &[16, 32], |_, _| 32).summary(
    "Largest number of bodies in a tree cell that has no smaller cells. A cell with more bodies is split.",
);
const GROUP: Knob =
    Knob::new("group", "GROUP", &[16, 32, 64], |device, bodies| match (device.kind, bodies) {
        (DeviceKind::Cpu, _) => 32,
        (_, 2_000_000..) => 64,
        (_, 100_000..) => 32,
        _ => 16,
    })
    .summary("Number of neighbouring bodies that are processed together, in one walk through the tree.");
const SET: Knob = Knob {
    may_be_missing: true,
    ..Knob::new("set", "SET", &[0, 128, 256, 512], |device, bodies| match (device.kind, bodies) {
        (DeviceKind::Cpu, _) | (_, 500_000..) => 256,
        _ => 0,
    })
    .summary(
        "Number of neighbouring bodies whose walks through the tree begin together, before each group continues alone. 0: on a GPU, each group begins at the root; on a CPU, each group is a set of its own.",
    )
};
const ORDER: Knob = Knob::new("order", "ORDER", &[0, 2], |_, _| 2)
    .summary("Highest order of the multipole moments that describe the masses in a cell. Higher orders are more accurate.")
    .method(
        "Multipoles",
        &[
            ("monopole", "A cell acts as if its whole mass were at its centre of mass."),
            ("quadrupole", "The quadrupole moments (second moments of the masses) are used in addition to the mass, which reduces the error."),
        ],
    );
const CURVE: Knob = Knob::new("curve", "HILBERT", &[0, 1], |_, _| 1)
    .summary("Space-filling curve by which bodies are sorted. Bodies that are next to each other on the curve are processed together.")
    .method(
        "Curve",
        &[
            (
                "morton",
                "Morton curve (Z-order): simple, but the curve jumps, so the bodies of some groups are far apart.",
            ),
            ("hilbert", "Hilbert curve: the curve has no jumps, so the bodies of each group are close together."),
        ],
    );
const CRITERION: Knob = Knob::new("criterion", "ACCELERATION_CRITERION", &[0, 1], |_, _| 1)
    .summary("Rule that decides whether a cell is treated as a whole or opened, so that its parts are treated separately.")
    .method("Criterion", &[
        ("geometric", "A cell is treated as a whole if it looks small from the bodies: its radius divided by its distance is below a limit that follows from Opening."),
        ("acceleration", "A cell is treated as a whole if its estimated error is small compared with the acceleration of the bodies in the last step."),
    ]);
const EXPANSIONS: Knob = Knob::new("expansions", "EXPANSIONS", &[0, 1], |_, _| 1)
    .summary("How the attraction by distant cells is computed: once for a whole group of bodies (M2L), or for each body.")
    .method("Expansions", &[
        ("off", "The attraction by each cell is computed separately for each body of a group."),
        ("on", "The attraction by a distant cell is computed once per group, as an expansion around the group's centre. The expansion is then evaluated for each body."),
    ]);
