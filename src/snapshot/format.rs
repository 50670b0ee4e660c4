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

use std::io::{Read, Write};

use flate2::Compression;
use flate2::read::ZlibDecoder;
use flate2::write::ZlibEncoder;

use super::words::{Lists, Words};
use super::{Snapshot, Summary};
use crate::error::{Error, Result};

/// The version of the file: it counts up whenever an older program could not read a newer one's.
pub const VERSION: u16 = 1;
/// More than a snapshot can be meant to have, compressed or not.
pub const MOST_BYTES: u64 = 1 << 35;

const MAGIC: &[u8; 14] = b"\x89GRAVITILE\r\n\x1a\n";
const HEADER: usize = MAGIC.len() + 2 + 4 + 8;
/// The words hold orbits as text at most.
const MOST_WORDS: usize = 1 << 28;

const _: () = assert!(cfg!(target_endian = "little"), "lists are written as they lie in memory");

fn wrong(what: impl Into<String>) -> Error {
    Error::Invalid(what.into())
}

pub(super) fn encode(snapshot: &Snapshot, most: u64) -> Result<Vec<u8>> {
    let (words, lists) = Words::of(snapshot)?;
    let words =
        toml::to_string(&words).map_err(|error| wrong(format!("a snapshot cannot be written: {error}")))?;
    let length = 4 + words.len() as u64 + lists.iter().map(|(_, list)| list.len() as u64).sum::<u64>();
    if words.len() > MOST_WORDS || length > most {
        return Err(wrong(format!("{length} bytes are too many for a snapshot")));
    }
    let mut body = length.to_le_bytes().to_vec();
    // Bits of floating point hardly compress, and nobody wants to wait for it.
    let mut encoder = ZlibEncoder::new(&mut body, Compression::fast());
    let write_all = |encoder: &mut ZlibEncoder<_>| {
        encoder.write_all(&(words.len() as u32).to_le_bytes())?;
        encoder.write_all(words.as_bytes())?;
        lists.iter().try_for_each(|(_, list)| encoder.write_all(list))
    };
    // Memory does not fail.
    write_all(&mut encoder)
        .and_then(|()| encoder.finish().map(drop))
        .map_err(|error| wrong(error.to_string()))?;
    let mut file = MAGIC.to_vec();
    file.extend(VERSION.to_le_bytes());
    file.extend(crc32fast::hash(&body).to_le_bytes());
    file.append(&mut body);
    Ok(file)
}

/// The checksum and the length that the first bytes of a file say.
fn header(bytes: &[u8], most: u64) -> Result<(u32, u64)> {
    let number = |at: usize, len: usize| bytes.get(at..at + len).unwrap_or_default();
    if bytes.get(..MAGIC.len()) != Some(MAGIC) {
        return Err(wrong("it is no snapshot of gravitile"));
    }
    let cut_off = |_| wrong("the snapshot is cut off");
    let version = u16::from_le_bytes(number(MAGIC.len(), 2).try_into().map_err(cut_off)?);
    if version != VERSION {
        let text = format!("the snapshot is of version {version}, and this program reads version {VERSION}");
        return Err(wrong(text));
    }
    let crc = u32::from_le_bytes(number(MAGIC.len() + 2, 4).try_into().map_err(cut_off)?);
    let length = u64::from_le_bytes(number(MAGIC.len() + 6, 8).try_into().map_err(cut_off)?);
    match length > most {
        true => Err(wrong(format!("the snapshot says that it has {length} bytes, which is too much"))),
        false => Ok((crc, length)),
    }
}

pub(super) fn decode(bytes: &[u8], most: u64) -> Result<Snapshot> {
    let (crc, length) = header(bytes, most)?;
    if crc32fast::hash(&bytes[MAGIC.len() + 6..]) != crc {
        return Err(wrong("the snapshot is damaged: its checksum is another"));
    }
    // A length alone reserves nothing: memory grows with what is there.
    let mut body = Vec::new();
    let unpack = ZlibDecoder::new(&bytes[HEADER..]).take(length + 1).read_to_end(&mut body);
    if unpack.is_err() || body.len() as u64 != length {
        return Err(wrong("the snapshot is damaged: it does not unpack to the length that it says"));
    }
    let (count, rest) = body.split_first_chunk().ok_or_else(|| wrong("the snapshot has no words"))?;
    let count = u32::from_le_bytes(*count) as usize;
    let (words, lists) =
        rest.split_at_checked(count).ok_or_else(|| wrong("the snapshot's words are cut off"))?;
    let words = parse(words)?;
    let lists = Lists::new(&words, lists)?;
    words.snapshot(lists)
}

pub(super) fn peek(mut file: impl Read) -> Result<Summary> {
    let cut_off = |_| wrong("the snapshot is cut off");
    let mut bytes = [0; HEADER];
    file.read_exact(&mut bytes).map_err(cut_off)?;
    header(&bytes, MOST_BYTES)?;
    let mut body = ZlibDecoder::new(file);
    let mut count = [0; 4];
    body.read_exact(&mut count).map_err(cut_off)?;
    let count = u64::from(u32::from_le_bytes(count)).min(MOST_WORDS as u64);
    let mut words = Vec::new();
    body.take(count).read_to_end(&mut words).map_err(cut_off)?;
    parse(&words)?.summary()
}

fn parse(words: &[u8]) -> Result<Words> {
    let text = std::str::from_utf8(words).map_err(|_| wrong("the snapshot's words are not UTF-8 text"))?;
    toml::from_str(text)
        .map_err(|error| wrong(format!("the snapshot's words are wrong: {}", error.message())))
}
