//! Reads files safely even if they are broken or malicious, and writes files without ever leaving a half-written file.

mod output;
mod toml;
mod unfinished;

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

pub use self::output::{Draft, Name, Names, OutputFile};
pub(crate) use self::toml::from_toml;
use crate::base::error::{Error, Result};

/// Opens a file named by the user; returns the file and its length. Rejects pipes and devices, which may block or never
/// end, and files larger than `most` bytes. `what` names the expected content in error messages, such as "a picture".
pub(crate) fn open(path: &Path, most: u64, what: &str) -> Result<(File, u64)> {
    let regular = |there: &fs::Metadata| match there.is_file() {
        true => Ok(()),
        false if there.is_dir() => Err(io::Error::other("it is a folder")),
        false => Err(io::Error::other("it is a pipe or a device, not a regular file")),
    };
    let try_open = || {
        // Checked before opening, because opening a device can have effects.
        regular(&fs::metadata(path)?)?;
        let mut options = File::options();
        // The file may have been replaced by a pipe. O_NONBLOCK avoids waiting until a writer opens the pipe.
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::custom_flags(&mut options, libc::O_NONBLOCK);
        let file = options.read(true).open(path)?;
        let there = file.metadata()?;
        regular(&there)?;
        match there.len() > most {
            true => Err(too_large(what)),
            false => Ok((file, there.len())),
        }
    };
    try_open().map_err(Error::io("read", path))
}

/// Reads a whole file of at most `most` bytes, like [`read_bounded`]. Returns `None` if the file does not exist.
pub(crate) fn read_small(path: &Path, most: u64, what: &str) -> Result<Option<Vec<u8>>> {
    match read_bounded(path, most, what) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// Reads a whole file. Fails if the file is larger than `most` bytes, even if it grows only during the read. `what`
/// names the expected content in error messages.
pub(crate) fn read_bounded(path: &Path, most: u64, what: &str) -> Result<Vec<u8>> {
    let (file, length) = open(path, most, what)?;
    let mut bytes = Vec::new();
    let read = || {
        bytes.try_reserve_exact(length as usize).map_err(io::Error::other)?;
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(too_large(what)) } else { Ok(bytes) }
    };
    read().map_err(Error::io("read", path))
}

fn too_large(what: &str) -> io::Error {
    io::Error::other(format!("the file is too large for {what}"))
}
