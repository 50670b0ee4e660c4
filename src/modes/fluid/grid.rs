//! Memory layout of a fluid's grid on a device; must match `kernels/fluid/grid.cl`.

use half::f16;

use crate::base::{MAX_CELLS, Result, SPEEDS, Walls, invalid};
use crate::compute::{Arg, KernelSource};
use crate::modes::kernels::{Define, flags, source};

pub(super) const CELL: KernelSource = source!("fluid/cell.cl");
pub(super) const GRID: KernelSource = source!("fluid/grid.cl");

/// Memory layout of the nine populations (lattice-Boltzmann distributions) of each grid cell.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Layout {
    /// The nine populations of a cell are adjacent in memory.
    Cells,
    /// Each of the nine populations has a separate array (plane), in which neighbouring cells are adjacent.
    Planes,
    /// Each of the nine populations has a separate array (plane) of 16-bit numbers.
    Halves,
    /// Each population has a separate array (plane). Ghost columns before and after each row make the neighbours of all
    /// cells in a row adjacent in memory.
    Haloed,
}

impl Layout {
    /// Returns the preprocessor macros for kernels that work on this layout. If `ends` is set, the grid does not wrap
    /// around at its left and right edges, because fluid enters at the left and leaves at the right.
    pub(super) fn defines(self, ends: bool) -> Vec<Define> {
        let (is_planar, has_halves) = (self != Self::Cells, self == Self::Halves);
        let mut defines = flags(&[("PLANES", is_planar), ("HALVES", has_halves), ("INLET", ends)]);
        if self == Self::Haloed {
            defines.push(("GHOST", GHOST.to_string()));
        }
        defines
    }
}

/// Number of ghost columns before each grid row, and minimum number after each row. It equals the maximum vector width,
/// which keeps the rows aligned.
const GHOST: usize = 16;

/// Factor by which populations are multiplied before they are rounded to 16 bits. A population is given as its
/// deviation from rest, divided by the rest density.
const FINENESS: f32 = 32768.0;

/// Size of a grid and its layout in device memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    layout: Layout,
    nx: usize,
    ny: usize,
    stride: usize,
    plane: usize,
    /// Density of the fluid at rest. Populations are stored as deviations from a fluid at rest with this density.
    pub rest: f32,
    /// Whether the flow ends at the left and right edges of the grid instead of wrapping around.
    ends: bool,
}

impl Grid {
    /// Returns a grid of `nx` × `ny` cells in `layout`. Rows wrap around unless `ends` is set.
    pub(super) fn new(layout: Layout, [nx, ny]: [usize; 2], rest: f32, ends: bool) -> Self {
        let stride = match layout {
            Layout::Cells => nx,
            Layout::Planes | Layout::Halves => nx.next_multiple_of(32),
            Layout::Haloed => nx.next_multiple_of(GHOST) + 2 * GHOST,
        };
        // Aligned planes would compete for cache lines, so each plane starts 384 bytes further into its memory page.
        let plane = (stride * ny).next_multiple_of(1024) + 96;
        Self { layout, nx, ny, stride, plane, rest, ends }
    }

    /// Returns the preprocessor macros with which the fluid kernels are compiled.
    pub(super) fn defines(&self) -> Vec<Define> {
        self.layout.defines(self.ends)
    }

    /// Returns the first arguments of every kernel that works on the grid: its size, strides and rest density.
    pub(super) fn args(&self) -> [Arg<'static>; 5] {
        let [nx, ny, stride, plane] =
            [self.nx, self.ny, self.stride, self.plane].map(|x| Arg::Uint(x as u32));
        [nx, ny, stride, plane, Arg::Float(self.rest)]
    }

    /// Returns the size of the grid in device memory, in 32-bit words.
    pub(super) fn len(&self) -> usize {
        match self.layout {
            Layout::Cells => SPEEDS * self.nx * self.ny,
            // Kernels may read the last vector of the last row beyond the row.
            Layout::Planes | Layout::Haloed => SPEEDS * self.plane,
            Layout::Halves => (SPEEDS * self.plane).div_ceil(2),
        }
    }

