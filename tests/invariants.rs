//! What the physics promises, on the device.

mod support;

use std::f64::consts::PI;
use std::sync::Arc;

use gravitile::bodies::Bodies;
use gravitile::compute::Device;
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::modes::MODES;
use gravitile::params;
use gravitile::scene::Scene;
use gravitile::state::{Matter, State};
use support::{cpu, distance, engine, gravity, scene};

const TIGHT: (&str, &str) = ("eps", "1e-5");

/// Where the f64 reference says that bodies are after some steps.
fn reference(config: &Config, start: &Bodies, steps: u32) -> Bodies<f64> {
    let mut state = State::from(start.to_f64());
    config.mode.reference(&mut state, steps).unwrap();
    state.into_bodies().unwrap()
}

fn loaded(bodies: Bodies, set: &[(&str, &str)]) -> Config {
    let mut config = scene("plummer", None, set);
    config.start = Scene::of_bodies("test", bodies);
    config
}

/// `(slope, mean)` of the least-squares line through equally spaced values, the slope per whole length.
fn trend(values: &[f64]) -> (f64, f64) {
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let at = |i: usize| i as f64 / (n - 1.0) - 0.5;
    let slope = values.iter().enumerate().map(|(i, v)| at(i) * (v - mean)).sum::<f64>()
        / (0..values.len()).map(|i| at(i).powi(2)).sum::<f64>();
    (slope, mean)
}

#[test]
fn a_circular_orbit_keeps_its_energy_over_100_periods() {
    let steps_per_period = 400;
    let dt = 2.0 * PI / f64::from(steps_per_period);
    let mut engine = engine(scene("two-body", None, &[("dt", &dt.to_string()), TIGHT]));
    let start = engine.diagnostics().unwrap().0.energy();
    let energies: Vec<f64> = (0..100)
        .map(|_| {
            engine.run(steps_per_period, |_| ()).unwrap();
            engine.diagnostics().unwrap().0.energy()
        })
        .collect();
    let worst = energies.iter().map(|e| (e / start - 1.0).abs()).fold(0.0, f64::max);
    let (slope, mean) = trend(&energies);
    eprintln!("two-body: energy {start:.6}, worst drift {worst:.2e}, trend {:.2e}", slope / mean);
    assert!(worst < 1e-4, "energy drifts by {worst:.2e}");
    assert!((slope / mean).abs() < 2e-5, "the energy has a trend of {:.2e}", slope / mean);
}

#[test]
fn the_figure_eight_returns_after_its_period() {
    let steps = 4000;
    let dt = 6.32591398 / f64::from(steps);
    let mut engine = engine(scene("figure-eight", None, &[("dt", &dt.to_string()), TIGHT]));
    let start = engine.bodies().unwrap();
    engine.run(steps / 3, |_| ()).unwrap();
    let moved = distance(&engine.bodies().unwrap(), &start.to_f64());
    engine.run(steps - steps / 3, |_| ()).unwrap();
    let missed = distance(&engine.bodies().unwrap(), &start.to_f64());
    eprintln!("figure-eight: after a third {moved:.3} away, after all {missed:.2e}");
    assert!(moved > 0.5 && missed < 1e-3, "it moved by {moved} and missed its start by {missed:.2e}");
}

/// The error of the places at t = 1 against a f64 leapfrog of much smaller steps.
fn error(integrator: &str, steps: u32) -> f64 {
    let set = [("eps", "0.2"), ("integrator", "leapfrog"), ("dt", "5e-4")];
    let config = scene("cold-sphere", Some(48), &set);
    let end = reference(&config, &engine(config.clone()).bodies().unwrap(), 2000);
    let dt = (1.0 / f64::from(steps)).to_string();
    let mut engine =
        engine(scene("cold-sphere", Some(48), &[("eps", "0.2"), ("integrator", integrator), ("dt", &dt)]));
    engine.run(steps, |_| ()).unwrap();
    distance(&engine.bodies().unwrap(), &end)
}

#[test]
fn halving_the_step_shows_the_order_of_the_integrator() {
    for (integrator, expected, tolerance) in [("leapfrog", 4.0, 0.5), ("euler", 2.0, 0.3)] {
        let ratio = error(integrator, 32) / error(integrator, 64);
        eprintln!("{integrator}: halving dt divides the error by {ratio:.3}");
        assert!((ratio - expected).abs() < tolerance, "{integrator}: {ratio}");
    }
}

