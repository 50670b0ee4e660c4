//! Gravity on a device.

use std::any::Any;

use super::mutual::{self, Tiles};
use super::part::Share;
use super::step::Step;
use super::{Colour, FORCE, Gravity, INFO, LOW_PARTS, Softening};
use crate::bodies::{Bodies, FINITE_LIMIT, Points, Shape};
use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Pending, Program, Source};
use crate::error::{Error, Result};
use crate::hand::Pull;
use crate::modes::accuracy::{Effect, Judged, Sample};
use crate::modes::carried::{self, CarriedList};
use crate::modes::reduction::Reduction;
use crate::modes::snapshot::Snapshot;
use crate::modes::{Diagnostics, Extra, Mode, Reading, Recipe, Simulation, hand, list, source, sources};
use crate::params::{Choice, Effect as Cost};
use crate::state::State;

const DRIFT: Source = source!("gravity/drift.cl");
const MEASURE: Source = source!("gravity/measure.cl");

/// Lists of what is carried on.
const ACCELERATION: &str = "acceleration";
const COMMON_MASS: &str = "common_mass";

/// What a file may say of them.
pub(super) const CARRIES: &[CarriedList] = &[
    CarriedList {
        name: ACCELERATION,
        most: |[bodies, _]| 4 * bodies,
        // One that throws a body out of bounds in a step would hold out all bodies of a file that says so.
        check: |with, list| {
            let most = 2.0 * f64::from(FINITE_LIMIT) / with.mode.time_step();
            let expected =
                "an acceleration that leaves the body within bounds for a step, and an energy from 0";
            carried::each_body(with.bodies()?, list, expected, |row: &[f32; 4], _, is_held_out| {
                let [pull @ .., missed] = row;
                let is_bounded = pull.iter().all(|a| f64::from(a.abs()) <= most);
                is_held_out || is_bounded && (0.0..=f32::MAX).contains(missed)
            })
        },
    },
    CarriedList {
        name: COMMON_MASS,
        most: |_| 1,
        check: |with, list| {
            carried::has(list, 1)?;
            let mut masses = with.bodies()?.positions.iter().map(|x| x[3]);
            let is_theirs = masses.all(|mass| mass == 0.0 || mass == list[0]);
            match is_theirs && (0.0..=FINITE_LIMIT).contains(&list[0]) {
                true => Ok(()),
                false => Err(format!("not every body with mass has the common mass {:e}", list[0])),
            }
        },
    },
    CarriedList {
        name: LOW_PARTS,
        most: |[bodies, _]| 8 * bodies,
        check: |with, list| {
            let bodies = with.bodies()?;
            carried::has(list, 8 * bodies.len())?;
            check_low_parts(bodies, list.as_chunks().0)
        },
    },
];

/// Bodies on a device with the kernels that step them.
pub(super) struct GravitySimulation {
    pub(super) lane: Lane,
    pub(super) params: Gravity,
    pub(super) count: usize,
    pub(super) recipe: Recipe,
    pub(super) device: Device,
    /// The mass of all who have any, if it stands outside the sum.
    pub(super) common_mass: Option<f32>,
    pub(super) advance: Kernel,
    /// Where each pair is met once.
    pub(super) tiles: Option<Tiles>,
    pub(super) drift: Kernel,
    pub(super) pack: Kernel,
    pub(super) reduction: Reduction,
    pub(super) potential: Kernel,
    /// Positions now, and where the next pass puts them: swapped by arguments.
    pub(super) x: [Buffer<[f32; 4]>; 2],
    /// Velocities; behind them the low parts of all places and velocities, where these are carried.
    pub(super) v: Buffer<[f32; 4]>,
    /// Accelerations, each with the most energy that a step got wrong for its body so far (`missed` in
    /// `kernels/gravity/force.cl`).
    pub(super) a: Buffer<[f32; 4]>,
    /// Kinetic energy plus |potential energy| when they were first measured under today's parameters.
    energy_scale: Option<f64>,
    pub(super) snapshot: Snapshot,
    /// Twice each body's share of the potential: a double, or the two floats that stand in for it.
    pub(super) phi: Buffer<[f32; 2]>,
    /// Whether `a` belongs to `x[0]` under today's parameters.
    pub(super) a_is_current: bool,
    /// Whether `a` holds anything yet.
    pub(super) a_is_there: bool,
    /// Whether the last step was taken under today's parameters. The last pass of a burst always evaluates the force,
    /// where its bodies come from: then `a` belongs to `x[1]`.
    pub(super) stepped: bool,
    pub(super) burst: Burst,
    /// What it does among several.
    pub(super) share: Share,
    /// What lets a person's hand act, once it did.
    pull: Option<Kernel>,
}

