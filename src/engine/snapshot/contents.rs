//! The contents of a snapshot.

use std::collections::BTreeMap;

use crate::base::state::State;
use crate::engine::config::Config;
use crate::modes::Extra;

/// File name extension of snapshots.
pub const EXTENSION: &str = "gravitile";

/// A complete simulation: the visible scene, and the suspended scenes of the other modes.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Name and driver of the device that wrote the snapshot. Only this device can continue the simulation bit-identically.
    pub device: [String; 2],
    /// Camera as text, in the format of `Camera::to_words`; empty if none was stored.
    pub view: String,
    /// The visible scene, followed by the suspended scenes of other modes. Never empty.
    pub runs: Vec<Run>,
}

/// A scene in a snapshot, with its configuration and state.
#[derive(Debug, Clone)]
pub struct Run {
    /// The configuration of the scene.
    pub config: Config,
    /// Kernel variant and settings that the device used for the scene.
    pub recipe: RecipeRecord,
    /// Number of bodies, or approximate number of cells, requested when the scene was generated; `None` in old files.
    pub generated: Option<usize>,
    /// Whether the user has edited the scene since its first step.
    pub is_edited: bool,
    /// Number of steps since the scene began.
    pub step: u64,
    /// Simulated time since the scene began.
    pub time: f64,
    /// Reference energy for measuring the energy drift, if any.
    pub baseline: Option<f64>,
    /// The bodies or the flow of the scene.
    pub state: State,
    /// Data that the solver carries over from step to step in addition to `state`.
    pub extra: Extra,
    /// Values recorded since the scene began, one per step, such as the mean speed of a fluid; may be empty.
    pub series: Vec<f64>,
}

/// A kernel variant and its settings, stored by name because another device may not support them.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeRecord {
    /// Name of the variant.
    pub variant: String,
    /// Number of work-items in a work-group.
    pub work_group: usize,
    /// Values of all compile-time parameters of the variant.
    pub knobs: BTreeMap<String, u32>,
}

/// A short description of a snapshot, shown before it is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Name of the mode.
    pub mode: String,
    /// Title of the scene.
    pub title: String,
    /// Number of bodies or cells.
    pub size: usize,
    /// Number of steps since the scene began.
    pub step: u64,
}
