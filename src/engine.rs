//! The engine: a simulation, its clock, and obedience to a [`Config`]. Synchronous: the headless commands and
//! the tests use it directly, the window through a [`crate::session::Session`].

use crate::bodies::{Bodies, Points};
use crate::compute::{Device, DeviceInfo, Kind, Pending};
use crate::config::{Config, Start};
use crate::error::{Error, Result};
use crate::modes::accuracy::Sample;
use crate::modes::{Diagnostics, Mode, Recipe, Simulation};
use crate::params::Effect;
use crate::scene::Setup;

/// A config with every `auto` decided for a device.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolved {
    /// How many bodies.
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
        let telling = bodies.min(most_telling_bodies(device.kind));
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
    let auto = match device.kind {
        Kind::Cpu => 4_096,
        Kind::Gpu | Kind::Accelerator => 65_536,
    };
    let most = max_bodies(device, config.mode.as_ref());
    // Where the number is fixed, one chosen for another scene waits for that scene.
    let bodies = config.start.fixed_bodies().or(config.bodies).unwrap_or(auto.min(most));
    match (1..=most).contains(&bodies) {
        true => Ok(bodies),
        false => Err(Error::Invalid(format!(
            "{bodies} bodies are not possible: {} has room for 1 to {most}",
            device.name
        ))),
    }
}

/// Numbers of bodies that are worth tuning for: beyond, the speed stays what it is.
pub fn most_telling_bodies(kind: Kind) -> usize {
    match kind {
        Kind::Cpu => 16_384,
        Kind::Gpu | Kind::Accelerator => 262_144,
    }
}

/// What a body takes of the host's memory besides, which a CPU shares with its device: in f64 while a scene is made, or
/// as a sample of the accuracy; in f32; and in three frames.
const HOST_BYTES_PER_BODY: usize = 64 + 32 + 3 * 20;

/// The most bodies that a device has room for. A change builds the new bodies beside the old, so at most half
/// of the memory counts.
pub fn max_bodies(device: &DeviceInfo, mode: &dyn Mode) -> usize {
    let on_host = match device.kind {
        Kind::Cpu => HOST_BYTES_PER_BODY,
        Kind::Gpu | Kind::Accelerator => 0,
    };
    let room = (device.memory_bytes as f64 * 0.45 / (mode.bytes_per_body() + on_host) as f64) as u64;
    let buffer = device.max_alloc_bytes / size_of::<[f32; 4]>() as u64;
    // Kernels count in `uint`, with room to round up.
    room.min(buffer).min(1 << 31) as usize
}

/// A scene that waits while another mode is shown.
struct Parked {
    config: Config,
    bodies: Bodies,
    clock: Clock,
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
    device: Device,
    config: Config,
    resolved: Resolved,
    simulation: Box<dyn Simulation>,
    clock: Clock,
    /// Seedings so far.
    seedings: u64,
    /// Other modes, as they were left.
    parked: Vec<Parked>,
    /// The energy that the drift is measured from; none after anything changed that does not conserve it.
    baseline: Option<f64>,
}

impl Engine {
    /// Makes the bodies and puts them on the device.
    ///
    /// # Errors
    /// If the config asks for what is not possible, a kernel does not build, or the device fails.
    pub fn new(device: Device, config: Config) -> Result<Self> {
        let resolved = Resolved::new(&config, &device.info)?;
        let simulation = build(&device, &config, resolved, &seed(&config, resolved.bodies))?;
        let clock = Clock { generation: 1, ..Clock::default() };
        Ok(Self {
            device,
            config,
            resolved,
            simulation,
            clock,
            seedings: 1,
            parked: Vec::new(),
            baseline: None,
        })
    }

