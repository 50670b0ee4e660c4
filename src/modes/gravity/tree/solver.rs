//! Gravity solver that uses the Barnes–Hut tree, with different kernels for CPUs and for GPUs.

use std::ops::Range;
use std::sync::Arc;

use super::criterion::{self, Method, angle_of};
use super::host::{Rules, Walk};
use super::kernels::TreeKernels;
use super::{WARP, cpu, gpu};
use crate::base::cells::{CellCounts, CellRequest, Cells, MOST_BOXES};
use crate::base::error::Result;
use crate::compute::{
    Arg, Buffer, Device, DeviceInfo, DeviceKind, Kernel, Lane, Pass, Program, ProgramSource, Rows,
};
use crate::modes::carried::list;
use crate::modes::gravity::carried::LAST_SIZES;
use crate::modes::gravity::parameters::Gravity;
use crate::modes::gravity::solver::{ForcePass, PotentialPass, Setup, Solver, TreePass, softening_defines};
use crate::modes::gravity::step::step_defines;
use crate::modes::{Assignment, Define, Extra, Mode, Plan, Recipe, Traffic, flags};

/// Gravity solver that uses a Barnes–Hut tree of all bodies and rebuilds the tree before each walk.
pub(in crate::modes::gravity) struct Tree {
    kernels: Box<dyn TreeKernels>,
    walk: WalkKernels,
    measure: Kernel,
    count_work: Kernel,
    collect: Kernel,
    distribute: Kernel,
    finish: Kernel,
    /// Kernels that compute the potential; `None` until their first use.
    potential: Option<WalkKernels>,
    device: Device,
    recipe: Recipe,
    params: Gravity,
    bodies: usize,
    /// Accelerations of the bodies, without the factor G. The fourth number is the number of bodies and cells that act
    /// on the body.
    sums: Buffer<[f32; 4]>,
    /// Accelerations in the sorted order of the bodies, for exchanges between devices; empty on a single device.
    sorted: Buffer<[f32; 3]>,
    /// Whether `sums` holds, for all bodies, the number of bodies and cells that act on each body.
    has_costs: bool,
    /// Whether `last` contains the magnitudes of earlier accelerations.
    is_known: bool,
    /// Magnitudes of the last accelerations, without the factor G.
    last: Buffer<f32>,
    /// Buffer that receives the magnitudes of accelerations that later walks must not use.
    spare: Buffer<f32>,
    /// Operation counts of the last walk of each work-group: pairs of bodies, pairs of a cell and a body, cells added
    /// to an expansion, and tests of cells. The second buffer is for the bodies whose results are exchanged late; empty
    /// if all are exchanged together.
    work: [Buffer<[u32; 4]>; 2],
    /// Number of buffers in `work` that hold counts of the last walk.
    worked: usize,
    /// Partial sums of the operation counts in `work`.
    totals: Buffer<u64>,
    /// Positions, in the sorted order, of the bodies for which this device last walked the tree.
    walked: Range<usize>,
}

/// Kernels that walk the tree.
struct WalkKernels {
    /// Kernel that begins the walks of all groups of a set together; `None` if the program has no kernel `walk_sets`.
    sets: Option<Kernel>,
    groups: Kernel,
}

impl WalkKernels {
    fn new(program: &Program, has_sets: bool) -> Result<Self> {
        let sets = has_sets.then(|| program.kernel("walk_sets")).transpose()?;
        Ok(Self { sets, groups: program.kernel("walk")? })
    }
}

