//! Measures the brightness of a picture on the graphics card, without reading the result back.

use std::rc::Rc;

use glium::backend::Context;
use glium::texture::{Texture2d, UncompressedFloatFormat};
use glium::{Program, uniform};

use super::fill::{fill, pixels, surface, texture};
use super::opengl::source;
use crate::base::Result;

/// Side length, in pixels, of the blocks that the first pass of the brightness measurement sums up.
const FIRST: u32 = 8;
/// Side length, in pixels, of the blocks that each later pass of the brightness measurement sums up.
const NEXT: u32 = 16;

/// Measures the brightness of a picture in several passes, each of which sums up larger blocks than the previous one.
pub(super) struct Meter {
    context: Rc<Context>,
    measure: Program,
    sum: Program,
    /// Sums over larger and larger blocks of pixels; the last texture is a single pixel that stands for the whole
    /// picture.
    levels: Vec<Texture2d>,
}

impl Meter {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        Ok(Self {
            context: context.clone(),
            measure: source!("measure", "fill").compile(context)?,
            sum: source!("sum", "fill").compile(context)?,
            levels: vec![level(context, (1, 1))?],
        })
    }

    /// Measures the mean logarithmic brightness of the picture `light`, whose alpha channel holds the brightness of
    /// each pixel.
    pub(super) fn measure(&mut self, light: &Texture2d) -> Result<()> {
        let by = |(width, height): (u32, u32), side: u32| (width.div_ceil(side), height.div_ceil(side));
        let size = by(light.dimensions(), FIRST);
        if self.levels[0].dimensions() != size {
            let next = |size: &(u32, u32)| (*size != (1, 1)).then(|| by(*size, NEXT));
            let sizes = std::iter::successors(Some(size), next);
            self.levels = sizes.map(|size| level(&self.context, size)).collect::<Result<_>>()?;
        }
        let first = uniform! { light: pixels(light) };
        fill(&mut surface(&self.context, &self.levels[0])?, None, &self.measure, &first, None)?;
        for pair in self.levels.windows(2) {
            let next = uniform! { parts: pixels(&pair[0]) };
            fill(&mut surface(&self.context, &pair[1])?, None, &self.sum, &next, None)?;
        }
        Ok(())
    }

    /// Returns the measurement: a 1×1 texture that holds the weighted sum of log luminance and the sum of the weights.
    pub(super) fn measured(&self) -> &Texture2d {
        &self.levels[self.levels.len() - 1]
    }
}

fn level(context: &Rc<Context>, size: (u32, u32)) -> Result<Texture2d> {
    texture(context, UncompressedFloatFormat::F32F32, size)
}
