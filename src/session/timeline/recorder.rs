//! Records frames of a run. A separate thread compresses the frames, so that the window never waits for compression.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::codec::Encoder;
use super::events::EventKind;
use super::record::{KEY_EVERY, Record, RecordedFrame};
use crate::base::{Image, Memory, Points, Result, invalid, sample_stride};
use crate::session::frame::{Frame, Stats};

/// Shortest time between two recorded frames.
const INTERVAL: Duration = Duration::from_nanos(1_000_000_000 / 31);
/// Maximum time, in seconds, that a pause between two recorded frames adds to the times in the record.
const LONGEST_GAP: f64 = 1.0;

/// A frame to be compressed by the recorder's thread.
struct Job {
    at: f64,
    points: Points,
    value_range: [f32; 2],
    stats: Stats,
}

/// Records the frames of a run on a separate thread, which ends when the recorder is dropped.
pub struct Recorder {
    record: Arc<Mutex<Record>>,
    jobs: Sender<Job>,
    /// Maximum number of bodies in a recorded frame. If a frame has more bodies, only every third (or fifth, …) body is
    /// recorded.
    bodies: usize,
    /// Time of the last recorded frame, in seconds since the first one. Pauses count as at most [`LONGEST_GAP`].
    at: f64,
    last: Option<Instant>,
    /// Mode, generation, step, number of edits and number of undoable edits of the last recorded frame.
    moment: Option<(&'static str, u64, u64, (u64, usize))>,
}

impl Recorder {
    /// Starts a recorder with a memory limit in bytes and a maximum number of bodies in a frame. A limit of 0 disables
    /// recording.
    ///
    /// # Errors
    /// Returns an error if the system cannot create the thread.
    pub fn new(limit: usize, bodies: usize) -> Result<Self> {
        let record = Arc::new(Mutex::new(Record::new(limit)));
        // One frame waits while another one is compressed. Frames that arrive meanwhile are skipped.
        let (jobs, inbox) = bounded(1);
        let shared = record.clone();
        std::thread::Builder::new()
            .name("timeline".to_owned())
            .spawn(move || compress(&inbox, &shared))
            .map_err(|error| invalid!("cannot start the thread that records the run: {error}"))?;
        Ok(Self { record, jobs, bodies, at: 0.0, last: None, moment: None })
    }

    /// Locks and returns the record. The compressing thread waits for the lock, so the caller must release it soon.
    pub fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Sets the memory limit of the record, in bytes. A limit of 0 stops recording and clears the record.
    pub fn set_limit(&self, limit: usize) {
        self.record().set_limit(limit);
    }

    /// Adds an event to the record, at the time of the newest recorded frame.
    pub fn note(&self, kind: EventKind, text: String) {
        self.record().note(kind, text);
    }

    /// Queues a copy of `frame`, which arrived at the time `now`, to be recorded. Skips the frame if it follows the
    /// last one too soon, shows the same moment or belongs to a seek, or if the compressing thread is busy. Never
    /// blocks.
    pub fn take(&mut self, frame: &Frame, now: Instant) {
        let stats = &frame.stats;
        let moment = (stats.mode, stats.generation, stats.step, (stats.edits, stats.undos));
        let is_early = self.last.is_some_and(|last| now.duration_since(last) < INTERVAL);
        let is_off = self.record().limit() == 0;
        if is_off || is_early || stats.goal.is_some() || self.moment == Some(moment) || self.jobs.is_full() {
            return;
        }
        let gap = self.last.map_or(0.0, |last| now.duration_since(last).as_secs_f64().min(LONGEST_GAP));
        (self.at, self.last, self.moment) = (self.at + gap, Some(now), Some(moment));
        let stats = Stats {
            selected: None,
            cells: None,
            sharing: None,
            ladder: Vec::new(),
            series: Vec::new(),
            profiles: Arc::default(),
            distributions: None,
            ..stats.clone()
        };
        let points = part(&frame.points, self.bodies);
        // The queue has room: it was not full above, and no other thread sends.
        let _ = self.jobs.try_send(Job { at: self.at, points, value_range: frame.value_range, stats });
    }
}

/// Returns a copy of `points` with at most `most` bodies, without the light, the tree cells and the series.
fn part(points: &Points, most: usize) -> Points {
    let stride = sample_stride(points.positions.len(), most);
    let stride = if points.positions.len() <= most { 1 } else { stride };
    fn every<T: Copy + Send + Sync + 'static>(values: &[T], stride: usize) -> Memory<T> {
        if stride == 1 { values.to_vec().into() } else { values.iter().step_by(stride).copied().collect() }
    }
    Points {
        positions: every(&points.positions, stride),
        values: every(&points.values, stride),
        skipped: (points.skipped + 1) * stride - 1,
        shape: points.shape,
        image: Image { values: every(&points.image.values, 1), ..points.image },
        measured: points.measured.map(|measured| measured / stride),
        colours: points.colours,
        ..Points::default()
    }
}

