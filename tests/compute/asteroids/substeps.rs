//! Tests the mode asteroids with steps that are divided into substeps.

use gravitile::base::bodies::Bodies;
use gravitile::base::edit::Edit;
use gravitile::base::params::{self, ParamValue};
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::engine::snapshot::Snapshot;
use gravitile::modes::asteroids::{Asteroids, ContactLaw, INFO, Substeps};
use gravitile::modes::{Mode, Variant};
use gravitile::scene::{Scene, file};

use super::{bodies, build, deepest, fastest, length, noise, reading, run, shell, space};
use crate::support::{cpu, engine, recipe};

#[test]
fn automatic_substeps_let_a_fast_body_hit_the_bodies_in_its_path() {
    // The body moves eight radii per step: without substeps, it would never touch the bodies in its way.
    let mode = Asteroids { radius: 0.01, dt: 0.01, substeps: Substeps::Auto, ..space() };
    let mut rows = vec![([0.0; 3], [8.0, 0.0, 0.0], 1.0)];
    rows.extend((0..10u8).map(|k| ([0.2 + 0.08 * f32::from(k), 0.0, 0.0], [0.0; 3], 1.0)));
    let start = bodies(&rows);
    for variant in INFO.variants {
        let mut simulation = build(&mode, variant, &start);
        let end = run(simulation.as_mut(), 16);
        // Balls of equal mass exchange velocities: the first ball stops and the last one moves on.
        assert!(end.velocities[0][0].abs() < 1e-4, "{}: {:?}", variant.name, end.velocities[0]);
        assert!((end.velocities[10][0] - 8.0).abs() < 1e-4, "{}: {:?}", variant.name, end.velocities[10]);
        let told = simulation.diagnostics().unwrap();
        assert_eq!(reading(&told, "substeps"), 16.0, "{}", variant.name);
        assert!((reading(&told, "reach") - 0.5).abs() < 1e-5, "{told:?}");
        assert!(told.readings.iter().all(|reading| !reading.warns), "{told:?}");

        let once = Asteroids { substeps: Substeps::Fixed(1), ..mode.clone() };
        let mut simulation = build(&once, variant, &start);
        let end = run(simulation.as_mut(), 16);
        assert_eq!(end.velocities, start.velocities, "{}: it passes through", variant.name);
        let told = simulation.diagnostics().unwrap();
        let reach = told.readings.iter().find(|reading| reading.key == "reach").unwrap();
        assert!(
            (reach.value - 8.0).abs() < 1e-4
                && reach.warns
                && reach.advice.is_some_and(|advice| advice.contains("auto")),
            "{reach:?}"
        );
    }
}

#[test]
fn a_warning_is_shown_if_64_substeps_are_not_enough() {
    let mode = Asteroids { radius: 0.01, dt: 0.1, substeps: Substeps::Auto, ..space() };
    let start = bodies(&[([0.0; 3], [8.0, 0.0, 0.0], 1.0)]);
    let mut simulation = build(&mode, &INFO.variants[0], &start);
    run(simulation.as_mut(), 1);
    let told = simulation.diagnostics().unwrap();
    assert_eq!(reading(&told, "substeps"), 64.0);
    let reach = told.readings.iter().find(|reading| reading.key == "reach").unwrap();
    assert!((reach.value - 1.25).abs() < 1e-5 && reach.warns);
    assert!(reach.advice.is_some_and(|advice| advice.contains("reduce the time step")), "{:?}", reach.advice);
}

/// Returns a mode with ten times the default gravity, and with a time step so long that a pile would sink into the
/// planet.
fn heavy(substeps: Substeps) -> Asteroids {
    Asteroids {
        dt: 0.008,
        substeps,
        restitution: 0.0,
        friction: 1.0,
        radius: 0.04,
        planet_mass: 10.0,
        planet_radius: 0.3,
        ..Asteroids::default()
    }
}

#[test]
fn a_pile_stays_standing_under_strong_gravity_with_a_long_step() {
    let free_fall = (20.0f64 / 0.3 - 20.0 / 0.6).sqrt();
    let grid = INFO.variant("grid").unwrap();
    let stack: Vec<_> = (0..5u8).map(|k| ([0.34 + 0.08 * f32::from(k), 0.0, 0.0], [0.0; 3], 1.0)).collect();
    for (name, start) in [("stack", bodies(&stack)), ("heap", shell(200, 0.04))] {
        let [auto, once] = [Substeps::Auto, Substeps::Fixed(1)].map(|substeps| {
            let mode = heavy(substeps);
            let end = run(build(&mode, grid, &start).as_mut(), 300).to_f64();
            let seen = (deepest(&end, &mode), fastest(&end) / free_fall);
            eprintln!("{name}, {substeps:?}: overlap {:.4}, speed {:.1e} of free fall", seen.0, seen.1);
            seen
        });
        assert!(auto.0 < 0.05 && auto.1 < 1e-2, "{name}: {auto:?}");
        assert!(once.0 > 0.05, "{name} sinks in undivided steps: {once:?}");
    }
}

