//! Writing files so that nothing is ever half-written: beside, then renamed. Reading the program's own, which may be broken.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// What the file `path` holds, of `most` bytes or fewer, as `what` has; nothing if it is not there.
///
/// # Errors
/// As [`read_bounded`].
pub fn read_small(path: &Path, most: u64, what: &str) -> Result<Option<Vec<u8>>> {
    match read_bounded(path, most, what) {
        Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => Ok(None),
        outcome => outcome.map(Some),
    }
}

/// What the file `path` holds, of `most` bytes or fewer, as `what` has: however long a file says that it is, or a pipe goes on.
///
/// # Errors
/// [`Error::Io`] if it cannot be read or is larger.
pub fn read_bounded(path: &Path, most: u64, what: &str) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = File::open(path).and_then(|file| file.take(most + 1).read_to_end(&mut bytes));
    let read = read.and_then(|_| match bytes.len() as u64 > most {
        true => Err(io::Error::other(format!("it is too large to be {what}"))),
        false => Ok(bytes),
    });
    read.map_err(|source| Error::Io { doing: "read", path: path.to_owned(), source })
}

/// Gives names to new files, none of them twice: a file may get its name only when it is whole, long after it was given.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Mutex<BTreeSet<PathBuf>>>);

/// The name of a new file, which no other is given as long as it is held.
#[derive(Debug)]
pub struct Name {
    path: PathBuf,
    names: Names,
}

impl Names {
    /// `stem.extension`, or the first of `stem-2.extension`, … that is free; of numbered files, the first of which is not there
    /// yet, `stem-%04d.extension`.
    pub fn free(&self, stem: &str, extension: &str, is_numbered: bool) -> Name {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stems = (1u64..).map(|nth| if nth == 1 { stem.to_owned() } else { format!("{stem}-{nth}") });
        let path = loop {
            let stem = stems.next().unwrap_or_default();
            let [path, first] = match is_numbered {
                true => ["-%04d", "-0001"],
                false => [""; 2],
            }
            .map(|end| PathBuf::from(format!("{stem}{end}.{extension}")));
            if !first.exists() && held.insert(path.clone()) {
                break path;
            }
        };
        Name { path, names: self.clone() }
    }
}

impl Name {
    /// It, in the working directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        self.names.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

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

impl Output {
    /// A file that is written bit by bit, or by another program, before it is given its name.
    ///
    /// # Errors
    /// [`Error::Io`] if nothing can be written there, or only into a pipe or device.
    pub fn draft(self) -> Result<Draft> {
        let error = write_error(&self.path);
        let begin = || match fs::metadata(&self.path) {
            Ok(there) if !there.is_file() => Err(io::Error::other("it is no file")),
            _ => {
                let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
                Ok((beside(&target)?, target))
            }
        };
        begin().map(|(file, target)| Draft { file, target }).map_err(error)
    }
}

/// A file that stands beside its place until it is whole, and vanishes if it never is.
#[derive(Debug)]
pub struct Draft {
    file: NamedTempFile,
    target: PathBuf,
}

impl Draft {
    /// Where it stands.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The file.
    ///
    /// # Errors
    /// [`Error::Io`] if it is gone.
    pub fn file(&self) -> Result<File> {
        self.file.reopen().map_err(self.error())
    }

    /// Gives it its name, in place of an older file.
    ///
    /// # Errors
    /// [`Error::Io`] if that is not possible.
    pub fn keep(self) -> Result<()> {
        let error = self.error();
        self.file.persist(&self.target).map(drop).map_err(|why| error(why.error))
    }

    /// Names what could not be written.
    pub fn error(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        write_error(&self.target)
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

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Io { doing: "write", path, source }
}
