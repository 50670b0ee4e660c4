//! Tests flows: compares every variant with the f64 reference, and the physics with theory.

mod files;
mod physics;
mod races;
mod teaching;

use std::collections::BTreeSet;

use crate::support::cpu;
use gravitile::base::bodies::Points;
use gravitile::base::flow::{Flow, Image, WEIGHTS, Walls};
use gravitile::base::params::Choice;
use gravitile::compute::Device;
use gravitile::modes::accuracy::TOLERANCE;
use gravitile::modes::fluid::check::{obstacles, stirred};
use gravitile::modes::fluid::{Collision, Drive, Field, Fluid, FluidSimulation, VARIANTS};
use gravitile::modes::{Recipe, Simulation, Variant};

fn open(nx: usize, ny: usize) -> Walls {
    Walls::new(nx, ny, 10.0, |_, _| false)
}

/// Returns a box-shaped grid, in which all border cells are solid.
fn closed(nx: usize, ny: usize) -> Walls {
    Walls::new(nx, ny, 10.0, |x, y| x == 0 || y == 0 || x + 1 == nx || y + 1 == ny)
}

/// Returns a mode for each way of driving the flow. All collision operators occur among these modes.
fn modes() -> Vec<Fluid> {
    vec![
        Fluid { drive: Drive::Row, ..Fluid::default() },
        Fluid { drive: Drive::Force, collision: Collision::Trt, omega: 1.1, accel: 1e-3, ..Fluid::default() },
        Fluid { drive: Drive::Inlet, collision: Collision::Les, omega: 1.6, inlet: 0.08, ..Fluid::default() },
    ]
}

fn recipe(variant: &'static Variant, device: &Device, work_group: usize, width: u32) -> Recipe {
    Recipe::guess(variant, &device.info, 4096).with_work_group(work_group).with_knob("width", width)
}

fn run(simulation: &mut FluidSimulation, steps: u32) {
    simulation.start(steps);
    while simulation.advance().unwrap() {}
    simulation.finish().unwrap();
}

/// Returns the largest error in free cells: of velocities relative to the largest speed, or of densities relative to
/// the mean density.
fn error(flow: &Flow, right: &Flow<f64>) -> f64 {
    let free = || (0..flow.cells.len()).filter(|i| !flow.walls.solid[*i]);
    let fastest = free().map(|i| right.at(i).1).map(|[x, y]| x.hypot(y)).fold(0.0, f64::max);
    let mean = right.mass() / right.cells.len() as f64;
    assert!(fastest > 1e-3, "nothing moves");
    let off = |i: usize| {
        let ((rho, u), (rho_right, u_right)) = (flow.at(i), right.at(i));
        let speed = (u[0] - u_right[0]).hypot(u[1] - u_right[1]) / fastest;
        // NaN counts as an infinite error, because `f64::max` would ignore NaN.
        let density = (rho - rho_right).abs() / mean;
        if speed.is_nan() || density.is_nan() { f64::INFINITY } else { speed.max(density) }
    };
    free().map(off).fold(0.0, f64::max)
}

/// Columns and rows of a grid, work-group size, and width of a work-group.
type Shape = ([usize; 2], usize, u32);

/// Sizes of grids, and shapes of work-groups that cover them: incomplete work-groups in either direction, grids
/// narrower than a vector, work-items without a cell, one row per work-group, and work-groups of a single work-item.
const SHAPES: [Shape; 6] = [
    ([64, 32], 64, 16),
    ([37, 23], 64, 16),
    ([5, 3], 7, 4),
    ([50, 41], 7, 4),
    ([16, 16], 1, 1),
    ([130, 9], 96, 96),
];

/// Numbers of steps, each with the shapes to test: all shapes after few steps, and one shape after many steps.
const ALL: &[(u32, &[Shape])] = &[(1, &SHAPES), (10, &SHAPES), (1000, &[SHAPES[1]])];

/// A flow at the start, and the correct flow and mean speeds after some steps.
struct Case {
    mode: Fluid,
    flow: Flow,
    work_group: usize,
    width: u32,
    steps: u32,
    right: Flow<f64>,
    means: Vec<f64>,
}

