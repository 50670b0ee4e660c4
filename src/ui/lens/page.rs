//! The pages of the Lens window.

use serde::Deserialize;

/// A page of the Lens window. Lesson files name it as in the serialized form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
pub enum Page {
    /// How the time of a step divides among the kernels.
    #[default]
    #[serde(rename = "time of a step")]
    Step,
    /// The source of the kernel that runs.
    #[serde(rename = "source")]
    Source,
    /// Speeds of the variants, and the peak rates of the device.
    #[serde(rename = "roofline")]
    Roofline,
}
