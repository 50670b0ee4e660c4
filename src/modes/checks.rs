//! Initial states on which the `check` command compares all kernel variants, and functions that measure the errors.

use super::accuracy::{Effect, Judged, SampleErrors};
use super::{Mode, ModeInfo, Start};
use crate::base::params::combinations;
use crate::base::{Bodies, Flow, Result, State, invalid, params};
use crate::scene::{Scene, Setup};

/// Numbers of bodies that `check` tests. Many are next to powers of two, where mistakes at the ends of arrays show up.
const BODIES: [usize; 9] = [1, 2, 3, 63, 64, 65, 255, 257, 1000];
/// Numbers of bodies that quick checks test. These numbers suffice to reveal most errors.
const TELLING: [usize; 3] = [1, 65, 1000];
/// Number of steps that the `check` command takes from each initial state.
const STEPS: u32 = 3;
const SEED: u64 = 7;
/// The number √5 − 2, from which test values are derived. The fractional parts of its multiples are all different, and
/// evenly distributed between 0 and 1.
const FRACTION: f32 = 0.236_068;

/// Size and mass of a system that brings kernels close to the limits of f32, and the numbers of bodies to test.
struct Extent {
    name: &'static str,
    length: f32,
    mass: f32,
    bodies: &'static [usize],
}

/// Extreme systems of bodies for `check`. In the large ones, the cubes of most distances exceed the range of f32. In
/// the tiny one, all bodies are within the softening length.
const EXTENTS: [Extent; 4] = [
    Extent { name: "far apart", length: 1e15, mass: 1e18, bodies: &[2, 65] },
    Extent { name: "as far apart as possible", length: 5e16, mass: 1e18, bodies: &[65] },
    Extent { name: "heavy and close", length: 1.0, mass: 1e15, bodies: &[2, 65] },
    Extent { name: "tiny", length: 1e-15, mass: 2.5e-12, bodies: &[2, 65] },
];

