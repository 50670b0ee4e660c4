//! The queue of commands from the window.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crossbeam_channel::Receiver;

use crate::base::LightRequest;
use crate::session::autosave::Save;
use crate::session::commands::Command;

/// Longest time for which requested files and the current steps may delay the end of the program.
const QUIT_PATIENCE: Duration = Duration::from_secs(2);

/// Commands that have been received but not yet carried out.
pub(super) struct CommandQueue {
    /// The channel that delivers commands from the window.
    pub inbox: Receiver<Command>,
    /// Received commands that have not been carried out yet, oldest first.
    pub waiting: VecDeque<Command>,
    /// Time at which the program quits even if requested files have not been written yet; `None` until quitting begins.
    deadline: Option<Instant>,
}

impl CommandQueue {
    pub(super) fn new(inbox: Receiver<Command>) -> Self {
        Self { inbox, waiting: VecDeque::new(), deadline: None }
    }

    /// Moves new commands from the channel to `waiting`, without blocking.
    pub(super) fn receive(&mut self) {
        self.waiting.extend(self.inbox.try_iter());
    }

    /// Returns the time after which the program quits without waiting for steps in progress. The first call sets this
    /// time.
    pub(super) fn deadline(&mut self) -> Instant {
        *self.deadline.get_or_insert_with(|| Instant::now() + QUIT_PATIENCE)
    }

    /// Returns whether to quit without completing the current steps. While requested files are waiting, returns false
    /// until the deadline.
    pub(super) fn quits_now(&mut self) -> bool {
        if !self.waiting.iter().any(|command| matches!(command, Command::Quit(_))) {
            return false;
        }
        if self.waiting.iter().any(Command::writes_file) {
            self.deadline();
        }
        self.deadline.is_none_or(|deadline| Instant::now() > deadline)
    }

    /// Returns whether the current steps can be dropped because a waiting command makes them pointless. `is_pointless`
    /// returns true for such a command. Ignores commands that follow a request for a file or a film frame, because the
    /// request needs the steps.
    pub(super) fn discards_burst(&self, is_pointless: impl Fn(&Command) -> bool) -> bool {
        let needs_burst = |command: &Command| command.writes_file() || matches!(command, Command::Capture(_));
        self.waiting.iter().take_while(|command| !needs_burst(command)).any(is_pointless)
    }

    /// Removes and returns all waiting requests for an image of the bodies' light, oldest first.
    pub(super) fn take_light(&mut self) -> Vec<Option<Box<LightRequest>>> {
        let (lights, others) = std::mem::take(&mut self.waiting)
            .into_iter()
            .partition::<Vec<_>, _>(|command| matches!(command, Command::ShowLight(_)));
        self.waiting = others.into();
        lights
            .into_iter()
            .filter_map(
                |command| if let Command::ShowLight(request) = command { Some(request) } else { None },
            )
            .collect()
    }

    /// Removes and returns the next command. `Quit` overtakes all other commands except requested files and changes
    /// that affect these files. Of several successive configurations, only the last one is returned. Handing over the
    /// autosave file overtakes everything, because the other simulation waits for it.
    pub(super) fn next(&mut self) -> Option<Command> {
        let is_handover = |command: &Command| matches!(command, Command::GiveAutosave(_));
        if let Some(at) = self.waiting.iter().position(is_handover) {
            return self.waiting.remove(at);
        }
        if let Some(at) = self.waiting.iter().position(|command| matches!(command, Command::Quit(_))) {
            self.waiting.truncate(at + 1);
            if !self.has_file_to_write() {
                let quit = self.waiting.pop_back();
                self.waiting.retain(|command| {
                    command.writes_file() || matches!(command, Command::SetAutosaveFile(_))
                });
                return quit;
            }
        }
        loop {
            let command = self.waiting.pop_front()?;
            let is_config = |command: &Command| matches!(command, Command::Configure(_));
            let mut next = self.waiting.iter().filter(|command| !command.is_aside());
            if !(is_config(&command) && next.next().is_some_and(is_config)) {
                return Some(command);
            }
        }
    }

    /// Returns whether a command that writes a file is waiting. Drops earlier commands that do not affect the file.
    fn has_file_to_write(&mut self) -> bool {
        let Some(last) = self.waiting.iter().rposition(Command::writes_file) else { return false };
        let mut nth = 0..;
        self.waiting.retain(|command| match nth.next() {
            Some(nth) if nth < last => command.writes_file() || command.changes_state(),
            _ => true,
        });
        Instant::now() < self.deadline()
    }

