//! Initial states of the fluid for the `check` command.

use std::f64::consts::TAU;

use super::parameters::{Collision, Drive, Fluid};
use crate::base::{Choice, Flow, WEIGHTS, Walls};
use crate::modes::Start;

/// Grid sizes (columns, rows) for `check`. They cover whole and partial work-groups, and rows shorter than a vector.
const GRIDS: [[usize; 2]; 5] = [[64, 32], [37, 23], [5, 3], [50, 41], [130, 9]];
/// Grid size (columns, rows) for quick checks. Of all sizes in [`GRIDS`], this one reveals the most errors.
const TELLING: [usize; 2] = [37, 23];

/// Returns the initial states for `check`: flows with every drive and collision operator, on grids of several sizes,
/// with and without obstacles. Each runs for 1 and for 10 steps, and some also run for 1000 steps.
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

/// Returns combinations of drive and collision operator: all if `every` is set, otherwise only the main combinations,
/// in which each operator occurs once. The returned flag marks the main combinations. No combination has tracers,
/// because `check` does not compare tracers.
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

/// Returns test obstacles for an `nx` × `ny` grid: a disc, isolated solid cells, and a wall along half of one edge.
pub fn obstacles(nx: usize, ny: usize) -> Walls {
    Walls::new(nx, ny, 10.0, |x, y| {
        let disc = x.abs_diff(nx / 3).pow(2) + y.abs_diff(ny / 2).pow(2) <= 4;
        disc || (x * 7 + y * 13) % 29 == 0 || (y == 0 && x > nx / 2)
    })
}

/// Returns a test flow whose values differ from cell to cell. Each population is within 2 % of its value at rest.
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
