//! The data that the user interface shows and edits.

use super::tool_settings::{Markers, ToolSettings};
use crate::base::look::Look;
use crate::compute::DeviceInfo;
use crate::engine::config::Config;
use crate::modes::Recipe;
use crate::session::Stats;

/// Measurements of the window itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct WindowStats {
    /// Frames drawn per second.
    pub fps: f64,
    /// Time to draw a frame, in ms.
    pub draw_ms: f64,
    /// Time to upload the bodies to OpenGL, in ms.
    pub upload_ms: f64,
    /// Time that the window spends on a frame in all, in ms.
    pub frame_ms: f64,
}

/// The data that one frame of the user interface shows and edits.
#[derive(Debug)]
pub struct Model<'a> {
    /// The simulation's settings, edited in place.
    pub config: &'a mut Config,
    /// Appearance of the picture, edited in place.
    pub look: &'a mut Look,
    /// Settings of the mouse tools, edited in place.
    pub tools: &'a mut ToolSettings,
    /// Marks of the mouse tools over the picture.
    pub markers: &'a Markers,
    /// State of the simulation at the newest frame.
    pub stats: &'a Stats,
    /// The first device that computes.
    pub device: &'a DeviceInfo,
    /// All devices that may compute; [`Config::devices`] holds indices into this list.
    pub pool: &'a [DeviceInfo],
    /// Measurements of the window.
    pub window: WindowStats,
    /// Largest number of bodies or cells that the device can hold.
    pub max_bodies: usize,
    /// Recipe of `config` on the device; `None` if the device cannot run `config`.
    pub recipe: Option<Recipe>,
    /// Length of a unit of the scene on the screen, in heights of the picture, at the distance that the camera looks at.
    pub heights_per_unit: f32,
    /// Side of the grid's small squares, in units of the scene.
    pub grid_spacing: f32,
}

impl Model<'_> {
    /// Returns whether the first frame of the simulation has arrived.
    pub(super) fn has_started(&self) -> bool {
        self.stats.bodies > 0
    }
}
