//! What crosses from the worker to the screen: plain memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bodies::Points;
use crate::modes::Diagnostics;

/// One picture's worth of data.
#[derive(Debug, Clone, Default)]
pub struct Frame {
    /// What is drawn.
    pub points: Points,
    /// The colour map's ends, in the unit of [`Points::values`].
    pub value_range: [f32; 2],
    /// What the HUD shows.
    pub stats: Stats,
}

/// How the simulation is doing.
#[derive(Debug, Clone, Default, serde::Serialize)]
pub struct Stats {
    /// The mode.
    pub mode: &'static str,
    /// Which seeding of a scene it is: the camera frames everything in a new one.
    pub generation: u64,
    /// Steps since the scene began.
    pub step: u64,
    /// Simulated time since the scene began.
    pub time: f64,
    /// Bodies there are.
    pub bodies: usize,
    /// The variant in force.
    pub variant: &'static str,
    /// The work-group size in force.
    pub work_group: usize,
    /// Its knobs.
    pub knobs: BTreeMap<&'static str, u32>,
    /// The burst in force, in steps.
    pub steps_per_frame: u32,
    /// Steps a second by the clock on the wall, over the last second or so.
    pub steps_per_second: f64,
    /// Device time of one step in ms, from profiling events where the device has them.
    pub device_ms_per_step: f64,
    /// The share of the time that the device was busy with steps, over the last second or so.
    pub device_busy: f64,
    /// The same since the simulation was opened, pauses and all.
    #[serde(skip)]
    pub device_busy_overall: f64,
    /// Pairs a second that their arithmetic allows on the device; none until it was measured, and where the variant does not
    /// look at all pairs.
    pub limit: Option<f64>,
    /// Time to read the frame back, in ms.
    pub read_ms: f64,
    /// Whether time goes on.
    pub running: bool,
    /// The device.
    pub device: Arc<str>,
    /// What is conserved, as of some steps ago; none until it was first computed.
    pub diagnostics: Option<Diagnostics>,
    /// Relative change of the energy since the scene began or a parameter was last changed.
    pub energy_drift: Option<f64>,
    /// How far what the steps do is from the same in f64, over a sample of bodies: see
    /// [`crate::modes::accuracy::relative_error`]. None until it is known, or where there is nothing to compare.
    pub relative_error: Option<f64>,
    /// What the variants of this mode were last seen to do with this many bodies, in the order they were seen.
    pub ladder: Vec<Rung>,
    /// Bodies held out because they stopped being finite.
    pub nonfinite: usize,
}

/// Speed and accuracy of a variant, as they were last seen.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Rung {
    /// The variant.
    pub variant: &'static str,
    /// Pairs a second of the device's time: the screen's pace says nothing of a variant.
    pub pairs_per_second: f64,
    /// As [`Stats::relative_error`].
    pub relative_error: Option<f64>,
}

impl Stats {
    /// Pairs a second: N² for each step.
    pub fn interactions_per_second(&self) -> f64 {
        (self.bodies as f64).powi(2) * self.steps_per_second
    }

    /// Pairs a second of the device's time; none before a step was measured.
    pub fn device_pairs_per_second(&self) -> Option<f64> {
        let seconds = self.device_ms_per_step * 1e-3;
        (seconds > 0.0).then(|| (self.bodies as f64).powi(2) / seconds)
    }

    /// The speed of the device while it steps over the limit, where both are known.
    pub fn share_of_limit(&self) -> Option<f64> {
        Some(self.device_pairs_per_second()? / self.limit?)
    }
}
