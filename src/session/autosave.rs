//! Writes snapshots on a separate thread, and saves the simulation when the program ends or crashes.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Instant;

use super::notices::{Moment, Notice, Notifier};
use crate::base::{Error, Result, invalid};
use crate::engine::snapshot::EXTENSION;
use crate::engine::{Engine, Snapshot};

/// Message shown after saving a flow that has blown up and cannot continue.
const BLOWN_UP: &str = "The file was saved, but its flow has blown up and cannot continue. After you open the file, restart the scene";

/// A request to write a snapshot.
#[derive(Debug, Clone)]
pub struct Save {
    /// Path of the file; `None` means the autosave file, if there is one.
    pub path: Option<PathBuf>,
    /// Camera position to store in [`Snapshot::view`].
    pub view: String,
}

/// What to save when the simulation's thread ends, and how long to wait for the current steps.
pub(super) struct Ending {
    /// Whether a burst of steps (the steps between two frames) has started but is not complete.
    pub is_bursting: bool,
    /// Whether the thread ends because of an error.
    pub has_failed: bool,
    /// Requested files that have not been written yet, each with its camera position.
    pub requested: Vec<(PathBuf, String)>,
    /// Last camera position, if there is a window.
    pub view: Option<String>,
    /// Time at which to stop waiting for the steps of the current frame.
    pub deadline: Instant,
}

/// Writes snapshots to the autosave file or to files that the user names.
#[derive(Debug, Default)]
pub struct Autosave {
    /// Thread that writes a snapshot. The thread returns the start time of the autosave that it has written, if any.
    writer: Option<JoinHandle<Option<Instant>>>,
    /// Path of the autosave file, and the last known camera position.
    file: Option<(PathBuf, String)>,
    /// Start time of the last autosave that this run has written.
    saved: Option<Instant>,
}

impl Autosave {
    /// Sets the file for all later autosaves to `path`.
    pub(super) fn set_file(&mut self, path: PathBuf) {
        self.file = Some((path, String::new()));
    }

    /// Starts writing a snapshot of `engine` in the background. Skips an autosave while another write is in progress.
    pub(super) fn save(&mut self, engine: &mut Engine, save: Save, notifier: &Notifier) -> Result<()> {
        let is_busy = self.writer.as_ref().is_some_and(|writer| !writer.is_finished());
        let path = match (save.path, &mut self.file) {
            (Some(path), _) => path,
            (None, Some((path, view))) if !is_busy => {
                view.clone_from(&save.view);
                path.clone()
            }
            (None, _) => return Ok(()),
        };
        self.join_writer();
        let snapshot = Snapshot { view: save.view, ..engine.snapshot()? };
        let is_asked_for = !self.is_autosave(&path);
        let (started, is_first) = ((!is_asked_for).then(Instant::now), self.is_first(&path));
        let moment = moment(engine);
        let (file, notices) = (path.clone(), notifier.clone());
        let write = move || {
            let outcome = write(&snapshot, &file, &file, is_first);
            let saved = started.filter(|_| outcome.is_ok());
            let is_saved_in_vain = is_asked_for && outcome.is_ok() && snapshot.runs[0].state.has_blown_up();
            notices.send(Notice::SnapshotSaved { path: file, is_asked_for, moment, outcome });
            if is_saved_in_vain {
                notices.send(Notice::Message(BLOWN_UP));
            }
            saved
        };
        match std::thread::Builder::new().name("snapshot".to_owned()).spawn(write) {
            Ok(thread) => self.writer = Some(thread),
            Err(error) => {
                let outcome = Err(invalid!("cannot start a thread to write the snapshot: {error}"));
                notifier.send(Notice::SnapshotSaved { path, is_asked_for, moment, outcome });
            }
        }
        Ok(())
    }