    /// Returns the most recently set autosave file, if any, and the requested files with their camera positions.
    pub(super) fn into_files(self) -> (Option<PathBuf>, Vec<(PathBuf, String)>) {
        let (mut autosave, mut requested) = (None, Vec::new());
        for command in self.waiting {
            match command {
                Command::SetAutosaveFile(path) => autosave = Some(path),
                Command::SaveSnapshot(Save { path: Some(path), view }) => requested.push((path, view)),
                _ => {}
            }
        }
        (autosave, requested)
    }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::unbounded;

    use super::*;
    use crate::engine::Config;
    use crate::modes::MODES;
    use crate::session::{Autosave, CaptureRequest, FilmFrame};

    fn queue(commands: impl IntoIterator<Item = Command>) -> CommandQueue {
        let mut queue = CommandQueue::new(unbounded().1);
        queue.waiting.extend(commands);
        queue
    }

    fn configure(seed: u64) -> Command {
        Command::Configure(Box::new(Config { seed, ..Config::new(MODES[0]) }))
    }

    fn save(path: Option<&str>) -> Command {
        Command::SaveSnapshot(Save { path: path.map(PathBuf::from), view: String::new() })
    }

    fn is_seed(command: Option<Command>, seed: u64) -> bool {
        matches!(command, Some(Command::Configure(config)) if config.seed == seed)
    }

    #[test]
    fn only_the_last_of_consecutive_queued_configurations_is_applied() {
        let mut queue = queue([configure(1), Command::FrameTaken, configure(2), Command::Step, configure(3)]);
        assert!(matches!(queue.next(), Some(Command::FrameTaken)) && is_seed(queue.next(), 2));
        assert!(matches!(queue.next(), Some(Command::Step)) && is_seed(queue.next(), 3));
        assert!(queue.next().is_none());
    }

    #[test]
    fn quit_overtakes_all_commands_except_file_writes_and_the_changes_to_be_saved() {
        let quit = || Command::Quit(None);
        let mut hasty = queue([configure(1), Command::SetAutosaveFile("b".into()), Command::Step, quit()]);
        assert!(hasty.quits_now() && matches!(hasty.next(), Some(Command::Quit(None))));
        assert_eq!(hasty.into_files(), (Some("b".into()), vec![]));

        let mut files = queue([configure(1), Command::Step, save(Some("a")), save(None), quit()]);
        assert!(!files.quits_now(), "there is time left for the file");
        assert!(is_seed(files.next(), 1) && files.next().is_some_and(|command| command.writes_file()));
        files.deadline = Some(Instant::now());
        assert!(matches!(files.next(), Some(Command::Quit(None))));

        // A file without time left is written at the end.
        let mut late = queue([save(Some("a")), quit()]);
        late.deadline = Some(Instant::now());
        assert!(matches!(late.next(), Some(Command::Quit(None))));
        assert_eq!(late.into_files(), (None, vec![("a".into(), String::new())]));

        // A requested picture is made before the end; a film is not continued.
        let frame =
            Command::Capture(CaptureRequest { film: Some(FilmFrame { film: 1, steps: 9 }), light: None });
        let mut picture = queue([frame, Command::Capture(CaptureRequest::default()), quit()]);
        assert!(!picture.quits_now(), "there is time left for the picture");
        assert!(picture.next().is_some_and(|command| command.writes_file()));
        assert!(matches!(picture.next(), Some(Command::Quit(None))));
    }

    #[test]
    fn a_request_for_the_autosave_overtakes_queued_steps_and_saves() {
        let (give, take) = crossbeam_channel::bounded(1);
        let mut queue =
            queue([Command::Step, save(Some("a")), Command::GiveAutosave(give), Command::Quit(None)]);
        let Some(Command::GiveAutosave(give)) = queue.next() else { panic!("it waits") };
        give.send(Autosave::default()).unwrap();
        assert!(take.recv().is_ok());
        assert!(queue.next().is_some_and(|command| command.writes_file()));
        assert!(matches!(queue.next(), Some(Command::Quit(None))));
    }

    #[test]
    fn a_queued_restart_discards_the_burst_unless_a_file_is_to_be_written_first() {
        let discards = |first| {
            queue([first, Command::Restart]).discards_burst(|command| command.replaces_run(|_| false))
        };
        assert!(discards(Command::Step) && discards(save(None)));
        assert!(!discards(save(Some("a"))) && !discards(Command::Capture(CaptureRequest::default())));
    }
}
