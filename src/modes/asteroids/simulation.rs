//! Asteroids on a device.

use std::any::Any;

use glam::DVec3;

use super::columns::Columns;
use super::grid::Grid;
use super::part::Share;
use super::reference::{Step, body, finite};
use super::substeps::{LONGEST_MOVE, Motion, Schedule, Substeps};
use super::{Asteroids, ContactLaw, INFO, unit_radii};
use crate::bodies::{Bodies, Points, Shape};
use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Pending, Program, Source};
use crate::error::{Error, Result};
use crate::hand::Pull;
use crate::memory::Memory;
use crate::modes::accuracy::{Effect, Judged, Sample};
use crate::modes::reduction::Reduction;
use crate::modes::snapshot::Snapshot;
use crate::modes::{Diagnostics, Extra, Mode, Reading, Recipe, Simulation, hand, list, source};
use crate::params::{Choice, Effect as Cost};
use crate::state::State;

const MEASURE: Source = source!("asteroids/measure.cl");

/// Others that a body of the cell list meets, roughly: what a slice of it costs.
const GRID_COST: f64 = 64.0;

/// Lists of what is carried on.
pub(super) const SIZES: &str = "sizes";
pub(super) const MASSES: &str = "masses";
pub(super) const CONTACT: &str = "contact";
pub(super) const RADII: &str = "radii";
pub(super) const SUBSTEPS: &str = "substeps";

/// Bodies on a device with the kernels that step them.
pub(super) struct AsteroidSimulation {
    pub(super) lane: Lane,
    pub(super) device: Device,
    pub(super) params: Asteroids,
    /// The parameters of a substep of the last step, or of one that is under way.
    substep: Asteroids,
    /// How many substeps that step has.
    pub(super) substeps: u32,
    pub(super) schedule: Schedule<Look>,
    /// Looks at the bodies to find how many substeps a step needs.
    motion: Kernel,
    /// What that kernel writes.
    seen: Buffer<u32>,
    /// Where `seen` is read to.
    seen_here: Memory<u32>,
    pub(super) count: usize,
    pub(super) recipe: Recipe,
    /// The first pass of a step over the bodies; under the law `simple` the only one.
    pub(super) advance: Kernel,
    /// The second pass, under the law `match`.
    pub(super) second: Option<Second>,
    pub(super) finder: Finder,
    pub(super) pack: Kernel,
    pub(super) reduction: Reduction,
    /// Places and velocities now, and where the next step puts them: swapped by arguments.
    pub(super) x: [Buffer<[f32; 4]>; 2],
    pub(super) v: [Buffer<[f32; 4]>; 2],
    /// Whether the last step was taken under today's parameters: then it went from `[1]` to `[0]`.
    pub(super) stepped: bool,
    /// Whether a hand changed velocities since that step.
    was_pulled: bool,
    /// Hits, deepest overlap, steps since the last hit.
    pub(super) contact: Buffer<[f32; 4]>,
    /// The group that each body began in.
    pub(super) origin: Buffer<f32>,
    pub(super) snapshot: Snapshot,
    /// The smallest of the radii over the parameter, of those that are not 0, and the largest.
    pub(super) radii: [f32; 2],
    pub(super) burst: Burst,
    /// What it does among several.
    pub(super) share: Share,
    /// What lets a person's hand act, once it did.
    pull: Option<Kernel>,
}

/// The second pass of a step, and what the first one leaves for it.
pub(super) struct Second {
    kernel: Kernel,
    /// The best partner, counts and flags of each body, as `kernels/asteroids/contact.cl` packs them.
    pub(super) roles: Buffer<[u32; 4]>,
    /// The bodies that each body touches: the first of all bodies, then the second of all bodies, and so on.
    partners: Buffer<u32>,
}

impl Second {
    /// Partners that are listed with a body: as many equal spheres as can touch one, and some more that overlap. The second
    /// pass searches again for those of a body with more.
    const PARTNERS: usize = 16;
    /// Bytes of a body in both lists.
    pub const BYTES_PER_BODY: usize = size_of::<[u32; 4]>() + Self::PARTNERS * size_of::<u32>();
    /// What a body costs in the second pass, in pairs of bodies.
    const COST: f64 = 16.0;

