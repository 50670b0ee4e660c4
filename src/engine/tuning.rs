//! Measures the speed of kernel settings (recipes), for charts and to find the fastest settings.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use super::build::{Resolved, max_bodies, seed};
use crate::base::{Error, Result, State};
use crate::compute::{Device, DeviceInfo};
use crate::engine::config::Config;
use crate::engine::tuned::Tuned;
use crate::modes::{Knob, Mode, ModeInfo, Recipe, Simulation};

/// Time limit of the search for the fastest kernel settings. A measurement in progress at the limit is completed.
const SEARCH: Duration = Duration::from_secs(25);
/// Minimum duration of an exact speed measurement, in seconds. Shorter measurements are too inaccurate.
const TIMING: f64 = 0.03;
/// Duration of the first, rough speed measurement of kernel settings, in seconds.
const ROUGH_TIMING: f64 = TIMING / 4.0;
/// Number of times that each combination of kernel variant and settings is timed. Only the shortest time counts.
const TIMINGS: u32 = 3;
/// Kernel settings slower than this fraction of the highest speed so far are timed only roughly.
const CUT_OFF: f64 = 0.8;
/// Factor by which a new speed must exceed the highest speed so far for the new kernel settings to count as faster.
const GAIN: f64 = 1.01;
/// Duration of a simulation step, in seconds, above which the step is timed only once.
const LONGEST_STEP: f64 = 1.0;
/// Smallest number of bodies used in measurements by [`Study::Bodies`].
const FEWEST: usize = 256;

/// The measured speed of a kernel variant with certain settings.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// The kernel variant and settings that were measured.
    pub recipe: Recipe,
    /// Number of bodies or cells in the measurement.
    pub bodies: usize,
    /// Accuracy that the mode required of the variants (see [`Mode::accuracy`]).
    pub accuracy: &'static str,
    /// Speed in pairs or cells per second; [`crate::modes::Work`] defines how they are counted.
    pub pairs_per_second: f64,
    /// Whether the speed was measured only roughly, because other settings are much faster or a step takes very long.
    pub is_rough: bool,
}

impl Trial {
    /// Returns the fastest measurement of each variant, slowest first.
    pub fn best_of_each(trials: &[Self]) -> Vec<Self> {
        let mut sorted = trials.to_vec();
        sorted.sort_by(|a, b| b.pairs_per_second.total_cmp(&a.pairs_per_second));
        let mut best: Vec<Self> = Vec::new();
        for trial in sorted {
            if !best.iter().any(|better| better.recipe.variant == trial.recipe.variant) {
                best.insert(0, trial);
            }
        }
        best
    }
}

/// Stores the fastest settings of each kernel variant for each number of bodies in `tuned`, ignoring rough
/// measurements.
pub fn remember(tuned: &mut Tuned, device: &DeviceInfo, mode: &'static ModeInfo, trials: &[Trial]) {
    let mut thorough: Vec<Trial> = trials.iter().copied().filter(|trial| !trial.is_rough).collect();
    // Faster settings replace slower ones of the same variant and number of bodies.
    thorough.sort_by(|a, b| a.pairs_per_second.total_cmp(&b.pairs_per_second));
    for Trial { recipe, bodies, accuracy, pairs_per_second, .. } in thorough {
        tuned.remember(device, mode, (bodies, accuracy), (&recipe, pairs_per_second));
    }
}

/// Callback that receives the progress, from 0 to 1, and each measurement. Returns [`ControlFlow::Break`] to stop
/// measuring.
pub type Report<'a> = &'a mut dyn FnMut(f32, &Trial) -> ControlFlow<()>;

/// A series of speed measurements on a device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Study {
    /// Searches for the fastest kernel variant and settings.
    Tune,
    /// Measures the speed of each kernel variant with several work-group sizes.
    WorkGroups,
    /// Measures the speed of each kernel variant with different numbers of bodies.
    Bodies,
}

impl Study {
    /// Measures kernel variants and settings for the mode and the scene of `config`, unless `report` stops it early.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be applied.
    pub fn run(self, device: &Device, config: &Config, report: Report) -> Result<()> {
        let config = &self.subject(config);
        let Resolved { bodies, .. } = Resolved::new(config, &device.info)?;
        let most = config.mode.info().work.sizes(device.info.kind).telling;
        match self {
            Self::Tune => tune(device, config, bodies.min(most), report),
            Self::WorkGroups => work_groups(device, config, bodies.min(most), report),
            Self::Bodies => numbers(device, config, 4 * most, report),
        }
    }

