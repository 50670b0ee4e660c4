//! Messages between the window and the worker.

use std::path::PathBuf;
use std::time::Duration;

use crate::base::bodies::Points;
use crate::base::edit::{Attractor, Edit};
use crate::base::error::{Error, Result};
use crate::base::flow::Stroke;
use crate::compute::KernelEdits;
use crate::engine::config::Config;
use crate::engine::snapshot::Snapshot;
use crate::engine::tuning::{Study, Trial};

/// Commands from the window to the worker.
#[derive(Debug)]
pub enum Command {
    /// Change the simulation to this configuration.
    Configure(Box<Config>),
    /// Compute one step, then pause.
    Step,
    /// Seek to this step as fast as possible, or stop seeking.
    GoTo(Option<u64>),
    /// Restart the scene from its first step.
    Restart,
    /// Report this body with each frame, or none.
    Select(Option<usize>),
    /// Edit the bodies, as the user does by hand.
    Edit(Edit),
    /// Attract or repel the bodies while the simulation runs, or stop. Undo restores the state before the attraction began.
    Pull(Option<Attractor>),
    /// Undo the last edit by hand.
    Undo,
    /// Write a snapshot after the current burst.
    Save(Save),
    /// Autosave to this file from now on: at each [`Command::Save`] without a path, and at the end.
    Keep(PathBuf),
    /// Send a [`Still`]: for a film after some steps, or for a picture with a snapshot.
    Still(Option<Shot>),
    /// Continue from the snapshot in this file, which may be a picture.
    Resume(PathBuf),
    /// Replace the program's kernels by edited ones.
    Kernels(KernelEdits),
    /// Add or remove obstacles under a brush stroke.
    Paint(Stroke),
    /// Pause the simulation and measure recipes for the current scene. Any other request of the user ends the study.
    Study(Study),
    /// End the running study.
    EndStudy,
    /// Measure energy and momentum more often if `true`, because their plot is visible; otherwise less often.
    Watch(bool),
    /// Time between two pictures, which limits the length of a burst.
    Picture(Duration),
    /// The window knows of one [`Notice::Lost`]: later configurations do not name the lost device.
    LossHeard,
    /// The window took the newest frame.
    FrameTaken,
    /// Quit the simulation, with the last camera position if there is a window.
    Quit(Option<String>),
}

impl Command {
    /// Returns whether the command writes a file that the user asked for.
    pub(super) fn writes_file(&self) -> bool {
        matches!(self, Self::Save(Save { path: Some(_), .. }))
    }

    /// Returns whether the command needs the state after the current burst, even if later commands replace the state.
    pub(super) fn needs_whole_burst(&self) -> bool {
        self.writes_file() || matches!(self, Self::Still(_))
    }

    /// Returns whether the command changes the contents of later snapshots, or where they are written.
    pub(super) fn changes_state(&self) -> bool {
        match self {
            Self::Configure(_) | Self::Restart | Self::Resume(_) | Self::Edit(_) | Self::Paint(_) => true,
            Self::Pull(_) | Self::Undo | Self::Keep(_) | Self::LossHeard => true,
            Self::Step | Self::GoTo(_) | Self::Select(_) | Self::Save(_) | Self::Still(_) => false,
            Self::Kernels(_) | Self::Study(_) | Self::EndStudy | Self::Watch(_) => false,
            Self::Picture(_) | Self::FrameTaken | Self::Quit(_) => false,
        }
    }

    /// Returns whether the command neither advances nor changes the simulation.
    pub(super) fn is_aside(&self) -> bool {
        matches!(
            self,
            Self::FrameTaken
                | Self::Picture(_)
                | Self::Watch(_)
                | Self::Keep(_)
                | Self::LossHeard
                | Self::Select(_)
        )
    }

    /// Returns whether the command can wait for the end of a study.
    pub(super) fn waits_for_study(&self) -> bool {
        (self.is_aside() && !matches!(self, Self::Select(_)))
            || matches!(self, Self::Save(Save { path: None, .. }))
    }

    /// Returns whether the command replaces the bodies, so that the rest of the current burst is useless. `reseeds` decides for
    /// configurations.
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
    /// Camera position: see [`crate::engine::snapshot::Snapshot::view`].
    pub view: String,
}

/// A moment of the simulation: the seeding, the step, and the number of changes by hand.
pub type Moment = (u64, u64, u64);

/// Messages from the worker to the window, besides frames.
#[derive(Debug)]
pub enum Notice {
    /// A requested configuration is not possible.
    Rejected {
        /// The reason why the configuration is not possible.
        error: Error,
        /// The configuration that was asked for.
        wanted: Box<Config>,
        /// The configuration that still runs.
        in_force: Box<Config>,
    },
    /// One of several devices failed, and the others continue.
    Lost {
        /// The failure of the device.
        error: Error,
        /// The step from which the others continue.
        step: u64,
        /// The current configuration, with the other devices.
        in_force: Box<Config>,
    },
    /// A short message for the user.
    Said(&'static str),
    /// A command is not possible, and nothing changed.
    Refused(Error),
    /// The mode's value of each step is no longer finite, and the simulation paused.
    Broken {
        /// The consequence of the blow-up, and advice for the user.
        text: &'static str,
        /// Whether undo would remove a stroke of the brush.
        is_painted: bool,
        /// The current configuration, which is paused.
        in_force: Box<Config>,
    },
    /// The simulation cannot continue, and paused.
    Paused {
        /// The reason, as a sentence for the user.
        text: &'static str,
        /// The current configuration, which is paused.
        in_force: Box<Config>,
    },
    /// The result of writing a snapshot.
    Saved {
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
        /// Configurations of the other modes.
        left: Vec<Config>,
        /// Camera position that the snapshot stores.
        view: String,
    },
    /// The snapshot cannot be used, and the simulation continues unchanged.
    ResumeRefused(Error),
    /// The answer to [`Command::Still`].
    Still(Box<Still>),
    /// Edited kernels are in use, or the reason why the previous kernels stay in use.
    Kernels(Result<Taken>),
    /// Completed share of a study, from 0 to 1, and its newest measurement.
    Trial(f32, Trial),
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

/// Kernel files whose edits are in use.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Taken {
    /// Names of the files whose kernels run now.
    pub run: Vec<String>,
    /// Files of kernels that are built when they are needed.
    pub wait: Vec<String>,
}

/// A frame of a film that the window requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shot {
    /// Number that identifies the film.
    pub film: u64,
    /// Steps to compute before the frame.
    pub steps: u32,
}

/// Points to draw for a picture or a film.
#[derive(Debug)]
pub struct Still {
    /// The points to draw.
    pub points: Points,
    /// Use of the points: a picture, or a frame of a film.
    pub purpose: Purpose,
}

/// Use of the points in a [`Still`]: a picture, or a frame of a film.
#[derive(Debug)]
pub enum Purpose {
    /// A picture that carries this snapshot.
    Picture(Box<Snapshot>),
    /// A frame of the film with this number.
    Film(u64),
}
