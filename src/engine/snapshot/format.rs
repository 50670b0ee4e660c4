//! The file format of snapshots.
//!
//! | bytes | |
//! |---|---|
//! | 14 | `89 "GRAVITILE" 0D 0A 1A 0A`: no text file starts like this, and a transfer in text mode damages it |
//! | 2 | version |
//! | 4 | CRC-32 of all following bytes |
//! | 8 | length of the uncompressed data |
//! | rest | zlib data: length of the manifest (4 bytes), manifest, lists one after another |
//!
//! Numbers are little-endian. The manifest is TOML (see [`manifest`](super::manifest)) and contains the list lengths.
//!
//! # Limits on memory
//! A small file can unpack to a large one, so a snapshot is read in this order:
//! 1. The header states the uncompressed length. A length that does not fit the number of compressed bytes is refused.
//! 2. The checksum of the file is checked, which needs no memory.
//! 3. The manifest is unpacked, limited by [`Room::manifest`], and parsed.
//! 4. The manifest states the number of bodies or cells. [`Manifest::check_lists`] refuses lists that do not fit this
//!    number or the file length ([`Room::bodies`], [`Room::flows`]). Data that would compress too well for these
//!    limits, such as a large fluid at rest, is written without compression.
//! 5. Each list is unpacked into memory of its length. If there is not enough memory, an error is returned.

use std::io::{BufRead, BufReader, Cursor, Read, Seek, SeekFrom, Write};
use std::path::Path;

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::contents::{Snapshot, Summary};
use super::manifest::Manifest;
use super::room::{MOST_BYTES, Room};
use crate::base::{Error, OutputFile, Result, files, invalid};

/// Version of the snapshot file format, incremented whenever older programs can no longer read new files.
pub const VERSION: u16 = 1;
const MAGIC: &[u8; 14] = b"\x89GRAVITILE\r\n\x1a\n";
/// Size of the file's first two fields, the magic bytes and the version, in bytes. The checksum follows.
const HEAD: usize = MAGIC.len() + 2;
const COVERED: usize = HEAD + 4;
const HEADER: usize = COVERED + 8;
const _: () = assert!(cfg!(target_endian = "little"), "lists are written in the byte order of memory");

impl Snapshot {
    /// Writes the snapshot to `path` through a temporary file, so that an error leaves an existing file unchanged.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written or if `path` is a pipe or a device.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = self.to_bytes()?;
        OutputFile::create(path)?.replace(&bytes)
    }

    /// Reads a snapshot from the file `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is damaged, has another format version, or holds impossible values.
    pub fn load(path: &Path) -> Result<Self> {
        let (file, length) = files::open(path, MOST_BYTES, "a snapshot")?;
        decode(file, length, MOST_BYTES).map_err(|error| in_file(path, &error))
    }

    /// Reads a summary of a snapshot from the beginning of the file `path`, without checking the rest of the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a snapshot.
    pub fn peek(path: &Path) -> Result<Summary> {
        let (mut file, length) = files::open(path, MOST_BYTES, "a snapshot")?;
        let summary = || {
            let Header { room, .. } = Header::read(&mut file, length, MOST_BYTES)?;
            let (manifest, _) = read_manifest(&mut ZlibDecoder::new(BufReader::new(file)), room)?;
            manifest.summary()
        };
        summary().map_err(|error| in_file(path, &error))
    }

    /// Returns whether the file `path` is a snapshot that this program cannot read, such as one of a newer version.
    pub fn is_unreadable(path: &Path) -> bool {
        let is_snapshot = || {
            let (mut file, _) = files::open(path, u64::MAX, "a snapshot").ok()?;
            let mut magic = [0; MAGIC.len()];
            file.read_exact(&mut magic).ok().filter(|()| magic == *MAGIC)
        };
        is_snapshot().is_some() && Self::peek(path).is_err()
    }

    /// Decodes a snapshot from the bytes of a file, with the same checks as [`Snapshot::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        decode(Cursor::new(bytes), bytes.len() as u64, MOST_BYTES)
    }

    /// Encodes the snapshot in the file format that [`Snapshot::save`] writes.
    ///
    /// # Errors
    /// Returns an error if the snapshot is too large.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        encode(self, MOST_BYTES)
    }
}

/// Adds the file's path to the beginning of an error message.
pub(super) fn in_file(path: &Path, error: &Error) -> Error {
    invalid!("{}: {error}", path.display())
}

/// Encodes a snapshot in the file format. The uncompressed length must not exceed `most` bytes.
pub(super) fn encode(snapshot: &Snapshot, most: u64) -> Result<Vec<u8>> {
    let (manifest, lists) = Manifest::of(snapshot)?;
    let text = toml::to_string(&manifest).map_err(|error| invalid!("cannot write the snapshot: {error}"))?;
    let length = 4 + text.len() as u64 + lists.iter().map(|(_, list)| list.len() as u64).sum::<u64>();
    let too_many = || invalid!("the snapshot would be too large: {length} bytes");
    if length > most {
        return Err(too_many());
    }
    let pack = |compression| {
        let mut encoder = ZlibEncoder::new(length.to_le_bytes().to_vec(), compression);
        let count = (text.len() as u32).to_le_bytes();
        let start = [&count, text.as_bytes()];
        let mut parts = start.into_iter().chain(lists.iter().map(|(_, list)| &**list));
        let written = parts.try_for_each(|part| encoder.write_all(part)).and_then(|()| encoder.finish());
        // Writing to memory does not fail.
        written.map_err(|error| invalid!("{error}"))
    };
    // Checks that the encoded snapshot can be read again.
    let check = |body: &[u8]| {
        let room = Room { packed: (body.len() - 8) as u64 };
        if text.len() as u64 > room.manifest() {
            return Err(too_many());
        }
        manifest.check_lists(room)
    };
    // Floating-point numbers compress badly, so slow compression is not worth the time.
    let mut body = pack(Compression::fast())?;
    if check(&body).is_err() {
        body = pack(Compression::none())?;
        check(&body)?;
    }
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend(crc32fast::hash(&body).to_le_bytes());
    file.append(&mut body);
    Ok(file)
}

