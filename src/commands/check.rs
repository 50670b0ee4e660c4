//! `gravitile check`: every variant of every mode against the f64 reference, at awkward sizes.

use std::process::ExitCode;

use super::{ladders, open};
use crate::bodies::Bodies;
use crate::cli::Check;
use crate::compute::Device;
use crate::engine::max_work_group;
use crate::error::{Error, Result};
use crate::modes::accuracy::{Effect, Judged, TOLERANCE, relative_error};
use crate::modes::{Mode, ModeInfo, Variant};
use crate::params::{self, combinations};
use crate::scene::{Scene, Setup};

/// Around the powers of two where tails go wrong.
pub const BODIES: [usize; 9] = [1, 2, 3, 63, 64, 65, 255, 257, 1000];
/// Below this change an agreement would say nothing.
const LEAST_EFFECT: f64 = 1e-3;
const STEPS: u32 = 3;
const SEED: u64 = 7;

/// Work-group sizes: one, odd, usual, and the largest that the device takes.
pub fn work_groups(most: usize) -> Vec<usize> {
    let mut sizes: Vec<usize> = [1, 7, 64, 256, most].into_iter().filter(|&size| size <= most).collect();
    sizes.dedup();
    sizes
}

/// How one variant with one work-group size did over all numbers of bodies and combinations of options.
#[derive(Debug, Clone)]
pub struct Row {
    /// The mode.
    pub mode: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// Work-items to a work-group.
    pub work_group: usize,
    /// How many comparisons.
    pub cases: usize,
    /// The largest relative RMS error of the change of velocity and of position.
    pub worst: f64,
    /// In which case.
    pub case: String,
}

impl Row {
    /// Whether the variant agrees with the reference.
    pub fn passes(&self) -> bool {
        self.worst < TOLERANCE
    }
}

pub(super) fn call(args: &Check) -> Result<ExitCode> {
    let device = open(args.device.device.as_deref())?;
    let mut plan = Vec::new();
    for (info, variants) in ladders(args.mode.as_deref(), &args.variant)? {
        let cases = if variants.is_empty() { Vec::new() } else { cases(info)? };
        plan.push((variants, cases));
    }
    println!("{} · driver {} · against f64, relative RMS", device.info.name, device.info.driver);
    println!(
        "{:<10} {:<10} {:>10} {:>6} {:>10}  worst case",
        "mode", "variant", "work-group", "cases", "error"
    );
    let mut failures = 0;
    for (variants, cases) in plan {
        for variant in variants {
            for work_group in work_groups(max_work_group(&device.info, variant)) {
                let row = row(&device, variant, work_group, &cases)?;
                failures += usize::from(!row.passes());
                let verdict = if row.passes() { "" } else { "  FAILS" };
                let Row { mode, variant, work_group, cases, worst, case } = row;
                println!(
                    "{mode:<10} {variant:<10} {work_group:>10} {cases:>6} {worst:>10.1e}  {case}{verdict}"
                );
            }
        }
    }
    match failures {
        0 => {
            println!("all below {TOLERANCE:.0e}");
            Ok(ExitCode::SUCCESS)
        }
        n => {
            println!("{n} row(s) not below {TOLERANCE:.0e}");
            Ok(ExitCode::from(1))
        }
    }
}

/// One comparison to make: where the bodies start and where the reference says that they end.
pub struct Case {
    name: String,
    mode: Box<dyn Mode>,
    start: Bodies,
    end: Bodies<f64>,
}

/// Every number of bodies in every scene of the mode's `check_scenes`, with every combination of its switches and
/// choices.
///
/// # Errors
/// If a scene is not there, or nothing happens in it.
pub fn cases(info: &'static ModeInfo) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for &name in info.check_scenes {
        let scene = info.scene(name).ok_or_else(|| Error::Invalid(format!("there is no scene {name}")))?;
        for options in combinations(info.mode_for(scene).as_mut()) {
            let mut mode = info.mode_for(scene);
            // A lone body feels only its loss of speed: without, nothing would happen to it.
            for (key, value) in options.iter().copied().chain([("decay", "0.99")]) {
                params::set(mode.as_mut(), key, value)?;
            }
            for n in BODIES {
                cases.push(case(scene, mode.as_ref(), &options, n)?);
            }
        }
    }
    Ok(cases)
}

fn case(scene: &Scene, mode: &dyn Mode, options: &[(&str, &str)], n: usize) -> Result<Case> {
    let params = &mode.values();
    let mut start = (scene.generate)(&Setup { bodies: n, seed: SEED, params });
    stir(&mut start);
    let mut end = start.to_f64();
    mode.reference(&mut end, STEPS);
    let options: String = options.iter().map(|(key, value)| format!(" {key}={value}")).collect();
    let name = format!("{n} bodies, {}{options}", scene.name);
    if rms_change(&start, &end) < LEAST_EFFECT {
        return Err(Error::Invalid(format!("nothing happens in {name}: a check would say nothing")));
    }
    Ok(Case { name, mode: mode.boxed(), start, end })
}

/// Equal masses would hide a mass taken from the wrong body, and bodies at rest would do nothing.
fn stir(bodies: &mut Bodies) {
    for (i, (x, v)) in bodies.positions.iter_mut().zip(&mut bodies.velocities).enumerate() {
        x[3] *= 0.25 + 0.25 * (i % 7) as f32;
        for (speed, drift) in v.iter_mut().zip([0.3, -0.2, 0.1]) {
            *speed += drift * ((i % 5) as f32 - 1.5);
        }
    }
}

/// Compares one variant over all cases.
///
/// # Errors
/// If the kernel does not build or the device fails.
pub fn row(device: &Device, variant: &'static Variant, work_group: usize, cases: &[Case]) -> Result<Row> {
    let mode = cases.first().map_or("", |case| case.mode.info().name);
    let mut row =
        Row { mode, variant: variant.name, work_group, cases: cases.len(), worst: 0.0, case: String::new() };
    for case in cases {
        let mut simulation = case.mode.build(device, variant, work_group, &case.start)?;
        simulation.start(STEPS);
        while simulation.advance()? {}
        let error = error(&simulation.state()?.to_f64(), case);
        if error > row.worst {
            (row.worst, row.case) = (error, case.name.clone());
        }
    }
    Ok(row)
}

/// How far `bodies` are from the end of `case`, relative to the change from its start.
fn error(bodies: &Bodies<f64>, case: &Case) -> f64 {
    let start = case.start.to_f64();
    let change = |now: &Bodies<f64>, i: usize| {
        let minus = |now: &[f64; 4], start: &[f64; 4]| std::array::from_fn(|k| now[k] - start[k]);
        Effect {
            velocity: minus(&now.velocities[i], &start.velocities[i]),
            position: minus(&now.positions[i], &start.positions[i]),
        }
    };
    let judge = |i| Judged { computed: change(bodies, i), right: change(&case.end, i) };
    relative_error((0..start.len()).map(judge)).unwrap_or(0.0)
}

/// The RMS change of velocity.
fn rms_change(start: &Bodies, end: &Bodies<f64>) -> f64 {
    let rows = start.velocities.iter().zip(&end.velocities);
    let squares = rows.flat_map(|(start, end)| (0..4).map(|k| (end[k] - f64::from(start[k])).powi(2)));
    (squares.sum::<f64>() / start.len() as f64).sqrt()
}
