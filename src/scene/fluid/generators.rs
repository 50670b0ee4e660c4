//! Generators of the initial states of fluid scenes.

use crate::base::{Flow, State, Walls};
use crate::scene::generator::{Generator, Setup};
use crate::scene::random::Random;

/// Number of cells for which the parameters of variable-size scenes are tuned.
pub const CELLS: usize = 1 << 16;

/// Generators that fluid scenes can use.
pub(crate) static GENERATORS: &[Generator] = &[
    Generator { name: "cylinder", arguments: &[], make: |setup, _| at_rest(setup, cylinder(setup)) },
    Generator { name: "step", arguments: &[], make: |setup, _| at_rest(setup, backward_step(setup)) },
    Generator { name: "porous", arguments: &[], make: |setup, _| at_rest(setup, porous(setup)) },
    Generator { name: "channel", arguments: &[], make: |setup, _| at_rest(setup, channel(setup)) },
    Generator { name: "box", arguments: &[], make: |setup, _| at_rest(setup, closed_box(setup)) },
    Generator { name: "divided-box", arguments: &[], make: |setup, _| at_rest(setup, divided_box(setup)) },
];

/// Returns a fluid at rest between `walls`. The mode's `density` parameter sets its density.
pub(crate) fn at_rest(setup: &Setup, walls: Walls) -> State {
    Flow::at_rest(walls, setup.params.float("density").unwrap_or(1.0), 0).into()
}

/// Returns the width and height of a grid that has about `setup.bodies` cells and is `ratio` times as wide as high.
fn sides(setup: &Setup, ratio: usize) -> (usize, usize) {
    let ny = ((setup.bodies / ratio).isqrt()).max(12);
    (ratio * ny, ny)
}

/// Returns whether `y` is the first or last of `ny` rows (or columns).
fn is_side(y: usize, ny: usize) -> bool {
    y == 0 || y + 1 == ny
}

fn closed_box(setup: &Setup) -> Walls {
    let (nx, ny) = sides(setup, 1);
    Walls::new(nx, ny, 10.0, |x, y| is_side(x, nx) || is_side(y, ny))
}

fn divided_box(setup: &Setup) -> Walls {
    let (nx, ny) = sides(setup, 1);
    Walls::new(nx, ny, 10.0, |x, y| x == nx / 3 || is_side(x, nx) || is_side(y, ny))
}

fn channel(setup: &Setup) -> Walls {
    let (nx, ny) = sides(setup, 3);
    Walls::new(nx, ny, (ny - 2) as f32, |_, y| is_side(y, ny))
}

/// Makes a cylinder in a stream that is periodic in both directions. The nearest periodic copy is twelve diameters away
/// and has little effect; side walls at that distance would speed up the vortices. With [`CELLS`] cells, the Reynolds
/// number is 100. The cylinder is slightly off the centre line, so that the vortex street starts at once.
fn cylinder(setup: &Setup) -> Walls {
    let (nx, ny) = sides(setup, 3);
    let d = ny as f32 / 12.0;
    let (cx, cy) = (nx as f32 / 5.0, ny as f32 / 2.0 + 0.1 * d);
    Walls::new(nx, ny, d, |x, y| {
        let (dx, dy) = (x as f32 + 0.5 - cx, y as f32 + 0.5 - cy);
        dx * dx + dy * dy < d * d / 4.0
    })
}

fn backward_step(setup: &Setup) -> Walls {
    let (nx, ny) = sides(setup, 5);
    Walls::new(nx, ny, (ny / 2) as f32, |x, y| is_side(y, ny) || (x < nx / 5 && y < ny / 2))
}

/// Makes solid discs that fill a third of the grid and may overlap. Their radii are 1/40 to 1/15 of the grid's height.
fn porous(setup: &Setup) -> Walls {
    let (nx, ny) = sides(setup, 2);
    let random = &mut Random::new(setup.seed);
    let mut walls = Walls::new(nx, ny, ny as f32 / 20.0, |_, _| false);
    while 3 * (walls.cells() - walls.free()) < walls.cells() {
        let at = |side: usize, random: &mut Random| (random.unit() * side as f64) as usize;
        let (x, y) = (at(nx, random), at(ny, random));
        let radius = (ny as f64 * (0.025 + 0.042 * random.unit())) as usize;
        walls.paint([x as i64, y as i64], radius, true);
    }
    walls
}
