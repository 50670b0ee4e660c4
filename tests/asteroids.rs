//! What the collisions promise, on the device, in every variant.

mod support;

use gravitile::bodies::{Bodies, Points};
use gravitile::modes::asteroids::{Asteroids, Colour, INFO};
use gravitile::modes::{Diagnostics, Mode, Simulation, Variant};
use gravitile::scene::Setup;
use support::{cpu, recipe};

/// No planet, no losses, nothing but collisions.
fn space() -> Asteroids {
    Asteroids {
        dt: 1e-3,
        restitution: 1.0,
        friction: 0.0,
        push: 0.0,
        planet_mass: 0.0,
        planet_radius: 0.0,
        radius: 0.5,
        ..Asteroids::default()
    }
}

fn build(mode: &Asteroids, variant: &'static Variant, bodies: &Bodies) -> Box<dyn Simulation> {
    mode.build(&cpu(), recipe(variant), &bodies.clone().into()).unwrap()
}

fn run(simulation: &mut dyn Simulation, steps: u32) -> Bodies {
    simulation.start(steps);
    while simulation.advance().unwrap() {}
    simulation.state().unwrap().into_bodies().unwrap()
}

fn bodies(rows: &[([f32; 3], [f32; 3], f32)]) -> Bodies {
    let mut bodies = Bodies::default();
    rows.iter().for_each(|(x, v, m)| bodies.push(*x, *v, *m));
    bodies
}

/// Bodies of a scene with its parameters.
fn scene(name: &str, n: usize) -> (Box<dyn Mode>, Bodies) {
    let scene = INFO.scene(name).unwrap();
    let mode = INFO.mode_for(scene);
    let params = &mode.values();
    (mode.clone(), scene.generate(&Setup { bodies: n, seed: 3, params }).into_bodies().unwrap())
}

fn momentum(bodies: &Bodies) -> ([f64; 3], f64) {
    let mut sum = [0.0; 3];
    let mut scale = 0.0;
    for (x, v) in bodies.positions.iter().zip(&bodies.velocities) {
        let p: Vec<f64> = (0..3).map(|k| f64::from(x[3]) * f64::from(v[k])).collect();
        (0..3).for_each(|k| sum[k] += p[k]);
        scale += p.iter().map(|p| p * p).sum::<f64>().sqrt();
    }
    (sum, scale)
}

fn kinetic(bodies: &Bodies) -> f64 {
    let rows = bodies.positions.iter().zip(&bodies.velocities);
    rows.map(|(x, v)| 0.5 * f64::from(x[3]) * (0..3).map(|k| f64::from(v[k]).powi(2)).sum::<f64>()).sum()
}

