//! Tests the live accuracy check: it detects wrong kernels, reports nothing if there are no forces, and does not change
//! the simulation.

use std::sync::Arc;

use crate::support::{engine, gravity, mistaken, scene};
use gravitile::base::bodies::{Bodies, Points};
use gravitile::base::params::{self, combinations};
use gravitile::base::state::Matter;
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::modes::accuracy::{Judged, SAMPLE, TOLERANCE, relative_error};
use gravitile::modes::asteroids::block;
use gravitile::modes::{BodyErrors, MODES, ModeInfo};
use gravitile::scene::Scene;

/// Compares evenly spaced bodies or cells with the f64 reference. The sample is the same in every run of a test.
fn sample(engine: &mut Engine) -> Option<Vec<Judged>> {
    let (all, count) = (engine.size(), engine.size().min(SAMPLE));
    let chosen = (0..count).map(|nth| nth * all / count).collect();
    engine.sample(chosen).unwrap().map(Iterator::collect)
}

fn error(engine: &mut Engine) -> Option<f64> {
    sample(engine).and_then(relative_error)
}

fn matter(engine: &Engine) -> Matter {
    engine.config().mode.info().work.matter
}

/// Returns a configuration in which every body moves in its own way.
fn stirred(info: &'static ModeInfo, scene: &Arc<Scene>, options: &[(&str, &str)]) -> Config {
    let mut config = Config { bodies: Some(600), ..Config::new(info) };
    config.select_scene(scene);
    for (key, value) in options {
        params::set(config.mode.as_mut(), key, value).unwrap();
    }
    if info.work.matter == Matter::Flow {
        // In a flow, every cell already moves in its own way.
        return config;
    }
    let mut bodies = engine(config.clone()).bodies().unwrap();
    for (i, v) in bodies.velocities.iter_mut().enumerate() {
        v[i % 3] += 0.1 + 0.01 * (i % 7) as f32;
    }
    Config { start: Scene::of_bodies(&scene.name, bodies), ..config }
}

/// Returns scenes of a mode that together use all of its physics.
fn scenes(info: &'static ModeInfo) -> Vec<Arc<Scene>> {
    let of = |name| info.scene(name).unwrap().clone();
    match info.name {
        "gravity" => vec![of("galaxy")],
        "asteroids" => vec![of("belt"), block().unwrap().into()],
        "fluid" => vec![of("porous")],
        name => panic!("{name} has no scenes here"),
    }
}

/// Returns configurations of a mode. If `all` is true: all variants with all combinations of the mode's options in each
/// scene. Otherwise: a few, in which each variant occurs once in each scene, with different options.
fn configs(info: &'static ModeInfo, all: bool) -> Vec<Config> {
    let mut configs = Vec::new();
    for scene in scenes(info) {
        let combinations = combinations(info.mode_for(&scene).as_mut());
        let (rows, columns) = (combinations.len(), info.variants.len());
        let pairs: Vec<_> = match all {
            true => (0..rows * columns).map(|nth| (nth / columns, nth % columns)).collect(),
            false => (0..columns).map(|nth| (nth * rows / columns, nth)).collect(),
        };
        for (row, column) in pairs {
            let variant = Some(&info.variants[column]);
            configs.push(Config { variant, ..stirred(info, &scene, &combinations[row]) });
        }
    }
    configs
}