    /// Changes to `config`: live parameters at once, kernels with the state kept, bodies only if they have to
    /// be others; a mode that was left goes on where it was. Says what the change cost, if it touched the
    /// simulation at all. On an error all stays as it was.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn configure(&mut self, config: Config) -> Result<Option<Effect>> {
        let resolved = Resolved::new(&config, &self.device.info)?;
        let effect = match self.config.mode.values().changes(&config.mode.values()).1 {
            _ if self.config.mode.info() != config.mode.info() => {
                self.switch(&config, resolved)?;
                Some(Effect::Reseed)
            }
            _ if self.reseeds(&config) => Some(Effect::Reseed),
            _ if resolved != self.resolved => Some(Effect::Rebuild),
            effect => effect,
        };
        match effect {
            Some(Effect::Reseed) if self.config.mode.info() == config.mode.info() => {
                let bodies = seed(&config, resolved.bodies);
                self.simulation = build(&self.device, &config, resolved, &bodies)?;
                self.reset_clock();
            }
            Some(Effect::Rebuild) => {
                let bodies = self.simulation.state()?;
                self.simulation = build(&self.device, &config, resolved, &bodies)?;
            }
            Some(Effect::View | Effect::Live) => self.simulation.set(config.mode.as_ref())?,
            Some(Effect::Reseed) | None => {}
        }
        if self.config.mode != config.mode {
            self.baseline = None;
        }
        (self.config, self.resolved) = (config, resolved);
        Ok(effect)
    }

    /// Puts the mode that runs aside, and goes on with that of `config` where it was left, or starts it.
    fn switch(&mut self, config: &Config, resolved: Resolved) -> Result<()> {
        let left =
            Parked { config: self.config.clone(), bodies: self.simulation.state()?, clock: self.clock };
        let is_the_same = |parked: &&Parked| {
            parked.config.mode.info() == config.mode.info()
                && parked.bodies.len() == resolved.bodies
                && !reseeds(&parked.config, config)
        };
        match self.parked.iter().find(is_the_same) {
            Some(parked) => {
                self.simulation = build(&self.device, config, resolved, &parked.bodies)?;
                self.clock = parked.clock;
            }
            None => {
                self.simulation = build(&self.device, config, resolved, &seed(config, resolved.bodies))?;
                self.reset_clock();
            }
        }
        self.parked.retain(|parked| parked.config.mode.info() != config.mode.info());
        self.parked.push(left);
        Ok(())
    }

    /// Whether `config` is possible and makes today's bodies pointless.
    pub fn reseeds(&self, config: &Config) -> bool {
        self.config.mode.info() == config.mode.info()
            && Resolved::new(config, &self.device.info).is_ok_and(|resolved| {
                resolved.bodies != self.resolved.bodies || reseeds(&self.config, config)
            })
    }

    /// Starts the scene afresh.
    ///
    /// # Errors
    /// If the device fails.
    pub fn restart(&mut self) -> Result<()> {
        let bodies = seed(&self.config, self.resolved.bodies);
        self.simulation = build(&self.device, &self.config, self.resolved, &bodies)?;
        self.reset_clock();
        Ok(())
    }

    fn reset_clock(&mut self) {
        self.seedings += 1;
        self.clock = Clock { generation: self.seedings, ..Clock::default() };
        self.baseline = None;
    }

    /// Plans a burst, which [`Engine::advance`] carries out; the clock shows its end.
    pub fn start(&mut self, steps: u32) {
        self.simulation.start(steps);
        self.clock.step += u64::from(steps);
        self.clock.time += f64::from(steps) * self.config.mode.time_step();
    }

    /// Queues the next part of the burst (see [`Simulation::advance`]); whether work remains.
    ///
    /// # Errors
    /// If the device fails.
    pub fn advance(&mut self) -> Result<bool> {
        self.simulation.advance()
    }

    /// Carries out `steps` steps and waits for them; `progress` hears the share that is done.
    ///
    /// # Errors
    /// If the device fails.
    pub fn run(&mut self, steps: u32, mut progress: impl FnMut(f32)) -> Result<()> {
        self.start(steps);
        while self.advance()? {
            progress(self.simulation.progress());
        }
        self.simulation.finish()
    }

    /// Measures what is conserved, and the relative change of the energy since the last change of a parameter
    /// or the start, if the energy should stay. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn diagnostics(&mut self) -> Result<(Diagnostics, Option<f64>)> {
        let sums = self.simulation.diagnostics()?;
        let baseline = *self.baseline.get_or_insert(sums.energy());
        let drift = relative_drift(baseline, sums.energy());
        Ok((sums, self.config.mode.conserves_energy().then_some(drift)))
    }

    /// What the last step did to the bodies `chosen` (see [`Simulation::sample`]). Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        self.simulation.sample(chosen)
    }

    /// The bodies now. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn state(&mut self) -> Result<Bodies> {
        self.simulation.state()
    }

    /// Queues the read-back of what is drawn into the memory of `points` (see [`Simulation::publish`]).
    ///
    /// # Errors
    /// If the device fails.
    pub fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        self.simulation.publish(points)
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

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Counts seedings, from 1.
    pub fn generation(&self) -> u64 {
        self.clock.generation
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

/// Whether going from one config to another of the same mode needs new bodies.
fn reseeds(old: &Config, new: &Config) -> bool {
    let (_, effect) = old.mode.values().changes(&new.mode.values());
    old.start != new.start || old.seed != new.seed || effect == Some(Effect::Reseed)
}

/// The bodies that a config starts from: `count` of them, unless they are loaded.
pub(crate) fn seed(config: &Config, count: usize) -> Bodies {
    match &config.start {
        Start::Loaded { bodies, .. } => Bodies::clone(bodies),
        Start::Scene(scene) => {
            let params = &config.mode.values();
            (scene.generate)(&Setup { bodies: count, seed: config.seed, params })
        }
    }
}

fn build(
    device: &Device,
    config: &Config,
    Resolved { recipe, .. }: Resolved,
    bodies: &Bodies,
) -> Result<Box<dyn Simulation>> {
    config.mode.build(device, recipe, bodies)
}
