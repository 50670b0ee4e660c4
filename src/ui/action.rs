//! Actions of the user. Shortcuts, buttons, the command palette and the mouse all create an [`Action`].

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use egui::{Rect, Response};

use super::compared::Half;
use super::jump;
use super::lens::Page;
use super::lesson::Lesson;
use crate::base::{Choice, Edit, Result, choice, invalid};
use crate::compute::KernelEdits;
use crate::engine::Study;
use crate::modes::{ModeInfo, Variant};
use crate::scene::Scene;

/// A mouse tool. In modes with bodies, it determines the effect of dragging in the picture with the left mouse button.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tool {
    /// Dragging rotates the view, and clicking selects a body.
    #[default]
    Look,
    /// Dragging launches a body.
    Launch,
    /// Dragging attracts bodies to the pointer, or repels them.
    Attract,
}

choice! {
    /// File format for saving a chart. The name of a format is its file extension.
    pub enum ChartFormat {
        /// A picture of the chart, as a PNG file.
        Png = "png",
        /// A table of the chart's values, as a CSV file.
        Csv = "csv",
    }
}

impl ChartFormat {
    /// Returns the chart format that matches the file extension of `path`.
    ///
    /// # Errors
    /// Returns [`Error::Invalid`](crate::base::Error::Invalid) if the extension is neither `png` nor `csv`.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default();
        let format = Self::OPTIONS.iter().find(|(_, opt)| extension.eq_ignore_ascii_case(opt.name));
        format
            .map(|(format, _)| *format)
            .ok_or_else(|| invalid!("{}: the name of a chart file must end in .png or .csv", path.display()))
    }
}

