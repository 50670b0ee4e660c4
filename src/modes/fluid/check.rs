//! The starts that the fluid's variants are compared over.

use std::f64::consts::TAU;

use super::{Collision, Drive, Fluid};
use crate::lattice::{Flow, WEIGHTS, Walls};
use crate::modes::checks::Start;
use crate::params::Choice;

/// Grids with tails in either direction, narrower than a vector, and as even as can be.
const GRIDS: [[usize; 2]; 5] = [[64, 32], [37, 23], [5, 3], [50, 41], [130, 9]];
/// The one that shows most.
const TELLING: [usize; 2] = [37, 23];

/// Every drive and every collision operator on every grid with and without obstacles, after one step and after ten; on one grid after a thousand too.
pub(super) fn starts() -> Vec<Start> {
    let mut starts = Vec::new();
    for grid @ [nx, ny] in GRIDS {
        for (mode, is_main) in modes(grid == TELLING) {
            for (walls, words) in
                [(Walls::new(nx, ny, 10.0, |_, _| false), "open"), (obstacles(nx, ny), "walls")]
            {
                for steps in [1, 10, 1000] {
                    if steps > 10 && !(is_main && grid == TELLING) {
                        continue;
                    }
                    let (drive, collision) = (mode.drive.name(), mode.collision.name());
                    starts.push(Start {
                        name: format!(
                            "{nx} × {ny}, {words}, drive={drive}, collision={collision}, {steps} steps"
                        ),
                        mode: Box::new(mode.clone()),
                        state: stirred(walls.clone(), mode.density).into(),
                        steps,
                        telling: is_main && grid == TELLING && steps == 10 && words == "walls",
                    });
                }
            }
        }
    }
    starts
}

/// Every drive and every collision operator once, and all other combinations of them if `every`; whether it is one of the former.
/// Without tracers, which nothing is compared of.
fn modes(every: bool) -> Vec<(Fluid, bool)> {
    let mode = Fluid { tracers: 0.0, ..Fluid::default() };
    let drives = [
        Fluid { drive: Drive::Row, ..mode.clone() },
        Fluid { drive: Drive::Force, omega: 1.1, accel: 1e-3, ..mode.clone() },
        Fluid { drive: Drive::Inlet, omega: 1.6, inlet: 0.08, ..mode },
    ];
    let mut modes = Vec::new();
    for (nth, drive) in drives.iter().enumerate() {
        for (other, (collision, _)) in Collision::OPTIONS.iter().enumerate() {
            if every || nth == other {
                modes.push((Fluid { collision: *collision, ..drive.clone() }, nth == other));
            }
        }
    }
    modes
}

/// A disc, loose cells and a gap at the edges, so that everything wraps and bounces.
pub fn obstacles(nx: usize, ny: usize) -> Walls {
    Walls::new(nx, ny, 10.0, |x, y| {
        let disc = x.abs_diff(nx / 3).pow(2) + y.abs_diff(ny / 2).pow(2) <= 4;
        disc || (x * 7 + y * 13) % 29 == 0 || (y == 0 && x > nx / 2)
    })
}

/// A flow that is nowhere alike: each population is up to a fiftieth more or less than at rest.
pub fn stirred(walls: Walls, density: f32) -> Flow {
    let mut flow = Flow::at_rest(walls, density, 0);
    let nx = flow.walls.nx;
    for (i, cell) in flow.cells.iter_mut().enumerate() {
        let (x, y) = ((i % nx) as f64, (i / nx) as f64);
        for (k, h) in cell.iter_mut().enumerate() {
            let wave = 0.02 * (TAU * (0.037 * x + 0.051 * y + 0.23 * k as f64)).sin();
            *h = (WEIGHTS[k] * f64::from(density) * wave) as f32;
        }
    }
    flow
}
