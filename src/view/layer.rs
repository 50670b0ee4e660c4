//! An overlay, such as the panel: painted only when it changes, but drawn over every picture.

use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::SimpleFrameBuffer;
use glium::texture::{Texture2d, UncompressedFloatFormat};
use glium::{Program, Rect, Surface, uniform};

use super::fill;
use super::opengl::{PREMULTIPLIED, source};
use crate::base::Result;

/// A transparent picture, such as the panel, that is drawn over a surface of the same size.
pub struct Layer {
    context: Rc<Context>,
    program: Program,
    texture: Texture2d,
}

impl Layer {
    pub(crate) fn new(context: &Rc<Context>) -> Result<Self> {
        let program = source!("copy").compile(context)?;
        Ok(Self { context: context.clone(), program, texture: Self::texture(context, (1, 1))? })
    }

    fn texture(context: &Rc<Context>, size: (u32, u32)) -> Result<Texture2d> {
        fill::texture(context, UncompressedFloatFormat::U8U8U8U8, size)
    }

    /// Resizes the layer to `size` in pixels, and returns whether the size changed. A change of the size clears the
    /// layer.
    pub(crate) fn fit(&mut self, size: (u32, u32)) -> Result<bool> {
        let fits = self.texture.dimensions() == size;
        if !fits {
            self.texture = Self::texture(&self.context, size)?;
        }
        Ok(!fits)
    }

    /// Returns a surface for painting on the layer, in colours with premultiplied alpha.
    pub(crate) fn surface(&self) -> Result<SimpleFrameBuffer<'_>> {
        fill::surface(&self.context, &self.texture)
    }

    /// Draws the layer over a surface of the same size, but only within `areas`. The areas must not overlap.
    pub(crate) fn composite(
        &self,
        surface: &mut impl Surface,
        areas: impl Iterator<Item = Rect>,
    ) -> Result<()> {
        let (width, height) = self.texture.dimensions();
        let share = |x: u32, y: u32| [x as f32 / width as f32, y as f32 / height as f32];
        areas.into_iter().try_for_each(|area| {
            let (corner, extent) = (share(area.left, area.bottom), share(area.width, area.height));
            let uniforms = uniform! { image: fill::pixels(&self.texture), corner: corner, extent: extent };
            fill::fill(surface, Some(area), &self.program, &uniforms, Some(PREMULTIPLIED))
        })
    }
}
