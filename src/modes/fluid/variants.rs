//! Kernel variants of the fluid.

use super::grid::Layout;
use crate::base::SPEEDS;
use crate::compute::{DeviceInfo, DeviceKind};
use crate::modes::{Counts, Knob, Recipe, Together, Variant, variants};

/// Number of cells above which memory traffic limits the speed more than launch overhead does.
const MANY: usize = 1 << 19;

const WIDTH: Knob = Knob::new("width", "WIDTH", &[1, 2, 4, 8, 16, 32, 64, 128, 256], |device, _| {
    if device.kind == DeviceKind::Cpu { 64 } else { 128 }
})
.summary("Width of a work-group, in work-items. Its height follows from the work-group size.");
const LANES: Knob = Knob::new("lanes", "LANES", &[8, 16], |_, _| 16)
    .summary("Number of cells that are computed at once, in one vector.");
const STEPS: Knob =
    Knob::new("steps", "STEPS", &[1, 2, 3, 4, 6, 8], |_, cells| if cells < MANY { 4 } else { 2 }).summary(
        "Number of steps per kernel launch, limited by the work-group size. Cells at the border between two work-groups are computed by both.",
    );

/// Returns the width and height of a work-group, in work-items.
fn sides(recipe: &Recipe) -> [usize; 2] {
    let width = (recipe.knob(WIDTH.name) as usize).min(recipe.work_group).max(1);
    [width, recipe.work_group / width]
}

/// Returns the width and height of the rectangle that a work-group advances, in cells.
pub(super) fn cells_of_group(recipe: &Recipe) -> [usize; 2] {
    let [width, height] = sides(recipe);
    let lanes = (recipe.knob(LANES.name) as usize).max(1);
    [width * lanes, height].map(|side| side - 2 * (steps_of_launch(recipe) - 1))
}

/// Returns the number of steps per kernel launch, limited so that each work-group still has cells to advance.
pub(super) fn steps_of_launch(recipe: &Recipe) -> usize {
    let [width, height] = sides(recipe);
    (recipe.knob(STEPS.name) as usize).min(width.min(height).div_ceil(2)).max(1)
}

/// Returns the recipe with its knobs reduced to possible values: the work-group size limits the width of a work-group,
/// and the number of cells of a work-group limits the steps per launch.
pub(super) fn possible(recipe: &Recipe) -> Recipe {
    recipe
        .with_knob("width", recipe.knob("width").min(recipe.work_group as u32))
        .with_knob("steps", steps_of_launch(recipe) as u32)
}

/// Kernels that a variant runs for each step, and the memory layout of the grid cells.
pub(super) struct Stages {
    /// Names of the kernels, in launch order.
    pub entries: &'static [&'static str],
    pub layout: Layout,
}

/// Returns the stages of a variant that runs one kernel per step on cells in the given memory layout.
const fn advance(layout: Layout) -> Stages {
    Stages { entries: &["advance"], layout }
}

/// Number of floating-point operations per cell and step: the function `settle` in `kernels/fluid/cell.cl` with one
/// relaxation rate, and the sum of the speeds.
pub(super) const OPERATIONS: f64 = 80.0;
/// Size of a cell's nine populations in device memory, in bytes.
const CELL: f64 = (SPEEDS * size_of::<f32>()) as f64;

/// Returns the operations and bytes per cell of a kernel that reads and writes the populations once. `cell` is the size
/// of a cell's populations in bytes. The kernel also reads one byte that tells whether the cell is solid.
fn once(cell: f64) -> Option<Counts> {
    Some(Counts { operations: OPERATIONS, bytes: 2.0 * cell + 1.0 })
}

/// Returns the operations and bytes per cell and step if a launch takes several steps. The outer cells of a work-group
/// are computed twice, by neighbouring work-groups.
fn temporal(recipe: &Recipe) -> Option<Counts> {
    let inner = cells_of_group(recipe).iter().product::<usize>() as f64;
    let repeated = recipe.work_group as f64 / inner;
    let bytes = ((CELL + 1.0) * repeated + CELL) / steps_of_launch(recipe) as f64;
    Some(Counts { operations: OPERATIONS * repeated, bytes })
}

/// Default values of the fluid variants' fields. A work-group sums speeds in local memory, with a float per work-item.
const BASE: Variant = Variant {
    knobs: &[WIDTH],
    width_knob: Some(WIDTH.name),
    bodies_per_group: |recipe| cells_of_group(recipe).iter().product(),
    local_bytes: |recipe| size_of::<f32>() * recipe.work_group,
    together: Together::Alike,
    counts: |_| once(CELL),
    ..Variant::BASE
};

variants! {
    "fluid", BASE;
    /// One kernel per stage of a step; the populations of a cell are stored together.
    SPLIT = "split",
        &Stages { entries: &["propagate", "rebound", "relax", "add_speeds"], layout: Layout::Cells },
        // Two kernels move all populations, one reads them, and three read the obstacles.
        counts: |_| Some(Counts { operations: OPERATIONS, bytes: 5.0 * CELL + 3.0 });
    /// One kernel per step that reads and writes every number once.
    FUSED = "fused", &advance(Layout::Cells);
    /// Like fused, but with one array per population, so that neighbouring work-items read neighbouring numbers.
    SOA = "soa" in "fused", &advance(Layout::Planes);
    /// Several steps per launch, in local memory. Cells at the border between two work-groups are computed by both.
    TEMPORAL = "temporal", &advance(Layout::Planes),
        knobs: &[Knob { guess: |_, cells| if cells < MANY { 16 } else { 32 }, ..WIDTH }, STEPS],
        work_group: |_| 256,
        local_bytes: |recipe| SPEEDS * size_of::<f32>() * recipe.work_group,
        counts: temporal,
        has_limit: false;
    /// Like soa, with 16-bit numbers: half the memory traffic, about three significant digits.
    HALF = "half" in "fused", &advance(Layout::Halves),
        has_limit: false, tolerance: 3e-2, normal_error: Some(5e-4), counts: |_| once(0.5 * CELL);
    /// For CPUs: 16 cells at once, without tests for the edges of the grid.
    VECTOR = "vector" in "fused", &advance(Layout::Haloed),
        knobs: &[
            Knob { guess: |device, _| if device.kind == DeviceKind::Cpu { 16 } else { 128 }, ..WIDTH },
            LANES,
        ];
}

/// Returns the fluid variant that `auto` selects for a device.
pub fn auto_variant(device: &DeviceInfo, _cells: usize) -> &'static Variant {
    match device.kind {
        DeviceKind::Cpu => &VECTOR,
        _ => &TEMPORAL,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::Mode;
    use crate::modes::accuracy::TOLERANCE;
    use crate::modes::fluid::Fluid;

    #[test]
    fn the_error_alarm_threshold_follows_the_normal_error_of_the_variant() {
        let fluid: &dyn Mode = &Fluid::default();
        static COARSE: Variant = Variant { normal_error: Some(0.01), ..SPLIT };
        static LOOSE: Variant = Variant { tolerance: 0.3, ..SPLIT };
        for (variant, limit) in [(&COARSE, 0.02), (&LOOSE, 0.3), (&SPLIT, TOLERANCE), (&HALF, 1e-3)] {
            assert_eq!(
                fluid.alarm(&Recipe::guess(variant, &DeviceInfo::default(), 1000)),
                limit,
                "{}",
                variant.name
            );
        }
    }

    #[test]
    fn requesting_a_solver_of_another_mode_fails_with_the_name_of_the_variant() {
        let refused = HALF.solver::<u32>().err().map(|error| error.to_string());
        assert!(refused.is_some_and(|text| text.contains("half")));
    }
}
