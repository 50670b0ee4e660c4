//! Generators of scenes for asteroids.
//!
//! The total mass of the bodies is 1, and at the start no two of them touch. Sizes are chosen for 4 096 bodies. More
//! bodies of the same `radius` take more room: the scene grows outwards and stays equally crowded. To fit N bodies
//! into the same picture, divide `radius` and `dt` by ∛(N/4096).
//!
//! In scenes without a planet the centre of mass rests at the origin; a planet rests there itself.

mod balls;
mod disc;
mod generators;

pub(super) use self::generators::GENERATORS;
