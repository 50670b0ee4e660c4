//! The contents of a snapshot.

use std::collections::BTreeMap;

use crate::base::{BodyNames, State};
use crate::engine::config::Config;
use crate::modes::Extra;

/// File name extension of snapshots.
pub const EXTENSION: &str = "gravitile";

/// A saved simulation: the visible scene, and the scenes of other modes that the user switched away from.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Name and driver of the device that wrote the snapshot. Only this device can continue it bit-identically.
    pub device: [String; 2],
    /// Camera position as text, in the format of `Camera::to_words`; empty if no camera position was stored.
    pub view: String,
    /// Scenes in the snapshot: first the visible scene, then the suspended scenes of other modes. Never empty.
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
    /// Names of the bodies.
    pub names: BodyNames,
    /// Number of steps since the scene began.
    pub step: u64,
    /// Simulated time since the scene began, in the units of the simulation.
    pub time: f64,
    /// Reference energy from which the energy drift is measured, if any.
    pub baseline: Option<f64>,
    /// Current bodies or fluid flow of the scene.
    pub state: State,
    /// Data that the solver carries over from step to step in addition to `state`.
    pub extra: Extra,
    /// Values recorded at each step since the scene began, such as the mean speed of a fluid; may be empty.
    pub series: Vec<f64>,
}

/// A kernel variant and its settings, stored by name because another device may not support them.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeRecord {
    /// Name of the kernel variant.
    pub variant: String,
    /// Number of work-items in a work-group.
    pub work_group: usize,
    /// Values of all compile-time parameters of the kernel variant, by name.
    pub knobs: BTreeMap<String, u32>,
}

/// A short description of a snapshot, shown before it is opened.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// Name of the simulation mode.
    pub mode: String,
    /// Title of the scene.
    pub title: String,
    /// Number of bodies or cells.
    pub size: usize,
    /// Number of steps since the scene began.
    pub step: u64,
}
