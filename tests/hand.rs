//! What a person's hand does to bodies: change, remove, launch, pull, and undo.

mod support;

use gravitile::bodies::Bodies;
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::hand::{CLUSTER, Edit, Launch, Pull};
use gravitile::modes::{self, ModeInfo};
use gravitile::session::{Command, Notice};
use gravitile::state::State;
use support::watched::Watched;
use support::{distance, engine, scene};

fn asteroids() -> &'static ModeInfo {
    modes::find("asteroids").unwrap()
}

/// Both modes that have bodies, in every variant.
fn configs(bodies: usize) -> Vec<Config> {
    let config = |info: &'static ModeInfo| Config { bodies: Some(bodies), ..Config::new(info) };
    let modes = [scene("plummer", Some(bodies), &[]), config(asteroids())];
    let with = |config: &Config| {
        let variants = config.mode.info().variants.iter();
        variants.map(|variant| Config { variant: Some(variant), ..config.clone() }).collect::<Vec<_>>()
    };
    modes.iter().flat_map(with).collect()
}

const ONE: Launch = Launch { at: [2.0, 1.0, 0.5], velocity: [-0.3, 0.2, 0.1], share: 0.1, cluster: None };

fn changes() -> [Edit; 5] {
    [
        Edit::Launch(ONE),
        Edit::Launch(Launch { cluster: Some(0.2), ..ONE }),
        Edit::Change { body: 7, mass: Some(0.05), velocity: None },
        Edit::Change { body: 7, mass: None, velocity: Some([0.1, 0.2, 0.3]) },
        Edit::Remove(7),
    ]
}

/// How far the engine's bodies are from where the same bodies go in f64.
fn error_of(engine: &mut Engine, steps: u32) -> f64 {
    let mut right = State::Bodies(engine.bodies().unwrap().to_f64());
    engine.config().mode.reference(&mut right, steps).unwrap();
    engine.run(steps, |_| ()).unwrap();
    distance(&engine.bodies().unwrap(), &right.into_bodies().unwrap())
}

#[test]
fn what_was_changed_by_hand_is_stepped_right_by_every_variant() {
    // Colliding bodies part ways by chance sooner or later: there only gravity is compared.
    for config in configs(200).into_iter().filter(|config| config.mode.info().name == "gravity") {
        for edit in changes() {
            let mut engine = engine(config.clone());
            engine.run(5, |_| ()).unwrap();
            engine.edit(&edit).unwrap();
            let off = error_of(&mut engine, 5);
            let name = config.variant.unwrap().name;
            assert!(off < 1e-5, "{name}: {off} after {edit:?}");
            assert_eq!(engine.clock().0, 10);
        }
    }
}

#[test]
fn a_change_is_what_was_asked_for_and_nothing_else() {
    for config in [scene("plummer", Some(100), &[]), Config { bodies: Some(100), ..Config::new(asteroids()) }]
    {
        let before = engine(config.clone()).bodies().unwrap();
        let changed = |edit: &Edit| {
            let mut engine = engine(config.clone());
            engine.edit(edit).unwrap();
            engine.bodies().unwrap()
        };
        let [one, cluster, mass, velocity, removed] = changes();
        let all: f32 = before.positions.iter().map(|x| x[3]).sum();

        let after = changed(&one);
        assert_eq!((after.len(), &after.positions[..100]), (101, &before.positions[..]));
        let [x, y, z, m] = after.positions[100];
        assert_eq!(([x, y, z], &after.velocities[100][..3]), (ONE.at, &ONE.velocity[..]));
        assert!((m / (0.1 * all) - 1.0).abs() < 1e-5);

        let after = changed(&cluster);
        assert_eq!(after.len(), 100 + CLUSTER);
        let new = &after.positions[100..];
        assert!((new.iter().map(|x| x[3]).sum::<f32>() / (0.1 * all) - 1.0).abs() < 1e-4);
        let middle =
            new.iter().map(|x| glam::Vec3::new(x[0], x[1], x[2])).sum::<glam::Vec3>() / CLUSTER as f32;
        assert!(middle.distance(ONE.at.into()) < 0.05, "{middle}");

        let after = changed(&mass);
        assert_eq!(after.positions[7][3], 0.05);
        assert_eq!((after.positions[6], &after.velocities), (before.positions[6], &before.velocities));

        let after = changed(&velocity);
        assert_eq!(
            (after.velocities[7][..3].to_vec(), &after.positions),
            (vec![0.1, 0.2, 0.3], &before.positions)
        );

        let after = changed(&removed);
        let without = |rows: &[[f32; 4]]| [&rows[..7], &rows[8..]].concat();
        assert_eq!(after.positions, without(&before.positions));
        assert_eq!(after.velocities, without(&before.velocities));
    }
}

