//! `gravitile view`: opens the viewer.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use clap::Parser;

use super::devices;
use super::launch::Begin;
use super::options::{look, number_or_auto, size};
use super::report::wrote;
use crate::app::{self, Options};
use crate::base::{Look, OutputFile, Partial, Result, invalid};
use crate::cli::{Cli, Command, DevicesArgs, View};
use crate::compute::{self, Devices, FoundDevice};
use crate::engine::{self, Config, Engine, kernel_lab};
use crate::ui::Lesson;

pub(super) fn call(args: View) -> Result<ExitCode> {
    let started = Instant::now();
    let (mut begin, look) = settings(&args)?;
    let config = &mut begin.config;
    let (devices, chosen) = compute::pool(find(args.simulation.device.clone())?)?;
    config.devices.clone_from(&chosen);
    if begin.snapshot.is_none() {
        // An impossible number of bodies or work-group size is reported before the window opens.
        engine::Resolved::new(&begin.config, &devices[chosen[0]].info)?;
    }
    let is_measured = args.frames.is_some() || args.report.is_some();
    app::run(Options {
        view: begin.view(),
        resumes: begin.snapshot.is_some(),
        may_open_with_move: !is_measured || look.get("opening_move").is_some(),
        look,
        size: args.size.as_deref().map(size).transpose()?,
        autosave: (!args.clean && args.frames.is_none()).then(|| Duration::from_secs(args.autosave.into())),
        kernels: args.simulation.kernels.kernels.as_deref().map(prepare).transpose()?,
        is_chosen: args.simulation.is_chosen(),
        lesson: args.lesson.as_deref().map(Lesson::load).transpose()?.map(Arc::new),
        frames: args.frames,
        report: args.report.as_deref().map(OutputFile::create).transpose()?,
        devices: devices.clone(),
        config: begin.config.clone(),
        engine: Box::new(move |show| {
            let devices = Devices::open(devices, &chosen)?.with_ranks(compute::ranks());
            match begin.snapshot.is_none() && !is_measured {
                true => Engine::with_preview(devices, begin.config, show),
                false => begin.engine(devices),
            }
        }),
        read_command_line,
        started,
    })?;
    args.report.iter().for_each(|path| wrote(path.display()));
    Ok(ExitCode::SUCCESS)
}

/// Returns the folder of kernels to edit. If it has no kernels yet, first writes the built-in kernels there.
fn prepare(folder: &Path) -> Result<PathBuf> {
    let is_new = !kernel_lab::has_kernels(folder);
    let folder = kernel_lab::prepare(folder)?;
    if is_new {
        wrote(format_args!("the built-in kernels to {}", folder.display()));
    }
    Ok(folder)
}

/// Returns the initial configuration and the drawing settings (look) that the options select.
fn settings(args: &View) -> Result<(Begin, Partial<Look>)> {
    let mut begin = Begin::new(&args.simulation, |_| ())?;
    let config = &mut begin.config;
    let steps_per_frame = number_or_auto("--steps-per-frame", &args.steps_per_frame)?;
    config.steps_per_frame = steps_per_frame.or(config.steps_per_frame);
    (config.free_run, config.running) = (config.free_run || args.free_run, config.running && !args.paused);
    Ok((begin, look(&args.looks.look)?))
}

/// Parses the arguments of a `gravitile view` command that the user pasted into the window, without the program's name.
fn read_command_line(arguments: Vec<String>) -> Result<(Config, Partial<Look>)> {
    let words = std::iter::once("gravitile".to_owned()).chain(arguments);
    let cli = Cli::try_parse_from(words).map_err(|error| {
        let text = error.to_string();
        let reason = text.split("\n\n").next().unwrap_or_default();
        invalid!("{}", reason.trim_start_matches("error: ").trim())
    })?;
    let args = match cli.command {
        None => cli.view,
        Some(Command::View(args)) => args,
        Some(_) => return Err(invalid!("only `gravitile view` commands can be pasted into the window")),
    };
    if args.simulation.resume.is_some() {
        return Err(invalid!("--resume names a snapshot; open the snapshot with Ctrl+O instead"));
    }
    settings(&args).map(|(begin, look)| (begin.config, look))
}

