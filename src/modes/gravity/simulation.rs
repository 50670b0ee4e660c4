//! Gravity on a device.

use super::carried::{ACCELERATION, LOW_PARTS};
use super::parameters::{Colour, Gravity};
use super::solver::{Builder, ForcePass, Setup, Solver, softening};
use super::step::{FORCE, Step, planes, step_defines};
use crate::base::bodies::{Bodies, FINITE_LIMIT, Points, Shape};
use crate::base::edit::Attractor;
use crate::base::error::Result;
use crate::base::params::{ChangeEffect as Cost, Choice};
use crate::base::state::State;
use crate::compute::{Arg, Buffer, Device, Kernel, KernelSource, Lane, Pass, Pending, Program};
use crate::modes::accuracy::{Effect, Judged, Sample};
use crate::modes::carried::list;
use crate::modes::fleet::Assignment;
use crate::modes::kernels::{source, sources};
use crate::modes::packed::PackedPoints;
use crate::modes::reduction::Reduction;
use crate::modes::{Diagnostics, Extra, Mode, Reading, Recipe, Simulation, edits};

const DRIFT: KernelSource = source!("gravity/drift.cl");
const MEASURE: KernelSource = source!("gravity/measure.cl");

/// Bodies on a device with the kernels that step them.
pub(super) struct GravitySimulation {
    pub(super) lane: Lane,
    pub(super) params: Gravity,
    pub(super) count: usize,
    pub(super) device: Device,
    pub(super) solver: Box<dyn Solver>,
    pub(super) drift: Kernel,
    pub(super) pack: Kernel,
    pub(super) reduction: Reduction,
    pub(super) potential: Kernel,
    /// Positions before and after the pass; swapped after each pass.
    pub(super) x: [Buffer<[f32; 4]>; 2],
    /// Velocities, followed by the low parts of positions and velocities if they are compensated.
    pub(super) v: Buffer<[f32; 4]>,
    /// Accelerations; the fourth number is the body's largest energy error in a step so far (`missed` in
    /// `kernels/gravity/force.cl`).
    pub(super) a: Buffer<[f32; 4]>,
    /// Kinetic energy plus |potential energy| at the first measurement with the current parameters.
    energy_scale: Option<f64>,
    pub(super) packed: PackedPoints,
    /// Potential at each body: a double, or two floats.
    pub(super) phi: Buffer<[f32; 2]>,
    /// Whether `a` belongs to `x[0]` with the current parameters.
    pub(super) a_is_current: bool,
    /// Whether `a` has been computed.
    pub(super) a_is_there: bool,
    /// Whether the last step used the current parameters. The last pass of a burst evaluates the force at the
    /// positions before it, so that `a` then belongs to `x[1]`.
    pub(super) stepped: bool,
    pub(super) burst: Burst,
    /// The stage in progress on several devices.
    pub(super) share: Share,
    /// The kernel that applies an attractor, built at the first use.
    pull: Option<Kernel>,
}

/// The stage of a pass in progress on several devices.
#[derive(Default)]
pub(super) struct Share {
    pub(super) stage: usize,
    pub(super) assignment: Assignment,
    /// The work-item at which the stage ends.
    pub(super) end: usize,
}

/// A burst in progress: consecutive passes, each over all bodies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Burst {
    pub(super) steps: u32,
    /// The next pass.
    pub(super) pass: u64,
    /// Number of passes; may exceed `u32` for the largest number of steps.
    pub(super) passes: u64,
    /// The work-item at which the pass continues.
    pub(super) from: usize,
    /// Whether the first pass only evaluates the force, for an opening drift or for the energy error of the first
    /// step.
    pub(super) evaluates: bool,
}

fn mode_of(params: &Gravity) -> &dyn Mode {
    params
}

/// Relative energy error of a step above which an encounter is too fast for the time step.
const WORRYING_SHARE: f64 = 0.1;
/// Advice for encounters that are too fast.
const ENCOUNTER_ADVICE: &str =
    "A close encounter was faster than the time step can follow: reduce Time step or raise Softening.";

