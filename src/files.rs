//! Writing files so that nothing is ever half-written: beside, then renamed.

use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// A file that takes its name only when it is whole; dropped before that, it leaves nothing behind.
pub struct Output {
    path: PathBuf,
    file: BufWriter<NamedTempFile>,
}

impl Output {
    /// Begins to write the file `path`, beside an older file of that name. Made before long work, it tells at
    /// once that the result could not be written.
    ///
    /// # Errors
    /// [`Error::Io`] if nothing can be written there.
    pub fn create(path: &Path) -> Result<Self> {
        let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
        let mut builder = tempfile::Builder::new();
        // Without this only the owner could read the file; the umask still applies.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // A folder of that name would be found out only at the end.
        let file = match path.is_dir() {
            true => Err(io::ErrorKind::IsADirectory.into()),
            false => builder.tempfile_in(folder),
        };
        let file = BufWriter::new(file.map_err(write_error(path))?);
        Ok(Self { path: path.to_owned(), file })
    }

    /// Lets `write` write the contents, and gives the file its name.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written to its end; an older file of that name is then still whole.
    pub fn save(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let Self { path, mut file } = self;
        let write_all = || {
            write(&mut file)?;
            let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
            file.persist(&path).map_err(io::Error::from)
        };
        write_all().map(drop).map_err(write_error(&path))
    }
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Io { doing: "write", path: path.to_owned(), source }
}
