//! Random numbers that stay the same for ever, on every platform.
//!
//! Only the raw words of the ChaCha8 stream are drawn, and everything made of them uses `+ − × ÷ √` alone,
//! which IEEE 754 rounds in one way only. Neither a new version of `rand`'s distributions nor another
//! platform's `sin` or `ln` can move a body: directions come from rejection, not from angles, and powers
//! from order statistics, not from `powf`.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

/// A stream of random numbers.
#[derive(Debug, Clone)]
pub struct Random(ChaCha8Rng);

impl Random {
    /// The stream of `seed`. The key of ChaCha is the seed's eight bytes, lowest first, then zeros.
    pub fn new(seed: u64) -> Self {
        let mut key = [0; 32];
        key[..8].copy_from_slice(&seed.to_le_bytes());
        Self(ChaCha8Rng::from_seed(key))
    }

    /// Uniform in (0, 1), never 0 or 1: the middle of one of 2⁵² equal cells.
    pub fn unit(&mut self) -> f64 {
        const CELLS: f64 = (1u64 << 52) as f64;
        ((self.0.next_u64() >> 12) as f64 + 0.5) / CELLS
    }

    /// Uniform in (−1, 1).
    pub fn signed(&mut self) -> f64 {
        2.0 * self.unit() - 1.0
    }

    /// The cube root of a uniform number: the largest of three has that distribution.
    pub fn cube_root(&mut self) -> f64 {
        self.unit().max(self.unit()).max(self.unit())
    }

    /// Bell-shaped, mean 0, variance 1, within ±√12: four uniform numbers added. As good as a normal
    /// deviate for a small velocity dispersion, without far outliers.
    pub fn bell(&mut self) -> f64 {
        3f64.sqrt() * (self.signed() + self.signed() + self.signed() + self.signed()) / 2.0
    }

    /// Uniform in the unit ball of `D` dimensions, without its centre.
    pub fn ball<const D: usize>(&mut self) -> [f64; D] {
        loop {
            let point = std::array::from_fn(|_| self.signed());
            // The lower bound keeps `direction` well away from rounding.
            if (1e-6..1.0).contains(&norm2(&point)) {
                return point;
            }
        }
    }

    /// A unit vector, every direction alike.
    pub fn direction<const D: usize>(&mut self) -> [f64; D] {
        let point = self.ball();
        let length = norm2(&point).sqrt();
        point.map(|c| c / length)
    }
}

fn norm2(v: &[f64]) -> f64 {
    v.iter().map(|c| c * c).sum()
}
