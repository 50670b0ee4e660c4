//! Kernel variants of the fluid.

use super::grid::Layout;
use crate::base::flow::SPEEDS;
use crate::compute::{DeviceInfo, DeviceKind};
use crate::modes::variant::variant;
use crate::modes::{Knob, Recipe, Together, Variant};

/// Columns of a work-group, in work-items.
const WIDTH: Knob = Knob {
    name: "width",
    define: "WIDTH",
    summary: "Columns of a work-group, in work-items. The number of rows follows from the work-group size.",
    options: &[1, 2, 4, 8, 16, 32, 64, 128, 256],
    guess: |device, _| match device.kind {
        DeviceKind::Cpu => 64,
        _ => 128,
    },
    never_hurts: false,
};

/// Cells per vector in [`VECTOR`].
const LANES: Knob = Knob {
    name: "lanes",
    define: "LANES",
    summary: "Number of cells per vector.",
    options: &[8, 16],
    guess: |_, _| 16,
    never_hurts: false,
};

/// Adds the knob for the width of a work-group, and local memory for the sum of the speeds: one float per work-item.
const fn of_cells(variant: Variant) -> Variant {
    Variant {
        knobs: &[WIDTH],
        work_group: |device| match device.kind {
            DeviceKind::Cpu => 64,
            _ => 256,
        },
        width_knob: Some(WIDTH.name),
        bodies_per_group: |recipe| cells_of_group(recipe).iter().product(),
        local_bytes: |recipe| size_of::<f32>() * recipe.work_group,
        together: Together::Alike,
        ..variant
    }
}

/// Steps per launch of [`TEMPORAL`].
const STEPS: Knob = Knob {
    name: "steps",
    define: "STEPS",
    summary: "Steps per kernel launch, limited by the size of a work-group. Cells around a work-group are computed twice.",
    options: &[1, 2, 3, 4, 6, 8],
    guess: |_, cells| if cells < MANY { 4 } else { 2 },
    never_hurts: false,
};

/// Number of cells from which on memory traffic, not launches, limits the speed.
const MANY: usize = 1 << 19;

/// Returns the columns and rows of cells that a work-group steps.
pub(super) fn cells_of_group(recipe: &Recipe) -> [usize; 2] {
    let width = (recipe.knob(WIDTH.name) as usize).min(recipe.work_group).max(1);
    let sides = [width * (recipe.knob(LANES.name) as usize).max(1), recipe.work_group / width];
    sides.map(|side| side - 2 * (steps_of_launch(recipe) - 1))
}

/// Returns the number of steps per launch, so small that each work-group keeps cells to step.
pub(super) fn steps_of_launch(recipe: &Recipe) -> usize {
    let width = (recipe.knob(WIDTH.name) as usize).min(recipe.work_group).max(1);
    let narrow = width.min(recipe.work_group / width);
    (recipe.knob(STEPS.name) as usize).min(narrow.div_ceil(2)).max(1)
}

/// Kernels of a step of a variant, and the memory layout of the cells.
pub(super) struct Stages {
    /// Entry points in the order of their launches.
    pub entries: &'static [&'static str],
    pub layout: Layout,
}

/// Returns the stages of a variant that steps in one kernel.
const fn advance(layout: Layout) -> Stages {
    Stages { entries: &["advance"], layout }
}

/// Runs a kernel for each stage of a step.
pub const SPLIT: Variant = of_cells(variant!(
    "fluid",
    "split",
    &Stages { entries: &["propagate", "rebound", "relax", "add_speeds"], layout: Layout::Cells },
    "One kernel per stage of a step; the populations of a cell lie together in memory."
));

/// Runs a step in one kernel.
pub const FUSED: Variant = of_cells(variant!(
    "fluid",
    "fused",
    const { &advance(Layout::Cells) },
    "One kernel per step: reads and writes every number once."
));

/// Keeps a plane in memory for each population (structure of arrays).
pub const SOA: Variant = Variant {
    name: "soa",
    ..of_cells(variant!(
        "fluid",
        "fused",
        const { &advance(Layout::Planes) },
        "Like fused, with one plane in memory per population: neighbouring work-items read neighbouring numbers."
    ))
};

/// Takes several steps in one launch, in local memory.
pub const TEMPORAL: Variant = Variant {
    knobs: &[Knob { guess: |_, cells| if cells < MANY { 16 } else { 32 }, ..WIDTH }, STEPS],
    work_group: |_| 256,
    local_bytes: |recipe| SPEEDS * size_of::<f32>() * recipe.work_group,
    has_limit: false,
    ..of_cells(variant!(
        "fluid",
        "temporal",
        const { &advance(Layout::Planes) },
        "Several steps per launch, in local memory. Cells around a work-group are computed twice."
    ))
};

/// Keeps populations in 16 bits.
pub const HALF: Variant = Variant {
    name: "half",
    has_limit: false,
    tolerance: 3e-2,
    normal_error: Some(5e-4),
    ..of_cells(variant!(
        "fluid",
        "fused",
        const { &advance(Layout::Halves) },
        "Like soa, with 16-bit numbers: half the memory traffic, rounded to three digits."
    ))
};

/// Steps one cell in each vector lane, for CPUs.
pub const VECTOR: Variant = Variant {
    name: "vector",
    knobs: &[
        Knob {
            guess: |device, _| match device.kind {
                DeviceKind::Cpu => 16,
                _ => 128,
            },
            ..WIDTH
        },
        LANES,
    ],
    ..of_cells(variant!(
        "fluid",
        "fused",
        const { &advance(Layout::Haloed) },
        "For CPUs: 16 cells at once, without tests for the edges of the grid."
    ))
};

/// All variants, slowest first.
pub static VARIANTS: [Variant; 6] = [SPLIT, FUSED, SOA, TEMPORAL, HALF, VECTOR];

/// Returns the variant that `auto` takes on a device.
pub fn auto_variant(device: &DeviceInfo, _cells: usize) -> &'static Variant {
    match device.kind {
        DeviceKind::Cpu => &VECTOR,
        _ => &TEMPORAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::accuracy::WORRYING;

    #[test]
    fn the_alarm_follows_the_error_that_is_normal_for_the_variant() {
        let coarse = Variant { normal_error: Some(0.01), ..SPLIT };
        assert!(!coarse.is_worrying(0.02) && coarse.is_worrying(0.021));
        assert!(!SPLIT.is_worrying(WORRYING) && SPLIT.is_worrying(2.0 * WORRYING));
        assert!(!HALF.is_worrying(3e-4) && HALF.is_worrying(f64::INFINITY));
    }

    #[test]
    fn a_solver_of_another_mode_is_refused_with_the_name_of_the_variant() {
        let refused = HALF.solver::<u32>().err().map(|error| error.to_string());
        assert!(refused.is_some_and(|text| text.contains("half")));
    }
}
