//! What can go wrong, each said once: what, where, and what to do next.

use std::path::PathBuf;

/// A result with [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Everything that the library refuses or fails at. The text is meant for the person at the screen.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Something was asked for that is not allowed; the text says what is.
    #[error("{0}")]
    Invalid(String),
    /// A parameter was not accepted.
    #[error(transparent)]
    Param(#[from] crate::params::SetError),
    /// No device to compute on.
    #[error(
        "no OpenCL device was found{0}; install a driver for your GPU, or PoCL to compute on the CPU \
         (Debian, Ubuntu: apt install pocl-opencl-icd)"
    )]
    NoDevice(String),
    /// A kernel did not compile.
    #[error("the kernel {file} does not build on {device}:\n{log}")]
    Build {
        /// The kernel's file.
        file: String,
        /// The device that it was built for.
        device: String,
        /// The compiler's words, with file and line.
        log: String,
    },
    /// OpenCL refused or failed.
    #[error("{doing} failed on {device}: {reason}")]
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
    #[error("{path}, line {line}: {what}")]
    File {
        /// The file.
        path: PathBuf,
        /// The line, from 1.
        line: u64,
        /// What is wrong and what is expected.
        what: String,
    },
    /// A scene's text is wrong.
    #[error("{}{what}", .line.map(|line| format!("line {line}: ")).unwrap_or_default())]
    Scene {
        /// The line, from 1, where it is known.
        line: Option<u64>,
        /// What is wrong and what is expected.
        what: String,
    },
    /// A file could not be read or written.
    #[error("cannot {doing} {path}: {source}")]
    Io {
        /// `read` or `write`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's reason.
        source: std::io::Error,
    },
    /// OpenGL or the window system failed.
    #[error("{0}")]
    Graphics(String),
}
