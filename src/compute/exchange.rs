//! Exchanges of data between devices, through staging memory on the host, which is pinned if possible.
//!
//! An exchange queues the reads of all devices, and queues each write once its data have been read. Kernels queued after
//! the exchange run after its writes. Kernels queued between its beginning and its end run while large amounts of data
//! travel. Large reads are split into pieces, so that devices send and receive at the same time.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;
use std::ops::Range;
use std::slice;

use ocl::core;

use super::buffer::Buffer;
use super::device::Device;
use super::fault::Call;
use super::pinned;
use super::ranks::Ranks;
use crate::base::{Memory, Result};

/// Size, in bytes, of the pieces into which larger reads are split. It is so small that a device rarely waits for data to
/// receive, and so large that queueing a copy takes little time compared with the copy.
const PIECE: usize = 8 << 20;
/// Name of the operation in error messages.
const DOING: &str = "exchanging data between devices";

/// A copy between a device's buffer and the staging memory on the host.
#[derive(Debug, Clone, Copy)]
struct Transfer<'a> {
    /// Index of the device that owns the buffer.
    device: usize,
    mem: &'a core::Mem,
    /// Offset in the device's buffer, in bytes, of the first contiguous run of data to copy.
    offset: usize,
    /// Length, in bytes, of each contiguous run of data to copy.
    bytes: usize,
    /// Number of contiguous runs of data to copy. In the staging memory, the runs follow each other without gaps.
    runs: usize,
    /// Distance, in bytes, between the starts of consecutive runs of data in the device's buffer.
    pitch: usize,
    /// Offset of the data in the staging memory on the host, in bytes.
    host: usize,
}

impl Transfer<'_> {
    fn len(&self) -> usize {
        self.bytes * self.runs
    }

    /// Returns the byte range of the data in the staging memory.
    fn data(&self) -> Range<usize> {
        self.host..self.host + self.len()
    }

    /// Returns whether a copy is so large that it is split into pieces. A copy of several runs is never split.
    fn is_large(&self) -> bool {
        self.runs == 1 && self.bytes > PIECE
    }

    /// Returns the pieces into which a large read is split.
    fn pieces(self) -> impl Iterator<Item = Self> {
        let Range { start, end } = self.data();
        (start..end).step_by(PIECE).filter_map(move |from| self.part(&(from..end.min(from + PIECE))))
    }

    /// Returns the part of a copy that lies in the byte range `data` of the staging memory, or `None` if no part does. A
    /// copy of several runs is not divided: the whole copy is returned for the range that contains its last byte.
    fn part(&self, data: &Range<usize>) -> Option<Self> {
        let own = self.data();
        if self.runs > 1 {
            return own.clone().last().is_some_and(|last| data.contains(&last)).then_some(*self);
        }
        let (from, to) = (own.start.max(data.start), own.end.min(data.end));
        (from < to).then(|| Self {
            offset: self.offset + from - own.start,
            bytes: to - from,
            host: from,
            ..*self
        })
    }
}

/// Layout of a buffer with one row per body or grid row. A row may be split across several planes (separate arrays).
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    mem: &'a core::Mem,
    /// Number of bytes that a row of data occupies in each plane (array) of the buffer.
    bytes: usize,
    planes: usize,
    /// Number of bytes between the starts of consecutive planes (arrays) in the buffer.
    pitch: usize,
}

impl<'a> Rows<'a> {
    /// Describes a buffer whose rows have `each` values per plane, in `planes` planes that start `pitch` values apart.
    pub fn new<T>(buffer: &'a Buffer<T>, each: usize, planes: usize, pitch: usize) -> Self {
        let size = size_of::<T>();
        Self { mem: &buffer.mem, bytes: each * size, planes, pitch: pitch * size }
    }

    /// Describes a copy between the given rows of a device's buffer and the byte offset `host` in the staging memory.
    fn transfer(&self, device: usize, rows: Range<usize>, host: usize) -> Transfer<'a> {
        let Self { mem, bytes, planes: runs, pitch } = *self;
        Transfer { device, mem, offset: rows.start * bytes, bytes: rows.len() * bytes, runs, pitch, host }
    }
}

