//! Exchanges between devices, through staging memory on the host that is pinned if possible.
//!
//! An exchange queues the reads of all devices, waits for all reads, and queues the writes. Later kernels of a device run
//! after its writes, because its queue is in order.

use std::mem;
use std::ops::Range;
use std::slice;

use ocl::core;

use super::buffer::Buffer;
use super::device::Device;
use super::fault::Call;
use super::pinned;
use crate::base::error::Result;
use crate::base::memory::Memory;

/// A range of a buffer, and its place in the staging memory. Lengths and offsets are in bytes.
#[derive(Debug, Clone, Copy)]
struct BufferRange<'a> {
    mem: &'a core::Mem,
    /// Offset of the first run in the buffer.
    offset: usize,
    /// Length of each contiguous run, in bytes.
    bytes: usize,
    /// Number of runs, which are contiguous in the staging memory.
    runs: usize,
    /// Distance between the starts of two runs in the buffer.
    pitch: usize,
    /// Offset in the staging memory.
    host: usize,
}

impl BufferRange<'_> {
    fn len(&self) -> usize {
        self.bytes * self.runs
    }
}

/// Rows of a buffer, one for each body or each row of a grid, contiguous within a plane. A buffer may have several planes.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    mem: &'a core::Mem,
    /// Bytes of a row in one plane.
    bytes: usize,
    planes: usize,
    /// Bytes from plane to plane.
    pitch: usize,
}

impl<'a> Rows<'a> {
    /// Describes a buffer with rows of `each` values per plane, in `planes` planes that start `pitch` values apart.
    pub fn new<T>(buffer: &'a Buffer<T>, each: usize, planes: usize, pitch: usize) -> Self {
        let size = size_of::<T>();
        Self { mem: &buffer.mem, bytes: each * size, planes, pitch: pitch * size }
    }

    /// Returns the bytes that `count` rows take in the staging memory.
    fn bytes(&self, count: usize) -> usize {
        self.bytes * self.planes * count
    }

    fn range(&self, rows: Range<usize>, host: usize) -> BufferRange<'a> {
        let Self { mem, bytes, planes, pitch } = *self;
        BufferRange { mem, offset: rows.start * bytes, bytes: rows.len() * bytes, runs: planes, pitch, host }
    }
}

/// The copies of one exchange between devices, which are named by their index.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// Copies of each device; none if the device does not take part.
    transfers: Vec<Option<Transfers<'a>>>,
    /// Bytes of staging memory in use.
    len: usize,
}

/// The copies of one device in an exchange.
#[derive(Debug, Default)]
struct Transfers<'a> {
    reads: Vec<BufferRange<'a>>,
    writes: Vec<BufferRange<'a>>,
}

/// Place of rows in the staging memory.
#[derive(Debug, Clone, Copy)]
pub struct Slot(usize);

impl<'a> Exchange<'a> {
    /// Returns an empty exchange among `devices` devices that waits for those of `participants`.
    pub fn new(devices: usize, participants: &[usize]) -> Self {
        let transfers = |device: usize| participants.contains(&device).then(Transfers::default);
        Self { transfers: (0..devices).map(transfers).collect(), len: 0 }
    }

    /// Adds a copy of rows from a device to the staging memory.
    pub fn read(&mut self, device: usize, from: Rows<'a>, rows: Range<usize>) -> Slot {
        let slot = self.len;
        self.len += from.bytes(rows.len());
        self.transfers[device].get_or_insert_default().reads.push(from.range(rows, slot));
        Slot(slot)
    }

    /// Adds a copy of as many rows from a slot of the staging memory to a device.
    pub fn write(&mut self, device: usize, to: Rows<'a>, rows: Range<usize>, Slot(slot): Slot) {
        self.transfers[device].get_or_insert_default().writes.push(to.range(rows, slot));
    }

