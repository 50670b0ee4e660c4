//! Random sequential addition: places balls one after another where they touch no other ball.

use std::{array, iter};

/// Minimum gap between two balls over the sum of their radii. Rounding to `f32` cannot close it.
pub(super) const GAP: f64 = 0.01;

/// Maximum number of positions tried for a ball. The scenes are so loose that a few tries suffice. If all fail, the
/// last position is used, and the step of the simulation separates the overlapping balls.
const TRIES: usize = 10_000;

/// Index that means no ball.
const NONE: u32 = u32::MAX;

/// Balls in a hash table of cubic grid cells; adding one takes O(1).
pub(super) struct Packing {
    /// Radius of the largest ball.
    largest: f64,
    /// Last ball added to each bucket. Cells share buckets by hash.
    last: Vec<u32>,
    balls: Vec<Ball>,
}

struct Ball {
    at: [f64; 3],
    radius: f64,
    /// Ball that was added to the same bucket before this one.
    before: u32,
}

impl Packing {
    /// Creates an empty packing for `n` balls of at most the radius `largest`.
    pub(super) fn new(n: usize, largest: f64) -> Self {
        Self { largest, last: vec![NONE; 4 * n.next_power_of_two()], balls: Vec::with_capacity(n) }
    }

    /// Adds a ball at the first free position that `draw` returns, and returns this position.
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
        // Balls with centres beyond this distance cannot be too near.
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

    /// Returns the index of the cell along an axis. Cells are as wide as the largest ball.
    fn cell(&self, c: f64) -> i64 {
        (c / (2.0 * self.largest)).floor() as i64
    }

    /// Returns the bucket of a cell. Neighbours along x are adjacent in memory.
    fn bucket(&self, [x, y, z]: [i64; 3]) -> usize {
        let hash = x.wrapping_add(y.wrapping_mul(73_856_093)).wrapping_add(z.wrapping_mul(19_349_663));
        hash as usize & (self.last.len() - 1)
    }
}
