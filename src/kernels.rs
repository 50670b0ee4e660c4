//! The kernel lab: the program's own kernels written to a folder, and what a person made of them read back and watched.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use include_dir::{Dir, File, include_dir};

use crate::compute::Edits;
use crate::error::{Error, Result};
use crate::files::{self, Output};

/// All of `kernels/`.
static OWN: Dir = include_dir!("$CARGO_MANIFEST_DIR/kernels");

/// More than a kernel can be meant to have.
const MOST_BYTES: u64 = 1 << 20;
/// A folder is looked at this often. Asking for the times of some files costs nothing, and works on every file system.
const EVERY: Duration = Duration::from_millis(250);
/// The folder that is made in one that holds something else.
const FOLDER: &str = "gravitile-kernels";

/// The program's own kernels: their names under `kernels/`, as compiler messages show them, and their texts.
pub fn own() -> impl Iterator<Item = (&'static str, &'static str)> {
    let folders = OWN.dirs().flat_map(Dir::files);
    let text = |file: &'static File| Some((file.path().to_str()?, file.contents_utf8()?));
    OWN.files().chain(folders).filter_map(text).filter(|(name, _)| name.ends_with(".cl"))
}

/// Where kernels are, or are to be, when a person names `folder`: there, or in a folder of their own beside what else is there.
/// The program's own are written to it, unless some are there already.
///
/// # Errors
/// If it cannot be read or written.
pub fn prepare(folder: &Path) -> Result<PathBuf> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    let place = if is_empty { folder.to_owned() } else { place(folder) };
    if !has_any(&place) {
        for (name, text) in own() {
            let path = place.join(name);
            let parent = path.parent().unwrap_or(&place);
            fs::create_dir_all(parent).map_err(|source| io_error("write", parent, source))?;
            Output::create(&path)?.save(|file| file.write_all(text.as_bytes()))?;
        }
    }
    Ok(place)
}

/// Where kernels are in a folder that holds something: there, or in one of their own.
fn place(folder: &Path) -> PathBuf {
    if has_any(folder) { folder.to_owned() } else { folder.join(FOLDER) }
}

fn has_any(folder: &Path) -> bool {
    own().any(|(name, _)| folder.join(name).is_file())
}

/// The kernels in `folder`, or where [`prepare`] put them in it, that are not as they come with the program. One that is not there is as it comes.
///
/// # Errors
/// If there is none at all, or one cannot be read or is no text.
pub fn read(folder: &Path) -> Result<Edits> {
    let place = place(folder);
    if !has_any(&place) {
        let text = format!("{} holds no kernels, such as gravity/tiled.cl", folder.display());
        return Err(Error::Invalid(text));
    }
    let mut edits = Edits::new();
    for (name, own) in own() {
        let path = place.join(name);
        let Some(bytes) = files::read_small(&path, MOST_BYTES, "a kernel")? else { continue };
        let no_text = |error| io_error("read", &path, std::io::Error::other(error));
        let text = String::from_utf8(bytes).map_err(no_text)?;
        if text != own {
            edits.insert(name.to_owned(), text);
        }
    }
    Ok(edits)
}

fn io_error(doing: &'static str, path: &Path, source: std::io::Error) -> Error {
    Error::Io { doing, path: path.to_owned(), source }
}

/// A folder that is watched, by a thread of its own, until this is dropped.
#[derive(Debug)]
pub struct Watch {
    /// Where the kernels are.
    pub folder: PathBuf,
    _end: Sender<()>,
}

impl Watch {
    /// Tells `news` what is in `folder` now, if that is not the program's own, and whenever a file in it was saved.
    ///
    /// # Errors
    /// If no thread can be had.
    pub fn new(folder: PathBuf, news: impl Fn(Result<Edits>) + Send + 'static) -> Result<Self> {
        let (end, ended) = bounded::<()>(0);
        let place = folder.clone();
        let watch = move || {
            let mut told = vec![None; own().count()];
            let mut last = stamps(&place);
            let mut known = Edits::new();
            loop {
                let now = stamps(&place);
                // Two looks alike: nobody is in the midst of writing.
                if now == last && now != told {
                    let read = read(&place);
                    if read.as_ref().map_or(true, |edits| *edits != known) {
                        known = read.as_ref().map_or_else(|_| known, Edits::clone);
                        news(read);
                    }
                    told.clone_from(&now);
                }
                last = now;
                if ended.recv_timeout(EVERY) == Err(RecvTimeoutError::Disconnected) {
                    break;
                }
            }
        };
        std::thread::Builder::new()
            .name("kernels".to_owned())
            .spawn(watch)
            .map_err(|error| Error::Invalid(format!("no thread to watch kernels: {error}")))?;
        Ok(Self { folder, _end: end })
    }
}

/// When each kernel in a folder was written, and how long it is.
fn stamps(folder: &Path) -> Vec<Option<(SystemTime, u64)>> {
    let stamp = |name: &str| {
        let there = fs::metadata(folder.join(name)).ok()?;
        Some((there.modified().ok()?, there.len()))
    };
    own().map(|(name, _)| stamp(name)).collect()
}
