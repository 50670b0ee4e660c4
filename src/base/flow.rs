//! Flows on a grid, in host memory.

use crate::base::look::{Palette, Srgb};
use crate::base::memory::Memory;

/// Number of velocities in the D2Q9 lattice. Their order is rest, E, N, W, S, NE, NW, SW, SE.
pub const SPEEDS: usize = 9;

/// Fraction of the density that moves at each of the nine lattice velocities in a fluid at rest.
pub const WEIGHTS: [f64; SPEEDS] =
    [4.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0];

/// Displacement (x, y) of each of the nine lattice velocities in one step, in cells.
pub const DIRECTIONS: [[i8; 2]; SPEEDS] =
    [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]];

/// Maximum number of cells in a grid. The limit exists because kernels use a `uint` to index the nine numbers of each
/// cell.
pub const MAX_CELLS: usize = 1 << 28;

/// Maximum number of tracers, the drifting particles that show the motion of a flow.
pub const MAX_TRACERS: usize = 1 << 20;

/// A grid and its solid cells. Cells are stored row by row from the bottom, and each row from left to right.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Walls {
    /// Number of columns of the grid.
    pub nx: usize,
    /// Number of rows of the grid.
    pub ny: usize,
    /// For each cell, whether it is solid.
    pub solid: Vec<bool>,
    /// Characteristic length for the Reynolds number, in cells.
    pub length: f32,
}

impl Walls {
    /// Creates a grid in which the cell at (column, row) is solid if `solid(column, row)` returns true.
    pub fn new(nx: usize, ny: usize, length: f32, mut solid: impl FnMut(usize, usize) -> bool) -> Self {
        let solid = (0..nx * ny).map(|i| solid(i % nx, i / nx)).collect();
        Self { nx, ny, solid, length }
    }

    /// Returns the number of cells of the grid.
    pub fn cells(&self) -> usize {
        self.nx * self.ny
    }

    /// Returns the number of cells that are not solid.
    pub fn free(&self) -> usize {
        self.solid.iter().filter(|solid| !**solid).count()
    }

    /// Makes the cells within `radius` cells of the cell `middle` solid or free, like the `paint` kernel.
    pub fn paint(&mut self, middle: [i64; 2], radius: usize, solid: bool) {
        self.disc(middle, radius).for_each(|cell| self.solid[cell] = solid);
    }

    /// Returns whether `stroke` would change any cell.
    pub fn differ(&self, stroke: &Stroke) -> bool {
        let (middles, radius) = stroke.discs(self);
        middles.iter().any(|at| self.disc(*at, radius).any(|cell| self.solid[cell] != stroke.solid))
    }

    /// Returns the indices of the cells within `radius` of the cell (x, y).
    fn disc(&self, [x, y]: [i64; 2], radius: usize) -> impl Iterator<Item = usize> + use<> {
        let (nx, radius) = (self.nx, radius as i64);
        let span = |middle: i64, side: usize| {
            let inside = |at: i64| at.clamp(0, side as i64) as usize;
            inside(middle.saturating_sub(radius))..inside(middle.saturating_add(radius + 1))
        };
        let columns = span(x, nx);
        let cells = span(y, self.ny).flat_map(move |row| columns.clone().map(move |column| (column, row)));
        let is_inside = move |&(column, row): &(usize, usize)| {
            let (dx, dy) = (column as i64 - x, row as i64 - y);
            dx * dx + dy * dy <= radius * radius
        };
        cells.filter(is_inside).map(move |(column, row)| row * nx + column)
    }
}

/// Placeholder position of a tracer that has not entered the flow yet.
pub const WAITING: [f32; 2] = [-1.0; 2];

/// State of a flow: its tracers, and nine populations per cell. A population is the density moving at one velocity.
///
/// A population f is stored as its deviation h = f − w·ρ₀ from a fluid at rest (see [`deviations`]). This keeps more
/// digits in `f32`: in a slow flow, h is about a millionth of f (Skordos 1993, Phys. Rev. E 48, 4823).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flow<T = f32> {
    /// Grid and solid cells of the flow.
    pub walls: Walls,
    /// Density ρ₀ of the fluid at rest.
    pub rest: f32,
    /// For each cell, the deviations h of its nine populations from a fluid at rest.
    pub cells: Vec<[T; SPEEDS]>,
    /// Position of each tracer, in cells from the lower left corner; [`WAITING`] before the tracer enters the flow.
    pub tracers: Vec<[f32; 2]>,
    /// Number of steps computed so far. This number also seeds the random placement of tracers.
    pub step: u32,
}

