//! What every variant is compared over: starts at awkward sizes, and how far off an end is.

use super::accuracy::{Effect, Judged, relative_error};
use super::{Mode, ModeInfo};
use crate::bodies::Bodies;
use crate::error::{Error, Result};
use crate::lattice::Flow;
use crate::params::{self, combinations};
use crate::scene::{Scene, Setup};
use crate::state::State;

/// Around the powers of two where tails go wrong.
const BODIES: [usize; 9] = [1, 2, 3, 63, 64, 65, 255, 257, 1000];
/// Numbers of bodies of the starts that show most.
const TELLING: [usize; 3] = [1, 65, 1000];
const STEPS: u32 = 3;
const SEED: u64 = 7;

/// A start to be compared from.
pub struct Start {
    /// In words.
    pub name: String,
    /// The mode with its parameters.
    pub mode: Box<dyn Mode>,
    /// What it starts from.
    pub state: State,
    /// How many steps are taken.
    pub steps: u32,
    /// Whether it is among the few that show most.
    pub telling: bool,
}

/// Every number of bodies in some scenes of a mode, with every combination of its switches and choices.
///
/// # Errors
/// If a scene is not there.
pub fn of_bodies(info: &'static ModeInfo, scenes: &[&str]) -> Result<Vec<Start>> {
    let mut starts = Vec::new();
    for &name in scenes {
        let scene = info.scene(name).ok_or_else(|| Error::Invalid(format!("there is no scene {name}")))?;
        for (nth, options) in combinations(info.mode_for(scene).as_mut()).iter().enumerate() {
            let mut mode = info.mode_for(scene);
            // A lone body feels only its loss of speed: without, nothing would happen to it.
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

/// Equal masses would hide a mass taken from the wrong body; but there are kernels for them alone.
#[derive(Clone, Copy, PartialEq)]
enum Masses {
    Various,
    /// But for one without any.
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
    let equal = if masses == Masses::Equal { " of one mass" } else { "" };
    let name = format!("{n} bodies{equal}, {}{options}", scene.name);
    Ok(Start { name, mode: mode.boxed(), state, steps: STEPS, telling })
}

/// Bodies at rest would do nothing.
fn stir(bodies: &mut Bodies, masses: Masses) {
    let mean = bodies.positions.iter().map(|x| x[3]).sum::<f32>() / bodies.len() as f32;
    for (i, (x, v)) in bodies.positions.iter_mut().zip(&mut bodies.velocities).enumerate() {
        x[3] = match masses {
            Masses::Various => x[3] * (0.25 + 0.25 * (i % 7) as f32),
            Masses::Equal if i == 1 => 0.0,
            Masses::Equal => mean,
        };
        for (speed, drift) in v.iter_mut().zip([0.3, -0.2, 0.1]) {
            *speed += drift * ((i % 5) as f32 - 1.5);
        }
    }
}

/// How much happens from `start` to `end`: the RMS change of the bodies' velocities, or the largest speed of the fluid.
///
/// # Errors
/// If they are of different matter.
pub fn effect(start: &State, end: &State<f64>) -> Result<f64> {
    match end {
        State::Bodies(end) => Ok(rms_change(start.bodies()?, end)),
        State::Flow(end) => Ok(fastest(end)),
    }
}

/// How far `found` is from the `right` end of what was at `start`. Of bodies, the relative RMS error of the change of
/// velocity and of position. Of a fluid, the largest error of a velocity over the largest speed, or of a density over the
/// mean one: the numbers in a cell are some hundred times as large as what moves it, and a change would vanish beside their
/// rounding.
///
/// # Errors
/// If they are of different matter.
pub fn error(start: &State, found: &State<f64>, right: &State<f64>) -> Result<f64> {
    match right {
        State::Bodies(right) => Ok(bodies_error(start.bodies()?, found.bodies()?, right)),
        State::Flow(right) => Ok(flow_error(found.flow()?, right)),
    }
}

fn bodies_error(start: &Bodies, found: &Bodies<f64>, right: &Bodies<f64>) -> f64 {
    let start = start.to_f64();
    let change = |now: &Bodies<f64>, i: usize| {
        let minus = |now: &[f64; 4], start: &[f64; 4]| std::array::from_fn(|k| now[k] - start[k]);
        Effect {
            velocity: minus(&now.velocities[i], &start.velocities[i]),
            position: minus(&now.positions[i], &start.positions[i]),
        }
    };
    let judge = |i| Judged { computed: change(found, i), right: change(right, i) };
    relative_error((0..start.len()).map(judge)).unwrap_or(0.0)
}

/// The RMS change of velocity.
fn rms_change(start: &Bodies, end: &Bodies<f64>) -> f64 {
    let rows = start.velocities.iter().zip(&end.velocities);
    let squares = rows.flat_map(|(start, end)| (0..4).map(|k| (end[k] - f64::from(start[k])).powi(2)));
    (squares.sum::<f64>() / start.len() as f64).sqrt()
}

fn free(flow: &Flow<f64>) -> impl Iterator<Item = usize> {
    (0..flow.cells.len()).filter(|i| !flow.walls.solid[*i])
}

fn fastest(flow: &Flow<f64>) -> f64 {
    free(flow).map(|i| flow.at(i).1).map(|[x, y]| x.hypot(y)).fold(0.0, f64::max)
}

fn flow_error(found: &Flow<f64>, right: &Flow<f64>) -> f64 {
    let fastest = fastest(right);
    let mean = right.mass() / right.cells.len() as f64;
    let off = |i: usize| {
        let ((rho, u), (rho_right, u_right)) = (found.at(i), right.at(i));
        let speed = (u[0] - u_right[0]).hypot(u[1] - u_right[1]) / fastest;
        let density = (rho - rho_right).abs() / mean;
        // Not f64::max, which overlooks NaN.
        if speed.is_nan() || density.is_nan() { f64::INFINITY } else { speed.max(density) }
    };
    free(right).map(off).fold(0.0, f64::max)
}
