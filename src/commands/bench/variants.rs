//! `gravitile bench`: measures speed and error of each kernel variant, and compares the speed with the device's limits.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::ExitCode;

use serde::Serialize;

use super::limits::Limits;
use super::sweep::Sweep;
use super::{Lap, configuration, snapshot, subjects, time_in_turn, warm_up};
use crate::base::params::product;
use crate::base::{Error, OutputFile, ParamValue, Result, invalid};
use crate::cli::Bench;
use crate::commands::devices::{edited, open};
use crate::commands::launch::tuned;
use crate::commands::options::{Trials, knobs, set_mode};
use crate::commands::report::{print_json, save, speed};
use crate::compute::{Device, DeviceInfo};
use crate::engine::{Config, Engine, Resolved, Snapshot, Trial, Tuned};
use crate::export::chart::{Axis, Chart};
use crate::export::error_chart::{ErrorChart, ErrorPoint};
use crate::export::roofline_chart::{RooflineChart, RooflinePoint};
use crate::modes::accuracy::{self, LEAST_SAMPLE, SAMPLE, SampleErrors, choose};
use crate::modes::{Busy, Counts, ModeInfo, Recipe, Variant};
use crate::ui::ChartFormat;

/// Smallest number of bodies to measure for a chart of speed against number of bodies.
const LEAST_BODIES: usize = 256;

/// Maximum number of pairs or cells to compute when measuring errors. Computing this many takes about a quarter of a
/// second. The errors of at least [`LEAST_SAMPLE`] bodies or cells are always measured.
const SAMPLED_PAIRS: usize = 1 << 24;

/// Speed and accuracy of one kernel variant: one row of the printed table and of the JSON output.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(skip)]
    info: &'static ModeInfo,
    #[serde(skip)]
    recipe: Recipe,
    mode: &'static str,
    scene: String,
    variant: &'static str,
    bodies: usize,
    work_group: usize,
    knobs: BTreeMap<&'static str, u32>,
    /// Name and value of the parameter for which `--set` has a list; empty if the variant ignores the parameter.
    set: BTreeMap<&'static str, ParamValue>,
    /// Number of simulation steps in each timed measurement.
    steps: u32,
    /// Step that the simulation has reached after the last measurement, counted from the start of the scene.
    step: u64,
    /// Median of the measured speeds, in steps per second.
    steps_per_second: f64,
    /// Median duration of a step, in milliseconds.
    ms_per_step: f64,
    /// Median speed, keyed by its unit, which depends on the simulation mode: `interactions_per_second` or `mlups`.
    #[serde(flatten)]
    speed: BTreeMap<&'static str, f64>,
    #[serde(skip)]
    work_per_second: f64,
    /// Lowest and highest measured speed, in the unit of `speed`.
    range: [f64; 2],
    /// Relative error of the last step for a sample of bodies or cells, compared with an f64 reference, if available.
    relative_error: Option<f64>,
    /// Distribution of the sample's relative errors, summarized by `relative_error`.
    errors: Option<SampleErrors>,
    /// Hardware limit on the speed, in pairs or cells per second; `None` if unknown or not applicable.
    limit_per_second: Option<f64>,
    /// Median speed divided by the hardware limit; `None` if `limit_per_second` is `None`.
    share_of_limit: Option<f64>,
    /// Utilization of each hardware unit of the device; `None` if `limit_per_second` is `None`.
    busy: Option<Busy>,
    /// Name of the hardware unit that limits the speed, if known.
    bound_by: Option<&'static str>,
    /// Operations and bytes per pair or cell; `None` if they depend on the bodies.
    counts: Option<Counts>,
    /// Mean number of bodies per cell of the collision grid; `None` for variants without this grid.
    bodies_a_cell: Option<f64>,
}

