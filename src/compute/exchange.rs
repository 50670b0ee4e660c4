//! What devices tell each other, through memory of the host that is pinned where that is possible.
//!
//! Reads and writes go into each device's own in-order queue and are not waited for one by one: all devices are given
//! their reads, then all are waited for, then all are given their writes, behind which they compute on.

use std::ops::Range;
use std::slice;

use ocl::core;

use super::buffer::Buffer;
use super::device::Device;
use super::fault::Call;
use super::pinned;
use crate::error::Result;
use crate::memory::Memory;

/// A part of a buffer and where it stands in the host's memory, in bytes.
#[derive(Debug, Clone, Copy)]
struct Piece<'a> {
    mem: &'a core::Mem,
    /// Of the first run in the buffer.
    offset: usize,
    /// Of a run.
    bytes: usize,
    /// Runs, and from the beginning of one to that of the next in the buffer; on the host they stand one behind the other.
    runs: usize,
    pitch: usize,
    /// On the host.
    host: usize,
}

impl Piece<'_> {
    fn len(&self) -> usize {
        self.bytes * self.runs
    }
}

/// What a buffer holds of each body, or of each row of a grid, one behind the other; perhaps several times over, in
/// planes.
#[derive(Debug, Clone, Copy)]
pub struct Field<'a> {
    mem: &'a core::Mem,
    /// Of one.
    bytes: usize,
    planes: usize,
    /// Bytes from plane to plane.
    pitch: usize,
}

impl<'a> Field<'a> {
    /// `each` values of a buffer for each body, or row, in `planes` planes that begin `pitch` values apart.
    pub fn new<T>(buffer: &'a Buffer<T>, each: usize, planes: usize, pitch: usize) -> Self {
        let size = size_of::<T>();
        Self { mem: &buffer.mem, bytes: each * size, planes, pitch: pitch * size }
    }

    /// Bytes that `count` of them take on the host.
    fn bytes(&self, count: usize) -> usize {
        self.bytes * self.planes * count
    }

    /// Those of `range`, which stand from `host` on.
    fn piece(&self, range: Range<usize>, host: usize) -> Piece<'a> {
        let Self { mem, bytes, planes, pitch } = *self;
        Piece { mem, offset: range.start * bytes, bytes: range.len() * bytes, runs: planes, pitch, host }
    }
}

/// Copies of one exchange: what each device hands in, and what it gets.
#[derive(Debug)]
pub struct Mail<'a> {
    /// Of each device; none of one that does not take part.
    bags: Vec<Option<Bag<'a>>>,
    /// Bytes on the host.
    len: usize,
}

#[derive(Debug, Default)]
struct Bag<'a> {
    out: Vec<Piece<'a>>,
    into: Vec<Piece<'a>>,
}

/// Where something stands on the host during an exchange.
#[derive(Debug, Clone, Copy)]
pub struct Place(usize);

impl<'a> Mail<'a> {
    /// Nothing yet, between those at the places `members` among `devices` devices. All of these are waited for.
    pub fn new(devices: usize, members: &[usize]) -> Self {
        let bag = |device: usize| members.contains(&device).then(Bag::default);
        Self { bags: (0..devices).map(bag).collect(), len: 0 }
    }

    /// A device hands in a range of a field.
    pub fn take(&mut self, device: usize, field: Field<'a>, range: Range<usize>) -> Place {
        let place = self.len;
        self.len += field.bytes(range.len());
        let bag = self.bags[device].get_or_insert_default();
        bag.out.push(field.piece(range, place));
        Place(place)
    }

    /// A device gets what stands at a place, which is as long.
    pub fn give(&mut self, device: usize, field: Field<'a>, range: Range<usize>, Place(place): Place) {
        self.bags[device].get_or_insert_default().into.push(field.piece(range, place));
    }