/// Returns the built-in scene `name` of a mode.
///
/// # Errors
/// Returns an error if the mode has no such scene.
pub fn scene(info: &'static ModeInfo, name: &str) -> Result<&'static Scene> {
    info.scene(name).map(AsRef::as_ref).ok_or_else(|| invalid!("unknown scene {name}"))
}

/// Returns initial states of scenes of a mode, for each number of bodies and each combination of the mode's options.
///
/// # Errors
/// Returns an error if a scene has no bodies.
pub fn of_bodies(info: &'static ModeInfo, scenes: &[&Scene]) -> Result<Vec<Start>> {
    let mut starts = Vec::new();
    for scene in scenes {
        for (nth, options) in combinations(info.mode_for(scene).as_mut()).iter().enumerate() {
            let mut mode = info.mode_for(scene);
            // Without decay, nothing would act on a single body.
            for (key, value) in options.iter().copied().chain([("decay", "0.99")]) {
                params::set(mode.as_mut(), key, value)?;
            }
            let name = options.iter().map(|(key, value)| format!(" {key}={value}")).collect::<String>();
            for n in BODIES {
                let telling = nth == 0 && TELLING.contains(&n);
                starts.push(start(scene, mode.as_ref(), &name, n, (Masses::Various, telling))?);
                if nth == 0 {
                    starts.push(start(scene, mode.as_ref(), &name, n, (Masses::Equal, telling))?);
                }
            }
        }
    }
    Ok(starts)
}

/// Returns initial states of a gravity scene, scaled to extreme sizes and masses, with the smallest softening length.
///
/// # Errors
/// Returns an error if the scene has no bodies.
pub fn at_all_scales(info: &'static ModeInfo, scene: &Scene) -> Result<Vec<Start>> {
    let mut mode = info.mode_for(scene);
    params::set(mode.as_mut(), "eps", "1e-5")?;
    let mut starts = Vec::new();
    for extent in &EXTENTS {
        let kinds = [Masses::Various, Masses::Equal];
        for (n, masses) in extent.bodies.iter().flat_map(|&n| kinds.map(|masses| (n, masses))) {
            if n == 2 && masses == Masses::Equal {
                // One of the two bodies would have no mass, so that no force would act on the other body.
                continue;
            }
            let mut start = start(scene, mode.as_ref(), "", n, (masses, n == 65))?;
            let bodies = start.state.bodies_mut()?;
            // Starts from rest, so that even a weak force shows in the velocities.
            bodies.velocities.iter_mut().for_each(|v| v[..3].fill(0.0));
            for x in &mut bodies.positions {
                x[..3].iter_mut().for_each(|c| *c *= extent.length);
                x[3] *= extent.mass;
            }
            start.name = format!("{} {}", start.name, extent.name);
            starts.push(start);
        }
    }
    Ok(starts)
}

/// Choice of the masses in a check. Unequal masses reveal mixed-up bodies, but some kernels need equal masses.
#[derive(Clone, Copy, PartialEq)]
enum Masses {
    Various,
    /// Equal masses, except for one body without mass.
    Equal,
}

fn start(
    scene: &Scene,
    mode: &dyn Mode,
    options: &str,
    n: usize,
    (masses, telling): (Masses, bool),
) -> Result<Start> {
    let params = &mode.values();
    let mut state = scene.generate(&Setup { bodies: n, seed: SEED, params });
    stir(state.bodies_mut()?, masses);
    let equal = if masses == Masses::Equal { " of equal mass" } else { "" };
    let name = format!("{n} bodies{equal}, {}{options}", scene.name);
    Ok(Start { name, mode: mode.boxed(), state, steps: STEPS, telling })
}

/// Sets the masses of the bodies, and varies their velocities because a scene at rest would hide errors.
///
/// No two bodies get the same additional velocity. Otherwise the speed of approach of two touching bodies would be
/// exactly zero, and rounding would decide whether friction acts on them.
fn stir(bodies: &mut Bodies, masses: Masses) {
    let mean = bodies.positions.iter().map(|x| x[3]).sum::<f32>() / bodies.len() as f32;
    for (i, (x, v)) in bodies.positions.iter_mut().zip(&mut bodies.velocities).enumerate() {
        x[3] = match masses {
            Masses::Various => x[3] * (0.25 + 0.25 * (i % 7) as f32),
            Masses::Equal if i == 1 => 0.0,
            Masses::Equal => mean,
        };
        let share = (i as f32 * FRACTION).fract();
        for (speed, drift) in v.iter_mut().zip([0.3, -0.2, 0.1]) {
            *speed += drift * (4.0 * share - 1.5);
        }
    }
}

/// Measures the effect of a run. For bodies, this is the RMS change in velocity divided by the RMS speed. For a fluid,
/// it is the largest speed.
///
/// # Errors
/// Returns an error if one state holds bodies and the other a fluid.
pub fn effect(start: &State, end: &State<f64>) -> Result<f64> {
    match end {
        State::Bodies(end) => Ok(rms_change(start.bodies()?, end)),
        State::Flow(end) => Ok(fastest(end)),
    }
}

/// Returns the error of the state `found` relative to the exact state `right`, both simulated from `start`.
///
/// - For bodies, the relative RMS error of the changes in velocity and position. The exact positions are rounded to f32
///   first, because far from the origin a body can move by less than the resolution of f32.
/// - For a fluid, the largest error of a velocity relative to the largest speed, or of a density relative to the mean
///   density. Populations are not compared, because their rounding errors exceed their changes.
///
/// # Errors
/// Returns an error if some states hold bodies and others a fluid.
pub fn error(start: &State, found: &State<f64>, right: &State<f64>) -> Result<f64> {
    Ok(errors(start, found, right)?.0)
}

/// Returns the [`error`] of `found`, and statistics of the errors of all bodies or cells. The statistics are `None` if
/// nothing acts on any body or cell.
///
/// # Errors
/// Returns an error if some states hold bodies and others a fluid.
pub fn errors(start: &State, found: &State<f64>, right: &State<f64>) -> Result<(f64, Option<SampleErrors>)> {
    Ok(match right {
        State::Bodies(right) => {
            let errors = bodies_errors(start.bodies()?, found.bodies()?, right);
            (errors.map_or(0.0, |errors| errors.rms), errors)
        }
        State::Flow(right) => {
            let errors = flow_errors(found.flow()?, right);
            (errors.map_or(0.0, |errors| errors.max), errors)
        }
    })
}

fn bodies_errors(start: &Bodies, found: &Bodies<f64>, right: &Bodies<f64>) -> Option<SampleErrors> {
    let start = start.to_f64();
    let change = |now: &Bodies<f64>, i: usize| {
        let minus = |now: &[f64; 4], start: &[f64; 4]| std::array::from_fn(|k| now[k] - start[k]);
        Effect {
            velocity: minus(&now.velocities[i], &start.velocities[i]),
            position: minus(&now.positions[i], &start.positions[i]),
        }
    };
    let right = Bodies {
        positions: right.positions.iter().map(|x| x.map(|c| f64::from(c as f32))).collect(),
        velocities: right.velocities.clone(),
    };
    let judge = |i| Judged { body: i, computed: change(found, i), right: change(&right, i) };
    SampleErrors::of((0..start.len()).map(judge))
}

/// Returns the RMS change in velocity divided by the RMS speed at the end, or 0 if nothing moves.
fn rms_change(start: &Bodies, end: &Bodies<f64>) -> f64 {
    let rows = start.velocities.iter().zip(&end.velocities);
    let change = rows.flat_map(|(start, end)| (0..3).map(|k| (end[k] - f64::from(start[k])).powi(2)));
    let speed = end.velocities.iter().flat_map(|end| end[..3].iter().map(|c| c.powi(2)));
    let ratio = (change.sum::<f64>() / speed.sum::<f64>()).sqrt();
    if ratio.is_nan() { 0.0 } else { ratio }
}

fn free(flow: &Flow<f64>) -> impl Iterator<Item = usize> {
    (0..flow.cells.len()).filter(|i| !flow.walls.solid[*i])
}

fn fastest(flow: &Flow<f64>) -> f64 {
    free(flow).map(|i| flow.at(i).1).map(|[x, y]| x.hypot(y)).fold(0.0, f64::max)
}

fn flow_errors(found: &Flow<f64>, right: &Flow<f64>) -> Option<SampleErrors> {
    let fastest = fastest(right);
    let mean = right.mass() / right.cells.len() as f64;
    let off = |i: usize| {
        let ((rho, u), (rho_right, u_right)) = (found.at(i), right.at(i));
        let speed = (u[0] - u_right[0]).hypot(u[1] - u_right[1]) / fastest;
        let density = (rho - rho_right).abs() / mean;
        // `f64::max` would ignore NaN.
        if speed.is_nan() || density.is_nan() { f64::INFINITY } else { speed.max(density) }
    };
    let errors: Vec<f64> = free(right).map(off).collect();
    let mean_square = errors.iter().map(|error| error * error).sum::<f64>() / errors.len() as f64;
    SampleErrors::new(mean_square.sqrt(), errors)
}
