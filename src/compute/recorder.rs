//! Records the kernels that a device runs, with the times that the driver reports for them.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use ocl::core::{self, ProfilingInfo, ProfilingInfoResult};

use crate::base::{Result, invalid};

/// Number of events that a recording holds before it reads the times of the older ones and releases them.
const MOST_EVENTS: usize = 8192;
/// Number of newest events that may be unfinished. It exceeds the number of launches in progress in a work queue.
const UNFINISHED: usize = 4096;

/// One launch of a kernel on a device.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Launch {
    /// Name of the kernel.
    pub kernel: &'static str,
    /// Time at which the kernel started, in nanoseconds since the recording began.
    pub start: u64,
    /// Time at which the kernel ended, in nanoseconds since the recording began.
    pub end: u64,
    /// Number of work-items.
    pub items: usize,
    /// Number of work-items in a work-group.
    pub work_group: usize,
    /// Local memory of a work-group, in bytes; 0 if the driver does not report the size.
    pub local_bytes: u64,
    /// Index of the pass that the launch belongs to, counted from the start of the recording. A pass computes all
    /// bodies or cells once.
    pub pass: u32,
}

impl Launch {
    /// Returns the duration of the launch in seconds.
    pub fn seconds(&self) -> f64 {
        (self.end - self.start) as f64 * 1e-9
    }
}

/// Kernel launches that were recorded on a device.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Recording {
    /// The launches, in the order in which the device ran them.
    pub launches: Vec<Launch>,
    /// Number of passes over all bodies or cells that began during the recording, including those after it was full.
    pub passes: u32,
    /// Whether the recording was full, so that launches are missing at the end.
    pub is_cut: bool,
}

/// Recorder of one device's kernel launches, which can be switched on and off.
#[derive(Debug, Default)]
pub(super) struct Recorder {
    is_on: AtomicBool,
    tape: Mutex<Tape>,
}

/// A recording of kernel launches that is still in progress.
#[derive(Debug, Default)]
struct Tape {
    recording: Recording,
    /// Launches whose times have not been read yet, with their events.
    open: VecDeque<(Launch, core::Event)>,
    /// Number of launches after which the recording is full.
    most: usize,
    /// Time at which the recording began.
    began: Option<Instant>,
    /// Time at which the first launch was queued, in nanoseconds since the recording began.
    first: u64,
    /// Time on the device's clock at which the recording began, in nanoseconds; `None` until the first launch has
    /// ended.
    origin: Option<u64>,
}

impl Recorder {
    pub(super) fn is_on(&self) -> bool {
        self.is_on.load(Ordering::Relaxed)
    }

    /// Begins a recording of at most `most` launches, and discards the previous one.
    pub(super) fn begin(&self, most: usize) {
        *self.tape() = Tape { most, began: Some(Instant::now()), ..Tape::default() };
        self.is_on.store(true, Ordering::Relaxed);
    }

    /// Stops recording. Launches after this call are not recorded.
    pub(super) fn stop(&self) {
        self.is_on.store(false, Ordering::Relaxed);
    }

    /// Counts a pass over all bodies or cells that begins now, if recording is switched on.
    pub(super) fn begin_pass(&self) {
        if self.is_on() {
            self.tape().recording.passes += 1;
        }
    }

    /// Adds a launch that the driver has just queued. Sets its pass number; its times are read after it has ended.
    pub(super) fn add(&self, launch: Launch, event: core::Event) -> Result<()> {
        let tape = &mut *self.tape();
        if tape.recording.launches.len() + tape.open.len() >= tape.most {
            tape.recording.is_cut = true;
            return Ok(());
        }
        if tape.origin.is_none() && tape.open.is_empty() {
            tape.first = tape.began.map_or(0, |began| began.elapsed().as_nanos() as u64);
        }
        let pass = tape.recording.passes.saturating_sub(1);
        tape.open.push_back((Launch { pass, ..launch }, event));
        if tape.open.len() > MOST_EVENTS
            && core::event_is_complete(&tape.open[MOST_EVENTS - UNFINISHED].1).unwrap_or(false)
        {
            tape.read(MOST_EVENTS - UNFINISHED)?;
        }
        Ok(())
    }

    /// Returns the event of the newest recorded launch, if there is one.
    pub(super) fn last_event(&self) -> Option<core::Event> {
        self.tape().open.back().map(|(_, event)| event.clone())
    }

    /// Ends the recording and returns it. All recorded launches must have ended.
    pub(super) fn take(&self) -> Result<Recording> {
        self.stop();
        let mut tape = std::mem::take(&mut *self.tape());
        tape.read(tape.open.len())?;
        Ok(tape.recording)
    }

    fn tape(&self) -> MutexGuard<'_, Tape> {
        self.tape.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tape {
    /// Reads the times of the `count` oldest launches, which must have ended, and releases their events.
    fn read(&mut self, count: usize) -> Result<()> {
        let Some((_, first)) = self.open.front() else { return Ok(()) };
        let origin = match self.origin {
            Some(origin) => origin,
            // The time at which the first launch was queued is known on the clocks of the host and the device.
            None => *self.origin.insert(time(first, ProfilingInfo::Queued)?.saturating_sub(self.first)),
        };
        for (launch, event) in self.open.drain(..count) {
            let [start, end] = [ProfilingInfo::Start, ProfilingInfo::End]
                .map(|moment| time(&event, moment).map(|time| time.saturating_sub(origin)));
            let (start, end) = (start?, end?);
            self.recording.launches.push(Launch { start, end: end.max(start), ..launch });
        }
        Ok(())
    }
}

/// Returns the time of a moment (such as the start) of the ended command of `event`, in ns on the device's clock.
///
/// # Errors
/// Returns an error if the driver does not report times.
fn time(event: &core::Event, moment: ProfilingInfo) -> Result<u64> {
    use ProfilingInfoResult as Answer;
    match core::get_event_profiling_info(event, moment) {
        Ok(Answer::Queued(time) | Answer::Start(time) | Answer::End(time)) => Ok(time),
        _ => Err(invalid!("the driver does not report the times of kernels")),
    }
}