impl Flow {
    /// Creates a fluid at rest with the given number of tracers, none of which has entered the flow yet.
    pub fn at_rest(walls: Walls, density: f32, tracers: usize) -> Self {
        let cells = vec![[0.0; SPEEDS]; walls.cells()];
        Self { walls, rest: density, cells, tracers: vec![WAITING; tracers], step: 0 }
    }

    /// Checks the number of cells and the positions of the tracers in a flow read from a file. Accepts the non-finite
    /// deviations of a flow that has blown up; see [`Flow::has_blown_up`].
    pub(crate) fn check(&self) -> Result<(), String> {
        let (cells, all) = (self.cells.len(), self.walls.cells());
        if cells != all || self.walls.solid.len() != all {
            return Err(format!("the file has data for {cells} cells, but the grid has {all} cells"));
        }
        self.check_tracers(&self.tracers)
    }

    /// Returns whether any free cell contains a non-finite value.
    pub fn has_blown_up(&self) -> bool {
        let free = self.cells.iter().zip(&self.walls.solid).filter(|(_, solid)| !**solid);
        free.flat_map(|(cell, _)| cell).any(|f| !f.is_finite())
    }

    /// Checks that each tracer is within the grid or [`WAITING`]; NaN is valid in a flow that has blown up.
    pub(crate) fn check_tracers(&self, tracers: &[[f32; 2]]) -> Result<(), String> {
        let Walls { nx, ny, .. } = self.walls;
        let is_inside = |[x, y]: &[f32; 2]| (0.0..nx as f32).contains(x) && (0.0..ny as f32).contains(y);
        // A flow that has blown up moves tracers to NaN.
        let has_blown_up = self.has_blown_up();
        let is_lost = |at: &[f32; 2]| has_blown_up && at.iter().any(|c| c.is_nan());
        match tracers.iter().position(|at| *at != WAITING && !is_inside(at) && !is_lost(at)) {
            None => Ok(()),
            Some(nth) => {
                let [x, y] = tracers[nth];
                Err(format!("tracer {nth} is at ({x:e}, {y:e}), outside the grid of {nx} × {ny} cells"))
            }
        }
    }

    /// Converts the flow to double precision, without rounding.
    pub fn to_f64(&self) -> Flow<f64> {
        Flow {
            walls: self.walls.clone(),
            rest: self.rest,
            cells: self.cells.iter().map(|cell| cell.map(f64::from)).collect(),
            tracers: self.tracers.clone(),
            step: self.step,
        }
    }
}

impl<T: Copy + Into<f64>> Flow<T> {
    /// Returns the nine populations of a cell: the densities of the fluid moving at each lattice velocity.
    pub fn populations(&self, cell: usize) -> [f64; SPEEDS] {
        populations(&self.cells[cell].map(Into::into), self.rest)
    }

    /// Returns the density of the fluid in a cell, and its velocity in cells per step.
    pub fn at(&self, cell: usize) -> (f64, [f64; 2]) {
        macroscopic(&self.populations(cell))
    }

    /// Returns the total mass of the fluid in all cells.
    pub fn mass(&self) -> f64 {
        let more: f64 = self.cells.iter().flatten().map(|&h| h.into()).sum();
        f64::from(self.rest) * self.cells.len() as f64 + more
    }
}

/// Converts the deviations h of a cell to the populations w·ρ₀ + h, where w are the [`WEIGHTS`] and ρ₀ is `rest`.
pub fn populations(deviations: &[f64; SPEEDS], rest: f32) -> [f64; SPEEDS] {
    std::array::from_fn(|k| WEIGHTS[k] * f64::from(rest) + deviations[k])
}

