//! Parameters of asteroids.

use crate::base::params::ChangeEffect::{Rebuild, View};
use crate::base::{Choice, Opt, choice, parameters};

parameters! {
    /// Parameters of the asteroid mode.
    #[derive(Debug, Clone)]
    pub struct Asteroids {
        /// Simulated time per step. If Substeps is set to auto, a step is divided into substeps when bodies would move too
        /// far at once.
        dt: f32 = 0.005, "Time step" [1e-5..=0.1, Log] unit("time"),
        /// Number of substeps in each step. With too few substeps, fast bodies pass through each other, and
        /// piles of bodies on the planet sink.
        substeps: Substeps = Substeps::Auto, "Substeps" advanced(true),
        /// Factor by which every velocity is multiplied after each step. 1 means no loss.
        decay: f32 = 1.0, "Decay" [0.9..=1.0, Linear] advanced(true),
        // Speed after a collision divided by the speed before, along the line of centres.
        /// How strongly bodies bounce. At 1, they bounce back at full speed; at 0, they do not bounce.
        restitution: f32 = 0.8, "Restitution" [0.0..=1.0, Linear],
        /// Fraction of the sideways speed that a collision removes.
        friction: f32 = 0.05, "Friction" [0.0..=1.0, Linear] advanced(true),
        /// Radius of a body of mean mass. The radii of other bodies scale with the cube root of their mass.
        radius: f32 = 0.01, "Radius" [1e-4..=0.5, Log] unit("length"),
        /// Fraction of the overlap of two bodies that each substep removes.
        /// With the contact law `match`, bodies in a pile keep just enough overlap to carry the bodies above them.
        push: f32 = 0.2, "Push-out" [0.0..=1.0, Linear] advanced(true),
        /// Mass of the planet at the centre. 0 turns its gravity off.
        planet_mass: f32 = 1.0, "Planet mass" [0.0..=10.0, Linear] advanced(true),
        /// Radius of the planet. Bodies bounce off its surface; at 0 there is no surface.
        planet_radius: f32 = 0.3, "Planet radius" [0.0..=2.0, Linear] unit("length"),
        /// Gravitational constant: how strongly the planet attracts bodies.
        g: f32 = 1.0, "Gravity G" [0.0..=10.0, Linear],
        /// How several simultaneous collisions of one body are combined.
        contact_law: ContactLaw = ContactLaw::Match, "Contact law" effect(Rebuild) advanced(true),
        /// What the colour of a body shows.
        colour: Colour = Colour::Speed, "Colour" effect(View),
    }
}

/// Number of substeps in each step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substeps {
    /// Adapts the number of substeps to the motion of the bodies and to piles on the planet.
    Auto,
    /// Uses the same number of substeps in every step. The number must be a power of two.
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
                help: "Uses as many substeps as needed, at most 64, so that no body moves more than half its radius in a substep and piles on the planet do not sink.",
            },
        ),
        fixed!(1, "Steps are not divided into substeps. This is the default for the command `bench`."),
        fixed!(2, "2 substeps in every step."),
        fixed!(4, "4 substeps in every step."),
        fixed!(8, "8 substeps in every step."),
        fixed!(16, "16 substeps in every step."),
        fixed!(32, "32 substeps in every step."),
        fixed!(64, "64 substeps in every step."),
    ];
}

impl Substeps {
    /// Maximum number of substeps in a step.
    pub const MOST: u32 = 64;

    /// Returns the fixed number of substeps, or `None` if the number is chosen automatically.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Auto => None,
            Self::Fixed(count) => Some(count),
        }
    }
}

choice! {
    /// How the impulses of a body's contacts are combined.
    pub enum ContactLaw {
        /// Two passes: the first counts contacts, the second shares impulses among them.
        /// Dense crowds of bodies gain no energy, and piles stay at rest.
        Match = "match",
        /// One pass, as in many tutorials: each contact adds its whole impulse.
        /// Correct for two bodies, but dense crowds of bodies gain energy, and piles sink.
        Simple = "simple",
    }
}

choice! {
    /// Quantity that the colour of a body shows; the order matches the numbers in `kernels/prelude.cl`.
    pub enum Colour {
        /// Speed of each body.
        Speed = "speed",
        /// Mass of each body.
        Mass = "mass",
        // The logarithm of |Δv|/dt of the last step.
        /// Acceleration of each body, on a logarithmic scale.
        Acceleration = "acceleration",
        /// Group or shell that each body started in.
        Origin = "origin",
        /// Height of each body above the plane z = 0.
        Height = "height",
        /// Time since the last collision of each body. Bright means a recent collision.
        Hit = "hit",
    }
}
