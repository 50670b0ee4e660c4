//! The engine: a simulation, its clock, and obedience to a [`Config`]. Synchronous: the headless commands and
//! the tests use it directly, the window through a [`crate::session::Session`].

mod change;
mod hand;
mod kernels;
mod recovery;
mod resume;

use std::collections::VecDeque;

pub use self::recovery::{Checkpoint, Loss};
use self::resume::Parked;
use crate::bodies::{Bodies, Points};
use crate::compute::{Device, DeviceInfo, Devices, Kind, Pending};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::hand::Deed;
use crate::modes::accuracy::Sample;
use crate::modes::{Diagnostics, Extra, Mode, Recipe, Sharing, Simulation, Station, Together};
use crate::scene::Setup;
use crate::state::State;

/// A config with every `auto` decided for a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolved {
    /// How many bodies, or about how many cells.
    pub bodies: usize,
    /// The rung of the ladder with its numbers.
    pub recipe: Recipe,
}

impl Resolved {
    /// Decides every `auto` of `config`, and checks what was chosen by hand. A knob that the variant does not have waits
    /// for one that has it.
    ///
    /// # Errors
    /// If the device does not take the number of bodies or the work-group size.
    pub fn new(config: &Config, device: &DeviceInfo) -> Result<Self> {
        let bodies = bodies_for(config, device)?;
        let mode = config.mode.info();
        let telling = bodies.min(mode.work.sizes(device.kind).telling);
        let best = config.tuned.recipe(device, mode, config.variant, telling).unwrap_or_else(|| {
            let variant = config.variant.unwrap_or_else(|| (mode.auto_variant)(device, bodies));
            Recipe::guess(variant, device, bodies)
        });
        let recipe = config.knobs.iter().fold(best, |recipe, (name, value)| recipe.with_knob(name, *value));
        let most = recipe.max_work_group(device);
        let work_group = config.work_group.unwrap_or(recipe.work_group.min(most));
        if !(1..=most).contains(&work_group) {
            return Err(Error::Invalid(format!(
                "a work-group of {work_group} is not possible: {} takes 1 to {most} on {}",
                recipe.variant.name, device.name
            )));
        }
        Ok(Self { bodies, recipe: recipe.with_work_group(work_group) })
    }
}

fn bodies_for(config: &Config, device: &DeviceInfo) -> Result<usize> {
    let work = &config.mode.info().work;
    let auto = work.sizes(device.kind).auto;
    let most = max_bodies(device, config.mode.as_ref());
    // Where the number is fixed, one chosen for another scene waits for that scene.
    let bodies = config.start.bodies.or(config.bodies).unwrap_or(auto.min(most));
    match (1..=most).contains(&bodies) {
        true => Ok(bodies),
        false => Err(Error::Invalid(format!(
            "{bodies} {} are not possible: {} has room for 1 to {most}",
            work.things, device.name
        ))),
    }
}

/// What a body takes of the host's memory besides, which a CPU shares with its device: in f64 while a scene is made, or
/// as a sample of the accuracy; in f32; and in three frames.
const HOST_BYTES_PER_BODY: usize = 64 + 32 + 3 * 20;

/// The most bodies or cells that a device has room for. A change builds the new bodies beside the old, so at most half
/// of the memory counts.
pub fn max_bodies(device: &DeviceInfo, mode: &dyn Mode) -> usize {
    let on_host = match device.kind {
        Kind::Cpu => HOST_BYTES_PER_BODY,
        Kind::Gpu | Kind::Accelerator => 0,
    };
    let room = (device.memory_bytes as f64 * 0.45 / (mode.bytes_per_body() + on_host) as f64) as u64;
    let buffer = device.max_alloc_bytes / mode.bytes_in_a_buffer() as u64;
    room.min(buffer).min(mode.info().work.most as u64) as usize
}

