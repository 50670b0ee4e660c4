//! Tests collisions of asteroids on a device with every variant.

mod substeps;

use crate::support::{cpu, recipe};
use gravitile::base::bodies::{Bodies, Points};
use gravitile::base::state::State;
use gravitile::modes::accuracy::{TOLERANCE, relative_error};
use gravitile::modes::asteroids::{Asteroids, Colour, ContactLaw, INFO, Substeps, block};
use gravitile::modes::{Diagnostics, Mode, Simulation, Variant, checks};
use gravitile::scene::{Scene, Setup};

/// Returns a mode with collisions only: without a planet, without energy loss, and without substeps.
fn space() -> Asteroids {
    Asteroids {
        dt: 1e-3,
        substeps: Substeps::Fixed(1),
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

/// Generates a scene with the scene's own parameters. Returns its mode and its bodies.
fn scene(name: &str, n: usize) -> (Box<dyn Mode>, Bodies) {
    start(INFO.scene(name).unwrap(), n)
}

fn start(scene: &Scene, n: usize) -> (Box<dyn Mode>, Bodies) {
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
fn a_two_body_collision_matches_the_analytic_solution() {
    let masses = [1.0, 3.0];
    // The bodies collide along the line of centres, and at an angle to it.
    for (n, name) in [([1.0, 0.0, 0.0], "head-on"), ([0.8, 0.6, 0.0], "oblique")] {
        let cases = [(0.0, 0.0), (0.5, 0.0), (1.0, 0.0), (0.0, 0.3), (0.5, 0.3), (1.0, 0.3)];
        let laws = [ContactLaw::Match, ContactLaw::Simple].into_iter();
        for (contact_law, (restitution, friction)) in laws.flat_map(|law| cases.map(|case| (law, case))) {
            let mode = Asteroids { restitution, friction, contact_law, ..space() };
            let (v1, v2) = ([1.0f32, 0.2, 0.0], [-0.5f32, 0.0, 0.1]);
            let apart = 0.95; // radii are 0.5·∛(m/2): about 0.397 and 0.572, together 0.969
            let at = |s: f32| [n[0] * s, n[1] * s, n[2] * s];
            let pair = bodies(&[(at(-0.5 * apart), v1, masses[0]), (at(0.5 * apart), v2, masses[1])]);
            let dot = |a: [f32; 3]| (0..3).map(|k| f64::from(a[k]) * f64::from(n[k])).sum::<f64>();
            let (u1, u2) = (dot(v1), dot(v2));
            let total = f64::from(masses[0] + masses[1]);
            let centre = (f64::from(masses[0]) * u1 + f64::from(masses[1]) * u2) / total;
            let e = f64::from(restitution);
            // The speeds along n relative to the centre of mass are multiplied by −e; friction reduces the speeds
            // across n.
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
fn bodies_that_move_in_parallel_or_apart_do_not_collide() {
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
fn momentum_is_conserved_in_every_scene_without_a_planet() {
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
fn energy_is_conserved_at_full_restitution_and_never_grows() {
    for restitution in [0.0, 0.3, 1.0] {
        let mode = Asteroids { restitution, friction: 0.1 * (1.0 - restitution), dt: 0.01, ..space() };
        // The pairs are far from each other, so every collision involves two bodies.
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
        let (mode, mut start) = start(&block().unwrap(), n);
        start.velocities.iter_mut().for_each(|v| *v = [0.0; 4]);
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
fn a_body_rebounds_from_the_surface_of_the_planet() {
    let mode = Asteroids { planet_mass: 0.0, planet_radius: 1.0, radius: 0.1, restitution: 0.5, ..space() };
    let start = bodies(&[([1.05, 0.0, 0.0], [-1.0, 0.3, 0.0], 1.0)]);
    let end = run(build(&mode, &INFO.variants[0], &start).as_mut(), 1);
    assert!(
        (end.velocities[0][0] - 0.5).abs() < 1e-6 && (end.velocities[0][1] - 0.3).abs() < 1e-6,
        "{end:?}"
    );
}

/// Returns which bodies were hit in the last step, according to the colour `hit`, and the number of collisions.
fn hits(mode: &dyn Mode, variant: &'static Variant, start: &Bodies, steps: u32) -> (Vec<bool>, f64) {
    let mut mode = mode.boxed();
    gravitile::base::params::set(mode.as_mut(), "colour", gravitile::base::params::Choice::name(Colour::Hit))
        .unwrap();
    let mut simulation = mode.build(&cpu(), recipe(variant), &start.clone().into()).unwrap();
    run(simulation.as_mut(), steps);
    let (points, _) = simulation.publish(Points::default(), None).unwrap().wait().unwrap();
    let collisions = reading(&simulation.diagnostics().unwrap(), "collisions");
    (points.values.iter().map(|value| *value == 1.0).collect(), collisions)
}

#[test]
fn every_variant_finds_the_same_colliding_pairs() {
    for (name, n) in [("belt", 3000), ("clouds", 1500), ("shooter", 700), ("billiards", 500)] {
        let (mode, start) = scene(name, n);
        // One variant runs some steps first, so that bodies meet in the compared step.
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
fn variants_agree_for_crowded_cells_and_very_distant_bodies() {
    let mut far = Bodies::default();
    // Many bodies in one cell, a touching pair very far out, and a body beyond all cells.
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
fn coincident_bodies_are_pushed_apart() {
    let start = bodies(&[([0.3; 3], [0.0; 3], 1.0), ([0.3; 3], [0.0; 3], 2.0), ([0.3; 3], [0.0; 3], 0.0)]);
    for variant in INFO.variants {
        let end = run(build(&Asteroids { push: 0.5, ..space() }, variant, &start).as_mut(), 5);
        assert_eq!(end.nonfinite(), 0);
        let apart = (end.positions[0][0] - end.positions[1][0]).abs();
        assert!(apart > 0.1, "{}: {end:?}", variant.name);
    }
}

#[test]
fn massless_bodies_collide_without_affecting_massive_bodies() {
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
fn equal_start_bodies_give_bitwise_equal_results() {
    let (mode, start) = scene("belt", 2000);
    for variant in INFO.variants {
        let once = || run(mode.build(&cpu(), recipe(variant), &start.clone().into()).unwrap().as_mut(), 50);
        assert_eq!(once(), once(), "{}", variant.name);
    }
}

#[test]
fn bodies_with_nonfinite_values_are_excluded() {
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
fn an_excluded_body_does_not_hide_collisions_of_other_bodies() {
    for variant in INFO.variants {
        for out in 0..4 {
            // Of the four bodies, `a` and `b` collide, and `out` is quarantined.
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

/// A simulation of asteroids, either on a device or by the f64 reference.
struct Course {
    mode: Asteroids,
    by: By,
}

enum By {
    Device(Box<dyn Simulation>),
    Reference(State<f64>),
}

impl Course {
    fn of_device(mode: &Asteroids, variant: &'static Variant, start: &Bodies) -> Self {
        Self { mode: mode.clone(), by: By::Device(build(mode, variant, start)) }
    }

    fn of_reference(mode: &Asteroids, start: &Bodies) -> Self {
        Self { mode: mode.clone(), by: By::Reference(State::from(start.clone()).to_f64()) }
    }

    /// Returns two simulations from the same start: one on a device with the variant `grid`, and one with the f64
    /// reference.
    fn both(mode: &Asteroids, start: &Bodies) -> [Self; 2] {
        [Self::of_device(mode, INFO.variant("grid").unwrap(), start), Self::of_reference(mode, start)]
    }

    fn run(&mut self, steps: u32) -> Bodies<f64> {
        match &mut self.by {
            By::Device(simulation) => run(simulation.as_mut(), steps).to_f64(),
            By::Reference(state) => {
                self.mode.reference(state, steps).unwrap();
                state.bodies().unwrap().clone()
            }
        }
    }

    fn name(&self) -> &'static str {
        match &self.by {
            By::Device(_) => "grid",
            By::Reference(_) => "f64",
        }
    }
}

fn length(v: &[f64; 4]) -> f64 {
    (0..3).map(|k| v[k].powi(2)).sum::<f64>().sqrt()
}

fn fastest(bodies: &Bodies<f64>) -> f64 {
    bodies.velocities.iter().map(length).fold(0.0, f64::max)
}

fn energy(bodies: &Bodies<f64>) -> f64 {
    let rows = bodies.positions.iter().zip(&bodies.velocities);
    rows.map(|(x, v)| 0.5 * x[3] * length(v).powi(2)).sum()
}

/// Returns the deepest overlap of equal bodies with each other or with the planet, divided by the radius of a body.
fn deepest(bodies: &Bodies<f64>, mode: &Asteroids) -> f64 {
    let (radius, planet) = (f64::from(mode.radius), f64::from(mode.planet_radius));
    let x = &bodies.positions;
    let apart = |i: usize, j: usize| (0..3).map(|k| (x[i][k] - x[j][k]).powi(2)).sum::<f64>().sqrt();
    let pairs = (0..x.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
    let pairs = pairs.map(|(i, j)| 2.0 * radius - apart(i, j)).fold(0.0, f64::max);
    x.iter().map(|x| planet + radius - length(x)).fold(pairs, f64::max) / radius
}

/// Returns a generator of pseudorandom numbers from 0 to 1, which are the same in every run.
fn noise() -> impl FnMut() -> f64 {
    let mut state = 1u64;
    move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f64 / f64::from(1 << 24)
    }
}

/// Returns `n` bodies at random positions in a ball, with random velocities of up to `speed` along each axis.
fn ball(n: usize, size: f64, speed: f64) -> Bodies {
    let (mut noise, mut bodies) = (noise(), Bodies::default());
    let mut vector = |size: f64| [(); 3].map(|()| (size * (2.0 * noise() - 1.0)) as f32);
    while bodies.len() < n {
        let x = vector(size);
        if x.iter().map(|x| f64::from(x * x)).sum::<f64>() < size * size {
            bodies.push(x, vector(speed), 1.0 / n as f32);
        }
    }
    bodies
}

/// Returns bodies at rest around a planet of radius 0.3, up to a distance of 0.6. No two bodies touch.
fn shell(n: usize, radius: f64) -> Bodies {
    let (mut noise, mut bodies) = (noise(), Bodies::default());
    while bodies.len() < n {
        let x = [(); 3].map(|()| (1.2 * noise() - 0.6) as f32);
        let far = x.iter().map(|x| f64::from(x * x)).sum::<f64>().sqrt();
        let is_free =
            |y: &[f32; 4]| (0..3).map(|k| f64::from(x[k] - y[k]).powi(2)).sum::<f64>().sqrt() > 2.02 * radius;
        if (0.3 + 1.1 * radius..0.6).contains(&far) && bodies.positions.iter().all(is_free) {
            bodies.push(x, [0.0; 3], 1.0 / n as f32);
        }
    }
    bodies
}

/// Returns the bodies of two simulations in which bodies fall on the planet without a rebound, after `steps` steps:
/// 1 500 bodies with `grid`, fewer with the f64 reference.
fn settled(contact_law: ContactLaw, steps: u32) -> Vec<(&'static str, Bodies<f64>, Asteroids)> {
    let mode = Asteroids {
        dt: 0.0015,
        restitution: 0.0,
        friction: 1.0,
        radius: 0.02,
        planet_mass: 1.0,
        planet_radius: 0.3,
        contact_law,
        ..Asteroids::default()
    };
    let grid = INFO.variant("grid").unwrap();
    // The f64 reference gets fewer and larger bodies, so that they also pile up.
    let large = Asteroids { radius: 0.06, ..mode.clone() };
    let courses =
        [Course::of_device(&mode, grid, &shell(1500, 0.02)), Course::of_reference(&large, &shell(200, 0.06))];
    courses.map(|mut course| (course.name(), course.run(steps), course.mode)).into()
}

#[test]
fn bodies_that_fall_on_the_planet_come_to_rest() {
    // Speed of a free fall from the distance 0.6 to the planet's surface at 0.3.
    let free_fall = (2.0f64 / 0.3 - 2.0 / 0.6).sqrt();
    // The total mass is 1.
    let mean = |bodies: &Bodies<f64>| (2.0 * energy(bodies)).sqrt() / free_fall;
    for (name, end, mode) in settled(ContactLaw::Match, 1800) {
        let overlap = deepest(&end, &mode);
        eprintln!("{name}: speed {:.1e} of free fall, overlap {overlap:.3}", mean(&end));
        assert!(mean(&end) < 1e-2, "{name}: {}", mean(&end));
        assert!(overlap < 0.05, "{name}: {overlap}");
        assert!(end.positions.iter().all(|x| length(x) < 0.6), "{name}");
    }
    // The law `simple` adds the whole impulse of every contact, so bodies do not come to rest.
    for (name, end, _) in settled(ContactLaw::Simple, 500) {
        eprintln!("simple, {name}: speed {:.1e} of free fall", mean(&end));
        assert!(name == "f64" || mean(&end) > 0.01, "{}", mean(&end));
    }
}

/// The kernels are accurate for a pile at rest, although its contact forces cancel the gravity.
#[test]
fn the_step_error_of_a_pile_is_small() {
    let (_, pile, mode) = settled(ContactLaw::Match, 700).remove(0);
    for variant in INFO.variants {
        let mut simulation = build(&mode, variant, &pile.to_f32());
        run(simulation.as_mut(), 1);
        let sample: Vec<_> = simulation.sample((0..pile.len()).collect()).unwrap().unwrap().collect();
        let (told, error) = (sample.len(), relative_error(sample).unwrap());
        eprintln!("{}: {error:.1e} of {told}", variant.name);
        assert!(told > 1400 && error < TOLERANCE, "{}: {error} of {told}", variant.name);
    }
}

/// For each simulation, returns how much of its height a stack of bodies on the planet loses, and the final speed of
/// its fastest body.
fn stacked(contact_law: ContactLaw, n: u16) -> Vec<(&'static str, f64, f64)> {
    let mode = Asteroids {
        dt: 0.002,
        restitution: 0.0,
        friction: 1.0,
        radius: 0.02,
        planet_mass: 1.0,
        planet_radius: 0.3,
        contact_law,
        ..Asteroids::default()
    };
    let top = |n: u16| 0.32 + 0.04 * f32::from(n - 1);
    let rows: Vec<_> = (1..=n).map(|k| ([top(k), 0.0, 0.0], [0.0; 3], 1.0)).collect();
    let height = 0.04 * f64::from(n);
    Course::both(&mode, &bodies(&rows))
        .into_iter()
        .map(|mut course| {
            let end = course.run(3000);
            let highest = end.positions.iter().map(|x| x[0]).fold(0.0, f64::max);
            (course.name(), (f64::from(top(n)) - highest) / height, fastest(&end))
        })
        .collect()
}

#[test]
fn stacks_of_bodies_stay_standing() {
    for n in [5, 10] {
        for (name, lost, speed) in stacked(ContactLaw::Match, n) {
            eprintln!("{n}, {name}: {lost:.4} of the height lost, speed {speed:.1e}");
            assert!((0.0..0.02).contains(&lost) && speed < 1e-4, "{n}, {name}: {lost}, {speed}");
        }
        for (name, lost, speed) in stacked(ContactLaw::Simple, n) {
            assert!(lost > 0.1 || speed > 0.01, "{n}, {name}: {lost}, {speed}");
        }
    }
}

/// Returns the final kinetic energy and the largest increase in one step, both divided by the initial kinetic energy.
fn heat(course: &mut Course, steps: u32) -> [f64; 2] {
    let start = energy(&course.run(0));
    let (mut now, mut rise) = (start, 0.0f64);
    for _ in 0..steps {
        let next = energy(&course.run(1));
        (now, rise) = (next, rise.max((next - now) / start));
    }
    [now / start, rise]
}

#[test]
fn crowds_of_overlapping_bodies_gain_no_kinetic_energy() {
    let grid = INFO.variant("grid").unwrap();
    for (restitution, friction) in [(1.0, 0.0), (1.0, 0.5), (0.9, 1.0), (0.0, 0.3)] {
        // Bodies are so crowded that each overlaps several others.
        let mode = Asteroids { restitution, friction, radius: 0.1, ..space() };
        for (n, steps) in [(600, 150), (100, 40)] {
            let start = ball(n, 0.1 * (n as f64).cbrt(), 1.0);
            let mut course = match n {
                600 => Course::of_device(&mode, grid, &start),
                _ => Course::of_reference(&mode, &start),
            };
            let case = format!("e={restitution}, μ={friction}, {}", course.name());
            let [end, rise] = heat(&mut course, steps);
            eprintln!("{case}: K/K0 = {end}, largest rise {rise:.1e}");
            let rounding = if n == 600 { 1e-6 } else { 1e-14 };
            assert!(rise <= rounding, "{case}: {rise}");
            let ((before, scale), (after, _)) = (momentum(&start), momentum(&course.run(0).to_f32()));
            let drift = (0..3).map(|k| (after[k] - before[k]).powi(2)).sum::<f64>().sqrt();
            assert!(drift < 1e-6 * scale, "{case}: momentum drifts by {drift} of {scale}");
            match friction {
                0.0 => assert!((end - 1.0).abs() < 10.0 * rounding, "{case}: {end}"),
                _ => assert!(end < 0.9, "{case}: {end}"),
            }
        }
    }
    let simple = Asteroids { contact_law: ContactLaw::Simple, radius: 0.1, ..space() };
    let [end, _] = heat(&mut Course::of_device(&simple, grid, &ball(600, 0.84, 1.0)), 150);
    assert!(end > 10.0, "the law `simple` heats: {end}");
}

#[test]
fn a_break_of_billiard_balls_gains_no_energy() {
    // Without gaps between the balls, many overlapping bodies collide at the same time.
    for name in ["billiards", "shooter"] {
        let (_, mut start) = scene(name, 1500);
        start.positions.iter_mut().for_each(|x| (0..3).for_each(|k| x[k] *= 0.9));
        let radius = if name == "shooter" { 0.02 } else { 0.01 };
        for contact_law in [ContactLaw::Match, ContactLaw::Simple] {
            let mode = Asteroids { restitution: 1.0, push: 0.2, dt: 2e-3, radius, contact_law, ..space() };
            let [end, rise] = heat(&mut Course::of_device(&mode, INFO.variant("grid").unwrap(), &start), 300);
            eprintln!("{name}, {contact_law:?}: K/K0 = {end}, largest rise {rise:.1e}");
            match contact_law {
                ContactLaw::Match => {
                    assert!(rise < 1e-6 && end > 0.9, "{name}: {end}, {rise}");
                }
                ContactLaw::Simple => assert!(rise > 1e-3, "{name}: {rise}"),
            }
        }
    }
}

#[test]
fn newtons_cradle_passes_the_impact_to_the_last_ball() {
    // Seven balls almost touch in a row; the impact takes one step from each ball to the next.
    let mode = Asteroids { radius: 0.5, dt: 1e-4, ..space() };
    let mut rows: Vec<_> = (0..7u8).map(|k| ([0.99999 * f32::from(k), 0.0, 0.0], [0.0; 3], 1.0)).collect();
    rows[0].1 = [1.0, 0.0, 0.0];
    for mut course in Course::both(&mode, &bodies(&rows)) {
        let end = course.run(12);
        for (k, v) in end.velocities.iter().enumerate() {
            let right = if k == 6 { 1.0 } else { 0.0 };
            assert!(
                (v[0] - right).abs() < 1e-6 && v[1] == 0.0 && v[2] == 0.0,
                "{}, {k}: {v:?}",
                course.name()
            );
        }
    }
}

#[test]
fn a_rebound_under_gravity_has_the_speed_given_by_the_restitution() {
    // Gravity does not separate bodies that lie side by side, but it pulls a body towards the planet during the step.
    let mode = Asteroids { restitution: 0.5, planet_mass: 1.0, planet_radius: 0.3, radius: 0.02, ..space() };
    let start = bodies(&[([0.3195, 0.0, 0.0], [-1.0, 0.2, 0.0], 1.0)]);
    for mut course in Course::both(&mode, &start) {
        let end = course.run(1);
        assert!((end.velocities[0][0] - 0.5).abs() < 1e-6, "{}: {end:?}", course.name());
        assert!((end.velocities[0][1] - 0.2).abs() < 1e-6, "{}: {end:?}", course.name());
    }
}

/// Kernels are accurate even if a body touches more bodies than its list of contacts can hold.
#[test]
fn a_body_with_more_contacts_than_its_list_holds_is_accurate() {
    let mut start = ball(300, 1.0, 1.0);
    start.positions.iter_mut().for_each(|x| (0..3).for_each(|k| x[k] *= 1.5));
    start.push([0.1, 0.0, 0.0], [0.5, 0.0, 0.2], 1.0);
    for (planet_mass, planet_radius) in [(0.0, 0.0), (1.0, 0.8)] {
        let friction = 0.3;
        let mode = Asteroids {
            friction,
            push: 0.2,
            radius: 0.2,
            planet_mass,
            planet_radius,
            restitution: 0.6,
            ..space()
        };
        let start: State = start.clone().into();
        let mut right = start.to_f64();
        mode.reference(&mut right, 1).unwrap();
        for variant in INFO.variants {
            let end = run(build(&mode, variant, start.bodies().unwrap()).as_mut(), 1);
            let error = checks::error(&start, &State::from(end).to_f64(), &right).unwrap();
            assert!(error < 1e-5, "{}, planet {planet_mass}: {error}", variant.name);
        }
    }
}
