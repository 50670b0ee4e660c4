//! Conserved quantities and other readings of a simulation.

use glam::DVec3;

use crate::base::{Bodies, format};

/// Conserved quantities and other readings, summed over all bodies with finite values or over all fluid cells.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Diagnostics {
    /// Kinetic energy Σ ½ m v².
    pub kinetic: f64,
    /// Potential energy of all pairs of bodies, and of bodies in the field of fixed masses such as a planet.
    pub potential: f64,
    /// Momentum Σ m v.
    pub momentum: [f64; 3],
    /// Sum of the magnitudes of the momenta, Σ m |v|, relative to which errors of `momentum` are measured.
    pub momentum_scale: f64,
    /// Angular momentum Σ m x × v about the origin.
    pub angular_momentum: [f64; 3],
    /// Number of bodies that the simulation excludes because their values are not finite.
    pub nonfinite: usize,
    /// Further readings that only some modes have, such as the number of collisions.
    pub readings: Vec<Reading>,
}

/// A named number that a simulation reports, with its label, unit, explanation and warning.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Reading {
    /// Key of the reading in reports.
    pub key: &'static str,
    /// Label of the reading on the screen.
    #[serde(skip)]
    pub label: &'static str,
    /// Value of the reading.
    pub value: f64,
    /// Unit to display after the value, with a leading space; empty for a value without a unit.
    #[serde(skip)]
    pub unit: &'static str,
    /// Explanation of the reading, shown in a tooltip.
    #[serde(skip)]
    pub help: &'static str,
    /// Whether to highlight the value as a warning.
    pub warns: bool,
    /// Sentence that explains the cause of the warning and its remedy, if both are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<&'static str>,
    /// Change of a parameter that removes the cause of the warning, if there is one.
    #[serde(skip)]
    pub remedy: Option<Remedy>,
    /// Whether the value is a count, such as a number of collisions, which is shown without decimals.
    #[serde(skip)]
    pub counts: bool,
}

/// A change of a parameter that removes the cause of a warning.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Remedy {
    /// Multiplies the parameter with this key, a number, by a factor.
    Multiply(&'static str, f32),
    /// Sets the parameter with this key to the option with this name.
    Choose(&'static str, &'static str),
}

impl Remedy {
    /// Halves the time step, which makes the motion of the bodies more accurate.
    pub(super) const SHORTER_STEP: Self = Self::Multiply("dt", 0.5);
}

impl Reading {
    /// Creates a reading without an explanation or a warning.
    pub fn new(key: &'static str, label: &'static str, value: f64) -> Self {
        Self {
            key,
            label,
            value,
            unit: "",
            help: "",
            warns: false,
            advice: None,
            remedy: None,
            counts: false,
        }
    }

    /// Creates a reading whose value is a count and is shown without decimals.
    pub fn count(key: &'static str, label: &'static str, value: f64) -> Self {
        Self { counts: true, ..Self::new(key, label, value) }
    }

    /// Returns the reading with `help` as the explanation in its tooltip.
    pub fn help(self, help: &'static str) -> Self {
        Self { help, ..self }
    }

    /// Returns the reading with a warning if `warns` is true. `advice` is a sentence about the cause and the `remedy`.
    pub fn warns_of(self, warns: bool, advice: &'static str, remedy: Remedy) -> Self {
        Self { warns, advice: warns.then_some(advice), remedy: warns.then_some(remedy), ..self }
    }

    /// Formats the value with three significant digits, or as a whole number if it is a count.
    pub fn text(&self) -> String {
        let is_count = self.counts && self.value >= 0.0 && self.value.fract() == 0.0;
        if is_count { format::count(self.value as u64) } else { format::significant(self.value, 3) }
    }
}

impl Diagnostics {
    /// Sums energies and momenta of bodies with finite values. `potential` gets a body's index, mass and position.
    pub(super) fn of_bodies(bodies: &Bodies<f64>, potential: impl Fn(usize, f64, DVec3) -> f64) -> Self {
        let mut sums = Self::default();
        let (mut momentum, mut angular_momentum) = (DVec3::ZERO, DVec3::ZERO);
        for (i, (row, v)) in bodies.positions.iter().zip(&bodies.velocities).enumerate() {
            let (mass, [x, v]) = (row[3], [row, v].map(|row| DVec3::from_slice(row)));
            if !v.is_finite() {
                sums.nonfinite += 1;
                continue;
            }
            sums.potential += potential(i, mass, x);
            sums.kinetic += 0.5 * mass * v.length_squared();
            sums.momentum_scale += mass * v.length();
            momentum += v * mass;
            angular_momentum += x.cross(v) * mass;
        }
        Self { momentum: momentum.into(), angular_momentum: angular_momentum.into(), ..sums }
    }

    /// Returns the sum of kinetic and potential energy.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }
}

#[cfg(test)]
mod tests {
    use super::Reading;

    #[test]
    fn a_count_reading_is_formatted_without_decimals() {
        for (value, text) in [(5.0, "5"), (12_345.0, "12\u{2009}345"), (f64::NAN, "NaN")] {
            assert_eq!(Reading::count("collisions", "", value).text(), text);
        }
        assert_eq!(Reading::new("virial_ratio", "", 1.0).text(), "1.00");
    }
}
