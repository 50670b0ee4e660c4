//! Tests that several devices compute the same bodies as one device, even if one of the devices fails.

use crate::support::{check_passed, gpu, own_cpu, test_alone};
use std::ops::Range;
use std::time::{Duration, Instant};

use gravitile::base::bodies::{Bodies, Points};
use gravitile::base::edit::{Attractor, Edit};
use gravitile::base::flow::Flow;
use gravitile::base::params;
use gravitile::base::state::State;
use gravitile::compute::{
    self, Buffer, Call, Device, DeviceKind, Devices, Exchange, FoundDevice, InjectedFault, KernelSource,
    Lane, Pass, Program, Rows, Staging,
};
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::engine::snapshot::Snapshot;
use gravitile::modes::gravity::SPLIT_FROM;
use gravitile::modes::{ModeInfo, Together, Variant, find};
use gravitile::scene::Scene;
use gravitile::session::{Command, Notice, Session};

/// Environment variable that is set in a process whose OpenCL driver shows several CPU devices.
const INSIDE: &str = "GRAVITILE_SEVERAL";

/// Runs the test `test` of this file again in a process to which PoCL shows `count` devices.
fn with_devices(test: &str, count: usize) {
    if !test.contains("gpus")
        && of_kind(DeviceKind::Cpu).iter().any(|cpu| compute::aborts_on_sub_devices(&cpu.info))
    {
        eprintln!("SKIPPED {test}: this version of PoCL aborts with several of its devices");
        return;
    }
    eprintln!("{test}: {count} devices");
    let output = test_alone(module_path!(), test)
        .env("POCL_DEVICES", vec!["pthread"; count].join(" "))
        .env(INSIDE, count.to_string())
        // Makes the devices share the work even if there are few bodies.
        .env("GRAVITILE_SHARE", "always")
        // Time, in seconds, after which a device that does not answer counts as failed.
        .env("GRAVITILE_PATIENCE", if test.contains("hangs") { "2" } else { "60" })
        .output()
        .unwrap();
    check_passed(&output, &format!("with {count} devices"));
    eprint!("{}", String::from_utf8_lossy(&output.stderr));
}

/// Returns the number of devices that PoCL shows to this process; `None` in a normal process.
fn inside() -> Option<usize> {
    std::env::var(INSIDE).ok().map(|count| count.parse().unwrap())
}

/// Opens the devices that `wanted` selects; `cpus` selects all CPU devices.
fn devices(wanted: &str) -> Devices {
    let found = match wanted {
        "cpus" => of_kind(DeviceKind::Cpu),
        _ => compute::select_several(wanted).unwrap(),
    };
    Devices::all(found).unwrap()
}

fn of_kind(kind: DeviceKind) -> Vec<FoundDevice> {
    compute::list().unwrap().into_iter().filter(|found| found.info.kind == kind).collect()
}

/// Returns the bodies after `steps` steps, computed in bursts of different lengths.
fn stepped(devices: Devices, config: &Config, steps: u32) -> Bodies {
    let mut engine = Engine::new(devices, config.clone()).unwrap();
    let mut left = steps;
    for burst in [1, 2, 7, 30].into_iter().cycle() {
        let burst = left.min(burst);
        engine.run(burst, |_| ()).unwrap();
        left -= burst;
        if left == 0 {
            break;
        }
    }
    if devices_share(&engine) {
        let sharing = engine.sharing().expect("several devices tell how they share");
        assert!(sharing.members.iter().map(|member| member.share).sum::<f64>() > 0.999, "{sharing:?}");
    }
    engine.bodies().unwrap()
}

fn devices_share(engine: &Engine) -> bool {
    engine.devices().len() > 1 && engine.resolved().recipe.variant.together != Together::No
}

/// Returns √(Σ|a − b|² / Σ|b − start|²) over the positions: the difference of `a` and `b`, relative to how far the
/// bodies moved.
fn difference(a: &Bodies, b: &Bodies, start: &Bodies) -> f64 {
    let square = |a: &Bodies, b: &Bodies| -> f64 {
        let pairs = a.positions.iter().zip(&b.positions);
        pairs.flat_map(|(a, b)| (0..3).map(move |k| f64::from(a[k] - b[k]).powi(2))).sum()
    };
    assert_eq!(a.len(), b.len());
    let went = square(b, start);
    assert!(went > 0.0, "nothing moved");
    (square(a, b) / went).sqrt()
}

/// Which variants of a mode a test runs.
#[derive(Clone, Copy)]
enum Which {
    All,
    /// The first variant of each way to share the work, and the last variant.
    Few,
}

