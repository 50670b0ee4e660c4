//! Tests every scene of every mode: the bodies are finite and centred, have the requested number, and are the same in
//! every version. The other files of this folder test the properties of each mode's scenes.

mod asteroids;
mod files;
mod gravity;

use std::sync::Arc;

use gravitile::base::bodies::Bodies;
use gravitile::base::params::{self, ParamValues};
use gravitile::base::state::Matter;
use gravitile::engine::config::Config;
use gravitile::modes::{self, ModeInfo};
use gravitile::scene::file::parse;
use gravitile::scene::{Scene, Setup};

fn all_scenes() -> impl Iterator<Item = (&'static ModeInfo, &'static Arc<Scene>)> {
    modes::MODES.iter().flat_map(|info| info.scenes.iter().map(move |scene| (*info, scene)))
}

/// Returns every scene that has bodies, with its mode.
fn every_scene() -> impl Iterator<Item = (&'static ModeInfo, &'static Arc<Scene>)> {
    all_scenes().filter(|(info, _)| info.work.matter == Matter::Bodies)
}

/// Returns the parameters of a scene, after the changes in `set`.
fn values(info: &ModeInfo, scene: &Scene, set: &[(&str, &str)]) -> ParamValues {
    let mut mode = info.mode_for(scene);
    for (key, value) in set {
        params::set(mode.as_mut(), key, value).unwrap();
    }
    mode.values()
}

fn make(scene: &Scene, bodies: usize, seed: u64, params: &ParamValues) -> Bodies {
    scene.generate(&Setup { bodies, seed, params }).into_bodies().unwrap()
}

/// Generates a scene with its own parameters, changed by `set`. Returns the bodies and the parameters.
fn scene(mode: &str, name: &str, bodies: usize, set: &[(&str, &str)]) -> (Bodies<f64>, ParamValues) {
    let info = modes::find(mode).unwrap();
    let scene = info.scene(name).unwrap();
    let values = values(info, scene, set);
    (make(scene, bodies, 1, &values).to_f64(), values)
}

/// Returns the FNV-1a hash of all numbers that affect the physics, with a zero in place of each body's group.
fn checksum(bodies: &Bodies) -> u64 {
    let velocities = bodies.velocities.iter().flat_map(|[x, y, z, _]| [*x, *y, *z, 0.0]);
    let numbers = bodies.positions.iter().flatten().copied().chain(velocities);
    let bytes = numbers.flat_map(|x| x.to_bits().to_le_bytes());
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}

#[test]
fn scene_parameters_are_valid() {
    for (info, scene) in all_scenes() {
        let mut mode = (info.default)();
        for (key, value) in &scene.params {
            let set = params::set(mode.as_mut(), key, value);
            assert_eq!(set, Ok(()), "{}: {key}={value}", scene.name);
        }
    }
}

#[test]
fn scene_names_are_unique() {
    for info in modes::MODES {
        for (i, scene) in info.scenes.iter().enumerate() {
            assert!(Arc::ptr_eq(info.scene(&scene.name).unwrap(), &info.scenes[i]), "{}", scene.name);
            assert!(!scene.summary.is_empty() && !scene.name.contains(' '), "{}", scene.name);
        }
    }
}