/// A set of copies between devices. Each device is identified by its index.
#[derive(Debug)]
pub struct Exchange<'a> {
    /// For each device, in order, whether the exchange waits for the device.
    participates: Vec<bool>,
    reads: Vec<Transfer<'a>>,
    writes: Vec<Transfer<'a>>,
    /// Number of bytes of staging memory in use.
    len: usize,
}

/// Location of copied rows in the staging memory.
#[derive(Debug, Clone, Copy)]
pub struct Slot {
    /// Offset of the rows, in bytes.
    host: usize,
    /// Size of the rows, in bytes.
    len: usize,
}

impl<'a> Exchange<'a> {
    /// Returns an empty exchange. `devices` is the number of devices. [`Staging::run`] waits for the devices in
    /// `participants`, and for all devices that a copy reads or writes.
    pub fn new(devices: usize, participants: &[usize]) -> Self {
        let participates = (0..devices).map(|device| participants.contains(&device)).collect();
        Self { participates, reads: Vec::new(), writes: Vec::new(), len: 0 }
    }

    /// Adds a copy of rows from a device to a new slot of the staging memory. Returns the slot for [`Exchange::write`].
    pub fn read(&mut self, device: usize, from: Rows<'a>, rows: Range<usize>) -> Slot {
        let read = from.transfer(device, rows, self.len);
        self.participates[device] = true;
        self.len += read.len();
        self.reads.push(read);
        Slot { host: read.host, len: read.len() }
    }

    /// Adds a copy from a slot that [`Exchange::read`] returned to the given rows of the buffer `to` on `device`.
    ///
    /// # Panics
    /// Panics if the rows to write have more bytes than those that were read.
    pub fn write(&mut self, device: usize, to: Rows<'a>, rows: Range<usize>, slot: Slot) {
        let write = to.transfer(device, rows, slot.host);
        assert!(write.len() <= slot.len, "an exchange writes more data than it has read");
        self.participates[device] = true;
        self.writes.push(write);
    }

