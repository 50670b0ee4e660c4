//! Initial motion of a fluid. Because the fluid moves from the start, whirls are visible in the first frame.
//!
//! The motion is given by a stream function ψ, from which the velocity (∂ψ/∂y, −∂ψ/∂x) follows. Such a flow does not
//! compress the fluid, and does not cross a line on which ψ is constant, such as a wall. Logarithms come from `libm`,
//! which rounds identically on every platform.

use std::f64::consts::PI;

use crate::base::flow::{DIRECTIONS, WEIGHTS};
use crate::base::{Flow, SPEEDS};
use crate::scene::random::Random;

/// Largest speed at the start, in cells per step. It is a quarter of the speed of sound; at this speed, the fluid is
/// hardly compressed.
const FASTEST: f64 = 0.145;

/// Sets the fluid in motion: gives each free cell the equilibrium populations for its velocity. The velocities follow
/// from the stream function `stream`, whose arguments x and y are in cells from the lower left corner. If the largest
/// speed would exceed [`FASTEST`], reduces all speeds by the same factor.
pub(super) fn set_in_motion(flow: &mut Flow, stream: impl Fn(f64, f64) -> f64) {
    let Flow { walls, rest, cells, .. } = flow;
    let (nx, row) = (walls.nx, walls.nx + 1);
    let corners: Vec<f64> =
        (0..row * (walls.ny + 1)).map(|i| stream((i % row) as f64, (i / row) as f64)).collect();
    let velocity = |i: usize| {
        let [a, b, c, d] = [0, 1, row, row + 1].map(|corner| corners[i / nx * row + i % nx + corner]);
        [(c + d - a - b) / 2.0, (a + c - b - d) / 2.0]
    };
    let free = || (0..walls.cells()).filter(|i| !walls.solid[*i]);
    let fastest = free().map(|i| velocity(i).iter().map(|u| u * u).sum::<f64>()).fold(0.0, f64::max).sqrt();
    let slower = (FASTEST / fastest).min(1.0);
    for i in free() {
        cells[i] = moving(*rest, velocity(i).map(|u| slower * u));
    }
}

/// Returns the populations of a fluid of density `rest` that moves with the given velocity, as deviations from a fluid
/// at rest.
fn moving(rest: f32, [ux, uy]: [f64; 2]) -> [f32; SPEEDS] {
    std::array::from_fn(|k| {
        let along = f64::from(DIRECTIONS[k][0]) * ux + f64::from(DIRECTIONS[k][1]) * uy;
        let share = 3.0 * along + 4.5 * along * along - 1.5 * (ux * ux + uy * uy);
        (WEIGHTS[k] * f64::from(rest) * share) as f32
    })
}

/// Returns a smooth step from 0 at `x` ≤ 0 to 1 at `x` ≥ 1. Its first and second derivatives are continuous, which
/// makes the vorticity continuous.
pub(super) fn smooth(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * x * (10.0 + x * (6.0 * x - 15.0))
}

/// Stream function of a stream past a cylinder that has already shed a vortex street (von Kármán 1912). The vortices
/// grow downstream. At the cylinder, the velocity is zero.
pub(super) struct Street {
    centre: [f64; 2],
    diameter: f64,
    speed: f64,
    strength: f64,
    /// Position and squared core radius of each vortex; vortices above and below the centre line alternate.
    vortices: Vec<[f64; 3]>,
}

impl Street {
    /// Distance from the centre of the cylinder to the first vortex, in diameters of the cylinder.
    const FIRST: f64 = 1.7;
    /// Distance along the stream from one vortex to the next, in diameters of the cylinder.
    const APART: f64 = 2.2;
    /// Distance from the centre line to a row of vortices, in diameters of the cylinder.
    const ASIDE: f64 = 0.5;
    /// Circulation of a vortex, divided by the speed of the stream and the diameter.
    const CIRCULATION: f64 = 2.4;

    /// Creates a vortex street that reaches to the column `end`. At the `strength` 1, its vortices are as strong as in
    /// nature.
    pub(super) fn new(centre: [f64; 2], diameter: f64, end: f64, (speed, strength): (f64, f64)) -> Self {
        let pairs = ((end - centre[0]) / (2.0 * Self::APART * diameter)).max(0.0) as usize;
        let vortex = |nth: usize| {
            let along = Self::FIRST + Self::APART * nth as f64;
            let side = if nth.is_multiple_of(2) { Self::ASIDE } else { -Self::ASIDE };
            let core = diameter * diameter * (0.16 + 0.02 * along);
            [centre[0] + diameter * along, centre[1] + diameter * side, core]
        };
        Self { centre, diameter, speed, strength, vortices: (0..2 * pairs).map(vortex).collect() }
    }

