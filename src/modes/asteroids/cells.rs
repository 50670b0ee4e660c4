//! Solver of the `grid` variant: sorts bodies into cells, stores the cells in hash buckets, and tests only neighbouring
//! cells.

use std::ops::Range;

use super::solver::{Advance, ContactPass, Setup, Solver};
use crate::base::Result;
use crate::compute::{Arg, Buffer, Kernel, Lane, Pass};

/// Work-group size of the prefix sum; must match `SCAN_GROUP` in `kernels/asteroids/grid.cl`.
const SCAN_GROUP: usize = 256;
/// Number of bucket counts that one work-group of the prefix sum processes.
const SCAN_BLOCK: usize = 4 * SCAN_GROUP;
/// Width of a cell divided by the diameter of the largest body. The ratio is above 1 because rounding could otherwise
/// put touching bodies into cells that are not neighbours.
const SLACK: f32 = 1.01;

/// Approximate cost of a work-item of the collision kernels, as an equivalent number of pair tests.
const COST: f64 = 64.0;

pub(super) struct Cells {
    advance: Advance,
    kernels: [Kernel; 7],
    buckets: usize,
    /// Difference in bucket number between neighbouring cells: along y, then along z.
    strides: [u32; 2],
    count: Buffer<u32>,
    /// Index of the first body in each bucket, followed by the end of the last bucket.
    start: Buffer<u32>,
    block: Buffer<u32>,
    place: Buffer<[u32; 2]>,
    queue: Buffer<u32>,
    number: Buffer<u32>,
    x: Buffer<[f32; 4]>,
    v: Buffer<[f32; 4]>,
}

impl Cells {
    pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let Setup { device, program, bodies, .. } = *setup;
        let buckets = bodies.next_power_of_two().max(SCAN_BLOCK);
        // One block more than the buckets need, to hold the end of the last bucket.
        let counts = buckets + SCAN_BLOCK;
        let names =
            ["clear", "count_cells", "scan_blocks", "scan_sums", "scan_add", "queue_up", "sort_bodies"];
        let [a, b, c, d, e, f, g] = names.map(|name| program.kernel(name));
        Ok(Box::new(Self {
            advance: Advance::new(setup)?,
            kernels: [a?, b?, c?, d?, e?, f?, g?],
            buckets,
            strides: strides(buckets as u32),
            count: Buffer::new(device, counts)?,
            start: Buffer::new(device, counts)?,
            block: Buffer::new(device, counts / SCAN_BLOCK)?,
            place: Buffer::new(device, bodies)?,
            queue: Buffer::new(device, bodies)?,
            number: Buffer::new(device, bodies)?,
            x: Buffer::new(device, bodies)?,
            v: Buffer::new(device, bodies)?,
        }))
    }

    /// Queues the kernels that sort the bodies into cells.
    fn fill(&self, lane: &mut Lane, pass: &ContactPass) -> Result<()> {
        let ([x, v], n) = (pass.from, pass.bodies);
        let [clear, count_cells, scan_blocks, scan_sums, scan_add, queue_up, sort_bodies] = &self.kernels;
        let Self { count, start, block, place, queue, number, .. } = self;
        let bodies = pass.count();
        let [per_cell, p, q, buckets] = self.hash(pass.largest);
        let counts = self.buckets + SCAN_BLOCK;
        let blocks = counts / SCAN_BLOCK;

        lane.whole(Pass::cheap(clear, &[Arg::Uint(counts as u32), count.into()], counts))?;
        let args = [bodies, per_cell, p, q, buckets, x.into(), count.into(), place.into()];
        lane.whole(Pass::cheap(count_cells, &args, n))?;
        let group = SCAN_GROUP;
        let args = [count.into(), start.into(), block.into()];
        lane.whole(Pass { group, ..Pass::cheap(scan_blocks, &args, blocks * group) })?;
        lane.whole(Pass {
            group,
            ..Pass::cheap(scan_sums, &[Arg::Uint(blocks as u32), block.into()], group)
        })?;
        lane.whole(Pass { group, ..Pass::cheap(scan_add, &[start.into(), block.into()], blocks * group) })?;
        lane.whole(Pass::cheap(queue_up, &[bodies, place.into(), start.into(), queue.into()], n))?;
        let (x_sorted, v_sorted) = ((&self.x).into(), (&self.v).into());
        let (from, to) = ([bodies, x.into(), v.into(), place.into()], [x_sorted, v_sorted, number.into()]);
        let args = [&from[..], &[start.into(), queue.into()], &to].concat();
        lane.whole(Pass::cheap(sort_bodies, &args, n))
    }

    /// Returns the arguments of the kernels that find and resolve contacts between the sorted bodies.
    fn args<'a>(&'a self, pass: &ContactPass<'a>) -> Vec<Arg<'a>> {
        let sorted = [&self.x, &self.v].map(Arg::from);
        let lists = [(&self.start).into(), (&self.number).into()];
        [&pass.args(sorted)[..], &self.hash(pass.largest), &lists].concat()
    }

    /// Returns the kernel arguments that map positions to buckets: cells per unit length, two strides, bucket count.
    fn hash(&self, radius: f32) -> [Arg<'_>; 4] {
        let [p, q] = self.strides;
        let per_cell = 1.0 / (2.0 * radius * SLACK).max(f32::MIN_POSITIVE);
        [Arg::Float(per_cell), Arg::Uint(p), Arg::Uint(q), Arg::Uint(self.buckets as u32)]
    }
}

