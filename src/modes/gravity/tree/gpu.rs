//! The tree on GPUs: a warp of 32 work-items walks the tree for a group of neighbouring bodies.

use std::ops::Range;

use super::walk::{OPENING, Walk};
use crate::base::error::Result;
use crate::compute::{Arg, Buffer, Device, Kernel, KernelSource, Lane, Pass, Program, ROOT};
use crate::modes::carried::list;
use crate::modes::gravity::carried::LAST_SIZES;
use crate::modes::gravity::parameters::Gravity;
use crate::modes::gravity::solver::{ForcePass, Setup, Solver, softening_defines};
use crate::modes::gravity::step::step_defines;
use crate::modes::kernels::source;
use crate::modes::{Assignment, Extra, Mode, Plan, Recipe};

const PARTS: [KernelSource; 5] = [
    source!("gravity/tree/step.cl"),
    source!("gravity/tree/gpu/warp.cl"),
    source!("gravity/tree/gpu/order.cl"),
    source!("gravity/tree/gpu/cells.cl"),
    source!("gravity/tree/gpu/walk.cl"),
];

/// Number of levels of the tree.
const LEVELS: usize = 13;
/// Number of work-items in a warp.
const WARP: usize = 32;
/// Number of work-groups that compute the box around the bodies.
const BOXES: usize = 264;
/// Number of bits of a digit, and of keys in a tile, as in `kernels/gravity/tree/gpu/order.cl`.
const DIGIT_BITS: usize = 8;
const TILE: usize = 2048;
/// Number of bodies in a block.
const BLOCK: usize = 256;

struct Build {
    bounds: Kernel,
    make_keys: Kernel,
    count_digits: Kernel,
    scan_rows: Kernel,
    scatter: Kernel,
    gather: Kernel,
    mark: Kernel,
    emit: Kernel,
    make_cells: Kernel,
    lift: Kernel,
    make_groups: Kernel,
}

/// The tree of all bodies, built anew in each pass.
pub(super) struct GpuTree {
    build: Build,
    walk: Kernel,
    finish: Kernel,
    recipe: Recipe,
    bodies: usize,
    units: usize,
    /// Device and initial parameters, from which the first use of the potential builds its kernel.
    device: Device,
    params: Gravity,
    potential: Option<Kernel>,
    /// Whether `last` holds the magnitudes of earlier accelerations.
    is_known: bool,
    corners: Buffer<f32>,
    keys: [Buffer<u64>; 2],
    ids: [Buffer<u32>; 2],
    counts: Buffer<u32>,
    totals: Buffer<u32>,
    sorted: Buffer<[f32; 4]>,
    least: Buffer<f32>,
    from: Buffer<u8>,
    to: Buffer<u8>,
    levels: Buffer<u32>,
    first_body: Buffer<u32>,
    first_child: Buffer<u32>,
    cells: Buffer<[f32; 4]>,
    traces: Buffer<f32>,
    boxes: Buffer<[f32; 4]>,
    groups: Buffer<[u32; 2]>,
    extra: Buffer<u32>,
    sums: Buffer<[f32; 4]>,
    /// Magnitudes of the last accelerations (without G), and a buffer for magnitudes that are not needed.
    last: Buffer<f32>,
    spare: Buffer<f32>,
    work: Buffer<[u32; 4]>,
}

