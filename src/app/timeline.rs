//! The recorded run: its state as the timeline shows it, and access to its frames for the replay.

use std::time::Instant;

use super::report::TimelineReport;
use crate::base::Result;
use crate::session::Frame;
use crate::session::timeline::{EventKind, Recorder};
use crate::ui;

/// Maximum number of bodies in a recorded frame. The first number applies if a GPU draws the picture, the second if the
/// CPU does.
const MOST_BODIES: [usize; 2] = [1 << 16, 1 << 14];
/// Maximum number of decoding times of recorded frames that are kept for the report.
const MOST_DECODINGS: usize = 10_000;
/// The recorded run, and the state of its replay.
pub(super) struct Timeline {
    pub recorder: Recorder,
    /// State of the recorded run and of its replay, as the timeline displays them.
    pub shown: ui::TimelineState,
    /// Revision of the recorded run that `shown` describes; `None` before the first update.
    revision: Option<u64>,
    /// Whether the simulation was running before the screen switched to a past moment.
    pub was_running: bool,
    /// Memory limit of the recorded run, in bytes; 0 disables recording.
    pub limit: usize,
    /// Texts of the current warnings. Numbers are removed from the texts, because they change all the time.
    warnings: Vec<String>,
    /// Time to decode each recorded frame that was shown again, in ms.
    decodings: Vec<f64>,
}

impl Timeline {
    pub(super) fn new(is_software: bool) -> Result<Self> {
        Ok(Self {
            recorder: Recorder::new(0, MOST_BODIES[usize::from(is_software)])?,
            shown: ui::TimelineState::default(),
            revision: None,
            was_running: false,
            limit: 0,
            warnings: Vec::new(),
            decodings: Vec::new(),
        })
    }

    /// Records a new frame of the simulation.
    pub(super) fn take(&mut self, frame: &Frame) {
        self.recorder.take(frame, Instant::now());
    }

    /// Summarises the recorded run for the report.
    pub(super) fn report(&self) -> TimelineReport {
        let record = self.recorder.record();
        TimelineReport {
            frames: record.frames().len(),
            bytes: record.bytes(),
            seconds: record.span().map_or(0.0, |[first, last]| last - first),
            events: record.events().iter().map(|event| event.text.clone()).collect(),
            past: self.shown.past,
            decodings: self.decodings.clone(),
        }
    }

    /// Adds a warning to the events of the recorded run.
    pub(super) fn note(&self, text: impl Into<String>) {
        self.recorder.note(EventKind::Warning, text.into());
    }

    /// Adds to the recorded events each of the current `warnings` that was not shown at the last call.
    pub(super) fn note_warnings(&mut self, warnings: Vec<String>) {
        let bare = |text: &String| text.replace(|letter: char| letter.is_ascii_digit() || letter == '.', "");
        for text in warnings.iter().filter(|text| !self.warnings.contains(&bare(text))) {
            self.note(text);
        }
        self.warnings = warnings.iter().map(bare).collect();
    }

    /// Updates `shown` if the recorded run has changed.
    pub(super) fn update(&mut self) {
        let record = self.recorder.record();
        if self.revision.replace(record.revision()) != Some(record.revision()) {
            self.shown.span = record.span();
            self.shown.events = record.events().iter().cloned().collect();
            self.shown.bytes = [record.bytes(), record.limit()];
            let skipped = record.frames().back().map_or(0, |frame| frame.packed.skipped());
            self.shown.share = skipped + 1;
        }
    }

    /// Returns the recorded frame at the time `at`, and the frame's exact time; `None` if nothing has been recorded.
    pub(super) fn frame(&mut self, at: f64) -> Option<(f64, Frame)> {
        let begun = Instant::now();
        // Releases the lock before decoding, so that the thread that compresses new frames waits only for this copy.
        let recorded = {
            let record = self.recorder.record();
            record.frames().get(record.place(at)?)?.clone()
        };
        let frame = recorded.frame();
        if self.decodings.len() < MOST_DECODINGS {
            self.decodings.push(begun.elapsed().as_secs_f64() * 1e3);
        }
        Some((recorded.at, frame))
    }

    /// Returns the time of the recorded frame that is `count` frames after the frame at the time `at`. If the run has
    /// no such frame, returns the time of its first or last frame.
    pub(super) fn neighbour(&self, at: f64, count: i32) -> Option<f64> {
        let record = self.recorder.record();
        let place = record.place(at)? as i64 + i64::from(count);
        let place = place.clamp(0, record.frames().len() as i64 - 1) as usize;
        record.frames().get(place).map(|frame| frame.at)
    }

    /// Returns the frame that a film of the replay shows `seconds` after `start`, or `None` after the end of the
    /// recorded run.
    pub(super) fn film_frame(&mut self, start: f64, seconds: f64) -> Option<Frame> {
        let at = start + seconds * self.shown.speed;
        let last = self.recorder.record().span()?[1];
        if at > last { None } else { self.frame(at).map(|(_, frame)| frame) }
    }
}
