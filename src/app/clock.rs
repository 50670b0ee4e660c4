//! When to draw: as soon as there is something new, never more often than the screen shows.

use std::time::{Duration, Instant};

/// The numbers beside the picture are refreshed at least this often, ...
const HEARTBEAT: Duration = Duration::from_millis(250);
/// ... and while nothing goes on, this.
const IDLE: Duration = Duration::from_secs(5);
/// How slowly the shown frame rate follows, and what a picture takes.
const SMOOTHING: f64 = 0.1;
/// A picture that takes longer than this, in seconds, is an exception.
const LONGEST: f64 = 0.1;
/// It is told what a picture takes where that is another by more than this share.
const NOTABLE: f64 = 0.01;

/// Decides when the next frame is due.
#[derive(Debug)]
pub(super) struct FrameClock {
    /// Of the screen. A driver that waits for the screen keeps it by itself; others would draw without end.
    refresh: Duration,
    last: Instant,
    due: Instant,
    interval: f64,
    /// What it takes to make a picture, in seconds, and what was told of it last.
    work: f64,
    told: f64,
}

impl FrameClock {
    pub fn new(refresh: Duration) -> Self {
        let now = Instant::now();
        let interval = refresh.as_secs_f64();
        Self { refresh, last: now, due: now, interval, work: interval, told: 0.0 }
    }

    /// The screen shows a picture every so often.
    pub fn set_refresh(&mut self, refresh: Duration) {
        self.refresh = refresh;
    }

    /// It took so long to make a picture. The time from one to the next, as far as that is the screen's and the window's, if it
    /// is another now.
    pub fn made(&mut self, work: Duration) -> Option<Duration> {
        self.work += SMOOTHING * (work.as_secs_f64().min(LONGEST) - self.work);
        let picture = self.work.max(self.refresh.as_secs_f64());
        let is_another = (picture - self.told).abs() > NOTABLE * self.told;
        is_another.then(|| {
            self.told = picture;
            Duration::from_secs_f64(picture)
        })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_that_take_longer_than_the_screen_are_told_of_and_others_are_not() {
        let ms = Duration::from_millis;
        let mut clock = FrameClock::new(ms(16));
        assert_eq!(clock.made(ms(5)), Some(ms(16)));
        assert!((0..100).all(|_| clock.made(ms(5)).is_none()));
        let told: Vec<_> = (0..100).filter_map(|_| clock.made(ms(40))).collect();
        assert!(told.is_sorted() && told.len() < 50, "{told:?}");
        assert!(told.last().is_some_and(|last| (ms(39)..ms(41)).contains(last)), "{told:?}");
        let after_a_hitch = clock.made(ms(60_000));
        assert!(after_a_hitch.is_some_and(|picture| picture < ms(50)), "{after_a_hitch:?}");
        let told: Vec<_> = (0..100).filter_map(|_| clock.made(ms(5))).collect();
        assert_eq!(told.last(), Some(&ms(16)));
    }
}
