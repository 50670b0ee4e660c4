//! Draws bodies with OpenGL 3.3, in a window or without one. Knows no OpenCL and no simulation.
//!
//! A picture is made in two steps: the bodies are drawn into a half-float target of light, and a picture is
//! made of that, with what shines over and the exposure that the light asks for. Glows add up there and are tone-mapped, so that three bodies are bright and a million are not
//! a white patch; balls hide each other there. Tracers glow over the image of their flow.

mod bloom;
mod camera;
mod cloud;
mod exposure;
mod field;
mod fill;
mod framing;
mod grid;
mod layer;
mod offscreen;
mod palette;
mod pick;
mod points;
mod shader;
mod spheres;
mod stars;
mod target;
mod trails;

use std::fmt::Display;
use std::mem;
use std::rc::Rc;

use glium::backend::Context;
use glium::{Rect, Surface};

pub use camera::Camera;
pub use framing::middle;
pub use layer::Layer;
pub use offscreen::{Canvas, Negative, Offscreen};

use crate::bodies::{Points, Shape};
use crate::error::{Error, Result};
use crate::look::{self, Look};

/// The background's sRGB colour, 0 to 1: nearly black, slightly blue.
pub const BACKGROUND: [f32; 3] = [0.020, 0.024, 0.040];

/// What shines over at full strength, times the light itself.
const BLOOM: f32 = 4.0;

/// Sprites and strips are sized for a picture of this height in pixels and grow with it.
const REFERENCE_HEIGHT: f32 = 800.0;

/// Pixels there are to one of a picture of the reference height.
fn scale(height: u32) -> f32 {
    height as f32 / REFERENCE_HEIGHT
}

/// Draws the bodies that it was last given, as often as is asked and from wherever.
pub struct View {
    look: Look,
    is_software: bool,
    cloud: cloud::Cloud,
    shape: Shape,
    /// What colours mean: see [`Points::colours`].
    colours: Option<u64>,
    field: field::Field,
    glow: points::Glow,
    spheres: spheres::Spheres,
    stars: stars::Stars,
    trails: trails::Trails,
    target: target::Target,
    meter: exposure::Meter,
    bloom: bloom::Bloom,
    grid: grid::Grid,
    /// What the target holds: seen by which camera, in which size. None once the bodies are others.
    drawn: Option<(Camera, [u32; 2])>,
}