#[test]
fn undone_is_as_if_it_had_never_happened() {
    for config in configs(128) {
        let mut never = engine(config.clone());
        never.run(10, |_| ()).unwrap();
        never.run(10, |_| ()).unwrap();
        let right = never.bodies().unwrap();

        let mut engine = engine(config.clone());
        engine.run(10, |_| ()).unwrap();
        for edit in changes() {
            engine.edit(&edit).unwrap();
            engine.run(3, |_| ()).unwrap();
        }
        engine.remember().unwrap();
        engine.pull(&Pull { at: [0.0; 3], strength: -1.0, reach: 0.1 }, 5.0).unwrap();
        assert_eq!(engine.undos(), 6);
        while engine.undo().unwrap() {}
        assert_eq!(engine.clock().0, 10, "time went back too");
        engine.run(10, |_| ()).unwrap();
        let name = config.variant.unwrap().name;
        assert!(engine.bodies().unwrap() == right, "{} {name}", config.mode.info().name);
    }
}

#[test]
fn only_so_many_changes_are_kept_and_another_scene_has_none() {
    let mut engine = engine(scene("plummer", Some(64), &[]));
    for _ in 0..40 {
        engine.edit(&Edit::Launch(Launch { share: 0.001, ..ONE })).unwrap();
    }
    assert_eq!((engine.undos(), engine.size()), (32, 104));
    engine.restart().unwrap();
    assert_eq!((engine.undos(), engine.size()), (0, 64));
    assert!(!engine.undo().unwrap());
}

#[test]
fn what_is_told_of_bodies_adds_up_to_what_is_conserved() {
    let mut engine = engine(scene("plummer", Some(300), &[]));
    engine.run(20, |_| ()).unwrap();
    let bodies = engine.bodies().unwrap();
    let (sums, _) = engine.diagnostics().unwrap();
    let (mut energy, mut force) = (0.0, glam::DVec3::ZERO);
    for body in 0..bodies.len() {
        let held = engine.body(body).unwrap().unwrap();
        let held = engine.complete(held, &bodies.positions);
        assert_eq!(held.position, bodies.positions[body][..3]);
        assert_eq!(held.velocity, bodies.velocities[body][..3]);
        energy += held.energy;
        force += glam::DVec3::from(held.acceleration) * f64::from(held.mass);
    }
    // Each pair's potential energy is told of both.
    let right = sums.kinetic + 2.0 * sums.potential;
    assert!((energy / right - 1.0).abs() < 1e-5, "{energy} and {right}");
    assert!(force.length() < 1e-9, "actions equal reactions: {force}");
    assert!(engine.body(300).unwrap().is_none());
}

#[test]
fn a_pull_gives_each_body_the_velocity_that_it_should() {
    for config in [scene("plummer", Some(100), &[]), Config { bodies: Some(100), ..Config::new(asteroids()) }]
    {
        let mut engine = engine(config);
        let before = engine.bodies().unwrap().to_f64();
        let pull = Pull { at: [0.3, -0.2, 0.1], strength: -2.0, reach: 0.25 };
        engine.pull(&pull, 4.0).unwrap();
        let after = engine.bodies().unwrap().to_f64();
        assert_eq!(after.positions, before.positions);
        let time = 4.0 * engine.config().mode.time_step();
        for ((x, v), new) in before.positions.iter().zip(&before.velocities).zip(&after.velocities) {
            let d = glam::DVec3::new(0.3 - x[0], -0.2 - x[1], 0.1 - x[2]);
            let kick = d * (-2.0 * time / (d.length_squared() + 0.0625).powf(1.5));
            let right = glam::DVec3::new(v[0], v[1], v[2]) + kick;
            let got = glam::DVec3::new(new[0], new[1], new[2]);
            assert!(kick.length() > 1e-4 && got.distance(right) < 1e-6, "{got} and not {right}");
            assert_eq!(new[3], v[3]);
        }
    }
}

#[test]
fn an_asteroid_keeps_its_size_when_others_come_and_go() {
    let mut engine = engine(Config { bodies: Some(200), ..Config::new(asteroids()) });
    let sizes = |engine: &mut Engine| engine.snapshot().unwrap().runs[0].extra["sizes"].clone();
    let before = sizes(&mut engine);
    engine.edit(&Edit::Launch(Launch { share: 1.0, ..ONE })).unwrap();
    let with_one = sizes(&mut engine);
    assert_eq!(with_one[..200], before);
    let masses: Vec<f32> = engine.bodies().unwrap().positions.iter().map(|x| x[3]).collect();
    let right = before[0] * (masses[200] / masses[0]).cbrt();
    assert!((with_one[200] / right - 1.0).abs() < 1e-5, "a size goes with the cube root of the mass");
    for variant in asteroids().variants {
        let config = Config { variant: Some(variant), ..engine.config().clone() };
        engine.configure(config).unwrap();
        assert_eq!(sizes(&mut engine), with_one, "also when another kernel goes on with them");
    }
    engine.edit(&Edit::Remove(200)).unwrap();
    assert_eq!(sizes(&mut engine), before);
    engine.edit(&Edit::Launch(Launch { cluster: Some(0.01), ..ONE })).unwrap();
    let radius = engine.config().mode.values().float("radius").unwrap();
    let (bodies, sizes): (Bodies, _) = (engine.bodies().unwrap(), sizes(&mut engine));
    let place = |at: usize| glam::Vec3::from_slice(&bodies.positions[at][..3]);
    for a in 200..200 + CLUSTER {
        for b in 200..a {
            let gap = place(a).distance(place(b)) - radius * (sizes[a] + sizes[b]);
            assert!(gap > 0.0, "{a} and {b} of the cluster overlap by {gap}");
        }
    }
}