impl GravitySimulation {
    /// Creates a simulation; `recipes` are those of all devices that step together, including `recipe`.
    pub(super) fn new(
        device: &Device,
        params: &Gravity,
        (recipe, recipes): (Recipe, &[Recipe]),
        bodies: &Bodies,
    ) -> Result<Self> {
        let setup = Setup { device, params, recipe, recipes, bodies };
        let builder: &Builder = recipe.variant.solver()?;
        let solver = (builder.0)(&setup)?;
        let small = Program::build(device, &sources(&[FORCE, DRIFT]), &step_defines(params))?;
        let reduction = Reduction::new(device, &[MEASURE], &[(softening(params), "1".to_owned())])?;
        Ok(Self {
            lane: Lane::new(device),
            params: params.clone(),
            count: bodies.len(),
            device: device.clone(),
            solver,
            drift: small.kernel("drift")?,
            pack: small.kernel("pack")?,
            potential: reduction.program().kernel("potential")?,
            reduction,
            phi: Buffer::new(device, bodies.len())?,
            x: [Buffer::from_slice(device, &bodies.positions)?, Buffer::new(device, bodies.len())?],
            v: Self::velocities(device, params, bodies, &[])?,
            a: Buffer::zeroed(device, bodies.len())?,
            energy_scale: None,
            packed: PackedPoints::new(device, bodies.len())?,
            a_is_current: false,
            a_is_there: false,
            stepped: false,
            burst: Burst::default(),
            share: Share::default(),
            pull: None,
        })
    }

    /// Returns the buffer of velocities followed by the low parts, or zeros without them.
    fn velocities(
        device: &Device,
        params: &Gravity,
        bodies: &Bodies,
        low: &[[f32; 4]],
    ) -> Result<Buffer<[f32; 4]>> {
        let mut rows = bodies.velocities.clone();
        rows.extend_from_slice(low);
        rows.resize(planes(params) * bodies.len(), [0.0; 4]);
        Buffer::from_slice(device, &rows)
    }

    /// Returns whether a pass evaluates forces, and its coefficients. Only the drift that opens a burst of
    /// kick–drift–kicks evaluates none.
    pub(super) fn step_of(&self, pass: u64) -> (bool, Step) {
        let p = &self.params;
        let Some(nth) = pass.checked_sub(u64::from(self.burst.evaluates)) else {
            return (true, Step::still(p));
        };
        if !p.integrator.is_symmetric() {
            return (true, Step::whole(p));
        }
        let evaluations = p.integrator.evaluations();
        let Some(ended) = nth.checked_sub(1) else { return (false, Step::open(p, 0)) };
        let substep = (ended % u64::from(evaluations)) as u32;
        match nth < u64::from(self.burst.steps) * u64::from(evaluations) {
            true => (true, Step::close_and_open(p, substep)),
            false => (true, Step::close(p, substep)),
        }
    }

    /// Queues an evaluation of the accelerations without a step, for colors before the first step.
    fn evaluate(&mut self) -> Result<()> {
        self.burst = Burst { passes: 1, evaluates: true, ..Burst::default() };
        while self.burst.pass < self.burst.passes {
            self.slice()?;
        }
        self.a_is_there = true;
        Ok(())
    }

    /// Queues a slice of the next pass.
    fn slice(&mut self) -> Result<()> {
        let (forces, _) = self.step_of(self.burst.pass);
        let items = if forces { self.solver.items() } else { self.count };
        self.slice_of_pass(items, false)?;
        if self.burst.from >= items {
            self.end_pass();
        }
        Ok(())
    }