    /// What the kernels of both passes are compiled with.
    fn defines() -> [(&'static str, String); 2] {
        [("MATCH", "1".to_owned()), ("PARTNERS", Self::PARTNERS.to_string())]
    }

    fn new(device: &Device, program: &Program, recipe: Recipe, count: usize) -> Result<Self> {
        let kernel =
            program.kernel(if recipe.variant.name == "grid" { "resolve_sorted" } else { "resolve" })?;
        kernel.check_work_group(recipe.variant.name, recipe.work_group)?;
        let (roles, partners) = (Buffer::new(device, count)?, Buffer::new(device, Self::PARTNERS * count)?);
        Ok(Self { kernel, roles, partners })
    }
}

/// What a variant prepares before it looks for contacts.
pub(super) enum Finder {
    /// Nothing.
    AllPairs,
    /// Places in columns, and each pair once.
    Columns(Box<Columns>),
    /// Bodies sorted into cells.
    Cells(Box<Grid>),
}

/// A look at the bodies: what the kernel `motion` writes.
pub(super) enum Look {
    /// Under way.
    Asked(Pending<Memory<u32>>),
    /// The largest rate, and 1 if a body lands.
    Told([f32; 2]),
}

/// A burst under way.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Burst {
    pub(super) steps: u32,
    /// The step that comes next, or is under way.
    pub(super) step: u32,
    /// The substep of it that comes next.
    pub(super) substep: u32,
    /// Substeps so far.
    substeps: u64,
    /// Whether its first pass is all queued, and the second one comes next.
    pub(super) is_second: bool,
    /// The work-item at which it goes on.
    pub(super) from: usize,
}

impl Burst {
    /// Whether a step comes next of which nothing is queued.
    fn is_at_step(&self) -> bool {
        (self.substep, self.is_second, self.from) == (0, false, 0)
    }
}

impl AsteroidSimulation {
    pub fn new(device: &Device, params: &Asteroids, recipe: Recipe, bodies: &Bodies) -> Result<Self> {
        let variant = recipe.variant;
        let mut defines = recipe.defines();
        if params.contact_law == ContactLaw::Match {
            defines.extend(Second::defines());
        }
        let program = Program::build(device, &INFO.sources(variant), &defines)?;
        let advance = program.kernel("advance")?;
        advance.check_work_group(variant.name, recipe.work_group)?;
        let (count, substeps) = (bodies.len(), params.substeps.fixed().unwrap_or(1));
        let second = match params.contact_law {
            ContactLaw::Match => Some(Second::new(device, &program, recipe, count)?),
            ContactLaw::Simple => None,
        };
        let finder = match variant.name {
            "vector" => Finder::Columns(Box::new(Columns::new(device, &program, recipe, count)?)),
            "grid" => Finder::Cells(Box::new(Grid::new(device, &program, count)?)),
            _ => Finder::AllPairs,
        };
        let reduction = Reduction::new(device, &[MEASURE], &[])?;
        let (x, v, radii) = to_device(bodies);
        Ok(Self {
            lane: Lane::new(device),
            device: device.clone(),
            params: params.clone(),
            substep: params.substep(substeps),
            substeps,
            schedule: Schedule::default(),
            motion: program.kernel("motion")?,
            seen: Buffer::new(device, 2)?,
            seen_here: Memory::default(),
            count,
            recipe,
            advance,
            second,
            finder,
            pack: reduction.program().kernel("pack")?,
            reduction,
            x: [Buffer::from_slice(device, &x)?, Buffer::new(device, count)?],
            v: [Buffer::from_slice(device, &v)?, Buffer::new(device, count)?],
            stepped: false,
            was_pulled: false,
            contact: Buffer::from_slice(device, &vec![[0.0, 0.0, NEVER, 0.0]; count])?,
            origin: Buffer::from_slice(device, &bodies.origins().collect::<Vec<_>>())?,
            snapshot: Snapshot::new(device, count)?,
            radii,
            burst: Burst::default(),
            share: Share::default(),
            pull: None,
        })
    }

