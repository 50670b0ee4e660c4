//! Simulation of asteroids on one device: buffers, kernels, steps and readings.

use std::sync::Arc;

use glam::DVec3;

use super::carried::{CONTACT, MASSES, NEVER, RADII, SIZES, SUBSTEPS, extent};
use super::parameters::{Asteroids, ContactLaw, Substeps};
use super::reference::{Step, body, finite, unit_radii};
use super::solver::{Builder, SecondPass, Setup, Solver};
use super::substeps::{LONGEST_MOVE, Motion, Schedule};
use crate::base::{
    Attractor, Bodies, ChangeEffect, Choice, LightRequest, Memory, Points, Result, Shape, State, invalid,
};
use crate::compute::{
    Arg, Buffer, Device, Kernel, KernelSource, Lane, Pass, Pending, Program, ProgramSource,
};
use crate::modes::carried::list;
use crate::modes::{
    AttractKernels, Attracted, Cursor, DeviceRecipe, Diagnostics, Effect, Extra, Judged, Mode, PackedPoints,
    Reading, Reduction, Remedy, Sample, SharedSimulation, Simulation, source,
};

const MEASURE: KernelSource = source!("asteroids/measure.cl");

pub(super) struct AsteroidSimulation {
    pub(super) lane: Lane,
    pub(super) params: Asteroids,
    /// Number of substeps in the current step, or in the previous step if none is in progress.
    pub(super) substeps: u32,
    pub(super) schedule: Schedule<Measurement>,
    /// Kernel that measures the speeds of the bodies, from which the number of substeps is chosen.
    motion: Kernel,
    /// Two results of the kernel `motion`, as bits: the largest ratio of speed to radius, and whether a body may soon
    /// touch the planet.
    motion_bits: Buffer<u32>,
    /// Host memory into which `motion_bits` is read.
    motion_memory: Memory<u32>,
    pub(super) count: usize,
    /// Second pass of a step, which resolves the contacts; `None` under the contact law `simple`.
    pub(super) second: Option<SecondPass>,
    /// Solver that finds contacts and runs the first (or only) pass of a step.
    pub(super) solver: Box<dyn Solver>,
    reduction: Reduction,
    /// Positions and relative radii: `[0]` is current, `[1]` receives the next substep. Swapped after each substep.
    pub(super) x: [Buffer<[f32; 4]>; 2],
    /// Velocities and masses: `[0]` is current, `[1]` receives the next substep. Swapped after each substep.
    pub(super) v: [Buffer<[f32; 4]>; 2],
    /// Whether `x[1]` and `v[1]` hold the state before the last substep, and the last substep used the current
    /// parameters.
    pub(super) stepped: bool,
    /// Whether the attract tool has changed velocities since the last step.
    was_attracted: bool,
    /// Collision record of each body: number of hits, deepest overlap, and number of steps since the last hit.
    pub(super) contact: Buffer<[f32; 4]>,
    /// Index of the group in which each body started, used to colour bodies by origin.
    origin: Buffer<f32>,
    packed: PackedPoints,
    /// Smallest positive radius and largest radius of the bodies, each divided by the `radius` parameter.
    pub(super) radii: [f32; 2],
    pub(super) burst: Burst,
    pub(super) cursor: Cursor,
    /// Number of bodies in a unit of work. Each device computes whole units.
    pub(super) grain: usize,
    attract: AttractKernels,
}

/// Measurement of the bodies' speeds by the kernel `motion`, from which the number of substeps is chosen.
pub(super) enum Measurement {
    /// A queued measurement whose result has not been read yet.
    Queued(Pending<Memory<u32>>),
    /// Result: the largest ratio of speed to radius; then 1 if a body may soon touch the planet, or else 0.
    Done([f32; 2]),
}

/// Progress of a burst (a number of steps that run without a read-back).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Burst {
    pub(super) steps: u32,
    /// Index in the burst of the current step or, between steps, of the next step.
    pub(super) step: u32,
    /// Index of the next substep within the current step.
    pub(super) substep: u32,
    /// Total number of substeps completed in this burst.
    pub(super) substeps: u64,
}