fn cases(steps: u32, shapes: &[Shape]) -> Vec<Case> {
    let mut cases = Vec::new();
    for mode in modes() {
        for &([nx, ny], work_group, width) in shapes {
            for walls in [open(nx, ny), obstacles(nx, ny)] {
                let flow = stirred(walls, mode.density);
                let mut right = flow.to_f64();
                let means = mode.reference(&mut right, steps);
                cases.push(Case { mode: mode.clone(), flow, work_group, width, steps, right, means });
            }
        }
    }
    cases
}

impl Case {
    /// Returns the error of a variant: of its flow or of its mean speeds, whichever is larger.
    fn error(&self, device: &Device, variant: &'static Variant) -> f64 {
        let recipe = recipe(variant, device, self.work_group, self.width);
        let mut simulation = self.mode.build(device, recipe, &self.flow).unwrap();
        // Runs in several bursts of steps, as in practice.
        let first = self.steps / 3;
        run(&mut simulation, first);
        run(&mut simulation, self.steps - first);
        let found = simulation.series().unwrap();
        let right = &self.means[first as usize..];
        assert_eq!(found.len(), right.len());
        let off = found.iter().zip(right).map(|(found, right)| (found / right - 1.0).abs());
        // Unlike `f64::max`, this comparison does not ignore NaN.
        let mean = off.fold(0.0, |a, b| if b > a || b.is_nan() { b } else { a });
        let error = error(&simulation.flow().unwrap(), &self.right);
        if mean.is_nan() { f64::INFINITY } else { error.max(mean) }
    }
}

/// Compares every variant with the reference. `rounds` holds numbers of steps, each with the shapes of grids to test.
fn every_variant_agrees(device: &Device, rounds: &[(u32, &[Shape])]) {
    for &(steps, shapes) in rounds {
        let cases = cases(steps, shapes);
        for variant in &VARIANTS {
            let worst = cases.iter().map(|case| case.error(device, variant)).fold(0.0, f64::max);
            eprintln!("{} after {steps}: {worst:.1e}", variant.name);
            assert!(
                (1e-9..variant.tolerance).contains(&worst),
                "{} after {steps} steps: {worst:.1e}",
                variant.name
            );
        }
    }
}

#[test]
fn every_variant_agrees_on_the_cpu() {
    every_variant_agrees(&cpu(), &[(10, &SHAPES[1..4])]);
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn every_variant_agrees_with_every_shape_on_the_cpu() {
    every_variant_agrees(&cpu(), ALL);
}

/// Every variant follows the chosen collision operator in a fast, stirred flow, and the operators differ.
#[test]
fn every_variant_steps_a_fast_flow_by_each_collision_operator() {
    let mut flow = sliding(open(37, 23), 0.25, 0);
    for (cell, ripple) in flow.cells.iter_mut().zip(&stirred(open(37, 23), 1.0).cells) {
        cell.iter_mut().zip(ripple).for_each(|(h, ripple)| *h += 3.0 * ripple);
    }
    let mut ends: Vec<Flow<f64>> = Vec::new();
    for (collision, option) in Collision::OPTIONS {
        let mode =
            Fluid { collision: *collision, smagorinsky: 0.3, accel: 1e-8, density: 1.0, ..Fluid::default() };
        let mut right = flow.to_f64();
        mode.reference(&mut right, 10);
        for variant in &VARIANTS {
            let mut simulation = mode.build(&cpu(), recipe(variant, &cpu(), 64, 16), &flow).unwrap();
            run(&mut simulation, 10);
            let end = simulation.flow().unwrap();
            let own = error(&end, &right);
            eprintln!("{} {}: {own:.1e}", option.name, variant.name);
            assert!(own < variant.tolerance.min(2e-3), "{} {}: {own:.1e}", option.name, variant.name);
            let least = ends.iter().map(|other| error(&end, other)).fold(f64::INFINITY, f64::min);
            assert!(least > 2.0 * own, "{} {}: {least:.1e} from another operator", option.name, variant.name);
        }
        ends.push(right);
    }
}

/// Returns a copy of the variant `name` in whose source the first occurrence of the text `right` is replaced by
/// `wrong`.
fn mistaken(name: &str, right: &str, wrong: &str) -> &'static Variant {
    let variant = VARIANTS.iter().find(|variant| variant.name == name).unwrap();
    assert!(variant.source.contains(right), "{name} has no `{right}` any more");
    let source = Box::leak(variant.source.replacen(right, wrong, 1).into_boxed_str());
    Box::leak(Box::new(Variant { source, ..*variant }))
}

