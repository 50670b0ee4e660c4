//! `gravitile check`: compares every kernel variant of every mode with an f64 reference, at several work-group sizes.

use std::cell::OnceCell;
use std::process::ExitCode;

use super::devices::{edited, open};
use super::options::ladders;
use super::report::print_json;
use crate::base::{Result, State, invalid};
use crate::cli::Check;
use crate::compute::{Device, DeviceInfo};
use crate::modes::accuracy::SampleErrors;
use crate::modes::{ModeInfo, Recipe, Start, Variant, checks};

/// Number of bodies or cells assumed when choosing the basic kernel settings, from which the checked settings are
/// derived.
const FEW: usize = 1000;
/// Minimum relative change of the simulation state during a test case. A smaller change could hide kernel errors.
const LEAST_EFFECT: f64 = 1e-3;

/// Kernel settings (recipes) of one variant that are tested together and share one row of the printed table.
#[derive(Debug, Clone)]
pub struct Plan {
    /// Kernel settings to test, in test order.
    pub recipes: Vec<Recipe>,
    /// Whether to run all test cases. If false, only the few cases that reveal most errors are run.
    thorough: bool,
}

/// Returns the settings of `variant` to test: several work-group sizes and all combinations of compile-time parameters.
pub fn plans(device: &DeviceInfo, variant: &'static Variant) -> Vec<Plan> {
    let guess = Recipe::guess(variant, device, FEW);
    let most = guess.max_work_group(device);
    let mut sizes: Vec<usize> = [1, 7, 64, 256, most].into_iter().filter(|&size| size <= most).collect();
    sizes.dedup();
    let with = |size: &usize| Plan { recipes: vec![guess.with_work_group(*size)], thorough: true };
    let mut plans: Vec<Plan> = sizes.iter().map(with).collect();
    // Settings that `auto` guesses for a large number of bodies.
    let many = Recipe::guess(variant, device, 1 << 20);
    if many != guess.with_work_group(many.work_group) {
        plans.push(Plan { recipes: vec![many], thorough: true });
    }
    if !variant.knobs.is_empty() {
        let fits = |recipe: &Recipe| recipe.work_group <= recipe.max_work_group(device);
        // The work-group size is odd, so that it is not divisible by any even number of cooperating work-items.
        let recipes = guess.with_work_group(63.min(most)).relatives().into_iter().filter(fits).collect();
        plans.push(Plan { recipes, thorough: false });
    }
    plans
}

/// Result of testing all kernel settings of a [`Plan`] against the f64 reference.
#[derive(Debug, Clone)]
pub struct Row {
    /// The combination of kernel settings that was tested first.
    pub recipe: Recipe,
    /// Number of combinations of kernel settings tested.
    pub recipes: usize,
    /// Number of comparisons with the f64 reference: one for each combination of kernel settings and test case.
    pub cases: usize,
    /// Relative error in the worst comparison with the f64 reference. The worst comparison is the one whose error is
    /// the largest fraction of the allowed error. See [`checks::error`] for the definition of the error.
    pub worst: f64,
    /// Largest relative error allowed for the kernel settings of the worst comparison.
    pub allowed: f64,
    /// Name of the test case of the worst comparison, followed by the kernel settings.
    pub case: String,
    /// Errors of the bodies or cells in the worst comparison; `None` if there was no error, or if nothing acts
    /// on any body or cell.
    pub errors: Option<SampleErrors>,
}

impl Row {
    /// Returns whether all errors are within the allowed limits.
    pub fn passes(&self) -> bool {
        self.worst < self.allowed
    }

    fn print(&self, mode: &str) {
        let Self { recipe: Recipe { variant, work_group, .. }, recipes, cases, worst, allowed, case, errors } =
            self;
        let name = variant.name;
        let spread = errors.map(|errors| format!(" · {}", errors.spread())).unwrap_or_default();
        let verdict = if self.passes() { "" } else { "  FAILS" };
        println!(
            "{mode:<10} {name:<10} {work_group:>10} {recipes:>7} {cases:>6} {worst:>10.1e} {allowed:>8.0e}  {case}{spread}{verdict}"
        );
    }

