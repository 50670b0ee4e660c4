//! Asteroids: colliding bodies with a size, in orbit around a planet.

mod carried;
mod cells;
mod columns;
mod edit;
mod mode;
mod parameters;
mod reference;
mod share;
mod simulation;
mod solver;
mod substeps;
pub mod variants;

pub use self::mode::{INFO, block};
pub use self::parameters::{Asteroids, Colour, ContactLaw, Substeps};