#[test]
fn four_substeps_equal_four_steps_of_a_quarter_of_the_length() {
    let mut start = shell(150, 0.04);
    let mut noise = noise();
    start.velocities.iter_mut().for_each(|v| (0..3).for_each(|k| v[k] = 2.0 * (noise() - 0.5) as f32));
    for contact_law in [ContactLaw::Match, ContactLaw::Simple] {
        let whole = Asteroids { contact_law, dt: 0.008, ..heavy(Substeps::Fixed(4)) };
        let quarter = Asteroids { dt: 0.002, substeps: Substeps::Fixed(1), ..whole.clone() };
        for variant in INFO.variants {
            let (mut divided, mut cut) = (build(&whole, variant, &start), build(&quarter, variant, &start));
            let mut hits = 0.0;
            for step in 0..20 {
                let end = run(divided.as_mut(), 1);
                for _ in 0..4 {
                    run(cut.as_mut(), 1);
                    hits += reading(&cut.diagnostics().unwrap(), "collisions");
                }
                assert_eq!(end, run(cut.as_mut(), 0), "{}, step {step}", variant.name);
                let told = reading(&divided.diagnostics().unwrap(), "collisions");
                hits -= told;
                assert_eq!(hits, 0.0, "{}, step {step}: {told}", variant.name);
            }
            assert_eq!(divided.rounds(), 4.0);
        }
        // The parameter `decay` applies to a whole step. For a substep, a root of 0.9999999 would round to 1 in f32.
        for decay in [0.9, 0.9999999] {
            let slow = Asteroids { decay, ..whole.clone() };
            let [mut divided, mut cut, mut lossless] =
                [&slow, &quarter, &whole].map(|mode| build(mode, &INFO.variants[1], &start));
            run(cut.as_mut(), 3);
            cut.set(&Asteroids { decay, ..quarter.clone() }).unwrap();
            let end = run(divided.as_mut(), 1);
            assert_eq!(end, run(cut.as_mut(), 1), "decay {decay}");
            assert_ne!(end, run(lossless.as_mut(), 1), "decay {decay} does something");
        }
    }
}

/// Returns a configuration of bodies that fall on the planet from rest, so that they need more and more substeps.
fn falling(variant: &'static Variant) -> Config {
    let mut config = Config { variant: Some(variant), ..Config::new(&INFO) };
    let mut start = shell(150, 0.01);
    start.positions.iter_mut().for_each(|x| (0..3).for_each(|k| x[k] *= 1.4));
    config.start = Scene::of_bodies("falling", start);
    config.mode = Asteroids { restitution: 0.5, dt: 0.002, radius: 0.01, ..heavy(Substeps::Auto) }.boxed();
    config
}

fn bits(bodies: &Bodies) -> Vec<u32> {
    bodies.positions.iter().chain(&bodies.velocities).flatten().map(|x| x.to_bits()).collect()
}

#[test]
fn splitting_a_run_with_substeps_into_parts_changes_no_bit() {
    for name in ["naive", "tiled", "tiled-both", "vector", "grid"] {
        let config = falling(INFO.variant(name).unwrap());
        let mut whole = engine(config.clone());
        whole.run(100, |_| ()).unwrap();
        let end = bits(&whole.bodies().unwrap());

        // Runs single steps, reads results and takes snapshots between the steps, and changes the colour.
        let (mut cut, mut counts, mut kept) = (engine(config.clone()), Vec::new(), Vec::new());
        for step in 0..100 {
            cut.run(1, |_| ()).unwrap();
            counts.push(cut.rounds());
            if step % 9 == 0 {
                cut.diagnostics().unwrap();
                kept.push(cut.snapshot().unwrap().to_bytes().unwrap());
            }
            if step == 50 {
                let mut config = cut.config().clone();
                params::set(config.mode.as_mut(), "colour", "hit").unwrap();
                cut.configure(config).unwrap();
            }
        }
        assert!(bits(&cut.bodies().unwrap()) == end, "{name}: single steps");
        assert!((cut.rounds_run() - whole.rounds_run()).abs() < 1e-6 * whole.rounds_run());
        let changes = counts.windows(2).filter(|pair| pair[0] != pair[1]).count();
        eprintln!("{name}: {changes} changes, from {} to {} substeps", counts[0], counts[99]);
        assert!(changes >= 2, "{counts:?}");

        for bytes in kept {
            let snapshot = Snapshot::from_bytes(&bytes).unwrap();
            let mut resumed = Engine::resume(cpu(), snapshot, &Default::default()).unwrap();
            let (step, _) = resumed.clock();
            resumed.run(100 - step as u32, |_| ()).unwrap();
            assert!(bits(&resumed.bodies().unwrap()) == end, "{name}: resumed after {step}");
        }
    }
}

