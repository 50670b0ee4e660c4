//! The record of a run: compressed frames and events within a memory limit. To stay within the limit, the record first
//! keeps fewer of the old frames, and then drops the oldest ones.

use std::collections::VecDeque;
use std::sync::Arc;

use super::codec::Packed;
use super::events::{Event, EventKind, between};
use crate::engine::RestorePoint;
use crate::session::frame::{Frame, Stats};

/// Distance between key frames, in frame numbers. A key frame is dropped only when it is the oldest frame.
pub(super) const KEY_EVERY: u64 = 8;
/// Length of the newest part of the record, in seconds, in which no frames are thinned out.
const RECENT: f64 = 10.0;
/// Maximum number of frames in the record.
const MOST_FRAMES: usize = 20_000;
/// Maximum number of events in the record.
const MOST_EVENTS: usize = 1000;
/// Assumed size in memory of a frame's statistics, in bytes.
const STATS_BYTES: usize = 4096;

/// A recorded frame with compressed points.
#[derive(Debug, Clone)]
pub struct RecordedFrame {
    /// Sequence number of the frame. Frames whose number is divisible by a higher power of two are kept longer.
    pub(super) number: u64,
    /// Time at which the frame was recorded, in seconds since recording began. A pause counts as at most one second.
    pub at: f64,
    /// Statistics of the frame. The lists for plots and tables are empty.
    pub stats: Stats,
    /// Values at the two ends of the colour map.
    pub value_range: [f32; 2],
    /// Compressed points of the frame.
    pub packed: Arc<Packed>,
}

impl RecordedFrame {
    /// Decompresses the frame. Positions and values are rounded (see [`Packed::decode`]).
    pub fn frame(&self) -> Frame {
        Frame { points: self.packed.decode(), value_range: self.value_range, stats: self.stats.clone() }
    }
}

/// Record of the last minutes of a run: its frames and the events between them, within a memory limit.
#[derive(Debug)]
pub struct Record {
    frames: VecDeque<RecordedFrame>,
    events: VecDeque<Event>,
    /// Memory limit of the record, in bytes.
    limit: usize,
    bytes: usize,
    /// Number that changes whenever frames or events are added or dropped.
    revision: u64,
}

