//! Reads and writes the files of the University of Bristol's lattice Boltzmann code (UoB-HPC/advanced-hpc-lbm).
//!
//! Files are untrusted: lines, numbers and sizes are limited, and an error names the line.

use std::fmt::Debug;
use std::io::{self, BufRead, Write};
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use crate::base::{Flow, MAX_CELLS, Result, Walls};
use crate::scene::lines::{Fault, Lines, parse_file, quoted};

/// Contents of a parameter file of UoB-HPC/advanced-hpc-lbm: seven numbers, one per line.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Case {
    /// Number of columns in the grid.
    pub nx: usize,
    /// Number of rows in the grid.
    pub ny: usize,
    /// Number of steps in a run.
    pub steps: u32,
    /// Characteristic length for the Reynolds number, in cells.
    pub reynolds_dim: u32,
    /// Initial mass of fluid in each cell.
    pub density: f32,
    /// The `accel` value of the parameter file, which sets the force that drives the flow.
    pub accel: f32,
    /// Relaxation rate: the fraction of the distance to equilibrium that the fluid covers in each step.
    pub omega: f32,
}

impl Case {
    /// Returns a grid of `nx` × `ny` cells without obstacles.
    pub fn open(&self) -> Walls {
        Walls::new(self.nx, self.ny, self.reynolds_dim as f32, |_, _| false)
    }

    /// Returns the parameters in the format of `--set`, with the driving force and collision operator of the Bristol
    /// code.
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

/// Maximum size of a parameter file in bytes. An obstacle file may have `MOST_CELL_BYTES` more for each grid cell.
const MOST_BYTES: u64 = 1 << 16;
/// Maximum size of an obstacle file for each grid cell, in bytes, in addition to `MOST_BYTES`.
const MOST_CELL_BYTES: u64 = 64;
/// Maximum number of columns or rows in a grid.
const MAX_SIDE: usize = 1 << 20;
/// Accepted values for the initial mass of a cell in a parameter file.
pub const DENSITY: RangeInclusive<f32> = 1e-3..=10.0;
/// Accepted values for the acceleration in a parameter file.
pub const ACCEL: RangeInclusive<f32> = 1e-8..=0.5;
/// Accepted values for the relaxation rate in a parameter file.
pub const OMEGA: RangeInclusive<f32> = 0.01..=1.999;

/// Reads a parameter file of UoB-HPC/advanced-hpc-lbm.
///
/// # Errors
/// Returns an error, with the line if known, if the file cannot be read, a line is missing or extra, or a value is not
/// a number in its range.
pub fn load_case(path: &Path) -> Result<Case> {
    parse_file(path, (MOST_BYTES, "a parameter file"), |mut lines| {
        let nx = next(&mut lines, "nx", WHOLE, 3..=MAX_SIDE)?;
        let ny = next(&mut lines, "ny", WHOLE, 3..=MAX_SIDE)?;
        if nx * ny > MAX_CELLS {
            return Err(lines.wrong(format!("{nx} × {ny} cells are too many; the maximum is {MAX_CELLS}")));
        }
        let case = Case {
            nx,
            ny,
            steps: next(&mut lines, "steps", WHOLE, 0..=u32::MAX)?,
            reynolds_dim: next(&mut lines, "reynolds_dim", WHOLE, 1..=1 << 20)?,
            density: next(&mut lines, "density", "a number", DENSITY)?,
            accel: next(&mut lines, "accel", "a number", ACCEL)?,
            omega: next(&mut lines, "omega", "a number", OMEGA)?,
        };
        match lines.advance()? {
            true => {
                Err(lines
                    .wrong(format!("unexpected line {}; expected only seven lines", quoted(lines.text()))))
            }
            false => Ok(case),
        }
    })
}

/// Reads the obstacles of a grid from a file with lines of the form `x y 1`, in any order.
///
/// # Errors
/// Returns an error, with the line if known, if the file cannot be read, a line does not have this form, a cell lies
/// outside the grid, or all cells are blocked.
pub fn load_obstacles(path: &Path, case: &Case) -> Result<Walls> {
    let most = MOST_BYTES + (case.nx * case.ny) as u64 * MOST_CELL_BYTES;
    parse_file(path, (most, "an obstacle file for this grid"), |mut lines| {
        let mut walls = case.open();
        while lines.advance()? {
            let fields: Vec<&str> = lines.text().split_whitespace().collect();
            let [x, y, blocked] = fields[..] else {
                let text = quoted(lines.text());
                return Err(lines.wrong(format!("{text} is not three numbers; expected x y 1")));
            };
            let x = parse(&lines, "x", x, WHOLE, 0..=case.nx - 1)?;
            let y = parse(&lines, "y", y, WHOLE, 0..=case.ny - 1)?;
            parse(&lines, "blocked", blocked, WHOLE, 1..=1u8)?;
            walls.solid[y * case.nx + x] = true;
        }
        match walls.free() {
            0 => Err(lines.wrong("all cells are blocked; leave at least one free")),
            _ => Ok(walls),
        }
    })
}

/// Writes a line `x y u_x u_y |u| pressure blocked` per cell. A blocked cell has the pressure of a fluid at rest.
///
/// # Errors
/// Returns an error if writing to `file` fails.
pub fn write_final_state(file: &mut dyn Write, flow: &Flow, density: f32) -> io::Result<()> {
    for (i, &solid) in flow.walls.solid.iter().enumerate() {
        let (rho, [ux, uy]) = if solid { (f64::from(density), [0.0; 2]) } else { flow.at(i) };
        let (x, y) = (i % flow.walls.nx, i / flow.walls.nx);
        let numbers = [ux, uy, ux.hypot(uy), rho / 3.0].map(scientific).join(" ");
        writeln!(file, "{x} {y} {numbers} {}", u8::from(solid))?;
    }
    Ok(())
}

/// Writes one line per step: the step number, counted from 0, and the mean speed after the step.
///
/// # Errors
/// Returns an error if writing to `file` fails.
pub fn write_mean_speeds(file: &mut dyn Write, speeds: &[f64]) -> io::Result<()> {
    for (step, speed) in speeds.iter().enumerate() {
        writeln!(file, "{step}:\t{}", scientific(*speed))?;
    }
    Ok(())
}

/// Formats a number like `%.12E` in C: the exponent has a sign and at least two digits.
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

const WHOLE: &str = "a whole number";

/// Reads the next line and parses it as a number in `range`; `name` and `kind` describe the number in errors.
fn next<T: FromStr + PartialOrd + Debug>(
    lines: &mut Lines<impl BufRead>,
    name: &str,
    kind: &str,
    range: RangeInclusive<T>,
) -> Result<T, Fault> {
    if !lines.advance()? {
        let all = "nx, ny, steps, reynolds_dim, density, accel, omega";
        let what = format!("the line with {name} is missing; expected seven lines: {all}");
        return Err(Fault::At(lines.number + 1, what));
    }
    parse(lines, name, lines.text(), kind, range)
}

/// Parses `text` from the current line as a number in `range`; `name` and `kind` describe the number in errors.
fn parse<T: FromStr + PartialOrd + Debug>(
    lines: &Lines<impl BufRead>,
    name: &str,
    text: &str,
    kind: &str,
    range: RangeInclusive<T>,
) -> Result<T, Fault> {
    let parsed = text.parse().ok().filter(|number| range.contains(number));
    let expected = match (range.start(), range.end()) {
        (least, most) if least == most => format!("{least:?}"),
        (least, most) => format!("{kind} from {least:?} to {most:?}"),
    };
    parsed.ok_or_else(|| lines.wrong(format!("{name} is {}; expected {expected}", quoted(text))))
}
