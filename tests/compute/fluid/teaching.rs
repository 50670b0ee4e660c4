//! Compares the program with the teaching code of the University of Bristol. The teaching code is rewritten here in
//! double precision from the description of its algorithm, independently of `src`: with whole populations and one array
//! per stage. The program runs on files in the teaching code's formats.

use std::fs;

use gravitile::base::flow::Flow;
use gravitile::base::params;
use gravitile::modes::fluid::{Fluid, VARIANTS, auto_variant};
use gravitile::modes::{Recipe, Simulation, Variant};
use gravitile::scene::fluid::files::{load_case, load_obstacles, write_final_state, write_mean_speeds};

use super::run;
use crate::support::cpu;

/// Values in a parameter file of the teaching code.
#[derive(Clone, Copy)]
struct Params {
    nx: usize,
    ny: usize,
    steps: usize,
    reynolds_dim: u32,
    density: f64,
    accel: f64,
    omega: f64,
}

/// The teaching code in f64, with populations of velocities 0 (rest), 1 E, 2 N, 3 W, 4 S, 5 NE, 6 NW, 7 SW, 8 SE.
struct Teaching {
    params: Params,
    obstacles: Vec<bool>,
    cells: Vec<[f64; 9]>,
    streamed: Vec<[f64; 9]>,
}

impl Teaching {
    fn new(params: Params, obstacles: &[bool]) -> Self {
        let (w0, w1, w2) = (params.density * 4.0 / 9.0, params.density / 9.0, params.density / 36.0);
        let cells = vec![[w0, w1, w1, w1, w1, w2, w2, w2, w2]; params.nx * params.ny];
        Self { params, obstacles: obstacles.to_vec(), streamed: cells.clone(), cells }
    }

    /// Applies the driving acceleration to the second row from the top, except in cells where a population would become
    /// negative.
    fn accelerate_flow(&mut self) {
        let Params { nx, ny, density, accel, .. } = self.params;
        let (w1, w2) = (density * accel / 9.0, density * accel / 36.0);
        for i in (ny - 2) * nx..(ny - 1) * nx {
            let c = &mut self.cells[i];
            if !self.obstacles[i] && c[3] - w1 > 0.0 && c[6] - w2 > 0.0 && c[7] - w2 > 0.0 {
                c[1] += w1;
                c[5] += w2;
                c[8] += w2;
                c[3] -= w1;
                c[6] -= w2;
                c[7] -= w2;
            }
        }
    }

    /// Moves each population to the neighbour in its direction. The grid is periodic.
    fn propagate(&mut self) {
        let Params { nx, ny, .. } = self.params;
        for y in 0..ny {
            let (north, south) = ((y + 1) % ny, if y == 0 { ny - 1 } else { y - 1 });
            for x in 0..nx {
                let (east, west) = ((x + 1) % nx, if x == 0 { nx - 1 } else { x - 1 });
                let from = |x: usize, y: usize, speed: usize| self.cells[y * nx + x][speed];
                self.streamed[y * nx + x] = [
                    from(x, y, 0),
                    from(west, y, 1),
                    from(x, south, 2),
                    from(east, y, 3),
                    from(x, north, 4),
                    from(west, south, 5),
                    from(east, south, 6),
                    from(east, north, 7),
                    from(west, north, 8),
                ];
            }
        }
    }

    /// Reverses the populations in obstacles.
    fn rebound(&mut self) {
        for i in (0..self.cells.len()).filter(|i| self.obstacles[*i]) {
            let [s0, s1, s2, s3, s4, s5, s6, s7, s8] = self.streamed[i];
            self.cells[i] = [s0, s3, s4, s1, s2, s7, s8, s5, s6];
        }
    }

    /// Relaxes all free cells towards the local equilibrium.
    fn collision(&mut self) {
        for i in (0..self.cells.len()).filter(|i| !self.obstacles[*i]) {
            let s = self.streamed[i];
            let (density, [u_x, u_y]) = moments(&s);
            let u_sq = u_x * u_x + u_y * u_y;
            let u = [0.0, u_x, u_y, -u_x, -u_y, u_x + u_y, -u_x + u_y, -u_x - u_y, u_x - u_y];
            for k in 0..9 {
                let w = if k == 0 {
                    4.0 / 9.0
                } else if k < 5 {
                    1.0 / 9.0
                } else {
                    1.0 / 36.0
                };
                let equilibrium = w * density * (1.0 + 3.0 * u[k] + 4.5 * u[k] * u[k] - 1.5 * u_sq);
                self.cells[i][k] = s[k] + self.params.omega * (equilibrium - s[k]);
            }
        }
    }

