//! The tree (Barnes and Hut 1986, Nature 324, 446): distant bodies act together, as cells of an octree.

mod cpu;
mod gpu;
mod kernels;
mod solver;

pub(super) use self::gpu::WARP;
pub(super) use self::solver::Tree;

/// Largest relative error of the forces that `check` accepts.
pub(super) const TOLERANCE: f64 = 1e-2;
/// Device memory that the tree needs per body on a GPU, in bytes: 92 for each of two cells, and 80 for sorting and summing.
/// A CPU needs less.
pub(super) const BYTES_PER_BODY: usize = 2 * 92 + 80;
/// Usual relative error of the forces with the default `opening`.
pub(super) const NORMAL_ERROR: f64 = 1e-3;
