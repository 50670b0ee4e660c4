//! Listings: the source of a program as it is compiled, compared with the variant below it in the ladder of variants, and
//! with notes on what each change buys.

use std::collections::BTreeMap;

use serde::Deserialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::kernel_lab;
use super::preprocessor::Macros;
use crate::base::{Error, Result, invalid};
use crate::compute::{KernelSource, ProgramSource};
use crate::modes::{ModeInfo, Variant};

/// A file of a program, as it is compiled.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The file; its text is the built-in one.
    pub file: KernelSource,
    /// The compiled lines, and between them the lines of the variant below that the variant leaves out.
    pub lines: Vec<Line>,
}

/// A line of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Number of the line in its file, counting from 1.
    pub number: usize,
    /// Text of the line.
    pub text: String,
    /// How the line differs from the variant below.
    pub change: Change,
    /// What the change at this line buys, if there is a note on the line.
    pub note: Option<String>,
}

/// How a line differs from the variant below.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Both variants compile the line.
    Same,
    /// The variant below does not compile the line.
    Added,
    /// Only the variant below compiles the line.
    Removed,
}

/// A note on a line of a kernel, from a file `notes.toml` beside the kernels of a mode.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// Path of the kernel, relative to `kernels/`.
    file: String,
    /// The line, without the blanks around it. It occurs once in the file.
    line: String,
    /// What the change at the line buys.
    text: String,
}

/// Returns the notes on a mode's kernels, by the name of the variant.
fn notes(info: &ModeInfo) -> Result<BTreeMap<String, Vec<Note>>> {
    let text = kernel_lab::notes(info.name).unwrap_or_default();
    toml::from_str(text).map_err(|error| invalid!("kernels/{}/notes.toml: {error}", info.name))
}

impl Listing {
    /// Returns the number of lines that the variant below does not compile.
    pub fn added(&self) -> usize {
        self.lines.iter().filter(|line| line.change == Change::Added).count()
    }
}

/// Returns the variant below `variant` in the ladder of its mode, or `None` if it is the lowest.
pub fn below(info: &ModeInfo, variant: &Variant) -> Option<&'static Variant> {
    let at = info.variants.iter().position(|other| other.name == variant.name)?;
    info.variants.get(at.checked_sub(1)?)
}

/// Returns a listing of each file of `source`, the program of `variant`, compared with `below`, the program of the variant
/// below it. If there is none, all lines count as unchanged.
///
/// # Errors
/// Returns an error if the notes on the mode's kernels are not valid.
pub fn listings(
    info: &ModeInfo,
    variant: &Variant,
    source: &ProgramSource,
    below: Option<&ProgramSource>,
) -> Result<Vec<Listing>, Error> {
    let notes = notes(info)?.remove(variant.name).unwrap_or_default();
    let own = compiled(source);
    let others = below.map(compiled).unwrap_or_default();
    let listing = |(nth, (file, lines)): (usize, &(KernelSource, Vec<Line>))| {
        // The last file is the variant's own.
        let is_last = nth + 1 == own.len();
        let same = others.iter().find(|(other, _)| other.file == file.file);
        let other = same.or_else(|| others.last().filter(|_| is_last));
        let mut lines = match (other, below) {
            (None, None) => lines.clone(),
            (other, _) => compare(other.map_or(&[], |(_, lines)| lines), lines),
        };
        for note in notes.iter().filter(|note| note.file == file.file) {
            let is_noted = |line: &&mut Line| line.change != Change::Removed && line.text.trim() == note.line;
            if let Some(line) = lines.iter_mut().find(is_noted) {
                line.note = Some(note.text.clone());
            }
        }
        Listing { file: *file, lines }
    };
    Ok(own.iter().enumerate().map(listing).collect())
}

/// Returns the compiled lines of each file of a program.
fn compiled(source: &ProgramSource) -> Vec<(KernelSource, Vec<Line>)> {
    let mut macros = Macros::new(&source.defines);
    let lines = |file: &KernelSource| {
        let text = source.text(file);
        let all = (1..).zip(text.lines()).zip(macros.compiled_lines(text));
        let line = |(number, text): (usize, &str)| Line {
            number,
            text: text.to_owned(),
            change: Change::Same,
            note: None,
        };
        (*file, all.filter(|(_, is_compiled)| *is_compiled).map(|(numbered, _)| line(numbered)).collect())
    };
    source.files.iter().map(lines).collect()
}

/// Returns the code of a line, without blanks at its ends and without a comment. A line of which only the depth differs
/// counts as unchanged.
fn code(line: &Line) -> &str {
    line.text.split("//").next().unwrap_or_default().trim()
}

/// Returns the lines `new`, marked by whether they are in `old`, and the other lines of `old` at their places. Comments and
/// empty lines count as unchanged in `new`, and are left out of `old`.
fn compare(old: &[Line], new: &[Line]) -> Vec<Line> {
    let with_code = |lines: &[Line]| -> Vec<usize> {
        (0..lines.len()).filter(|&nth| !code(&lines[nth]).is_empty()).collect()
    };
    let (places, places_of_old) = (with_code(new), with_code(old));
    let codes: Vec<&str> = places.iter().map(|&nth| code(&new[nth])).collect();
    let codes_of_old: Vec<&str> = places_of_old.iter().map(|&nth| code(&old[nth])).collect();
    let mut lines = new.to_vec();
    let mut removed = Vec::new();
    for op in capture_diff_slices(Algorithm::Patience, &codes_of_old, &codes) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        places[op.new_range()].iter().for_each(|&nth| lines[nth].change = Change::Added);
        let place = places.get(op.new_range().start).copied().unwrap_or(new.len());
        let lost = places_of_old[op.old_range()].iter().map(|&nth| old[nth].clone());
        removed.push((place, lost.map(|line| Line { change: Change::Removed, ..line }).collect::<Vec<_>>()));
    }
    for (place, lost) in removed.into_iter().rev() {
        lines.splice(place..place, lost);
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{DeviceInfo, DeviceKind};
    use crate::modes::{MODES, Recipe};

    fn of(info: &'static ModeInfo, variant: &'static Variant, kind: DeviceKind) -> Vec<Listing> {
        let device = DeviceInfo { kind, max_work_group: 256, local_bytes: 1 << 15, ..DeviceInfo::default() };
        let mode = (info.default)();
        let source = |variant| mode.source(&Recipe::guess(variant, &device, 65_536), &device).unwrap();
        listings(info, variant, &source(variant), below(info, variant).map(source).as_ref()).unwrap()
    }

    #[test]
    fn dump() {
        for info in MODES {
            for variant in info.variants {
                for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
                    println!("=== {} {} {kind:?}", info.name, variant.name);
                    for listing in of(info, variant, kind) {
                        let all = listing.lines.iter().filter(|l| l.change != Change::Removed).count();
                        let removed = listing.lines.iter().filter(|l| l.change == Change::Removed).count();
                        println!("--- {} {}/{all} -{removed}", listing.file.file, listing.added());
                        if listing.added() == 0 || all > 150 { continue }
                        for line in &listing.lines {
                            let mark = match line.change { Change::Same => ' ', Change::Added => '+', Change::Removed => '-' };
                            println!("{mark} {:3} {}", line.number, line.text);
                        }
                    }
                }
            }
        }
    }
}
