//! The Barnes–Hut tree on GPUs: each warp of 32 work-items walks the tree for a group of neighbouring bodies.

use std::ops::Range;

use glam::Vec3;

use super::host::{Cell, HostBodies, HostCells, Set, Target};
use super::kernels::{Source, TreeKernels};
use crate::base::cells::MOST_BOXES;
use crate::base::error::Result;
use crate::compute::{Arg, Buffer, DeviceInfo, Kernel, Lane, Pass, Program};
use crate::modes::gravity::solver::Setup;
use crate::modes::{Recipe, source};

pub(super) const SOURCE: Source = Source {
    files: &[
        source!("gravity/tree/step.cl"),
        source!("gravity/tree/grid.cl"),
        source!("gravity/tree/gpu/warp.cl"),
        source!("gravity/tree/gpu/order.cl"),
        source!("gravity/tree/gpu/cells.cl"),
        source!("gravity/tree/gpu/walk.cl"),
        source!("gravity/tree/gpu/sets.cl"),
    ],
    has_variant_file: false,
    constants: &[("LEVELS", LEVELS), ("OPEN_ENDED", OPEN_ENDED)],
};

const LEVELS: usize = 13;
/// Maximum number of bodies for which the most expensive tree walks start first. With more bodies, each compute unit
/// has so many walks that their order hardly matters, and neighbouring walks that run together share more cached data.
const MOST_RANKED: usize = 500_000;
/// Number of ranks into which bodies are sorted by the cost of their last walk; must match
/// `kernels/gravity/tree/gpu/cells.cl`.
const RANKS: usize = 8;
/// Number of rows of the counts of a block of bodies: the cells of each level, and the groups of each rank.
const COUNTED_ROWS: usize = LEVELS + 1 + RANKS;
// Each launch of the kernel `lift` processes two levels, from the deepest up, so `LEVELS` must be odd for the last
// launch to include the root.
const _: () = assert!(LEVELS % 2 == 1);
/// Number of work-items in a warp.
pub(in crate::modes::gravity) const WARP: usize = 32;
/// Number of work-groups of the kernel that measures the extent of the bodies.
const EXTENT_GROUPS: usize = 264;
/// Number of values that a work-group computes to measure the extent of the bodies; must match
/// `kernels/gravity/tree/gpu/order.cl`.
const EXTENT_ROWS: usize = 12;
/// Limit for half the width of the box around the bodies, divided by the typical distance between two bodies. Above
/// this limit, the grid of the sort keys is open-ended: its outer cells grow with the distance.
const OPEN_ENDED: usize = 16;
/// Number of bits in a digit of a sort key; must match `kernels/gravity/tree/gpu/order.cl`.
const DIGIT_BITS: usize = 8;
/// Number of values of a digit.
const DIGITS: usize = 1 << DIGIT_BITS;
/// Number of digits of a sort key.
const MOVES: usize = (3 * LEVELS).div_ceil(DIGIT_BITS);
/// Number of keys that a work-group sorts at a time; must match `kernels/gravity/tree/gpu/order.cl`.
const TILE: usize = 4096;
/// Number of bodies in a block, which one work-group processes; also the work-group size of most tree-building kernels.
const BLOCK: usize = 256;
/// Number of rows of four numbers that describe a cell; must match `kernels/gravity/tree/gpu/cells.cl`.
const ROWS: usize = 3;
/// Number of values that describe the field of the cells that act on a set; must match
/// `kernels/gravity/tree/gpu/walk.cl`.
const FIELD: usize = 36;
/// Capacity of the list of cells that the walk for a set leaves to its groups; must match
/// `kernels/gravity/tree/gpu/walk.cl`.
const MOST_LEFT: usize = 512;
/// Flag in a cell's description that marks a cell with children; must match `kernels/gravity/tree/gpu/cells.cl`.
const INNER: u32 = 1 << 31;
/// Error limit for a cell that acts on a group's local expansion, divided by the limit for a cell that acts on bodies.
const EXPANSION_SHARE: f32 = 0.03;

/// Returns the number of work-items in a work-group that sorts keys. Some devices allow only 256.
pub(super) fn sorters(device: &DeviceInfo) -> usize {
    if device.max_work_group < 512 { 256 } else { 512 }
}

