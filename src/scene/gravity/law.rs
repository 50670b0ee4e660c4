//! The force that orbits have to fit: today's gravitational constant and softening.

use crate::params::{Value, Values};

/// Gravity as the parameters have it. Generators make velocities for G = 1; multiplied by √G they fit every
/// G, and G = 0 needs no special case.
#[derive(Debug, Clone, Copy)]
pub(super) struct Law {
    /// Gravitational constant.
    pub g: f64,
    /// Softening length.
    pub eps: f64,
    clamp: bool,
}

impl Law {
    /// What `params` say, and G = 1 without softening where they say nothing.
    pub fn of(params: &Values) -> Self {
        Self {
            g: params.float("g").unwrap_or(1.0).into(),
            eps: params.float("eps").unwrap_or(0.0).into(),
            clamp: params.get("softening") == Some(Value::Option("clamp")),
        }
    }

    /// Ω² = v²/r² on a circular orbit of radius `r` about a point of mass 1, at G = 1: the s(r) of the force.
    pub fn omega2(&self, r: f64) -> f64 {
        let d2 = if self.clamp { (r * r).max(self.eps * self.eps) } else { r * r + self.eps * self.eps };
        1.0 / (d2 * d2.sqrt())
    }

    /// The length by which extended bodies are blurred: the clamped force is Newton's beyond eps.
    pub fn blur(&self) -> f64 {
        if self.clamp { 0.0 } else { self.eps }
    }
}