#[test]
fn scenes_of_any_size_are_finite_and_at_rest_about_the_origin() {
    for (info, scene) in every_scene() {
        let params = values(info, scene, &[]);
        for n in [1, 2, 3, 4, 5, 7, 64, 1000, 3001] {
            let bodies = make(scene, n, 1, &params);
            let what = format!("{} with {n} bodies", scene.name);
            assert_eq!(bodies.len(), scene.bodies.unwrap_or(n), "{what}");
            assert_eq!(bodies.velocities.len(), bodies.len(), "{what}");
            let all = bodies.positions.iter().chain(&bodies.velocities).flatten();
            assert!(all.into_iter().all(|x| x.abs() < 100.0), "{what}");
            assert!(bodies.positions.iter().all(|p| p[3] > 0.0), "{what}");
            let groups = bodies.origins().fold(0.0, f32::max);
            assert!(bodies.origins().all(|group| group.fract() == 0.0) && groups <= 16.0, "{what}");

            let bodies = bodies.to_f64();
            let mass: f64 = bodies.positions.iter().map(|p| p[3]).sum();
            let expected = match scene.name.as_str() {
                "figure-eight" => 3.0,
                "pythagorean" => 12.0,
                // The masses of the Sun and its planets.
                "solar-system" => 1.001_34,
                _ => 1.0,
            };
            assert!((mass - expected).abs() < 1e-5, "{what}: mass {mass}");
            // In scenes with a planet, the planet is at rest.
            if params.float("planet_mass").is_some_and(|mass| mass > 0.0) {
                continue;
            }
            for rows in [&bodies.positions, &bodies.velocities] {
                let sum = |axis: usize| -> f64 {
                    rows.iter().zip(&bodies.positions).map(|(row, p)| row[axis] * p[3]).sum()
                };
                let size: f64 =
                    rows.iter().zip(&bodies.positions).map(|(row, p)| length(&row[..3]) * p[3]).sum();
                assert!(length(&[sum(0), sum(1), sum(2)]) <= 1e-6 * size, "{what}");
            }
        }
    }
}

#[test]
fn the_seed_determines_the_bodies_of_a_scene() {
    for (info, scene) in every_scene() {
        let params = values(info, scene, &[]);
        let [first, again, other] = [1, 1, 2].map(|seed| make(scene, 100, seed, &params));
        assert_eq!(first, again, "{}", scene.name);
        // Scenes with a fixed number of bodies are exact orbits without random numbers.
        assert_eq!(first == other, scene.bodies.is_some(), "{}", scene.name);
    }
}