#[test]
fn editing_a_body_to_be_fast_adds_substeps_to_the_next_step() {
    let mut config = falling(&INFO.variants[1]);
    let start = bodies(&[([2.0, 0.0, 0.0], [0.0; 3], 1.0), ([-2.0, 0.0, 0.0], [0.0; 3], 1.0)]);
    config.start = Scene::of_bodies("two", start);
    let mut engine = engine(config);
    engine.run(3, |_| ()).unwrap();
    assert_eq!(engine.rounds(), 1.0);
    engine.edit(&Edit::Change { body: 0, mass: None, velocity: Some([0.0, 50.0, 0.0]) }).unwrap();
    engine.run(1, |_| ()).unwrap();
    assert_eq!(engine.rounds(), 32.0);
    engine.undo().unwrap();
    engine.run(1, |_| ()).unwrap();
    assert_eq!(engine.rounds(), 1.0);
    // Continues with another time step.
    let mut config = engine.config().clone();
    params::set(config.mode.as_mut(), "dt", "0.1").unwrap();
    engine.configure(config).unwrap();
    engine.run(1, |_| ()).unwrap();
    assert!(engine.rounds() > 8.0, "{}", engine.rounds());
}

#[test]
fn substeps_are_set_and_stored_like_any_parameter() {
    let mut mode = Asteroids::default();
    let as_mode: &mut dyn Mode = &mut mode;
    assert_eq!(as_mode.values().get("substeps"), Some(ParamValue::Option("auto")));
    params::set(as_mode, "substeps", "4").unwrap();
    let why = params::set(as_mode, "substeps", "3").unwrap_err().to_string();
    assert!(why.contains("auto or 1 or 2 or 4"), "{why}");
    assert_eq!(mode.substeps, Substeps::Fixed(4));
    let with = "mode = \"asteroids\"\ngenerator = \"disc\"\n[params]\ndt = 0.01\n";
    for (line, wanted) in [
        ("", Substeps::Auto),
        ("substeps = 8\n", Substeps::Fixed(8)),
        ("substeps = \"auto\"\n", Substeps::Auto),
    ] {
        let scene = file::parse("some", &format!("{with}{line}")).unwrap();
        let values = INFO.try_mode_for(&scene.scene).unwrap().values();
        assert_eq!(values.get("substeps"), Some(ParamValue::Option(params::Choice::name(wanted))));
    }
    // In benchmarks, every step must cost the same.
    mode.even();
    assert_eq!(mode.substeps, Substeps::Fixed(1));
}

#[test]
fn the_reference_uses_the_same_substeps_as_the_device() {
    let variant = &INFO.variants[0];
    let mode = heavy(Substeps::Auto);
    // Bodies so far from each other and from the planet that none touch, so that rounding has no effect.
    let rows: Vec<_> = (0..8u8)
        .map(|k| ([1.0 + 0.2 * f32::from(k), 0.0, 0.0], [0.0, 2.0 + f32::from(k), 0.0], 1.0 + f32::from(k)))
        .collect();
    let start = gravitile::base::state::State::from(bodies(&rows));
    let mut right = start.to_f64();
    mode.reference(&mut right, 30).unwrap();
    let mut simulation = mode.build(&cpu(), recipe(variant), &start).unwrap();
    let end = run(simulation.as_mut(), 30).to_f64();
    assert!(simulation.rounds() > 1.0);
    for (a, b) in end.positions.iter().zip(&right.bodies().unwrap().positions) {
        let off: [f64; 4] = std::array::from_fn(|k| a[k] - b[k]);
        assert!(length(&off) < 1e-5, "{off:?}");
    }
    // Without substeps, the bodies end in other places.
    let once = run(build(&heavy(Substeps::Fixed(1)), variant, start.bodies().unwrap()).as_mut(), 30).to_f64();
    let off: [f64; 4] = std::array::from_fn(|k| once.positions[0][k] - end.positions[0][k]);
    assert!(length(&off) > 1e-4, "{off:?}");
}
