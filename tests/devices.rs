//! Several devices step as one: the same bodies, however many share them, and whatever fails on the way.

mod support;

use std::process::Command;

use gravitile::bodies::{Bodies, Points};
use gravitile::compute::{self, Devices};
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::modes::{Together, find};
use gravitile::params;

/// Set for a process whose driver shows several CPU devices.
const INSIDE: &str = "GRAVITILE_SEVERAL";

/// Runs the test `test` of this file again in a process to which PoCL shows `count` devices.
fn with_devices(test: &str, count: usize) {
    eprintln!("{test}: {count} devices");
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test, "--nocapture"])
        .env("POCL_DEVICES", vec!["pthread"; count].join(" "))
        .env(INSIDE, count.to_string())
        // However few bodies there are.
        .env("GRAVITILE_SHARE", "always")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "with {count} devices:\n{text}");
    eprint!("{text}");
}

/// How many devices PoCL was told to show to this process.
fn inside() -> Option<usize> {
    std::env::var(INSIDE).ok().map(|count| count.parse().unwrap())
}

/// All CPU devices, or parts of one.
fn devices(wanted: &str) -> Devices {
    Devices::all(compute::select_several(wanted).unwrap()).unwrap()
}

/// The bodies after `steps` steps, in bursts of odd lengths.
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

/// √(Σ|a − b|² / Σ|b − start|²) over places: relative to how far the bodies went.
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

/// Every variant of a mode that can be shared, with a number of bodies that no number of devices divides.
fn same_bodies(mode: &str, scene: &str, bodies: usize, wanted: &str, count: usize) {
    let info = find(mode).unwrap();
    for variant in info.variants {
        let mut config = Config::new(info);
        config.select_scene(info.scene(scene).unwrap());
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

/// Every variant of the fluid, on a grid whose rows no number of devices divides: bit for bit the same.
fn same_flow(scene: &str, wanted: &str, count: usize) {
    let info = find("fluid").unwrap();
    for variant in info.variants {
        let mut config = Config::new(info);
        config.select_scene(info.scene(scene).unwrap());
        (config.bodies, config.variant) = (Some(70 * 33), Some(variant));
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
        assert!(one.cells == several.cells, "fluid {} on {count} devices: other cells", variant.name);
        assert!(*picture.image.values == *points.image.values, "fluid {}: another picture", variant.name);
        // Where a burst is cut the push of the next step is not yet seen, so where there is one tracers may differ by
        // what it makes of a step.
        let is_near = |(a, b): (&[f32; 2], &[f32; 2])| (a[0] - b[0]).hypot(a[1] - b[1]) < 0.3;
        let near = one.tracers.iter().zip(&several.tracers).filter(|pair| is_near(*pair)).count();
        match scene {
            "cylinder" => assert_eq!(one.tracers, several.tracers, "fluid {} on {count} devices", variant.name),
            _ => assert!(near >= 490, "fluid {}: {near} of 500 tracers are where they should be", variant.name),
        }
        assert_eq!(told.len(), retold.len());
        for (a, b) in told.iter().zip(&retold) {
            assert!((a - b).abs() <= 1e-6 * a.abs(), "fluid {}: mean speed {a} or {b}", variant.name);
        }
        eprintln!("fluid {scene} {} on {count}: the same", variant.name);
    }
}

#[test]
fn parts_of_a_cpu_step_the_same_bodies() {
    match inside() {
        Some(_) => {
            same_bodies("gravity", "plummer", 1001, "sub:2", 2);
            same_bodies("asteroids", "belt", 1001, "sub:2", 2);
            same_flow("cylinder", "sub:2", 2);
        }
        None => with_devices("parts_of_a_cpu_step_the_same_bodies", 1),
    }
}

#[test]
fn several_devices_step_the_same_bodies() {
    match inside() {
        Some(count) => {
            same_bodies("gravity", "plummer", 1001, "all", count);
            same_bodies("asteroids", "clouds", 1001, "all", count);
            same_flow("box-wall", "all", count);
            same_flow("cylinder", "all", count);
        }
        None => [2, 3, 4].into_iter().for_each(|count| with_devices("several_devices_step_the_same_bodies", count)),
    }
}
