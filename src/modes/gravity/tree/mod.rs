//! The tree (Barnes and Hut 1986, Nature 324, 446): distant bodies act together, as cells of an octree.

mod cpu;
mod gpu;
mod kernels;
mod solver;

pub(super) use self::gpu::WARP;
pub(super) use self::solver::Tree;

/// Largest relative error of the forces that `check` accepts.
pub(super) const TOLERANCE: f64 = 1e-2;
/// Device memory that the tree needs per body, in bytes: on a GPU, 176 for two cells and 88 for the sorted bodies and their sums.
/// A CPU needs less.
pub(super) const BYTES_PER_BODY: usize = 2 * 88 + 88;
/// Usual relative error of the forces with the default `opening`.
pub(super) const NORMAL_ERROR: f64 = 1e-3;
