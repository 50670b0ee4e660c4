//! Initial states: scenes, the generators that make them, and readers for files of bodies.
//!
//! A scene is a TOML file, built in (`assets/scenes/`) or made by a user (see [`mod@file`]). The file names a
//! generator, or contains the bodies, orbits or walls itself, and sets suitable parameters.

mod asteroids;
mod built_in;
pub mod csv;
pub mod density;
mod description;
pub mod file;
pub mod fluid;
mod frame;
mod generator;
pub mod gravity;
mod lines;
mod orbits;
mod random;
pub mod softening;
mod tables;
pub mod tipsy;
mod unit_table;

pub use self::built_in::{ASTEROIDS, FLUID, GRAVITY};
pub use self::description::{FAST_FACTOR, MAX_PATH_BODIES, Origin, Scene};
pub(crate) use self::description::{MOST_NAME, label};
pub use self::generator::{Argument, Arguments, Generator, Setup};
pub use self::orbits::Orbits;
pub(crate) use self::tables::line_of;
