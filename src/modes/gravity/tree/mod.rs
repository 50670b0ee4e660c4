//! The tree (Barnes and Hut 1986, Nature 324, 446): distant bodies act together, as cells of an octree.

mod cpu;
mod gpu;
mod kernels;
mod solver;

pub(super) use self::gpu::WARP;
pub(super) use self::solver::Tree;

/// Largest relative error of the forces that `check` accepts.
pub(super) const TOLERANCE: f64 = 1e-2;
/// Usual relative error of the forces with the default `opening`.
pub(super) const NORMAL_ERROR: f64 = 1e-3;
