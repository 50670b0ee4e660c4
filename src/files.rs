//! Writes files so that nothing is ever half-written: a file gets its name when it is whole. Opens files for reading, which may
//! be broken or malicious.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use serde::de::DeserializeOwned;
use tempfile::NamedTempFile;

use crate::error::{Error, Result};

/// Opens the file `path` for reading and returns its length. A file of more than `most` bytes is refused; the
/// error names `what` was expected, such as "a picture". Every file that a user names is opened here.
///
/// # Errors
/// [`Error::Io`] if it cannot be read, is larger, or is no regular file: a pipe or a device may give nothing for ever, or never end.
pub fn open(path: &Path, most: u64, what: &str) -> Result<(File, u64)> {
    let regular = |there: &fs::Metadata| match there.is_file() {
        true => Ok(()),
        false if there.is_dir() => Err(io::Error::other("it is a folder")),
        false => Err(io::Error::other("it is a pipe or a device, not a regular file")),
    };
    let try_open = || {
        // Before it is opened: that alone can change what a device does.
        regular(&fs::metadata(path)?)?;
        let mut options = File::options();
        // Something else may stand there by now, and to open a pipe is to wait for somebody who writes to it.
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
    try_open().map_err(|source| Error::Io { doing: "read", path: path.to_owned(), source })
}

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

/// What the file `path` holds, of `most` bytes or fewer, as `what` has: however long a file says that it is, or grows meanwhile.
///
/// # Errors
/// As [`open`].
pub fn read_bounded(path: &Path, most: u64, what: &str) -> Result<Vec<u8>> {
    let (file, length) = open(path, most, what)?;
    let mut bytes = Vec::new();
    let read = || {
        bytes.try_reserve_exact(length as usize).map_err(io::Error::other)?;
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > most { Err(too_large(what)) } else { Ok(bytes) }
    };
    read().map_err(|source| Error::Io { doing: "read", path: path.to_owned(), source })
}

fn too_large(what: &str) -> io::Error {
    io::Error::other(format!("it is too large to be {what}"))
}

/// The most bytes that a TOML file may have outside of its texts and comments: keys, numbers, brackets. A parsed one takes some
/// hundred times as much memory as these.
const MOST_STRUCTURE: usize = 1 << 18;

/// What a text in TOML says; texts in it may be long, and nothing else.
///
/// # Errors
/// Where that is known the byte at which it is wrong, and what is wrong.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, (Option<usize>, String)> {
    if let Some(at) = structure_beyond(text.as_bytes(), MOST_STRUCTURE) {
        let what = format!("there are more than {MOST_STRUCTURE} bytes of keys and numbers");
        return Err((Some(at), what));
    }
    toml::from_str(text).map_err(|error| (error.span().map(|span| span.start), error.message().to_owned()))
}

/// The byte at which more than `most` bytes were neither in texts nor in comments, if there are as many. Texts begin and end where
/// the parser lets them, in a file that is no TOML too.
fn structure_beyond(text: &[u8], most: usize) -> Option<usize> {
    // A quote within a word begins no text.
    let (mut at, mut structure, mut in_word) = (0, 0, false);
    while let Some(&byte) = text.get(at) {
        at += match byte {
            b'"' | b'\'' if !in_word => string_len(&text[at..]),
            b'#' => text[at..].iter().position(|byte| *byte == b'\n').unwrap_or(text.len() - at),
            _ => 1,
        };
        in_word = !b".=,[]{} \t#\r\n".contains(&byte) && (in_word || !b"\"'".contains(&byte));
        structure += 1;
        if structure > most {
            return Some(at);
        }
    }
    None
}

