//! Balls that do not touch, put one after the other wherever there is room: random sequential addition.

/// The least gap between two balls, over the sum of their radii: rounding to `f32` cannot close it.
pub(super) const GAP: f64 = 0.01;

/// Places that are tried for a ball. The scenes are so loose that a handful does; if all of these are taken, the
/// last one is used, and the push-out of the step has to part what overlaps.
const TRIES: usize = 10_000;

/// No ball.
const NONE: u32 = u32::MAX;

/// Balls, listed by the cell of a cubic grid that their centres are in: O(1) to add one.
pub(super) struct Packing {
    /// One side of a cell: no ball touches another that is farther than the next cell.
    side: f64,
    /// The ball that was last put in each bucket; cells share buckets by hash.
    last: Vec<u32>,
    /// Per ball the one that was put in its bucket before it.
    before: Vec<u32>,
    /// Centres and radii.
    balls: Vec<([f64; 3], f64)>,
}

impl Packing {
    /// Room for `n` balls, of which the largest has the radius `largest`.
    pub fn new(n: usize, largest: f64) -> Self {
        Self {
            side: 2.0 * largest * (1.0 + GAP),
            last: vec![NONE; n.next_power_of_two()],
            before: Vec::with_capacity(n),
            balls: Vec::with_capacity(n),
        }
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
        let bucket = self.bucket(self.cell(at));
        self.before.push(self.last[bucket]);
        self.last[bucket] = self.balls.len() as u32;
        self.balls.push((at, radius));
        at
    }

    fn is_free(&self, at: [f64; 3], radius: f64) -> bool {
        let [x, y, z] = self.cell(at);
        let mut cells = (0..27).map(|c| [x + c % 3 - 1, y + c / 3 % 3 - 1, z + c / 9 - 1]);
        cells.all(|cell| {
            let mut next = self.last[self.bucket(cell)];
            while next != NONE {
                let (other, other_radius) = self.balls[next as usize];
                let apart = (radius + other_radius) * (1.0 + GAP);
                let d2: f64 = (0..3).map(|axis| (at[axis] - other[axis]) * (at[axis] - other[axis])).sum();
                if d2 < apart * apart {
                    return false;
                }
                next = self.before[next as usize];
            }
            true
        })
    }

    fn cell(&self, at: [f64; 3]) -> [i64; 3] {
        at.map(|c| (c / self.side).floor() as i64)
    }

    /// Teschner et al. 2003, Optimized spatial hashing for collision detection of deformable objects.
    fn bucket(&self, [x, y, z]: [i64; 3]) -> usize {
        let hash = x.wrapping_mul(73_856_093) ^ y.wrapping_mul(19_349_663) ^ z.wrapping_mul(83_492_791);
        hash as usize & (self.last.len() - 1)
    }
}
