//! A cosmic web: an expanding ball of bodies on a lattice with small distortions, by the method of Zel'dovich
//! (1970, A&A 5, 84).
//!
//! The ball is surrounded by empty space and behaves like a closed universe: its centre is at rest, and it starts at
//! half of its largest radius. With R = 1 − cos η and t = η − sin η in units with G = M = 1, it starts at η = π/2.
//! A body that belongs at q in a ball of radius 1 is at r = R(q + ψ). The displacements ψ grow as
//! D(η) = (5 + cos η)/(1 − cos η) − 3η sin η/(1 − cos η)² (Peebles 1980, The Large-Scale Structure of the Universe,
//! § 11), so bodies start at q + ψ with the velocity q + ψ + fψ, where f = d ln D/d ln R.

use std::f64::consts::PI;

use super::fourier::{Complex, transform};
use crate::base::Bodies;
use crate::scene::random::Random;

/// Growth rate f of the displacements at the start: d ln D/d ln R at η = π/2.
const GROWTH: f64 = (3.0 * PI - 9.0) / (5.0 - 1.5 * PI);
/// Root mean square of the displacements at the start, along each axis, as a fraction of the radius of the ball.
const DISPLACEMENT: f64 = 0.038;
/// Smallest wave number of the irregularities, in waves across the ball. Longer waves would pull the ball apart.
const LEAST_WAVES: f64 = 2.0;
/// Wave number at which the irregularities fade to half of their amplitude, in waves across the ball. The method of
/// Zel'dovich fails where the paths of bodies have crossed: with shorter waves, the ball would start as a cloud of clumps
/// instead of filaments (truncated Zel'dovich approximation: Coles, Melott and Shandarin 1993, MNRAS 260, 765).
const MOST_WAVES: f64 = 12.0;
/// Largest number of cells along each side of the grid of displacements.
const MOST_CELLS: usize = 128;

/// Returns a ball of `n` bodies of equal mass, with G = M = 1 and radius 1.
pub(super) fn bodies(n: usize, random: &mut Random) -> Bodies<f64> {
    let places = lattice(n);
    let side = (2 * places.side).next_power_of_two().clamp(8, MOST_CELLS);
    let displacements = displacements(side, random);
    let mut bodies = Bodies::with_capacity(n);
    for q in places.points {
        let d = interpolate(&displacements, side, q);
        let at = std::array::from_fn(|axis| q[axis] + d[axis]);
        // The expansion moves each body at the speed of its distance from the centre: R = dR/dt = 1 at the start.
        let velocity = std::array::from_fn(|axis| q[axis] + (1.0 + GROWTH) * d[axis]);
        bodies.push(at, velocity, 1.0 / n as f64);
    }
    bodies
}

struct Lattice {
    points: Vec<[f64; 3]>,
    /// Number of lattice points along a radius of the ball.
    side: usize,
}

/// Returns the `n` points of a cubic lattice that are closest to the centre, which is half-way between lattice points.
fn lattice(n: usize) -> Lattice {
    // Coordinates are doubled, so that they are odd integers. `points` holds the squared distance of each point from
    // the centre, and its coordinates.
    let mut side = 1_i64;
    let mut points: Vec<(i64, [i64; 3])> = Vec::new();
    while points.len() < n {
        // A ball of this radius lies within the cube of the lattice points considered.
        let most = (2 * side + 1) * (2 * side + 1);
        if 4.2 * (side as f64 + 0.5) * (side as f64 + 0.5) * (side as f64 + 0.5) > n as f64 {
            let odd = || (-side..side).map(|nth| 2 * nth + 1);
            let all = odd().flat_map(|z| odd().flat_map(move |y| odd().map(move |x| [x, y, z])));
            let near = all.map(|p| (p.iter().map(|c| c * c).sum(), p)).filter(|(d2, _)| *d2 < most);
            points = near.collect();
        }
        side += 1;
    }
    points.sort_by_key(|(d2, _)| *d2);
    points.truncate(n);
    let radius = points.last().map_or(1.0, |(d2, _)| (*d2 as f64).sqrt());
    Lattice {
        points: points.iter().map(|(_, p)| p.map(|c| c as f64 / radius)).collect(),
        side: side as usize,
    }
}

