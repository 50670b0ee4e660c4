//! The frame clock: draws as soon as something is new, but never more often than the monitor refreshes.

use std::time::{Duration, Instant};

use winit::event_loop::EventLoopProxy;

/// Longest time between frames while the displayed numbers change.
const HEARTBEAT: Duration = Duration::from_millis(250);
/// Longest time between frames while nothing changes.
const IDLE: Duration = Duration::from_secs(5);
/// Weight of the newest frame in the running average of the frame interval.
const SMOOTHING: f64 = 0.1;
/// Time, in seconds, over which the working time of frames is averaged.
const MEMORY: f64 = 0.15;
/// Maximum time to prepare and draw a frame, in seconds, at a rate of 30 frames per second.
const LONGEST: f64 = 1.0 / 30.0;
/// Smallest relative change in the time between frames that [`FrameClock::made`] reports.
const NOTABLE: f64 = 0.01;

/// Event that wakes the event loop and requests a frame after this delay.
pub(super) type Wake = Duration;

/// Returns a function that wakes the event loop at once and may be called from another thread.
pub(super) fn waker(proxy: &EventLoopProxy<Wake>) -> impl Fn() + Send + use<> {
    let proxy = proxy.clone();
    move || {
        // Sending fails once the event loop has ended.
        let _ = proxy.send_event(Duration::ZERO);
    }
}

/// Decides when the next frame is due.
#[derive(Debug)]
pub(super) struct FrameClock {
    /// The monitor's refresh interval, which is also the shortest time between frames.
    pub refresh: Duration,
    last: Instant,
    pub due: Instant,
    interval: f64,
    /// Running average of the time to prepare and draw a frame, in seconds, not counting waits.
    work: f64,
    /// Time to prepare and draw the last frame, in seconds.
    last_work: f64,
    reported: f64,
    /// Duration, in seconds, of the current period of frames that are too slow for 30 frames per second; 0 if frames
    /// are fast enough.
    slow_for: f64,
}

impl FrameClock {
    pub(super) fn new(refresh: Duration) -> Self {
        let now = Instant::now();
        let interval = refresh.as_secs_f64();
        Self {
            refresh,
            last: now,
            due: now,
            interval,
            work: interval,
            last_work: interval,
            reported: 0.0,
            slow_for: 0.0,
        }
    }

    /// Records the working time of a frame. Returns the new minimum time between frames if it has changed noticeably.
    pub(super) fn made(&mut self, work: Duration) -> Option<Duration> {
        // Two frames in a row must be slow, because a single slow frame may be a hitch, for example while a window
        // opens.
        let work = work.as_secs_f64();
        let usual = work.min(std::mem::replace(&mut self.last_work, work));
        self.work += usual / (usual + MEMORY) * (usual - self.work);
        self.slow_for = if self.work > LONGEST { self.slow_for + usual } else { 0.0 };
        let picture = self.work.max(self.refresh.as_secs_f64());
        let is_another = (picture - self.reported).abs() > NOTABLE * self.reported;
        is_another.then(|| {
            self.reported = picture;
            Duration::from_secs_f64(picture)
        })
    }

    /// Begins a frame and returns the time since the previous frame. Even without input, the next frame is due after
    /// `HEARTBEAT` if `is_active` is true, and after `IDLE` otherwise.
    pub(super) fn begin(&mut self, now: Instant, is_active: bool) -> Duration {
        let interval = now - self.last;
        self.interval += SMOOTHING * (interval.as_secs_f64() - self.interval);
        (self.last, self.due) = (now, now + if is_active { HEARTBEAT } else { IDLE });
        interval
    }

    /// Schedules a frame after `delay`, but not before the monitor's next refresh.
    pub(super) fn redraw_after(&mut self, delay: Duration) {
        // If the delay is too large to add, no frame is needed.
        let wanted = Instant::now().checked_add(delay).unwrap_or(self.due);
        self.due = self.due.min(wanted.max(self.last + self.refresh));
    }

    /// Records that a redraw was requested, and schedules another redraw in case the request is lost.
    pub(super) fn requested(&mut self) {
        self.due = Instant::now() + HEARTBEAT;
    }

    /// Returns whether frames have been too slow for 30 frames per second during at least the last `seconds`.
    pub(super) fn is_slow_for(&self, seconds: f64) -> bool {
        self.slow_for >= seconds
    }

    /// Sets the duration of the current period of slow frames back to zero.
    pub(super) fn forgive(&mut self) {
        self.slow_for = 0.0;
    }

    pub(super) fn fps(&self) -> f64 {
        1.0 / self.interval.max(1e-6)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_frame_interval_adapts_to_slow_frames_and_ignores_single_hitches() {
        let ms = Duration::from_millis;
        let mut clock = FrameClock::new(ms(16));
        assert_eq!(clock.made(ms(5)), Some(ms(16)));
        assert!((0..100).all(|_| clock.made(ms(5)).is_none()));
        let paces: Vec<_> = (0..100).filter_map(|_| clock.made(ms(40))).collect();
        assert!(paces.is_sorted() && paces.len() < 50, "{paces:?}");
        assert!(paces.last().is_some_and(|last| (ms(39)..ms(41)).contains(last)), "{paces:?}");
        assert_eq!([60_000, 40].map(|time| clock.made(ms(time))), [None; 2], "a hitch does not count");
        assert!(clock.is_slow_for(3.0) && !clock.is_slow_for(5.0), "{}", clock.slow_for);
        let paces: Vec<_> = (0..10).filter_map(|_| clock.made(ms(1300))).collect();
        assert!(paces.last().is_some_and(|last| (ms(1200)..=ms(1300)).contains(last)), "{paces:?}");
        let paces: Vec<_> = (0..300).filter_map(|_| clock.made(ms(5))).collect();
        assert!(paces.last().is_some_and(|last| (ms(16)..ms(17)).contains(last)), "{paces:?}");
        assert!(!clock.is_slow_for(0.1));
    }
}