/// Bytes of the text in quotes that `text` begins with. One that is not closed ends at the end of the line, or of the file if it may
/// have several lines.
fn string_len(text: &[u8]) -> usize {
    let quote = text[0];
    let is_long = text.starts_with(&[quote; 3]);
    let closing = if is_long { &[quote; 3][..] } else { &[quote; 1][..] };
    let mut at = closing.len();
    while at < text.len() {
        match text[at] {
            b'\\' if quote == b'"' => {
                at += 1;
                at += usize::from(text.get(at).is_some_and(|next| b"\\\"".contains(next)));
            }
            b'\n' if !is_long => return at,
            _ if text[at..].starts_with(closing) => {
                at += closing.len();
                // Up to two quotes may stand before the three that close it.
                let more = text[at..].iter().take(2).take_while(|byte| is_long && **byte == quote);
                return at + more.count();
            }
            _ => at += 1,
        }
    }
    text.len()
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
            _ => Unfinished::beside(path).map(drop),
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
                let unfinished = Unfinished::beside(&target)?;
                let mut file = BufWriter::new(unfinished.file());
                write(&mut file)?;
                file.flush()?;
                drop(file);
                unfinished.finish(&target)
            }
        };
        write_all().map_err(write_error(&self.path))
    }
}

impl Output {
    /// Writes `contents` and gives the file its name. Unlike [`Output::save`] it refuses a pipe or device: to open a pipe for writing
    /// is to wait for somebody who reads it.
    ///
    /// # Errors
    /// As [`Output::draft`], and [`Error::Io`] if the contents cannot be written.
    pub fn replace(self, contents: &[u8]) -> Result<()> {
        let draft = self.draft()?;
        draft.file()?.write_all(contents).map_err(draft.error())?;
        draft.keep()
    }

    /// A file that is written bit by bit, or by another program, before it is given its name.
    ///
    /// # Errors
    /// [`Error::Io`] if nothing can be written there, or only into a pipe or device.
    pub fn draft(self) -> Result<Draft> {
        let error = write_error(&self.path);
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

/// A file that is written over a long time. It gets its name when it is whole, and vanishes if the program ends before.
#[derive(Debug)]
pub struct Draft {
    file: Unfinished,
    target: PathBuf,
    /// The target as the person named it.
    path: PathBuf,
}

impl Draft {
    /// The file.
    ///
    /// # Errors
    /// [`Error::Io`] if there are too many open files.
    pub fn file(&self) -> Result<File> {
        self.file.file().try_clone().map_err(self.error())
    }

    /// Lets `command` write the file; the path by which that program opens it. A file without a name becomes the program's
    /// standard output, which has a path.
    ///
    /// # Errors
    /// As [`Draft::file`].
    pub fn lend(&self, command: &mut Command) -> Result<PathBuf> {
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

    /// Gives it its name, in place of an older file.
    ///
    /// # Errors
    /// [`Error::Io`] if that is not possible.
    pub fn keep(self) -> Result<()> {
        let error = self.error();
        self.file.finish(&self.target).map_err(error)
    }

    /// Names what could not be written.
    pub fn error(&self) -> impl FnOnce(io::Error) -> Error + use<> {
        write_error(&self.path)
    }
}

/// A file that is being written. Whatever ends the program before the file is finished leaves nothing behind.
#[derive(Debug)]
enum Unfinished {
    /// A file that no folder lists (`O_TMPFILE`, open(2)): the system itself discards it with the program, even on SIGKILL.
    #[cfg(target_os = "linux")]
    Nameless(File),
    /// A file with a temporary name, for systems and file systems without nameless files. SIGKILL leaves it behind.
    Named(NamedTempFile),
}

impl Unfinished {
    /// A file in the folder of `target`.
    fn beside(target: &Path) -> io::Result<Self> {
        let folder = folder_of(target);
        // The system's own words for a folder that is not there, without the name of a temporary file.
        fs::metadata(folder)?;
        #[cfg(target_os = "linux")]
        if let Some(file) = nameless::open(folder) {
            return Ok(Self::Nameless(file));
        }
        // Not `tempfile_in`, whose files only the owner may read, and whose errors carry the temporary name.
        temporary(folder, |path| File::options().write(true).create_new(true).open(path)).map(Self::Named)
    }

    fn file(&self) -> &File {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless(file) => file,
            Self::Named(file) => file.as_file(),
        }
    }

    /// Gives the file the name `target`, in place of an older file.
    fn finish(self, target: &Path) -> io::Result<()> {
        match self {
            #[cfg(target_os = "linux")]
            Self::Nameless(file) => match nameless::link(&file, target) {
                // A link does not replace a file, but a renamed link does.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    let link = temporary(folder_of(target), |path| nameless::link(&file, path))?;
                    link.persist(target).map(drop).map_err(io::Error::from)
                }
                // Some file systems have nameless files but no links.
                Err(_) => nameless::copy(&file, target),
                Ok(()) => Ok(()),
            },
            Self::Named(file) => file.persist(target).map(drop).map_err(io::Error::from),
        }
    }
}

/// Files of Linux that have no name yet.
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

