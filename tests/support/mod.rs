//! Helper functions that several tests share.
#![allow(dead_code, reason = "each test binary uses a part of it")]

#[cfg(feature = "mpi")]
pub(crate) mod mpi;
pub(crate) mod oclgrind;
pub(crate) mod odd;
pub(crate) mod watched;
pub(crate) mod wayland;
pub(crate) mod window;

use std::process::{Command, Output};
use std::sync::LazyLock;

use gravitile::base::bodies::Bodies;
use gravitile::base::params;
use gravitile::compute::{self, Device, DeviceKind};
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::modes::{self, ModeInfo, Recipe, Variant};

/// Returns the CPU device that `scripts/setup` installs. Tests need this device.
///
/// All tests of a process share the device, so that each program is compiled once. A test that edits kernels, injects
/// faults or records launches needs its own: [`own_cpu`].
pub(crate) fn cpu() -> Device {
    static SHARED: LazyLock<Device> = LazyLock::new(own_cpu);
    SHARED.clone()
}

/// Opens the CPU device for one test alone.
pub(crate) fn own_cpu() -> Device {
    open(DeviceKind::Cpu).expect("no OpenCL CPU device: scripts/setup installs PoCL")
}

/// Returns a GPU, if there is one. Otherwise prints a note, or fails if `GRAVITILE_REQUIRE_GPU=1` is set.
pub(crate) fn gpu() -> Option<Device> {
    let device = open(DeviceKind::Gpu);
    if device.is_none() {
        assert!(
            std::env::var_os("GRAVITILE_REQUIRE_GPU").is_none_or(|v| v != "1"),
            "no GPU, but one is required"
        );
        eprintln!("SKIPPED on a GPU: there is none here");
    }
    device
}

fn open(kind: DeviceKind) -> Option<Device> {
    let found = compute::list().expect("no OpenCL device: scripts/setup installs PoCL");
    let found = found.into_iter().find(|device| device.info.kind == kind)?;
    Some(found.open().expect("the device opens"))
}

/// Returns a command that runs one test of this binary in a separate process. `module` is the caller's
/// `module_path!()`.
pub(crate) fn test_alone(module: &str, test: &str) -> Command {
    let (_, module) = module.split_once("::").expect("tests stand in modules");
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        &format!("{module}::{test}"),
        "--include-ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    command
}

/// Checks that a process of [`test_alone`] ran its test and that the test passed.
pub(crate) fn check_passed(output: &Output, context: &str) {
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let has_run = stdout.contains("1 passed");
    assert!(output.status.success() && has_run, "{context}: {}\n{stdout}\n{stderr}", output.status);
}

pub(crate) fn gravity() -> &'static ModeInfo {
    modes::find("gravity").expect("there is gravity")
}

/// Returns kernel settings for a variant: 64 work-items per work-group, and defaults for a CPU.
pub(crate) fn recipe(variant: &'static Variant) -> Recipe {
    Recipe::guess(variant, &cpu().info, 4096).with_work_group(64)
}

/// Returns the configuration of a built-in scene with the parameters in `set`.
pub(crate) fn scene(name: &str, bodies: Option<usize>, set: &[(&str, &str)]) -> Config {
    let found = modes::MODES.iter().find_map(|info| Some((info, info.scene(name)?)));
    let (info, scene) = found.expect("the scene exists");
    let mut config = Config::new(info);
    config.select_scene(scene);
    config.bodies = bodies;
    for (key, value) in set {
        params::set(config.mode.as_mut(), key, value).expect("the parameter is valid");
    }
    config
}

pub(crate) fn engine(config: Config) -> Engine {
    Engine::new(cpu(), config).expect("the engine starts")
}

/// Starts a simulation on a device that no other test uses.
pub(crate) fn engine_on_own_cpu(config: Config) -> Engine {
    Engine::new(own_cpu(), config).expect("the engine starts")
}

/// Returns a copy of the variant `name` in whose source the text `right` is replaced by `wrong`.
pub(crate) fn mistaken(info: &ModeInfo, name: &str, right: &str, wrong: &str) -> &'static Variant {
    let variant = info.variant(name).unwrap();
    assert!(variant.source.contains(right), "{name} has no `{right}` any more");
    let source = Box::leak(variant.source.replacen(right, wrong, 1).into_boxed_str());
    Box::leak(Box::new(Variant { source, ..*variant }))
}

/// Returns the bodies in f64, including stored rounding errors if the mode stores any.
pub(crate) fn whole(engine: &mut Engine) -> Bodies<f64> {
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

/// Returns the RMS distance between two lists of positions.
pub(crate) fn distance(a: &Bodies, b: &Bodies<f64>) -> f64 {
    distance64(&a.to_f64(), b)
}

/// Returns the RMS distance between two lists of positions in double precision.
pub(crate) fn distance64(a: &Bodies<f64>, b: &Bodies<f64>) -> f64 {
    let squares = a
        .positions
        .iter()
        .zip(&b.positions)
        .map(|(a, b)| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>())
        .sum::<f64>();
    (squares / a.len() as f64).sqrt()
}
