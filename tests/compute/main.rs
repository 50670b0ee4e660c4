//! Tests of computations: modes, kernels, devices, and the session that runs them.

mod accuracy;
mod asteroids;
mod devices;
mod fluid;
mod gpu_tree;
mod hand;
mod invariants;
mod kernels;
mod lane;
mod light;
mod parity;
mod races;
mod roofline;
mod session;
#[path = "../support/mod.rs"]
mod support;
mod time;
mod tree;
mod tuned;
