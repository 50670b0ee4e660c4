//! Generators of gravity scenes.
//!
//! Uses N-body units: by default G = 1, and the total mass is 1. The centre of mass rests at the origin.

mod cloud;
mod fourier;
mod galaxy;
mod generators;
mod halo;
mod law;
mod patterns;
mod plummer;
mod web;

pub use self::generators::{FIGURE_EIGHT_PERIOD, two_body_period};
pub(super) use self::generators::{GENERATORS, orbiting};
