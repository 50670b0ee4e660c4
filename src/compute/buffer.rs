//! Buffers in device memory that hold values of one type.

use std::marker::PhantomData;
use std::mem;
use std::ops::DerefMut;

use bytemuck::Pod;
use ocl::core::{self, MemFlags};

use super::device::Device;
use super::events::{NO_EVENT, NO_WAIT};
use super::fault::Call;
use super::pending::Pending;
use super::pinned;
use crate::base::{Memory, Result, invalid};

/// Maximum size of each part of an upload to a device, in bytes.
const UPLOAD_BYTES: usize = 1 << 24;

/// A fixed number of values of type `T` in the memory of a device.
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
            // Leaks the buffer, because releasing a buffer may wait for the device.
            mem::forget(self.mem.clone());
        }
    }
}

impl<T: Pod + Send> Buffer<T> {
    /// Allocates `len` uninitialised values. Allocates one value if `len` is 0, because OpenCL has no empty buffers.
    pub fn new(device: &Device, len: usize) -> Result<Self> {
        let bytes = len.max(1) * size_of::<T>();
        let mem = device.allocate(MemFlags::READ_WRITE, bytes, "reserving device memory")?;
        Ok(Self { device: device.clone(), mem, len, _values: PhantomData })
    }

    /// Allocates `len` values whose bytes are all zero.
    pub fn zeroed(device: &Device, len: usize) -> Result<Self> {
        let buffer = Self::new(device, len)?;
        buffer.clear()?;
        Ok(buffer)
    }

    /// Queues a command that sets all bytes of the buffer to zero.
    pub fn clear(&self) -> Result<()> {
        const DOING: &str = "clearing device memory";
        self.device.check(Call::Write, DOING)?;
        let bytes = self.len.max(1) * size_of::<T>();
        core::enqueue_fill_buffer(&self.device.queue, &self.mem, 0u8, 0, bytes, NO_WAIT, NO_EVENT, None)
            .map_err(self.device.fail(DOING))
    }

    /// Allocates a buffer and copies `values` into it.
    pub fn from_slice(device: &Device, values: &[T]) -> Result<Self> {
        let buffer = Self::new(device, values.len())?;
        let mut staging = Vec::new();
        for (nth, part) in bytemuck::cast_slice(values).chunks(UPLOAD_BYTES).enumerate() {
            staging.clear();
            staging.extend_from_slice(part);
            staging = buffer.upload(nth * UPLOAD_BYTES, staging)?.wait()?.0;
        }
        Ok(buffer)
    }

    /// Submits a copy of `bytes` into the buffer, starting at byte `offset`. Takes ownership of `bytes`, because a hung
    /// device may read them later.
    fn upload(&self, offset: usize, bytes: Vec<u8>) -> Result<Pending<Vec<u8>>> {
        const DOING: &str = "writing to device memory";
        self.device.check(Call::Write, DOING)?;
        let (queue, mut event) = (&self.device.queue, core::Event::null());
        // SAFETY: OpenCL checks that the range is within the buffer; the pending copy keeps `bytes`, whose contents
        // stay in place, until the write has ended.
        unsafe {
            core::enqueue_write_buffer(queue, &self.mem, false, offset, &bytes, NO_WAIT, Some(&mut event))
        }
        .map_err(self.device.fail(DOING))?;
        let pending = Pending::new(&self.device, vec![event], bytes);
        core::flush(queue).map_err(self.device.fail(DOING))?;
        Ok(pending)
    }

    /// Returns the number of values in the buffer.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns whether the buffer has no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Waits for all queued work, then copies all values to the host.
    pub fn read(&self) -> Result<Vec<T>> {
        // SAFETY: the contents of a `Vec` stay in place when the `Vec` moves.
        let pending = unsafe { self.copy_into(0, vec![T::zeroed(); self.len]) }?;
        Ok(pending.wait()?.0)
    }

    /// Waits for all queued work, then copies the value at `index` to the host.
    ///
    /// # Errors
    /// Returns an error if `index` is out of range.
    pub fn read_at(&self, index: usize) -> Result<T> {
        Ok(self.read_range(index, 1)?[0])
    }

    /// Waits for all queued work, then copies `len` values to the host, starting at `index`.
    ///
    /// # Errors
    /// Returns an error if the range is not within the buffer.
    pub fn read_range(&self, index: usize, len: usize) -> Result<Vec<T>> {
        if index.checked_add(len).is_none_or(|end| end > self.len) {
            let all = self.len;
            return Err(invalid!("{len} values from {index} on are out of range: there are {all} values"));
        }
        // SAFETY: the contents of a `Vec` stay in place when the `Vec` moves.
        let pending = unsafe { self.copy_into(index, vec![T::zeroed(); len]) }?;
        Ok(pending.wait()?.0)
    }

    /// Queues a copy of all values to the host, to run after all work queued so far. Copies into `memory` if its length
    /// matches; otherwise allocates new memory, pinned if possible.
    ///
    /// Work queued later may run during the copy, and must not write to this buffer before the copy has ended.
    pub fn read_into(&self, memory: Memory<T>) -> Result<Pending<Memory<T>>>
    where
        T: Sync,
    {
        let fits = memory.len() == self.len;
        let memory = if fits { memory } else { pinned::memory(&self.device, self.len) };
        // SAFETY: the values of a `Memory` stay in place when the `Memory` moves.
        unsafe { self.copy_into(0, memory) }
    }

    /// Queues a copy to the host that fills `memory` with the buffer's values from `index` on.
    ///
    /// # Safety
    /// The slice that `memory` dereferences to must stay in place when `memory` moves.
    unsafe fn copy_into<M>(&self, index: usize, mut memory: M) -> Result<Pending<M>>
    where
        M: DerefMut<Target = [T]> + Send + 'static,
    {
        const DOING: &str = "reading from device memory";
        if memory.is_empty() {
            return Ok(Pending::new(&self.device, Vec::new(), memory));
        }
        self.device.check(Call::Read, DOING)?;
        let (queue, ready, mut event) = (&self.device.copies, self.device.submit()?, core::Event::null());
        let (offset, to) = (index * size_of::<T>(), bytemuck::cast_slice_mut::<T, u8>(&mut memory));
        // SAFETY: OpenCL checks that the range is within the buffer; the pending copy keeps `memory`, whose slice stays
        // in place by the contract above, until the read has ended.
        unsafe {
            core::enqueue_read_buffer(queue, &self.mem, false, offset, to, Some(&ready), Some(&mut event))
        }
        .map_err(self.device.fail(DOING))?;
        let pending = Pending::new(&self.device, vec![event], memory);
        core::flush(queue).map_err(self.device.fail(DOING))?;
        Ok(pending)
    }
}
