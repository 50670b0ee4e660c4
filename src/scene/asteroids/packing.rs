//! Balls that do not touch, put one after the other wherever there is room: random sequential addition.

use std::{array, iter};

/// The least gap between two balls, over the sum of their radii: rounding to `f32` cannot close it.
pub(super) const GAP: f64 = 0.01;

/// Places that are tried for a ball. The scenes are so loose that a handful does; if all of these are taken, the
/// last one is used, and the push-out of the step has to part what overlaps.
const TRIES: usize = 10_000;

/// No ball has this number.
const NONE: u32 = u32::MAX;

/// Balls, listed by the cell of a cubic grid that their centres are in: O(1) to add one.
pub(super) struct Packing {
    /// The radius of the largest ball.
    largest: f64,
    /// The ball that was last put in each bucket; cells share buckets by hash.
    last: Vec<u32>,
    balls: Vec<Ball>,
}

struct Ball {
    at: [f64; 3],
    radius: f64,
    /// The ball that was put in its bucket before it.
    before: u32,
}

impl Packing {
    /// Room for `n` balls, of which the largest has the radius `largest`.
    pub fn new(n: usize, largest: f64) -> Self {
        Self { largest, last: vec![NONE; 4 * n.next_power_of_two()], balls: Vec::with_capacity(n) }
    }

    /// Puts a ball at the first of the places drawn that is free, and says where that is.
    pub fn put(&mut self, radius: f64, mut draw: impl FnMut() -> [f64; 3]) -> [f64; 3] {
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
        // No centre farther away than this is too near.
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

    /// Cells are as wide as the largest ball.
    fn cell(&self, c: f64) -> i64 {
        (c / (2.0 * self.largest)).floor() as i64
    }

    /// Neighbours along x stand side by side in memory.
    fn bucket(&self, [x, y, z]: [i64; 3]) -> usize {
        let hash = x.wrapping_add(y.wrapping_mul(73_856_093)).wrapping_add(z.wrapping_mul(19_349_663));
        hash as usize & (self.last.len() - 1)
    }
}
