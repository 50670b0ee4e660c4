//! Initial conditions for asteroids.

use super::Scene;

/// Every scene of the mode; the first is the default.
pub static SCENES: &[Scene] = &[];