    /// Returns the mean and the largest speed in free cells.
    fn av_velocity(&self) -> (f64, f64) {
        let (mut sum, mut cells, mut most) = (0.0, 0.0, 0.0f64);
        for i in (0..self.cells.len()).filter(|i| !self.obstacles[*i]) {
            let (_, [u_x, u_y]) = moments(&self.cells[i]);
            sum += u_x.hypot(u_y);
            most = most.max(u_x.hypot(u_y));
            cells += 1.0;
        }
        (sum / cells, most)
    }

    /// Runs all steps. Returns the mean speed after each step, and the largest final speed divided by the speed of
    /// sound.
    fn run(&mut self) -> (Vec<f64>, f64) {
        let mut speeds = Vec::new();
        for _ in 0..self.params.steps {
            self.accelerate_flow();
            self.propagate();
            self.rebound();
            self.collision();
            speeds.push(self.av_velocity().0);
        }
        (speeds, self.av_velocity().1 * 3f64.sqrt())
    }

    fn reynolds(&self) -> f64 {
        let viscosity = (2.0 / self.params.omega - 1.0) / 6.0;
        self.av_velocity().0 * f64::from(self.params.reynolds_dim) / viscosity
    }

    /// Returns the pressure in a cell: density times the square of the speed of sound.
    fn pressure(&self, i: usize) -> f64 {
        if self.obstacles[i] { self.params.density / 3.0 } else { moments(&self.cells[i]).0 / 3.0 }
    }
}

fn moments(s: &[f64; 9]) -> (f64, [f64; 2]) {
    let density: f64 = s.iter().sum();
    let u_x = (s[1] + s[5] + s[8] - (s[3] + s[6] + s[7])) / density;
    let u_y = (s[2] + s[5] + s[6] - (s[4] + s[7] + s[8])) / density;
    (density, [u_x, u_y])
}

/// Runs gravitile on files in the teaching code's formats. Returns the mean speeds, the pressure column and the
/// Reynolds number that gravitile writes.
fn computed(variant: &'static Variant, params: Params, obstacles: &[bool]) -> (Vec<f64>, Vec<f64>, f64) {
    let folder = tempfile::tempdir().unwrap();
    let Params { nx, ny, steps, reynolds_dim, density, accel, omega } = params;
    let path = |name: &str| folder.path().join(name);
    let seven = format!("{nx}\n{ny}\n{steps}\n{reynolds_dim}\n{density}\n{accel}\n{omega}\n");
    fs::write(path("x.params"), seven).unwrap();
    let blocked = (0..nx * ny).filter(|i| obstacles[*i]);
    let lines = blocked.map(|i| format!("{} {} 1\n", i % nx, i / nx));
    fs::write(path("x.dat"), lines.collect::<String>()).unwrap();

    let case = load_case(&path("x.params")).unwrap();
    let walls = load_obstacles(&path("x.dat"), &case).unwrap();
    // Loading the parameter file must replace the parameters that the user set earlier.
    let mut mode = Fluid { collision: gravitile::modes::fluid::Collision::Les, ..Fluid::default() };
    for (key, value) in case.params() {
        params::set(&mut mode, key, &value).unwrap();
    }
    let flow = Flow::at_rest(walls, case.density, 0);
    let recipe = Recipe::guess(variant, &cpu().info, nx * ny);
    let mut simulation = mode.build(&cpu(), recipe, &flow).unwrap();
    run(&mut simulation, case.steps);
    let means = simulation.series().unwrap();
    let reynolds = mode.reynolds(*means.last().unwrap(), case.reynolds_dim as f32);
    let (mut state, mut speeds) = (Vec::new(), Vec::new());
    write_final_state(&mut state, &simulation.flow().unwrap(), case.density).unwrap();
    write_mean_speeds(&mut speeds, &means).unwrap();
    let column = |bytes: Vec<u8>, nth: usize| -> Vec<f64> {
        let text = String::from_utf8(bytes).unwrap();
        text.lines().map(|line| line.split_whitespace().nth(nth).unwrap().parse().unwrap()).collect()
    };
    (column(speeds, 1), column(state, 5), reynolds)
}

