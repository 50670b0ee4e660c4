//! A lane: one device fed with long work in parts.
//!
//! A kernel over many bodies can take seconds. It is queued in *slices* of the body range, none meant to run
//! over [`SLICE_SECONDS`], so that a GPU that also draws the desktop stays responsive; and slices in *chunks*
//! of about [`CHUNK_SECONDS`], at most two of which are under way, so that whoever feeds the lane looks up
//! often enough to hear a command.

use std::collections::VecDeque;
use std::time::Instant;

use ocl::core;

use super::device::{Device, Kind};
use super::program::{Arg, Kernel, Range};
use super::timing;
use crate::error::Result;

/// The longest that one kernel is meant to run.
const SLICE_SECONDS: f64 = 0.05;
/// Device work between two looks at the commands.
const CHUNK_SECONDS: f64 = 0.1;
/// Kernels between two such looks: with few bodies it is the launches that take the time.
const CHUNK_LAUNCHES: u32 = 1024;
/// Work-groups for each compute unit in the shortest slice.
const LEAST_GROUPS_PER_UNIT: usize = 2;

/// Kernels that were queued together.
#[derive(Debug)]
struct Open {
    first: core::Event,
    cost: f64,
    launches: u32,
}

/// The same, handed over.
#[derive(Debug)]
struct Chunk {
    first: core::Event,
    /// Comes behind the last kernel.
    end: core::Event,
    cost: f64,
}

/// One device with its queue, and what is known of its speed.
#[derive(Debug)]
pub struct Lane {
    device: Device,
    /// Cost units a second; a cost unit is a pair of bodies.
    rate: f64,
    open: Option<Open>,
    under_way: VecDeque<Chunk>,
    /// When the last chunk was seen to end: stands in where the device has no profiling.
    last_end: Instant,
    seconds: f64,
}

/// One pass of a kernel over a range of work-items.
#[derive(Debug, Clone, Copy)]
pub struct Pass<'a> {
    /// The kernel.
    pub kernel: &'a Kernel,
    /// Its arguments.
    pub args: &'a [Arg<'a>],
    /// Work-items in all; work-groups are filled up.
    pub items: usize,
    /// Work-items to a work-group.
    pub group: usize,
    /// Pairs of bodies that one work-item meets; 0 if the pass is too cheap to be cut or learnt from.
    pub cost: f64,
}

impl<'a> Pass<'a> {
    /// Work-items to a work-group where it hardly matters.
    pub const CHEAP_GROUP: usize = 64;

    /// A pass that does little for each work-item.
    pub fn cheap(kernel: &'a Kernel, args: &'a [Arg<'a>], items: usize) -> Self {
        Self { kernel, args, items, group: Self::CHEAP_GROUP, cost: 0.0 }
    }
}

impl Lane {
    /// A lane of an idle device.
    pub fn new(device: &Device) -> Self {
        // Before the first measurement a low guess only means that the first step is cut finer.
        let rate = match device.info.kind {
            Kind::Cpu => 2e8,
            Kind::Gpu | Kind::Accelerator => 2e10,
        };
        Self {
            device: device.clone(),
            rate,
            open: None,
            under_way: VecDeque::new(),
            last_end: Instant::now(),
            seconds: 0.0,
        }
    }

    /// Queues the next slice of `pass` from work-item `from`, and says where the one after it begins: `items`
    /// or more when the pass is all queued.
    ///
    /// # Errors
    /// If the device refuses the kernel.
    pub fn slice(&mut self, pass: Pass, from: usize) -> Result<usize> {
        let groups_left = (pass.items - from).div_ceil(pass.group);
        // Slices of equal length, so that the last one does not leave most of the device idle; and none so short
        // that it could not fill the device.
        let seconds = pass.cost * (groups_left * pass.group) as f64 / self.rate;
        let slices = (seconds / SLICE_SECONDS).ceil().max(1.0);
        let least = LEAST_GROUPS_PER_UNIT * self.device.info.compute_units as usize;
        let groups = ((groups_left as f64 / slices).ceil() as usize).max(least).min(groups_left);
        let range = Range { offset: from, count: groups * pass.group, group: pass.group };
        let cost = range.count as f64 * pass.cost;
        match &mut self.open {
            Some(chunk) => {
                pass.kernel.enqueue(range, pass.args, None)?;
                chunk.cost += cost;
                chunk.launches += 1;
            }
            None => {
                let mut first = core::Event::null();
                pass.kernel.enqueue(range, pass.args, Some(&mut first))?;
                self.open = Some(Open { first, cost, launches: 1 });
            }
        }
        Ok(from + range.count)
    }

