//! Copies the data to draw within device memory, so that steps can continue during the transfer to the host.

use crate::base::{Points, Result, Shape};
use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Pending};

/// The `pack` kernel, which computes the points to draw, and its output buffers.
pub(super) struct PackedPoints {
    kernel: Kernel,
    positions: Buffer<[f32; 4]>,
    values: Buffer<f32>,
}

impl PackedPoints {
    /// Size of the output buffers in device memory, in bytes per body.
    pub(super) const BYTES_PER_BODY: usize = size_of::<[f32; 4]>() + size_of::<f32>();

    pub(super) fn new(device: &Device, kernel: Kernel, bodies: usize) -> Result<Self> {
        Ok(Self { kernel, positions: Buffer::new(device, bodies)?, values: Buffer::new(device, bodies)? })
    }

    /// Queues the `pack` kernel with `args`, then a copy of its output to `points`, to be drawn as `shape`.
    pub(super) fn publish(
        &self,
        lane: &mut Lane,
        args: &[Arg],
        points: Points,
        shape: Shape,
    ) -> Result<Pending<Points>> {
        let args = [args, &[(&self.positions).into(), (&self.values).into()]].concat();
        lane.whole(Pass::cheap(&self.kernel, &args, self.values.len()))?;
        lane.flush()?;
        let Points { positions, values, .. } = points;
        let pending = self.positions.read_into(positions)?.and(self.values.read_into(values)?);
        Ok(pending.map(move |(positions, values)| Points { positions, values, shape, ..Points::default() }))
    }
}
