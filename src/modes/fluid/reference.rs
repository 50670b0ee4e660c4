//! The same step in f64, written for reading: what the kernels are checked against.

use super::{Drive, Fluid};
use crate::lattice::{DIRECTIONS, Flow, SPEEDS, WEIGHTS, Walls, macroscopic};
use crate::modes::Diagnostics;

/// The speed that goes the other way.
const OPPOSITE: [usize; SPEEDS] = [0, 3, 4, 1, 2, 7, 8, 5, 6];
/// The speeds that go right.
const EAST: [usize; 3] = [1, 5, 8];
/// The u² from which on the fluid is made thicker, and by how much the rate falls for what is beyond: why, `cell.cl` says.
const FAST: f64 = 0.03;
const THICKENING: f64 = 20.0;

impl Fluid {
    /// Takes `steps` steps; the mean speed over the free cells after each of them.
    pub fn reference(&self, flow: &mut Flow<f64>, steps: u32) -> Vec<f64> {
        (0..steps).map(|_| self.reference_step(flow)).collect()
    }

    fn reference_step(&self, flow: &mut Flow<f64>) -> f64 {
        self.push(flow);
        let arrived: Vec<_> =
            (0..flow.cells.len()).map(|i| self.arrived(&flow.walls, &|cell| flow.cells[cell], i)).collect();
        let mut speeds = 0.0;
        for (i, cell) in arrived.into_iter().enumerate() {
            flow.cells[i] = if flow.walls.solid[i] { OPPOSITE.map(|k| cell[k]) } else { self.relaxed(&cell) };
            if !flow.walls.solid[i] {
                let [ux, uy] = flow.at(i).1;
                speeds += ux.hypot(uy);
            }
        }
        speeds / flow.walls.free() as f64
    }

    /// f += density·accel·w·direction along x, in free cells of the driven rows where that leaves some of each speed.
    fn push(&self, flow: &mut Flow<f64>) {
        let by = f64::from(self.density) * f64::from(self.accel);
        let (first, rows) = self.driven_rows(flow.walls.ny);
        for i in first * flow.walls.nx..(first + rows) * flow.walls.nx {
            let cell = flow.cells[i];
            let pushed: [f64; SPEEDS] =
                std::array::from_fn(|k| cell[k] + by * WEIGHTS[k] * f64::from(DIRECTIONS[k][0]));
            if !flow.walls.solid[i] && pushed.iter().all(|f| *f > 0.0) {
                flow.cells[i] = pushed;
            }
        }
    }

    /// What reaches cell `i` from the `cells` around it.
    pub(super) fn arrived(
        &self,
        walls: &Walls,
        cells: &dyn Fn(usize) -> [f64; SPEEDS],
        i: usize,
    ) -> [f64; SPEEDS] {
        let (nx, ny) = (walls.nx as isize, walls.ny as isize);
        let (x, y) = (i as isize % nx, i as isize / nx);
        let mut cell: [f64; SPEEDS] = std::array::from_fn(|k| {
            let [dx, dy] = DIRECTIONS[k].map(isize::from);
            let from_x = match self.drive {
                Drive::Inlet => (x - dx).clamp(0, nx - 1),
                _ => (x - dx).rem_euclid(nx),
            };
            let from_y = (y - dy).rem_euclid(ny);
            cells((from_y * nx + from_x) as usize)[k]
        });
        if self.drive == Drive::Inlet && x == 0 {
            let u = f64::from(self.inlet);
            let density = (cell[0] + cell[2] + cell[4] + 2.0 * (cell[3] + cell[6] + cell[7])) / (1.0 - u);
            for k in EAST {
                cell[k] = cell[OPPOSITE[k]] + 6.0 * WEIGHTS[k] * density * u;
            }
        }
        cell
    }

    /// f + rate·(equilibrium − f), with w·ρ·(1 + e·u/c² + (e·u)²/2c⁴ − u²/2c²) for equilibrium and c² = 1/3; the rate is omega, and less
    /// where it is too fast.
    pub(super) fn relaxed(&self, cell: &[f64; SPEEDS]) -> [f64; SPEEDS] {
        let (density, [ux, uy]) = macroscopic(cell);
        let u2 = ux * ux + uy * uy;
        let omega = f64::from(self.omega);
        let rate = (omega - THICKENING * (u2 - FAST).max(0.0)).max(omega.min(1.0));
        std::array::from_fn(|k| {
            let along = f64::from(DIRECTIONS[k][0]) * ux + f64::from(DIRECTIONS[k][1]) * uy;
            let factor = 1.0 + 3.0 * along + 4.5 * along * along - 1.5 * u2;
            cell[k] + rate * (WEIGHTS[k] * density * factor - cell[k])
        })
    }
}

/// Energy and momentum of the free cells.
pub(super) fn sums(flow: &Flow<f64>) -> Diagnostics {
    let mut sums = Diagnostics::default();
    for i in (0..flow.cells.len()).filter(|i| !flow.walls.solid[*i]) {
        let (density, [ux, uy]) = flow.at(i);
        if !(ux.is_finite() && uy.is_finite()) {
            sums.nonfinite += 1;
            continue;
        }
        sums.kinetic += 0.5 * density * (ux * ux + uy * uy);
        sums.momentum[0] += density * ux;
        sums.momentum[1] += density * uy;
        sums.momentum_scale += density * ux.hypot(uy);
    }
    sums
}