impl Solver for Cells {
    fn advance(&self) -> &Advance {
        &self.advance
    }

    fn evaluate(&mut self, lane: &mut Lane, pass: &ContactPass, range: Range<usize>) -> Result<usize> {
        if range.start == 0 {
            self.fill(lane, pass)?;
        }
        self.advance.slice(lane, &self.args(pass), COST, range)
    }

    fn second_kernel(&self) -> &'static str {
        "resolve_sorted"
    }

    fn second_args<'a>(&'a self, pass: &ContactPass<'a>) -> Vec<Arg<'a>> {
        self.args(pass)
    }
}

/// Returns bucket strides along y and z for which the 27 cells of any 3 × 3 × 3 block have different buckets. The
/// number of buckets is a power of two of at least 1024.
fn strides(buckets: u32) -> [u32; 2] {
    let differ = |[p, q]: [u32; 2]| {
        let bucket =
            |x: u32, y: u32, z: u32| x.wrapping_add(p.wrapping_mul(y)).wrapping_add(q.wrapping_mul(z));
        let cells = (0..27).map(|c| bucket(c % 3, c / 3 % 3, c / 9) % buckets);
        cells.collect::<std::collections::BTreeSet<_>>().len() == 27
    };
    // Multiples of the golden ratio (Knuth, The Art of Computer Programming 3, 6.4). The first almost always works.
    let golden = |k: f64| (f64::from(buckets) * (k * 0.618_033_988_749_895).fract()) as u32 | 1;
    let tries = (1..).map(|k| [golden(f64::from(k)), golden(f64::from(7 * k + 1))]);
    tries.take(1000).find(|pair| differ(*pair)).unwrap_or([3, 9])
}

#[cfg(test)]
mod tests {
    #[test]
    fn neighbouring_cells_hash_to_different_buckets() {
        for power in 10..=31 {
            let buckets = 1u32 << power;
            let [p, q] = super::strides(buckets);
            let mut seen = std::collections::BTreeSet::new();
            for (x, y, z) in (0..27).map(|c| (c % 3 - 1, c / 3 % 3 - 1, c / 9 - 1)) {
                let bucket = x + i64::from(p) * y + i64::from(q) * z;
                assert!(seen.insert(bucket.rem_euclid(i64::from(buckets))), "{buckets} buckets, {p}, {q}");
            }
        }
    }
}