    /// A new file in `folder`; none where the file system has no such files, or they could not be given a name later.
    pub fn open(folder: &Path) -> Option<File> {
        let mut options = File::options();
        // What others may do with the file is up to the umask, as for every new file.
        options.write(true).mode(0o666).custom_flags(libc::O_TMPFILE);
        options.open(folder).ok().filter(|file| entry(file).exists())
    }

    /// Gives `file` the name `path`.
    pub fn link(file: &File, path: &Path) -> io::Result<()> {
        let from = CString::new(entry(file).into_os_string().into_vec())?;
        let to = CString::new(path.to_owned().into_os_string().into_vec())?;
        let (here, follow) = (libc::AT_FDCWD, libc::AT_SYMLINK_FOLLOW);
        // SAFETY: both paths end with NUL and outlive the call.
        match unsafe { libc::linkat(here, from.as_ptr(), here, to.as_ptr(), follow) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Gives a copy of `file` the name `path`, in place of an older file.
    pub fn copy(file: &File, path: &Path) -> io::Result<()> {
        let create = |path: &Path| File::options().write(true).create_new(true).open(path);
        let mut copy = temporary(folder_of(path), create)?;
        io::copy(&mut File::open(entry(file))?, copy.as_file_mut())?;
        copy.persist(path).map(drop).map_err(io::Error::from)
    }

    /// The link in /proc that leads to `file`: see linkat(2), which has no better way for an ordinary user.
    fn entry(file: &File) -> PathBuf {
        PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()))
    }
}

/// The folder that `path` stands in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| *folder != Path::new("")).unwrap_or(Path::new("."))
}

/// What `create` makes under a temporary name in `folder`.
fn temporary<T>(folder: &Path, create: impl FnMut(&Path) -> io::Result<T>) -> io::Result<NamedTempFile<T>> {
    tempfile::Builder::new().make_in(folder, create)
}

fn write_error(path: &Path) -> impl FnOnce(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |source| Error::Io { doing: "write", path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_be_linked_is_copied() {
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

    #[cfg(unix)]
    #[test]
    fn what_replaces_a_file_waits_for_no_reader_of_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("pipe");
        let name = std::ffi::CString::new(path.as_os_str().as_encoded_bytes()).unwrap();
        // SAFETY: the name ends with a zero and outlives the call.
        assert_eq!(unsafe { libc::mkfifo(name.as_ptr(), 0o600) }, 0);
        let error = Output::create(&path).unwrap().replace(b"x").unwrap_err();
        assert!(error.to_string().contains("not a regular file"), "{error}");
        let path = folder.path().join("file");
        for text in ["first", "second"] {
            Output::create(&path).unwrap().replace(text.as_bytes()).unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
        }
    }

    #[test]
    fn only_what_is_outside_of_texts_and_comments_counts() {
        for (text, structure) in [
            ("a = 1\n", 6),
            ("a='#\"\\'#x\"\n", 5),
            ("a=\"\\\"#\\\\\"b", 4),
            ("a=\"\"\"x\n\"y\"\\\"\"\"\"\nb", 5),
            ("a='''x\n'y'''\nb", 5),
            ("a=\"\nb", 5),
            ("a\"[[\n", 5),
            ("a=\"\"\"x\"\"\"\"\"b", 4),
            ("a=\"\"\"\nb\n", 3),
            ("# \"\n'", 3),
            ("", 0),
        ] {
            assert_eq!(structure_beyond(text.as_bytes(), structure), None, "{text:?}");
            if structure > 0 {
                assert!(structure_beyond(text.as_bytes(), structure - 1).is_some(), "{text:?}");
            }
        }
        let long = format!("a = '''{}'''\n", "\n=".repeat(MOST_STRUCTURE));
        assert!(from_toml::<toml::Table>(&long).is_ok());
        let many = "[a]\n".repeat(MOST_STRUCTURE);
        assert!(from_toml::<toml::Table>(&many).unwrap_err().1.contains("bytes of keys"));
    }
}
