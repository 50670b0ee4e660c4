//! Files of the University of Bristol's teaching code (UoB-HPC/advanced-hpc-lbm): reads parameters and obstacles,
//! writes the final state and the mean speeds.
//!
//! Files are untrusted: lines, numbers and sizes are bounded, and an error names the line.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use crate::base::error::{Error, Result};
use crate::base::files;
use crate::base::flow::{Flow, MAX_CELLS, Walls};
use crate::scene::csv::{next_line, quoted, text_of};

/// Content of a parameter file: seven numbers, one per line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Columns.
    pub nx: usize,
    /// Rows.
    pub ny: usize,
    /// Number of steps.
    pub steps: u32,
    /// Length in the Reynolds number, in cells.
    pub reynolds_dim: u32,
    /// Initial mass in a cell.
    pub density: f32,
    /// Acceleration of the flow.
    pub accel: f32,
    /// Relaxation rate: the share of the way to equilibrium per step.
    pub omega: f32,
}

impl Case {
    /// Returns the grid without obstacles.
    pub fn open(&self) -> Walls {
        Walls::new(self.nx, self.ny, self.reynolds_dim as f32, |_, _| false)
    }

    /// Returns the parameters as `--set` takes them, with the teaching code's collision operator.
    pub fn params(&self) -> [(&'static str, String); 5] {
        let Self { density, accel, omega, .. } = *self;
        [
            ("drive", "row".to_owned()),
            ("collision", "bgk".to_owned()),
            ("density", density.to_string()),
            ("accel", accel.to_string()),
            ("omega", omega.to_string()),
        ]
    }
}

/// Maximum size of a parameter file, and of the list of obstacles per cell, in bytes.
const MOST_BYTES: u64 = 1 << 16;
const MOST_CELL_BYTES: u64 = 64;
/// Maximum number of columns or rows.
const MAX_SIDE: usize = 1 << 20;
const SIDE: &str = "a whole number from 3 to 1048576";
/// Accepted initial mass in a cell.
pub const DENSITY: RangeInclusive<f32> = 1e-3..=10.0;
/// Accepted acceleration.
pub const ACCEL: RangeInclusive<f32> = 1e-8..=0.5;
/// Accepted relaxation rate.
pub const OMEGA: RangeInclusive<f32> = 0.01..=1.999;

/// Reads a parameter file.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be read; [`Error::File`] with the line if a line is missing or extra, or
/// if a value is not a number in its range.
pub fn load_case(path: &Path) -> Result<Case> {
    read(path, (MOST_BYTES, "a parameter file"), |input| {
        let mut lines = Lines::new(input);
        let nx = lines.number("nx", SIDE, 3..=MAX_SIDE)?;
        let ny = lines.number("ny", SIDE, 3..=MAX_SIDE)?;
        if nx * ny > MAX_CELLS {
            return Err(lines.wrong(format!("{nx} × {ny} cells are too many; the maximum is {MAX_CELLS}")));
        }
        let case = Case {
            nx,
            ny,
            steps: lines.number("steps", "a whole number", 0..=u32::MAX)?,
            reynolds_dim: lines.number("reynolds_dim", "a whole number from 1", 1..=1 << 20)?,
            density: lines.number("density", "a number from 0.001 to 10", DENSITY)?,
            accel: lines.number("accel", "a number from 1e-8 to 0.5", ACCEL)?,
            omega: lines.number("omega", "a number from 0.01 to 1.999", OMEGA)?,
        };
        match lines.next()? {
            Some(extra) => {
                Err(lines.wrong(format!("{} is one line too many; expected seven lines", quoted(&extra))))
            }
            None => Ok(case),
        }
    })
}

/// Reads the obstacles of a grid: lines `x y 1` in any order.
///
/// # Errors
/// Returns [`Error::Io`] if the file cannot be read; [`Error::File`] with the line if a line does not hold these
/// three numbers or lies outside the grid, or if all cells are blocked.
pub fn load_obstacles(path: &Path, case: &Case) -> Result<Walls> {
    let most = MOST_BYTES + (case.nx * case.ny) as u64 * MOST_CELL_BYTES;
    read(path, (most, "a list of this grid's obstacles"), |input| {
        let mut lines = Lines::new(input);
        let mut walls = case.open();
        while let Some(text) = lines.next()? {
            let fields: Vec<&str> = text.split_whitespace().collect();
            let [x, y, blocked] = fields[..] else {
                return Err(lines.wrong(format!("{} is not three numbers; expected x y 1", quoted(&text))));
            };
            let inside =
                |side: usize| format!("a whole number from 0 to {}, which is within the grid", side - 1);
            let x = lines.parse("x", x, &inside(case.nx), 0..=case.nx - 1)?;
            let y = lines.parse("y", y, &inside(case.ny), 0..=case.ny - 1)?;
            lines.parse("blocked", blocked, "1", 1..=1u8)?;
            walls.solid[y * case.nx + x] = true;
        }
        match walls.free() {
            0 => Err(lines.wrong("all cells are blocked; leave at least one free".to_owned())),
            _ => Ok(walls),
        }
    })
}

/// Writes `x y u_x u_y |u| pressure blocked` of every cell, row by row. A blocked cell gets the pressure of a fluid
/// at rest with this `density`.
///
/// # Errors
/// Returns the errors of `file`.
pub fn write_final_state(file: &mut dyn Write, flow: &Flow, density: f32) -> io::Result<()> {
    for (i, &solid) in flow.walls.solid.iter().enumerate() {
        let (rho, [ux, uy]) = if solid { (f64::from(density), [0.0; 2]) } else { flow.at(i) };
        let (x, y) = (i % flow.walls.nx, i / flow.walls.nx);
        let numbers = [ux, uy, ux.hypot(uy), rho / 3.0].map(scientific).join(" ");
        writeln!(file, "{x} {y} {numbers} {}", u8::from(solid))?;
    }
    Ok(())
}

/// Writes the mean speed after each step, numbered from 0.
///
/// # Errors
/// Returns the errors of `file`.
pub fn write_mean_speeds(file: &mut dyn Write, speeds: &[f64]) -> io::Result<()> {
    for (step, speed) in speeds.iter().enumerate() {
        writeln!(file, "{step}:\t{}", scientific(*speed))?;
    }
    Ok(())
}

/// Formats a number as C's `%.12E` does: the exponent has a sign and at least two digits.
fn scientific(x: f64) -> String {
    let text = format!("{x:.12E}");
    match text.split_once('E') {
        Some((mantissa, exponent)) => {
            let (sign, digits) = exponent.strip_prefix('-').map_or(('+', exponent), |digits| ('-', digits));
            format!("{mantissa}E{sign}{digits:0>2}")
        }
        None => text,
    }
}

/// The reason why reading stopped.
enum Fault {
    Io(io::Error),
    At(u64, String),
}

fn read<T>(
    path: &Path,
    (most, what): (u64, &str),
    with: impl FnOnce(BufReader<File>) -> Result<T, Fault>,
) -> Result<T> {
    let io_error = |source| Error::Io { doing: "read", path: path.to_owned(), source };
    let (file, _) = files::open(path, most, what)?;
    with(BufReader::new(file)).map_err(|fault| match fault {
        Fault::Io(source) => io_error(source),
        Fault::At(line, what) => Error::File { path: path.to_owned(), line, what },
    })
}

/// The lines of a file that are not empty, with their numbers.
struct Lines<R> {
    input: R,
    number: u64,
}

impl<R: BufRead> Lines<R> {
    fn new(input: R) -> Self {
        Self { input, number: 0 }
    }

