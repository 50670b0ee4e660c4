//! The half-float target that bodies are drawn into, and what makes a picture of it.

use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::{DepthRenderBuffer, SimpleFrameBuffer};
use glium::texture::{DepthFormat, Texture2d, UncompressedFloatFormat};
use glium::{Program, Rect, Surface, uniform};

use super::fill::{self, OVER, pixels, smooth, texture};
use super::shader::Source;
use super::{BACKGROUND, graphics};
use crate::bodies::Shape;
use crate::error::Result;

/// Collects light. For glows that is colours weighted by light in RGB and its sum in alpha; for balls, light in
/// RGB and the share of the pixel that they cover in alpha.
pub struct Target {
    context: Rc<Context>,
    /// Without and with bloom.
    tone_map: [Program; 2],
    compose: [Program; 2],
    light: Texture2d,
    depth: DepthRenderBuffer,
}

impl Target {
    /// One of a single pixel.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let programs = |name, fragment| -> Result<_> {
            let vertex = include_str!("../../shaders/tonemap.vert");
            let source = Source { name, vertex, geometry: None, fragment };
            Ok([source.compile(context)?, source.compile_with(context, "#define BLOOM\n")?])
        };
        let (light, depth) = attachments(context, 1, 1)?;
        Ok(Self {
            context: context.clone(),
            tone_map: programs("tonemap", include_str!("../../shaders/tonemap.frag"))?,
            compose: programs("compose", include_str!("../../shaders/compose.frag"))?,
            light,
            depth,
        })
    }

    /// Makes it `width` × `height` pixels, if it is not.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        if self.light.dimensions() != (width, height) {
            (self.light, self.depth) = attachments(&self.context, width, height)?;
        }
        Ok(())
    }

    /// The target without any light, to draw glows into.
    pub fn light(&self) -> Result<SimpleFrameBuffer<'_>> {
        let mut light = SimpleFrameBuffer::new(&self.context, &self.light)
            .map_err(graphics("draw into a half-float texture"))?;
        light.clear_color(0.0, 0.0, 0.0, 0.0);
        Ok(light)
    }

    /// The target without any light, infinitely deep, to draw balls into. Depth is stored as nearness.
    pub fn space(&self) -> Result<SimpleFrameBuffer<'_>> {
        let mut space = SimpleFrameBuffer::with_depth_buffer(&self.context, &self.light, &self.depth)
            .map_err(graphics("draw into a half-float texture with depth"))?;
        space.clear_color_and_depth((0.0, 0.0, 0.0, 0.0), 0.0);
        Ok(space)
    }

    /// What it holds.
    pub fn texture(&self) -> &Texture2d {
        &self.light
    }

    /// Paints the picture of what the target holds into `area` of the surface, which has the target's size, but for what is
    /// `hidden`: `over` what is there, or on the background.
    pub fn paint(
        &self,
        surface: &mut impl Surface,
        (area, hidden): (Rect, Option<Rect>),
        shape: Shape,
        by: &Development,
    ) -> Result<()> {
        let uniforms = uniform! {
            light: pixels(&self.light),
            bloom: smooth(by.bloom.map_or(&self.light, |(bloom, _)| bloom)),
            bloom_share: by.bloom.map_or(0.0, |(_, share)| share),
            measured: pixels(by.measured.unwrap_or(&self.light)),
            automatic: by.measured.is_some(),
            stops: by.stops,
            size: [area.width as f32, area.height as f32],
            origin: [area.left as f32, area.bottom as f32],
            background: BACKGROUND,
            over: by.over,
        };
        let programs = match shape {
            Shape::Glow | Shape::Tracers { .. } => &self.tone_map,
            Shape::Spheres { .. } => &self.compose,
        };
        let program = &programs[usize::from(by.bloom.is_some())];
        let blend = by.over.then_some(OVER);
        let parts = fill::without(area, hidden);
        parts.into_iter().try_for_each(|part| fill::fill(surface, Some(part), program, &uniforms, blend))
    }
}

/// How light becomes a picture.
pub struct Development<'a> {
    /// Stops: each doubles the light.
    pub stops: f32,
    /// How bright it is, where the exposure goes with that: see `shaders/tonemap.vert`.
    pub measured: Option<&'a Texture2d>,
    /// What shines over, and how much of it.
    pub bloom: Option<(&'a Texture2d, f32)>,
    /// Whether it blends with what is there already.
    pub over: bool,
}

fn attachments(context: &Rc<Context>, width: u32, height: u32) -> Result<(Texture2d, DepthRenderBuffer)> {
    let light = texture(context, UncompressedFloatFormat::F16F16F16F16, (width, height))?;
    let depth = DepthRenderBuffer::new(context, DepthFormat::F32, width, height)
        .map_err(graphics("make a depth buffer"))?;
    Ok((light, depth))
}