impl Record {
    /// Returns an empty record that uses at most `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self { frames: VecDeque::new(), events: VecDeque::new(), limit, bytes: 0, revision: 0 }
    }

    /// Returns the frames, oldest first. Their times increase.
    pub fn frames(&self) -> &VecDeque<RecordedFrame> {
        &self.frames
    }

    /// Returns the events, oldest first.
    pub fn events(&self) -> &VecDeque<Event> {
        &self.events
    }

    /// Returns the memory that the record uses, in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Returns the memory limit of the record, in bytes.
    pub fn limit(&self) -> usize {
        self.limit
    }

    /// Returns a number that changes whenever frames or events are added or dropped.
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// Sets the memory limit of the record, in bytes, and drops frames and restore points that exceed the limit.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
        match limit {
            0 => self.clear(),
            _ => self.thin(),
        }
    }

    /// Removes all frames and events from the record.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.events.clear();
        (self.bytes, self.revision) = (0, self.revision + 1);
    }

    /// Returns the times of the oldest and of the newest frame, in seconds; `None` if the record is empty.
    pub fn span(&self) -> Option<[f64; 2]> {
        Some([self.frames.front()?.at, self.frames.back()?.at])
    }

    /// Returns the index of the last frame at or before the time `at`, in seconds, or 0 if all frames are later; `None`
    /// if the record is empty.
    pub fn place(&self, at: f64) -> Option<usize> {
        let later = self.frames.partition_point(|frame| frame.at <= at);
        (!self.frames.is_empty()).then(|| later.saturating_sub(1))
    }

    /// Adds an event at the time of the newest frame. Does nothing if the record is empty.
    pub fn note(&mut self, kind: EventKind, text: String) {
        let Some(newest) = self.frames.back() else { return };
        self.events.push_back(Event { at: newest.at, step: newest.stats.step, kind, text });
        if self.events.len() > MOST_EVENTS {
            self.events.pop_front();
        }
        self.revision += 1;
    }

    /// Adds a frame, and events for the changes since the last frame. Then drops frames until the record is within its
    /// limits. A frame of another mode first clears the record.
    pub(super) fn push(&mut self, frame: RecordedFrame) {
        let events = match self.frames.back() {
            Some(last) if last.stats.mode == frame.stats.mode => between(&last.stats, &frame.stats),
            _ => {
                self.clear();
                Vec::new()
            }
        };
        self.frames.push_back(frame);
        events.into_iter().for_each(|(kind, text)| self.note(kind, text));
        self.revision += 1;
        self.thin();
    }

    /// Drops restore points and frames until the record is within its limits. Restore points may use half of the
    /// memory. First thins out the frames older than [`RECENT`] to every second, then every fourth, then every eighth
    /// frame. If this is not enough, drops the oldest frames.
    fn thin(&mut self) {
        loop {
            let points = self.measure();
            let is_within = self.bytes <= self.limit && self.frames.len() <= MOST_FRAMES;
            if points > self.limit / 2 {
                self.drop_restore_point();
            } else if is_within {
                break;
            } else if !self.drop_least_needed() {
                self.drop_oldest();
            }
            self.revision += 1;
        }
        let first = self.frames.front().map_or(0.0, |frame| frame.at);
        while self.events.front().is_some_and(|event| event.at < first) {
            self.events.pop_front();
        }
    }

    /// Thins out the frames older than [`RECENT`] until the record is within its limits. Drops frames whose numbers
    /// have the fewest factors of two, oldest first. Never drops key frames. Returns false if no frame can be dropped.
    /// Uses a single pass over the frames, because there may be thousands.
    fn drop_least_needed(&mut self) -> bool {
        let recent = self.frames.back().map_or(0.0, |frame| frame.at) - RECENT;
        let level = |frame: &RecordedFrame| frame.number.trailing_zeros();
        let old = self.frames.iter().take_while(|frame| frame.at < recent);
        let least = old.map(level).min().filter(|least| *least < KEY_EVERY.trailing_zeros());
        let Some(least) = least else { return false };
        let mut bytes = self.bytes.saturating_sub(self.limit);
        let mut count = self.frames.len().saturating_sub(MOST_FRAMES);
        self.frames.retain(|frame| {
            let is_dropped = (bytes > 0 || count > 0) && frame.at < recent && level(frame) == least;
            if is_dropped {
                bytes = bytes.saturating_sub(STATS_BYTES + frame.packed.bytes());
                count = count.saturating_sub(1);
            }
            !is_dropped
        });
        true
    }

    /// Drops the oldest frame, and the frames after it that are stored as differences from it.
    fn drop_oldest(&mut self) {
        self.frames.pop_front();
        while self.frames.front().is_some_and(|frame| !frame.packed.is_key()) {
            self.frames.pop_front();
        }
    }

    /// Drops one restore point. Prefers points that are separated from the previous point only by steps, because the
    /// previous point can replace them. Among these, drops the point with the fewest steps since the previous point. If
    /// there are none, drops the oldest point.
    fn drop_restore_point(&mut self) {
        let mut all = Vec::new();
        for point in self.frames.iter().filter_map(|frame| frame.stats.restore_point.as_ref()) {
            if !all.last().is_some_and(|last: &&RestorePoint| last.is_same(point)) {
                all.push(point);
            }
        }
        let steps = |pair: &&[&RestorePoint]| pair[0].step().abs_diff(pair[1].step());
        let (dropped, kept) = match all.windows(2).filter(|pair| pair[1].follows(pair[0])).min_by_key(steps) {
            Some(pair) => (pair[1].clone(), Some(pair[0].clone())),
            None => match all.first() {
                Some(oldest) => ((*oldest).clone(), None),
                None => return,
            },
        };
        for frame in &mut self.frames {
            let point = &mut frame.stats.restore_point;
            if point.as_ref().is_some_and(|point| point.is_same(&dropped)) {
                point.clone_from(&kept);
            }
        }
    }

    /// Measures the memory that the record uses. Returns the memory of the restore points alone, in bytes.
    fn measure(&mut self) -> usize {
        let (mut bytes, mut points) = (0, 0);
        let (mut weights, mut last) = (None, None);
        for frame in &self.frames {
            bytes += STATS_BYTES + frame.packed.bytes();
            let own = frame.packed.weights();
            if !weights.replace(own).is_some_and(|before: &Arc<_>| Arc::ptr_eq(before, own)) {
                bytes += own.len();
            }
            if let Some(point) = &frame.stats.restore_point
                && !last.replace(point).is_some_and(|before: &RestorePoint| before.is_same(point))
            {
                points += point.bytes();
            }
        }
        self.bytes = bytes + points;
        points
    }
}

#[cfg(test)]
mod tests {
    use super::super::codec::Encoder;
    use super::*;
    use crate::base::Points;
    use crate::engine::{Config, Engine};

    /// Adds `count` frames of `bodies` bodies, 30 a second.
    fn fill(record: &mut Record, count: u64, bodies: usize) {
        let mut encoder = Encoder::default();
        let begun = record.frames.back().map_or(0, |frame| frame.number + KEY_EVERY) / KEY_EVERY * KEY_EVERY;
        for number in begun..begun + count {
            let place = |nth: usize| (nth as f32 * 0.37 + number as f32 * 0.01).sin();
            let positions: Vec<[f32; 4]> =
                (0..bodies).map(|nth| [place(nth), place(nth + 7), place(nth + 13), 1.0]).collect();
            let values: Vec<f32> = (0..bodies).map(place).collect();
            let points = Points { positions: positions.into(), values: values.into(), ..Points::default() };
            let packed = encoder.encode(&points, number.is_multiple_of(KEY_EVERY));
            let stats = Stats { mode: "gravity", generation: 1, step: number, ..Stats::default() };
            record.push(RecordedFrame {
                number,
                at: number as f64 / 30.0,
                stats,
                value_range: [0.0, 1.0],
                packed,
            });
        }
    }

