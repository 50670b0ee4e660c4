//! Messages between the window and the worker.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::Sender;

use crate::base::bodies::Points;
use crate::base::edit::{Attractor, Edit};
use crate::base::error::{Error, Result};
use crate::base::flow::Stroke;
use crate::compute::KernelEdits;
use crate::engine::config::Config;
use crate::engine::snapshot::Snapshot;
use crate::engine::tuning::{Study, Trial};

/// Commands from the window to the simulation's thread.
#[derive(Debug)]
pub enum Command {
    /// Change the simulation to this configuration.
    Configure(Box<Config>),
    /// Compute one step, then pause.
    Step,
    /// Seek to this step as fast as possible, or stop seeking.
    Seek(Option<u64>),
    /// Restart the scene from its first step.
    Restart,
    /// Report the properties of this body with each frame; `None` stops the reports.
    Select(Option<usize>),
    /// Apply a manual edit to the bodies.
    Edit(Edit),
    /// Attract or repel the bodies while the simulation runs; `None` stops. Undo restores the state before the attraction.
    Attract(Option<Attractor>),
    /// Add or remove obstacles under a brush stroke.
    Paint(Stroke),
    /// Undo the last manual edit.
    Undo,
    /// Write a snapshot after the steps of the current frame.
    SaveSnapshot(Save),
    /// Autosave to this file at each [`Command::SaveSnapshot`] without a path, and at the end.
    SetAutosaveFile(PathBuf),
    /// Send the points to draw for this frame of a film, or, if `None`, for a picture that contains a snapshot.
    Capture(Option<FilmFrame>),
    /// Continue from the snapshot in this file, which may be a picture.
    Resume(PathBuf),
    /// Replace kernels by these edited kernels.
    EditKernels(KernelEdits),
    /// Pause the simulation and measure kernel settings for the scene. Any other request of the user ends the study.
    StartStudy(Study),
    /// End the running study.
    StopStudy,
    /// Measure energy and momentum more often if `true`, because their plot is visible; otherwise less often.
    WatchEnergy(bool),
    /// Set the time between two pictures, which limits the number of steps in a frame.
    SetFrameInterval(Duration),
    /// Acknowledge one [`Notice::DeviceLost`], so that later configurations do not name the lost device.
    AcknowledgeLoss,
    /// Allow the next frame to be made, because the window took the newest one.
    FrameTaken,
    /// Quit the simulation, with the last camera position if there is a window.
    Quit(Option<String>),
}

impl Command {
    /// Returns whether the command is needed to write a file that the user asked for: a snapshot or a picture.
    pub(super) fn writes_file(&self) -> bool {
        matches!(self, Self::SaveSnapshot(Save { path: Some(_), .. }) | Self::Capture(None))
    }

    /// Returns whether the command changes the contents of later snapshots, or where they are written.
    pub(super) fn changes_state(&self) -> bool {
        use Command as C;
        match self {
            C::Configure(_) | C::Restart | C::Resume(_) | C::Edit(_) | C::Paint(_) | C::Attract(_) => true,
            C::Undo | C::SetAutosaveFile(_) | C::AcknowledgeLoss => true,
            C::Step | C::Seek(_) | C::Select(_) | C::SaveSnapshot(_) | C::Capture(_) | C::EditKernels(_) => {
                false
            }
            C::StartStudy(_) | C::StopStudy | C::WatchEnergy(_) | C::SetFrameInterval(_) => false,
            C::FrameTaken | C::Quit(_) => false,
        }
    }

    /// Returns whether the command neither advances nor changes the simulation.
    pub(super) fn is_aside(&self) -> bool {
        self.is_bookkeeping() || matches!(self, Self::Select(_))
    }

    /// Returns whether the command can wait for the end of a study.
    pub(super) fn waits_for_study(&self) -> bool {
        self.is_bookkeeping() || matches!(self, Self::SaveSnapshot(Save { path: None, .. }))
    }

    /// Returns whether the command comes from the window itself, not from the user.
    fn is_bookkeeping(&self) -> bool {
        matches!(
            self,
            Self::FrameTaken
                | Self::SetFrameInterval(_)
                | Self::WatchEnergy(_)
                | Self::SetAutosaveFile(_)
                | Self::AcknowledgeLoss
        )
    }