    pub(super) fn stream(&self, x: f64, y: f64) -> f64 {
        let (dx, dy) = (x - self.centre[0], y - self.centre[1]);
        let inside = (self.diameter / 2.0).powi(2) / (dx * dx + dy * dy).max(1e-9);
        let near = (1.0 - inside).max(0.0).powi(2);
        // Vortices of the upper row turn clockwise, those of the lower row counterclockwise.
        let quotient =
            self.vortices.as_chunks().0.iter().fold(1.0, |product, [upper, lower]: &[[f64; 3]; 2]| {
                let term = |[vx, vy, core]: [f64; 3]| (x - vx).powi(2) + (y - vy).powi(2) + core;
                product * term(*upper) / term(*lower)
            });
        let circulation = self.strength * Self::CIRCULATION * self.speed * self.diameter;
        near * (self.speed * dy + circulation / (4.0 * PI) * libm::log(quotient))
    }
}

/// A whirl. Its stream function is `height` at the centre, and falls to half of `height` at the distance `radius`.
#[derive(Clone, Copy)]
pub(super) struct Whirl {
    pub(super) centre: [f64; 2],
    pub(super) radius: f64,
    pub(super) height: f64,
}

impl Whirl {
    /// Returns `count` whirls at random places in a grid, with speeds of about `speed` cells per step. Half of them
    /// turn clockwise.
    pub(super) fn scattered(seed: u64, [nx, ny]: [usize; 2], (count, speed): (usize, f64)) -> Vec<Self> {
        let random = &mut Random::new(seed);
        let whirl = |nth: usize| {
            let radius = ny as f64 * (0.03 + 0.05 * random.unit());
            let turn = if nth.is_multiple_of(2) { speed } else { -speed };
            let centre = [nx, ny].map(|side| (0.06 + 0.88 * random.unit()) * side as f64);
            Self { centre, radius, height: turn * radius }
        };
        (0..count).map(whirl).collect()
    }

    pub(super) fn stream(&self, x: f64, y: f64) -> f64 {
        let (dx, dy) = (x - self.centre[0], y - self.centre[1]);
        self.height / (1.0 + (dx * dx + dy * dy) / (self.radius * self.radius))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::Walls;

    #[test]
    fn the_velocity_is_the_curl_of_the_stream_function() {
        let mut flow = Flow::at_rest(Walls::new(8, 6, 1.0, |x, _| x == 0), 0.5, 0);
        set_in_motion(&mut flow, |x, y| 0.02 * y - 0.01 * x);
        for (i, cell) in flow.cells.iter().enumerate() {
            let (density, [ux, uy]) = flow.at(i);
            if flow.walls.solid[i] {
                assert_eq!(*cell, [0.0; SPEEDS]);
                continue;
            }
            let off = [density - 0.5, ux - 0.02, uy - 0.01];
            assert!(off.iter().all(|off| off.abs() < 1e-7), "{off:?}");
        }
    }

    #[test]
    fn a_flow_above_the_speed_limit_is_scaled_down() {
        let mut flow = Flow::at_rest(Walls::new(8, 6, 1.0, |_, _| false), 1.0, 0);
        set_in_motion(&mut flow, |_, y| 0.3 * y);
        assert!((flow.at(0).1[0] - FASTEST).abs() < 1e-6, "{:?}", flow.at(0));
    }

    #[test]
    fn a_vortex_street_alternates_in_direction_and_is_at_rest_at_the_cylinder() {
        let street = Street::new([50.0, 40.0], 10.0, 300.0, (0.04, 1.0));
        let curl = |x: f64, y: f64| {
            let sides = [[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]];
            4.0 * street.stream(x, y)
                - sides.map(|[dx, dy]| street.stream(x + dx, y + dy)).iter().sum::<f64>()
        };
        assert!(street.vortices.len() >= 8 && street.vortices.len().is_multiple_of(2));
        for (nth, [x, y, _]) in street.vortices.iter().enumerate() {
            assert_eq!(curl(*x, *y) < 0.0, nth.is_multiple_of(2), "{nth}: {}", curl(*x, *y));
        }
        let slip = (street.stream(50.0, 45.01) - street.stream(50.0, 45.0)) / 0.01;
        assert!(slip.abs() < 0.05 * 0.04, "{slip}");
    }
}
