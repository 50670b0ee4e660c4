//! Snapshots: what is resumed goes on as if it had never stopped.

mod support;

use gravitile::bodies::Bodies;
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::modes::{MODES, ModeInfo, Variant};
use gravitile::params;
use gravitile::scene::Scene;
use gravitile::snapshot::Snapshot;
use gravitile::state::{Matter, State};
use gravitile::tuned::Tuned;
use support::{cpu, engine};

/// Steps of the bursts before and after: tracers move on every 16.
const BURSTS: [u32; 2] = [5, 19];

/// What steps take different paths by.
fn options(info: &ModeInfo) -> &'static [&'static [(&'static str, &'static str)]] {
    match info.name {
        "gravity" => &[
            &[("integrator", "leapfrog")],
            &[("integrator", "euler")],
            &[("integrator", "taylor"), ("softening", "clamp")],
            &[("integrator", "leapfrog"), ("decay", "0.99"), ("flat", "true")],
        ],
        "asteroids" => &[&[], &[("colour", "hit")]],
        "fluid" => &[&[("drive", "force")], &[("drive", "row")], &[("drive", "inlet")]],
        name => panic!("{name} has no options here"),
    }
}

fn config(info: &'static ModeInfo, variant: &'static Variant, options: &[(&str, &str)]) -> Config {
    let mut config = Config::new(info);
    if let Some(scene) = info.scene("porous").or(info.scene("box")) {
        config.select_scene(scene);
    }
    (config.variant, config.bodies, config.seed) = (Some(variant), Some(700), 3);
    for (key, value) in options {
        params::set(config.mode.as_mut(), key, value).unwrap();
    }
    if info.work.matter == Matter::Bodies {
        // One is held out from the start, one leaves all bounds on the way, and one alone has another mass.
        let mut bodies = engine(config.clone()).bodies().unwrap();
        for (i, v) in bodies.velocities.iter_mut().enumerate() {
            v[i % 3] += 0.1 + 0.01 * (i % 7) as f32;
        }
        bodies.velocities[5] = [f32::NAN; 4];
        (bodies.positions[9], bodies.velocities[9]) = ([9.99e17, 0.0, 0.0, 0.5], [9e17, 0.0, 0.0, 0.0]);
        config.start = Scene::of_bodies("stirred", bodies);
    }
    config
}

/// All numbers of a state, to the last bit.
fn bits(state: &State) -> Vec<u32> {
    match state {
        State::Bodies(Bodies { positions, velocities }) => {
            positions.iter().chain(velocities).flatten().map(|x| x.to_bits()).collect()
        }
        State::Flow(flow) => {
            let cells = flow.cells.iter().flatten();
            cells.chain(flow.tracers.iter().flatten()).map(|x| x.to_bits()).collect()
        }
    }
}

/// What there is, and what is seen of it.
fn look(engine: &mut Engine) -> (Vec<u32>, Vec<u32>, Vec<u64>, (u64, f64)) {
    let (points, _) = engine.publish(Default::default()).unwrap().wait().unwrap();
    let seen = points.positions.iter().flatten().chain(points.values.iter()).map(|x| x.to_bits()).collect();
    let told = engine.series().unwrap().iter().map(|x| x.to_bits()).collect();
    (bits(&engine.state().unwrap()), seen, told, engine.clock())
}

fn resumed(snapshot: &Snapshot) -> Engine {
    let again = Snapshot::from_bytes(&snapshot.to_bytes().unwrap()).unwrap();
    Engine::resume(cpu(), again, &Tuned::default()).unwrap()
}

#[test]
fn every_variant_goes_on_as_if_it_had_never_stopped() {
    for info in MODES {
        for variant in info.variants {
            for options in options(info) {
                let what = format!("{} {} {options:?}", info.name, variant.name);
                let mut steady = engine(config(info, variant, options));
                steady.run(BURSTS[0], |_| ()).unwrap();
                steady.diagnostics().unwrap();
                let snapshot = steady.snapshot().unwrap();
                let mut resumed = resumed(&snapshot);
                let before = look(&mut steady);
                assert!(before == look(&mut resumed), "{what}: it is what it was");
                assert_eq!(resumed.resolved(), steady.resolved(), "{what}");
                for engine in [&mut steady, &mut resumed] {
                    engine.run(BURSTS[1], |_| ()).unwrap();
                }
                let after = look(&mut steady);
                assert!(after == look(&mut resumed), "{what}: it goes on");
                assert!(after.0 != before.0, "{what}: it moves");
                assert_eq!(
                    steady.diagnostics().unwrap().1,
                    resumed.diagnostics().unwrap().1,
                    "{what}: its drift"
                );
                // From the start again: the scene is in the snapshot too.
                for engine in [&mut steady, &mut resumed] {
                    engine.restart().unwrap();
                    engine.run(1, |_| ()).unwrap();
                }
                assert!(look(&mut steady) == look(&mut resumed), "{what}: it starts anew");
            }
        }
    }
}

#[test]
fn the_other_modes_go_on_where_they_were_left_too() {
    let modes = || MODES.iter().map(|info| config(info, &info.variants[0], &[]));
    let configs: Vec<Config> = modes().collect();
    let mut steady = engine(configs[0].clone());
    for config in &configs[1..] {
        steady.run(3, |_| ()).unwrap();
        steady.configure(config.clone()).unwrap();
    }
    steady.run(3, |_| ()).unwrap();
    let mut resumed = resumed(&steady.snapshot().unwrap());
    assert_eq!(resumed.left().count(), MODES.len() - 1);
    // The panel has the configs of the resumed ones: their scenes are their own.
    let left: Vec<Config> = resumed.left().cloned().collect();
    for next in left {
        let info = next.mode.info();
        let own = configs.iter().find(|config| config.mode.info() == info).unwrap();
        steady.configure(own.clone()).unwrap();
        resumed.configure(next).unwrap();
        for engine in [&mut steady, &mut resumed] {
            assert_eq!(engine.clock().0, 3, "{} goes on", info.name);
            engine.run(4, |_| ()).unwrap();
        }
        assert!(look(&mut steady) == look(&mut resumed), "{}", info.name);
    }
}

