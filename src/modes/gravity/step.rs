//! Coefficients with which a single kernel can take the steps of all integrators.

use super::parameters::{Gravity, Integrator, OUTER};
use crate::compute::KernelSource;
use crate::modes::kernels::{Define, flags, source};

/// Source of the kernel functions that compute forces and complete a step.
pub(super) const FORCE: KernelSource = source!("gravity/force.cl");

/// Returns the number of `float4` values per body in the velocity buffer.
pub(super) fn planes(params: &Gravity) -> usize {
    if params.compensated { 3 } else { 1 }
}

/// Returns the preprocessor macros for the kernels that complete a step.
pub(super) fn step_defines(params: &Gravity) -> Vec<Define> {
    flags(&[("COMPENSATED", params.compensated)])
}

/// Coefficients of `finish_step` in `kernels/gravity/force.cl`: `v ← (v + closing·a)·damp; v ← v + opening·a; x ← x +
/// drift·v + drift2·a; v ← v·loss`.
///
/// A step consists of substeps of the form kick–drift–kick: one of length dt for `leapfrog`, three for `yoshida`. The
/// closing kick of a substep and the opening kick of the next substep use the same acceleration. Within a burst, one
/// kernel applies both kicks after a single force evaluation. The first pass of a burst only opens a substep, with the
/// accelerations known so far; the last pass only closes a substep.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
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
    /// Returns the coefficients of a pass that computes accelerations but moves no body.
    pub(super) fn still(p: &Gravity) -> Self {
        Self { flat: false, ..Self::none(p) }
    }

    /// Returns the coefficients of a pass that leaves the bodies where they are. If the parameter `flat` is set, the
    /// pass projects the bodies onto the plane z = 0.
    fn none(p: &Gravity) -> Self {
        Self { damp: 1.0, loss: 1.0, flat: p.flat, g: p.g, ..Self::default() }
    }

    /// Returns whether these coefficients leave positions and velocities unchanged.
    pub(super) fn is_still(self) -> bool {
        [self.closing, self.opening, self.drift] == [0.0; 3]
    }

    /// Returns the coefficients of a whole step with the `euler` or `taylor` integrator.
    ///
    /// `taylor` moves bodies with their old velocity: x + dt·(v + a·dt) − ½a·dt² = x + v·dt + ½a·dt².
    pub(super) fn whole(p: &Gravity) -> Self {
        let drift2 = if p.integrator == Integrator::Taylor { -0.5 * p.dt * p.dt } else { 0.0 };
        Self { opening: p.dt, drift: p.dt, drift2, loss: p.decay, ..Self::none(p) }
    }

    /// Returns the coefficients that open substep `nth`: the first half of the kick, and the drift.
    pub(super) fn open(p: &Gravity, nth: u32) -> Self {
        let h = substep(p, nth);
        Self { opening: 0.5 * h, drift: h, ..Self::none(p) }
    }

    /// Returns the coefficients that close substep `nth`: the second half-kick and, after the last substep, the decay.
    pub(super) fn close(p: &Gravity, nth: u32) -> Self {
        let damp = if nth + 1 == p.integrator.evaluations() { p.decay } else { 1.0 };
        Self { closing: 0.5 * substep(p, nth), damp, ..Self::none(p) }
    }

    /// Returns the coefficients that close substep `nth` and open the next substep.
    pub(super) fn close_and_open(p: &Gravity, nth: u32) -> Self {
        let Self { closing, damp, .. } = Self::close(p, nth);
        Self { closing, damp, ..Self::open(p, (nth + 1) % p.integrator.evaluations()) }
    }

    /// Returns all coefficients of this step as an array in the layout that the kernels expect. `mass` is the unit of
    /// mass in the sums of forces.
    pub(super) fn coefficients(self, mass: f32) -> [f32; 8] {
        let Self { closing, damp, opening, drift, drift2, loss, flat, g } = self;
        [closing, damp, opening, drift, drift2, loss, f32::from(flat), g * mass]
    }
}

/// Returns the duration of substep `nth` of a step. The durations for `yoshida` add up to dt within f32 rounding. If
/// each duration were rounded independently, the simulated time would be off by about 1e-7 of its value.
fn substep(p: &Gravity, nth: u32) -> f32 {
    match p.integrator {
        Integrator::Yoshida => {
            let outer = (OUTER * f64::from(p.dt)) as f32;
            if nth == 1 { (f64::from(p.dt) - 2.0 * f64::from(outer)) as f32 } else { outer }
        }
        Integrator::Euler | Integrator::Taylor | Integrator::Leapfrog => p.dt,
    }
}
