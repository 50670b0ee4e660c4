//! What is drawn, kept on the device as it was, so that the steps go on while it is copied.

use crate::bodies::{Points, Shape};
use crate::compute::{Buffer, Device, Pending};
use crate::error::Result;

/// What the kernel `pack` of a mode writes, and nothing else.
pub(super) struct Snapshot {
    pub positions: Buffer<[f32; 4]>,
    pub values: Buffer<f32>,
}

impl Snapshot {
    /// Device memory that one body takes, in bytes.
    pub const BYTES_PER_BODY: usize = size_of::<[f32; 4]>() + size_of::<f32>();

    pub fn new(device: &Device, bodies: usize) -> Result<Self> {
        Ok(Self { positions: Buffer::new(device, bodies)?, values: Buffer::new(device, bodies)? })
    }

    /// Queues the copy of bodies that look like `shape` into the memory of `points`.
    pub fn read(&self, points: Points, shape: Shape) -> Result<Pending<Points>> {
        let Points { positions, values, .. } = points;
        let pending = self.positions.read_into(positions)?.and(self.values.read_into(values)?);
        Ok(pending.map(move |(positions, values)| Points { positions, values, shape, ..Points::default() }))
    }
}
