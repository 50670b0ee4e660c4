//! Tests the kernel lab: edited kernels in a running engine, in a session and in a watched folder.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::support::watched::{Watched, wait_for};
use gravitile::base::edit::{Edit, Launch};
use gravitile::base::error::Error;
use gravitile::compute::{self, Devices, KernelEdits};
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::engine::kernel_lab::{self, Watch};
use gravitile::modes::MODES;
use gravitile::session::{Command, Notice, ReplacedKernels, Session};

const FILE: &str = "gravity/tiled.cl";

fn own(name: &str) -> &'static str {
    kernel_lab::own().find(|(file, _)| *file == name).unwrap().1
}

/// Returns the source of a gravity kernel that is changed to repel instead of attracting.
fn turned_round() -> String {
    let force = own("gravity/force.cl");
    let edited = force.replacen("return sum + d", "return sum - d", 1);
    assert_ne!(edited, force, "the kernel sums otherwise now");
    edited
}

fn engine() -> Engine {
    let mut config = crate::support::scene("plummer", Some(500), &[]);
    config.variant = crate::support::gravity().variant("tiled");
    crate::support::engine_on_own_cpu(config)
}

fn step(engine: &mut Engine) -> Vec<u8> {
    engine.run(1, |_| ()).unwrap();
    bytemuck::cast_slice(&engine.bodies().unwrap().positions).to_vec()
}

