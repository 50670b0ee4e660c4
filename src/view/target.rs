//! The half-float target that bodies are drawn into, and what makes a picture of it.

use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::{DepthRenderBuffer, SimpleFrameBuffer};
use glium::index::{NoIndices, PrimitiveType};
use glium::texture::{DepthFormat, MipmapsOption, Texture2d, UncompressedFloatFormat};
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter};
use glium::vertex::EmptyVertexAttributes;
use glium::{Blend, BlendingFunction, DrawParameters, LinearBlendingFactor, Program, Rect, Surface, uniform};

use super::shader::Source;
use super::{BACKGROUND, graphics};
use crate::bodies::Shape;
use crate::error::Result;

/// Collects light. For glows that is colours weighted by light in RGB and its sum in alpha; for balls, light in
/// RGB and the share of the pixel that they cover in alpha.
pub struct Target {
    context: Rc<Context>,
    tone_map: Program,
    compose: Program,
    light: Texture2d,
    depth: DepthRenderBuffer,
}

impl Target {
    /// One of a single pixel.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let program = |name, fragment| {
            let vertex = include_str!("../../shaders/fill.vert");
            Source { name, vertex, geometry: None, fragment }.compile(context)
        };
        let (light, depth) = attachments(context, 1, 1)?;
        Ok(Self {
            context: context.clone(),
            tone_map: program("tonemap", include_str!("../../shaders/tonemap.frag"))?,
            compose: program("compose", include_str!("../../shaders/compose.frag"))?,
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

    /// Paints the picture of what the target holds into `area` of the surface, which has the target's size: `over` what is
    /// there, or on the background.
    pub fn paint(&self, surface: &mut impl Surface, area: Rect, shape: Shape, over: bool) -> Result<()> {
        let uniforms = uniform! {
            light: self.light.sampled()
                .minify_filter(MinifySamplerFilter::Nearest).magnify_filter(MagnifySamplerFilter::Nearest),
            origin: [area.left as f32, area.bottom as f32],
            background: BACKGROUND,
            over: over,
        };
        let program = match shape {
            Shape::Glow | Shape::Tracers { .. } => &self.tone_map,
            Shape::Spheres { .. } => &self.compose,
        };
        let blend = if over { OVER } else { Blend::default() };
        let parameters = DrawParameters { viewport: Some(area), blend, ..Default::default() };
        let triangle = EmptyVertexAttributes { len: 3 };
        surface
            .draw(triangle, NoIndices(PrimitiveType::TrianglesList), program, &uniforms, &parameters)
            .map_err(graphics("paint the picture"))
    }
}

/// A share of the pixel stands in alpha; the surface stays opaque.
const OVER: Blend = Blend {
    color: BlendingFunction::Addition {
        source: LinearBlendingFactor::SourceAlpha,
        destination: LinearBlendingFactor::OneMinusSourceAlpha,
    },
    alpha: BlendingFunction::Addition {
        source: LinearBlendingFactor::Zero,
        destination: LinearBlendingFactor::One,
    },
    constant_value: (0.0, 0.0, 0.0, 0.0),
};

fn attachments(context: &Rc<Context>, width: u32, height: u32) -> Result<(Texture2d, DepthRenderBuffer)> {
    let format = UncompressedFloatFormat::F16F16F16F16;
    let light = Texture2d::empty_with_format(context, format, MipmapsOption::NoMipmap, width, height)
        .map_err(graphics("make a half-float texture"))?;
    let depth = DepthRenderBuffer::new(context, DepthFormat::F32, width, height)
        .map_err(graphics("make a depth buffer"))?;
    Ok((light, depth))
}
