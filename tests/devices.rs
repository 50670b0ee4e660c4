//! Several devices step as one: the same bodies, however many share them, and whatever fails on the way.

mod support;

use std::process::Command;

use gravitile::bodies::Bodies;
use gravitile::compute::{self, Devices};
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::modes::{Together, find};

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

#[test]
fn parts_of_a_cpu_step_the_same_bodies() {
    match inside() {
        Some(_) => {
            same_bodies("gravity", "plummer", 1001, "sub:2", 2);
            same_bodies("asteroids", "belt", 1001, "sub:2", 2);
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
        }
        None => [2, 3, 4].into_iter().for_each(|count| with_devices("several_devices_step_the_same_bodies", count)),
    }
}