impl Which {
    fn of(self, info: &'static ModeInfo) -> Vec<&'static Variant> {
        let all: Vec<_> = info.variants.iter().collect();
        let is_first = |nth: usize| !all[..nth].iter().any(|other| other.together == all[nth].together);
        match self {
            Self::All => all,
            Self::Few => (0..all.len())
                .filter(|&nth| is_first(nth) || nth + 1 == all.len())
                .map(|nth| all[nth])
                .collect(),
        }
    }
}

/// Checks that several devices compute the same bodies as one device.
fn same_bodies(mode: &str, scene: &str, bodies: usize, wanted: (&str, usize), which: Which) {
    same_bodies_with(mode, scene, &[], bodies, wanted, which);
}

fn same_bodies_with(
    mode: &str,
    scene: &str,
    set: &[(&str, &str)],
    bodies: usize,
    (wanted, count): (&str, usize),
    which: Which,
) {
    let info = find(mode).unwrap();
    for variant in which.of(info) {
        let mut config = Config::new(info);
        config.select_scene(info.scene(scene).unwrap());
        for (key, value) in set {
            params::set(config.mode.as_mut(), key, value).unwrap();
        }
        (config.bodies, config.variant) = (Some(bodies), Some(variant));
        let one = devices(wanted).choose(&[0]).unwrap();
        let start = Engine::new(one.clone(), config.clone()).unwrap().bodies().unwrap();
        let expected = stepped(one, &config, 100);
        let all = devices(wanted);
        assert_eq!(all.len(), count);
        let error = difference(&stepped(all, &config, 100), &expected, &start);
        eprintln!("{mode} {} on {count}: {error:.1e}", variant.name);
        assert!(error < 1e-6, "{mode} {} on {count} devices: {error:e}", variant.name);
    }
}

/// Checks that several devices also share the low parts of the positions: the rounding errors that compensated
/// summation stores.
fn low_parts_are_shared() {
    let mut config = Config::new(find("gravity").unwrap());
    (config.bodies, config.variant) = (Some(301), config.mode.info().variant("tiled"));
    params::set(config.mode.as_mut(), "compensated", "true").unwrap();
    let all = devices("cpus");
    let [one, several] = [all.choose(&[0]).unwrap(), all].map(|devices| {
        let mut engine = Engine::new(devices, config.clone()).unwrap();
        [3, 20].into_iter().for_each(|steps| engine.run(steps, |_| ()).unwrap());
        let (sums, _) = engine.diagnostics().unwrap();
        (engine.snapshot().unwrap().runs[0].extra["low_parts"].clone(), sums.readings)
    });
    assert!(one.0.iter().any(|low| *low != 0.0) && one.0 == several.0);
    assert!(one.1[1].value > 0.0 && one.1[1] == several.1[1], "{:?} {:?}", one.1, several.1);
}

/// Checks that falling bodies, which need more and more substeps, agree bit for bit on one device and on several. Tests
/// the variants that add up the contacts of a body in a fixed order.
fn same_substeps((wanted, count): (&str, usize), which: Which) {
    let info = find("asteroids").unwrap();
    let mut bodies = Bodies::default();
    for i in 0..501 {
        let (far, z, turn) = (0.5 + 1e-3 * i as f32, i as f32 / 250.0 - 1.0, 2.4 * i as f32);
        let side = (1.0 - z * z).max(0.0).sqrt();
        bodies.push([side * turn.cos(), side * turn.sin(), z].map(|x| far * x), [0.0; 3], 1.0);
    }
    let start = Scene::of_bodies("falling", bodies);
    for variant in which.of(info) {
        let name = variant.name;
        if !["naive", "tiled", "tiled-both"].contains(&name) {
            continue;
        }
        let mut config = Config { start: start.clone(), variant: Some(variant), ..Config::new(info) };
        let set = [
            ("planet_mass", "1"),
            ("planet_radius", "0.3"),
            ("g", "10"),
            ("radius", "0.02"),
            ("dt", "0.004"),
        ];
        for (key, value) in set {
            params::set(config.mode.as_mut(), key, value).unwrap();
        }
        let go = |devices: Devices| {
            let mut engine = Engine::new(devices, config.clone()).unwrap();
            let mut rounds = Vec::new();
            for burst in [1, 6, 13, 20, 30] {
                engine.run(burst, |_| ()).unwrap();
                rounds.push(engine.rounds());
            }
            (engine.bodies().unwrap(), rounds)
        };
        let (one, rounds) = go(devices(wanted).choose(&[0]).unwrap());
        let (several, again) = go(devices(wanted));
        eprintln!("asteroids {name} on {count}: {rounds:?} substeps");
        assert!(rounds.iter().any(|count| *count != rounds[0]), "{rounds:?}");
        assert_eq!(rounds, again);
        assert!(one == several, "asteroids {name} on {count} devices: other bits");
    }
}

/// Checks that fluid variants give the same bits on one device and on several. The grid's rows cannot be divided
/// equally.
fn same_flow(scene: &str, devices: (&str, usize), which: Which) {
    for variant in which.of(find("fluid").unwrap()) {
        same_flow_with(scene, 70 * 33, devices, variant);
    }
}

/// Checks that the fluid variant `variant` gives the same bits on one device and on several, with about `cells` cells.
fn same_flow_with(scene: &str, cells: usize, (wanted, count): (&str, usize), variant: &'static Variant) {
    let info = find("fluid").unwrap();
    let mut config = Config::new(info);
    config.select_scene(info.scene(scene).unwrap());
    (config.bodies, config.variant) = (Some(cells), Some(variant));
    params::set(config.mode.as_mut(), "tracers", "500").unwrap();
    let flow = |devices: Devices| {
        let mut engine = Engine::new(devices, config.clone()).unwrap();
        let (start, mut told) = (engine.state().unwrap().into_flow().unwrap(), Vec::new());
        for burst in [1, 17, 40, 42] {
            engine.run(burst, |_| ()).unwrap();
            told.extend(engine.series().unwrap());
        }
        let (points, _) = engine.publish(Points::default()).unwrap().wait().unwrap();
        assert_eq!(points.series.len(), 42);
        (engine.state().unwrap().into_flow().unwrap(), told, points, start)
    };
    let (one, told, picture, start) = flow(devices(wanted).choose(&[0]).unwrap());
    let (several, retold, points, _) = flow(devices(wanted));
    assert!(one.cells != start.cells, "nothing flows");
    if scene == "cylinder" || variant.name != "half" {
        assert!(one.cells == several.cells, "fluid {} on {count} devices: other cells", variant.name);
    } else {
        // At the end of a burst, a separate kernel applies the force that drives the flow, and rounds the 16-bit
        // numbers once more.
        let off = |a: &Flow, b: &Flow| -> f32 {
            let pairs = a.cells.iter().flatten().zip(b.cells.iter().flatten());
            pairs.map(|(a, b)| (a - b).powi(2)).sum::<f32>().sqrt()
        };
        let error = off(&one, &several) / off(&one, &start);
        assert!(error < 1e-2, "fluid half on {count} devices: {error}");
        return;
    }
    assert!(*picture.image.values == *points.image.values, "fluid {}: another picture", variant.name);
    // At the end of a burst, the driving force of the next step is not applied yet, so tracers may differ by its effect
    // in one step.
    let is_near = |(a, b): (&[f32; 2], &[f32; 2])| (a[0] - b[0]).hypot(a[1] - b[1]) < 0.3;
    let near = one.tracers.iter().zip(&several.tracers).filter(|pair| is_near(*pair)).count();
    match scene {
        "cylinder" => {
            assert_eq!(one.tracers, several.tracers, "fluid {} on {count} devices", variant.name);
        }
        _ => {
            assert!(near >= 490, "fluid {}: {near} of 500 tracers are where they should be", variant.name);
        }
    }
    assert_eq!(told.len(), retold.len());
    for (a, b) in told.iter().zip(&retold) {
        assert!((a - b).abs() <= 1e-6 * a.abs(), "fluid {}: mean speed {a} or {b}", variant.name);
    }
    eprintln!("fluid {scene} {} on {count}: the same", variant.name);
}

#[test]
fn sub_devices_of_a_cpu_agree_with_one_device() {
    match inside() {
        Some(_) => same_on_parts(Which::Few),
        None => with_devices("sub_devices_of_a_cpu_agree_with_one_device", 1),
    }
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn sub_devices_of_a_cpu_agree_with_one_device_with_every_variant() {
    match inside() {
        Some(_) => same_on_parts(Which::All),
        None => with_devices("sub_devices_of_a_cpu_agree_with_one_device_with_every_variant", 1),
    }
}

fn same_on_parts(which: Which) {
    let parts = ("sub:2", 2);
    same_bodies("gravity", "plummer", 1001, parts, which);
    same_bodies("asteroids", "belt", 1001, parts, which);
    same_substeps(parts, which);
    same_flow("cylinder", parts, which);
}

#[test]
fn several_devices_agree_with_one_device() {
    match inside() {
        Some(count) => {
            same_bodies("asteroids", "clouds", 1001, ("cpus", count), Which::Few);
            same_flow("box-wall", ("cpus", count), Which::Few);
            // Each device's band of rows is so high that it has inner rows, which are computed while the outer rows are
            // exchanged.
            let temporal = find("fluid").unwrap().variant("temporal").unwrap();
            same_flow_with("cylinder", 300 * 120, ("cpus", count), temporal);
        }
        None => with_devices("several_devices_agree_with_one_device", 2),
    }
}

/// Two devices with more than `2 * SPLIT_FROM` bodies exchange the results of a walk of the tree in two parts.
#[test]
#[ignore = "long: scripts/test --all runs it"]
fn walks_that_are_exchanged_in_two_parts_agree_with_one_device() {
    let name = "walks_that_are_exchanged_in_two_parts_agree_with_one_device";
    if inside().is_none() {
        return with_devices(name, 2);
    }
    let info = find("gravity").unwrap();
    let mut config = Config::new(info);
    config.select_scene(info.scene("plummer").unwrap());
    (config.bodies, config.variant) = (Some(2 * SPLIT_FROM + 1), info.variant("tree"));
    let go = |devices: Devices| {
        let mut engine = Engine::new(devices, config.clone()).unwrap();
        engine.run(1, |_| ()).unwrap();
        // Makes a picture in the middle of a step.
        engine.start(1);
        engine.advance().unwrap();
        engine.publish(Points::default()).unwrap().wait().unwrap();
        while engine.advance().unwrap() {}
        engine.finish().unwrap();
        (engine.bodies().unwrap(), engine.rounds())
    };
    let all = devices("cpus");
    let (expected, work) = go(all.choose(&[0]).unwrap());
    let (bodies, shared_work) = go(all);
    assert!(bodies == expected);
    assert!((shared_work / work - 1.0).abs() < 1e-5, "{shared_work} instead of {work}");
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn two_to_four_devices_agree_with_one_device_with_every_variant() {
    let name = "two_to_four_devices_agree_with_one_device_with_every_variant";
    let Some(count) = inside() else { return (2..=4).for_each(|count| with_devices(name, count)) };
    let devices = ("cpus", count);
    same_bodies("gravity", "plummer", 1001, devices, Which::All);
    if count == 2 {
        let set = [("integrator", "yoshida"), ("compensated", "true")];
        same_bodies_with("gravity", "plummer", &set, 301, devices, Which::All);
        low_parts_are_shared();
    }
    same_bodies("asteroids", "clouds", 1001, devices, Which::All);
    same_flow("box-wall", devices, Which::All);
    same_flow("cylinder", devices, Which::All);
}

/// Makes one of two devices fail, at the first or fourth call of each kind. The run must continue on the other device
/// and compute the same bodies. If `all` is false, only one of the devices fails in each case.
fn survives(mode: &str, variant: &str, wanted: &str, all: bool) {
    let info = find(mode).unwrap();
    let mut config = Config::new(info);
    (config.bodies, config.variant) = (Some(if mode == "fluid" { 2000 } else { 999 }), info.variant(variant));
    if mode == "fluid" {
        params::set(config.mode.as_mut(), "tracers", "3000").unwrap();
    }
    let places = |engine: &mut Engine| match engine.state().unwrap() {
        State::Bodies(bodies) => bodies.positions.concat(),
        State::Flow(flow) => flow.cells.concat(),
    };
    let mut one = Engine::new(devices(wanted).choose(&[0]).unwrap(), config.clone()).unwrap();
    let start = places(&mut one);
    one.run(20, |_| ()).unwrap();
    one.run(20, |_| ()).unwrap();
    let expected = places(&mut one);
    for (case, (call, nth)) in
        Call::ALL.into_iter().flat_map(|call| [1, 4].map(|nth| (call, nth))).enumerate()
    {
        let failing = if all { vec![0, 1] } else { vec![(case + case / 2) % 2] };
        for failing in failing {
            let mut engine = Engine::new(devices(wanted), config.clone()).unwrap();
            assert!(engine.devices().len() > 1);
            engine.run(20, |_| ()).unwrap();
            engine.devices()[failing].inject(call, nth, InjectedFault::Refused);
            engine.run(20, |_| ()).unwrap();
            let case = format!("{mode} {variant}, {call:?} {nth} of device {failing}");
            let now = places(&mut engine);
            let (mut error, mut size) = (0.0, 0.0);
            for ((a, b), c) in now.iter().zip(&expected).zip(&start) {
                error += f64::from(a - b).powi(2);
                size += f64::from(b - c).powi(2);
            }
            assert!(size > 0.0 && (error / size).sqrt() < 1e-5, "{case}: {}", (error / size).sqrt());
            let losses = engine.take_lost_devices();
            // During a run, no kernel is built and no memory is allocated.
            let is_met = !matches!(call, Call::Build | Call::Allocate);
            match losses.as_slice() {
                [] if !is_met => {}
                [loss] => {
                    let text = loss.error.to_string();
                    assert!(text.contains("no longer available"), "{case}: {text}");
                    assert!(text.contains("device "), "{case}: {text}");
                    assert_eq!(engine.devices().len(), 1, "{case}");
                    assert_eq!(engine.clock().0, 40, "{case}");
                }
                losses => panic!("{case}: {losses:?}"),
            }
        }
    }
}

#[test]
fn a_failing_device_is_dropped_and_the_run_continues() {
    match inside() {
        Some(_) => {
            survives("gravity", "mutual", "sub:2", false);
            survives("fluid", "soa", "sub:2", false);
        }
        None => with_devices("a_failing_device_is_dropped_and_the_run_continues", 1),
    }
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn a_device_failing_in_any_call_is_dropped_and_the_run_continues() {
    match inside() {
        Some(_) => {
            survives("gravity", "mutual", "sub:2", true);
            survives("gravity", "blocked", "sub:2", true);
            survives("gravity", "tree", "sub:2", true);
            survives("asteroids", "tiled", "sub:2", true);
            survives("fluid", "soa", "sub:2", true);
        }
        None => with_devices("a_device_failing_in_any_call_is_dropped_and_the_run_continues", 1),
    }
}

/// If a call fails during a change, the change is refused or the failed device is dropped, and the run continues.
#[test]
fn a_device_failure_during_a_configuration_change_keeps_the_run_intact() {
    if inside().is_none() {
        return with_devices("a_device_failure_during_a_configuration_change_keeps_the_run_intact", 1);
    }
    let info = find("gravity").unwrap();
    for call in [Call::Build, Call::Allocate, Call::Write] {
        let mut config = Config::new(info);
        (config.bodies, config.variant) = (Some(999), info.variant("tiled"));
        let mut engine = Engine::new(devices("sub:2"), config.clone()).unwrap();
        engine.run(10, |_| ()).unwrap();
        let before = engine.bodies().unwrap();
        engine.devices()[1].inject(call, 1, InjectedFault::Refused);
        config.variant = info.variant("mutual");
        let error = engine.configure(config.clone()).unwrap_err().to_string();
        assert!(error.contains("device 0") && error.contains("part 2"), "{call:?}: {error}");
        assert_eq!(engine.config().variant, info.variant("tiled"));
        assert_eq!(engine.bodies().unwrap(), before, "{call:?}");
        engine.run(10, |_| ()).unwrap();
        // After the fault, the same change succeeds.
        engine.configure(config).unwrap();
        engine.run(10, |_| ()).unwrap();
        assert_eq!(engine.resolved().recipe.variant.name, "mutual");
        assert!(engine.take_lost_devices().is_empty(), "{call:?}");
    }
}

/// Edits the bodies, then runs two devices forwards and backwards; one of the devices may fail on the way back.
#[test]
fn several_devices_run_backwards_after_manual_edits() {
    if inside().is_none() {
        return with_devices("several_devices_run_backwards_after_manual_edits", 1);
    }
    let info = find("gravity").unwrap();
    for fails in [false, true] {
        let mut config = Config { bodies: Some(600), variant: info.variant("blocked"), ..Config::new(info) };
        config.select_scene(info.scene("plummer").unwrap());
        params::set(config.mode.as_mut(), "eps", "0.2").unwrap();
        let mut engine = Engine::new(devices("sub:2"), config).unwrap();
        assert!(devices_share(&engine));
        engine.edit(&Edit::Remove(3)).unwrap();
        let start = engine.bodies().unwrap();
        let held = engine.body(5).unwrap().unwrap();
        assert_eq!((start.len(), held.position), (599, start.positions[5][..3].try_into().unwrap()));

        engine.run(100, |_| ()).unwrap();
        let there = engine.bodies().unwrap();
        engine.configure(Config { reverse: true, ..engine.config().clone() }).unwrap();
        engine.run(30, |_| ()).unwrap();
        if fails {
            engine.devices()[1].inject(Call::Kernel, 1, InjectedFault::Refused);
        }
        engine.run(70, |_| ()).unwrap();
        assert_eq!((engine.clock(), engine.take_lost_devices().len()), ((0, 0.0), usize::from(fails)));
        let off = difference(&engine.bodies().unwrap(), &start, &there);
        assert!(off < 1e-4, "{off}");
        assert!(engine.undo().unwrap());
        assert_eq!(engine.bodies().unwrap().len(), 600);
    }
}

/// If one of two devices fails during a manual edit, the other device carries out the edit.
#[test]
fn a_manual_edit_survives_the_loss_of_a_device() {
    if inside().is_none() {
        return with_devices("a_manual_edit_survives_the_loss_of_a_device", 1);
    }
    let config = Config { bodies: Some(500), ..Config::new(find("gravity").unwrap()) };
    let mut right = Engine::new(devices("sub:2").choose(&[0]).unwrap(), config.clone()).unwrap();
    right.run(10, |_| ()).unwrap();
    let start = right.bodies().unwrap();
    right.run(10, |_| ()).unwrap();
    for undoes in [false, true] {
        let mut engine = Engine::new(devices("sub:2"), config.clone()).unwrap();
        engine.run(10, |_| ()).unwrap();
        if undoes {
            engine.edit(&Edit::Remove(3)).unwrap();
            engine.run(7, |_| ()).unwrap();
        }
        engine.devices()[1].inject(Call::Allocate, 1, InjectedFault::Refused);
        match undoes {
            true => assert!(engine.undo().unwrap()),
            false => engine.edit(&Edit::Remove(3)).unwrap(),
        }
        assert_eq!((engine.take_lost_devices().len(), engine.devices().len()), (1, 1));
        assert_eq!((engine.size(), engine.clock().0), if undoes { (500, 10) } else { (499, 10) });
        engine.run(10, |_| ()).unwrap();
        if undoes {
            let off = difference(&engine.bodies().unwrap(), &right.bodies().unwrap(), &start);
            assert!(off < 1e-5, "{off}");
        }
    }
}

/// One of two devices fails, and the other cannot continue, because kernels that it still needs do not compile. Each
/// attempt to run reports an error.
#[test]
fn an_unrecoverable_device_loss_is_reported_at_every_run() {
    if inside().is_none() {
        return with_devices("an_unrecoverable_device_loss_is_reported_at_every_run", 1);
    }
    let info = find("gravity").unwrap();
    let config = Config { bodies: Some(500), variant: info.variant("tiled"), ..Config::new(info) };
    let mut engine = Engine::new(devices("sub:2"), config.clone()).unwrap();
    engine.run(5, |_| ()).unwrap();
    let own = engine.devices().edits();
    engine
        .devices()
        .set_edits(compute::KernelEdits::from([("gravity/tiled.cl".to_owned(), "no".to_owned())]));
    for _ in 0..2 {
        engine.devices()[1].inject(Call::Kernel, 1, InjectedFault::Refused);
        assert!(engine.run(5, |_| ()).is_err());
        assert_eq!((engine.devices().len(), engine.config()), (2, &config));
    }
    engine.devices().set_edits(own);
    engine.devices()[1].inject(Call::Kernel, 1, InjectedFault::Refused);
    engine.run(5, |_| ()).unwrap();
    assert_eq!((engine.take_lost_devices().len(), engine.devices().len()), (1, 1));
}

/// With `auto`, the first device would choose fewer bodies than the second one. Switching to the second device keeps
/// the bodies.
#[test]
fn switching_to_another_first_device_keeps_the_bodies() {
    if inside().is_none() {
        return with_devices("switching_to_another_first_device_keeps_the_bodies", 1);
    }
    let mut found = compute::select_several("sub:2").unwrap();
    found[0].info.memory_bytes = 500_000;
    let mut engine = Engine::new(
        Devices::open(found, &[0]).unwrap(),
        Config { devices: vec![0], ..Config::new(find("asteroids").unwrap()) },
    )
    .unwrap();
    let asteroids = engine.config().clone();
    engine.run(4, |_| ()).unwrap();
    let gravity = Config { devices: vec![0], ..Config::new(find("gravity").unwrap()) };
    engine.configure(gravity.clone()).unwrap();
    engine.edit(&Edit::Remove(3)).unwrap();
    engine.run(5, |_| ()).unwrap();
    let size = engine.size();
    let moved = Config { devices: vec![1], ..gravity };
    assert!(size < 4000 && !engine.reseeds(&moved));
    engine.configure(moved.clone()).unwrap();
    assert_eq!((engine.size(), engine.clock().0, engine.undos()), (size, 5, 1));
    assert!(!engine.reseeds(&moved));
    // The mode that was left keeps its state too.
    engine.configure(Config { devices: vec![1], ..asteroids }).unwrap();
    assert_eq!(engine.clock().0, 4);
    // Only a changed number of bodies restarts the scene.
    engine.configure(moved.clone()).unwrap();
    engine.configure(Config { bodies: Some(300), ..moved.clone() }).unwrap();
    assert_eq!((engine.size(), engine.clock().0), (300, 0));
    engine.configure(moved).unwrap();
    assert!(engine.size() > size, "it is left open anew");
}

/// Checks that an attractor, used during the steps, moves bodies that several devices share as it does on one device.
fn pulls_alike(mode: &str, scene: &str, wanted: &str, which: Which) {
    let info = find(mode).unwrap();
    for variant in which.of(info).into_iter().filter(|variant| variant.together != Together::No) {
        let mut config = Config { bodies: Some(701), variant: Some(variant), ..Config::new(info) };
        config.select_scene(info.scene(scene).unwrap());
        let pulled = |devices: Devices, strength: f32| {
            let mut engine = Engine::new(devices, config.clone()).unwrap();
            let start = engine.bodies().unwrap();
            for at in [[1.5, 0.0, 0.2], [0.0, -1.5, 0.0]] {
                engine.run(7, |_| ()).unwrap();
                // Reading results between steps must not change anything.
                let before = engine.diagnostics().unwrap().0;
                engine.attract(&Attractor { at, strength, reach: 0.5 }, 10.0).unwrap();
                let after = engine.diagnostics().unwrap().0;
                let [now, then] = [&after, &before].map(|sums| glam::DVec3::from(sums.momentum));
                let drift = now.distance(then) / after.momentum_scale;
                // In the mode asteroids, the planet takes the recoil, so the momentum of the bodies changes.
                let keeps = drift < 1e-6;
                assert_eq!(keeps, mode == "gravity" || strength == 0.0, "{mode} {}: {drift:e}", variant.name);
                engine.publish(Points::default()).unwrap().wait().unwrap();
                engine.run(8, |_| ()).unwrap();
                engine.attract(&Attractor { at, strength, reach: 0.5 }, 5.0).unwrap();
            }
            let bodies = engine.bodies().unwrap();
            for body in [0, 350, 700] {
                let held = engine.body(body).unwrap().unwrap();
                assert_eq!(held.velocity, bodies.velocities[body][..3], "{mode} {}", variant.name);
            }
            // No step follows the last attraction, so only the velocities show its effect.
            let moved = bodies.positions.iter().zip(&bodies.velocities);
            let moved = moved.map(|(x, v)| [0, 1, 2, 3].map(|k| if k < 3 { x[k] + v[k] } else { x[3] }));
            let ahead = Bodies { positions: moved.collect(), velocities: bodies.velocities.clone() };
            (ahead, start, devices_share(&engine))
        };
        let one = || devices(wanted).choose(&[0]).unwrap();
        let (expected, start, _) = pulled(one(), 0.5);
        let (left_alone, ..) = pulled(one(), 0.0);
        let (got, _, is_shared) = pulled(devices(wanted), 0.5);
        let effect = difference(&left_alone, &expected, &start);
        let error = difference(&got, &expected, &start);
        assert!(is_shared && effect > 1e-2, "{mode} {}: the hand does {effect:e}", variant.name);
        assert!(error < 1e-5, "{mode} {}: {error:e}, where a hand does {effect:e}", variant.name);
    }
}

#[test]
fn attraction_acts_equally_on_one_and_several_devices() {
    match inside() {
        Some(_) => {
            pulls_alike("gravity", "plummer", "sub:2", Which::Few);
            pulls_alike("asteroids", "belt", "sub:2", Which::Few);
        }
        None => with_devices("attraction_acts_equally_on_one_and_several_devices", 1),
    }
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn attraction_acts_equally_on_several_devices_with_every_variant() {
    let name = "attraction_acts_equally_on_several_devices_with_every_variant";
    let Some(count) = inside() else { return [1, 3].into_iter().for_each(|count| with_devices(name, count)) };
    let wanted = if count == 1 { "sub:2" } else { "cpus" };
    pulls_alike("gravity", "plummer", wanted, Which::All);
    pulls_alike("asteroids", "belt", wanted, Which::All);
}

/// A session on several devices applies attraction that starts, moves and ends in any order. Undo treats each
/// attraction as one edit.
#[test]
fn a_session_on_several_devices_applies_attraction() {
    if inside().is_none() {
        return with_devices("a_session_on_several_devices_applies_attraction", 1);
    }
    let mut config = Config { running: false, ..Config::new(find("gravity").unwrap()) };
    config.bodies = Some(300);
    let start = config.clone();
    let mut session = Session::spawn(move || Engine::new(devices("sub:2"), start), || ()).unwrap();
    let pull = |x: f32| Command::Attract(Some(Attractor { at: [x, 0.0, 0.0], strength: 1.0, reach: 0.5 }));
    // Starts, moves and ends an attraction while the simulation is paused.
    (0..40).for_each(|nth| session.send(pull(nth as f32)));
    session.send(Command::Attract(None));
    // Then attracts bodies during some steps.
    session.send(pull(2.0));
    session.send(Command::Seek(Some(40)));
    let clock = Instant::now();
    let undos = loop {
        let stats = session.frame().0.stats.clone();
        if stats.step == 40 {
            break stats.undos;
        }
        let failed = session.notices().into_iter().find(|notice| !matches!(notice, Notice::Message(_)));
        assert!(
            failed.is_none() && clock.elapsed() < Duration::from_secs(60),
            "step {}: {failed:?}",
            stats.step
        );
        std::thread::sleep(Duration::from_millis(2));
    };
    assert_eq!(undos, 1, "what never acted is nothing to undo");
    session.send(Command::Attract(None));
    assert!(session.close(String::new()).is_empty());
}

/// If a device that has already been replaced reports a second error, no second loss is reported.
#[test]
fn a_second_error_of_a_replaced_device_is_not_reported() {
    if inside().is_none() {
        return with_devices("a_second_error_of_a_replaced_device_is_not_reported", 1);
    }
    let mut config = Config::new(find("gravity").unwrap());
    config.bodies = Some(500);
    let mut engine = Engine::new(devices("sub:2"), config.clone()).unwrap();
    engine.run(5, |_| ()).unwrap();
    let lost = engine.devices()[1].clone();
    let [now, late] = [1, 2].map(|_| {
        lost.inject(Call::Write, 1, InjectedFault::Refused);
        Buffer::<f32>::zeroed(&lost, 4).unwrap_err()
    });
    engine.recover(now).unwrap();
    engine.recover(late).unwrap();
    let losses = engine.take_lost_devices();
    assert_eq!((losses.len(), losses[0].place, engine.devices().chosen()), (1, 1, &[0][..]));
    engine.run(5, |_| ()).unwrap();
    assert_eq!(engine.clock().0, 10);
    // The last device cannot be replaced by another one.
    engine.devices()[0].inject(Call::Kernel, 1, InjectedFault::Refused);
    assert!(engine.run(5, |_| ()).is_err());
}

/// A device fails while its state is read for a change of devices. The change is refused, or carried out without the
/// failed device.
#[test]
fn a_device_failing_during_a_device_change_is_not_reopened() {
    if inside().is_none() {
        return with_devices("a_device_failing_during_a_device_change_is_not_reopened", 1);
    }
    let info = find("gravity").unwrap();
    let mut config = Config { bodies: Some(500), variant: info.variant("tiled"), ..Config::new(info) };
    let mut engine = Engine::new(devices("sub:2"), config.clone()).unwrap();
    engine.run(5, |_| ()).unwrap();
    engine.devices()[1].inject(Call::Read, 1, InjectedFault::Refused);
    (config.devices, config.work_group) = (vec![1, 0], Some(1 << 20));
    assert!(engine.configure(config.clone()).is_err(), "there is no such work-group");
    assert_eq!((engine.take_lost_devices().len(), engine.devices().chosen()), (1, &[0][..]));
    engine.run(5, |_| ()).unwrap();

    let mut engine = Engine::new(devices("sub:2"), Config { devices: vec![0, 1], ..config.clone() });
    assert!(engine.is_err());
    config.work_group = None;
    engine = Engine::new(devices("sub:2"), Config { devices: vec![0, 1], ..config.clone() });
    let mut engine = engine.unwrap();
    engine.run(5, |_| ()).unwrap();
    engine.devices()[1].inject(Call::Read, 1, InjectedFault::Refused);
    engine.configure(config).unwrap();
    assert_eq!((engine.take_lost_devices().len(), engine.devices().chosen()), (1, &[0][..]));
    engine.run(5, |_| ()).unwrap();
    assert_eq!(engine.clock().0, 10);
}

#[test]
fn failure_of_the_last_device_saves_a_snapshot() {
    if inside().is_none() {
        return with_devices("failure_of_the_last_device_saves_a_snapshot", 1);
    }
    let mut config = Config::new(find("gravity").unwrap());
    config.bodies = Some(500);
    let mut engine = Engine::new(devices("sub:2").choose(&[0]).unwrap(), config).unwrap();
    let start = engine.bodies().unwrap();
    engine.run(3, |_| ()).unwrap();
    engine.devices()[0].inject(Call::Kernel, 1, InjectedFault::Refused);
    let error = engine.run(3, |_| ()).unwrap_err();
    let folder = tempfile::tempdir().unwrap();
    std::env::set_current_dir(&folder).unwrap();
    let text = engine.crash_save(error).to_string();
    assert!(text.contains("no longer available") && text.contains("step 0"), "{text}");
    let kept = Snapshot::load(&folder.path().join("gravitile-step-0.gravitile")).unwrap();
    assert_eq!(kept.runs[0].state, start.into());
}

/// A device that does not answer is dropped with a message, and the other device continues.
#[test]
fn a_device_that_hangs_is_dropped_and_the_run_continues() {
    if inside().is_none() {
        return with_devices("a_device_that_hangs_is_dropped_and_the_run_continues", 1);
    }
    let mut config = Config::new(find("gravity").unwrap());
    config.bodies = Some(999);
    let mut engine = Engine::new(devices("sub:2"), config.clone()).unwrap();
    engine.run(5, |_| ()).unwrap();
    engine.devices()[1].inject(Call::Wait, 3, InjectedFault::Hangs);
    engine.run(5, |_| ()).unwrap();
    let losses = engine.take_lost_devices();
    let text = losses[0].error.to_string();
    assert!(losses.len() == 1 && text.contains("did not respond within 2 s"), "{text}");
    assert_eq!((engine.devices().len(), engine.clock().0), (1, 10));
    let mut one = Engine::new(devices("sub:2").choose(&[0]).unwrap(), config).unwrap();
    let start = one.bodies().unwrap();
    one.run(10, |_| ()).unwrap();
    let error = difference(&engine.bodies().unwrap(), &one.bodies().unwrap(), &start);
    assert!(error < 1e-6, "{error:e}");
}

/// Compares a run on all available GPUs with a run on one GPU.
#[test]
fn several_gpus_agree_with_one_gpu() {
    if inside().is_none() {
        return with_devices("several_gpus_agree_with_one_gpu", 1);
    }
    let gpus = of_kind(DeviceKind::Gpu).len();
    if gpus < 2 {
        eprintln!("SKIPPED on several GPUs: there is {gpus} here");
        return;
    }
    same_bodies("gravity", "plummer", 20_001, ("gpus", gpus), Which::All);
    same_bodies("asteroids", "clouds", 5_001, ("gpus", gpus), Which::All);
    same_flow("cylinder", ("gpus", gpus), Which::All);
}

/// Returns an exchange in which each of two devices sends some rows to the same place on the other one, except for the
/// last `left_out` rows.
fn exchange<'a>(layout: [Rows<'a>; 2], sent: [Range<usize>; 2], left_out: usize) -> Exchange<'a> {
    let mut exchange = Exchange::new(2, &[0, 1]);
    for (from, sent) in sent.into_iter().enumerate() {
        let slot = exchange.read(from, layout[from], sent.clone());
        exchange.write(1 - from, layout[1 - from], sent.start..sent.end - left_out, slot);
    }
    exchange
}

/// Exchanges rows between two devices, with reads that are split into pieces and reads that are not. The devices also
/// exchange less than they read, and two planes of data, which are never split.
fn rows_arrive(devices: [Device; 2]) {
    // Three values of four bytes per row: the devices send 12 MB and 20 MB. Neither is a whole number of pieces.
    const ROWS: usize = 2_666_667;
    let values = |of: usize| -> Vec<[f32; 3]> {
        let row = |row: usize| [row as f32, (ROWS - row) as f32, of as f32];
        (0..ROWS).map(row).collect()
    };
    let buffers = [0, 1].map(|of| Buffer::from_slice(&devices[of], &values(of)).unwrap());
    let rows = [0, 1].map(|of| Rows::new(&buffers[of], 1, 1, 0));
    let planes = [0, 1].map(|of| Rows::new(&buffers[of], 1, 2, ROWS / 2));
    let mut expected = [values(0), values(1)];
    let mut staging = Staging::new(devices.to_vec());
    let mut expect = |from: usize, sent: Range<usize>| {
        let data = expected[from][sent.clone()].to_vec();
        expected[1 - from][sent].copy_from_slice(&data);
    };
    staging.run(&exchange(rows, [5..9, 11..11], 0)).unwrap();
    expect(0, 5..9);
    staging.run(&exchange(planes, [7..1_000_007, ROWS / 2 - 3..ROWS / 2], 0)).unwrap();
    for start in [0, ROWS / 2] {
        expect(0, start + 7..start + 1_000_007);
        expect(1, start + ROWS / 2 - 3..start + ROWS / 2);
    }
    // An exchange that has begun may be abandoned.
    let large = exchange(rows, [0..1_000_000, 1_000_000..ROWS], 1);
    staging.begin(&exchange(rows, [0..ROWS, 0..9], 0)).unwrap();
    staging.begin(&large).unwrap();
    staging.finish(&large).unwrap();
    expect(0, 0..999_999);
    expect(1, 1_000_000..ROWS - 1);
    // After a failed call, an exchange may be repeated.
    let others = exchange(rows, [ROWS - 700_000..ROWS, 0..1_500_000], 0);
    for (call, nth, of) in [(Call::Read, 2, 1), (Call::Wait, 2, 1), (Call::Flush, 1, 0), (Call::Write, 2, 0)]
    {
        devices[of].inject(call, nth, InjectedFault::Refused);
        assert!(staging.run(&others).is_err(), "{call:?}");
        staging.run(&others).unwrap();
    }
    expect(0, ROWS - 700_000..ROWS);
    expect(1, 0..1_500_000);
    for of in [0, 1] {
        let actual = buffers[of].read().unwrap();
        let wrong = actual.iter().zip(&expected[of]).position(|(actual, expected)| actual != expected);
        assert_eq!(wrong, None, "first wrong row of device {of}");
    }
}

#[test]
fn exchanged_rows_arrive_on_cpus() {
    rows_arrive([own_cpu(), own_cpu()]);
}

#[test]
fn exchanged_rows_arrive_on_gpus() {
    let Some(gpu) = gpu() else { return };
    let gpus = of_kind(DeviceKind::Gpu);
    rows_arrive([gpu, gpus.into_iter().last().unwrap().open().unwrap()]);
}

/// If a compiler rejects a build option, the kernel is built without the option.
#[test]
fn build_options_rejected_by_the_compiler_are_omitted() {
    let device = own_cpu();
    let source = |text| KernelSource { file: "set.cl", text };
    let set = source("__kernel void set(__global float *x) { x[get_global_id(0)] = 3.0f; }");
    device.inject(Call::Build, 1, InjectedFault::Options);
    let kernel = Program::build(&device, &[set], &[]).unwrap().kernel("set").unwrap();
    let x = Buffer::<f32>::zeroed(&device, 64).unwrap();
    let mut lane = Lane::new(&device);
    lane.whole(Pass::cheap(&kernel, &[(&x).into()], 64)).unwrap();
    lane.finish().unwrap();
    assert_eq!(x.read().unwrap(), [3.0; 64]);
    // Errors in the program's source are still reported.
    let wrong = source("__kernel void set(__global float *x) { x[0] = nothing; }");
    device.inject(Call::Build, 1, InjectedFault::Options);
    let error = Program::build(&device, &[wrong], &[]).unwrap_err().to_string();
    assert!(error.contains("set.cl:1") && error.contains("nothing"), "{error}");
}
