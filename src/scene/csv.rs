//! Reads and writes bodies as CSV: the header `x,y,z,vx,vy,vz,m`, then one body per line, in N-body units.
//!
//! Files are untrusted: the number of bodies and the length of a line are bounded, every number is checked, and an
//! error names line and field. Windows line ends, a byte order mark, blanks around fields and empty lines are
//! accepted.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use crate::base::bodies::{Bodies, FINITE_LIMIT};
use crate::base::error::{Error, Result};
use crate::base::files;

/// Maximum number of bodies in a file.
pub const MAX_BODIES: usize = 1 << 24;

/// Maximum length of a line in bytes. Seven `f32` take less than 128.
pub const MAX_LINE: usize = 1024;

/// Maximum size of a file in bytes.
const MOST_BYTES: u64 = (MAX_BODIES as u64 + 1) * MAX_LINE as u64;

/// Names of the columns, in order.
pub const HEADER: [&str; 7] = ["x", "y", "z", "vx", "vy", "vz", "m"];

/// Reads the bodies in the file `path`.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be read. Returns [`Error::File`] with line and field if the header
/// differs, a line has too few or too many fields, a field is not a number, a number is not finite or beyond
/// [`FINITE_LIMIT`], a mass is negative, or the number of bodies is 0 or above [`MAX_BODIES`].
pub fn load(path: &Path) -> Result<Bodies> {
    let io_error = |source| Error::Io { doing: "read", path: path.to_owned(), source };
    let (file, _) = files::open(path, MOST_BYTES, "a CSV file")?;
    read(BufReader::new(file), MAX_BODIES).map_err(|fault| match fault {
        Fault::Io(source) => io_error(source),
        Fault::At(line, what) => Error::File { path: path.to_owned(), line, what },
    })
}

/// Parses CSV text with at most `most` bodies.
///
/// # Errors
/// Returns the line, counted from 1, and what is wrong in it.
pub(super) fn parse(text: &str, most: usize) -> Result<Bodies, (u64, String)> {
    read(text.as_bytes(), most).map_err(|fault| match fault {
        // Reading from memory cannot fail.
        Fault::Io(why) => (1, why.to_string()),
        Fault::At(line, what) => (line, what),
    })
}

/// Writes `bodies` to `file`, for example an [`OutputFile`](crate::base::files::OutputFile).
///
/// Every number is written as the shortest text that reads back to the same bits. A quarantined body (see [`Bodies`])
/// keeps its `NaN` velocity, so that the file is what was on the screen; [`load`] refuses such a file and names the
/// line.
///
/// # Errors
/// Returns the errors of `file`.
pub fn write(file: &mut dyn Write, bodies: &Bodies) -> io::Result<()> {
    writeln!(file, "{}", header())?;
    for ([x, y, z, m], [vx, vy, vz, _]) in bodies.positions.iter().zip(&bodies.velocities) {
        // `{:?}` writes the shortest text that reads back to the same bits, with an exponent where that is shorter.
        writeln!(file, "{x:?},{y:?},{z:?},{vx:?},{vy:?},{vz:?},{m:?}")?;
    }
    Ok(())
}

/// The reason why reading stopped.
enum Fault {
    Io(io::Error),
    At(u64, String),
}

// Reads line by line instead of with a general CSV reader, so that the length of each line is bounded before it is
// parsed, and line numbers in errors match those of an editor.
fn read(mut input: impl BufRead, most: usize) -> Result<Bodies, Fault> {
    let mut bodies = Bodies::default();
    let mut header_seen = false;
    let mut line = Vec::new();
    let mut number = 0;
    while next_line(&mut input, &mut line).map_err(Fault::Io)? {
        number += 1;
        let at = |what| Fault::At(number, what);
        let text = text_of(&line, number == 1).map_err(at)?;
        if text.is_empty() {
            continue;
        }
        if !header_seen {
            check_header(text).map_err(at)?;
            header_seen = true;
        } else if bodies.len() == most {
            return Err(at(format!("there are more than {most} bodies")));
        } else {
            let [x, y, z, vx, vy, vz, m] = numbers(text).map_err(at)?;
            bodies.push([x, y, z], [vx, vy, vz], m);
        }
    }
    if !header_seen {
        Err(Fault::At(1, format!("the file is empty; expected the header {}", header())))
    } else if bodies.is_empty() {
        Err(Fault::At(number + 1, "there are no bodies; expected one per line after the header".to_owned()))
    } else {
        Ok(bodies)
    }
}

/// Reads a line, or the first `MAX_LINE + 1` bytes of a longer one. Returns false at the end of the input.
pub(super) fn next_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<bool> {
    line.clear();
    Ok(input.take(MAX_LINE as u64 + 1).read_until(b'\n', line)? > 0)
}

pub(super) fn text_of(line: &[u8], first: bool) -> Result<&str, String> {
    if line.len() > MAX_LINE {
        return Err(format!("the line is longer than {MAX_LINE} bytes"));
    }
    let text = std::str::from_utf8(line).map_err(|_| "the line is not UTF-8 text".to_owned())?;
    let text = if first { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
    Ok(text.trim())
}

fn header() -> String {
    HEADER.join(",")
}

fn check_header(text: &str) -> Result<(), String> {
    let fields: Vec<&str> = text.split(',').map(str::trim).collect();
    if fields == HEADER {
        return Ok(());
    }
    let wrong = fields.iter().zip(HEADER).position(|(field, name)| *field != name);
    Err(match wrong {
        Some(i) => format!("field {} of the header is {}; expected {}", i + 1, quoted(fields[i]), header()),
        None => format!("the header has {} fields; expected {}", fields.len(), header()),
    })
}

fn numbers(text: &str) -> Result<[f32; 7], String> {
    let mut fields = text.split(',').map(str::trim);
    let mut row = [0.0; 7];
    for (name, value) in HEADER.into_iter().zip(&mut row) {
        let field = fields.next().ok_or_else(|| format!("field {name} is missing; expected {}", header()))?;
        *value = number(name, field)?;
    }
    match fields.next() {
        Some(extra) => Err(format!("field {} is one too many; expected {}", quoted(extra), header())),
        None => Ok(row),
    }
}

fn number(name: &str, field: &str) -> Result<f32, String> {
    let lowest = if name == "m" { 0.0 } else { -FINITE_LIMIT };
    match field.parse::<f32>() {
        Ok(value) if (lowest..=FINITE_LIMIT).contains(&value) => Ok(value),
        _ => Err(format!(
            "field {name} is {}; expected a number from {lowest:?} to {FINITE_LIMIT:?}",
            quoted(field)
        )),
    }
}

/// Returns the first characters of a text from a file, quoted and escaped for display.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = text.chars().take(SHOWN).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{dots}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_bodies_is_bounded() {
        let text = "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n0,0,0,0,0,0,1\n";
        assert!(read(text.as_bytes(), 2).is_ok_and(|bodies| bodies.len() == 2));
        assert!(matches!(read(text.as_bytes(), 1), Err(Fault::At(3, what)) if what.contains("more than 1")));
    }
}
