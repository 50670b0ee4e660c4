//! Typed device memory and read-back.

use std::marker::PhantomData;
use std::ops::DerefMut;

use bytemuck::Pod;
use ocl::core::{self, MemFlags};

use super::device::Device;
use super::fault::Call;
use super::{pinned, timing};
use crate::error::Result;
use crate::memory::Memory;

/// `len` values of `T` in the memory of a device.
#[derive(Debug)]
pub struct Buffer<T> {
    device: Device,
    pub(super) mem: core::Mem,
    len: usize,
    _values: PhantomData<T>,
}

impl<T> Drop for Buffer<T> {
    fn drop(&mut self) {
        if self.device.is_lost() {
            // Given back, it could be waited for.
            std::mem::forget(self.mem.clone());
        }
    }
}

impl<T: Pod> Buffer<T> {
    /// Room for `len` values (at least one, since OpenCL knows no empty buffers), not initialised.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        const DOING: &str = "reserving device memory";
        device.may(Call::Allocate, DOING)?;
        let bytes = len.max(1) * size_of::<T>();
        // SAFETY: no host memory is handed over.
        let mem = unsafe { core::create_buffer(&device.context, MemFlags::READ_WRITE, bytes, None::<&[u8]>) }
            .map_err(device.fail(DOING))?;
        Ok(Self { device: device.clone(), mem, len, _values: PhantomData })
    }

    /// Room for `len` values of which every byte is zero.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn zeroed(device: &Device, len: usize) -> Result<Self> {
        let buffer = Self::new(device, len)?;
        buffer.clear()?;
        Ok(buffer)
    }

    /// Queues the clearing of every byte.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn clear(&self) -> Result<()> {
        const DOING: &str = "clearing device memory";
        self.device.may(Call::Write, DOING)?;
        core::enqueue_fill_buffer(
            &self.device.queue,
            &self.mem,
            0u8,
            0,
            self.len.max(1) * size_of::<T>(),
            None::<core::Event>,
            None::<&mut core::Event>,
            None,
        )
        .map_err(self.device.fail(DOING))
    }

    /// A copy of `values`.
    ///
    /// # Errors
    /// If the device has no room.
    pub fn from_slice(device: &Device, values: &[T]) -> Result<Self> {
        let buffer = Self::new(device, values.len())?;
        if !values.is_empty() {
            const DOING: &str = "writing device memory";
            device.may(Call::Write, DOING)?;
            let mut written = core::Event::null();
            // SAFETY: a write of as many bytes as the buffer has, out of memory that stays until it has ended; of a device
            // that never ends it, below.
            unsafe {
                core::enqueue_write_buffer(
                    &device.queue,
                    &buffer.mem,
                    false,
                    0,
                    bytemuck::cast_slice::<T, u8>(values),
                    None::<core::Event>,
                    Some(&mut written),
                )
            }
            .and_then(|()| core::flush(&device.queue))
            .map_err(device.fail(DOING))?;
            device.wait(&written, DOING)?;
        }
        Ok(buffer)
    }

    /// How many values there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Waits for the queue and copies the values out.
    ///
    /// # Errors
    /// If the device fails.
    pub fn read(&self) -> Result<Vec<T>> {
        Ok(self.copy_into(0, vec![T::zeroed(); self.len])?.wait()?.0)
    }

    /// Waits for the queue and copies one value out.
    ///
    /// # Errors
    /// If there is none at `place`, or the device fails.
    pub fn read_at(&self, place: usize) -> Result<T> {
        if place >= self.len {
            return Err(crate::error::Error::Invalid(format!("there is no value {place} of {}", self.len)));
        }
        Ok(self.copy_into(place, vec![T::zeroed()])?.wait()?.0[0])
    }

    /// Queues a copy of the values, as all work queued before leaves them, into `memory` or, if that has another
    /// length, into new memory, pinned where the driver can; it comes back once the answer was waited for. Work that
    /// is queued later runs beside the copy: until the answer was waited for, none of it may write to this buffer.
    ///
    /// # Errors
    /// If the device refuses.
    pub fn read_into(&self, memory: Memory<T>) -> Result<Pending<Memory<T>>>
    where
        T: Send + Sync,
    {
        let fits = memory.len() == self.len;
        self.copy_into(0, if fits { memory } else { pinned::memory(&self.device, self.len) })
    }

    /// The values from `place` on, as many as `memory` has and no more than there are; they stay where they are when it is
    /// moved.
    fn copy_into<M: DerefMut<Target = [T]>>(&self, place: usize, mut memory: M) -> Result<Pending<M>> {
        let mut reads = Vec::new();
        if !memory.is_empty() {
            self.device.may(Call::Read, "reading device memory")?;
            let ready = self.device.mark()?;
            let mut event = core::Event::null();
            // SAFETY: the copy is within the buffer and as long as `memory`, which the answer owns and gives back only after the copy has
            // ended; forgotten, it is leaked with it.
            unsafe {
                core::enqueue_read_buffer(
                    &self.device.copies,
                    &self.mem,
                    false,
                    place * size_of::<T>(),
                    bytemuck::cast_slice_mut::<T, u8>(&mut memory),
                    Some(&ready),
                    Some(&mut event),
                )
            }
            .map_err(self.device.fail("reading device memory"))?;
            reads.push(event);
            core::flush(&self.device.copies).map_err(self.device.fail("handing over a copy"))?;
        }
        Ok(Pending { device: self.device.clone(), reads, memory: Some(memory) })
    }
}

