//! `gravitile bench --tune`: searches for the fastest kernel settings, and stores them for `auto` to use.

use std::ops::ControlFlow;
use std::process::ExitCode;

use crate::base::Result;
use crate::cli::Bench;
use crate::commands::devices::open;
use crate::commands::launch::tuned;
use crate::commands::options::{modes_for, set_mode};
use crate::commands::progress::bar;
use crate::commands::report::{print_json, speed, wrote};
use crate::compute::Device;
use crate::engine::{Config, Resolved, Study, Trial, Tuned, tuning};
use crate::modes::{ModeInfo, Recipe, Variant};

pub(crate) fn call(args: &Bench) -> Result<ExitCode> {
    let device = open(&args.subject)?;
    let mut tuned = tuned();
    let mut configs = Vec::new();
    for info in modes_for(args.subject.mode.as_deref())? {
        let sizes: Vec<_> = args.bodies.iter().copied().map(Some).collect();
        for bodies in if sizes.is_empty() { vec![None] } else { sizes } {
            let mut config = Config::new(info);
            config.bodies = bodies;
            set_mode(config.mode.as_mut(), &args.set)?;
            Resolved::new(&config, &device.info)?;
            configs.push(config);
        }
    }
    // A file that cannot be written is reported before the search.
    if let Some(path) = Tuned::path() {
        tuned.save(&path)?;
    }
    if !args.json {
        println!("{}, driver {}: searching for the fastest settings", device.info.name, device.info.driver);
        println!("mode       variant      bodies work-group  speed");
    }
    let mut rows = Vec::new();
    for config in &configs {
        let trials = search(&device, config)?;
        tuning::remember(&mut tuned, &device.info, config.mode.info(), &trials);
        // Saves after each configuration, so that an interrupted search keeps its results.
        if let Some(path) = Tuned::path() {
            tuned.save(&path)?;
        }
        for trial in &Trial::best_of_each(&trials) {
            if !args.json {
                print(config.mode.info(), trial);
            }
            rows.push(row(config.mode.info(), trial));
        }
        if !args.json {
            let Resolved { bodies, recipe } =
                Resolved::new(&Config { tuned: tuned.clone(), ..config.clone() }, &device.info)?;
            let Recipe { variant, work_group, .. } = recipe;
            let (tried, name, words) = (trials.len(), variant.name, recipe.words());
            println!(
                "measured {tried} settings; for about {bodies} bodies, `auto` now uses the variant {name} with work-group size {work_group} {words}"
            );
        }
    }
    if let Some(path) = Tuned::path() {
        wrote(path.display());
    }
    if args.json {
        print_json(&serde_json::json!({ "device": *device.info, "rows": rows }));
    }
    Ok(ExitCode::SUCCESS)
}

/// Searches for the fastest kernel settings for a configuration, and returns all measurements.
fn search(device: &Device, config: &Config) -> Result<Vec<Trial>> {
    let bar = bar(1000, "{bar:40} {msg}");
    let mut trials: Vec<Trial> = Vec::new();
    let outcome = Study::Tune.run(device, config, &mut |share, trial| {
        trials.push(*trial);
        bar.set_position((share * 1000.0) as u64);
        let (tried, name, words) = (trials.len(), trial.recipe.variant.name, trial.recipe.words());
        bar.set_message(format!("measured {tried} settings, most recently {name} {words}"));
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    outcome?;
    Ok(trials)
}

fn print(info: &'static ModeInfo, trial: &Trial) {
    let Trial { recipe, bodies, pairs_per_second, .. } = trial;
    let Recipe { variant: Variant { name, .. }, work_group, .. } = recipe;
    let (mode, speed, words) = (info.name, speed(info, *pairs_per_second), recipe.words());
    println!("{mode:<10} {name:<10} {bodies:>8} {work_group:>10}  {speed}  {words}");
}

fn row(info: &'static ModeInfo, trial: &Trial) -> serde_json::Value {
    let Trial { recipe, bodies, pairs_per_second, .. } = trial;
    serde_json::json!({
        "mode": info.name,
        "variant": recipe.variant.name,
        "bodies": bodies,
        "work_group": recipe.work_group,
        "knobs": recipe.values(),
        info.work.report.0: info.work.reported(*pairs_per_second),
    })
}
