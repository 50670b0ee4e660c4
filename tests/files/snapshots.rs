//! Tests snapshots: a resumed simulation continues as if it had never stopped.

use crate::support::{cpu, engine};
use gravitile::base::bodies::{Bodies, FINITE_LIMIT};
use gravitile::base::edit::{Edit, Launch};
use gravitile::base::flow::{Flow, Walls};
use gravitile::base::params;
use gravitile::base::state::{Matter, State};
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::engine::snapshot::Snapshot;
use gravitile::engine::tuned::Tuned;
use gravitile::modes::asteroids::block;
use gravitile::modes::{MODES, ModeInfo, Variant};
use gravitile::scene::Scene;
use gravitile::scene::file::parse;

/// Numbers of steps before and after the snapshot. Tracers move every 16 steps.
const BURSTS: [u32; 2] = [5, 19];

/// Returns sets of options with which the steps of a mode take different code paths.
fn options(info: &ModeInfo) -> &'static [&'static [(&'static str, &'static str)]] {
    match info.name {
        "gravity" => &[
            &[("integrator", "leapfrog")],
            &[("integrator", "euler")],
            &[("integrator", "taylor"), ("softening", "clamp")],
            &[("integrator", "leapfrog"), ("decay", "0.99"), ("flat", "true")],
            &[("integrator", "yoshida")],
            &[("integrator", "leapfrog"), ("compensated", "true"), ("decay", "0.99")],
        ],
        "asteroids" => &[&[], &[("colour", "hit")]],
        "fluid" => &[
            &[("drive", "force"), ("collision", "trt")],
            &[("drive", "row"), ("collision", "bgk")],
            &[("drive", "inlet"), ("collision", "les")],
        ],
        name => panic!("{name} has no options here"),
    }
}

