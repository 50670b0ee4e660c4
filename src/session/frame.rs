//! What crosses from the worker to the screen: plain memory.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bodies::Points;
use crate::hand::{Deed, Held};
use crate::modes::{Diagnostics, Sharing};

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
    /// Bodies or cells there are.
    pub bodies: usize,
    /// The variant in force.
    pub variant: &'static str,
    /// The work-group size in force.
    pub work_group: usize,
    /// Its knobs.
    pub knobs: BTreeMap<&'static str, u32>,
    /// Pairs or cells that a step goes over, on average in the last burst.
    pub work_in_step: f64,
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
    /// Pairs or cells a second that the mode's limit allows on the device; none until it was measured, and where it does not
    /// hold for the variant.
    pub limit: Option<f64>,
    /// Time to read the frame back, in ms.
    pub read_ms: f64,
    /// The body that is looked at; none if none is.
    pub held: Option<Held>,
    /// How many changes that were made by hand can be undone.
    pub undos: usize,
    /// The last of them, which is undone first.
    pub last_deed: Option<Deed>,
    /// Counts what was changed that a step does not tell: by hand, by a parameter, by an undo. What it says of one moment is
    /// told while it pauses too.
    #[serde(skip)]
    pub changes: u64,
    /// Whether time goes on.
    pub running: bool,
    /// The step that it is on its way to, as fast as it can.
    pub goal: Option<u64>,
    /// The device; the first, if there are several.
    pub device: Arc<str>,
    /// How several devices share the work; none where one alone does it.
    pub sharing: Option<Sharing>,
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
    /// What the mode tells of every step, since the scene began: steps and values, thinned out.
    #[serde(skip)]
    pub series: Vec<[f64; 2]>,
}

/// Speed and accuracy of a variant, as they were last seen.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Rung {
    /// The variant.
    pub variant: &'static str,
    /// Pairs or cells a second of the device's time: the screen's pace says nothing of a variant.
    pub pairs_per_second: f64,
    /// As [`Stats::relative_error`].
    pub relative_error: Option<f64>,
}

impl Stats {
    /// Pairs or cells a second.
    pub fn work_per_second(&self) -> f64 {
        self.work_in_step * self.steps_per_second
    }

    /// The same of the device's time; none before a step was measured.
    pub fn device_work_per_second(&self) -> Option<f64> {
        let seconds = self.device_ms_per_step * 1e-3;
        (seconds > 0.0).then(|| self.work_in_step / seconds)
    }

    /// The speed of the device while it steps over the limit, where both are known.
    pub fn share_of_limit(&self) -> Option<f64> {
        Some(self.device_work_per_second()? / self.limit?)
    }
}