#[test]
fn momentum_stays() {
    for variant in gravity().variants {
        let mut config = scene("plummer", Some(1000), &[]);
        config.variant = Some(variant);
        let mut engine = engine(config);
        engine.run(100, |_| ()).unwrap();
        let sums = engine.diagnostics().unwrap().0;
        let momentum = sums.momentum.iter().map(|p| p * p).sum::<f64>().sqrt();
        eprintln!("{}: momentum {:.2e} of the scale", variant.name, momentum / sums.momentum_scale);
        assert!(
            sums.momentum_scale > 0.1 && momentum < 1e-5 * sums.momentum_scale,
            "{}: {sums:?}",
            variant.name
        );
    }
}

#[test]
fn a_plummer_sphere_stays_in_balance() {
    // A dynamical time in these units (G = M = 1, E = −1/4) is the crossing time 2√2.
    let (dt, times) = (0.01, 10);
    let mut engine = engine(scene("plummer", Some(1024), &[("dt", &dt.to_string()), ("eps", "0.02")]));
    for _ in 0..times {
        engine.run((2.0 * 2f64.sqrt() / dt) as u32, |_| ()).unwrap();
        let sums = engine.diagnostics().unwrap().0;
        let ratio = 2.0 * sums.kinetic / sums.potential.abs();
        eprintln!("plummer: t = {:.1}, 2T/|V| = {ratio:.3}", engine.clock().1);
        assert!((ratio - 1.0).abs() < 0.1, "2T/|V| = {ratio}");
    }
}

/// The device's sums against the f64 ones, in every mode and combination of its options.
fn sums_agree(device: &Device) {
    for info in MODES {
        let scene = &info.scenes[0];
        for options in params::combinations(info.mode_for(scene).as_mut()) {
            for n in [1, 2, 777] {
                let mut config = Config::new(info);
                config.select_scene(scene);
                (config.bodies, config.variant) = (Some(n), info.variants.first());
                let more = (info.work.matter == Matter::Bodies).then_some(("g", "1.5"));
                for (key, value) in options.iter().copied().chain(more) {
                    params::set(config.mode.as_mut(), key, value).unwrap();
                }
                sums_agree_for(&mut Engine::new(device.clone(), config).unwrap());
            }
        }
    }
}

fn sums_agree_for(engine: &mut Engine) {
    engine.run(2, |_| ()).unwrap();
    let (sums, _) = engine.diagnostics().unwrap();
    let state = engine.state().unwrap().to_f64();
    let expected = engine.config().mode.reference_diagnostics(&state).unwrap();
    let close = |a: f64, b: f64, scale: f64| {
        assert!((a - b).abs() <= 2e-7 * scale + 1e-12, "{a} instead of {b}: {sums:?} {expected:?}");
    };
    close(sums.kinetic, expected.kinetic, expected.kinetic);
    close(sums.potential, expected.potential, expected.potential.abs());
    close(sums.momentum_scale, expected.momentum_scale, expected.momentum_scale);
    for k in 0..3 {
        close(sums.momentum[k], expected.momentum[k], expected.momentum_scale);
        close(sums.angular_momentum[k], expected.angular_momentum[k], 2.0 * expected.momentum_scale);
    }
}

#[test]
fn energy_and_momentum_agree_with_the_reference() {
    let device = cpu();
    sums_agree(&device);
    let mut single = device.clone();
    single.info = Arc::new(gravitile::compute::DeviceInfo { fp64: false, ..(*device.info).clone() });
    sums_agree(&single);
    if let Some(gpu) = support::gpu() {
        sums_agree(&gpu);
    }
}

#[test]
fn how_a_run_is_cut_changes_no_bit() {
    for integrator in ["leapfrog", "euler", "taylor"] {
        let config = || scene("plummer", Some(300), &[("integrator", integrator)]);
        let (mut whole, mut cut) = (engine(config()), engine(config()));
        whole.run(12, |_| ()).unwrap();
        for steps in [0, 1, 4, 0, 7] {
            cut.run(steps, |_| ()).unwrap();
        }
        assert_eq!(whole.state().unwrap(), cut.state().unwrap(), "{integrator}");
        assert_eq!(whole.clock().0, cut.clock().0);
    }
}

