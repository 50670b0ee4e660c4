//! Saves the simulation automatically, and offers to continue the previous run.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use crate::base::{files, format};
use crate::engine::snapshot::{self, Snapshot, Summary};
use crate::modes;
use crate::session::{Command, Moment, Save, Stats, crashed, is_foreign, left_by_earlier_run, previous};

/// File extension of lock files. Each open window locks one of them to reserve its autosave file.
const LOCK: &str = "lock";

/// Saves the simulation at regular intervals, if autosaves are enabled and the user has a folder for them.
pub(super) struct Autosave {
    file: Option<PathBuf>,
    /// Lock file that reserves the autosave file while this window is open.
    _lock: Option<File>,
    has_started: bool,
    interval: Duration,
    due: Instant,
    /// Autosave from an earlier run that the user may continue, if any.
    offered: Option<PathBuf>,
    /// The last saved state, identified by its scene, step and number of changes; `None` before the first save.
    pub saved: Option<Moment>,
}

impl Autosave {
    /// Reserves a file for autosaves. If `interval` is `None`, autosaves are disabled.
    pub(super) fn new(interval: Option<Duration>) -> Self {
        let folder = dirs::state_dir().or_else(dirs::data_local_dir).filter(|_| interval.is_some());
        let (file, lock) = folder.map(|folder| reserve(&folder.join("gravitile"))).unzip();
        let interval = interval.unwrap_or_default();
        let due = Instant::now() + interval;
        Self { file, _lock: lock.flatten(), has_started: false, interval, due, offered: None, saved: None }
    }

    /// Finds the newest autosave of a closed window. Returns a description for the user, or `None` if there is none.
    pub(super) fn offer(&mut self) -> Option<String> {
        let (path, text) = left_behind(self.file.as_ref()?).into_iter().find_map(|path| {
            let Summary { mode, title, size, step } = Snapshot::peek(&path).ok()?;
            let things = modes::find(&mode)?.work.things;
            let (size, step) = (format::count(size as u64), format::count(step));
            Some((path, format!("{title} · {size} {things} · step {step}")))
        })?;
        self.offered = Some(path);
        Some(text)
    }

    /// Returns the current path of the offered autosave, if the file still exists.
    pub(super) fn offered(&self) -> Option<PathBuf> {
        let (file, offered) = (self.file.as_ref()?, self.offered.clone()?);
        // The first autosave renames the older file before writing, so the file may be gone even if writing fails.
        let is_replaced = offered == *file && (self.saved.is_some() || !file.is_file());
        let is_renamed = is_replaced || offered == crashed(file) && !offered.is_file();
        Some(if is_renamed { previous(file) } else { offered }).filter(|path| path.is_file())
    }

    /// Returns what the user can do after the simulation has failed.
    pub(super) fn advice(&self) -> &'static str {
        match self.saved {
            Some(_) => "Restart gravitile to continue from the last autosave.",
            None => "Restart gravitile to start a new simulation.",
        }
    }

    /// Returns the commands that start autosaving, or no commands if autosaving has already started. The first save is
    /// immediate, because compiling kernels on a busy machine can take longer than an autosave interval.
    pub(super) fn start(&mut self, view: impl FnOnce() -> String) -> Vec<Command> {
        let Some(file) = self.file.clone().filter(|_| !self.has_started) else { return Vec::new() };
        self.has_started = true;
        vec![Command::SetAutosaveFile(file), Command::SaveSnapshot(Save { path: None, view: view() })]
    }

    /// Lets [`Autosave::start`] assign the autosave file to another simulation, after the one that used it has failed.
    pub(super) fn restart(&mut self) {
        (self.has_started, self.saved) = (false, None);
    }

    /// Returns the time of the next autosave, or `None` if autosaves are disabled.
    pub(super) fn due(&self) -> Option<Instant> {
        self.file.as_ref().map(|_| self.due)
    }

    /// Returns the commands for a due autosave, or none if nothing has changed. `view` returns the camera as text.
    pub(super) fn save(&mut self, newest: &Stats, view: impl FnOnce() -> String) -> Vec<Command> {
        self.due = Instant::now() + self.interval;
        if !newest.has_started() || self.saved == Some((newest.generation, newest.step, newest.changes)) {
            return Vec::new();
        }
        match self.has_started {
            true => vec![Command::SaveSnapshot(Save { path: None, view: view() })],
            false => self.start(view),
        }
    }
}

