//! What a step makes of the acceleration: all integrators as one set of coefficients.

use super::{Gravity, Integrator, OUTER};

/// The coefficients of `finish_step` in `kernels/gravity/force.cl`:
/// `v ← (v + closing·a)·damp; v ← v + opening·a; x ← x + drift·v + drift2·a; v ← v·loss`.
///
/// One force evaluation is enough for kick–drift–kick: the closing kick of one (sub)step and the opening kick of the next
/// use the same acceleration, so inside a burst they are one kernel. A burst opens with a drift from the acceleration that
/// the last one left, and its last step only closes. `leapfrog` is one kick–drift–kick of length dt, `yoshida` three.
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
        Self { flat: false, ..Self::none(p) }
    }

    /// Moves nothing, but to the plane if there is one.
    fn none(p: &Gravity) -> Self {
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
        Self { opening: p.dt, drift: p.dt, drift2, loss: p.decay, ..Self::none(p) }
    }

    /// The opening of substep `nth` of a step: half a kick, and the drift.
    pub fn open(p: &Gravity, nth: u32) -> Self {
        let h = substep(p, nth);
        Self { opening: 0.5 * h, drift: h, ..Self::none(p) }
    }

    /// The closing of substep `nth`: the other half of the kick, and after the last what is lost of the speed.
    pub fn close(p: &Gravity, nth: u32) -> Self {
        let damp = if nth + 1 == p.integrator.evaluations() { p.decay } else { 1.0 };
        Self { closing: 0.5 * substep(p, nth), damp, ..Self::none(p) }
    }

    /// The closing of substep `nth` and the opening of the next.
    pub fn close_and_open(p: &Gravity, nth: u32) -> Self {
        let Self { closing, damp, .. } = Self::close(p, nth);
        Self { closing, damp, ..Self::open(p, (nth + 1) % p.integrator.evaluations()) }
    }

    /// As the kernels take them, for a sum over places and masses in units of `mass`.
    pub fn coefficients(self, mass: f32) -> [f32; 8] {
        let Self { closing, damp, opening, drift, drift2, loss, flat, g } = self;
        [closing, damp, opening, drift, drift2, loss, f32::from(flat), g * mass]
    }
}

/// The length of the kick–drift–kick `nth` of a step. Those of `yoshida` add up to dt as nearly as f32 has them: rounded
/// each by itself, they would let time go wrong by some 1e-7 of itself.
fn substep(p: &Gravity, nth: u32) -> f32 {
    match p.integrator {
        Integrator::Yoshida => {
            let outer = (OUTER * f64::from(p.dt)) as f32;
            if nth == 1 { (f64::from(p.dt) - 2.0 * f64::from(outer)) as f32 } else { outer }
        }
        Integrator::Euler | Integrator::Taylor | Integrator::Leapfrog => p.dt,
    }
}
