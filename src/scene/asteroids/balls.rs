//! Masses and radii of asteroids that have no position yet.

use super::packing::Packing;
use crate::scene::generator::Setup;

/// Returns a parameter of the mode; 0 if there is none of this name.
pub(super) fn param(setup: &Setup, key: &str) -> f64 {
    setup.params.float(key).unwrap_or(0.0).into()
}

/// Masses, which add up to 1, and radii of bodies without positions.
pub(super) struct Balls(pub Vec<(f64, f64)>);

impl Balls {
    /// Makes balls with masses in these proportions.
    pub(super) fn new(setup: &Setup, masses: impl Iterator<Item = f64> + Clone) -> Self {
        let radius = param(setup, "radius");
        let (total, n) = (masses.clone().sum::<f64>(), setup.bodies as f64);
        Self(masses.map(|m| (m / total, radius * cube_root(n * m / total))).collect())
    }

    /// Makes balls with masses spread over a factor of `spread` by dN/dm ∝ m⁻², heaviest first. Bodies that grind each
    /// other down have the exponent −11/6 (Dohnanyi 1969, J. Geophys. Res. 74, 2531); −2 needs no powers.
    pub(super) fn spread(setup: &Setup, spread: f64) -> Self {
        let least = 1.0 / spread;
        let share = 1.0 / setup.bodies as f64;
        // One body from the middle of each of `bodies` equal shares, so that no seed produces an outlier.
        Self::new(setup, (0..setup.bodies).map(|i| 1.0 / (least + (1.0 - least) * (i as f64 + 0.5) * share)))
    }

    pub(super) fn largest(&self) -> f64 {
        self.0.iter().fold(0.0, |most, (_, radius)| radius.max(most))
    }

    pub(super) fn packing(&self) -> Packing {
        Packing::new(self.0.len(), self.largest())
    }
}

/// Returns ∛x of a positive number by Newton's method, which rounds alike on every platform; `f64::cbrt` need not.
pub(super) fn cube_root(x: f64) -> f64 {
    // A third of the exponent is right within a few per cent (constant of fdlibm); each iteration doubles the digits.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2a9f_7893_0000_0000);
    for _ in 0..5 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}
