//! Nothing is lost: settings, and what runs, are kept from one start of the program to the next.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::settings::Settings;
use crate::files;
use crate::modes;
use crate::session::{Command, Moment, Save, Stats, previous};
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
    /// The moment that was last written.
    moment: Option<Moment>,
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
        // The first autosave sets the older file aside before it writes, also if the disk then turns out to be full.
        let is_aside = offered == *file && (self.moment.is_some() || !file.is_file());
        Some(if is_aside { previous(file) } else { offered }).filter(|path| path.is_file())
    }

    /// Returns the commands that start autosaving; none if autosaving has started already. The first save is
    /// immediate: on a busy machine, compiling kernels can delay the simulation beyond an autosave interval.
    pub fn begin(&mut self, view: impl FnOnce() -> String) -> Vec<Command> {
        let Some(file) = self.file.clone().filter(|_| !self.is_told) else { return Vec::new() };
        self.is_told = true;
        vec![Command::Keep(file), Command::Save(Save { path: None, view: view() })]
    }

    /// Notes that this moment was written.
    pub fn saved(&mut self, moment: Moment) {
        self.moment = Some(moment);
    }

    /// Whether it is time to keep what runs.
    pub fn is_due(&self) -> bool {
        self.file.is_some() && Instant::now() >= self.due
    }

    /// Keeps the settings, and what runs unless that is written already, once that [is due](Self::is_due); the commands for
    /// it. `view` tells from where it is looked at.
    pub fn tick(&mut self, shown: &Stats, settings: Settings, view: impl FnOnce() -> String) -> Vec<Command> {
        if !self.is_due() || shown.generation == 0 {
            return Vec::new();
        }
        self.due = Instant::now() + self.every;
        self.keep_settings(settings);
        if self.moment == Some((shown.generation, shown.step, shown.changes)) {
            return Vec::new();
        }
        match self.is_told {
            true => vec![Command::Save(Save { path: None, view: view() })],
            false => self.begin(view),
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
    use std::time::{Duration, Instant, SystemTime};

    use super::{Kept, Settings, Snapshot, left, place, previous};
    use crate::session::{Command, Stats};

    /// Keeps what runs in `file`, and has it due at every tick.
    fn kept(file: &str) -> Kept {
        Kept {
            settings_file: None,
            settings: Settings::default(),
            file: Some(file.into()),
            _lock: None,
            is_told: false,
            every: Duration::ZERO,
            due: Instant::now(),
            offered: None,
            moment: None,
        }
    }

    fn saves(commands: &[Command]) -> usize {
        commands
            .iter()
            .filter(|command| matches!(command, Command::Save(save) if save.path.is_none()))
            .count()
    }

    #[test]
    fn what_runs_is_kept_at_once_and_not_only_when_it_is_due() {
        let mut kept = Kept { due: Instant::now() + Duration::from_secs(3600), ..kept("a") };
        let begun = kept.begin(|| "from above".to_owned());
        assert!(matches!(&begun[..], [Command::Keep(_), Command::Save(save)] if save.view == "from above"));
        assert!(kept.begin(String::new).is_empty(), "once");
    }

    #[test]
    fn what_was_not_written_is_tried_again_and_what_was_is_not() {
        let mut kept = kept("a");
        let tick = |kept: &mut Kept, step| {
            let shown = Stats { generation: 1, step, ..Stats::default() };
            saves(&kept.tick(&shown, Settings::default(), String::new))
        };
        // The disk is full, say, while the simulation is paused.
        assert_eq!([tick(&mut kept, 7), tick(&mut kept, 7)], [1, 1]);
        kept.saved((1, 6, 0));
        assert_eq!(tick(&mut kept, 7), 1, "what was written is older");
        kept.saved((1, 7, 0));
        assert_eq!([tick(&mut kept, 7), tick(&mut kept, 8)], [0, 1]);
    }

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

    /// The older file was set aside, and then the disk was full: nothing of what runs was ever written.
    #[test]
    fn what_is_offered_is_found_after_a_save_that_failed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _lock) = place(folder.path());
        let offers = Kept { offered: Some(file.clone()), ..kept(file.to_str().unwrap()) };
        fs::write(&file, "older").unwrap();
        assert_eq!(offers.left(), Some(file.clone()), "nothing was done yet");
        // As the first autosave does it. A snapshot of no scene cannot be written.
        fs::rename(&file, previous(&file)).unwrap();
        let snapshot = Snapshot { device: Default::default(), view: String::new(), runs: Vec::new() };
        assert!(snapshot.save(&file).is_err());
        assert_eq!(offers.left(), Some(previous(&file)));
        fs::write(&file, "what runs").unwrap();
        let offers = Kept { moment: Some((1, 1, 0)), ..offers };
        assert_eq!(offers.left(), Some(previous(&file)));
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
