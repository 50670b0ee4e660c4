//! Messages between the window and the simulation's thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};

use super::autosave::Autosave;
use super::turns::Turns;
use crate::base::{Attractor, BodyNames, Edit, Error, LightRequest, Points, Result, Stroke};
use crate::compute::KernelEdits;
use crate::engine::{Config, Fork, RestorePoint, Snapshot, Study, Trial};

/// Commands from the window to the simulation's thread.
#[derive(Debug)]
pub enum Command {
    /// Apply this configuration to the simulation.
    Configure(Box<Config>),
    /// Compute one step, then pause.
    Step,
    /// Seek to this step as fast as possible; `None` stops seeking.
    Seek(Option<u64>),
    /// Restart the scene from its first step.
    Restart,
    /// Select the body with this index and report its properties in each frame; `None` clears the selection.
    Select(Option<usize>),
    /// Apply a manual edit to the bodies.
    Edit(Edit),
    /// Attract or repel the bodies while the simulation runs; `None` ends the attraction. One undo reverts all of it.
    Attract(Option<Attractor>),
    /// Add or remove obstacles under a brush stroke.
    Paint(Stroke),
    /// Undo the last manual edit.
    Undo,
    /// Redo the manual edit that was undone last.
    Redo,
    /// Write a snapshot after the steps of the current frame.
    SaveSnapshot(Save),
    /// Set the autosave file, which is written at each [`Command::SaveSnapshot`] without a path and when quitting.
    SetAutosaveFile(PathBuf),
    /// Send the points of a saved picture or of a frame of a film.
    Capture(CaptureRequest),
    /// Continue from the snapshot in this file, which may be a picture with an embedded snapshot.
    Resume(PathBuf),
    /// Go back to an earlier moment of the run, and pause there.
    ContinueFrom(Box<Continuation>),
    /// Replace built-in kernels with these edited ones.
    EditKernels(KernelEdits),
    /// Measure the speed of kernel settings while the simulation waits. Any other user request ends the study.
    StartStudy(Study),
    /// End the running study of kernel settings.
    StopStudy,
    /// Measure what the window shows.
    Watch(WatchList),
    /// Add tree cells to each frame: those at this depth or, if a body is selected, those visited to compute its
    /// acceleration. `None` adds no cells.
    ShowCells(Option<u32>),
    /// Add an image of the light of all bodies to each frame, and leave out some of the bodies; `None` adds no image.
    ShowLight(Option<Box<LightRequest>>),
    /// Send the state after the current frame, from which a second simulation continues.
    Fork(Sender<Result<Fork>>),
    /// Run beside another simulation; `None` ends this.
    Pair(Option<Pairing>),
    /// Send the autosave file, which another simulation takes over.
    GiveAutosave(Sender<Autosave>),
    /// Take over the autosave file that another simulation sends.
    TakeAutosave(Receiver<Autosave>),
    /// Set the interval between displayed frames, which determines the number of steps per frame.
    SetFrameInterval {
        /// Time to draw a frame, or the screen's refresh interval if that is longer.
        interval: Duration,
        /// Whether the CPU draws the frames. If a graphics card draws them, long bursts on the same card delay drawing.
        is_software: bool,
    },
    /// Acknowledge one [`Notice::DeviceLost`]: configurations sent after this command do not name the lost device.
    AcknowledgeLoss,
    /// Report that the window has taken the newest frame, so that the simulation may produce the next one.
    FrameTaken,
    /// End the simulation. Contains the last camera position if there is a window.
    Quit(Option<String>),
}

/// How a simulation runs beside another one.
#[derive(Debug, Clone)]
pub struct Pairing {
    /// Its turns on the device.
    pub turns: Turns,
    /// Number of steps between displayed frames. The frames show the steps that are multiples of this number, so that
    /// both simulations show the same steps. `None` if each runs freely.
    pub every: Option<u32>,
}

/// A moment of the run to go back to.
#[derive(Debug, Clone)]
pub struct Continuation {
    /// State before the moment; see [`Stats::restore_point`](super::frame::Stats::restore_point).
    pub point: RestorePoint,
    /// Configuration of the moment.
    pub config: Config,
    /// Step of the moment.
    pub step: u64,
    /// Camera position, which stays as it is.
    pub view: String,
}

