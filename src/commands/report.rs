//! Prints results: speeds as text, whole reports as JSON, and the names of files.

use std::fmt::Display;
use std::io::{self, Write};

use crate::base::{OutputFile, Result};
use crate::modes::ModeInfo;

/// Formats a speed in the mode's unit, such as `0.92 G interactions/s (18.4 GFLOP/s)` or `281.3 MLUPS`.
pub(super) fn speed(info: &ModeInfo, work_per_second: f64) -> String {
    let work = &info.work;
    match work.name {
        Some(name) => format!("{:.1} {name}", work.reported(work_per_second)),
        None => {
            let giga = work_per_second * 1e-9;
            let flops = work.flops.map(|flops| format!(" ({:.1} GFLOP/s)", giga * flops));
            format!("{giga:.3} G {}/s{}", work.unit, flops.unwrap_or_default())
        }
    }
}

pub(super) fn print_json(value: &impl serde::Serialize) {
    match serde_json::to_string_pretty(value) {
        Ok(text) => println!("{text}"),
        // Serializing cannot fail: all map keys in the reports are strings, and no custom serializer fails.
        Err(error) => unreachable!("a report does not serialize: {error}"),
    }
}

/// Prints on stderr which file a command has written, because stdout is for results that other programs may read.
pub(super) fn wrote(file: impl Display) {
    eprintln!("wrote {file}");
}

/// Calls `write` to write the file `output`, and prints the file's path on stderr.
pub(super) fn save(output: OutputFile, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
    let path = output.path().to_owned();
    output.save(write).map(|()| wrote(path.display()))
}
