//! Snapshots: what is resumed goes on as if it had never stopped.

mod support;

use gravitile::bodies::Bodies;
use gravitile::config::Config;
use gravitile::engine::Engine;
use gravitile::modes::{MODES, ModeInfo, Variant};
use gravitile::params;
use gravitile::scene::Scene;
use gravitile::snapshot::Snapshot;
use gravitile::state::{Matter, State};
use gravitile::tuned::Tuned;
use support::{cpu, engine};

/// Steps of the bursts before and after: tracers move on every 16.
const BURSTS: [u32; 2] = [5, 19];

/// What steps take different paths by.
fn options(info: &ModeInfo) -> &'static [&'static [(&'static str, &'static str)]] {
    match info.name {
        "gravity" => &[
            &[("integrator", "leapfrog")],
            &[("integrator", "euler")],
            &[("integrator", "taylor"), ("softening", "clamp")],
            &[("integrator", "leapfrog"), ("decay", "0.99"), ("flat", "true")],
        ],
        "asteroids" => &[&[], &[("colour", "hit")]],
        "fluid" => &[&[("drive", "force")], &[("drive", "row")], &[("drive", "inlet")]],
        name => panic!("{name} has no options here"),
    }
}

fn config(info: &'static ModeInfo, variant: &'static Variant, options: &[(&str, &str)]) -> Config {
    let mut config = Config::new(info);
    if let Some(scene) = info.scene("porous").or(info.scene("box")) {
        config.select_scene(scene);
    }
    (config.variant, config.bodies, config.seed) = (Some(variant), Some(700), 3);
    for (key, value) in options {
        params::set(config.mode.as_mut(), key, value).unwrap();
    }
    if info.work.matter == Matter::Bodies {
        // One is held out from the start, one leaves all bounds on the way, and one alone has another mass.
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

/// All numbers of a state, to the last bit.
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

/// What there is, and what is seen of it.
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
fn every_variant_goes_on_as_if_it_had_never_stopped() {
    for info in MODES {
        for variant in info.variants {
            for options in options(info) {
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
                // From the start again: the scene is in the snapshot too.
                for engine in [&mut steady, &mut resumed] {
                    engine.restart().unwrap();
                    engine.run(1, |_| ()).unwrap();
                }
                assert!(look(&mut steady) == look(&mut resumed), "{what}: it starts anew");
            }
        }
    }
}
