//! What a device can do at most, measured by micro-kernels (the roofline model: Williams, Waterman and Patterson 2009,
//! Communications of the ACM 52, 65). A limit is the best that was seen.

use std::time::Instant;

use ocl::core;

use super::buffer::Buffer;
use super::device::{Device, Kind};
use super::program::{Arg, Kernel, Program, Range, Source};
use super::timing;
use crate::error::Result;

const ROOFLINE: Source = Source {
    file: "roofline.cl",
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/roofline.cl")),
};

/// Long beside a launch and the ticks of a clock, short enough to find a quiet moment and to stay unseen.
const TIMING_SECONDS: f64 = 0.01;
/// Timings of that length of which the best counts.
const TIMINGS: u32 = 8;
/// What kernels take for a number that a compiler does not know.
const SEED: f32 = 0.75;
/// Rounds after which the same is fetched again: the first cache holds it.
const FETCHED: usize = 32;

/// Rates of a device.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Roofline {
    /// Fused multiply-adds of one number in f32.
    pub multiply_adds_per_second: f64,
    /// Reciprocal square roots of one number in f32, as quick as the device has them.
    pub roots_per_second: f64,
    /// Bytes that work-items together fetch out of a cache, all the same ones at a time.
    pub fetched_bytes_per_second: f64,
    /// Bytes of global memory, read and written, that a copy moves.
    pub copied_bytes_per_second: f64,
}

impl Roofline {
    /// Measures a device; takes a few tenths of a second.
    ///
    /// # Errors
    /// If the device fails.
    pub fn measure(device: &Device) -> Result<Self> {
        let rate = |micro| Probe::new(device, micro)?.measure();
        Ok(Self {
            multiply_adds_per_second: rate(&Micro::MULTIPLY_ADDS)?,
            roots_per_second: rate(&Micro::ROOTS)?,
            fetched_bytes_per_second: rate(&Micro::FETCHES)?,
            copied_bytes_per_second: rate(&Micro::COPIES)?,
        })
    }
}

/// A micro-kernel: one operation, over and over.
#[derive(Debug)]
pub struct Micro {
    sources: &'static [Source],
    name: &'static str,
    /// Columns that an item has under way at once: enough to hide how long an operation takes, few enough for the registers.
    chains: usize,
    work: Work,
}

/// What an item does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    /// Arithmetic in registers: one operation a round for each number of its columns.
    Chains,
    /// As many fetches of the widest vector.
    Fetch,
    /// One element, in as many passes as there are rounds.
    Copy,
}

impl Micro {
    /// Fused multiply-adds.
    pub const MULTIPLY_ADDS: Self = Self::of("multiply_adds", Work::Chains);
    /// Reciprocal square roots.
    pub const ROOTS: Self = Self::of("roots", Work::Chains);
    const FETCHES: Self = Self::of("fetches", Work::Fetch);
    const COPIES: Self = Self::of("copies", Work::Copy);

    const fn of(name: &'static str, work: Work) -> Self {
        Self { sources: &[], name, chains: 12, work }
    }

    /// The operation of the kernel `pairs` in `sources`, which are built behind `kernels/roofline.cl`: on each number of
    /// `chains` columns in every round.
    pub const fn pairs(sources: &'static [Source], chains: usize) -> Self {
        Self { sources, name: "pairs", chains, work: Work::Chains }
    }

    /// Its files, in the order in which they are built.
    pub fn files(&self) -> Vec<Source> {
        [&[ROOFLINE], self.sources].concat()
    }
}

/// A micro-kernel on a device, timed piece by piece.
#[derive(Debug)]
pub struct Probe {
    device: Device,
    kernel: Kernel,
    work: Work,
    range: Range,
    /// Operations or bytes of all items in a round.
    a_round: f64,
    /// What items write, and what they read.
    buffers: [Buffer<f32>; 2],
    rounds: u32,
    timings: u32,
    best: f64,
}

