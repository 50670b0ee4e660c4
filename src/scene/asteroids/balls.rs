//! Masses and radii of asteroids, and their packing by random sequential addition: balls are placed one after another
//! where they touch no other ball.

use std::{array, iter};

use crate::scene::generator::Setup;

/// Returns the value of the mode's parameter `key`, or 0 if the parameter does not exist.
pub(super) fn param(setup: &Setup, key: &str) -> f64 {
    setup.params.float(key).unwrap_or(0.0).into()
}

/// Mass and radius of each ball, before the balls have positions. The masses add up to 1.
pub(super) struct Balls(pub Vec<(f64, f64)>);

impl Balls {
    /// Creates one ball for each entry of `masses`, with a mass proportional to the entry. All balls have the same
    /// density.
    pub(super) fn new(setup: &Setup, masses: impl Iterator<Item = f64> + Clone) -> Self {
        let radius = param(setup, "radius");
        let (total, n) = (masses.clone().sum::<f64>(), setup.bodies as f64);
        Self(masses.map(|m| (m / total, radius * cube_root(n * m / total))).collect())
    }

    /// Creates balls, heaviest first, whose masses m are distributed as dN/dm ∝ m⁻². `spread` is the ratio of the
    /// largest possible mass to the smallest. Fragments of collisions have the exponent −11/6 (Dohnanyi 1969, J.
    /// Geophys. Res. 74, 2531); the exponent −2 avoids fractional powers.
    pub(super) fn spread(setup: &Setup, spread: f64) -> Self {
        let least = 1.0 / spread;
        let share = 1.0 / setup.bodies as f64;
        // Takes the middle of each of `bodies` equal shares of the distribution, so that no seed produces an outlier.
        Self::new(setup, (0..setup.bodies).map(|i| 1.0 / (least + (1.0 - least) * (i as f64 + 0.5) * share)))
    }

    pub(super) fn largest(&self) -> f64 {
        self.0.iter().fold(0.0, |most, (_, radius)| radius.max(most))
    }

    pub(super) fn packing(&self) -> Packing {
        Packing::new(self.0.len(), self.largest())
    }
}

/// Returns ∛x for positive x, computed by Newton's method. Unlike `f64::cbrt`, it rounds identically on every platform.
pub(super) fn cube_root(x: f64) -> f64 {
    // Dividing the exponent by 3 gives ∛x within a few per cent (constant of fdlibm). Iterations double the digits.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2a9f_7893_0000_0000);
    for _ in 0..5 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

/// Minimum gap between two balls, divided by the sum of their radii; larger than the rounding error of `f32`.
pub(super) const GAP: f64 = 0.01;

/// Maximum number of positions tried for a ball. The simulation separates balls that still overlap.
const TRIES: usize = 10_000;

/// Value of an index in [`Packing`] that means "no ball".
const NONE: u32 = u32::MAX;

/// Placed balls, in a hash table of cubic grid cells. Adding a ball takes constant time.
pub(super) struct Packing {
    largest: f64,
    /// Index of the last ball added to each bucket of the hash table. A hash function assigns grid cells to buckets.
    last: Vec<u32>,
    balls: Vec<Ball>,
}

struct Ball {
    at: [f64; 3],
    radius: f64,
    /// Index of the previous ball in the same bucket of the hash table.
    before: u32,
}

impl Packing {
    /// Creates an empty packing for `n` balls whose radii are at most `largest`.
    pub(super) fn new(n: usize, largest: f64) -> Self {
        Self { largest, last: vec![NONE; 4 * n.next_power_of_two()], balls: Vec::with_capacity(n) }
    }

    /// Adds a ball at the first free position that `draw` returns, or at the last of `TRIES` positions if none is free.
    /// Returns the position.
    pub(super) fn put(&mut self, radius: f64, mut draw: impl FnMut() -> [f64; 3]) -> [f64; 3] {
        let mut at = draw();
        for _ in 1..TRIES {
            if self.is_free(at, radius) {
                break;
            }
            at = draw();
        }
        let bucket = self.bucket(at.map(|c| self.cell(c)));
        self.balls.push(Ball { at, radius, before: self.last[bucket] });
        self.last[bucket] = self.balls.len() as u32 - 1;
        at
    }

    fn is_free(&self, at: [f64; 3], radius: f64) -> bool {
        // Balls with centres beyond this distance cannot touch the new ball.
        let reach = (radius + self.largest) * (1.0 + GAP);
        let [xs, ys, zs] = at.map(|c| self.cell(c - reach)..=self.cell(c + reach));
        let mut cells = zs.flat_map(|z| {
            let (xs, ys) = (xs.clone(), ys.clone());
            ys.flat_map(move |y| xs.clone().map(move |x| [x, y, z]))
        });
        cells.all(|cell| {
            let first = self.last[self.bucket(cell)];
            let mut listed = iter::successors(self.ball(first), |ball| self.ball(ball.before));
            listed.all(|ball| {
                let apart = (radius + ball.radius) * (1.0 + GAP);
                let d: [f64; 3] = array::from_fn(|axis| at[axis] - ball.at[axis]);
                d[0] * d[0] + d[1] * d[1] + d[2] * d[2] >= apart * apart
            })
        })
    }

    fn ball(&self, number: u32) -> Option<&Ball> {
        self.balls.get(number as usize)
    }

    /// Returns the index, along one axis, of the grid cell at coordinate `c`. A cell is as wide as the largest ball.
    fn cell(&self, c: f64) -> i64 {
        (c / (2.0 * self.largest)).floor() as i64
    }

    /// Returns the index of the hash table's bucket for a grid cell. Neighbours along x have adjacent buckets.
    fn bucket(&self, [x, y, z]: [i64; 3]) -> usize {
        let hash = x.wrapping_add(y.wrapping_mul(73_856_093)).wrapping_add(z.wrapping_mul(19_349_663));
        hash as usize & (self.last.len() - 1)
    }
}
