//! The file of a snapshot.
//!
//! | bytes | |
//! |---|---|
//! | 14 | `89 "GRAVITILE" 0D 0A 1A 0A`, which no text file begins with and a transfer as text would damage |
//! | 2 | the version |
//! | 4 | CRC-32 of all that follows |
//! | 8 | length of what is compressed |
//! | rest | zlib: the length of the words (4 bytes), the words, the lists one after another |
//!
//! All numbers have their lowest byte first. The words are TOML (see [`words`](super::words)), and tell how long each list is.
//!
//! # What a file may cost
//! A small file can unpack to a large one, so a snapshot is read in this order, and each part has to justify the next:
//! 1. The header says how long the rest is. A length that so few compressed bytes cannot hold, or need not take so many, is refused.
//! 2. The checksum is taken over the file, which needs no memory.
//! 3. The words are unpacked, bounded by [`Room::words`], and parsed.
//! 4. The words say how many bodies or cells there are. [`Words::check_lists`] refuses lists that these numbers do not explain,
//!    or that the length of the file does not ([`Room::bodies`], [`Room::flows`]). What would shrink to less than that, such as a large
//!    fluid at rest, is written without compression.
//! 5. Each list is unpacked into its own memory. A list that there is no memory for is refused with a sentence.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};

use flate2::Compression;
use flate2::bufread::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::words::{Lists, Words};
use super::{Snapshot, Summary};
use crate::error::{Error, Result};

/// The version of the file: it counts up whenever an older program could not read a newer one's.
pub const VERSION: u16 = 1;
/// More than a snapshot can be meant to have, compressed or not.
pub const MOST_BYTES: u64 = 1 << 35;

const MAGIC: &[u8; 14] = b"\x89GRAVITILE\r\n\x1a\n";
/// Bytes up to the checksum, up to what the checksum covers, and up to what is compressed.
const HEAD: usize = MAGIC.len() + 2;
const COVERED: usize = HEAD + 4;
const HEADER: usize = COVERED + 8;
/// The words hold orbits as text at most: a million lines of 64 bytes.
const MOST_WORDS: u64 = 1 << 26;
/// The most that deflate makes of a byte (zlib's technical notes, "Maximum Compression Factor").
const MOST_RATIO: u64 = 1032;

const _: () = assert!(cfg!(target_endian = "little"), "lists are written as they lie in memory");

fn wrong(what: impl Into<String>) -> Error {
    Error::Invalid(what.into())
}

/// What so many compressed bytes may unpack to.
#[derive(Debug, Clone, Copy)]
pub(super) struct Room {
    packed: u64,
}

impl Room {
    /// Bytes of the words: text shrinks to a tenth, with some to spare.
    pub fn words(self) -> u64 {
        (self.packed.saturating_mul(32)).saturating_add(1 << 20).min(MOST_WORDS)
    }

    /// Bytes of lists of bodies: places hardly shrink, though speeds and masses that are all alike do.
    pub fn bodies(self) -> u64 {
        (self.packed.saturating_mul(64)).saturating_add(1 << 26)
    }

    /// Bytes of lists of flows. Cells of a fluid at rest shrink to nothing, so flows of usual sizes have no other bound than this one.
    pub fn flows(self) -> u64 {
        (self.packed.saturating_mul(64)).saturating_add(1 << 28)
    }

    /// Whether this many bytes can be compressed to what there is.
    fn holds(self, length: u64) -> bool {
        let least = length / MOST_RATIO;
        // What cannot be compressed is stored in blocks with headers of their own.
        let most = length + length / 512 + 1024;
        (least..=most).contains(&self.packed)
    }
}