/// The test detects a mistake in the source of each variant; it tries the first mistake of each variant.
#[test]
fn a_fault_in_the_source_of_each_variant_is_detected() {
    let mut variants = BTreeSet::new();
    find_mistakes(|variant| variants.insert(variant.to_owned()));
}

#[test]
#[ignore = "long: scripts/test --all runs it"]
fn all_faults_injected_into_kernels_are_detected() {
    find_mistakes(|_| true);
}

/// Puts mistakes into the source of the variants, and checks that the errors of the flows reveal them. Tries only the
/// mistakes for whose variant `is_tried` returns true.
fn find_mistakes(mut is_tried: impl FnMut(&str) -> bool) {
    let device = cpu();
    let mistakes = [
        ("split", "pull(&cell, &g, f, p.x, p.y, c)", "get(&cell, &g, f, p.x, p.y)"),
        ("split", "if (p.x < nx && p.y < ny) {", "if (p.x + 1 < nx && p.y < ny) {"),
        ("split", "&& solid[", "&& 0 == solid["),
        ("split", "excess_of(&cell))", "excess_of(&cell)) * 1.0001f"),
        ("fused", "p.y < end", "p.y + 1 < end"),
        ("fused", "p.y >= first", "p.y > first"),
        ("fused", "p.x < nx", "p.x + 1 < nx"),
        ("soa", "p.y < ny)", "p.y + 1 < ny)"),
        ("soa", "speed = total(each)", "speed = total(each) * 1.0001f"),
        ("soa", "SOLID(solid + single(&g, p.x, p.y))", "0"),
        ("temporal", "#define EDGE ((int)STEPS - 1)", "#define EDGE ((int)STEPS - 2)"),
        ("temporal", "column < OWN_COLUMNS && row", "column + 1 < OWN_COLUMNS && row"),
        ("temporal", "y < end", "y + 1 < end"),
        ("temporal", "x + 1 < nx ? 1 : 0", "1"),
        ("temporal", "if (x == 0)", "if (x == 1)"),
        ("temporal", "WIDTH - 1]", "WIDTH + east]"),
        ("temporal", "s * across * down", "s"),
        ("temporal", "blocked, c, &", "0, c, &"),
        ("half", "p.y < ny)", "p.y + 1 < ny)"),
        ("half", "speed = total(each)", "speed = total(each) * 1.1f"),
        ("half", "blocked, c, &", "0, c, &"),
        ("vector", "speed = total(each)", "speed = FIRST(each)"),
        ("vector", "blocked, c, &", "0, c, &"),
        ("vector", "blocked, c);", "(which)(0), c);"),
    ];
    // The cases have so many steps that some launches compute several steps.
    let cases = cases(6, &SHAPES[1..4]);
    for (name, right, wrong) in mistakes.into_iter().filter(|(name, ..)| is_tried(name)) {
        let variant = mistaken(name, right, wrong);
        let is_found = cases.iter().any(|case| case.error(&device, variant) > variant.tolerance);
        assert!(is_found, "`{wrong}` in {name} is not found");
    }
}

fn points(simulation: &mut FluidSimulation) -> Points {
    simulation.publish(Points::default(), None).unwrap().wait().unwrap().0
}

/// Returns a fluid that moves as a whole at a given speed.
fn sliding(walls: Walls, speed: f64, tracers: usize) -> Flow {
    let mut flow = Flow::at_rest(walls, 1.0, tracers);
    let [east, west] = [1.0, -1.0].map(|e| 1.0 + e * 3.0 * speed + 3.0 * speed * speed);
    let up = 1.0 - 1.5 * speed * speed;
    for cell in &mut flow.cells {
        for ((h, w), factor) in
            cell.iter_mut().zip(WEIGHTS).zip([up, east, up, west, up, east, west, west, east])
        {
            *h = (w * (factor - 1.0)) as f32;
        }
    }
    flow
}

