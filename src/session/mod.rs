//! The simulation on a thread of its own, and the handle that the window holds.

mod accuracy;
mod frame;
mod gauge;
mod history;
mod keeper;
mod meter;
mod voice;
mod worker;

use std::path::PathBuf;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};

pub use self::frame::{Frame, Rung, Stats};
pub use self::keeper::previous;
use self::voice::Voice;
use crate::bodies::Points;
use crate::compute::Edits;
use crate::config::Config;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::hand::{Edit, Pull};
use crate::lattice::Stroke;
use crate::snapshot::Snapshot;
use crate::trial::{Study, Trial};

/// What the window tells the worker.
#[derive(Debug)]
pub enum Command {
    /// This is to run from now on.
    Configure(Box<Config>),
    /// One step, then pause again.
    Step,
    /// To this step as fast as it can, back by steps backwards or from the start; or no further.
    GoTo(Option<u64>),
    /// The scene from its start.
    Restart,
    /// Tell of this body with each frame from now on, or of none.
    Select(Option<usize>),
    /// A change to the bodies.
    Edit(Edit),
    /// A point that attracts or repels while steps go on, from now on; or none. Where one began can be gone back to.
    Pull(Option<Pull>),
    /// Back to before the last change that was made by hand.
    Undo,
    /// A snapshot of what there is after the burst that runs.
    Save(Save),
    /// What runs is kept in this file from now on: at each [`Save`] without a path, and when all ends.
    Keep(PathBuf),
    /// Tell what is to be drawn: for a film, after some steps; or, for a picture that carries it, with all that there is.
    Still(Option<Shot>),
    /// Go on where the snapshot in this file was taken, or in a picture that carries one.
    Resume(PathBuf),
    /// Build these in place of the program's own kernels.
    Kernels(Edits),
    /// Obstacles where a brush went, or none.
    Paint(Stroke),
    /// Measure, for the mode, the scene and the number of bodies in force, while these stand still. Whatever else is
    /// asked for ends it.
    Study(Study),
    /// Go on with the simulation.
    EndStudy,
    /// Whether somebody watches how energy and momentum go: then they are measured more often, within the same share of the
    /// time.
    Watch(bool),
    /// The time between two pictures, as the screen shows or the window draws them: what a burst of `auto` length is measured
    /// by.
    Picture(Duration),
    /// [`Notice::Lost`] was heard: configs from now on are made by who knows of it.
    LossHeard,
    /// The newest frame is on the screen; another may be made.
    FrameTaken,
    /// The end, and from where it was looked at last.
    Quit(Option<String>),
}

/// A snapshot to be written.
#[derive(Debug, Clone)]
pub struct Save {
    /// The file; none is the one where what runs is kept, if it is kept.
    pub path: Option<PathBuf>,
    /// From where it is looked at: see [`crate::snapshot::Snapshot::view`].
    pub view: String,
}

/// A moment of the simulation: the seeding, the step, and how many changes were made by hand.
pub type Moment = (u64, u64, u64);

/// What the worker tells the window beside frames.
#[derive(Debug)]
pub enum Notice {
    /// What was wanted is not possible.
    Rejected {
        /// Why.
        error: Error,
        /// What was wanted.
        wanted: Box<Config>,
        /// What still runs.
        in_force: Box<Config>,
    },
    /// One of several devices failed; the others go on without it.
    Lost {
        /// Its failure.
        error: Error,
        /// The step from which they go on.
        step: u64,
        /// What is in force: the others are chosen.
        in_force: Box<Config>,
    },
    /// Something to be read once.
    Said(&'static str),
    /// What was asked for is not possible, and nothing changed.
    Refused(Error),
    /// What the simulation tells of each step is no number any more. It stands still.
    Broken {
        /// What that means, and what to do.
        text: &'static str,
        /// Whether a stroke of the brush is what can be undone.
        is_painted: bool,
        /// What is in force: it pauses.
        in_force: Box<Config>,
    },
    /// It cannot go further, and stands still.
    Paused {
        /// Why.
        text: &'static str,
        /// What is in force: it pauses.
        in_force: Box<Config>,
    },
    /// A snapshot was written, or could not be.
    Saved {
        /// The file.
        path: PathBuf,
        /// Whether a person asked for it.
        is_asked_for: bool,
        /// Of which moment it is.
        moment: Moment,
        /// Whether it could be.
        outcome: Result<()>,
    },
    /// What runs goes on where a snapshot was taken.
    Resumed {
        /// What is in force.
        config: Box<Config>,
        /// The other modes, as they were left.
        left: Vec<Config>,
        /// From where it was looked at.
        view: String,
    },
    /// It cannot go on where a snapshot was taken, and goes on as it is.
    ResumeRefused(Error),
    /// What is to be drawn, as [`Command::Still`] asked.
    Still(Box<Still>),
    /// Kernels were edited: what came of it, or why those before run on.
    Kernels(Result<Taken>),
    /// A study goes on: the share that is done, and what was measured.
    Trial(f32, Trial),
    /// A study came to its end, or to one before its time.
    StudyEnded {
        /// Which.
        study: Study,
        /// Whether it was carried out to its end.
        complete: bool,
    },
    /// The device failed; nothing runs any more.
    Failed(Error),
}

/// The files of kernels that are now others than before.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Those that what is shown was built of.
    pub run: Vec<String>,
    /// Those that are built once something uses them.
    pub wait: Vec<String>,
}

