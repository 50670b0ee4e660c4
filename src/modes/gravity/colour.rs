//! Quantities that the colour of a body can show.

use crate::base::params::{Choice, Opt};

/// Quantity that the colour of a body shows; the order matches the numbers in `kernels/prelude.cl`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// |v|.
    Speed,
    /// The logarithm of m.
    Mass,
    /// The logarithm of |a|.
    Acceleration,
    /// The group that the body started in.
    Origin,
    /// z.
    Height,
}

impl Choice for Colour {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Speed, Opt { name: "speed", help: "Speed of each body." }),
        (Self::Mass, Opt { name: "mass", help: "Mass of each body, on a logarithmic scale." }),
        (
            Self::Acceleration,
            Opt { name: "acceleration", help: "Acceleration of each body, on a logarithmic scale." },
        ),
        (
            Self::Origin,
            Opt { name: "origin", help: "Group that each body started in: its galaxy, part or shell." },
        ),
        (Self::Height, Opt { name: "height", help: "Height of each body above the plane z = 0." }),
    ];
}