    /// Writes the autosave and the requested files before the simulation's thread ends. If the current steps take too
    /// long, saves the last checkpoint instead. After a failure, writes the crash save instead of the autosave file.
    pub(super) fn end(&mut self, engine: &mut Engine, ending: Ending, notifier: &Notifier) {
        self.join_writer();
        let Ending { is_bursting, has_failed, requested, view, deadline } = ending;
        if self.file.is_none() && requested.is_empty() {
            return;
        }
        let completed = || -> Result<Option<Snapshot>> {
            while is_bursting && engine.advance()? {
                if Instant::now() > deadline {
                    return Ok(None);
                }
            }
            engine.snapshot().map(Some)
        };
        let outcome = match has_failed {
            true => None,
            // A panic was already printed.
            false => catch_unwind(AssertUnwindSafe(completed)).ok(),
        };
        let outcome = outcome.and_then(|whole| whole.inspect_err(|error| tracing::warn!("{error}")).ok());
        let (is_sound, whole) = (outcome.is_some(), outcome.flatten());
        let is_complete = whole.is_some();
        let snapshot = whole.unwrap_or_else(|| engine.last_snapshot());
        for (path, view) in requested {
            let outcome = write(&Snapshot { view, ..snapshot.clone() }, &path, &path, self.is_first(&path));
            if self.is_autosave(&path) && outcome.is_ok() {
                self.saved = Some(Instant::now());
            }
            notifier.send(Notice::SnapshotSaved {
                path,
                is_asked_for: true,
                moment: moment(engine),
                outcome,
            });
        }
        let is_newer = self.saved.is_some_and(|saved| saved > engine.checkpoint().taken);
        if let Some((path, last_view)) = self.file.clone().filter(|_| is_complete || !is_newer) {
            let is_first = self.is_first(&path);
            let snapshot = Snapshot { view: view.unwrap_or(last_view), ..snapshot };
            let file = if is_sound { path.clone() } else { crashed(&path) };
            if let Err(error) = write(&snapshot, &file, &path, is_first) {
                tracing::warn!("{error}");
            }
        }
    }

    /// Waits until the snapshot that is being written, if any, is complete.
    fn join_writer(&mut self) {
        // A panic of the thread was already printed.
        let saved = self.writer.take().and_then(|writer| writer.join().ok().flatten());
        self.saved = saved.or(self.saved);
    }

    fn is_autosave(&self, path: &Path) -> bool {
        self.file.as_ref().is_some_and(|(file, _)| file == path)
    }

    /// Returns whether `path` is the autosave file and this run has not written it yet.
    fn is_first(&self, path: &Path) -> bool {
        self.is_autosave(path) && self.saved.is_none()
    }
}

impl Drop for Autosave {
    fn drop(&mut self) {
        self.join_writer();
    }
}

fn moment(engine: &Engine) -> Moment {
    (engine.generation(), engine.clock().0, engine.changes())
}

/// Writes `snapshot` to `file`. If `is_first` is true, first calls [`set_aside`] for the autosave file `path`.
fn write(snapshot: &Snapshot, file: &Path, path: &Path, is_first: bool) -> Result<()> {
    if is_first {
        set_aside(path)?;
    }
    snapshot.save(file)
}

/// Creates the folder of the autosave file `path`, and renames the save of an earlier run, if any, to [`previous`].
fn set_aside(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else { return Ok(()) };
    fs::create_dir_all(folder).map_err(Error::io("write", folder))?;
    if let Some(left) = [crashed(path), path.to_owned()].into_iter().find(|file| file.is_file()) {
        // The old file is lost only if the file system refuses to rename it.
        let _ = fs::rename(left, previous(path));
    }
    Ok(())
}

/// Returns the path to which a new run renames the autosave `path` of an earlier run.
pub fn previous(path: &Path) -> PathBuf {
    path.with_extension(format!("previous.{EXTENSION}"))
}

/// Returns the path of the crash save, in the same folder as the autosave file `path`. After a failure, the crash save
/// is written instead of the autosave file.
pub fn crashed(path: &Path) -> PathBuf {
    path.with_extension(format!("crash.{EXTENSION}"))
}

/// Returns the paths of all files that runs with the autosave file `path` write, newest first: the crash save, the
/// autosave file, and the renamed save of an earlier run.
fn saves(path: &Path) -> [PathBuf; 3] {
    [crashed(path), path.to_owned(), previous(path)]
}

/// Returns the path of the newest file that an earlier run left behind, or `None` if there is no such file. The file is
/// a crash save, the autosave file `path`, or a renamed save.
pub fn left_by_earlier_run(path: &Path) -> Option<PathBuf> {
    saves(path).into_iter().find(|file| file.is_file())
}

/// Returns whether an earlier run with the autosave `path` left a snapshot that this program cannot read. A newer
/// version of the program may have written it, so it must not be replaced.
pub fn is_foreign(path: &Path) -> bool {
    saves(path).iter().any(|file| Snapshot::is_unreadable(file))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_run_renames_the_crash_save_or_autosave_of_an_earlier_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new").join("autosave.gravitile");
        assert_eq!(left_by_earlier_run(&path), None);
        set_aside(&path).unwrap();
        fs::write(&path, "autosave").unwrap();
        fs::write(crashed(&path), "crash").unwrap();
        set_aside(&path).unwrap();
        assert_eq!(fs::read_to_string(previous(&path)).unwrap(), "crash");
        assert_eq!(left_by_earlier_run(&path), Some(path.clone()));
        set_aside(&path).unwrap();
        assert_eq!(fs::read_to_string(previous(&path)).unwrap(), "autosave");
        assert_eq!(left_by_earlier_run(&path), Some(previous(&path)));
    }
}