pub(crate) fn call(args: &Bench) -> Result<ExitCode> {
    let file = |path: Option<&PathBuf>| -> Result<Option<(ChartFormat, OutputFile)>> {
        path.map(|path| Ok((ChartFormat::of(path)?, OutputFile::create(path)?))).transpose()
    };
    let (plot, roofline) = (file(args.plot.as_ref())?, file(args.roofline.as_ref())?);
    let device = open(&args.subject)?;
    let (set, sweep) = Sweep::split(&args.set)?;
    let snapshot = snapshot(args)?;
    let saved_size = snapshot.as_ref().map(|snapshot| [snapshot.runs[0].state.len()]);
    let asked = saved_size.as_ref().map_or(args.bodies.as_slice(), |size| size);
    let sizes = |info: &ModeInfo| match (asked, info.work.sizes(device.info.kind)) {
        ([], suited) if sweep.is_some() => suited.bench[suited.bench.len() - 1..].to_vec(),
        ([], suited) if args.plot.is_some() => doublings(suited.telling),
        ([], suited) => suited.bench.to_vec(),
        (sizes, _) => sizes.to_vec(),
    };
    // Impossible options are reported before anything is printed or measured.
    let (mut rounds, mut skipped) = (Vec::new(), Vec::new());
    let mut ladders = subjects(args)?;
    if let (Some(path), Some(snapshot)) = (&args.resume, &snapshot) {
        let of_snapshot = snapshot.runs[0].config.mode.info();
        ladders.retain(|(info, _)| *info == of_snapshot);
        if ladders.is_empty() {
            return Err(invalid!(
                "the simulation in {} has another mode; leave out --mode, or use --mode {}",
                path.display(),
                of_snapshot.name
            ));
        }
    }
    let all: Vec<_> = ladders.iter().flat_map(|(_, variants)| variants).copied().collect();
    let trials = knobs(&all, &args.knob)?;
    sweep.as_ref().map_or(Ok(()), |sweep| sweep.check(&ladders))?;
    let plan = Plan {
        args,
        device: &device,
        snapshot: snapshot.as_ref(),
        set: &set,
        sweep: sweep.as_ref(),
        tuned: tuned(),
        trials,
    };
    for (info, variants) in &ladders {
        for bodies in sizes(info) {
            rounds.push(plan.configurations(info, bodies, variants, &mut skipped)?);
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
        match &sweep {
            Some(Sweep { key, .. }) => println!(
                "mode       variant      bodies {key:>10}    ms/step    steps/s rms error   median      p99  largest sample  settings"
            ),
            None => println!(
                "mode       variant      bodies work-group    steps/s    error   median      p99  largest sample % of peak bound by    speed"
            ),
        }
    }
    let mut rows = Vec::new();
    for round in rounds {
        for row in plan.measure(&mut limits, round)? {
            if !args.json {
                row.print(sweep.is_some());
            }
            rows.push(row);
        }
    }
    if !args.json && sweep.is_none() {
        println!("measured on this device: {}", limits.text());
    }
    if let Some((kind, output)) = plot {
        save(output, |file| match &sweep {
            Some(sweep) => kind.write_errors(&error_charts(&rows, sweep, &device.info), file),
            None => kind.write(&charts(&rows, &device.info), file),
        })?;
    }
    if let Some((kind, output)) = roofline {
        let charts = roofline_charts(&rows, &limits, &device.info);
        save(output, |file| kind.write_rooflines(&charts, file))?;
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
fn doublings(most: usize) -> Vec<usize> {
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
            accuracy: "",
            pairs_per_second: row.work_per_second,
            is_rough: false,
        };
        let belongs = |chart: &Chart| {
            let same_bodies = chart.trials.iter().all(|other| other.bodies == row.bodies);
            chart.info == row.info && (axis == Axis::Bodies || same_bodies)
        };
        // Rows are sorted by mode, then by number of bodies.
        if !charts.last().is_some_and(belongs) {
            let mut config = Config::new(row.info);
            row.info.scene(&row.scene).into_iter().for_each(|scene| config.select_scene(scene));
            charts.push(Chart::new(axis, &config, device));
        }
        charts.last_mut().into_iter().for_each(|chart| chart.trials.push(trial));
    }
    charts
}

/// Draws error against speed, in one chart per mode and number of bodies. Leaves out rows without an error.
fn error_charts(rows: &[Row], sweep: &Sweep, device: &DeviceInfo) -> Vec<ErrorChart> {
    let mut charts: Vec<ErrorChart> = Vec::new();
    for row in rows {
        let Row { info, bodies, recipe: Recipe { variant, .. }, steps_per_second, errors, ref scene, .. } =
            *row;
        // Rows are sorted by mode, then by number of bodies.
        if !charts.last().is_some_and(|chart| (chart.info, chart.bodies) == (info, bodies)) {
            charts.push(ErrorChart::new((info, &sweep.key, bodies), scene, device));
        }
        let value = row.set.values().next().copied();
        let point = errors.map(|errors| ErrorPoint { variant, value, steps_per_second, errors });
        charts.last_mut().into_iter().for_each(|chart| chart.points.extend(point.clone()));
    }
    charts
}

/// Draws rooflines, in one chart per mode and number of bodies. Leaves out rows whose operations are not known.
fn roofline_charts(rows: &[Row], limits: &Limits, device: &DeviceInfo) -> Vec<RooflineChart> {
    let mut charts: Vec<RooflineChart> = Vec::new();
    for row in rows {
        let Row { info, bodies, recipe: Recipe { variant, .. }, work_per_second, counts, ref scene, .. } =
            *row;
        // Rows are sorted by mode, then by number of bodies.
        if !charts.last().is_some_and(|chart| (chart.info, chart.bodies) == (info, bodies)) {
            charts.push(RooflineChart::new((info, bodies, scene), device, limits.roofline));
        }
        let point = counts.map(|counts| RooflinePoint { variant, counts, work_per_second });
        charts.last_mut().into_iter().for_each(|chart| chart.points.extend(point.clone()));
    }
    charts
}

/// Options and device for the measurements of one `bench` command.
struct Plan<'a> {
    args: &'a Bench,
    device: &'a Device,
    /// Saved simulation to measure; `None` to measure a scene instead.
    snapshot: Option<&'a Snapshot>,
    /// Parameter assignments from `--set` that apply to all measurements.
    set: &'a [String],
    sweep: Option<&'a Sweep>,
    tuned: Tuned,
    trials: Trials,
}