    /// Adds a copy of rows from one device to another.
    pub fn copy(
        &mut self,
        (device, from): (usize, Rows<'a>),
        (other, to): (usize, Rows<'a>),
        rows: Range<usize>,
    ) {
        let slot = self.read(device, from, rows.clone());
        self.write(other, to, rows, slot);
    }
}

/// Host memory through which devices exchange data.
#[derive(Debug)]
pub struct Staging {
    /// Two areas used in turn: devices may still read one while the next exchange fills the other. When all reads of an
    /// exchange have ended, so have the writes of the exchange before, because queues are in order.
    areas: [Memory<u8>; 2],
    turn: usize,
    devices: Vec<Device>,
}

impl Staging {
    /// Creates empty staging memory between `devices`; the first device pins the memory.
    pub fn new(devices: Vec<Device>) -> Self {
        Self { areas: [Memory::default(), Memory::default()], turn: 0, devices }
    }

    /// Runs an exchange: waits for all reads, and queues all writes.
    ///
    /// A device that takes part in one exchange but not in the next must finish its queue before the exchange after the next.
    ///
    /// # Errors
    /// Returns an error if a device fails. The contents of the written rows are then unknown.
    ///
    /// # Panics
    /// Panics if a write has more rows than the read of its slot, and so exceeds the staging memory.
    pub fn run(&mut self, exchange: &Exchange) -> Result<()> {
        const DOING: &str = "exchanging data between devices";
        self.turn ^= 1;
        if self.areas[self.turn].len() < exchange.len {
            self.release_area();
            let Some(first) = self.devices.first() else { return Ok(()) };
            self.areas[self.turn] = pinned::memory(first, exchange.len);
        }
        let len = self.areas[self.turn].len();
        let area = self.areas[self.turn].as_mut_ptr();
        let host = |range: &BufferRange| {
            assert!(range.host + range.len() <= len, "a transfer exceeds the staging memory");
            // SAFETY: the offset is within the area, by the assertion above.
            unsafe { area.add(range.host) }
        };
        let transfers = || {
            let pairs = self.devices.iter().zip(&exchange.transfers);
            pairs.filter_map(|(device, transfers)| Some((device, transfers.as_ref()?)))
        };
        let mut waits = Vec::new();
        for (device, Transfers { reads, .. }) in transfers() {
            for range in reads.iter().filter(|range| range.len() > 0) {
                // SAFETY: the area outlives the copy (see `release_area` and `drop`). `Exchange::read` gives out disjoint
                // ranges, and nothing else uses the area until all reads have ended.
                unsafe { transfer(device, range, host(range), Call::Read) }?;
            }
            waits.push((device, device.submit()?));
        }
        // All waits begin before the first blocks, and all end before an error is returned.
        let waits: Vec<_> =
            waits.into_iter().map(|(device, event)| (device, device.start_wait(&event))).collect();
        let ends: Vec<_> = waits.into_iter().map(|(device, wait)| device.finish_wait(wait, DOING)).collect();
        ends.into_iter().collect::<Result<Vec<_>>>()?;
        for (device, Transfers { writes, .. }) in transfers() {
            for range in writes.iter().filter(|range| range.len() > 0) {
                // SAFETY: the area outlives the copy, and the next exchange uses the other area.
                unsafe { transfer(device, range, host(range), Call::Write) }?;
            }
        }
        Ok(())
    }

    /// Releases the current area once no copy uses it any more, or leaks it if that is unknown.
    fn release_area(&mut self) {
        let area = mem::take(&mut self.areas[self.turn]);
        if !self.settle() {
            mem::forget(area);
        }
    }

    /// Waits for all copies. Returns whether all have ended. The next use of a device reports its error again.
    fn settle(&self) -> bool {
        let ends = self.devices.iter().map(|device| {
            device.submit().and_then(|end| device.wait(&end, "exchanging data between devices"))
        });
        ends.filter(Result::is_err).count() == 0
    }
}

/// Queues a copy of a range: from the device for [`Call::Read`], to the device for [`Call::Write`].
///
/// # Safety
/// `host` must point to as many bytes as the range has. Until the copy has ended, these bytes must not be
/// freed or changed, and during a read must not be used at all.
unsafe fn transfer(device: &Device, range: &BufferRange, host: *mut u8, call: Call) -> Result<()> {
    let doing = if call == Call::Read { "reading device memory" } else { "writing device memory" };
    device.check(call, doing)?;
    let &BufferRange { mem, offset, bytes, runs, pitch, .. } = range;
    let (queue, none, event) = (&device.queue, None::<core::Event>, None::<&mut core::Event>);
    let (origin, region, zero) = ([offset, 0, 0], [bytes, runs, 1], [0; 3]);
    // SAFETY: OpenCL checks that the range is within the buffer; the caller vouches for the host memory.
    unsafe {
        if call == Call::Read {
            let to = slice::from_raw_parts_mut(host, range.len());
            match runs {
                1 => core::enqueue_read_buffer(queue, mem, false, offset, to, none, event),
                _ => core::enqueue_read_buffer_rect(
                    queue, mem, false, origin, zero, region, pitch, 0, bytes, 0, to, none, event,
                ),
            }
        } else {
            let from = slice::from_raw_parts(host, range.len());
            match runs {
                1 => core::enqueue_write_buffer(queue, mem, false, offset, from, none, event),
                _ => core::enqueue_write_buffer_rect(
                    queue, mem, false, origin, zero, region, pitch, 0, bytes, 0, from, none, event,
                ),
            }
        }
    }
    .map_err(device.fail(doing))
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.settle() {
            self.areas.iter_mut().for_each(|area| mem::forget(mem::take(area)));
        }
    }
}
