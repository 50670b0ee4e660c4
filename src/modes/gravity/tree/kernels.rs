//! What the kernels of the tree for CPUs and for GPUs have in common.

use crate::base::error::Result;
use crate::compute::{Arg, KernelSource, Lane};

/// Kernels that build a tree of all bodies, with their buffers, and the arguments of the kernel `walk`.
pub(super) trait TreeKernels {
    /// Queues the kernels that build the tree of the bodies at `x`, whose last accelerations have the magnitudes `last`.
    fn build(&self, lane: &mut Lane, x: Arg, last: Arg) -> Result<()>;

    /// Returns the arguments of `walk` before its results, for the parameter `opening` and a squared softening length.
    fn walk_args(&self, opening: f32, eps2: Arg<'static>) -> Vec<Arg<'_>>;

    /// Returns the number of sets of bodies; a work-group walks the tree for one set.
    fn sets(&self) -> usize;

    /// Returns the number of work-items in a work-group of `walk`.
    fn team(&self) -> usize;
}

/// Program of the tree for one kind of device.
pub(super) struct Source {
    /// Files between the variant's common files and its own.
    pub files: &'static [KernelSource],
    /// Whether the variant's own file belongs to the program.
    pub has_variant_file: bool,
    /// Constants of the host that the kernels share.
    pub constants: &'static [(&'static str, usize)],
}
