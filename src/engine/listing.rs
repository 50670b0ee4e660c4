//! Listings: the compiled lines of a program, compared with the previous kernel variant, with notes on what each change
//! improves.

use std::collections::BTreeMap;

use serde::Deserialize;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::kernel_lab;
use super::preprocessor::Macros;
use crate::base::{Error, Result, invalid};
use crate::compute::{KernelSource, ProgramSource};
use crate::modes::{ModeInfo, Variant};

/// Compiled lines of one source file of a program.
#[derive(Debug, Clone, PartialEq)]
pub struct Listing {
    /// The source file, with its built-in text even if the user has edited the kernel.
    pub file: KernelSource,
    /// Compiled lines in order. Lines that only the previous kernel variant compiles are inserted where they were
    /// removed.
    pub lines: Vec<Line>,
}

/// A line of a listing.
#[derive(Debug, Clone, PartialEq)]
pub struct Line {
    /// Number of the line in its file, counting from 1.
    pub number: usize,
    /// Text of the line.
    pub text: String,
    /// How the line differs from the program of the previous variant in the mode's list of variants.
    pub change: Change,
    /// Note from `notes.toml` on what this line improves compared with the previous variant; `None` if there is no
    /// note.
    pub note: Option<String>,
}

/// How a line of a variant's program differs from the program of the previous variant in the mode's list of variants.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// Both variants compile the line.
    Same,
    /// The previous variant does not compile the line.
    Added,
    /// Only the previous variant compiles the line.
    Removed,
}

/// A note on a line of a kernel, from a file `notes.toml` beside the kernels of a mode.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    /// Path of the kernel, relative to `kernels/`.
    file: String,
    /// Text of the line that the note describes, without leading and trailing blanks. The text occurs once in the file.
    line: String,
    /// What the line improves compared with the previous variant.
    text: String,
}

/// Returns the notes on a mode's kernels, grouped by the name of the variant.
fn notes(info: &ModeInfo) -> Result<BTreeMap<String, Vec<Note>>> {
    let text = kernel_lab::notes(info.name).unwrap_or_default();
    toml::from_str(text).map_err(|error| invalid!("kernels/{}/notes.toml: {error}", info.name))
}

impl Listing {
    /// Returns the number of lines that the previous variant does not compile.
    pub fn added(&self) -> usize {
        self.lines.iter().filter(|line| line.change == Change::Added).count()
    }
}

/// Returns the variant before `variant` in the list of its mode, or `None` if `variant` is the first.
pub fn previous(info: &ModeInfo, variant: &Variant) -> Option<&'static Variant> {
    let at = info.variants.iter().position(|other| other.name == variant.name)?;
    info.variants.get(at.checked_sub(1)?)
}

