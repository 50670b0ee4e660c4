//! One file for each command, and what they share: from words to a [`Config`].

mod bench;
pub mod check;
mod devices;
mod limits;
mod render;
mod run;
mod scaling;
mod tune;
mod view;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::str::FromStr;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::cli::{Cli, Command, DeviceArgs, DevicesArgs, KernelArgs, Simulation};
use crate::compute::{self, Device, Devices, Edits, Found};
use crate::config::Config;
use crate::engine::{Engine, Loss};
use crate::error::{Error, Result};
use crate::film::MOST_SIDE;
use crate::kernels;
use crate::look::Look;
use crate::modes::{self, MODES, Mode, ModeInfo, Variant};
use crate::params::{self, Params};
use crate::rescue;
use crate::scene::fluid::files::{load_case, load_obstacles};
use crate::scene::{self, Scene};
use crate::snapshot::{Carried, Snapshot};
use crate::state::Matter;
use crate::tuned::Tuned;

/// Prepares the environment of the process for what the commands call.
///
/// # Safety
/// No other thread may run yet.
pub unsafe fn prepare() {
    // SAFETY: no other thread runs, as the caller promises.
    unsafe { compute::prepare_cache() };
}

/// Does what was asked for.
///
/// # Errors
/// Whatever went wrong; the caller prints it once.
pub fn call(cli: Cli) -> Result<ExitCode> {
    match cli.command.unwrap_or(Command::View(cli.view)) {
        Command::View(args) => view::call(args),
        Command::Run(args) => run::call(&args),
        Command::Render(args) => render::call(&args),
        Command::Bench(args) if args.tune => tune::call(&args),
        Command::Bench(args) if !args.devices.is_empty() => scaling::call(&args),
        Command::Bench(args) => bench::call(&args),
        Command::Check(args) => check::call(&args),
        Command::Devices(args) => devices::call(&args),
    }
}

/// The device, which builds the kernels of a folder if one is named.
fn open(wanted: &DeviceArgs, kernels: &KernelArgs) -> Result<Device> {
    let edits = edits(kernels)?;
    let found = compute::select(wanted.device.as_deref())?;
    note_cache([&found]);
    let device = found.open()?;
    device.set_edits(edits);
    Ok(device)
}

fn edits(args: &KernelArgs) -> Result<Edits> {
    Ok(args.kernels.as_deref().map(kernels::read).transpose()?.unwrap_or_default())
}

/// Which kernels are not the program's own, for the line above a table.
fn edited(device: &Device) -> String {
    let names: Vec<String> = device.edits().keys().cloned().collect();
    if names.is_empty() { String::new() } else { format!(" · edited: {}", names.join(", ")) }
}

/// The devices that are meant.
fn find(args: &DevicesArgs) -> Result<Vec<Found>> {
    let found = match &args.devices {
        Some(devices) => compute::select_several(devices)?,
        None => vec![compute::select(args.one.device.as_deref())?],
    };
    note_cache(&found);
    Ok(found)
}

/// Says once where PoCL keeps its kernels, if one of the devices is PoCL's and the usual folder cannot be written to.
fn note_cache<'f>(found: impl IntoIterator<Item = &'f Found>) {
    if let Some(note) = compute::cache_note().filter(|_| found.into_iter().any(|found| found.info.is_pocl()))
    {
        eprintln!("note: {note}");
    }
}

/// Opens them, to build the kernels of a folder if one is named.
fn open_several(args: &Simulation) -> Result<Devices> {
    let edits = edits(&args.kernels)?;
    let devices = Devices::all(find(&args.device)?)?;
    devices.set_edits(edits);
    Ok(devices)
}

/// What the words mean: something new, or a snapshot to go on from.
struct Begin {
    config: Config,
    snapshot: Option<Box<Snapshot>>,
}

