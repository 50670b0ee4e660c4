//! Simulation of gravity on one device: buffers, kernels, steps and readings.

use std::sync::Arc;

use super::carried::{ACCELERATION, LOW_PARTS};
use super::parameters::{Colour, Gravity};
use super::solver::{Builder, PotentialPass, Setup, Solver, TreePass, softening_defines};
use super::step::{FORCE, Step, planes, step_defines};
use crate::base::{
    Attractor, Bodies, CellRequest, Cells, ChangeEffect, Choice, FINITE_LIMIT, LightRequest, Points, Result,
    Shape, State,
};
use crate::compute::{Arg, Buffer, Device, Kernel, KernelSource, Lane, Pending, Program, ProgramSource};
use crate::modes::carried::list;
use crate::modes::{
    AttractKernels, Attracted, Cursor, Diagnostics, Effect, Extra, Judged, Mode, PackedPoints, Reading,
    Reduction, Remedy, Sample, SharedSimulation, Simulation, source, sources,
};

const DRIFT: KernelSource = source!("gravity/drift.cl");
const MEASURE: KernelSource = source!("gravity/measure.cl");

/// Simulation of gravity on one device: the bodies and the kernels that advance them.
pub(super) struct GravitySimulation {
    pub(super) lane: Lane,
    pub(super) params: Gravity,
    pub(super) count: usize,
    pub(super) solver: Box<dyn Solver>,
    pub(super) drift: Kernel,
    reduction: Reduction,
    potential: Kernel,
    /// Positions before and after a pass over all bodies. The buffers are swapped after each pass.
    pub(super) x: [Buffer<[f32; 4]>; 2],
    /// Velocities, followed by the rounding errors of positions and velocities if the `compensated` parameter is on.
    pub(super) v: Buffer<[f32; 4]>,
    /// Acceleration of each body and, as the fourth number, the body's largest energy error in any step (`missed` in
    /// `kernels/gravity/force.cl`).
    pub(super) a: Buffer<[f32; 4]>,
    /// Kinetic energy plus |potential energy| in the first measurement with the current parameters; `None` before that
    /// measurement.
    energy_scale: Option<f64>,
    packed: PackedPoints,
    /// Gravitational potential at each body, as a double or as the sum of two floats.
    phi: Buffer<[f32; 2]>,
    pub(super) known: Known,
    pub(super) burst: Burst,
    pub(super) cursor: Cursor,
    attract: AttractKernels,
}

/// Validity of the accelerations in device memory.
#[derive(Debug, Clone, Copy, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Known {
    /// Whether the acceleration buffer `a` is up to date with the current positions and parameters.
    pub a_is_current: bool,
    /// Whether accelerations have been computed since the simulation was built.
    pub a_is_there: bool,
    /// Whether the last step used the current parameters. If so, the buffer `a` holds the accelerations at the
    /// positions `x[1]`, because the last pass of a burst evaluates the forces at the positions before the pass.
    pub stepped: bool,
}

/// Progress of a burst of steps, which consists of passes over all bodies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Burst {
    pub(super) steps: u32,
    /// Index of the next pass in the burst of steps.
    pub(super) pass: u64,
    /// Number of passes in the burst; may exceed `u32` for the largest number of steps.
    pub(super) passes: u64,
    /// Whether the first pass only evaluates the forces. The first step needs these forces for its opening kick or its
    /// energy error.
    pub(super) evaluates: bool,
}

/// Limit for the energy error of one body in one step, as a fraction of the kinetic energy plus |potential energy|.
/// Larger errors cause a warning about close encounters.
const WORRYING_SHARE: f64 = 0.1;
/// Warning text, shown when the time step is too long for a close encounter between bodies.
const ENCOUNTER_ADVICE: &str = "Two bodies passed each other too closely for this time step: reduce the time step or increase the softening.";

/// Colouring that the kernel `pack` computes in place of [`Colour::Own`], because it does not know the colours of the
/// scene. The engine overwrites the values.
const OWN_SHOWN_AS: Colour = Colour::Error;

/// Builds the program with the small kernels, which do not depend on the variant.
fn small_program(device: &Device, params: &Gravity) -> Result<Program> {
    Program::build(device, &sources(&[FORCE, DRIFT]), &step_defines(params))
}

/// Returns the points to draw for `bodies`. The colours must not depend on accelerations, which have not been
/// computed yet.
pub(super) fn preview(device: &Device, params: &Gravity, bodies: &Bodies) -> Result<Points> {
    let packed = PackedPoints::new(device, small_program(device, params)?.kernel("pack")?, bodies.len())?;
    let shown = if params.colour == Colour::Own { OWN_SHOWN_AS } else { params.colour };
    let x = Buffer::from_slice(device, &bodies.positions)?;
    let v = GravitySimulation::velocities(device, params, bodies, &[])?;
    let numbers = [bodies.len(), shown.index()].map(|number| Arg::Uint(number as u32));
    let args = [&numbers[..], &[(&x).into(), (&v).into(), (&x).into()]].concat();
    let pending = packed.publish(&mut Lane::new(device), &args, Points::default(), Shape::Glow)?;
    Ok(pending.wait()?.0)
}

