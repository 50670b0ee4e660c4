//! Tests properties of the asteroid scenes: no overlaps, circular orbits, no net motion, and short enough steps.

use std::sync::Arc;

use gravitile::base::bodies::Bodies;
use gravitile::base::params::ParamValues;
use gravitile::base::state::State;
use gravitile::engine::config::Config;
use gravitile::modes;
use gravitile::scene::Scene;
use gravitile::scene::file::parse;

use super::{length, make, scene, values};

/// Extreme values of the parameters that determine the geometry of scenes.
const SETS: [&[(&str, &str)]; 4] =
    [&[], &[("radius", "0.0001")], &[("radius", "0.5")], &[("radius", "0.1"), ("planet_radius", "2")]];

fn scenes() -> &'static [Arc<Scene>] {
    modes::find("asteroids").unwrap().scenes
}

fn float(values: &ParamValues, key: &str) -> f64 {
    values.float(key).unwrap().into()
}

/// Returns the expected radius of each body: radius·∛(m / mean m).
fn radii(bodies: &Bodies<f64>, values: &ParamValues) -> Vec<f64> {
    let mean = bodies.positions.iter().map(|p| p[3]).sum::<f64>() / bodies.len() as f64;
    bodies.positions.iter().map(|p| float(values, "radius") * (p[3] / mean).cbrt()).collect()
}

fn speeds(bodies: &Bodies<f64>) -> impl Iterator<Item = f64> {
    bodies.velocities.iter().map(|v| length(&v[..3]))
}

/// Returns the smallest gap between two bodies, divided by the smaller body's radius, and between a body and the
/// planet, divided by the body's radius.
fn least_gaps(bodies: &Bodies<f64>, values: &ParamValues) -> [f64; 2] {
    let radii = radii(bodies, values);
    let (mut least, mut above) = (f64::INFINITY, f64::INFINITY);
    for (i, (a, r)) in bodies.positions.iter().zip(&radii).enumerate() {
        above = above.min((length(&a[..3]) - float(values, "planet_radius") - r) / r);
        for (b, s) in bodies.positions[..i].iter().zip(&radii) {
            let apart = length(&[a[0] - b[0], a[1] - b[1], a[2] - b[2]]);
            least = least.min((apart - r - s) / r.min(*s));
        }
    }
    [least, above]
}

#[test]
fn no_two_bodies_touch_and_none_touches_the_planet() {
    for row in scenes() {
        for set in SETS {
            for n in [1, 2, 3, 17, 257, 2000] {
                let (bodies, values) = scene("asteroids", &row.name, n, set);
                let [gap, above] = least_gaps(&bodies, &values);
                assert!(gap > 0.003, "{}, {n} bodies, {set:?}: {gap}", row.name);
                let has_planet = float(&values, "planet_radius") > 0.0 && float(&values, "planet_mass") > 0.0;
                assert!(!has_planet || above > 0.1, "{}, {n} bodies, {set:?}: {above}", row.name);
            }
        }
    }
}

#[test]
fn no_body_moves_farther_in_a_step_than_the_smallest_is_wide() {
    for row in scenes() {
        for n in [1, 2, 3, 64, 257, 4096] {
            let (bodies, values) = scene("asteroids", &row.name, n, &[]);
            let smallest = radii(&bodies, &values).into_iter().fold(f64::INFINITY, f64::min);
            let reach = speeds(&bodies).fold(0.0, f64::max) * float(&values, "dt") / smallest;
            assert!(reach < 0.8, "{}, {n} bodies: {reach} radii", row.name);
        }
    }
}

#[test]
fn the_size_of_a_scene_grows_with_the_number_of_bodies() {
    for row in scenes() {
        let size = |n| {
            let (bodies, _) = scene("asteroids", &row.name, n, &[]);
            let xs = || bodies.positions.iter().map(|p| p[0]);
            xs().fold(f64::NEG_INFINITY, f64::max) - xs().fold(f64::INFINITY, f64::min)
        };
        let [few, many] = [size(4096), size(65_536)];
        // The size grows by a factor between ∛16 and √16; discs have empty space at 4 096 bodies.
        assert!((1.7..4.2).contains(&(many / few)), "{}: {few}, {many}", row.name);
    }
}

