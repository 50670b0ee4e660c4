//! Generators of the initial states of asteroid scenes.

use std::f64::consts::PI;
use std::iter;

use libm::{cos, sin};

use super::balls::{Balls, Packing, cube_root, param};
use super::disc::{Disc, circular};
use crate::base::{Bodies, State};
use crate::scene::frame::{centre, shift};
use crate::scene::generator::{Argument, Arguments, Generator, Setup};
use crate::scene::random::Random;

/// Generators that asteroid scenes can use.
pub(crate) static GENERATORS: &[Generator] = &[
    Generator {
        name: "disc",
        arguments: &[
            Argument::new("inner", 0.6, 0.01..=100.0),
            Argument::new("ratio", 2.0, 1.01..=100.0),
            Argument::new("gap_from", 0.0, 0.0..=1.0),
            Argument::new("gap_to", 0.0, 0.0..=0.99),
            Argument::new("tilt", 0.1, 0.001..=0.5),
            Argument::new("filling", 0.1, 0.001..=0.2),
            Argument::new("spread", 1.0, 1.0..=1e4),
        ],
        density: None,
        make: disc,
    },
    Generator { name: "clouds", arguments: &[], density: None, make: clouds },
    Generator { name: "billiards", arguments: &[], density: None, make: billiards },
    Generator {
        name: "pack",
        arguments: &[Argument::new("fall", 0.0, 0.0..=100.0), Argument::new("spin", 0.0, -100.0..=100.0)],
        density: None,
        make: dense_box,
    },
    Generator {
        name: "arc",
        arguments: &[Argument::new("height", 0.4, 0.0..=100.0), Argument::new("elapsed", 6.0, 0.0..=100.0)],
        density: None,
        make: arc,
    },
    Generator {
        name: "impact",
        arguments: &[Argument::new("speed", 1.4, 0.0..=100.0), Argument::new("aim", 0.67, 0.0..=2.0)],
        density: None,
        make: impact,
    },
    Generator { name: "shooter", arguments: &[], density: None, make: shooter },
];

/// Moves the centre of mass to the origin, brings it to rest, and returns the bodies as a [`State`].
fn at_rest(mut bodies: Bodies<f64>) -> State {
    centre(&mut bodies);
    bodies.to_f32().into()
}

/// Makes a belt or a ring around the planet. `spread` is the ratio of the heaviest mass to the lightest mass.
///
/// The belt of the `belt` scene stays thick and slowly spreads: its restitution of 0.7 is above 0.63, at which shear
/// and collisions balance (Goldreich and Tremaine 1978, Icarus 34, 227). The `rings` scene extends from 1.5 to 2.3
/// planet radii, like Saturn's B and A rings. Its gap is wider than Saturn's and closes slowly: the restitution is 0.1.
fn disc(setup: &Setup, arguments: &Arguments) -> State {
    let [inner, ratio, from, to, tilt, filling, spread] =
        ["inner", "ratio", "gap_from", "gap_to", "tilt", "filling", "spread"].map(|name| arguments.get(name));
    let disc = Disc { inner, ratio, gap: [from, to], tilt, filling };
    disc.fill(setup, &Balls::spread(setup, spread)).into()
}

/// Makes two spherical clouds of bodies that move towards each other. Bodies with odd indices are in the second cloud.
fn clouds(setup: &Setup, _: &Arguments) -> State {
    const FILLING: f64 = 0.08;
    const SPEED: f64 = 1.0;
    let balls = Balls::spread(setup, 10.0);
    let size = param(setup, "radius") * cube_root(setup.bodies as f64 / (2.0 * FILLING));
    let distance = 1.2 * size + 1.1 * balls.largest();
    let random = &mut Random::new(setup.seed);
    let mut packing = balls.packing();
    let mut bodies = Bodies::with_capacity(setup.bodies);
    for (i, &(m, ball)) in balls.0.iter().enumerate() {
        let side = if i % 2 == 0 { -1.0 } else { 1.0 };
        let at = packing.put(ball, || {
            let [x, y, z] = random.ball().map(|c| c * size);
            [x + side * distance, y, z]
        });
        bodies.push(at, [-side * SPEED, 0.0, 0.0], m);
        bodies.velocities[i][3] = (i % 2) as f64;
    }
    at_rest(bodies)
}

/// Maximum random displacement of a ball from the lattice along each axis, in ball radii. Balls whose gap in the
/// lattice is at least 2·√3·`SHAKE` radii cannot touch.
const SHAKE: f64 = 0.01;

