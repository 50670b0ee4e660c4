//! Tests running backwards in time, and seeking a given step.

use crate::support::watched::Watched;
use crate::support::{cpu, distance, distance64, engine, gravity, scene, whole};
use gravitile::base::error::Error;
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::modes::MODES;
use gravitile::session::{Command, Notice};

/// Checks that the simulation stays at its step for a while.
fn stands_still(watched: &mut Watched) {
    let step = watched.session.frame().0.stats.step;
    for _ in 0..20 {
        std::thread::sleep(std::time::Duration::from_millis(10));
        assert_eq!(watched.session.frame().0.stats.step, step);
    }
}

/// Runs `steps` steps forwards and then back. Returns the RMS distance of the bodies from their start, at the end and
/// in between.
fn there_and_back(config: Config, steps: u32) -> [f64; 2] {
    let mut engine = engine(config.clone());
    let start = engine.bodies().unwrap().to_f64();
    engine.run(steps, |_| ()).unwrap();
    let gone = distance(&engine.bodies().unwrap(), &start);
    engine.configure(Config { reverse: true, ..config }).unwrap();
    // Runs bursts of several lengths, each of which begins and ends with a half step.
    for burst in [1, steps / 2, steps - steps / 2 - 1] {
        engine.run(burst, |_| ()).unwrap();
    }
    assert_eq!(engine.clock(), (0, 0.0));
    let back = engine.bodies().unwrap();
    [distance(&back, &start), gone]
}

#[test]
fn a_thousand_steps_forwards_and_back_return_to_the_start_with_every_variant() {
    for variant in gravity().variants {
        // A soft cluster, in which rounding errors grow only slowly.
        let config = scene("plummer", Some(256), &[("dt", "0.005"), ("eps", "0.2")]);
        let config = Config { variant: Some(variant), ..config };
        let [off, gone] = there_and_back(config, 1000);
        println!("{}: {off:.1e} off, after {gone:.2} there", variant.name);
        assert!(gone > 0.3, "{}: it went {gone}", variant.name);
        assert!(off < 1e-5, "{}: {off}", variant.name);
    }
}

#[test]
fn compensated_steps_forwards_and_back_return_within_a_billionth() {
    // A position that returns to within 1e-14 may be rounded differently, which changes the forces. This is rare, and
    // three times as frequent with an integrator of three evaluations per step.
    let exact = gravity().variants.iter().filter(|variant| variant.normal_error.is_none());
    let variants = exact.map(|variant| (variant, "leapfrog", 1e-9));
    for (variant, integrator, allowed) in variants.chain([(&gravity().variants[4], "yoshida", 1e-8)]) {
        let set = [("dt", "0.005"), ("eps", "0.2"), ("compensated", "true"), ("integrator", integrator)];
        let config = Config { variant: Some(variant), ..scene("plummer", Some(256), &set) };
        let mut engine = engine(config.clone());
        let start = engine.bodies().unwrap().to_f64();
        engine.run(1000, |_| ()).unwrap();
        let gone = distance64(&whole(&mut engine), &start);
        engine.configure(Config { reverse: true, ..config }).unwrap();
        engine.run(1000, |_| ()).unwrap();
        assert_eq!(engine.clock().0, 0);
        let off = distance64(&whole(&mut engine), &start);
        println!("{} {integrator}: {off:.1e} off, after {gone:.2} there", variant.name);
        assert!(gone > 0.3 && off < allowed, "{} {integrator}: {off} off of {gone}", variant.name);
    }
}

/// Checks that reversing an irreversible integrator fails clearly, so that the test of reversible ones is meaningful.
#[test]
fn reversing_an_irreversible_integrator_does_not_return_to_the_start() {
    let (steps, least) = (1000, 1e-3);
    let config = scene("plummer", Some(512), &[("dt", "0.005"), ("eps", "0.2"), ("integrator", "euler")]);
    let mut engine = engine(config.clone());
    let start = engine.bodies().unwrap().to_f64();
    engine.run(steps, |_| ()).unwrap();
    // Reversing all velocities should have the same effect as reversing time.
    let mut bodies = engine.bodies().unwrap();
    bodies.velocities.iter_mut().for_each(|v| v[..3].iter_mut().for_each(|c| *c = -*c));
    let mode = config.mode.clone();
    let recipe = engine.resolved().recipe;
    let mut turned = mode.build(&cpu(), recipe, &bodies.into()).unwrap();
    turned.start(steps);
    while turned.advance().unwrap() {}
    let back = turned.state().unwrap().into_bodies().unwrap();
    let off = distance(&back, &start);
    assert!(off > least, "{off}");
}