impl Plan<'_> {
    /// Returns the configurations to measure for a given number of bodies. Leaves out configurations that the device does
    /// not support, and adds an error to `skipped` for each of them.
    fn configurations(
        &self,
        info: &'static ModeInfo,
        bodies: usize,
        variants: &[&'static Variant],
        skipped: &mut Vec<Error>,
    ) -> Result<Vec<Config>> {
        let mut configs = Vec::new();
        for &variant in variants {
            let work_groups = self.work_groups(variant, bodies);
            let values = self.sweep.map_or(vec![None], |sweep| sweep.assignments(info, variant));
            for (work_group, value) in
                work_groups.iter().flat_map(|of| values.iter().map(move |it| (*of, it)))
            {
                for knobs in combinations(variant, &self.trials) {
                    let set: Vec<_> = self.set.iter().chain(value).cloned().collect();
                    let base = self.base(info, &set)?;
                    let (bodies, variant) = (Some(bodies), Some(variant));
                    let config = Config { bodies, variant, work_group, knobs, ..base };
                    match Resolved::new(&config, &self.device.info) {
                        Ok(_) => configs.push(config),
                        Err(why) => skipped.push(why),
                    }
                }
            }
        }
        Ok(configs)
    }

    /// Returns the configuration of the snapshot or, if there is none, of the scene, with the parameters in `set`.
    fn base(&self, info: &'static ModeInfo, set: &[String]) -> Result<Config> {
        let Some(snapshot) = self.snapshot else {
            return configuration(self.args.scene.as_deref(), set, info, &self.tuned);
        };
        let mut config = Config { tuned: self.tuned.clone(), ..snapshot.runs[0].config.clone() };
        config.mode.unseen();
        set_mode(config.mode.as_mut(), set)?;
        Ok(config)
    }

    /// Builds an engine for `config`. The engine continues from the snapshot, if there is one.
    fn engine(&self, config: Config) -> Result<Engine> {
        let Some(snapshot) = self.snapshot else { return Engine::new(self.device.clone(), config) };
        let mut engine = Engine::resume(self.device.clone(), snapshot.clone(), &self.tuned)?;
        let Config { mode, variant, work_group, knobs, .. } = config;
        engine.configure(Config { mode, variant, work_group, knobs, ..engine.config().clone() })?;
        Ok(engine)
    }

    /// Returns the work-group sizes to measure; `None` stands for the size that `auto` chooses.
    fn work_groups(&self, variant: &'static Variant, bodies: usize) -> Vec<Option<usize>> {
        let Bench { work_group, plot, bodies: sizes, .. } = self.args;
        match work_group.as_slice() {
            // A chart for a single number of bodies shows the speed against work-group size, so all sizes are measured.
            [] if plot.is_some() && sizes.len() == 1 && self.sweep.is_none() => {
                let all = Recipe::guess(variant, &self.device.info, bodies).work_groups(&self.device.info);
                all.into_iter().map(Some).collect()
            }
            [] => vec![None],
            sizes => sizes.iter().copied().map(Some).collect(),
        }
    }

    /// Measures the speed and the error of each configuration, and returns one row of results per configuration.
    fn measure(&self, limits: &mut Limits, configs: Vec<Config>) -> Result<Vec<Row>> {
        let mut laps = Vec::new();
        for config in configs {
            let mut engine = self.engine(config)?;
            let steps = warm_up(&mut engine, self.args.seconds)?;
            laps.push(Lap { engine, steps, seconds: Vec::new() });
        }
        time_in_turn(&mut laps, self.args.repeats, |engine| limits.refine(engine.config().mode.info()))?;
        laps.into_iter().map(|lap| Row::new(lap, limits, self.sweep)).collect()
    }
}