/// Returns the number of cells to allocate for a tree of `bodies` bodies.
fn room(bodies: usize) -> usize {
    2 * bodies + 1
}

/// Kernels that build the tree, in the order in which they run.
struct Build {
    measure_extent: Kernel,
    make_keys: Kernel,
    scatter: Kernel,
    mark: Kernel,
    scan_rows: Kernel,
    emit: Kernel,
    make_cells: Kernel,
    lift: Kernel,
}

/// Kernels and buffers of the Barnes–Hut tree on a GPU.
pub(super) struct GpuKernels {
    build: Build,
    bodies: usize,
    compute_units: usize,
    sorters: usize,
    /// Number of neighbouring bodies that share one walk of the tree.
    group: usize,
    /// Number of neighbouring bodies whose walks begin together; 0 if each group begins at the root.
    set: usize,
    extent: Buffer<f32>,
    keys: [Buffer<u64>; 2],
    ids: [Buffer<u32>; 2],
    /// For each move of the sort: the number of keys with each digit, and the number of work-groups that have begun.
    digit_totals: Buffer<u32>,
    /// For each move of the sort, each tile and each digit: a flag and a number of keys (see `COUNTED` in `order.cl`).
    states: Buffer<u32>,
    counts: Buffer<u32>,
    totals: Buffer<u32>,
    sorted: Buffer<[f32; 4]>,
    least: Buffer<f32>,
    ranks: Buffer<u8>,
    from: Buffer<u8>,
    to: Buffer<u8>,
    levels: Buffer<u32>,
    first_body: Buffer<u32>,
    first_child: Buffer<u32>,
    cells: Buffer<[f32; 4]>,
    traces: Buffer<f32>,
    boxes: Buffer<[f32; 4]>,
    groups: Buffer<[u32; 2]>,
    fields: Buffer<f32>,
    left_cells: Buffer<u32>,
    set_counts: Buffer<[u32; 4]>,
}

impl GpuKernels {
    pub(super) fn new(setup: &Setup, recipe: Recipe, program: &Program) -> Result<Self> {
        let (device, n) = (setup.device, setup.bodies.len());
        let kernel = |name| program.kernel(name);
        let build = Build {
            measure_extent: kernel("measure_extent")?,
            make_keys: kernel("make_keys")?,
            scatter: kernel("scatter")?,
            mark: kernel("mark")?,
            scan_rows: kernel("scan_rows")?,
            emit: kernel("emit")?,
            make_cells: kernel("make_cells")?,
            lift: kernel("lift")?,
        };
        // With small leaves, a tree can have more cells than bodies.
        let room = room(n);
        let set = recipe.knob("set") as usize;
        let sets = if set > 0 { n.div_ceil(set) } else { 0 };
        Ok(Self {
            build,
            bodies: n,
            compute_units: device.info.compute_units as usize,
            sorters: sorters(&device.info),
            group: recipe.knob("group") as usize,
            set,
            extent: Buffer::new(device, EXTENT_ROWS * EXTENT_GROUPS)?,
            keys: [Buffer::new(device, n)?, Buffer::new(device, n)?],
            ids: [Buffer::new(device, n)?, Buffer::new(device, n)?],
            digit_totals: Buffer::new(device, MOVES * (DIGITS + 1))?,
            states: Buffer::new(device, MOVES * n.div_ceil(TILE) * DIGITS)?,
            counts: Buffer::new(device, n.div_ceil(BLOCK) * COUNTED_ROWS)?,
            totals: Buffer::new(device, COUNTED_ROWS)?,
            sorted: Buffer::new(device, n)?,
            least: Buffer::new(device, n)?,
            ranks: Buffer::new(device, n)?,
            from: Buffer::new(device, n)?,
            to: Buffer::new(device, n)?,
            levels: Buffer::new(device, WARP)?,
            first_body: Buffer::new(device, room)?,
            first_child: Buffer::new(device, room)?,
            cells: Buffer::new(device, ROWS * room)?,
            traces: Buffer::new(device, room)?,
            boxes: Buffer::new(device, 2 * room)?,
            groups: Buffer::new(device, n)?,
            fields: Buffer::new(device, FIELD * sets)?,
            left_cells: Buffer::new(device, MOST_LEFT * sets)?,
            set_counts: Buffer::new(device, sets)?,
        })
    }
}