/// A moment of a film.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shot {
    /// Which film it is for.
    pub film: u64,
    /// Steps to be taken before.
    pub steps: u32,
}

/// A moment of the simulation.
#[derive(Debug)]
pub struct Still {
    /// What is drawn.
    pub points: Points,
    /// What it is for.
    pub purpose: Purpose,
}

/// What a moment was asked for.
#[derive(Debug)]
pub enum Purpose {
    /// A picture, which carries all that there is.
    Picture(Box<Snapshot>),
    /// The film of this number.
    Film(u64),
}

/// The handle of a simulation that runs on its own thread. Dropping it ends the thread.
pub struct Session {
    commands: Sender<Command>,
    frames: triple_buffer::Output<Frame>,
    notices: Receiver<Notice>,
    worker: Option<JoinHandle<()>>,
    has_failed: bool,
}

impl Session {
    /// Starts the thread, which makes its engine by `engine` and calls `wake` whenever there is news.
    ///
    /// # Errors
    /// If no thread can be had.
    pub fn spawn(
        engine: impl FnOnce() -> Result<Engine> + Send + 'static,
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self> {
        let (commands, inbox) = unbounded();
        let (news, notices) = unbounded();
        let (input, frames) = triple_buffer::triple_buffer(&Frame::default());
        let voice = Voice::new(news, wake);
        let body = move || match engine() {
            Ok(engine) => worker::run(engine, &inbox, input, voice),
            Err(error) => voice.tell(Notice::Failed(error)),
        };
        let worker = std::thread::Builder::new()
            .name("simulation".to_owned())
            .spawn(body)
            .map_err(|error| Error::Invalid(format!("the simulation's thread does not start: {error}")))?;
        Ok(Self { commands, frames, notices, worker: Some(worker), has_failed: false })
    }

    /// Tells the worker something. After a failure nobody listens, which is no error.
    pub fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// The newest frame, and whether it is new since the last call; if so, the worker may make another.
    pub fn frame(&mut self) -> (&Frame, bool) {
        let fresh = self.frames.update();
        if fresh {
            self.send(Command::FrameTaken);
        }
        (self.frames.output_buffer_mut(), fresh)
    }

    /// The newest frame as it was taken last.
    pub fn shown(&mut self) -> &Frame {
        self.frames.output_buffer_mut()
    }

    /// What the worker had to say since the last call. That its thread is gone without a word is said once.
    pub fn notices(&mut self) -> Vec<Notice> {
        let mut heard: Vec<Notice> = self.notices.try_iter().collect();
        self.has_failed |= heard.iter().any(|notice| matches!(notice, Notice::Failed(_)));
        if !self.has_failed && self.worker.as_ref().is_some_and(JoinHandle::is_finished) {
            self.has_failed = true;
            heard.push(Notice::Failed(Error::Invalid(
                "the simulation's thread ended unexpectedly".to_owned(),
            )));
        }
        heard
    }
}

impl Session {
    /// Ends the simulation, which is looked at from `view`, and waits for that; what it had to say in the end.
    pub fn close(mut self, view: String) -> Vec<Notice> {
        self.end(Some(view));
        self.notices.try_iter().collect()
    }

    fn end(&mut self, view: Option<String>) {
        self.send(Command::Quit(view));
        if let Some(worker) = self.worker.take() {
            // A panic over there was printed there.
            let _ = worker.join();
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.end(None);
    }
}
