//! Reference implementation of the fluid in f64, with which kernel results are compared.

use super::parameters::{Collision, Drive, Fluid};
use crate::base::flow::{DIRECTIONS, Flow, SPEEDS, WEIGHTS, Walls, deviations, macroscopic};
use crate::modes::Diagnostics;

/// For each lattice direction, the index of the opposite direction.
const OPPOSITE: [usize; SPEEDS] = [0, 3, 4, 1, 2, 7, 8, 5, 6];
/// Indices of the three lattice directions that point to the right.
const EAST: [usize; 3] = [1, 5, 8];

impl Fluid {
    /// Advances the flow by `steps` steps. Returns the mean speed over the free cells after each step.
    pub fn reference(&self, flow: &mut Flow<f64>, steps: u32) -> Vec<f64> {
        (0..steps).map(|_| self.reference_step(flow)).collect()
    }

    fn reference_step(&self, flow: &mut Flow<f64>) -> f64 {
        self.push(flow);
        let arrived: Vec<_> =
            (0..flow.cells.len()).map(|i| self.arrived(&flow.walls, &|i| flow.populations(i), i)).collect();
        let mut speeds = 0.0;
        for (i, cell) in arrived.into_iter().enumerate() {
            let after = if flow.walls.solid[i] { OPPOSITE.map(|k| cell[k]) } else { self.relaxed(&cell) };
            flow.cells[i] = deviations(&after, flow.rest);
            if !flow.walls.solid[i] {
                let [ux, uy] = flow.at(i).1;
                speeds += ux.hypot(uy);
            }
        }
        speeds / flow.walls.free() as f64
    }

    /// Adds density·accel·w·direction_x to the populations of the free cells in the driven rows. Skips a cell if one of
    /// its populations would not stay positive.
    fn push(&self, flow: &mut Flow<f64>) {
        let by = f64::from(self.density) * f64::from(self.accel);
        let (first, rows) = self.driven_rows(flow.walls.ny);
        for i in first * flow.walls.nx..(first + rows) * flow.walls.nx {
            let cell = flow.populations(i);
            let pushed: [f64; SPEEDS] =
                std::array::from_fn(|k| cell[k] + by * WEIGHTS[k] * f64::from(DIRECTIONS[k][0]));
            if !flow.walls.solid[i] && pushed.iter().all(|f| *f > 0.0) {
                flow.cells[i] = deviations(&pushed, flow.rest);
            }
        }
    }

    /// Returns the populations that arrive in cell `i` from its neighbours. `cells` returns the populations of a cell.
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

    /// Returns the populations of a cell after relaxation towards equilibrium with the selected collision operator.
    pub(super) fn relaxed(&self, cell: &[f64; SPEEDS]) -> [f64; SPEEDS] {
        let equilibrium = equilibrium(cell);
        let off: [f64; SPEEDS] = std::array::from_fn(|k| cell[k] - equilibrium[k]);
        let omega = f64::from(self.omega);
        match self.collision {
            Collision::Bgk => std::array::from_fn(|k| cell[k] - omega * off[k]),
            Collision::Trt => std::array::from_fn(|k| {
                let shared = 0.5 * (off[k] + off[OPPOSITE[k]]);
                let apart = 0.5 * (off[k] - off[OPPOSITE[k]]);
                cell[k] - omega * shared - self.odd_rate() * apart
            }),
            Collision::Les => {
                let rate = self.turbulent_rate(cell, &off);
                std::array::from_fn(|k| cell[k] - rate * off[k])
            }
        }
    }

    /// Returns ω for the nominal viscosity plus the eddy viscosity C²·|S|. The strain rate S is −3/(2ρτ)·Π, with the
    /// non-equilibrium stress Π = Σ e·e·(f − f_eq) and τ = 1/ω, so τ solves the quadratic equation τ = τ₀ + 3·C²·|S|.
    fn turbulent_rate(&self, cell: &[f64; SPEEDS], off: &[f64; SPEEDS]) -> f64 {
        let stress = |a: usize, b: usize| -> f64 {
            let products = off.iter().zip(DIRECTIONS).map(|(f, e)| f * f64::from(e[a]) * f64::from(e[b]));
            products.sum()
        };
        let squares = stress(0, 0).powi(2) + stress(1, 1).powi(2) + 2.0 * stress(0, 1).powi(2);
        let (density, _) = macroscopic(cell);
        let time = 1.0 / f64::from(self.omega);
        2.0 / (time + (time * time + self.eddy_factor() * squares.sqrt() / density).sqrt())
    }
}

/// Returns the equilibrium populations of a cell, w·ρ·(1 + e·u/c² + (e·u)²/2c⁴ − u²/2c²) with c² = 1/3.
fn equilibrium(cell: &[f64; SPEEDS]) -> [f64; SPEEDS] {
    let (density, [ux, uy]) = macroscopic(cell);
    let u2 = ux * ux + uy * uy;
    std::array::from_fn(|k| {
        let along = f64::from(DIRECTIONS[k][0]) * ux + f64::from(DIRECTIONS[k][1]) * uy;
        WEIGHTS[k] * density * (1.0 + 3.0 * along + 4.5 * along * along - 1.5 * u2)
    })
}

/// Returns the kinetic energy and the momentum of the fluid, summed over the free cells.
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
