//! Damages files at random places, and with unusual numbers.

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, RngExt};

/// Unusual numbers to put into text files.
pub(super) const TEXTS: [&str; 20] = [
    "0",
    "-0.0",
    "-1",
    "1e38",
    "-1e38",
    "1e-45",
    "3e18",
    "nan",
    "inf",
    "-inf",
    "5000",
    "1000000",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "99999999999999999999",
    "1e400",
    "0x7f",
    "true",
    "\"\\u001b[31mred\"",
];

/// Unusual numbers to put into binary files.
pub(super) const FLOATS: [f32; 14] = [
    0.0,
    -0.0,
    -1.0,
    5000.0,
    1e6,
    -1e6,
    1e18,
    1.1e18,
    1e38,
    -1e38,
    1e-45,
    f32::NAN,
    f32::INFINITY,
    f32::NEG_INFINITY,
];

const WORDS: [u32; 9] = [0, 1, 2, 3, 0x7fff_ffff, 0x8000_0000, 0xffff_ffff, 1 << 28, 5000];

/// Returns `whole` with one to three random errors, most of them near the start, where headers are.
pub(super) fn damaged(whole: &[u8], rng: &mut StdRng) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for _ in 0..rng.random_range(1..4) {
        damage(&mut bytes, rng);
    }
    bytes
}

fn place(bytes: &[u8], rng: &mut StdRng) -> usize {
    let most = [64, 4096, usize::MAX].choose(rng).copied().unwrap_or(64).min(bytes.len().max(1));
    rng.random_range(0..most)
}

fn damage(bytes: &mut Vec<u8>, rng: &mut StdRng) {
    let at = place(bytes, rng);
    let end = (at + rng.random_range(1..64)).min(bytes.len());
    let overwrite = |bytes: &mut Vec<u8>, at: usize, with: &[u8]| {
        bytes.iter_mut().skip(at).zip(with).for_each(|(byte, new)| *byte = *new);
    };
    let number = |rng: &mut StdRng| FLOATS.choose(rng).copied().unwrap_or_default();
    let word = |rng: &mut StdRng| WORDS.choose(rng).copied().unwrap_or_default();
    match rng.random_range(0..11) {
        0 => bytes.truncate(at),
        1 if !bytes.is_empty() => bytes[at] ^= 1 << rng.random_range(0..8),
        2 => overwrite(bytes, at, &number(rng).to_le_bytes()),
        3 => overwrite(bytes, at / 4 * 4, &number(rng).to_be_bytes()),
        4 => overwrite(bytes, at / 4 * 4, &word(rng).to_le_bytes()),
        5 => overwrite(bytes, at / 4 * 4, &word(rng).to_be_bytes()),
        6 => {
            let part = bytes[at.min(end)..end].to_vec();
            let at = at.min(bytes.len());
            bytes.splice(at..at, part);
        }
        7 => drop(bytes.drain(at.min(end)..end)),
        8 => {
            let noise: Vec<u8> = (0..rng.random_range(1..9)).map(|_| rng.next_u32() as u8).collect();
            overwrite(bytes, at, &noise);
        }
        // Replaces one of the numbers in a text.
        _ => {
            let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"+-.".contains(byte);
            let Some(from) = bytes.iter().skip(at).position(u8::is_ascii_digit) else { return };
            let from = at + from;
            let len = bytes[from..].iter().position(|byte| !is_part(byte)).unwrap_or(bytes.len() - from);
            let text = TEXTS.choose(rng).copied().unwrap_or_default();
            bytes.splice(from..from + len, text.bytes());
        }
    }
}
