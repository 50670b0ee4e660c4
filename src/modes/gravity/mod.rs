//! Gravity: every body attracts every other body, with the acceleration `a_i = G Σ_j m_j d_ij s(|d_ij|)`. The vector
//! d_ij points from body i to body j, and s(r) is 1/r³, softened at small distances r.

mod all_pairs;
mod carried;
mod mode;
mod mutual;
mod parameters;
mod paths;
mod reference;
mod share;
mod simulation;
mod solver;
mod step;
mod tree;
pub mod variants;

pub use self::mode::INFO;
pub use self::parameters::{Accuracy, Colour, Gravity, Integrator, Softening};
pub use self::tree::SPLIT_FROM;
