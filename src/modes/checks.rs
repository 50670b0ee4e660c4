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

/// A size and a total mass at which a kernel's intermediate numbers come near the ends of f32, and numbers of bodies
/// (see [`at_scale`]).
struct Extent {
    name: &'static str,
    length: f32,
    mass: f32,
    bodies: &'static [usize],
}

/// The third power of a distance of 5e12 is beyond f32, and so is that of most of these distances. Tiny bodies are all
/// within the softening length.
const EXTENTS: [Extent; 4] = [
    Extent { name: "far apart", length: 1e15, mass: 1e18, bodies: &[2, 65] },
    Extent { name: "as far apart as can be", length: 5e16, mass: 1e18, bodies: &[65] },
    Extent { name: "heavy and close", length: 1.0, mass: 1e15, bodies: &[2, 65] },
    Extent { name: "tiny", length: 1e-15, mass: 2.5e-12, bodies: &[2, 65] },
];

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

/// Bodies in a scene of gravity at the `EXTENTS`, at the least softening.
///
/// # Errors
/// If the scene is not there.
pub fn at_all_scales(info: &'static ModeInfo, scene: &str) -> Result<Vec<Start>> {
    let scene = info.scene(scene).ok_or_else(|| Error::Invalid(format!("there is no scene {scene}")))?;
    let mut mode = info.mode_for(scene);
    params::set(mode.as_mut(), "eps", "1e-5")?;
    let mut starts = Vec::new();
    for extent in &EXTENTS {
        let kinds = [Masses::Various, Masses::Equal];
        for (n, masses) in extent.bodies.iter().flat_map(|&n| kinds.map(|masses| (n, masses))) {
            if n == 2 && masses == Masses::Equal {
                // One of them would have no mass, and the other nothing to pull it.
                continue;
            }
            let mut start = start(scene, mode.as_ref(), "", n, (masses, n == 65))?;
            at_scale(start.state.bodies_mut()?, extent);
            start.name = format!("{} {}", start.name, extent.name);
            starts.push(start);
        }
    }
    Ok(starts)
}

/// Bodies at rest, so that a velocity tells of nothing but the pull, however weak that is.
fn at_scale(bodies: &mut Bodies, extent: &Extent) {
    bodies.velocities.iter_mut().for_each(|v| v[..3].fill(0.0));
    for x in &mut bodies.positions {
        x[..3].iter_mut().for_each(|c| *c *= extent.length);
        x[3] *= extent.mass;
    }
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

/// How much happens from `start` to `end`: the RMS change of the bodies' velocities over their RMS speed at the end, at
/// whatever scale they move; or the largest speed of the fluid.
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
/// velocity and of position, where the right place is rounded to f32: far from the origin a body moves by less than a
/// float can tell, and there it stays where it is. Of a fluid, the largest error of a velocity over the largest speed, or of a density over the
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
    let right = Bodies {
        positions: right.positions.iter().map(|x| x.map(|c| f64::from(c as f32))).collect(),
        velocities: right.velocities.clone(),
    };
    let judge = |i| Judged { computed: change(found, i), right: change(&right, i) };
    relative_error((0..start.len()).map(judge)).unwrap_or(0.0)
}

/// The RMS change of velocity over the RMS speed at the end; 0 where nothing moves.
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