    /// Returns the configuration to measure. [`Study::Bodies`] replaces a scene of fixed size with the default scene.
    pub fn subject(self, config: &Config) -> Config {
        match self == Self::Bodies && config.start.bodies.is_some() {
            true => Config { mode: config.mode.clone(), ..Config::new(config.mode.info()) },
            false => config.clone(),
        }
    }
}

/// Subject of speed measurements: a mode with an initial state, on a device.
struct Subject<'a> {
    device: &'a Device,
    mode: Box<dyn Mode>,
    state: State,
}

impl<'a> Subject<'a> {
    /// Generates the scene of `config` with at most `count` bodies.
    fn new(device: &'a Device, config: &'a Config, count: usize) -> Self {
        let mut state = seed(config, count);
        if let State::Bodies(bodies) = &mut state {
            bodies.positions.truncate(count);
            bodies.velocities.truncate(count);
        }
        let mut mode = config.mode.for_auto();
        mode.even();
        Self { device, mode, state }
    }

    /// Returns a first guess at the best settings of each kernel variant, slowest variant first.
    fn guesses(&self) -> Vec<Recipe> {
        let guess = |variant| Recipe::guess(variant, &self.device.info, self.state.len());
        self.mode.info().variants.iter().map(guess).collect()
    }

    /// Measures the speed of kernel settings, only roughly if the settings are much slower than `to_beat` (in pairs or
    /// cells per second). Returns `None` if the device does not support the settings.
    fn measure(&self, recipe: Recipe, to_beat: f64) -> Result<Option<Trial>> {
        let mut simulation = match self.mode.build(self.device, recipe, &self.state) {
            Ok(simulation) => simulation,
            // The kernel needs too many registers or too much local memory.
            Err(Error::Invalid(_) | Error::Build { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let bodies = self.state.len();
        let pairs = (self.mode.info().work.in_step)(bodies) * f64::from(self.mode.force_evaluations());
        // The first steps are slow (compilers and solvers warm up), so steps repeat until two take about the same time.
        let (burst, _) = self.mode.info().work.burst;
        if burst > 1 {
            // Some kernels run only in longer bursts.
            time(simulation.as_mut(), burst)?;
        }
        let mut step = f64::INFINITY;
        for _ in 0..5 {
            let seconds = time(simulation.as_mut(), 1)?;
            let is_settled = seconds > 0.5 * step || seconds > LONGEST_STEP;
            step = step.min(seconds);
            if is_settled {
                break;
            }
        }
        // A single short step would mostly measure waiting, so several short steps are timed together.
        let mut steps = 1;
        while step < LONGEST_STEP && step * f64::from(steps) < ROUGH_TIMING {
            steps =
                (ROUGH_TIMING / step).ceil().clamp(2.0 * f64::from(steps), 64.0 * f64::from(steps)) as u32;
            step = time(simulation.as_mut(), steps)?;
        }
        let is_rough = step >= LONGEST_STEP || pairs / step < CUT_OFF * to_beat;
        if !is_rough {
            let steps = (TIMING / step).ceil() as u32;
            for _ in 0..TIMINGS {
                step = step.min(time(simulation.as_mut(), steps)?);
            }
        }
        let accuracy = self.mode.accuracy();
        Ok(Some(Trial { recipe, bodies, accuracy, pairs_per_second: pairs / step, is_rough }))
    }
}

/// Runs `steps` steps in a row, and returns their average time in seconds.
fn time(simulation: &mut dyn Simulation, steps: u32) -> Result<f64> {
    let clock = Instant::now();
    simulation.start(steps);
    while simulation.advance()? {}
    simulation.finish()?;
    Ok(clock.elapsed().as_secs_f64() / f64::from(steps))
}

/// Returns variations of the kernel settings `recipe`. They differ only in the compile-time parameter `knob` or, if
/// `knob` is `None`, only in the work-group size (by at most a factor of four).
fn others(recipe: &Recipe, knob: Option<&'static Knob>, device: &DeviceInfo) -> Vec<Recipe> {
    let is_near = |size: &usize| (recipe.work_group / 4..=recipe.work_group * 4).contains(size);
    let mut all: Vec<Recipe> = match knob {
        Some(knob) => knob.options.iter().map(|value| recipe.with_knob(knob.name, *value)).collect(),
        None => {
            let sizes = recipe.work_groups(device).into_iter().filter(is_near);
            sizes.map(|size| recipe.with_work_group(size)).collect()
        }
    };
    all.retain(|other| other != recipe && other.work_group <= other.max_work_group(device));
    all
}

/// Measures guessed settings of each kernel variant that `auto` may choose. Then varies the fastest settings, one value
/// at a time, until no variation is faster or the time limit is reached.
fn tune(device: &Device, config: &Config, bodies: usize, report: Report) -> Result<()> {
    let start = Instant::now();
    let subject = Subject::new(device, config, bodies);
    let mut tried: Vec<Trial> = Vec::new();
    let mut lead = 0.0;
    // The fastest variants come first, so that slower variants are timed only roughly.
    let allowed = subject.guesses().into_iter().filter(|recipe| subject.mode.allows(recipe.variant));
    for recipe in allowed.rev() {
        if start.elapsed() > SEARCH {
            break;
        }
        let Some(trial) = subject.measure(recipe, lead)? else { continue };
        tried.push(trial);
        lead = trial.pairs_per_second.max(lead);
        if report(share(start), &trial).is_break() {
            return Ok(());
        }
    }
    let fastest = tried.iter().copied().max_by(|a, b| a.pairs_per_second.total_cmp(&b.pairs_per_second));
    let Some(mut leader) = fastest else { return Ok(()) };
    let mut improves = true;
    while std::mem::take(&mut improves) {
        let before = leader.recipe;
        // Methods are not varied, because another method would also change the error.
        let is_searched = |knob: &&Knob| !knob.never_hurts && !knob.is_method;
        let knobs = before.knobs().map(|(knob, _)| knob).filter(is_searched);
        for knob in knobs.map(Some).chain([None]) {
            for recipe in others(&leader.recipe, knob, &device.info) {
                if start.elapsed() > SEARCH {
                    return Ok(());
                }
                if tried.iter().any(|trial| trial.recipe == recipe) {
                    continue;
                }
                let Some(trial) = subject.measure(recipe, leader.pairs_per_second)? else { continue };
                tried.push(trial);
                if trial.pairs_per_second > GAIN * leader.pairs_per_second {
                    (leader, improves) = (trial, true);
                }
                if report(share(start), &trial).is_break() {
                    return Ok(());
                }
            }
        }
    }
    Ok(())
}

/// Returns the fraction of the time limit [`SEARCH`] that has passed since `start`.
fn share(start: Instant) -> f32 {
    (start.elapsed().as_secs_f32() / SEARCH.as_secs_f32()).min(1.0)
}

/// Measures the speed of every kernel variant with several work-group sizes.
fn work_groups(device: &Device, config: &Config, bodies: usize, report: Report) -> Result<()> {
    let subject = Subject::new(device, config, bodies);
    let sizes = |recipe: Recipe| {
        recipe.work_groups(&device.info).into_iter().map(move |size| recipe.with_work_group(size))
    };
    let recipes: Vec<Recipe> = subject.guesses().into_iter().flat_map(sizes).collect();
    for (nth, recipe) in (1..).zip(&recipes) {
        if let Some(trial) = subject.measure(*recipe, 0.0)?
            && report(nth as f32 / recipes.len() as f32, &trial).is_break()
        {
            break;
        }
    }
    Ok(())
}

/// Measures every kernel variant with increasing numbers of bodies, up to `most` bodies or until steps take too long.
fn numbers(device: &Device, config: &Config, most: usize, report: Report) -> Result<()> {
    let most = most.min(max_bodies(&device.info, config));
    let counts: Vec<usize> = (0..).map(|k| FEWEST << k).take_while(|&count| count <= most).collect();
    let evaluations = f64::from(config.mode.force_evaluations());
    let in_step = |count| (config.mode.info().work.in_step)(count) * evaluations;
    let mut slow: Vec<&str> = Vec::new();
    for (nth, &count) in (1..).zip(&counts) {
        let subject = Subject::new(device, config, count);
        for recipe in subject.guesses() {
            if slow.contains(&recipe.variant.name) {
                continue;
            }
            let Some(trial) = subject.measure(recipe, 0.0)? else { continue };
            // Twice as many bodies would take too long.
            if in_step(2 * count) / trial.pairs_per_second > LONGEST_STEP {
                slow.push(recipe.variant.name);
            }
            if report(nth as f32 / counts.len() as f32, &trial).is_break() {
                return Ok(());
            }
        }
    }
    Ok(())
}
