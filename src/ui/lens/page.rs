//! The pages of the Lens window.

use serde::Deserialize;

/// A page of the Lens window. Lesson files refer to a page by its serialized name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum Page {
    /// Share of each kernel in the time of a step.
    #[default]
    #[serde(rename = "time of a step")]
    Step,
    /// Source code of the kernel that runs.
    #[serde(rename = "source")]
    Source,
    /// Roofline chart: speeds of the kernel variants, and peak rates of the device.
    #[serde(rename = "roofline")]
    Roofline,
}
