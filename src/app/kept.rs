//! Nothing is lost: settings, and what runs, are kept from one start of the program to the next.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::settings::Settings;
use crate::files;
use crate::modes;
use crate::session::{Command, Save, Session, Stats, previous};
use crate::snapshot::{self, Snapshot, Summary};
use crate::ui::format;

/// How the names of files end that are held as long as a window is open.
const LOCK: &str = "lock";

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
    /// What was there to continue when that was offered.
    offered: Option<PathBuf>,
    /// What was kept of this run: the seeding, the step, and what was changed besides.
    moment: Option<(u64, u64, u64)>,
}

impl Kept {
    /// Reads the settings, unless nothing is kept; with what is wrong with them. `every` is how often what runs is kept.
    pub fn new(every: Option<Duration>) -> (Self, Option<String>) {
        let settings_file = Settings::path().filter(|_| every.is_some());
        let folder = dirs::state_dir().or_else(dirs::data_local_dir).filter(|_| every.is_some());
        let (file, lock) = folder.map(|folder| place(&folder.join("gravitile"))).unzip();
        let (settings, settings_file, wrong) = settings_file.map(Settings::open).unwrap_or_default();
        let every = every.unwrap_or_default();
        let due = Instant::now() + every;
        let _lock = lock.flatten();
        let kept = Self {
            settings_file,
            settings,
            file,
            _lock,
            is_told: false,
            every,
            due,
            offered: None,
            moment: None,
        };
        (kept, wrong)
    }

    /// The settings, as they were last read or written.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// What there is to continue, in words: what was kept last, and is of no window that is open.
    pub fn offer(&mut self) -> Option<String> {
        let (path, text) = left(self.file.as_ref()?).into_iter().find_map(|path| {
            let Summary { mode, title, size, step } = Snapshot::peek(&path).ok()?;
            let things = modes::find(&mode)?.work.things;
            let (size, step) = (format::count(size as u64), format::count(step));
            Some((path, format!("{title} · {size} {things} · step {step}")))
        })?;
        self.offered = Some(path);
        Some(text)
    }

    /// Where that is now.
    pub fn left(&self) -> Option<PathBuf> {
        let (file, offered) = (self.file.as_ref()?, self.offered.clone()?);
        // Its own place is taken once what runs now was kept.
        let is_aside = self.moment.is_some() && offered == *file;
        Some(if is_aside { previous(file) } else { offered }).filter(|path| path.is_file())
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
        let now = (shown.generation, shown.step, shown.changes);
        if !self.is_due() || shown.generation == 0 {
            return;
        }
        self.due = Instant::now() + self.every;
        self.keep_settings(settings);
        if self.moment != Some(now) {
            self.begin(session);
            session.send(Command::Save(Save { path: None, view: view() }));
            self.moment = Some(now);
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
        let lock = fs::create_dir_all(folder).and_then(|()| lock_file(&file.with_extension(LOCK)));
        match lock.map(|lock| (lock.try_lock(), lock)) {
            Ok((Err(TryLockError::WouldBlock), _)) => nth += 1,
            Ok((_, lock)) => return (file, Some(lock)),
            // Where nothing can be written nobody gets in another's way.
            Err(_) => return (file, None),
        }
    }
}

/// The file `path`, made if there is none. Something else in its place, such as a pipe, could block for ever.
fn lock_file(path: &Path) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(io::Error::other("it is no regular file")),
        _ => File::create(path),
    }
}

/// What was kept in the folder of `own` by windows that are not open, the newest first.
fn left(own: &Path) -> Vec<PathBuf> {
    let entries = own.parent().and_then(|folder| fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let is_own = |place: &Path| place == own;
    let mut left: Vec<(SystemTime, PathBuf)> = files
        .filter_map(|lock| {
            let place = lock.with_extension(snapshot::EXTENSION);
            let is_lock = lock.extension().is_some_and(|extension| extension == LOCK);
            if !is_lock || !is_own(&place) && is_open(&lock) {
                return None;
            }
            let file = [place.clone(), previous(&place)].into_iter().find(|file| file.is_file())?;
            Some((file.metadata().and_then(|file| file.modified()).ok()?, file))
        })
        .collect();
    left.sort_by(|a, b| b.cmp(a));
    left.into_iter().map(|(_, file)| file).collect()
}

/// Whether a window holds this.
fn is_open(lock: &Path) -> bool {
    files::open(lock, 0, "a lock")
        .is_ok_and(|(lock, _)| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::time::{Duration, SystemTime};

    use super::{left, place, previous};

    #[test]
    fn what_was_kept_last_by_a_window_that_is_not_open_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let (first, lock) = place(folder.path());
        let (second, other) = place(folder.path());
        assert!(left(&first).is_empty());
        let at = |path: &std::path::Path, seconds: u64| {
            let file = File::create(path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        at(&first, 100);
        at(&second, 200);
        at(&previous(&second), 300);
        // Both closed, and one started again.
        drop((lock, other));
        let (own, _lock) = place(folder.path());
        assert_eq!(left(&own), [second.clone(), first.clone()]);
        // That of a window which is open is its own.
        let (other, _other) = place(folder.path());
        assert_eq!(other, second);
        assert_eq!((left(&own), left(&other)), (vec![first], vec![second.clone()]));
        // Ended between setting aside and writing.
        fs::remove_file(&second).unwrap();
        assert_eq!(left(&other), [previous(&second)]);
    }

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
