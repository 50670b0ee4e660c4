//! The contents of a snapshot.

use std::collections::BTreeMap;

use crate::base::state::State;
use crate::engine::config::Config;
use crate::modes::Extra;

/// File name extension of snapshots.
pub const EXTENSION: &str = "gravitile";

/// A complete simulation: the scene that is shown, and the scenes of the other modes.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Name and driver of the device. Only this device continues with the same bits.
    pub device: [String; 2],
    /// Camera position, as the window writes it; empty without a window.
    pub view: String,
    /// The scene that is shown, then the suspended scenes of other modes. There is at least one.
    pub runs: Vec<Run>,
}

/// A scene of a snapshot, with its configuration and state.
#[derive(Debug, Clone)]
pub struct Run {
    /// The configuration of the scene.
    pub config: Config,
    /// Recipe that the device used for the configuration.
    pub recipe: RecipeRecord,
    /// Number of bodies, or approximate number of cells, that the scene was generated with; `None` in old files.
    pub generated: Option<usize>,
    /// Whether the scene was edited by hand since it began.
    pub is_edited: bool,
    /// Steps since the scene began.
    pub step: u64,
    /// Simulated time since the scene began.
    pub time: f64,
    /// Energy from which the drift is measured.
    pub baseline: Option<f64>,
    /// The bodies or the flow of the scene.
    pub state: State,
    /// Data that the solver carries from step to step.
    pub extra: Extra,
    /// The mode's value for each step since the scene began, or empty.
    pub series: Vec<f64>,
}

/// A recipe by names, which another device may not support.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeRecord {
    /// Name of the variant.
    pub variant: String,
    /// Work-items in a work-group.
    pub work_group: usize,
    /// Values of all compile-time parameters of the variant.
    pub knobs: BTreeMap<String, u32>,
}

/// A short description of a snapshot, for offers to continue it.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Name of the mode.
    pub mode: String,
    /// Title of the scene.
    pub title: String,
    /// Number of bodies or cells.
    pub size: usize,
    /// Steps since the scene began.
    pub step: u64,
}