impl Tree {
    pub(in crate::modes::gravity) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let Setup { device, params, recipes, bodies: all, .. } = *setup;
        let bodies = all.len();
        // All devices must sort the bodies in the same order and divide them into the same groups.
        let recipe =
            recipes[0].knobs().fold(setup.recipe, |own, (knob, value)| own.with_knob(knob.name, value));
        let program = program(device, recipe, params, &[])?;
        let kernels: Box<dyn TreeKernels> = match device.info.kind {
            DeviceKind::Cpu => Box::new(cpu::CpuKernels::new(setup, recipe, &program)?),
            DeviceKind::Gpu | DeviceKind::Accelerator => {
                Box::new(gpu::GpuKernels::new(setup, recipe, &program)?)
            }
        };
        let groups = bodies.div_ceil(kernels.set()) * kernels.groups_per_set();
        // Perhaps only two of the devices will take part in a step.
        let is_split = is_split(bodies, recipes.len().min(2));
        Ok(Box::new(Self {
            walk: WalkKernels::new(&program, kernels.has_set_walk())?,
            measure: program.kernel("measure")?,
            count_work: program.kernel("count_work")?,
            collect: program.kernel("collect")?,
            distribute: program.kernel("distribute")?,
            finish: program.kernel("finish")?,
            potential: None,
            device: device.clone(),
            recipe,
            params: params.clone(),
            bodies,
            sums: Buffer::new(device, bodies)?,
            sorted: Buffer::new(
                device,
                if recipes.len() > 1 { bodies.next_multiple_of(kernels.set()) } else { 0 },
            )?,
            has_costs: false,
            is_known: false,
            last: Buffer::zeroed(device, bodies)?,
            spare: Buffer::new(device, bodies)?,
            work: [
                Buffer::zeroed(device, groups)?,
                Buffer::zeroed(device, if is_split { groups } else { 0 })?,
            ],
            worked: 1,
            totals: Buffer::new(device, TOTALS)?,
            walked: 0..bodies,
            kernels,
        }))
    }

    fn sets(&self) -> usize {
        self.bodies.div_ceil(self.kernels.set())
    }

    /// Returns the positions, in the sorted order, of the bodies in the given sets.
    fn places(&self, sets: &Range<usize>) -> Range<usize> {
        let place = |set: usize| self.bodies.min(set * self.kernels.set());
        place(sets.start)..place(sets.end)
    }

    /// Returns the positions, in the sorted order, of the bodies for which this device walks the tree, in the order of
    /// the walks. If the results are exchanged in two parts, there are two ranges.
    fn walks(&self, assignment: &Assignment) -> Vec<Range<usize>> {
        let Assignment { work, of, .. } = assignment;
        match is_split(self.bodies, *of) {
            true => [assignment.early(), assignment.early().end..work.end]
                .iter()
                .map(|sets| self.places(sets))
                .collect(),
            false => vec![self.places(work)],
        }
    }

    /// Returns the number of work-items of the kernel `walk`.
    fn items(&self) -> usize {
        self.sets() * self.kernels.groups_per_set() * self.kernels.work_group()
    }

    /// Queues the kernels that build the tree from the positions `x`. A walk uses the magnitudes of earlier
    /// accelerations to decide which cells to open; if there are none yet, also queues a walk that computes them.
    fn prepare(&mut self, lane: &mut Lane, x: Arg, eps2: Arg<'static>) -> Result<()> {
        let costs = self.has_costs.then(|| (&self.sums).into());
        self.kernels.build(lane, x, (&self.last).into(), costs)?;
        if !self.is_known {
            self.walk_all(lane, &self.walk, (&self.sums).into(), (eps2, UNKNOWN))?;
            let args = [Arg::Uint(self.bodies as u32), (&self.sums).into(), (&self.last).into()];
            lane.whole(Pass::cheap(&self.measure, &args, self.bodies))?;
            self.is_known = true;
            self.kernels.build(lane, x, (&self.last).into(), costs)?;
        }
        Ok(())
    }

    fn walk_all(
        &self,
        lane: &mut Lane,
        kernels: &WalkKernels,
        result: Arg,
        criterion: (Arg<'static>, f32),
    ) -> Result<()> {
        let (all, mut from) = (0..self.bodies, 0);
        while from < self.items() {
            from = self.walk(lane, kernels, [result, (&self.work[0]).into()], criterion, &all, from)?;
            if lane.is_full() {
                lane.flush()?;
            }
        }
        Ok(())
    }

    /// Queues the kernel that completes the step of all bodies.
    fn finish(&self, lane: &mut Lane, pass: &ForcePass) -> Result<()> {
        // A pass that moves no body may repeat an earlier pass, so it must not change which cells the next step opens.
        let last = if pass.step.is_still() { &self.spare } else { &self.last };
        let head = [Arg::Uint(self.bodies as u32), pass.coefficients(1.0), (&self.sums).into(), last.into()];
        lane.whole(Pass::cheap(&self.finish, &[&head[..], &pass.state].concat(), self.bodies))
    }

    /// Queues the kernel that copies the accelerations of the bodies at `places` to `sorted`, for the other devices.
    fn collect(&self, lane: &mut Lane, places: &Range<usize>) -> Result<()> {
        let [first, count] = [places.start, places.len()].map(|count| Arg::Uint(count as u32));
        let args = [first, count, self.kernels.order().into(), (&self.sums).into(), (&self.sorted).into()];
        lane.whole(Pass::cheap(&self.collect, &args, places.len()))
    }

    /// Queues the kernel that copies the accelerations received from the other devices to `sums`. This device has walked
    /// for the bodies at `places`.
    fn distribute(&self, lane: &mut Lane, places: &Range<usize>) -> Result<()> {
        let [n, first, count] =
            [self.bodies, places.start, places.len()].map(|count| Arg::Uint(count as u32));
        let buffers = [self.kernels.order().into(), (&self.sorted).into(), (&self.sums).into()];
        let args = [&[n, first, count], &buffers[..]].concat();
        lane.whole(Pass::cheap(&self.distribute, &args, self.bodies - places.len()))
    }

    /// Returns the number of pairs and cells evaluated by the walks whose operation counts are in `work`. Waits for the
    /// device.
    fn evaluated(&self, lane: &mut Lane, work: &Buffer<[u32; 4]>) -> Result<f64> {
        let [walks, totals] = [self.items() / self.kernels.work_group(), TOTALS].map(|n| Arg::Uint(n as u32));
        let args = [walks, totals, work.into(), (&self.totals).into()];
        lane.whole(Pass::cheap(&self.count_work, &args, TOTALS))?;
        lane.flush()?;
        Ok(self.totals.read()?.into_iter().map(|total| total as f64).sum())
    }

    /// Queues part of a tree walk for the bodies at `places`: the next slice of work-items, which begins at `from`. Before
    /// the first slice, queues the walks of the sets. `results` are the buffers for the results and for the operation
    /// counts. Returns the first work-item after the slice.
    fn walk(
        &self,
        lane: &mut Lane,
        kernels: &WalkKernels,
        results: [Arg; 2],
        (eps2, opening): (Arg<'static>, f32),
        places: &Range<usize>,
        from: usize,
    ) -> Result<usize> {
        if let (0, Some(kernel)) = (from, &kernels.sets) {
            let args = self.kernels.set_walk_args(places, opening, eps2);
            let (items, group) = (self.sets() * WARP, WARP);
            lane.whole(Pass { kernel, args: &args, items, group, cost: 0.0 })?;
        }
        let kernel = &kernels.groups;
        let args = [&self.kernels.walk_args(places, opening, eps2)[..], &results].concat();
        let (items, group) = (self.items(), self.kernels.work_group());
        let cost = TYPICAL_WORK * places.len() as f64 / items as f64;
        lane.slice(Pass { kernel, args: &args, items, group, cost }, from)
    }
}

/// Minimum number of bodies for each device to exchange the results of a walk in two parts. With fewer bodies, the
/// transfers are so short that a second exchange costs more time than it saves.
pub const SPLIT_FROM: usize = 1_500_000;

/// Returns whether `devices` devices exchange the results of a walk in two parts.
fn is_split(bodies: usize, devices: usize) -> bool {
    devices > 1 && bodies / devices >= SPLIT_FROM
}

/// Number of work-items that add up the operation counts of the walks.
const TOTALS: usize = 4096;

/// Value of `opening` for a walk without known accelerations: the walk then accepts cells by their angular size alone.
const UNKNOWN: f32 = -1.0;

/// Typical number of pairs and cells that a walk evaluates per body. It affects only the length of the queued slices.
const TYPICAL_WORK: f64 = 1000.0;

impl Solver for Tree {
    fn source(&self) -> &Arc<ProgramSource> {
        self.walk.groups.source()
    }

    fn evaluate(&mut self, lane: &mut Lane, pass: &ForcePass, range: Range<usize>) -> Result<usize> {
        let is_shared = pass.assignment.of > 1;
        if pass.stage > 0 {
            self.distribute(lane, &self.places(&pass.assignment.work))?;
            self.finish(lane, pass)?;
            return Ok(range.end);
        }
        if range.start == 0 {
            (self.walked, self.worked) =
                (self.places(&pass.assignment.work), self.walks(pass.assignment).len());
            self.prepare(lane, pass.state[0], pass.eps2)?;
            // The other devices do not send costs.
            self.has_costs = !is_shared;
        }
        let criterion = (pass.eps2, pass.opening);
        // The work-items of the second walk follow those of the first.
        let (nth, items) = (range.start / self.items(), self.items());
        let places = &self.walks(pass.assignment)[nth];
        let results = [(&self.sums).into(), (&self.work[nth]).into()];
        let to = self.walk(lane, &self.walk, results, criterion, places, range.start % items)?;
        if to == items {
            match is_shared {
                true => self.collect(lane, places)?,
                false => self.finish(lane, pass)?,
            }
        }
        Ok(nth * items + to)
    }

    fn potential(&mut self, lane: &mut Lane, pass: &PotentialPass) -> Result<()> {
        self.prepare(lane, pass.x, pass.eps2)?;
        let kernel = match self.potential.take() {
            Some(kernel) => kernel,
            None => {
                let defines = flags(&[("POTENTIAL", true), ("FP64", self.device.info.fp64)]);
                let program = program(&self.device, self.recipe, &self.params, &defines)?;
                WalkKernels::new(&program, self.kernels.has_set_walk())?
            }
        };
        let result = self.walk_all(lane, &kernel, pass.phi, (pass.eps2, pass.opening));
        self.potential = Some(kernel);
        (self.walked, self.worked) = (0..self.bodies, 1);
        result
    }

    fn work(&mut self, lane: &mut Lane) -> f64 {
        let done = self.work[..self.worked].iter().map(|work| self.evaluated(lane, work));
        // After an error, the amount of work is unknown and counts as 0.
        let evaluated = done.sum::<Result<f64>>().unwrap_or_default();
        let share = self.walked.len() as f64 / self.bodies as f64;
        evaluated / share.max(f64::MIN_POSITIVE) / (self.bodies as f64).powi(2)
    }

    fn cells(&mut self, lane: &mut Lane, pass: &TreePass, request: CellRequest) -> Result<Option<Cells>> {
        self.prepare(lane, pass.x, Arg::Float(pass.eps2))?;
        lane.finish()?;
        let CellRequest { depth, body } = request;
        let Some(body) = body.filter(|body| *body < self.bodies) else {
            let all = self.kernels.read_cells(Some(depth))?;
            let (level, depth) = all.at_depth(depth);
            let counts = CellCounts { depth, boxes: level.len(), walk: None };
            return Ok(Some(Cells { level: all.boxes(&level), counts, ..Cells::default() }));
        };
        let (all, bodies) = (self.kernels.read_cells(None)?, self.kernels.read_bodies()?);
        let place = bodies.ids.iter().position(|id| *id as usize == body).unwrap_or(0);
        let (eps2, far_share) = (pass.eps2, self.kernels.far_share());
        let method = Method::of(&self.recipe);
        let rules = Rules {
            softening: self.params.softening,
            eps2,
            far_share,
            method,
            angle: angle_of(pass.opening),
        };
        let (set, group) = self.kernels.targets(&bodies, place, pass.opening)?;
        let walk = Walk::new(&all, set.as_ref(), &group, &rules);
        let walked = Some(walk.counts(&all, &bodies, place, &rules));
        // If there are too many cells to draw, leaves out the smallest, which come last.
        let opened = &walk.opened[..walk.opened.len().min(MOST_BOXES / 2)];
        let taken = &walk.taken[..walk.taken.len().min(MOST_BOXES - opened.len())];
        let counts = CellCounts { depth, boxes: opened.len() + taken.len(), walk: walked };
        Ok(Some(Cells { level: Vec::new(), opened: all.boxes(opened), taken: all.boxes(taken), counts }))
    }

    fn costs(&mut self, lane: &mut Lane, pass: &TreePass) -> Result<Option<&Buffer<[f32; 4]>>> {
        if !self.has_costs {
            let eps2 = Arg::Float(pass.eps2);
            self.prepare(lane, pass.x, eps2)?;
            self.walk_all(lane, &self.walk, (&self.sums).into(), (eps2, pass.opening))?;
            lane.flush()?;
            self.has_costs = true;
            (self.walked, self.worked) = (0..self.bodies, 1);
        }
        Ok(Some(&self.sums))
    }

    fn carried(&self) -> Extra {
        if !self.is_known {
            return Extra::new();
        }
        [(LAST_SIZES.to_owned(), self.last.read().unwrap_or_default())].into()
    }

    fn resume(&mut self, extra: &Extra, device: &Device, _params: &Gravity) -> Result<()> {
        if extra.contains_key(LAST_SIZES) {
            self.last = Buffer::from_slice(device, list(extra, LAST_SIZES, self.bodies)?)?;
            self.is_known = true;
        }
        Ok(())
    }

    fn plan(&self) -> Plan {
        Plan { units: self.sets(), count: self.bodies, grain: None, edge: 0, cut: 1, has_fixed_work: true }
    }

    fn stages(&self) -> usize {
        2
    }

    fn share(&self, stage: usize, assignment: &Assignment) -> Range<usize> {
        // Each walk launches all work-items. Those for bodies of other devices return at once.
        0..if stage == 0 { self.walks(assignment).len() * self.items() } else { self.bodies }
    }

    fn inner(&self, stage: usize, assignment: &Assignment) -> Option<Range<usize>> {
        let walks = self.walks(assignment).len();
        (stage == 0 && walks > 1).then(|| self.items()..walks * self.items())
    }

    fn traffic(&self, stage: usize) -> Option<Traffic<'_>> {
        (stage == 0).then(|| Traffic::Work(Rows::new(&self.sorted, self.kernels.set(), 1, 0)))
    }

    fn replicated(&self) -> Option<Rows<'_>> {
        Some(Rows::new(&self.last, 1, 1, 0))
    }

    fn has_earlier_pass(&self) -> bool {
        self.is_known
    }

    fn set_earlier_pass(&mut self, has_earlier_pass: bool) {
        self.is_known = has_earlier_pass;
    }
}

