//! A copy of what is drawn, in device memory, so that steps can continue during the transfer to the host.

use crate::base::bodies::{Points, Shape};
use crate::base::error::Result;
use crate::compute::{Buffer, Device, Pending};

/// Output of a mode's kernel `pack`.
pub(super) struct PackedPoints {
    pub positions: Buffer<[f32; 4]>,
    pub values: Buffer<f32>,
}

impl PackedPoints {
    /// Device memory that one body takes, in bytes.
    pub(super) const BYTES_PER_BODY: usize = size_of::<[f32; 4]>() + size_of::<f32>();

    pub(super) fn new(device: &Device, bodies: usize) -> Result<Self> {
        Ok(Self { positions: Buffer::new(device, bodies)?, values: Buffer::new(device, bodies)? })
    }

    /// Queues the copy of bodies that look like `shape` into the memory of `points`.
    pub(super) fn read(&self, points: Points, shape: Shape) -> Result<Pending<Points>> {
        let Points { positions, values, .. } = points;
        let pending = self.positions.read_into(positions)?.and(self.values.read_into(values)?);
        Ok(pending.map(move |(positions, values)| Points { positions, values, shape, ..Points::default() }))
    }
}