#[test]
fn tracers_are_advected_by_the_flow() {
    let mode = Fluid { drive: Drive::Row, accel: 1e-8, density: 1.0, ..Fluid::default() };
    for variant in &VARIANTS {
        let mut flow = sliding(open(40, 20), 0.05, 300);
        flow.tracers[0] = [39.5, 10.0];
        flow.tracers[1] = [3.25, 19.75];
        let mut simulation = mode.build(&cpu(), recipe(variant, &cpu(), 64, 16), &flow).unwrap();
        let start = simulation.flow().unwrap().tracers;
        assert_eq!((start[0], start[1]), ([39.5, 10.0], [3.25, 19.75]));
        // All tracers have found positions, which differ.
        assert!(start.iter().all(|[x, y]| (0.0..40.0).contains(x) && (0.0..20.0).contains(y)));
        let mean = start.iter().map(|[x, _]| x).sum::<f32>() / 300.0;
        assert!((mean - 20.0).abs() < 3.0, "{mean}");
        run(&mut simulation, 37);
        // Variants with 16-bit numbers round at random.
        let allowed = if variant.tolerance > TOLERANCE { 5e-3 } else { 1e-3 };
        for (before, after) in start.iter().zip(simulation.flow().unwrap().tracers) {
            let right = (before[0] + 0.05 * 37.0) % 40.0;
            assert!(
                (after[0] - right).abs() < 2.0 * allowed && (after[1] - before[1]).abs() < allowed,
                "{before:?} {after:?}"
            );
        }
        let shown = points(&mut simulation);
        assert!(shown.values.iter().all(|speed| (speed - 0.05).abs() < 1e-4), "{:?}", &shown.values[..4]);
        // The longer side of the grid, 40 cells, is 2 units long. The velocity is (`u`, `w` − 1).
        let is_right = |[x, y, u, w]: &[f32; 4]| {
            x.abs() <= 1.0 && y.abs() <= 0.5 && (u - 0.0025).abs() < 1e-5 && (w - 1.0).abs() < 1e-5
        };
        assert!(shown.positions.iter().all(is_right), "{:?}", &shown.positions[..4]);
    }
}

#[test]
fn tracers_stay_out_of_walls_and_reenter_the_grid() {
    let walls = obstacles(60, 30);
    for drive in [Drive::Force, Drive::Inlet] {
        let mode = Fluid { drive, accel: 2e-3, inlet: 0.1, omega: 1.5, ..Fluid::default() };
        let end = |variant: &'static Variant| {
            let flow = Flow::at_rest(walls.clone(), mode.density, 2000);
            let mut simulation = mode.build(&cpu(), recipe(variant, &cpu(), 64, 16), &flow).unwrap();
            run(&mut simulation, 600);
            simulation.flow().unwrap().tracers
        };
        let tracers = end(&VARIANTS[5]);
        for [x, y] in &tracers {
            assert!((0.0..60.0).contains(x) && (0.0..30.0).contains(y), "{x} {y}");
            assert!(!walls.solid[*y as usize * 60 + *x as usize], "{drive:?}: {x} {y} is in a wall");
        }
        // The tracers are spread over all columns, and a second run gives the same bits.
        let in_columns = |from: f32| tracers.iter().filter(|[x, _]| (from..from + 20.0).contains(x)).count();
        assert!([0.0, 20.0, 40.0].iter().all(|from| in_columns(*from) > 200), "{drive:?}");
        assert_eq!(end(&VARIANTS[5]), tracers);
    }
}

#[test]
fn the_image_shows_the_selected_field() {
    let walls = obstacles(50, 31);
    let flow = stirred(walls.clone(), 0.1);
    for (field, expected) in [(Field::Speed, 0), (Field::Density, 1), (Field::Vorticity, 2)] {
        let mode = Fluid { field, ..Fluid::default() };
        let mut simulation = mode.build(&cpu(), recipe(&VARIANTS[5], &cpu(), 16, 16), &flow).unwrap();
        run(&mut simulation, 5);
        let image = points(&mut simulation).image;
        assert_eq!((image.width, image.height, image.values.len()), (50, 31, 50 * 31));
        let end = simulation.flow().unwrap();
        let velocity = |x: usize, y: usize| {
            let i = (y + 31) % 31 * 50 + (x + 50) % 50;
            if walls.solid[i] { [0.0; 2] } else { end.at(i).1 }
        };
        for (i, value) in image.values.iter().enumerate() {
            let (x, y) = (i % 50, i / 50);
            if walls.solid[i] {
                assert_eq!(*value, Image::WALL);
                continue;
            }
            let (rho, [ux, uy]) = end.at(i);
            let right = match expected {
                0 => ux.hypot(uy),
                1 => rho,
                _ => {
                    let across = velocity(x + 1, y)[1] - velocity(x + 49, y)[1];
                    0.5 * (across - velocity(x, y + 1)[0] + velocity(x, y + 30)[0])
                }
            };
            assert!((f64::from(*value) - right).abs() < 1e-6, "{field:?} at {x}, {y}: {value}, {right}");
        }
    }
}