#[test]
fn belt_and_rings_are_on_circular_orbits() {
    for (name, slope) in [("belt", 0.18), ("rings", 0.015)] {
        for set in [[].as_slice(), &[("g", "2"), ("planet_mass", "3")], &[("g", "0")]] {
            let (bodies, values) = scene("asteroids", name, 3000, set);
            let gm = float(&values, "g") * float(&values, "planet_mass");
            for (p, v) in bodies.positions.iter().zip(&bodies.velocities) {
                let (r, v2) = (length(&p[..3]), length(&v[..3]).powi(2));
                assert!((v2 * r - gm).abs() < 1e-5 * gm.max(1.0), "{name}: {v2} at {r}");
                let radial = (p[0] * v[0] + p[1] * v[1] + p[2] * v[2]) / r;
                assert!(radial.abs() < 1e-6 * gm.max(1.0), "{name}: {radial}");
                // All bodies orbit in the same direction, in slightly tilted planes.
                let spin = p[0] * v[1] - p[1] * v[0];
                assert!(gm == 0.0 || spin > r * v2.sqrt() * (1.0 - slope * slope), "{name}: {spin}");
                assert!(p[2].abs() < slope * r, "{name}: {p:?}");
            }
        }
    }
}

#[test]
fn rings_have_a_gap_and_belts_have_none() {
    let widest = |name| {
        let (bodies, _) = scene("asteroids", name, 4096, &[]);
        let mut r: Vec<f64> = bodies.positions.iter().map(|p| length(&p[..3])).collect();
        r.sort_by(f64::total_cmp);
        r.windows(2).map(|pair| pair[1] - pair[0]).fold(0.0, f64::max) / (r[4095] - r[0])
    };
    assert!((0.14..0.16).contains(&widest("rings")), "{}", widest("rings"));
    assert!(widest("belt") < 0.02, "{}", widest("belt"));
}

#[test]
fn asteroids_of_the_belt_come_in_all_sizes() {
    let (bodies, values) = scene("asteroids", "belt", 4096, &[]);
    let radii = radii(&bodies, &values);
    let [least, most] = [f64::min, f64::max].map(|pick| radii.iter().copied().reduce(pick).unwrap());
    // The ratio is at most ∛100 = 4.64. Masses are taken at the middles of equal shares, so the ratio is slightly
    // smaller.
    assert!((4.4..4.65).contains(&(most / least)), "{least} to {most}");
}

#[test]
fn billiards_stay_on_the_table() {
    for n in [1, 2, 16, 257] {
        let (bodies, _) = scene("asteroids", "billiards", n, &[]);
        assert!(bodies.positions.iter().chain(&bodies.velocities).all(|row| row[2] == 0.0));
        // All balls except the cue ball have the same velocity, and the cue ball approaches them.
        assert!(bodies.velocities[1..].windows(2).all(|pair| pair[0] == pair[1]));
        let [x, v] = [&bodies.positions, &bodies.velocities].map(|rows| rows.iter().map(|row| row[0]));
        assert!(n == 1 || x.skip(1).all(|x| x > bodies.positions[0][0]));
        assert!(n == 1 || v.skip(1).all(|v| v < bodies.velocities[0][0]));
    }
}

#[test]
fn a_pack_of_bodies_starts_and_stays_at_rest() {
    let info = modes::find("asteroids").unwrap();
    let file = "mode = \"asteroids\"\ngenerator = \"pack\"\n[params]\nplanet_mass = 0\nplanet_radius = 0\n";
    let row = &Config::of_file(parse("pack", file).unwrap()).unwrap().start;
    let start = make(row, 300, 1, &values(info, row, &[])).to_f64();
    assert!(start.velocities.iter().flatten().all(|v| *v == 0.0));
    let start = State::from(start);
    let mut end = start.clone();
    info.mode_for(row).reference(&mut end, 10).unwrap();
    assert_eq!(start, end);
}