    fn coefficients(&self) -> Arg<'static> {
        let Asteroids {
            dt, decay, restitution, friction, radius, push, planet_mass, planet_radius, g, ..
        } = self.substep;
        let decay = if self.burst.substep + 1 == self.substeps { decay } else { 1.0 };
        let part = 1.0 / self.substeps as f32;
        let is_later = f32::from(u8::from(self.burst.substep > 0));
        let gm = g * planet_mass;
        let law = [dt, decay, restitution, friction, push, radius, gm, planet_radius, part, is_later];
        Arg::Float16(std::array::from_fn(|nth| law.get(nth).copied().unwrap_or(0.0)))
    }

    /// The smallest radius of a body that has one.
    fn least_radius(&self) -> f32 {
        self.radii[0] * self.params.radius
    }

    /// Decides how many substeps the next step has; where that takes a look at the bodies, queues one.
    pub(super) fn begin_step(&mut self) -> Result<()> {
        let count = match self.params.substeps.fixed() {
            Some(count) => count,
            None => {
                let due = self.schedule.next();
                if due.look {
                    self.schedule.look = Some(self.look()?);
                }
                if due.answer
                    && let Some(look) = self.schedule.look.take()
                {
                    let [rate, lands] = self.told(look)?;
                    let motion = Motion { rate: f64::from(rate), lands: lands > 0.0 };
                    self.schedule.substeps = motion.substeps(&self.params, f64::from(self.least_radius()));
                }
                self.schedule.substeps
            }
        };
        self.divide(count);
        Ok(())
    }

    /// The number of substeps of the next step, as far as it is known before a look at the bodies.
    fn planned_substeps(&self) -> u32 {
        self.params.substeps.fixed().unwrap_or(self.schedule.substeps.max(1))
    }

    /// Divides the next step into so many substeps.
    pub(super) fn divide(&mut self, count: u32) {
        self.substeps = count;
        self.substep = self.params.substep(count);
    }

    fn look(&mut self) -> Result<Look> {
        if self.radii[1] == 0.0 {
            // Nobody can be touched.
            return Ok(Look::Told([0.0, 0.0]));
        }
        /// Work-items: enough to fill a device.
        const ITEMS: usize = 1 << 14;
        self.seen.clear()?;
        let args = [
            Arg::Uint(self.count as u32),
            self.coefficients(),
            Arg::Float(Motion::ahead(&self.params) as f32),
            Arg::Float(self.least_radius()),
            (&self.x[0]).into(),
            (&self.v[0]).into(),
            (&self.seen).into(),
        ];
        self.lane.whole(Pass::cheap(&self.motion, &args, ITEMS.min(self.count)))?;
        Ok(Look::Asked(self.seen.read_into(std::mem::take(&mut self.seen_here))?))
    }

    /// What a look tells. Waits for the device.
    fn told(&mut self, look: Look) -> Result<[f32; 2]> {
        Ok(match look {
            Look::Asked(answer) => {
                let (seen, _) = answer.wait()?;
                let told = [f32::from_bits(seen[0]).min(f32::MAX), seen[1] as f32];
                self.seen_here = seen;
                told
            }
            Look::Told(told) => told,
        })
    }

    /// Waits for a look that is under way; what the last look tells that is not in force yet.
    pub(super) fn last_look(&mut self) -> Result<Option<[f32; 2]>> {
        let Some(look) = self.schedule.look.take() else { return Ok(None) };
        let told = self.told(look)?;
        self.schedule.look = Some(Look::Told(told));
        Ok(Some(told))
    }

    /// The longest move of a body in a substep over its radius, with a warning where no further division helps.
    fn longest_move(&self, reach: f64) -> Reading {
        let is_long = reach > LONGEST_MOVE;
        let (warns, advice) = match self.params.substeps {
            Substeps::Auto if self.substeps == Substeps::MOST => (
                is_long,
                "Even with 64 substeps, bodies move more than half their radius in a substep and can pass through others: reduce Time step.",
            ),
            // The bodies are looked at every few steps: until then a collision can make one too fast for the division in force.
            Substeps::Auto => (
                reach > 2.0 * LONGEST_MOVE,
                "Collisions made bodies faster than the substeps can follow for some steps, so that they can pass through others: reduce Time step or set Substeps.",
            ),
            Substeps::Fixed(_) => (
                is_long,
                "Bodies move more than half their radius in a substep and can pass through others: set Substeps to auto, or reduce Time step.",
            ),
        };
        let help = "the longest move of a body in a substep, divided by its radius; with Substeps on auto, a value above 0.5 adds substeps";
        Reading::new("reach", "Longest move", reach, help).warns_of(warns, advice)
    }

    /// Lets the next step begin with a look at the bodies, since they or the parameters have changed.
    fn look_again(&mut self) {
        self.schedule = Schedule::default();
    }

    /// Work-items of the first pass over all bodies.
    fn items(&self) -> usize {
        match &self.finder {
            Finder::Columns(columns) => columns.items(&self.recipe, self.count),
            Finder::AllPairs | Finder::Cells(_) => self.recipe.items(self.count),
        }
    }

    /// Queues a slice of the next substep.
    fn slice(&mut self) -> Result<()> {
        if self.burst.is_at_step() {
            self.begin_step()?;
        }
        let items = if self.burst.is_second { self.count } else { self.items() };
        match &self.finder {
            _ if self.burst.is_second => self.slice_of_second(items)?,
            Finder::Columns(_) => self.slice_of_search(items)?,
            Finder::AllPairs | Finder::Cells(_) => self.slice_of_first(self.burst.from == 0, items)?,
        }
        if self.burst.from >= items {
            if self.second.is_some() && !self.burst.is_second {
                (self.burst.is_second, self.burst.from) = (true, 0);
            } else {
                self.end_substep();
            }
        }
        Ok(())
    }

    pub(super) fn end_substep(&mut self) {
        self.x.swap(0, 1);
        self.v.swap(0, 1);
        self.burst.substep += 1;
        self.burst.substeps += 1;
        if self.burst.substep >= self.substeps {
            (self.burst.step, self.burst.substep) = (self.burst.step + 1, 0);
        }
        (self.burst.is_second, self.burst.from) = (false, 0);
    }

    /// Queues a slice of the search for all who touch, each pair once; after the last one the first pass over the lists.
    fn slice_of_search(&mut self, items: usize) -> Result<()> {
        let Finder::Columns(columns) = &self.finder else { return Ok(()) };
        let (n, c, x) = (Arg::Uint(self.count as u32), self.coefficients(), Arg::from(&self.x[0]));
        if self.burst.from == 0 {
            columns.fill(&mut self.lane, n, self.params.radius, x)?;
        }
        let cost = self.count as f64 * self.recipe.bodies_per_item();
        let (kernel, args) = columns.search(n, c, x);
        let pass = Pass { kernel, args: &args, items, group: self.recipe.work_group, cost };
        self.burst.from = self.lane.slice(pass, self.burst.from)?;
        if self.burst.from >= items {
            let to = [&self.x[1], &self.v[1], &self.contact].map(Arg::from);
            let common = common([n, c], [x, (&self.v[0]).into()], to, self.second.as_ref());
            columns.finish(&mut self.lane, &common, self.count)?;
        }
        Ok(())
    }

    /// Queues a slice of the second pass up to the body `end`.
    pub(super) fn slice_of_second(&mut self, end: usize) -> Result<()> {
        let Some(second) = &self.second else { return Ok(()) };
        let (bodies, more) = match &self.finder {
            Finder::Cells(grid) => (grid.sorted(), grid.args(self.radii[1] * self.params.radius)),
            Finder::AllPairs | Finder::Columns(_) => ([&self.x[0], &self.v[0]].map(Arg::from), Vec::new()),
        };
        let head = [Arg::Uint(self.count as u32), self.coefficients()];
        let to = [&self.x[1], &self.v[1], &self.contact].map(Arg::from);
        let args = [common(head, bodies, to, self.second.as_ref()), more].concat();
        let (kernel, group) = (&second.kernel, self.recipe.work_group);
        let pass = Pass { kernel, args: &args, items: end, group, cost: Second::COST };
        self.burst.from = self.lane.slice(pass, self.burst.from)?;
        Ok(())
    }

    /// Queues a slice of the first pass up to the work-item `end`, and where it `starts` what the variant prepares.
    pub(super) fn slice_of_first(&mut self, starts: bool, end: usize) -> Result<()> {
        let n = Arg::Uint(self.count as u32);
        let (x, v) = (&self.x[0], &self.v[0]);
        let largest = self.radii[1] * self.params.radius;
        let (mut bodies, mut more) = ([x.into(), v.into()], Vec::new());
        let mut cost = self.count as f64 * self.recipe.bodies_per_item();
        match &self.finder {
            Finder::AllPairs => {}
            Finder::Columns(columns) => {
                if starts {
                    columns.fill(&mut self.lane, n, self.params.radius, x.into())?;
                }
                more = columns.args();
            }
            Finder::Cells(grid) => {
                if starts {
                    grid.fill(&mut self.lane, self.count, largest, x, v)?;
                }
                (bodies, more, cost) = (grid.sorted(), grid.args(largest), GRID_COST);
            }
        }
        let to = [&self.x[1], &self.v[1], &self.contact].map(Arg::from);
        let args = [common([n, self.coefficients()], bodies, to, self.second.as_ref()), more].concat();
        let group = self.recipe.work_group;
        let pass = Pass { kernel: &self.advance, args: &args, items: end, group, cost };
        self.burst.from = self.lane.slice(pass, self.burst.from)?;
        Ok(())
    }
}