/// A number of bodies that `auto` chose on another device is what a restart makes here too.
#[test]
fn a_restart_on_another_device_makes_the_same_scene() {
    let mut there = engine(Config { bodies: None, ..Config::new(MODES[0]) });
    let mut snapshot = there.snapshot().unwrap();
    let auto = snapshot.runs[0].made.expect("it is told");
    assert_eq!((auto, snapshot.runs[0].config.bodies), (there.size(), None));
    assert_eq!(resumed(&snapshot).config().bodies, None, "here it is what `auto` says");
    // As on a device for which that is another number.
    there.configure(Config { bodies: Some(700), ..there.config().clone() }).unwrap();
    snapshot = there.snapshot().unwrap();
    (snapshot.device, snapshot.runs[0].config.bodies) = (["another".to_owned(), "1.0".to_owned()], None);
    let mut here = resumed(&snapshot);
    assert_eq!((here.config().bodies, here.resolved().bodies), (Some(700), 700));
    here.restart().unwrap();
    assert_eq!(bits(&here.state().unwrap()), bits(&there.state().unwrap()));
}

/// A mode that comes back with other parameters does not go on with what belonged to the old ones.
#[test]
fn a_mode_that_comes_back_otherwise_steps_as_if_it_had_been_changed_there() {
    let [gravity, other] = [0, 1].map(|at| config(MODES[at], &MODES[at].variants[0], &[]));
    let mut changed = gravity.clone();
    params::set(changed.mode.as_mut(), "g", "5").unwrap();
    let [mut left, mut stays] = [0, 1].map(|_| engine(gravity.clone()));
    for engine in [&mut left, &mut stays] {
        engine.run(3, |_| ()).unwrap();
    }
    left.configure(other).unwrap();
    for engine in [&mut left, &mut stays] {
        engine.configure(changed.clone()).unwrap();
        engine.run(1, |_| ()).unwrap();
    }
    assert!(bits(&left.state().unwrap()) == bits(&stays.state().unwrap()));
}

/// `auto` may have learnt something meanwhile: what ran goes on as it ran. On another device it decides anew.
#[test]
fn on_the_same_device_the_same_kernel_goes_on() {
    let mut steady = engine(Config { bodies: Some(300), ..Config::new(MODES[0]) });
    steady.run(2, |_| ()).unwrap();
    let mut snapshot = steady.snapshot().unwrap();
    let auto = steady.resolved().recipe.variant.name;
    assert_ne!(auto, "tiled");
    (snapshot.runs[0].recipe.variant, snapshot.runs[0].recipe.work_group) = ("tiled".to_owned(), 32);
    snapshot.runs[0].recipe.knobs.clear();
    let same = resumed(&snapshot);
    assert_eq!((same.resolved().recipe.variant.name, same.resolved().recipe.work_group), ("tiled", 32));
    assert_eq!(same.config().variant.map(|variant| variant.name), Some("tiled"), "the panel says so");
    snapshot.device = ["another".to_owned(), "1.0".to_owned()];
    let other = resumed(&snapshot);
    assert_eq!(other.resolved().recipe.variant.name, auto);
    assert_eq!(
        bits(&{ other }.state().unwrap()),
        bits(&steady.state().unwrap()),
        "the bodies are the same all the same"
    );
}

/// What a kernel left there is nothing to go on from here: it is computed anew, whatever it says.
#[test]
fn on_another_device_nothing_is_left_of_the_kernel_that_ran() {
    let mut there = engine(Config { bodies: Some(300), ..Config::new(MODES[0]) });
    there.run(3, |_| ()).unwrap();
    let mut snapshot = there.snapshot().unwrap();
    let run = |snapshot: &Snapshot| {
        let mut engine = resumed(snapshot);
        engine.run(3, |_| ()).unwrap();
        bits(&engine.state().unwrap())
    };
    let right = run(&snapshot);
    assert!(!snapshot.runs[0].extra.is_empty());
    snapshot.runs[0].extra.values_mut().flatten().for_each(|x| *x *= 2.0);
    let wrong = run(&snapshot);
    snapshot.device = ["another".to_owned(), "1.0".to_owned()];
    let other = run(&snapshot);
    snapshot.runs[0].extra.clear();
    assert!(wrong != right && other == run(&snapshot));
}

/// Written by the version before the contact law `match`, which has no parameter for the law.
#[test]
fn a_snapshot_from_before_the_contact_law_goes_on() {
    let bytes = include_bytes!("golden/asteroids-one-pass.snapshot");
    let snapshot = Snapshot::from_bytes(bytes).unwrap();
    let mut engine = Engine::resume(cpu(), snapshot, &Tuned::default()).unwrap();
    assert_eq!(engine.clock().0, 40);
    let law = engine.config().mode.values().get("contact_law");
    assert_eq!(law, Some(params::Value::Option("match")));
    let before = engine.bodies().unwrap();
    engine.run(20, |_| ()).unwrap();
    let after = engine.bodies().unwrap();
    assert_eq!((after.len(), after.nonfinite()), (64, 0));
    assert!(before.positions.iter().zip(&after.positions).all(|(before, after)| before != after));
}
