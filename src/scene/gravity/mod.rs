//! Initial conditions for gravity. Lengths, masses and times are N-body units: G = 1 at the defaults, and the
//! total mass is 1 unless a scene says otherwise. Every scene has its centre of mass at rest at the origin.

mod galaxy;
mod law;
mod plummer;

use std::f64::consts::TAU;

use self::galaxy::Galaxy;
use self::law::Law;
use super::frame::{centre, scale, shift, turn};
use super::random::Random;
use super::{Scene, Setup};
use crate::bodies::Bodies;
use crate::params::Values;

/// Every scene of the mode; the first is the default.
pub static SCENES: &[Scene] = &[
    Scene {
        name: "galaxy",
        summary: "a turning disc that winds itself into spiral arms",
        bodies: None,
        params: &[("dt", "0.02"), ("eps", "0.05")],
        generate: |setup| galaxy(setup).into(),
    },
    Scene {
        name: "collision",
        summary: "two galaxies meet, throw out tidal tails and merge",
        bodies: None,
        params: &[("dt", "0.015"), ("eps", "0.05")],
        generate: |setup| collision(setup).into(),
    },
    Scene {
        name: "plummer",
        summary: "a star cluster in balance",
        bodies: None,
        params: &[("dt", "0.01"), ("eps", "0.03")],
        generate: |setup| finish(setup, plummer::sphere).into(),
    },
    Scene {
        name: "cube",
        summary: "a cube of resting bodies collapses into filaments and knots",
        bodies: None,
        params: &[("dt", "0.01"), ("eps", "0.05")],
        generate: |setup| cube(setup).into(),
    },
    Scene {
        name: "cold-sphere",
        summary: "a ball of resting bodies falls in on itself and bounces",
        bodies: None,
        params: &[("dt", "0.01"), ("eps", "0.05")],
        generate: |setup| cold_sphere(setup).into(),
    },
    Scene {
        name: "ring",
        summary: "a ring that circles a heavy body",
        bodies: None,
        params: &[("dt", "0.02"), ("eps", "0.03")],
        generate: |setup| ring(setup).into(),
    },
    Scene {
        name: "two-body",
        summary: "two bodies on circular orbits, to check a step by eye",
        bodies: Some(2),
        params: &[("dt", "0.02"), ("eps", "0.01")],
        generate: |setup| two_body(setup).into(),
    },
    Scene {
        name: "figure-eight",
        summary: "three bodies chase each other along one figure of eight",
        bodies: Some(3),
        params: &[("dt", "0.01"), ("eps", "0.00001")],
        generate: |setup| figure_eight(setup).into(),
    },
];

/// Runs a generator that works at G = 1, then fits the velocities to today's G and stills the whole.
fn finish(setup: &Setup, make: impl Fn(usize, Law, &mut Random) -> Bodies<f64>) -> Bodies {
    let law = Law::of(setup.params);
    let mut bodies = make(setup.bodies, law, &mut Random::new(setup.seed));
    scale(&mut bodies, 1.0, law.g.sqrt());
    centre(&mut bodies);
    bodies.to_f32()
}

/// A disc around a bulge that stands for the halo too: with less than half of the mass in it, the disc would
/// turn into a bar within two turns; this one stays round and grows many arms.
fn galaxy(setup: &Setup) -> Bodies {
    const BULGE: f64 = 0.6;
    finish(setup, |n, law, random| Galaxy::new(1.0, BULGE, 1.0, law).bodies(n, random))
}

/// Two equal galaxies on a parabolic orbit, whose point masses would pass at the distance `PERICENTRE`. Both
/// spin with the orbit, the way that makes long tails (Toomre and Toomre 1972, ApJ 178, 623), tilted by
/// 22.6° and 53.1°.
fn collision(setup: &Setup) -> Bodies {
    const SCALE: f64 = 0.5;
    const BULGE: f64 = 0.3;
    const DISTANCE: f64 = 4.0;
    const PERICENTRE: f64 = 0.65;
    finish(setup, |n, law, random| {
        let share = |count: usize| count as f64 / n as f64;
        let mut first = Galaxy::new(share(n / 2), BULGE, SCALE, law).bodies(n / 2, random);
        let mut second = Galaxy::new(share(n - n / 2), BULGE, SCALE, law).bodies(n - n / 2, random);
        turn(&mut first, [1, 2], [12.0 / 13.0, 5.0 / 13.0]);
        turn(&mut second, [2, 0], [3.0 / 5.0, 4.0 / 5.0]);
        // Parabola at total mass 1: v² = 2/r, and r·v_along = √(2·pericentre) all along.
        let along = (2.0 * PERICENTRE).sqrt() / DISTANCE;
        let inward = (2.0 / DISTANCE - along * along).sqrt();
        shift(&mut second, [DISTANCE, 0.0, 0.0], [-inward, along, 0.0]);
        first.positions.append(&mut second.positions);
        first.velocities.append(&mut second.velocities);
        first
    })
}

