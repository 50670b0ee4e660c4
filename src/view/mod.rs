//! Draws bodies with OpenGL 3.3, in a window or without one. Knows no OpenCL and no simulation.
//!
//! A picture is made in two passes: the bodies are drawn into a half-float target of light, and a picture is
//! made of that. Glows add up there and are tone-mapped, so that three bodies are bright and a million are not
//! a white patch; balls hide each other there. Tracers glow over the image of their flow.

mod camera;
mod cloud;
mod field;
mod framing;
mod offscreen;
mod palette;
mod points;
mod shader;
mod spheres;
mod target;

use std::fmt::Display;
use std::mem;
use std::rc::Rc;

use glium::backend::Context;
use glium::{Rect, Surface};

pub use camera::Camera;
pub use offscreen::Offscreen;

use crate::bodies::{Points, Shape};
use crate::error::{Error, Result};

/// The background's sRGB colour, 0 to 1: nearly black, slightly blue.
pub const BACKGROUND: [f32; 3] = [0.020, 0.024, 0.040];

/// Draws the bodies that it was last given, as often as is asked and from wherever.
pub struct View {
    cloud: cloud::Cloud,
    shape: Shape,
    field: field::Field,
    glow: points::Glow,
    spheres: spheres::Spheres,
    target: target::Target,
    /// What the target holds: seen by which camera, in which size. None once the bodies are others.
    drawn: Option<(Camera, [u32; 2])>,
}

impl View {
    /// Compiles the shaders. Needs OpenGL 3.3 in a core context: others may lack point sprites.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL cannot do what is needed; the text has its reason.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        Ok(Self {
            cloud: cloud::Cloud::new(context)?,
            shape: Shape::default(),
            field: field::Field::new(context)?,
            glow: points::Glow::new(context)?,
            spheres: spheres::Spheres::new(context)?,
            target: target::Target::new(context)?,
            drawn: None,
        })
    }

    /// Hands over new bodies; `value_range` is what the colour map's ends stand for in the unit of
    /// [`Points::values`]. It is followed smoothly as long as the number of bodies and the kind of their shape
    /// stay, so that colours do not flicker.
    ///
    /// Costs one copy of 20 bytes a body and does not wait for OpenGL. Without a new frame, only
    /// [`View::draw`] is needed. [`View::draw`] queues work: to time it, end with `Context::finish`.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL has no memory for them.
    pub fn upload(&mut self, points: &Points, value_range: [f32; 2]) -> Result<()> {
        self.drawn = None;
        let alike = mem::discriminant(&self.shape) == mem::discriminant(&points.shape);
        self.shape = points.shape;
        self.glow.weigh(&points.positions);
        self.field.upload(&points.image, alike)?;
        self.cloud.upload(points, value_range, alike)
    }

    /// Draws the bodies into `area` of the surface, in pixels from its lower left corner, or into all of it.
    /// Every pixel there is painted, so nothing needs to be cleared. Where only what stands beside or over the
    /// picture changed, this costs no pass over the bodies.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL fails.
    pub fn draw(&mut self, surface: &mut impl Surface, camera: &Camera, area: Option<Rect>) -> Result<()> {
        let (width, height) = surface.get_dimensions();
        let mut area = area.unwrap_or(Rect { left: 0, bottom: 0, width, height });
        // The surface may have become smaller than whoever measured knew.
        area.width = area.width.min(width.saturating_sub(area.left));
        area.height = area.height.min(height.saturating_sub(area.bottom));
        if area.width == 0 || area.height == 0 {
            return Ok(());
        }
        let wanted = (camera.clone(), [area.width, area.height]);
        if self.drawn.as_ref() != Some(&wanted) {
            self.drawn = None;
            self.target.resize(area.width, area.height)?;
            match self.shape {
                Shape::Glow => self.glow.draw(&mut self.target.light()?, &self.cloud, camera, false)?,
                Shape::Tracers { .. } => {
                    self.glow.draw(&mut self.target.light()?, &self.cloud, camera, true)?;
                }
                Shape::Spheres { planet } => {
                    self.spheres.draw(&mut self.target.space()?, &self.cloud, camera, planet)?;
                }
            }
            self.drawn = Some(wanted);
        }
        let over = match self.shape {
            Shape::Tracers { half } if self.field.is_there() => {
                self.field.draw(surface, area, (&self.cloud, camera, half))?;
                true
            }
            _ => false,
        };
        self.target.paint(surface, area, self.shape, over)
    }
}

/// Turns what glium and glutin say into ours: `what` is what was being done.
fn graphics<E: Display>(what: &str) -> impl FnOnce(E) -> Error {
    move |reason| Error::Graphics(format!("OpenGL: cannot {what}: {reason}"))
}
