//! Files that are being written and do not have their final names yet.

use std::fs::{self, File};
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

/// A file that is being written. If the program ends before the file is complete, the file is discarded.
#[derive(Debug)]
pub(super) enum Unfinished {
    /// An unnamed file (`O_TMPFILE`, see open(2)), which the system discards when the program ends or is killed.
    #[cfg(target_os = "linux")]
    Nameless(File),
    /// A file with a temporary name, used if the operating system or the file system cannot create unnamed files. If
    /// the program is killed, the file remains.
    Named(NamedTempFile),
}

impl Unfinished {
    /// Creates an unfinished file in the folder of `target`.
    pub(super) fn beside(target: &Path) -> io::Result<Self> {
        let folder = folder_of(target);
        // Without this check, the error for a missing folder would name a temporary file.
        fs::metadata(folder)?;
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless::open(folder) {
            return Ok(Self::Nameless(file));
        }
        // `tempfile_in` is not used: only the owner could read its files, and its errors name the temporary file.
        temporary(folder, |path| File::options().write(true).create_new(true).open(path)).map(Self::Named)
    }

    pub(super) fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Gives the file the name `target`, replacing any existing file.
    pub(super) fn finish(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless(file) => match nameless::link(&file, target) {
                // A new link cannot replace a file, but renaming a link can.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let link = temporary(folder_of(target), |path| nameless::link(&file, path))?;
                    link.persist(target).map(drop).map_err(io::Error::from)
                }
                // Some file systems have nameless files but no hard links.
                Err(_) => nameless::copy(&file, target),
                Ok(()) => Ok(()),
            },
            Self::Named(file) => file.persist(target).map(drop).map_err(io::Error::from),
        }
    }
}

/// Unnamed files (`O_TMPFILE`) on Linux.
#[cfg(target_os = "linux")]
mod nameless {
    use std::ffi::CString;
    use std::fs::File;
    use std::io;
    use std::os::fd::AsRawFd;
    use std::os::unix::ffi::OsStringExt;
    use std::os::unix::fs::OpenOptionsExt;
    use std::path::{Path, PathBuf};

    use super::{folder_of, temporary};

    /// Creates an unnamed file in `folder`. Returns `None` if the file system cannot do this or /proc is missing.
    pub(super) fn open(folder: &Path) -> Option<File> {
        let mut options = File::options();
        // The umask restricts the permissions, as for any new file.
        options.write(true).mode(0o666).custom_flags(libc::O_TMPFILE);
        options.open(folder).ok().filter(|file| entry(file).exists())
    }

    /// Gives the unnamed `file` the name `path`; fails if `path` exists.
    pub(super) fn link(file: &File, path: &Path) -> io::Result<()> {
        let from = CString::new(entry(file).into_os_string().into_vec())?;
        let to = CString::new(path.to_owned().into_os_string().into_vec())?;
        let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        // SAFETY: both paths end with NUL and outlive the call.
        match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Copies the unnamed `file` to `path`, replacing any existing file.
    pub(super) fn copy(file: &File, path: &Path) -> io::Result<()> {
        let create = |path: &Path| File::options().write(true).create_new(true).open(path);
        let mut copy = temporary(folder_of(path), create)?;
        io::copy(&mut File::open(entry(file))?, copy.as_file_mut())?;
        copy.persist(path).map(drop).map_err(io::Error::from)
    }

    /// Returns the path of `file` in /proc, to pass to linkat(2). Passing the file descriptor itself is allowed only to
    /// root.
    fn entry(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// Creates a temporary file in `folder` by calling `create` with an unused path.
fn temporary<T>(folder: &Path, create: impl FnMut(&Path) -> io::Result<T>) -> io::Result<NamedTempFile<T>> {
    tempfile::Builder::new().make_in(folder, create)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn an_unnamed_temporary_file_is_copied_completely_to_the_target() {
        let folder = tempfile::tempdir().unwrap();
        let Some(mut file) = nameless::open(folder.path()) else { return };
        file.write_all(b"all of it").unwrap();
        let target = folder.path().join("film.gif");
        for older in [false, true] {
            assert_eq!(target.exists(), older);
            nameless::copy(&file, &target).unwrap();
            assert_eq!(fs::read(&target).unwrap(), b"all of it");
            fs::write(&target, "older").unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "no temporary file is left");
    }
}
