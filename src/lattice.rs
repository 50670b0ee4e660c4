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

/// The most tracers in a flow.
pub const MAX_TRACERS: usize = 1 << 20;

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
    pub fn paint(&mut self, middle: [i64; 2], radius: usize, solid: bool) {
        self.disc(middle, radius).for_each(|cell| self.solid[cell] = solid);
    }

    /// Whether what a stroke covers is not all as it would make it.
    pub fn differ(&self, stroke: &Stroke) -> bool {
        let (middles, radius) = stroke.discs(self);
        middles.iter().any(|at| self.disc(*at, radius).any(|cell| self.solid[cell] != stroke.solid))
    }

    /// The cells within `radius` of the cell (x, y).
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

/// The position of a tracer that has no place in the flow yet.
pub const WAITING: [f32; 2] = [-1.0; 2];

/// A flow: how much of the fluid has which speed in each cell, and the tracers that it carries.
///
/// A population f is kept as its deviation h = f − w·ρ₀ from a fluid at rest of density ρ₀. A slow flow changes populations
/// by a millionth: of that, seven digits of f keep one, and seven digits of h keep all (Skordos 1993, Phys. Rev. E 48, 4823).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Flow<T = f32> {
    /// The grid.
    pub walls: Walls,
    /// ρ₀, the density of the fluid at rest.
    pub rest: f32,
    /// The nine deviations h of each cell.
    pub cells: Vec<[T; SPEEDS]>,
    /// Where tracers are, in cells from the lower left corner; [`WAITING`] for one that waits for a place.
    pub tracers: Vec<[f32; 2]>,
    /// Steps until now: what tells one throw of the dice for a tracer from another.
    pub step: u32,
}

impl Flow {
    /// A fluid at rest, with tracers that have no place yet.
    pub fn at_rest(walls: Walls, density: f32, tracers: usize) -> Self {
        let cells = vec![[0.0; SPEEDS]; walls.cells()];
        Self { walls, rest: density, cells, tracers: vec![WAITING; tracers], step: 0 }
    }

    /// Makes sure that a flow from a file is such as the kernels leave behind: each tracer is in the grid, or waits for a place. The
    /// deviations may be any numbers: a flow with some that are not finite has blown up, which [`State::has_blown_up`] tells.
    ///
    /// # Errors
    /// What is wrong, and what is expected.
    ///
    /// [`State::has_blown_up`]: crate::state::State::has_blown_up
    pub fn check(&self) -> Result<(), String> {
        let (cells, all) = (self.cells.len(), self.walls.cells());
        if cells != all || self.walls.solid.len() != all {
            return Err(format!("{cells} cells fill no grid of {all}"));
        }
        self.check_tracers(&self.tracers)
    }

    /// Whether there are numbers in free cells that are not finite.
    pub fn has_blown_up(&self) -> bool {
        let free = self.cells.iter().zip(&self.walls.solid).filter(|(_, solid)| !**solid);
        free.flat_map(|(cell, _)| cell).any(|f| !f.is_finite())
    }

    /// Makes sure that `tracers` are in the grid, or wait for a place.
    ///
    /// # Errors
    /// Which is wrong, and what is expected.
    pub fn check_tracers(&self, tracers: &[[f32; 2]]) -> Result<(), String> {
        let Walls { nx, ny, .. } = self.walls;
        let is_inside = |[x, y]: &[f32; 2]| (0.0..nx as f32).contains(x) && (0.0..ny as f32).contains(y);
        // In a flow that has blown up they have gone nowhere.
        let has_blown_up = self.has_blown_up();
        let is_lost = |at: &[f32; 2]| has_blown_up && at.iter().any(|c| c.is_nan());
        match tracers.iter().position(|at| *at != WAITING && !is_inside(at) && !is_lost(at)) {
            None => Ok(()),
            Some(nth) => {
                let [x, y] = tracers[nth];
                Err(format!("tracer {nth} is at ({x:e}, {y:e}), outside of a grid of {nx} × {ny} cells"))
            }
        }
    }

    /// The same flow in double precision, exactly.
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
    /// The nine populations of a cell.
    pub fn populations(&self, cell: usize) -> [f64; SPEEDS] {
        populations(&self.cells[cell].map(Into::into), self.rest)
    }

