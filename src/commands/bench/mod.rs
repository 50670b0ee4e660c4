//! `gravitile bench`: measures the speed of kernels on devices.

mod limits;
pub(super) mod scaling;
mod sweep;
pub(super) mod tune;
pub(super) mod variants;

use std::time::Instant;

use super::options::{ladders, no_scene, set_mode};
use crate::base::{Result, invalid};
use crate::cli::Bench;
use crate::engine::snapshot::Carried;
use crate::engine::{Config, Engine, Snapshot, Tuned};
use crate::modes::{ModeInfo, Variant};

/// Returns the modes to measure, each with its kernel variants. If `--scene` is given, returns only modes that have
/// this scene.
fn subjects(args: &Bench) -> Result<Vec<(&'static ModeInfo, Vec<&'static Variant>)>> {
    let mut subjects = ladders(&args.subject)?;
    let Some(name) = &args.scene else { return Ok(subjects) };
    let asked = subjects.iter().map(|(info, _)| *info).collect::<Vec<_>>();
    subjects.retain(|(info, _)| info.scene(name).is_some());
    let (info, _) = subjects.first().ok_or_else(|| no_scene(name, (asked.len() == 1).then(|| asked[0])))?;
    match info.scene(name).and_then(|scene| scene.bodies) {
        Some(fixed) => {
            let things = info.work.things;
            Err(invalid!(
                "the scene {name} has exactly {fixed} {things}; choose a scene with a variable number of {things}"
            ))
        }
        None => Ok(subjects),
    }
}

/// Reads the snapshot file that `--resume` names; returns `None` without this option.
fn snapshot(args: &Bench) -> Result<Option<Snapshot>> {
    let Some(path) = &args.resume else { return Ok(None) };
    match Carried::load(path)? {
        Carried::Snapshot(snapshot) => Ok(Some(*snapshot)),
        Carried::Scene(_) => {
            Err(invalid!("{} contains a scene but no saved state; choose a snapshot", path.display()))
        }
    }
}

/// Returns the configuration to measure, with the parameters in `set`. The initial state is `scene` or, if the mode has
/// no such scene, the mode's first scene.
fn configuration(
    scene: Option<&str>,
    set: &[String],
    info: &'static ModeInfo,
    tuned: &Tuned,
) -> Result<Config> {
    let mut config = Config { tuned: tuned.clone(), ..Config::new(info) };
    if let Some(scene) = scene.and_then(|name| info.scene(name)) {
        config.select_scene(scene);
    }
    config.mode.unseen();
    config.mode.even();
    set_mode(config.mode.as_mut(), set)?;
    Ok(config)
}

/// Builds an engine's kernels and estimates its speed. Returns the number of steps that take about `wanted` seconds.
fn warm_up(engine: &mut Engine, wanted: f64) -> Result<u32> {
    // Some drivers finish compiling a kernel during its first run, which must not be timed.
    time(engine, 1)?;
    let mut steps = 1;
    loop {
        let seconds = time(engine, steps)?;
        if seconds >= 0.5 * wanted {
            return Ok(((f64::from(steps) * wanted / seconds).ceil() as u32).max(1));
        }
        let factor = (wanted / seconds).clamp(2.0, 64.0);
        steps = (f64::from(steps) * factor).ceil() as u32;
    }
}

/// Runs `steps` steps and returns how long they took, in seconds.
fn time(engine: &mut Engine, steps: u32) -> Result<f64> {
    let clock = Instant::now();
    engine.run(steps, |_| ())?;
    Ok(clock.elapsed().as_secs_f64())
}

/// An engine to benchmark, and its timings so far.
struct Lap {
    engine: Engine,
    steps: u32,
    seconds: Vec<f64>,
}

impl Lap {
    /// Returns the durations of the fastest, the median and the slowest timing, in seconds.
    fn seconds(&mut self) -> [f64; 3] {
        self.seconds.sort_unstable_by(f64::total_cmp);
        [0, self.seconds.len() / 2, self.seconds.len() - 1].map(|nth| self.seconds[nth])
    }
}

/// Times the engines in turn, so that changes in the machine's speed affect all equally. Calls `after` after each
/// timing.
fn time_in_turn(laps: &mut [Lap], repeats: u32, mut after: impl FnMut(&Engine)) -> Result<()> {
    for _ in 0..repeats {
        for lap in &mut *laps {
            lap.seconds.push(time(&mut lap.engine, lap.steps)?);
            after(&lap.engine);
        }
    }
    Ok(())
}
