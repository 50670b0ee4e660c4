//! `gravitile check`: every variant of every mode against the f64 reference, at awkward sizes.

use std::process::ExitCode;

use super::{ladders, open};
use crate::bodies::Bodies;
use crate::cli::Check;
use crate::compute::{Device, DeviceInfo};
use crate::error::{Error, Result};
use crate::modes::accuracy::{Effect, Judged, TOLERANCE, relative_error};
use crate::modes::{Mode, ModeInfo, Recipe, Variant};
use crate::params::{self, combinations};
use crate::scene::{Scene, Setup};

/// Around the powers of two where tails go wrong.
pub const BODIES: [usize; 9] = [1, 2, 3, 63, 64, 65, 255, 257, 1000];
/// Below this change an agreement would say nothing.
const LEAST_EFFECT: f64 = 1e-3;
const STEPS: u32 = 3;
const SEED: u64 = 7;

/// Kernels of one variant that are compared in one row.
#[derive(Debug, Clone)]
pub struct Plan {
    recipes: Vec<Recipe>,
    /// Whether all cases are compared, or those that show most.
    thorough: bool,
}

/// What there is of a variant on a device: work-groups of one item, odd, usual, and the largest; and every combination
/// of knobs.
pub fn plans(device: &DeviceInfo, variant: &'static Variant) -> Vec<Plan> {
    let guess = Recipe::guess(variant, device, BODIES[8]);
    let most = guess.max_work_group(device);
    let mut sizes: Vec<usize> = [1, 7, 64, 256, most].into_iter().filter(|&size| size <= most).collect();
    sizes.dedup();
    let with = |size: &usize| Plan { recipes: vec![guess.with_work_group(*size)], thorough: true };
    let mut plans: Vec<Plan> = sizes.iter().map(with).collect();
    // What many bodies are stepped by.
    let many = Recipe::guess(variant, device, 1 << 20);
    if many != guess.with_work_group(many.work_group) {
        plans.push(Plan { recipes: vec![many], thorough: true });
    }
    if !variant.knobs.is_empty() {
        let fits = |recipe: &Recipe| recipe.work_group <= recipe.max_work_group(device);
        // A size that no number of items divides which could share a sum.
        let recipes = guess.with_work_group(63.min(most)).relatives().into_iter().filter(fits).collect();
        plans.push(Plan { recipes, thorough: false });
    }
    plans
}

/// How some kernels of a variant did over all numbers of bodies and combinations of options.
#[derive(Debug, Clone)]
pub struct Row {
    /// The mode.
    pub mode: &'static str,
    /// The variant.
    pub variant: &'static str,
    /// Work-items to a work-group.
    pub work_group: usize,
    /// How many kernels.
    pub recipes: usize,
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
        "{:<10} {:<10} {:>10} {:>7} {:>6} {:>10}  worst case",
        "mode", "variant", "work-group", "kernels", "cases", "error"
    );
    let mut failures = 0;
    for (variants, cases) in plan {
        for variant in variants {
            for plan in plans(&device.info, variant) {
                let row = row(&device, &plan, &cases)?;
                failures += usize::from(!row.passes());
                let verdict = if row.passes() { "" } else { "  FAILS" };
                let Row { mode, variant, work_group, recipes, cases, worst, case } = row;
                println!(
                    "{mode:<10} {variant:<10} {work_group:>10} {recipes:>7} {cases:>6} {worst:>10.1e}  {case}{verdict}"
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
    /// Whether it is among the few that show most.
    telling: bool,
}

/// Numbers of bodies of the cases that show most.
const TELLING: [usize; 3] = [1, 65, 1000];

/// Every number of bodies in every scene of the mode's `check_scenes`, with every combination of its switches and
/// choices.
///
/// # Errors
/// If a scene is not there, or nothing happens in it.
pub fn cases(info: &'static ModeInfo) -> Result<Vec<Case>> {
    let mut cases = Vec::new();
    for &name in info.check_scenes {
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
                cases.push(case(scene, mode.as_ref(), &name, n, (Masses::Various, telling))?);
                if nth == 0 {
                    cases.push(case(scene, mode.as_ref(), &name, n, (Masses::Equal, telling))?);
                }
            }
        }
    }
    Ok(cases)
}

/// Equal masses would hide a mass taken from the wrong body; but there are kernels for them alone.
#[derive(Clone, Copy, PartialEq)]
enum Masses {
    Various,
    /// But for one without any.
    Equal,
}

fn case(
    scene: &Scene,
    mode: &dyn Mode,
    options: &str,
    n: usize,
    (masses, telling): (Masses, bool),
) -> Result<Case> {
    let params = &mode.values();
    let mut start = (scene.generate)(&Setup { bodies: n, seed: SEED, params });
    stir(&mut start, masses);
    let mut end = start.to_f64();
    mode.reference(&mut end, STEPS);
    let equal = if masses == Masses::Equal { " of one mass" } else { "" };
    let name = format!("{n} bodies{equal}, {}{options}", scene.name);
    if rms_change(&start, &end) < LEAST_EFFECT {
        return Err(Error::Invalid(format!("nothing happens in {name}: a check would say nothing")));
    }
    Ok(Case { name, mode: mode.boxed(), start, end, telling })
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

/// Compares the kernels of a plan over its cases.
///
/// # Errors
/// If a kernel does not build or the device fails.
pub fn row(device: &Device, plan: &Plan, cases: &[Case]) -> Result<Row> {
    let cases: Vec<&Case> = cases.iter().filter(|case| plan.thorough || case.telling).collect();
    let mut row = Row {
        mode: cases.first().map_or("", |case| case.mode.info().name),
        variant: plan.recipes[0].variant.name,
        work_group: plan.recipes[0].work_group,
        recipes: plan.recipes.len(),
        cases: cases.len() * plan.recipes.len(),
        worst: 0.0,
        case: String::new(),
    };
    for recipe in &plan.recipes {
        for case in &cases {
            let mut simulation = case.mode.build(device, *recipe, &case.start)?;
            simulation.start(STEPS);
            while simulation.advance()? {}
            let error = error(&simulation.state()?.to_f64(), case);
            if error > row.worst {
                (row.worst, row.case) = (error, format!("{} {}", case.name, recipe.words()));
            }
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
