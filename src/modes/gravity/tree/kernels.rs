//! The interface that the tree's kernels for CPUs and for GPUs share.

use crate::base::error::Result;
use crate::compute::{Arg, KernelSource, Lane};

/// Kernels and buffers that build a tree of all bodies, and the arguments of the kernel `walk`.
pub(super) trait TreeKernels {
    /// Queues the kernels that build the tree of the bodies at `x`, whose last accelerations have the magnitudes `last`.
    fn build(&self, lane: &mut Lane, x: Arg, last: Arg) -> Result<()>;

    /// Returns the arguments of `walk` that precede its output buffers. `eps2` is the squared softening length.
    fn walk_args(&self, opening: f32, eps2: Arg<'static>) -> Vec<Arg<'_>>;

    /// Returns the number of sets of bodies; a work-group walks the tree for one set.
    fn sets(&self) -> usize;

    /// Returns the number of work-items in a work-group of `walk`.
    fn team(&self) -> usize;
}

/// Source files and constants of the OpenCL program of the Barnes–Hut tree, for one kind of device.
pub(super) struct Source {
    /// Files to insert between the mode's common files and the variant's own file.
    pub files: &'static [KernelSource],
    /// Whether the program includes the variant's own file.
    pub has_variant_file: bool,
    /// Names and values of the macros that pass host constants to the kernels.
    pub constants: &'static [(&'static str, usize)],
}
