//! What the colour of a body shows.

use crate::params::{Choice, Opt};

/// What the colour of a body shows, in the order in which `kernels/prelude.cl` counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// |v|.
    Speed,
    /// The logarithm of m.
    Mass,
    /// The logarithm of |a|.
    Acceleration,
    /// The group it began in.
    Origin,
    /// z.
    Height,
}

impl Choice for Colour {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Speed, Opt { name: "speed", help: "How fast each body is." }),
        (Self::Mass, Opt { name: "mass", help: "How heavy each body is, by factors." }),
        (
            Self::Acceleration,
            Opt { name: "acceleration", help: "How strongly each body is pulled, by factors." },
        ),
        (
            Self::Origin,
            Opt { name: "origin", help: "Where each body began: its galaxy, its part, or its shell." },
        ),
        (Self::Height, Opt { name: "height", help: "How high each body is above the plane z = 0." }),
    ];
}