/// Returns a listing of each file of `source`, the program of `variant`, compared with `previous`, the program of the
/// previous variant. If `previous` is `None`, all lines count as unchanged.
///
/// # Errors
/// Returns an error if the notes on the mode's kernels are not valid.
pub fn listings(
    info: &ModeInfo,
    variant: &Variant,
    source: &ProgramSource,
    previous: Option<&ProgramSource>,
) -> Result<Vec<Listing>, Error> {
    let notes = notes(info)?.remove(variant.name).unwrap_or_default();
    let own = compiled(source);
    let others = previous.map(compiled).unwrap_or_default();
    let listing = |(nth, (file, lines)): (usize, &(KernelSource, Vec<Line>))| {
        // The last file is the variant's own.
        let is_last = nth + 1 == own.len();
        let same = others.iter().find(|(other, _)| other.file == file.file);
        let other = same.or_else(|| others.last().filter(|_| is_last));
        let mut lines = match (other, previous) {
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

/// Returns the code of a line, without leading and trailing blanks and without a comment. Lines that differ only in
/// their indentation therefore count as unchanged.
fn code(line: &Line) -> &str {
    line.text.split("//").next().unwrap_or_default().trim()
}

/// Returns the lines of `new`, compared with `old`. Marks lines that only `new` contains as added. Inserts lines that
/// only `old` contains, and marks them as removed. Comments and empty lines of `new` count as unchanged, and those of
/// `old` are left out.
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

    /// Returns the listings of a variant on a device of the given kind, with and without equal masses.
    fn all_listings(
        info: &'static ModeInfo,
        variant: &'static Variant,
        kind: DeviceKind,
    ) -> Vec<Vec<Listing>> {
        let sizes = DeviceInfo { max_work_group: 256, local_bytes: 1 << 15, ..DeviceInfo::default() };
        let device = DeviceInfo { kind, compute_units: 132, ..sizes };
        let mode = (info.default)();
        let source = |variant| mode.source(&Recipe::guess(variant, &device, 16_384), &device).unwrap();
        let own = source(variant);
        let mut equal = own.clone();
        if own.defines.iter().any(|(name, _)| *name == "EQUAL") {
            equal.defines.push(("EQUAL_MASS", "1".to_owned()));
        }
        let previous = previous(info, variant).map(source);
        [own, equal].map(|own| listings(info, variant, &own, previous.as_ref()).unwrap()).into()
    }

    /// Returns the line numbers of each block of added lines. Up to two unchanged lines do not divide a block.
    fn blocks(listing: &Listing) -> Vec<Vec<usize>> {
        let lines = listing.lines.iter().filter(|line| line.change != Change::Removed);
        let mut blocks: Vec<Vec<usize>> = Vec::new();
        let mut gap = usize::MAX;
        for line in lines {
            match (line.change, blocks.last_mut()) {
                (Change::Added, Some(block)) if gap <= 2 => block.push(line.number),
                (Change::Added, _) => blocks.push(vec![line.number]),
                _ => {
                    gap = gap.saturating_add(usize::from(!code(line).is_empty()));
                    continue;
                }
            }
            gap = 0;
        }
        blocks
    }

    #[test]
    fn every_kernel_note_is_on_a_changed_line_and_every_variant_has_notes() {
        let mut faults = Vec::new();
        for info in MODES {
            let mut notes = notes(info).unwrap();
            for variant in info.variants {
                let notes = notes.remove(variant.name).unwrap_or_default();
                if notes.is_empty() {
                    faults.push(format!("{}/{} has no note", info.name, variant.name));
                }
                let kinds = [DeviceKind::Cpu, DeviceKind::Gpu];
                let all: Vec<_> = kinds.iter().flat_map(|kind| all_listings(info, variant, *kind)).collect();
                for note in notes {
                    let mut found = 0;
                    for listing in all.iter().flatten().filter(|listing| listing.file.file == note.file) {
                        let kept = listing.lines.iter().filter(|line| line.change != Change::Removed);
                        let matching: Vec<_> = kept.filter(|line| line.text.trim() == note.line).collect();
                        let changes = [Change::Added, Change::Same];
                        let wanted = changes[usize::from(previous(info, variant).is_none())];
                        found += matching.len();
                        if matching.len() > 1 || matching.iter().any(|line| line.change != wanted) {
                            faults.push(format!("{}: not one changed line: {}", variant.name, note.line));
                        }
                    }
                    if found == 0 {
                        faults.push(format!("{}/{}: no such line: {}", info.name, variant.name, note.line));
                    }
                }
            }
            faults.extend(notes.into_keys().map(|name| format!("{} has no variant {name}", info.name)));
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    #[test]
    fn every_changed_block_of_a_kernel_has_a_note() {
        /// Maximum number of lines of a file in which every changed block needs a note. Longer files need at least one
        /// note.
        const SHORT: usize = 120;
        let mut faults = Vec::new();
        for info in MODES {
            for variant in info.variants {
                for kind in [DeviceKind::Cpu, DeviceKind::Gpu] {
                    for listing in all_listings(info, variant, kind).into_iter().flatten() {
                        let is_noted = |block: &Vec<usize>| {
                            let mut lines = listing.lines.iter().filter(|line| line.note.is_some());
                            lines.any(|line| block.contains(&line.number))
                        };
                        let blocks = blocks(&listing);
                        let misses = match listing.lines.len() > SHORT {
                            true => !blocks.is_empty() && !blocks.iter().any(is_noted),
                            false => !blocks.iter().all(is_noted),
                        };
                        let blocks: Vec<_> = blocks.iter().filter(|block| !is_noted(block)).collect();
                        if misses {
                            faults
                                .push(format!("{} {kind:?} {}: {blocks:?}", variant.name, listing.file.file));
                        }
                    }
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }
}