/// A burst under way: passes in a row, each over all bodies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Burst {
    pub(super) steps: u32,
    /// The pass that comes next.
    pub(super) pass: u64,
    /// How many there are: more than `u32` holds, if the steps fill that.
    pub(super) passes: u64,
    /// The work-item at which that pass goes on.
    pub(super) from: usize,
    /// Whether the first pass only evaluates the force: for an opening drift, or to tell what the first step gets
    /// wrong.
    pub(super) evaluates: bool,
}

/// The mass of all who have any, if it is the same.
fn common_mass(bodies: &Bodies) -> Option<f32> {
    let mut masses = bodies.positions.iter().map(|x| x[3]).filter(|mass| *mass != 0.0);
    let first = masses.next()?;
    masses.all(|mass| mass == first).then_some(first)
}

/// Fails unless the low parts of places are what rounding cuts off, so that adding one changes nothing, and those of
/// velocities are finite: a velocity that was changed since, by hand or by a loss of speed, may be the smaller.
fn check_low_parts(bodies: &Bodies, low: &[[f32; 4]]) -> std::result::Result<(), String> {
    let (places, velocities) = low.split_at(bodies.len());
    let is_cut_off = |(high, low): (&[f32; 4], &[f32; 4])| (0..3).all(|k| high[k] + low[k] == high[k]);
    let is_finite = |low: &[f32; 4]| low.iter().all(|c| c.abs() <= FINITE_LIMIT);
    match bodies.positions.iter().zip(places).all(is_cut_off) && velocities.iter().all(is_finite) {
        true => Ok(()),
        false => Err("its numbers are larger than rounding errors can be".to_owned()),
    }
}

/// What the softening law is called in kernels.
fn softening(params: &Gravity) -> &'static str {
    match params.softening {
        Softening::Plummer => "SOFTENING_PLUMMER",
        Softening::Clamp => "SOFTENING_CLAMP",
    }
}

fn mode_of(params: &Gravity) -> &dyn Mode {
    params
}

/// What all kernels that end a step are built with.
pub(super) fn step_defines(params: &Gravity) -> Vec<(&'static str, String)> {
    if params.compensated { vec![("COMPENSATED", "1".to_owned())] } else { Vec::new() }
}

/// Rows of the buffer of velocities for each body.
pub(super) fn planes(params: &Gravity) -> usize {
    if params.compensated { 3 } else { 1 }
}

/// An encounter is too fast for the time step if a step gets as much of the energy wrong.
const WORRYING_SHARE: f64 = 0.1;
/// What to do about it.
const ENCOUNTER_ADVICE: &str =
    "A close encounter was faster than the time step can follow: reduce Time step or raise Softening.";

/// The program of a recipe.
fn build(device: &Device, recipe: Recipe, params: &Gravity, common_mass: Option<f32>) -> Result<Program> {
    let mut defines = recipe.defines();
    defines.push((softening(params), "1".to_owned()));
    defines.extend(step_defines(params));
    if common_mass.is_some() {
        defines.push(("EQUAL_MASS", "1".to_owned()));
    }
    let files = INFO.sources(recipe.variant);
    Program::build_with_root(device, &files, &defines)
}