#[test]
fn exported_kernel_files_are_complete_and_can_be_read_back() {
    let names: BTreeSet<&str> = kernel_lab::own().map(|(name, _)| name).collect();
    for info in MODES {
        for variant in info.variants {
            for source in info.sources(variant) {
                assert_eq!(own(source.file), source.text, "{}", source.file);
                assert!(names.contains(source.file));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let place = kernel_lab::prepare(folder.path()).unwrap();
    assert_eq!(place, folder.path());
    assert!(kernel_lab::read(&place).unwrap().is_empty(), "as they come");
    // Existing files stay unchanged, and a folder with other contents gets a new subfolder.
    fs::write(place.join(FILE), "edited").unwrap();
    assert_eq!(kernel_lab::prepare(&place).unwrap(), place);
    assert_eq!(
        kernel_lab::read(&place).unwrap(),
        KernelEdits::from([(FILE.to_owned(), "edited".to_owned())])
    );
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("letter.txt"), "").unwrap();
    assert!(kernel_lab::read(other.path()).is_err());
    let inside = kernel_lab::prepare(other.path()).unwrap();
    assert_eq!(inside, other.path().join("gravitile-kernels"));
    fs::write(inside.join(FILE), "edited").unwrap();
    assert_eq!(kernel_lab::read(other.path()).unwrap().len(), 1, "who names the folder means those");
    // A file that is too long or is not text is reported as an error.
    for contents in [b"\xff\xfe".to_vec(), vec![b' '; (1 << 20) + 1]] {
        fs::write(place.join(FILE), contents).unwrap();
        let error = kernel_lab::read(&place).unwrap_err().to_string();
        assert!(error.contains("tiled.cl"), "{error}");
    }
}

#[test]
fn a_kernel_edit_keeps_the_state_and_reverting_gives_the_same_bits() {
    let [mut edited, mut plain] = [engine(), engine()];
    for engine in [&mut edited, &mut plain] {
        engine.run(3, |_| ()).unwrap();
        engine.run(1, |_| ()).unwrap();
    }
    let before = edited.bodies().unwrap();
    edited.set_edits(KernelEdits::from([("gravity/force.cl".to_owned(), turned_round())])).unwrap();
    assert_eq!(edited.bodies().unwrap().positions, before.positions, "nothing moved");
    assert_eq!((edited.clock().0, edited.generation()), (4, 1), "and no time passed");
    let outcome = edited.sample(vec![0, 1, 2]).unwrap();
    assert!(outcome.is_none(), "no step was taken with it");
    let [a, b] = [&mut edited, &mut plain].map(|engine| (step(engine), step(engine)).1);
    assert_ne!(a, b, "it steps otherwise");

    // Without edits, the engine behaves as if no kernel had ever been edited.
    let state = edited.bodies().unwrap();
    edited.set_edits(KernelEdits::new()).unwrap();
    let mut fresh = crate::support::engine_on_own_cpu({
        let mut config = edited.config().clone();
        config.start = gravitile::scene::Scene::of_bodies("the same", state);
        config
    });
    assert_eq!(step(&mut edited), step(&mut fresh), "nothing edited is left in the cache");
}

#[test]
fn programs_of_replaced_kernel_edits_are_released() {
    let mut engine = engine();
    engine.set_edits(KernelEdits::new()).unwrap();
    let before = engine.devices()[0].programs();
    let kept = [0, 1, 2].map(|nth| {
        let text = format!("{}// {nth}\n", turned_round());
        engine.set_edits(KernelEdits::from([("gravity/force.cl".to_owned(), text)])).unwrap();
        engine.devices()[0].programs()
    });
    assert!(kept[0] > before && kept == [kept[0]; 3], "{before}, then {kept:?}");
    engine.set_edits(KernelEdits::new()).unwrap();
    assert_eq!(engine.devices()[0].programs(), before);
}

#[test]
fn a_kernel_edit_keeps_the_direction_of_time() {
    let mut engine = engine();
    engine.run(20, |_| ()).unwrap();
    engine.set_direction(true).unwrap();
    engine.run(5, |_| ()).unwrap();
    let there = engine.bodies().unwrap();
    engine.set_edits(KernelEdits::from([(FILE.to_owned(), format!("{}\n", own(FILE)))])).unwrap();
    engine.run(1, |_| ()).unwrap();
    assert_eq!((engine.clock().0, engine.is_backwards()), (14, true));
    let forth: f32 = (there.positions.iter().zip(&there.velocities).zip(&engine.bodies().unwrap().positions))
        .map(|((x, v), y)| (0..3).map(|k| (y[k] - x[k]) * v[k]).sum::<f32>())
        .sum();
    assert!(forth < 0.0, "they go where they are headed: {forth}");
}

#[test]
fn a_kernel_edit_keeps_all_carried_state() {
    let info = gravitile::modes::find("asteroids").unwrap();
    let mut config = Config::new(info);
    (config.bodies, config.variant) = (Some(300), info.variant("tiled"));
    let mut asteroids = crate::support::engine_on_own_cpu(config);
    asteroids
        .edit(&Edit::Launch(Launch { at: [3.0; 3], velocity: [0.0; 3], share: 5.0, cluster: None }))
        .unwrap();
    asteroids.run(30, |_| ()).unwrap();
    let extra = |engine: &mut Engine| engine.snapshot().unwrap().runs.remove(0).extra;
    let before = extra(&mut asteroids);
    let file = "asteroids/tiled.cl";
    asteroids.set_edits(KernelEdits::from([(file.to_owned(), format!("{}\n", own(file)))])).unwrap();
    assert!(extra(&mut asteroids) == before, "sizes, masses and who was hit");
}

#[test]
fn a_pull_kernel_that_fails_to_build_is_reported_and_the_run_continues() {
    let broken = || KernelEdits::from([("pull.cl".to_owned(), "this is no OpenCL C".to_owned())]);
    let mut tried = engine();
    assert!(matches!(tried.set_edits(broken()), Err(Error::Build { .. })), "it is tried with the others");
    // Without bodies for a test run, the broken kernel is reported when it is first needed.
    let device = crate::support::own_cpu();
    device.set_edits(broken());
    let config = Config { running: false, ..engine().config().clone() };
    let mut session = Session::spawn(move || Engine::new(device, config), || ()).unwrap();
    let pull = gravitile::base::edit::Attractor { at: [0.0; 3], strength: 1.0, reach: 1.0 };
    session.send(Command::Attract(Some(pull)));
    session.send(Command::Step);
    let start = Instant::now();
    let (mut refused, mut step) = (false, 0);
    while !refused || step < 1 {
        step = session.frame().0.stats.step;
        for notice in session.notices() {
            refused |= matches!(notice, Notice::Refused(Error::Build { .. }));
            assert!(!matches!(notice, Notice::Failed(_)), "{notice:?}");
        }
        assert!(start.elapsed() < Duration::from_secs(30), "refused {refused}, step {step}");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(session.frame().0.stats.undos, 0);
}

#[test]
fn a_kernel_that_fails_to_build_or_run_is_refused_and_changes_nothing() {
    let [mut engine, mut plain] = [engine(), engine()];
    let tiled = own(FILE);
    let broken = tiled.replacen('{', "{\n    nonsense_here;\n", 1);
    let line = broken.lines().position(|line| line.contains("nonsense_here")).unwrap() + 1;
    let error = engine.set_edits(KernelEdits::from([(FILE.to_owned(), broken)])).unwrap_err();
    let Error::Build { file, log, .. } = &error else { panic!("{error}") };
    assert_eq!(file, FILE);
    assert!(log.contains(&format!("{FILE}:{line}:")), "{log}");
    // A kernel with one argument too many builds but cannot run; a kernel with another name cannot start.
    let more = tiled.replacen("void advance(", "void advance(__global float *more, ", 1);
    let other = tiled.replacen("void advance(", "void advances(", 1);
    assert!(more != tiled && other != tiled);
    for text in [more, other, "\0".to_owned(), String::new()] {
        let error = engine.set_edits(KernelEdits::from([(FILE.to_owned(), text)])).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
    assert!(engine.devices()[0].edits().is_empty());
    assert_eq!(step(&mut engine), step(&mut plain), "the one before runs on, to the last bit");
    engine.restart().unwrap();
}

#[test]
fn the_source_of_a_program_is_known_before_the_build() {
    const LATER: [&str; 4] = ["reciprocal_root", "EQUAL_MASS", "PORTABLE_ROOT", "DEVICE_INSTANCE"];
    for info in MODES {
        for variant in info.variants {
            let config = Config { variant: Some(variant), bodies: Some(500), ..Config::new(info) };
            let engine = crate::support::engine_on_own_cpu(config.clone());
            let (recipe, device) = (engine.resolved().recipe, &engine.devices()[0].info);
            let [built, told] = [engine.source().unwrap(), &config.mode.source(&recipe, device).unwrap()];
            assert_eq!(built.files, told.files, "{}", variant.name);
            let early: Vec<_> = built.defines.iter().filter(|define| !LATER.contains(&define.0)).collect();
            assert_eq!(early, told.defines.iter().collect::<Vec<_>>(), "{}", variant.name);
        }
    }
}

#[test]
fn the_reported_source_is_the_edited_one_after_a_successful_build() {
    let mut engine = engine();
    let own = engine.source().unwrap().clone();
    let file = *own.files.last().unwrap();
    assert_eq!((file.file, own.text(&file)), (FILE, file.text));
    let edit = |text: String| KernelEdits::from([(FILE.to_owned(), text)]);
    engine.set_edits(edit("this is no OpenCL C".to_owned())).unwrap_err();
    assert_eq!(*engine.source().unwrap(), own, "the old kernel runs on");
    let text = format!("// mine\n{}", file.text);
    engine.set_edits(edit(text.clone())).unwrap();
    assert_eq!(engine.source().unwrap().text(&file), text);
}

#[test]
fn a_saved_kernel_file_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let place = kernel_lab::prepare(folder.path()).unwrap();
    let saved = kernel_lab::save(&place, FILE, "// mine", None).unwrap();
    assert_eq!(saved, (place.join(FILE), None), "the built-in text is not kept");
    assert_eq!(
        kernel_lab::read(&place).unwrap(),
        KernelEdits::from([(FILE.to_owned(), "// mine".to_owned())])
    );
    assert!(kernel_lab::save(&place.join("no/folder"), FILE, "", None).is_err());
    // Kernels that another program has saved are not lost.
    for (nth, theirs) in ["// theirs", "// theirs again"].into_iter().enumerate() {
        fs::write(place.join(FILE), theirs).unwrap();
        let (_, kept) = kernel_lab::save(&place, FILE, "// mine", Some("// mine")).unwrap();
        let kept = kept.unwrap();
        assert!(kept.ends_with(format!("tiled.cl.old{}", nth + 1)), "{}", kept.display());
        assert_eq!(fs::read_to_string(kept).unwrap(), theirs);
    }
    // A file that the caller itself saved last is overwritten without a backup, even if its kernel never ran.
    assert_eq!(kernel_lab::save(&place, FILE, "// newer", Some("// mine")).unwrap().1, None);
    assert_eq!(kernel_lab::save(&place, FILE, "// newest", Some("// newer")).unwrap().1, None);
}

/// Waits for the session's next notice about edited kernels.
fn heard(session: &mut Watched) -> Result<ReplacedKernels, Error> {
    let mut heard = None;
    wait_for(|| {
        session.session.frame();
        match session.next_notice() {
            Some(Notice::KernelsReplaced(outcome)) => heard = Some(outcome),
            Some(Notice::Failed(error)) => panic!("{error}"),
            _ => {}
        }
        heard.is_some()
    });
    heard.unwrap()
}

#[test]
fn a_running_session_loads_saved_kernels_and_reports_their_correctness() {
    let folder = tempfile::tempdir().unwrap();
    let place = kernel_lab::prepare(folder.path()).unwrap();
    let mut session = Watched::of(|| Ok(engine()));
    let (sender, news) = crossbeam_channel::unbounded();
    let _watch = Watch::new(place.clone(), move |edits| sender.send(edits).unwrap()).unwrap();
    let save = |text: &str| {
        fs::write(place.join("gravity/force.cl"), text).unwrap();
        let edits = news.recv_timeout(Duration::from_secs(20)).expect("what is saved is found").unwrap();
        Command::EditKernels(edits)
    };
    session.send(save(&turned_round()));
    assert_eq!(heard(&mut session).unwrap().running, ["gravity/force.cl"]);
    let error = |session: &mut Watched, wanted: fn(f64) -> bool| {
        session.frame_where(|frame| frame.stats.relative_error.is_some_and(wanted));
    };
    error(&mut session, |error| error > 0.1);
    session.send(save("this is no OpenCL C"));
    assert!(matches!(heard(&mut session), Err(Error::Build { .. })));
    session.send(save(own("gravity/force.cl")));
    assert_eq!(heard(&mut session).unwrap().running, ["gravity/force.cl"]);
    error(&mut session, |error| error < 1e-3);
    assert_eq!(session.shown().stats.generation, 1, "all along it is the same scene");
    // Edits of kernels for another variant or mode are compiled only when the variant or mode is used.
    let others = ["pull.cl", "fluid/fused.cl", "gravity/blocked.cl"];
    let edits = others.map(|name| (name.to_owned(), format!("{}\n", own(name))));
    session.send(Command::EditKernels(KernelEdits::from(edits)));
    let ReplacedKernels { running, waiting } = heard(&mut session).unwrap();
    assert_eq!(
        (running, waiting),
        (vec!["pull.cl".to_owned()], vec![others[1].to_owned(), others[2].to_owned()])
    );
}

/// Watching a folder reports only changes of kernel files. Ending the watch ends its thread.
#[test]
fn only_changes_of_kernel_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let place = kernel_lab::prepare(folder.path()).unwrap();
    let (sender, news) = crossbeam_channel::unbounded();
    let watch = Watch::new(place.clone(), move |edits| sender.send(edits).unwrap()).unwrap();
    let touch = |name: &str, text: &str| fs::write(Path::new(&place).join(name), text).unwrap();
    touch("gravity/tiled.cl~", "a backup");
    touch(FILE, own(FILE));
    assert!(news.recv_timeout(Duration::from_secs(1)).is_err(), "nothing is other than before");
    // Editors often write a new file and then rename it.
    touch("gravity/.new", "other");
    fs::rename(place.join("gravity/.new"), place.join(FILE)).unwrap();
    let edits = news.recv_timeout(Duration::from_secs(20)).unwrap().unwrap();
    assert_eq!(edits[FILE], "other");
    drop(watch);
    assert!(news.recv_timeout(Duration::from_secs(20)).is_err() && news.is_empty());
}

#[test]
fn kernel_edits_apply_to_all_devices_including_those_selected_later() {
    if compute::list().unwrap().iter().any(|found| compute::aborts_on_sub_devices(&found.info)) {
        eprintln!("SKIPPED with several devices: this version of PoCL aborts with parts of a CPU");
        return;
    }
    let found = compute::select_several("sub:2").expect("PoCL's CPU can be parted");
    let devices = Devices::all(found).unwrap();
    let mut config = engine().config().clone();
    config.devices = vec![0, 1];
    let mut engine = Engine::new(devices, config).unwrap();
    let edits = KernelEdits::from([("gravity/force.cl".to_owned(), turned_round())]);
    engine.set_edits(edits.clone()).unwrap();
    engine.run(2, |_| ()).unwrap();
    let devices = engine.devices();
    assert!(devices.iter().all(|device| *device.edits() == edits));
    for chosen in [&[1][..], &[1, 0]] {
        assert!(devices.choose(chosen).unwrap().iter().all(|device| *device.edits() == edits), "{chosen:?}");
    }
    let left = devices.without(devices[0].key()).unwrap().expect("one is left");
    assert_eq!(*left.edits(), edits);
}