/// What every kernel takes that looks for contacts or resolves them: the number of bodies and the coefficients, the bodies in
/// the variant's order, what a step writes, and what the passes share.
fn common<'a>(
    head: [Arg<'a>; 2],
    from: [Arg<'a>; 2],
    to: [Arg<'a>; 3],
    second: Option<&'a Second>,
) -> Vec<Arg<'a>> {
    let shared = second.map(|second| [(&second.roles).into(), (&second.partners).into()]);
    [&head[..], &from, &to, shared.as_ref().map_or(&[], |shared| &shared[..])].concat()
}

fn mode_of(params: &Asteroids) -> &dyn Mode {
    params
}

/// More steps than anyone waits for a hit.
pub(super) const NEVER: f32 = 1e9;

/// `(x, y, z, ρ)`, `(vx, vy, vz, m)` and the [extent] of ρ, as `kernels/asteroids/contact.cl` has them: a body
/// that is held out has ρ = NaN.
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

/// The smallest and the largest of `sizes`, without those of bodies that are held out or have none; 0 if no one has any.
pub(super) fn extent(sizes: impl Iterator<Item = f32>) -> [f32; 2] {
    let sizes = sizes.filter(|size| *size > 0.0 && size.is_finite());
    let [least, most] = sizes.fold([f32::INFINITY, 0.0f32], |[least, most], x| [x.min(least), x.max(most)]);
    [least.min(most), most]
}

impl Simulation for AsteroidSimulation {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        let mode: &dyn Any = mode;
        let params = mode
            .downcast_ref::<Asteroids>()
            .ok_or_else(|| Error::Invalid(format!("these are not parameters of {}", INFO.name)))?;
        let (_, cost) = mode_of(&self.params).values().changes(&mode_of(params).values());
        if self.params.divided_by() != params.divided_by() {
            self.look_again();
        }
        self.params = params.clone();
        self.stepped &= cost <= Some(Cost::View);
        self.divide(if self.stepped { self.substeps } else { self.planned_substeps() });
        Ok(())
    }

    fn start(&mut self, steps: u32) {
        self.stepped |= steps > 0;
        self.was_pulled &= steps == 0;
        self.burst = Burst { steps, ..Burst::default() };
    }

    fn advance(&mut self) -> Result<bool> {
        while self.burst.step < self.burst.steps && !self.lane.is_full() {
            self.slice()?;
        }
        self.lane.flush()?;
        Ok(self.burst.step < self.burst.steps)
    }

    fn progress(&self) -> f32 {
        let Burst { steps, step, substep, is_second, from, .. } = self.burst;
        // The second pass takes hardly any time beside the search for contacts.
        let begun = if is_second { 1.0 } else { from as f32 / self.items().max(1) as f32 };
        (step as f32 + (substep as f32 + begun) / self.substeps as f32) / steps.max(1) as f32
    }

    fn rounds(&self) -> f64 {
        match self.burst.step {
            0 => f64::from(self.substeps),
            step => self.burst.substeps as f64 / f64::from(step),
        }
    }

    fn take_seconds(&mut self) -> f64 {
        self.lane.take_seconds()
    }

    fn finish(&mut self) -> Result<()> {
        self.lane.finish()
    }

    fn state(&mut self) -> Result<State> {
        let (mut x, mut v) = (self.x[0].read()?, self.v[0].read()?);
        for ((x, v), origin) in x.iter_mut().zip(&mut v).zip(self.origin.read()?) {
            x[3] = if v[0].is_finite() { v[3] } else { 0.0 };
            v[3] = origin;
        }
        Ok(Bodies { positions: x, velocities: v }.into())
    }

    /// The masses and sizes of those who are held out too, and what was lately hit.
    fn extra(&mut self) -> Result<Extra> {
        let look = self.last_look()?.unwrap_or_default();
        let fourth = |rows: Vec<[f32; 4]>| rows.into_iter().map(|row| row[3]).collect();
        Ok([
            (SIZES, fourth(self.x[0].read()?)),
            (MASSES, fourth(self.v[0].read()?)),
            (CONTACT, self.contact.read()?.into_flattened()),
            (RADII, self.radii.to_vec()),
            (SUBSTEPS, self.schedule.to_list(look, &self.params)),
        ]
        .map(|(name, list)| (name.to_owned(), list))
        .into())
    }

    fn resume(&mut self, extra: &Extra) -> Result<()> {
        let patched = |buffer: &Buffer<[f32; 4]>, name: &str| {
            let mut rows = buffer.read()?;
            let fourth = list(extra, name, rows.len())?;
            rows.iter_mut().zip(fourth).for_each(|(row, fourth)| row[3] = *fourth);
            Buffer::from_slice(&self.device, &rows)
        };
        let (x, v) = (patched(&self.x[0], SIZES)?, patched(&self.v[0], MASSES)?);
        let contact = Buffer::from_slice(&self.device, list(extra, CONTACT, 4 * self.count)?.as_chunks().0)?;
        let radii = list(extra, RADII, 2)?;
        // Cells are as large as the largest body.
        if !(radii[0] >= 0.0 && radii[1] >= radii[0] && radii[1].is_finite()) {
            return Err(Error::Invalid(format!(
                "the sizes of bodies are not from {} to {}",
                radii[0], radii[1]
            )));
        }
        let schedule = match extra.get(SUBSTEPS) {
            Some(list) => Schedule::from_list(list, &self.params, Look::Told)
                .ok_or_else(|| Error::Invalid(format!("the list of substeps is not valid: {list:?}")))?,
            None => Schedule::default(),
        };
        (self.x[0], self.v[0], self.contact, self.radii) = (x, v, contact, [radii[0], radii[1]]);
        self.schedule = schedule;
        self.divide(self.planned_substeps());
        Ok(())
    }

    fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        let Asteroids { radius, planet_mass, planet_radius: planet, g, colour, .. } = self.params;
        let head = [
            Arg::Uint(self.count as u32),
            Arg::Float(radius),
            Arg::Uint(colour.index() as u32),
            Arg::Float(if self.stepped { self.substep.dt } else { 0.0 }),
            Arg::Float(g * planet_mass),
        ];
        let [now, before] = [&self.v[0], &self.v[1]].map(Arg::from);
        let from = [(&self.x[0]).into(), now, before, (&self.contact).into(), (&self.origin).into()];
        let Snapshot { positions, values } = &self.snapshot;
        let args = [&head[..], &from, &[positions.into(), values.into()]].concat();
        self.lane.whole(Pass::cheap(&self.pack, &args, self.count))?;
        self.lane.flush()?;
        self.snapshot.read(points, Shape::Spheres { planet })
    }

    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        let (mut x, mut v) = (self.x[0].read_at(body)?, self.v[0].read_at(body)?);
        (x[3], v[3]) = (if v[0].is_finite() { v[3] } else { 0.0 }, 0.0);
        Ok(Some([x, v]))
    }

    fn pull(&mut self, pull: &Pull, time: f32) -> Result<()> {
        self.was_pulled = true;
        self.look_again();
        if self.pull.is_none() {
            self.pull = Some(hand::kernel(&self.device)?);
        }
        match &self.pull {
            Some(kernel) => hand::queue(&mut self.lane, kernel, (pull, time), &self.x[0], &self.v[0]),
            None => Ok(()),
        }
    }

    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        if !self.stepped || self.was_pulled || self.burst.step < self.burst.steps {
            return Ok(None);
        }
        let read = |at: usize| -> Result<(Bodies, Vec<f64>)> {
            let (mut positions, velocities) = (self.x[at].read()?, self.v[at].read()?);
            // As they are, since bodies keep their sizes when a hand changes the mean mass.
            let radii = positions.iter().map(|x| f64::from(x[3]) * f64::from(self.params.radius)).collect();
            positions.iter_mut().zip(&velocities).for_each(|(x, v)| x[3] = v[3]);
            Ok((Bodies { positions, velocities }, radii))
        };
        let ((before, radii), (after, _)) = (read(1)?, read(0)?);
        let (dt, step) = (f64::from(self.substep.dt), Step::new(&self.substep, before, radii));
        let judge = move |i: usize| {
            let (x_before, v_before, _) = step.body(i);
            let (x_after, v_after, _) = body(&after, i);
            // A contact that single precision may take for another kind says nothing of a kernel.
            let (x_right, v_right) = step.moved(i).filter(|_| !step.is_in_doubt(i))?;
            // Contacts may cancel the pull, and yet it acted.
            let pull = step.pull(i).length() * dt;
            let effect = |x: DVec3, v: DVec3| Effect {
                velocity: (v - v_before).extend(pull).to_array(),
                position: (x - x_before).extend(pull * dt).to_array(),
            };
            // What comes of storing the bodies in f32 is no kernel's error.
            let stored = |v: DVec3| v.as_vec3().as_dvec3();
            let judged = Judged {
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
            // A body without a size cannot be hit.
            0.0 => 0.0,
            _ => fastest * f64::from(self.substep.dt) / f64::from(radius),
        };
        let [hits, met, _] = sums.extra;
        let cells = met / (27.0 * self.count as f64);
        let mut readings = vec![
            Reading::count(
                "collisions",
                "Collisions",
                hits / 2.0,
                "pairs that hit each other in the last step",
            ),
            Reading::new("overlap", "Deepest overlap", deepest, "the deepest overlap over the body's radius"),
            Reading::count(
                "substeps",
                "Substeps",
                f64::from(self.substeps),
                "number of substeps in the last step",
            ),
            self.longest_move(reach),
            Reading::new("kinetic", "Kinetic energy", sums.diagnostics.kinetic, "Σ ½ m v²"),
        ];
        if met > 0.0 {
            let help = "how full the 27 cells around a body are: what the step costs for each body";
            readings.push(Reading::new("bodies_a_cell", "Bodies a cell", cells, help));
        }
        let potential = -f64::from(g * planet_mass) * sums.potential;
        Ok(Diagnostics { potential, readings, ..sums.diagnostics })
    }
}
