//! Decides when to send frames to the window, and sends them.

use std::sync::Arc;

use crate::base::{ChangeEffect, LightRequest, ParamValues, Points};
use crate::engine::{Config, Preview};
use crate::session::frame::{ErrorColours, Frame, Stats};
use crate::session::history::History;
use crate::session::notices::Notifier;

/// Decides when to produce frames, and carries data over from one frame to the next.
pub(in crate::session) struct Publisher {
    frames: triple_buffer::Input<Frame>,
    /// Whether the window has taken the last frame and waits for the next one.
    pub screen_is_ready: bool,
    /// Whether the engine has changed since the last frame.
    pub is_stale: bool,
    /// Whether the values recorded during the last burst have yet to be added to the history.
    pub has_new_series: bool,
    /// Depth of the tree cells to include in frames; `None` for no cells.
    pub cells: Option<u32>,
    /// Image of the bodies' light to include in frames; `None` for no image.
    pub light: Option<Box<LightRequest>>,
    /// Generation (run number, [`Stats::generation`]) of the last frame; `None` before the first frame of the simulation.
    /// A preview does not count.
    pub generation: Option<u64>,
    /// Time taken to read the last frame back from the device, in ms.
    pub read_ms: f64,
    /// Current value of [`Points::colours`], and the generation and view parameters for which it was assigned.
    colours: (u64, (u64, ParamValues)),
    /// Configuration of the last frame. Successive frames with equal configurations share it.
    config: Arc<Config>,
    pub history: History,
}

impl Publisher {
    pub(in crate::session) fn new(frames: triple_buffer::Input<Frame>) -> Self {
        Self {
            frames,
            screen_is_ready: true,
            is_stale: true,
            has_new_series: false,
            cells: None,
            light: None,
            generation: None,
            read_ms: 0.0,
            colours: (0, (0, ParamValues::default())),
            config: Arc::default(),
            history: History::default(),
        }
    }

    /// Returns whether to produce a frame now.
    pub(super) fn is_due(&self) -> bool {
        self.is_stale && self.screen_is_ready
    }

    /// Returns the points of an old frame, whose memory the next frame reuses.
    pub(super) fn take_memory(&mut self) -> Points {
        std::mem::take(&mut self.frames.input_buffer_mut().points)
    }

    /// Returns the value for [`Points::colours`], which changes whenever the generation or a view parameter changes.
    pub(super) fn colours(&mut self, generation: u64, view: ParamValues) -> u64 {
        let shown = (generation, view);
        if self.colours.1 != shown {
            self.colours = (self.colours.0 + 1, shown);
        }
        self.colours.0
    }

    /// Returns a copy of `config` for the statistics of a frame, shared with the last frame if the configuration is the
    /// same.
    pub(super) fn config(&mut self, config: &Config) -> Arc<Config> {
        if *self.config != *config {
            self.config = Arc::new(config.clone());
        }
        self.config.clone()
    }

    /// Sends a frame with `points` and `stats` to the window, and wakes the window.
    pub(super) fn publish(&mut self, points: Points, stats: Stats, notifier: &Notifier) {
        let frame = self.frames.input_buffer_mut();
        frame.points = points;
        frame.value_range = frame.points.value_range();
        let decades = frame.value_range.map(|exponent| exponent as i32);
        let error_colours = frame.points.measured.map(|measured| ErrorColours { measured, decades });
        frame.stats = Stats { nonfinite: frame.points.nonfinite(), error_colours, ..stats };
        self.frames.publish();
        (self.is_stale, self.screen_is_ready) = (false, false);
        notifier.wake();
    }

    /// Sends a frame that shows the preview of a scene whose simulation has not started yet.
    pub(in crate::session) fn publish_preview(&mut self, preview: Preview, notifier: &Notifier) {
        let Preview { points, config, names, generation } = preview;
        let colours = self.colours(generation, config.mode.values().of(ChangeEffect::View));
        let (mode, running, config) = (config.mode.info().name, config.running, self.config(&config));
        let stats = Stats { mode, config, generation, names, running, ..Stats::default() };
        self.publish(Points { colours, ..points }, stats, notifier);
        self.is_stale = true;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn publishing_wakes_the_window_and_waits_until_the_last_frame_was_taken() {
        let (input, mut frames) = triple_buffer::triple_buffer(&Frame::default());
        let mut publisher = Publisher::new(input);
        let (wakes, (notices, _inbox)) = (Arc::new(AtomicUsize::new(0)), crossbeam_channel::unbounded());
        let count = wakes.clone();
        let wake = move || count.store(count.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        let notifier = Notifier::new(notices, wake);
        assert!(publisher.is_due());
        publisher.publish(Points::default(), Stats { step: 7, ..Stats::default() }, &notifier);
        assert_eq!((wakes.load(Ordering::Relaxed), frames.read().stats.step), (1, 7));
        publisher.is_stale = true;
        assert!(!publisher.is_due());
        publisher.screen_is_ready = true;
        assert!(publisher.is_due());
        // Colours keep their number until their meaning changes.
        let numbers = [1, 1, 2, 2, 1].map(|generation| publisher.colours(generation, ParamValues::default()));
        assert_eq!(numbers, [1, 1, 2, 2, 3]);
    }
}