/// An action that the user requests. [`Ui::show`](super::Ui::show) carries out some actions and returns the others.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Run or pause the simulation.
    RunPause,
    /// Pause, then advance by one step.
    Step,
    /// Reverse the direction of time.
    Reverse,
    /// Halve the number of steps per frame.
    Slower,
    /// Double the number of steps per frame.
    Faster,
    /// Run to this step as fast as possible, then pause; `None` stops at the current step.
    GoTo(Option<u64>),
    /// Restart the scene.
    Restart,
    /// After a numerical blow-up has stopped the simulation, restart the scene and run it.
    RestartAndRun,
    /// Turn free run on or off. Free run computes steps without waiting for the screen.
    ToggleFreeRun,
    /// Switch to this mode, and restore its most recent settings and simulation.
    SelectMode(&'static ModeInfo),
    /// Switch to the next mode in the list of modes.
    NextMode,
    /// Switch to this mode and start this scene.
    SelectScene(&'static ModeInfo, &'static Arc<Scene>),
    /// Select a kernel variant; `None` lets the program choose.
    SelectVariant(Option<&'static Variant>),
    /// Reset all parameters of the mode to the scene's defaults.
    ResetParameters,
    /// Copy to the clipboard a shell command that opens the scene with the current settings.
    CopyCommandLine,
    /// Apply the command line or the list of settings in the clipboard.
    PasteSettings,
    /// Apply these command-line options of `gravitile view`, which a step of a lesson requests.
    TakeSettings(String),
    /// Start a lesson.
    StartLesson(Arc<Lesson>),
    /// Scroll the panel to the control with this name.
    PointAt(String),
    /// Open the Lens window at this page, or close it.
    OpenLens(Option<Page>),
    /// Set the parameter with this key to the option with this name.
    SetOption(&'static str, &'static str),
    /// Set the mode's parameter with this key to this number.
    SetNumber(&'static str, f32),
    /// Toggle the on/off parameter with this key, and scroll the panel to its checkbox.
    ToggleFlag(&'static str),
    /// Scroll the panel to the control with this key.
    ShowSetting(&'static str),

    /// Edit the bodies.
    Edit(Edit),
    /// Delete the selected body.
    DeleteBody,
    /// Deselect the selected body.
    Deselect,
    /// Undo the last change of a setting, or the last edit.
    Undo,
    /// Redo the change or the edit that was undone last.
    Redo,
    /// After a numerical blow-up has stopped the simulation, undo the last edit and run.
    UndoAndRun,
    /// Select this mouse tool, or deselect it if it is already selected.
    ToggleTool(Tool),
    /// Turn the brush on or off.
    ToggleBrush,
    /// Cancel the mouse tool's current drag.
    CancelGesture,

    /// Bring every body into view.
    FrameAll,
    /// Return the camera to its initial view.
    ResetView,
    /// Move the camera to the view stored under this number, from 1 to 9.
    RecallView(u8),
    /// Store the current view under this number, from 1 to 9.
    StoreView(u8),
    /// Start or stop following the centre of mass.
    FollowCentre,
    /// Start or stop following the selected body.
    FollowBody,
    /// Select the body with this index, and follow it.
    Follow(usize),
    /// Turn the slow rotation of the camera on or off.
    ToggleRotation,
    /// Show or hide the grid.
    ToggleGrid,

    /// Open the command palette.
    OpenPalette,
    /// Show or hide the panel.
    TogglePanel,
    /// Start or end the presentation, which shows only the picture, in full screen.
    TogglePresentation,
    /// Turn full screen on or off.
    ToggleFullScreen,
    /// Collapse or expand the statistics over the picture.
    ToggleNumbers,
    /// Show or hide the help.
    ToggleHelp,
    /// Show or hide the plots.
    TogglePlots,
    /// Show or hide the Lens window.
    ToggleLens,
    /// Show or hide the timeline of the run. Hiding it returns to the live simulation.
    ToggleTimeline,
    /// Show or hide the gallery of scenes.
    ToggleGallery,
    /// Show the chart of the last speed measurement.
    ShowChart,
    /// Make text and controls larger.
    LargerText,
    /// Make text and controls smaller.
    SmallerText,
    /// Reset text and controls to their default size.
    DefaultTextSize,
    /// Close a message or a window, end the presentation, cancel a drag, or deselect the tool, the brush or the body.
    Dismiss,

    /// Show the recorded moment at this time, in seconds of running time (without pauses).
    ScrubTo(f64),
    /// Show the recorded frame that is this number of frames later; negative numbers are earlier frames.
    ScrubBy(i32),
    /// Start or pause the replay of the recorded run.
    ReplayOrPause,
    /// Set the speed of the replay, as a multiple of the original speed of the run.
    SetReplaySpeed(f64),
    /// Return from a recorded moment to the live simulation.
    GoLive,
    /// Continue the simulation from the past moment on the screen.
    ContinueHere,
    /// Begin to compare the simulation with a copy of itself, in the other half of the picture. If two simulations are
    /// already compared, end the comparison and continue with the original one.
    Compare,
    /// Switch the panel to the other of the two compared simulations.
    EditOther,
    /// Swap the halves of the picture in which the two compared simulations are shown.
    SwapHalves,
    /// End the comparison, and continue with the simulation in this half.
    Keep(Half),

    /// Start a speed measurement of this kind.
    StartStudy(Study),
    /// Stop the running speed measurement.
    StopStudy,

    /// Show the file dialog for opening a file.
    Open,
    /// Open this file: a scene, a snapshot, a picture that contains a simulation, or a list of bodies.
    OpenFile(PathBuf),
    /// Show the file dialog for saving a snapshot.
    SaveSnapshot,
    /// Save a snapshot to this file.
    SaveSnapshotTo(PathBuf),
    /// Show the file dialog for saving the scene.
    SaveScene,
    /// Save the scene to this file.
    SaveSceneTo(PathBuf),
    /// Show the file dialog for choosing the folder in which to edit the kernels.
    EditKernels,
    /// Write the kernels' source code to this folder, and apply each change that the user saves there.
    EditKernelsIn(PathBuf),
    /// Build these edited kernels and run them instead of the built-in ones, until the window closes.
    RunKernels(KernelEdits),
    /// Save this text as the kernel file with this name in the folder of edited kernels.
    SaveKernel(&'static str, String),
    /// Switch back to the built-in kernels.
    UseBuiltInKernels,
    /// Save the plotted values as a CSV file.
    SavePlots,
    /// Save the chart of the last speed measurement in this format.
    SaveChart(ChartFormat),
    /// Save the roofline of the Lens window in this format.
    SaveRoofline(ChartFormat),
    /// Save a picture that contains a snapshot, at the size set in the Export section.
    SavePicture,
    /// Start recording a film with the settings of the Export section, or finish the current film.
    RecordFilm,
    /// Finish the film and keep the file.
    FinishFilm,
    /// Cancel the film without saving it.
    CancelFilm,
    /// Continue the simulation that was open when the program last exited.
    ContinuePrevious,
    /// Decline the offer to continue the simulation that was open when the program last exited.
    DeclinePrevious,
    /// Quit the program.
    Quit,
}

impl Action {
    /// Returns whether the action needs the simulation's state and is thus refused while a snapshot is being opened.
    pub fn changes_state(&self) -> bool {
        matches!(self, Self::Step | Self::GoTo(_) | Self::Restart | Self::RestartAndRun)
            || matches!(
                self,
                Self::Edit(_)
                    | Self::DeleteBody
                    | Self::Deselect
                    | Self::Follow(_)
                    | Self::Undo
                    | Self::Redo
                    | Self::UndoAndRun
                    | Self::PasteSettings
                    | Self::TakeSettings(_)
            )
            || matches!(
                self,
                Self::OpenFile(_)
                    | Self::ContinuePrevious
                    | Self::SavePicture
                    | Self::RecordFilm
                    | Self::Compare
            )
    }

    /// Returns whether the action switches to another scene or mode and thus clears the report of a numerical blow-up.
    pub(super) fn replaces_run(&self) -> bool {
        matches!(self, Self::SelectMode(_) | Self::SelectScene(..) | Self::NextMode)
    }

    /// Returns whether the action shows something over or beside the picture, and thus ends a presentation.
    pub(super) fn ends_presentation(&self) -> bool {
        matches!(self, Self::OpenPalette | Self::TogglePanel | Self::ToggleNumbers | Self::ToggleHelp)
            || matches!(
                self,
                Self::TogglePlots
                    | Self::ToggleLens
                    | Self::ToggleTimeline
                    | Self::ToggleGallery
                    | Self::ShowChart
                    | Self::StartStudy(_)
            )
            || matches!(self, Self::Open | Self::SaveSnapshot | Self::SaveScene | Self::EditKernels)
            || matches!(self, Self::ToggleTool(_) | Self::ToggleBrush | Self::ShowSetting(_))
    }

    /// Returns whether the action advances time, which is not allowed while a film is being recorded.
    pub(super) fn advances_time(&self) -> bool {
        matches!(self, Self::RunPause | Self::Step | Self::GoTo(_))
    }

    /// Returns whether the action is refused while two simulations are compared: it edits bodies, opens a file, or needs
    /// the whole device or the whole picture.
    pub fn needs_one_simulation(&self) -> bool {
        matches!(self, Self::Edit(_) | Self::DeleteBody | Self::UndoAndRun)
            || matches!(self, Self::ToggleTool(_) | Self::ToggleBrush)
            || matches!(self, Self::Open | Self::OpenFile(_) | Self::ContinuePrevious)
            || matches!(self, Self::StartStudy(_) | Self::RecordFilm)
    }

    /// Returns whether the action implies that the user wants to keep the simulation, so that autosaving may start.
    pub fn starts_autosave(&self) -> bool {
        matches!(self, Self::Edit(_) | Self::EditKernelsIn(_) | Self::OpenFile(_) | Self::DeclinePrevious)
            || matches!(self, Self::SaveSnapshotTo(_) | Self::SaveSceneTo(_))
    }
}

/// Collects the requested actions and other results while the widgets of one frame are shown.
#[derive(Default)]
pub(super) struct Collector {
    /// Actions in the order in which the user requested them.
    pub actions: Vec<Action>,
    /// Names and rectangles of all controls, in points; `None` unless a test has requested them.
    pub controls: Option<Vec<(String, Rect)>>,
    /// Message about an invalid number that the user typed, if any.
    pub message: Option<String>,
    /// Name of the control that the current step of a lesson refers to, if any.
    pub pointed: Option<String>,
}

impl Collector {
    /// Records the rectangle of the control with this `key`, if a test has requested control rectangles. Outlines the
    /// control if the current step of a lesson refers to it.
    pub(super) fn record(&mut self, key: impl Display, response: &Response) {
        if let Some(pointed) = &self.pointed
            && key.to_string() == *pointed
        {
            jump::reveal(pointed, response);
            jump::outline(response);
        }
        self.record_rect(key, response.rect);
    }

    /// Records `rect` as the rectangle of the control with this `key`, if a test has requested control rectangles.
    pub(super) fn record_rect(&mut self, key: impl Display, rect: Rect) {
        if let Some(controls) = &mut self.controls {
            controls.push((key.to_string(), rect));
        }
    }

    /// Adds `action` to the requested actions if `button` was clicked. Also records the button's rectangle.
    pub(super) fn button(&mut self, key: impl Display, button: &Response, action: Action) {
        self.record(key, button);
        self.actions.extend(button.clicked().then_some(action));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_actions_on_the_simulation_are_refused_while_a_snapshot_is_being_opened() {
        assert!(Action::OpenFile("a.gravitile".into()).changes_state());
        for action in
            [Action::Open, Action::Quit, Action::FrameAll, Action::RecallView(1), Action::CancelFilm]
        {
            assert!(!action.changes_state() && !action.starts_autosave(), "{action:?}");
        }
    }
}