impl GravitySimulation {
    /// `side` is the length of the blocks that `mutual` makes of the bodies.
    pub fn new(
        device: &Device,
        params: &Gravity,
        (recipe, side): (Recipe, usize),
        bodies: &Bodies,
    ) -> Result<Self> {
        let common_mass = common_mass(bodies).filter(|_| recipe.knob("equal") == 1);
        let program = build(device, recipe, params, common_mass)?;
        let advance = program.kernel("advance")?;
        let tiles = match recipe.variant.name {
            "mutual" => {
                Some(Tiles::new(device, &program, (recipe, side), (bodies.len(), mutual::mass_unit(bodies)))?)
            }
            name => {
                advance.check_work_group(name, recipe.work_group)?;
                None
            }
        };
        let small = Program::build(device, &sources(&[FORCE, DRIFT]), &step_defines(params))?;
        let reduction = Reduction::new(device, &[MEASURE], &[(softening(params), "1".to_owned())])?;
        Ok(Self {
            lane: Lane::new(device),
            params: params.clone(),
            count: bodies.len(),
            recipe,
            device: device.clone(),
            common_mass,
            advance,
            tiles,
            drift: small.kernel("drift")?,
            pack: small.kernel("pack")?,
            potential: reduction.program().kernel("potential")?,
            reduction,
            phi: Buffer::new(device, bodies.len())?,
            x: [Buffer::from_slice(device, &bodies.positions)?, Buffer::new(device, bodies.len())?],
            v: Self::velocities(device, params, bodies, &[])?,
            a: Buffer::zeroed(device, bodies.len())?,
            energy_scale: None,
            snapshot: Snapshot::new(device, bodies.len())?,
            a_is_current: false,
            a_is_there: false,
            stepped: false,
            burst: Burst::default(),
            share: Share::default(),
            pull: None,
        })
    }

    /// The buffer of velocities, with the low parts behind them, or zeros if there are none.
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

    /// Whether a pass evaluates forces, as all do but the drift that opens a burst of kick–drift–kicks; and its coefficients.
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

    /// The mass that a sum over all bodies is in units of.
    fn mass_unit(&self) -> f32 {
        match &self.tiles {
            Some(tiles) => tiles.mass_unit(),
            None => self.common_mass.unwrap_or(1.0),
        }
    }

    /// Work-items of a pass that evaluates forces.
    fn items(&self) -> usize {
        self.tiles.as_ref().map_or_else(|| self.recipe.items(self.count), Tiles::items)
    }