fn config(info: &'static ModeInfo, variant: &'static Variant, options: &[(&str, &str)]) -> Config {
    let mut config = Config::new(info);
    match info.name {
        "fluid" => config.select_scene(info.scene("porous").unwrap()),
        "asteroids" => config.select_scene(&block().unwrap().into()),
        _ => {}
    }
    (config.variant, config.bodies, config.seed) = (Some(variant), Some(700), 3);
    for (key, value) in options {
        params::set(config.mode.as_mut(), key, value).unwrap();
    }
    if info.work.matter == Matter::Bodies {
        // One body is quarantined from the start, one leaves the valid range during the run, and one has another mass.
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

/// Returns the bits of all numbers in a state.
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

/// Returns the bits of the state, the bits of the published points and of the reported values, and the clock.
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
fn every_variant_resumes_exactly_as_if_never_stopped() {
    goes_on(false);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn every_variant_resumes_exactly_with_all_options() {
    goes_on(true);
}

/// Resumes every variant with each set of options. If `all` is false, uses only one of the sets for each variant, in
/// turn.
fn goes_on(all: bool) {
    for info in MODES {
        for (nth, variant) in info.variants.iter().enumerate() {
            let sets = options(info);
            let one = std::slice::from_ref(&sets[nth % sets.len()]);
            for options in if all { sets } else { one } {
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
                // Restarts the scene in the original and in the resumed engine, because the snapshot also contains the
                // scene.
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
fn suspended_modes_resume_exactly_from_a_snapshot() {
    let modes = || MODES.iter().map(|info| config(info, &info.variants[0], &[]));
    let configs: Vec<Config> = modes().collect();
    let mut steady = engine(configs[0].clone());
    for config in &configs[1..] {
        steady.run(3, |_| ()).unwrap();
        steady.configure(config.clone()).unwrap();
    }
    steady.run(3, |_| ()).unwrap();
    let mut resumed = resumed(&steady.snapshot().unwrap());
    assert_eq!(resumed.suspended().count(), MODES.len() - 1);
    // The panel takes over the configurations of the resumed modes, which contain their own scenes.
    let left: Vec<Config> = resumed.suspended().cloned().collect();
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

/// A restart on this device makes as many bodies as `auto` chose on the device where the snapshot was saved.
#[test]
fn a_restart_on_another_device_makes_the_same_scene() {
    let mut there = engine(Config { bodies: None, ..Config::new(MODES[0]) });
    let mut snapshot = there.snapshot().unwrap();
    let auto = snapshot.runs[0].generated.expect("it is told");
    assert_eq!((auto, snapshot.runs[0].config.bodies), (there.size(), None));
    assert_eq!(resumed(&snapshot).config().bodies, None, "here it is what `auto` says");
    // Simulates a device for which `auto` chooses another number.
    there.configure(Config { bodies: Some(700), ..there.config().clone() }).unwrap();
    snapshot = there.snapshot().unwrap();
    (snapshot.device, snapshot.runs[0].config.bodies) = (["another".to_owned(), "1.0".to_owned()], None);
    let mut here = resumed(&snapshot);
    assert_eq!((here.config().bodies, here.resolved().bodies), (Some(700), 700));
    here.restart().unwrap();
    assert_eq!(bits(&here.state().unwrap()), bits(&there.state().unwrap()));
}

/// Names follow their bodies when the user deletes or launches bodies, through undo, snapshots and restarts. An old
/// snapshot has no list of names; its names are those of the scene if nothing was edited.
#[test]
fn names_follow_their_bodies() {
    let text = "mode = \"gravity\"\nbodies = \"name,x,y,z,vx,vy,vz,m\\nSun,0,0,0,0,0,0,1\\nVenus,1,0,0,0,1,0,0\\nEarth,2,0,0,0,1,0,0\"\n";
    let mut here = engine(Config::of_file(parse("mine", text).unwrap()).unwrap());
    let names = |engine: &Engine| engine.names().to_list();
    assert_eq!(names(&resumed(&reread(&here.snapshot().unwrap()).unwrap())), ["Sun", "Venus", "Earth"]);
    here.edit(&Edit::Remove(1)).unwrap();
    here.edit(&Edit::Launch(Launch { at: [9.0; 3], velocity: [0.0; 3], share: 0.1, cluster: None })).unwrap();
    assert_eq!((names(&here), here.size()), (vec!["Sun".to_owned(), "Earth".to_owned()], 3));
    let mut snapshot = reread(&here.snapshot().unwrap()).unwrap();
    let mut there = resumed(&snapshot);
    assert_eq!(names(&there), ["Sun", "Earth"]);
    there.restart().unwrap();
    assert_eq!(names(&there), ["Sun", "Venus", "Earth"]);
    here.undo().unwrap();
    assert_eq!(names(&here), ["Sun", "Earth"]);
    here.undo().unwrap();
    assert_eq!(names(&here), ["Sun", "Venus", "Earth"]);
    snapshot.runs[0].names = ["a", "b", "c", "d"].into_iter().collect();
    let error = reread(&snapshot).unwrap_err();
    assert!(error.contains("more names than bodies"), "{error}");
}

/// A scene may have more names than bodies, because the user chooses the number of bodies.
#[test]
fn a_scene_with_more_names_than_bodies_is_saved_and_opened() {
    let text = "mode = \"gravity\"\ngenerator = \"plummer\"\nnames = [\"A\", \"B\", \"C\", \"D\"]\n";
    let config = Config { bodies: Some(2), ..Config::of_file(parse("mine", text).unwrap()).unwrap() };
    let mut here = engine(config);
    assert_eq!(here.names().to_list(), ["A", "B"]);
    assert_eq!(resumed(&reread(&here.snapshot().unwrap()).unwrap()).names().to_list(), ["A", "B"]);
    here.edit(&Edit::Remove(0)).unwrap();
    assert_eq!(resumed(&reread(&here.snapshot().unwrap()).unwrap()).names().to_list(), ["B"]);
}

/// If a mode is left and selected again with other parameters, it does not use stored values that depend on the old
/// parameters.
#[test]
fn a_mode_reentered_with_new_parameters_ignores_outdated_stored_values() {
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

/// A snapshot that is resumed on the same device keeps its kernel, even if `auto` now knows a faster one. On another
/// device, `auto` chooses again.
#[test]
fn a_snapshot_resumed_on_the_same_device_keeps_its_kernel() {
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

/// On another device, values that the kernel stored in the snapshot are ignored and computed again.
#[test]
fn on_another_device_values_stored_by_the_old_kernel_are_ignored() {
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

/// Returns a snapshot of the mode with index `mode` after three steps.
fn of(mode: usize, variant: Option<&str>) -> Snapshot {
    let mut config = Config { bodies: Some(64), ..Config::new(MODES[mode]) };
    config.variant = variant.map(|name| MODES[mode].variant(name).unwrap());
    if MODES[mode].name == "fluid" {
        params::set(config.mode.as_mut(), "tracers", "64").unwrap();
    }
    let mut engine = engine(config);
    engine.run(3, |_| ()).unwrap();
    engine.snapshot().unwrap()
}

fn reread(snapshot: &Snapshot) -> Result<Snapshot, String> {
    Snapshot::from_bytes(&snapshot.to_bytes().unwrap()).map_err(|error| error.to_string())
}

/// A snapshot with a number that no simulation can produce is refused, so that the number does not spread to all
/// bodies.
#[test]
fn numbers_that_no_simulation_can_produce_are_refused() {
    type Change = fn(&mut Snapshot);
    fn bodies(snapshot: &mut Snapshot) -> &mut Bodies {
        snapshot.runs[0].state.bodies_mut().unwrap()
    }
    fn list<'a>(snapshot: &'a mut Snapshot, name: &str) -> &'a mut Vec<f32> {
        snapshot.runs[0].extra.get_mut(name).unwrap_or_else(|| panic!("there is no {name}"))
    }
    let cases: &[(usize, Option<&str>, Change, &str)] = &[
        (0, None, |s| bodies(s).positions[7][3] = f32::NAN, "body 7 has the mass NaN; expected 0 to 1e18"),
        (0, None, |s| bodies(s).positions[7][3] = 1e38, "body 7 has the mass 1e38"),
        (0, None, |s| bodies(s).positions[7][3] = -1.0, "body 7 has the mass -1"),
        (0, None, |s| bodies(s).positions[7][0] = f32::INFINITY, "body 7 has the position (inf"),
        (0, None, |s| bodies(s).positions[7][1] = 1.1e18, "coordinates must be within ±1e18"),
        (0, None, |s| bodies(s).velocities[7][2] = -1e30, "body 7 has the velocity"),
        (0, None, |s| bodies(s).velocities[7][0] = f32::NAN, "body 7 has the velocity (NaN"),
        (0, None, |s| list(s, "acceleration")[9] = f32::NAN, "\"acceleration\" is invalid: body 2 has"),
        (0, None, |s| list(s, "acceleration").fill(1e38), "keeps the body within bounds"),
        (0, None, |s| list(s, "acceleration").truncate(255), "it has 255 numbers; expected 256"),
        (
            0,
            None,
            |s| drop(s.runs[0].extra.insert("later".into(), vec![1.0])),
            "the data \"0.extra.later\", which does not belong to its scene",
        ),
        (0, None, |s| s.runs[0].time = f64::NAN, "its simulated time is not finite"),
        (1, None, |s| list(s, "sizes").fill(1e6), "\"radii\" is invalid"),
        (1, None, |s| list(s, "sizes")[3] *= 1.1, "proportional to the cube root"),
        (1, None, |s| list(s, "sizes")[3] = f32::NAN, "proportional to the cube root"),
        (1, None, |s| list(s, "masses")[3] *= 1.1, "expected the mass of the body"),
        (1, None, |s| list(s, "contact")[4] = f32::NAN, "\"contact\" is invalid: body 1"),
        (1, None, |s| list(s, "radii").fill(1e-9), "sizes range from"),
        (1, None, |s| list(s, "radii")[1] = f32::INFINITY, "sizes range from"),
        (2, None, |s| list(s, "tracers")[0] = 1e6, "tracer 0 is at (1e6"),
        (2, None, |s| list(s, "tracers")[3] = f32::NAN, "tracer 1 is at"),
        (
            2,
            None,
            |s| s.runs[0].state.flow_mut().unwrap().tracers[5] = [5000.0; 2],
            "tracer 5 is at (5e3, 5e3), outside",
        ),
        (2, None, |s| list(s, "tracers").truncate(20), "it has 20 numbers"),
        (2, None, |s| list(s, "mean_speeds")[0] = -1.0, "a mean speed must be at least 0"),
    ];
    for (mode, variant, change, told) in cases {
        let mut snapshot = of(*mode, *variant);
        assert!(reread(&snapshot).is_ok(), "{told}");
        change(&mut snapshot);
        // If the error is obvious, the snapshot is not written either.
        let outcome = match snapshot.to_bytes() {
            Ok(_) => reread(&snapshot).map(drop),
            Err(error) => Err(error.to_string()),
        };
        let error = outcome.expect_err(told);
        assert!(error.contains(told), "{error}, not {told}");
    }
}

/// A close encounter changes a velocity by half an acceleration, so accelerations of up to twice the usual limit are
/// valid.
#[test]
fn accelerations_up_to_twice_the_usual_limit_are_accepted() {
    let mut snapshot = of(0, None);
    let run = &mut snapshot.runs[0];
    let most = f64::from(FINITE_LIMIT) / run.config.mode.time_step();
    let pull = &mut run.extra.get_mut("acceleration").unwrap()[8];
    *pull = (1.9 * most) as f32;
    assert_eq!(reread(&snapshot).unwrap().runs[0].extra, snapshot.runs[0].extra);
    snapshot.runs[0].extra.get_mut("acceleration").unwrap()[8] = (2.1 * most) as f32;
    assert!(reread(&snapshot).unwrap_err().contains("body 2 has"));
}

/// Older versions saved blown-up flows with a non-finite energy baseline. The baseline is ignored; the rest of the file
/// is used.
#[test]
fn a_nonfinite_energy_baseline_is_dropped() {
    for baseline in [f64::INFINITY, f64::NAN] {
        let mut snapshot = of(0, None);
        snapshot.runs[0].baseline = Some(baseline);
        assert_eq!(reread(&snapshot).unwrap().runs[0].baseline, None);
    }
}

#[test]
fn a_blown_up_flow_is_saved_without_an_energy_baseline() {
    let mut engine = engine(Config { bodies: Some(64), ..Config::new(MODES[2]) });
    let mut snapshot = engine.snapshot().unwrap();
    // The density overflows, and the fluid is at rest.
    snapshot.runs[0].state.flow_mut().unwrap().cells.fill([1e38; 9]);
    let mut engine = Engine::resume(cpu(), snapshot, &Tuned::default()).unwrap();
    assert!(!engine.diagnostics().unwrap().0.energy().is_finite());
    let snapshot = engine.snapshot().unwrap();
    assert_eq!(snapshot.runs[0].baseline, None);
    reread(&snapshot).unwrap();
}

/// A compressed flow of 9 million cells at rest is tiny, but must not be refused as a decompression bomb.
#[test]
fn a_large_flow_at_rest_is_saved_and_read_again() {
    let mut snapshot = of(2, None);
    let run = &mut snapshot.runs[0];
    let walls = Walls::new(3000, 3000, 1.0, |_, y| y == 0);
    let flow = Flow::at_rest(walls, 0.1, 0);
    run.state = flow.clone().into();
    run.extra.clear();
    let bytes = snapshot.to_bytes().unwrap();
    let again = Snapshot::from_bytes(&bytes).unwrap();
    assert!(again.runs[0].state.flow().unwrap() == &flow);
}

/// Bodies that belong to a scene are checked like the bodies of a state. A quarantined body does not make a file
/// invalid; see [`every_variant_resumes_exactly_as_if_never_stopped`], which also tests each list that a mode stores.
#[test]
fn bodies_stored_in_a_scene_are_validated() {
    let mut bodies = engine(Config { bodies: Some(8), ..Config::new(MODES[0]) }).bodies().unwrap();
    bodies.velocities[5] = [f32::NAN; 4];
    let with = |bodies: &Bodies| {
        let mut snapshot = of(0, None);
        snapshot.runs[0].config.start = Scene::of_bodies("own", bodies.clone());
        reread(&snapshot)
    };
    assert!(with(&bodies).is_ok(), "one is held out");
    bodies.positions[2][3] = f32::INFINITY;
    assert!(with(&bodies).unwrap_err().contains("body 2 has the mass inf"));
}

/// Kernels stay within the grid even if a tracer is outside of it. Without this check, they crashed or read foreign
/// memory.
#[test]
fn tracers_outside_the_grid_cause_no_out_of_bounds_access() {
    for variant in MODES[2].variants {
        let whole = of(2, Some(variant.name));
        for place in [[1e6; 2], [5000.0; 2], [1e38, -1e38], [f32::NAN; 2], [0.5, f32::INFINITY], [-1e9, 3.0]]
        {
            let mut snapshot = whole.clone();
            let run = &mut snapshot.runs[0];
            run.state.flow_mut().unwrap().tracers.fill(place);
            run.extra.get_mut("tracers").unwrap().as_chunks_mut().0.fill(place);
            let mut engine = Engine::resume(cpu(), snapshot, &Tuned::default()).unwrap();
            let points = engine.publish(Default::default()).unwrap().wait().unwrap();
            assert!(points.0.positions.iter().all(|x| x[3] == 0.0), "{place:?} is not shown");
            engine.run(16, |_| ()).unwrap();
            let points = engine.publish(Default::default()).unwrap().wait().unwrap();
            assert!(points.0.positions.iter().any(|x| x[3] > 0.0), "they begin anew");
            engine.state().unwrap().check().unwrap_or_else(|error| panic!("{place:?}: {error}"));
        }
    }
}

/// Opens files of an older version, which stored whole populations: a driven box of 16 × 16 cells after 60 steps. After
/// 40 more steps, the mean speed must be `then`, the value that the older version computed.
#[test]
fn older_flows_with_whole_populations_are_opened() {
    let files: [(&[u8], f64, f64); 2] = [
        (include_bytes!("../fixtures/flow-of-populations.gravitile"), 1.1656566e-03, 1e-4),
        (include_bytes!("../fixtures/flow-of-populations-half.gravitile"), 1.1656224e-03, 1e-2),
    ];
    for (bytes, then, allowed) in files {
        let snapshot = Snapshot::from_bytes(bytes).unwrap();
        let variant = snapshot.runs[0].recipe.variant.clone();
        let flow = snapshot.runs[0].state.clone().into_flow().unwrap();
        assert_eq!((flow.rest, flow.walls.cells(), flow.tracers.len()), (0.1, 256, 20), "{variant}");
        let mass: f64 = (0..256).filter(|i| !flow.walls.solid[*i]).map(|i| flow.at(i).0).sum();
        assert!((mass / 19.1 - 1.0).abs() < 1e-4, "{variant}: {mass}");
        let mut damaged = snapshot.clone();
        if let Some(halves) = damaged.runs[0].extra.get_mut("halves") {
            assert!(reread(&snapshot).is_ok(), "halves agree with the populations");
            halves[0] = 1e30;
            assert!(reread(&damaged).unwrap_err().contains("do not match the flow"));
        }
        let mut engine = Engine::resume(cpu(), snapshot, &Tuned::default()).unwrap();
        assert_eq!(engine.clock().0, 60);
        // New snapshots store deviations from the fluid at rest.
        let mut again = resumed(&engine.snapshot().unwrap());
        assert!(look(&mut engine) == look(&mut again), "{variant}");
        engine.run(40, |_| ()).unwrap();
        let mean = *engine.series().unwrap().last().unwrap();
        eprintln!("{variant}: {mean:e}, before {then:e}");
        assert!((mean / then - 1.0).abs() < allowed, "{variant}: {mean:e} instead of {then:e}");
    }
}

/// Opens a file of a version without the parameters `compensated` and `yoshida`: five bodies after seven steps.
#[test]
fn a_file_without_newer_parameters_opens_and_continues() {
    let bytes = include_bytes!("../golden/gravity-without-compensation.gravitile");
    let snapshot = Snapshot::from_bytes(bytes).unwrap();
    let mut engine = Engine::resume(cpu(), snapshot, &Tuned::default()).unwrap();
    let values = engine.config().mode.values();
    assert_eq!(values.get("compensated"), Some(params::ParamValue::Flag(false)));
    assert_eq!((engine.clock().0, engine.size()), (7, 5));
    let mut right = engine.state().unwrap().to_f64();
    engine.config().mode.reference(&mut right, 10).unwrap();
    engine.run(10, |_| ()).unwrap();
    let end = engine.bodies().unwrap();
    let off = crate::support::distance(&end, &right.into_bodies().unwrap());
    assert!(engine.clock().0 == 17 && off < 1e-6, "{off}");
}

/// Opens a file of a version before the contact law `match`, which has no parameter for the law.
#[test]
fn a_snapshot_from_before_the_contact_law_continues() {
    let bytes = include_bytes!("../golden/asteroids-one-pass.snapshot");
    let snapshot = Snapshot::from_bytes(bytes).unwrap();
    let mut engine = Engine::resume(cpu(), snapshot, &Tuned::default()).unwrap();
    assert_eq!(engine.clock().0, 40);
    let law = engine.config().mode.values().get("contact_law");
    assert_eq!(law, Some(params::ParamValue::Option("match")));
    let before = engine.bodies().unwrap();
    engine.run(20, |_| ()).unwrap();
    let after = engine.bodies().unwrap();
    assert_eq!((after.len(), after.nonfinite()), (64, 0));
    assert!(before.positions.iter().zip(&after.positions).all(|(before, after)| before != after));
}
