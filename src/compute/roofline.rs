//! What a device can do at most, measured by micro-kernels (the roofline model: Williams, Waterman and Patterson 2009,
//! Communications of the ACM 52, 65). A limit is the best that was seen.

use std::time::Instant;

use ocl::core;

use super::buffer::Buffer;
use super::device::{Device, Kind};
use super::program::{Arg, Kernel, Program, Range, Source};
use super::timing;
use crate::error::{Error, Result};

const ROOFLINE: Source = Source {
    file: "roofline.cl",
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/roofline.cl")),
};
const OPERATIONS: Source = Source {
    file: "operations.cl",
    text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/operations.cl")),
};

/// Long beside a launch and the ticks of a clock, short enough to find a quiet moment and to stay unseen.
const TIMING_SECONDS: f64 = 0.01;
/// Timings of that length of which the best counts.
const TIMINGS: u32 = 8;
/// What kernels take for a number that a compiler does not know.
const SEED: f32 = 0.75;
/// Rounds after which the same is fetched again: the first cache holds it.
const FETCHED: usize = 32;

/// Rates of a device, as far as they could be measured.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Roofline {
    /// Fused multiply-adds of one number in f32.
    pub multiply_adds_per_second: Option<f64>,
    /// Reciprocal square roots of one number in f32, as quick as the device has them.
    pub roots_per_second: Option<f64>,
    /// Bytes that work-items together fetch out of a cache, all the same ones at a time.
    pub fetched_bytes_per_second: Option<f64>,
    /// Bytes of global memory, read and written, that a copy moves.
    pub copied_bytes_per_second: Option<f64>,
}

impl Roofline {
    /// Measures a device; takes a few tenths of a second. What fails is told to `failed` and left out.
    pub fn measure(device: &Device, failed: &mut dyn FnMut(Error)) -> Self {
        let mut rate = |micro| Probe::new(device, micro).and_then(Probe::measure).map_err(&mut *failed).ok();
        Self {
            multiply_adds_per_second: rate(&Micro::MULTIPLY_ADDS),
            roots_per_second: rate(&Micro::ROOTS),
            fetched_bytes_per_second: rate(&Micro::FETCHES),
            copied_bytes_per_second: rate(&Micro::COPIES),
        }
    }
}

/// A micro-kernel: one operation, over and over.
#[derive(Debug)]
pub struct Micro {
    sources: &'static [Source],
    name: &'static str,
    /// Columns that an item has under way at once, on CPUs and on others: enough to hide how long an operation takes, few
    /// enough for the registers.
    chains: [usize; 2],
    /// Operations that are written out on GPUs, so that the loop takes no time: few enough for the cache of instructions.
    turns: usize,
    /// What an operation counts for.
    counts: usize,
    work: Work,
}

/// What an item does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Work {
    /// Arithmetic in registers: in a round some operations on each number of its columns.
    Chains,
    /// One fetch of the widest vector for each column.
    Fetch,
    /// One such vector, in as many passes as there are rounds.
    Copy,
}

impl Micro {
    /// Fused multiply-adds.
    pub const MULTIPLY_ADDS: Self = Self::of("multiply_adds", Work::Chains);
    /// Reciprocal square roots.
    pub const ROOTS: Self = Self::of("roots", Work::Chains);
    /// Fetches out of a cache, in bytes.
    pub const FETCHES: Self = Self::of("fetches", Work::Fetch);
    /// Copies, in bytes.
    pub const COPIES: Self = Self::of("copies", Work::Copy);

    const fn of(name: &'static str, work: Work) -> Self {
        Self { sources: &[OPERATIONS], name, chains: [12; 2], turns: 16, counts: 1, work }
    }

    /// The operation of the kernel `pairs` in `sources`, which are built behind `kernels/roofline.cl`: on each number of
    /// some columns, `chains` of them on CPUs. It gives the other's `coordinates` round, which are where they were after so
    /// many turns: then nothing has to be moved. An operation counts for so many `sides`.
    pub const fn pairs(sources: &'static [Source], chains: usize, coordinates: usize, sides: usize) -> Self {
        let (chains, turns) = ([chains, 8], 2 * coordinates);
        Self { sources, name: "pairs", chains, turns, counts: sides, work: Work::Chains }
    }