/// Inputs of the kernel `pack`, which computes the points to draw.
struct Drawn<'a> {
    /// Length of the last substep, or 0 before the first step.
    dt: f32,
    x: &'a Buffer<[f32; 4]>,
    v: &'a Buffer<[f32; 4]>,
    /// Velocities before the last substep; unused before the first step.
    v_before: &'a Buffer<[f32; 4]>,
    /// Collision record of each body.
    contact: &'a Buffer<[f32; 4]>,
    /// Index of the group in which each body started.
    origin: &'a Buffer<f32>,
}

impl Drawn<'_> {
    /// Returns the first arguments of the kernel `pack`.
    fn args(&self, params: &Asteroids) -> [Arg<'_>; 10] {
        [
            Arg::Uint(self.x.len() as u32),
            Arg::Float(params.radius),
            Arg::Uint(params.colour.index() as u32),
            Arg::Float(self.dt),
            Arg::Float(params.g * params.planet_mass),
            self.x.into(),
            self.v.into(),
            self.v_before.into(),
            self.contact.into(),
            self.origin.into(),
        ]
    }
}

/// Returns the shape in which the bodies are drawn.
fn drawn_shape(params: &Asteroids) -> Shape {
    Shape::Spheres { planet: params.planet_radius }
}

/// Returns the points to draw for `bodies` before the first step.
pub(super) fn preview(device: &Device, params: &Asteroids, bodies: &Bodies) -> Result<Points> {
    let Reduction { mut lane, program, .. } = Reduction::new(device, &[MEASURE], &[])?;
    let packed = PackedPoints::new(device, program.kernel("pack")?, bodies.len())?;
    let (x, v, _) = to_device(bodies);
    let [x, v] = [Buffer::from_slice(device, &x)?, Buffer::from_slice(device, &v)?];
    let (contact, origin) = (no_contacts(device, bodies)?, origins(device, bodies)?);
    let drawn = Drawn { dt: 0.0, x: &x, v: &v, v_before: &v, contact: &contact, origin: &origin };
    let points = packed.publish(&mut lane, &drawn.args(params), Points::default(), drawn_shape(params))?;
    Ok(points.wait()?.0)
}

/// Creates the buffer of collision records for bodies that have not collided yet.
fn no_contacts(device: &Device, bodies: &Bodies) -> Result<Buffer<[f32; 4]>> {
    Buffer::from_slice(device, &vec![[0.0, 0.0, NEVER, 0.0]; bodies.len()])
}

/// Creates the buffer that holds the index of each body's initial group.
fn origins(device: &Device, bodies: &Bodies) -> Result<Buffer<f32>> {
    Buffer::from_slice(device, &bodies.origins().collect::<Vec<_>>())
}

impl AsteroidSimulation {
    pub(super) fn new(own: &DeviceRecipe, params: &Asteroids, bodies: &Bodies, grain: usize) -> Result<Self> {
        let DeviceRecipe { device, recipe } = own;
        let ProgramSource { files, defines, .. } = params.source(recipe, &device.info)?;
        let program = Program::build(device, &files, &defines)?;
        let (count, substeps) = (bodies.len(), params.substeps.fixed().unwrap_or(1));
        let setup = Setup { device, program: &program, recipe: *recipe, bodies: count };
        let builder: &Builder = recipe.variant.solver()?;
        let solver = (builder.0)(&setup)?;
        let second = match params.contact_law {
            ContactLaw::Match => Some(SecondPass::new(&setup, solver.second_kernel())?),
            ContactLaw::Simple => None,
        };
        let reduction = Reduction::new(device, &[MEASURE], &[])?;
        let (x, v, radii) = to_device(bodies);
        Ok(Self {
            lane: Lane::new(device),
            params: params.clone(),
            substeps,
            schedule: Schedule::default(),
            motion: program.kernel("motion")?,
            motion_bits: Buffer::new(device, 2)?,
            motion_memory: Memory::default(),
            count,
            solver,
            second,
            packed: PackedPoints::new(device, reduction.program.kernel("pack")?, count)?,
            reduction,
            x: [Buffer::from_slice(device, &x)?, Buffer::new(device, count)?],
            v: [Buffer::from_slice(device, &v)?, Buffer::new(device, count)?],
            stepped: false,
            was_attracted: false,
            contact: no_contacts(device, bodies)?,
            origin: origins(device, bodies)?,
            radii,
            burst: Burst::default(),
            cursor: Cursor::default(),
            grain,
            attract: AttractKernels::default(),
        })
    }

