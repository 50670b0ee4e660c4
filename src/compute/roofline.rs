//! Peak rates of a device, measured with micro-kernels, for the roofline model (Williams, Waterman and Patterson 2009,
//! Communications of the ACM 52, 65). Each peak rate is the best of several measurements.

use std::time::Instant;

use ocl::core;

use super::buffer::Buffer;
use super::device::Device;
use super::events::span;
use super::found::DeviceKind;
use super::program::{Arg, Kernel, Program, WorkRange};
use super::source::{KernelSource, kernel_source};
use crate::base::{Error, Result};

const ROOFLINE: KernelSource = kernel_source!("roofline.cl");
const OPERATIONS: KernelSource = kernel_source!("operations.cl");

/// Duration of one timed kernel run, in seconds: long compared with a kernel launch, but too short for users to notice.
const TIMING_SECONDS: f64 = 0.01;
/// Number of times that each micro-kernel is timed; only the best timing counts.
const TIMINGS: u32 = 8;
/// Input of the micro-kernels. The compiler does not know this value, so it cannot compute the results in advance.
const SEED: f32 = 0.75;
/// Number of rounds until a work-item loads the same data again. The number is small enough that the data stays in the
/// L1 cache.
const FETCHED: usize = 32;

/// Peak rates of a device; a rate is `None` if it has not been measured or its measurement failed.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Roofline {
    /// Number of `f32` fused multiply-adds per second.
    pub multiply_adds_per_second: Option<f64>,
    /// Number of `f32` reciprocal square roots per second, computed by the device's fastest method.
    pub roots_per_second: Option<f64>,
    /// Number of bytes per second that work-items load from a cache when all of them load the same data at once.
    pub fetched_bytes_per_second: Option<f64>,
    /// Number of bytes of global memory read and written per second while copying.
    pub copied_bytes_per_second: Option<f64>,
}

impl Roofline {
    /// Measures the peak rates of a device in a few tenths of a second. Passes each error to `failed`.
    pub fn measure(device: &Device, failed: &mut dyn FnMut(Error)) -> Self {
        let mut rate = |micro| Probe::new(device, micro).and_then(Probe::measure).map_err(&mut *failed).ok();
        Self {
            multiply_adds_per_second: rate(&MicroKernel::MULTIPLY_ADDS),
            roots_per_second: rate(&MicroKernel::ROOTS),
            fetched_bytes_per_second: rate(&MicroKernel::FETCHES),
            copied_bytes_per_second: rate(&MicroKernel::COPIES),
        }
    }
}

/// A kernel that repeats a single operation to measure its peak rate.
#[derive(Debug, PartialEq)]
pub struct MicroKernel {
    sources: &'static [KernelSource],
    name: &'static str,
    /// Number of independent chains of operations per work-item: first for CPUs, then for other devices. There are
    /// enough chains to hide the latency of an operation, but few enough that their values fit in the registers.
    chains: [usize; 2],
    /// Number of operations unrolled per loop round on GPUs. The number is high enough to hide the loop's cost, but low
    /// enough that the code stays in the instruction cache.
    turns: usize,
    /// Number of units of work, such as pairs of bodies, that one operation counts as.
    counts: usize,
    work: Workload,
}

/// Kind of work that a micro-kernel measures.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Workload {
    /// Arithmetic: each round performs chains of operations on numbers in registers.
    Chains,
    /// Cached loads: each chain of operations loads one vector of the maximum width from a cache per round.
    Fetch,
    /// Copies in global memory: each round is a separate kernel launch that copies vectors of the maximum width.
    Copy,
}

impl MicroKernel {
    /// Micro-kernel that computes fused multiply-adds.
    pub const MULTIPLY_ADDS: Self = Self::of("multiply_adds", Workload::Chains);
    /// Micro-kernel that computes reciprocal square roots.
    pub const ROOTS: Self = Self::of("roots", Workload::Chains);
    /// Micro-kernel that fetches data from a cache. Its rate is in bytes per second.
    pub const FETCHES: Self = Self::of("fetches", Workload::Fetch);
    /// Micro-kernel that copies global memory. Its rate is in bytes per second.
    pub const COPIES: Self = Self::of("copies", Workload::Copy);

    const fn of(name: &'static str, work: Workload) -> Self {
        Self { sources: &[OPERATIONS], name, chains: [12; 2], turns: 16, counts: 1, work }
    }

    /// Returns the micro-kernel `pairs` defined in `sources`. On CPUs, it runs `chains` chains of operations. An
    /// operation computes one pair of bodies, counts as `sides` pairs, and rotates the `coordinates` numbers that
    /// describe the other body. Unrolling a multiple of `coordinates` operations avoids moving these numbers between
    /// registers.
    pub const fn pairs(
        sources: &'static [KernelSource],
        chains: usize,
        coordinates: usize,
        sides: usize,
    ) -> Self {
        let (chains, turns) = ([chains, 8], 2 * coordinates);
        Self { sources, name: "pairs", chains, turns, counts: sides, work: Workload::Chains }
    }
}

/// A micro-kernel built for a device, with the best result of its timings so far.
#[derive(Debug)]
pub struct Probe {
    device: Device,
    kernel: Kernel,
    work: Workload,
    range: WorkRange,
    /// Number of operations or bytes per round of the micro-kernel, summed over all work-items.
    work_per_round: f64,
    /// The kernel's output and input buffers, in this order.
    buffers: [Buffer<f32>; 2],
    rounds: u32,
    timings: u32,
    best: f64,
}

