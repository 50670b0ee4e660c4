//! How the numbers of a grid lie in a device's memory: the host's side of `kernels/fluid/grid.cl`.

use half::f16;

use crate::compute::Arg;
use crate::lattice::{SPEEDS, Walls};

/// What each variant's grid is like.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Layout {
    /// The nine speeds of a cell together.
    Cells,
    /// A plane for each speed.
    Planes,
    /// Planes of numbers of 16 bits.
    Halves,
    /// Planes, and columns around each row for what wraps around: neighbours are one place apart everywhere.
    Haloed,
}

/// The columns before the first and, at the least, behind the last: a whole vector, so that rows are aligned.
const GHOST: usize = 16;

/// Sixteen bits hold a deviation over the density at rest times this, so that slow flows are not below what they tell apart.
const FINENESS: f32 = 32768.0;

/// A grid in a layout.
#[derive(Debug, Clone, Copy)]
pub(super) struct Grid {
    layout: Layout,
    nx: usize,
    ny: usize,
    stride: usize,
    plane: usize,
    /// The density at rest, from which deviations count.
    pub rest: f32,
    /// Whether rows end instead of wrapping around.
    ends: bool,
}

impl Grid {
    pub fn new(layout: Layout, walls: &Walls, rest: f32, ends: bool) -> Self {
        Self::of(layout, [walls.nx, walls.ny], rest, ends)
    }

    /// The same for `nx` times `ny` cells.
    pub fn of(layout: Layout, [nx, ny]: [usize; 2], rest: f32, ends: bool) -> Self {
        let stride = match layout {
            Layout::Cells => nx,
            Layout::Planes | Layout::Halves => nx.next_multiple_of(32),
            Layout::Haloed => nx.next_multiple_of(GHOST) + 2 * GHOST,
        };
        // Nine planes in step would meet in the same lines of a cache: each begins 384 bytes farther on in a page.
        let plane = (stride * ny).next_multiple_of(1024) + 96;
        Self { layout, nx, ny, stride, plane, rest, ends }
    }

    /// What the kernels are compiled with.
    pub fn defines(&self) -> Vec<(&'static str, String)> {
        let mut defines = Vec::new();
        if self.layout != Layout::Cells {
            defines.push(("PLANES", "1".to_owned()));
        }
        if self.layout == Layout::Halves {
            defines.push(("HALVES", "1".to_owned()));
        }
        if self.layout == Layout::Haloed {
            defines.push(("GHOST", GHOST.to_string()));
        }
        if self.ends {
            defines.push(("INLET", "1".to_owned()));
        }
        defines
    }

    /// The first arguments of every kernel over it.
    pub fn args(&self) -> [Arg<'static>; 5] {
        let [nx, ny, stride, plane] =
            [self.nx, self.ny, self.stride, self.plane].map(|x| Arg::Uint(x as u32));
        [nx, ny, stride, plane, Arg::Float(self.rest)]
    }

    /// Words of 32 bits in all.
    pub fn len(&self) -> usize {
        match self.layout {
            Layout::Cells => SPEEDS * self.nx * self.ny,
            // Vectors of the last row may be read to their ends.
            Layout::Planes | Layout::Haloed => SPEEDS * self.plane,
            Layout::Halves => (SPEEDS * self.plane).div_ceil(2),
        }
    }

    /// Words of a row that stand together, how many times over, and from one time to the next.
    pub fn rows(&self) -> (usize, usize, usize) {
        match self.layout {
            Layout::Cells => (SPEEDS * self.nx, 1, 0),
            Layout::Planes | Layout::Haloed => (self.stride, SPEEDS, self.plane),
            Layout::Halves => (self.stride / 2, SPEEDS, self.plane / 2),
        }
    }

    /// Whether a number takes 16 bits.
    pub fn has_halves(&self) -> bool {
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
        match self.layout {
            Layout::Halves => {
                bytemuck::cast_slice_mut::<u32, f16>(packed)[at] = f16::from_f32(h / self.rest * FINENESS);
            }
            _ => packed[at] = h.to_bits(),
        }
    }

    fn read(&self, packed: &[u32], (speed, x, y): (usize, usize, usize)) -> f32 {
        let at = self.at(speed, x, y);
        match self.layout {
            Layout::Halves => {
                // A product and a quotient round by less than 16 bits tell: written again it is the same.
                bytemuck::cast_slice::<u32, f16>(packed)[at].to_f32() / FINENESS * self.rest
            }
            _ => f32::from_bits(packed[at]),
        }
    }

    /// The deviations of all cells as the device has them.
    pub fn pack(&self, cells: &[[f32; SPEEDS]]) -> Vec<u32> {
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

    /// The deviations of one of the cells that the device has.
    pub fn cell(&self, packed: &[u32], i: usize) -> [f32; SPEEDS] {
        std::array::from_fn(|k| self.read(packed, (k, i % self.nx, i / self.nx)))
    }

    /// All of them.
    pub fn unpack(&self, packed: &[u32]) -> Vec<[f32; SPEEDS]> {
        (0..self.nx * self.ny).map(|i| self.cell(packed, i)).collect()
    }

    /// Where it is solid, as the device has it: what is no cell is solid.
    pub fn solid(&self, walls: &Walls) -> Vec<u8> {
        let mut solid = vec![1; self.single(0, self.ny) + GHOST];
        for (i, is_solid) in walls.solid.iter().enumerate() {
            solid[self.single(i % self.nx, i / self.nx)] = u8::from(*is_solid);
        }
        solid
    }
}
