//! Parameters of gravity.

use super::colour::Colour;
use crate::base::params::{ChangeEffect, Choice, Info, Opt, Params, Scale, Visitor};

/// The parameters of gravity.
#[derive(Debug, Clone)]
pub struct Gravity {
    /// Time step.
    pub dt: f32,
    /// Softening length.
    pub eps: f32,
    /// Gravitational constant.
    pub g: f32,
    /// Factor on the velocities after each step.
    pub decay: f32,
    /// Time integration method.
    pub integrator: Integrator,
    /// Formula that keeps the force finite at small distances.
    pub softening: Softening,
    /// Whether all bodies stay in the plane z = 0.
    pub flat: bool,
    /// Whether positions and velocities keep the part that rounding drops (Kahan summation).
    pub compensated: bool,
    /// Quantity that the colours show.
    pub colour: Colour,
}

impl Default for Gravity {
    fn default() -> Self {
        Self {
            dt: 0.005,
            eps: 0.05,
            g: 1.0,
            decay: 1.0,
            integrator: Integrator::Leapfrog,
            softening: Softening::Plummer,
            flat: false,
            compensated: false,
            colour: Colour::Speed,
        }
    }
}

impl Params for Gravity {
    fn visit(&mut self, v: &mut dyn Visitor) {
        use Scale::{Linear, Log};
        v.float(
            &Info::new(
                "dt",
                "Time step",
                "Simulated time per step. Larger steps are faster but less accurate.",
            )
            .unit("time"),
            &mut self.dt,
            1e-5..=0.1,
            Log,
        );
        v.float(
            &Info::new(
                "eps",
                "Softening",
                "Distance below which gravity weakens, so that close pairs do not fly apart.",
            )
            .unit("length"),
            &mut self.eps,
            1e-5..=1.0,
            Log,
        );
        v.float(
            &Info::new(
                "g",
                "Gravity G",
                "Gravitational constant: how strongly bodies attract each other. 0 turns gravity off.",
            ),
            &mut self.g,
            0.0..=10.0,
            Linear,
        );
        v.float(
            &Info::new("decay", "Decay", "Factor on every velocity after each step. 1 means no loss."),
            &mut self.decay,
            0.9..=1.0,
            Linear,
        );
        v.choice(
            &Info::new("integrator", "Integrator", "Method that advances positions and velocities in time."),
            &mut self.integrator,
        );
        v.choice(
            &Info::new(
                "softening",
                "Softening law",
                "Formula that keeps the force finite when two bodies meet.",
            )
            .effect(ChangeEffect::Rebuild),
            &mut self.softening,
        );
        v.flag(&Info::new("flat", "Flat", "Keeps every body in the plane z = 0."), &mut self.flat);
        v.flag(
            &Info::new(
                "compensated",
                "Compensated",
                "Keeps the part of positions and velocities that rounding drops (Kahan summation). Long runs stay accurate for longer.",
            )
            .effect(ChangeEffect::Rebuild),
            &mut self.compensated,
        );
        v.choice(
            &Info::new("colour", "Colour", "What the colour of a body shows.").effect(ChangeEffect::View),
            &mut self.colour,
        );
    }
}

/// Length of the first and the last of the three leapfrog steps of [`Integrator::Yoshida`], relative to the whole step:
/// 1/(2 − ∛2), for which the third-order errors cancel (Yoshida 1990, Phys. Lett. A 150, 262). The middle step has the
/// length 1 − 2·`OUTER`, which is negative.
pub(super) const OUTER: f64 = 1.351_207_191_959_657_8;

/// Time integration method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrator {
    /// v += a·dt; x += v·dt.
    Euler,
    /// x += v·dt + ½a·dt²; v += a·dt.
    Taylor,
    /// Kick, drift, kick.
    Leapfrog,
    /// Three leapfrog steps, the middle one backwards.
    Yoshida,
}

impl Integrator {
    /// Returns the number of force evaluations in a step.
    pub fn evaluations(self) -> u32 {
        if self == Self::Yoshida { 3 } else { 1 }
    }

    /// Returns whether a step with a negative time step undoes a step, except for rounding.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Self::Leapfrog | Self::Yoshida)
    }
}

impl Choice for Integrator {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Leapfrog,
            Opt { name: "leapfrog", help: "Kick–drift–kick: second order. The energy does not drift." },
        ),
        (
            Self::Euler,
            Opt {
                name: "euler",
                help: "Symplectic Euler: first order. The energy oscillates but does not drift.",
            },
        ),
        (
            Self::Taylor,
            Opt {
                name: "taylor",
                help: "The method of many OpenCL tutorials: not symplectic. The energy grows.",
            },
        ),
        (
            Self::Yoshida,
            Opt {
                name: "yoshida",
                help: "Three leapfrog steps in one: fourth order, for smooth orbits. Each step takes three times as long.",
            },
        ),
    ];
}

/// Formula that keeps the force finite at a small distance r.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Softening {
    /// s = (r² + eps²)^(−3/2).
    Plummer,
    /// s = max(r, eps)^(−3).
    Clamp,
}

impl Choice for Softening {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Plummer,
            Opt { name: "plummer", help: "Every body acts as a small smooth ball: (r² + eps²)^(−3/2)." },
        ),
        (
            Self::Clamp,
            Opt { name: "clamp", help: "Exact at distances above eps, limited below: max(r, eps)^(−3)." },
        ),
    ];
}