/// Compares all results of a case within 0.1 %, and returns the largest speed divided by the speed of sound. Of the
/// pressure, compares the difference from the pressure at rest, which is about a thousandth of it.
fn compare(name: &str, params: Params, obstacles: &[bool], variants: &[&'static Variant]) -> f64 {
    const ALLOWED: f64 = 1e-3;
    let mut right = Teaching::new(params, obstacles);
    let (speeds, mach) = right.run();
    let pressures: Vec<f64> = (0..obstacles.len()).map(|i| right.pressure(i)).collect();
    let rest = params.density / 3.0;
    let spread = pressures.iter().map(|p| (p - rest).abs()).fold(0.0, f64::max);
    assert!(spread > 1e-5 * rest, "{name}: the pressure is that at rest");
    for variant in variants {
        let (means, column, reynolds) = computed(variant, params, obstacles);
        assert_eq!((means.len(), column.len()), (speeds.len(), pressures.len()));
        // Unlike `f64::max`, this comparison does not ignore NaN.
        let worst = |off: &mut dyn Iterator<Item = f64>| {
            off.fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a })
        };
        let lines = worst(&mut means.iter().zip(&speeds).map(|(found, right)| (found / right - 1.0).abs()));
        let pressure =
            worst(&mut column.iter().zip(&pressures).map(|(found, right)| (found - right).abs() / spread));
        let off = (reynolds / right.reynolds() - 1.0).abs();
        eprintln!(
            "{name}, {}: u/c {mach:.3}, Re {:.9} off by {off:.1e}, av_vels by {lines:.1e}, pressure by {pressure:.1e}",
            variant.name,
            right.reynolds()
        );
        assert!(
            off < ALLOWED && lines < ALLOWED && pressure < ALLOWED,
            "{name}, {}: Re {off:.1e}, av_vels {lines:.1e}, pressure {pressure:.1e}",
            variant.name
        );
    }
    mach
}

fn grid(nx: usize, ny: usize, solid: impl Fn(usize, usize) -> bool) -> Vec<bool> {
    (0..nx * ny).map(|i| solid(i % nx, i / nx)).collect()
}

fn is_border(x: usize, y: usize, nx: usize, ny: usize) -> bool {
    x == 0 || y == 0 || x + 1 == nx || y + 1 == ny
}

const CASE: Params =
    Params { nx: 64, ny: 64, steps: 1500, reynolds_dim: 10, density: 0.1, accel: 0.005, omega: 1.85 };

/// Returns all variants except the one that stores 16-bit numbers.
fn exact() -> Vec<&'static Variant> {
    VARIANTS.iter().filter(|variant| variant.name != "half").collect()
}

#[test]
fn teaching_code_cases_match_its_double_precision_results() {
    let closed = grid(64, 64, |x, y| is_border(x, y, 64, 64));
    compare("box", CASE, &closed, &exact());
    // A wall from bottom to top, and a block in the remaining part.
    let divided = grid(60, 40, |x, y| {
        x == 20 || is_border(x, y, 60, 40) || ((35..40).contains(&x) && (10..25).contains(&y))
    });
    let params = Params { nx: 60, ny: 40, accel: 0.01, ..CASE };
    compare("divided box", params, &divided, &exact());
    // Above 0.3 of the speed of sound the method is inaccurate, but the results must still agree.
    let floor = grid(48, 24, |x, y| y == 0 || (y == 8 && x == 5));
    let params = Params { nx: 48, ny: 24, steps: 3000, accel: 0.035, omega: 1.6, ..CASE };
    let mach = compare("fast", params, &floor, &exact());
    assert!(mach > 0.5, "{mach}");
}

/// Compares the published case, whose Reynolds number in single precision is 9.751927375793.
#[test]
#[ignore = "long: scripts/test --all runs it"]
fn the_published_box_matches_the_double_precision_teaching_code() {
    let params = Params { nx: 128, ny: 128, steps: 40_000, ..CASE };
    let closed = grid(128, 128, |x, y| is_border(x, y, 128, 128));
    compare("published box", params, &closed, &[auto_variant(&cpu().info, 128 * 128)]);
}
