//! `gravitile run`: simulates without a window, and prints a report.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;

use super::devices::open_several;
use super::launch::{Begin, steps};
use super::progress::RunProgress;
use super::report::{self, print_json, speed, wrote};
use crate::base::format::significant;
use crate::base::{Error, Matter, OutputFile, ParamValues, Result};
use crate::cli::Run;
use crate::compute::Recording;
use crate::engine::{Engine, KernelTime, Profile, relative_drift};
use crate::export::trace;
use crate::modes::{Member, Mode, ModeInfo, Reading, Sharing};
use crate::scene;
use crate::scene::fluid::files::{write_final_state, write_mean_speeds};

/// Results of a simulation run, as printed by `--json`.
#[derive(Debug, Serialize)]
struct Report {
    mode: &'static str,
    start: String,
    params: ParamValues,
    variant: &'static str,
    work_group: usize,
    knobs: BTreeMap<&'static str, u32>,
    device: String,
    /// Division of the work among the devices; `None` for a single device.
    sharing: Option<Sharing>,
    bodies: usize,
    steps: u32,
    /// Simulated time at the end of the run, in the units of the simulation.
    time: f64,
    /// Wall-clock duration of all steps, in seconds.
    seconds: f64,
    /// Speed, keyed by its unit, which depends on the simulation mode: `interactions_per_second` or `mlups`.
    #[serde(flatten)]
    speed: BTreeMap<&'static str, f64>,
    #[serde(skip)]
    work_per_second: f64,
    #[serde(flatten)]
    conserved: Option<Conserved>,
    nonfinite: usize,
    /// Additional measurements that the simulation mode reports after the last step.
    readings: Vec<Reading>,
    /// How the time of a step divides among the kernels, for each device; empty without `--profile`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    profiles: Vec<Profile>,
}

/// Quantities that a simulation of bodies should conserve, as measured during the run.
#[derive(Debug, Serialize)]
struct Conserved {
    energy: Energy,
    momentum: [f64; 3],
    /// Sum of mass times speed over all bodies, for comparison with the total momentum.
    momentum_scale: f64,
    angular_momentum: [f64; 3],
}

#[derive(Debug, Serialize)]
struct Energy {
    start: f64,
    end: f64,
    relative_drift: f64,
}

/// Number of kernel launches that `--profile` records on each device. More would make a file that viewers open slowly.
const MOST_LAUNCHES: usize = 100_000;

pub(super) fn call(args: &Run) -> Result<ExitCode> {
    // A saved snapshot keeps the parameters that affect only the picture.
    let prepare: fn(&mut dyn Mode) = if args.save.is_some() { |_| () } else { |mode| mode.unseen() };
    let mut begin = Begin::new(&args.simulation, prepare)?;
    let steps = steps(args.steps, &begin.config);
    let info = begin.config.mode.info();
    let outputs = args.out.as_deref().map(|path| Outputs::create(path, info)).transpose()?;
    // Pipes and devices are rejected before the first step, because --resume cannot read from them.
    let save = match &args.save {
        Some(path) => Some((path, OutputFile::create(path)?.draft()?)),
        None => None,
    };
    let trace = args.profile.as_deref().map(OutputFile::create).transpose()?;
    let mut series = begin
        .snapshot
        .as_mut()
        .map(|snapshot| std::mem::take(&mut snapshot.runs[0].series))
        .unwrap_or_default();
    let mut engine = begin.engine(open_several(&args.simulation)?)?;
    // Values from a snapshot are used only if there is a value for every step.
    if series.len() as u64 != engine.clock().0 {
        series.clear();
    }
    let (mut report, new, recorded) = report(&mut engine, steps, trace.is_some())?;
    series.extend(new);
    if let Some(trace) = trace {
        report.profiles = write_profile(&engine, &report, recorded, trace)?;
    }
    if let Some((path, save)) = save {
        let mut snapshot = engine.snapshot()?;
        snapshot.runs[0].series.clone_from(&series);
        let bytes = snapshot.to_bytes()?;
        save.file()?.write_all(&bytes).map_err(save.error())?;
        save.keep()?;
        wrote(path.display());
    }
    if let Some(outputs) = outputs {
        outputs.save(&mut engine, &series)?;
    }
    if args.json {
        print_json(&report);
    } else {
        print(&report, &engine);
    }
    Ok(ExitCode::SUCCESS)
}

/// Output files for the final state of the simulation.
enum Outputs {
    Bodies(OutputFile),
    Flow { state: OutputFile, speeds: OutputFile },
}

