//! Energy and momentum of bodies on the device: a kernel `potential` over all pairs, then a kernel `measure`
//! that adds up rows of sums, in f64 where the device has it, else in compensated f32.

use super::{Diagnostics, sources};
use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Program, Source};
use crate::error::Result;

const REDUCE: Source = Source { file: "reduce.cl", text: include_str!("../../kernels/reduce.cl") };

/// `REDUCE_GROUP` of `kernels/reduce.cl`.
const GROUP: usize = Pass::CHEAP_GROUP;
/// Work-groups of `measure`, and so rows: enough to fill a device, few enough to add up here.
const ROWS: usize = 256;
/// Sums in a row.
const SUMS: usize = 10;

/// The reduction kernels with their scratch memory.
pub(super) struct Reduction {
    lane: Lane,
    potential: Kernel,
    measure: Kernel,
    count: usize,
    /// Eight bytes a number: a double, or the two floats that stand in for it.
    phi: Buffer<[f32; 2]>,
    rows: Buffer<[f32; 2]>,
    fp64: bool,
}

impl Reduction {
    /// For `count` bodies; `files` hold the two kernels.
    pub fn new(device: &Device, files: &[Source], defines: &[(&str, String)], count: usize) -> Result<Self> {
        let fp64 = device.info.fp64;
        let mut defines = defines.to_vec();
        if fp64 {
            defines.push(("FP64", "1".to_owned()));
        }
        let program = Program::build(device, &sources(&[&[REDUCE], files].concat()), &defines)?;
        Ok(Self {
            lane: Lane::new(device),
            potential: program.kernel("potential")?,
            measure: program.kernel("measure")?,
            count,
            phi: Buffer::new(device, count)?,
            rows: Buffer::new(device, ROWS * SUMS)?,
            fp64,
        })
    }

    /// Measures the bodies at `[positions, velocities]`. Waits.
    pub fn run(&mut self, [x, v]: [&Buffer<[f32; 4]>; 2], eps2: f32, g: f32) -> Result<Diagnostics> {
        let n = Arg::Uint(self.count as u32);
        let (x, v, phi) = (Arg::from(x), Arg::from(v), Arg::from(&self.phi));
        let args = &[n, Arg::Float(eps2), x, phi];
        let cost = self.count as f64;
        let pairs = Pass { kernel: &self.potential, args, items: self.count, group: GROUP, cost };
        self.lane.whole(pairs)?;
        let args = &[n, x, v, phi, Arg::from(&self.rows)];
        self.lane.whole(Pass::cheap(&self.measure, args, ROWS * GROUP))?;
        self.lane.finish()?;
        Ok(self.collect(&self.rows.read()?, f64::from(g)))
    }

    /// Adds up the rows.
    fn collect(&self, rows: &[[f32; 2]], g: f64) -> Diagnostics {
        let number = |[a, b]: [f32; 2]| match self.fp64 {
            true => f64::from_bits(u64::from(b.to_bits()) << 32 | u64::from(a.to_bits())),
            false => f64::from(a) + f64::from(b),
        };
        let sum = |k: usize| rows.iter().skip(k).step_by(SUMS).map(|&x| number(x)).sum::<f64>();
        Diagnostics {
            kinetic: sum(0),
            potential: -g * sum(1),
            momentum: [sum(2), sum(3), sum(4)],
            momentum_scale: sum(5),
            angular_momentum: [sum(6), sum(7), sum(8)],
            nonfinite: sum(9) as usize,
        }
    }
}
