//! Where bodies and flows come from: the table of scenes, their generators, and CSV files.

pub mod asteroids;
pub mod csv;
pub mod fluid;
mod frame;
pub mod gravity;
mod random;

use crate::params::Values;
use crate::state::State;

/// What a generator is given.
#[derive(Debug, Clone)]
pub struct Setup<'a> {
    /// How many bodies to make, at least 1; or about how many cells.
    pub bodies: usize,
    /// The same seed gives the same bodies, for ever.
    pub seed: u64,
    /// The parameters of the mode, so that orbits fit today's `g` and `eps`.
    pub params: &'a Values,
}

/// One row of a mode's scenes.
#[derive(Debug)]
pub struct Scene {
    /// The name in `--scene` and the panel.
    pub name: &'static str,
    /// One line on what is to be seen.
    pub summary: &'static str,
    /// The number of bodies or cells, if the scene allows no other.
    pub bodies: Option<usize>,
    /// Parameters that make it look good at once, as `--set` would take them.
    pub params: &'static [(&'static str, &'static str)],
    /// Makes the bodies, or the fluid at rest.
    pub generate: fn(&Setup) -> State,
}