/// Compresses the frames from `jobs` and adds them to `record`, until the recorder is dropped.
fn compress(jobs: &Receiver<Job>, record: &Mutex<Record>) {
    let (mut encoder, mut number) = (Encoder::default(), 0_u64);
    for Job { at, points, value_range, stats } in jobs {
        if !encoder.continues(&points) {
            number = number.next_multiple_of(KEY_EVERY);
        }
        let packed = encoder.encode(&points, number.is_multiple_of(KEY_EVERY));
        let frame = RecordedFrame { number, at, stats, value_range, packed };
        record.lock().unwrap_or_else(PoisonError::into_inner).push(frame);
        number += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(step: u64, bodies: usize) -> Frame {
        let positions = (0..bodies).map(|nth| [nth as f32, step as f32, 0.0, 1.0]).collect();
        let points =
            Points { positions, values: (0..bodies).map(|nth| nth as f32).collect(), ..Points::default() };
        let stats = Stats { mode: "gravity", generation: 1, step, bodies, ..Stats::default() };
        Frame { points, value_range: [0.0, 1.0], stats }
    }

    /// Records a frame, and waits until it is compressed.
    fn take(recorder: &mut Recorder, frame: &Frame, now: Instant) -> usize {
        let before = recorder.record().frames().len();
        let last = recorder.last;
        recorder.take(frame, now);
        while recorder.last != last && recorder.record().frames().len() == before {
            std::thread::yield_now();
        }
        recorder.record().frames().len()
    }

    #[test]
    fn each_frame_is_recorded_once_at_a_limited_rate_and_pauses_are_shortened() {
        let mut recorder = Recorder::new(1 << 20, 100).unwrap();
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        assert_eq!(take(&mut recorder, &frame(0, 5), at(0)), 1);
        assert_eq!(take(&mut recorder, &frame(4, 5), at(16)), 1, "too early");
        assert_eq!(take(&mut recorder, &frame(8, 5), at(40)), 2);
        assert_eq!(take(&mut recorder, &frame(8, 5), at(90)), 2, "the same moment");
        let mut passed = frame(9, 5);
        passed.stats.goal = Some(20);
        assert_eq!(take(&mut recorder, &passed, at(140)), 2, "on the way to step 20");
        assert_eq!(take(&mut recorder, &frame(20, 5), at(60_000)), 3);
        let mut undone = frame(20, 5);
        undone.stats.undos = 1;
        assert_eq!(take(&mut recorder, &undone, at(60_000 + 40)), 4, "an undo or redo in a pause");
        let times: Vec<_> = recorder.record().frames().iter().map(|frame| frame.at).collect();
        assert_eq!(times, [0.0, 0.04, 1.04, 1.08]);
        recorder.set_limit(0);
        assert_eq!(take(&mut recorder, &frame(30, 5), at(70_000)), 0, "recording is off");
    }

    #[test]
    fn only_a_sample_of_many_bodies_is_recorded() {
        let mut recorder = Recorder::new(1 << 20, 100).unwrap();
        take(&mut recorder, &frame(3, 1000), Instant::now());
        let points = recorder.record().frames()[0].frame().points;
        assert_eq!((points.positions.len(), points.skipped, points.body(5)), (91, 10, 55));
        assert!((points.positions[5][0] - 55.0).abs() < 0.1 && points.positions[5][1] == 3.0);
    }
}