/// Returns displacements on a periodic grid with the power spectrum P(k) ∝ 1/k, as in clusters of galaxies.
fn displacements(side: usize, random: &mut Random) -> Vec<[f64; 3]> {
    let mut noise: Vec<Complex> = (0..side.pow(3)).map(|_| Complex(random.bell(), 0.0)).collect();
    transform(&mut noise, side, -1.0);
    let wave = |nth: usize| {
        // A wave at half of the grid's sampling rate has no direction, so its wave number is set to 0.
        let (nth, half) = (nth as i64, side as i64 / 2);
        (if nth < half {
            nth
        } else if nth == half {
            0
        } else {
            nth - side as i64
        }) as f64
    };
    let waves = |cell: usize| [cell % side, cell / side % side, cell / (side * side)].map(wave);
    // The displacement i·k/k²·δ of two axes is the real and the imaginary part of one transform.
    let component = |weights: [Complex; 3]| -> Vec<Complex> {
        let mut cells: Vec<Complex> = noise
            .iter()
            .enumerate()
            .map(|(cell, number)| {
                let k = waves(cell);
                let k2: f64 = k.iter().map(|c| c * c).sum();
                if k2 < LEAST_WAVES * LEAST_WAVES {
                    return Complex::default();
                }
                let along = (0..3)
                    .map(|axis| weights[axis] * Complex(k[axis], 0.0))
                    .fold(Complex::default(), |sum, part| sum + part);
                // i/k² times √P(k), where P(k) = 1/k.
                let ratio = k2 / (MOST_WAVES * MOST_WAVES);
                let fade = 1.0 / (1.0 + ratio * ratio);
                *number * along * Complex(0.0, fade / (k2 * k2.sqrt().sqrt()))
            })
            .collect();
        transform(&mut cells, side, 1.0);
        cells
    };
    let (one, i, none) = (Complex(1.0, 0.0), Complex(0.0, 1.0), Complex::default());
    let (xy, z) = (component([one, i, none]), component([none, none, one]));
    let mut all: Vec<[f64; 3]> = xy.iter().zip(&z).map(|(xy, z)| [xy.0, xy.1, z.0]).collect();
    let mean2 = all.iter().flatten().map(|c| c * c).sum::<f64>() / (3 * all.len()) as f64;
    let factor = DISPLACEMENT / mean2.sqrt();
    all.iter_mut().flatten().for_each(|c| *c *= factor);
    all
}

/// Returns the displacement at `q`, with coordinates from −1 to 1, by linear interpolation between cells.
fn interpolate(cells: &[[f64; 3]], side: usize, q: [f64; 3]) -> [f64; 3] {
    let place = q.map(|c| (c + 1.0) / 2.0 * side as f64);
    let first = place.map(|c| c as usize);
    let part: [f64; 3] = std::array::from_fn(|axis| place[axis] - first[axis] as f64);
    let mut sum = [0.0; 3];
    for corner in 0..8 {
        let (mut cell, mut weight) = (0, 1.0);
        for axis in (0..3).rev() {
            let is_next = corner >> axis & 1 == 1;
            weight *= if is_next { part[axis] } else { 1.0 - part[axis] };
            cell = cell * side + (first[axis] + usize::from(is_next)) % side;
        }
        (0..3).for_each(|axis| sum[axis] += weight * cells[cell][axis]);
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that bodies start with the velocity that belongs to their displacement. In theory, the displacement is
    /// the growing difference between two balls that started together, one of which will reach a larger radius.
    #[test]
    fn initial_velocities_match_the_linear_growth_of_the_displacements() {
        // The largest radius is 2 + 2e-6: R = A(1 − cos η), t = √A³(η − sin η), with the age of A = 1 at η = π/2.
        let scale = 1.0 + 1e-6_f64;
        let age = PI / 2.0 - 1.0;
        let mut angle = PI / 2.0;
        for _ in 0..20 {
            angle -=
                (scale.powf(1.5) * (angle - angle.sin()) - age) / (scale.powf(1.5) * (1.0 - angle.cos()));
        }
        let radius = scale * (1.0 - angle.cos());
        let velocity = angle.sin() / (scale.sqrt() * (1.0 - angle.cos()));
        let growth = (velocity - 1.0) / (radius - 1.0);
        let mut random = Random::new(1);
        let bodies = bodies(64, &mut random);
        for (q, (at, moves)) in lattice(64).points.iter().zip(bodies.positions.iter().zip(&bodies.velocities))
        {
            for axis in 0..3 {
                let displacement = at[axis] - q[axis];
                assert!((moves[axis] - q[axis] - growth * displacement).abs() < 1e-3 * displacement.abs());
            }
        }
    }
}