#[test]
fn a_pack_of_bodies_can_spin() {
    let info = modes::find("asteroids").unwrap();
    let file =
        "mode = \"asteroids\"\ngenerator = \"pack\"\n[arguments]\nspin = 1.2\n[params]\nradius = 0.05\n";
    let row = &Config::of_file(parse("pack", file).unwrap()).unwrap().start;
    let start = make(row, 300, 1, &values(info, row, &[])).to_f64();
    for (x, v) in start.positions.iter().zip(&start.velocities) {
        assert!((v[0] + 1.2 * x[1]).abs() < 1e-6 && (v[1] - 1.2 * x[0]).abs() < 1e-6 && v[2] == 0.0);
    }
}

#[test]
fn bodies_of_the_torn_box_are_on_circular_orbits() {
    let info = modes::find("asteroids").unwrap();
    let row = info.scene("box").unwrap();
    let values = values(info, row, &[]);
    let bodies = make(row, 300, 1, &values).to_f64();
    let lowest = float(&values, "planet_radius") + 0.4 + float(&values, "radius");
    for (x, v) in bodies.positions.iter().zip(&bodies.velocities) {
        let [r, speed] = [length(&x[..3]), length(&v[..3])];
        let along: f64 = (0..3).map(|axis| x[axis] * v[axis]).sum();
        assert!(along.abs() < 1e-6 && (speed * speed * r - 1.0).abs() < 1e-6, "{along} {speed} {r}");
        assert!(r > lowest - 1e-6, "{r}");
    }
    for (i, a) in bodies.positions.iter().enumerate() {
        let apart = |b: &[f64; 4]| length(&[b[0] - a[0], b[1] - a[1], b[2] - a[2]]);
        assert!(bodies.positions[..i].iter().all(|b| apart(b) > 2.0 * float(&values, "radius")));
    }
}

#[test]
fn the_arc_is_a_block_that_was_drawn_out() {
    let info = modes::find("asteroids").unwrap();
    let file = "mode = \"asteroids\"\ngenerator = \"arc\"\n[arguments]\nelapsed = 5\n\
                [params]\nradius = 0.03\nplanet_radius = 1\n";
    let row = &Config::of_file(parse("arc", file).unwrap()).unwrap().start;
    let bodies = make(row, 200, 1, &values(info, row, &[])).to_f64();
    let angle = |x: &[f64; 4]| x[1].atan2(x[0]);
    // Angle of a body 5 units of time earlier, up to a constant.
    let before = |x: &[f64; 4]| angle(x) - 5.0 * x[0].hypot(x[1]).powf(-1.5);
    let extent = |of: &dyn Fn(&[f64; 4]) -> f64| {
        let all = bodies.positions.iter().map(of);
        all.clone().fold(f64::NEG_INFINITY, f64::max) - all.fold(f64::INFINITY, f64::min)
    };
    let breadth = extent(&|x| x[0].hypot(x[1]));
    let length = (1.43 + 0.5 * breadth) * extent(&before);
    assert!((0.9..1.1).contains(&(length / breadth)), "{length} {breadth}");
    assert!(extent(&angle) > 2.0 * extent(&before), "{} {}", extent(&angle), extent(&before));
}

#[test]
fn a_pile_that_is_tiny_beside_the_planet_lies_outside_of_it() {
    let info = modes::find("asteroids").unwrap();
    let row = info.scene("splash").unwrap();
    let values = values(info, row, &[("radius", "0.0001"), ("planet_radius", "2")]);
    for n in [1, 50, 500] {
        let bodies = make(row, n, 1, &values).to_f64();
        assert!(bodies.len() == n && nearest(&bodies) > 2.0, "{n} bodies: {}", nearest(&bodies));
    }
}

/// Returns the smallest distance between the centre of a body and the centre of the planet.
fn nearest(bodies: &Bodies<f64>) -> f64 {
    bodies.positions.iter().map(|p| length(&p[..3])).fold(f64::INFINITY, f64::min)
}