/// Where a scene is.
#[derive(Debug, Clone, Copy, Default)]
struct Clock {
    /// Which seeding it is.
    generation: u64,
    step: u64,
    time: f64,
}

/// A simulation that obeys a [`Config`].
pub struct Engine {
    devices: Devices,
    config: Config,
    resolved: Resolved,
    simulation: Box<dyn Simulation>,
    /// How many bodies or cells there are: a scene may make more or fewer than it was asked for.
    size: usize,
    clock: Clock,
    /// Whether steps go backwards.
    backwards: bool,
    /// Seedings so far.
    seedings: u64,
    /// Other modes, as they were left.
    parked: Vec<Parked>,
    /// Each change that was made by hand and what was before it, the oldest first.
    undos: VecDeque<(Deed, Parked)>,
    /// Whether anything was changed by hand since the scene began.
    is_touched: bool,
    /// Whether it goes on where a snapshot was taken.
    is_resumed: bool,
    /// How often something was changed that a step does not tell.
    changes: u64,
    /// The energy that the drift is measured from; none after anything changed that does not conserve it.
    baseline: Option<f64>,
    checkpoint: Checkpoint,
    /// Where the burst began that was last planned.
    before: Clock,
    /// Whether something changed since that a step does not tell.
    is_changed: bool,
    /// Whether a burst was begun and nothing of it queued yet.
    is_fresh: bool,
    /// Whether steps that were taken already are to be taken again, after a loss.
    replays: bool,
    losses: Vec<Loss>,
    /// How often [`Engine::run`] went over all pairs or cells so far.
    rounds_run: f64,
}

impl Engine {
    /// Makes the bodies and puts them on the device.
    ///
    /// # Errors
    /// If the config asks for what is not possible, a kernel does not build, or the device fails.
    pub fn new(devices: impl Into<Devices>, config: Config) -> Result<Self> {
        let devices = devices.into();
        let resolved = Resolved::new(&config, &devices[0].info)?;
        let state = seed(&config, resolved.bodies);
        let simulation = build(&devices, &config, resolved, &state)?;
        let clock = Clock { generation: 1, ..Clock::default() };
        let checkpoint = Checkpoint::new(state, Extra::new(), clock);
        Ok(Self::with(devices, (config, resolved), simulation, checkpoint))
    }

    /// One that has just begun.
    fn with(
        devices: Devices,
        (config, resolved): (Config, Resolved),
        simulation: Box<dyn Simulation>,
        checkpoint: Checkpoint,
    ) -> Self {
        let clock = checkpoint.clock;
        Self {
            backwards: config.reverse,
            devices,
            config,
            resolved,
            simulation,
            size: checkpoint.state.len(),
            clock,
            seedings: 1,
            parked: Vec::new(),
            undos: VecDeque::new(),
            is_touched: false,
            is_resumed: false,
            changes: 0,
            baseline: None,
            checkpoint,
            before: clock,
            is_changed: false,
            is_fresh: false,
            replays: false,
            losses: Vec::new(),
            rounds_run: 0.0,
        }
    }

    /// Whether it goes on where a snapshot was taken.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// The other modes, as they were left.
    pub fn left(&self) -> impl Iterator<Item = &Config> {
        self.parked.iter().map(|parked| &parked.config)
    }

    /// Plans a burst, which [`Engine::advance`] carries out; the clock shows its end. Backwards it ends where the scene
    /// began.
    pub fn start(&mut self, steps: u32) {
        let Clock { step, .. } = self.clock;
        let dt = self.config.mode.time_step();
        let (steps, dt) = match self.backwards {
            false => (steps, dt),
            true => (steps.min(u32::try_from(step).unwrap_or(u32::MAX)), -dt),
        };
        let next = match self.backwards {
            false => step + u64::from(steps),
            true => step - u64::from(steps),
        };
        if self.replays {
            // Steps that are to be taken again go before; they go the same way.
            let again = next.abs_diff(self.checkpoint.clock.step);
            self.simulation.start(u32::try_from(again).unwrap_or(u32::MAX));
        } else {
            self.simulation.start(steps);
            (self.is_fresh, self.before) = (true, self.clock);
        }
        self.clock.step = next;
        self.clock.time += f64::from(steps) * dt;
        // What is left of rounding.
        if self.backwards && next == 0 && self.clock.time.abs() < 1e-6 * dt.abs() {
            self.clock.time = 0.0;
        }
    }

