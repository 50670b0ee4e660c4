//! The half-float target where light adds up, and the tone map that makes a picture of it.

use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::SimpleFrameBuffer;
use glium::index::{NoIndices, PrimitiveType};
use glium::program::ProgramCreationInput;
use glium::texture::{MipmapsOption, Texture2d, UncompressedFloatFormat};
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter};
use glium::vertex::EmptyVertexAttributes;
use glium::{DrawParameters, Program, Rect, Surface, uniform};

use super::{BACKGROUND, graphics};
use crate::error::Result;

/// Collects light: colours weighted by it in RGB, its sum in alpha.
pub struct LightTarget {
    context: Rc<Context>,
    tone_map: Program,
    texture: Texture2d,
}

impl LightTarget {
    /// One of a single pixel.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let input = ProgramCreationInput::SourceCode {
            vertex_shader: include_str!("../../shaders/tonemap.vert"),
            fragment_shader: include_str!("../../shaders/tonemap.frag"),
            tessellation_control_shader: None,
            tessellation_evaluation_shader: None,
            geometry_shader: None,
            transform_feedback_varyings: None,
            // glium then leaves GL_FRAMEBUFFER_SRGB off, so that a window and a file get the same bytes.
            outputs_srgb: true,
            uses_point_size: false,
        };
        let tone_map = Program::new(context, input).map_err(graphics("compile shaders/tonemap"))?;
        Ok(Self { context: context.clone(), tone_map, texture: texture(context, 1, 1)? })
    }

    /// Makes it `width` × `height` pixels, if it is not.
    pub fn resize(&mut self, width: u32, height: u32) -> Result<()> {
        if self.texture.dimensions() != (width, height) {
            self.texture = texture(&self.context, width, height)?;
        }
        Ok(())
    }

    /// The target without any light, to draw into.
    pub fn light(&self) -> Result<SimpleFrameBuffer<'_>> {
        let mut light = SimpleFrameBuffer::new(&self.context, &self.texture)
            .map_err(graphics("draw into a half-float texture"))?;
        light.clear_color(0.0, 0.0, 0.0, 0.0);
        Ok(light)
    }

    /// Paints the picture into `area` of the surface, which has the target's size.
    pub fn tone_map(&self, surface: &mut impl Surface, area: Rect) -> Result<()> {
        let uniforms = uniform! {
            light: self.texture.sampled()
                .minify_filter(MinifySamplerFilter::Nearest).magnify_filter(MagnifySamplerFilter::Nearest),
            origin: [area.left as f32, area.bottom as f32],
            background: BACKGROUND,
        };
        let parameters = DrawParameters { viewport: Some(area), ..Default::default() };
        let triangle = EmptyVertexAttributes { len: 3 };
        surface
            .draw(triangle, NoIndices(PrimitiveType::TrianglesList), &self.tone_map, &uniforms, &parameters)
            .map_err(graphics("paint the picture"))
    }
}

fn texture(context: &Rc<Context>, width: u32, height: u32) -> Result<Texture2d> {
    let format = UncompressedFloatFormat::F16F16F16F16;
    Texture2d::empty_with_format(context, format, MipmapsOption::NoMipmap, width, height)
        .map_err(graphics("make a half-float texture"))
}
