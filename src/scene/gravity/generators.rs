//! Generators of the initial states of gravity scenes, and the periods of periodic scenes.

use std::f64::consts::{PI, TAU};
use std::ops::RangeInclusive;

use super::galaxy::Galaxy;
use super::law::Law;
use super::{cloud, patterns, web};
use crate::base::{Bodies, ParamValues, State};
use crate::scene::density::{DensityLaw, DensityModel, ScaledDensity};
use crate::scene::frame::{centre, scale, shift, turn};
use crate::scene::generator::{Argument, Arguments, Generator, Setup};
use crate::scene::orbits::Orbits;
use crate::scene::random::Random;

/// Generators that gravity scenes can use.
pub(crate) static GENERATORS: &[Generator] = &[
    Generator {
        name: "galaxy",
        arguments: &[
            Argument::new("bulge", 0.6, 0.0..=1.0),
            Argument::new("halo", 0.0, 0.0..=1.0),
            Argument::new("scale", 1.0, SIZES),
            Argument::new("q", STABILITY, 0.1..=10.0),
            Argument::new("arms", 0.0, 0.0..=12.0),
        ],
        density: None,
        make: galaxy,
    },
    Generator {
        name: "galaxies",
        arguments: &[
            Argument::new("share", 0.5, 0.0..=1.0),
            Argument::new("bulge", 0.3, 0.0..=1.0),
            Argument::new("halo", 0.0, 0.0..=1.0),
            Argument::new("scale", 0.5, SIZES),
            Argument::new("second_scale", 0.5, SIZES),
            Argument::new("arms", 0.0, 0.0..=12.0),
            Argument::new("distance", 4.0, SIZES),
            Argument::new("pericentre", 0.65, SIZES),
        ],
        density: None,
        make: galaxies,
    },
    Generator {
        name: "plummer",
        arguments: &[],
        density: Some(PLUMMER),
        make: |setup, _| finish(setup, super::plummer::sphere),
    },
    Generator { name: "cube", arguments: &[], density: None, make: cube },
    Generator { name: "ball", arguments: &[], density: None, make: ball },
    Generator {
        name: "lattice",
        arguments: &[],
        density: None,
        make: |setup, _| finish(setup, |n, _, random| patterns::lattice(n, random)),
    },
    Generator {
        name: "shells",
        arguments: &[],
        density: None,
        make: |setup, _| finish(setup, |n, _, random| patterns::shells(n, random)),
    },
    Generator {
        name: "cloud",
        arguments: &[],
        density: None,
        make: |setup, _| finish(setup, |n, _, random| cloud::bodies(n, random)),
    },
    Generator {
        name: "web",
        arguments: &[],
        density: Some(DensityModel::Fitted(DensityLaw::Nfw)),
        make: |setup, _| finish(setup, |n, _, random| web::bodies(n, random)),
    },
    Generator { name: "ring", arguments: &[], density: None, make: ring },
    Generator {
        name: "two-body",
        arguments: &[Argument::new("eccentricity", 0.0, 0.0..=0.9)],
        density: None,
        make: two_body,
    },
    Generator { name: "figure-eight", arguments: &[], density: None, make: figure_eight },
];

/// Density of the Plummer sphere in Hénon's units.
const PLUMMER: DensityModel = DensityModel::Exact(ScaledDensity::plummer(1.0, 3.0 * PI / 16.0));
/// Default of Toomre's stability parameter Q of a galaxy's disc. A thin Newtonian disc with Q < 1 forms clumps; the
/// thick, softened discs of these scenes grow arms.
const STABILITY: f64 = 0.8;
/// Accepted range for generator arguments that are lengths, in N-body units.
const SIZES: RangeInclusive<f64> = 0.01..=100.0;

/// Creates bodies for G = 1 with `make`, scales their velocities to the current G, and centres them on the origin.
fn finish(setup: &Setup, make: impl Fn(usize, Law, &mut Random) -> Bodies<f64>) -> State {
    let law = Law::of(setup.params);
    let mut bodies = make(setup.bodies, law, &mut Random::new(setup.seed));
    scale(&mut bodies, 1.0, law.g.sqrt());
    centre(&mut bodies);
    bodies.to_f32().into()
}

/// Makes a disc around a bulge, with the fraction `halo` of the mass in a dark halo. Without a halo, a heavy bulge must
/// stabilise the disc: with less than half of the mass in the bulge, the disc would turn into a bar within two
/// rotations. With more, the disc stays round and grows many arms.
fn galaxy(setup: &Setup, arguments: &Arguments) -> State {
    let [bulge, halo, scale, q, arms] =
        ["bulge", "halo", "scale", "q", "arms"].map(|name| arguments.get(name));
    let disc = (scale, q, arms.round());
    finish(setup, |n, law, random| Galaxy::new(1.0, [bulge, halo], disc, law).bodies(n, random))
}