#[test]
fn a_pack_of_bodies_above_the_planet_falls_onto_it() {
    let info = modes::find("asteroids").unwrap();
    let file = "mode = \"asteroids\"\ngenerator = \"pack\"\n[arguments]\nfall = 0.3\n\
                [params]\ndt = 0.004\nradius = 0.03\nplanet_radius = 1.2\n";
    let row = &Config::of_file(parse("pack", file).unwrap()).unwrap().start;
    let start = make(row, 300, 1, &values(info, row, &[])).to_f64();
    let lowest = start.positions.iter().map(|p| p[2]).fold(f64::INFINITY, f64::min);
    assert!((lowest - 1.2 - 0.03 - 0.3).abs() < 1e-6, "{lowest}");
    assert!(start.velocities.iter().all(|v| v[..3] == [0.0; 3]));
    let mut end = State::from(start);
    info.mode_for(row).reference(&mut end, 500).unwrap();
    let nearest = nearest(&end.into_bodies().unwrap());
    assert!((1.2..1.2 + 0.03 + 0.15).contains(&nearest), "{nearest}");
}

#[test]
fn the_pile_in_the_splash_scene_grazes_the_planet() {
    let info = modes::find("asteroids").unwrap();
    let row = info.scene("splash").unwrap();
    let values = values(info, row, &[]);
    let (planet, ball) = (float(&values, "planet_radius"), float(&values, "radius"));
    let start = make(row, 300, 1, &values).to_f64();
    assert!((planet..planet + 2.0 * ball).contains(&nearest(&start)), "{}", nearest(&start));
    // The line of flight passes the centre of the planet at 0.67 planet radii. The mean position is farther out,
    // because the part of the pile that would lie inside the planet has no bodies.
    let mean = |axis: usize| start.positions.iter().map(|p| p[axis]).sum::<f64>() / 300.0;
    let [vx, vy, vz] = [0, 1, 2].map(|axis| start.velocities[0][axis]);
    let miss = (mean(0) * vz - mean(2) * vx).abs() / vx.hypot(vz);
    assert!(vy == 0.0 && (0.67..1.0).contains(&(miss / planet)), "{miss}");
    let mut end = State::from(start);
    info.mode_for(row).reference(&mut end, 1000).unwrap();
    let end = end.into_bodies().unwrap();
    assert!((planet..planet + 1.5 * ball).contains(&nearest(&end)), "{}", nearest(&end));
    // The bodies that hit the planet first bounce off.
    let climbs =
        |i: usize| (0..3).map(|axis| end.positions[i][axis] * end.velocities[i][axis]).sum::<f64>() > 0.0;
    assert!((0..300).filter(|i| climbs(*i)).count() > 10);
}

#[test]
fn the_shooter_is_body_0_heavy_and_fast() {
    let (bodies, _) = scene("asteroids", "shooter", 1000, &[]);
    let mass = bodies.positions[0][3] / bodies.positions[1][3];
    assert!((mass - 64.0).abs() < 1e-3, "{mass}");
    let speeds: Vec<f64> = speeds(&bodies).collect();
    assert!(speeds[1..].iter().all(|v| *v < 0.1 * speeds[0]));
}

#[test]
fn scenes_without_a_planet_collide_and_gain_no_energy() {
    let info = modes::find("asteroids").unwrap();
    for name in ["clouds", "billiards", "shooter"] {
        let row = info.scene(name).unwrap();
        let mode = info.mode_for(row);
        for n in [16, 200] {
            let mut bodies = State::from(make(row, n, 1, &mode.values()).to_f64());
            let kinetic = |bodies: &State<f64>| mode.reference_diagnostics(bodies).unwrap().kinetic;
            let start = kinetic(&bodies);
            for _ in 0..10 {
                mode.reference(&mut bodies, 30).unwrap();
                let now = kinetic(&bodies);
                assert!(now < start * (1.0 + 1e-12), "{name}, {n} bodies: {start} to {now}");
            }
            let now = kinetic(&bodies);
            assert!(now < 0.95 * start, "{name}, {n} bodies: {start} to {now}");
        }
    }
}
