//! Generators of scenes for gravity.
//!
//! Lengths, masses and times are N-body units: G = 1 at the defaults, and the total mass is 1 unless a scene says
//! otherwise. In every scene the centre of mass rests at the origin.

mod galaxy;
mod generators;
mod law;
mod plummer;

pub use self::generators::{FIGURE_EIGHT_PERIOD, two_body_period};
pub(super) use self::generators::{GENERATORS, orbiting};
