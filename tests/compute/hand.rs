//! Tests manual edits of bodies: change, remove, launch, attract, and undo; and brush strokes in a flow.

use crate::support::watched::Watched;
use crate::support::{cpu, distance, engine, gpu, own_cpu, scene};
use gravitile::base::bodies::Bodies;
use gravitile::base::edit::{Attractor, CLUSTER, Edit, EditKind, Launch};
use gravitile::base::flow::{Image, Stroke};
use gravitile::base::params;
use gravitile::base::state::State;
use gravitile::compute::{Call, Device, InjectedFault};
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::modes::accuracy::relative_error;
use gravitile::modes::{self, ModeInfo};
use gravitile::scene::Scene;
use gravitile::session::{Command, Frame, Notice};

fn asteroids() -> &'static ModeInfo {
    modes::find("asteroids").unwrap()
}

/// Returns configurations of the two modes that have bodies, gravity and asteroids, with all variants.
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

/// Runs steps and returns the RMS distance of the engine's bodies from those of the f64 reference.
fn error_of(engine: &mut Engine, steps: u32) -> f64 {
    let mut right = State::Bodies(engine.bodies().unwrap().to_f64());
    engine.config().mode.reference(&mut right, steps).unwrap();
    engine.run(steps, |_| ()).unwrap();
    distance(&engine.bodies().unwrap(), &right.into_bodies().unwrap())
}