/// Returns every combination of the values in `trials` for the knobs (compile-time parameters) of `variant`.
fn combinations(variant: &Variant, trials: &Trials) -> Vec<BTreeMap<&'static str, u32>> {
    let own = trials.iter().filter(|(name, _)| variant.knobs.iter().any(|knob| knob.name == *name));
    let own: Trials = own.cloned().collect();
    product(&own).into_iter().map(BTreeMap::from_iter).collect()
}

impl Row {
    /// Computes one row of results from the timings of an engine.
    fn new(mut lap: Lap, limits: &Limits, sweep: Option<&Sweep>) -> Result<Self> {
        let [fastest, median, slowest] = lap.seconds();
        let Lap { mut engine, steps, .. } = lap;
        let resolved = engine.resolved();
        let (size, in_step) = (engine.size(), engine.work_in_step());
        let work = in_step * engine.rounds() * f64::from(steps);
        let of_one = (in_step / size as f64).max(1.0);
        let chosen = choose(size, ((SAMPLED_PAIRS as f64 / of_one) as usize).clamp(LEAST_SAMPLE, SAMPLE));
        let errors = engine.sample(chosen)?.and_then(SampleErrors::of);
        let (sums, _) = engine.diagnostics()?;
        let cells = sums.readings.iter().find(|reading| reading.key == "bodies_a_cell");
        let info = engine.config().mode.info();
        let reported = |work: f64| info.work.reported(work);
        let limit = limits.busy(info, resolved, work / median);
        Ok(Self {
            info,
            recipe: resolved.recipe,
            mode: info.name,
            scene: engine.config().start.name.clone(),
            variant: resolved.recipe.variant.name,
            bodies: size,
            work_group: resolved.recipe.work_group,
            knobs: resolved.recipe.values(),
            set: sweep
                .and_then(|sweep| sweep.value(engine.config().mode.as_ref(), resolved.recipe.variant))
                .into_iter()
                .collect(),
            steps,
            step: engine.clock().0,
            steps_per_second: f64::from(steps) / median,
            ms_per_step: median / f64::from(steps) * 1e3,
            speed: BTreeMap::from([(info.work.report.0, reported(work / median))]),
            work_per_second: work / median,
            range: [slowest, fastest].map(|seconds| reported(work / seconds)),
            relative_error: errors.map(|errors| errors.rms),
            errors,
            limit_per_second: limit.map(|(limit, ..)| limit),
            share_of_limit: limit.map(|(_, share, _)| share),
            busy: limit.map(|(.., busy)| busy),
            counts: engine.config().mode.counts(&resolved.recipe),
            bound_by: limit.map(|(.., busy)| busy.bound()),
            bodies_a_cell: cells.map(|reading| reading.value),
        })
    }

    /// Prints the row. If `has_sweep` is true, prints the value of the parameter that has several values, the errors
    /// and the speed. Otherwise, also prints the speed as a fraction of the hardware limit.
    fn print(&self, has_sweep: bool) {
        let Row { mode, bodies, steps_per_second, ms_per_step, recipe, .. } = self;
        let Recipe { variant: Variant { name, .. }, work_group, .. } = recipe;
        let SampleErrors { count, p99, .. } =
            self.errors.unwrap_or(SampleErrors { count: 0, rms: 0.0, median: 0.0, p99: None, max: 0.0 });
        let error = |of: fn(SampleErrors) -> f64| accuracy::text(self.errors.map(of));
        let [rms, median, max] = [error(|it| it.rms), error(|it| it.median), error(|it| it.max)];
        let errors = format!("{rms:>8} {median:>8} {:>8} {max:>8} {count:>6}", accuracy::text(p99));
        let words = recipe.words();
        if has_sweep {
            let value = self.set.values().next().map_or("–".to_owned(), ToString::to_string);
            println!(
                "{mode:<10} {name:<10} {bodies:>8} {value:>10} {ms_per_step:>10.3} {steps_per_second:>10.2}  {errors}  {words}"
            );
            return;
        }
        let speed = speed(self.info, self.work_per_second);
        let cells =
            self.bodies_a_cell.map(|bodies| format!(", {bodies:.2} bodies per cell")).unwrap_or_default();
        let share = self.share_of_limit.map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share));
        let bound = self.bound_by.unwrap_or("–");
        println!(
            "{mode:<10} {name:<10} {bodies:>8} {work_group:>10} {steps_per_second:>10.2} {errors} {share:>9} {bound:<10}  {speed}{cells}  {words}"
        );
    }
}
