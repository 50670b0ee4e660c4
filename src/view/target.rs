//! The half-float texture into which bodies are drawn, and the passes that turn its light into a picture.

use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::SimpleFrameBuffer;
use glium::texture::{DepthFormat, DepthTexture2d, MipmapsOption, Texture2d, UncompressedFloatFormat};
use glium::{Program, Rect, Surface, uniform};

use super::fill::{self, pixels, smooth, texture};
use super::opengl::{BACKGROUND, OVER, Source, graphics, source};
use crate::base::{Result, Shape};

/// Texture that collects light, and the programs that turn the light into a picture. For glows, RGB holds the colours
/// weighted by light, and alpha holds the sum of the light. For balls, RGB holds the light, and alpha holds the
/// coverage.
pub(super) struct Target {
    context: Rc<Context>,
    /// Programs that tone-map the light of glows, without and with bloom.
    tone_map: [Program; 2],
    compose: [Program; 2],
    /// Program that enlarges the small picture.
    copy: Program,
    light: Texture2d,
    depth: DepthTexture2d,
    /// Tone-mapped picture of the size of the light texture, to be enlarged; `None` if the picture is not enlarged.
    small: Option<Texture2d>,
}

impl Target {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let programs = |source: Source| -> Result<_> {
            Ok([source.compile(context)?, source.compile_with(context, "#define BLOOM\n")?])
        };
        let (light, depth) = attachments(context, 1, 1)?;
        Ok(Self {
            context: context.clone(),
            tone_map: programs(source!("tonemap"))?,
            compose: programs(source!("compose", "tonemap"))?,
            copy: source!("copy").compile(context)?,
            light,
            depth,
            small: None,
        })
    }

    /// Resizes the textures to `size` in pixels, unless they already have that size. `picture` is the size of the
    /// finished picture. If it differs from `size`, the light is converted to a small picture, which is then enlarged.
    pub(super) fn resize(&mut self, [width, height]: [u32; 2], picture: [u32; 2]) -> Result<()> {
        if self.light.dimensions() != (width, height) {
            (self.light, self.depth) = attachments(&self.context, width, height)?;
            self.small = None;
        }
        if [width, height] == picture {
            self.small = None;
        } else if self.small.is_none() {
            self.small = Some(texture(&self.context, UncompressedFloatFormat::U8U8U8U8, (width, height))?);
        }
        Ok(())
    }

    /// Returns the light texture as a surface for drawing glows.
    pub(super) fn light(&self) -> Result<SimpleFrameBuffer<'_>> {
        fill::surface(&self.context, &self.light)
    }

    /// Clears the buffer of reciprocal depths, and returns the light texture with that buffer as a surface for drawing
    /// balls.
    pub(super) fn space(&self) -> Result<SimpleFrameBuffer<'_>> {
        let mut space = SimpleFrameBuffer::with_depth_buffer(&self.context, &self.light, &self.depth)
            .map_err(graphics("draw into a half-float texture with depth"))?;
        space.clear_depth(0.0);
        Ok(space)
    }

    /// Returns the reciprocal depth of each pixel of the balls; 0 where there is no ball.
    pub(super) fn depths(&self) -> &DepthTexture2d {
        &self.depth
    }

    /// Returns the texture that holds the collected light.
    pub(super) fn texture(&self) -> &Texture2d {
        &self.light
    }

    /// Tone-maps the collected light into `area` of `surface`. May skip the part in `hidden`. `area` must have the size
    /// of the picture. If `over` is set, blends with the existing pixels; otherwise paints on the background colour.
    pub(super) fn paint(
        &self,
        surface: &mut impl Surface,
        (area, hidden): (Rect, Option<Rect>),
        shape: Shape,
        by: &ToneMapping,
    ) -> Result<()> {
        let (width, height) = self.light.dimensions();
        let drawn = match &self.small {
            Some(_) => Rect { left: 0, bottom: 0, width, height },
            None => area,
        };
        let uniforms = uniform! {
            light: pixels(&self.light),
            bloom: smooth(by.bloom.map_or(&self.light, |(bloom, _)| bloom)),
            bloom_share: by.bloom.map_or(0.0, |(_, share)| share),
            measured: pixels(by.measured.unwrap_or(&self.light)),
            automatic: by.measured.is_some(),
            stops: by.stops,
            size: [drawn.width as f32, drawn.height as f32],
            origin: [drawn.left as f32, drawn.bottom as f32],
            background: BACKGROUND,
            over: by.over,
        };
        let programs = match shape {
            Shape::Glow | Shape::Tracers { .. } => &self.tone_map,
            Shape::Spheres { .. } => &self.compose,
        };
        let program = &programs[usize::from(by.bloom.is_some())];
        let blend = by.over.then_some(OVER);
        let Some(small) = &self.small else {
            let mut parts = fill::without(area, hidden).into_iter();
            return parts.try_for_each(|part| fill::fill(surface, Some(part), program, &uniforms, blend));
        };
        fill::fill(&mut fill::surface(&self.context, small)?, None, program, &uniforms, None)?;
        let whole = uniform! { image: smooth(small), corner: [0.0_f32; 2], extent: [1.0_f32; 2] };
        fill::fill(surface, Some(area), &self.copy, &whole, None)
    }
}

/// Settings and inputs of tone mapping, which turns the collected light into displayable colours.
pub(super) struct ToneMapping<'a> {
    /// Exposure in stops. Each stop doubles the light.
    pub stops: f32,
    /// Measured brightness for automatic exposure (see `shaders/tonemap.vert`); `None` if the exposure is fixed.
    pub measured: Option<&'a Texture2d>,
    /// Bloom texture, which holds the glow around bright areas, and its weight; `None` for a picture without bloom.
    pub bloom: Option<(&'a Texture2d, f32)>,
    /// Whether to blend the picture with the pixels already on the surface instead of with the background colour.
    pub over: bool,
}

fn attachments(context: &Rc<Context>, width: u32, height: u32) -> Result<(Texture2d, DepthTexture2d)> {
    let light = texture(context, UncompressedFloatFormat::F16F16F16F16, (width, height))?;
    let depth =
        DepthTexture2d::empty_with_format(context, DepthFormat::F32, MipmapsOption::NoMipmap, width, height)
            .map_err(graphics("create a depth buffer"))?;
    Ok((light, depth))
}
