//! The kernel lab: kernels that are edited while they run, in the engine, the session and a watched folder.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use gravitile::compute::{self, Devices, Edits};
use gravitile::engine::Engine;
use gravitile::error::Error;
use gravitile::kernels::{self, Watch};
use gravitile::modes::MODES;
use gravitile::session::{Command, Notice, Session};

const FILE: &str = "gravity/tiled.cl";

fn own(name: &str) -> &'static str {
    kernels::own().find(|(file, _)| *file == name).unwrap().1
}

/// A kernel that pushes away.
fn turned_round() -> String {
    let force = own("gravity/force.cl");
    let edited = force.replacen("return sum + d", "return sum - d", 1);
    assert_ne!(edited, force, "the kernel sums otherwise now");
    edited
}

fn engine() -> Engine {
    let mut config = support::scene("plummer", Some(500), &[]);
    config.variant = support::gravity().variant("tiled");
    support::engine(config)
}

fn step(engine: &mut Engine) -> Vec<u8> {
    engine.run(1, |_| ()).unwrap();
    bytemuck::cast_slice(&engine.bodies().unwrap().positions).to_vec()
}

#[test]
fn what_is_written_out_is_all_that_is_built() {
    let names: BTreeSet<&str> = kernels::own().map(|(name, _)| name).collect();
    for info in MODES {
        for variant in info.variants {
            for source in info.sources(variant) {
                assert_eq!(own(source.file), source.text, "{}", source.file);
                assert!(names.contains(source.file));
            }
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let place = kernels::prepare(folder.path()).unwrap();
    assert_eq!(place, folder.path());
    assert!(kernels::read(&place).unwrap().is_empty(), "as they come");
    // What is there stays as it is, and a folder with something else gets one of its own.
    fs::write(place.join(FILE), "edited").unwrap();
    assert_eq!(kernels::prepare(&place).unwrap(), place);
    assert_eq!(kernels::read(&place).unwrap(), Edits::from([(FILE.to_owned(), "edited".to_owned())]));
    let other = tempfile::tempdir().unwrap();
    fs::write(other.path().join("letter.txt"), "").unwrap();
    assert!(kernels::read(other.path()).is_err());
    assert_eq!(kernels::prepare(other.path()).unwrap(), other.path().join("gravitile-kernels"));
    // What is no text, or far too long, is told.
    for contents in [b"\xff\xfe".to_vec(), vec![b' '; (1 << 20) + 1]] {
        fs::write(place.join(FILE), contents).unwrap();
        let error = kernels::read(&place).unwrap_err().to_string();
        assert!(error.contains("tiled.cl"), "{error}");
    }
}

#[test]
fn an_edit_runs_at_once_with_the_state_kept_and_taking_it_back_gives_the_same_bits() {
    let [mut edited, mut plain] = [engine(), engine()];
    for engine in [&mut edited, &mut plain] {
        engine.run(3, |_| ()).unwrap();
        engine.run(1, |_| ()).unwrap();
    }
    let before = edited.bodies().unwrap();
    edited.set_edits(Edits::from([("gravity/force.cl".to_owned(), turned_round())])).unwrap();
    assert_eq!(edited.bodies().unwrap().positions, before.positions, "nothing moved");
    assert_eq!((edited.clock().0, edited.generation()), (4, 1), "and no time passed");
    let outcome = edited.sample(vec![0, 1, 2]).unwrap();
    assert!(outcome.is_none(), "no step was taken with it");
    let [a, b] = [&mut edited, &mut plain].map(|engine| (step(engine), step(engine)).1);
    assert_ne!(a, b, "it steps otherwise");

    // Back to the program's own: as an engine that never had another.
    let state = edited.bodies().unwrap();
    edited.set_edits(Edits::new()).unwrap();
    let mut fresh = support::engine({
        let mut config = edited.config().clone();
        config.start = gravitile::scene::Scene::of_bodies("the same", state);
        config
    });
    assert_eq!(step(&mut edited), step(&mut fresh), "nothing edited is left in the cache");
}

#[test]
fn what_does_not_build_or_run_changes_nothing() {
    let [mut engine, mut plain] = [engine(), engine()];
    let tiled = own(FILE);
    let broken = tiled.replacen('{', "{\n    nonsense_here;\n", 1);
    let line = broken.lines().position(|line| line.contains("nonsense_here")).unwrap() + 1;
    let error = engine.set_edits(Edits::from([(FILE.to_owned(), broken)])).unwrap_err();
    let Error::Build { file, log, .. } = &error else { panic!("{error}") };
    assert_eq!(file, FILE);
    assert!(log.contains(&format!("{FILE}:{line}:")), "{log}");
    // One argument too many builds, and the device refuses to run it; none of that name does not start.
    let more = tiled.replacen("void advance(", "void advance(__global float *more, ", 1);
    let other = tiled.replacen("void advance(", "void advances(", 1);
    assert!(more != tiled && other != tiled);
    for text in [more, other, "\0".to_owned(), String::new()] {
        let error = engine.set_edits(Edits::from([(FILE.to_owned(), text)])).unwrap_err();
        assert!(!error.to_string().is_empty());
    }
    assert!(engine.device().edits().is_empty());
    assert_eq!(step(&mut engine), step(&mut plain), "the one before runs on, to the last bit");
    engine.restart().unwrap();
}

/// Waits for the next thing that a session says of kernels.
fn heard(session: &mut Session) -> Result<Vec<String>, Error> {
    let start = Instant::now();
    loop {
        session.frame();
        for notice in session.notices() {
            match notice {
                Notice::Kernels(outcome) => return outcome,
                Notice::Failed(error) => panic!("{error}"),
                _ => {}
            }
        }
        assert!(start.elapsed() < Duration::from_secs(60), "nothing was said");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn a_running_session_takes_what_is_saved_and_tells_whether_it_is_right() {
    let folder = tempfile::tempdir().unwrap();
    let place = kernels::prepare(folder.path()).unwrap();
    let mut session = Session::spawn(|| Ok(engine()), || ()).unwrap();
    let (sender, news) = crossbeam_channel::unbounded();
    let _watch = Watch::new(place.clone(), move |edits| sender.send(edits).unwrap()).unwrap();
    let save = |text: &str| {
        fs::write(place.join("gravity/force.cl"), text).unwrap();
        let edits = news.recv_timeout(Duration::from_secs(20)).expect("what is saved is found").unwrap();
        Command::Kernels(edits)
    };
    session.send(save(&turned_round()));
    assert_eq!(heard(&mut session).unwrap(), ["gravity/force.cl"]);
    let error = |session: &mut Session, wanted: fn(f64) -> bool| {
        let start = Instant::now();
        loop {
            let error = session.frame().0.stats.relative_error;
            if let Some(error) = error.filter(|error| wanted(*error)) {
                return error;
            }
            assert!(start.elapsed() < Duration::from_secs(60), "the error is still {error:?}");
            std::thread::sleep(Duration::from_millis(5));
        }
    };
    error(&mut session, |error| error > 0.1);
    session.send(save("this is no OpenCL C"));
    assert!(matches!(heard(&mut session), Err(Error::Build { .. })));
    session.send(save(own("gravity/force.cl")));
    assert_eq!(heard(&mut session).unwrap(), ["gravity/force.cl"]);
    error(&mut session, |error| error < 1e-3);
    assert_eq!(session.frame().0.stats.generation, 1, "all along it is the same scene");
}

/// A folder is watched as an editor leaves it: other files do not matter, and an end of the watch ends its thread.
#[test]
fn only_kernels_are_news() {
    let folder = tempfile::tempdir().unwrap();
    let place = kernels::prepare(folder.path()).unwrap();
    let (sender, news) = crossbeam_channel::unbounded();
    let watch = Watch::new(place.clone(), move |edits| sender.send(edits).unwrap()).unwrap();
    let touch = |name: &str, text: &str| fs::write(Path::new(&place).join(name), text).unwrap();
    touch("gravity/tiled.cl~", "a backup");
    touch(FILE, own(FILE));
    assert!(news.recv_timeout(Duration::from_secs(1)).is_err(), "nothing is other than before");
    // Beside, then renamed, as editors do.
    touch("gravity/.new", "other");
    fs::rename(place.join("gravity/.new"), place.join(FILE)).unwrap();
    let edits = news.recv_timeout(Duration::from_secs(20)).unwrap().unwrap();
    assert_eq!(edits[FILE], "other");
    drop(watch);
    assert!(news.recv_timeout(Duration::from_secs(20)).is_err() && news.is_empty());
}

#[test]
fn all_devices_take_the_same_kernels_and_so_do_those_that_are_chosen_later() {
    if compute::list().unwrap().iter().any(|found| compute::has_no_parts(&found.info)) {
        eprintln!("SKIPPED with several devices: this version of PoCL aborts with parts of a CPU");
        return;
    }
    let found = compute::select_several("sub:2").expect("PoCL's CPU can be parted");
    let devices = Devices::all(found).unwrap();
    let mut config = engine().config().clone();
    config.devices = vec![0, 1];
    let mut engine = Engine::new(devices, config).unwrap();
    let edits = Edits::from([("gravity/force.cl".to_owned(), turned_round())]);
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
