//! What a step makes of the acceleration: the three integrators as one set of coefficients.

use super::{Gravity, Integrator};

/// The coefficients of `finish_step` in `kernels/gravity/force.cl`:
/// `v ← (v + closing·a)·damp; v ← v + opening·a; x ← x + drift·v + drift2·a; v ← v·loss`.
///
/// One force evaluation a step is enough for kick–drift–kick: the closing kick of one step and the opening kick
/// of the next use the same acceleration, so inside a burst they are one kernel. A burst opens with a drift
/// from the acceleration that the last one left, and its last step only closes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Step {
    closing: f32,
    damp: f32,
    opening: f32,
    drift: f32,
    drift2: f32,
    loss: f32,
    flat: bool,
    g: f32,
}

impl Step {
    /// Changes nothing but the acceleration that is left behind.
    pub fn still(p: &Gravity) -> Self {
        Self {
            closing: 0.0,
            damp: 1.0,
            opening: 0.0,
            drift: 0.0,
            drift2: 0.0,
            loss: 1.0,
            flat: p.flat,
            g: p.g,
        }
    }

    /// A whole step of `euler` or `taylor`.
    ///
    /// `taylor` moves by the old velocity: x + dt·(v + a·dt) − ½a·dt² = x + v·dt + ½a·dt².
    pub fn whole(p: &Gravity) -> Self {
        let drift2 = if p.integrator == Integrator::Taylor { -0.5 * p.dt * p.dt } else { 0.0 };
        Self { opening: p.dt, drift: p.dt, drift2, loss: p.decay, ..Self::still(p) }
    }

    /// Leapfrog's opening: half a kick, and the drift.
    pub fn open(p: &Gravity) -> Self {
        Self { opening: 0.5 * p.dt, drift: p.dt, ..Self::still(p) }
    }

    /// Leapfrog's closing: the other half of the kick.
    pub fn close(p: &Gravity) -> Self {
        Self { closing: 0.5 * p.dt, damp: p.decay, ..Self::still(p) }
    }

    /// The closing of one step and the opening of the next.
    pub fn close_and_open(p: &Gravity) -> Self {
        let Self { closing, damp, .. } = Self::close(p);
        Self { closing, damp, ..Self::open(p) }
    }

    /// As the kernels take them, for a sum over places and masses in units of `mass`.
    pub fn coefficients(self, mass: f32) -> [f32; 8] {
        let Self { closing, damp, opening, drift, drift2, loss, flat, g } = self;
        [closing, damp, opening, drift, drift2, loss, f32::from(flat), g * mass]
    }
}
