//! Writes output files, and finds unused names for new files. An output file gets its final name only when it is
//! complete.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use super::unfinished::Unfinished;
use crate::base::error::{Error, Result};

/// An output file to be written later, at a path that is known to be writable.
pub struct OutputFile {
    path: PathBuf,
}

impl OutputFile {
    /// Checks that `path` can be written, to report a bad path before a long computation. Leaves no file behind.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be written.
    pub fn create(path: &Path) -> Result<Self> {
        let probe = || match fs::metadata(path) {
            // Without this check, a folder of this name would cause an error only at the end.
            Ok(there) if there.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(there) if !there.is_file() => Ok(()),
            _ => Unfinished::beside(path).map(drop),
        };
        probe().map_err(Error::io("write", path))?;
        Ok(Self { path: path.to_owned() })
    }

    /// Returns the path of the file, as given by the user.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Calls `write` to write the file. Replaces an existing file only at the end; writes directly to pipes and
    /// devices.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if writing fails; in that case, an existing file is left unchanged.
    pub fn save(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        if fs::metadata(&self.path).is_ok_and(|there| !there.is_file()) {
            let file =
                File::options().write(true).open(&self.path).map_err(Error::io("write", &self.path))?;
            return write_to(file, write).map_err(Error::io("write", &self.path));
        }
        let draft = self.draft()?;
        write_to(draft.file()?, write).map_err(draft.error())?;
        draft.keep()
    }

    /// Writes `contents` to a new file, and then replaces any existing file with it. Rejects pipes and devices.
    pub(crate) fn replace(self, contents: &[u8]) -> Result<()> {
        let draft = self.draft()?;
        draft.file()?.write_all(contents).map_err(draft.error())?;
        draft.keep()
    }

    /// Creates a draft, to be written in pieces or by another program. `Draft::keep` later replaces any existing file.
    ///
    /// # Errors
    /// Returns [`Error::Io`] if the file cannot be created, or if the path is a pipe or device.
    pub fn draft(self) -> Result<Draft> {
        let error = Error::io("write", &self.path);
        let begin = || match fs::metadata(&self.path) {
            Ok(there) if !there.is_file() => {
                Err(io::Error::other("it is a pipe or a device, not a regular file"))
            }
            _ => {
                let target = fs::canonicalize(&self.path).unwrap_or_else(|_| self.path.clone());
                Ok((Unfinished::beside(&target)?, target))
            }
        };
        begin().map(|(file, target)| Draft { file, target, path: self.path.clone() }).map_err(error)
    }
}

/// A file that is written in pieces. It gets its final name only once it is complete; an incomplete file is discarded.
#[derive(Debug)]
pub struct Draft {
    file: Unfinished,
    target: PathBuf,
    /// Final path of the file, as given by the user.
    path: PathBuf,
}

impl Draft {
    /// Returns a handle for writing the file.
    pub(crate) fn file(&self) -> Result<File> {
        self.file.file().try_clone().map_err(self.error())
    }

    /// Prepares `command`, which runs a program that will write the file, and returns the path to pass to the program.
    /// If the file has no name yet, this path refers to the program's standard output.
    pub(crate) fn lend(&self, command: &mut Command) -> Result<PathBuf> {
        Ok(match &self.file {
            #[cfg(target_os = "linux")]
            Unfinished::Nameless(_) => {
                command.stdout(self.file()?);
                PathBuf::from("/proc/self/fd/1")
            }
            Unfinished::Named(file) => {
                command.stdout(Stdio::null());
                file.path().to_owned()
            }
        })
    }

    /// Gives the complete file its final name, replacing any existing file.
    pub(crate) fn keep(self) -> Result<()> {
        let error = self.error();
        self.file.finish(&self.target).map_err(error)
    }

    /// Returns a closure that adds the file's path to an I/O error.
    pub fn error(&self) -> impl Fn(io::Error) -> Error + use<> {
        Error::io("write", &self.path)
    }
}

/// Calls `write` with a buffered writer for `file`, then flushes the buffer.
fn write_to(file: File, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut file = BufWriter::new(file);
    write(&mut file)?;
    file.flush()
}

/// Set of names reserved for new files, so that two files written at the same time never get the same name.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Mutex<BTreeSet<PathBuf>>>);

/// A reserved name for a new file. Dropping the `Name` releases the reservation.
#[derive(Debug)]
pub struct Name {
    path: PathBuf,
    names: Names,
}

impl Names {
    /// Reserves the first unused name among `stem.extension`, `stem-2.extension`, `stem-3.extension` and so on. If
    /// `is_numbered` is true, reserves a pattern for numbered files such as `stem-%04d.extension` instead.
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
    /// Returns the file's path, relative to the working directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        self.names.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn replacing_a_named_pipe_fails_instead_of_blocking() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: the name ends with a zero and outlives the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let error = OutputFile::create(&path).unwrap().replace(b"x").unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        let path = folder.path().join("file");
        for text in ["first", "second"] {
            OutputFile::create(&path).unwrap().replace(text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }
}
