//! Nothing is lost: settings, and what runs, are kept from one start of the program to the next.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::settings::Settings;
use crate::modes;
use crate::session::{Command, Save, Session, Stats, previous};
use crate::snapshot::{self, Snapshot, Summary};
use crate::ui::format;

/// Where things are kept; nowhere, if nothing is to be.
pub(super) struct Kept {
    settings_file: Option<PathBuf>,
    /// As they were last written.
    settings: Settings,
    /// Where what runs is kept.
    file: Option<PathBuf>,
    /// What keeps another window from that place for as long as it is open.
    _lock: Option<File>,
    /// Whether the simulation knows of that.
    is_told: bool,
    /// How often what runs is kept, and when that is due again.
    every: Duration,
    due: Instant,
    /// The seeding and the step that were kept.
    step: Option<(u64, u64)>,
}

impl Kept {
    /// Reads the settings, unless nothing is kept; with what is wrong with them. `every` is how often what runs is kept.
    pub fn new(every: Option<Duration>) -> (Self, Option<String>) {
        let settings_file = Settings::path().filter(|_| every.is_some());
        let folder = dirs::state_dir().or_else(dirs::data_local_dir).filter(|_| every.is_some());
        let (file, lock) = folder.map(|folder| place(&folder.join("gravitile"))).unzip();
        let (settings, note) = match settings_file.as_deref().map(Settings::load) {
            Some(Err(error)) => (Settings::default(), Some(format!("Settings are as they come: {error}"))),
            Some(Ok(settings)) => (settings, None),
            None => (Settings::default(), None),
        };
        let every = every.unwrap_or_default();
        let due = Instant::now() + every;
        let _lock = lock.flatten();
        (Self { settings_file, settings, file, _lock, is_told: false, every, due, step: None }, note)
    }

    /// The settings, as they were last read or written.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What there is to continue, in words.
    pub fn offer(&self) -> Option<String> {
        let Summary { mode, title, size, step } = Snapshot::peek(&self.left()?).ok()?;
        let things = modes::find(&mode)?.work.things;
        let (size, step) = (format::count(size as u64), format::count(step));
        Some(format!("{title} · {size} {things} · step {step}"))
    }

    /// What an earlier start of the program left, if there is something.
    pub fn left(&self) -> Option<PathBuf> {
        let file = self.file.as_ref()?;
        // Its own place is taken once what runs now was kept.
        let places =
            if self.step.is_some() { vec![previous(file)] } else { vec![file.clone(), previous(file)] };
        places.into_iter().find(|path| path.is_file())
    }

    /// Something was done that is worth to be kept, even if the program ends at once.
    pub fn begin(&mut self, session: &Session) {
        if let Some(file) = self.file.as_ref().filter(|_| !self.is_told) {
            session.send(Command::Keep(file.clone()));
            self.is_told = true;
        }
    }

    /// Whether it is time to keep what runs.
    pub fn is_due(&self) -> bool {
        self.file.is_some() && Instant::now() >= self.due
    }

    /// Keeps what runs and the settings, once that [is due](Self::is_due). `view` tells from where it is looked at.
    pub fn tick(
        &mut self,
        session: &Session,
        shown: &Stats,
        settings: Settings,
        view: impl FnOnce() -> String,
    ) {
        let now = (shown.generation, shown.step);
        if !self.is_due() || shown.generation == 0 {
            return;
        }
        self.due = Instant::now() + self.every;
        self.keep_settings(settings);
        if self.step != Some(now) {
            self.begin(session);
            session.send(Command::Save(Save { path: None, view: view() }));
            self.step = Some(now);
        }
    }

    /// Writes the settings, if they are others.
    pub fn keep_settings(&mut self, settings: Settings) {
        if let Some(path) = self.settings_file.as_ref().filter(|_| settings != self.settings) {
            // A person who wonders finds it in the log; nobody wants to be told each minute.
            if let Err(error) = settings.save(path) {
                tracing::warn!("{error}");
            }
            self.settings = settings;
        }
    }
}

/// A place in `folder` for what runs that no other window has, and what says so for as long as it is open.
fn place(folder: &Path) -> (PathBuf, Option<File>) {
    let mut nth = 1;
    loop {
        let name = if nth == 1 { "autosave".to_owned() } else { format!("autosave-{nth}") };
        let file = folder.join(format!("{name}.{}", snapshot::EXTENSION));
        let lock = fs::create_dir_all(folder).and_then(|()| File::create(folder.join(name + ".lock")));
        match lock.map(|lock| (lock.try_lock(), lock)) {
            Ok((Err(TryLockError::WouldBlock), _)) => nth += 1,
            Ok((_, lock)) => return (file, Some(lock)),
            // Where nothing can be written nobody gets in another's way.
            Err(_) => return (file, None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn two_windows_keep_what_runs_in_two_places() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let (first, lock) = place(&state);
        let (second, other) = place(&state);
        assert_eq!(first.file_name().unwrap(), "autosave.gravitile");
        assert_eq!(second.file_name().unwrap(), "autosave-2.gravitile");
        drop(lock);
        assert_eq!(place(&state).0, first, "it is free again");
        drop(other);
        // A file where the folder is to be.
        std::fs::write(folder.path().join("file"), "").unwrap();
        assert!(place(&folder.path().join("file")).1.is_none());
    }
}
