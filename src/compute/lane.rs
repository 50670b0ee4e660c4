//! Lanes: each lane queues the work of one device in parts.
//!
//! A kernel over many bodies can take seconds. A lane divides the bodies into *slices* of at most [`SLICE_SECONDS`], so
//! that a GPU that also draws the desktop stays responsive. Slices are submitted in *chunks* of about
//! [`CHUNK_SECONDS`]. At most two chunks are unfinished, so that the submitting thread can often check for commands.

use std::collections::VecDeque;
use std::time::Instant;

use ocl::core;

use super::device::Device;
use super::events::span;
use super::found::DeviceKind;
use super::program::{Arg, Kernel, WorkRange};
use crate::base::Result;

/// Maximum planned run time of a slice, in seconds. A slice is a kernel launch that does part of the kernel's work.
const SLICE_SECONDS: f64 = 0.05;
/// Planned run time of a chunk, in seconds. A chunk is a series of kernel launches that are submitted together.
const CHUNK_SECONDS: f64 = 0.1;
/// Maximum number of kernel launches in a chunk. With few bodies, the launches themselves take most of the time.
const CHUNK_LAUNCHES: u32 = 1024;
/// Minimum number of work-groups per compute unit in one kernel launch, to keep the whole device busy.
const LEAST_GROUPS_PER_UNIT: usize = 2;

/// A chunk: kernel launches that are submitted together.
#[derive(Debug)]
struct Chunk {
    /// Event of the first kernel in the chunk.
    first: core::Event,
    cost: f64,
    launches: u32,
}

/// Work queue of one device. The queue also estimates the device's speed.
#[derive(Debug)]
pub struct Lane {
    device: Device,
    /// Estimated speed in pairs of bodies per second.
    rate: f64,
    /// Chunk of kernel launches that are queued but not submitted yet.
    open: Option<Chunk>,
    /// Submitted chunks, each with an event that completes after its last kernel.
    under_way: VecDeque<(Chunk, core::Event)>,
    /// Time at which the program noticed the end of the last chunk, for timing on devices without profiling.
    last_end: Instant,
    seconds: f64,
}

/// One run of a kernel over all of its work-items.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    /// The kernel to run.
    pub kernel: &'a Kernel,
    /// Arguments to pass to the kernel.
    pub args: &'a [Arg<'a>],
    /// Number of work-items, which the lane rounds up to a whole number of work-groups.
    pub items: usize,
    /// Number of work-items in a work-group.
    pub group: usize,
    /// Cost of a work-item, as an equivalent number of body pairs; 0 if the kernel is too cheap to be split and timed.
    pub cost: f64,
}

impl<'a> Pass<'a> {
    /// Work-group size, in work-items, for kernels that do little work per work-item.
    pub const CHEAP_GROUP: usize = 64;

    /// Describes a pass that does little work per work-item.
    pub fn cheap(kernel: &'a Kernel, args: &'a [Arg<'a>], items: usize) -> Self {
        Self { kernel, args, items, group: Self::CHEAP_GROUP, cost: 0.0 }
    }
}

impl Lane {
    /// Creates an empty work queue for an idle device.
    pub fn new(device: &Device) -> Self {
        // A low first guess only makes the slices of the first step shorter.
        let rate = match device.info.kind {
            DeviceKind::Cpu => 2e8,
            DeviceKind::Gpu | DeviceKind::Accelerator => 2e10,
        };
        let (device, last_end) = (device.clone(), Instant::now());
        Self { device, rate, open: None, under_way: VecDeque::new(), last_end, seconds: 0.0 }
    }