    pub(super) fn coefficients(&self) -> Arg<'static> {
        let Asteroids {
            dt, decay, restitution, friction, radius, push, planet_mass, planet_radius, g, ..
        } = self.substep();
        let decay = if self.burst.substep + 1 == self.substeps { decay } else { 1.0 };
        let part = 1.0 / self.substeps as f32;
        let is_later = f32::from(u8::from(self.burst.substep > 0));
        let gm = g * planet_mass;
        let law = [dt, decay, restitution, friction, push, radius, gm, planet_radius, part, is_later];
        Arg::Float16(std::array::from_fn(|nth| law.get(nth).copied().unwrap_or(0.0)))
    }

    fn least_radius(&self) -> f32 {
        self.radii[0] * self.params.radius
    }

    /// Chooses the number of substeps of the next step. Queues a measurement of the bodies' speeds if one is due.
    pub(super) fn begin_step(&mut self) -> Result<()> {
        let count = match self.params.substeps.fixed() {
            Some(count) => count,
            None => {
                let due = self.schedule.next();
                if due.measure {
                    self.schedule.measurement = Some(self.measure()?);
                }
                if due.apply
                    && let Some([rate, lands]) = self.last_measurement()?
                {
                    let motion = Motion { rate: f64::from(rate), lands: lands > 0.0 };
                    self.schedule.measurement = None;
                    self.schedule.substeps = motion.substeps(&self.params, f64::from(self.least_radius()));
                }
                self.schedule.substeps
            }
        };
        self.substeps = count;
        Ok(())
    }

    /// Returns the number of substeps that the next step will have unless a new measurement changes it.
    fn planned_substeps(&self) -> u32 {
        self.params.substeps.fixed().unwrap_or(self.schedule.substeps.max(1))
    }

    /// Returns the parameters of the last substep of the current step or, between steps, of the previous step.
    fn substep(&self) -> Asteroids {
        self.params.substep(self.substeps)
    }

    /// Queues a measurement of the bodies' speeds, from which the number of substeps is chosen.
    fn measure(&mut self) -> Result<Measurement> {
        /// Maximum number of work-items, enough to keep a device busy.
        const ITEMS: usize = 1 << 14;
        if self.radii[1] == 0.0 {
            // If all bodies have the radius 0, none can touch another.
            return Ok(Measurement::Done([0.0, 0.0]));
        }
        self.motion_bits.clear()?;
        let args = [
            Arg::Uint(self.count as u32),
            self.coefficients(),
            Arg::Float(Motion::ahead(&self.params) as f32),
            Arg::Float(self.least_radius()),
            (&self.x[0]).into(),
            (&self.v[0]).into(),
            (&self.motion_bits).into(),
        ];
        self.lane.whole(Pass::cheap(&self.motion, &args, ITEMS.min(self.count)))?;
        Ok(Measurement::Queued(self.motion_bits.read_into(std::mem::take(&mut self.motion_memory))?))
    }

    /// Returns the latest measurement, or `None` if it was already applied. Waits for a queued measurement.
    pub(super) fn last_measurement(&mut self) -> Result<Option<[f32; 2]>> {
        let result = match self.schedule.measurement.take() {
            None => return Ok(None),
            Some(Measurement::Done(result)) => result,
            Some(Measurement::Queued(pending)) => {
                let (bits, _) = pending.wait()?;
                let result = [f32::from_bits(bits[0]).min(f32::MAX), bits[1] as f32];
                self.motion_memory = bits;
                result
            }
        };
        self.schedule.measurement = Some(Measurement::Done(result));
        Ok(Some(result))
    }

    /// Returns a reading that shows `reach`, the largest displacement of a body in a substep, in units of the body's
    /// radius. The reading has a warning if `reach` is too large.
    fn longest_move(&self, reach: f64) -> Reading {
        let is_long = reach > LONGEST_MOVE;
        let (warns, advice, remedy) = match self.params.substeps {
            Substeps::Auto if self.substeps == Substeps::MOST => (
                is_long,
                "Even with 64 substeps, bodies move more than half their radius in a substep and can pass through others: reduce the time step.",
                Remedy::SHORTER_STEP,
            ),
            // Speeds are measured every few steps. Between measurements, a collision can make a body too fast.
            Substeps::Auto => (
                reach > 2.0 * LONGEST_MOVE,
                "In some steps, bodies that collided became too fast for the number of substeps, and may have passed through others: reduce the time step, or set Substeps to a larger number.",
                Remedy::SHORTER_STEP,
            ),
            Substeps::Fixed(_) => (
                is_long,
                "Bodies move more than half their radius in a substep and can pass through others: set Substeps to auto, or reduce the time step.",
                Remedy::Choose("substeps", "auto"),
            ),
        };
        let help = "Largest distance that a body moves in a substep, divided by its radius. If Substeps is set to auto, more substeps are used when this value exceeds 0.5.";
        Reading {
            unit: " radii",
            ..Reading::new("reach", "Displacement per substep", reach)
                .help(help)
                .warns_of(warns, advice, remedy)
        }
    }
}