    /// Returns the row length, the number of planes, and the distance between planes. Lengths are in 32-bit words.
    pub(super) fn rows(&self) -> (usize, usize, usize) {
        match self.layout {
            Layout::Cells => (SPEEDS * self.nx, 1, 0),
            Layout::Planes | Layout::Haloed => (self.stride, SPEEDS, self.plane),
            Layout::Halves => (self.stride / 2, SPEEDS, self.plane / 2),
        }
    }

    /// Returns whether the layout stores populations as 16-bit numbers.
    pub(super) fn has_halves(&self) -> bool {
        self.layout == Layout::Halves
    }

    fn ghost(&self) -> usize {
        if self.layout == Layout::Haloed { GHOST } else { 0 }
    }

    fn single(&self, x: usize, y: usize) -> usize {
        y * self.stride + self.ghost() + x
    }

    fn at(&self, speed: usize, x: usize, y: usize) -> usize {
        match self.layout {
            Layout::Cells => SPEEDS * self.single(x, y) + speed,
            Layout::Planes | Layout::Halves | Layout::Haloed => speed * self.plane + self.single(x, y),
        }
    }

    fn write(&self, packed: &mut [u32], (speed, x, y): (usize, usize, usize), h: f32) {
        let at = self.at(speed, x, y);
        if self.has_halves() {
            bytemuck::cast_slice_mut::<u32, f16>(packed)[at] = f16::from_f32(h / self.rest * FINENESS);
        } else {
            packed[at] = h.to_bits();
        }
    }

    fn read(&self, packed: &[u32], (speed, x, y): (usize, usize, usize)) -> f32 {
        let at = self.at(speed, x, y);
        if self.has_halves() {
            // Rounding errors are below the 16-bit resolution here, so packing the value again gives identical bits.
            bytemuck::cast_slice::<u32, f16>(packed)[at].to_f32() / FINENESS * self.rest
        } else {
            f32::from_bits(packed[at])
        }
    }

    /// Converts the populations of all cells, given as deviations from rest, to the device layout.
    pub(super) fn pack(&self, cells: &[[f32; SPEEDS]]) -> Vec<u32> {
        let mut packed = vec![0; self.len()];
        for (i, cell) in cells.iter().enumerate() {
            for (k, h) in cell.iter().enumerate() {
                self.write(&mut packed, (k, i % self.nx, i / self.nx), *h);
            }
        }
        if self.layout == Layout::Haloed {
            let last = self.nx - 1;
            let (before, behind) = if self.ends { (0, last) } else { (last, 0) };
            for (k, y) in (0..SPEEDS).flat_map(|k| (0..self.ny).map(move |y| (k, y))) {
                packed[self.at(k, 0, y) - 1] = packed[self.at(k, before, y)];
                packed[self.at(k, last, y) + 1] = packed[self.at(k, behind, y)];
            }
        }
        packed
    }

    /// Reads the populations of cell `i`, as deviations from rest, from data in the device layout.
    pub(super) fn cell(&self, packed: &[u32], i: usize) -> [f32; SPEEDS] {
        std::array::from_fn(|k| self.read(packed, (k, i % self.nx, i / self.nx)))
    }

    /// Reads the populations of all cells, as deviations from rest, from data in the device layout.
    pub(super) fn unpack(&self, packed: &[u32]) -> Vec<[f32; SPEEDS]> {
        (0..self.nx * self.ny).map(|i| self.cell(packed, i)).collect()
    }

    /// Returns the obstacle flags (1 for solid cells) in the device layout. Padding counts as solid.
    pub(super) fn solid(&self, walls: &Walls) -> Vec<u8> {
        let mut solid = vec![1; self.single(0, self.ny) + GHOST];
        for (i, is_solid) in walls.solid.iter().enumerate() {
            solid[self.single(i % self.nx, i / self.nx)] = u8::from(*is_solid);
        }
        solid
    }
}

/// Checks that a grid can be simulated: at least 3 × 3 and at most `MAX_CELLS` cells, at least one of them free.
pub(super) fn check_walls(walls: &Walls) -> Result<()> {
    let Walls { nx, ny, .. } = *walls;
    if nx < 3 || ny < 3 || nx.saturating_mul(ny) > MAX_CELLS {
        return Err(invalid!(
            "a grid of {nx} × {ny} cells is not possible: it needs at least 3 × 3 and at most {MAX_CELLS} cells in total"
        ));
    }
    if walls.free() == 0 { Err(invalid!("all cells are blocked; leave at least one free")) } else { Ok(()) }
}