pub(super) fn encode(snapshot: &Snapshot, most: u64) -> Result<Vec<u8>> {
    let (words, lists) = Words::of(snapshot)?;
    let text =
        toml::to_string(&words).map_err(|error| wrong(format!("a snapshot cannot be written: {error}")))?;
    let length = 4 + text.len() as u64 + lists.iter().map(|(_, list)| list.len() as u64).sum::<u64>();
    let too_many = || wrong(format!("{length} bytes are too many for a snapshot"));
    if length > most {
        return Err(too_many());
    }
    let pack = |compression| -> std::io::Result<Vec<u8>> {
        let mut encoder = ZlibEncoder::new(length.to_le_bytes().to_vec(), compression);
        encoder.write_all(&(text.len() as u32).to_le_bytes())?;
        encoder.write_all(text.as_bytes())?;
        lists.iter().try_for_each(|(_, list)| encoder.write_all(list))?;
        encoder.finish()
    };
    // Memory does not fail.
    let pack = |compression| pack(compression).map_err(|error| wrong(error.to_string()));
    // What is written can be read again.
    let check = |body: &[u8]| {
        let room = Room { packed: (body.len() - 8) as u64 };
        if text.len() as u64 > room.words() {
            return Err(too_many());
        }
        words.check_lists(room)
    };
    // Bits of floating point hardly compress, and nobody wants to wait for it.
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

/// The header of a file of `file` bytes.
struct Header {
    crc: u32,
    /// Bytes of what is compressed, before that.
    length: u64,
    room: Room,
}

impl Header {
    fn read(input: &mut impl Read, file: u64, most: u64) -> Result<Self> {
        let mut bytes = Vec::with_capacity(HEADER);
        let cut_off = || wrong("the snapshot is cut off");
        input.take(HEADER as u64).read_to_end(&mut bytes).map_err(|_| cut_off())?;
        if !bytes.starts_with(MAGIC) {
            return Err(wrong("it is no snapshot of gravitile"));
        }
        let number = |from: usize, to: usize| -> Result<u64> {
            let bytes = bytes.get(from..to).ok_or_else(cut_off)?;
            Ok(bytes.iter().rev().fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
        };
        let version = number(MAGIC.len(), HEAD)?;
        if version != u64::from(VERSION) {
            let text =
                format!("the snapshot is of version {version}, and this program reads version {VERSION}");
            return Err(wrong(text));
        }
        let (crc, length) = (number(HEAD, COVERED)? as u32, number(COVERED, HEADER)?);
        let packed = file.checked_sub(HEADER as u64).ok_or_else(cut_off)?;
        if length > most {
            return Err(wrong(format!("the snapshot says that it has {length} bytes, which is too much")));
        }
        let room = Room { packed };
        match room.holds(length) {
            true => Ok(Self { crc, length, room }),
            false => Err(wrong(format!(
                "the snapshot is damaged or cut off: its {packed} compressed bytes do not fit the {length} bytes that its header states"
            ))),
        }
    }
}

/// The checksum of all that `input` still holds.
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

/// Reads a snapshot of `file` bytes, which unpack to no more than `most`.
pub(super) fn decode(mut input: impl Read + Seek, file: u64, most: u64) -> Result<Snapshot> {
    let Header { crc, length, room } = Header::read(&mut input, file, most)?;
    let io = |error: std::io::Error| wrong(format!("the snapshot cannot be read: {error}"));
    input.seek(SeekFrom::Start(COVERED as u64)).map_err(io)?;
    if checksum(&mut input).map_err(io)? != crc {
        return Err(wrong("the snapshot is damaged: its checksum is another"));
    }
    input.seek(SeekFrom::Start(HEADER as u64)).map_err(io)?;
    let mut body = ZlibDecoder::new(BufReader::new(input));
    let (words, count) = read_words(&mut body, room)?;
    let lists = words.check_lists(room)?;
    if 4 + count + lists != length {
        return Err(wrong(format!(
            "the snapshot's words and lists have {} bytes, and it says {length}",
            4 + count + lists
        )));
    }
    let lists = Lists::read(&words, &mut body)?;
    // Reading on checks zlib's own checksum too.
    let ends = body.read(&mut [0]).is_ok_and(|read| read == 0);
    if !ends || !body.into_inner().fill_buf().is_ok_and(|rest| rest.is_empty()) {
        return Err(wrong("the snapshot is damaged: it does not unpack to the length that it says"));
    }
    words.snapshot(lists)
}

pub(super) fn peek(mut input: impl Read, file: u64) -> Result<Summary> {
    let Header { room, .. } = Header::read(&mut input, file, MOST_BYTES)?;
    let (words, _) = read_words(&mut ZlibDecoder::new(BufReader::new(input)), room)?;
    words.summary()
}

/// Unpacks the words, and tells how many bytes they have.
fn read_words(body: &mut impl Read, room: Room) -> Result<(Words, u64)> {
    let cut_off = |_| wrong("the snapshot is damaged: its words do not unpack");
    let mut count = [0; 4];
    body.read_exact(&mut count).map_err(cut_off)?;
    let count = u64::from(u32::from_le_bytes(count));
    if count > room.words() {
        return Err(wrong(format!("the snapshot says that its words have {count} bytes, which is too much")));
    }
    let mut words = Vec::new();
    // A length alone reserves nothing: memory grows with what is there.
    body.take(count).read_to_end(&mut words).map_err(cut_off)?;
    if words.len() as u64 != count {
        return Err(wrong("the snapshot's words are cut off"));
    }
    let text = String::from_utf8(words).map_err(|_| wrong("the snapshot's words are not UTF-8 text"))?;
    let words = crate::files::from_toml(&text)
        .map_err(|(_, what)| wrong(format!("the snapshot's words are wrong: {what}")))?;
    Ok((words, count))
}