    /// Returns whether the command replaces the bodies, so the current steps are useless; `reseeds` tests configurations.
    pub(super) fn replaces_run(&self, reseeds: impl Fn(&Config) -> bool) -> bool {
        match self {
            Self::Restart | Self::Resume(_) => true,
            Self::Configure(config) => reseeds(config),
            _ => false,
        }
    }
}

/// A snapshot to write.
#[derive(Debug, Clone)]
pub struct Save {
    /// The file; `None` is the autosave file, if there is one.
    pub path: Option<PathBuf>,
    /// Camera position: see [`Snapshot::view`].
    pub view: String,
}

/// A moment of the simulation: `generation`, `step` and `changes` of [`Stats`](super::frame::Stats).
pub type Moment = (u64, u64, u64);

/// Messages from the simulation's thread to the window, besides frames.
#[derive(Debug)]
pub enum Notice {
    /// A requested configuration is not possible, and the current one stays.
    Rejected {
        /// The reason why the configuration is not possible.
        error: Error,
        /// The requested configuration.
        wanted: Box<Config>,
        /// The configuration that stays current.
        current: Box<Config>,
    },
    /// One of several devices failed, and the other devices continue.
    DeviceLost {
        /// The failure of the device.
        error: Error,
        /// The step from which the other devices continue.
        step: u64,
        /// The configuration with the other devices, which is now current.
        current: Box<Config>,
    },
    /// A short message for the user.
    Message(&'static str),
    /// A command is not possible, and nothing changed.
    Refused(Error),
    /// The simulation paused because its values are no longer finite.
    BlownUp {
        /// The consequence of the blow-up, and advice for the user.
        text: &'static str,
        /// Whether undo would remove a stroke of the brush.
        is_painted: bool,
        /// The current configuration, which is paused.
        current: Box<Config>,
    },
    /// The simulation cannot continue, and has paused.
    Paused {
        /// The reason, as a sentence for the user.
        text: &'static str,
        /// The current configuration, which is paused.
        current: Box<Config>,
    },
    /// A snapshot was written, or could not be written.
    SnapshotSaved {
        /// The snapshot file.
        path: PathBuf,
        /// Whether the user asked for the file.
        is_asked_for: bool,
        /// The moment that the snapshot holds.
        moment: Moment,
        /// Success, or the error that prevented the save.
        outcome: Result<()>,
    },
    /// The simulation continues from a snapshot.
    Resumed {
        /// The configuration of the snapshot, which is now current.
        config: Box<Config>,
        /// Configurations of the other modes that the snapshot contains.
        left: Vec<Config>,
        /// Camera position that the snapshot stores.
        view: String,
    },
    /// A snapshot cannot be used, and the simulation continues unchanged.
    ResumeRefused(Error),
    /// The points that [`Command::Capture`] requested.
    Captured(Box<Capture>),
    /// Edited kernels were accepted, or refused with an error; the previous kernels then stay in use.
    KernelsReplaced(Result<ReplacedKernels>),
    /// Completed share of a study, from 0 to 1, and the study's newest measurement.
    StudyProgress(f32, Trial),
    /// A study ended or was stopped.
    StudyEnded {
        /// The study that ended.
        study: Study,
        /// Whether the study measured everything.
        complete: bool,
    },
    /// The device failed, and the simulation ended.
    Failed(Error),
}

/// Names of kernel files whose edits are accepted.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ReplacedKernels {
    /// Files whose kernels run now.
    pub running: Vec<String>,
    /// Files whose kernels are built only when they are needed.
    pub waiting: Vec<String>,
}

/// A frame of a film that the window requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilmFrame {
    /// Number that identifies the film.
    pub film: u64,
    /// Steps to compute before the frame.
    pub steps: u32,
}

/// Points to draw for a picture or a film.
#[derive(Debug)]
pub struct Capture {
    /// The points to draw.
    pub points: Points,
    /// Purpose of the points: a picture or a film.
    pub purpose: Purpose,
}

/// Use of the points in a [`Capture`].
#[derive(Debug)]
pub enum Purpose {
    /// A picture that contains this snapshot.
    Picture(Box<Snapshot>),
    /// A frame of the film with this number.
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

    /// Sends a notice. Without a window the notice is dropped.
    pub(super) fn send(&self, notice: Notice) {
        let _ = self.notices.send(notice);
        self.wake();
    }

    /// Wakes the window without a notice.
    pub(super) fn wake(&self) {
        (self.wake)();
    }
}