    #[test]
    fn ten_thousand_recorded_frames_stay_within_the_memory_limit() {
        let limit = 3 << 20;
        let mut record = Record::new(limit);
        let mut most = 0;
        for _ in 0..100 {
            fill(&mut record, 100, 200);
            most = most.max(record.bytes());
            assert!(record.bytes() <= limit, "{} bytes", record.bytes());
        }
        assert!(most > limit / 10 * 9, "{most} of {limit} bytes: memory is left unused");
        // All frames can still be decoded, and show their own bodies.
        for frame in &record.frames {
            let x = frame.frame().points.positions[3][0];
            let expected = (3.0_f32 * 0.37 + frame.number as f32 * 0.01).sin();
            assert!((x - expected).abs() < 1e-3, "frame {}: {x} and not {expected}", frame.number);
        }
        record.set_limit(limit / 4);
        assert!(record.bytes() <= limit / 4 && !record.frames.is_empty());
    }

    #[test]
    fn old_frames_are_thinned_out_before_the_oldest_are_dropped_entirely() {
        let mut record = Record::new(usize::MAX);
        fill(&mut record, 1200, 50);
        let all = record.bytes();
        let numbers = |record: &Record| record.frames.iter().map(|frame| frame.number).collect::<Vec<_>>();
        // With slightly less memory, every second one of the oldest frames is dropped.
        record.set_limit(all - 10 * STATS_BYTES);
        assert_eq!(numbers(&record)[..12], [0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 21]);
        // With half the memory, a quarter of the oldest frames, half of the middle ones and all recent ones are left.
        record.set_limit(all / 2);
        let left = numbers(&record);
        let gaps: Vec<u64> = left.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert_eq!((left[0], gaps[0], gaps[gaps.len() - 1]), (0, 4, 1));
        assert!(gaps.is_sorted_by(|a, b| a >= b), "{gaps:?}");
        let whole = gaps.iter().rev().take_while(|gap| **gap == 1).count();
        assert!((298..=302).contains(&whole), "{whole}");
        // With very little memory, the oldest frames are dropped, and the first one left is a key frame.
        record.set_limit(all / 10);
        let left = numbers(&record);
        assert!(left[0] > 0 && record.frames[0].packed.is_key(), "{left:?}");
        assert_eq!(left[left.len() - 1], 1199);
        record.set_limit(0);
        assert!(record.frames.is_empty() && record.bytes() == 0);
    }

    #[test]
    fn a_timeline_position_selects_the_latest_earlier_frame() {
        let mut record = Record::new(usize::MAX);
        assert_eq!((record.place(1.0), record.span()), (None, None));
        fill(&mut record, 31, 3);
        assert_eq!([-1.0, 0.0, 0.51, 9.0].map(|at| record.place(at)), [Some(0), Some(0), Some(15), Some(30)]);
        assert_eq!(record.span(), Some([0.0, 1.0]));
        record.note(EventKind::Warning, "careful".to_owned());
        assert_eq!((record.events[0].at, record.events[0].step), (1.0, 30));
        let stats = Stats { mode: "fluid", ..Stats::default() };
        let packed = Encoder::default().encode(&Points::default(), true);
        record.push(RecordedFrame { number: 32, at: 1.1, stats, value_range: [0.0, 1.0], packed });
        assert_eq!((record.frames.len(), record.events.len()), (1, 0), "another mode");
    }

    #[test]
    fn restore_points_take_at_most_half_of_the_memory() {
        let mut config = Config::new(&crate::modes::gravity::INFO);
        config.bodies = Some(2000);
        let device = crate::compute::list().unwrap().remove(0).open().unwrap();
        let mut engine = Engine::new(device, config).unwrap();
        engine.keep_restore_points(true);
        let mut points = vec![engine.restore_point().unwrap()];
        let bytes = points[0].bytes();
        assert!(bytes >= 2000 * 32);
        // After a change of the configuration, no other restore point can replace the new one.
        for seed in 2..5 {
            engine.configure(Config { seed, ..engine.config().clone() }).unwrap();
            points.push(engine.restore_point().unwrap());
        }
        assert!(!points[1].follows(&points[0]) && points[1].follows(&points[1].clone()));
        let mut record = Record::new(usize::MAX);
        fill(&mut record, 40, 10);
        for (frame, nth) in record.frames.iter_mut().zip(0..) {
            frame.stats.restore_point = Some(points[nth / 10].clone());
        }
        record.set_limit(6 * bytes);
        let kept = |record: &Record| {
            record.frames.iter().map(|frame| frame.stats.restore_point.is_some()).collect::<Vec<_>>()
        };
        assert_eq!(kept(&record), [[false; 10], [true; 10], [true; 10], [true; 10]].concat());
        assert!(record.bytes() <= 6 * bytes && record.bytes() > 3 * bytes);
    }
}
