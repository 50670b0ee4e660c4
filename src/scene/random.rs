//! Random numbers that are the same in every version and on every platform.
//!
//! Only the raw words of the ChaCha8 stream are used, and all derived numbers use only `+ − × ÷ √`, whose rounding is
//! fixed by IEEE 754. Bodies therefore do not depend on the version of `rand` or on a platform's `sin` and `ln`:
//! directions come from rejection instead of angles, and powers from order statistics instead of `powf`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of random numbers that depends only on its seed.
#[derive(Debug, Clone)]
pub(super) struct Random(ChaCha8Rng);

impl Random {
    /// Starts the stream for `seed`. The ChaCha key is the seed in little-endian order, padded with zeros.
    pub(super) fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Returns a uniform random number in (0, 1), never 0 or 1: the middle of one of 2⁵² intervals of equal length.
    pub(super) fn unit(&mut self) -> f64 {
        const CELLS: f64 = (1u64 << 52) as f64;
        ((self.0.next_u64() >> 12) as f64 + 0.5) / CELLS
    }

    /// Returns a uniform random number in (−1, 1).
    pub(super) fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// Returns a random number distributed like the cube root of a uniform one: the largest of three uniform numbers.
    pub(super) fn cube_root(&mut self) -> f64 {
        self.unit().max(self.unit()).max(self.unit())
    }

    /// Returns a random number with a bell-shaped distribution of mean 0 and variance 1: a scaled sum of four uniform
    /// numbers. Unlike a normal deviate, the number is never outside ±√12.
    pub(super) fn bell(&mut self) -> f64 {
        3f64.sqrt() * (self.signed() + self.signed() + self.signed() + self.signed()) / 2.0
    }

    /// Returns a uniform random point in the `D`-dimensional unit ball, at least 0.001 away from the centre.
    pub(super) fn ball<const D: usize>(&mut self) -> [f64; D] {
        loop {
            let point = std::array::from_fn(|_| self.signed());
            // The lower bound keeps the division in `direction` accurate.
            if (1e-6..1.0).contains(&norm2(&point)) {
                return point;
            }
        }
    }

    /// Returns a unit vector in a uniformly distributed random direction.
    pub(super) fn direction<const D: usize>(&mut self) -> [f64; D] {
        let point = self.ball();
        let length = norm2(&point).sqrt();
        point.map(|c| c / length)
    }
}

fn norm2(v: &[f64]) -> f64 {
    v.iter().map(|c| c * c).sum()
}