impl Probe {
    /// Builds the micro-kernel `micro` in the form that suits the device.
    pub fn new(device: &Device, micro: &MicroKernel) -> Result<Self> {
        Self::for_kind(device, micro, device.info.kind)
    }

    /// Builds the micro-kernel `micro` in the form that suits devices of the given kind. Any device can run any form.
    pub fn for_kind(device: &Device, micro: &MicroKernel, kind: DeviceKind) -> Result<Self> {
        let (info, is_cpu) = (&device.info, kind == DeviceKind::Cpu);
        // Number of floats in a chain, of chains per work-item, and of operations on each float in a round of `Chains`.
        let (lanes, chains, turns) =
            if is_cpu { (16, micro.chains[0], 1) } else { (1, micro.chains[1], micro.turns) };
        let defines =
            [("LANES", lanes), ("CHAINS", chains), ("TURNS", turns), ("FETCHED", FETCHED), ("ROOT", 1)];
        let defines = defines.map(|(name, value)| (name, value.to_string()));
        let sources = [&[ROOFLINE], micro.sources].concat();
        let kernel = Program::build_with_root(device, &sources, &defines)?.kernel(micro.name)?;
        // Number of floats in a fetched vector.
        let width = lanes.max(4);
        let is_copy = micro.work == Workload::Copy;
        let group = info.max_work_group.min(if is_copy {
            256
        } else if is_cpu {
            1
        } else {
            64
        });
        let groups = match is_copy {
            true => copied_bytes(device) / (size_of::<f32>() * width * group),
            // CPUs get several work-groups per core, so that a delayed core does not delay the end. GPUs need many.
            false => info.compute_units as usize * if is_cpu { 8 } else { 128 },
        };
        let range = WorkRange { offset: 0, count: groups.max(1) * group, group };
        let (per_item, [written, read]) = match micro.work {
            Workload::Chains => (turns * chains * lanes * micro.counts, [range.count, 1]),
            Workload::Fetch => (chains * width * size_of::<f32>(), [range.count, FETCHED * chains * width]),
            Workload::Copy => (2 * width * size_of::<f32>(), [range.count * width; 2]),
        };
        Ok(Self {
            device: device.clone(),
            kernel,
            work: micro.work,
            range,
            work_per_round: (range.count * per_item) as f64,
            // Zeroes the buffers, because the system may not back memory that was never written.
            buffers: [Buffer::zeroed(device, written)?, Buffer::zeroed(device, read)?],
            rounds: 1,
            timings: 0,
            best: 0.0,
        })
    }

    /// Times one run of the micro-kernel, of about a hundredth of a second. Returns whether more timings are needed.
    /// The first timings only find the number of rounds that fit in this time.
    pub fn turn(&mut self) -> Result<bool> {
        let seconds = self.run(self.rounds)?.max(1e-9);
        // Short timings are imprecise, and some drivers finish compiling during the first run.
        if seconds < 0.5 * TIMING_SECONDS && self.rounds < u32::MAX / 32 {
            let factor = (TIMING_SECONDS / seconds).clamp(2.0, 16.0);
            self.rounds = (f64::from(self.rounds) * factor) as u32;
        } else {
            self.timings += 1;
            self.best = self.best.max(self.work_per_round * f64::from(self.rounds) / seconds);
        }
        Ok(self.timings < TIMINGS)
    }

    /// Returns the highest rate measured so far, in operations or bytes per second; 0 before the first valid timing.
    pub fn rate(&self) -> f64 {
        self.best
    }

    /// Runs all timings of the micro-kernel, and returns the highest rate, in operations or bytes per second.
    pub fn measure(mut self) -> Result<f64> {
        while self.turn()? {}
        Ok(self.best)
    }

    /// Returns the numbers that the micro-kernel computes in `rounds` rounds. For tests.
    pub fn results(&self, rounds: u32) -> Result<Vec<f32>> {
        self.run(rounds)?;
        self.buffers[0].read()
    }

    /// Runs `rounds` rounds of the micro-kernel, and returns their duration in seconds.
    fn run(&self, rounds: u32) -> Result<f64> {
        let [out, from] = self.buffers.each_ref().map(Arg::from);
        let args = [Arg::Uint(rounds), Arg::Float(SEED), out, from];
        let args = if self.work == Workload::Chains { &args[..3] } else { &args[..] };
        let clock = Instant::now();
        let mut first = core::Event::null();
        self.kernel.enqueue(self.range, args, Some(&mut first))?;
        let mut last = first.clone();
        for _ in 1..if self.work == Workload::Copy { rounds } else { 1 } {
            last = core::Event::null();
            self.kernel.enqueue(self.range, args, Some(&mut last))?;
        }
        core::flush(&self.device.queue).map_err(self.device.fail("measuring the speed"))?;
        self.device.wait(&last, "measuring the speed")?;
        Ok(span(&first, &last).unwrap_or(clock.elapsed().as_secs_f64()))
    }
}

/// Returns the number of bytes to copy per round: far more than the caches hold, but a small fraction of the memory.
fn copied_bytes(device: &Device) -> usize {
    let wanted = match device.info.kind {
        DeviceKind::Cpu => 64 << 20,
        DeviceKind::Gpu | DeviceKind::Accelerator => 256 << 20,
    };
    wanted.min(device.info.memory_bytes / 16).min(device.info.max_alloc_bytes) as usize
}