/// What the window shows of all that takes time to measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchList {
    /// Whether energy and momentum are plotted, and so measured more often.
    pub energy: bool,
    /// Whether the distributions of the bodies are plotted.
    pub distributions: bool,
    /// Whether the times of the kernels of a step are shown.
    pub kernels: bool,
    /// Whether all peak rates of the device are shown.
    pub peaks: bool,
    /// Whether frames are recorded, and so need restore points.
    pub restore_points: bool,
}

impl Command {
    /// Returns whether the command writes a file that the user asked for: a snapshot or a picture.
    pub(super) fn writes_file(&self) -> bool {
        matches!(
            self,
            Self::SaveSnapshot(Save { path: Some(_), .. }) | Self::Capture(CaptureRequest { film: None, .. })
        )
    }

    /// Returns whether the command changes what later snapshots contain or where they are written.
    pub(super) fn changes_state(&self) -> bool {
        use Command as C;
        match self {
            C::Configure(_) | C::Restart | C::Resume(_) | C::Edit(_) | C::Paint(_) | C::Attract(_) => true,
            C::ContinueFrom(_) | C::TakeAutosave(_) => true,
            C::Undo | C::Redo | C::SetAutosaveFile(_) | C::AcknowledgeLoss => true,
            C::Fork(_) | C::Pair(_) | C::GiveAutosave(_) => false,
            C::Step | C::Seek(_) | C::Select(_) | C::SaveSnapshot(_) | C::Capture(_) | C::EditKernels(_) => {
                false
            }
            C::StartStudy(_) | C::StopStudy | C::Watch(_) => false,
            C::SetFrameInterval { .. } => false,
            C::ShowCells(_) | C::ShowLight(_) | C::FrameTaken | C::Quit(_) => false,
        }
    }

    /// Returns whether the command neither advances nor changes the simulation.
    pub(super) fn is_aside(&self) -> bool {
        self.is_bookkeeping() || matches!(self, Self::Select(_))
    }

    /// Returns whether the command can wait until a study of kernel settings ends.
    pub(super) fn waits_for_study(&self) -> bool {
        self.is_bookkeeping() || matches!(self, Self::SaveSnapshot(Save { path: None, .. }))
    }

    /// Returns whether the window sends the command on its own, without a user request.
    fn is_bookkeeping(&self) -> bool {
        matches!(
            self,
            Self::FrameTaken
                | Self::SetFrameInterval { .. }
                | Self::Watch(_)
                | Self::ShowCells(_)
                | Self::ShowLight(_)
                | Self::SetAutosaveFile(_)
                | Self::Pair(_)
                | Self::AcknowledgeLoss
        )
    }

    /// Returns whether the command replaces all bodies. `reseeds` returns whether a new configuration does so.
    pub(super) fn replaces_run(&self, reseeds: impl Fn(&Config) -> bool) -> bool {
        match self {
            Self::Restart | Self::Resume(_) | Self::ContinueFrom(_) => true,
            Self::Configure(config) => reseeds(config),
            _ => false,
        }
    }
}

/// A request to write a snapshot.
#[derive(Debug, Clone)]
pub struct Save {
    /// Path of the file; `None` means the autosave file, if there is one.
    pub path: Option<PathBuf>,
    /// Camera position to store in [`Snapshot::view`].
    pub view: String,
}

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
        /// Configurations of the modes that are suspended in the snapshot.
        left: Vec<Config>,
        /// The camera position stored in the snapshot.
        view: String,
    },
    /// A snapshot could not be opened, and the simulation continues unchanged.
    ResumeRefused(Error),
    /// The points that [`Command::Capture`] requested.
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

/// A request from the window for the points of a saved picture or of a frame of a film.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaptureRequest {
    /// The frame of a film; `None` requests a picture with a snapshot.
    pub film: Option<FilmFrame>,
    /// Image of the bodies' light that the points contain; `None` if every body is drawn as a sprite.
    pub light: Option<Box<LightRequest>>,
}

/// One frame of a film.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilmFrame {
    /// Number that identifies the film.
    pub film: u64,
    /// Number of steps to compute before the frame.
    pub steps: u32,
}

/// Points that were read back to draw a saved picture or a frame of a film.
#[derive(Debug)]
pub struct Capture {
    /// The points to draw.
    pub points: Points,
    /// Simulated time of the points.
    pub time: f64,
    /// Names of the bodies.
    pub names: BodyNames,
    /// Configuration with which the points were computed.
    pub config: Arc<Config>,
    /// Purpose of the points: a picture or a frame of a film.
    pub purpose: Purpose,
}

/// What the points in a [`Capture`] are used for.
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
