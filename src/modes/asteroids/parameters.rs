//! Parameters of asteroids.

use crate::base::params::{ChangeEffect, Choice, Info, Opt, Params, Scale, Visitor};

/// The parameters of asteroids.
#[derive(Debug, Clone)]
pub struct Asteroids {
    /// Time step.
    pub dt: f32,
    /// Number of substeps in each step.
    pub substeps: Substeps,
    /// Factor on the velocities after each step.
    pub decay: f32,
    /// Speed after a collision divided by the speed before, along the line of centres.
    pub restitution: f32,
    /// Fraction of the tangential velocity that a collision removes.
    pub friction: f32,
    /// Radius of a body of mean mass.
    pub radius: f32,
    /// Fraction of an overlap that is undone in each substep.
    pub push: f32,
    /// Mass of the planet at the origin.
    pub planet_mass: f32,
    /// Radius of the planet; 0 if the planet has no surface.
    pub planet_radius: f32,
    /// Gravitational constant.
    pub g: f32,
    /// How the impulses of a body's contacts are combined.
    pub contact_law: ContactLaw,
    /// Quantity that the colours show.
    pub colour: Colour,
}

/// Number of substeps in each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substeps {
    /// Adapted to the bodies' motion and piles.
    Auto,
    /// A fixed number, a power of two.
    Fixed(u32),
}

macro_rules! fixed {
    ($count:literal, $help:literal) => {
        (Self::Fixed($count), Opt { name: stringify!($count), help: $help })
    };
}

impl Choice for Substeps {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Auto,
            Opt {
                name: "auto",
                help: "As many as needed, at most 64, so that no body moves more than half its radius in a substep and piles on the planet do not sink.",
            },
        ),
        fixed!(1, "Steps are not divided. The command `bench` uses this by default."),
        fixed!(2, "2 substeps in every step."),
        fixed!(4, "4 substeps in every step."),
        fixed!(8, "8 substeps in every step."),
        fixed!(16, "16 substeps in every step."),
        fixed!(32, "32 substeps in every step."),
        fixed!(64, "64 substeps in every step."),
    ];
}

impl Substeps {
    /// Largest number of substeps in a step.
    pub const MOST: u32 = 64;

    /// Returns the number of substeps if it is fixed.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Auto => None,
            Self::Fixed(count) => Some(count),
        }
    }
}

/// How the impulses of a body's contacts are combined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContactLaw {
    /// Two passes: the first counts contacts, the second shares impulses between them.
    Match,
    /// One pass: each contact adds its whole impulse.
    Simple,
}

impl Choice for ContactLaw {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Match,
            Opt {
                name: "match",
                help: "Two passes: the first counts contacts, the second shares impulses among them. Crowds gain no energy, and piles stay at rest.",
            },
        ),
        (
            Self::Simple,
            Opt {
                name: "simple",
                help: "One pass, as in tutorials: each contact adds its whole impulse. Correct for two bodies; crowds gain energy and piles sink.",
            },
        ),
    ];
}

/// Quantity that the colour of a body shows; the order matches the numbers in `kernels/prelude.cl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// |v|.
    Speed,
    /// m.
    Mass,
    /// The logarithm of |Δv|/dt of the last step.
    Acceleration,
    /// The group that the body started in.
    Origin,
    /// z.
    Height,
    /// The time since the body was hit.
    Hit,
}

impl Choice for Colour {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Speed, Opt { name: "speed", help: "Speed of each body." }),
        (Self::Mass, Opt { name: "mass", help: "Mass of each body." }),
        (
            Self::Acceleration,
            Opt { name: "acceleration", help: "Acceleration of each body, on a logarithmic scale." },
        ),
        (Self::Origin, Opt { name: "origin", help: "Group that each body started in: its group or shell." }),
        (Self::Height, Opt { name: "height", help: "Height of each body above the plane z = 0." }),
        (Self::Hit, Opt { name: "hit", help: "Time since each body was hit. Bright means just now." }),
    ];
}

impl Default for Asteroids {
    fn default() -> Self {
        Self {
            dt: 0.005,
            substeps: Substeps::Auto,
            decay: 1.0,
            restitution: 0.8,
            friction: 0.05,
            radius: 0.01,
            push: 0.2,
            planet_mass: 1.0,
            planet_radius: 0.3,
            g: 1.0,
            contact_law: ContactLaw::Match,
            colour: Colour::Speed,
        }
    }
}

impl Params for Asteroids {
    fn visit(&mut self, v: &mut dyn Visitor) {
        use Scale::{Linear, Log};
        let Self {
            dt,
            substeps,
            decay,
            restitution,
            friction,
            radius,
            push,
            planet_mass,
            planet_radius,
            g,
            contact_law,
            colour,
        } = self;
        v.float(
            &Info::new(
                "dt",
                "Time step",
                "Simulated time per step. With Substeps on auto, a step is divided if bodies would move too far.",
            )
            .unit("time"),
            dt,
            1e-5..=0.1,
            Log,
        );
        v.choice(
            &Info::new(
                "substeps",
                "Substeps",
                "Number of substeps in each step. With too few, fast bodies pass through each other and piles sink.",
            ),
            substeps,
        );
        v.float(
            &Info::new("decay", "Decay", "Factor on every velocity after each step. 1 means no loss."),
            decay,
            0.9..=1.0,
            Linear,
        );
        v.float(
            &Info::new(
                "restitution",
                "Restitution",
                "How strongly bodies bounce. 1 keeps the full speed, 0 keeps none.",
            ),
            restitution,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &Info::new("friction", "Friction", "Fraction of the sideways speed that a collision removes."),
            friction,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &Info::new(
                "radius",
                "Radius",
                "Radius of a body of mean mass. The radii of other bodies scale with the cube root of their mass.",
            )
            .unit("length"),
            radius,
            1e-4..=0.5,
            Log,
        );
        v.float(
            &Info::new("push", "Push-out", "Fraction of an overlap that is undone in each substep. With the contact law match, overlaps that carry a load stay."),
            push,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &Info::new(
                "planet_mass",
                "Planet mass",
                "Mass of the planet at the centre. 0 turns its gravity off.",
            ),
            planet_mass,
            0.0..=10.0,
            Linear,
        );
        v.float(
            &Info::new(
                "planet_radius",
                "Planet radius",
                "Radius of the planet. Bodies bounce off its surface; at 0 there is no surface.",
            )
            .unit("length"),
            planet_radius,
            0.0..=2.0,
            Linear,
        );
        v.float(
            &Info::new("g", "Gravity G", "Gravitational constant: how strongly the planet attracts bodies."),
            g,
            0.0..=10.0,
            Linear,
        );
        v.choice(
            &Info::new(
                "contact_law",
                "Contact law",
                "How the impulses of several contacts of one body are combined.",
            )
            .effect(ChangeEffect::Rebuild),
            contact_law,
        );
        v.choice(
            &Info::new("colour", "Colour", "Quantity that the colour of a body shows.")
                .effect(ChangeEffect::View),
            colour,
        );
    }
}