#[test]
fn a_step_cut_into_slices_agrees_with_the_reference() {
    let config = scene("cube", Some(6000), &[("dt", "0.05")]);
    let start = engine(config.clone()).bodies().unwrap();
    let end = reference(&config, &start, 1);
    for variant in gravity().variants {
        // A lane that has not yet learnt its speed cuts so many pairs into several slices (tests/lane.rs).
        let mut engine = engine(Config { variant: Some(variant), ..config.clone() });
        engine.run(1, |_| ()).unwrap();
        let bodies = engine.bodies().unwrap();
        let (effect, error) = (speeds(&end, &start.to_f64()), speeds(&bodies.to_f64(), &end));
        assert!(effect > 1e-3 && error < 1e-4 * effect, "{}: {error} of {effect}", variant.name);
    }
}

/// How far apart the velocities are, over all bodies that have finite ones.
fn speeds(a: &Bodies<f64>, b: &Bodies<f64>) -> f64 {
    let rows = a.velocities.iter().zip(&b.velocities).filter(|(a, b)| a[0].is_finite() && b[0].is_finite());
    rows.map(|(a, b)| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>()).sum::<f64>().sqrt()
}

#[test]
fn bodies_that_stop_being_finite_are_held_out_and_spread_nothing() {
    let mut bodies = scene_bodies(200);
    // A heavy one that leaves all bounds after some steps, and one that has no velocity to begin with.
    (bodies.positions[17], bodies.velocities[17]) = ([0.0, 0.0, 0.0, 0.5], [3e17, 0.0, 0.0, 0.0]);
    bodies.velocities[150] = [f32::NAN, 0.0, 0.0, 0.0];
    let config = loaded(bodies.clone(), &[("dt", "0.1")]);
    let expected = reference(&config, &bodies, 60);
    assert_eq!(expected.velocities.iter().filter(|v| !v[0].is_finite()).count(), 2);
    for variant in gravity().variants {
        let mut engine = engine(Config { variant: Some(variant), ..config.clone() });
        engine.run(20, |_| ()).unwrap();
        assert_eq!(engine.bodies().unwrap().nonfinite(), 1, "{}", variant.name);
        engine.run(40, |_| ()).unwrap();
        let (end, sums) = (engine.bodies().unwrap(), engine.diagnostics().unwrap().0);
        assert_eq!((sums.nonfinite, end.nonfinite()), (2, 2), "{}", variant.name);
        assert!(sums.energy().is_finite() && end.positions.iter().flatten().all(|x| x.is_finite()));
        assert_eq!([17, 150].map(|i| end.positions[i][3]), [0.0; 2], "{}", variant.name);
        let (effect, error) = (speeds(&expected, &bodies.to_f64()), speeds(&end.to_f64(), &expected));
        assert!(effect > 1.0 && error < 1e-2 * effect, "{}: {error} of {effect}", variant.name);
    }
}

fn scene_bodies(n: usize) -> Bodies {
    engine(scene("plummer", Some(n), &[])).bodies().unwrap()
}

#[test]
fn coincident_bodies_stay_finite() {
    let mut bodies = Bodies::default();
    for _ in 0..5 {
        bodies.push([0.5, 0.5, 0.5], [0.0; 3], 1.0);
    }
    for softening in ["plummer", "clamp"] {
        let mut engine = engine(loaded(bodies.clone(), &[TIGHT, ("softening", softening)]));
        engine.run(10, |_| ()).unwrap();
        assert_eq!(engine.bodies().unwrap().positions, bodies.positions);
    }
}

#[test]
fn decay_and_flat_do_what_they_say() {
    let mut engine = engine(scene("plummer", Some(100), &[("g", "0"), ("decay", "0.9"), ("flat", "true")]));
    let start = engine.bodies().unwrap();
    engine.run(5, |_| ()).unwrap();
    let end = engine.bodies().unwrap();
    assert!(start.positions.iter().any(|x| x[2].abs() > 0.1));
    assert!(end.positions.iter().all(|x| x[2] == 0.0) && end.velocities.iter().all(|v| v[2] == 0.0));
    for (before, after) in start.velocities.iter().zip(&end.velocities) {
        assert!((after[0] - before[0] * 0.9f32.powi(5)).abs() < 1e-6);
    }
}
