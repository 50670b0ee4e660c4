//! Builds the configuration and the engine of a simulation from the command-line options.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use super::options::{knobs, mode, no_scene, number_or_auto, one_each, set_mode, variant};
use crate::base::{BodyNames, Matter, Result, invalid, params};
use crate::cli::Simulation;
use crate::compute::Devices;
use crate::engine::snapshot::Carried;
use crate::engine::{Config, Engine, Snapshot, Tuned};
use crate::modes::{MODES, Mode, Variant};
use crate::scene::fluid::files::{load_case, load_obstacles};
use crate::scene::{self, Scene};

/// A configuration to run, and the snapshot to continue from, if any.
pub(super) struct Begin {
    pub(super) config: Config,
    pub(super) snapshot: Option<Box<Snapshot>>,
}

impl Begin {
    /// Builds the configuration from the options. `prepare` adapts a new simulation's mode before `--set` is applied.
    pub(super) fn new(args: &Simulation, prepare: fn(&mut dyn Mode)) -> Result<Self> {
        let carried = args.resume.as_deref().map(Carried::load).transpose()?;
        let (mut config, snapshot) = match carried {
            Some(Carried::Snapshot(snapshot)) => (snapshot.runs[0].config.clone(), Some(snapshot)),
            // The simulation was too large to store in the picture, which contains only the configuration.
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

    /// Returns the camera in the snapshot as text, or an empty string if there is no snapshot.
    pub(super) fn view(&self) -> String {
        self.snapshot.as_ref().map(|snapshot| snapshot.view.clone()).unwrap_or_default()
    }

    /// Builds an engine for the configuration. The engine continues from the snapshot, if there is one.
    pub(super) fn engine(self, devices: Devices) -> Result<Engine> {
        let Self { config, snapshot } = self;
        let Some(snapshot) = snapshot else { return Engine::new(devices, config) };
        let before = snapshot.runs[0].config.clone();
        let mut engine = Engine::resume(devices, *snapshot, &config.tuned)?;
        // The engine may have adapted the other settings to its devices.
        let words = Config { devices: before.devices.clone(), ..config };
        let wanted = engine.config().clone().with_changes(&before, &words);
        if wanted != *engine.config() {
            engine.configure(wanted)?;
        }
        Ok(engine)
    }
}

/// Returns the configuration of a new simulation from the options for scene, files, seed and number of bodies.
fn start(args: &Simulation) -> Result<Config> {
    let mut config = match args.scene.as_deref() {
        Some(path) if Path::new(path).extension().is_some_and(|it| it == scene::file::EXTENSION) => {
            let config = Config::load(Path::new(path))?;
            let info = config.mode.info();
            if let Some(other) = args.mode.as_deref().filter(|mode| *mode != info.name) {
                return Err(invalid!(
                    "{path} is a scene for --mode {}, but you chose --mode {other}",
                    info.name
                ));
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
        return Err(invalid!("the scene {name} has exactly {fixed} {things}, not {asked}"));
    }
    Ok(config)
}

/// Returns the configuration for the scene `name`. If the mode `of` is not given, the scene determines the mode.
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

/// Applies the options for kernel variant, work-group size, compile-time parameters and mode parameters to `config`.
fn choose(args: &Simulation, config: &mut Config) -> Result<()> {
    let info = config.mode.info();
    config.work_group = number_or_auto("--work-group", &args.work_group)?.or(config.work_group);
    if args.variant != "auto" {
        config.variant = Some(variant(info, &args.variant)?);
    }
    let ladder: Vec<_> = config.variant.map_or(info.variants.iter().collect(), |variant| vec![variant]);
    // If only one variant has the given knobs, that variant is selected.
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
    set_mode(config.mode.as_mut(), &args.set)
}

/// Reads the initial state from the file that `--load` or `--params` names, if any.
fn load(args: &Simulation, config: &mut Config) -> Result<()> {
    let info = config.mode.info();
    let other = |option: &str, what: &str, matter: Matter| {
        let modes = MODES.iter().filter(|info| info.work.matter == matter).map(|info| info.name);
        let (name, modes) = (info.name, modes.collect::<Vec<_>>().join(" or --mode "));
        Err(invalid!("{option} reads {what}, which the mode {name} cannot simulate; use --mode {modes}"))
    };
    if let Some(path) = &args.load {
        if info.work.matter != Matter::Bodies {
            return other("--load", "bodies", Matter::Bodies);
        }
        let is_tipsy =
            |it: &OsStr| scene::tipsy::EXTENSIONS.iter().any(|tipsy| it.eq_ignore_ascii_case(tipsy));
        let (bodies, names) = match path.extension().is_some_and(is_tipsy) {
            true => (scene::tipsy::load(path)?, BodyNames::default()),
            false => scene::csv::load(path)?,
        };
        let Config { mode, start, .. } = Config::of_bodies(info, path, bodies, names);
        (config.mode, config.start) = (mode, start);
    }
    if let Some(path) = &args.params {
        if info.work.matter != Matter::Flow {
            return other("--params", "a fluid", Matter::Flow);
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

/// Returns the last component of `path`, to be used as the name of the scene.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}

/// Returns the number of steps to compute: from the option if given, else from the scene or parameter file, else 100.
pub(super) fn steps(asked: Option<u32>, config: &Config) -> u32 {
    const STEPS: u32 = 100;
    asked.or(config.start.steps).unwrap_or(STEPS)
}

/// Loads the fastest kernel settings from earlier tuning. Prints a note and returns none if the file cannot be read.
pub(super) fn tuned() -> Tuned {
    let load = |path: PathBuf| Tuned::load(&path);
    Tuned::path().map_or(Ok(Tuned::default()), load).unwrap_or_else(|error| {
        eprintln!(
            "note: {error}; `auto` uses defaults instead; run `gravitile bench --tune` to write a new file"
        );
        Tuned::default()
    })
}
