//! Kernels of the `tree` variant on CPUs: each work-item processes many bodies, in vectors of 16.

use std::ops::Range;

use glam::Vec3;

use super::host::{Cell, HostBodies, HostCells, Set, Target};
use super::kernels::{Source, TreeKernels};
use crate::base::error::{Error, Result};
use crate::compute::{Arg, Buffer, Kernel, Lane, Pass, Program};
use crate::modes::gravity::solver::Setup;
use crate::modes::{Recipe, source};

pub(super) const SOURCE: Source = Source {
    files: &[
        source!("gravity/tree/step.cl"),
        source!("gravity/tree/grid.cl"),
        source!("gravity/tree/lanes.cl"),
        source!("gravity/tree/order.cl"),
        source!("gravity/tree/cells.cl"),
    ],
    has_variant_file: true,
    constants: &[("LANES", 16)],
};

/// Number of bits per digit in the radix sort of keys; must match `kernels/gravity/tree/order.cl`.
const DIGIT_BITS: u32 = 10;
/// Maximum number of cells in the top part of the tree; must match `kernels/gravity/tree/cells.cl`.
const TOP_CELLS: usize = 4096;
/// Maximum number of cells in the tree. It is limited because `kernels/gravity/tree/cells.cl` stores cell numbers in 25
/// bits.
const MOST_CELLS: usize = 1 << 25;
/// Number of values that describe a tree cell; must match `kernels/gravity/tree/cells.cl`.
const CELL_COLUMNS: usize = 11;
/// Flag in a cell's link that marks a cell with children; must match `kernels/gravity/tree/cells.cl`.
const INNER: u32 = 1 << 31;
/// Number of array elements that vector loads may read beyond the end of a list.
const PAD: usize = 64;
/// Error limit for a cell that acts on a group's local expansion, divided by the limit for a cell that acts on bodies.
const EXPANSION_SHARE: f32 = 0.02;

/// Returns the number of tree cells to allocate for `bodies` bodies, including padding.
fn room(bodies: usize) -> usize {
    TOP_CELLS + 2 * bodies + PAD
}

/// Kernels that build the tree, in the order in which they run.
struct Build {
    bounds: Kernel,
    make_keys: Kernel,
    count_digits: Kernel,
    scatter: Kernel,
    share_levels: Kernel,
    gather: Kernel,
    plant: Kernel,
    grow: Kernel,
    crown: Kernel,
}

/// Kernels and buffers of the tree on a CPU.
pub(super) struct CpuKernels {
    build: Build,
    bodies: usize,
    /// Number of neighbouring bodies in a group. A tree walk has two parts: the first part is for a whole set of
    /// groups, and the second part is for each group of the set.
    group: usize,
    /// Number of neighbouring bodies in a set, which consists of whole groups.
    set: usize,
    /// Number of tasks (work-items) into which kernels divide the bodies.
    tasks: usize,
    corners: Buffer<[f32; 4]>,
    /// Sort keys of the bodies, and a second buffer of the same size for sorting.
    keys: [Buffer<u64>; 2],
    counts: Buffer<u32>,
    /// For each body in the sorted order, the number of tree levels that the body shares with the previous body.
    shared: Buffer<u8>,
    /// Positions, masses and acceleration magnitudes of the bodies, sorted by key, one column per quantity.
    columns: Buffer<f32>,
    ids: Buffer<u32>,
    links: Buffer<u32>,
    ranges: Buffer<[u32; 2]>,
    cells: Buffer<f32>,
    /// Number of cells in the top part of the tree, and number of subtrees below it.
    sizes: Buffer<u32>,
    subtrees: Buffer<[u32; 4]>,
}

impl CpuKernels {
    pub(super) fn new(setup: &Setup, recipe: Recipe, program: &Program) -> Result<Self> {
        let (device, n) = (setup.device, setup.bodies.len());
        let kernel = |name| program.kernel(name);
        let build = Build {
            bounds: kernel("bounds")?,
            make_keys: kernel("make_keys")?,
            count_digits: kernel("count_digits")?,
            scatter: kernel("scatter")?,
            share_levels: kernel("share_levels")?,
            gather: kernel("gather")?,
            plant: kernel("plant")?,
            grow: kernel("grow")?,
            crown: kernel("crown")?,
        };
        let cells = room(n);
        if cells > MOST_CELLS {
            let most = (MOST_CELLS - TOP_CELLS - PAD) / 2;
            return Err(Error::Invalid(format!("the variant `tree` accepts at most {most} bodies on a CPU")));
        }
        let tasks = (2 * device.info.compute_units as usize).clamp(1, 16);
        Ok(Self {
            build,
            bodies: n,
            group: recipe.knob("group") as usize,
            set: recipe.knob("set").max(recipe.knob("group")) as usize,
            tasks,
            corners: Buffer::new(device, 2 * tasks)?,
            keys: [Buffer::new(device, n)?, Buffer::new(device, n)?],
            counts: Buffer::new(device, tasks << DIGIT_BITS)?,
            shared: Buffer::zeroed(device, n + PAD)?,
            columns: Buffer::new(device, 5 * (n + PAD))?,
            ids: Buffer::new(device, n)?,
            links: Buffer::zeroed(device, cells)?,
            ranges: Buffer::new(device, cells)?,
            cells: Buffer::zeroed(device, CELL_COLUMNS * cells)?,
            sizes: Buffer::new(device, 2)?,
            subtrees: Buffer::new(device, TOP_CELLS)?,
        })
    }
}

