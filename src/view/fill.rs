//! Runs shader programs for every pixel of a surface or of a rectangle, and creates textures to draw into.

use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::SimpleFrameBuffer;
use glium::index::{NoIndices, PrimitiveType};
use glium::texture::{MipmapsOption, Texture2d, UncompressedFloatFormat};
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter, Sampler, SamplerWrapFunction, Uniforms};
use glium::vertex::EmptyVertexAttributes;
use glium::{Blend, DrawParameters, Program, Rect, Surface};

use super::opengl::graphics;
use crate::base::Result;

/// Runs a shader program for every pixel of `area`, or of the whole surface if `area` is `None`.
pub(super) fn fill(
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

/// Returns rectangles that cover the part of `area` outside `hidden`.
pub(super) fn without(area: Rect, hidden: Option<Rect>) -> Vec<Rect> {
    let ends = |rect: Rect| (rect.left + rect.width, rect.bottom + rect.height);
    let (right, top) = ends(area);
    let Some(hidden) = hidden else { return vec![area] };
    let (hidden_right, hidden_top) = ends(hidden);
    let (x0, x1) = (hidden.left.clamp(area.left, right), hidden_right.clamp(area.left, right));
    let (y0, y1) = (hidden.bottom.clamp(area.bottom, top), hidden_top.clamp(area.bottom, top));
    let part =
        |left, bottom, right: u32, top: u32| Rect { left, bottom, width: right - left, height: top - bottom };
    let parts = [
        part(area.left, area.bottom, right, y0),
        part(area.left, y0, x0, y1),
        part(x1, y0, right, y1),
        part(area.left, y1, right, top),
    ];
    parts.into_iter().filter(|part| part.width > 0 && part.height > 0).collect()
}

/// Creates a texture to draw into, without mipmaps.
pub(super) fn texture(
    context: &Rc<Context>,
    format: UncompressedFloatFormat,
    (width, height): (u32, u32),
) -> Result<Texture2d> {
    Texture2d::empty_with_format(context, format, MipmapsOption::NoMipmap, width, height)
        .map_err(graphics("create a texture"))
}

/// Returns a surface for drawing into `texture`.
pub(super) fn surface<'a>(context: &Rc<Context>, texture: &'a Texture2d) -> Result<SimpleFrameBuffer<'a>> {
    SimpleFrameBuffer::new(context, texture).map_err(graphics("draw into a texture"))
}

/// Returns a sampler that reads a texture without interpolation.
pub(super) fn pixels(texture: &Texture2d) -> Sampler<'_, Texture2d> {
    texture
        .sampled()
        .minify_filter(MinifySamplerFilter::Nearest)
        .magnify_filter(MagnifySamplerFilter::Nearest)
}

/// Returns a sampler that reads a texture with linear interpolation.
pub(super) fn smooth(texture: &Texture2d) -> Sampler<'_, Texture2d> {
    texture
        .sampled()
        .minify_filter(MinifySamplerFilter::Linear)
        .magnify_filter(MagnifySamplerFilter::Linear)
        .wrap_function(SamplerWrapFunction::Clamp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn visible_pixels_are_painted_once_and_hidden_ones_never() {
        let rect = |left, bottom, width, height| Rect { left, bottom, width, height };
        let area = rect(3, 2, 20, 10);
        let holds = |rect: &Rect, x: u32, y: u32| {
            (rect.left..rect.left + rect.width).contains(&x)
                && (rect.bottom..rect.bottom + rect.height).contains(&y)
        };
        assert_eq!(without(area, None), [area]);
        let all = [
            rect(8, 4, 5, 3),
            rect(0, 0, 8, 5),
            rect(20, 9, 50, 50),
            rect(0, 0, 90, 90),
            rect(40, 40, 5, 5),
            rect(0, 0, 1, 1),
            rect(8, 4, 0, 0),
        ];
        for hidden in all {
            let parts = without(area, Some(hidden));
            for (x, y) in (0..30).flat_map(|x| (0..20).map(move |y| (x, y))) {
                let painted = parts.iter().filter(|part| holds(part, x, y)).count();
                let wanted = holds(&area, x, y) && !holds(&hidden, x, y);
                assert_eq!(painted, usize::from(wanted), "{hidden:?} at {x}, {y}: {parts:?}");
            }
        }
    }
}