/// Header of a snapshot file: checksum, uncompressed length, and limits derived from the file size.
struct Header {
    crc: u32,
    /// Uncompressed length of the manifest and the lists, in bytes.
    length: u64,
    room: Room,
}

impl Header {
    fn read(input: &mut impl Read, file: u64, most: u64) -> Result<Self> {
        let mut bytes = Vec::with_capacity(HEADER);
        let cut_off = || invalid!("the snapshot is incomplete: the end of the file is missing");
        input.take(HEADER as u64).read_to_end(&mut bytes).map_err(|_| cut_off())?;
        if !bytes.starts_with(MAGIC) {
            return Err(invalid!("this file is not a gravitile snapshot"));
        }
        let number = |from: usize, to: usize| -> Result<u64> {
            let bytes = bytes.get(from..to).ok_or_else(cut_off)?;
            Ok(bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
        };
        let version = number(MAGIC.len(), HEAD)?;
        if version != u64::from(VERSION) {
            return Err(invalid!(
                "the snapshot has version {version}, but this program reads only version {VERSION}"
            ));
        }
        let (crc, length) = (number(HEAD, COVERED)? as u32, number(COVERED, HEADER)?);
        let packed = file.checked_sub(HEADER as u64).ok_or_else(cut_off)?;
        if length > most {
            return Err(invalid!("the snapshot is too large: {length} bytes when unpacked"));
        }
        let room = Room { packed };
        match room.holds(length) {
            true => Ok(Self { crc, length, room }),
            false => Err(invalid!(
                "the snapshot is damaged or incomplete: {packed} compressed bytes cannot contain the {length} bytes stated in its header"
            )),
        }
    }
}

/// Reads the rest of `input` and returns its CRC-32 checksum.
fn checksum(input: &mut impl Read) -> std::io::Result<u32> {
    let (mut hasher, mut block) = (crc32fast::Hasher::new(), vec![0; 1 << 16]);
    loop {
        match input.read(&mut block) {
            Ok(0) => return Ok(hasher.finalize()),
            Ok(count) => hasher.update(&block[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// Decodes a snapshot from the contents of a file, which has `file` bytes. The uncompressed length must not exceed
/// `most` bytes.
pub(super) fn decode(mut input: impl Read + Seek, file: u64, most: u64) -> Result<Snapshot> {
    let Header { crc, length, room } = Header::read(&mut input, file, most)?;
    let io = |error: std::io::Error| invalid!("the snapshot cannot be read: {error}");
    input.seek(SeekFrom::Start(COVERED as u64)).map_err(io)?;
    if checksum(&mut input).map_err(io)? != crc {
        return Err(invalid!("the snapshot is damaged: its checksum does not match"));
    }
    input.seek(SeekFrom::Start(HEADER as u64)).map_err(io)?;
    let mut body = ZlibDecoder::new(BufReader::new(input));
    let (manifest, count) = read_manifest(&mut body, room)?;
    let lists = manifest.check_lists(room)?;
    if 4 + count + lists != length {
        return Err(invalid!(
            "the snapshot is damaged or incomplete: it contains {} bytes, but its header states {length}",
            4 + count + lists
        ));
    }
    let snapshot = manifest.read_snapshot(&mut body)?;
    // Reading to the end also checks zlib's checksum.
    let ends = body.read(&mut [0]).is_ok_and(|read| read == 0);
    if !ends || !body.into_inner().fill_buf().is_ok_and(|rest| rest.is_empty()) {
        return Err(invalid!(
            "the snapshot is damaged: its unpacked size differs from the size stated in its header",
        ));
    }
    Ok(snapshot)
}

/// Decompresses the manifest, and returns it along with its length in bytes.
fn read_manifest(body: &mut impl Read, room: Room) -> Result<(Manifest, u64)> {
    let cut_off = |_| invalid!("the snapshot is damaged: its description cannot be unpacked");
    let mut count = [0; 4];
    body.read_exact(&mut count).map_err(cut_off)?;
    let count = u64::from(u32::from_le_bytes(count));
    if count > room.manifest() {
        return Err(invalid!("the snapshot is damaged: its description is too large ({count} bytes)"));
    }
    let mut text = Vec::new();
    // Memory grows with the data read so far, not with the stated length, which may be wrong.
    body.take(count).read_to_end(&mut text).map_err(cut_off)?;
    if text.len() as u64 != count {
        return Err(invalid!("the snapshot is damaged: the end of its description is missing"));
    }
    let text = String::from_utf8(text)
        .map_err(|_| invalid!("the snapshot is damaged: its description is not UTF-8 text"))?;
    let manifest = files::from_toml(&text)
        .map_err(|(_, what)| invalid!("the snapshot's description is invalid: {what}"))?;
    Ok((manifest, count))
}