    /// Queues the accelerations, and no step: what colours show before there was one.
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
        let items = if forces { self.items() } else { self.count };
        self.slice_of_pass(items)?;
        if self.burst.from >= items {
            self.end_pass();
        }
        Ok(())
    }

    /// Queues a slice of the next pass, up to the work-item `end`.
    pub(super) fn slice_of_pass(&mut self, end: usize) -> Result<()> {
        let (forces, step) = self.step_of(self.burst.pass);
        let n = Arg::Uint(self.count as u32);
        let eps2 = Arg::Float(self.params.eps * self.params.eps);
        let c = Arg::Float8(step.coefficients(if forces { self.mass_unit() } else { 1.0 }));
        let state = [&self.x[0], &self.x[1], &self.v, &self.a].map(Arg::from);
        let from = self.burst.from;
        self.burst.from = if !forces {
            let args = [&[n, c], &state[..]].concat();
            self.lane.slice(Pass::cheap(&self.drift, &args, end), from)?
        } else if let Some(tiles) = &self.tiles {
            tiles.slice(&mut self.lane, &self.advance, [eps2, c], state, from)?
        } else {
            let args = [&[n, eps2, c], &state[..]].concat();
            let cost = self.count as f64 * self.recipe.bodies_per_item();
            let group = self.recipe.work_group;
            self.lane.slice(Pass { kernel: &self.advance, args: &args, items: end, group, cost }, from)?
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
        let mode: &dyn Any = mode;
        let params = mode
            .downcast_ref::<Gravity>()
            .ok_or_else(|| Error::Invalid(format!("these are not parameters of {}", INFO.name)))?;
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
            // The last step of `euler` and `taylor` leaves the acceleration of where it came from.
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
        let done = from as f32 / self.items().max(1) as f32;
        (pass as f32 + done.min(1.0)) / passes.max(1) as f32
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

    /// The acceleration that the next burst opens with, and what steps got wrong so far; the mass outside the sum, which those who are
    /// held out had too; and what rounding cut off.
    fn extra(&mut self) -> Result<Extra> {
        let mut extra = Extra::new();
        if self.a_is_current {
            extra.insert(ACCELERATION.to_owned(), self.a.read()?.into_flattened());
        }
        if let Some(mass) = self.common_mass {
            extra.insert(COMMON_MASS.to_owned(), vec![mass]);
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
        let common_mass = match extra.contains_key(COMMON_MASS) {
            true => Some(list(extra, COMMON_MASS, 1)?[0]),
            false => None,
        };
        if self.recipe.knob("equal") == 1 && common_mass != self.common_mass {
            let program = build(&self.device, self.recipe, &self.params, common_mass)?;
            (self.advance, self.common_mass) = (program.kernel("advance")?, common_mass);
        }
        Ok(())
    }

    fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        let colour = self.params.colour;
        if colour == Colour::Acceleration && !self.a_is_there {
            self.evaluate()?;
        }
        let Snapshot { positions, values } = &self.snapshot;
        let head = [Arg::Uint(self.count as u32), Arg::Uint(colour.index() as u32)];
        let from = [&self.x[0], &self.v, &self.a].map(Arg::from);
        let args = [&head[..], &from, &[positions.into(), values.into()]].concat();
        self.lane.whole(Pass::cheap(&self.pack, &args, self.count))?;
        self.lane.flush()?;
        self.snapshot.read(points, Shape::Glow)
    }

    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        Ok(Some([self.x[0].read_at(body)?, self.v.read_at(body)?]))
    }

    fn pull(&mut self, pull: &Pull, time: f32) -> Result<()> {
        if self.pull.is_none() {
            self.pull = Some(hand::kernel(&self.device)?);
        }
        match &self.pull {
            Some(kernel) => hand::queue(&mut self.lane, kernel, (pull, time), &self.x[0], &self.v),
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
            // Beyond all bounds a body is held out, in f64 too.
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
        let args = &[n, Arg::Float(eps * eps), x, phi];
        let cost = self.count as f64;
        let group = Pass::CHEAP_GROUP;
        self.reduction.prepare(Pass { kernel: &self.potential, args, items: self.count, group, cost })?;
        let sums = self.reduction.run(&[n, x, v, a, phi])?;
        let potential = -f64::from(g) * sums.potential;
        let kinetic = sums.diagnostics.kinetic;
        let balance = if potential == 0.0 { 0.0 } else { 2.0 * kinetic / potential.abs() };
        let help = "twice the kinetic over the potential energy: 1 in balance, below 1 it falls together";
        // An error that has grown into the energy must not shrink by it.
        let scale = *self.energy_scale.get_or_insert(kinetic + potential.abs());
        let missed = if scale > 0.0 { sums.maxima[0] / scale } else { 0.0 };
        let missed_help = "estimate of the largest energy error of one body in one step, relative to what kinetic energy plus |potential energy| were at first, since the scene began or a parameter, the variant or the device was last changed (under euler and taylor also since a snapshot was opened); above 0.1, a close encounter was too fast for the time step";
        let readings = vec![
            Reading::new("virial_ratio", "2T / |V|", balance, help),
            Reading::new("encounter_error", "Encounter error", missed, missed_help)
                .warns_of(missed > WORRYING_SHARE, ENCOUNTER_ADVICE),
        ];
        Ok(Diagnostics { potential, readings, ..sums.diagnostics })
    }
}
