//! The recorded run, as the timeline shows it.

use crate::session::timeline::Event;

/// The recorded run, as the timeline shows it.
#[derive(Debug, Clone, PartialEq)]
pub struct TimelineState {
    /// Times of the oldest and of the newest recorded frame, in seconds; `None` if nothing has been recorded.
    pub span: Option<[f64; 2]>,
    /// Time of the moment on the screen, in seconds; `None` if the screen shows the live simulation.
    pub past: Option<f64>,
    /// Whether the recorded run is being replayed.
    pub plays: bool,
    /// Speed of the replay, as a multiple of the original speed of the run.
    pub speed: f64,
    /// Events in the recorded run, oldest first.
    pub events: Vec<Event>,
    /// Memory that the recorded run uses, and its limit, in bytes.
    pub bytes: [usize; 2],
    /// `Ok` if the simulation can continue from the past moment on the screen, or else the reason why not.
    pub can_continue: Result<(), &'static str>,
    /// Number of simulated bodies per recorded body: 1 if all bodies are recorded.
    pub share: usize,
}

impl Default for TimelineState {
    fn default() -> Self {
        Self {
            span: None,
            past: None,
            plays: false,
            speed: 1.0,
            events: Vec::new(),
            bytes: [0; 2],
            can_continue: Err("The picture shows the live simulation"),
            share: 1,
        }
    }
}

impl TimelineState {
    /// Returns the time from the moment on the screen to the newest recorded frame, in seconds; `None` if
    /// the screen shows the live simulation.
    pub(super) fn age(&self) -> Option<f64> {
        Some(self.span?[1] - self.past?)
    }

    /// Returns the position of the time `at` on the timeline bar, from 0 (oldest recorded frame) to 1 (newest).
    pub(super) fn share_of(&self, at: f64) -> f32 {
        let [first, last] = self.span.unwrap_or_default();
        if last > first { ((at - first) / (last - first)).clamp(0.0, 1.0) as f32 } else { 1.0 }
    }
}
