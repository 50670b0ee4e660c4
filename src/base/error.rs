//! Errors. Each message says what failed, where, and what to do next.
//!
//! Errors may quote untrusted files, so [`Plain`] filters each text before it is displayed.

use std::fmt::{self, Display, Write};
use std::io;
use std::path::{Path, PathBuf};

/// A [`std::result::Result`] whose error type defaults to [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Any error that the library can return, with a message for the user.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A request is not allowed. The text says why, and what is allowed instead.
    #[error("{}", Plain(.0, SENTENCE))]
    Invalid(String),
    /// A parameter was rejected.
    #[error("{}", Plain(.0, SENTENCE))]
    Param(#[from] crate::base::params::SetError),
    /// There is no OpenCL device.
    #[error("no OpenCL device was found{0}; {advice}", advice = crate::base::advice::OPENCL)]
    NoDevice(String),
    /// A kernel did not compile.
    #[error("cannot compile the kernel {file} for {device}:\n{:#}", Plain(.log, LOG))]
    Build {
        /// Name of the kernel file.
        file: String,
        /// Name of the device for which the kernel was compiled.
        device: String,
        /// Messages of the kernel compiler, with file names and line numbers.
        log: String,
    },
    /// An OpenCL call failed.
    #[error("{doing} failed on {device}: {}", Plain(.reason, SENTENCE))]
    OpenCl {
        /// Action that failed, such as `reading from device memory`.
        doing: &'static str,
        /// Label of the device on which the call failed.
        device: String,
        /// Number that identifies the device (`compute::Device::key`); 0 if the device has not been opened yet.
        key: u64,
        /// Reason for the failure, as a sentence.
        reason: String,
    },
    /// Another rank of an MPI run failed, or does not answer.
    #[error("{}", Plain(.0, SENTENCE))]
    Rank(String),
    /// A line of a file is invalid.
    #[error("{}, line {line}: {}", Plain(.path.display(), SENTENCE), Plain(.what, SENTENCE))]
    File {
        /// Path of the file with the invalid line.
        path: PathBuf,
        /// Number of the invalid line, starting at 1.
        line: u64,
        /// Description of the mistake and of what was expected instead.
        what: String,
    },
    /// The text of a scene is invalid.
    #[error("{}{}", .line.map(|line| format!("line {line}: ")).unwrap_or_default(), Plain(.what, SENTENCE))]
    Scene {
        /// Number of the invalid line, starting at 1; `None` if unknown.
        line: Option<u64>,
        /// Description of the mistake and of what was expected instead.
        what: String,
    },
    /// A file could not be read or written.
    #[error("cannot {doing} {}: {}", Plain(.path.display(), SENTENCE), Plain(.source, SENTENCE))]
    Io {
        /// The action that failed: `read` or `write`.
        doing: &'static str,
        /// Path of the file that could not be read or written.
        path: PathBuf,
        /// Error that the operating system returned.
        source: io::Error,
    },
    /// OpenGL or the window system failed. The text may end with a shader compiler's log.
    #[error("{:#}", Plain(.0, LOG))]
    Graphics(String),
}

/// Returns an [`Error::Invalid`] with a text in the syntax of `format!`.
macro_rules! invalid {
    ($($text:tt)+) => { $crate::base::Error::Invalid(format!($($text)+)) };
}
pub(crate) use invalid;

impl Error {
    /// Returns a closure that converts an operating system error into [`Error::Io`]; `doing` is `read` or `write`.
    pub fn io(doing: &'static str, path: &Path) -> impl Fn(io::Error) -> Self + use<> {
        let path = path.to_owned();
        move |source| Self::Io { doing, path: path.clone(), source }
    }
}

/// Maximum length of a text quoted in an error message, in characters.
const SENTENCE: usize = 1000;
/// Maximum length of a compiler's log quoted in an error message, in characters.
const LOG: usize = 1 << 16;

/// Displays at most the given number of characters of an untrusted text. Escapes control characters, which could send
/// commands to a terminal, and characters that change the text direction. `{:#}` leaves tabs and line breaks unescaped.
pub struct Plain<T>(pub T, pub usize);

impl<T: Display> Display for Plain<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let text = self.0.to_string();
        let mut characters = text.chars();
        for character in characters.by_ref().take(self.1) {
            let is_kept = f.alternate() && matches!(character, '\n' | '\t');
            match is_hidden(character) && !is_kept {
                true => write!(f, "{}", character.escape_default())?,
                false => f.write_char(character)?,
            }
        }
        if characters.next().is_some() { f.write_char('…') } else { Ok(()) }
    }
}

/// Returns whether `character` is a control character or changes the text direction (Unicode Standard Annex 9).
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_error_messages_are_escaped() {
        let text = "title \u{1b}]0;x\u{7} \u{9b}2J \u{202e}cod.exe\r\n";
        let errors = [
            Error::Invalid(text.to_owned()),
            Error::File { path: text.into(), line: 3, what: text.to_owned() },
            Error::Scene { line: None, what: text.to_owned() },
            Error::io("read", Path::new(text))(io::Error::other(text)),
            crate::base::params::SetError::UnknownKey { key: text.to_owned(), known: String::new() }.into(),
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
    fn long_text_in_error_messages_is_truncated() {
        let long = Error::Invalid("é".repeat(1 << 24)).to_string();
        assert_eq!(long.chars().count(), SENTENCE + 1);
        assert!(long.ends_with("é…"));
        assert_eq!(Plain("four", 4).to_string(), "four");
    }
}
