//! The law of gravity: the gravitational constant and the softening, which determine orbital speeds.

use crate::base::{ParamValue, ParamValues};

/// Law of gravity. Generators assume G = 1; multiplying velocities by √G adapts the bodies to any G.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    /// Gravitational constant.
    pub g: f64,
    /// Softening length.
    pub eps: f64,
    clamp: bool,
}

impl Law {
    /// Reads the law of gravity from `params`. A missing `g` means G = 1, and a missing `eps` means no softening.
    pub(super) fn of(params: &ParamValues) -> Self {
        Self {
            g: params.float("g").unwrap_or(1.0).into(),
            eps: params.float("eps").unwrap_or(0.0).into(),
            clamp: params.get("softening") == Some(ParamValue::Option("clamp")),
        }
    }

    /// Returns Ω² = v²/r² for a circular orbit of radius `r` around a point mass of 1, at G = 1.
    pub(super) fn omega2(&self, r: f64) -> f64 {
        let d2 = if self.clamp { (r * r).max(self.eps * self.eps) } else { r * r + self.eps * self.eps };
        1.0 / (d2 * d2.sqrt())
    }

    /// Returns the length over which softening blurs a mass distribution; 0 if the force is clamped.
    pub(super) fn blur(&self) -> f64 {
        if self.clamp { 0.0 } else { self.eps }
    }
}
