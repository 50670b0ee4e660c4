//! Trials: how fast recipes are, measured one after the other; studies made of them, and the search for the fastest.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use crate::compute::{Device, DeviceInfo};
use crate::config::Config;
use crate::engine::{self, Resolved};
use crate::error::{Error, Result};
use crate::modes::{Knob, Mode, ModeInfo, Recipe, Simulation};
use crate::state::State;
use crate::tuned::Tuned;

/// The longest that a search takes, but for the trial that is under way.
const SEARCH: Duration = Duration::from_secs(25);
/// A timing shorter than this says more about the clock, in seconds.
const TIMING: f64 = 0.03;
/// Long enough to see whether a timing is worth while, in seconds.
const LOOK: f64 = TIMING / 4.0;
/// Timings of which the best counts.
const TIMINGS: u32 = 3;
/// The share of the speed to beat below which a recipe is not looked at again.
const CUT_OFF: f64 = 0.8;
/// A gain smaller than this is taken for noise.
const GAIN: f64 = 1.01;
/// Steps longer than this, in seconds, are taken once.
const LONGEST_STEP: f64 = 1.0;
/// The fewest bodies of a study over their number.
const FEWEST: usize = 256;

/// A recipe that was measured.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trial {
    /// The recipe.
    pub recipe: Recipe,
    /// Bodies or cells that it stepped.
    pub bodies: usize,
    /// N² for each step, or as many as there are cells: what [`crate::modes::Work`] counts.
    pub pairs_per_second: f64,
    /// Whether it was only looked at: there was a much faster one, or a step takes too long to take many.
    pub is_rough: bool,
}

impl Trial {
    /// The fastest trial of each variant, slowest first.
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

/// Lets `tuned` remember the fastest recipe of each variant that was measured more than roughly.
pub fn remember(tuned: &mut Tuned, device: &DeviceInfo, mode: &'static ModeInfo, trials: &[Trial]) {
    let thorough: Vec<Trial> = trials.iter().copied().filter(|trial| !trial.is_rough).collect();
    for Trial { recipe, bodies, pairs_per_second, .. } in Trial::best_of_each(&thorough) {
        tuned.remember(device, mode, bodies, (&recipe, pairs_per_second));
    }
}

/// What hears of each trial and of the share of the work that is done, and may end it.
pub type Report<'a> = &'a mut dyn FnMut(f32, &Trial) -> ControlFlow<()>;

/// Many trials with one question.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Study {
    /// Which recipe is the fastest?
    Tune,
    /// What does the work-group size do to each variant?
    WorkGroups,
    /// What does the number of bodies do to each variant?
    Bodies,
}

impl Study {
    /// Carries it out for the mode and the start of `config`; ends early, without an error, where `report` says so.
    ///
    /// # Errors
    /// If the config is not possible or the device fails.
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

    /// What is measured for `config`. Where the number of bodies is fixed, there is nothing to see of more and more:
    /// then it is another scene of the mode.
    pub fn subject(self, config: &Config) -> Config {
        match (self, config.start.bodies) {
            (Self::Bodies, Some(_)) => {
                Config { mode: config.mode.clone(), ..Config::new(config.mode.info()) }
            }
            _ => config.clone(),
        }
    }
}

/// How `mode` steps `bodies` on `device`.
struct Subject<'a> {
    device: &'a Device,
    mode: Box<dyn Mode>,
    state: State,
}

impl<'a> Subject<'a> {
    /// The bodies that the config starts from, `count` at most.
    fn new(device: &'a Device, config: &'a Config, count: usize) -> Self {
        let mut state = engine::seed(config, count);
        if let State::Bodies(bodies) = &mut state {
            bodies.positions.truncate(count);
            bodies.velocities.truncate(count);
        }
        let mut mode = config.mode.clone();
        mode.even();
        Self { device, mode, state }
    }

    /// The guess for a variant of the mode, slowest first.
    fn guesses(&self) -> Vec<Recipe> {
        let guess = |variant| Recipe::guess(variant, &self.device.info, self.state.len());
        self.mode.info().variants.iter().map(guess).collect()
    }

