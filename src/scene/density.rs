//! Density laws of spherical systems of bodies, for comparison with the bodies of a simulation.

use std::f64::consts::PI;

use crate::base::choice;

choice! {
    /// How the density of a round system falls from its centre outwards.
    pub enum DensityLaw {
        /// Star clusters (Plummer 1911): constant inside the scale radius, and ∝ r^(−5) far outside.
        Plummer = "Plummer",
        /// Dark halos (Navarro, Frenk and White 1996): ∝ 1/r inside the scale radius, and ∝ r^(−3) far outside.
        Nfw = "NFW",
    }
}

impl DensityLaw {
    /// Returns the density at `x` scale radii from the centre, in units of the law's scale density.
    pub fn shape(self, x: f64) -> f64 {
        match self {
            Self::Plummer => (1.0 + x * x).powf(-2.5),
            Self::Nfw => 1.0 / (x * (1.0 + x) * (1.0 + x)),
        }
    }
}

/// A density law with its scales: ρ(r) = `density` · [`DensityLaw::shape`] (r / `radius`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ScaledDensity {
    /// Density law.
    pub law: DensityLaw,
    /// Scale density, in scene units of mass per volume: for Plummer's law, the density at the centre.
    pub density: f64,
    /// Scale radius, in scene units of length.
    pub radius: f64,
}

impl ScaledDensity {
    /// Returns Plummer's law for the given mass and scale radius: ρ = 3M/(4πa³) · (1 + r²/a²)^(−5/2).
    pub(crate) const fn plummer(mass: f64, radius: f64) -> Self {
        let density = 3.0 * mass / (4.0 * PI * radius * radius * radius);
        Self { law: DensityLaw::Plummer, density, radius }
    }

    /// Returns the density at the distance `r` from the centre.
    pub fn at(&self, r: f64) -> f64 {
        self.density * self.law.shape(r / self.radius)
    }
}

/// What is known about the density of the bodies that a generator makes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum DensityModel {
    /// The bodies follow this law at the start.
    Exact(ScaledDensity),
    /// The bodies may come to resemble this law, with scales that must be fitted to the bodies.
    Fitted(DensityLaw),
}

impl DensityModel {
    /// Returns the density law, without its scales.
    pub fn law(&self) -> DensityLaw {
        match self {
            Self::Exact(scaled) => scaled.law,
            Self::Fitted(law) => *law,
        }
    }
}

impl Default for DensityModel {
    fn default() -> Self {
        Self::Fitted(DensityLaw::Plummer)
    }
}
