//! Lists that a snapshot of a fluid contains in addition to the state, with a check for each list.

use super::grid::{Grid, Layout};
use crate::base::{FINITE_LIMIT, Flow, MAX_TRACERS, SPEEDS};
use crate::modes::carried::{ensure, has};
use crate::modes::{CarriedList, Carries};

/// Maximum number of mean speeds to store, one per step. It is a multiple of every possible result of
/// `FluidSimulation::summed_steps`.
pub(super) const SERIES: usize = 1 << 20;

/// Name of the list that holds the positions of the tracers.
pub(super) const TRACERS: &str = "tracers";
/// Name of the list that holds the mean speed of the fluid after each step of the last burst.
pub(super) const MEAN_SPEEDS: &str = "mean_speeds";
/// Name of the list that holds the packed 16-bit cells of the `half` variant; only old snapshots contain it.
pub(super) const HALVES: &str = "halves";

pub(super) const CARRIES: &[CarriedList] = &[
    CarriedList {
        name: TRACERS,
        most: |_| 2 * MAX_TRACERS,
        check: |with, list| {
            let tracers = with.mode.values().float("tracers").unwrap_or_default() as usize;
            has(list, 2 * tracers)?;
            flow_of(with)?.check_tracers(list.as_chunks().0)
        },
    },
    CarriedList {
        name: MEAN_SPEEDS,
        most: |_| SERIES,
        check: |with, list| {
            let is_right = list.iter().all(|speed| (0.0..=FINITE_LIMIT).contains(speed));
            ensure(is_right || flow_of(with)?.has_blown_up(), || "a mean speed must be at least 0".to_owned())
        },
    },
    CarriedList {
        name: HALVES,
        most: |cells| Grid::new(Layout::Halves, cells, 1.0, false).len(),
        check: |with, list| {
            let (flow, density) = (flow_of(with)?, with.mode.values().float("density").unwrap_or_default());
            let grid = Grid::new(Layout::Halves, [flow.walls.nx, flow.walls.ny], density, false);
            has(list, grid.len())?;
            let words: &[u32] = bytemuck::cast_slice(list);
            // Whole populations in single precision resolve deviations to about 1e-7 of the density.
            let is_same = |(i, cell): (usize, &[f32; SPEEDS])| {
                let pairs = grid.cell(words, i).into_iter().zip(cell);
                pairs.into_iter().all(|(half, h)| (half - h).abs() <= 1e-6 * density)
            };
            let is_right = flow.cells.iter().enumerate().all(is_same) || flow.has_blown_up();
            ensure(is_right, || "its values do not match the flow in the same snapshot".to_owned())
        },
    },
];

fn flow_of<'a>(with: &Carries<'a>) -> Result<&'a Flow, String> {
    with.state.flow().map_err(|error| error.to_string())
}