#[test]
fn every_variant_steps_manually_edited_bodies_correctly() {
    // Only gravity is compared, because collisions amplify rounding errors.
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
fn an_edit_changes_only_the_requested_values() {
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
fn undoing_all_edits_gives_the_same_bits_as_a_run_without_edits() {
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
        engine.remember(EditKind::Attract).unwrap();
        engine.attract(&Attractor { at: [0.0; 3], strength: -1.0, reach: 0.1 }, 5.0).unwrap();
        assert_eq!(engine.undos(), 6);
        let kinds = changes().iter().map(EditKind::from).chain([EditKind::Attract]).collect::<Vec<_>>();
        for kind in kinds.into_iter().rev() {
            assert_eq!(engine.last_edit(), Some(kind));
            assert!(engine.undo().unwrap());
        }
        assert_eq!((engine.undo().unwrap(), engine.last_edit()), (false, None));
        assert_eq!(engine.clock().0, 10, "time went back too");
        engine.run(10, |_| ()).unwrap();
        let name = config.variant.unwrap().name;
        assert!(engine.bodies().unwrap() == right, "{} {name}", config.mode.info().name);
    }
}

/// Builds an engine whose bodies have grown since they were placed, so that many bodies touch in each step.
fn packed(config: Config) -> Engine {
    let mut engine = engine(config);
    let mut config = engine.config().clone();
    params::set(config.mode.as_mut(), "radius", "0.08").unwrap();
    engine.configure(config).unwrap();
    engine.run(1, |_| ()).unwrap();
    engine
}

fn some(bodies: usize) -> Config {
    Config { bodies: Some(bodies), ..Config::new(asteroids()) }
}

fn judged(engine: &mut Engine) -> f64 {
    let sample = engine.sample((0..engine.size()).collect()).unwrap().expect("a step was taken");
    relative_error(sample).expect("there is an effect")
}

#[test]
fn the_error_of_edited_asteroids_is_measured_with_their_actual_sizes() {
    let overlap = |engine: &mut Engine| {
        let (sums, _) = engine.diagnostics().unwrap();
        sums.readings.iter().find(|reading| reading.key == "overlap").unwrap().value
    };
    for variant in asteroids().variants {
        for edit in [Edit::Launch(Launch { share: 5.0, at: [9.0; 3], ..ONE }), Edit::Remove(7)] {
            let mut engine = packed(Config { variant: Some(variant), ..some(500) });
            let right = judged(&mut engine);
            engine.edit(&edit).unwrap();
            engine.run(1, |_| ()).unwrap();
            let deepest = overlap(&mut engine);
            assert!(
                deepest > 0.1,
                "{}: bodies should touch, but the deepest overlap is {deepest}",
                variant.name
            );
            let error = judged(&mut engine);
            assert!(error < 1e-4 + 10.0 * right, "{}: {error:e}, before {right:e}", variant.name);
        }
        // An edit after the last step does not count as an error of that step.
        let mut engine = packed(Config { variant: Some(variant), ..some(500) });
        engine.attract(&Attractor { at: [0.0; 3], strength: 1.0, reach: 0.5 }, 10.0).unwrap();
        assert!(engine.sample(vec![0, 1, 2]).unwrap().is_none(), "{}", variant.name);
        engine.run(1, |_| ()).unwrap();
        assert!(judged(&mut engine) < 1e-4, "{}", variant.name);
    }
}

#[test]
fn undone_edits_can_be_redone_until_another_edit() {
    for config in configs(64) {
        let mut engine = engine(config);
        let mut states = vec![engine.bodies().unwrap()];
        for edit in changes() {
            engine.edit(&edit).unwrap();
            engine.run(2, |_| ()).unwrap();
            states.push(engine.bodies().unwrap());
        }
        let (count, steps) = (changes().len(), engine.clock().0);
        assert_eq!((engine.edits(), engine.redo().unwrap()), (count as u64, false));
        while engine.undo().unwrap() {}
        assert_eq!(engine.undos(), 0);
        for undos in 1..=count {
            assert!(engine.redo().unwrap());
            assert_eq!((engine.undos(), engine.edits()), (undos, count as u64));
        }
        assert!(!engine.redo().unwrap());
        assert_eq!(engine.clock().0, steps, "time went forwards again");
        assert!(engine.bodies().unwrap() == *states.last().unwrap(), "as it was before undoing");
        engine.undo().unwrap();
        engine.edit(&changes()[0]).unwrap();
        assert_eq!((engine.redo().unwrap(), engine.undos()), (false, count));
        // After an edit is undone and the scene is restarted, there is nothing to redo.
        engine.undo().unwrap();
        engine.restart().unwrap();
        assert!(!engine.redo().unwrap());
    }
}

#[test]
fn massless_bodies_can_be_edited_and_restored_by_undo() {
    let mut bodies = engine(some(200)).bodies().unwrap();
    bodies.positions[3][3] = 0.0;
    let only = Bodies { positions: vec![[1.0, 0.0, 0.0, 0.0]], velocities: vec![[f32::NAN; 4]] };
    for (bodies, changes) in [(bodies, true), (only, false)] {
        let start = Scene::of_bodies("light", bodies);
        let mut engine = engine(Config { start, bodies: None, ..some(200) });
        engine.run(2, |_| ()).unwrap();
        if changes {
            engine.edit(&Edit::Remove(9)).unwrap();
            engine.edit(&Edit::Launch(ONE)).unwrap();
            while engine.undo().unwrap() {}
        }
        for variant in asteroids().variants {
            engine.configure(Config { variant: Some(variant), ..engine.config().clone() }).unwrap();
            engine.run(1, |_| ()).unwrap();
        }
        let snapshot = engine.snapshot().unwrap().to_bytes().unwrap();
        let snapshot = gravitile::engine::snapshot::Snapshot::from_bytes(&snapshot).unwrap();
        let mut resumed = Engine::resume(cpu(), snapshot, &Default::default()).unwrap();
        let bits = |engine: &mut Engine| {
            bytemuck::cast_slice::<_, u32>(&engine.bodies().unwrap().positions).to_vec()
        };
        assert_eq!(bits(&mut resumed), bits(&mut engine));
        let (sums, _) = engine.diagnostics().unwrap();
        let reach = sums.readings.iter().find(|reading| reading.key == "reach").unwrap().value;
        assert!(reach < 1e3, "a body without a size cannot be hit: {reach}");
    }
}

#[test]
fn the_undo_history_is_limited_and_cleared_by_a_restart() {
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
fn reported_body_energies_and_forces_add_up_to_the_conserved_totals() {
    let mut engine = engine(scene("plummer", Some(300), &[]));
    engine.run(20, |_| ()).unwrap();
    let bodies = engine.bodies().unwrap();
    let (sums, _) = engine.diagnostics().unwrap();
    let (mut energy, mut force) = (0.0, glam::DVec3::ZERO);
    for body in 0..bodies.len() {
        let held = engine.body(body).unwrap().unwrap();
        let held = engine.complete_selected(held, &bodies.positions, None);
        assert_eq!(held.position, bodies.positions[body][..3]);
        assert_eq!(held.velocity, bodies.velocities[body][..3]);
        energy += held.energy;
        force += glam::DVec3::from(held.acceleration) * f64::from(held.mass);
    }
    // Each body reports the full potential energy of its pairs, so the sum counts every pair twice.
    let right = sums.kinetic + 2.0 * sums.potential;
    assert!((energy / right - 1.0).abs() < 1e-5, "{energy} and {right}");
    assert!(force.length() < 1e-9, "actions equal reactions: {force}");
    assert!(engine.body(300).unwrap().is_none());
}

#[test]
fn attraction_gives_each_body_the_expected_velocity() {
    pulls_as_it_should(&cpu());
}

#[test]
fn attraction_gives_each_body_the_expected_velocity_on_a_gpu() {
    if let Some(device) = gpu() {
        pulls_as_it_should(&device);
    }
}

fn pulls_as_it_should(device: &Device) {
    let rocks = |name: &str| {
        let mut config = Config { bodies: Some(100), ..Config::new(asteroids()) };
        config.select_scene(asteroids().scene(name).unwrap());
        config
    };
    // The planet of `belt` takes the recoil; the bodies of the other two scenes keep their momentum.
    for (config, keeps) in
        [(scene("plummer", Some(100), &[]), 1.0), (rocks("clouds"), 1.0), (rocks("belt"), 0.0)]
    {
        let mut engine = Engine::new(device.clone(), config).unwrap();
        // One body has another mass, because the mean acceleration must be weighted by mass.
        let body = Edit::Change { body: 3, mass: Some(0.2), velocity: None };
        engine.edit(&body).unwrap();
        let before = engine.bodies().unwrap().to_f64();
        let pull = Attractor { at: [0.3, -0.2, 0.1], strength: -2.0, reach: 0.25 };
        engine.attract(&pull, 4.0).unwrap();
        let after = engine.bodies().unwrap().to_f64();
        assert_eq!(after.positions, before.positions);
        let time = 4.0 * engine.config().mode.time_step();
        let kick = |x: &[f64; 4]| {
            let d = glam::DVec3::new(0.3 - x[0], -0.2 - x[1], 0.1 - x[2]);
            d * (-2.0 * time / (d.length_squared() + 0.0625).powf(1.5))
        };
        let mass: f64 = before.positions.iter().map(|x| x[3]).sum();
        let mean = before.positions.iter().map(|x| kick(x) * x[3]).sum::<glam::DVec3>() / mass;
        assert!(mean.length() > 1e-4, "{mean}");
        for ((x, v), new) in before.positions.iter().zip(&before.velocities).zip(&after.velocities) {
            let kick = kick(x) - keeps * mean;
            let right = glam::DVec3::new(v[0], v[1], v[2]) + kick;
            let got = glam::DVec3::new(new[0], new[1], new[2]);
            assert!(kick.length() > 1e-5 && got.distance(right) < 1e-6, "{got} and not {right}");
            assert_eq!(new[3], v[3]);
        }
    }
}

/// Applies an attractor, and returns by how much Σ m v changes, relative to Σ m |v|. Quarantined bodies do not count.
fn drift_of(engine: &mut Engine, attractor: &Attractor) -> f64 {
    let before = engine.diagnostics().unwrap().0;
    engine.attract(attractor, 20.0).unwrap();
    let after = engine.diagnostics().unwrap().0;
    let [before, now] = [before.momentum, after.momentum].map(glam::DVec3::from);
    now.distance(before) / after.momentum_scale
}

#[test]
fn repeated_attraction_conserves_momentum() {
    for variant in ["tiled", "tree"] {
        let variant = crate::support::gravity().variant(variant);
        let mut engine = engine(Config { variant, ..scene("galaxy", Some(3000), &[]) });
        for (nth, at) in [[1.0, 0.3, 0.0], [4.0, -2.0, 0.5], [-0.2, 0.1, 0.1]].into_iter().enumerate() {
            // The steps between the strokes have rounding errors of their own.
            engine.run(10, |_| ()).unwrap();
            let before = engine.bodies().unwrap();
            let strength = if nth == 1 { -3.0 } else { 2.0 };
            let drift = drift_of(&mut engine, &Attractor { at, strength, reach: 0.5 });
            assert!(drift < 1e-6, "momentum drifted by {drift:e} in stroke {nth}");
            let after = engine.bodies().unwrap();
            let speeds = before.velocities.iter().zip(&after.velocities);
            let fastest = speeds.map(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1])).fold(0.0, f32::max);
            assert!(fastest > 0.1, "stroke {nth} must have an effect, not {fastest}");
        }
    }
}

