//! A clumpy cloud: a fractal of dimension 2, like young star clusters (Goodwin and Whitworth 2004, A&A 413, 929).
//!
//! A cube is divided into eight smaller cubes, of which about half are kept and divided in turn. Cubes whose centres
//! are outside a ball of radius 1 are not kept. Each cube has a random velocity relative to the larger cube that
//! contains it, so that close bodies move together.

use crate::base::Bodies;
use crate::scene::random::Random;

/// Fraction of the smaller cubes that are kept: 2^(D − 3) for a fractal of dimension D = 2.
const KEPT: f64 = 0.5;
/// Speed of a cube of side 1 relative to the larger cube that contains it. With this value, the cloud has a twentieth
/// of the kinetic energy that would stop its collapse.
const SPEED: f64 = 0.15;

struct Cube {
    centre: [f64; 3],
    half: f64,
    velocity: [f64; 3],
}

/// Returns a cloud of `n` bodies of equal mass, with G = M = 1 and a radius of about 1.
pub(super) fn bodies(n: usize, random: &mut Random) -> Bodies<f64> {
    let mut bodies = Bodies::with_capacity(n);
    let all = Cube { centre: [0.0; 3], half: 1.0, velocity: [0.0; 3] };
    fill(&all, n, 1.0 / n as f64, &mut bodies, random);
    bodies
}

/// Adds `count` bodies of the given mass at random positions in `cube`.
fn fill(cube: &Cube, count: usize, mass: f64, bodies: &mut Bodies<f64>, random: &mut Random) {
    if count <= 1 {
        let at = cube.centre.map(|c| c + cube.half * random.signed());
        (0..count).for_each(|_| bodies.push(at, cube.velocity, mass));
        return;
    }
    let half = cube.half / 2.0;
    // A speed ∝ √size, as in interstellar clouds (Larson 1981, MNRAS 194, 809).
    let speed = SPEED * cube.half.sqrt();
    let mut kept: Vec<Cube> = Vec::with_capacity(8);
    for corner in 0..8_u8 {
        let centre: [f64; 3] = std::array::from_fn(|axis| {
            cube.centre[axis] + if corner >> axis & 1 == 1 { half } else { -half }
        });
        let is_inside = centre.iter().map(|c| c * c).sum::<f64>() < 1.0;
        // All of the first cubes inside the ball are kept, so that the cloud is not lopsided.
        if is_inside && (cube.half == 1.0 || random.unit() < KEPT) {
            let kick: [f64; 3] = random.direction();
            let velocity = std::array::from_fn(|axis| cube.velocity[axis] + speed * kick[axis]);
            kept.push(Cube { centre, half, velocity });
        }
    }
    if kept.is_empty() {
        // If none of the smaller cubes is kept, keeps one cube of half the size at the same centre.
        kept.push(Cube { half, ..*cube });
    }
    let first = (random.unit() * kept.len() as f64) as usize;
    for nth in 0..kept.len() {
        let share = count / kept.len() + usize::from(nth < count % kept.len());
        fill(&kept[(first + nth) % kept.len()], share, mass, bodies, random);
    }
}
