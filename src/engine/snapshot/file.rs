//! Snapshot files on disk.

use std::io::Cursor;
use std::path::Path;

use super::contents::{Snapshot, Summary};
use super::format;
use super::room::MOST_BYTES;
use crate::base::error::{Error, Result};
use crate::base::files::{self, OutputFile};

impl Snapshot {
    /// Writes the file `path`, under another name first. On an error an existing file of that name does not change.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or is a pipe or device.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = format::encode(self, MOST_BYTES)?;
        OutputFile::create(path)?.replace(&bytes)
    }

    /// Reads the snapshot in the file `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, is damaged, has another version, or holds impossible values.
    pub fn load(path: &Path) -> Result<Self> {
        let (file, length) = files::open(path, MOST_BYTES, "a snapshot")?;
        format::decode(file, length, MOST_BYTES).map_err(|error| in_file(path, &error))
    }

    /// Reads the summary of the file `path` from its beginning, without checking the rest of the file.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is not a snapshot.
    pub fn peek(path: &Path) -> Result<Summary> {
        let (file, length) = files::open(path, MOST_BYTES, "a snapshot")?;
        format::peek(file, length).map_err(|error| in_file(path, &error))
    }

    /// Reads a snapshot from the bytes of a file.
    ///
    /// # Errors
    /// Returns the errors of [`Snapshot::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        format::decode(Cursor::new(bytes), bytes.len() as u64, MOST_BYTES)
    }

    /// Returns the bytes that [`Snapshot::save`] writes.
    ///
    /// # Errors
    /// Returns an error if the snapshot is too large.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::encode(self, MOST_BYTES)
    }
}

/// Adds the name of the file to an error.
pub(super) fn in_file(path: &Path, error: &Error) -> Error {
    Error::Invalid(format!("{}: {error}", path.display()))
}
