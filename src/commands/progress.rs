//! Runs an engine and shows a progress bar on stderr.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::base::{Result, invalid};
use crate::engine::{Engine, LostDevice};

/// Minimum duration of each part of a simulation run. In shorter parts, starting and stopping would take too much time.
const LEAST_PART: Duration = Duration::from_millis(500);
/// Number of simulation steps between checks for non-finite values.
const PART: u32 = 1 << 14;

/// Returns a progress bar for `length` units of work, drawn on stderr in the style `template`.
pub(super) fn bar(length: u64, template: &str) -> ProgressBar {
    let style = ProgressStyle::with_template(template);
    ProgressBar::new(length).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Runs an engine in one or several parts, and shows the progress of the whole run as a bar on stderr.
pub(super) struct RunProgress {
    bar: ProgressBar,
    /// Number of steps of the whole run.
    steps: u32,
    /// Number of steps of the parts that have ended.
    done: u32,
}

impl RunProgress {
    /// Shows an empty bar for a run of `steps` steps.
    pub(super) fn new(steps: u32) -> Self {
        let bar = bar(1000, "{bar:40} {percent:>3} % of the steps, {eta} left");
        bar.enable_steady_tick(Duration::from_millis(500));
        Self { bar, steps, done: 0 }
    }

    /// Runs the next `steps` steps. Returns the values that the mode recorded, one per step, if any.
    pub(super) fn run(&mut self, engine: &mut Engine, steps: u32) -> Result<Vec<f64>> {
        let outcome = run_in_parts(engine, steps, |share| {
            let share = (self.done as f32 + share * steps as f32) / self.steps as f32;
            self.bar.set_position((share * 1000.0) as u64);
        });
        self.done += steps;
        for LostDevice { error, step, .. } in engine.take_lost_devices() {
            self.bar.suspend(|| {
                eprintln!("note: {error}; the other devices continued from step {step}");
            });
        }
        outcome.map_err(|error| {
            self.bar.finish_and_clear();
            engine.crash_save(error)
        })
    }
}

impl Drop for RunProgress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Runs `steps` steps, and repeatedly passes the completed fraction (0 to 1) to `progress`. Returns the values that the
/// mode recorded, one per step, if any.
pub(super) fn run_in_parts(
    engine: &mut Engine,
    steps: u32,
    mut progress: impl FnMut(f32),
) -> Result<Vec<f64>> {
    let reported = engine.config().mode.info().series.as_ref();
    let (mut series, mut done) = (Vec::new(), 0);
    // A crash save can store the state only between parts.
    let mut part = if reported.is_some() { PART } else { 1 };
    while done < steps {
        let (clock, now) = (Instant::now(), part.min(steps - done));
        engine.run(now, |share| progress((done as f32 + share * now as f32) / steps as f32))?;
        if let Some(reported) = reported {
            let values = engine.series()?;
            if let Some(at) = values.iter().position(|value| !value.is_finite()) {
                let step = engine.clock().0 as usize - values.len() + at + 1;
                return Err(invalid!("after {step} steps, {}", reported.broken));
            }
            series.extend(values);
        } else if clock.elapsed() < LEAST_PART {
            part = part.saturating_mul(4);
        }
        done += now;
    }
    Ok(series)
}
