//! The Barnes–Hut tree (Nature 324, 446, 1986): the cells of an octree stand for groups of distant bodies.

mod cpu;
mod criterion;
mod gpu;
mod host;
mod kernels;
mod solver;

pub(super) use self::criterion::{Method, NORMAL_ERROR};
pub(super) use self::gpu::WARP;
pub use self::solver::SPLIT_FROM;
pub(super) use self::solver::{Tree, source};

/// Largest relative error of the tree's forces that the command `check` accepts.
pub(super) const TOLERANCE: f64 = 1e-2;
/// Device memory of the tree per body on a GPU, in bytes: 92 for each of two cells, 80 for sorting and summing, and up to
/// 18 for the walks of sets.
pub(super) const BYTES_PER_BODY: usize = 2 * 92 + 80 + 18;
