//! Parameters of gravity.

use crate::base::params::ChangeEffect::{Rebuild, View};
use crate::base::{choice, parameters};

parameters! {
    /// The parameters of the gravity mode.
    #[derive(Debug, Clone)]
    pub struct Gravity {
        /// Simulated time per step. Larger steps are faster but less accurate.
        dt: f32 = 0.005, "Time step" [1e-5..=0.1, Log] unit("time"),
        /// Distance below which gravity weakens, so that bodies that come close are not flung apart.
        eps: f32 = 0.05, "Softening" [1e-5..=1.0, Log] unit("length"),
        /// Gravitational constant: how strongly bodies attract each other. 0 turns gravity off.
        g: f32 = 1.0, "Gravity G" [0.0..=10.0, Linear],
        /// Factor by which every velocity is multiplied after each step. 1 means no loss.
        decay: f32 = 1.0, "Decay" [0.9..=1.0, Linear],
        /// Method that advances positions and velocities in time.
        integrator: Integrator = Integrator::Leapfrog, "Integrator" advanced(true),
        /// Formula that keeps the force finite when two bodies meet.
        softening: Softening = Softening::Plummer, "Softening law" effect(Rebuild) advanced(true),
        /// Keeps every body in the plane z = 0.
        flat: bool = false, "Flat" advanced(true),
        /// Corrects the rounding errors of positions and velocities (Kahan summation).
        /// Long runs stay accurate for longer.
        compensated: bool = false, "Compensated" effect(Rebuild) advanced(true),
        /// Largest relative error of the forces that `auto` accepts when it chooses a variant.
        accuracy: Accuracy = Accuracy::Thousandth, "Auto accuracy" effect(Rebuild) advanced(true),
        /// Accuracy of the `tree` variant: largest error from one distant cell, relative to the acceleration of the bodies
        /// that the cell acts on. Smaller values are more accurate and slower. If `auto` chooses the tree, it lowers this
        /// value where Auto accuracy requires it.
        opening: f32 = OPENING, "Opening" [1e-5..=0.1, Log],
        /// What the colour of a body shows.
        colour: Colour = Colour::Speed, "Colour" effect(View),
    }
}

choice! {
    /// Time integration method.
    pub enum Integrator {
        // Kick, drift, kick.
        /// Kick–drift–kick: second order. The energy does not drift.
        Leapfrog = "leapfrog",
        // v += a·dt; x += v·dt.
        /// Symplectic Euler: first order. The energy oscillates but does not drift.
        Euler = "euler",
        // x += v·dt + ½a·dt²; v += a·dt.
        /// The method of many OpenCL tutorials. It is not symplectic: the energy grows.
        Taylor = "taylor",
        // The second of the three leapfrog steps runs backwards: see `OUTER`.
        /// Three leapfrog steps in one: fourth order, for smooth orbits. Each step takes three times as long.
        Yoshida = "yoshida",
    }
}

impl Integrator {
    /// Returns the number of force evaluations per step.
    pub fn evaluations(self) -> u32 {
        if self == Self::Yoshida { 3 } else { 1 }
    }

    /// Returns whether a step of −dt undoes a step of dt, except for rounding.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Self::Leapfrog | Self::Yoshida)
    }
}

/// Length of the first and third of the leapfrog steps of [`Integrator::Yoshida`], relative to the whole step:
/// 1/(2 − ∛2), for which the third-order errors cancel (Yoshida 1990, Phys. Lett. A 150, 262). The middle step has the
/// length 1 − 2·`OUTER`, which is negative.
pub(super) const OUTER: f64 = 1.351_207_191_959_657_8;

choice! {
    /// Formula that keeps the force finite at small distances r.
    pub enum Softening {
        /// Spreads the mass of each body over a small ball: the force is proportional to r·(r² + eps²)^(−3/2).
        Plummer = "plummer",
        /// Exact force at distances above eps, limited at shorter distances: max(r, eps)^(−3).
        Clamp = "clamp",
    }
}

/// Default value of the `opening` parameter.
const OPENING: f32 = 0.004;

choice! {
    /// Largest relative error of the forces that `auto` accepts when it chooses a variant.
    pub enum Accuracy {
        /// Only rounding errors: `auto` chooses among the variants that evaluate all pairs.
        Exact = "exact",
        /// A relative error of 1e-4: for many bodies, `auto` chooses the tree, with an Opening of at most 0.00007.
        TenThousandth = "1e-4",
        /// A relative error of 1e-3: for many bodies, `auto` chooses the tree, with an Opening of at most 0.004.
        Thousandth = "1e-3",
    }
}

impl Accuracy {
    /// Returns the largest `opening` with which the tree reaches this accuracy in the built-in scenes; `None` for
    /// [`Accuracy::Exact`].
    pub(super) fn max_opening(self) -> Option<f32> {
        match self {
            Self::Exact => None,
            Self::TenThousandth => Some(7e-5),
            Self::Thousandth => Some(OPENING),
        }
    }
}

impl Gravity {
    /// Returns the usual relative force error of a method of the tree with the current `opening` and softening. The error
    /// is `at_default` with the default `opening`, and is proportional to `opening` raised to `power`. Clamped softening
    /// doubles it, as measured in the centre of the scene `galaxy`.
    pub(super) fn usual_error(&self, (at_default, power): (f64, f64)) -> f64 {
        let factor = if self.softening == Softening::Clamp { 2.0 } else { 1.0 };
        factor * at_default * f64::from(self.opening / OPENING).powf(power)
    }
}

choice! {
    /// Quantity that the colour of a body shows; the order matches the numbers in `kernels/prelude.cl`.
    pub enum Colour {
        /// Speed of each body.
        Speed = "speed",
        /// Mass of each body, on a logarithmic scale.
        Mass = "mass",
        /// Acceleration of each body, on a logarithmic scale.
        Acceleration = "acceleration",
        /// Galaxy, part or shell that each body started in.
        Origin = "origin",
        /// Height of each body above the plane z = 0.
        Height = "height",
        /// Number of bodies and cells that act on each body. It differs between bodies only with the `tree` variant.
        Cost = "cost",
        // The kernel `pack` does not know the errors. The host measures them and sets the colours (`BodyErrors`).
        /// Relative error of the force on each body, |δa|/|a|, compared with a sum over all bodies in double precision, on a
        /// logarithmic scale. The live check measures some bodies at a time, in turn; bodies not yet measured are grey.
        Error = "error",
        /// The colours that the scene gives to its named bodies; other bodies are grey.
        Own = "own",
        /// Colours of stars: golden in bulges, mostly blue-white in discs; dark halos are nearly invisible. Each body keeps its
        /// colour.
        Stars = "stars",
    }
}
