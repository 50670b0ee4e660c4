//! Programs that go over every pixel of a surface, or of a part of it.

use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::SimpleFrameBuffer;
use glium::index::{NoIndices, PrimitiveType};
use glium::texture::{MipmapsOption, Texture2d, UncompressedFloatFormat};
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter, Sampler, SamplerWrapFunction, Uniforms};
use glium::vertex::EmptyVertexAttributes;
use glium::{Blend, BlendingFunction, DrawParameters, LinearBlendingFactor, Program, Rect, Surface};

use super::graphics;
use super::shader::Source;
use crate::error::Result;

/// A share of the pixel stands in alpha; the surface stays opaque.
pub const OVER: Blend = Blend {
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

/// Light adds up.
pub const ADD: Blend = {
    let add = BlendingFunction::Addition {
        source: LinearBlendingFactor::One,
        destination: LinearBlendingFactor::One,
    };
    Blend { color: add, alpha: add, constant_value: (0.0, 0.0, 0.0, 0.0) }
};

/// Compiles `shaders/NAME.frag` behind `shaders/fill.vert`.
pub fn program(context: &Rc<Context>, name: &'static str, fragment: &'static str) -> Result<Program> {
    let vertex = include_str!("../../shaders/fill.vert");
    Source { name, vertex, geometry: None, fragment }.compile(context)
}

/// Runs a program over `area` of the surface, or all of it.
pub fn fill(
    surface: &mut impl Surface,
    area: Option<Rect>,
    program: &Program,
    uniforms: &impl Uniforms,
    blend: Option<Blend>,
) -> Result<()> {
    let blend = blend.unwrap_or_default();
    let parameters = DrawParameters { viewport: area, blend, ..Default::default() };
    let triangle = EmptyVertexAttributes { len: 3 };
    surface
        .draw(triangle, NoIndices(PrimitiveType::TrianglesList), program, uniforms, &parameters)
        .map_err(graphics("paint the picture"))
}

/// A texture to draw into.
pub fn texture(
    context: &Rc<Context>,
    format: UncompressedFloatFormat,
    (width, height): (u32, u32),
) -> Result<Texture2d> {
    Texture2d::empty_with_format(context, format, MipmapsOption::NoMipmap, width, height)
        .map_err(graphics("make a texture of light"))
}

/// To draw into a texture.
pub fn surface<'a>(context: &Rc<Context>, texture: &'a Texture2d) -> Result<SimpleFrameBuffer<'a>> {
    SimpleFrameBuffer::new(context, texture).map_err(graphics("draw into a texture of light"))
}

/// Read pixel by pixel.
pub fn pixels(texture: &Texture2d) -> Sampler<'_, Texture2d> {
    texture
        .sampled()
        .minify_filter(MinifySamplerFilter::Nearest)
        .magnify_filter(MagnifySamplerFilter::Nearest)
}

/// Read between the pixels.
pub fn smooth(texture: &Texture2d) -> Sampler<'_, Texture2d> {
    texture
        .sampled()
        .minify_filter(MinifySamplerFilter::Linear)
        .magnify_filter(MagnifySamplerFilter::Linear)
        .wrap_function(SamplerWrapFunction::Clamp)
}
