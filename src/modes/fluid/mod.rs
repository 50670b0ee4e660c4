//! Fluid: a flow on a grid, simulated with the lattice-Boltzmann method (D2Q9) and made visible by tracers.

mod carried;
pub mod check;
mod grid;
mod mode;
mod parameters;
mod picture;
mod reference;
mod share;
mod simulation;
pub mod variants;

pub use self::mode::INFO;
pub use self::parameters::{Collision, Colour, Drive, Field, Fluid};
pub use self::simulation::FluidSimulation;
pub use self::variants::{VARIANTS, auto_variant};