#[test]
fn an_excluded_body_takes_no_part_in_the_recoil_of_attraction() {
    let plummer = scene("plummer", Some(200), &[]);
    let mut bodies = engine(plummer.clone()).bodies().unwrap();
    (bodies.positions[7][3], bodies.velocities[7][0]) = (5.0, 1e30);
    let mut engine = engine(Config { start: Scene::of_bodies("fast", bodies), bodies: None, ..plummer });
    engine.run(1, |_| ()).unwrap();
    let drift = drift_of(&mut engine, &Attractor { at: [1.0, 0.0, 0.0], strength: 1.0, reach: 0.5 });
    assert!(drift < 1e-6, "momentum drifted by {drift:e}");
    assert!(engine.bodies().unwrap().velocities[7][0].is_nan());
}

#[test]
fn an_asteroid_keeps_its_size_when_others_are_added_or_removed() {
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
fn invalid_edits_are_refused_and_change_nothing() {
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
        crate::support::engine(Config { bodies: Some(4096), ..Config::new(modes::find("fluid").unwrap()) });
    let refused = fluid.edit(&Edit::Launch(ONE)).unwrap_err().to_string();
    assert!(refused.contains("no bodies to change"), "{refused}");
    assert!(fluid.attract(&Attractor { at: [0.0; 3], strength: 1.0, reach: 0.1 }, 1.0).is_err());
}

#[test]
fn a_selected_body_is_reported_until_removed() {
    let mut watched = Watched::new(Config { running: false, ..scene("plummer", Some(64), &[]) });
    watched.session.send(Command::Select(Some(9)));
    let frame = watched.frame_where(|frame| frame.stats.selected.is_some());
    let held = frame.stats.selected.unwrap();
    assert_eq!((held.body, held.position), (9, frame.points.positions[9][..3].try_into().unwrap()));

    watched.session.send(Command::Edit(Edit::Remove(3)));
    let frame = watched.frame_where(|frame| frame.stats.bodies == 63);
    assert_eq!(frame.stats.selected.map(|moved| (moved.body, moved.position)), Some((8, held.position)));
    watched.session.send(Command::Edit(Edit::Remove(8)));
    assert_eq!(watched.frame_where(|frame| frame.stats.bodies == 62).stats.selected, None);

    for bodies in [63, 64] {
        watched.session.send(Command::Undo);
        watched.frame_where(|frame| frame.stats.bodies == bodies);
    }
    watched.session.send(Command::Undo);
    assert!(matches!(watched.notice(), Notice::Message("There is nothing to undo.")));
    watched.session.send(Command::Edit(Edit::Remove(64)));
    assert!(matches!(watched.notice(), Notice::Refused(_)));
}

#[test]
fn held_attraction_acts_while_running_and_is_one_undo_step() {
    // The attraction by a huge sphere grows with the distance from its centre. Because the common motion is subtracted,
    // each body oscillates about the centre of mass, and after half a period, at time 1, it is opposite its start.
    // Gravity is off.
    let mut watched = Watched::new(Config { running: false, ..scene("plummer", Some(64), &[("g", "0")]) });
    let before = watched.frame();
    let (reach, square) = (1e3_f32, std::f32::consts::PI.powi(2));
    watched.session.send(Command::Attract(Some(Attractor {
        at: [50.0, 0.0, 0.0],
        strength: square * reach.powi(3),
        reach,
    })));
    watched.session.send(Command::Seek(Some(100)));
    let pulled = watched.frame_where(|frame| frame.stats.step == 100);
    watched.session.send(Command::Attract(None));
    let product = |a: &Frame, b: &Frame| -> f32 {
        let pairs = a.points.positions.iter().zip(&b.points.positions[..]);
        pairs.map(|(a, b)| a[0] * b[0] + a[1] * b[1] + a[2] * b[2]).sum()
    };
    let opposite = product(&pulled, &before) / product(&before, &before);
    assert!((-1.1..-0.9).contains(&opposite), "{opposite}");
    assert_eq!(pulled.stats.undos, 1, "one hold is one change");
    watched.session.send(Command::Undo);
    let back = watched.frame_where(|frame| frame.stats.undos == 0);
    assert_eq!(back.stats.step, 0);
    assert_eq!(&back.points.positions[..], &before.points.positions[..]);
    watched.session.send(Command::Redo);
    let again = watched.frame_where(|frame| frame.stats.undos == 1);
    assert_eq!((again.stats.step, again.stats.edits), (100, 1));
    assert_eq!(&again.points.positions[..], &pulled.points.positions[..]);
    watched.session.send(Command::Redo);
    assert!(matches!(watched.notice(), Notice::Message("There is nothing to redo.")));
}

fn pull(strength: f32) -> Command {
    Command::Attract(Some(Attractor { at: [50.0, 0.0, 0.0], strength, reach: 1.0 }))
}

#[test]
fn attraction_held_while_switching_to_a_fluid_has_no_effect() {
    let config = Config { running: false, ..scene("plummer", Some(64), &[]) };
    let fluid = Config { bodies: Some(3000), running: false, ..Config::new(modes::find("fluid").unwrap()) };
    let mut watched = Watched::new(config);
    watched.session.send(pull(1.0));
    watched.session.send(Command::Seek(Some(10)));
    watched.frame_where(|frame| frame.stats.step == 10);
    watched.configure(&fluid);
    watched.session.send(pull(2.0));
    watched.session.send(Command::Attract(None));
    watched.session.send(Command::Step);
    let frame = watched.frame_where(|frame| frame.stats.mode == "fluid" && frame.stats.step == 1);
    assert_eq!((frame.stats.undos, watched.session.notices().len()), (0, 0));
}

#[test]
fn attraction_shortens_bursts_and_acts_only_while_running() {
    let config = Config { running: false, steps_per_frame: Some(10_000), ..scene("plummer", Some(64), &[]) };
    let mut watched = Watched::new(config.clone());
    let before = watched.frame();
    watched.session.send(pull(1e3));
    watched.session.send(Command::Attract(None));
    watched.session.send(Command::Undo);
    assert!(matches!(watched.notice(), Notice::Message("There is nothing to undo.")));
    watched.session.send(pull(1e3));
    watched.configure(&Config { running: true, ..config });
    let frame = watched.frame_where(|frame| frame.stats.step > before.stats.step);
    assert!(frame.stats.steps_per_frame <= 16, "{}", frame.stats.steps_per_frame);
    watched.session.send(Command::Attract(None));
    watched.frame_where(|frame| frame.stats.steps_per_frame == 10_000);
}

#[test]
fn an_edit_applies_to_the_body_shown_when_the_user_acted() {
    let mut watched = Watched::new(Config { running: false, ..scene("plummer", Some(64), &[]) });
    let before = watched.frame();
    watched.session.send(Command::Select(Some(9)));
    watched.frame_where(|frame| frame.stats.selected.is_some());
    // Removes the same index twice in a row, before the window can know that another body now has this index.
    watched.session.send(Command::Edit(Edit::Remove(9)));
    watched.session.send(Command::Edit(Edit::Remove(9)));
    watched.session.send(Command::Edit(Edit::Change { body: 9, mass: Some(7.0), velocity: None }));
    watched.session.send(Command::Edit(Edit::Launch(ONE)));
    let after = watched.frame_where(|frame| frame.stats.undos == 2);
    assert_eq!(after.stats.bodies, 64);
    assert_eq!(after.points.positions[9], before.points.positions[10]);
    // By now, the window knows which body has the index.
    watched.session.send(Command::Edit(Edit::Remove(9)));
    let after = watched.frame_where(|frame| frame.stats.undos == 3);
    assert_eq!(after.points.positions[9], before.points.positions[11]);
}

#[test]
fn seeking_back_is_refused_if_manual_edits_would_be_lost() {
    let info = modes::find("fluid").unwrap();
    let fluid = Config { bodies: Some(3000), running: false, ..Config::new(info) };
    let gravity = Config { running: false, ..scene("plummer", Some(64), &[]) };
    let stroke = Stroke { from: [0.0; 2], to: [0.0; 2], radius: 0.1, solid: true, begins: true };
    let mut engine = engine(fluid.clone());
    engine.run(20, |_| ()).unwrap();
    engine.paint(&stroke, false).unwrap();
    assert!(engine.is_edited());
    engine.configure(gravity).unwrap();
    assert!(!engine.is_edited(), "that one is as it was made");
    let bytes = engine.snapshot().unwrap().to_bytes().unwrap();
    let snapshot = || gravitile::engine::snapshot::Snapshot::from_bytes(&bytes).unwrap();
    let mut resumed = Engine::resume(cpu(), snapshot(), &Default::default()).unwrap();
    for engine in [&mut engine, &mut resumed] {
        engine.configure(fluid.clone()).unwrap();
        assert!(engine.is_edited(), "the mode that was left comes back with what was painted");
    }
    let bytes = engine.snapshot().unwrap().to_bytes().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("painted.gravitile");
    std::fs::write(&path, bytes).unwrap();
    let mut watched = Watched::new(fluid);
    watched.session.send(Command::Resume(path));
    watched.session.send(Command::Seek(Some(5)));
    let mut heard = Vec::new();
    crate::support::watched::wait_for(|| {
        heard.extend(watched.session.notices());
        heard.len() == 2
    });
    let [Notice::Resumed { .. }, Notice::Refused(error)] = &heard[..] else { panic!("{heard:?}") };
    assert!(error.to_string().contains("would lose your edits"), "{error}");
    assert_eq!(watched.frame_where(|frame| frame.stats.step > 0).stats.step, 20, "it stays where it is");
    watched.session.send(Command::Restart);
    watched.frame_where(|frame| frame.stats.step == 0);
}

#[test]
fn a_brush_stroke_is_one_undo_step() {
    let info = modes::find("fluid").unwrap();
    let fluid = Config { bodies: Some(3000), running: false, ..Config::new(info) };
    let mut watched = Watched::new(fluid.clone());
    watched.session.send(Command::Seek(Some(30)));
    let bare = watched.frame_where(|frame| frame.stats.step == 30);
    let at = |x: f32| [x, 0.1];
    let piece = |from: f32, to: f32, begins: bool| Stroke {
        from: at(from),
        to: at(to),
        radius: 0.05,
        solid: true,
        begins,
    };
    let paint = |stroke| watched.session.send(Command::Paint(stroke));
    // A stroke that erases free cells changes nothing, and neither does a stroke outside of the grid.
    paint(Stroke { solid: false, ..piece(0.5, 0.6, true) });
    paint(Stroke { from: [9.0, 9.0], to: [9.0, 9.0], ..piece(0.0, 0.0, true) });
    // Paints two strokes. The first one has several parts and starts outside of the grid. The camera moves during the
    // strokes.
    paint(Stroke { from: [9.0, 9.0], to: [9.0, 9.0], ..piece(0.0, 0.0, true) });
    for (from, to, begins) in
        [(-0.3, -0.3, false), (-0.29, -0.2, false), (-0.21, -0.1, false), (0.2, 0.2, true)]
    {
        paint(piece(from, to, begins));
    }
    // The cells of this part are solid already.
    paint(piece(0.2, 0.2, true));
    watched.session.send(Command::Seek(Some(60)));
    let painted = watched.frame_where(|frame| frame.stats.step == 60);
    assert_eq!(painted.stats.undos, 2);
    let walls =
        |frame: &Frame| frame.points.image.values.iter().filter(|pixel| **pixel == Image::WALL).count();
    watched.session.send(Command::Undo);
    let one = watched.frame_where(|frame| frame.stats.undos == 1);
    assert!(walls(&bare) < walls(&one) && walls(&one) < walls(&painted));
    assert_eq!(one.stats.step, 30);
    watched.session.send(Command::Undo);
    let none = watched.frame_where(|frame| frame.stats.undos == 0);
    assert_eq!(none.points.image, bare.points.image, "it flows as it did before");
    assert_eq!(none.stats.series, bare.stats.series, "what came after is forgotten");
    // A refused edit cannot be undone.
    watched.session.send(Command::Paint(Stroke {
        from: [-1.0, 0.0],
        to: [1.0, 0.0],
        radius: 1.0,
        solid: true,
        begins: true,
    }));
    assert!(matches!(watched.notice(), Notice::Refused(_)));
    watched.session.send(Command::Undo);
    assert!(matches!(watched.notice(), Notice::Message("There is nothing to undo.")));
}

#[test]
fn manual_edits_are_saved_in_a_snapshot() {
    for config in [scene("plummer", Some(100), &[]), Config { bodies: Some(100), ..Config::new(asteroids()) }]
    {
        let mut engine = engine(config);
        engine.edit(&Edit::Launch(Launch { cluster: Some(0.1), ..ONE })).unwrap();
        engine.run(5, |_| ()).unwrap();
        let snapshot = engine.snapshot().unwrap().to_bytes().unwrap();
        let snapshot = gravitile::engine::snapshot::Snapshot::from_bytes(&snapshot).unwrap();
        let mut resumed = Engine::resume(cpu(), snapshot, &Default::default()).unwrap();
        assert_eq!(resumed.size(), 100 + CLUSTER);
        for engine in [&mut engine, &mut resumed] {
            engine.run(5, |_| ()).unwrap();
        }
        assert!(engine.bodies().unwrap() == resumed.bodies().unwrap());
    }
}

#[test]
fn edits_while_paused_increase_the_change_count() {
    let config = Config { running: false, ..scene("plummer", Some(64), &[]) };
    let mut watched = Watched::new(config.clone());
    let mut last = watched.frame().stats.changes;
    let mut softer = config.clone();
    params::set(softer.mode.as_mut(), "eps", "0.2").unwrap();
    let changes = [
        Command::Edit(Edit::Remove(3)),
        Command::Undo,
        Command::Configure(Box::new(softer)),
        Command::Edit(Edit::Launch(ONE)),
    ];
    for change in changes {
        watched.session.send(change);
        last = watched.frame_where(|frame| frame.stats.changes > last && frame.stats.step == 0).stats.changes;
    }
    // Steps of the simulation do not count as changes.
    watched.session.send(Command::Step);
    assert_eq!(watched.frame_where(|frame| frame.stats.step == 1).stats.changes, last);
}

#[test]
fn undo_after_a_variant_change_steps_with_the_new_variant_only() {
    let info = crate::support::gravity();
    let with = |name| Config { variant: info.variant(name), ..scene("plummer", Some(200), &[]) };
    let [mut undone, mut never] = [(); 2].map(|()| engine(with("tiled")));
    for engine in [&mut undone, &mut never] {
        engine.run(10, |_| ()).unwrap();
    }
    undone.edit(&Edit::Launch(ONE)).unwrap();
    for engine in [&mut undone, &mut never] {
        engine.configure(with("blocked")).unwrap();
    }
    assert!(undone.undo().unwrap());
    for engine in [&mut undone, &mut never] {
        engine.run(5, |_| ()).unwrap();
    }
    assert!(undone.state().unwrap() == never.state().unwrap(), "what the other variant left is in it");
}

/// The only device fails once during an edit, which then leaves the bodies unchanged.
#[test]
fn an_edit_that_the_device_refuses_changes_nothing() {
    let device = own_cpu();
    let fail = || device.inject(Call::Allocate, 1, InjectedFault::Refused);
    let mut engine = Engine::new(device.clone(), scene("plummer", Some(100), &[])).unwrap();
    engine.run(5, |_| ()).unwrap();
    engine.edit(&Edit::Remove(3)).unwrap();
    let before = engine.bodies().unwrap();
    fail();
    assert!(engine.edit(&Edit::Remove(3)).is_err());
    fail();
    assert!(engine.undo().is_err());
    assert_eq!((engine.bodies().unwrap(), engine.undos()), (before, 1));
    assert!(engine.undo().unwrap());
    assert_eq!(engine.size(), 100);

    let inside = device.clone();
    let config = Config { running: false, ..scene("plummer", Some(100), &[]) };
    let mut watched = Watched::of(move || Engine::new(inside, config));
    watched.frame();
    fail();
    watched.session.send(Command::Edit(Edit::Remove(3)));
    assert!(matches!(watched.notice(), Notice::Refused(_)), "it is no reason to stop");
    watched.session.send(Command::Edit(Edit::Remove(3)));
    assert_eq!(watched.frame_where(|frame| frame.stats.undos == 1).stats.bodies, 99);
}