    /// The density in a cell and its velocity in cells a step.
    pub fn at(&self, cell: usize) -> (f64, [f64; 2]) {
        macroscopic(&self.populations(cell))
    }

    /// The mass in all cells.
    pub fn mass(&self) -> f64 {
        let more: f64 = self.cells.iter().flatten().map(|&h| h.into()).sum();
        f64::from(self.rest) * self.cells.len() as f64 + more
    }
}

/// The populations w·ρ₀ + h of a cell whose deviations from the density `rest` at rest are `deviations`.
pub fn populations(deviations: &[f64; SPEEDS], rest: f32) -> [f64; SPEEDS] {
    std::array::from_fn(|k| WEIGHTS[k] * f64::from(rest) + deviations[k])
}

/// The deviations f − w·ρ₀ of `populations` from the density `rest` at rest.
pub fn deviations(populations: &[f64; SPEEDS], rest: f32) -> [f64; SPEEDS] {
    std::array::from_fn(|k| populations[k] - WEIGHTS[k] * f64::from(rest))
}

/// Density and velocity: Σ f and Σ f·direction over it.
pub fn macroscopic(populations: &[f64; SPEEDS]) -> (f64, [f64; 2]) {
    let density: f64 = populations.iter().sum();
    let momentum = |axis: usize| -> f64 {
        populations.iter().zip(DIRECTIONS).map(|(f, direction)| f * f64::from(direction[axis])).sum()
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
    /// How the values become colours.
    pub tones: Tones,
}

/// How the values of an image become colours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Tones {
    /// Only what is solid is shown.
    #[default]
    None,
    /// From none to the most, dark to bright.
    Rising,
    /// About 0: one hue below, another above.
    Signed,
    /// From the least to the most, dark to bright.
    Spread,
}

/// A stroke of a brush over what is drawn: places and lengths are those of [`crate::bodies::Points`], in which the longer
/// side of a grid goes from -1 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stroke {
    /// Where it begins.
    pub from: [f32; 2],
    /// Where it ends.
    pub to: [f32; 2],
    /// Half its width.
    pub radius: f32,
    /// Whether it makes cells solid, or free.
    pub solid: bool,
    /// Whether a movement of the hand begins with it, or it goes on with the one before: the camera may move meanwhile, so
    /// places do not tell.
    pub begins: bool,
}

impl Stroke {
    /// The discs that cover it on a grid: the cells in their middles, from one end to the other, and their radius in cells.
    /// Those that make cells free are closer together and a cell larger: they stand elsewhere on a line than those of the stroke that
    /// is rubbed out, and what that one had at its rim would stay, too small to be seen.
    /// Middles may be beside the grid.
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

/// More than a stroke between two pictures of a screen can need.
const MOST_DISCS: f32 = 4096.0;

impl Image {
    /// What stands for a solid pixel.
    pub const WALL: f32 = -1e30;

    /// The values that the ends of the colours stand for, of a sample: but for the farthest few of a hundred, and evenly
    /// about 0 or from 0 on as its [`Tones`] ask.
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

    /// Goes along a line in parts of any length, as a hand does.
    fn go(walls: &mut Walls, rng: &mut StdRng, ends: [[f32; 2]; 2], (radius, solid): (f32, bool)) {
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
    fn what_was_painted_is_gone_once_it_is_gone_over() {
        let mut rng = StdRng::seed_from_u64(7);
        for of in 0..300 {
            let (nx, ny) = [(128, 128), (360, 180), (1400, 700)][of % 3];
            let mut walls = Walls::new(nx, ny, 1.0, |_, _| false);
            let radius = rng.random_range(0.005..0.2_f32);
            let mut end = || [rng.random_range(-1.0..1.0_f32), rng.random_range(-0.5..0.5_f32)];
            let ends = [end(), end()];
            go(&mut walls, &mut rng, ends, (radius, true));
            assert!(walls.free() < nx * ny, "{ends:?} with {radius}");
            go(&mut walls, &mut rng, ends, (radius, false));
            assert_eq!(walls.free(), nx * ny, "{ends:?} with {radius}");
        }
    }
}
