//! What stands over the picture and seldom changes: it is kept, and laid over each picture anew.

use std::rc::Rc;

use glium::backend::Context;
use glium::framebuffer::SimpleFrameBuffer;
use glium::texture::{Texture2d, UncompressedFloatFormat};
use glium::{Blend, BlendingFunction, LinearBlendingFactor, Program, Rect, Surface, uniform};

use super::fill;
use crate::error::Result;

/// Colours are multiplied by alpha already.
const LAID_OVER: Blend = {
    let over = BlendingFunction::Addition {
        source: LinearBlendingFactor::One,
        destination: LinearBlendingFactor::OneMinusSourceAlpha,
    };
    Blend { color: over, alpha: over, constant_value: (0.0, 0.0, 0.0, 0.0) }
};

/// A picture with holes, as large as what it is laid over.
pub struct Layer {
    context: Rc<Context>,
    program: Program,
    texture: Texture2d,
}

impl Layer {
    /// Compiles the shader; of one pixel.
    ///
    /// # Errors
    /// If the driver does not take it.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let program = fill::program(context, "layer", include_str!("../../shaders/layer.frag"))?;
        Ok(Self { context: context.clone(), program, texture: Self::texture(context, (1, 1))? })
    }

    fn texture(context: &Rc<Context>, size: (u32, u32)) -> Result<Texture2d> {
        fill::texture(context, UncompressedFloatFormat::U8U8U8U8, size)
    }

    /// Makes it of `size` pixels; whether it was of another size, and holds nothing yet.
    ///
    /// # Errors
    /// If there is no memory.
    pub fn fit(&mut self, size: (u32, u32)) -> Result<bool> {
        let fits = self.texture.dimensions() == size;
        if !fits {
            self.texture = Self::texture(&self.context, size)?;
        }
        Ok(!fits)
    }

    /// To paint in it, with colours that are multiplied by alpha.
    ///
    /// # Errors
    /// If the driver cannot draw there.
    pub fn surface(&self) -> Result<SimpleFrameBuffer<'_>> {
        fill::surface(&self.context, &self.texture)
    }

    /// Lays what is in `areas`, which do not overlap, over the same places of a surface.
    ///
    /// # Errors
    /// If the driver fails.
    pub fn lay(&self, surface: &mut impl Surface, areas: impl Iterator<Item = Rect>) -> Result<()> {
        let uniforms = uniform! { layer: fill::pixels(&self.texture) };
        areas
            .into_iter()
            .try_for_each(|area| fill::fill(surface, Some(area), &self.program, &uniforms, Some(LAID_OVER)))
    }
}
