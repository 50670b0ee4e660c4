//! Measures how fast a CPU computes steps of a flow: with every kernel variant, and with plain Rust in f32 on one
//! thread, compiled for this machine. The variants run in turn, so that their speeds can be compared although the load
//! of the machine changes: `cargo bench --bench fluid -- [SIDE [DEVICE [WORK_GROUP WIDTH]]]`.

use std::time::Instant;

use gravitile::base::flow::{DIRECTIONS, Flow, SPEEDS, WEIGHTS, Walls};
use gravitile::compute;
use gravitile::modes::fluid::{Fluid, VARIANTS};
use gravitile::modes::{Recipe, Simulation};

/// Computes a step of the closed box, cell by cell, in one pass, as a programmer who knows the method would write it.
/// Returns the sum of the speeds in free cells.
#[inline(always)]
fn plain_step(walls: &Walls, mode: &Fluid, old: &mut [[f32; SPEEDS]], new: &mut [[f32; SPEEDS]]) -> f32 {
    let (nx, ny) = (walls.nx, walls.ny);
    let (w1, w2) = (mode.density * mode.accel / 9.0, mode.density * mode.accel / 36.0);
    let row = (ny - 2) * nx..(ny - 1) * nx;
    for (c, solid) in old[row.clone()].iter_mut().zip(&walls.solid[row]) {
        if !solid && c[3] > w1 && c[6] > w2 && c[7] > w2 {
            for (k, w) in [(1, w1), (5, w2), (8, w2), (3, -w1), (6, -w2), (7, -w2)] {
                c[k] += w;
            }
        }
    }
    let mut speeds = 0.0;
    for y in 0..ny {
        let (south, north) =
            (if y > 0 { y - 1 } else { ny - 1 } * nx, if y + 1 < ny { y + 1 } else { 0 } * nx);
        let row = y * nx;
        for x in 0..nx {
            let (west, east) = (if x > 0 { x - 1 } else { nx - 1 }, if x + 1 < nx { x + 1 } else { 0 });
            let c = [
                old[row + x][0],
                old[row + west][1],
                old[south + x][2],
                old[row + east][3],
                old[north + x][4],
                old[south + west][5],
                old[south + east][6],
                old[north + east][7],
                old[north + west][8],
            ];
            new[row + x] = if walls.solid[row + x] {
                [c[0], c[3], c[4], c[1], c[2], c[7], c[8], c[5], c[6]]
            } else {
                let rho: f32 = c.iter().sum();
                let ux = (c[1] + c[5] + c[8] - (c[3] + c[6] + c[7])) / rho;
                let uy = (c[2] + c[5] + c[6] - (c[4] + c[7] + c[8])) / rho;
                let u2 = ux * ux + uy * uy;
                speeds += u2.sqrt();
                std::array::from_fn(|k| {
                    let along = f32::from(DIRECTIONS[k][0]) * ux + f32::from(DIRECTIONS[k][1]) * uy;
                    let still = 1.0 + 3.0 * along + 4.5 * along * along - 1.5 * u2;
                    c[k] + mode.omega * (WEIGHTS[k] as f32 * rho * still - c[k])
                })
            };
        }
    }
    speeds
}

fn plain(walls: &Walls, mode: &Fluid, cells: &mut [Vec<[f32; SPEEDS]>; 2], steps: u32) -> f32 {
    let mut speeds = 0.0;
    for _ in 0..steps {
        let [old, new] = cells;
        speeds = plain_step(walls, mode, old, new);
        cells.swap(0, 1);
    }
    speeds
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")]
fn plain_wide(walls: &Walls, mode: &Fluid, cells: &mut [Vec<[f32; SPEEDS]>; 2], steps: u32) -> f32 {
    let mut speeds = 0.0;
    for _ in 0..steps {
        let [old, new] = cells;
        speeds = plain_step(walls, mode, old, new);
        cells.swap(0, 1);
    }
    speeds
}

fn for_this_machine(walls: &Walls, mode: &Fluid, cells: &mut [Vec<[f32; SPEEDS]>; 2], steps: u32) -> f32 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("fma") {
        // SAFETY: machines with AVX-512BW and FMA have all features that `plain_wide` enables.
        return unsafe { plain_wide(walls, mode, cells, steps) };
    }
    plain(walls, mode, cells, steps)
}

/// One measured program: its name, a function that runs its steps once, and the seconds that each run took.
type Lap = (String, Box<dyn FnMut()>, Vec<f64>);

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| !arg.starts_with("--")).collect();
    let number = |k: usize| args.get(k).and_then(|arg| arg.parse::<usize>().ok());
    let side = number(0).unwrap_or(256);
    let device = compute::select(args.get(1).map(String::as_str)).unwrap().open().unwrap();
    let mode = Fluid::default();
    let walls = Walls::new(side, side, 10.0, |x, y| x == 0 || y == 0 || x + 1 == side || y + 1 == side);
    let flow = Flow::at_rest(walls.clone(), mode.density, 0);
    let steps = ((1usize << 27) / (side * side)).clamp(16, 4096) as u32;
    let cells = (side * side) as f64 * f64::from(steps);
    println!("{} · {side} × {side} · {steps} steps, best and median of 7, in MLUPS", device.info.name);

    let mut laps: Vec<Lap> = Vec::new();
    for variant in &VARIANTS {
        let mut recipe = Recipe::guess(variant, &device.info, side * side);
        if let (Some(work_group), Some(width)) = (number(2), number(3)) {
            recipe = recipe.with_work_group(work_group).with_knob("width", width as u32);
        }
        let mut simulation = mode.build(&device, recipe, &flow).unwrap();
        let lap = move || {
            simulation.start(steps);
            while simulation.advance().unwrap() {}
            simulation.finish().unwrap();
        };
        laps.push((
            format!("{} {} {}", variant.name, recipe.work_group, recipe.words()),
            Box::new(lap),
            Vec::new(),
        ));
    }
    if args.len() < 2 {
        let (mut grids, walls) = ([flow.cells.clone(), flow.cells.clone()], walls.clone());
        let lap = move || {
            std::hint::black_box(for_this_machine(&walls, &Fluid::default(), &mut grids, steps / 4));
        };
        laps.push(("plain Rust, one thread".to_owned(), Box::new(lap), Vec::new()));
    }
    for round in 0..8 {
        for (_, lap, seconds) in &mut laps {
            let clock = Instant::now();
            lap();
            if round > 0 {
                seconds.push(clock.elapsed().as_secs_f64());
            }
        }
    }
    for (name, _, mut seconds) in laps {
        seconds.sort_unstable_by(f64::total_cmp);
        let share = if name.starts_with("plain") { 0.25 } else { 1.0 };
        let speed = |seconds: f64| share * cells / seconds * 1e-6;
        println!("{name:<40} {:>8.0} {:>8.0}", speed(seconds[0]), speed(seconds[seconds.len() / 2]));
    }
}