impl GpuTree {
    pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let Setup { device, params, recipe, bodies, .. } = *setup;
        let n = bodies.len();
        let program = program(device, recipe, params, Walk::Forces)?;
        let kernel = |name| program.kernel(name);
        let build = Build {
            bounds: kernel("bounds")?,
            make_keys: kernel("make_keys")?,
            count_digits: kernel("count_digits")?,
            scan_rows: kernel("scan_rows")?,
            scatter: kernel("scatter")?,
            gather: kernel("gather")?,
            mark: kernel("mark")?,
            emit: kernel("emit")?,
            make_cells: kernel("make_cells")?,
            lift: kernel("lift")?,
            make_groups: kernel("make_groups")?,
        };
        let counts = (n.div_ceil(TILE) << DIGIT_BITS).max(n.div_ceil(BLOCK) * (LEVELS + 1));
        let mut tree = Self {
            build,
            walk: kernel("walk")?,
            finish: kernel("finish")?,
            recipe,
            bodies: n,
            units: device.info.compute_units as usize,
            device: device.clone(),
            params: params.clone(),
            potential: None,
            is_known: false,
            corners: Buffer::new(device, 6 * BOXES)?,
            keys: [Buffer::new(device, n)?, Buffer::new(device, n)?],
            ids: [Buffer::new(device, n)?, Buffer::new(device, n)?],
            counts: Buffer::new(device, counts)?,
            totals: Buffer::new(device, 1 << DIGIT_BITS)?,
            sorted: Buffer::new(device, n)?,
            least: Buffer::new(device, n)?,
            from: Buffer::new(device, n)?,
            to: Buffer::new(device, n)?,
            levels: Buffer::new(device, WARP)?,
            first_body: Buffer::new(device, n + 1)?,
            first_child: Buffer::new(device, n + 1)?,
            cells: Buffer::new(device, 3 * (n + 1))?,
            traces: Buffer::new(device, n + 1)?,
            boxes: Buffer::new(device, 2 * (n + 1))?,
            groups: Buffer::new(device, n)?,
            extra: Buffer::zeroed(device, 1)?,
            sums: Buffer::new(device, n)?,
            last: Buffer::zeroed(device, n)?,
            spare: Buffer::new(device, n)?,
            work: Buffer::new(device, 1)?,
        };
        tree.work = Buffer::zeroed(device, tree.chunks())?;
        Ok(Box::new(tree))
    }

    /// Returns the number of groups before groups of different levels are cut.
    fn chunks(&self) -> usize {
        self.bodies.div_ceil(self.recipe.knob("group") as usize)
    }

    /// Returns the number of work-items of a walk.
    fn items(&self) -> usize {
        self.chunks() * WARP
    }

    /// Queues the kernels that build the tree of the bodies at `x`.
    fn plant(&self, lane: &mut Lane, x: Arg) -> Result<()> {
        let build = &self.build;
        let uint = |count: usize| Arg::Uint(count as u32);
        let (n, tiles, blocks) = (self.bodies, self.bodies.div_ceil(TILE), self.bodies.div_ceil(BLOCK));
        let room = uint(n + 1);
        let (corners, counts, totals) =
            (Arg::from(&self.corners), Arg::from(&self.counts), Arg::from(&self.totals));
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
        queue(&build.bounds, &[uint(n), x, corners], BLOCK * BOXES, BLOCK)?;
        queue(&build.make_keys, &[uint(n), x, corners, uint(BOXES), keys, ids], n, BLOCK)?;
        for bit in (0..3 * LEVELS).step_by(DIGIT_BITS).map(uint) {
            queue(&build.count_digits, &[uint(n), bit, uint(tiles), keys, counts], tiles * BLOCK, BLOCK)?;
            queue(&build.scan_rows, &[uint(tiles), counts, totals], BLOCK << DIGIT_BITS, BLOCK)?;
            let args = [uint(n), bit, uint(tiles), counts, totals, keys, ids, other, other_ids];
            queue(&build.scatter, &args, tiles * BLOCK, BLOCK)?;
            (keys, other, ids, other_ids) = (other, keys, other_ids, ids);
        }
        let args = [uint(n), ids, x, (&self.last).into(), sorted, (&self.least).into()];
        queue(&build.gather, &args, n, BLOCK)?;
        queue(&build.mark, &[uint(n), uint(blocks), keys, from, to, counts], n, BLOCK)?;
        queue(&build.scan_rows, &[uint(blocks), counts, totals], BLOCK * (LEVELS + 1), BLOCK)?;
        let args = [uint(n), uint(blocks), room, from, to, counts, totals, levels, first_body, first_child];
        queue(&build.emit, &args, n, BLOCK)?;
        self.extra.clear()?;
        let chunks = self.chunks();
        let args = [uint(n), uint(chunks), to, (&self.groups).into(), (&self.extra).into()];
        queue(&build.make_groups, &args, chunks, 64)?;
        let wide = (n / 2).clamp(BLOCK, 8 * BLOCK * self.units);
        let args = [uint(n), room, keys, sorted, levels, first_body, first_child, cells, traces, boxes];
        queue(&build.make_cells, &args, wide, BLOCK)?;
        for level in (0..LEVELS).rev() {
            let most = 8usize.saturating_pow(level as u32).clamp(128, 256 * self.units);
            queue(&build.lift, &[uint(level), room, levels, cells, traces, boxes], most, 128)?;
        }
        Ok(())
    }

    /// Returns the ids of the bodies in the order of the keys.
    fn order(&self) -> &Buffer<u32> {
        &self.ids[(3 * LEVELS).div_ceil(DIGIT_BITS) % 2]
    }

    /// Queues the kernels that run before the walk and build the tree of the bodies at `x`. Walks open cells depending on
    /// the magnitudes of earlier accelerations. If `last` holds no magnitudes yet, also queues a walk that computes them.
    fn prepare(&mut self, lane: &mut Lane, x: Arg, eps2: Arg) -> Result<()> {
        self.plant(lane, x)?;
        if !self.is_known {
            let forces = (&self.walk, &[(&self.sums).into(), (&self.last).into()][..]);
            self.walk_all(lane, forces, (eps2, -1.0))?;
            self.is_known = true;
            self.plant(lane, x)?;
        }
        Ok(())
    }

    /// Queues a whole walk.
    fn walk_all(&self, lane: &mut Lane, what: (&Kernel, &[Arg]), how: (Arg, f32)) -> Result<()> {
        let mut from = 0;
        while from < self.items() {
            from = self.walk(lane, what, how, from..self.items())?;
            if lane.is_full() {
                lane.flush()?;
            }
        }
        Ok(())
    }

    /// Queues the next slice of the walk of the groups in `range`, in work-items.
    fn walk(
        &self,
        lane: &mut Lane,
        (kernel, results): (&Kernel, &[Arg]),
        (eps2, opening): (Arg, f32),
        range: Range<usize>,
    ) -> Result<usize> {
        let head = [
            Arg::Uint(self.chunks() as u32),
            Arg::Uint(self.chunks() as u32),
            Arg::Float(opening),
            Arg::Float(0.03),
            eps2,
            (&self.sorted).into(),
            (&self.least).into(),
            self.order().into(),
            (&self.cells).into(),
            (&self.traces).into(),
            (&self.groups).into(),
            (&self.extra).into(),
        ];
        let args = [&head[..], results, &[(&self.work).into()]].concat();
        // A walk takes about a thousand interactions for each body of a group.
        let cost = 1000.0 * self.bodies as f64 / self.items() as f64;
        lane.slice(Pass { kernel, args: &args, items: range.end, group: WARP, cost }, range.start)
    }
}