    fn form(&self, kind: Kind) -> Form {
        let [on_cpus, on_others] = self.chains;
        match kind {
            Kind::Cpu => Form { lanes: 16, chains: on_cpus, turns: 1 },
            Kind::Gpu | Kind::Accelerator => Form { lanes: 1, chains: on_others, turns: self.turns },
        }
    }
}

/// What a micro-kernel looks like to one kind of device.
#[derive(Debug, Clone, Copy)]
struct Form {
    /// Numbers in a column.
    lanes: usize,
    /// Columns of an item.
    chains: usize,
    /// Operations on each number in a round, where they take place in registers.
    turns: usize,
}

impl Form {
    fn build(self, device: &Device, micro: &Micro) -> Result<Program> {
        let Self { lanes, chains, turns } = self;
        let defines =
            [("LANES", lanes), ("CHAINS", chains), ("TURNS", turns), ("FETCHED", FETCHED), ("ROOT", 1)];
        let files = [&[ROOFLINE], micro.sources].concat();
        Program::build_with_root(device, &files, &defines.map(|(name, value)| (name, value.to_string())))
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
    /// Builds `micro` for the device.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn new(device: &Device, micro: &Micro) -> Result<Self> {
        Self::for_kind(device, micro, device.info.kind)
    }

    /// Builds what `micro` is on devices of a kind, which the others take too.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn for_kind(device: &Device, micro: &Micro, kind: Kind) -> Result<Self> {
        let info = &device.info;
        let form @ Form { lanes, chains, turns } = micro.form(kind);
        let kernel = form.build(device, micro)?.kernel(micro.name)?;
        // Numbers that are fetched at once.
        let width = lanes.max(4);
        let group = match (kind, micro.work) {
            (_, Work::Copy) => 256,
            (Kind::Cpu, _) => 1,
            (Kind::Gpu | Kind::Accelerator, _) => 64,
        };
        let group = group.min(info.max_work_group);
        let groups = match (kind, micro.work) {
            (_, Work::Copy) => copied_bytes(device) / (size_of::<f32>() * width * group),
            // Several to a unit, so that one that is held up does not hold up the end.
            (Kind::Cpu, _) => 8 * info.compute_units as usize,
            // Many waves of as many as a unit holds at once.
            (Kind::Gpu | Kind::Accelerator, _) => 128 * info.compute_units as usize,
        };
        let range = Range { offset: 0, count: groups.max(1) * group, group };
        let (per_item, [written, read]) = match micro.work {
            Work::Chains => (turns * chains * lanes * micro.counts, [range.count, 1]),
            Work::Fetch => (chains * width * size_of::<f32>(), [range.count, FETCHED * chains * width]),
            Work::Copy => (2 * width * size_of::<f32>(), [range.count * width; 2]),
        };
        Ok(Self {
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
        })
    }

    /// Times once, for about a hundredth of a second, and says whether more turns are wanted; they never do harm. The first
    /// turns, from a single round on, only find out how many rounds that takes.
    ///
    /// # Errors
    /// If the device fails.
    pub fn turn(&mut self) -> Result<bool> {
        let seconds = self.run(self.rounds)?.max(1e-9);
        // Some compilers finish a kernel only when it first runs, and a short run says more about the clock than about the rate.
        match seconds < 0.5 * TIMING_SECONDS && self.rounds < u32::MAX / 32 {
            true => {
                let factor = (TIMING_SECONDS / seconds).clamp(2.0, 16.0);
                self.rounds = (f64::from(self.rounds) * factor) as u32;
            }
            false => {
                self.timings += 1;
                self.best = self.best.max(self.a_round * f64::from(self.rounds) / seconds);
            }
        }
        Ok(self.timings < TIMINGS)
    }

    /// The best rate so far, in operations or bytes a second; 0 before the first that counts.
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
        core::flush(&self.device.queue).map_err(self.device.fail("measuring the device"))?;
        self.device.wait(&last, "measuring the device")?;
        Ok(timing::span(&first, &last).unwrap_or(clock.elapsed().as_secs_f64()))
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