/// Finds the devices on a low-priority thread. CPU drivers start their own threads during the first search for
/// devices, and these threads inherit the low priority, so that the window stays smooth.
fn find(wanted: DevicesArgs) -> Result<Vec<FoundDevice>> {
    std::thread::scope(|scope| {
        let finder = scope.spawn(|| {
            give_way();
            devices::find(&wanted)
        });
        finder.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Lowers the priority of the calling thread on Linux, where each thread has its own priority.
fn give_way() {
    #[cfg(target_os = "linux")]
    // SAFETY: no pointers; 0 is the calling thread. A failure leaves the priority unchanged, which is acceptable.
    unsafe {
        libc::setpriority(libc::PRIO_PROCESS, 0, 10);
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;
    use std::fs;

    use super::*;
    use crate::app::command_line::{Pasted, command_line};
    use crate::base::{Palette, ParamValue, params};
    use crate::modes::MODES;
    use crate::scene::Scene;

    /// Formats the settings as a command line, and returns the settings parsed from the command line.
    fn copied(config: &Config, look: &Look) -> (Config, Look) {
        let text = command_line(config, look).unwrap();
        let Pasted::Command(arguments) = Pasted::read(&text).unwrap() else { panic!("{text}") };
        let (read, changes) = read_command_line(arguments).unwrap_or_else(|error| panic!("{text}: {error}"));
        let mut look = read.start.look.complete();
        changes.apply(&mut look);
        (Config { tuned: config.tuned.clone(), ..read }, look)
    }

    /// Changes all numeric and on/off parameters of the mode, and the choices that affect the simulation.
    fn change(config: &mut Config) {
        for (key, value) in config.mode.values().iter() {
            let text = match value {
                ParamValue::Float(x) => (x * 1.07).to_string(),
                ParamValue::Flag(on) => (!on).to_string(),
                ParamValue::Option(name) => name.to_owned(),
            };
            // A number at the end of its range stays as it is.
            let _ = params::set(config.mode.as_mut(), key, &text);
        }
        for (key, text) in params::combinations(config.mode.as_mut()).pop().unwrap_or_default() {
            params::set(config.mode.as_mut(), key, text).unwrap();
        }
    }

    #[test]
    fn a_copied_command_line_restores_all_settings() {
        for info in MODES {
            for scene in info.scenes.iter() {
                let mut config = Config::new(info);
                config.select_scene(scene);
                let look = scene.look.complete();
                assert_eq!(copied(&config, &look), (config.clone(), look.clone()), "{}", scene.name);
                change(&mut config);
                let look = Look { exposure: 1.25, palette: Palette::Magma, grid: !look.grid, ..look };
                let variant = info.variants.last().unwrap();
                let changed = Config {
                    bodies: scene.bodies.is_none().then_some(5000),
                    seed: if scene.is_random() { 77 } else { 1 },
                    variant: Some(variant),
                    work_group: Some(32),
                    knobs: variant.knobs.iter().map(|knob| (knob.name, knob.options[0])).collect(),
                    steps_per_frame: Some(3),
                    free_run: true,
                    ..config
                };
                let (read, read_look) = copied(&changed, &look);
                assert_eq!((&read, &read_look), (&changed, &look), "{:?}", command_line(&changed, &look));
            }
        }
    }

    #[test]
    fn a_copied_command_line_reopens_scene_and_csv_files() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("my scene's.toml");
        let scene = Config { seed: 5, ..Config::new(MODES[0]) };
        fs::write(&path, scene.to_file().unwrap()).unwrap();
        let config = Config { seed: 1, bodies: Some(300), ..Config::load(&path).unwrap() };
        let (read, _) = copied(&config, &Look::default());
        assert_eq!((read.seed, read.bodies, &read.start.name), (1, Some(300), &config.start.name));
        let path = folder.path().join("two bodies.csv");
        fs::write(&path, "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n1,0,0,0,1,0,1\n").unwrap();
        let (bodies, names) = crate::scene::csv::load(&path).unwrap();
        let config = Config::of_bodies(MODES[1], &path, bodies, names);
        let (read, _) = copied(&config, &Look::default());
        assert_eq!((read.mode.info(), read.start.bodies), (MODES[1], Some(2)));
        let made = Scene { file: None, ..Scene::clone(&config.start) };
        assert!(command_line(&Config { start: made.into(), ..config }, &Look::default()).is_err());
    }

    #[test]
    fn invalid_command_lines_are_reported_in_one_sentence() {
        for (words, reason) in [
            ("--scene merger --set no_such=1", "unknown parameter `no_such`"),
            ("--scene no_such", "unknown scene `no_such`"),
            ("--sett dt=1", "unexpected argument '--sett' found"),
            ("--look bloom=maybe", "bloom=maybe is not allowed"),
            ("run --steps 5", "gravitile view"),
            ("--resume a.gravitile", "Ctrl+O"),
        ] {
            let words = words.split(' ').map(str::to_owned).collect();
            let error = read_command_line(words).unwrap_err().to_string();
            assert!(error.contains(reason) && !error.contains("Usage"), "{error}");
        }
    }

    #[test]
    fn a_compile_time_parameter_of_several_variants_does_not_select_a_variant() {
        let info = MODES[2];
        let config = Config { knobs: BTreeMap::from([("width", 1)]), ..Config::new(info) };
        let owners = info.variants.iter().filter(|variant| variant.knobs.iter().any(|it| it.name == "width"));
        assert!(owners.count() > 1);
        assert_eq!(copied(&config, &config.start.look.complete()).0, config);
    }
}
