//! Runs an engine and shows its progress on stderr.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::base::error::{Error, Result};
use crate::engine::{Engine, LostDevice};

/// Minimum duration of a part of a run; with shorter parts, the overhead between parts would dominate.
const LEAST_PART: Duration = Duration::from_millis(500);
/// Steps between two checks for values that are not finite.
const PART: u32 = 1 << 14;

/// Returns a progress bar of a length, drawn on stderr as `template` says.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Runs steps with a progress bar on stderr. Returns the value of each step, if the mode reports one.
pub(super) fn run_with_progress(engine: &mut Engine, steps: u32) -> Result<Vec<f64>> {
    let bar = bar(1000, "{bar:40} {percent:>3} % of the steps, {eta} to go");
    bar.enable_steady_tick(Duration::from_millis(500));
    let outcome = run_in_parts(engine, steps, |share| bar.set_position((share * 1000.0) as u64));
    bar.finish_and_clear();
    for LostDevice { error, step, .. } in engine.take_lost_devices() {
        eprintln!("note: {error}; the other devices continued without it from step {step}");
    }
    outcome.map_err(|error| engine.crash_save(error))
}

pub(super) fn run_in_parts(
    engine: &mut Engine,
    steps: u32,
    mut progress: impl FnMut(f32),
) -> Result<Vec<f64>> {
    let mut series = Vec::new();
    let mut done = 0;
    let Some(told) = &engine.config().mode.info().series else {
        // The crash save can store the state between two parts.
        let mut part = 1;
        while done < steps {
            let clock = Instant::now();
            let now = part.min(steps - done);
            engine.run(now, |share| progress((done as f32 + share * now as f32) / steps as f32))?;
            done += now;
            part = if clock.elapsed() < LEAST_PART { part.saturating_mul(4) } else { part };
        }
        return Ok(series);
    };
    while done < steps {
        let part = PART.min(steps - done);
        engine.run(part, |share| progress((done as f32 + share * part as f32) / steps as f32))?;
        let values = engine.series()?;
        if let Some(at) = values.iter().position(|value| !value.is_finite()) {
            return Err(Error::Invalid(format!("after {} steps {}", done as usize + at + 1, told.broken)));
        }
        series.extend(values);
        done += part;
    }
    Ok(series)
}