impl Begin {
    /// What `args` mean; `prepare` may set parameters of something new before `--set` does.
    fn new(args: &Simulation, prepare: fn(&mut dyn Mode)) -> Result<Self> {
        let carried = args.resume.as_deref().map(Carried::load).transpose()?;
        let (mut config, snapshot) = match carried {
            Some(Carried::Snapshot(snapshot)) => (snapshot.runs[0].config.clone(), Some(snapshot)),
            // A picture with too much in it to go on with.
            Some(Carried::Scene(config)) => (*config, None),
            None => (start(args)?, None),
        };
        config.tuned = tuned();
        if snapshot.is_none() {
            prepare(config.mode.as_mut());
        }
        choose(args, &mut config)?;
        Ok(Self { config, snapshot })
    }

    /// From where it was looked at, as snapshots say it; empty if nobody looked.
    fn view(&self) -> String {
        self.snapshot.as_ref().map(|snapshot| snapshot.view.clone()).unwrap_or_default()
    }

    /// An engine that begins so.
    fn engine(self, devices: Devices) -> Result<Engine> {
        let Self { config, snapshot } = self;
        let Some(snapshot) = snapshot else { return Engine::new(devices, config) };
        let before = snapshot.runs[0].config.clone();
        let mut engine = Engine::resume(devices, *snapshot, &config.tuned)?;
        let wanted = asked(config, &before, engine.config().clone());
        if wanted != *engine.config() {
            engine.configure(wanted)?;
        }
        Ok(engine)
    }
}

/// `now` with what the words changed from what it was `before`: what a snapshot came to on this device goes on otherwise.
fn asked(words: Config, before: &Config, now: Config) -> Config {
    fn pick<T: PartialEq>(word: T, before: &T, now: T) -> T {
        if word == *before { now } else { word }
    }
    Config {
        mode: if *words.mode == *before.mode { now.mode } else { words.mode },
        variant: pick(words.variant, &before.variant, now.variant),
        work_group: pick(words.work_group, &before.work_group, now.work_group),
        knobs: pick(words.knobs, &before.knobs, now.knobs),
        steps_per_frame: pick(words.steps_per_frame, &before.steps_per_frame, now.steps_per_frame),
        running: pick(words.running, &before.running, now.running),
        free_run: pick(words.free_run, &before.free_run, now.free_run),
        ..now
    }
}

/// Where the words start.
fn start(args: &Simulation) -> Result<Config> {
    let mut config = match args.scene.as_deref() {
        Some(path) if Path::new(path).extension().is_some_and(|it| it == scene::file::EXTENSION) => {
            let config = Config::load(Path::new(path))?;
            let info = config.mode.info();
            if let Some(other) = args.mode.as_deref().filter(|mode| *mode != info.name) {
                return Err(Error::Invalid(format!("{path} is of --mode {}, not {other}", info.name)));
            }
            config
        }
        name => named(args.mode.as_deref(), name)?,
    };
    load(args, &mut config)?;
    if let Some(seed) = args.seed {
        config.seed = seed;
    }
    let asked = number_or_auto("--bodies", &args.bodies)?;
    config.bodies = asked.or(config.bodies);
    if let (Some(fixed), Some(asked)) = (config.start.bodies, asked)
        && fixed != asked
    {
        let name = &config.start.name;
        let things = config.mode.info().work.things;
        return Err(Error::Invalid(format!("{name} has exactly {fixed} {things}, not {asked}")));
    }
    Ok(config)
}

/// A mode, and one of its scenes; a scene alone says which mode is meant.
fn named(of: Option<&str>, name: Option<&str>) -> Result<Config> {
    let owner = || MODES.iter().copied().find(|info| name.is_some_and(|name| info.scene(name).is_some()));
    let info = of.map_or_else(|| Ok(owner().unwrap_or(MODES[0])), mode)?;
    let mut config = Config::new(info);
    if let Some(name) = name {
        let scene = info.scene(name).ok_or_else(|| no_scene(name, of.map(|_| info)))?;
        config.select_scene(scene);
    }
    Ok(config)
}