/// Makes two galaxies on a parabolic orbit. Two point masses on this orbit would pass each other at the distance
/// `pericentre`. The first galaxy has the fraction `share` of the mass. Both galaxies spin in the direction of the
/// orbit, which produces long tails (Toomre and Toomre 1972, ApJ 178, 623). The discs are tilted by 22.6° and 53.1°.
fn galaxies(setup: &Setup, arguments: &Arguments) -> State {
    let parts = ["bulge", "halo"].map(|name| arguments.get(name));
    let [distance, pericentre] = ["distance", "pericentre"].map(|name| arguments.get(name));
    let discs =
        ["scale", "second_scale"].map(|name| (arguments.get(name), STABILITY, arguments.get("arms").round()));
    finish(setup, |n, law, random| {
        let share = |count: usize| count as f64 / n as f64;
        let count = (n as f64 * arguments.get("share")) as usize;
        let mut first = Galaxy::new(share(count), parts, discs[0], law).bodies(count, random);
        let mut second = Galaxy::new(share(n - count), parts, discs[1], law).bodies(n - count, random);
        turn(&mut first, [1, 2], [12.0 / 13.0, 5.0 / 13.0]);
        turn(&mut second, [2, 0], [3.0 / 5.0, 4.0 / 5.0]);
        // A parabolic orbit at total mass 1 has v² = 2/r, and everywhere r·v_along = √(2·pericentre).
        let along = (2.0 * pericentre).sqrt() / distance;
        let inward = (2.0 / distance - along * along).max(0.0).sqrt();
        shift(&mut second, [distance, 0.0, 0.0], [-inward, along, 0.0]);
        // The groups of the second galaxy are 2 and 3, and −2 for its dark halo.
        second.velocities.iter_mut().for_each(|v| v[3] += if v[3] < 0.0 { -1.0 } else { 2.0 });
        first.positions.append(&mut second.positions);
        first.velocities.append(&mut second.velocities);
        first
    })
}

/// Returns the bodies of a list of orbits, with velocities scaled to the current G and the centre of mass at rest.
pub(crate) fn orbiting(setup: &Setup, orbits: &Orbits) -> State {
    finish(setup, |_, _, _| orbits.bodies.clone())
}

/// Makes a uniform cube of side 2 at rest. A ball of equal density would collapse after a time of π/2·√(R³/2GM) ≈ 1.5.
fn cube(setup: &Setup, _: &Arguments) -> State {
    finish(setup, |n, _, random| at_rest(n, || std::array::from_fn(|_| random.signed())))
}

/// Makes a uniform ball of radius 1 at rest, which collapses after a time of π/2·√(R³/2GM) ≈ 1.1.
fn ball(setup: &Setup, _: &Arguments) -> State {
    finish(setup, |n, _, random| at_rest(n, || random.ball()))
}

fn at_rest(n: usize, mut place: impl FnMut() -> [f64; 3]) -> Bodies<f64> {
    let mut bodies = Bodies::with_capacity(n);
    (0..n).for_each(|_| bodies.push(place(), [0.0; 3], 1.0 / n as f64));
    bodies
}

/// Makes a heavy body inside a uniform annulus. The annulus is stable because it has only 1 % of the mass.
fn ring(setup: &Setup, _: &Arguments) -> State {
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

/// Makes bodies of mass ¾ and ¼ at the apocentre of an orbit with semi-major axis 1. An orbit of eccentricity 0 is
/// circular under the softened force as well; other orbits close only without softening. See [`two_body_period`].
fn two_body(setup: &Setup, arguments: &Arguments) -> State {
    let eccentricity = arguments.get("eccentricity");
    finish(setup, |_, law, _| {
        let r = 1.0 + eccentricity;
        let v = r * (law.omega2(r) * (1.0 - eccentricity)).sqrt();
        let mut bodies = Bodies::with_capacity(2);
        bodies.push([-0.25 * r, 0.0, 0.0], [0.0, -0.25 * v, 0.0], 0.75);
        bodies.push([0.75 * r, 0.0, 0.0], [0.0, 0.75 * v, 0.0], 0.25);
        bodies
    })
}

/// Returns the period of two bodies of the generator `two-body`: 2π/√(GM s(r)) with r = M = 1. The factor s is the
/// softened force divided by the distance: (r² + eps²)^(−3/2) or max(r, eps)^(−3). On orbits that are not circular, the
/// period is exact for eps = 0. The period is infinite if G = 0.
pub fn two_body_period(params: &ParamValues) -> f64 {
    let law = Law::of(params);
    TAU / (law.g * law.omega2(1.0)).sqrt()
}

/// Period of the `figure-eight` scene at G = 1. The period is proportional to 1/√G.
pub const FIGURE_EIGHT_PERIOD: f64 = 6.325_913_98;

/// Makes three bodies on one figure-eight orbit (Chenciner and Montgomery 2000, Ann. Math. 152, 881; values by Simó).
fn figure_eight(setup: &Setup, _: &Arguments) -> State {
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