    /// Queues a slice of the next pass up to the work-item `end`; `is_shared` if several devices share the pass.
    pub(super) fn slice_of_pass(&mut self, end: usize, is_shared: bool) -> Result<()> {
        let (forces, step) = self.step_of(self.burst.pass);
        let Self { lane, solver, x, v, a, burst, share, .. } = self;
        let state = [&x[0], &x[1], &*v, &*a].map(Arg::from);
        let pass = ForcePass { eps2: Arg::Float(self.params.eps * self.params.eps), step, state };
        burst.from = match forces {
            true if is_shared => {
                solver.evaluate_share(lane, &pass, (share.stage, &share.assignment), burst.from..end)?
            }
            true => solver.evaluate(lane, &pass, burst.from..end)?,
            false => {
                let args = [&[Arg::Uint(self.count as u32), pass.coefficients(1.0)], &state[..]].concat();
                lane.slice(Pass::cheap(&self.drift, &args, end), burst.from)?
            }
        };
        Ok(())
    }

    pub(super) fn end_pass(&mut self) {
        self.x.swap(0, 1);
        self.burst.pass += 1;
        self.burst.from = 0;
    }
}

impl Simulation for GravitySimulation {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        let params = mode.of::<Gravity>()?;
        let (_, cost) = mode_of(&self.params).values().changes(&mode_of(params).values());
        self.params = params.clone();
        if cost > Some(Cost::View) {
            (self.a_is_current, self.stepped, self.energy_scale) = (false, false, None);
        }
        Ok(())
    }

    fn start(&mut self, steps: u32) {
        self.burst = Burst { steps, ..Burst::default() };
        if steps > 0 {
            let integrator = self.params.integrator;
            let is_symmetric = integrator.is_symmetric();
            self.burst.evaluates = if is_symmetric { !self.a_is_current } else { !self.stepped };
            self.burst.passes = u64::from(steps) * u64::from(integrator.evaluations())
                + u64::from(is_symmetric)
                + u64::from(self.burst.evaluates);
            // The last step of `euler` and `taylor` leaves the acceleration at its starting positions.
            (self.a_is_current, self.a_is_there, self.stepped) = (is_symmetric, true, true);
        }
    }

    fn advance(&mut self) -> Result<bool> {
        while self.burst.pass < self.burst.passes && !self.lane.is_full() {
            self.slice()?;
        }
        self.lane.flush()?;
        Ok(self.burst.pass < self.burst.passes)
    }

    fn progress(&self) -> f32 {
        let Burst { pass, passes, from, .. } = self.burst;
        let done = from as f32 / self.solver.items().max(1) as f32;
        (pass as f32 + done.min(1.0)) / passes.max(1) as f32
    }

    fn rounds(&self) -> f64 {
        self.solver.work() / (self.count as f64).powi(2)
    }

    fn take_seconds(&mut self) -> f64 {
        self.lane.take_seconds()
    }

    fn finish(&mut self) -> Result<()> {
        self.lane.finish()
    }

    fn state(&mut self) -> Result<State> {
        let mut velocities = self.v.read()?;
        velocities.truncate(self.count);
        Ok(Bodies { positions: self.x[0].read()?, velocities }.into())
    }

    /// Returns the acceleration for the next burst with the energy errors so far, the lists of the solver, and the low
    /// parts.
    fn extra(&mut self) -> Result<Extra> {
        let mut extra = self.solver.carried();
        if self.a_is_current {
            extra.insert(ACCELERATION.to_owned(), self.a.read()?.into_flattened());
        }
        if self.params.compensated {
            extra.insert(LOW_PARTS.to_owned(), self.v.read()?[self.count..].as_flattened().to_vec());
        }
        Ok(extra)
    }

    fn resume(&mut self, extra: &Extra) -> Result<()> {
        if extra.contains_key(ACCELERATION) {
            let rows = list(extra, ACCELERATION, 4 * self.count)?.as_chunks().0;
            self.a = Buffer::from_slice(&self.device, rows)?;
            (self.a_is_current, self.a_is_there) = (true, true);
        }
        if self.params.compensated && extra.contains_key(LOW_PARTS) {
            let low = list(extra, LOW_PARTS, 8 * self.count)?.as_chunks().0;
            let bodies = self.state()?.into_bodies()?;
            self.v = Self::velocities(&self.device, &self.params, &bodies, low)?;
        }
        self.solver.resume(extra, &self.device, &self.params)
    }

    fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        let colour = self.params.colour;
        if colour == Colour::Acceleration && !self.a_is_there {
            self.evaluate()?;
        }
        let PackedPoints { positions, values } = &self.packed;
        let head = [Arg::Uint(self.count as u32), Arg::Uint(colour.index() as u32)];
        let from = [&self.x[0], &self.v, &self.a].map(Arg::from);
        let args = [&head[..], &from, &[positions.into(), values.into()]].concat();
        self.lane.whole(Pass::cheap(&self.pack, &args, self.count))?;
        self.lane.flush()?;
        self.packed.read(points, Shape::Glow)
    }

    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        Ok(Some([self.x[0].read_at(body)?, self.v.read_at(body)?]))
    }

    fn attract(&mut self, attractor: &Attractor, time: f32) -> Result<()> {
        if self.pull.is_none() {
            self.pull = Some(edits::kernel(&self.device)?);
        }
        match &self.pull {
            Some(kernel) => edits::queue(&mut self.lane, kernel, (attractor, time), &self.x[0], &self.v),
            None => Ok(()),
        }
    }

    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        if !self.stepped || self.burst.pass < self.burst.passes {
            return Ok(None);
        }
        let (params, x, a) = (self.params.clone(), self.x[1].read()?, self.a.read()?);
        let judge = move |i: usize| {
            let right = params.acceleration(i, &x).extend(0.0).to_array();
            let effect = |velocity| Effect { velocity, ..Effect::default() };
            // The reference holds out bodies beyond these bounds too.
            let bounded = right.iter().all(|c| c.abs() <= f64::from(FINITE_LIMIT));
            bounded.then(|| {
                let [x, y, z, _] = a[i].map(f64::from);
                Judged { computed: effect([x, y, z, 0.0]), right: effect(right) }
            })
        };
        Ok(Some(Box::new(chosen.into_iter().filter_map(judge))))
    }

    fn diagnostics(&mut self) -> Result<Diagnostics> {
        let Gravity { eps, g, .. } = self.params;
        let n = Arg::Uint(self.count as u32);
        let [x, v, a] = [&self.x[0], &self.v, &self.a].map(Arg::from);
        let phi = Arg::from(&self.phi);
        let args = [n, Arg::Float(eps * eps), x, phi];
        self.solver.potential(self.reduction.lane(), &self.potential, &args, self.count)?;
        let sums = self.reduction.run(&[n, x, v, a, phi])?;
        let potential = -f64::from(g) * sums.potential;
        let kinetic = sums.diagnostics.kinetic;
        let balance = if potential == 0.0 { 0.0 } else { 2.0 * kinetic / potential.abs() };
        let help = "Twice the kinetic energy divided by the potential energy. 1 means balance; below 1 the system collapses.";
        // The scale is kept, since an error that grows with the energy must not look smaller.
        let scale = *self.energy_scale.get_or_insert(kinetic + potential.abs());
        let missed = if scale > 0.0 { sums.maxima[0] / scale } else { 0.0 };
        let missed_help = "Estimate of the largest energy error of one body in one step, relative to the initial kinetic energy plus |potential energy|. It covers the time since the scene began or a parameter, the variant or the device last changed (with euler and taylor also since a snapshot was opened). Above 0.1, a close encounter was too fast for the time step.";
        let readings = vec![
            Reading::new("virial_ratio", "2T / |V|", balance, help),
            Reading::new("encounter_error", "Encounter error", missed, missed_help)
                .warns_of(missed > WORRYING_SHARE, ENCOUNTER_ADVICE),
        ];
        Ok(Diagnostics { potential, readings, ..sums.diagnostics })
    }
}