impl Outputs {
    /// Prepares the output files before the run. An unwritable path is therefore reported before the first step.
    /// Creates the folder for the files of a fluid if it does not exist.
    fn create(path: &Path, info: &ModeInfo) -> Result<Self> {
        Ok(match info.work.matter {
            Matter::Bodies => Self::Bodies(OutputFile::create(path)?),
            Matter::Flow => {
                if !path.is_dir() {
                    fs::create_dir(path).map_err(Error::io("create the folder", path))?;
                }
                Self::Flow {
                    state: OutputFile::create(&path.join("final_state.dat"))?,
                    speeds: OutputFile::create(&path.join("av_vels.dat"))?,
                }
            }
        })
    }

    fn save(self, engine: &mut Engine, series: &[f64]) -> Result<()> {
        match self {
            Self::Bodies(output) => {
                let bodies = engine.bodies()?;
                report::save(output, |file| scene::csv::write(file, &bodies, engine.names()))
            }
            Self::Flow { state, speeds } => {
                let flow = engine.state()?.into_flow()?;
                let density = engine.config().mode.values().float("density").unwrap_or(1.0);
                report::save(state, |file| write_final_state(file, &flow, density))?;
                report::save(speeds, |file| write_mean_speeds(file, series))
            }
        }
    }
}

/// The number of steps recorded with `--profile`, and the mean time of a step that was not recorded.
#[derive(Debug, Clone, Copy)]
struct Recorded {
    /// Number of steps whose kernel launches are recorded.
    steps: u32,
    /// Mean time of a step on the device without recording, in seconds, or 0 if it was not measured.
    step_seconds: f64,
}

/// Runs `steps` steps. If `records` is true, records the kernels in the middle half of all steps after the first.
/// Returns the report, the values that the mode recorded in each step, and what was recorded for `--profile`.
fn report(engine: &mut Engine, steps: u32, records: bool) -> Result<(Report, Vec<f64>, Recorded)> {
    let (start, _) = engine.diagnostics()?;
    let (clock, rounds) = (Instant::now(), engine.rounds_run());
    let (mut progress, mut series) = (RunProgress::new(steps), Vec::new());
    let mut recorded = Recorded { steps, step_seconds: 0.0 };
    if records {
        // The first step is not measured, because some drivers compile a kernel when it runs for the first time.
        let first = u32::from(steps > 1);
        series.extend(progress.run(engine, first)?);
        // Half of the steps that are not recorded come before the recorded ones, and half after them, so that steps that
        // become slower and slower still take the same mean time.
        let others = (steps - first) / 2;
        engine.take_seconds();
        series.extend(progress.run(engine, others / 2)?);
        let before = engine.take_seconds();
        recorded.steps = steps - first - others;
        engine.begin_recording(MOST_LAUNCHES);
        series.extend(progress.run(engine, recorded.steps)?);
        engine.end_recording();
        engine.take_seconds();
        series.extend(progress.run(engine, others - others / 2)?);
        recorded.step_seconds = (before + engine.take_seconds()) / f64::from(others.max(1));
    } else {
        series.extend(progress.run(engine, steps)?);
    }
    drop(progress);
    let seconds = clock.elapsed().as_secs_f64();
    let (end, _) = engine.diagnostics()?;
    let resolved = engine.resolved();
    let config = engine.config();
    let work = &config.mode.info().work;
    let work_per_second = engine.work_in_step() * (engine.rounds_run() - rounds) / seconds;
    let conserved = (work.matter == Matter::Bodies).then(|| Conserved {
        energy: Energy {
            start: start.energy(),
            end: end.energy(),
            relative_drift: relative_drift(start.energy(), end.energy()),
        },
        momentum: end.momentum,
        momentum_scale: end.momentum_scale,
        angular_momentum: end.angular_momentum,
    });
    let report = Report {
        mode: config.mode.info().name,
        start: config.start.name.clone(),
        params: config.mode.values(),
        variant: resolved.recipe.variant.name,
        work_group: resolved.recipe.work_group,
        knobs: resolved.recipe.values(),
        device: engine.devices()[0].info.name.clone(),
        sharing: engine.sharing().cloned(),
        bodies: engine.size(),
        steps,
        time: engine.clock().1,
        seconds,
        speed: BTreeMap::from([(work.report.0, work.reported(work_per_second))]),
        work_per_second,
        conserved,
        nonfinite: end.nonfinite,
        readings: end.readings,
        profiles: Vec::new(),
    };
    Ok((report, series, recorded))
}