impl TreeKernels for GpuKernels {
    fn build(&self, lane: &mut Lane, x: Arg, last: Arg, costs: Option<Arg>) -> Result<()> {
        let build = &self.build;
        let uint = |count: usize| Arg::Uint(count as u32);
        let (n, tiles, blocks) = (self.bodies, self.bodies.div_ceil(TILE), self.bodies.div_ceil(BLOCK));
        let room = uint(room(n));
        let (extent, counts, totals) =
            (Arg::from(&self.extent), Arg::from(&self.counts), Arg::from(&self.totals));
        let (sorted, levels, from, to) =
            (Arg::from(&self.sorted), Arg::from(&self.levels), Arg::from(&self.from), Arg::from(&self.to));
        let [first_body, first_child] = [&self.first_body, &self.first_child].map(Arg::from);
        let (cells, traces, boxes) =
            (Arg::from(&self.cells), Arg::from(&self.traces), Arg::from(&self.boxes));
        let mut queue = |kernel, args: &[Arg], items: usize, group: usize| {
            lane.whole(Pass { kernel, args, items: items.next_multiple_of(group), group, cost: 0.0 })
        };
        let [mut keys, mut other] = [Arg::from(&self.keys[0]), Arg::from(&self.keys[1])];
        let [mut ids, mut other_ids] = [Arg::from(&self.ids[0]), Arg::from(&self.ids[1])];
        let (digit_totals, states) = (Arg::from(&self.digit_totals), Arg::from(&self.states));
        queue(&build.measure_extent, &[uint(n), x, extent, digit_totals], BLOCK * EXTENT_GROUPS, BLOCK)?;
        // Each work-item takes several bodies, because each work-group must first combine all measured extents.
        let items = n.div_ceil(4).max(n.min(BLOCK * 4 * self.compute_units));
        let args = [uint(n), x, extent, uint(EXTENT_GROUPS), keys, ids, digit_totals, states];
        queue(&build.make_keys, &args, items, BLOCK)?;
        for nth in 0..MOVES {
            let args = [uint(n), uint(nth), uint(tiles), digit_totals, states, keys, ids, other, other_ids];
            queue(&build.scatter, &args, tiles * self.sorters, self.sorters)?;
            (keys, other, ids, other_ids) = (other, keys, other_ids, ids);
        }
        let ranks = Arg::from(&self.ranks);
        let costs = costs.filter(|_| n <= MOST_RANKED);
        let has_costs = uint(costs.is_some().into());
        // Without costs, the kernel does not read this argument, so any buffer serves.
        let sums = costs.unwrap_or(sorted);
        let args = [
            &[uint(n), uint(blocks), has_costs, keys, ids, x, last, sums],
            &[sorted, (&self.least).into(), ranks, from, to, counts][..],
        ]
        .concat();
        queue(&build.mark, &args, n, BLOCK)?;
        queue(&build.scan_rows, &[uint(blocks), counts, totals], BLOCK * COUNTED_ROWS, BLOCK)?;
        let groups = Arg::from(&self.groups);
        let cells_of_levels = [levels, first_body, first_child, groups];
        let args = [
            &[uint(n), uint(blocks), has_costs, room, ranks, from, to, counts, totals],
            &cells_of_levels[..],
        ]
        .concat();
        queue(&build.emit, &args, n, BLOCK)?;
        let wide = n.clamp(BLOCK, 32 * BLOCK * self.compute_units);
        let args = [uint(n), room, keys, sorted, levels, first_body, first_child, cells, traces, boxes];
        queue(&build.make_cells, &args, wide, BLOCK)?;
        // Each launch computes the inner cells of a level and of the level below. The cells of the deepest level are
        // leaves.
        for level in (0..LEVELS).rev().step_by(2) {
            let most = 8usize.saturating_pow(level as u32).clamp(1, 32 * self.compute_units);
            queue(&build.lift, &[uint(level), room, levels, cells, traces, boxes], 64 * most, 64)?;
        }
        Ok(())
    }

