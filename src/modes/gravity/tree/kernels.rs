//! Common interface of the CPU kernels and the GPU kernels for the Barnes–Hut tree.

use std::ops::Range;

use super::host::{HostBodies, HostCells, Set, Target};
use crate::base::error::Result;
use crate::compute::{Arg, Buffer, KernelSource, Lane};

/// Device-specific part of the tree: kernels and buffers that build the tree, and arguments of the kernel `walk`.
pub(super) trait TreeKernels {
    /// Queues the kernels that build the tree from positions `x` and the magnitudes `last` of the last accelerations.
    /// `costs` is the optional result of the last walk, with the cost of each body as the fourth number of its row. If
    /// it is given, the most expensive walks begin first.
    fn build(&self, lane: &mut Lane, x: Arg, last: Arg, costs: Option<Arg>) -> Result<()>;

    /// Returns the arguments of the kernel `walk` that precede its output buffers. The kernel walks for the groups of
    /// bodies whose first position in the sorted order is in `places`. `eps2` is the squared softening length.
    fn walk_args(&self, places: &Range<usize>, opening: f32, eps2: Arg<'static>) -> Vec<Arg<'_>>;

    /// Returns whether the program has a kernel `walk_sets`, which must run before the kernel `walk`.
    fn has_set_walk(&self) -> bool {
        false
    }

    /// Returns the arguments of the kernel `walk_sets`. For the parameters, see [`TreeKernels::walk_args`].
    fn set_walk_args(&self, _places: &Range<usize>, _opening: f32, _eps2: Arg<'static>) -> Vec<Arg<'_>> {
        Vec::new()
    }

    /// Returns the number of neighbouring bodies in a set, the unit in which devices divide a walk. A set consists of
    /// whole groups.
    fn set(&self) -> usize;

    /// Returns the number of work-groups that walk the tree for each set of bodies.
    fn groups_per_set(&self) -> usize;

    /// Returns the number of work-items in a work-group of the kernel `walk`.
    fn work_group(&self) -> usize;

    /// Returns the error limit for a cell that acts on an expansion, divided by the limit for a cell that acts on
    /// bodies.
    fn far_share(&self) -> f32;

    /// Reads the tree's cells from the device: all cells, or only those down to `depth`. If `depth` is given, may stop
    /// at a smaller depth if the next level has too many cells to draw.
    fn read_cells(&self, depth: Option<u32>) -> Result<HostCells>;

    /// Returns the buffer with the ids of the bodies, in the order in which the tree sorts them.
    fn order(&self) -> &Buffer<u32>;

    /// Reads the bodies from the device, in the order in which the tree sorts them.
    fn read_bodies(&self) -> Result<HostBodies>;

    /// Returns the set of bodies (if this device walks for sets first) and the group of bodies that contain the body at
    /// index `place` of the sorted order.
    fn targets(&self, bodies: &HostBodies, place: usize, opening: f32) -> Result<(Option<Set>, Target)>;
}

/// Source files and constants of the OpenCL program of the Barnes–Hut tree, for one kind of device.
pub(super) struct Source {
    /// Source files of the tree, compiled after the mode's common files and before the variant's own file.
    pub files: &'static [KernelSource],
    /// Whether the program includes the variant's own source file.
    pub has_variant_file: bool,
    /// Names and values of the macros that pass host constants to the kernels.
    pub constants: &'static [(&'static str, usize)],
}
