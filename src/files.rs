//! Writing files so that nothing is ever half-written: beside, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// A file to be written later, known to be possible now.
pub struct Output {
    path: PathBuf,
}

impl Output {
    /// Makes sure that the file `path` can be written, so that long work is not done in vain. Nothing is left there.
    ///
    /// # Errors
    /// [`Error::Io`] if nothing can be written there.
    pub fn create(path: &Path) -> Result<Self> {
        let probe = || match fs::metadata(path) {
            // A folder of that name would be found out only at the end.
            Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => Ok(()),
            _ => beside(path).map(drop),
        };
        probe().map_err(write_error(path))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Lets `write` write the contents, and gives the file its name. A link keeps its place, and what it leads to is
    /// replaced; a pipe or device is written to as it is.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be written to its end; an older file of that name is then still whole.
    pub fn save(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let write_all = || match fs::metadata(&self.path) {
            Ok(there) if !there.is_file() => {
                let mut file = BufWriter::new(File::options().write(true).open(&self.path)?);
                write(&mut file)?;
                file.flush()
            }
            _ => {
                let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
                let mut file = BufWriter::new(beside(&target)?);
                write(&mut file)?;
                let file = file.into_inner().map_err(io::IntoInnerError::into_error)?;
                file.persist(&target).map(drop).map_err(io::Error::from)
            }
        };
        write_all().map_err(write_error(&self.path))
    }
}

/// A file in the folder of `path` that vanishes unless it is given a name.
fn beside(path: &Path) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."));
    // The system's own words for a folder that is not there, without the name of a temporary file.
    fs::metadata(folder)?;
    let mut builder = tempfile::Builder::new();
    // Without this only the owner could read the file; the umask still applies.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error {
    move |source| Error::Io { doing: "write", path: path.to_owned(), source }
}