/// Writes the recorded launches to the file `trace`, and returns the profile of each device.
fn write_profile(
    engine: &Engine,
    report: &Report,
    recorded: Recorded,
    trace: OutputFile,
) -> Result<Vec<Profile>> {
    let names = engine.devices().iter().map(|device| device.info.label());
    let recordings: Vec<(String, Recording)> = names.zip(engine.take_recordings()?).collect();
    if recordings.iter().any(|(_, recording)| recording.is_cut) {
        eprintln!("note: the trace contains only the first {MOST_LAUNCHES} kernel launches");
    }
    let Report { mode, start, variant, bodies, .. } = report;
    let title = format!(
        "{mode} · {start} · {bodies} {} · variant {variant}",
        engine.config().mode.info().work.things
    );
    report::save(trace, |file| trace::write(&title, &recordings, file))?;
    let step_seconds = Profile::reference(engine.devices(), recorded.step_seconds);
    let profiles =
        recordings.iter().filter_map(|(name, recording)| Profile::new(name, recording, recorded.steps));
    Ok(profiles.map(|profile| profile.corrected(step_seconds)).collect())
}

/// Prints the time of each kernel in a step, the longest first.
fn print_profile(profile: &Profile) {
    let Profile { device, step_seconds, kernels, .. } = profile;
    println!("kernel times per step on {device}:");
    println!("kernel              launches        µs  share  work-group  local bytes");
    let percent = |seconds: f64| 100.0 * seconds / step_seconds;
    let mut sorted: Vec<_> = kernels.iter().collect();
    sorted.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    for KernelTime { kernel, calls, seconds, work_group, local_bytes, .. } in sorted {
        let (micros, percent) = (seconds * 1e6, percent(*seconds));
        println!(
            "{kernel:<18} {calls:>9.1} {micros:>9.1} {percent:>4.0} % {work_group:>11} {local_bytes:>12}"
        );
    }
    let idle = profile.idle_seconds();
    let micros = idle * 1e6;
    println!("{:<18} {:>9} {micros:>9.1} {:>4.0} %", "no kernel", "", percent(idle));
    if profile.overhead_seconds > 0.05e-6 {
        let micros = profile.overhead_seconds * 1e6;
        println!(
            "profiling adds {micros:.1} µs to each launch; the trace includes this time, the table does not"
        );
    }
}

fn print(report: &Report, engine: &Engine) {
    let info = engine.config().mode.info();
    let Report { mode, start, variant, work_group, device, bodies, steps, time, seconds, .. } = report;
    let length = |v: [f64; 3]| glam::DVec3::from(v).length();
    let (things, knobs) = (info.work.things, engine.resolved().recipe.words());
    println!(
        "{mode} · {start} · {bodies} {things} · variant {variant} with work-group size {work_group} {knobs} on {device}"
    );
    let (word, rate) = (if *steps == 1 { "step" } else { "steps" }, f64::from(*steps) / seconds);
    println!("{steps} {word} in {seconds:.3} s ({rate:.1} steps/s), to simulated time {time:.4}");
    println!("{}", speed(info, report.work_per_second));
    if engine.devices().len() > 1 && report.sharing.is_none() {
        println!("the variant {variant} runs on one device only; the other devices are not used");
    }
    if let Some(Sharing { members, exchange_ms, efficiency, .. }) = &report.sharing {
        for Member { index, device, share, step_ms } in members {
            let percent = 100.0 * share;
            println!("device {index} ({device}): {percent:.1} % of the work, {step_ms:.3} ms per step");
        }
        let percent = 100.0 * efficiency;
        println!(
            "exchange between the devices: {exchange_ms:.3} ms per step; parallel efficiency: {percent:.0} %"
        );
    }
    if let Some(Conserved { energy, momentum, momentum_scale, angular_momentum }) = &report.conserved {
        let Energy { start, end, relative_drift } = energy;
        let [start, end] = [*start, *end].map(|energy| significant(energy, 8));
        let change = match engine.config().mode.conserves_energy() {
            true => format!("drift {relative_drift:+.2e}"),
            false => format!("change {relative_drift:+.2e} (these parameters do not conserve energy)"),
        };
        println!("energy {start} → {end}, {change}");
        println!("momentum {:.2e} (for comparison, Σm|v| = {momentum_scale:.4})", length(*momentum));
        println!("angular momentum {}", significant(length(*angular_momentum), 7));
    }
    for reading in &report.readings {
        let warning = if reading.warns { " (!)" } else { "" };
        let value = if reading.counts { reading.value.to_string() } else { significant(reading.value, 5) };
        println!("{} {value}{}{warning}", reading.label, reading.unit);
        if let Some(advice) = reading.advice {
            println!("{advice}");
        }
    }
    report.profiles.iter().for_each(print_profile);
    if report.nonfinite > 0 {
        let count = report.nonfinite;
        println!("{count} {things} were excluded, because their values are no longer finite numbers");
    }
}