impl Probe {
    /// Builds the best form of `micro` that the device takes, and runs it once: some compilers finish a kernel only then.
    ///
    /// # Errors
    /// If the device takes none.
    pub fn new(device: &Device, micro: &Micro) -> Result<Self> {
        let info = &device.info;
        let lanes = lanes(info.kind);
        let kernel = program(device, micro, lanes)?.kernel(micro.name)?;
        let group = match (info.kind, micro.work) {
            (Kind::Cpu, Work::Chains | Work::Fetch) => 1,
            _ => 64.min(info.max_work_group),
        };
        let groups = match (info.kind, micro.work) {
            (_, Work::Copy) => copied_bytes(device) / (size_of::<f32>() * lanes * group),
            // Several to a unit, so that one that is held up does not hold up the end.
            (Kind::Cpu, _) => 8 * info.compute_units as usize,
            // Many waves of as many as a unit holds at once.
            (Kind::Gpu | Kind::Accelerator, _) => 128 * info.compute_units as usize,
        };
        let range = Range { offset: 0, count: groups.max(1) * group, group };
        let (per_item, [written, read]) = match micro.work {
            Work::Chains => (micro.chains * lanes, [range.count, 1]),
            Work::Fetch => {
                let width = lanes.max(4);
                (micro.chains * width * size_of::<f32>(), [range.count, FETCHED * micro.chains * width])
            }
            Work::Copy => (2 * lanes * size_of::<f32>(), [range.count * lanes; 2]),
        };
        let probe = Self {
            device: device.clone(),
            kernel,
            work: micro.work,
            range,
            a_round: (range.count * per_item) as f64,
            // Written to, because memory that never was may be none.
            buffers: [Buffer::zeroed(device, written)?, Buffer::zeroed(device, read)?],
            rounds: 1,
            timings: 0,
            best: 0.0,
        };
        probe.run(1)?;
        Ok(probe)
    }

    /// Times once, for about a hundredth of a second, and says whether more turns are wanted; they never do harm.
    ///
    /// # Errors
    /// If the device fails.
    pub fn turn(&mut self) -> Result<bool> {
        let seconds = self.run(self.rounds)?.max(1e-9);
        self.best = self.best.max(self.a_round * f64::from(self.rounds) / seconds);
        match seconds < 0.5 * TIMING_SECONDS && self.rounds < u32::MAX / 32 {
            true => {
                let factor = (TIMING_SECONDS / seconds).clamp(2.0, 16.0);
                self.rounds = (f64::from(self.rounds) * factor) as u32;
            }
            false => self.timings += 1,
        }
        Ok(self.timings < TIMINGS)
    }

    /// The best rate so far, in operations or bytes a second.
    pub fn rate(&self) -> f64 {
        self.best
    }

    /// The best rate of all timings.
    ///
    /// # Errors
    /// If the device fails.
    pub fn measure(mut self) -> Result<f64> {
        while self.turn()? {}
        Ok(self.best)
    }

    /// What the items have written after `rounds` rounds: whoever knows the operation can check it.
    ///
    /// # Errors
    /// If the device fails.
    pub fn results(&self, rounds: u32) -> Result<Vec<f32>> {
        self.run(rounds)?;
        self.buffers[0].read()
    }

    /// Seconds that `rounds` rounds take.
    fn run(&self, rounds: u32) -> Result<f64> {
        let [out, from] = self.buffers.each_ref().map(Arg::from);
        let args = [Arg::Uint(rounds), Arg::Float(SEED), out, from];
        let args = if self.work == Work::Chains { &args[..3] } else { &args[..] };
        let clock = Instant::now();
        let (mut first, mut last) = (core::Event::null(), None);
        self.kernel.enqueue(self.range, args, Some(&mut first))?;
        for _ in 1..if self.work == Work::Copy { rounds } else { 1 } {
            let mut event = core::Event::null();
            self.kernel.enqueue(self.range, args, Some(&mut event))?;
            last = Some(event);
        }
        let last = last.unwrap_or_else(|| first.clone());
        core::wait_for_event(&last).map_err(self.device.fail("measuring the device"))?;
        Ok(timing::span(&first, &last).unwrap_or(clock.elapsed().as_secs_f64()))
    }
}

/// Numbers in a column.
fn lanes(kind: Kind) -> usize {
    match kind {
        Kind::Cpu => 16,
        Kind::Gpu | Kind::Accelerator => 1,
    }
}

/// Well past the caches, and little of the memory.
fn copied_bytes(device: &Device) -> usize {
    let wanted = match device.info.kind {
        Kind::Cpu => 64 << 20,
        Kind::Gpu | Kind::Accelerator => 256 << 20,
    };
    wanted.min(device.info.memory_bytes / 16).min(device.info.max_alloc_bytes) as usize
}

/// With the machine's own root, if its compiler takes that.
fn program(device: &Device, micro: &Micro, lanes: usize) -> Result<Program> {
    let build = |root| {
        let defines = [("LANES", lanes), ("CHAINS", micro.chains), ("FETCHED", FETCHED), ("ROOT", root)];
        Program::build(device, &micro.files(), &defines.map(|(name, value)| (name, value.to_string())))
    };
    build(1).or_else(|_| build(0))
}