    /// Queues the next part of the burst (see [`Simulation::advance`]); whether work remains. If one of several devices
    /// fails, the others take the steps since the last checkpoint again, and go on: see [`Engine::take_losses`].
    ///
    /// # Errors
    /// If the only device fails, or the last that is left.
    pub fn advance(&mut self) -> Result<bool> {
        let outcome = self.check_in().and_then(|()| self.simulation.advance());
        let remains = self.survive(outcome)?.unwrap_or(true);
        self.replays &= remains;
        Ok(remains)
    }

    /// Carries out `steps` steps and waits for them; `progress` hears the share that is done.
    ///
    /// # Errors
    /// If the device fails, and none is left.
    pub fn run(&mut self, steps: u32, mut progress: impl FnMut(f32)) -> Result<()> {
        self.start(steps);
        while self.advance()? {
            progress(self.simulation.progress());
        }
        self.insist(|simulation| simulation.finish())?;
        self.rounds_run += f64::from(steps) * self.rounds();
        Ok(())
    }

    /// Measures what is conserved, and the relative change of the energy since that was first measured after the last change
    /// of a parameter or the start, if the energy should stay. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn diagnostics(&mut self) -> Result<(Diagnostics, Option<f64>)> {
        let sums = self.insist(|simulation| simulation.diagnostics())?;
        let drift = self.baseline.map(|baseline| relative_drift(baseline, sums.energy()));
        // A flow that blew up has none that a drift could be measured from.
        self.baseline = self.baseline.or(Some(sums.energy()).filter(|energy| energy.is_finite()));
        Ok((sums, drift.filter(|_| self.config.mode.conserves_energy())))
    }

    /// What the last step did to the bodies `chosen` (see [`Simulation::sample`]). Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        self.insist(|simulation| simulation.sample(chosen.clone()))
    }

    /// All that there is now. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn state(&mut self) -> Result<State> {
        self.insist(|simulation| simulation.state())
    }

    /// The bodies now. Waits.
    ///
    /// # Errors
    /// If the device fails, or there are none in this mode.
    pub fn bodies(&mut self) -> Result<Bodies> {
        self.state()?.into_bodies()
    }

    /// What the mode tells of each step of the last burst (see [`Simulation::series`]). Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn series(&mut self) -> Result<Vec<f64>> {
        self.insist(|simulation| simulation.series())
    }

    /// How many bodies or cells there are.
    pub fn size(&self) -> usize {
        self.size
    }

    /// Pairs or cells that a round of a step goes over: the unit of speed.
    pub fn work_in_step(&self) -> f64 {
        let mode = &self.config.mode;
        (mode.info().work.in_step)(self.size) * f64::from(mode.force_evaluations())
    }

    /// How often a step of the last burst went over all pairs or cells, on average.
    pub fn rounds(&self) -> f64 {
        self.simulation.rounds()
    }

    /// How often [`Engine::run`] went over all pairs or cells so far, in all its steps.
    pub fn rounds_run(&self) -> f64 {
        self.rounds_run
    }

    /// Queues the read-back of what is drawn into the memory of `points` (see [`Simulation::publish`]).
    ///
    /// # Errors
    /// If the device fails.
    pub fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        let mut points = Some(points);
        self.insist(|simulation| simulation.publish(points.take().unwrap_or_default()))
    }

    /// Device time of the steps that ended since this was last asked, in seconds.
    pub fn take_seconds(&mut self) -> f64 {
        self.simulation.take_seconds()
    }

    /// What is in force.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// What is in force, every `auto` decided.
    pub fn resolved(&self) -> Resolved {
        self.resolved
    }

    /// The first device: numbers that suit a device suit this one.
    pub fn device(&self) -> &Device {
        &self.devices[0]
    }

    /// All devices.
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// How the devices share the work; none if one alone does it.
    pub fn sharing(&self) -> Option<&Sharing> {
        self.simulation.sharing()
    }

    /// Whether several devices do.
    pub fn shares(&self) -> bool {
        let used = |sharing: &Sharing| sharing.members.iter().filter(|member| member.share > 0.0).count();
        self.sharing().is_some_and(|sharing| used(sharing) > 1)
    }

    /// Counts seedings, from 1.
    pub fn generation(&self) -> u64 {
        self.clock.generation
    }

    /// Counts what was changed by hand: bodies, obstacles, parameters, and what was undone. Steps are no change.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Steps since the scene began, and the simulated time.
    pub fn clock(&self) -> (u64, f64) {
        (self.clock.step, self.clock.time)
    }
}