/// Converts the populations f of a cell to the deviations f − w·ρ₀, where w are the [`WEIGHTS`] and ρ₀ is `rest`.
pub fn deviations(populations: &[f64; SPEEDS], rest: f32) -> [f64; SPEEDS] {
    std::array::from_fn(|k| populations[k] - WEIGHTS[k] * f64::from(rest))
}

/// Computes a cell's density Σ f from its populations f, and its velocity Σ f·direction / Σ f in cells per step.
pub fn macroscopic(populations: &[f64; SPEEDS]) -> (f64, [f64; 2]) {
    let density: f64 = populations.iter().sum();
    let momentum = |axis: usize| -> f64 {
        populations.iter().zip(DIRECTIONS).map(|(f, direction)| f * f64::from(direction[axis])).sum()
    };
    (density, [momentum(0) / density, momentum(1) / density])
}

/// Image of a flow: one value per pixel, row by row from the bottom.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Image {
    /// Number of pixels in a row.
    pub width: usize,
    /// Number of rows of pixels.
    pub height: usize,
    /// Value of each pixel; [`Image::WALL`] for a solid pixel.
    pub values: Memory<f32>,
    /// Mapping from values to colours.
    pub tones: Tones,
}

/// Mapping from the values of an image to colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tones {
    /// No colours; only solid cells are shown.
    #[default]
    None,
    /// Colours from dark at 0 to bright at the largest value.
    Rising,
    /// Different hues for negative and positive values.
    Signed,
    /// Colours from dark at the smallest value to bright at the largest.
    Spread,
}

impl Tones {
    /// Returns the colour at position `share` between the lowest value (0) and the highest (1).
    pub fn colour(self, palette: Palette, share: f32) -> Srgb {
        match self {
            Self::None => AT_REST,
            // The lowest colour of a palette is of medium lightness. For low values, it fades to the colour of a fluid at rest.
            Self::Rising | Self::Spread => {
                mixed(AT_REST, palette.colour(share), (0.1 + 1.4 * share).clamp(0.0, 0.92))
            }
            Self::Signed => {
                let off = 2.0 * share - 1.0;
                let [deep, pale] = if off < 0.0 { NEGATIVE } else { POSITIVE };
                // An exponent below 1 brightens weak whirls.
                let strength = 2.0 * off.abs().powf(0.8);
                mixed(mixed(AT_REST, deep, strength.min(1.0)), pale, (strength - 1.0).clamp(0.0, 1.0))
            }
        }
    }
}

/// Colour of a fluid at rest.
const AT_REST: Srgb = [10, 11, 17];
/// Colours of moderate and of extreme negative values in [`Tones::Signed`]; `POSITIVE` has those of positive values.
const NEGATIVE: [Srgb; 2] = [[23, 87, 204], [163, 224, 255]];
const POSITIVE: [Srgb; 2] = [[204, 74, 18], [255, 217, 128]];

fn mixed(from: Srgb, to: Srgb, share: f32) -> Srgb {
    std::array::from_fn(|k| {
        (f32::from(from[k]) + (f32::from(to[k]) - f32::from(from[k])) * share).round() as u8
    })
}

/// A straight brush stroke that paints or erases obstacles. Coordinates run from -1 to 1 along the grid's longer side.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Stroke {
    /// Starting point of the brush stroke.
    pub from: [f32; 2],
    /// End point of the brush stroke.
    pub to: [f32; 2],
    /// Half the width of the stroke, in the same units as `from` and `to`.
    pub radius: f32,
    /// Whether the stroke makes cells solid (true) or free (false).
    pub solid: bool,
    /// Whether this stroke is the first of a mouse drag. Positions alone cannot show this: the camera may move during a
    /// drag, and then consecutive strokes do not touch.
    pub begins: bool,
}

