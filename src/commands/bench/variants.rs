//! `gravitile bench`: measures speed and error of each kernel variant, and compares the speed with the device's limits.

use std::collections::BTreeMap;
use std::process::ExitCode;

use serde::Serialize;

use super::limits::Limits;
use super::{Lap, configuration, time_in_turn, warm_up};
use crate::base::error::{Error, Result};
use crate::base::files::OutputFile;
use crate::base::params::product;
use crate::cli::Bench;
use crate::commands::devices::{edited, open};
use crate::commands::launch::tuned;
use crate::commands::options::{Trials, knobs, ladders};
use crate::commands::report::{print_json, speed};
use crate::compute::{Device, DeviceInfo};
use crate::engine::config::Config;
use crate::engine::tuned::Tuned;
use crate::engine::tuning::Trial;
use crate::engine::{Engine, Resolved};
use crate::export::chart::{Axis, Chart};
use crate::modes::accuracy::{self, SAMPLE, choose, relative_error};
use crate::modes::{Busy, ModeInfo, Recipe, Variant};
use crate::ui::ChartFormat;

/// Smallest number of bodies to measure for a chart of speed against number of bodies.
const LEAST_BODIES: usize = 256;

/// Maximum number of body pairs or grid cells computed to find a kernel's error; takes about a quarter of a second.
const SAMPLED_PAIRS: usize = 1 << 24;

/// Speed and accuracy of one kernel variant: one row of the printed table and of the JSON output.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(skip)]
    info: &'static ModeInfo,
    #[serde(skip)]
    recipe: Recipe,
    mode: &'static str,
    variant: &'static str,
    bodies: usize,
    work_group: usize,
    knobs: BTreeMap<&'static str, u32>,
    /// Number of simulation steps in each timed measurement.
    steps: u32,
    /// Median of the measured speeds, in steps per second.
    steps_per_second: f64,
    /// Median speed, keyed by its unit, which depends on the simulation mode: `interactions_per_second` or `mlups`.
    #[serde(flatten)]
    speed: BTreeMap<&'static str, f64>,
    #[serde(skip)]
    work_per_second: f64,
    /// Lowest and highest measured speed, in the unit of `speed`.
    range: [f64; 2],
    /// Relative error of the last step for a sample of bodies or cells, compared with an f64 reference, if available.
    relative_error: Option<f64>,
    /// Hardware limit on the speed, in pairs or cells per second, or `None` if unknown.
    limit_per_second: Option<f64>,
    /// Median speed divided by the hardware limit; `None` if the limit is unknown.
    share_of_limit: Option<f64>,
    /// Utilization of each hardware unit of the device; `None` if the device's peak speed is unknown.
    busy: Option<Busy>,
    /// Name of the hardware unit that limits the speed, if known.
    bound_by: Option<&'static str>,
    /// Mean number of bodies per cell of the collision grid; `None` for variants without this grid.
    bodies_a_cell: Option<f64>,
}

