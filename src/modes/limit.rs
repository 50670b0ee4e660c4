//! How near a speed comes to what a device can do, and what holds it up.

use super::Recipe;
use crate::compute::{Micro, Roofline, Source};

/// What sets the limit of a mode's speed on a device.
#[derive(Debug)]
pub enum Limit {
    /// The arithmetic of a pair.
    Pair(Pair),
    /// Memory, of which so many bytes are read and written for each cell and step, as fast as a copy goes.
    Copies {
        /// Bytes of a cell and step.
        bytes: f64,
    },
}

impl Limit {
    /// What measures it.
    pub fn micro(&self) -> &Micro {
        match self {
            Self::Pair(pair) => &pair.micro,
            Self::Copies { .. } => &Micro::COPIES,
        }
    }

    /// The limit at this rate of the micro-kernel.
    pub fn at(&self, rate: f64) -> f64 {
        match self {
            Self::Pair(_) => rate,
            Self::Copies { bytes } => rate / bytes,
        }
    }

    /// In words.
    pub fn help(&self) -> &'static str {
        match self {
            Self::Pair(_) => {
                "pairs a second while the device steps, over what their arithmetic alone would allow there; a kernel that does not look at all pairs has no limit"
            }
            Self::Copies { .. } => {
                "cells a second while the device steps, over what copying their numbers once would allow; a grid that fits into caches can be faster"
            }
        }
    }
}

/// What a pair takes at the least, whichever way it is computed.
#[derive(Debug)]
pub struct Pair {
    /// Its arithmetic alone, on operands in registers, whose rate is the limit of variants that look at all pairs: at equal
    /// masses, where that takes less, and with both sides at once, where that does. Measured rather than counted, since
    /// devices differ in what they do at the same time.
    pub micro: Micro,
    /// Reciprocal roots in it, for however many sides.
    pub roots: f64,
}

impl Pair {
    /// The last of `limit` has the kernel `pairs`, for `chains` bodies at once on CPUs against one of so many coordinates. It
    /// counts for so many `sides`, two if each feels the other, with one root in all or none.
    pub(super) const fn new(
        limit: &'static [Source],
        chains: usize,
        coordinates: usize,
        sides: usize,
        roots: f64,
    ) -> Self {
        Self { micro: Micro::pairs(limit, chains, coordinates, sides), roots }
    }
}

/// How busy a speed keeps the parts of a device, as shares of what each can do.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Busy {
    /// Of the limit that a pair's arithmetic sets, if there are pairs.
    pub arithmetic: Option<f64>,
    /// Of the reciprocal roots, if their rate is known.
    pub roots: Option<f64>,
    /// Of what can be fetched from global memory that caches hold, if that is known.
    pub memory: Option<f64>,
}

impl Busy {
    /// At a share of the limit of `recipe`, which is so many pairs or cells a second.
    pub fn new(share: f64, limit: (&Limit, f64), recipe: &Recipe, roofline: &Roofline) -> Self {
        let speed = share * limit.1;
        match limit.0 {
            Limit::Pair(pair) => Self {
                arithmetic: Some(share),
                roots: roofline.roots_per_second.map(|rate| speed / recipe.variant.sides * pair.roots / rate),
                memory: roofline.fetched_bytes_per_second.map(|rate| speed * recipe.bytes_per_pair() / rate),
            },
            Limit::Copies { .. } => Self { arithmetic: None, roots: None, memory: Some(share) },
        }
    }

    /// The part that is busiest; where none is busy for half of the time, it is waiting that takes the time: for the result
    /// before, by scalar code for a vector's width, or for more work-items.
    pub fn bound(&self) -> &'static str {
        let parts = [("arithmetic", self.arithmetic), ("roots", self.roots), ("memory", self.memory)];
        let known = parts.into_iter().filter_map(|(name, share)| Some((name, share?)));
        let (name, share) = known.fold(("", 0.0), |a, b| if b.1 > a.1 { b } else { a });
        if share < 0.5 { "latency" } else { name }
    }
}

impl Recipe {
    /// Bytes that it fetches from global memory for a pair, at the least: the other's place once for all the bodies of a
    /// work-item, or of a work-group that keeps it in local memory.
    pub fn bytes_per_pair(&self) -> f64 {
        let sharers = match (self.variant.local_bytes)(self) {
            0 => self.bodies_per_item(),
            _ => self.bodies_per_group() as f64,
        };
        size_of::<[f32; 4]>() as f64 / sharers
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_part_bounds() {
        for (arithmetic, roots, memory, bound) in [
            (0.9, 0.3, 0.1, "arithmetic"),
            (0.6, 0.8, 0.1, "roots"),
            (0.6, 0.3, 0.7, "memory"),
            (0.04, 0.01, 0.4, "latency"),
            (0.0, 0.0, 0.0, "latency"),
        ] {
            let busy = Busy { arithmetic: Some(arithmetic), roots: Some(roots), memory: Some(memory) };
            assert_eq!(busy.bound(), bound);
        }
        assert_eq!(Busy { arithmetic: Some(0.6), roots: None, memory: None }.bound(), "arithmetic");
    }
}
