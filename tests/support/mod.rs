//! What several tests need.
#![allow(dead_code)] // each test file is a crate of its own and uses some of it

pub mod odd;
pub mod watched;

use gravitile::bodies::Bodies;
use gravitile::compute::{self, Device, Kind};
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::modes::{self, ModeInfo, Recipe, Variant};
use gravitile::params;

/// The CPU device that `scripts/setup` installs. Tests do not run without one.
pub fn cpu() -> Device {
    open(Kind::Cpu).expect("no OpenCL CPU device: scripts/setup installs PoCL")
}

/// A GPU, if there is one. Without one the test says so loudly; with `GRAVITILE_REQUIRE_GPU=1` it fails.
pub fn gpu() -> Option<Device> {
    let device = open(Kind::Gpu);
    if device.is_none() {
        assert!(
            std::env::var_os("GRAVITILE_REQUIRE_GPU").is_none_or(|v| v != "1"),
            "no GPU, but one is required"
        );
        eprintln!("SKIPPED on a GPU: there is none here");
    }
    device
}

fn open(kind: Kind) -> Option<Device> {
    let found = compute::list().expect("no OpenCL device: scripts/setup installs PoCL");
    let found = found.into_iter().find(|device| device.info.kind == kind)?;
    Some(found.open().expect("the device opens"))
}

pub fn gravity() -> &'static ModeInfo {
    modes::find("gravity").expect("there is gravity")
}

/// A variant with 64 items to a work-group, the rest as guessed for a CPU.
pub fn recipe(variant: &'static Variant) -> Recipe {
    Recipe::guess(variant, &cpu().info, 4096).with_work_group(64)
}

/// A config of a scene of gravity with parameters set.
pub fn scene(name: &str, bodies: Option<usize>, set: &[(&str, &str)]) -> Config {
    let mut config = Config::new(gravity());
    config.select_scene(gravity().scene(name).expect("the scene exists"));
    config.bodies = bodies;
    for (key, value) in set {
        params::set(config.mode.as_mut(), key, value).expect("the parameter is valid");
    }
    config
}

pub fn engine(config: Config) -> Engine {
    Engine::new(cpu(), config).expect("the engine starts")
}

/// A variant like `name` with a mistake in it.
pub fn mistaken(info: &ModeInfo, name: &str, right: &str, wrong: &str) -> &'static Variant {
    let variant = info.variant(name).unwrap();
    assert!(variant.source.contains(right), "{name} has no `{right}` any more");
    let source = Box::leak(variant.source.replacen(right, wrong, 1).into_boxed_str());
    Box::leak(Box::new(Variant { source, ..*variant }))
}

/// The bodies with what rounding cut off, where that is carried.
pub fn whole(engine: &mut Engine) -> Bodies<f64> {
    let snapshot = engine.snapshot().unwrap();
    let mut bodies = engine.bodies().unwrap().to_f64();
    if let Some(low) = snapshot.runs[0].extra.get("low_parts") {
        assert_eq!(low.len(), 8 * bodies.len());
        let rows = bodies.positions.iter_mut().chain(&mut bodies.velocities);
        for (row, low) in rows.zip(low.chunks(4)) {
            row.iter_mut().zip(low).for_each(|(c, low)| *c += f64::from(*low));
        }
    }
    bodies
}

/// The RMS distance between two sets of places.
pub fn distance(a: &Bodies, b: &Bodies<f64>) -> f64 {
    distance64(&a.to_f64(), b)
}

/// The same of places in double precision.
pub fn distance64(a: &Bodies<f64>, b: &Bodies<f64>) -> f64 {
    let squares = a
        .positions
        .iter()
        .zip(&b.positions)
        .map(|(a, b)| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>())
        .sum::<f64>();
    (squares / a.len() as f64).sqrt()
}