#[test]
fn two_bodies_collide_as_the_textbook_says() {
    let masses = [1.0, 3.0];
    // Along the line of centres, and at an angle to it.
    for (n, name) in [([1.0, 0.0, 0.0], "head-on"), ([0.8, 0.6, 0.0], "oblique")] {
        for (restitution, friction) in
            [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 0.3), (0.5, 0.3), (1.0, 0.3)]
        {
            let mode = Asteroids { restitution, friction, ..space() };
            let (v1, v2) = ([1.0f32, 0.2, 0.0], [-0.5f32, 0.0, 0.1]);
            let apart = 0.95; // radii are 0.5·∛(m/2): about 0.397 and 0.572, together 0.969
            let at = |s: f32| [n[0] * s, n[1] * s, n[2] * s];
            let pair = bodies(&[(at(-0.5 * apart), v1, masses[0]), (at(0.5 * apart), v2, masses[1])]);
            let dot = |a: [f32; 3]| (0..3).map(|k| f64::from(a[k]) * f64::from(n[k])).sum::<f64>();
            let (u1, u2) = (dot(v1), dot(v2));
            let total = f64::from(masses[0] + masses[1]);
            let centre = (f64::from(masses[0]) * u1 + f64::from(masses[1]) * u2) / total;
            let e = f64::from(restitution);
            // Speeds along n about the centre of mass turn round and shrink by e; sideways friction takes its share.
            let after = |u: f64| centre - e * (u - centre);
            for variant in INFO.variants {
                let end = run(build(&mode, variant, &pair).as_mut(), 1);
                for (i, (v, u)) in [(v1, u1), (v2, u2)].into_iter().enumerate() {
                    let other = [(v2, u2), (v1, u1)][i];
                    let share = f64::from(masses[1 - i]) / total * f64::from(friction);
                    for k in 0..3 {
                        let side = f64::from(v[k]) - u * f64::from(n[k]);
                        let other_side = f64::from(other.0[k]) - other.1 * f64::from(n[k]);
                        let expected = after(u) * f64::from(n[k]) + side - share * (side - other_side);
                        let found = f64::from(end.velocities[i][k]);
                        let case =
                            format!("{name}, {}, e={e}, μ={friction}, body {i}, axis {k}", variant.name);
                        assert!((found - expected).abs() < 1e-6, "{case}: {found} instead of {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn who_moves_alike_or_apart_does_not_collide() {
    let left = [-0.4, 0.0, 0.0];
    let right = [0.4, 0.0, 0.0];
    for (v1, v2) in [([0.0, 1.0, 0.0], [0.0, 1.0, 0.0]), ([-1.0, 0.0, 0.0], [1.0, 0.0, 0.0])] {
        for variant in INFO.variants {
            let mut simulation = build(&space(), variant, &bodies(&[(left, v1, 1.0), (right, v2, 1.0)]));
            let end = run(simulation.as_mut(), 1);
            assert_eq!(end.velocities[0][..3], v1, "{}", variant.name);
            assert_eq!(end.velocities[1][..3], v2, "{}", variant.name);
            assert_eq!(reading(&simulation.diagnostics().unwrap(), "collisions"), 0.0);
        }
    }
}

fn reading(sums: &Diagnostics, key: &str) -> f64 {
    sums.readings.iter().find(|reading| reading.key == key).unwrap().value
}

#[test]
fn momentum_is_kept_in_every_scene_without_a_planet() {
    let mut walked = 0;
    for row in INFO.scenes.iter() {
        let (mode, start) = scene(&row.name, 600);
        if mode.values().float("planet_mass") != Some(0.0) {
            continue;
        }
        walked += 1;
        for variant in INFO.variants {
            let mut simulation = mode.build(&cpu(), recipe(variant), &start.clone().into()).unwrap();
            let end = run(simulation.as_mut(), 100);
            let ((before, scale), (after, _)) = (momentum(&start), momentum(&end));
            let drift = (0..3).map(|k| (after[k] - before[k]).powi(2)).sum::<f64>().sqrt();
            assert!(drift <= 1e-6 * scale, "{}, {}: {drift} of {scale}", row.name, variant.name);
        }
    }
    assert!(walked >= 3);
}

#[test]
fn energy_is_kept_at_full_restitution_and_never_grows() {
    for restitution in [0.0, 0.3, 1.0] {
        let mode = Asteroids { restitution, friction: 0.1 * (1.0 - restitution), dt: 0.01, ..space() };
        // Pairs far from each other: every collision is of two.
        let mut start = Bodies::default();
        for i in 0..100 {
            let y = 10.0 * i as f32;
            let off = 0.008 * i as f32;
            start.push([-0.6, y, 0.0], [1.0, 0.0, 0.1], 1.0 + (i % 3) as f32);
            start.push([0.6, y + off, 0.0], [-0.7, 0.1, 0.0], 2.0);
        }
        let end = run(build(&mode, &INFO.variants[1], &start).as_mut(), 60);
        let change = kinetic(&end) / kinetic(&start) - 1.0;
        let hit = (0..200).filter(|i| end.velocities[*i] != start.velocities[*i]).count();
        assert!(hit > 150, "only {hit} bodies were hit");
        match restitution {
            1.0 => assert!(change.abs() < 1e-5, "{change}"),
            _ => assert!(change < -0.1, "{change}"),
        }
    }
}

#[test]
fn a_pile_at_rest_stays_at_rest() {
    for n in [1, 2, 64, 1000] {
        let (mode, start) = scene("box", n);
        for variant in INFO.variants {
            let end = run(mode.build(&cpu(), recipe(variant), &start.clone().into()).unwrap().as_mut(), 200);
            assert_eq!(end, start, "{n} bodies, {}", variant.name);
        }
    }
}

#[test]
fn an_orbit_round_the_planet_closes() {
    let (r, steps) = (1.0f32, 4000);
    let period = 2.0 * std::f32::consts::PI * r.powf(1.5);
    let mode = Asteroids {
        planet_mass: 1.0,
        planet_radius: 0.2,
        radius: 1e-3,
        dt: period / steps as f32,
        ..space()
    };
    let start = bodies(&[([r, 0.0, 0.0], [0.0, 1.0, 0.0], 1.0)]);
    let mut simulation = build(&mode, &INFO.variants[0], &start);
    let half = run(simulation.as_mut(), steps / 2);
    let end = run(simulation.as_mut(), steps / 2);
    assert!((half.positions[0][0] + r).abs() < 0.01, "{half:?}");
    for k in 0..3 {
        assert!((end.positions[0][k] - start.positions[0][k]).abs() < 5e-3, "{end:?}");
    }
}

#[test]
fn the_planet_is_solid() {
    let mode = Asteroids { planet_mass: 0.0, planet_radius: 1.0, radius: 0.1, restitution: 0.5, ..space() };
    let start = bodies(&[([1.05, 0.0, 0.0], [-1.0, 0.3, 0.0], 1.0)]);
    let end = run(build(&mode, &INFO.variants[0], &start).as_mut(), 1);
    assert!(
        (end.velocities[0][0] - 0.5).abs() < 1e-6 && (end.velocities[0][1] - 0.3).abs() < 1e-6,
        "{end:?}"
    );
}

/// Who was hit in the last step, told by the colour.
fn hits(mode: &dyn Mode, variant: &'static Variant, start: &Bodies, steps: u32) -> (Vec<bool>, f64) {
    let mut mode = mode.boxed();
    gravitile::params::set(mode.as_mut(), "colour", gravitile::params::Choice::name(Colour::Hit)).unwrap();
    let mut simulation = mode.build(&cpu(), recipe(variant), &start.clone().into()).unwrap();
    run(simulation.as_mut(), steps);
    let (points, _) = simulation.publish(Points::default()).unwrap().wait().unwrap();
    let collisions = reading(&simulation.diagnostics().unwrap(), "collisions");
    (points.values.iter().map(|value| *value == 1.0).collect(), collisions)
}

#[test]
fn every_variant_finds_the_same_pairs() {
    for (name, n) in [("belt", 3000), ("clouds", 1500), ("shooter", 700), ("billiards", 500)] {
        let (mode, start) = scene(name, n);
        // Some steps in, by one variant, so that the others start where bodies meet.
        let start = run(mode.build(&cpu(), recipe(&INFO.variants[1]), &start.into()).unwrap().as_mut(), 150);
        let expected = hits(mode.as_ref(), &INFO.variants[0], &start, 1);
        eprintln!("{name}: {} collisions", expected.1);
        assert!(name != "belt" || expected.1 > 0.0, "nobody collides in {name}");
        for variant in &INFO.variants[1..] {
            assert_eq!(hits(mode.as_ref(), variant, &start, 1), expected, "{name}, {}", variant.name);
        }
    }
}

#[test]
fn awkward_places_are_no_matter() {
    let mut far = Bodies::default();
    // A crowd in one cell, a pair that touches very far out, and one beyond all cells.
    (0..200).for_each(|i| far.push([1e-3 * i as f32, 0.0, 0.0], [0.1, 0.01 * i as f32, 0.0], 1.0));
    far.push([5e6, 0.0, 0.0], [0.5, 0.0, 0.0], 1.0);
    far.push([5e6 + 0.5, 0.0, 0.0], [-0.5, 0.0, 0.0], 1.0);
    far.push([-1e17, 3e16, 0.0], [0.0, 0.0, 0.0], 1.0);
    let mode = Asteroids { friction: 0.2, push: 0.1, restitution: 0.5, ..space() };
    let expected = hits(&mode, &INFO.variants[0], &far, 1);
    assert!(expected.0[200] && expected.0[201] && !expected.0[202]);
    for variant in INFO.variants {
        assert_eq!(hits(&mode, variant, &far, 1), expected, "{}", variant.name);
        let end = run(build(&mode, variant, &far).as_mut(), 20);
        assert_eq!(end.nonfinite(), 0, "{}", variant.name);
    }
}

#[test]
fn bodies_in_one_place_part() {
    let start = bodies(&[([0.3; 3], [0.0; 3], 1.0), ([0.3; 3], [0.0; 3], 2.0), ([0.3; 3], [0.0; 3], 0.0)]);
    for variant in INFO.variants {
        let end = run(build(&Asteroids { push: 0.5, ..space() }, variant, &start).as_mut(), 5);
        assert_eq!(end.nonfinite(), 0);
        let apart = (end.positions[0][0] - end.positions[1][0]).abs();
        assert!(apart > 0.1, "{}: {end:?}", variant.name);
    }
}

#[test]
fn bodies_without_mass_collide_and_disturb_nobody() {
    let start = bodies(&[([0.0; 3], [0.0; 3], 1.0), ([0.4, 0.0, 0.0], [-1.0, 0.0, 0.0], 0.0)]);
    let none = bodies(&[([0.0; 3], [0.5, 0.0, 0.0], 0.0), ([0.8, 0.0, 0.0], [-0.5, 0.0, 0.0], 0.0)]);
    for variant in INFO.variants {
        let end = run(build(&space(), variant, &start).as_mut(), 1);
        assert_eq!(end.velocities[0], [0.0; 4], "{}", variant.name);
        assert!((end.velocities[1][0] - 1.0).abs() < 1e-6, "{end:?}");
        let end = run(build(&space(), variant, &none).as_mut(), 1);
        assert!((end.velocities[0][0] + 0.5).abs() < 1e-6, "{}: {end:?}", variant.name);
    }
}

#[test]
fn the_same_bodies_give_the_same_bits() {
    let (mode, start) = scene("belt", 2000);
    for variant in INFO.variants {
        let once = || run(mode.build(&cpu(), recipe(variant), &start.clone().into()).unwrap().as_mut(), 50);
        assert_eq!(once(), once(), "{}", variant.name);
    }
}

#[test]
fn bodies_that_stop_being_finite_are_held_out() {
    let mut start = scene("clouds", 300).1;
    start.velocities[5] = [9e17, 0.0, 0.0, 0.0];
    start.velocities[9] = [f32::NAN; 4];
    for variant in INFO.variants {
        let mode = Asteroids { dt: 0.1, radius: 1e-3, ..space() };
        let mut simulation = build(&mode, variant, &start);
        let end = run(simulation.as_mut(), 30);
        assert_eq!(end.nonfinite(), 2, "{}", variant.name);
        assert_eq!(simulation.diagnostics().unwrap().nonfinite, 2);
        assert!(end.positions.iter().flatten().all(|x| x.is_finite()));
    }
}

#[test]
fn who_is_held_out_hides_no_one() {
    for variant in INFO.variants {
        for out in 0..4 {
            // Two that meet, whoever of four they are.
            let [a, b] = [(out + 1) % 4, (out + 2) % 4];
            let mut start = Bodies { positions: vec![[0.0; 4]; 4], velocities: vec![[0.0; 4]; 4] };
            for (i, x) in start.positions.iter_mut().enumerate() {
                *x = [5.0 * i as f32, 1.0, 0.0, 1.0];
            }
            (start.positions[a], start.positions[b]) = ([0.0, 0.0, 0.0, 1.0], [0.015, 0.0, 0.0, 1.0]);
            start.velocities[a][0] = 1.0;
            start.velocities[out] = [f32::NAN; 4];
            let mode =
                Asteroids { restitution: 1.0, friction: 0.0, push: 0.0, radius: 0.01, dt: 1e-3, ..space() };
            let end = run(build(&mode, variant, &start).as_mut(), 1);
            assert!((end.velocities[b][0] - 1.0).abs() < 1e-5, "{} with {out} out", variant.name);
        }
    }
}
