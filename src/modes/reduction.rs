//! Sums over bodies on the device, in f64 if the device supports f64, otherwise in compensated f32.

use super::Diagnostics;
use super::kernels::{Define, flags, source, sources};
use crate::base::Result;
use crate::compute::{Arg, Buffer, Device, Kernel, KernelSource, Lane, Pass, Program};

/// OpenCL functions that sum over bodies in more than single precision.
pub(super) const REDUCE: KernelSource = source!("reduce.cl");

/// Number of work-items in a work-group of a kernel that uses [`REDUCE`].
pub(super) const GROUP: usize = Pass::CHEAP_GROUP;
/// Number of work-groups of the `measure` kernel. Each work-group writes one row of sums. There are enough work-groups
/// to fill a device, and few enough for the host to add up the rows.
const ROWS: usize = 256;
/// Number of sums that each work-group writes, in the order listed in `kernels/reduce.cl`.
const SUMS: usize = 13;

/// The `measure` kernel, which sums over all bodies or cells, with its scratch memory.
pub(super) struct Reduction {
    /// Command queue for the `measure` kernel and for kernels that prepare its input.
    pub lane: Lane,
    /// The program that contains `measure` and the other kernels of its source files.
    pub program: Program,
    measure: Kernel,
    /// Rows of partial sums, one row per work-group. Each sum takes eight bytes: a double, or a pair of floats.
    rows: Buffer<[f32; 2]>,
    maxima: Buffer<[f32; 2]>,
}

/// Sums and maxima over all bodies or cells, as computed by the `measure` kernel.
pub(super) struct Sums {
    /// Conserved quantities without the potential energy. The field `potential` holds the potential energy because its
    /// unit depends on the mode.
    pub diagnostics: Diagnostics,
    pub potential: f64,
    /// Additional sums, whose meaning depends on the mode.
    pub extra: [f64; 3],
    pub maxima: [f64; 2],
}

/// Returns the macros that [`REDUCE`] needs on `device` for kernels that write rows of `sums` sums.
pub(super) fn reduce_defines(device: &Device, sums: usize) -> Vec<Define> {
    let fp64 = flags(&[("FP64", device.info.fp64)]);
    [vec![("REDUCE_GROUP", GROUP.to_string()), ("SUMS", sums.to_string())], fp64].concat()
}

impl Reduction {
    /// Builds the `measure` kernel from the source `files` and the macros `defines`.
    pub(super) fn new(device: &Device, files: &[KernelSource], defines: &[Define]) -> Result<Self> {
        let defines = [defines, &reduce_defines(device, SUMS)].concat();
        let program = Program::build(device, &sources(&[&[REDUCE], files].concat()), &defines)?;
        Ok(Self {
            lane: Lane::new(device),
            measure: program.kernel("measure")?,
            program,
            rows: Buffer::new(device, ROWS * SUMS)?,
            maxima: Buffer::new(device, ROWS)?,
        })
    }

    /// Runs the `measure` kernel with `args`, and waits for its results.
    pub(super) fn run(&mut self, args: &[Arg]) -> Result<Sums> {
        let args = [args, &[(&self.rows).into(), (&self.maxima).into()]].concat();
        self.lane.whole(Pass::cheap(&self.measure, &args, ROWS * GROUP))?;
        self.lane.finish()?;
        let (rows, maxima) = (self.rows.read()?, self.maxima.read()?);
        let fp64 = self.lane.device().info.fp64;
        let number = |[a, b]: [f32; 2]| match fp64 {
            true => f64::from_bits(u64::from(b.to_bits()) << 32 | u64::from(a.to_bits())),
            false => f64::from(a) + f64::from(b),
        };
        let sum = |k: usize| rows.iter().skip(k).step_by(SUMS).map(|&x| number(x)).sum::<f64>();
        let most = |k: usize| maxima.iter().map(|row| f64::from(row[k])).fold(0.0, f64::max);
        let diagnostics = Diagnostics {
            kinetic: sum(0),
            momentum: [sum(2), sum(3), sum(4)],
            momentum_scale: sum(5),
            angular_momentum: [sum(6), sum(7), sum(8)],
            nonfinite: sum(9) as usize,
            ..Diagnostics::default()
        };
        Ok(Sums {
            diagnostics,
            potential: sum(1),
            extra: [sum(10), sum(11), sum(12)],
            maxima: [most(0), most(1)],
        })
    }
}
