//! The data that the user interface shows and edits.

use super::action::Tool;
use super::compared::Compared;
use super::labels::Captions;
use super::timeline_state::TimelineState;
use crate::base::Look;
use crate::compute::DeviceInfo;
use crate::engine::Config;
use crate::modes::Recipe;
use crate::session::Stats;

/// Frame rate and timings of the window.
#[derive(Debug, Clone, Copy, Default)]
pub struct WindowStats {
    /// Frames drawn per second.
    pub fps: f64,
    /// Time to draw a frame, in ms.
    pub draw_ms: f64,
    /// Time to upload the bodies to OpenGL, in ms.
    pub upload_ms: f64,
    /// Total time to produce a frame, in ms.
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
    /// Positions of the markers that the mouse tools draw over the picture.
    pub markers: &'a Markers,
    /// Simulation statistics for the frame on the screen. They belong to the configuration `stats.config`, which
    /// differs from `config` until a change takes effect.
    pub stats: &'a Stats,
    /// The first of the compute devices selected in `config`.
    pub device: &'a DeviceInfo,
    /// Devices that the simulation may use; [`Config::devices`] holds indices into this list.
    pub pool: &'a [DeviceInfo],
    /// The recorded run.
    pub timeline: &'a TimelineState,
    /// Frame rate and timings of the window.
    pub window: WindowStats,
    /// Maximum number of bodies or cells that the device can hold.
    pub max_bodies: usize,
    /// Kernel variant, work-group size and compile-time parameters for `config`; `None` if the device cannot run `config`.
    pub recipe: Option<Recipe>,
    /// Size of one scene unit on the screen, in picture heights, at the distance of the camera's target.
    pub heights_per_unit: f32,
    /// Side length of the small grid squares, in scene units.
    pub grid_spacing: f32,
    /// Whether at least one body is in view.
    pub sees_bodies: bool,
    /// Index and mass of each body in the list of the heaviest bodies, the heaviest first.
    pub heaviest: &'a [(usize, f32)],
    /// The comparison with another simulation; `None` if there is only one.
    pub compared: Option<Compared<'a>>,
    /// Values at the two ends of the colour map; see [`ColourScale`](crate::modes::ColourScale).
    pub value_range: [f32; 2],
}

impl Model<'_> {
    /// Returns whether the screen shows a past moment of the run.
    pub(super) fn is_past(&self) -> bool {
        self.timeline.past.is_some()
    }

    /// Returns the rectangle of the picture of the simulation that the panel edits, in points: half of the picture while
    /// two simulations are compared.
    pub(super) fn picture(&self, ctx: &egui::Context) -> egui::Rect {
        let whole = ctx.available_rect();
        self.compared.map_or(whole, |compared| compared.active.of(whole))
    }
}

/// Settings of the mouse tools.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolSettings {
    /// The selected mouse tool.
    pub tool: Tool,
    /// Mass of a launched body as a fraction of the total mass of all bodies.
    pub mass_share: f32,
    /// Strength of the attraction. At 1, nearby bodies reach roughly the scene's escape velocity.
    pub strength: f32,
    /// Whether the camera moves with the selected body.
    pub follows: bool,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self { tool: Tool::Look, mass_share: 1e-3, strength: 0.3, follows: false }
    }
}

impl ToolSettings {
    /// Returns the selected tool, or [`Tool::Look`] if the mode of `config` has no bodies.
    pub fn active(&self, config: &Config) -> Tool {
        if config.mode.info().work.tools.is_ok() { self.tool } else { Tool::Look }
    }
}

/// Markers of the mouse tools. Positions are relative to the picture's centre, in picture heights, with y pointing down.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Markers {
    /// Position of the selected body, if it is in view.
    pub selected: Option<[f32; 2]>,
    /// Lines along the osculating orbit of the selected body; empty if there is none.
    pub orbit: Vec<Vec<[f32; 2]>>,
    /// Names, orbits and paths of bodies.
    pub captions: Captions,
    /// Start and end of the launch arrow while the user aims.
    pub aim: Option<[[f32; 2]; 2]>,
    /// Predicted path of the body that the user is about to launch.
    pub path: Vec<[f32; 2]>,
    /// Position and radius of the attractor, if any.
    pub attractor: Option<([f32; 2], f32)>,
}
