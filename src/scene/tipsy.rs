//! Reads bodies from Tipsy files, the format of PKDGRAV, GASOLINE and ChaNGa (N-Body Shop, University of Washington).
//!
//! The header has 32 bytes: the time (f64); the numbers of particles, dimensions, gas particles, dark matter particles
//! and stars (u32 each); and four unused bytes. The particles follow: gas with 12 f32 values each, then dark matter
//! with 9, then stars with 11; each starts with mass, position and velocity. The "standard" form is big-endian, the
//! "native" form little-endian; only one of them gives a valid number of dimensions. Units are not converted.

use std::io::{BufReader, Read};
use std::path::Path;

use super::csv::MAX_BODIES;
use crate::base::{Bodies, Error, FINITE_LIMIT, Result, files, invalid};

/// File name extensions of Tipsy files.
pub const EXTENSIONS: [&str; 2] = ["tipsy", "bin"];

const HEADER: u64 = 32;
/// Maximum size of a Tipsy file in bytes.
const MOST_BYTES: u64 = HEADER + 48 * MAX_BODIES as u64;
/// Number of f32 values in a gas particle, a dark matter particle and a star particle.
const FIELDS: [u64; 3] = [12, 9, 11];

/// Reads all bodies (gas, dark matter and stars) from the Tipsy file `path`.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be read. Returns [`Error::Invalid`] if the file's length contradicts its
/// header, if the number of bodies is 0 or above [`MAX_BODIES`], or if a number is not finite or a mass is negative.
pub fn load(path: &Path) -> Result<Bodies> {
    let (file, length) = files::open(path, MOST_BYTES, "a Tipsy file")?;
    let mut input = BufReader::new(file);
    let failed = Error::io("read", path);
    let wrong = |what: String| Err(invalid!("{}: {what}", path.display()));
    let mut header = [0; HEADER as usize];
    if length < HEADER {
        return wrong(format!(
            "{length} bytes are too few for a Tipsy file, whose header alone has {HEADER} bytes"
        ));
    }
    input.read_exact(&mut header).map_err(&failed)?;
    let word = |at: usize| -> [u8; 4] { std::array::from_fn(|byte| header[at + byte]) };
    let number = |from: fn([u8; 4]) -> u32, at: usize| from(word(at));
    let from = [u32::from_be_bytes, u32::from_le_bytes].into_iter().find(|from| number(*from, 12) == 3);
    let Some(from) = from else {
        return wrong("it is not a Tipsy file with three dimensions".to_owned());
    };
    let [all, gas, dark, stars] = [8, 16, 20, 24].map(|at| u64::from(number(from, at)));
    let kinds = [gas, dark, stars];
    if kinds.iter().sum::<u64>() != all {
        return wrong(format!(
            "it is damaged: its header states {all} particles in total, but {gas} of gas, {dark} of dark matter and {stars} stars"
        ));
    }
    if !(1..=MAX_BODIES as u64).contains(&all) {
        return wrong(format!("it has {all} particles; the number must be from 1 to {MAX_BODIES}"));
    }
    let wanted = HEADER + kinds.iter().zip(FIELDS).map(|(count, fields)| 4 * count * fields).sum::<u64>();
    if length != wanted {
        return wrong(format!(
            "it has {length} bytes, but {wanted} according to its header: it is incomplete or not a Tipsy file"
        ));
    }
    let is_big = from(*b"\0\0\0\x01") == 1;
    let Some(mut bodies) = Bodies::try_with_capacity(all as usize) else {
        return wrong(format!("not enough memory for its {all} particles"));
    };
    for (count, fields) in kinds.into_iter().zip(FIELDS) {
        let mut row = vec![0; 4 * fields as usize];
        for _ in 0..count {
            input.read_exact(&mut row).map_err(&failed)?;
            let number = |field: usize| {
                let bytes = std::array::from_fn(|byte| row[4 * field + byte]);
                if is_big { f32::from_be_bytes(bytes) } else { f32::from_le_bytes(bytes) }
            };
            let [m, x, y, z, vx, vy, vz] = std::array::from_fn(number);
            let finite = [x, y, z, vx, vy, vz].iter().all(|c| c.abs() <= FINITE_LIMIT);
            if !(finite && (0.0..=FINITE_LIMIT).contains(&m)) {
                let nth = bodies.len() + 1;
                return wrong(format!(
                    "particle {nth} has a value that is not finite or too large, or a mass below 0"
                ));
            }
            bodies.push([x, y, z], [vx, vy, vz], m);
        }
    }
    Ok(bodies)
}