pub(crate) fn call(args: &Bench) -> Result<ExitCode> {
    let plot = match args.plot.as_deref() {
        Some(path) => Some((ChartFormat::of(path)?, OutputFile::create(path)?)),
        None => None,
    };
    let device = open(&args.subject)?;
    let sizes = |info: &ModeInfo| match (args.bodies.as_slice(), info.work.sizes(device.info.kind)) {
        ([], suited) if args.plot.is_some() => sweep(suited.telling),
        ([], suited) => suited.bench.to_vec(),
        (sizes, _) => sizes.to_vec(),
    };
    // Impossible options are reported before anything is printed or measured.
    let (mut rounds, mut skipped) = (Vec::new(), Vec::new());
    let tuned = tuned();
    let ladders = ladders(&args.subject)?;
    let all: Vec<_> = ladders.iter().flat_map(|(_, variants)| variants).copied().collect();
    let trials = knobs(&all, &args.knob)?;
    for (info, variants) in &ladders {
        for bodies in sizes(info) {
            let kernels = (variants.as_slice(), &tuned, &trials);
            rounds.push(configurations(args, &device, (info, bodies), kernels, &mut skipped)?);
        }
    }
    if rounds.iter().all(Vec::is_empty) && !skipped.is_empty() {
        return Err(skipped.swap_remove(0));
    }
    // If one variant cannot run, the remaining variants are still measured.
    skipped.iter().for_each(|why| eprintln!("skipped: {why}"));
    let compared = ladders.iter().filter(|(_, variants)| variants.iter().any(|variant| variant.has_limit));
    let mut limits = Limits::measure(&device, compared.map(|(info, _)| *info));
    if !args.json {
        let (info, edited) = (&device.info, edited(&device));
        println!("{}, driver {} · median of {} measurements{edited}", info.name, info.driver, args.repeats);
        println!("mode       variant      bodies work-group    steps/s    error % of peak bound by    speed");
    }
    let mut rows = Vec::new();
    for round in rounds {
        for row in measure(args, &device, &mut limits, round)? {
            if !args.json {
                row.print();
            }
            rows.push(row);
        }
    }
    if !args.json {
        println!("measured on this device: {}", limits.text());
    }
    if let Some((kind, output)) = plot {
        let charts = charts(&rows, &device.info);
        output.save(|file| kind.write(&charts, file))?;
        if let (false, Some(path)) = (args.json, &args.plot) {
            println!("wrote {}", path.display());
        }
    }
    if args.json {
        print_json(&serde_json::json!({
            "device": *device.info,
            "roofline": limits.roofline,
            "repeats": args.repeats,
            "rows": rows
        }));
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the numbers of bodies to measure for a chart: powers of two up to `most`.
fn sweep(most: usize) -> Vec<usize> {
    (0..).map(|doubled| LEAST_BODIES << doubled).take_while(|&bodies| bodies <= most).collect()
}

/// Plots speed against number of bodies, in one chart per mode. If several work-group sizes were measured, plots speed
/// against work-group size instead, in one chart per mode and number of bodies.
fn charts(rows: &[Row], device: &DeviceInfo) -> Vec<Chart> {
    let several = |row: &Row| {
        let same =
            |other: &&Row| (other.mode, other.variant, other.bodies) == (row.mode, row.variant, row.bodies);
        rows.iter().filter(same).any(|other| other.work_group != row.work_group)
    };
    let axis = if rows.iter().any(several) { Axis::WorkGroup } else { Axis::Bodies };
    let mut charts: Vec<Chart> = Vec::new();
    for row in rows {
        let trial = Trial {
            recipe: row.recipe,
            bodies: row.bodies,
            pairs_per_second: row.work_per_second,
            is_rough: false,
        };
        let belongs = |chart: &Chart| {
            let same_bodies = chart.trials.iter().all(|other| other.bodies == row.bodies);
            chart.info == row.info && (axis == Axis::Bodies || same_bodies)
        };
        // Rows are sorted by mode, then by number of bodies.
        if !charts.last().is_some_and(belongs) {
            charts.push(Chart::new(axis, &Config::new(row.info), device));
        }
        charts.last_mut().into_iter().for_each(|chart| chart.trials.push(trial));
    }
    charts
}

/// Returns the configurations to measure for a given number of bodies. Leaves out configurations that the device does
/// not support, and adds an error to `skipped` for each of them.
fn configurations(
    args: &Bench,
    device: &Device,
    (info, bodies): (&'static ModeInfo, usize),
    (variants, tuned, trials): (&[&'static Variant], &Tuned, &Trials),
    skipped: &mut Vec<Error>,
) -> Result<Vec<Config>> {
    let mut configs = Vec::new();
    for &variant in variants {
        let work_groups = match args.work_group.as_slice() {
            // A chart for a single number of bodies shows the speed against work-group size, so all sizes are measured.
            [] if args.plot.is_some() && args.bodies.len() == 1 => {
                Recipe::guess(variant, &device.info, bodies).work_groups(&device.info)
            }
            sizes => sizes.to_vec(),
        };
        let work_groups = match work_groups.as_slice() {
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        };
        for &work_group in &work_groups {
            for knobs in combinations(variant, trials) {
                let base = configuration(args, info, tuned)?;
                let (bodies, variant) = (Some(bodies), Some(variant));
                let config = Config { bodies, variant, work_group, knobs, ..base };
                match Resolved::new(&config, &device.info) {
                    Ok(_) => configs.push(config),
                    Err(why) => skipped.push(why),
                }
            }
        }
    }
    Ok(configs)
}

/// Returns every combination of the values in `trials` for the knobs (compile-time parameters) of `variant`.
fn combinations(variant: &Variant, trials: &Trials) -> Vec<BTreeMap<&'static str, u32>> {
    let own = trials.iter().filter(|(name, _)| variant.knobs.iter().any(|knob| knob.name == *name));
    let own: Trials = own.cloned().collect();
    product(&own).into_iter().map(BTreeMap::from_iter).collect()
}

/// Measures the speed and the error of each configuration, and returns one row of results per configuration.
fn measure(args: &Bench, device: &Device, limits: &mut Limits, configs: Vec<Config>) -> Result<Vec<Row>> {
    let mut laps = Vec::new();
    for config in configs {
        let mut engine = Engine::new(device.clone(), config)?;
        let steps = warm_up(&mut engine, args.seconds)?;
        laps.push(Lap { engine, steps, seconds: Vec::new() });
    }
    time_in_turn(&mut laps, args.repeats, |engine| limits.refine(engine.config().mode.info()))?;
    laps.into_iter().map(|lap| Row::new(lap, limits)).collect()
}

impl Row {
    /// Computes one row of results from the timings of an engine.
    fn new(mut lap: Lap, limits: &Limits) -> Result<Self> {
        let [fastest, median, slowest] = lap.seconds();
        let Lap { mut engine, steps, .. } = lap;
        let resolved = engine.resolved();
        let (size, in_step) = (engine.size(), engine.work_in_step());
        let work = in_step * engine.rounds() * f64::from(steps);
        let of_one = (in_step / size as f64).max(1.0);
        let chosen = choose(size, ((SAMPLED_PAIRS as f64 / of_one) as usize).clamp(1, SAMPLE));
        let relative_error = engine.sample(chosen)?.and_then(relative_error);
        let (sums, _) = engine.diagnostics()?;
        let cells = sums.readings.iter().find(|reading| reading.key == "bodies_a_cell");
        let info = engine.config().mode.info();
        let reported = |work: f64| info.work.reported(work);
        let limit = limits.busy(info, resolved, work / median);
        Ok(Self {
            info,
            recipe: resolved.recipe,
            mode: info.name,
            variant: resolved.recipe.variant.name,
            bodies: size,
            work_group: resolved.recipe.work_group,
            knobs: resolved.recipe.values(),
            steps,
            steps_per_second: f64::from(steps) / median,
            speed: BTreeMap::from([(info.work.report.0, reported(work / median))]),
            work_per_second: work / median,
            range: [slowest, fastest].map(|seconds| reported(work / seconds)),
            relative_error,
            limit_per_second: limit.map(|(limit, ..)| limit),
            share_of_limit: limit.map(|(_, share, _)| share),
            busy: limit.map(|(.., busy)| busy),
            bound_by: limit.map(|(.., busy)| busy.bound()),
            bodies_a_cell: cells.map(|reading| reading.value),
        })
    }
    fn print(&self) {
        let Row {
            mode,
            bodies,
            steps_per_second,
            recipe: Recipe { variant: Variant { name, .. }, work_group, .. },
            ..
        } = self;
        let speed = speed(self.info, self.work_per_second);
        let cells =
            self.bodies_a_cell.map(|bodies| format!(", {bodies:.2} bodies per cell")).unwrap_or_default();
        let error = accuracy::text(self.relative_error);
        let share = self.share_of_limit.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share));
        let bound = self.bound_by.unwrap_or("–");
        println!(
            "{mode:<10} {name:<10} {bodies:>8} {work_group:>10} {steps_per_second:>10.2} {error:>8} {share:>9} {bound:<10}  {speed}{cells}  {}",
            self.recipe.words()
        );
    }
}
