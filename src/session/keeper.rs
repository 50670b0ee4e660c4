//! Snapshots leave the simulation's thread here: they are packed and written on a thread of their own, so that the steps
//! go on meanwhile.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use super::{Notice, Save};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;

/// The longest that the end of a burst is waited for when the program ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// Writes snapshots, and knows where to save what there is when all ends.
#[derive(Default)]
pub(super) struct Keeper {
    writing: Option<JoinHandle<()>>,
    /// Where what runs is kept, and from where it was last looked at.
    place: Option<(PathBuf, String)>,
    /// Whether it was written there already.
    is_kept: bool,
}

impl Keeper {
    /// From now on keeps what runs in the file `path`.
    pub fn keep(&mut self, path: PathBuf) {
        self.place = Some((path, String::new()));
    }

    /// Starts to write what `engine` is. One that nobody asked for waits for its next turn while another is written.
    ///
    /// # Errors
    /// If the device fails.
    pub fn save(&mut self, engine: &mut Engine, save: Save, notices: &Sender<Notice>) -> Result<()> {
        let is_busy = self.writing.as_ref().is_some_and(|writing| !writing.is_finished());
        let path = match (save.path, &mut self.place) {
            (Some(path), _) => path,
            (None, Some((path, view))) if !is_busy => {
                view.clone_from(&save.view);
                path.clone()
            }
            (None, _) => return Ok(()),
        };
        self.finish();
        let snapshot = Snapshot { view: save.view, ..engine.snapshot()? };
        let replaces = self.sets_aside(&path);
        let is_asked_for = !self.is_place(&path);
        let notices = notices.clone();
        let write = move || {
            let outcome = write(&snapshot, &path, replaces);
            // Nobody listening means that the window is gone.
            let _ = notices.send(Notice::Saved { path, is_asked_for, outcome });
        };
        let thread = std::thread::Builder::new().name("snapshot".to_owned()).spawn(write);
        self.writing =
            Some(thread.map_err(|error| Error::Invalid(format!("no thread to write a snapshot: {error}")))?);
        Ok(())
    }

    /// Keeps what `engine` is before all ends, with the burst that is `under_way` completed; `view` is from where it was last
    /// looked at. If that is not possible, as after a mistake in the midst of a burst, the file is what it was.
    pub fn end(&mut self, engine: &mut Engine, under_way: bool, view: Option<String>) {
        self.finish();
        let Some((path, last_view)) = self.place.clone() else { return };
        let replaces = self.sets_aside(&path);
        let save = || -> Result<()> {
            let patience = Instant::now() + PATIENCE;
            while under_way && engine.advance()? {
                if Instant::now() > patience {
                    return Ok(());
                }
            }
            let snapshot = Snapshot { view: view.unwrap_or(last_view), ..engine.snapshot()? };
            write(&snapshot, &path, replaces)
        };
        if let Ok(Err(error)) = catch_unwind(AssertUnwindSafe(save)) {
            tracing::warn!("{error}");
        }
    }

    /// Waits for what is being written.
    fn finish(&mut self) {
        if let Some(writing) = self.writing.take() {
            // A panic over there was printed there.
            let _ = writing.join();
        }
    }

    fn is_place(&self, path: &Path) -> bool {
        self.place.as_ref().is_some_and(|(place, _)| place == path)
    }

    /// Whether what was kept by an earlier start of the program stands at `path`, and is set aside before it is replaced.
    fn sets_aside(&mut self, path: &Path) -> bool {
        self.is_place(path) && !std::mem::replace(&mut self.is_kept, true)
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.finish();
    }
}

fn write(snapshot: &Snapshot, path: &Path, sets_aside: bool) -> Result<()> {
    if let Some(folder) = path.parent().filter(|_| sets_aside) {
        let error = |source| Error::Io { doing: "write", path: folder.to_owned(), source };
        fs::create_dir_all(folder).map_err(error)?;
        // There may be none.
        let _ = fs::rename(path, previous(path));
    }
    snapshot.save(path)
}

/// Where what was kept at `path` by an earlier start of the program is set aside.
pub fn previous(path: &Path) -> PathBuf {
    path.with_extension(format!("previous.{}", crate::snapshot::EXTENSION))
}
