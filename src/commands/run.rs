//! `gravitile run`: step without a window, and report.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Instant;

use serde::Serialize;

use super::{config, open, print_json, run_with_progress};
use crate::cli::Run;
use crate::engine::{Engine, relative_drift};
use crate::error::Result;
use crate::files::Output;
use crate::modes::{ModeInfo, Reading, Recipe};
use crate::params::Values;
use crate::scene;

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Report {
    #[serde(skip)]
    info: &'static ModeInfo,
    #[serde(skip)]
    recipe: Recipe,
    mode: &'static str,
    start: String,
    params: Values,
    variant: &'static str,
    work_group: usize,
    knobs: BTreeMap<&'static str, u32>,
    device: String,
    bodies: usize,
    steps: u32,
    /// Simulated time.
    time: f64,
    /// Time on the wall.
    seconds: f64,
    interactions_per_second: f64,
    energy: Energy,
    momentum: [f64; 3],
    /// Σ m |v|, what the momentum is compared with.
    momentum_scale: f64,
    angular_momentum: [f64; 3],
    nonfinite: usize,
    /// What else the mode has to tell, after the last step.
    readings: Vec<Reading>,
}

#[derive(Debug, Serialize)]
struct Energy {
    start: f64,
    end: f64,
    relative_drift: f64,
}

pub(super) fn call(args: &Run) -> Result<ExitCode> {
    let config = config(&args.simulation)?;
    let output = args.out.as_deref().map(Output::create).transpose()?;
    let mut engine = Engine::new(open(args.simulation.device.device.as_deref())?, config)?;
    let report = report(&mut engine, args.steps)?;
    if let Some(output) = output {
        let bodies = engine.state()?;
        output.save(|file| scene::csv::write(file, &bodies))?;
    }
    if args.json {
        print_json(&report)
    } else {
        print(&report)
    }
    Ok(ExitCode::SUCCESS)
}

fn report(engine: &mut Engine, steps: u32) -> Result<Report> {
    let (start, _) = engine.diagnostics()?;
    let clock = Instant::now();
    run_with_progress(engine, steps)?;
    let seconds = clock.elapsed().as_secs_f64();
    let (end, _) = engine.diagnostics()?;
    let resolved = engine.resolved();
    let config = engine.config();
    Ok(Report {
        info: config.mode.info(),
        recipe: resolved.recipe,
        mode: config.mode.info().name,
        start: config.start.name().to_owned(),
        params: config.mode.values(),
        variant: resolved.recipe.variant.name,
        work_group: resolved.recipe.work_group,
        knobs: resolved.recipe.values(),
        device: engine.device().info.name.clone(),
        bodies: resolved.bodies,
        steps,
        time: engine.clock().1,
        seconds,
        interactions_per_second: (resolved.bodies as f64).powi(2) * f64::from(steps) / seconds,
        energy: Energy {
            start: start.energy(),
            end: end.energy(),
            relative_drift: relative_drift(start.energy(), end.energy()),
        },
        momentum: end.momentum,
        momentum_scale: end.momentum_scale,
        angular_momentum: end.angular_momentum,
        nonfinite: end.nonfinite,
        readings: end.readings,
    })
}

fn print(report: &Report) {
    let Report { mode, start, variant, work_group, device, bodies, steps, time, seconds, .. } = report;
    let length = |v: [f64; 3]| v.iter().map(|c| c * c).sum::<f64>().sqrt();
    println!(
        "{mode} · {start} · {bodies} bodies · {variant} × {work_group} {} on {device}",
        report.recipe.words()
    );
    println!("{steps} steps to t = {time:.4} in {seconds:.3} s, {:.1} steps/s", f64::from(*steps) / seconds);
    println!("{}", super::bench::speed(report.info, report.interactions_per_second));
    let Energy { start, end, relative_drift } = report.energy;
    println!("energy {start:.6} → {end:.6}, drift {relative_drift:+.2e}");
    println!("momentum {:.2e} of Σm|v| {:.4}", length(report.momentum), report.momentum_scale);
    println!("angular momentum {:.6}", length(report.angular_momentum));
    for reading in &report.readings {
        println!("{} {:.4}{}", reading.label, reading.value, if reading.warns { " (!)" } else { "" });
    }
    if report.nonfinite > 0 {
        println!("{} bodies stopped being finite and are held out", report.nonfinite);
    }
}
