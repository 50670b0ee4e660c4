//! Speeds over the last second or so.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Long enough to be steady, short enough to follow a slider.
const WINDOW: Duration = Duration::from_secs(1);

/// Steps and device time by the clock on the wall.
#[derive(Debug)]
pub(super) struct Meter {
    /// When, steps until then, device seconds until then.
    marks: VecDeque<(Instant, u64, f64)>,
    start: Instant,
    /// Device time and time on the wall from the start to the last note.
    seconds: f64,
    elapsed: f64,
}

/// Speeds; zero until two notes were taken.
#[derive(Debug, Default)]
pub(super) struct Rates {
    pub steps_per_second: f64,
    /// Device time of a step.
    pub step_seconds: f64,
    /// The share of the time that the device was busy.
    pub busy: f64,
}

impl Meter {
    pub fn new() -> Self {
        Self { marks: VecDeque::new(), start: Instant::now(), seconds: 0.0, elapsed: 0.0 }
    }

    /// Forgets the speeds, when steps cost something else from now on.
    pub fn reset(&mut self) {
        self.marks.clear();
    }

    /// Notes that `step` is reached, and the device time spent since the last note.
    pub fn note(&mut self, now: Instant, step: u64, device_seconds: f64) {
        self.seconds += device_seconds;
        self.elapsed = (now - self.start).as_secs_f64();
        self.marks.push_back((now, step, self.seconds));
        while self.marks.len() > 2 && now - self.marks[1].0 > WINDOW {
            self.marks.pop_front();
        }
    }

    /// Over the last second or so.
    pub fn rates(&self) -> Rates {
        let (Some(first), Some(last)) = (self.marks.front(), self.marks.back()) else {
            return Rates::default();
        };
        let steps = last.1.abs_diff(first.1) as f64;
        let (seconds, device_seconds) = ((last.0 - first.0).as_secs_f64(), last.2 - first.2);
        match steps > 0.0 && seconds > 0.0 {
            true => Rates {
                steps_per_second: steps / seconds,
                step_seconds: device_seconds / steps,
                busy: (device_seconds / seconds).min(1.0),
            },
            false => Rates::default(),
        }
    }

    /// The share of all the time until the last note that the device was busy.
    pub fn busy(&self) -> f64 {
        if self.elapsed > 0.0 { (self.seconds / self.elapsed).min(1.0) } else { 0.0 }
    }
}