    fn wrong(&self, what: String) -> Fault {
        Fault::At(self.number.max(1), what)
    }

    fn next(&mut self) -> Result<Option<String>, Fault> {
        let mut line = Vec::new();
        while next_line(&mut self.input, &mut line).map_err(Fault::Io)? {
            self.number += 1;
            let text = text_of(&line, self.number == 1).map_err(|what| self.wrong(what))?;
            if !text.is_empty() {
                return Ok(Some(text.to_owned()));
            }
        }
        Ok(None)
    }

    /// Parses the number `name` on the next line.
    fn number<T: Number>(
        &mut self,
        name: &str,
        expected: &str,
        range: RangeInclusive<T>,
    ) -> Result<T, Fault> {
        match self.next()? {
            Some(text) => self.parse(name, &text, expected, range),
            None => {
                let all = "nx, ny, steps, reynolds_dim, density, accel, omega";
                let what = format!("the line with {name} is missing; expected seven lines: {all}");
                Err(Fault::At(self.number + 1, what))
            }
        }
    }

    fn parse<T: Number>(
        &self,
        name: &str,
        text: &str,
        expected: &str,
        range: RangeInclusive<T>,
    ) -> Result<T, Fault> {
        let parsed = text.parse().ok().filter(|number| range.contains(number));
        parsed.ok_or_else(|| self.wrong(format!("{name} is {}; expected {expected}", quoted(text))))
    }
}

trait Number: FromStr + PartialOrd {}
impl<T: FromStr + PartialOrd> Number for T {}