impl Solver for GpuTree {
    fn evaluate(&mut self, lane: &mut Lane, pass: &ForcePass, range: Range<usize>) -> Result<usize> {
        if range.start == 0 {
            self.prepare(lane, pass.state[0], pass.eps2)?;
        }
        // A pass without motion may repeat an earlier pass, so it must not change which cells the next step opens.
        let last = if pass.step.is_still() { &self.spare } else { &self.last };
        let forces = (&self.walk, &[(&self.sums).into(), last.into()][..]);
        let to = self.walk(lane, forces, (pass.eps2, OPENING), range.clone())?;
        if to >= range.end {
            let head = [Arg::Uint(self.bodies as u32), pass.coefficients(1.0), (&self.sums).into()];
            let args = [&head[..], &pass.state].concat();
            lane.whole(Pass::cheap(&self.finish, &args, self.bodies))?;
        }
        Ok(to)
    }

    fn potential(
        &mut self,
        lane: &mut Lane,
        _all_pairs: &Kernel,
        args: &[Arg],
        _bodies: usize,
    ) -> Result<()> {
        let &[_, eps2, x, phi] = args else { unreachable!("the potential has four arguments") };
        self.prepare(lane, x, eps2)?;
        let kernel = match self.potential.take() {
            Some(kernel) => kernel,
            None => program(&self.device, self.recipe, &self.params, Walk::Potential)?.kernel("walk")?,
        };
        let walked = self.walk_all(lane, (&kernel, &[phi]), (eps2, OPENING));
        self.potential = Some(kernel);
        walked
    }

    fn carried(&self) -> Extra {
        let sizes = self.last.read().unwrap_or_default();
        if self.is_known { [(LAST_SIZES.to_owned(), sizes)].into() } else { Extra::new() }
    }

    fn resume(&mut self, extra: &Extra, device: &Device, _params: &Gravity) -> Result<()> {
        if extra.contains_key(LAST_SIZES) {
            self.last = Buffer::from_slice(device, list(extra, LAST_SIZES, self.bodies)?)?;
            self.is_known = true;
        }
        Ok(())
    }

    fn plan(&self) -> Plan {
        Plan { units: self.chunks(), count: self.bodies, grain: None, edge: 0, cut: 1 }
    }

    fn share(&self, _stage: usize, assignment: &Assignment) -> Range<usize> {
        assignment.work.start * WARP..assignment.work.end * WARP
    }
}

/// Builds the program of the tree.
fn program(device: &Device, recipe: Recipe, params: &Gravity, walk: Walk) -> Result<Program> {
    let all = params.info().sources(recipe.variant);
    let sources = [&[ROOT], &all[..all.len() - 1], &PARTS].concat();
    let sizes = [("LEVELS", LEVELS), ("ROOT", 1)].map(|(name, size)| (name, size.to_string()));
    let defines = [
        &recipe.defines(),
        &sizes[..],
        &softening_defines(params),
        &step_defines(params),
        &walk.defines(device),
    ];
    Program::build(device, &sources, &defines.concat())
}