    /// Measures a recipe, roughly if it does not come near `to_beat` pairs/s; none if the device does not take it.
    fn measure(&self, recipe: Recipe, to_beat: f64) -> Result<Option<Trial>> {
        let mut simulation = match self.mode.build(self.device, recipe, &self.state) {
            Ok(simulation) => simulation,
            // It needs more registers or local memory than there are.
            Err(Error::Invalid(_) | Error::Build { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        let bodies = self.state.len();
        let pairs = (self.mode.info().work.in_step)(bodies) * f64::from(self.mode.force_evaluations());
        // Compilers build late, in the first step of a size or of a slice, and who cuts long steps learns the speed: so
        // until two steps take about as long.
        let (burst, _) = self.mode.info().work.burst;
        if burst > 1 {
            // There may be kernels that only a longer burst needs.
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
        // A step alone is mostly waiting: so many are taken that their own time counts.
        let mut steps = 1;
        while step < LONGEST_STEP && step * f64::from(steps) < LOOK {
            steps = (LOOK / step).ceil().clamp(2.0 * f64::from(steps), 64.0 * f64::from(steps)) as u32;
            step = time(simulation.as_mut(), steps)?;
        }
        let is_rough = step >= LONGEST_STEP || pairs / step < CUT_OFF * to_beat;
        if !is_rough {
            let steps = (TIMING / step).ceil() as u32;
            for _ in 0..TIMINGS {
                step = step.min(time(simulation.as_mut(), steps)?);
            }
        }
        Ok(Some(Trial { recipe, bodies, pairs_per_second: pairs / step, is_rough }))
    }
}

/// Seconds of a step, of `steps` in a row.
fn time(simulation: &mut dyn Simulation, steps: u32) -> Result<f64> {
    let clock = Instant::now();
    simulation.start(steps);
    while simulation.advance()? {}
    simulation.finish()?;
    Ok(clock.elapsed().as_secs_f64() / f64::from(steps))
}

/// One of the numbers of a recipe.
enum Axis {
    WorkGroup,
    Knob(&'static Knob),
}

impl Axis {
    fn of(recipe: &Recipe) -> Vec<Self> {
        let knobs = recipe.knobs().map(|(knob, _)| knob).filter(|knob| !knob.never_hurts);
        knobs.map(Self::Knob).chain([Self::WorkGroup]).collect()
    }

    /// The recipes that differ from `recipe` in this number only, nearest sizes only.
    fn others(&self, recipe: &Recipe, device: &DeviceInfo) -> Vec<Recipe> {
        let is_near = |size: &usize| (recipe.work_group / 4..=recipe.work_group * 4).contains(size);
        let all: Vec<Recipe> = match self {
            Self::Knob(knob) => {
                knob.options.iter().map(|&value| recipe.with_knob(knob.name, value)).collect()
            }
            Self::WorkGroup => {
                let sizes = recipe.work_groups(device).into_iter().filter(is_near);
                sizes.map(|size| recipe.with_work_group(size)).collect()
            }
        };
        all.into_iter()
            .filter(|other| other != recipe && other.work_group <= other.max_work_group(device))
            .collect()
    }
}

/// The guesses for all variants; and from that of the fastest a search, one number at a time, until none helps or the
/// time is over.
fn tune(device: &Device, config: &Config, bodies: usize, report: Report) -> Result<()> {
    let start = Instant::now();
    let subject = Subject::new(device, config, bodies);
    let mut tried: Vec<Trial> = Vec::new();
    let mut lead = 0.0;
    // The fastest stand at the ladder's end: begun there, the others are cut off early.
    for recipe in subject.guesses().into_iter().rev() {
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
    let fastest = |tried: &[Trial]| {
        tried.iter().copied().max_by(|a, b| a.pairs_per_second.total_cmp(&b.pairs_per_second))
    };
    let Some(mut leader) = fastest(&tried) else { return Ok(()) };
    let mut improves = true;
    while std::mem::take(&mut improves) {
        for axis in Axis::of(&leader.recipe) {
            for recipe in axis.others(&leader.recipe, &device.info) {
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

/// Of the time for a search.
fn share(start: Instant) -> f32 {
    (start.elapsed().as_secs_f32() / SEARCH.as_secs_f32()).min(1.0)
}

/// Every variant with every work-group size on offer.
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

/// Every variant with numbers of bodies up to `most`, as long as a step does not take too long.
fn numbers(device: &Device, config: &Config, most: usize, report: Report) -> Result<()> {
    let most = most.min(engine::max_bodies(&device.info, config.mode.as_ref()));
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
            // What twice as many would take.
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
