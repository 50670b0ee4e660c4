//! A flow on a grid, on the host: what scenes make, files hold, devices are given and references step.

use crate::memory::Memory;

/// Speeds that a cell knows: 0 rests, 1 E, 2 N, 3 W, 4 S, 5 NE, 6 NW, 7 SW, 8 SE.
pub const SPEEDS: usize = 9;

/// The weight of each speed in a fluid at rest.
pub const WEIGHTS: [f64; SPEEDS] =
    [4.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 9.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0, 1.0 / 36.0];

/// Where each speed goes in a step, in cells.
pub const DIRECTIONS: [[i8; 2]; SPEEDS] =
    [[0, 0], [1, 0], [0, 1], [-1, 0], [0, -1], [1, 1], [-1, 1], [-1, -1], [1, -1]];

/// The most cells of a grid: kernels count the numbers in it in `uint`.
pub const MAX_CELLS: usize = 1 << 28;

/// A grid and where it is solid. Cells are listed row by row from below, each from the left.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Walls {
    /// Columns.
    pub nx: usize,
    /// Rows.
    pub ny: usize,
    /// Whether each cell is solid.
    pub solid: Vec<bool>,
    /// The length that the Reynolds number speaks of, in cells.
    pub length: f32,
}

impl Walls {
    /// A grid that is solid where `solid` says so of a column and a row.
    pub fn new(nx: usize, ny: usize, length: f32, mut solid: impl FnMut(usize, usize) -> bool) -> Self {
        let solid = (0..nx * ny).map(|i| solid(i % nx, i / nx)).collect();
        Self { nx, ny, solid, length }
    }

    /// How many cells there are.
    pub fn cells(&self) -> usize {
        self.nx * self.ny
    }

    /// How many of them are free.
    pub fn free(&self) -> usize {
        self.solid.iter().filter(|solid| !**solid).count()
    }

    /// Makes the cells within `radius` of the cell (x, y) solid or free: the same ones as the kernel `paint`.
    pub fn paint(&mut self, [x, y]: [usize; 2], radius: usize, solid: bool) {
        let reach = (radius * radius) as i64;
        for row in y.saturating_sub(radius)..(y + radius + 1).min(self.ny) {
            for column in x.saturating_sub(radius)..(x + radius + 1).min(self.nx) {
                let (dx, dy) = (column as i64 - x as i64, row as i64 - y as i64);
                if dx * dx + dy * dy <= reach {
                    self.solid[row * self.nx + column] = solid;
                }
            }
        }
    }
}

/// A flow: how much of the fluid has which speed in each cell, and the tracers that it carries.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flow<T = f32> {
    /// The grid.
    pub walls: Walls,
    /// The nine densities of each cell.
    pub cells: Vec<[T; SPEEDS]>,
    /// Where tracers are, in cells from the lower left corner; negative for one that waits for a place.
    pub tracers: Vec<[f32; 2]>,
}

impl Flow {
    /// A fluid at rest, with tracers that have no place yet.
    pub fn at_rest(walls: Walls, density: f32, tracers: usize) -> Self {
        let cells = vec![WEIGHTS.map(|weight| (weight * f64::from(density)) as f32); walls.cells()];
        Self { walls, cells, tracers: vec![[-1.0; 2]; tracers] }
    }

    /// The same flow in double precision, exactly.
    pub fn to_f64(&self) -> Flow<f64> {
        Flow {
            walls: self.walls.clone(),
            cells: self.cells.iter().map(|cell| cell.map(f64::from)).collect(),
            tracers: self.tracers.clone(),
        }
    }
}

impl<T: Copy + Into<f64>> Flow<T> {
    /// The density in a cell and its velocity in cells a step.
    pub fn at(&self, cell: usize) -> (f64, [f64; 2]) {
        macroscopic(&self.cells[cell].map(Into::into))
    }

    /// The mass of all that flows.
    pub fn mass(&self) -> f64 {
        self.cells.iter().flatten().map(|&f| f.into()).sum()
    }
}

/// Density and velocity: Σ f and Σ f·direction over it.
pub fn macroscopic(cell: &[f64; SPEEDS]) -> (f64, [f64; 2]) {
    let density: f64 = cell.iter().sum();
    let momentum = |axis: usize| -> f64 {
        cell.iter().zip(DIRECTIONS).map(|(f, direction)| f * f64::from(direction[axis])).sum()
    };
    (density, [momentum(0) / density, momentum(1) / density])
}

/// A picture of a flow: one value a pixel, row by row from below.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Image {
    /// Pixels in a row.
    pub width: usize,
    /// Rows.
    pub height: usize,
    /// What there is in each pixel; [`Image::WALL`] where all is solid.
    pub values: Memory<f32>,
}

impl Image {
    /// What stands for a solid pixel.
    pub const WALL: f32 = -1e30;
}
