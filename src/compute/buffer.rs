//! Typed device memory and read-back.

use std::marker::PhantomData;

use bytemuck::Pod;
use ocl::core::{self, MemFlags};

use super::device::Device;
use super::timing;
use crate::error::Result;

/// `len` values of `T` in the memory of a device.
#[derive(Debug)]
pub struct Buffer<T> {
    device: Device,
    pub(super) mem: core::Mem,
    len: usize,
    _values: PhantomData<T>,
}

impl<T: Pod> Buffer<T> {
    /// Room for `len` values (at least one, since OpenCL knows no empty buffers), not initialised.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        let bytes = len.max(1) * size_of::<T>();
        // SAFETY: no host memory is handed over.
        let mem = unsafe { core::create_buffer(&device.context, MemFlags::READ_WRITE, bytes, None::<&[u8]>) }
            .map_err(device.fail("reserving device memory"))?;
        Ok(Self { device: device.clone(), mem, len, _values: PhantomData })
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn from_slice(device: &Device, values: &[T]) -> Result<Self> {
        let buffer = Self::new(device, values.len())?;
        if !values.is_empty() {
            // SAFETY: a blocking write of as many bytes as the buffer has.
            unsafe {
                core::enqueue_write_buffer(
                    &device.queue,
                    &buffer.mem,
                    true,
                    0,
                    bytemuck::cast_slice::<T, u8>(values),
                    None::<core::Event>,
                    None::<&mut core::Event>,
                )
            }
            .map_err(device.fail("writing device memory"))?;
        }
        Ok(buffer)
    }

    /// Waits for the queue and copies the values out.
    ///
    /// # Errors
    /// If the device fails.
    pub fn read(&self) -> Result<Vec<T>> {
        let mut values = vec![T::zeroed(); self.len];
        self.read_into(&mut values)?.wait()?;
        Ok(values)
    }

    /// Queues a copy into `values`, which are whole once the answer was waited for. As many values are
    /// copied as fit.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn read_into<'p>(&self, values: &'p mut [T]) -> Result<Pending<'p>> {
        let len = values.len().min(self.len);
        let mut pending = Pending { device: self.device.clone(), reads: Vec::new(), _memory: PhantomData };
        if len > 0 {
            let mut event = core::Event::null();
            // SAFETY: `values` stays borrowed by the answer, which waits for the copy before it lets go; and
            // the copy is no longer than either side.
            unsafe {
                core::enqueue_read_buffer(
                    &self.device.queue,
                    &self.mem,
                    false,
                    0,
                    bytemuck::cast_slice_mut::<T, u8>(&mut values[..len]),
                    None::<core::Event>,
                    Some(&mut event),
                )
            }
            .map_err(self.device.fail("reading device memory"))?;
            pending.reads.push(event);
        }
        Ok(pending)
    }
}

/// Read-backs under way into borrowed memory. Dropping waits too; it must not be forgotten.
#[derive(Debug)]
#[must_use = "the memory is not whole before the wait"]
pub struct Pending<'p> {
    device: Device,
    reads: Vec<core::Event>,
    _memory: PhantomData<&'p mut [u8]>,
}

impl<'p> Pending<'p> {
    /// Both read-backs as one.
    pub fn and(mut self, mut other: Pending<'p>) -> Self {
        self.reads.append(&mut other.reads);
        self
    }

    /// Waits until the memory is whole; the time that the copies took, in seconds, where the device tells.
    ///
    /// # Errors
    /// If the device fails.
    pub fn wait(mut self) -> Result<Option<f64>> {
        let reads = std::mem::take(&mut self.reads);
        for event in &reads {
            core::wait_for_event(event).map_err(self.device.fail("reading device memory"))?;
        }
        let (Some(first), Some(last)) = (reads.first(), reads.last()) else { return Ok(Some(0.0)) };
        Ok(timing::span(first, last))
    }
}

impl Drop for Pending<'_> {
    fn drop(&mut self) {
        for event in &self.reads {
            // An error here is met again by whoever uses the device next.
            let _ = core::wait_for_event(event);
        }
    }
}
