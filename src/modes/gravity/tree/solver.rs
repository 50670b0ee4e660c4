//! Gravity solver that uses the Barnes–Hut tree, with different kernels for CPUs and for GPUs.

use std::ops::Range;

use super::criterion::{self, Method, angle_of};
use super::host::{Rules, Walk};
use super::kernels::TreeKernels;
use super::{cpu, gpu};
use crate::base::cells::{CellCounts, CellRequest, Cells, MOST_BOXES};
use crate::base::error::Result;
use crate::compute::{Arg, Buffer, Device, DeviceKind, Kernel, Lane, Pass, Program, Rows};
use crate::modes::carried::list;
use crate::modes::gravity::carried::LAST_SIZES;
use crate::modes::gravity::parameters::Gravity;
use crate::modes::gravity::solver::{ForcePass, PotentialPass, Setup, Solver, TreePass, softening_defines};
use crate::modes::gravity::step::step_defines;
use crate::modes::{Assignment, Define, Extra, Mode, Plan, Recipe, Traffic, flags};

/// Gravity solver that uses a Barnes–Hut tree of all bodies and rebuilds the tree before each walk.
pub(in crate::modes::gravity) struct Tree {
    kernels: Box<dyn TreeKernels>,
    walk: Kernel,
    measure: Kernel,
    finish: Kernel,
    /// Kernel that computes the potential; `None` until its first use.
    potential: Option<Kernel>,
    device: Device,
    recipe: Recipe,
    params: Gravity,
    bodies: usize,
    /// Accelerations, without the factor G, of the bodies for which this device walked the tree. The fourth number is the
    /// number of bodies and cells that act on the body.
    sums: Buffer<[f32; 4]>,
    /// Accelerations of this device's own bodies, as computed by the other devices; `stride` entries per device.
    others: Buffer<[f32; 4]>,
    stride: usize,
    /// Whether `sums` has the costs of all bodies, from the last walk for a step.
    has_costs: bool,
    /// Whether `last` contains the magnitudes of earlier accelerations.
    is_known: bool,
    /// Magnitudes of the last accelerations, without the factor G; `spare` receives magnitudes that are not needed.
    last: Buffer<f32>,
    spare: Buffer<f32>,
    /// Operation counts of the last walk of each work-group: body pairs, cells on bodies, cells on expansions, and tests of cells.
    work: Buffer<[u32; 4]>,
    /// Sets for which this device walked last.
    walked: Range<usize>,
}