/// A uniform cube of side 2 at rest; a ball of that density would fall in within π/2·√(R³/2GM) ≈ 1.5.
fn cube(setup: &Setup) -> Bodies {
    finish(setup, |n, _, random| at_rest(n, || std::array::from_fn(|_| random.signed())))
}

/// A uniform ball of radius 1 at rest: it falls in within π/2·√(R³/2GM) ≈ 1.1.
fn cold_sphere(setup: &Setup) -> Bodies {
    finish(setup, |n, _, random| at_rest(n, || random.ball()))
}

fn at_rest(n: usize, mut place: impl FnMut() -> [f64; 3]) -> Bodies<f64> {
    let mut bodies = Bodies::with_capacity(n);
    (0..n).for_each(|_| bodies.push(place(), [0.0; 3], 1.0 / n as f64));
    bodies
}

/// A heavy body and, around it, an even annulus with 1 % of the mass, light enough to stay a ring.
fn ring(setup: &Setup) -> Bodies {
    const MASS: f64 = 0.01;
    const INNER2: f64 = 0.85 * 0.85;
    const OUTER2: f64 = 1.15 * 1.15;
    finish(setup, |n, law, random| {
        let centre = if n == 1 { 1.0 } else { 1.0 - MASS };
        let mut bodies = Bodies::with_capacity(n);
        bodies.push([0.0; 3], [0.0; 3], centre);
        for _ in 1..n {
            let r = (INNER2 + (OUTER2 - INNER2) * random.unit()).sqrt();
            let [x, y] = random.direction();
            let v = r * (centre * law.omega2(r)).sqrt();
            bodies.push([r * x, r * y, 0.0], [-v * y, v * x, 0.0], MASS / (n - 1) as f64);
        }
        bodies
    })
}

/// Masses ¾ and ¼ at the distance 1, on circular orbits of the softened force; see [`two_body_period`].
fn two_body(setup: &Setup) -> Bodies {
    finish(setup, |_, law, _| {
        let v = law.omega2(1.0).sqrt();
        let mut bodies = Bodies::with_capacity(2);
        bodies.push([-0.25, 0.0, 0.0], [0.0, -0.25 * v, 0.0], 0.75);
        bodies.push([0.75, 0.0, 0.0], [0.0, 0.75 * v, 0.0], 0.25);
        bodies
    })
}

/// The period of the scene `two-body`: 2π/√(GM s(r)) with r = M = 1, where s is the softened force over
/// distance, (r² + eps²)^(−3/2) or max(r, eps)^(−3). Without softening that is 2π/√(GM/r³).
///
/// Infinite at G = 0.
pub fn two_body_period(params: &Values) -> f64 {
    let law = Law::of(params);
    TAU / (law.g * law.omega2(1.0)).sqrt()
}

/// The period of the scene `figure-eight` at G = 1; it goes with 1/√G.
pub const FIGURE_EIGHT_PERIOD: f64 = 6.325_913_98;

/// Three bodies of mass 1 on one path (Chenciner and Montgomery 2000, Annals of Mathematics 152, 881; initial
/// conditions found by Simó).
fn figure_eight(setup: &Setup) -> Bodies {
    const X: [f64; 2] = [0.970_004_36, -0.243_087_53];
    const V: [f64; 2] = [-0.932_407_37, -0.864_731_46];
    finish(setup, |_, _, _| {
        let mut bodies = Bodies::with_capacity(3);
        let [vx, vy] = V.map(|c| -c / 2.0);
        bodies.push([X[0], X[1], 0.0], [vx, vy, 0.0], 1.0);
        bodies.push([-X[0], -X[1], 0.0], [vx, vy, 0.0], 1.0);
        bodies.push([0.0; 3], [V[0], V[1], 0.0], 1.0);
        bodies
    })
}