    /// Queues all of `pass`, and hands over what is enough on the way.
    ///
    /// # Errors
    /// If the device refuses the kernel.
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

    /// Whether enough is queued to hand it over with [`Lane::flush`].
    pub fn is_full(&self) -> bool {
        let cost = self.rate * CHUNK_SECONDS;
        self.open.as_ref().is_some_and(|chunk| chunk.cost > cost || chunk.launches >= CHUNK_LAUNCHES)
    }

    /// Hands the queued work to the device, and waits while more than one earlier part is under way.
    ///
    /// # Errors
    /// If the device fails.
    pub fn flush(&mut self) -> Result<()> {
        self.hand_over()?;
        self.keep_up()
    }

    /// Hands the queued work to the device without any wait.
    ///
    /// # Errors
    /// If the device fails.
    pub fn hand_over(&mut self) -> Result<()> {
        let end = self.device.mark()?;
        if self.under_way.is_empty() {
            self.last_end = Instant::now();
        }
        self.under_way.extend(self.open.take().map(|Open { first, cost, .. }| Chunk { first, end, cost }));
        Ok(())
    }

    /// Waits while more than two parts are under way.
    ///
    /// # Errors
    /// If the device fails.
    pub fn keep_up(&mut self) -> Result<()> {
        while self.under_way.len() > 2 {
            self.retire()?;
        }
        Ok(())
    }

    /// Whether all work that was handed over has ended, as far as that is seen without a wait.
    ///
    /// # Errors
    /// If the device fails.
    pub fn is_idle(&mut self) -> Result<bool> {
        while let Some(chunk) = self.under_way.front() {
            match core::event_is_complete(&chunk.end) {
                Ok(true) => self.retire()?,
                Ok(false) => return Ok(false),
                Err(error) => return Err(self.device.fail("running a kernel")(error)),
            }
        }
        Ok(true)
    }

    /// The device.
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Cost units a second, as far as that is known.
    pub fn rate(&self) -> f64 {
        self.rate
    }

    /// Waits for all work.
    ///
    /// # Errors
    /// If the device fails.
    pub fn finish(&mut self) -> Result<()> {
        self.flush()?;
        while !self.under_way.is_empty() {
            self.retire()?;
        }
        Ok(())
    }

    /// Device time of the work that ended since this was last asked, in seconds.
    pub fn take_seconds(&mut self) -> f64 {
        std::mem::take(&mut self.seconds)
    }

    /// Waits for the oldest part and learns from it.
    fn retire(&mut self) -> Result<()> {
        let Some(chunk) = self.under_way.pop_front() else { return Ok(()) };
        let end = self.device.wait(&chunk.end, "running a kernel")?;
        let by_clock = end.saturating_duration_since(self.last_end).as_secs_f64();
        self.last_end = end;
        let seconds = timing::span(&chunk.first, &chunk.end).unwrap_or(by_clock);
        self.seconds += seconds;
        // Very short parts say more about the launch than about the rate.
        if seconds > 1e-5 && chunk.cost > 0.0 {
            self.rate = chunk.cost / seconds;
        }
        Ok(())
    }
}

impl Drop for Lane {
    fn drop(&mut self) {
        // Kernels still under way use buffers that go with the lane's owner; OpenCL keeps those alive, but a
        // successor should start on an idle device. An error is met again there.
        if !self.device.is_lost() {
            let _ = self.finish();
        }
    }
}
