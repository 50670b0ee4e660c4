//! Pinned host memory, which a device can read and write without help from the CPU.

use std::ops::{Deref, DerefMut};
use std::slice;

use bytemuck::Pod;
use ocl::core::{self, MapFlags, MemFlags, MemMap};

use super::device::Device;
use super::events::{NO_EVENT, NO_WAIT};
use crate::base::{Memory, Result};

/// Allocates `len` zeros in pinned memory, or in ordinary memory if the driver cannot provide pinned memory.
pub(super) fn memory<T: Pod + Send + Sync>(device: &Device, len: usize) -> Memory<T> {
    match Pinned::new(device, len) {
        // SAFETY: the mapped values stay in place until `Pinned` is dropped, and nothing else uses them.
        Ok(pinned) => unsafe { Memory::new(pinned) },
        Err(error) => {
            tracing::debug!("frames use ordinary memory, because pinned memory is not available: {error}");
            vec![T::zeroed(); len].into()
        }
    }
}

/// Pinned host memory. OpenCL provides it only as a buffer that the driver allocates in host memory and keeps mapped.
struct Pinned<T> {
    device: Device,
    mem: core::Mem,
    map: MemMap<u8>,
    values: *mut T,
    len: usize,
}

// SAFETY: `values` points to plain memory used only through `Pinned`; OpenCL objects may be used from any thread.
unsafe impl<T: Send> Send for Pinned<T> {}
// SAFETY: a shared reference gives only shared access to the values.
unsafe impl<T: Sync> Sync for Pinned<T> {}

impl<T: Pod> Pinned<T> {
    fn new(device: &Device, len: usize) -> Result<Self> {
        const DOING: &str = "reserving pinned host memory";
        let bytes = len.max(1) * size_of::<T>();
        let flags = MemFlags::READ_WRITE | MemFlags::ALLOC_HOST_PTR;
        let mem = device.allocate(flags, bytes, DOING)?;
        // SAFETY: the range is the whole buffer, which the call maps before it returns. No command uses mapped buffers.
        let mut map: MemMap<u8> = unsafe {
            let access = MapFlags::READ | MapFlags::WRITE;
            core::enqueue_map_buffer(&device.copies, &mem, true, access, 0, bytes, NO_WAIT, NO_EVENT)
        }
        .map_err(device.fail(DOING))?;
        let values: *mut T = map.as_mut_ptr().cast();
        // OpenCL aligns buffers for `double16` (128 bytes).
        assert!(values.is_aligned(), "OpenCL aligns buffers for its largest type");
        // SAFETY: `bytes` bytes are mapped for writing.
        unsafe { map.as_mut_ptr().write_bytes(0, bytes) };
        Ok(Self { device: device.clone(), mem, map, values, len })
    }
}

impl<T> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` values are mapped until `self` is dropped; they were initialised with zeros.
        unsafe { slice::from_raw_parts(self.values, self.len) }
    }
}

impl<T> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as in `deref`, and `&mut self` excludes other references.
        unsafe { slice::from_raw_parts_mut(self.values, self.len) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        if self.device.is_lost() {
            // Leaks the buffer, because unmapping waits for the device.
            std::mem::forget(self.mem.clone());
            return;
        }
        // The driver frees the memory after the unmap, which is submitted at once and fails only on a lost device.
        let queue = &self.device.copies;
        let _ = core::enqueue_unmap_mem_object(queue, &self.mem, &self.map, NO_WAIT, NO_EVENT);
        let _ = core::flush(queue);
    }
}
