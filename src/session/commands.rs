//! Commands from the window to the simulation's thread.

use std::path::PathBuf;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender};

use super::autosave::{Autosave, Save};
use super::turns::Turns;
use crate::base::{Attractor, Edit, LightRequest, Result, Stroke};
use crate::compute::KernelEdits;
use crate::engine::{Config, Fork, RestorePoint, Study};

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
    /// Send the points for a saved picture or for a frame of a film.
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
    /// Set which measurements to make, depending on the plots and tables that the window shows.
    Watch(WatchList),
    /// Add tree cells to each frame: those at this depth or, if a body is selected, those visited to compute its
    /// acceleration. `None` adds no cells.
    ShowCells(Option<u32>),
    /// Add an image of the light of all bodies to each frame, and leave some bodies out of the frame's list of points.
    /// `None` adds no image.
    ShowLight(Option<Box<LightRequest>>),
    /// Send the state after the current frame, from which a second simulation continues.
    Fork(Sender<Result<Fork>>),
    /// Take turns on the device with another simulation; `None` ends the turns.
    Pair(Option<Pairing>),
    /// Stop autosaving, and send the [`Autosave`] to another simulation, which takes over autosaving.
    GiveAutosave(Sender<Autosave>),
    /// Receive the [`Autosave`] of another simulation, and take over its autosaving.
    TakeAutosave(Receiver<Autosave>),
    /// Set the interval between displayed frames, which determines the number of steps per frame.
    SetFrameInterval {
        /// Time to draw a frame, or the screen's refresh interval if that is longer.
        interval: Duration,
        /// Whether the CPU draws the frames. If a graphics card draws them, long bursts on the same card delay drawing.
        is_software: bool,
    },
    /// Acknowledge one [`Notice::DeviceLost`](super::Notice::DeviceLost): configurations sent after this command do not
    /// name the lost device.
    AcknowledgeLoss,
    /// Report that the window has taken the newest frame, so that the simulation may produce the next one.
    FrameTaken,
    /// End the simulation. Contains the last camera position if there is a window.
    Quit(Option<String>),
}

/// How a simulation shares its device with a second simulation.
#[derive(Debug, Clone)]
pub struct Pairing {
    /// Handle with which the simulation waits for its turns on the device.
    pub turns: Turns,
    /// Number of steps between displayed frames. The frames show the steps that are multiples of this number, so that
    /// both simulations show the same steps. `None` if the simulations choose their steps independently.
    pub every: Option<u32>,
}

/// An earlier moment of the run from which the simulation continues.
#[derive(Debug, Clone)]
pub struct Continuation {
    /// State of the simulation at or before the moment; see
    /// [`Stats::restore_point`](super::frame::Stats::restore_point).
    pub point: RestorePoint,
    /// Configuration with which the steps up to the moment were computed.
    pub config: Config,
    /// Step number at the moment. The simulation recomputes the steps from `point` to this step.
    pub step: u64,
    /// Current camera position, which the simulation reports back unchanged.
    pub view: String,
}

/// Describes which plots and tables the window shows. The simulation makes the optional measurements that they need.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct WatchList {
    /// Whether energy and momentum are plotted. If so, they are measured more often.
    pub energy: bool,
    /// Whether the distributions of the bodies are plotted.
    pub distributions: bool,
    /// Whether the time that each kernel takes in a step is shown.
    pub kernels: bool,
    /// Whether the roofline chart is shown. If so, all peak rates of the device are measured.
    pub peaks: bool,
    /// Whether to add restore points to frames, so that the simulation can continue from them later. Set while the
    /// window records frames.
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

    /// Returns whether the command replaces all bodies. `reseeds` returns whether applying a configuration replaces
    /// them.
    pub(super) fn replaces_run(&self, reseeds: impl Fn(&Config) -> bool) -> bool {
        match self {
            Self::Restart | Self::Resume(_) | Self::ContinueFrom(_) => true,
            Self::Configure(config) => reseeds(config),
            _ => false,
        }
    }
}

/// A request from the window for the points of a saved picture or of a frame of a film.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CaptureRequest {
    /// Frame of a film for which the points are requested; `None` requests the points of a picture with a snapshot.
    pub film: Option<FilmFrame>,
    /// Image of the bodies' light to add to the points; `None` if every body is drawn as a sprite.
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