impl Stroke {
    /// Returns the centres of discs that cover the stroke, and the radius of the discs. All are in cells; centres may
    /// be outside the grid. An eraser's discs are closer together and one cell larger, so that no thin rim remains.
    pub fn discs(&self, walls: &Walls) -> (Vec<[i64; 2]>, usize) {
        let to_cells = walls.nx.max(walls.ny) as f32 / 2.0;
        let radius = (self.radius * to_cells).clamp(0.0, to_cells);
        let cell = |at: [f32; 2]| {
            [at[0] * to_cells + walls.nx as f32 / 2.0, at[1] * to_cells + walls.ny as f32 / 2.0]
        };
        let [from, to] = [cell(self.from), cell(self.to)];
        let length = (to[0] - from[0]).hypot(to[1] - from[1]);
        if !length.is_finite() || !radius.is_finite() {
            return (Vec::new(), 0);
        }
        let (apart, more) = if self.solid { (0.5, 0) } else { (0.125, 1) };
        let parts = (length / (apart * radius).max(1.0)).ceil().clamp(1.0, MOST_DISCS) as usize;
        let at = |part: usize| {
            let share = part as f32 / parts as f32;
            [0, 1].map(|axis| (from[axis] + (to[axis] - from[axis]) * share).floor() as i64)
        };
        let mut middles: Vec<[i64; 2]> = (0..=parts).map(at).collect();
        middles.dedup();
        (middles, radius as usize + more)
    }
}

/// Maximum number of discs that cover a brush stroke; strokes drawn between two frames never need more.
const MOST_DISCS: f32 = 4096.0;

impl Image {
    /// Value that marks a solid pixel.
    pub const WALL: f32 = -1e30;

    /// Returns the values at the two ends of the colour map. The upper end is the 99th percentile of a sample of the
    /// pixels (of their absolute values for [`Tones::Signed`]). The lower end depends on `tones`: it is the 1st
    /// percentile, 0, or the negative of the upper end.
    pub fn range(&self) -> [f32; 2] {
        let stride = self.values.len().div_ceil(4096).max(1);
        let free = self.values.iter().step_by(stride).copied().filter(|v| v.is_finite() && *v > Self::WALL);
        let mut sample: Vec<f32> = match self.tones {
            Tones::Signed => free.map(f32::abs).collect(),
            Tones::None | Tones::Rising | Tones::Spread => free.collect(),
        };
        sample.sort_unstable_by(f32::total_cmp);
        let at = |share: f32| sample.get(((sample.len() as f32 - 1.0) * share) as usize).copied();
        let (Some(low), Some(high)) = (at(0.01), at(0.99)) else { return [0.0, 1.0] };
        match self.tones {
            Tones::Signed => [-high, high],
            Tones::None | Tones::Rising => [0.0, high],
            Tones::Spread => [low, high],
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::StdRng;
    use rand::{RngExt, SeedableRng};

    use super::{Stroke, Walls};

    /// Paints a line as a series of strokes of random length, as a mouse drag does.
    fn paint(walls: &mut Walls, rng: &mut StdRng, ends: [[f32; 2]; 2], (radius, solid): (f32, bool)) {
        let at = |share: f32| [0, 1].map(|axis| ends[0][axis] + (ends[1][axis] - ends[0][axis]) * share);
        let mut share = 0.0;
        while share < 1.0 {
            let next = (share + rng.random_range(0.005..0.4_f32)).min(1.0);
            let stroke = Stroke { from: at(share), to: at(next), radius, solid, begins: share == 0.0 };
            let (middles, radius) = stroke.discs(walls);
            middles.iter().for_each(|middle| walls.paint(*middle, radius, solid));
            share = next;
        }
    }

    #[test]
    fn erasing_along_a_painted_stroke_removes_all_walls() {
        let mut rng = StdRng::seed_from_u64(7);
        for of in 0..300 {
            let (nx, ny) = [(128, 128), (360, 180), (1400, 700)][of % 3];
            let mut walls = Walls::new(nx, ny, 1.0, |_, _| false);
            let radius = rng.random_range(0.005..0.2_f32);
            let mut end = || [rng.random_range(-1.0..1.0_f32), rng.random_range(-0.5..0.5_f32)];
            let ends = [end(), end()];
            paint(&mut walls, &mut rng, ends, (radius, true));
            assert!(walls.free() < nx * ny, "{ends:?} with {radius}");
            paint(&mut walls, &mut rng, ends, (radius, false));
            assert_eq!(walls.free(), nx * ny, "{ends:?} with {radius}");
        }
    }
}
