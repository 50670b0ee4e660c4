//! Generators of the initial states of fluid scenes.

use super::whirls::{Street, Whirl, set_in_motion, smooth};
use crate::base::{Flow, State, Walls};
use crate::scene::generator::{Argument, Arguments, Generator, Setup};
use crate::scene::random::Random;

/// Number of cells for which the parameters of variable-size scenes are tuned.
pub const CELLS: usize = 1 << 16;

/// Generator argument for the strength of the initial whirls; at 0, the fluid starts at rest.
const WHIRLS: &[Argument] = &[Argument::new("whirls", 0.0, 0.0..=2.0)];

/// Generators that fluid scenes can use.
pub(crate) static GENERATORS: &[Generator] = &[
    Generator { name: "cylinder", arguments: WHIRLS, density: None, make: cylinder },
    Generator { name: "step", arguments: WHIRLS, density: None, make: backward_step },
    Generator {
        name: "porous",
        arguments: &[],
        density: None,
        make: |setup, _| at_rest(setup, porous(setup)),
    },
    Generator { name: "channel", arguments: WHIRLS, density: None, make: channel },
    Generator { name: "box", arguments: WHIRLS, density: None, make: closed_box },
    Generator { name: "divided-box", arguments: WHIRLS, density: None, make: divided_box },
];

/// Returns a fluid at rest between `walls`. The mode's `density` parameter sets its density.
pub(crate) fn at_rest(setup: &Setup, walls: Walls) -> State {
    Flow::at_rest(walls, density(setup), 0).into()
}

fn density(setup: &Setup) -> f32 {
    setup.params.float("density").unwrap_or(1.0)
}

/// Returns the speed of the fluid at the inlet, in cells per step.
fn inlet(setup: &Setup) -> f64 {
    f64::from(setup.params.float("inlet").unwrap_or(0.0))
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

/// Returns a fluid between `walls`. `stream` receives the strength of the whirls and the walls, and returns the stream
/// function of the initial motion (see [`set_in_motion`]). If the argument `whirls` is 0, the fluid is at rest.
fn stirred(
    (setup, arguments): (&Setup, &Arguments),
    walls: Walls,
    stream: impl FnOnce(f64, &Walls) -> Box<dyn Fn(f64, f64) -> f64>,
) -> State {
    let mut flow = Flow::at_rest(walls, density(setup), 0);
    let strength = arguments.get("whirls");
    if strength > 0.0 {
        let stream = stream(strength, &flow.walls);
        set_in_motion(&mut flow, stream);
    }
    flow.into()
}

/// Number of whirls in a square grid, and the speed of a whirl at strength 1, in cells per step.
const SCATTERED: (usize, f64) = (64, 0.08);

/// Returns the stream function of scattered whirls. It falls to 0 at the first and last row and at the columns in
/// `columns`.
fn scattered(
    setup: &Setup,
    (strength, walls): (f64, &Walls),
    columns: Vec<usize>,
) -> Box<dyn Fn(f64, f64) -> f64> {
    let (nx, ny) = (walls.nx, walls.ny);
    let (count, speed) = SCATTERED;
    let whirls = Whirl::scattered(setup.seed, [nx, ny], (count * nx / ny, strength * speed));
    let (high, rim) = (ny as f64, 0.25 * ny as f64);
    Box::new(move |x, y| {
        let beside = columns.iter().map(|column| smooth((x - *column as f64 - 0.5).abs() / rim));
        let inside = smooth((y - 1.0) / rim) * smooth((high - 1.0 - y) / rim) * beside.product::<f64>();
        inside * whirls.iter().map(|whirl| whirl.stream(x, y)).sum::<f64>()
    })
}

fn closed_box(setup: &Setup, arguments: &Arguments) -> State {
    let (nx, ny) = sides(setup, 1);
    let walls = Walls::new(nx, ny, 10.0, |x, y| is_side(x, nx) || is_side(y, ny));
    stirred((setup, arguments), walls, |strength, walls| scattered(setup, (strength, walls), vec![0, nx - 1]))
}

fn divided_box(setup: &Setup, arguments: &Arguments) -> State {
    let (nx, ny) = sides(setup, 1);
    let walls = Walls::new(nx, ny, 10.0, |x, y| x == nx / 3 || is_side(x, nx) || is_side(y, ny));
    stirred((setup, arguments), walls, |strength, walls| {
        scattered(setup, (strength, walls), vec![0, nx / 3, nx - 1])
    })
}

/// Makes a channel. Whirls fade at both ends, because fluid that leaves at one end re-enters at the other.
fn channel(setup: &Setup, arguments: &Arguments) -> State {
    let (nx, ny) = sides(setup, 3);
    let walls = Walls::new(nx, ny, (ny - 2) as f32, |_, y| is_side(y, ny));
    stirred((setup, arguments), walls, |strength, walls| scattered(setup, (strength, walls), vec![0, nx - 1]))
}

/// Makes a cylinder in a stream that is periodic in both directions. The nearest periodic copy is twelve diameters away
/// and has little effect; side walls at that distance would speed up the vortices. With [`CELLS`] cells, the Reynolds
/// number is 100. The cylinder is slightly off the centre line, so that vortices form at once.
fn cylinder(setup: &Setup, arguments: &Arguments) -> State {
    let (nx, ny) = sides(setup, 3);
    let d = ny as f32 / 12.0;
    let (cx, cy) = (nx as f32 / 5.0, ny as f32 / 2.0 + 0.1 * d);
    let walls = Walls::new(nx, ny, d, |x, y| {
        let (dx, dy) = (x as f32 + 0.5 - cx, y as f32 + 0.5 - cy);
        dx * dx + dy * dy < d * d / 4.0
    });
    stirred((setup, arguments), walls, |strength, _| {
        let street = Street::new([nx, ny], (inlet(setup), strength));
        Box::new(move |x, y| street.stream(x, y))
    })
}

/// Makes a channel that widens at a step. The stream starts in the upper half, with a row of whirls at its lower edge.
fn backward_step(setup: &Setup, arguments: &Arguments) -> State {
    let (nx, ny) = sides(setup, 5);
    let walls = Walls::new(nx, ny, (ny / 2) as f32, |x, y| is_side(y, ny) || (x < nx / 5 && y < ny / 2));
    stirred((setup, arguments), walls, |strength, _| {
        let (speed, high, edge) = (inlet(setup), ny as f64, (nx / 5) as f64);
        let (middle, wide) = ((ny / 2) as f64, 0.08 * high);
        let apart = 0.55 * high;
        let whirl = |nth: usize| Whirl {
            centre: [edge + apart * (nth as f64 + 0.8), middle - 0.08 * high],
            radius: (0.1 + 0.015 * nth as f64).min(0.18) * high,
            height: -strength * speed * 0.2 * high,
        };
        let whirls: Vec<Whirl> = (0..(0.8 * nx as f64 / apart) as usize).map(whirl).collect();
        Box::new(move |x, y| {
            let above = (y - middle) / wide;
            let stream = 0.5 * speed * wide * (above + (1.0 + above * above).sqrt());
            let free =
                smooth((x - edge) / apart) * smooth(y / (0.3 * high)) * smooth((high - y) / (0.3 * high));
            stream + free * whirls.iter().map(|whirl| whirl.stream(x, y)).sum::<f64>()
        })
    })
}

/// Makes walls of solid discs that fill a third of the grid and may overlap. Their radii are 1/40 to 1/15 of the grid's
/// height.
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
