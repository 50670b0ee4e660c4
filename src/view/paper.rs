//! Turns a picture on a dark background into one on a light background, for bright rooms and for print.

use std::mem;
use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::SimpleFrameBuffer;
use glium::texture::{Texture2d, UncompressedFloatFormat};
use glium::{Program, Rect, Surface, uniform};

use super::fill;
use super::opengl::source;
use crate::base::Result;

pub(super) struct Paper {
    context: Rc<Context>,
    program: Program,
    /// Texture of the last dark picture, which the next picture of the same size reuses.
    spare: Option<Texture2d>,
}

/// Texture into which the picture is drawn on a dark background, before its light and dark are exchanged.
pub(super) struct Sheet {
    context: Rc<Context>,
    texture: Texture2d,
}

impl Sheet {
    pub(super) fn surface(&self) -> Result<SimpleFrameBuffer<'_>> {
        fill::surface(&self.context, &self.texture)
    }
}

impl Paper {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let program = source!("paper", "fill").compile(context)?;
        Ok(Self { context: context.clone(), program, spare: None })
    }

    /// Returns a texture of this size, in pixels, for drawing the picture on a dark background.
    pub(super) fn sheet(&mut self, size: (u32, u32)) -> Result<Sheet> {
        let texture = match mem::take(&mut self.spare).filter(|texture| texture.dimensions() == size) {
            Some(texture) => texture,
            None => fill::texture(&self.context, UncompressedFloatFormat::U8U8U8U8, size)?,
        };
        Ok(Sheet { context: self.context.clone(), texture })
    }

    /// Draws the picture on `sheet` into `area` of a surface of the same size, but not into `hidden`, with light and
    /// dark exchanged.
    pub(super) fn print(
        &mut self,
        surface: &mut impl Surface,
        (area, hidden): (Rect, Option<Rect>),
        Sheet { texture, .. }: Sheet,
    ) -> Result<()> {
        let uniforms = uniform! { dark: fill::pixels(&texture) };
        let parts = fill::without(area, hidden);
        parts
            .into_iter()
            .try_for_each(|part| fill::fill(surface, Some(part), &self.program, &uniforms, None))?;
        self.spare = Some(texture);
        Ok(())
    }
}