    fn report(&self, mode: &str) -> serde_json::Value {
        serde_json::json!({
            "mode": mode,
            "variant": self.recipe.variant.name,
            "work_group": self.recipe.work_group,
            "kernels": self.recipes,
            "cases": self.cases,
            "error": self.worst,
            "allowed": self.allowed,
            "worst_case": self.case,
            "errors": self.errors,
            "passes": self.passes(),
        })
    }
}

pub(super) fn call(args: &Check) -> Result<ExitCode> {
    let device = open(&args.subject)?;
    let mut plan = Vec::new();
    for (info, variants) in ladders(&args.subject)? {
        let cases = if variants.is_empty() { Vec::new() } else { cases(info)? };
        plan.push((info.name, variants, cases));
    }
    if !args.json {
        let (name, driver, edited) = (&device.info.name, &device.info.driver, edited(&device));
        println!("{name}, driver {driver} · relative errors, compared with double precision{edited}");
        println!("mode       variant    work-group kernels  cases      error  allowed  worst case");
    }
    let (mut failures, mut rows) = (0, Vec::new());
    for (mode, variants, cases) in plan {
        for variant in variants {
            for plan in plans(&device.info, variant) {
                let row = row(&device, &plan, &cases)?;
                failures += usize::from(!row.passes());
                match args.json {
                    true => rows.push(row.report(mode)),
                    false => row.print(mode),
                }
            }
        }
    }
    let code = ExitCode::from(u8::from(failures > 0));
    match failures {
        _ if args.json => {
            print_json(&serde_json::json!({ "device": *device.info, "rows": rows, "passes": failures == 0 }));
        }
        0 => println!("all errors are within the limits"),
        n => println!("failed: the error is too large in {n} of the rows above"),
    }
    Ok(code)
}

/// A test case: an initial state and the final state that the f64 reference computes from it.
pub struct Case {
    start: Start,
    /// The final state, computed when the case is first used.
    end: OnceCell<State<f64>>,
}

impl Case {
    fn end(&self) -> Result<&State<f64>> {
        if let Some(end) = self.end.get() {
            return Ok(end);
        }
        let Start { mode, state, steps, name, .. } = &self.start;
        let mut end = state.to_f64();
        mode.reference(&mut end, *steps)?;
        if checks::effect(state, &end)? < LEAST_EFFECT {
            return Err(invalid!(
                "the scene {name} cannot be used as a check, because almost nothing changes in it"
            ));
        }
        Ok(self.end.get_or_init(|| end))
    }
}

/// Returns the test cases of a mode. The f64 reference computes each case's result when the case is first used.
///
/// # Errors
/// Returns an error if a scene is missing.
pub fn cases(info: &'static ModeInfo) -> Result<Vec<Case>> {
    Ok((info.checks)(info)?.into_iter().map(|start| Case { start, end: OnceCell::new() }).collect())
}

/// Runs the test cases with all kernel settings in `plan`, and compares the results with the f64 reference.
///
/// # Errors
/// Returns an error if a kernel does not build, the device fails, or the state of a case hardly changes.
pub fn row<'c>(device: &Device, plan: &Plan, cases: impl IntoIterator<Item = &'c Case>) -> Result<Row> {
    let cases: Vec<&Case> = cases.into_iter().filter(|case| plan.thorough || case.start.telling).collect();
    let mut row = Row {
        recipe: plan.recipes[0],
        recipes: plan.recipes.len(),
        cases: cases.len() * plan.recipes.len(),
        worst: 0.0,
        allowed: plan.recipes[0].variant.tolerance,
        case: String::new(),
        errors: None,
    };
    for recipe in &plan.recipes {
        for case in &cases {
            let Start { mode, state, steps, name, .. } = &case.start;
            let mut simulation = mode.build(device, *recipe, state)?;
            simulation.start(*steps);
            while simulation.advance()? {}
            let (error, errors) = checks::errors(state, &simulation.state()?.to_f64(), case.end()?)?;
            let allowed = mode.tolerance(recipe);
            if error / allowed > row.worst / row.allowed {
                row.case = format!("{name} {}", recipe.words()).trim_end().to_owned();
                (row.worst, row.allowed, row.errors) = (error, allowed, errors);
            }
        }
    }
    Ok(row)
}
