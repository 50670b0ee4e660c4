//! Mouse tools for bodies: their settings, and their marks over the picture.

use super::action::Tool;
use crate::engine::config::Config;

/// Settings of the mouse tools.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ToolSettings {
    /// The selected mouse tool.
    pub tool: Tool,
    /// Mass of a launched body, as a share of the mass of all bodies.
    pub mass_share: f32,
    /// Strength of attraction; at 1, bodies nearby fall in about as fast as they could escape from the scene.
    pub strength: f32,
    /// Whether the camera follows the selected body.
    pub follows: bool,
}

impl Default for ToolSettings {
    fn default() -> Self {
        Self { tool: Tool::Look, mass_share: 1e-3, strength: 0.3, follows: false }
    }
}

impl ToolSettings {
    /// Returns the tool that works in the mode of `config`: [`Tool::Look`] in modes without bodies.
    pub fn active(&self, config: &Config) -> Tool {
        if config.mode.info().work.tools.is_ok() { self.tool } else { Tool::Look }
    }
}

/// Marks that the mouse tools draw over the picture.
///
/// Places are in heights of the picture from its centre, with y downwards.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Markers {
    /// Place of the selected body in the picture.
    pub selected: Option<[f32; 2]>,
    /// Start and end of the arrow that a launch draws.
    pub aim: Option<[[f32; 2]; 2]>,
    /// Predicted path of the launched body.
    pub path: Vec<[f32; 2]>,
    /// Place and radius of the attractor.
    pub attractor: Option<([f32; 2], f32)>,
}