/// Converts the bodies to the layout of `kernels/asteroids/contact.cl`. Returns a row `(x, y, z, ρ)` and a row `(vx,
/// vy, vz, m)` per body, and the [extent] of ρ. ρ is the radius divided by the `radius` parameter, or NaN for bodies
/// with non-finite values.
fn to_device(bodies: &Bodies) -> (Vec<[f32; 4]>, Vec<[f32; 4]>, [f32; 2]) {
    let units = unit_radii(bodies.positions.iter().map(|x| f64::from(x[3])));
    let place = |(([x, y, z, _], unit), v): ((&[f32; 4], &f64), &[f32; 4])| {
        [*x, *y, *z, if v[0].is_finite() { *unit as f32 } else { f32::NAN }]
    };
    let x: Vec<_> = bodies.positions.iter().zip(&units).zip(&bodies.velocities).map(place).collect();
    let speed = |([vx, vy, vz, _], x): (&[f32; 4], &[f32; 4])| [*vx, *vy, *vz, x[3]];
    let v = bodies.velocities.iter().zip(&bodies.positions).map(speed).collect();
    let radii = extent(x.iter().map(|x| x[3]));
    (x, v, radii)
}

impl Simulation for AsteroidSimulation {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        let params = mode.of::<Asteroids>()?;
        let effect = mode.change_from(&self.params);
        if self.params.divided_by() != params.divided_by() {
            self.schedule = Schedule::default();
        }
        self.params = params.clone();
        self.stepped &= effect <= Some(ChangeEffect::View);
        self.substeps = if self.stepped { self.substeps } else { self.planned_substeps() };
        Ok(())
    }

    fn start(&mut self, steps: u32) {
        self.stepped |= steps > 0;
        self.was_attracted &= steps == 0;
        (self.burst, self.cursor) = (Burst { steps, ..Burst::default() }, Cursor::default());
    }

    fn advance(&mut self) -> Result<bool> {
        self.advance_alone()
    }

    fn progress(&self) -> f32 {
        let Burst { steps, step, substep, .. } = self.burst;
        // The second pass takes little time compared with the search for contacts, so its progress counts as complete.
        let begun = if self.cursor.stage > 0 { 1.0 } else { self.cursor.progress() };
        (step as f32 + (substep as f32 + begun) / self.substeps as f32) / steps.max(1) as f32
    }

    fn rounds(&mut self) -> f64 {
        match self.burst.step {
            0 => f64::from(self.substeps),
            step => self.burst.substeps as f64 / f64::from(step),
        }
    }

    fn source(&self) -> Option<&Arc<ProgramSource>> {
        Some(self.solver.advance().source())
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.lane
    }

    fn state(&mut self) -> Result<State> {
        let (mut x, mut v) = (self.x[0].read()?, self.v[0].read()?);
        for ((x, v), origin) in x.iter_mut().zip(&mut v).zip(self.origin.read()?) {
            x[3] = if v[0].is_finite() { v[3] } else { 0.0 };
            v[3] = origin;
        }
        Ok(Bodies { positions: x, velocities: v }.into())
    }

    /// Returns the lists to store in a snapshot: sizes, masses, contacts, and the substep schedule. The lists include
    /// bodies with non-finite values.
    fn extra(&mut self) -> Result<Extra> {
        let measured = self.last_measurement()?.unwrap_or_default();
        let fourth = |rows: Vec<[f32; 4]>| rows.into_iter().map(|row| row[3]).collect();
        Ok([
            (SIZES, fourth(self.x[0].read()?)),
            (MASSES, fourth(self.v[0].read()?)),
            (CONTACT, self.contact.read()?.into_flattened()),
            (RADII, self.radii.to_vec()),
            (SUBSTEPS, self.schedule.to_list(measured, &self.params)),
        ]
        .map(|(name, list)| (name.to_owned(), list))
        .into())
    }

    fn resume(&mut self, extra: &Extra) -> Result<()> {
        let patched = |buffer: &Buffer<[f32; 4]>, name: &str| {
            let mut rows = buffer.read()?;
            let fourth = list(extra, name, rows.len())?;
            rows.iter_mut().zip(fourth).for_each(|(row, fourth)| row[3] = *fourth);
            Buffer::from_slice(self.lane.device(), &rows)
        };
        let (x, v) = (patched(&self.x[0], SIZES)?, patched(&self.v[0], MASSES)?);
        let contact =
            Buffer::from_slice(self.lane.device(), list(extra, CONTACT, 4 * self.count)?.as_chunks().0)?;
        let radii = list(extra, RADII, 2)?;
        let schedule = match extra.get(SUBSTEPS) {
            Some(list) => Schedule::from_list(list, &self.params, Measurement::Done)
                .ok_or_else(|| invalid!("the stored numbers of substeps are invalid: {list:?}"))?,
            None => Schedule::default(),
        };
        (self.x[0], self.v[0], self.contact, self.radii) = (x, v, contact, [radii[0], radii[1]]);
        self.schedule = schedule;
        self.substeps = self.planned_substeps();
        Ok(())
    }

    fn publish(&mut self, points: Points, _light: Option<&LightRequest>) -> Result<Pending<Points>> {
        let drawn = Drawn {
            dt: if self.stepped { self.substep().dt } else { 0.0 },
            x: &self.x[0],
            v: &self.v[0],
            v_before: &self.v[1],
            contact: &self.contact,
            origin: &self.origin,
        };
        self.packed.publish(&mut self.lane, &drawn.args(&self.params), points, drawn_shape(&self.params))
    }

    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        let (mut x, mut v) = (self.x[0].read_at(body)?, self.v[0].read_at(body)?);
        (x[3], v[3]) = (if v[0].is_finite() { v[3] } else { 0.0 }, 0.0);
        Ok(Some([x, v]))
    }

    fn attract(&mut self, attractor: &Attractor, time: f32) -> Result<()> {
        self.was_attracted = true;
        // Clears the schedule, so that the next step begins with a measurement of the bodies' speeds.
        self.schedule = Schedule::default();
        // The fixed planet takes the recoil of the bodies. If the planet does not attract them, their total momentum
        // must not change, or they would all drift out of the picture.
        let keeps_momentum = self.params.g * self.params.planet_mass == 0.0;
        let bodies = Attracted { x: &self.x[0], v: &self.v[0], mass_in: "v", keeps_momentum };
        self.attract.queue(&mut self.lane, (attractor, time), &bodies)
    }

    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        if !self.stepped || self.was_attracted || self.burst.step < self.burst.steps {
            return Ok(None);
        }
        let read = |at: usize| -> Result<(Bodies, Vec<f64>)> {
            let (mut positions, velocities) = (self.x[at].read()?, self.v[at].read()?);
            // Sizes cannot be computed from masses, since bodies keep their sizes when edits change the mean mass.
            let radii = positions.iter().map(|x| f64::from(x[3]) * f64::from(self.params.radius)).collect();
            positions.iter_mut().zip(&velocities).for_each(|(x, v)| x[3] = v[3]);
            Ok((Bodies { positions, velocities }, radii))
        };
        let ((before, radii), (after, _)) = (read(1)?, read(0)?);
        let (dt, step) = (f64::from(self.substep().dt), Step::new(&self.substep(), before, radii));
        let judge = move |i: usize| {
            let (x_before, v_before, _) = step.body(i);
            let (x_after, v_after, _) = body(&after, i);
            // Skips bodies with contacts that single precision may classify differently.
            let (x_right, v_right) = step.moved(i).filter(|_| !step.is_in_doubt(i))?;
            // Adds the planet's pull as a fourth component to the computed and to the exact result, because contacts
            // may cancel the pull in the other three.
            let pull = step.pull(i).length() * dt;
            let effect = |x: DVec3, v: DVec3| Effect {
                velocity: (v - v_before).extend(pull).to_array(),
                position: (x - x_before).extend(pull * dt).to_array(),
            };
            // Rounds the exact result to f32, because storage in f32 is not an error of the kernel.
            let stored = |v: DVec3| v.as_vec3().as_dvec3();
            let judged = Judged {
                body: i,
                computed: effect(x_after, v_after),
                right: effect(stored(x_right), stored(v_right)),
            };
            (finite(x_right) && finite(v_right)).then_some(judged)
        };
        Ok(Some(Box::new(chosen.into_iter().filter_map(judge))))
    }

    fn diagnostics(&mut self) -> Result<Diagnostics> {
        let Asteroids { radius, planet_mass, planet_radius, g, .. } = self.params;
        let from = [(&self.x[0]).into(), (&self.v[0]).into(), (&self.contact).into()];
        let head = [
            Arg::Uint(self.count as u32),
            Arg::Float(planet_radius),
            Arg::Float(self.radii[0].max(f32::MIN_POSITIVE)),
        ];
        let args = [&head[..], &from].concat();
        let sums = self.reduction.run(&args)?;
        let [deepest, fastest] = sums.maxima;
        let reach = match self.radii[1] {
            // If all bodies have the radius 0, none can be hit.
            0.0 => 0.0,
            _ => fastest * f64::from(self.substep().dt) / f64::from(radius),
        };
        let [hits, met, _] = sums.extra;
        let cells = met / (27.0 * self.count as f64);
        let mut readings = vec![
            Reading::count("collisions", "Collisions", hits / 2.0)
                .help("Number of pairs of bodies that collided in the last step."),
            Reading::new("overlap", "Deepest overlap", deepest)
                .help("Deepest overlap of a body with another body, divided by the radius of the body."),
            Reading::count("substeps", "Substeps", f64::from(self.substeps))
                .help("Number of substeps in the last step."),
            self.longest_move(reach),
            Reading::new("kinetic", "Kinetic energy", sums.diagnostics.kinetic)
                .help("Sum of ½ m v² over all bodies."),
        ];
        if met > 0.0 {
            let help = "Mean number of bodies per grid cell, in the 27 cells at and around each body. With more bodies per cell, a step takes longer.";
            readings.push(Reading::new("bodies_a_cell", "Bodies per cell", cells).help(help));
        }
        let potential = -f64::from(g * planet_mass) * sums.potential;
        Ok(Diagnostics { potential, readings, ..sums.diagnostics })
    }
}
