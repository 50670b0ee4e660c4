//! The tree on CPUs: each work-item is a task over many bodies, in vectors of 16.

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

const PARTS: [KernelSource; 4] = [
    source!("gravity/tree/step.cl"),
    source!("gravity/tree/lanes.cl"),
    source!("gravity/tree/order.cl"),
    source!("gravity/tree/cells.cl"),
];

/// Number of bodies that share a walk of the tree, as in `kernels/gravity/tree.cl`.
const SET: usize = 256;
/// Number of digits of a key, as in `kernels/gravity/tree/order.cl`.
const DIGIT_BITS: u32 = 10;
/// Maximum number of cells of the top of the tree, as in `kernels/gravity/tree/cells.cl`.
const TOP_CELLS: usize = 4096;
/// Number of values that describe a cell, as in `kernels/gravity/tree/cells.cl`.
const CELL_COLUMNS: usize = 11;
/// Number of values that vectors may read beyond the end of a list.
const PAD: usize = 64;

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

/// The tree of all bodies, built anew in each pass.
pub(super) struct CpuTree {
    build: Build,
    walk: Kernel,
    finish: Kernel,
    recipe: Recipe,
    bodies: usize,
    /// Number of tasks into which kernels divide the bodies.
    tasks: usize,
    /// Device and initial parameters, from which the first use of the potential builds its kernel.
    device: Device,
    params: Gravity,
    potential: Option<Kernel>,
    /// Whether `last` holds the sizes of earlier accelerations.
    is_known: bool,
    corners: Buffer<[f32; 4]>,
    /// Keys of the bodies, and a buffer for sorting the keys.
    keys: [Buffer<u64>; 2],
    counts: Buffer<u32>,
    /// For each body, the number of tree levels that it shares with the previous body.
    shared: Buffer<u8>,
    /// Positions, masses and sizes of accelerations in the order of the keys.
    columns: Buffer<f32>,
    ids: Buffer<u32>,
    links: Buffer<u32>,
    ranges: Buffer<[u32; 2]>,
    cells: Buffer<f32>,
    /// Number of cells of the top, and of subtrees.
    sizes: Buffer<u32>,
    subtrees: Buffer<[u32; 4]>,
    sums: Buffer<[f32; 4]>,
    /// Sizes of the last accelerations (without G), and a buffer for sizes that are not needed.
    last: Buffer<f32>,
    spare: Buffer<f32>,
    /// Pairs, cells on bodies, cells on expansions and tests of each set of bodies.
    work: Buffer<[u32; 4]>,
}

impl CpuTree {
    pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let Setup { device, params, recipe, bodies, .. } = *setup;
        let n = bodies.len();
        let program = program(device, recipe, params, Walk::Forces)?;
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
        let tasks = (2 * device.info.compute_units as usize).clamp(1, 16);
        let cells = TOP_CELLS + 2 * n + PAD;
        Ok(Box::new(Self {
            build,
            walk: kernel("walk")?,
            finish: kernel("finish")?,
            recipe,
            bodies: n,
            tasks,
            device: device.clone(),
            params: params.clone(),
            potential: None,
            is_known: false,
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
            sums: Buffer::new(device, n)?,
            last: Buffer::zeroed(device, n)?,
            spare: Buffer::new(device, n)?,
            work: Buffer::zeroed(device, n.div_ceil(SET))?,
        }))
    }

    /// Returns the number of work-items of a walk.
    fn items(&self) -> usize {
        self.bodies.div_ceil(SET)
    }

    /// Queues the kernels that build the tree of the bodies at `x`.
    fn plant(&self, lane: &mut Lane, x: Arg) -> Result<()> {
        let Build { bounds, make_keys, count_digits, scatter, share_levels, gather, plant, grow, crown } =
            &self.build;
        let (n, stride) = (Arg::Uint(self.bodies as u32), Arg::Uint((self.bodies + PAD) as u32));
        let cell_stride = Arg::Uint((TOP_CELLS + 2 * self.bodies + PAD) as u32);
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
        queue(gather, &[n, stride, from, x, (&self.last).into(), columns, (&self.ids).into()], self.tasks)?;
        queue(plant, &[n, shared, links, ranges, sizes, subtrees], 1)?;
        let args = [sizes, subtrees, shared, columns, stride, links, ranges, cells, cell_stride];
        queue(grow, &args, self.tasks * 16)?;
        queue(crown, &[sizes, columns, stride, links, ranges, cells, cell_stride], 1)
    }

    /// Queues all that comes before the walk: the tree of the bodies at `x`, and at first a walk that finds the sizes of the
    /// accelerations, by which cells are opened.
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

    /// Queues the next slice of the walk for the sets of bodies in `range`.
    fn walk(
        &self,
        lane: &mut Lane,
        (kernel, results): (&Kernel, &[Arg]),
        (eps2, opening): (Arg, f32),
        range: Range<usize>,
    ) -> Result<usize> {
        let n = self.bodies as u32;
        let head = [
            Arg::Uint(n),
            Arg::Uint(n + PAD as u32),
            Arg::Uint((TOP_CELLS + PAD) as u32 + 2 * n),
            Arg::Float(opening),
            Arg::Float(0.02),
            eps2,
            (&self.columns).into(),
            (&self.ids).into(),
            (&self.cells).into(),
            (&self.links).into(),
        ];
        let args = [&head[..], results, &[(&self.work).into()]].concat();
        // A walk takes about a thousand interactions for each body of a set.
        let cost = 1000.0 * SET as f64;
        lane.slice(Pass { kernel, args: &args, items: range.end, group: 1, cost }, range.start)
    }
}

impl Solver for CpuTree {
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
        Plan { units: self.items(), count: self.bodies, grain: None, edge: 0, cut: 1 }
    }

    fn share(&self, _stage: usize, assignment: &Assignment) -> Range<usize> {
        assignment.work.start..assignment.work.end
    }
}

/// Builds the program of the tree.
fn program(device: &Device, recipe: Recipe, params: &Gravity, walk: Walk) -> Result<Program> {
    let all = params.info().sources(recipe.variant);
    let (first, last) = all.split_at(all.len() - 1);
    let sources = [&[ROOT], first, &PARTS, last].concat();
    let sizes = [("LEAF", recipe.knob("leaf")), ("LANES", 16), ("ROOT", 1)]
        .map(|(name, size)| (name, size.to_string()));
    let defines =
        [&sizes[..], &softening_defines(params), &step_defines(params), &walk.defines(device)].concat();
    Program::build(device, &sources, &defines)
}