/// Returns the source of the tree's program, without the file [`ROOT`](crate::compute::ROOT).
pub(in crate::modes::gravity) fn source(
    params: &Gravity,
    recipe: &Recipe,
    device: &DeviceInfo,
) -> ProgramSource {
    let (source, own_constants) = match device.kind {
        DeviceKind::Cpu => (&cpu::SOURCE, None),
        DeviceKind::Gpu | DeviceKind::Accelerator => (&gpu::SOURCE, Some(("SORTERS", gpu::sorters(device)))),
    };
    let all = params.info().sources(recipe.variant);
    let (common, own) = all.split_at(all.len() - 1);
    let own = if source.has_variant_file { own } else { &[] };
    let constants = source.constants.iter().chain(&own_constants).chain(&[("ROOT", 1)]);
    let constants = constants.map(|(name, n)| (*name, n.to_string()));
    let constants: Vec<Define> = constants.collect();
    let constants = [constants, criterion::defines(), recipe.defines()].concat();
    let defines = [constants, softening_defines(params), step_defines(params)].concat();
    ProgramSource { files: [common, source.files, own].concat(), defines, ..ProgramSource::default() }
}

/// Builds the tree's OpenCL program with the recipe's macros and the macros in `more`.
fn program(device: &Device, recipe: Recipe, params: &Gravity, more: &[Define]) -> Result<Program> {
    let ProgramSource { files, defines, .. } = source(params, &recipe, &device.info);
    Program::build_with_root(device, &files, &[&defines, more].concat())
}