impl TreeKernels for CpuKernels {
    fn build(&self, lane: &mut Lane, x: Arg, last: Arg, _costs: Option<Arg>) -> Result<()> {
        let Build { bounds, make_keys, count_digits, scatter, share_levels, gather, plant, grow, crown } =
            &self.build;
        let (n, stride) = (Arg::Uint(self.bodies as u32), Arg::Uint((self.bodies + PAD) as u32));
        let cell_stride = Arg::Uint(room(self.bodies) as u32);
        let (corners, counts, shared) =
            (Arg::from(&self.corners), Arg::from(&self.counts), Arg::from(&self.shared));
        let [keys, other] = [&self.keys[0], &self.keys[1]].map(Arg::from);
        let (columns, links, ranges) =
            (Arg::from(&self.columns), Arg::from(&self.links), Arg::from(&self.ranges));
        let [sizes, subtrees, cells] =
            [Arg::from(&self.sizes), Arg::from(&self.subtrees), Arg::from(&self.cells)];
        let mut queue =
            |kernel, args: &[Arg], items| lane.whole(Pass { kernel, args, items, group: 1, cost: 0.0 });
        queue(bounds, &[n, x, corners], self.tasks)?;
        queue(make_keys, &[n, x, corners, Arg::Uint(self.tasks as u32), keys], self.tasks)?;
        let (mut from, mut to) = (keys, other);
        for bit in [0, DIGIT_BITS, 2 * DIGIT_BITS].map(|bit| Arg::Uint(32 + bit)) {
            queue(count_digits, &[n, bit, from, counts], self.tasks)?;
            queue(scatter, &[n, bit, counts, from, to], self.tasks)?;
            (from, to) = (to, from);
        }
        queue(share_levels, &[n, x, from, to, shared], self.tasks)?;
        queue(gather, &[n, stride, from, x, last, columns, (&self.ids).into()], self.tasks)?;
        queue(plant, &[n, shared, links, ranges, sizes, subtrees], 1)?;
        let args = [sizes, subtrees, shared, columns, stride, links, ranges, cells, cell_stride];
        queue(grow, &args, self.tasks * 16)?;
        queue(crown, &[sizes, columns, stride, links, ranges, cells, cell_stride], 1)
    }

    fn walk_args(&self, places: &Range<usize>, opening: f32, eps2: Arg<'static>) -> Vec<Arg<'_>> {
        vec![
            Arg::Uint(self.bodies as u32),
            Arg::Uint(places.start as u32),
            Arg::Uint(places.end as u32),
            Arg::Uint((self.bodies + PAD) as u32),
            Arg::Uint(room(self.bodies) as u32),
            Arg::Float(opening),
            Arg::Float(self.far_share()),
            eps2,
            (&self.columns).into(),
            (&self.ids).into(),
            (&self.cells).into(),
            (&self.links).into(),
        ]
    }

    fn set(&self) -> usize {
        self.set
    }

    fn groups_per_set(&self) -> usize {
        1
    }

    fn work_group(&self) -> usize {
        1
    }

    fn far_share(&self) -> f32 {
        EXPANSION_SHARE
    }

    fn read_cells(&self, _depth: Option<u32>) -> Result<HostCells> {
        let stride = room(self.bodies);
        let (links, ranges, values) = (self.links.read()?, self.ranges.read()?, self.cells.read()?);
        let columns = self.columns.read_range(0, 3 * (self.bodies + PAD))?;
        let bodies = self.bodies;
        let cell = move |id: u32| {
            let link = links[id as usize];
            let [x, y, z, mass, radius, xx, xy, xz, yy, yz, trace]: [f32; CELL_COLUMNS] =
                std::array::from_fn(|column| values[column * stride + id as usize]);
            Cell {
                parts: (link >> 6 & 0x1ff_ffff, link & 63),
                is_inner: link & INNER != 0,
                centre: Vec3::new(x, y, z),
                mass,
                radius,
                quadrupole: [xx, xy, xz, yy, yz],
                trace,
            }
        };
        let corners = move |id: u32| {
            let [begin, end] = ranges[id as usize].map(|i| i as usize);
            let column = |k: usize| &columns[k * (bodies + PAD)..][begin..end];
            let bound = |start: f32, other: fn(f32, f32) -> f32| {
                std::array::from_fn(|k| column(k).iter().copied().fold(start, other))
            };
            [bound(f32::INFINITY, f32::min), bound(f32::NEG_INFINITY, f32::max)]
        };
        Ok(HostCells { depth: u32::MAX, cell: Box::new(cell), corners: Box::new(corners) })
    }

    fn order(&self) -> &Buffer<u32> {
        &self.ids
    }

    fn read_bodies(&self) -> Result<HostBodies> {
        let (n, stride) = (self.bodies, self.bodies + PAD);
        let columns = self.columns.read()?;
        let positions = (0..n).map(|i| std::array::from_fn(|k| columns[k * stride + i])).collect();
        Ok(HostBodies { positions, last: columns[4 * stride..][..n].to_vec(), ids: self.ids.read()? })
    }

    fn targets(&self, bodies: &HostBodies, place: usize, opening: f32) -> Result<(Option<Set>, Target)> {
        let target = |size: usize| {
            let first = place / size * size;
            Target::new(bodies, first..self.bodies.min(first + size), size, opening)
        };
        Ok((Some(Set { bounds: target(self.set), most_left: usize::MAX }), target(self.group)))
    }
}