#[test]
fn walls_are_painted_and_erased() {
    for variant in &VARIANTS {
        let mode = Fluid::default();
        let mut flow = stirred(closed(40, 30), mode.density);
        let mut simulation = mode.build(&cpu(), recipe(variant, &cpu(), 64, 16), &flow).unwrap();
        // Takes the cells as the variant stores them, because storing may round them.
        flow.cells = simulation.flow().unwrap().cells;
        simulation.paint_discs(&[[20, 15]], 4, true).unwrap();
        simulation.paint_discs(&[[0, 10]], 2, false).unwrap();
        flow.walls.paint([20, 15], 4, true);
        flow.walls.paint([0, 10], 2, false);
        let painted = simulation.flow().unwrap();
        assert_eq!(painted.walls, flow.walls);
        // Former walls contain fluid at rest with its previous density; all other cells are unchanged.
        let changed: Vec<_> = (0..1200).filter(|i| painted.cells[*i] != flow.cells[*i]).collect();
        assert_eq!(changed.len(), 5, "{}", variant.name);
        for i in changed {
            let ((held, _), (density, [ux, uy])) = (flow.at(i), painted.at(i));
            let off = (density / held - 1.0).abs().max(ux.abs()).max(uy.abs());
            assert!(
                off < variant.tolerance && held != f64::from(mode.density),
                "{}: {off:.1e}",
                variant.name
            );
        }
        let mut right = painted.to_f64();
        mode.reference(&mut right, 20);
        run(&mut simulation, 20);
        let error = error(&simulation.flow().unwrap(), &right);
        assert!(error < variant.tolerance, "{}: {error:.1e}", variant.name);
        assert!(simulation.paint_discs(&[[20, 15]], 100, true).is_err());
        assert_eq!(simulation.flow().unwrap().walls, flow.walls);
    }
}

#[test]
fn grids_that_are_too_small_or_fully_blocked_are_refused() {
    let mode = Fluid::default();
    for (walls, words) in [
        (open(2, 100), "2 × 100 cells"),
        (open(100, 2), "100 × 2 cells"),
        (Walls::new(4, 4, 1.0, |_, _| true), "all cells are blocked"),
    ] {
        let flow = Flow::at_rest(walls, mode.density, 0);
        let Err(why) = mode.build(&cpu(), recipe(&VARIANTS[0], &cpu(), 16, 16), &flow) else {
            panic!("{words} is taken");
        };
        assert!(why.to_string().contains(words), "{why}");
    }
}

#[test]
fn one_long_burst_of_steps_equals_several_short_bursts() {
    let mode = Fluid::default();
    let flow = stirred(obstacles(37, 23), mode.density);
    for variant in &VARIANTS {
        let mut whole = mode.build(&cpu(), recipe(variant, &cpu(), 64, 16), &flow).unwrap();
        let mut parts = mode.build(&cpu(), recipe(variant, &cpu(), 64, 16), &flow).unwrap();
        // Runs more steps than the buffer of mean speeds can hold.
        run(&mut whole, 1500);
        let mut means = Vec::new();
        for steps in [1, 2, 497, 1000] {
            run(&mut parts, steps);
            means.extend(parts.series().unwrap());
        }
        if variant.tolerance > TOLERANCE {
            // This variant rounds the driven cells once more at the start of a burst of steps.
            let right = parts.flow().unwrap().to_f64();
            assert!(error(&whole.flow().unwrap(), &right) < variant.tolerance, "{}", variant.name);
            continue;
        }
        assert_eq!(whole.series().unwrap(), means, "{}", variant.name);
        assert_eq!(whole.flow().unwrap(), parts.flow().unwrap(), "{}", variant.name);
    }
}
