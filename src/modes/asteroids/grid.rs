//! The cell list of the variants that have one: scratch memory, and the kernels that fill it.

use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Program};
use crate::error::Result;

/// `SCAN_GROUP` of `kernels/asteroids/grid.cl`, and counts to one of its items.
const SCAN_GROUP: usize = 256;
const SCAN_BLOCK: usize = 4 * SCAN_GROUP;
/// How much wider than the largest body a cell is, so that rounding cannot put bodies that touch farther than one
/// cell apart.
const SLACK: f32 = 1.01;

/// A cell list for some number of bodies.
pub(super) struct Grid {
    kernels: [Kernel; 7],
    buckets: usize,
    /// What a step along y and along z adds to the bucket.
    strides: [u32; 2],
    count: Buffer<u32>,
    /// Where each bucket begins, and behind the last one where it ends.
    start: Buffer<u32>,
    block: Buffer<u32>,
    place: Buffer<[u32; 2]>,
    queue: Buffer<u32>,
    number: Buffer<u32>,
    x: Buffer<[f32; 4]>,
    v: Buffer<[f32; 4]>,
}

impl Grid {
    pub fn new(device: &Device, program: &Program, bodies: usize) -> Result<Self> {
        let buckets = bodies.next_power_of_two().max(SCAN_BLOCK);
        // One block more: what stands behind the last bucket is its end.
        let counts = buckets + SCAN_BLOCK;
        let names =
            ["clear", "count_cells", "scan_blocks", "scan_sums", "scan_add", "queue_up", "sort_bodies"];
        let [a, b, c, d, e, f, g] = names.map(|name| program.kernel(name));
        Ok(Self {
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
        })
    }

    /// Queues the sorting of `n` bodies, of which the largest has a radius of `radius`.
    pub fn fill(
        &self,
        lane: &mut Lane,
        n: usize,
        radius: f32,
        x: &Buffer<[f32; 4]>,
        v: &Buffer<[f32; 4]>,
    ) -> Result<()> {
        let [clear, count_cells, scan_blocks, scan_sums, scan_add, queue_up, sort_bodies] = &self.kernels;
        let Self { count, start, block, place, queue, number, .. } = self;
        let bodies = Arg::Uint(n as u32);
        let [per_cell, p, q, buckets] = self.hash(radius);
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

    /// The places and velocities by cell.
    pub fn sorted(&self) -> [Arg<'_>; 2] {
        [(&self.x).into(), (&self.v).into()]
    }

    /// What `advance` takes after the arguments of all variants.
    pub fn args(&self, radius: f32) -> Vec<Arg<'_>> {
        let lists = [(&self.start).into(), (&self.number).into()];
        [&self.hash(radius)[..], &lists].concat()
    }

    /// How places become buckets: cells to a unit of length, both strides, and the number of buckets.
    fn hash(&self, radius: f32) -> [Arg<'_>; 4] {
        let [p, q] = self.strides;
        let per_cell = 1.0 / (2.0 * radius * SLACK).max(f32::MIN_POSITIVE);
        [Arg::Float(per_cell), Arg::Uint(p), Arg::Uint(q), Arg::Uint(self.buckets as u32)]
    }
}

/// Strides that send the 27 cells around any cell to 27 different buckets, of which there are `buckets`, a power of
/// two from 1024.
fn strides(buckets: u32) -> [u32; 2] {
    let differ = |[p, q]: [u32; 2]| {
        let bucket =
            |x: u32, y: u32, z: u32| x.wrapping_add(p.wrapping_mul(y)).wrapping_add(q.wrapping_mul(z));
        let cells = (0..27).map(|c| bucket(c % 3, c / 3 % 3, c / 9) % buckets);
        cells.collect::<std::collections::BTreeSet<_>>().len() == 27
    };
    // Golden ratios of the table, as multiplicative hashing has them (Knuth, The Art of Computer Programming 3, 6.4);
    // the search hardly ever goes past the first.
    let golden = |k: f64| (f64::from(buckets) * (k * 0.618_033_988_749_895).fract()) as u32 | 1;
    let tries = (1..).map(|k| [golden(f64::from(k)), golden(f64::from(7 * k + 1))]);
    tries.take(1000).find(|pair| differ(*pair)).unwrap_or([3, 9])
}

#[cfg(test)]
mod tests {
    #[test]
    fn neighbours_go_to_different_buckets() {
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