/// Chooses an autosave file that no other window uses, and that a newer version of the program has not written. Returns
/// the path of the autosave file, and its lock file if `folder` is writable.
fn reserve(folder: &Path) -> (PathBuf, Option<File>) {
    let mut nth = 1;
    loop {
        let name = if nth == 1 { "autosave".to_owned() } else { format!("autosave-{nth}") };
        let file = folder.join(format!("{name}.{}", snapshot::EXTENSION));
        if is_foreign(&file) {
            nth += 1;
            continue;
        }
        let lock = fs::create_dir_all(folder).and_then(|()| lock_file(&file.with_extension(LOCK)));
        match lock.map(|lock| (lock.try_lock(), lock)) {
            Ok((Err(TryLockError::WouldBlock), _)) => nth += 1,
            Ok((_, lock)) => return (file, Some(lock)),
            // No window can write to this folder, so a lock is not needed.
            Err(_) => return (file, None),
        }
    }
}

/// Opens or creates the lock file `path`. Rejects anything but a regular file, because opening a pipe could block.
fn lock_file(path: &Path) -> io::Result<File> {
    match fs::metadata(path) {
        Ok(there) if !there.is_file() => Err(io::Error::other("it is not a regular file")),
        // Windows may refuse to truncate a file that another window has locked.
        _ => File::options().write(true).create(true).truncate(false).open(path),
    }
}

/// Returns the autosaves that closed windows left in the folder of the autosave file `own`, newest first.
fn left_behind(own: &Path) -> Vec<PathBuf> {
    let entries = own.parent().and_then(|folder| fs::read_dir(folder).ok());
    let files = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    let mut left: Vec<(SystemTime, PathBuf)> = files
        .filter_map(|lock| {
            let place = lock.with_extension(snapshot::EXTENSION);
            let is_lock = lock.extension().is_some_and(|extension| extension == LOCK);
            if !is_lock || place != own && is_open(&lock) {
                return None;
            }
            let file = left_by_earlier_run(&place)?;
            Some((file.metadata().and_then(|file| file.modified()).ok()?, file))
        })
        .collect();
    left.sort_by(|a, b| b.cmp(a));
    left.into_iter().map(|(_, file)| file).collect()
}