#[test]
fn what_is_not_possible_is_refused_and_changes_nothing() {
    let mut engine = engine(scene("plummer", Some(64), &[]));
    let before = engine.bodies().unwrap();
    let wrong = [
        Edit::Remove(64),
        Edit::Change { body: 64, mass: Some(1.0), velocity: None },
        Edit::Change { body: 0, mass: Some(-1.0), velocity: None },
        Edit::Change { body: 0, mass: None, velocity: Some([f32::NAN, 0.0, 0.0]) },
        Edit::Launch(Launch { at: [f32::INFINITY; 3], ..ONE }),
        Edit::Launch(Launch { share: f32::NAN, ..ONE }),
    ];
    for edit in wrong {
        assert!(engine.edit(&edit).is_err(), "{edit:?}");
        assert!(engine.bodies().unwrap() == before && engine.undos() == 0);
    }
    let mut fluid =
        support::engine(Config { bodies: Some(4096), ..Config::new(modes::find("fluid").unwrap()) });
    let refused = fluid.edit(&Edit::Launch(ONE)).unwrap_err().to_string();
    assert!(refused.contains("fluid"), "{refused}");
    assert!(fluid.pull(&Pull { at: [0.0; 3], strength: 1.0, reach: 0.1 }, 1.0).is_err());
}

#[test]
fn a_body_is_told_of_until_it_is_gone() {
    let mut watched = Watched::new(Config { running: false, ..scene("plummer", Some(64), &[]) });
    watched.session.send(Command::Select(Some(9)));
    let frame = watched.frame_where(|frame| frame.stats.held.is_some());
    let held = frame.stats.held.unwrap();
    assert_eq!((held.body, held.position), (9, frame.points.positions[9][..3].try_into().unwrap()));

    watched.session.send(Command::Edit(Edit::Remove(3)));
    let frame = watched.frame_where(|frame| frame.stats.bodies == 63);
    assert_eq!(frame.stats.held.map(|moved| (moved.body, moved.position)), Some((8, held.position)));
    watched.session.send(Command::Edit(Edit::Remove(8)));
    assert_eq!(watched.frame_where(|frame| frame.stats.bodies == 62).stats.held, None);

    for bodies in [63, 64] {
        watched.session.send(Command::Undo);
        watched.frame_where(|frame| frame.stats.bodies == bodies);
    }
    watched.session.send(Command::Undo);
    assert!(matches!(watched.notice(), Notice::Said("There is nothing to undo.")));
    watched.session.send(Command::Edit(Edit::Remove(64)));
    assert!(matches!(watched.notice(), Notice::Refused(_)));
}

#[test]
fn a_held_hand_pulls_while_time_goes_on_and_is_undone_at_once() {
    let mut watched = Watched::new(Config { running: false, ..scene("plummer", Some(64), &[]) });
    let before = watched.frame();
    watched.session.send(Command::Pull(Some(Pull { at: [50.0, 0.0, 0.0], strength: 1e3, reach: 1.0 })));
    let mean = |positions: &[[f32; 4]]| positions.iter().map(|x| x[0]).sum::<f32>() / positions.len() as f32;
    watched.session.send(Command::GoTo(Some(100)));
    let pulled = watched.frame_where(|frame| frame.stats.step == 100);
    watched.session.send(Command::Pull(None));
    // A constant pull of 0.4 for a time of 1.
    let moved = mean(&pulled.points.positions) - mean(&before.points.positions);
    assert!((0.19..0.21).contains(&moved), "it moved by {moved}");
    assert_eq!(pulled.stats.undos, 1, "one hold is one change");
    watched.session.send(Command::Undo);
    let back = watched.frame_where(|frame| frame.stats.undos == 0);
    assert_eq!(back.stats.step, 0);
    assert_eq!(&back.points.positions[..], &before.points.positions[..]);
}

#[test]
fn what_was_changed_by_hand_is_kept_in_a_snapshot() {
    for config in [scene("plummer", Some(100), &[]), Config { bodies: Some(100), ..Config::new(asteroids()) }]
    {
        let mut engine = engine(config);
        engine.edit(&Edit::Launch(Launch { cluster: Some(0.1), ..ONE })).unwrap();
        engine.run(5, |_| ()).unwrap();
        let snapshot = engine.snapshot().unwrap().to_bytes().unwrap();
        let snapshot = gravitile::snapshot::Snapshot::from_bytes(&snapshot).unwrap();
        let mut resumed = Engine::resume(support::cpu(), snapshot, &Default::default()).unwrap();
        assert_eq!(resumed.size(), 100 + CLUSTER);
        for engine in [&mut engine, &mut resumed] {
            engine.run(5, |_| ()).unwrap();
        }
        assert!(engine.bodies().unwrap() == resumed.bodies().unwrap());
    }
}
