//! `gravitile bench --devices 1,2,4`: measures how the speed scales with the number of devices used together. In an MPI
//! run, measures how it scales with the number of ranks.

use std::process::ExitCode;

use serde::Serialize;

use super::{Lap, configuration, subjects, time_in_turn, warm_up};
use crate::base::{Result, invalid};
use crate::cli::{Bench, DevicesArgs};
use crate::commands::devices::{edits, find, note};
use crate::commands::launch::tuned;
use crate::commands::options::{join, knobs, one_each, several_values};
use crate::commands::report::{print_json, speed};
use crate::compute::{self, Devices, Ranks};
use crate::engine::{Config, Engine, Resolved, device_recipes};
use crate::modes::accuracy::{self, LEAST_SAMPLE, SampleErrors, choose};
use crate::modes::{ModeInfo, Recipe, Sharing};

/// Maximum number of untimed runs before the timing. During these runs, the program balances the work between the
/// devices.
const SETTLING: u32 = 200;

/// Measured speed of a configuration on a given number of devices or ranks: one row of the printed table and of the JSON
/// output.
#[derive(Debug, Serialize)]
struct Row {
    #[serde(skip)]
    info: &'static ModeInfo,
    #[serde(skip)]
    recipe: Recipe,
    mode: &'static str,
    variant: &'static str,
    bodies: usize,
    /// Kind of scaling: `strong` if all rows have the same number of bodies, `weak` if the work grows with the number
    /// of devices.
    scaling: &'static str,
    /// Number of devices, or of ranks in an MPI run, that were available for the computation.
    devices: usize,
    /// Number of devices that were actually used.
    used: usize,
    steps_per_second: f64,
    work_per_second: f64,
    /// Work per second divided by that of the first row with the same mode, variant and scaling.
    speed_up: f64,
    /// `speed_up` divided by the ratio of this row's number of devices to the first row's.
    parallel_efficiency: f64,
    /// Fraction of the step time spent on data exchange between devices, as last measured.
    exchange_share: f64,
    relative_error: Option<f64>,
    errors: Option<SampleErrors>,
    sharing: Option<Sharing>,
}