/// That there is no scene of that name in a mode, or in any.
fn no_scene(name: &str, of: Option<&'static ModeInfo>) -> Error {
    let modes = || MODES.iter().copied().filter(|info| of.is_none_or(|of| of == *info));
    let list = |info: &ModeInfo| info.scenes.iter().map(|it| it.name.as_str()).collect::<Vec<_>>().join(", ");
    let all: Vec<_> = modes().map(|info| format!("of {}: {}", info.name, list(info))).collect();
    let near = modes().flat_map(|info| info.scenes.iter()).find(|scene| is_near(name, &scene.name));
    let near = near.map(|scene| format!(" (did you mean {}?)", scene.name)).unwrap_or_default();
    Error::Invalid(format!("there is no scene `{name}`{near}; there is {}", all.join("; ")))
}

/// Whether a person who wrote `typed` may have meant `name`: a part of it, or one with a slip or two.
fn is_near(typed: &str, name: &str) -> bool {
    let typed = typed.to_lowercase();
    let is_part = typed.len() > 2 && (name.contains(&typed) || typed.contains(name));
    // Levenshtein's distance, a row of the table at a time.
    let mut row: Vec<usize> = (0..=name.chars().count()).collect();
    for (i, a) in typed.chars().enumerate() {
        let mut corner = std::mem::replace(&mut row[0], i + 1);
        for (j, b) in name.chars().enumerate() {
            let put = (corner + usize::from(a != b)).min(row[j] + 1).min(row[j + 1] + 1);
            corner = std::mem::replace(&mut row[j + 1], put);
        }
    }
    is_part || row.last().is_some_and(|slips| *slips <= 2 && *slips < name.chars().count())
}

/// What the words choose of how it is stepped.
fn choose(args: &Simulation, config: &mut Config) -> Result<()> {
    let info = config.mode.info();
    config.work_group = number_or_auto("--work-group", &args.work_group)?.or(config.work_group);
    if args.variant != "auto" {
        config.variant = Some(variant(info, &args.variant)?);
    }
    let ladder: Vec<_> = config.variant.map_or(info.variants.iter().collect(), |variant| vec![variant]);
    // A knob that one variant alone has says which is meant.
    let has_all = |variant: &&'static Variant| {
        let names = args.knob.iter().map(|word| word.split('=').next().unwrap_or_default().trim());
        names.into_iter().all(|name| variant.knobs.iter().any(|knob| knob.name == name))
    };
    if let (None, [variant]) =
        (config.variant, &ladder.iter().copied().filter(has_all).collect::<Vec<_>>()[..])
    {
        config.variant = Some(variant);
    }
    config.knobs.extend(one_each(&args.knob, knobs(&ladder, &args.knob)?)?);
    set_all(config.mode.as_mut(), "--set", &args.set)
}

/// Starts from files, if there are any.
fn load(args: &Simulation, config: &mut Config) -> Result<()> {
    let info = config.mode.info();
    let other = |option: &str, what: &str| {
        Err(Error::Invalid(format!("{option} holds {what}, which --mode {} does not step", info.name)))
    };
    if let Some(path) = &args.load {
        if info.work.matter != Matter::Bodies {
            return other("--load", "bodies");
        }
        config.mode = (info.default)();
        let is_tipsy =
            |it: &OsStr| scene::tipsy::EXTENSIONS.iter().any(|tipsy| it.eq_ignore_ascii_case(tipsy));
        let bodies = match path.extension().is_some_and(is_tipsy) {
            true => scene::tipsy::load(path)?,
            false => scene::csv::load(path)?,
        };
        config.start = Scene::of_bodies(name_of(path), bodies);
    }
    if let Some(path) = &args.params {
        if info.work.matter != Matter::Flow {
            return other("--params", "a fluid's grid");
        }
        let case = load_case(path)?;
        let walls = match &args.obstacles {
            Some(path) => load_obstacles(path, &case)?,
            None => case.open(),
        };
        config.mode = (info.default)();
        for (key, value) in case.params() {
            params::set(config.mode.as_mut(), key, &value)?;
        }
        config.start = Scene::of_walls(name_of(path), walls, case.steps);
    }
    Ok(())
}

