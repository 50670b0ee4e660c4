//! What can go wrong, each said once: what, where, and what to do next.
//!
//! Errors quote files, which may hold anything. Each text goes through [`Plain`] on its way to a terminal or a window.

use std::fmt::{self, Display, Write};
use std::path::PathBuf;

/// A result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that the library refuses or fails at. The text is meant for the person at the screen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something was asked for that is not allowed; the text says what is.
    #[error("{}", Plain(.0, SENTENCE))]
    Invalid(String),
    /// A parameter was not accepted.
    #[error("{}", Plain(.0, SENTENCE))]
    Param(#[from] crate::params::SetError),
    /// No device to compute on.
    #[error(
        "no OpenCL device was found{0}; install a driver for your GPU, or PoCL to compute on the CPU \
         (Debian, Ubuntu: apt install pocl-opencl-icd)"
    )]
    NoDevice(String),
    /// A kernel did not compile.
    #[error("the kernel {file} does not build on {device}:\n{}", Lines(.log, LOG))]
    Build {
        /// The kernel's file.
        file: String,
        /// The device that it was built for.
        device: String,
        /// The compiler's words, with file and line.
        log: String,
    },
    /// OpenCL refused or failed.
    #[error("{doing} failed on {device}: {}", Plain(.reason, SENTENCE))]
    OpenCl {
        /// What was being done.
        doing: &'static str,
        /// The device.
        device: String,
        /// Which opening of it, as `compute::Device::key` tells; 0 where it is not open yet.
        key: u64,
        /// Why, as a sentence where OpenCL gives only a code.
        reason: String,
    },
    /// A line of a file is wrong.
    #[error("{}, line {line}: {}", Plain(.path.display(), SENTENCE), Plain(.what, SENTENCE))]
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong and what is expected.
        what: String,
    },
    /// A scene's text is wrong.
    #[error("{}{}", .line.map(|line| format!("line {line}: ")).unwrap_or_default(), Plain(.what, SENTENCE))]
    Scene {
        /// The line, from 1, where it is known.
        line: Option<u64>,
        /// What is wrong and what is expected.
        what: String,
    },
    /// A file could not be read or written.
    #[error("cannot {doing} {}: {}", Plain(.path.display(), SENTENCE), Plain(.source, SENTENCE))]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// OpenGL or the window system failed. The text may end with the several lines of a shader compiler's log.
    #[error("{}", Lines(.0, LOG))]
    Graphics(String),
}

/// The most letters of a sentence that are shown, and of a compiler's log.
const SENTENCE: usize = 1000;
const LOG: usize = 1 << 16;

/// A text that may come from a file, fit for a terminal or a window: one line of at most this many letters. A control character, such as
/// begins a terminal's commands, is shown as its code, and so is one that changes the direction of text.
pub struct Plain<T>(pub T, pub usize);

/// Shows text from a file or driver in several lines, with control characters as codes.
struct Lines<T>(T, usize);

impl<T: Display> Display for Plain<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        filtered(f, &self.0, self.1, &[])
    }
}

impl<T: Display> Display for Lines<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        filtered(f, &self.0, self.1, &['\n', '\t'])
    }
}

/// Writes `most` letters of `text`, and codes in place of what is not to be seen except `kept`.
fn filtered(f: &mut fmt::Formatter, text: &impl Display, most: usize, kept: &[char]) -> fmt::Result {
    let mut filter = Filter { f, left: most, kept, is_cut: false };
    let outcome = write!(filter, "{text}");
    match filter.is_cut {
        true => f.write_char('…'),
        false => outcome,
    }
}

struct Filter<'a, 'b> {
    f: &'a mut fmt::Formatter<'b>,
    left: usize,
    kept: &'a [char],
    is_cut: bool,
}

impl Write for Filter<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for letter in text.chars() {
            if self.left == 0 {
                // An error ends the writing of a text that may be very long.
                self.is_cut = true;
                return Err(fmt::Error);
            }
            self.left -= 1;
            match is_hidden(letter) && !self.kept.contains(&letter) {
                true => write!(self.f, "{}", letter.escape_default())?,
                false => self.f.write_char(letter)?,
            }
        }
        Ok(())
    }
}

/// Whether a letter does something other than being seen. Letters that set the direction of text (Unicode Standard Annex 9) can make
/// a name look like another.
fn is_hidden(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_says_does_nothing_to_a_terminal() {
        let text = "title \u{1b}]0;x\u{7} \u{9b}2J \u{202e}cod.exe\r\n";
        let errors = [
            Error::Invalid(text.to_owned()),
            Error::File { path: text.into(), line: 3, what: text.to_owned() },
            Error::Scene { line: None, what: text.to_owned() },
            Error::Io { doing: "read", path: text.into(), source: std::io::Error::other(text) },
            crate::params::SetError::UnknownKey { key: text.to_owned(), known: String::new() }.into(),
        ];
        for error in errors {
            let error = error.to_string();
            assert!(!error.chars().any(is_hidden) && error.contains(r"\u{1b}]0;x\u{7} \u{9b}2J"), "{error}");
        }
        let log = Error::Build { file: "a.cl".into(), device: "CPU".into(), log: "a\tb\n\u{1b}[1m".into() };
        assert!(log.to_string().ends_with("a\tb\n\\u{1b}[1m"), "{log}");
        let shader = "cannot compile:\n0:3: 'x' undeclared\n0:4: \u{1b}[1m";
        let log = Error::Graphics(shader.to_owned()).to_string();
        assert_eq!(log, shader.replace('\u{1b}', r"\u{1b}"));
    }

    #[test]
    fn what_a_file_says_is_cut() {
        let long = Error::Invalid("é".repeat(1 << 24)).to_string();
        assert_eq!(long.chars().count(), SENTENCE + 1);
        assert!(long.ends_with("é…"));
        assert_eq!(Plain("four", 4).to_string(), "four");
    }
}
