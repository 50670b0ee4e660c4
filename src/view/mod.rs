//! Draws bodies with OpenGL 3.1, in a window or without one. Knows no OpenCL and no simulation.
//!
//! A picture is made in two passes: [`points`](self) adds the light of every body up in a half-float target, and
//! a tone map makes a picture of that. So three bodies are bright and a million are not a white patch.

mod camera;
mod framing;
mod offscreen;
mod palette;
mod points;
mod target;

use std::fmt::Display;
use std::rc::Rc;

use glium::backend::Context;
use glium::{Rect, Surface};

pub use camera::Camera;
pub use offscreen::Offscreen;

use crate::bodies::Points;
use crate::error::{Error, Result};

/// The background's sRGB colour, 0 to 1: nearly black, slightly blue.
pub const BACKGROUND: [f32; 3] = [0.020, 0.024, 0.040];

/// Draws the bodies that it was last given, as often as is asked and from wherever.
pub struct View {
    points: points::PointCloud,
    target: target::LightTarget,
}

impl View {
    /// Compiles the shaders. Needs OpenGL 3.1 in a core context: others may lack point sprites.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL cannot do what is needed; the text has its reason.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        Ok(Self { points: points::PointCloud::new(context)?, target: target::LightTarget::new(context)? })
    }

    /// Hands over new bodies; `value_range` is what the colour map's ends stand for (followed smoothly, so
    /// that colours do not flicker), in the unit of [`Points::values`].
    ///
    /// Costs one copy of 20 bytes a body and does not wait for OpenGL.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL has no memory for them.
    pub fn upload(&mut self, points: &Points, value_range: [f32; 2]) -> Result<()> {
        self.points.upload(points, value_range)
    }

    /// Draws the bodies into `area` of the surface, in pixels from its lower left corner, or into all of it. Every
    /// pixel there is painted, so nothing needs to be cleared.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL fails.
    pub fn draw(&mut self, surface: &mut impl Surface, camera: &Camera, area: Option<Rect>) -> Result<()> {
        let (width, height) = surface.get_dimensions();
        let area = area.unwrap_or(Rect { left: 0, bottom: 0, width, height });
        if area.width == 0 || area.height == 0 {
            return Ok(());
        }
        self.target.resize(area.width, area.height)?;
        self.points.draw(&mut self.target.light()?, camera)?;
        self.target.tone_map(surface, area)
    }
}

/// Turns what glium and glutin say into ours: `what` is what was being done.
fn graphics<E: Display>(what: &str) -> impl FnOnce(E) -> Error {
    move |reason| Error::Graphics(format!("OpenGL: cannot {what}: {reason}"))
}
