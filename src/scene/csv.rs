//! Reads and writes bodies as CSV: the header `x,y,z,vx,vy,vz,m`, then one body per line, in N-body units.
//!
//! Files are untrusted: the number of bodies and the length of a line are limited, every number is checked, and errors
//! name the line and the field. Spaces around fields and empty lines are accepted.

use std::io::{self, BufRead, Write};
use std::path::Path;

use super::lines::{Fault, Lines, parse_file, quoted};
use crate::base::{Bodies, FINITE_LIMIT, Result};

/// Maximum number of bodies in a CSV file.
pub const MAX_BODIES: usize = 1 << 24;

/// Maximum size of a CSV file in bytes: 1024 bytes per line.
const MOST_BYTES: u64 = (MAX_BODIES as u64 + 1) * 1024;

/// Names of the columns in a CSV file of bodies, in order.
pub const HEADER: [&str; 7] = ["x", "y", "z", "vx", "vy", "vz", "m"];

/// Reads the bodies from the CSV file `path`.
///
/// # Errors
/// Returns an error if the file cannot be read. Returns an error with the line and the field if the header is wrong, a
/// line has too few or too many fields, a field is not a finite number of at most [`FINITE_LIMIT`] in size, a mass is
/// negative, or the number of bodies is 0 or above [`MAX_BODIES`].
pub fn load(path: &Path) -> Result<Bodies> {
    parse_file(path, (MOST_BYTES, "a CSV file"), |lines| read(lines, MAX_BODIES))
}

/// Parses CSV text with at most `most` bodies. On error, returns the 1-based line number and a description.
pub(super) fn parse(text: &str, most: usize) -> Result<Bodies, (u64, String)> {
    read(Lines::new(text.as_bytes()), most).map_err(|fault| match fault {
        // Reading from memory cannot fail.
        Fault::Io(why) => (1, why.to_string()),
        Fault::At(line, what) => (line, what),
    })
}

/// Writes `bodies` to `file` as CSV.
///
/// Every number is written as the shortest text that parses back to the same bits. The velocity of a quarantined body
/// (see [`Bodies`]) is written as `NaN`; [`load`] rejects such a file and names the line.
///
/// # Errors
/// Returns an error if writing to `file` fails.
pub fn write(file: &mut dyn Write, bodies: &Bodies) -> io::Result<()> {
    writeln!(file, "{}", header())?;
    for ([x, y, z, m], [vx, vy, vz, _]) in bodies.positions.iter().zip(&bodies.velocities) {
        writeln!(file, "{x:?},{y:?},{z:?},{vx:?},{vy:?},{vz:?},{m:?}")?;
    }
    Ok(())
}

fn read(mut lines: Lines<impl BufRead>, most: usize) -> Result<Bodies, Fault> {
    if !lines.advance()? {
        return Err(Fault::At(1, format!("the file is empty; expected the header {}", header())));
    }
    check_header(lines.text()).map_err(|what| lines.wrong(what))?;
    let mut bodies = Bodies::default();
    while lines.advance()? {
        if bodies.len() == most {
            return Err(lines.wrong(format!("there are more than {most} bodies")));
        }
        let [x, y, z, vx, vy, vz, m] = numbers(lines.text()).map_err(|what| lines.wrong(what))?;
        bodies.push([x, y, z], [vx, vy, vz], m);
    }
    match bodies.is_empty() {
        true => {
            let what = "the file contains no bodies; expected one per line after the header";
            Err(Fault::At(lines.number + 1, what.to_owned()))
        }
        false => Ok(bodies),
    }
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
        Some(extra) => Err(format!("unexpected field {}; expected only {}", quoted(extra), header())),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_bodies_is_bounded() {
        let text = "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n0,0,0,0,0,0,1\n";
        assert!(parse(text, 2).is_ok_and(|bodies| bodies.len() == 2));
        assert!(matches!(parse(text, 1), Err((3, what)) if what.contains("more than 1")));
    }
}
