//! Messages from the simulation's thread to the window.

use std::path::PathBuf;
use std::sync::Arc;

use crossbeam_channel::Sender;

use crate::base::{BodyNames, Error, Points, Result};
use crate::engine::{Config, Snapshot, Study, Trial};

/// A moment of the simulation: the values of `generation`, `step` and `changes` in [`Stats`](super::frame::Stats).
pub type Moment = (u64, u64, u64);

/// Messages from the simulation's thread to the window. Frames are sent separately.
#[derive(Debug)]
pub enum Notice {
    /// A requested configuration cannot be applied, so the current configuration stays in effect.
    Rejected {
        /// The reason why the configuration cannot be applied.
        error: Error,
        /// The requested configuration.
        wanted: Box<Config>,
        /// The configuration that stays in effect.
        current: Box<Config>,
    },
    /// One of several devices failed, and the remaining devices continue.
    DeviceLost {
        /// The error that the device reported.
        error: Error,
        /// The step at which the remaining devices resumed.
        step: u64,
        /// The new current configuration, without the lost device.
        current: Box<Config>,
    },
    /// A short message for the user.
    Message(&'static str),
    /// A command could not be carried out, and nothing changed.
    Refused(Error),
    /// The simulation paused because its values are no longer finite.
    BlownUp {
        /// A sentence that tells the user what blew up and what to do.
        text: &'static str,
        /// Whether the last edit is a brush stroke, which the user can undo.
        is_painted: bool,
        /// The current configuration, which is paused.
        current: Box<Config>,
    },
    /// The simulation paused because it cannot continue in the current direction of time.
    Paused {
        /// A sentence that tells the user why the simulation paused.
        text: &'static str,
        /// The current configuration, which is paused.
        current: Box<Config>,
    },
    /// A snapshot was written, or could not be written.
    SnapshotSaved {
        /// Path of the snapshot file.
        path: PathBuf,
        /// Whether the user asked for the file; false for an autosave.
        is_asked_for: bool,
        /// The moment of the simulation that the snapshot captures.
        moment: Moment,
        /// `Ok` if the file was written, or else the error.
        outcome: Result<()>,
    },
    /// The simulation continues from a snapshot.
    Resumed {
        /// The configuration of the snapshot, which is now current.
        config: Box<Config>,
        /// Configurations of other simulation modes whose suspended scenes are in the snapshot.
        left: Vec<Config>,
        /// The camera position stored in the snapshot.
        view: String,
    },
    /// A snapshot could not be opened, and the simulation continues unchanged.
    ResumeRefused(Error),
    /// The points that [`Command::Capture`](super::Command::Capture) requested.
    Captured(Box<Capture>),
    /// The outcome of replacing kernels: the accepted files, or an error after which the previous kernels stay in use.
    KernelsReplaced(Result<ReplacedKernels>),
    /// Completed fraction of a study of kernel settings, from 0 to 1, and its latest measurement.
    StudyProgress(f32, Trial),
    /// A study of kernel settings was completed or stopped.
    StudyEnded {
        /// The study that ended.
        study: Study,
        /// Whether the study measured all settings.
        complete: bool,
    },
    /// The device failed, and the simulation ended.
    Failed(Error),
}

/// Names of the edited kernel files that were accepted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReplacedKernels {
    /// Files whose kernels are already in use.
    pub running: Vec<String>,
    /// Files whose kernels the current variant does not use; they are built on first use.
    pub waiting: Vec<String>,
}

/// Points that were read back to draw a saved picture or a frame of a film.
#[derive(Debug)]
pub struct Capture {
    /// The points to draw.
    pub points: Points,
    /// Simulated time of the points, in the units of the simulation.
    pub time: f64,
    /// Names of the bodies.
    pub names: BodyNames,
    /// Configuration with which the points were computed.
    pub config: Arc<Config>,
    /// Purpose of the points: a picture or a frame of a film.
    pub purpose: Purpose,
}

/// What the window needs the points of a [`Capture`] for.
#[derive(Debug)]
pub enum Purpose {
    /// A picture that contains this snapshot.
    Picture(Box<Snapshot>),
    /// A frame of a film. The number identifies the film.
    Film(u64),
}

/// Sends notices to the window and wakes it, from any thread.
#[derive(Clone)]
pub(super) struct Notifier {
    notices: Sender<Notice>,
    wake: Arc<dyn Fn() + Send + Sync>,
}

impl Notifier {
    pub(super) fn new(notices: Sender<Notice>, wake: impl Fn() + Send + Sync + 'static) -> Self {
        Self { notices, wake: Arc::new(wake) }
    }

    /// Sends a notice to the window and wakes it. If the window no longer exists, the notice is dropped.
    pub(super) fn send(&self, notice: Notice) {
        let _ = self.notices.send(notice);
        self.wake();
    }

    /// Wakes the window without sending a notice.
    pub(super) fn wake(&self) {
        (self.wake)();
    }
}
