//! Generators of asteroid scenes.
//!
//! The total mass of the bodies is 1, and at the start no bodies touch. Sizes are chosen for 4 096 bodies. More bodies
//! of equal `radius` make the scene larger, not denser. To keep its size with N bodies, divide `radius` and `dt` by
//! ∛(N/4096).
//!
//! In scenes without a planet the centre of mass rests at the origin; in other scenes the planet rests at the origin.

mod balls;
mod disc;
mod generators;

pub(super) use self::generators::GENERATORS;