/// Makes a cue ball (body 0) and a triangle of balls in rows of 1, 2, 3 … balls. The last row may be incomplete.
///
/// With more than five rows, the mass of the cue ball grows with the number of balls, so that it still scatters them.
/// The cue ball is at most 343 times as heavy and seven times as wide as another ball, because the cells of the cell
/// list around a larger ball would hold too many balls. Small gaps make collisions happen one after another.
fn billiards(setup: &Setup, _: &Arguments) -> State {
    const SLACK: f64 = 0.1;
    const SPEED: f64 = 2.0;
    const HEAVIEST: f64 = 343.0;
    let mut rows = 0;
    while rows * (rows + 1) / 2 + 1 < setup.bodies {
        rows += 1;
    }
    let weight = ((rows * rows) as f64 / 25.0).clamp(1.0, HEAVIEST);
    let balls = Balls::new(setup, (0..setup.bodies).map(|i| if i == 0 { weight } else { 1.0 }));
    let random = &mut Random::new(setup.seed);
    let mut bodies = Bodies::with_capacity(setup.bodies);
    let (mut row, mut column) = (0, 0);
    for (i, &(m, ball)) in balls.0.iter().enumerate() {
        let ([x, y], speed) = if i == 0 {
            ([-1.5 * ball - 2.0 * param(setup, "radius"), 0.0], SPEED)
        } else {
            let pitch = (1.0 + SLACK) * ball;
            let at = [f64::from(row) * 3f64.sqrt() * pitch, f64::from(2 * column - row) * pitch];
            (row, column) = if column == row { (row + 1, 0) } else { (row, column + 1) };
            (at, 0.0)
        };
        let [dx, dy] = [(); 2].map(|()| SHAKE * ball * random.signed());
        bodies.push([x + dx, y + dy, 0.0], [speed, 0.0, 0.0], m);
        bodies.velocities[i][3] = f64::from(i != 0);
    }
    at_rest(bodies)
}

/// Makes a box of bodies in hexagonal close packing, with small gaps. The box rotates round its vertical axis with the
/// angular velocity `spin`. If `fall` is 0, the box is at the origin; otherwise it is above the planet, and `fall` is
/// the distance between them.
fn dense_box(setup: &Setup, arguments: &Arguments) -> State {
    const SLACK: f64 = 0.02;
    let mut side = 1;
    while side * side * side < setup.bodies {
        side += 1;
    }
    let ball = param(setup, "radius");
    let pitch = (1.0 + SLACK) * ball;
    let random = &mut Random::new(setup.seed);
    let mut bodies = Bodies::with_capacity(setup.bodies);
    for n in 0..setup.bodies {
        let [i, j, k] = [n % side, n / side % side, n / (side * side)];
        let lattice = [
            (2 * i + (j + k) % 2) as f64,
            3f64.sqrt() * (j as f64 + (k % 2) as f64 / 3.0),
            (8f64 / 3.0).sqrt() * k as f64,
        ];
        let at = lattice.map(|c| c * pitch + SHAKE * ball * random.signed());
        bodies.push(at, [0.0; 3], 1.0 / setup.bodies as f64);
    }
    centre(&mut bodies);
    let spin = arguments.get("spin");
    // Without a spin, the products below would be −0 instead of 0 and change the bits of saved scenes.
    if spin != 0.0 {
        for (x, v) in bodies.positions.iter().zip(&mut bodies.velocities) {
            (v[0], v[1]) = (-spin * x[1], spin * x[0]);
        }
    }
    let fall = arguments.get("fall");
    if fall > 0.0 {
        let lowest = bodies.positions.iter().map(|x| x[2]).fold(f64::INFINITY, f64::min);
        let height = param(setup, "planet_radius") + fall + ball - lowest;
        shift(&mut bodies, [0.0, 0.0, height], [0.0; 3]);
    }
    bodies.to_f32().into()
}

/// Makes an arc of bodies on circular orbits around the planet. A block of bodies whose lowest bodies are `height` above
/// the surface becomes such an arc in the time `elapsed`, because the lower bodies overtake the higher ones.
fn arc(setup: &Setup, arguments: &Arguments) -> State {
    /// Share of the block's volume that the bodies fill.
    const FILLING: f64 = 0.3;
    /// Ratio of the block's thickness, at right angles to the orbits, to its length. Its breadth equals its length.
    const FLATNESS: f64 = 0.6;
    let [g, mass, planet, radius] =
        ["g", "planet_mass", "planet_radius", "radius"].map(|key| param(setup, key));
    let [height, elapsed] = ["height", "elapsed"].map(|name| arguments.get(name));
    let balls = Balls::spread(setup, 1.0);
    let side = radius * cube_root(4.0 / 3.0 * PI * setup.bodies as f64 / (FILLING * FLATNESS));
    let inner = planet + height + balls.largest();
    let (middle, outer) = (inner + 0.5 * side, inner + side);
    let turn = |r: f64| elapsed * (g * mass / (r * r * r)).sqrt();
    let random = &mut Random::new(setup.seed);
    let mut packing = balls.packing();
    let mut bodies = Bodies::with_capacity(setup.bodies);
    for &(m, ball) in &balls.0 {
        let at = packing.put(ball, || {
            let r = (inner * inner + (outer * outer - inner * inner) * random.unit()).sqrt();
            let angle = 0.5 * side / middle * random.signed() + turn(r) - turn(middle);
            [r * cos(angle), r * sin(angle), 0.5 * FLATNESS * side * random.signed()]
        });
        bodies.push(at, circular(at, 0.0, g * mass), m);
    }
    bodies.to_f32().into()
}

