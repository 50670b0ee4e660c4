//! The kernel lab: writes the built-in kernels to a folder, and watches it for edits.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crossbeam_channel::{RecvTimeoutError, Sender, bounded};
use include_dir::{Dir, File, include_dir};

use crate::base::{Error, OutputFile, Result, files, invalid};
use crate::compute::KernelEdits;

/// Built-in kernel files: the folder `kernels/`, embedded in the program.
static OWN: Dir = include_dir!("$CARGO_MANIFEST_DIR/kernels");

/// Maximum size of a kernel file, in bytes.
const MOST_BYTES: u64 = 1 << 20;
/// Interval between checks of a watched folder. Polling is cheap for a few files and works on every file system.
const EVERY: Duration = Duration::from_millis(250);
/// Name of the subfolder that holds the kernels if the chosen folder already contains other files.
const FOLDER: &str = "gravitile-kernels";

/// Returns the path (relative to `kernels/`) and the text of each built-in kernel.
pub fn own() -> impl Iterator<Item = (&'static str, &'static str)> {
    let text = |file: &'static File| Some((file.path().to_str()?, file.contents_utf8()?));
    files_of(&OWN).into_iter().filter_map(text).filter(|(name, _)| name.ends_with(".cl"))
}

/// Returns the text of `notes.toml`, the notes on the kernels of the mode `mode`, or `None` if there is no such file.
pub(super) fn notes(mode: &str) -> Option<&'static str> {
    OWN.get_file(format!("{mode}/notes.toml"))?.contents_utf8()
}

fn files_of(folder: &'static Dir) -> Vec<&'static File<'static>> {
    folder.files().chain(folder.dirs().flat_map(files_of)).collect()
}

/// Writes the built-in kernels to `folder`, or to a subfolder if `folder` contains other files. Writes nothing if
/// kernels already exist there. Returns the folder that holds the kernels.
///
/// # Errors
/// Returns an error if the folder cannot be read or written.
pub fn prepare(folder: &Path) -> Result<PathBuf> {
    let is_empty = fs::read_dir(folder).map_or(true, |mut entries| entries.next().is_none());
    let place = if is_empty { folder.to_owned() } else { place(folder) };
    if !has_any(&place) {
        for (name, text) in own() {
            let path = place.join(name);
            let parent = path.parent().unwrap_or(&place);
            fs::create_dir_all(parent).map_err(Error::io("write", parent))?;
            OutputFile::create(&path)?.save(|file| file.write_all(text.as_bytes()))?;
        }
    }
    Ok(place)
}

/// Writes the kernel file `name` to a folder written by [`prepare`], and returns its path. `last` is the text that the
/// caller wrote to this file last, if any. If the file contains neither `text`, nor `last`, nor the built-in kernel,
/// first copies it to a new file in the same folder, and also returns the path of the copy.
///
/// # Errors
/// Returns an error if the file cannot be read or written.
pub fn save(folder: &Path, name: &str, text: &str, last: Option<&str>) -> Result<(PathBuf, Option<PathBuf>)> {
    let path = place(folder).join(name);
    let before = files::read_small(&path, MOST_BYTES, "a kernel")?;
    let built_in = own().find(|(own, _)| *own == name).map(|(_, text)| text);
    let known = [Some(text), last, built_in];
    let unknown = before.filter(|old| known.iter().flatten().all(|text| old != text.as_bytes()));
    let mut kept = None;
    if let Some(old) = unknown {
        let place =
            (1..).map(|nth| path.with_extension(format!("cl.old{nth}"))).find(|place| !place.exists());
        let place = place.unwrap_or_default();
        OutputFile::create(&place)?.save(|file| file.write_all(&old))?;
        kept = Some(place);
    }
    OutputFile::create(&path)?.save(|file| file.write_all(text.as_bytes()))?;
    Ok((path, kept))
}

/// Returns the folder that contains the kernel files: either `folder` itself or its subfolder [`FOLDER`].
fn place(folder: &Path) -> PathBuf {
    if has_any(folder) { folder.to_owned() } else { folder.join(FOLDER) }
}

/// Returns whether `folder` or its subfolder for kernels contains kernel files. If so, [`prepare`] writes nothing.
pub fn has_kernels(folder: &Path) -> bool {
    has_any(&place(folder))
}

fn has_any(folder: &Path) -> bool {
    own().any(|(name, _)| folder.join(name).is_file())
}

/// Reads a folder written by [`prepare`], and returns the edited kernels. Missing files count as unedited.
///
/// # Errors
/// Returns an error if there are no kernels, or a file cannot be read or is not text.
pub fn read(folder: &Path) -> Result<KernelEdits> {
    let place = place(folder);
    if !has_any(&place) {
        let folder = folder.display();
        return Err(invalid!("the folder {folder} contains no kernel files, such as gravity/tiled.cl"));
    }
    let mut edits = KernelEdits::new();
    for (name, own) in own() {
        let path = place.join(name);
        let Some(bytes) = files::read_small(&path, MOST_BYTES, "a kernel")? else { continue };
        let text =
            String::from_utf8(bytes).map_err(std::io::Error::other).map_err(Error::io("read", &path))?;
        if text != own {
            edits.insert(name.to_owned(), text);
        }
    }
    Ok(edits)
}

/// Watcher thread that detects changes in a folder of kernels. Dropping the value stops the thread.
#[derive(Debug)]
pub struct Watch {
    /// The watched folder of kernels.
    pub folder: PathBuf,
    _end: Sender<()>,
}

impl Watch {
    /// Starts watching `folder`. Calls `news` with the edited kernels at the start, if any, and after each change.
    pub fn new(folder: PathBuf, news: impl Fn(Result<KernelEdits>) + Send + 'static) -> Result<Self> {
        let (end, ended) = bounded::<()>(0);
        let place = folder.clone();
        let watch = move || {
            let (mut last, mut reported) = (stamps(&place), vec![None; own().count()]);
            let mut known = KernelEdits::new();
            loop {
                let now = stamps(&place);
                // The files did not change between two checks, so the files are completely written.
                if now == last && now != reported {
                    let read = read(&place);
                    let is_known = matches!(&read, Ok(edits) if *edits == known);
                    if !is_known {
                        read.iter().for_each(|edits| known.clone_from(edits));
                        news(read);
                    }
                    reported.clone_from(&now);
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
            .map_err(|error| invalid!("cannot start a thread to watch the kernels: {error}"))?;
        Ok(Self { folder, _end: end })
    }
}

/// Returns the modification time and the size of each kernel in a folder, or `None` for a missing file.
fn stamps(folder: &Path) -> Vec<Option<(SystemTime, u64)>> {
    let stamp = |name: &str| {
        let there = fs::metadata(folder.join(name)).ok()?;
        Some((there.modified().ok()?, there.len()))
    };
    own().map(|(name, _)| stamp(name)).collect()
}