#[test]
fn the_same_seed_gives_the_same_bodies_for_ever() {
    // If the bodies changed, the seeds that users have noted would give other bodies. Such a change needs a new
    // scene, or a generator that still makes the old bodies.
    let pins = every_scene().map(|(info, scene)| {
        let bodies = make(scene, 257, 1, &values(info, scene, &[]));
        format!("{} {} {:016x}", info.name, scene.name, checksum(&bodies))
    });
    insta::assert_snapshot!(pins.collect::<Vec<_>>().join("\n"), @r"
    gravity spiral 188084729cbac56e
    gravity galaxy f8516b6b92644f95
    gravity disc 63ee6657f745368e
    gravity collision f9b75714e3c13a48
    gravity merger eac489c305d44a75
    gravity milky-way-andromeda dc9ef7b846f8fea1
    gravity plummer ad9e2c6f422225d1
    gravity cold-sphere e01db12a50ac9455
    gravity cold-collapse 62ef814e7099f9c1
    gravity cosmic-web 3f7f94c2c272bb8d
    gravity cube 2d0448fcf2efe71c
    gravity ring 72fb03881cb06bf8
    gravity solar-system c6de3c4951979888
    gravity two-body ed3b14a832b96bea
    gravity figure-eight a8e76b7eb78e981e
    gravity pythagorean 5ddd4b0582333ee5
    asteroids belt 15a5efb1304420a4
    asteroids rings f932c7100ac69d04
    asteroids clouds ca97647caeaaa9ae
    asteroids splash 2ab1e2dc31b82cc9
    asteroids billiards 940a3314a915ce2d
    asteroids box 093cee817693740d
    asteroids shooter acb31465e7d7c8a4
    ");
    // In version 0.1.0, the scene `cold-sphere` used the generator `ball`, and the scenes `cube` and `galaxy` used the
    // generators of the same names. The galaxies of `milky-way-andromeda` started farther apart.
    let apart = "share = 0.4\nbulge = 0.4\nscale = 0.3\nsecond_scale = 0.6\ndistance = 6\npericentre = 1.3";
    let old =
        [("ball", ""), ("cube", ""), ("galaxy", ""), ("galaxies", apart)].map(|(generator, arguments)| {
            format!("{generator} {:016x}", checksum(&made_by(generator, arguments, 257).to_f32()))
        });
    let wanted = [
        "ball ee38df9f1d11adc4",
        "cube 26ede17296c77f60",
        "galaxy 954aa04c2db113ce",
        "galaxies 8444aaae085369ad",
    ];
    assert_eq!(old, wanted);
}

/// Returns the bodies that a generator of gravity scenes makes with the default parameters and the seed 1. `arguments`
/// holds lines of the table `[arguments]`.
fn made_by(generator: &str, arguments: &str, bodies: usize) -> Bodies<f64> {
    let file = format!("mode = \"gravity\"\ngenerator = \"{generator}\"\n[arguments]\n{arguments}\n");
    let scene = Config::of_file(parse(generator, &file).unwrap()).unwrap().start;
    make(&scene, bodies, 1, &values(modes::find("gravity").unwrap(), &scene, &[])).to_f64()
}

#[test]
fn grids_have_about_the_requested_number_of_cells_and_stay_unchanged() {
    let info = modes::find("fluid").unwrap();
    let make = |scene: &Scene, cells, seed| {
        let params = &values(info, scene, &[]);
        let state = scene.generate(&Setup { bodies: cells, seed, params });
        state.into_flow().unwrap()
    };
    for scene in info.scenes.iter() {
        for cells in [1, 500, 10_000, 65_536] {
            let cells = scene.bodies.unwrap_or(cells);
            let flow = make(scene, cells, 1);
            let made = flow.walls.cells();
            assert!(flow.walls.free() > 0 && flow.cells.len() == made, "{} {cells}", scene.name);
            assert!(
                made.abs_diff(cells) * 10 <= cells || made <= 12 * 60,
                "{}: {made} for {cells}",
                scene.name
            );
            assert_eq!(flow, make(scene, cells, 1), "{}", scene.name);
        }
    }
    // If the flow changed, the seeds that users have noted would give other flows. Such a change needs a new scene.
    let pins = info.scenes.iter().map(|scene| {
        let walls = make(scene, scene.bodies.unwrap_or(10_000), 1).walls;
        let bits = walls.solid.iter().map(|solid| u64::from(*solid));
        let hash =
            bits.fold(0xcbf2_9ce4_8422_2325u64, |hash, bit| (hash ^ bit).wrapping_mul(0x0100_0000_01b3));
        format!("{} {} × {} {hash:016x}", scene.name, walls.nx, walls.ny)
    });
    insta::assert_snapshot!(pins.collect::<Vec<_>>().join("\n"), @r"
    cylinder 171 × 57 9e529371afd7fbc5
    step 220 × 44 86ec911b96dba0d9
    porous 140 × 70 2529d76c98f30ff8
    channel 171 × 57 b6bf366e52d94c57
    box-128 128 × 128 af5a6216c3a301c1
    box-256 256 × 256 77bf1634260de3c1
    box-wall 100 × 100 7631fd2f2d66779d
    ");
    let porous = info.scene("porous").unwrap();
    assert_ne!(make(porous, 10_000, 1), make(porous, 10_000, 2));
}

/// Scene files of older versions do not set `whirls`, and their flows still start at rest.
#[test]
fn flows_start_at_rest_unless_their_scene_stirs_them() {
    let info = modes::find("fluid").unwrap();
    let fastest = |scene: &Scene| {
        let params = &values(info, scene, &[]);
        let bodies = scene.bodies.unwrap_or(10_000);
        let flow = scene.generate(&Setup { bodies, seed: 1, params }).into_flow().unwrap();
        let speeds = (0..flow.cells.len())
            .filter(|cell| !flow.walls.solid[*cell])
            .map(|cell| length(&flow.at(cell).1));
        speeds.fold(0.0, f64::max)
    };
    for scene in info.scenes.iter().filter(|scene| scene.name != "porous") {
        // The speed is below 0.3 of the speed of sound, where the method is accurate.
        let speed = fastest(scene);
        assert!((0.03..0.17).contains(&speed), "{}: {speed}", scene.name);
    }
    for generator in ["cylinder", "step", "porous", "channel", "box", "divided-box"] {
        let text = format!("mode = \"fluid\"\ngenerator = \"{generator}\"\n");
        let old = parse("old", &text).unwrap().scene;
        assert_eq!(fastest(&old), 0.0, "{generator}");
    }
}

fn length(v: &[f64]) -> f64 {
    v.iter().map(|c| c * c).sum::<f64>().sqrt()
}