    fn walk_args(&self, places: &Range<usize>, opening: f32, eps2: Arg<'static>) -> Vec<Arg<'_>> {
        vec![
            Arg::Uint((self.bodies.div_ceil(self.set()) * self.groups_per_set()) as u32),
            Arg::Uint(places.start as u32),
            Arg::Uint(places.end as u32),
            Arg::Float(opening),
            Arg::Float(self.far_share()),
            eps2,
            (&self.sorted).into(),
            (&self.least).into(),
            self.order().into(),
            (&self.cells).into(),
            (&self.traces).into(),
            (&self.groups).into(),
            (&self.levels).into(),
            (&self.fields).into(),
            (&self.left_cells).into(),
            (&self.set_counts).into(),
        ]
    }

    fn has_set_walk(&self) -> bool {
        self.set > 0
    }

    fn set_walk_args(&self, places: &Range<usize>, opening: f32, eps2: Arg<'static>) -> Vec<Arg<'_>> {
        vec![
            Arg::Uint(self.bodies as u32),
            Arg::Uint(places.start as u32),
            Arg::Uint(places.end as u32),
            Arg::Float(opening),
            Arg::Float(self.far_share()),
            eps2,
            (&self.sorted).into(),
            (&self.least).into(),
            (&self.cells).into(),
            (&self.traces).into(),
            (&self.fields).into(),
            (&self.left_cells).into(),
            (&self.set_counts).into(),
        ]
    }

    fn set(&self) -> usize {
        self.set.max(self.group)
    }

    fn groups_per_set(&self) -> usize {
        2 * self.set() / self.group
    }

    fn work_group(&self) -> usize {
        WARP
    }

    fn far_share(&self) -> f32 {
        EXPANSION_SHARE
    }

    fn read_cells(&self, depth: Option<u32>) -> Result<HostCells> {
        // First cell id of each level, followed by the total number of cells.
        let starts: Vec<usize> = self.levels.read()?[..LEVELS + 2].iter().map(|id| *id as usize).collect();
        let is_drawn = |level: &usize| starts[level + 1] - starts[*level] <= MOST_BOXES;
        let wanted = depth.map_or(LEVELS, |depth| LEVELS.min(depth as usize));
        let deepest = match depth {
            Some(_) => (0..=wanted).take_while(is_drawn).last().unwrap_or(0),
            None => LEVELS,
        };
        let count = starts[deepest + 1].min(room(self.bodies));
        let rows = self.cells.read_range(0, ROWS * count)?;
        let (traces, boxes) = (self.traces.read_range(0, count)?, self.boxes.read_range(0, 2 * count)?);
        let cell = move |id: u32| {
            let [[x, y, z, mass], [yz, radius, first, count], [xx, xy, xz, yy]] =
                std::array::from_fn(|row| rows[ROWS * id as usize + row]);
            Cell {
                parts: (first.to_bits(), count.to_bits() & !INNER),
                is_inner: count.to_bits() & INNER != 0,
                centre: Vec3::new(x, y, z),
                mass,
                radius,
                quadrupole: [xx, xy, xz, yy, yz],
                trace: traces[id as usize],
            }
        };
        let corners = move |id: u32| {
            [0, 1].map(|side| {
                let [x, y, z, _] = boxes[2 * id as usize + side];
                [x, y, z]
            })
        };
        Ok(HostCells { depth: deepest as u32, cell: Box::new(cell), corners: Box::new(corners) })
    }

    fn order(&self) -> &Buffer<u32> {
        &self.ids[MOVES % 2]
    }

    fn read_bodies(&self) -> Result<HostBodies> {
        Ok(HostBodies { positions: self.sorted.read()?, last: self.least.read()?, ids: self.order().read()? })
    }

    fn targets(&self, bodies: &HostBodies, place: usize, opening: f32) -> Result<(Option<Set>, Target)> {
        let count = self.levels.read_at(LEVELS + 2)? as usize;
        let ranges = self.groups.read_range(0, count)?;
        let mut ranges = ranges.iter().map(|[first, size]| *first as usize..(first + size) as usize);
        let own = ranges.find(|range| range.contains(&place)).unwrap_or(place..place + 1);
        let set = (self.set > 0).then(|| {
            let first = place / self.set * self.set;
            let range = first..self.bodies.min(first + self.set);
            Set { bounds: Target::new(bodies, range, self.set, opening), most_left: MOST_LEFT }
        });
        Ok((set, Target::new(bodies, own, self.group.min(WARP), opening)))
    }
}