impl Tree {
    pub(in crate::modes::gravity) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let Setup { device, params, recipes, bodies: all, .. } = *setup;
        let bodies = all.len();
        // All devices must divide the bodies into the same groups.
        let recipe = setup.recipe.with_knob("group", recipes[0].knob("group"));
        // A device may own up to half of the bodies, plus one body.
        let stride = bodies.div_ceil(2);
        let program = program(device, recipe, params, &[])?;
        let kernels: Box<dyn TreeKernels> = match device.info.kind {
            DeviceKind::Cpu => Box::new(cpu::CpuKernels::new(setup, recipe, &program)?),
            DeviceKind::Gpu | DeviceKind::Accelerator => {
                Box::new(gpu::GpuKernels::new(setup, recipe, &program)?)
            }
        };
        Ok(Box::new(Self {
            walk: program.kernel("walk")?,
            measure: program.kernel("measure")?,
            finish: program.kernel("finish")?,
            potential: None,
            device: device.clone(),
            recipe,
            params: params.clone(),
            bodies,
            sums: Buffer::new(device, bodies)?,
            others: Buffer::new(device, stride * (recipes.len() - 1))?,
            stride,
            has_costs: false,
            is_known: false,
            last: Buffer::zeroed(device, bodies)?,
            spare: Buffer::new(device, bodies)?,
            work: Buffer::zeroed(device, kernels.sets() * kernels.groups_per_set())?,
            walked: 0..kernels.sets(),
            kernels,
        }))
    }

    fn items_per_set(&self) -> usize {
        self.kernels.groups_per_set() * self.kernels.work_group()
    }

    /// Returns the number of work-items of the kernel `walk` for all bodies.
    fn items(&self) -> usize {
        self.kernels.sets() * self.items_per_set()
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
        kernel: &Kernel,
        result: Arg,
        criterion: (Arg<'static>, f32),
    ) -> Result<()> {
        let mut from = 0;
        while from < self.items() {
            from = self.walk(lane, kernel, result, criterion, from..self.items())?;
            if lane.is_full() {
                lane.flush()?;
            }
        }
        Ok(())
    }

    /// Queues the kernel that ends the step for the bodies `own`, using the accelerations that all devices computed.
    fn finish(&self, lane: &mut Lane, pass: &ForcePass, own: Range<usize>) -> Result<()> {
        // A pass without motion may repeat an earlier pass, so it must not change which cells the next step opens.
        let last = if pass.step.is_still() { &self.spare } else { &self.last };
        let others = pass.assignment.of - 1;
        let [n, first, count, others, stride] =
            [self.bodies, own.start, own.len(), others, self.stride].map(|count| Arg::Uint(count as u32));
        let sums = [pass.coefficients(1.0), (&self.sums).into(), (&self.others).into(), last.into()];
        let args = [&[n, first, count, others, stride], &sums[..], &pass.state].concat();
        lane.whole(Pass::cheap(&self.finish, &args, own.len()))
    }

    /// Queues a tree walk by the next slice of the work-items `range`. Returns the first work-item after the slice.
    fn walk(
        &self,
        lane: &mut Lane,
        kernel: &Kernel,
        result: Arg,
        (eps2, opening): (Arg<'static>, f32),
        range: Range<usize>,
    ) -> Result<usize> {
        let args = [&self.kernels.walk_args(opening, eps2)[..], &[result, (&self.work).into()]].concat();
        let (items, group) = (range.end, self.kernels.work_group());
        let cost = TYPICAL_WORK * self.bodies as f64 / self.items() as f64;
        lane.slice(Pass { kernel, args: &args, items, group, cost }, range.start)
    }
}

/// Value of `opening` for a walk without earlier accelerations, which accepts cells by their angular size alone.
const UNKNOWN: f32 = -1.0;

/// Typical number of pairs and cells that a walk evaluates per body. It affects only the length of the queued slices.
const TYPICAL_WORK: f64 = 1000.0;

impl Solver for Tree {
    fn evaluate(&mut self, lane: &mut Lane, pass: &ForcePass, range: Range<usize>) -> Result<usize> {
        let Assignment { own, of, .. } = pass.assignment;
        if pass.stage > 0 {
            return self.finish(lane, pass, own.clone()).map(|()| range.end);
        }
        if range.start == self.share(0, pass.assignment).start {
            // Devices that share a walk need the same order of groups, and know only the costs of their own bodies.
            self.has_costs &= *of == 1;
            self.walked = pass.assignment.work.clone();
            self.prepare(lane, pass.state[0], pass.eps2)?;
            self.has_costs = *of == 1;
            if *of > 1 {
                // The other devices compute the sums that stay zero here.
                self.sums.clear()?;
            }
        }
        let to =
            self.walk(lane, &self.walk, (&self.sums).into(), (pass.eps2, pass.opening), range.clone())?;
        if to >= range.end && *of == 1 {
            self.finish(lane, pass, 0..self.bodies)?;
        }
        Ok(to)
    }

    fn potential(&mut self, lane: &mut Lane, pass: &PotentialPass) -> Result<()> {
        self.prepare(lane, pass.x, pass.eps2)?;
        let kernel = match self.potential.take() {
            Some(kernel) => kernel,
            None => {
                let defines = flags(&[("POTENTIAL", true), ("FP64", self.device.info.fp64)]);
                program(&self.device, self.recipe, &self.params, &defines)?.kernel("walk")?
            }
        };
        let result = self.walk_all(lane, &kernel, pass.phi, (pass.eps2, pass.opening));
        self.potential = Some(kernel);
        self.walked = 0..self.kernels.sets();
        result
    }

    fn work(&self) -> f64 {
        let groups = self.kernels.groups_per_set();
        let done =
            self.work.read_range(self.walked.start * groups, self.walked.len() * groups).unwrap_or_default();
        let evaluated: f64 = done.iter().flat_map(|counts| &counts[..3]).map(|n| f64::from(*n)).sum();
        let share = self.walked.len() as f64 / self.kernels.sets() as f64;
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
        // Large cells come first, so the smallest are left out.
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
            self.walked = 0..self.kernels.sets();
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
        Plan { units: self.kernels.sets(), count: self.bodies, grain: None, edge: 0, cut: 1 }
    }

    fn stages(&self) -> usize {
        2
    }

    fn share(&self, stage: usize, assignment: &Assignment) -> Range<usize> {
        let items = self.items_per_set();
        match stage {
            0 => assignment.work.start * items..assignment.work.end * items,
            _ => assignment.own.clone(),
        }
    }

    fn traffic(&self, stage: usize) -> Option<Traffic<'_>> {
        let [parts, into] = [&self.sums, &self.others].map(|buffer| Rows::new(buffer, 1, 1, 0));
        (stage == 0).then_some(Traffic::Sums { parts, into, stride: self.stride })
    }

    fn gathered(&self) -> Option<Rows<'_>> {
        Some(Rows::new(&self.last, 1, 1, 0))
    }
}

/// Builds the tree's OpenCL program with the recipe's macros and the macros in `more`.
fn program(device: &Device, recipe: Recipe, params: &Gravity, more: &[Define]) -> Result<Program> {
    let source = match device.info.kind {
        DeviceKind::Cpu => &cpu::SOURCE,
        DeviceKind::Gpu | DeviceKind::Accelerator => &gpu::SOURCE,
    };
    let all = params.info().sources(recipe.variant);
    let (common, own) = all.split_at(all.len() - 1);
    let own = if source.has_variant_file { own } else { &[] };
    let constants = source.constants.iter().chain(&[("ROOT", 1)]).map(|(name, n)| (*name, n.to_string()));
    let constants: Vec<Define> = constants.collect();
    let constants = [constants, criterion::defines(), recipe.defines()].concat();
    let defines = [&constants, &softening_defines(params), &step_defines(params), more].concat();
    Program::build_with_root(device, &[common, source.files, own].concat(), &defines)
}