#[test]
fn correct_kernels_are_accurate_and_measuring_the_error_changes_nothing() {
    are_accurate(false);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn correct_kernels_are_accurate_with_every_combination_of_options() {
    are_accurate(true);
}

fn are_accurate(all: bool) {
    for config in MODES.iter().flat_map(|info| configs(info, all)) {
        let name = || format!("{:?} {}", config.mode, config.variant.unwrap().name);
        let (mut watched, mut alone) = (engine(config.clone()), engine(config.clone()));
        assert!(sample(&mut watched).is_none(), "{}: before the first step", name());
        for steps in [1, 3, 2] {
            watched.run(steps, |_| ()).unwrap();
            alone.run(steps, |_| ()).unwrap();
            let told = sample(&mut watched).unwrap().len();
            // A flow's sample contains two values for each chosen cell that is free.
            let of_grid = matter(&watched) == Matter::Flow;
            // Asteroids are left out of the sample if rounding decides whether they touch.
            let is_right = match watched.config().mode.info().name {
                "asteroids" => (SAMPLE * 9 / 10..=SAMPLE).contains(&told),
                _ => told == SAMPLE || (of_grid && told > SAMPLE && told < 2 * SAMPLE),
            };
            assert!(is_right, "{}: {told}", name());
            // The error is relative to the change in the step, so it is known only if something changes.
            let error = error(&mut watched).unwrap();
            assert!(error < config.variant.unwrap().tolerance, "{}: {error}", name());
        }
        assert!(watched.state().unwrap() == alone.state().unwrap(), "{}", name());
    }
}

#[test]
fn faulty_kernels_exceed_the_error_tolerance() {
    let asteroids = &gravitile::modes::asteroids::INFO;
    let fluid = &gravitile::modes::fluid::INFO;
    let mistakes: [(&'static ModeInfo, _, _, _); 12] = [
        (fluid, "split", "settle(&cell, 0, c, &speed)", "settle(&cell, 0, 0.5f * c, &speed)"),
        (fluid, "soa", "SOLID(solid + single(&g, p.x, p.y))", "1"),
        (fluid, "vector", "pull(&cell, &g, f_in, p.x, p.y, c)", "get(&cell, &g, f_in, p.x, p.y)"),
        (gravity(), "naive", "j < n", "j + 10 < n"),
        (gravity(), "private", "x_in[j], eps2", "x_in[j], eps2 * 1.01f"),
        (gravity(), "tiled", "start < n", "start + WORK_GROUP <= n"),
        (gravity(), "unrolled", "PULL(k + 7)", "PULL(k + 6)"),
        (gravity(), "vector", "other, eps2)", "other, eps2 * 1.01f)"),
        (gravity(), "blocked", "other, soft2)", "other, soft2 * 1.01f)"),
        (gravity(), "mutual", "dz, eps2)", "dz, eps2 * 1.01f)"),
        (asteroids, "naive", "j != i", "j > i"),
        (asteroids, "grid", "nth < touched", "nth + 1 < touched"),
    ];
    for (info, name, right, wrong) in mistakes {
        let variant = Some(mistaken(info, name, right, wrong));
        let mut engine = engine(Config { variant, ..stirred(info, scenes(info).last().unwrap(), &[]) });
        engine.run(5, |_| ()).unwrap();
        let error = error(&mut engine).unwrap();
        assert!(error > TOLERANCE, "{wrong} in {name}: {error}");
    }
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn mutual_tiles_that_share_memory_give_correct_sums() {
    // The number of blocks, and so of distances between blocks, exceeds what can run at once; it is once even and once
    // odd.
    for bodies in [128 * 132, 128 * 133 - 5] {
        let mistakes = [("|| distance >= depth", ""), ("if (distance >= depth)", "if (false)")];
        let wrong = mistakes.map(|(right, wrong)| mistaken(gravity(), "mutual", right, wrong));
        let right = gravity().variant("mutual").unwrap();
        for (variant, lanes) in [(right, 16), (wrong[0], 16), (wrong[1], 16), (right, 1), (wrong[0], 1)] {
            // A tile is computed by a work-group (16 lanes) or by a single work-item.
            let work_group = Some(if lanes == 1 { 32 } else { 2 });
            let knobs = [("block", 128), ("lanes", lanes)].into();
            let start = scene("plummer", Some(bodies), &[]);
            let mut engine = engine(Config { variant: Some(variant), work_group, knobs, ..start });
            engine.run(1, |_| ()).unwrap();
            let error = error(&mut engine).unwrap();
            assert_eq!(error < TOLERANCE, variant == right, "{bodies} bodies, {lanes} lanes: {error}");
        }
    }
}

#[test]
fn no_force_error_is_reported_where_no_force_acts() {
    let lone = Bodies { positions: vec![[0.1, 0.2, 0.3, 1.0]], velocities: vec![[0.0; 4]] };
    let lone = Scene::of_bodies("one", lone);
    let weightless = scene("plummer", Some(100), &[("g", "0")]);
    for config in [Config { start: lone, ..Config::new(gravity()) }, weightless] {
        let mut engine = engine(config);
        engine.run(2, |_| ()).unwrap();
        assert_eq!((sample(&mut engine).is_some(), error(&mut engine)), (true, None));
    }
}

#[test]
fn results_computed_with_other_parameters_are_not_compared_with_the_reference() {
    for info in MODES {
        let mut engine = engine(Config { bodies: Some(100), ..Config::new(info) });
        engine.run(2, |_| ()).unwrap();
        for variant in [None, Some(&info.variants[0])] {
            let mut config = Config { variant, ..engine.config().clone() };
            let key = if info.work.matter == Matter::Bodies { "g" } else { "omega" };
            params::set(config.mode.as_mut(), key, if variant.is_some() { "1.2" } else { "1.3" }).unwrap();
            engine.configure(config).unwrap();
            assert!(sample(&mut engine).is_none());
            engine.start(0);
            assert!(sample(&mut engine).is_none());
            engine.run(1, |_| ()).unwrap();
            assert!(error(&mut engine).unwrap() < TOLERANCE);
        }
    }
}

#[test]
fn excluded_bodies_do_not_affect_the_measured_error() {
    for info in MODES.iter().filter(|info| info.work.matter == Matter::Bodies) {
        let config = Config { bodies: Some(200), ..Config::new(info) };
        let mut bodies = engine(config.clone()).bodies().unwrap();
        bodies.velocities[5] = [f32::NAN; 4];
        // This body leaves the range of valid positions during the run.
        (bodies.positions[9][0], bodies.velocities[9]) = (9.99e17, [9e17, 0.0, 0.0, 0.0]);
        let start = Scene::of_bodies("held out", bodies);
        let config = Config { start, ..config };
        for variant in info.variants {
            let mut engine = engine(Config { variant: Some(variant), ..config.clone() });
            for _ in 0..6 {
                engine.run(1, |_| ()).unwrap();
                let error = error(&mut engine).unwrap();
                assert!(error < variant.tolerance, "{} {}: {error}", info.name, variant.name);
            }
            assert_eq!(engine.bodies().unwrap().nonfinite(), 2);
        }
    }
}

/// Returns the logarithm of each body's relative force error: of the accelerations in a snapshot, relative to
/// independent sums in double precision over the bodies. The scene has G = 1 and Plummer softening.
fn own_errors(engine: &mut Engine, eps: f64) -> Vec<f64> {
    let snapshot = engine.snapshot().unwrap();
    let computed = snapshot.runs[0].extra["acceleration"].as_chunks::<4>().0;
    let at: Vec<[f64; 4]> = engine.bodies().unwrap().positions.iter().map(|x| x.map(f64::from)).collect();
    let error = |(i, computed): (usize, &[f32; 4])| {
        let mut right = [0.0; 3];
        for other in &at {
            let d: [f64; 3] = std::array::from_fn(|k| other[k] - at[i][k]);
            let r2 = d.iter().map(|c| c * c).sum::<f64>() + eps * eps;
            (0..3).for_each(|k| right[k] += other[3] * d[k] / (r2 * r2.sqrt()));
        }
        let square = |of: &dyn Fn(usize) -> f64| (0..3).map(|k| of(k).powi(2)).sum::<f64>();
        let off = square(&|k| f64::from(computed[k]) - right[k]);
        (off / square(&|k| right[k])).sqrt().log10()
    };
    computed.iter().enumerate().map(error).collect()
}

#[test]
fn the_colour_error_is_the_relative_error_of_each_force() {
    const BODIES: usize = 3000;
    for (variant, opening, range) in
        [("tree", "0.1", 1e-3..0.2), ("tree", "0.0001", 1e-7..1e-4), ("mutual", "0.1", 2e-8..1e-6)]
    {
        let set = [("colour", "error"), ("opening", opening), ("eps", "0.05")];
        let config = scene("plummer", Some(BODIES), &set);
        let mut engine = engine(Config { variant: gravity().variant(variant), ..config });
        let mut errors = BodyErrors::default();
        engine.run(3, |_| ()).unwrap();
        // After two choices of a third of the bodies each, a third of the bodies has no colour yet.
        let chosen = [errors.choose(BODIES, BODIES / 3), errors.choose(BODIES, BODIES / 3)].concat();
        let sample: Vec<_> = engine.sample(chosen.clone()).unwrap().unwrap().collect();
        errors.note(&sample);
        let (mut points, _) = engine.publish(Points::default()).unwrap().wait().unwrap();
        errors.colour(&mut points);
        assert_eq!(points.measured, Some(2 * BODIES / 3), "{variant}");
        let right = own_errors(&mut engine, 0.05_f32.into());
        for (body, (shown, right)) in points.values.iter().zip(&right).enumerate() {
            let is_close = (f64::from(*shown) - right).abs() < 1e-3;
            let is_right = if chosen.contains(&body) { is_close } else { *shown == Points::UNMEASURED };
            assert!(is_right, "{variant}, {opening}, body {body}: {shown} for {right}");
        }
        let mut measured: Vec<_> = points.values.iter().filter(|v| **v != Points::UNMEASURED).collect();
        measured.sort_by(|a, b| a.total_cmp(b));
        let median = 10f64.powf((*measured[measured.len() / 2]).into());
        assert!(range.contains(&median), "{variant}, {opening}: a median of {median:.1e}");
        let [low, high] = points.value_range().map(f64::from);
        assert!(low.fract() == 0.0 && low < median.log10() && median.log10() < high, "{low} to {high}");
    }
}