    /// Both.
    pub fn send(
        &mut self,
        (from, field): (usize, Field<'a>),
        (to, into): (usize, Field<'a>),
        range: Range<usize>,
    ) {
        let place = self.take(from, field, range.clone());
        self.give(to, into, range, place);
    }
}

/// The host's memory that devices exchange through.
#[derive(Debug)]
pub struct Exchange {
    /// Taken in turns: while one is still read from, the next exchange goes through the other. Once all have handed in
    /// what belongs to the next, they have done with the one before.
    areas: [Memory<u8>; 2],
    turn: usize,
    devices: Vec<Device>,
}

impl Exchange {
    /// Between `devices`, the first of which pins the memory.
    pub fn new(devices: Vec<Device>) -> Self {
        Self { areas: [Memory::default(), Memory::default()], turn: 0, devices }
    }

    /// Takes in what each device hands in, waits for all of it, and queues the copies of what each gets. Who takes part once
    /// and then no more has to be waited for before the next exchange but one.
    ///
    /// # Errors
    /// If a device fails. What the others have got is not known then.
    pub fn pass(&mut self, mail: &Mail) -> Result<()> {
        const DOING: &str = "exchanging between devices";
        self.turn ^= 1;
        if self.areas[self.turn].len() < mail.len {
            // The old ones may still be read from.
            self.settle();
            let Some(first) = self.devices.first() else { return Ok(()) };
            self.areas[self.turn] = pinned::memory(first, mail.len);
        }
        let len = self.areas[self.turn].len();
        let area = self.areas[self.turn].as_mut_ptr();
        let place = |piece: &Piece| {
            assert!(piece.host + piece.len() <= len, "a piece is outside of the host's memory");
            // SAFETY: within the area, by the line above.
            unsafe { area.add(piece.host) }
        };
        let bags =
            || self.devices.iter().zip(&mail.bags).filter_map(|(device, bag)| Some((device, bag.as_ref()?)));
        let mut events = Vec::new();
        for (device, bag) in bags() {
            for piece in bag.out.iter().filter(|piece| piece.len() > 0) {
                // SAFETY: the memory stays until the copy has ended, see below and `drop`; what is handed in does not
                // overlap, by `Mail::take`, and nobody else looks at it meanwhile.
                let memory = unsafe { slice::from_raw_parts_mut(place(piece), piece.len()) };
                read(device, piece, memory)?;
            }
            events.push((device, device.mark()?));
        }
        // All are handed over before any is waited for, and all are waited for before any failure is told.
        let waits: Vec<_> =
            events.into_iter().map(|(device, event)| (device, device.watch(&event))).collect();
        let ends: Vec<_> = waits.into_iter().map(|(device, wait)| device.end(wait, DOING)).collect();
        ends.into_iter().collect::<Result<Vec<_>>>()?;
        for (device, bag) in bags() {
            for piece in bag.into.iter().filter(|piece| piece.len() > 0) {
                // SAFETY: as above; what was handed in is there, and the next goes to the other area.
                let memory = unsafe { slice::from_raw_parts(place(piece).cast_const(), piece.len()) };
                write(device, piece, memory)?;
            }
        }
        Ok(())
    }

    /// Waits for all copies. What fails is met again by whoever uses the device next.
    fn settle(&self) {
        for device in self.devices.iter().filter(|device| !device.is_lost()) {
            let _ = device.mark().and_then(|end| device.wait(&end, "exchanging between devices"));
        }
    }
}

fn read(device: &Device, piece: &Piece, memory: &mut [u8]) -> Result<()> {
    const DOING: &str = "reading device memory";
    device.may(Call::Read, DOING)?;
    let (none, event) = (None::<core::Event>, None::<&mut core::Event>);
    // SAFETY: `memory` is as long as the piece; that it stays is the caller's care.
    unsafe {
        match piece.runs {
            1 => {
                core::enqueue_read_buffer(&device.queue, piece.mem, false, piece.offset, memory, none, event)
            }
            runs => core::enqueue_read_buffer_rect(
                &device.queue,
                piece.mem,
                false,
                [piece.offset, 0, 0],
                [0; 3],
                [piece.bytes, runs, 1],
                piece.pitch,
                0,
                piece.bytes,
                0,
                memory,
                none,
                event,
            ),
        }
    }
    .map_err(device.fail(DOING))
}

fn write(device: &Device, piece: &Piece, memory: &[u8]) -> Result<()> {
    const DOING: &str = "writing device memory";
    device.may(Call::Write, DOING)?;
    let (none, event) = (None::<core::Event>, None::<&mut core::Event>);
    // SAFETY: as in `read`.
    unsafe {
        match piece.runs {
            1 => {
                core::enqueue_write_buffer(&device.queue, piece.mem, false, piece.offset, memory, none, event)
            }
            runs => core::enqueue_write_buffer_rect(
                &device.queue,
                piece.mem,
                false,
                [piece.offset, 0, 0],
                [0; 3],
                [piece.bytes, runs, 1],
                piece.pitch,
                0,
                piece.bytes,
                0,
                memory,
                none,
                event,
            ),
        }
    }
    .map_err(device.fail(DOING))
}

impl Drop for Exchange {
    fn drop(&mut self) {
        self.settle();
        if self.devices.iter().any(Device::is_lost) {
            // It may still read and write there.
            self.areas.iter_mut().for_each(|area| std::mem::forget(std::mem::take(area)));
        }
    }
}