/// Returns whether an open window holds the lock file `lock`.
fn is_open(lock: &Path) -> bool {
    files::open(lock, 0, "a lock")
        .is_ok_and(|(lock, _)| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an [`Autosave`] that saves to `file` and is always due.
    fn autosave(file: impl Into<PathBuf>) -> Autosave {
        Autosave { file: Some(file.into()), ..Autosave::new(None) }
    }

    #[test]
    fn the_first_autosave_is_immediate() {
        let mut autosave = autosave("a");
        autosave.due += Duration::from_secs(3600);
        let begun = autosave.start(|| "from above".to_owned());
        assert!(
            matches!(&begun[..], [Command::SetAutosaveFile(_), Command::SaveSnapshot(save)] if save.view == "from above")
        );
        assert!(autosave.start(String::new).is_empty(), "only once");
    }

    #[test]
    fn an_autosave_is_retried_until_the_file_has_been_written() {
        let mut autosave = autosave("a");
        let tick = |autosave: &mut Autosave, step| {
            let shown = Stats { generation: 1, bodies: 1, step, ..Stats::default() };
            autosave
                .save(&shown, String::new)
                .iter()
                .filter(|it| matches!(it, Command::SaveSnapshot(_)))
                .count()
        };
        let preview = Stats { generation: 1, ..Stats::default() };
        assert!(autosave.save(&preview, String::new).is_empty(), "the simulation has not started");
        // No save has succeeded yet, for example because the disk is full, so the same moment is saved again.
        assert_eq!([tick(&mut autosave, 7), tick(&mut autosave, 7)], [1, 1]);
        autosave.saved = Some((1, 6, 0));
        assert_eq!(tick(&mut autosave, 7), 1, "an older moment was written");
        autosave.saved = Some((1, 7, 0));
        assert_eq!([tick(&mut autosave, 7), tick(&mut autosave, 8)], [0, 1]);
    }

    #[test]
    fn the_newest_autosave_of_a_closed_window_is_offered_first() {
        let folder = tempfile::tempdir().unwrap();
        let (first, lock) = reserve(folder.path());
        let (second, other) = reserve(folder.path());
        assert!(left_behind(&first).is_empty());
        let at = |path: &Path, seconds: u64| {
            let file = File::create(path).unwrap();
            file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
        };
        at(&first, 100);
        at(&second, 200);
        at(&previous(&second), 300);
        // Two windows are closed and one is opened again.
        drop((lock, other));
        let (own, _lock) = reserve(folder.path());
        assert_eq!(left_behind(&own), [second.clone(), first.clone()]);
        // The autosave of an open window is offered to that window only.
        let (other, _other) = reserve(folder.path());
        assert_eq!(other, second);
        assert_eq!((left_behind(&own), left_behind(&other)), (vec![first], vec![second.clone()]));
        // A program that was killed between renaming and writing leaves the older file.
        fs::remove_file(&second).unwrap();
        assert_eq!(left_behind(&other), [previous(&second)]);
    }

    /// Simulates an autosave that renames the older file, but cannot write the new file because the disk is full.
    #[test]
    fn the_offered_autosave_is_found_after_a_failed_save() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _lock) = reserve(folder.path());
        let offers = Autosave { offered: Some(file.clone()), ..autosave(&file) };
        fs::write(&file, "older").unwrap();
        assert_eq!(offers.offered(), Some(file.clone()), "nothing was done yet");
        // The first autosave renames the older file; then writing the new one fails.
        fs::rename(&file, previous(&file)).unwrap();
        let snapshot = Snapshot { device: Default::default(), view: String::new(), runs: Vec::new() };
        assert!(snapshot.save(&file).is_err());
        assert_eq!(offers.offered(), Some(previous(&file)));
        fs::write(&file, "what runs").unwrap();
        let offers = Autosave { saved: Some((1, 1, 0)), ..offers };
        assert_eq!(offers.offered(), Some(previous(&file)));
    }

    #[test]
    fn a_crash_save_is_offered_and_still_found_after_being_renamed() {
        let folder = tempfile::tempdir().unwrap();
        let (file, _lock) = reserve(folder.path());
        fs::write(&file, "autosave").unwrap();
        fs::write(crashed(&file), "crash").unwrap();
        assert_eq!(left_behind(&file), [crashed(&file)]);
        let offers = Autosave { offered: Some(crashed(&file)), ..autosave(&file) };
        assert_eq!(offers.offered(), Some(crashed(&file)));
        // The first autosave renames the crash save.
        fs::rename(crashed(&file), previous(&file)).unwrap();
        assert_eq!(Autosave { saved: Some((1, 1, 0)), ..offers }.offered(), Some(previous(&file)));
    }

    /// An older program runs beside a newer one. It neither offers nor replaces the newer program's autosaves.
    #[test]
    fn autosaves_of_a_newer_version_are_neither_offered_nor_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let (file, lock) = reserve(folder.path());
        drop(lock);
        let newer = [b"\x89GRAVITILE\r\n\x1a\n".as_slice(), &(snapshot::VERSION + 1).to_le_bytes(), &[0; 99]];
        for save in [file.clone(), crashed(&file), previous(&file)] {
            fs::write(&save, newer.concat()).unwrap();
            let (own, _lock) = reserve(folder.path());
            assert_eq!(own.file_name().unwrap(), "autosave-2.gravitile", "beside {}", save.display());
            assert!(Autosave { file: Some(own), ..Autosave::new(None) }.offer().is_none());
            fs::remove_file(&save).unwrap();
        }
        // A file that is no snapshot at all is of no use to any version.
        fs::write(&file, "nonsense").unwrap();
        assert_eq!(reserve(folder.path()).0, file);
    }

    #[test]
    fn two_windows_autosave_to_two_files() {
        let folder = tempfile::tempdir().unwrap();
        let state = folder.path().join("state");
        let (first, lock) = reserve(&state);
        let (second, _other) = reserve(&state);
        let names = [&first, &second].map(|path| path.file_name().unwrap().to_str().unwrap());
        assert_eq!(names, ["autosave.gravitile", "autosave-2.gravitile"]);
        drop(lock);
        assert_eq!(reserve(&state).0, first, "it is free again");
        // The folder cannot be created, because a file already has its name.
        fs::write(folder.path().join("file"), "").unwrap();
        assert!(reserve(&folder.path().join("file")).1.is_none());
    }
}
