//! Initial motion of a fluid. Because the fluid moves from the start, whirls are visible in the first frame.
//!
//! The motion is given by a stream function ψ, from which the velocity (∂ψ/∂y, −∂ψ/∂x) follows. Such a flow does not
//! compress the fluid, and does not cross a line on which ψ is constant, such as a wall.

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

/// Stream function of a stream past a cylinder that sheds a vortex street, on a grid three times as wide as high. The
/// cylinder is a fifth of the width from the left side, and its diameter is a twelfth of the height. Its centre is a
/// tenth of the diameter above the centre line.
pub(super) struct Street {
    size: [f64; 2],
    speed: f64,
    strength: f64,
}

impl Street {
    /// Difference between the stream function and that of a uniform stream, at the corners of the cells of a grid of
    /// [`Self::CELLS`] cells: rows from the bottom, as 16-bit integers with the low byte first. [`Self::UNIT`] stands
    /// for the product of the stream's speed and the cylinder's diameter.
    ///
    /// `scripts/vortex-street` computes the file with gravitile, at a Reynolds number of 100.
    const TABLE: &'static [u8] =
        include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/vortex-street.bin"));
    const CELLS: [usize; 2] = [288, 96];
    const UNIT: f64 = 32767.0;

    /// Creates a vortex street on a grid of `size` cells. At the `strength` 1, its vortices are as strong as in nature;
    /// at 0, the stream is uniform.
    pub(super) fn new(size: [usize; 2], (speed, strength): (f64, f64)) -> Self {
        Self { size: size.map(|side| side as f64), speed, strength }
    }

    pub(super) fn stream(&self, x: f64, y: f64) -> f64 {
        let diameter = self.size[1] / 12.0;
        let [across, up] = [0, 1].map(|i| [x, y][i] / self.size[i] * Self::CELLS[i] as f64);
        self.speed * (y + self.strength * diameter * Self::difference(across, up))
    }

    /// Returns the value of the table at a position in its cells, smoothed by a cubic B-spline, with which the vorticity
    /// is continuous.
    fn difference(x: f64, y: f64) -> f64 {
        let [width, height] = Self::CELLS;
        let at = |i: f64, j: f64| {
            let [i, j] = [i.clamp(0.0, width as f64) as usize, j.clamp(0.0, height as f64) as usize];
            let byte = 2 * (j * (width + 1) + i);
            f64::from(i16::from_le_bytes([Self::TABLE[byte], Self::TABLE[byte + 1]])) / Self::UNIT
        };
        let (left, low) = (x.floor(), y.floor());
        let (columns, rows) = (spline(x - left), spline(y - low));
        let row = |j: usize| -> f64 {
            (0..4).map(|i| columns[i] * at(left + i as f64 - 1.0, low + j as f64 - 1.0)).sum()
        };
        (0..4).map(|j| rows[j] * row(j)).sum()
    }
}

/// Returns the weights of a cubic B-spline for the four points around a position, which is the fraction `t` of the way
/// from the second to the third of them.
fn spline(t: f64) -> [f64; 4] {
    let u = 1.0 - t;
    let near = |t: f64| (4.0 - 3.0 * t * t * (2.0 - t)) / 6.0;
    [u * u * u / 6.0, near(t), near(u), t * t * t / 6.0]
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
    fn a_vortex_street_alternates_in_direction_and_is_at_rest_in_the_cylinder() {
        for [nx, ny] in [[441, 147], [150, 50]] {
            let (speed, d) = (0.04, ny as f64 / 12.0);
            let [cx, cy] = [nx as f64 / 5.0, ny as f64 / 2.0 + 0.1 * d];
            let street = Street::new([nx, ny], (speed, 1.0));
            let stream = |x: f64, y: f64| street.stream(x, y) / (speed * d);
            let curl = |x: f64, y: f64| {
                let sides = [[d, 0.0], [-d, 0.0], [0.0, d], [0.0, -d]].map(|side| side.map(|s| 0.2 * s));
                4.0 * stream(x, y) - sides.map(|[dx, dy]| stream(x + dx, y + dy)).iter().sum::<f64>()
            };
            let behind: Vec<f64> = (0..200).map(|i| curl(cx + d * (2.0 + 0.12 * f64::from(i)), cy)).collect();
            let strong: Vec<bool> =
                behind.iter().filter(|curl| curl.abs() > 0.01).map(|curl| *curl > 0.0).collect();
            let turns = strong.windows(2).filter(|pair| pair[0] != pair[1]).count();
            assert!((8..16).contains(&turns), "{nx} × {ny}: {turns} changes of direction");
            let still = (stream(cx, cy + 0.1 * d) - stream(cx, cy - 0.1 * d)) / 0.2;
            assert!(still.abs() < 0.05, "{nx} × {ny}: speed {still} in the cylinder");
            for x in [0.0, 0.5 * nx as f64, nx as f64] {
                let flux = (stream(x, ny as f64) - stream(x, 0.0)) / 12.0;
                assert!((flux - 1.0).abs() < 0.01, "{nx} × {ny}: flux {flux} at {x}");
            }
        }
    }
}