impl GravitySimulation {
    pub(super) fn new(setup: &Setup) -> Result<Self> {
        let Setup { device, params, recipe, bodies, .. } = *setup;
        let builder: &Builder = recipe.variant.solver()?;
        let small = small_program(device, params)?;
        let reduction = Reduction::new(device, &[MEASURE], &softening_defines(params))?;
        let count = bodies.len();
        Ok(Self {
            lane: Lane::new(device),
            params: params.clone(),
            count,
            solver: (builder.solver)(setup)?,
            drift: small.kernel("drift")?,
            potential: reduction.program.kernel("potential")?,
            reduction,
            phi: Buffer::new(device, count)?,
            x: [Buffer::from_slice(device, &bodies.positions)?, Buffer::new(device, count)?],
            v: Self::velocities(device, params, bodies, &[])?,
            a: Buffer::zeroed(device, count)?,
            energy_scale: None,
            packed: PackedPoints::new(device, small.kernel("pack")?, count)?,
            known: Known::default(),
            burst: Burst::default(),
            cursor: Cursor::default(),
            attract: AttractKernels::default(),
        })
    }

    /// Creates the velocity buffer. If `compensated` is on, appends the rounding errors `low`, or zeros if `low` is
    /// empty.
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

    /// Returns whether a pass evaluates forces, and the coefficients of the pass. Only a drift at the start of a burst
    /// does not evaluate forces.
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
}