#[test]
fn an_irreversible_simulation_refuses_to_run_backwards_and_keeps_running() {
    let refused = |mut config: Config| {
        let mut engine = engine(config.clone());
        config.reverse = true;
        let Err(Error::Invalid(why)) = engine.configure(config) else { panic!("it goes back") };
        assert!(!engine.is_backwards());
        engine.run(1, |_| ()).unwrap();
        assert_eq!(engine.clock().0, 1);
        why
    };
    for (set, word) in [
        (("integrator", "euler"), "leapfrog"),
        (("integrator", "taylor"), "leapfrog"),
        (("decay", "0.99"), "decay"),
    ] {
        let why = refused(scene("plummer", Some(64), &[set]));
        assert!(why.contains(word), "{why}");
    }
    for info in &MODES[1..] {
        let why = refused(Config { bodies: Some(256), ..Config::new(info) });
        assert!(why.starts_with("this simulation cannot run backwards"), "{why}");
    }
}

#[test]
fn running_backwards_stops_at_the_start_and_can_continue_forwards() {
    let config = scene("plummer", Some(64), &[]);
    let mut watched = Watched::new(Config { running: false, steps_per_frame: Some(7), ..config.clone() });
    watched.session.send(Command::Seek(Some(20)));
    watched.frame_where(|frame| frame.stats.step == 20 && frame.stats.goal.is_none());
    watched.configure(&Config { reverse: true, steps_per_frame: Some(7), ..config.clone() });
    let frame = watched.frame_where(|frame| frame.stats.step < 20);
    assert_eq!(frame.stats.step, 13, "bursts are as long as ever");
    let at_start = watched.frame_where(|frame| frame.stats.step == 0 && !frame.stats.running);
    assert_eq!(at_start.stats.time, 0.0);
    let Notice::Paused { current, .. } = watched.notice() else { panic!("nothing was said") };
    assert!(current.reverse && !current.running);
    stands_still(&mut watched);
    watched.configure(&config);
    watched.frame_where(|frame| frame.stats.step > 7);
}

#[test]
fn a_seek_reaches_the_step_and_pauses() {
    let mut watched = Watched::new(Config { running: false, ..scene("plummer", Some(64), &[]) });
    for (goal, generation) in [(3000, 1), (2000, 1), (2001, 1), (100, 2), (0, 3)] {
        watched.session.send(Command::Seek(Some(goal)));
        let there =
            |frame: &gravitile::session::Frame| frame.stats.step == goal && frame.stats.goal.is_none();
        let frame = watched.frame_where(there);
        // Seeking back takes the shorter way: backwards in time, or from the start.
        assert_eq!(frame.stats.generation, generation, "on the way to {goal}");
        assert!(!frame.stats.running);
        stands_still(&mut watched);
    }
}

#[test]
fn seeking_back_from_the_start_gives_bitwise_equal_bodies() {
    let config = scene("plummer", Some(64), &[("integrator", "euler")]);
    let mut direct = engine(config.clone());
    direct.run(500, |_| ()).unwrap();
    let mut watched = Watched::new(Config { running: false, ..config });
    watched.session.send(Command::Seek(Some(700)));
    watched.frame_where(|frame| frame.stats.step == 700);
    watched.session.send(Command::Seek(Some(500)));
    let frame = watched.frame_where(|frame| frame.stats.step == 500 && frame.stats.goal.is_none());
    assert_eq!(frame.stats.generation, 2, "euler cannot go back");
    assert_eq!(&frame.points.positions[..], direct.bodies().unwrap().positions);
}

#[test]
fn a_seek_can_be_cancelled() {
    let mut watched = Watched::new(Config { running: false, ..scene("plummer", Some(64), &[]) });
    watched.session.send(Command::Seek(Some(u64::MAX)));
    let on_the_way = watched.frame_where(|frame| frame.stats.step > 100);
    assert_eq!(on_the_way.stats.goal, Some(u64::MAX));
    watched.session.send(Command::Seek(None));
    watched.frame_where(|frame| frame.stats.goal.is_none());
    stands_still(&mut watched);
}

#[test]
fn a_snapshot_stores_the_direction_of_time() {
    let mut engine = engine(scene("plummer", Some(64), &[]));
    engine.run(10, |_| ()).unwrap();
    engine.configure(Config { reverse: true, ..engine.config().clone() }).unwrap();
    engine.run(3, |_| ()).unwrap();
    let bytes = engine.snapshot().unwrap().to_bytes().unwrap();
    let snapshot = gravitile::engine::snapshot::Snapshot::from_bytes(&bytes).unwrap();
    let mut resumed = Engine::resume(cpu(), snapshot, &Default::default()).unwrap();
    for engine in [&mut engine, &mut resumed] {
        engine.run(4, |_| ()).unwrap();
        assert_eq!(engine.clock().0, 3);
    }
    assert_eq!(engine.bodies().unwrap(), resumed.bodies().unwrap());
}
