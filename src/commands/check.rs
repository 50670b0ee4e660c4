//! `gravitile check`: every variant of every mode against the f64 reference, at awkward sizes.

use std::process::ExitCode;

use super::{edited, ladders, open};
use crate::cli::Check;
use crate::compute::{Device, DeviceInfo};
use crate::error::{Error, Result};
use crate::modes::checks::{self, Start};
use crate::modes::{ModeInfo, Recipe, Variant};
use crate::state::State;

/// The number of bodies or cells that the first guess is for.
const FEW: usize = 1000;
/// Below this change an agreement would say nothing.
const LEAST_EFFECT: f64 = 1e-3;

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
    let guess = Recipe::guess(variant, device, FEW);
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

/// How some kernels of a variant did over all starts of its mode.
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
    /// The largest relative error, as [`checks::error`] has it.
    pub worst: f64,
    /// What of it passes for this variant.
    pub allowed: f64,
    /// In which case.
    pub case: String,
}

impl Row {
    /// Whether the variant agrees with the reference.
    pub fn passes(&self) -> bool {
        self.worst < self.allowed
    }
}

pub(super) fn call(args: &Check) -> Result<ExitCode> {
    let device = open(&args.device, &args.kernels)?;
    let mut plan = Vec::new();
    for (info, variants) in ladders(args.mode.as_deref(), &args.variant)? {
        let cases = if variants.is_empty() { Vec::new() } else { cases(info)? };
        plan.push((variants, cases));
    }
    let (info, edited) = (&device.info, edited(&device));
    println!("{} · driver {} · against f64, relative errors{edited}", info.name, info.driver);
    println!(
        "{:<10} {:<10} {:>10} {:>7} {:>6} {:>10} {:>8}  worst case",
        "mode", "variant", "work-group", "kernels", "cases", "error", "allowed"
    );
    let mut failures = 0;
    for (variants, cases) in plan {
        for variant in variants {
            for plan in plans(&device.info, variant) {
                let row = row(&device, &plan, &cases)?;
                failures += usize::from(!row.passes());
                let verdict = if row.passes() { "" } else { "  FAILS" };
                let Row { mode, variant, work_group, recipes, cases, worst, allowed, case } = row;
                println!(
                    "{mode:<10} {variant:<10} {work_group:>10} {recipes:>7} {cases:>6} {worst:>10.1e} {allowed:>8.0e}  {case}{verdict}"
                );
            }
        }
    }
    match failures {
        0 => {
            println!("all below what is allowed");
            Ok(ExitCode::SUCCESS)
        }
        n => {
            println!("{n} row(s) not below what is allowed");
            Ok(ExitCode::from(1))
        }
    }
}

/// One comparison to make: a start, and where the reference says that it ends.
pub struct Case {
    start: Start,
    end: State<f64>,
}

/// Every start of the mode's `checks`, with its end.
///
/// # Errors
/// If a scene is not there, or nothing happens in it.
pub fn cases(info: &'static ModeInfo) -> Result<Vec<Case>> {
    let case = |start: Start| {
        let mut end = start.state.to_f64();
        start.mode.reference(&mut end, start.steps)?;
        if checks::effect(&start.state, &end)? < LEAST_EFFECT {
            let name = &start.name;
            return Err(Error::Invalid(format!("nothing happens in {name}: a check would say nothing")));
        }
        Ok(Case { start, end })
    };
    (info.checks)(info)?.into_iter().map(case).collect()
}

/// Compares the kernels of a plan over its cases.
///
/// # Errors
/// If a kernel does not build or the device fails.
pub fn row(device: &Device, plan: &Plan, cases: &[Case]) -> Result<Row> {
    let cases: Vec<&Case> = cases.iter().filter(|case| plan.thorough || case.start.telling).collect();
    let mut row = Row {
        mode: cases.first().map_or("", |case| case.start.mode.info().name),
        variant: plan.recipes[0].variant.name,
        work_group: plan.recipes[0].work_group,
        recipes: plan.recipes.len(),
        cases: cases.len() * plan.recipes.len(),
        worst: 0.0,
        allowed: plan.recipes[0].variant.tolerance,
        case: String::new(),
    };
    for recipe in &plan.recipes {
        for case in &cases {
            let Start { mode, state, steps, name, .. } = &case.start;
            let mut simulation = mode.build(device, *recipe, state)?;
            simulation.start(*steps);
            while simulation.advance()? {}
            let error = checks::error(state, &simulation.state()?.to_f64(), &case.end)?;
            if error > row.worst {
                (row.worst, row.case) = (error, format!("{name} {}", recipe.words()));
            }
        }
    }
    Ok(row)
}
