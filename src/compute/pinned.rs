//! Host memory that stays where it is, so that a device copies into it by itself.

use std::ops::{Deref, DerefMut};
use std::slice;

use bytemuck::Pod;
use ocl::core::{self, MapFlags, MemFlags, MemMap};

use super::device::Device;
use super::fault::Call;
use crate::error::Result;
use crate::memory::Memory;

/// `len` values, zero at first, in memory that the driver pins where it can, or else in ordinary memory.
pub(super) fn memory<T: Pod + Send + Sync>(device: &Device, len: usize) -> Memory<T> {
    match Pinned::new(device, len) {
        Ok(pinned) => Memory::new(pinned),
        Err(error) => {
            tracing::debug!("frames are read into ordinary memory: {error}");
            vec![T::zeroed(); len].into()
        }
    }
}

/// A buffer of the driver's in host memory, mapped for as long as it lives: by that name OpenCL has pinned memory.
struct Pinned<T> {
    device: Device,
    mem: core::Mem,
    map: MemMap<u8>,
    values: *mut T,
    len: usize,
}

// SAFETY: plain memory that nobody else points into; OpenCL objects may be used and released from any thread.
unsafe impl<T: Send> Send for Pinned<T> {}
// SAFETY: as above, and a shared reference only reads.
unsafe impl<T: Sync> Sync for Pinned<T> {}

impl<T: Pod> Pinned<T> {
    fn new(device: &Device, len: usize) -> Result<Self> {
        device.may(Call::Allocate, "reserving host memory")?;
        let bytes = len.max(1) * size_of::<T>();
        let flags = MemFlags::READ_WRITE | MemFlags::ALLOC_HOST_PTR;
        // SAFETY: no host memory is handed over.
        let mem = unsafe { core::create_buffer(&device.context, flags, bytes, None::<&[u8]>) }
            .map_err(device.fail("reserving host memory"))?;
        // SAFETY: all of the buffer, and the call returns when it is mapped; no command uses the buffer while it is,
        // which is until it is dropped.
        let mut map = unsafe {
            core::enqueue_map_buffer::<u8, _, _, _>(
                &device.copies,
                &mem,
                true,
                MapFlags::READ | MapFlags::WRITE,
                0,
                bytes,
                None::<core::Event>,
                None::<&mut core::Event>,
            )
        }
        .map_err(device.fail("mapping host memory"))?;
        // OpenCL aligns buffers to its largest type, which is larger than any of ours.
        let values: *mut T = map.as_mut_ptr().cast();
        debug_assert!(values.is_aligned());
        // SAFETY: `bytes` bytes are mapped here for writing. Zero is a value of every `Pod` type.
        unsafe { map.as_mut_ptr().write_bytes(0, bytes) };
        Ok(Self { device: device.clone(), mem, map, values, len })
    }
}

impl<T> Deref for Pinned<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        // SAFETY: `len` values are mapped here as long as `self` lives, and were written before.
        unsafe { slice::from_raw_parts(self.values, self.len) }
    }
}

impl<T> DerefMut for Pinned<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and nobody else points there.
        unsafe { slice::from_raw_parts_mut(self.values, self.len) }
    }
}

impl<T> Drop for Pinned<T> {
    fn drop(&mut self) {
        if self.device.is_lost() {
            std::mem::forget(self.mem.clone());
            return;
        }
        // The driver keeps the memory until this has run, so it must not stay at the host. It can only fail where the device
        // is lost, and all with it.
        let _ = core::enqueue_unmap_mem_object(
            &self.device.copies,
            &self.mem,
            &self.map,
            None::<core::Event>,
            None::<&mut core::Event>,
        );
        let _ = core::flush(&self.device.copies);
    }
}