impl Simulation for GravitySimulation {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        let params = mode.of::<Gravity>()?;
        if mode.change_from(&self.params) > Some(ChangeEffect::View) {
            (self.known.a_is_current, self.known.stepped, self.energy_scale) = (false, false, None);
        }
        self.params = params.clone();
        Ok(())
    }

    fn start(&mut self, steps: u32) {
        (self.burst, self.cursor) = (Burst { steps, ..Burst::default() }, Cursor::default());
        if steps > 0 {
            let integrator = self.params.integrator;
            let is_symmetric = integrator.is_symmetric();
            self.burst.evaluates = if is_symmetric { !self.known.a_is_current } else { !self.known.stepped };
            self.burst.passes = u64::from(steps) * u64::from(integrator.evaluations())
                + u64::from(is_symmetric)
                + u64::from(self.burst.evaluates);
            // After the last step with `euler` or `taylor`, `a` holds the accelerations at the positions before the
            // step.
            self.known = Known { a_is_current: is_symmetric, a_is_there: true, stepped: true };
        }
    }

    fn advance(&mut self) -> Result<bool> {
        self.advance_alone()
    }

    fn progress(&self) -> f32 {
        let Burst { pass, passes, .. } = self.burst;
        (pass as f32 + self.cursor.progress()) / passes.max(1) as f32
    }

    fn rounds(&mut self) -> f64 {
        self.solver.work(&mut self.reduction.lane)
    }

    fn source(&self) -> Option<&Arc<ProgramSource>> {
        Some(self.solver.source())
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.lane
    }

    fn state(&mut self) -> Result<State> {
        let mut velocities = self.v.read()?;
        velocities.truncate(self.count);
        Ok(Bodies { positions: self.x[0].read()?, velocities }.into())
    }

    /// Returns the lists to store in a snapshot: accelerations with energy errors, the solver's lists, and rounding
    /// errors.
    fn extra(&mut self) -> Result<Extra> {
        let mut extra = self.solver.carried();
        // Until its first pass has evaluated the forces, a burst has the accelerations of older parameters.
        let is_outdated = self.burst.evaluates && self.burst.pass == 0;
        if self.known.a_is_current && !is_outdated {
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
            self.a = Buffer::from_slice(self.lane.device(), rows)?;
            (self.known.a_is_current, self.known.a_is_there) = (true, true);
        }
        if self.params.compensated && extra.contains_key(LOW_PARTS) {
            let low = list(extra, LOW_PARTS, 8 * self.count)?.as_chunks().0;
            let bodies = self.state()?.into_bodies()?;
            self.v = Self::velocities(self.lane.device(), &self.params, &bodies, low)?;
        }
        self.solver.resume(extra, self.lane.device(), &self.params)
    }

    fn publish(&mut self, points: Points, light: Option<&LightRequest>) -> Result<Pending<Points>> {
        let colour = self.params.colour;
        if colour == Colour::Acceleration && !self.known.a_is_there {
            // Evaluates accelerations without a step, for colouring before the first step.
            self.burst = Burst { passes: 1, evaluates: true, ..Burst::default() };
            self.cursor = Cursor::default();
            while self.advance()? {}
            self.known.a_is_there = true;
        }
        let [x, v, mut a] = [&self.x[0], &self.v, &self.a].map(Arg::from);
        let mut shown = colour.index();
        if colour == Colour::Cost {
            let Gravity { eps, opening, .. } = self.params;
            let pass = TreePass { eps2: eps * eps, opening, x };
            match self.solver.costs(&mut self.reduction.lane, &pass)? {
                Some(costs) => a = costs.into(),
                // Without a tree, all bodies have the same cost, so the kernel writes the same value for all.
                None => shown = Colour::Error.index(),
            }
        }
        if colour == Colour::Own {
            shown = OWN_SHOWN_AS.index();
        }
        let args = [Arg::Uint(self.count as u32), Arg::Uint(shown as u32), x, v, a];
        match light {
            Some(request) => self.packed.publish_light(&mut self.lane, &args, points, request),
            None => self.packed.publish(&mut self.lane, &args, points, Shape::Glow),
        }
    }

    fn cells(&mut self, request: CellRequest) -> Result<Option<Cells>> {
        let Gravity { eps, opening, .. } = self.params;
        let pass = TreePass { eps2: eps * eps, opening, x: (&self.x[0]).into() };
        self.solver.cells(&mut self.reduction.lane, &pass, request)
    }

    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        Ok(Some([self.x[0].read_at(body)?, self.v.read_at(body)?]))
    }

    fn attract(&mut self, attractor: &Attractor, time: f32) -> Result<()> {
        let bodies = Attracted { x: &self.x[0], v: &self.v, mass_in: "x", keeps_momentum: true };
        self.attract.queue(&mut self.lane, (attractor, time), &bodies)
    }

    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        if !self.known.stepped || self.burst.pass < self.burst.passes {
            return Ok(None);
        }
        let (params, x, a) = (self.params.clone(), self.x[1].read()?, self.a.read()?);
        let judge = move |i: usize| {
            let right = params.acceleration(i, &x).extend(0.0).to_array();
            let effect = |velocity| Effect { velocity, ..Effect::default() };
            // Skips bodies whose exact acceleration exceeds the limit for finite numbers.
            let bounded = right.iter().all(|c| c.abs() <= f64::from(FINITE_LIMIT));
            bounded.then(|| {
                let [x, y, z, _] = a[i].map(f64::from);
                Judged { body: i, computed: effect([x, y, z, 0.0]), right: effect(right) }
            })
        };
        Ok(Some(Box::new(chosen.into_iter().filter_map(judge))))
    }

    fn diagnostics(&mut self) -> Result<Diagnostics> {
        let Gravity { eps, g, opening, .. } = self.params;
        let n = Arg::Uint(self.count as u32);
        let [x, v, a] = [&self.x[0], &self.v, &self.a].map(Arg::from);
        let phi = Arg::from(&self.phi);
        let (all_pairs, bodies, eps2) = (&self.potential, self.count, Arg::Float(eps * eps));
        let pass = PotentialPass { all_pairs, bodies, eps2, opening, x, phi };
        self.solver.potential(&mut self.reduction.lane, &pass)?;
        let sums = self.reduction.run(&[n, x, v, a, phi])?;
        let potential = -f64::from(g) * sums.potential;
        let kinetic = sums.diagnostics.kinetic;
        let balance = if potential == 0.0 { 0.0 } else { 2.0 * kinetic / potential.abs() };
        let help = "Twice the kinetic energy, T, divided by the magnitude of the potential energy, V. At 1, the system is in balance; below 1, it tends to collapse.";
        // Keeps the scale of the first measurement: relative to a later energy, an error that raises the energy would
        // look smaller.
        let scale = *self.energy_scale.get_or_insert(kinetic + potential.abs());
        let missed = if scale > 0.0 { sums.maxima[0] / scale } else { 0.0 };
        let missed_help = "Estimate of the largest energy error of any body in any step, relative to the initial kinetic energy plus |potential energy|. A value above 0.1 means that two bodies passed each other too closely for the time step. The estimate is reset when the scene restarts, or when a parameter, the variant or the device changes; with the integrators euler and taylor, also when a snapshot is opened.";
        let readings = vec![
            Reading::new("virial_ratio", "2T / |V|", balance).help(help),
            Reading::new("encounter_error", "Encounter error", missed).help(missed_help).warns_of(
                missed > WORRYING_SHARE,
                ENCOUNTER_ADVICE,
                Remedy::SHORTER_STEP,
            ),
        ];
        Ok(Diagnostics { potential, readings, ..sums.diagnostics })
    }
}
