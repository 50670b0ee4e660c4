//! Frames, which contain the data that the simulation's thread sends to the window.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::{BodyNames, CellCounts, EditKind, Points, SelectedBody};
use crate::compute::{ProgramSource, Roofline};
use crate::engine::{Config, Profile, RestorePoint};
use crate::modes::accuracy::SampleErrors;
use crate::modes::distributions::Distributions;
use crate::modes::{Counts, Diagnostics, Sharing};

/// The points to draw for one picture, and statistics for the panel.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// Positions and values of the points to draw.
    pub points: Points,
    /// Range of the colour map, in the unit of [`Points::values`].
    pub value_range: [f32; 2],
    /// Statistics of the simulation, for the panel.
    pub stats: Stats,
}

/// Statistics of the simulation.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Stats {
    /// Name of the simulation mode.
    pub mode: &'static str,
    /// Configuration with which this frame was computed. The window takes the units, the date, the legend and the
    /// orbits from it, because the newest configuration may not have been applied yet.
    #[serde(skip)]
    pub config: Arc<Config>,
    /// Number that identifies a run. It increases whenever a scene is generated or restored from a snapshot.
    pub generation: u64,
    /// Number of steps since the scene began.
    pub step: u64,
    /// Simulated time since the scene began, in the units of the simulation.
    pub time: f64,
    /// Number of bodies or cells.
    pub bodies: usize,
    /// Name of the current kernel variant.
    pub variant: &'static str,
    /// Current number of work-items in a work-group.
    pub work_group: usize,
    /// Values of the current kernel variant's compile-time parameters, by name.
    pub knobs: BTreeMap<&'static str, u32>,
    /// Average number of pairs or cells computed per step of this frame.
    pub work_in_step: f64,
    /// Number of steps between the last two frames.
    pub steps_per_frame: u32,
    /// Steps per second of wall-clock time, averaged over about the last second.
    pub steps_per_second: f64,
    /// Device time of one step, in ms; measured with profiling events if the device supports them.
    pub device_ms_per_step: f64,
    /// Fraction of the time that the device spent computing steps, averaged over about the last second.
    pub device_busy: f64,
    /// Fraction of the time since the simulation's thread started, including pauses, that the device spent on steps.
    #[serde(skip)]
    pub device_busy_overall: f64,
    /// Highest speed that the device can reach in this mode, in pairs or cells per second; `None` if it is unknown.
    pub limit: Option<f64>,
    /// Time taken to read the frame back from the device, in ms.
    pub read_ms: f64,
    /// Properties of the selected body, if one is selected.
    #[serde(rename = "held")]
    pub selected: Option<SelectedBody>,
    /// Names of the bodies.
    #[serde(skip)]
    pub names: BodyNames,
    /// Cell counts of the tree in this frame; `None` if the frame has no cells.
    #[serde(skip)]
    pub cells: Option<CellCounts>,
    /// Number of manual edits that can be undone.
    pub undos: usize,
    /// Kind of the manual edit that undo would revert; `None` if there is nothing to undo.
    #[serde(rename = "last_deed")]
    pub last_edit: Option<EditKind>,
    /// Number of manual edits so far. Undoing an edit does not lower the number.
    #[serde(skip)]
    pub edits: u64,
    /// Number of manual edits, parameter changes and undos so far.
    #[serde(skip)]
    pub changes: u64,
    /// Whether the simulation runs.
    pub running: bool,
    /// Target step of the current seek; `None` if no seek is in progress.
    pub goal: Option<u64>,
    /// Name of the device that computes the steps, or of the first such device if there are several.
    pub device: Arc<str>,
    /// Division of the work among several devices; `None` for a single device.
    pub sharing: Option<Sharing>,
    /// Energy and momentum, which may be a few steps out of date; `None` before the first measurement.
    pub diagnostics: Option<Diagnostics>,
    /// Relative change of the energy since the scene began or a parameter was last changed; `None` if it is unknown.
    pub energy_drift: Option<f64>,
    /// Relative error of a step against the f64 reference, measured on a sample of bodies (see
    /// [`crate::modes::accuracy::relative_error`]); `None` before the first check or if there are no forces.
    pub relative_error: Option<f64>,
    /// Distribution of the relative errors of the bodies in the sample; `None` if `relative_error` is `None`.
    pub errors: Option<SampleErrors>,
    /// Number of measured bodies and range of the colour map if the colours show errors; `None` with other colours.
    #[serde(skip)]
    pub error_colours: Option<ErrorColours>,
    /// Latest measured speed and accuracy of each variant used in this mode with this number of bodies, oldest first.
    pub ladder: Vec<Rung>,
    /// Number of bodies that are not drawn because their values are not finite.
    pub nonfinite: usize,
    /// Points of the plot over time: step number and recorded value, for some of the steps since the scene began.
    #[serde(skip)]
    pub series: Vec<[f64; 2]>,
    /// Peak rates of the first device, as far as they have been measured.
    pub peaks: Roofline,
    /// Latest distributions of the bodies; `None` unless they are being computed.
    #[serde(skip)]
    pub distributions: Option<Arc<Distributions>>,
    /// Time that each kernel takes in a step, for each device; empty unless kernel times are being measured.
    #[serde(skip)]
    pub profiles: Arc<[Profile]>,
    /// Kernel source of the program that computes the steps, as it was compiled; `None` if the mode has no program.
    #[serde(skip)]
    pub source: Option<Arc<ProgramSource>>,
    /// State from which the simulation can recompute this frame exactly. `None` shortly after a change other than a
    /// step, such as an edit, or if the window does not need restore points
    /// ([`WatchList::restore_points`](super::WatchList::restore_points)).
    #[serde(skip)]
    pub restore_point: Option<RestorePoint>,
}

/// Number of measured bodies and range of the colour map, for colours that show the relative errors of bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ErrorColours {
    /// Number of bodies that have been measured.
    pub measured: usize,
    /// Exponents of the powers of ten at the two ends of the colour map.
    pub decades: [i32; 2],
}

/// Latest measured speed and accuracy of a kernel variant.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Rung {
    /// Name of the kernel variant.
    pub variant: &'static str,
    /// Speed of the kernel variant, in pairs or cells per second of device time.
    pub pairs_per_second: f64,
    /// Relative error against the f64 reference (see [`Stats::relative_error`]); `None` if it is unknown.
    pub relative_error: Option<f64>,
    /// Operations and bytes per pair or cell; `None` if they depend on the bodies.
    pub counts: Option<Counts>,
}

impl Stats {
    /// Returns whether the simulation has started. Before that, a frame may show a preview of the scene.
    pub fn has_started(&self) -> bool {
        self.bodies > 0
    }

    /// Returns whether edited kernels replace built-in ones.
    pub fn runs_edited_kernels(&self) -> bool {
        self.source.as_ref().is_some_and(|source| !source.edits.is_empty())
    }

    /// Returns the speed in pairs or cells per second of wall-clock time.
    pub fn work_per_second(&self) -> f64 {
        self.work_in_step * self.steps_per_second
    }

    /// Returns the speed in pairs or cells per second of device time, or `None` if no step has been measured yet.
    pub fn device_work_per_second(&self) -> Option<f64> {
        let seconds = self.device_ms_per_step * 1e-3;
        (seconds > 0.0).then(|| self.work_in_step / seconds)
    }

    /// Returns the device's speed as a fraction of [`Stats::limit`], or `None` if the speed or the limit is unknown.
    pub fn share_of_limit(&self) -> Option<f64> {
        Some(self.device_work_per_second()? / self.limit?)
    }
}
