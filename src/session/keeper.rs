//! Snapshots leave the simulation's thread here: they are packed and written on a thread of their own, so that the steps
//! go on meanwhile.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread::JoinHandle;
use std::time::Instant;

use super::voice::Voice;
use super::{Moment, Notice, Save};
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::snapshot::Snapshot;

/// What is said of a file that nobody can go on from.
const BLOWN_UP: &str = "Saved, but the flow had blown up: opened, it stands still until it is restarted";

/// What is left to be done when all ends.
pub(super) struct Rest {
    /// Whether a burst is not complete.
    pub under_way: bool,
    /// Whether it ends by a failure.
    pub has_failed: bool,
    /// Files that were asked for, each with the view that belongs to it.
    pub asked: Vec<(PathBuf, String)>,
    /// From where it was looked at last.
    pub view: Option<String>,
    /// How long the end of the burst is waited for.
    pub until: Instant,
}

/// Writes snapshots, and knows where to save what there is when all ends.
#[derive(Default)]
pub(super) struct Keeper {
    writing: Option<JoinHandle<()>>,
    /// Where what runs is kept, and from where it was last looked at.
    place: Option<(PathBuf, String)>,
    /// When what it was is written there, if it ever was.
    kept: Option<Instant>,
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
    pub fn save(&mut self, engine: &mut Engine, save: Save, voice: &Voice) -> Result<()> {
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
        let (kept, sets_aside) = (self.kept, self.sets_aside(&path));
        let is_asked_for = !self.is_place(&path);
        let moment = moment(engine);
        let tell = {
            let (path, voice) = (path.clone(), voice.clone());
            move |outcome| voice.tell(Notice::Saved { path, is_asked_for, moment, outcome })
        };
        let write = {
            let tell = tell.clone();
            let voice = voice.clone();
            move || {
                let outcome = write(&snapshot, &path, sets_aside);
                let is_lost = is_asked_for && outcome.is_ok() && has_blown_up(&snapshot);
                tell(outcome);
                if is_lost {
                    voice.tell(Notice::Said(BLOWN_UP));
                }
            }
        };
        match std::thread::Builder::new().name("snapshot".to_owned()).spawn(write) {
            Ok(thread) => self.writing = Some(thread),
            Err(error) => {
                self.kept = kept;
                tell(Err(Error::Invalid(format!("there is no thread to write a snapshot: {error}"))));
            }
        }
        Ok(())
    }

    /// Keeps what `engine` is before all ends, where it is kept and in the files that were `asked` for. A burst under way is
    /// completed, unless that takes too long: then it is the last checkpoint, or what was kept since. After a failure in the
    /// midst of one nothing is known to be whole but that, and what was kept stays as it was.
    pub fn end(&mut self, engine: &mut Engine, rest: Rest, voice: &Voice) {
        self.finish();
        let Rest { under_way, has_failed, asked, view, until } = rest;
        if self.place.is_none() && asked.is_empty() {
            return;
        }
        let is_kept_since = |taken: Instant| self.kept.is_some_and(|kept| kept > taken);
        let whole = || -> Result<Option<Snapshot>> {
            while under_way && !has_failed && engine.advance()? {
                if Instant::now() > until {
                    let is_old = is_kept_since(engine.checkpoint().taken());
                    return Ok((!is_old).then(|| engine.last_snapshot()));
                }
            }
            Ok(if under_way && has_failed { None } else { Some(engine.snapshot()?) })
        };
        let whole = match catch_unwind(AssertUnwindSafe(whole)) {
            Ok(Ok(whole)) => whole,
            Ok(Err(error)) => {
                tracing::warn!("{error}");
                None
            }
            // A panic was printed there.
            Err(_) => None,
        };
        for (path, view) in asked {
            let snapshot = whole.clone().unwrap_or_else(|| engine.last_snapshot());
            let sets_aside = self.sets_aside(&path);
            let outcome = write(&Snapshot { view, ..snapshot }, &path, sets_aside);
            voice.tell(Notice::Saved { path, is_asked_for: true, moment: moment(engine), outcome });
        }
        if let (Some(whole), Some((path, last_view))) = (whole, self.place.clone()) {
            let sets_aside = self.sets_aside(&path);
            let snapshot = Snapshot { view: view.unwrap_or(last_view), ..whole };
            if let Err(error) = write(&snapshot, &path, sets_aside) {
                tracing::warn!("{error}");
            }
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

    /// Whether what was kept by an earlier start of the program stands at `path`, and is set aside before it is replaced,
    /// as it now is.
    fn sets_aside(&mut self, path: &Path) -> bool {
        self.is_place(path) && self.kept.replace(Instant::now()).is_none()
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        self.finish();
    }
}

fn moment(engine: &Engine) -> Moment {
    (engine.generation(), engine.clock().0, engine.changes())
}

fn has_blown_up(snapshot: &Snapshot) -> bool {
    snapshot.runs.first().is_some_and(|run| run.state.has_blown_up())
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
