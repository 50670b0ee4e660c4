//! Speeds of the simulation, averaged over about the last second.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Time over which speeds are averaged: long enough for steady values, short enough to respond to a slider.
const WINDOW: Duration = Duration::from_secs(1);

/// Measures how many steps are computed, and how long the device works, per second of wall-clock time.
#[derive(Debug)]
pub(super) struct RateCounter {
    /// Time, step number and total device seconds of each sample within [`WINDOW`].
    notes: VecDeque<(Instant, u64, f64)>,
    start: Instant,
    /// Total device time from `start` to the last sample, in seconds. The field `elapsed` is the wall-clock time of the
    /// same period, in seconds.
    seconds: f64,
    elapsed: f64,
}

/// Average speeds of the simulation; all are zero until there are two samples.
#[derive(Debug, Default)]
pub(super) struct Rates {
    pub steps_per_second: f64,
    /// Device time of a step, in seconds.
    pub step_seconds: f64,
    /// Fraction of wall-clock time that the device spent computing, from 0 to 1.
    pub busy: f64,
}

impl RateCounter {
    pub(super) fn new() -> Self {
        Self { notes: VecDeque::new(), start: Instant::now(), seconds: 0.0, elapsed: 0.0 }
    }

    /// Discards all samples. Called when the cost of a step changes.
    pub(super) fn reset(&mut self) {
        self.notes.clear();
    }

    /// Adds a sample: the current `step`, and the device time since the previous sample, in seconds.
    pub(super) fn note(&mut self, now: Instant, step: u64, device_seconds: f64) {
        self.seconds += device_seconds;
        self.elapsed = (now - self.start).as_secs_f64();
        self.notes.push_back((now, step, self.seconds));
        while self.notes.len() > 2 && now - self.notes[1].0 > WINDOW {
            self.notes.pop_front();
        }
    }

    /// Returns the steps per second, the device time per step and the busy fraction, averaged over about the last
    /// second.
    pub(super) fn rates(&self) -> Rates {
        let (Some(first), Some(last)) = (self.notes.front(), self.notes.back()) else {
            return Rates::default();
        };
        let steps = last.1.abs_diff(first.1) as f64;
        let (seconds, device_seconds) = ((last.0 - first.0).as_secs_f64(), last.2 - first.2);
        if steps == 0.0 || seconds == 0.0 {
            return Rates::default();
        }
        let busy = (device_seconds / seconds).min(1.0);
        Rates { steps_per_second: steps / seconds, step_seconds: device_seconds / steps, busy }
    }

    /// Returns the fraction of the time that the device spent computing, from the start to the last sample.
    pub(super) fn busy(&self) -> f64 {
        if self.elapsed > 0.0 { (self.seconds / self.elapsed).min(1.0) } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_rates_are_averaged_over_about_the_last_second() {
        let mut counter = RateCounter::new();
        let start = Instant::now();
        assert_eq!(counter.rates().steps_per_second, 0.0);
        for (tenths, step, seconds) in [(0, 0, 0.0), (10, 10, 0.5), (20, 40, 0.3)] {
            counter.note(start + Duration::from_millis(100 * tenths), step, seconds);
        }
        let Rates { steps_per_second, step_seconds, busy } = counter.rates();
        for (found, expected) in [(steps_per_second, 20.0), (step_seconds, 0.02), (busy, 0.4)] {
            assert!((found - expected).abs() < 1e-9, "{found} instead of {expected}");
        }
        counter.note(start + Duration::from_millis(2_500), 40, 0.0);
        assert!((counter.rates().steps_per_second - 20.0).abs() < 1e-9, "30 steps in 1.5 s");
        counter.reset();
        assert_eq!(counter.rates().steps_per_second, 0.0);
    }
}
