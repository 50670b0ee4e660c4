//! Times steps of an engine.

use std::time::Instant;

use crate::base::error::Result;
use crate::engine::Engine;

/// Minimum duration of a timing in seconds; shorter ones measure the clock.
const LEAST_SECONDS: f64 = 0.2;

/// Warms up an engine: builds its kernels and measures its speed. Returns the number of steps of a timing.
pub(super) fn warm_up(engine: &mut Engine) -> Result<u32> {
    // Some compilers finish a kernel only when it first runs; that time does not count.
    time(engine, 1)?;
    let mut steps = 1;
    loop {
        let seconds = time(engine, steps)?;
        if seconds >= 0.5 * LEAST_SECONDS {
            return Ok(((f64::from(steps) * LEAST_SECONDS / seconds).ceil() as u32).max(1));
        }
        let factor = (LEAST_SECONDS / seconds).clamp(2.0, 64.0);
        steps = (f64::from(steps) * factor).ceil() as u32;
    }
}

pub(super) fn time(engine: &mut Engine, steps: u32) -> Result<f64> {
    let clock = Instant::now();
    engine.run(steps, |_| ())?;
    Ok(clock.elapsed().as_secs_f64())
}