impl View {
    /// Compiles the shaders. Needs OpenGL 3.3 in a core context: others may lack point sprites. Draws by
    /// [`Look::plain`] until told otherwise.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL cannot do what is needed; the text has its reason.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let is_software = is_software(context);
        Ok(Self {
            look: Look::plain(),
            is_software,
            cloud: cloud::Cloud::new(context)?,
            shape: Shape::default(),
            colours: None,
            field: field::Field::new(context)?,
            glow: points::Glow::new(context)?,
            spheres: spheres::Spheres::new(context)?,
            stars: stars::Stars::new(context)?,
            trails: trails::Trails::new(context, is_software)?,
            target: target::Target::new(context)?,
            meter: exposure::Meter::new(context)?,
            bloom: bloom::Bloom::new(context)?,
            grid: grid::Grid::new(context)?,
            drawn: None,
        })
    }

    /// How pictures are to be drawn from now on. Where that is as before, it costs nothing.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL fails.
    pub fn set_look(&mut self, look: &Look) -> Result<()> {
        if self.look != *look {
            if self.look.palette != look.palette {
                self.cloud.set_palette(look.palette)?;
            }
            self.look = look.clone();
            self.drawn = None;
        }
        Ok(())
    }

    /// Whether trails are wanted and not drawn, because there are too many bodies.
    pub fn lacks_trails(&self) -> bool {
        self.look.trails >= 1.0 && self.trails.are_too_many(self.cloud.count())
    }

    /// Forgets where bodies were, and what colours stood for: what comes next is another scene, or another time.
    pub fn forget(&mut self) {
        self.trails.forget();
        self.colours = None;
    }

    /// Hands over new bodies; `value_range` is what the colour map's ends stand for in the unit of
    /// [`Points::values`]. It is followed smoothly as long as the number of bodies, the kind of their shape
    /// and what colours mean stay, so that colours do not flicker.
    ///
    /// Costs one copy of 20 bytes a body and does not wait for OpenGL. Without a new frame, only
    /// [`View::draw`] is needed. [`View::draw`] queues work: to time it, end with `Context::finish`.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL has no memory for them.
    pub fn upload(&mut self, points: &Points, value_range: [f32; 2]) -> Result<()> {
        self.drawn = None;
        let is_same_kind = mem::discriminant(&self.shape) == mem::discriminant(&points.shape);
        let alike = is_same_kind && self.colours == Some(points.colours);
        (self.shape, self.colours) = (points.shape, Some(points.colours));
        self.glow.weigh(&points.positions);
        self.field.upload(&points.image, alike)?;
        self.cloud.upload(points, value_range, alike)?;
        if !is_same_kind {
            self.trails.forget();
        }
        self.trails.note(&self.cloud, self.look.trails)
    }

    /// Draws the bodies into `area` of the surface, in pixels from its lower left corner, or into all of it.
    /// Every pixel there is painted, so nothing needs to be cleared. Where only what stands beside or over the
    /// picture changed, this costs no pass over the bodies.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL fails.
    pub fn draw(&mut self, surface: &mut impl Surface, camera: &Camera, area: Option<Rect>) -> Result<()> {
        self.draw_beside(surface, camera, (area, None))
    }

    /// The same, where something will lie over what is `hidden`, in pixels from the surface's lower left corner: that part may
    /// not be painted.
    ///
    /// # Errors
    /// [`Error::Graphics`] if OpenGL fails.
    pub fn draw_beside(
        &mut self,
        surface: &mut impl Surface,
        camera: &Camera,
        (area, hidden): (Option<Rect>, Option<Rect>),
    ) -> Result<()> {
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
            self.collect_light(camera)?;
            self.drawn = Some(wanted);
        }
        let over = match self.shape {
            Shape::Tracers { half } if self.field.is_there() => {
                self.field.draw(surface, area, (&self.cloud, camera, half))?;
                true
            }
            _ => false,
        };
        let by = target::Development {
            stops: self.look.exposure,
            measured: self.is_metered().then(|| self.meter.measured()),
            bloom: self.bloom.picture().filter(|_| self.blooms()).map(|it| (it, self.bloom_share())),
            over,
        };
        self.target.paint(surface, (area, hidden), self.shape, &by)?;
        if self.look.grid {
            self.grid.draw(surface, area, camera, self.target.texture())?;
        }
        Ok(())
    }

    /// Draws what shines into the target, and takes from that what a picture needs besides.
    fn collect_light(&mut self, camera: &Camera) -> Result<()> {
        let Self { look, cloud, shape, target, .. } = self;
        let (_, height) = target.texture().dimensions();
        let scale = scale(height);
        let count = cloud.count();
        let style = trails::Style { light: points::trail_light(count), scale, span: look.trails };
        match *shape {
            Shape::Glow => {
                let mut light = target.light()?;
                if look.stars > 0.0 {
                    self.stars.draw(&mut light, camera, (look.stars, false, scale))?;
                }
                self.trails.draw(&mut light, cloud, (camera, *shape), style)?;
                self.glow.draw(&mut light, cloud, (camera, look), false)?;
            }
            Shape::Tracers { .. } => {
                let mut light = target.light()?;
                self.trails.draw(&mut light, cloud, (camera, *shape), style)?;
                self.glow.draw(&mut light, cloud, (camera, look), true)?;
            }
            Shape::Spheres { planet } => {
                let mut space = target.space()?;
                if look.stars > 0.0 {
                    self.stars.draw(&mut space, camera, (look.stars, true, scale))?;
                }
                self.spheres.draw(&mut space, cloud, (camera, look), planet)?;
                self.trails.draw(&mut space, cloud, (camera, *shape), style)?;
            }
        }
        if self.is_metered() {
            self.meter.measure(self.target.texture())?;
        }
        if self.blooms() {
            self.bloom.make(self.target.texture(), self.shape)?;
        }
        Ok(())
    }

    /// Whether the exposure goes with the light. Balls are lit by one sun, and tracers shine before a picture.
    fn is_metered(&self) -> bool {
        self.look.auto_exposure && self.shape == Shape::Glow
    }

    /// A flow is full of tracers: with all of their light there would be a fog.
    fn bloom_share(&self) -> f32 {
        let of_all = if matches!(self.shape, Shape::Tracers { .. }) { 0.2 } else { 1.0 };
        BLOOM * of_all * self.look.bloom_strength
    }

    fn blooms(&self) -> bool {
        match self.look.bloom {
            look::Bloom::Auto => !self.is_software,
            look::Bloom::On => true,
            look::Bloom::Off => false,
        }
    }
}

/// Whether a processor draws, by the renderer's name.
pub fn is_software(context: &Context) -> bool {
    let renderer = context.get_opengl_renderer_string();
    ["llvmpipe", "softpipe", "SwiftShader"].iter().any(|name| renderer.contains(name))
}

/// Turns what glium and glutin say into ours: `what` is what was being done.
fn graphics<E: Display>(what: &str) -> impl FnOnce(E) -> Error {
    move |reason| Error::Graphics(format!("OpenGL: cannot {what}: {reason}"))
}
