//! Reads bodies from Tipsy files, the format of PKDGRAV, GASOLINE, ChaNGa and TIPSY (N-Body Shop, University of
//! Washington).
//!
//! The header has 32 bytes: the time as f64; as u32 the number of particles, the number of dimensions, and the
//! numbers of gas, dark and star particles; four unused bytes. Then follow the gas particles with 12 f32 each, the
//! dark ones with 9, and the stars with 11; each starts with mass, position and velocity. The "standard" form is
//! big-endian, the "native" form little-endian; the number of dimensions tells them apart. Numbers keep the units of
//! the file.

use std::io::{BufReader, Read};
use std::path::Path;

use super::csv::MAX_BODIES;
use crate::base::bodies::{Bodies, FINITE_LIMIT};
use crate::base::error::{Error, Result};
use crate::base::files;

/// File name extensions of Tipsy files.
pub const EXTENSIONS: [&str; 2] = ["tipsy", "bin"];

const HEADER: u64 = 32;
/// Maximum size of a file in bytes.
const MOST_BYTES: u64 = HEADER + 48 * MAX_BODIES as u64;
/// Number of f32 of a gas, a dark and a star particle.
const FIELDS: [u64; 3] = [12, 9, 11];

/// Reads the bodies in the file `path`: gas, dark matter and stars alike.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be read. Returns [`Error::Invalid`] if its length differs from what its
/// header says, if the number of bodies is 0 or above [`MAX_BODIES`], or if a number is not finite or a mass
/// negative.
pub fn load(path: &Path) -> Result<Bodies> {
    let io_error = |source| Error::Io { doing: "read", path: path.to_owned(), source };
    let (file, length) = files::open(path, MOST_BYTES, "a Tipsy file")?;
    read(BufReader::new(file), length).map_err(|fault| match fault {
        Fault::Io(source) => io_error(source),
        Fault::Wrong(what) => Error::Invalid(format!("{}: {what}", path.display())),
    })
}

/// The reason why reading stopped.
enum Fault {
    Io(std::io::Error),
    Wrong(String),
}

fn read(mut input: impl Read, length: u64) -> Result<Bodies, Fault> {
    let mut header = [0; HEADER as usize];
    if length < HEADER {
        return Err(Fault::Wrong(format!(
            "{length} bytes are too few for a Tipsy file, whose header alone has {HEADER} bytes"
        )));
    }
    input.read_exact(&mut header).map_err(Fault::Io)?;
    let word = |at: usize| -> [u8; 4] { std::array::from_fn(|byte| header[at + byte]) };
    let number = |from: fn([u8; 4]) -> u32, at: usize| from(word(at));
    let from = [u32::from_be_bytes, u32::from_le_bytes].into_iter().find(|from| number(*from, 12) == 3);
    let Some(from) = from else {
        return Err(Fault::Wrong("it is not a Tipsy file with three dimensions".to_owned()));
    };
    let [all, gas, dark, stars] = [8, 16, 20, 24].map(|at| u64::from(number(from, at)));
    let kinds = [gas, dark, stars];
    if kinds.iter().sum::<u64>() != all {
        let text = format!(
            "it is damaged: its header gives {all} particles, but {gas} gas, {dark} dark and {stars} stars"
        );
        return Err(Fault::Wrong(text));
    }
    if !(1..=MAX_BODIES as u64).contains(&all) {
        return Err(Fault::Wrong(format!(
            "it has {all} particles; the number must be from 1 to {MAX_BODIES}"
        )));
    }
    let wanted = HEADER + kinds.iter().zip(FIELDS).map(|(count, fields)| 4 * count * fields).sum::<u64>();
    if length != wanted {
        let text = format!(
            "it has {length} bytes, but should have {wanted} by its header: it is cut off or not a Tipsy file"
        );
        return Err(Fault::Wrong(text));
    }
    let is_big = from(*b"\0\0\0\x01") == 1;
    let no_memory = || Fault::Wrong(format!("not enough memory for its {all} particles"));
    let mut bodies = Bodies::try_with_capacity(all as usize).ok_or_else(no_memory)?;
    for (count, fields) in kinds.into_iter().zip(FIELDS) {
        let mut row = vec![0; 4 * fields as usize];
        for _ in 0..count {
            input.read_exact(&mut row).map_err(Fault::Io)?;
            let number = |field: usize| {
                let bytes = std::array::from_fn(|byte| row[4 * field + byte]);
                if is_big { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) }
            };
            let [m, x, y, z, vx, vy, vz] = std::array::from_fn(number);
            let finite = [x, y, z, vx, vy, vz].iter().all(|c| c.abs() <= FINITE_LIMIT);
            if !(finite && (0.0..=FINITE_LIMIT).contains(&m)) {
                let nth = bodies.len() + 1;
                let text =
                    format!("particle {nth} has a value that is not finite or too large, or a mass below 0");
                return Err(Fault::Wrong(text));
            }
            bodies.push([x, y, z], [vx, vy, vz], m);
        }
    }
    Ok(bodies)
}