/// Memory that read-backs are under way into.
#[derive(Debug)]
#[must_use = "the memory comes back from the wait"]
pub struct Pending<M> {
    device: Device,
    reads: Vec<core::Event>,
    memory: Option<M>,
}

impl<M> Pending<M> {
    /// Both read-backs as one.
    pub fn and<N>(mut self, mut other: Pending<N>) -> Pending<(M, N)> {
        let reads = [std::mem::take(&mut self.reads), std::mem::take(&mut other.reads)].concat();
        Pending { device: self.device.clone(), reads, memory: self.memory.take().zip(other.memory.take()) }
    }

    /// The same memory in another shape. `shape` only moves it: it is not whole yet.
    pub fn map<N>(mut self, shape: impl FnOnce(M) -> N) -> Pending<N> {
        let reads = std::mem::take(&mut self.reads);
        Pending { device: self.device.clone(), reads, memory: self.memory.take().map(shape) }
    }

    /// Waits until the memory is whole, and gives it back with the time that the copies took, in seconds, where the
    /// device tells.
    ///
    /// # Errors
    /// If the device fails.
    pub fn wait(mut self) -> Result<(M, Option<f64>)> {
        let reads = std::mem::take(&mut self.reads);
        // All are waited for before any failure is told: none may still be writing then.
        let wait = |event| self.device.wait(event, "reading device memory").err();
        let failures: Vec<_> = reads.iter().filter_map(wait).collect();
        if let Some(error) = failures.into_iter().next() {
            self.leak_if_lost();
            return Err(error);
        }
        let seconds = match (reads.first(), reads.last()) {
            (Some(first), Some(last)) => timing::span(first, last),
            _ => Some(0.0),
        };
        match self.memory.take() {
            Some(memory) => Ok((memory, seconds)),
            None => unreachable!("what takes the memory consumes the answer"),
        }
    }
}

impl<M> Pending<M> {
    /// A device that does not answer may still write.
    fn leak_if_lost(&mut self) {
        if self.device.is_lost() {
            std::mem::forget(self.memory.take());
        }
    }
}

impl<M> Drop for Pending<M> {
    fn drop(&mut self) {
        for event in &self.reads {
            // An error here is met again by whoever uses the device next.
            let _ = self.device.wait(event, "reading device memory");
        }
        if !self.reads.is_empty() {
            self.leak_if_lost();
        }
    }
}
