//! Speeds over the last second or so.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Long enough to be steady, short enough to follow a slider.
const WINDOW: Duration = Duration::from_secs(1);

/// Steps and device time by the clock on the wall.
#[derive(Debug, Default)]
pub(super) struct Meter {
    /// When, steps until then, device seconds until then.
    marks: VecDeque<(Instant, u64, f64)>,
    seconds: f64,
}

impl Meter {
    /// Forgets all, when steps cost something else from now on.
    pub fn reset(&mut self) {
        *self = Self::default();
    }

    /// Notes that `step` is reached, and the device time spent since the last note.
    pub fn note(&mut self, now: Instant, step: u64, device_seconds: f64) {
        self.seconds += device_seconds;
        self.marks.push_back((now, step, self.seconds));
        while self.marks.len() > 2 && now - self.marks[1].0 > WINDOW {
            self.marks.pop_front();
        }
    }

    /// Steps a second, and device seconds of a step; zero until two notes were taken.
    pub fn rates(&self) -> (f64, f64) {
        let (Some(first), Some(last)) = (self.marks.front(), self.marks.back()) else { return (0.0, 0.0) };
        let steps = last.1.saturating_sub(first.1) as f64;
        let seconds = (last.0 - first.0).as_secs_f64();
        match steps > 0.0 && seconds > 0.0 {
            true => (steps / seconds, (last.2 - first.2) / steps),
            false => (0.0, 0.0),
        }
    }
}