    /// Returns whether the exchange copies nothing.
    pub fn is_empty(&self) -> bool {
        self.len == 0
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

/// The devices, and the staging memory on the host through which they exchange data.
#[derive(Debug)]
pub struct Staging {
    /// All ranks of the MPI run, and the rank that owns each device; `None` if this process owns all devices.
    owners: Option<(&'static Ranks, Vec<usize>)>,
    /// Index, among the devices of all MPI ranks, of the first device of this process.
    first: usize,
    /// Two memory areas, used alternately: devices may still read one while the next exchange fills the other. After
    /// all reads of an exchange, the writes of the previous exchange have ended too: an exchange waits for a marker in
    /// each participant's main queue, which is in order and has waited for the writes (see [`Staging::join`]).
    areas: [Memory<u8>; 2],
    turn: usize,
    /// The devices of this process.
    devices: Vec<Device>,
    /// Arrivals that the unfinished exchange waits for; `None` if no exchange has begun.
    begun: Option<Vec<Arrival>>,
    /// Events of the devices in the last exchange, by index in `devices`. An event completes when the device has finished
    /// the work queued before the exchange.
    ready: BTreeMap<usize, core::Event>,
    /// Whether a wait for a copy has failed, so that the copy may still be using an area.
    may_be_in_use: bool,
}

/// Data that arrive in the staging memory together.
#[derive(Debug)]
struct Arrival {
    /// Index, in [`Staging::devices`], of the device that sends the data.
    place: usize,
    /// Event that completes when the reads have ended.
    end: core::Event,
    /// Byte ranges of the staging memory that the reads fill.
    data: Vec<Range<usize>>,
}

impl Staging {
    /// Creates empty staging memory for exchanges among `devices`. The memory is pinned for the first device.
    pub fn new(devices: Vec<Device>) -> Self {
        let areas = [Memory::default(), Memory::default()];
        Self {
            owners: None,
            first: 0,
            areas,
            turn: 0,
            devices,
            begun: None,
            ready: BTreeMap::new(),
            may_be_in_use: false,
        }
    }

    /// Creates empty staging memory for exchanges among the devices of several MPI ranks. `owners` lists the rank of
    /// each device, in ascending order, and `devices` are the devices of this rank.
    pub fn among(ranks: &'static Ranks, owners: Vec<usize>, devices: Vec<Device>) -> Self {
        let first = owners.partition_point(|owner| *owner < ranks.rank());
        let mut staging = Self::new(devices);
        (staging.owners, staging.first) = (Some((ranks, owners)), first);
        staging
    }

    /// Returns the device with the index `device` among the devices of all MPI ranks, or `None` if another rank owns
    /// it.
    fn local(&self, device: usize) -> Option<&Device> {
        self.devices.get(device.wrapping_sub(self.first))
    }

    /// Runs an exchange: queues all reads, and queues each write when its data have been read.
    ///
    /// # Errors
    /// See [`Staging::finish`].
    pub fn run(&mut self, exchange: &Exchange) -> Result<()> {
        self.begin(exchange)?;
        // Nothing else is queued, so the reads and the writes run at the same time in the two queues of a device.
        self.ready.clear();
        self.finish(exchange)
    }

    /// Begins an exchange: queues all reads. The caller can then queue kernels that use none of the rows that the exchange
    /// reads or writes; on a GPU, they run while large amounts of data travel. If another exchange has begun but
    /// has not been finished, abandons it, and waits for its reads.
    ///
    /// A device in exchange n that is not in exchange n + 1 must complete its queued work before exchange n + 2 begins.
    ///
    /// # Errors
    /// Returns an error if a device fails.
    pub fn begin(&mut self, exchange: &Exchange) -> Result<()> {
        self.wait_for_reads()?;
        self.turn ^= 1;
        if self.areas[self.turn].len() < exchange.len {
            self.release_area();
            let Some(first) = self.devices.first() else { return Ok(()) };
            self.areas[self.turn] = pinned::memory(first, exchange.len);
        }
        self.ready.clear();
        let mut arrivals = Vec::new();
        let queued = self.queue_reads(exchange, &mut arrivals);
        self.begun = Some(arrivals);
        // After an error, waits for the reads that were queued, because they may still be writing to the area.
        queued.inspect_err(|_| drop(self.wait_for_reads()))
    }

    /// Queues all reads of an exchange, and appends their arrivals to `arrivals`.
    fn queue_reads(&mut self, exchange: &Exchange, arrivals: &mut Vec<Arrival>) -> Result<()> {
        let host = self.host();
        let Self { owners, first, devices, ready: readies, .. } = self;
        let mut pieces = Vec::new();
        for (place, device) in
            devices.iter().enumerate().filter(|(place, _)| exchange.participates[*first + place])
        {
            let own = exchange.reads.iter().filter(|read| read.device == *first + place && read.len() > 0);
            // Data for other ranks are not split.
            let (split, whole): (Vec<_>, Vec<_>) = own.partition(|read| read.is_large() && owners.is_none());
            for read in &whole {
                // SAFETY: the area outlives the copy (see `release_area` and `drop`). `Exchange::read` returns disjoint
                // ranges, and nothing else uses a range until its read has ended.
                unsafe { transfer(device, read, host(read), Call::Read, None) }?;
            }
            let end = device.submit()?;
            readies.insert(place, end.clone());
            let split = split.into_iter().flat_map(|read| read.pieces()).enumerate();
            pieces.extend(split.map(|(nth, piece)| (nth, place, end.clone(), piece)));
            arrivals.push(Arrival { place, end, data: whole.iter().map(|read| read.data()).collect() });
        }
        // All devices send their first pieces before the second ones, so that each device soon has data to receive.
        pieces.sort_by_key(|(nth, ..)| *nth);
        for (_, place, ready, piece) in pieces {
            let device = &devices[place];
            // SAFETY: the area outlives the copy (see `release_area` and `drop`), and nothing else uses this range until
            // the read has ended.
            let end = unsafe { transfer(device, &piece, host(&piece), Call::Read, Some(&ready)) }?;
            arrivals.push(Arrival { place, end, data: vec![piece.data()] });
            flush(device, &device.copies)?;
        }
        Ok(())
    }

    /// Finishes an exchange that [`Staging::begin`] has begun: waits for the reads, and queues each write when its data
    /// have been read.
    ///
    /// # Errors
    /// After the failure of a device, the contents of the written rows are unknown.
    pub fn finish(&mut self, exchange: &Exchange) -> Result<()> {
        if self.owners.is_some() {
            self.wait_for_reads()?;
            let host = self.host();
            self.swap(exchange, &host)?;
            let mut beside = BTreeMap::new();
            let written = self.write(exchange, &(0..exchange.len), &mut beside);
            return self.join(beside).and(written);
        }
        let (mut outcome, mut beside) = (Ok(()), BTreeMap::new());
        for arrival in self.begun.take().unwrap_or_default() {
            // Waits for all reads even after an error, because the others may still be writing to the area.
            let end = self.wait_for(&arrival);
            outcome = outcome.and(end).and_then(|()| {
                arrival.data.iter().try_for_each(|data| self.write(exchange, data, &mut beside))
            });
        }
        self.join(beside).and(outcome)
    }

    /// Makes later work in each device's main queue wait for the writes in its queue for copies. `beside` holds the last
    /// of these writes for each device.
    fn join(&mut self, beside: BTreeMap<usize, core::Event>) -> Result<()> {
        let mut outcome = Ok(());
        for (place, write) in beside {
            let device = &self.devices[place];
            let joined = flush(device, &device.copies).and_then(|()| {
                core::enqueue_marker_with_wait_list(
                    &device.queue,
                    Some(&write),
                    None::<&mut core::Event>,
                    None,
                )
                .and_then(|()| core::flush(&device.queue))
                .map_err(device.fail(DOING))
            });
            self.may_be_in_use |= joined.is_err();
            outcome = outcome.and(joined);
        }
        outcome
    }

    /// Waits for the reads of an arrival.
    fn wait_for(&mut self, arrival: &Arrival) -> Result<()> {
        let end = self.devices[arrival.place].wait(&arrival.end, DOING);
        self.may_be_in_use |= end.is_err();
        end.map(drop)
    }

    /// Queues and submits the writes of the data in the byte range `data` of the staging memory. Meanwhile, devices may
    /// read other rows of the same buffers. Large writes to devices that are in `ready` run in the queue for copies, and
    /// the last one for each device is added to `beside`.
    fn write(
        &mut self,
        exchange: &Exchange,
        data: &Range<usize>,
        beside: &mut BTreeMap<usize, core::Event>,
    ) -> Result<()> {
        let host = self.host();
        let mut written = BTreeSet::new();
        for whole in &exchange.writes {
            let (Some(write), Some(device)) = (whole.part(data), self.local(whole.device)) else { continue };
            let place = whole.device - self.first;
            let ready = self.ready.get(&place).filter(|_| whole.is_large());
            // SAFETY: the area outlives the copy, and the next exchange uses the other area. The one after it waits for
            // this copy (see `areas`).
            let end = unsafe { transfer(device, &write, host(&write), Call::Write, ready) }?;
            if ready.is_some() {
                beside.insert(place, end);
            }
            written.insert((place, ready.is_some()));
        }
        written.into_iter().try_for_each(|(place, is_beside)| {
            let device = &self.devices[place];
            flush(device, if is_beside { &device.copies } else { &device.queue })
        })
    }

    /// Returns whether an exchange has begun and has neither been finished nor abandoned.
    pub fn has_begun(&self) -> bool {
        self.begun.is_some()
    }

    /// Waits for the reads of the unfinished exchange, if there is one. Waits for all of them even after an error, because
    /// the others may still be writing to the area.
    fn wait_for_reads(&mut self) -> Result<()> {
        let arrivals = self.begun.take().unwrap_or_default();
        let ends: Vec<_> = arrivals.iter().map(|arrival| self.wait_for(arrival)).collect();
        ends.into_iter().collect()
    }

    /// Returns a function that returns the address of a copy's data in the current area of staging memory.
    fn host(&mut self) -> impl Fn(&Transfer) -> *mut u8 + use<> {
        let area = &mut self.areas[self.turn];
        let (len, start) = (area.len(), area.as_mut_ptr());
        move |copy| {
            assert!(copy.host + copy.len() <= len, "a transfer exceeds the staging memory");
            // SAFETY: the offset is within the area, by the assertion above.
            unsafe { start.add(copy.host) }
        }
    }

    /// Sends the data read on this MPI rank to the ranks that write it, and receives the data that this rank writes.
    /// All ranks know the whole exchange, so each pair of ranks handles its messages in the same order.
    fn swap(&self, exchange: &Exchange, host: impl Fn(&Transfer) -> *mut u8) -> Result<()> {
        let Some((ranks, owners)) = &self.owners else { return Ok(()) };
        // The ranks that write each slot of the staging memory.
        let mut writers: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        for write in exchange.writes.iter().filter(|write| write.len() > 0) {
            writers.entry(write.host).or_default().insert(owners[write.device]);
        }
        let (mut sends, mut receives) = (Vec::new(), Vec::new());
        for read in exchange.reads.iter().filter(|read| read.len() > 0) {
            let from = owners[read.device];
            for &to in writers.get(&read.host).into_iter().flatten().filter(|to| **to != from) {
                if from == ranks.rank() {
                    sends.push((to, host(read).cast_const(), read.len()));
                } else if to == ranks.rank() {
                    receives.push((from, host(read), read.len()));
                }
            }
        }
        // SAFETY: the ranges of different reads are disjoint parts of the area, which outlives the call.
        unsafe { ranks.swap(&sends, &receives) }
    }

    /// Waits for all copies, then frees the current area of host memory; leaks the area if a copy may still be running.
    fn release_area(&mut self) {
        let area = mem::take(&mut self.areas[self.turn]);
        if !self.settle() {
            mem::forget(area);
        }
    }

    /// Waits for all copies. Returns whether they succeeded; the next use of a failed device reports its error again.
    fn settle(&mut self) -> bool {
        // The error is not needed: `may_be_in_use` records that a copy may still be running.
        let _ = self.wait_for_reads();
        let ends = self.devices.iter().map(|device| device.submit().and_then(|end| device.wait(&end, DOING)));
        ends.filter(Result::is_err).count() == 0 && !self.may_be_in_use
    }
}

/// Queues a copy: from the device to the host for [`Call::Read`], and from the host to the device for [`Call::Write`].
/// Copies and kernels that use different rows of a buffer may run at the same time in the device's two queues. OpenCL does
/// not say whether they may; NVIDIA's driver allows it. With an event `ready`, queues the copy in the device's queue for
/// copies, to start after the event. Returns an event that completes when the copy has ended.
///
/// # Safety
/// `host` must point to at least as many bytes as the copy has. Until the copy has ended, these bytes must not be freed
/// or changed, and during a read they must not be accessed at all.
unsafe fn transfer(
    device: &Device,
    copy: &Transfer,
    host: *mut u8,
    call: Call,
    ready: Option<&core::Event>,
) -> Result<core::Event> {
    let doing = if call == Call::Read { "reading from device memory" } else { "writing to device memory" };
    device.check(call, doing)?;
    let &Transfer { mem, offset, bytes, runs, pitch, .. } = copy;
    let queue = if ready.is_some() { &device.copies } else { &device.queue };
    let mut event = core::Event::null();
    let (origin, region, zero, end) = ([offset, 0, 0], [bytes, runs, 1], [0; 3], Some(&mut event));
    // SAFETY: OpenCL checks that the range is within the buffer; the caller vouches for the host memory.
    unsafe {
        if call == Call::Read {
            let to = slice::from_raw_parts_mut(host, copy.len());
            match runs {
                1 => core::enqueue_read_buffer(queue, mem, false, offset, to, ready, end),
                _ => core::enqueue_read_buffer_rect(
                    queue, mem, false, origin, zero, region, pitch, 0, bytes, 0, to, ready, end,
                ),
            }
        } else {
            let from = slice::from_raw_parts(host, copy.len());
            match runs {
                1 => core::enqueue_write_buffer(queue, mem, false, offset, from, ready, end),
                _ => core::enqueue_write_buffer_rect(
                    queue, mem, false, origin, zero, region, pitch, 0, bytes, 0, from, ready, end,
                ),
            }
        }
    }
    .map_err(device.fail(doing))?;
    Ok(event)
}

/// Submits the commands in one of the device's queues.
fn flush(device: &Device, queue: &core::CommandQueue) -> Result<()> {
    device.check(Call::Flush, DOING)?;
    core::flush(queue).map_err(device.fail(DOING))
}

impl Drop for Staging {
    fn drop(&mut self) {
        if !self.settle() {
            self.areas.iter_mut().for_each(|area| mem::forget(mem::take(area)));
        }
    }
}