/// What a scene from a file is called.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Steps of a command without a window: as asked for, or as a file says.
fn steps(asked: Option<u32>, config: &Config) -> u32 {
    const STEPS: u32 = 100;
    asked.or(config.start.steps).unwrap_or(STEPS)
}

/// What is remembered of earlier searches. A list that is of no use is no reason not to start.
fn tuned() -> Tuned {
    let load = |path: PathBuf| Tuned::load(&path);
    Tuned::path().map_or(Ok(Tuned::default()), load).unwrap_or_else(|error| {
        eprintln!("note: {error}; `auto` guesses. `bench --tune` writes it anew");
        Tuned::default()
    })
}

fn mode(name: &str) -> Result<&'static ModeInfo> {
    modes::find(name).ok_or_else(|| unknown("mode", name, MODES.iter().map(|info| info.name)))
}

/// All modes, or the one that was asked for.
fn modes_for(name: Option<&str>) -> Result<Vec<&'static ModeInfo>> {
    name.map_or_else(|| Ok(MODES.to_vec()), |name| Ok(vec![mode(name)?]))
}

fn variant(info: &'static ModeInfo, name: &str) -> Result<&'static Variant> {
    let names = info.variants.iter().map(|variant| variant.name);
    info.variant(name).ok_or_else(|| unknown("variant", name, names.chain(["auto"])))
}

/// The variants to walk: of all modes or one, all or those called `names`, each of which some mode must have.
fn ladders(mode: Option<&str>, names: &[String]) -> Result<Vec<(&'static ModeInfo, Vec<&'static Variant>)>> {
    let modes = modes_for(mode)?;
    let known = || modes.iter().flat_map(|info| info.variants).map(|variant| variant.name);
    if let Some(name) = names.iter().find(|name| !known().any(|known| known == *name)) {
        return Err(unknown("variant", name, known()));
    }
    let is_wanted = |variant: &&'static Variant| names.is_empty() || names.iter().any(|n| n == variant.name);
    Ok(modes.iter().map(|info| (*info, info.variants.iter().filter(is_wanted).collect())).collect())
}

/// Values to try of some knobs.
type Trials = Vec<(&'static str, Vec<u32>)>;

/// What `--knob NAME=VALUE,…` asks for; one of `variants` must have the knob.
fn knobs(variants: &[&'static Variant], words: &[String]) -> Result<Trials> {
    words.iter().map(|word| trial(variants, word)).collect()
}

fn trial(variants: &[&'static Variant], word: &str) -> Result<(&'static str, Vec<u32>)> {
    let known = || variants.iter().flat_map(|variant| variant.knobs);
    let (name, values) = word
        .split_once('=')
        .ok_or_else(|| Error::Invalid(format!("--knob {word}: what is expected is NAME=VALUE")))?;
    let knob = known().find(|knob| knob.name == name.trim());
    let knob = knob.ok_or_else(|| match known().next() {
        Some(_) => unknown("knob", name, known().map(|knob| knob.name)),
        None => Error::Invalid(format!("--knob {word}: this variant has no knobs")),
    })?;
    let value = |text: &str| text.trim().parse().ok().filter(|value| knob.options.contains(value));
    let values: Option<Vec<u32>> = values.split(',').map(value).collect();
    let values = values
        .ok_or_else(|| Error::Invalid(format!("--knob {word}: {name} may be {}", join(knob.options))))?;
    Ok((knob.name, values))
}

/// The only value of each knob.
fn one_each(words: &[String], trials: Trials) -> Result<BTreeMap<&'static str, u32>> {
    let only = |((name, values), word): ((&'static str, Vec<u32>), &String)| match values[..] {
        [value] => Ok((name, value)),
        _ => Err(Error::Invalid(format!("--knob {word}: one value, please; `bench` takes several"))),
    };
    trials.into_iter().zip(words).map(only).collect()
}

/// `1, 2, 4`.
fn join(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(", ")
}

/// How it is drawn, as the words say; and the keys that they name.
fn look(words: &[String]) -> Result<(Look, BTreeSet<String>)> {
    let mut look = Look::default();
    set_all(&mut look, "--look", words)?;
    let keys = words.iter().filter_map(|word| word.split_once('=')).map(|(key, _)| key.trim().to_owned());
    Ok((look, keys.collect()))
}

fn set_all(params: &mut (impl Params + ?Sized), option: &str, assignments: &[String]) -> Result<()> {
    for assignment in assignments {
        let (key, value) = assignment
            .split_once('=')
            .ok_or_else(|| Error::Invalid(format!("{option} {assignment}: what is expected is KEY=VALUE")))?;
        params::set(params, key.trim(), value)?;
    }
    Ok(())
}

fn unknown(what: &str, name: &str, known: impl Iterator<Item = &'static str>) -> Error {
    // Modes share names of variants.
    let mut seen = std::collections::BTreeSet::new();
    let known: Vec<_> = known.filter(|name| seen.insert(*name)).collect();
    Error::Invalid(format!("there is no {what} `{name}`; there is {}", known.join(", ")))
}

/// A whole number from 1, or none for `auto`.
fn number_or_auto<T: FromStr + PartialOrd + From<u8>>(option: &str, text: &str) -> Result<Option<T>> {
    if text == "auto" {
        return Ok(None);
    }
    match text.parse() {
        Ok(number) if number >= T::from(1) => Ok(Some(number)),
        _ => {
            Err(Error::Invalid(format!("{option} {text}: what is allowed is auto or a whole number from 1")))
        }
    }
}

/// `WxH`.
fn size(text: &str) -> Result<(u32, u32)> {
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    match parsed {
        Some((w @ 1..=MOST_SIDE, h @ 1..=MOST_SIDE)) => Ok((w, h)),
        _ => Err(Error::Invalid(format!(
            "--size {text}: what is expected is WxH, 1x1 to {MOST_SIDE}x{MOST_SIDE}"
        ))),
    }
}

/// A part of a run shorter than this would be lost among its ends.
const LEAST_PART: Duration = Duration::from_millis(500);
/// Steps after which it is looked whether the simulation still makes sense.
const PART: u32 = 1 << 14;

/// Steps with a progress bar on stderr, if it takes long enough to be seen and someone is there to see it. What the mode
/// tells of each step, if it tells something.
///
/// # Errors
/// If the device fails, or what the mode tells is no number any more: then no further step is taken.
fn run_with_progress(engine: &mut Engine, steps: u32) -> Result<Vec<f64>> {
    let bar = ProgressBar::new(1000);
    let style = ProgressStyle::with_template("{bar:40} {percent:>3} % of the steps, {eta} to go");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(500));
    let outcome = run_in_parts(engine, steps, |share| bar.set_position((share * 1000.0) as u64));
    bar.finish_and_clear();
    for Loss { error, step, .. } in engine.take_losses() {
        eprintln!("note: {error}; the others went on without it from step {step}");
    }
    outcome.map_err(|error| rescue::keep(engine, error))
}

fn run_in_parts(engine: &mut Engine, steps: u32, mut progress: impl FnMut(f32)) -> Result<Vec<f64>> {
    let mut series = Vec::new();
    let mut done = 0;
    let Some(told) = &engine.config().mode.info().series else {
        // Between two parts a state can be put by.
        let mut part = 1;
        while done < steps {
            let clock = Instant::now();
            let now = part.min(steps - done);
            engine.run(now, |share| progress((done as f32 + share * now as f32) / steps as f32))?;
            done += now;
            part = if clock.elapsed() < LEAST_PART { part.saturating_mul(4) } else { part };
        }
        return Ok(series);
    };
    while done < steps {
        let part = PART.min(steps - done);
        engine.run(part, |share| progress((done as f32 + share * part as f32) / steps as f32))?;
        let values = engine.series()?;
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::Invalid(format!("after {} steps {}", done as usize + at + 1, told.broken)));
        }
        series.extend(values);
        done += part;
    }
    Ok(series)
}

/// JSON on stdout.
fn print_json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => println!("{text}"),
        // No map with keys other than text and no failing serializer is among our types.
        Err(error) => unreachable!("a report does not serialize: {error}"),
    }
}