/// The change of an energy relative to what it was; to nothing, if there was none.
pub fn relative_drift(start: f64, end: f64) -> f64 {
    match start {
        0.0 => end,
        _ => (end - start) / start.abs(),
    }
}

/// What a config starts from: `count` bodies or about as many cells, unless the scene has its own.
pub(crate) fn seed(config: &Config, count: usize) -> State {
    parted(config.start.generate(&Setup { bodies: count, seed: config.seed, params: &config.mode.values() }))
}

/// Bodies get groups to be told apart by, if they have none.
fn parted(mut state: State) -> State {
    if let Ok(bodies) = state.bodies_mut() {
        bodies.part();
    }
    state
}

fn build(
    devices: &Devices,
    config: &Config,
    resolved: Resolved,
    state: &State,
) -> Result<Box<dyn Simulation>> {
    let mode = directed(config, config.reverse)?;
    match stations(devices, config, resolved)?.as_slice() {
        [only] => mode.build(&only.device, only.recipe, state),
        several => mode.build_together(several, state),
    }
}

/// The same with what another carried on, if there is any.
fn continued(
    devices: &Devices,
    config: &Config,
    resolved: Resolved,
    (state, extra): (&State, &Extra),
) -> Result<Box<dyn Simulation>> {
    let mut simulation = build(devices, config, resolved, state)?;
    if !extra.is_empty() {
        simulation.resume(extra)?;
    }
    Ok(simulation)
}

/// Each device that takes part with what is best for it, as the first resolved the config.
///
/// # Errors
/// If one of them does not take what is asked for.
pub fn stations(devices: &Devices, config: &Config, resolved: Resolved) -> Result<Vec<Station>> {
    let Resolved { bodies, recipe } = resolved;
    let first = Station { device: devices[0].clone(), recipe };
    if recipe.variant.together == Together::No {
        return Ok(vec![first]);
    }
    let others = devices.iter().skip(1).map(|device| {
        let mut config = Config { bodies: Some(bodies), ..config.clone() };
        let mut own = Resolved::new(&config, &device.info)?.recipe;
        let may_differ = [recipe, own].iter().all(|recipe| recipe.variant.together == Together::Freely);
        if own.variant != recipe.variant && !may_differ {
            config.variant = Some(recipe.variant);
            own = Resolved::new(&config, &device.info)?.recipe;
        }
        Ok(Station { device: device.clone(), recipe: own })
    });
    [Ok(first)].into_iter().chain(others).collect()
}

/// The mode with its time going the way that is asked for.
fn directed(config: &Config, backwards: bool) -> Result<Box<dyn Mode>> {
    match backwards {
        false => Ok(config.mode.clone()),
        true => config.mode.backwards().map_err(|why| {
            Error::Invalid(format!("time does not go back here: {}", why.trim_end_matches('.')))
        }),
    }
}
