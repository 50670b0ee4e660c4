//! Reads text files line by line, with limited line lengths and with line numbers for errors.
//!
//! Windows line endings, a byte order mark, leading and trailing whitespace, and empty lines are accepted.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use crate::base::{Error, Result, files};

/// Maximum length of a line in bytes. Seven `f32` values in decimal notation take less than 128 bytes.
const MAX_LINE: usize = 1024;

/// An error that occurred while reading a text file.
pub(super) enum Fault {
    /// An I/O error of the operating system.
    Io(io::Error),
    /// An invalid line: the line number, counted from 1, and a description of the error.
    At(u64, String),
}

/// Reads text line by line, skipping empty lines.
pub(super) struct Lines<R> {
    input: R,
    line: Vec<u8>,
    /// Number of the current line, counted from 1; 0 before the first line is read.
    pub number: u64,
}

/// Opens the file `path` and parses its lines with `parse`. Rejects files larger than `most` bytes.
pub(super) fn parse_file<T>(
    path: &Path,
    (most, what): (u64, &str),
    parse: impl FnOnce(Lines<BufReader<File>>) -> Result<T, Fault>,
) -> Result<T> {
    let (file, _) = files::open(path, most, what)?;
    parse(Lines::new(BufReader::new(file))).map_err(|fault| match fault {
        Fault::Io(source) => Error::io("read", path)(source),
        Fault::At(line, what) => Error::File { path: path.to_owned(), line, what },
    })
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(input: R) -> Self {
        Self { input, line: Vec::new(), number: 0 }
    }

    /// Returns an error for the current line; `what` describes the error.
    pub(super) fn wrong(&self, what: impl Into<String>) -> Fault {
        Fault::At(self.number.max(1), what.into())
    }

    /// Advances to the next non-empty line. Returns false at the end of the text.
    pub(super) fn advance(&mut self) -> Result<bool, Fault> {
        loop {
            self.line.clear();
            // Reads at most one byte more than allowed, so that a longer line is detected.
            let mut input = self.input.by_ref().take(MAX_LINE as u64 + 1);
            if input.read_until(b'\n', &mut self.line).map_err(Fault::Io)? == 0 {
                return Ok(false);
            }
            self.number += 1;
            if self.line.len() > MAX_LINE {
                return Err(self.wrong(format!("the line is longer than {MAX_LINE} bytes")));
            }
            if std::str::from_utf8(&self.line).is_err() {
                return Err(self.wrong("the line is not UTF-8 text"));
            }
            if !self.text().is_empty() {
                return Ok(true);
            }
        }
    }

    /// Returns the current line without leading or trailing whitespace.
    pub(super) fn text(&self) -> &str {
        let text = std::str::from_utf8(&self.line).unwrap_or_default();
        let text = if self.number == 1 { text.strip_prefix('\u{feff}').unwrap_or(text) } else { text };
        text.trim()
    }
}

/// Returns the first 40 characters of `text`, quoted and escaped for display.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 40;
    let shown: String = text.chars().take(SHOWN).collect();
    let dots = if shown.len() < text.len() { "…" } else { "" };
    format!("{shown:?}{dots}")
}