    /// Queues the next part of `pass`, starting at work-item `from`. Returns the index of the first work-item after
    /// this part.
    pub fn slice(&mut self, pass: Pass, from: usize) -> Result<usize> {
        let groups_left = (pass.items - from).div_ceil(pass.group);
        // Slices have equal lengths, because a short last slice would leave the device partly idle.
        let seconds = pass.cost * (groups_left * pass.group) as f64 / self.rate;
        let slices = (seconds / SLICE_SECONDS).ceil().max(1.0);
        let least = LEAST_GROUPS_PER_UNIT * self.device.info.compute_units as usize;
        let groups = ((groups_left as f64 / slices).ceil() as usize).max(least).min(groups_left);
        let range = WorkRange { offset: from, count: groups * pass.group, group: pass.group };
        let cost = range.count as f64 * pass.cost;
        let mut first = core::Event::null();
        let event = self.open.is_none().then_some(&mut first);
        pass.kernel.enqueue(range, pass.args, event)?;
        let chunk = self.open.get_or_insert(Chunk { first, cost: 0.0, launches: 0 });
        chunk.cost += cost;
        chunk.launches += 1;
        Ok(from + range.count)
    }

    /// Queues the whole `pass` as one or more launches, and submits them whenever enough launches have accumulated.
    pub fn whole(&mut self, pass: Pass) -> Result<()> {
        let mut from = 0;
        while from < pass.items {
            from = self.slice(pass, from)?;
            if self.is_full() {
                self.flush()?;
            }
        }
        Ok(())
    }

    /// Returns whether enough work is queued to be submitted with [`Lane::flush`].
    pub fn is_full(&self) -> bool {
        let cost = self.rate * CHUNK_SECONDS;
        self.open.as_ref().is_some_and(|chunk| chunk.cost > cost || chunk.launches >= CHUNK_LAUNCHES)
    }

    /// Submits the queued work, then waits until at most two submissions are unfinished.
    pub fn flush(&mut self) -> Result<()> {
        self.submit()?;
        self.throttle()
    }

    /// Submits the queued work without waiting.
    pub fn submit(&mut self) -> Result<()> {
        let end = self.device.submit()?;
        if self.under_way.is_empty() {
            self.last_end = Instant::now();
        }
        self.under_way.extend(self.open.take().map(|chunk| (chunk, end)));
        Ok(())
    }

    /// Waits until at most two submissions are unfinished.
    pub fn throttle(&mut self) -> Result<()> {
        while self.under_way.len() > 2 {
            self.retire()?;
        }
        Ok(())
    }

    /// Returns whether all submitted work has ended. Does not block.
    pub fn is_idle(&mut self) -> Result<bool> {
        while let Some((_, end)) = self.under_way.front() {
            match core::event_is_complete(end) {
                Ok(true) => self.retire()?,
                Ok(false) => return Ok(false),
                Err(error) => return Err(self.device.fail("running a kernel")(error)),
            }
        }
        Ok(true)
    }

    /// Returns the device that runs the queued work.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns the estimated speed in pairs of bodies per second.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Submits all queued work and waits until it has ended.
    pub fn finish(&mut self) -> Result<()> {
        self.flush()?;
        while !self.under_way.is_empty() {
            self.retire()?;
        }
        Ok(())
    }

    /// Returns the time, in seconds, that the device spent on the work that ended since the last call of this method.
    pub fn take_seconds(&mut self) -> f64 {
        std::mem::take(&mut self.seconds)
    }

    /// Waits until the oldest submitted chunk has ended, and updates the estimated device speed from its run time.
    fn retire(&mut self) -> Result<()> {
        let Some((Chunk { first, cost, .. }, last)) = self.under_way.pop_front() else { return Ok(()) };
        let end = self.device.wait(&last, "running a kernel")?;
        let by_clock = end.saturating_duration_since(self.last_end).as_secs_f64();
        self.last_end = end;
        let seconds = span(&first, &last).unwrap_or(by_clock);
        self.seconds += seconds;
        // The launch takes most of the time of a very short chunk.
        if seconds > 1e-5 && cost > 0.0 {
            self.rate = cost / seconds;
        }
        Ok(())
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // The next lane should find an idle device. The next use of the device reports an error again.
        if !self.device.is_lost() {
            let _ = self.finish();
        }
    }
}