pub(crate) fn call(args: &Bench) -> Result<ExitCode> {
    let ranks = compute::ranks();
    let found = match (ranks, &args.among) {
        (Some(_), _) => find(&devices(args))?,
        (None, Some(words)) => compute::select_several(words)?,
        (None, None) => {
            let all = compute::list()?;
            let kind = all[0].info.kind;
            all.into_iter().filter(|found| found.info.kind == kind).collect()
        }
    };
    note(&found);
    let mut counts: Vec<usize> = args.devices.iter().copied().map(usize::from).collect();
    let most = ranks.map_or(found.len(), Ranks::size);
    if ranks.is_some() {
        if counts.is_empty() {
            counts = (1..=most).filter(|count| count.is_power_of_two() || *count == most).collect();
        }
        // Speed-ups are relative to one rank.
        counts.push(1);
    }
    counts.sort_unstable();
    counts.dedup();
    if let Some(&asked) = counts.last().filter(|&&asked| asked > most) {
        let names = found.iter().map(|found| found.info.label()).collect::<Vec<_>>().join(", ");
        return Err(match ranks {
            Some(_) => {
                invalid!(
                    "--devices {asked}: there are only {most} ranks; start more ranks with the launcher, such as mpirun"
                )
            }
            None => invalid!(
                "--devices {asked}: there are only {most} devices to choose from: {names}; to use other devices, add --among"
            ),
        });
    }
    let all = Devices::all(found)?.with_ranks(ranks);
    all.set_edits(edits(&args.subject.kernels)?);
    let configs = configs(args, &all)?;
    if !args.json {
        all.iter().for_each(|device| println!("{}, driver {}", device.info.label(), device.info.driver));
        for (rank, infos) in ranks.map_or(&[][..], Ranks::devices).iter().enumerate().skip(1) {
            infos.iter().for_each(|info| println!("rank {rank}: {}, driver {}", info.label(), info.driver));
        }
        println!("median of {} measurements", args.repeats);
        let what = if ranks.is_some() { "ranks" } else { "devices" };
        println!(
            "mode       variant    scaling     bodies {what:>7}  used    steps/s speed-up efficiency  exchange ms of step    error  speed"
        );
    }
    let mut rows = Vec::new();
    for config in configs {
        let kinds: &[_] = if ranks.is_some() { &["strong", "weak"] } else { &["strong"] };
        for scaling in kinds {
            for row in measure(args, &all, &counts, &config, scaling)? {
                if !args.json {
                    row.print();
                }
                rows.push(row);
            }
        }
    }
    if args.json {
        let infos: Vec<_> = all.iter().map(|device| device.info.as_ref()).collect();
        let infos = ranks
            .map_or(vec![infos], |ranks| ranks.devices().iter().map(|infos| infos.iter().collect()).collect())
            .concat();
        print_json(&serde_json::json!({ "devices": infos, "repeats": args.repeats, "rows": rows }));
    } else if rows.iter().any(|row| row.used < row.devices) {
        println!(
            "In some rows, not all devices are used, because using more of them would slow down the simulation."
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Returns the options that select the devices of each rank.
pub(crate) fn devices(args: &Bench) -> DevicesArgs {
    DevicesArgs { one: args.subject.device.clone(), devices: args.among.clone() }
}

/// Returns the configurations to measure. If the user names no variant, each mode uses the variant that `auto` selects.
fn configs(args: &Bench, all: &Devices) -> Result<Vec<Config>> {
    let ladders = subjects(args)?;
    let variants: Vec<_> = ladders.iter().flat_map(|(info, _)| info.variants).collect();
    let knobs = one_each(&args.knob, knobs(&variants, &args.knob)?)?;
    let work_group = match args.work_group[..] {
        [] => None,
        [one] => Some(one),
        ref several => return Err(several_values("--work-group", &join(several))),
    };
    let tuned = tuned();
    let mut configs = Vec::new();
    for (info, variants) in ladders {
        let suited = info.work.sizes(all[0].info.kind).bench;
        let sizes = if args.bodies.is_empty() { &suited[suited.len() - 1..] } else { &args.bodies };
        let variants = match args.subject.variant.is_empty() {
            true => vec![None],
            false => variants.into_iter().map(Some).collect(),
        };
        for &bodies in sizes {
            for &variant in &variants {
                let base = configuration(args.scene.as_deref(), &args.set, info, &tuned)?;
                let (bodies, knobs) = (Some(bodies), knobs.clone());
                let config = Config { bodies, variant, work_group, knobs, ..base };
                let resolved = Resolved::new(&config, &all[0].info)?;
                device_recipes(all, &config, resolved)?;
                configs.push(config);
            }
        }
    }
    Ok(configs)
}

/// Returns the number of bodies that need `times` times as much work per step as the bodies of `config`.
fn with_more_work(config: &Config, all: &Devices, times: usize) -> Result<usize> {
    let Resolved { recipe, bodies } = Resolved::new(config, &all[0].info)?;
    let in_step = config.mode.info().work.in_step;
    // Variants that skip pairs do work in proportion to the number of bodies, apart from a logarithm.
    let exponent = if recipe.variant.has_limit { (in_step(2) / in_step(1)).log2() } else { 1.0 };
    Ok((bodies as f64 * (times as f64).powf(1.0 / exponent)).round() as usize)
}

/// Measures the speed of `config` with each number of devices or ranks in `counts`.
fn measure(
    args: &Bench,
    all: &Devices,
    counts: &[usize],
    config: &Config,
    scaling: &'static str,
) -> Result<Vec<Row>> {
    let mut laps = Vec::new();
    for &count in counts {
        let devices = match all.ranks() {
            Some(_) => all.among_ranks(count),
            None => all.choose(&(0..count).collect::<Vec<_>>())?,
        };
        let mut config = config.clone();
        if scaling == "weak" {
            config.bodies = Some(with_more_work(&config, all, count)?);
        }
        let mut engine = Engine::new(devices, config)?;
        let mut steps = warm_up(&mut engine, args.seconds)?;
        for _ in 0..SETTLING {
            if engine.sharing().is_none_or(|sharing| sharing.is_settled) {
                break;
            }
            engine.run(steps, |_| ())?;
        }
        steps = steps.max(warm_up(&mut engine, args.seconds)?);
        laps.push(Lap { engine, steps, seconds: Vec::new() });
    }
    time_in_turn(&mut laps, args.repeats, |_| ())?;
    let mut rows: Vec<Row> = Vec::new();
    for (&count, mut lap) in counts.iter().zip(laps) {
        let [_, seconds, _] = lap.seconds();
        let step = seconds / f64::from(lap.steps);
        let mut engine = lap.engine;
        let recipe = engine.resolved().recipe;
        let info = config.mode.info();
        let sample = engine.sample(choose(engine.size(), LEAST_SAMPLE))?;
        let errors = sample.and_then(SampleErrors::of);
        let work_per_second = engine.work_in_step() * engine.rounds() / step;
        let (first, base) =
            rows.first().map_or((work_per_second, count), |row| (row.work_per_second, row.devices));
        let sharing = engine.sharing().cloned();
        let used = sharing.as_ref().map_or(1, Sharing::used);
        let speed_up = work_per_second / first;
        let exchange_share = sharing.as_ref().map_or(0.0, |Sharing { members, exchange_ms, .. }| {
            let slowest = members.iter().map(|member| member.step_ms).fold(f64::MIN_POSITIVE, f64::max);
            exchange_ms / (exchange_ms + slowest)
        });
        rows.push(Row {
            info,
            recipe,
            mode: info.name,
            variant: recipe.variant.name,
            bodies: engine.size(),
            scaling,
            devices: count,
            used,
            steps_per_second: 1.0 / step,
            work_per_second,
            speed_up,
            parallel_efficiency: speed_up * base as f64 / count as f64,
            exchange_share,
            relative_error: errors.map(|errors| errors.rms),
            errors,
            sharing,
        });
    }
    Ok(rows)
}

impl Row {
    fn print(&self) {
        let Self { mode, variant, scaling, bodies, devices, used, steps_per_second, speed_up, .. } = self;
        let efficiency = format!("{:.0} %", 100.0 * self.parallel_efficiency);
        let exchange = self.sharing.as_ref().filter(|_| *used > 1);
        let exchange_ms = exchange.map_or("–".to_owned(), |sharing| format!("{:.3}", sharing.exchange_ms));
        let part = exchange.map_or("–".to_owned(), |_| format!("{:.0} %", 100.0 * self.exchange_share));
        let shares = exchange.map_or(String::new(), |sharing| {
            let share = |member: &crate::modes::Member| format!("{:.1}", 100.0 * member.share);
            format!("  shares {} %", sharing.members.iter().map(share).collect::<Vec<_>>().join(" "))
        });
        println!(
            "{mode:<10} {variant:<10} {scaling:<7} {bodies:>10} {devices:>7} {used:>5} {steps_per_second:>10.2} {speed_up:>8.2} {efficiency:>10} {exchange_ms:>12} {part:>7} {:>8}  {}  {}{shares}",
            accuracy::text(self.relative_error),
            speed(self.info, self.work_per_second),
            self.recipe.words(),
        );
    }
}
