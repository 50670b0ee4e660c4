//! Initial conditions for asteroids. The total mass of the bodies is 1, and at the start no two of them touch.
//!
//! Sizes are made for 4 096 bodies. More of them at the same `radius` take more room: a scene grows outwards and
//! stays as crowded as it is. Who wants a million in the same picture divides `radius` by ∛(N/4096), and `dt` too.
//!
//! Scenes without a planet have their centre of mass at rest at the origin; a planet is at rest there itself.

mod disc;
mod packing;

use std::sync::{Arc, LazyLock};

use self::disc::Disc;
use self::packing::Packing;
use super::frame::centre;
use super::random::Random;
use super::{Argument, Arguments, Generator, Scene, Setup, scenes};
use crate::bodies::Bodies;
use crate::state::State;

/// Every scene of the mode; the first is the default.
pub static SCENES: LazyLock<Vec<Arc<Scene>>> =
    scenes!["belt", "rings", "clouds", "billiards", "box", "shooter"];

/// What scenes of the mode are made by.
pub(super) static GENERATORS: &[Generator] = &[
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
        make: disc,
    },
    Generator { name: "clouds", arguments: &[], make: |setup, _| clouds(setup).into() },
    Generator { name: "billiards", arguments: &[], make: |setup, _| billiards(setup).into() },
    Generator { name: "pack", arguments: &[], make: |setup, _| dense_box(setup).into() },
    Generator { name: "shooter", arguments: &[], make: |setup, _| shooter(setup).into() },
];

/// A parameter of the mode; 0 where there is none of that name.
fn param(setup: &Setup, key: &str) -> f64 {
    setup.params.float(key).unwrap_or(0.0).into()
}

/// Bodies with a size but without a place yet: masses that add up to 1, and radii.
struct Balls(Vec<(f64, f64)>);

impl Balls {
    /// Balls with masses in these proportions.
    fn new(setup: &Setup, masses: impl Iterator<Item = f64> + Clone) -> Self {
        let radius = param(setup, "radius");
        let (total, n) = (masses.clone().sum::<f64>(), setup.bodies as f64);
        Self(masses.map(|m| (m / total, radius * cube_root(n * m / total))).collect())
    }

    /// Masses spread over a factor of `spread` by dN/dm ∝ m⁻², the heaviest first: near to the m^(−11/6) of bodies
    /// that grind each other down (Dohnanyi 1969, J. Geophys. Res. 74, 2531), and without powers to invert.
    fn spread(setup: &Setup, spread: f64) -> Self {
        let least = 1.0 / spread;
        let share = 1.0 / setup.bodies as f64;
        // One body from the middle of each equal share of them: no seed has an outlier that is larger than all
        // others, or makes all others small.
        Self::new(setup, (0..setup.bodies).map(|i| 1.0 / (least + (1.0 - least) * (i as f64 + 0.5) * share)))
    }

    fn largest(&self) -> f64 {
        self.0.iter().fold(0.0, |most, (_, radius)| radius.max(most))
    }

    fn packing(&self) -> Packing {
        Packing::new(self.0.len(), self.largest())
    }
}

/// ∛x of a positive number by Newton's method, which rounds alike everywhere, as `f64::cbrt` need not.
fn cube_root(x: f64) -> f64 {
    // A third of the exponent, good to a few per cent (the constant is that of fdlibm); each round doubles the digits.
    let mut root = f64::from_bits(x.to_bits() / 3 + 0x2a9f_7893_0000_0000);
    for _ in 0..5 {
        root -= (root - x / (root * root)) / 3.0;
    }
    root
}

/// A belt or a ring round the planet: `spread` is the heaviest mass over the lightest, 1 for equal ones.
///
/// Of the scene `belt`: restitution 0.7 is above the 0.63 at which shear and collisions balance (Goldreich and Tremaine 1978,
/// Icarus 34, 227), so it stays thick, and slowly spreads. Of `rings`: the edges over the planet's radius are about those of
/// Saturn's B and A rings, 1.5 to 2.3, with a wider division; restitution 0.1 keeps them cold, so that it closes slowly.
fn disc(setup: &Setup, arguments: &Arguments) -> State {
    let [inner, ratio, from, to, tilt, filling, spread] =
        ["inner", "ratio", "gap_from", "gap_to", "tilt", "filling", "spread"].map(|name| arguments.get(name));
    let disc = Disc { inner, ratio, gap: [from, to], tilt, filling };
    disc.fill(setup, &Balls::spread(setup, spread)).into()
}

/// Two balls of bodies, every other body in the second.
fn clouds(setup: &Setup) -> Bodies {
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
    centre(&mut bodies);
    bodies.to_f32()
}

/// The share of their radius by which bodies of a lattice are out of place, along every axis. Those that are less than
/// 2·√3·`SHAKE` radii apart could touch.
const SHAKE: f64 = 0.01;

/// A cue ball, body 0, and a triangle of rows of 1, 2, 3 … balls, the last row as long as the balls last. Against a
/// rack of more than five rows the cue ball is as much heavier as the rack is, or it would be lost in it; not more than
/// 343 times, seven times as large, or the cells of the cell list would hold too many of the others.
///
/// The balls do not quite touch: with a gap to cross, blows come one after the other.
fn billiards(setup: &Setup) -> Bodies {
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
    centre(&mut bodies);
    bodies.to_f32()
}

/// Hexagonal close packing, a little loose.
fn dense_box(setup: &Setup) -> Bodies {
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
    bodies.to_f32()
}

/// Body 0 is the shooter, as heavy as 64 others, or as all of them.
fn shooter(setup: &Setup) -> Bodies {
    const FILLING: f64 = 0.1;
    const SPEED: f64 = 4.0;
    let heavy = (setup.bodies as f64 - 1.0).clamp(1.0, 64.0);
    let balls = Balls::new(setup, (0..setup.bodies).map(|i| if i == 0 { heavy } else { 1.0 }));
    let size = param(setup, "radius") * cube_root(setup.bodies as f64 / FILLING);
    let random = &mut Random::new(setup.seed);
    let mut bodies = Bodies::with_capacity(setup.bodies);
    let [(m, ball), others @ ..] = &balls.0[..] else { return Bodies::default() };
    bodies.push([-1.3 * size - 2.0 * ball, 0.0, 0.0], [SPEED, 0.0, 0.0], *m);
    let mut packing = Packing::new(others.len(), others.first().map_or(0.0, |(_, ball)| *ball));
    for (m, ball) in others {
        let at = packing.put(*ball, || random.ball().map(|c| c * size));
        bodies.push(at, [0.0; 3], *m);
    }
    bodies.velocities[1..].iter_mut().for_each(|v| v[3] = 1.0);
    centre(&mut bodies);
    bodies.to_f32()
}