/// Makes a spherical rubble pile that flies towards the planet with the speed `speed`. `aim` is its impact parameter:
/// the distance of its line of flight from the centre of the planet, in planet radii.
fn impact(setup: &Setup, arguments: &Arguments) -> State {
    /// Share of the pile's volume that the bodies would fill if no part were left out.
    const FILLING: f64 = 0.12;
    /// Distance at the start between the surface of the planet and the middle of the pile, in radii of the pile. The
    /// part of the pile that would lie inside the planet has no bodies.
    const HEIGHT: f64 = 0.2;
    /// Maximum number of places drawn for a body to find one outside the planet. At least every tenth place is outside.
    const TRIES: usize = 1000;
    /// Minimum gap between a body and the planet, in radii of the body.
    const MARGIN: f64 = 0.2;
    /// Direction of flight, a unit vector (x, z).
    const FLIGHT: [f64; 2] = [0.8, -0.6];
    /// Direction from the centre of the planet to the line of flight, a unit vector (x, z).
    const ASIDE: [f64; 2] = [0.6, 0.8];
    let balls = Balls::spread(setup, 8.0);
    let size = param(setup, "radius") * cube_root(setup.bodies as f64 / FILLING);
    let planet = param(setup, "planet_radius");
    let aside = arguments.get("aim") * planet;
    let distance = planet + HEIGHT * size;
    let back = (distance * distance - aside * aside).max(0.0).sqrt();
    let [x, z] = [0, 1].map(|axis| aside * ASIDE[axis] - back * FLIGHT[axis]);
    let [vx, vz] = FLIGHT.map(|part| arguments.get("speed") * part);
    let random = &mut Random::new(setup.seed);
    let mut packing = balls.packing();
    let mut bodies = Bodies::with_capacity(setup.bodies);
    for &(m, ball) in &balls.0 {
        let is_outside =
            |[x, y, z]: &[f64; 3]| (x * x + y * y + z * z).sqrt() > planet + (1.0 + MARGIN) * ball;
        let at = packing.put(ball, || {
            let mut places = iter::repeat_with(|| random.ball().map(|c| c * size)).take(TRIES);
            let outside = places.find_map(|[dx, dy, dz]| Some([x + dx, dy, z + dz]).filter(is_outside));
            outside.unwrap_or([x, 0.0, z])
        });
        bodies.push(at, [vx, 0.0, vz], m);
    }
    bodies.to_f32().into()
}

/// Makes a cloud of bodies at rest and a fast body 0. Body 0 is as heavy as all other bodies together, but at most as
/// heavy as 64 of them.
fn shooter(setup: &Setup, _: &Arguments) -> State {
    const FILLING: f64 = 0.1;
    const SPEED: f64 = 4.0;
    let heavy = (setup.bodies as f64 - 1.0).clamp(1.0, 64.0);
    let balls = Balls::new(setup, (0..setup.bodies).map(|i| if i == 0 { heavy } else { 1.0 }));
    let size = param(setup, "radius") * cube_root(setup.bodies as f64 / FILLING);
    let random = &mut Random::new(setup.seed);
    let mut bodies = Bodies::with_capacity(setup.bodies);
    let [(m, ball), others @ ..] = &balls.0[..] else { return Bodies::default().into() };
    bodies.push([-1.3 * size - 2.0 * ball, 0.0, 0.0], [SPEED, 0.0, 0.0], *m);
    let mut packing = Packing::new(others.len(), others.first().map_or(0.0, |(_, ball)| *ball));
    for (m, ball) in others {
        let at = packing.put(*ball, || random.ball().map(|c| c * size));
        bodies.push(at, [0.0; 3], *m);
    }
    bodies.velocities[1..].iter_mut().for_each(|v| v[3] = 1.0);
    at_rest(bodies)
}
