//! When to draw: as soon as there is something new, never more often than the screen shows.

use std::time::{Duration, Instant};

/// The numbers beside the picture are refreshed at least this often, ...
const HEARTBEAT: Duration = Duration::from_millis(250);
/// ... and while nothing goes on, this.
const IDLE: Duration = Duration::from_secs(5);
/// How slowly the shown frame rate follows.
const SMOOTHING: f64 = 0.1;

/// Decides when the next frame is due.
#[derive(Debug)]
pub(super) struct FrameClock {
    /// Of the screen. A driver that waits for the screen keeps it by itself; others would draw without end.
    refresh: Duration,
    last: Instant,
    due: Instant,
    interval: f64,
}

impl FrameClock {
    pub fn new(refresh: Duration) -> Self {
        let now = Instant::now();
        Self { refresh, last: now, due: now, interval: refresh.as_secs_f64() }
    }

    /// Whether the screen is another, which shows a picture every so often.
    pub fn set_refresh(&mut self, refresh: Duration) -> bool {
        std::mem::replace(&mut self.refresh, refresh) != refresh
    }

    /// A frame begins; the time since the one before. `goes_on` is whether numbers change by themselves.
    pub fn begin(&mut self, now: Instant, goes_on: bool) -> Duration {
        let interval = now - self.last;
        self.interval += SMOOTHING * (interval.as_secs_f64() - self.interval);
        (self.last, self.due) = (now, now + if goes_on { HEARTBEAT } else { IDLE });
        interval
    }

    /// There is something to draw after `delay`.
    pub fn redraw_after(&mut self, delay: Duration) {
        // egui says "never" with a delay beyond all time.
        let wanted = Instant::now().checked_add(delay).unwrap_or(self.due);
        self.due = self.due.min(wanted.max(self.last + self.refresh));
    }

    /// A redraw is on its way; should it be lost, another is due later.
    pub fn requested(&mut self) {
        self.due = Instant::now() + HEARTBEAT;
    }

    /// When the next frame is due.
    pub fn next(&self) -> Instant {
        self.due
    }

    /// Frames a second.
    pub fn fps(&self) -> f64 {
        1.0 / self.interval.max(1e-6)
    }
}
