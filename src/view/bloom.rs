//! Bloom: a glow around bright areas, made by scaling the picture down repeatedly and adding the blurred copies back.

use std::rc::Rc;

use glium::backend::Context;
use glium::texture::{Texture2d, UncompressedFloatFormat};
use glium::{Program, uniform};

use super::fill::{fill, smooth, surface, texture};
use super::opengl::{fade, source};
use crate::base::{Result, Shape};

/// Number of downscaled pictures that make up the bloom on a GPU. Each has half the width and height of the previous
/// one.
const LEVELS: usize = 6;
/// Fraction of the light in each downscaled picture that comes from the next smaller picture.
const SPREAD: f32 = 0.66;

pub(super) struct Bloom {
    context: Rc<Context>,
    down: Program,
    up: Program,
    /// Whether the picture is drawn on a CPU. If so, the bloom skips the largest downscaled picture, which takes the
    /// most time.
    is_software: bool,
    /// Downscaled pictures, largest first; empty until a bloom is computed.
    levels: Vec<Texture2d>,
}

impl Bloom {
    pub(super) fn new(context: &Rc<Context>, is_software: bool) -> Result<Self> {
        Ok(Self {
            context: context.clone(),
            down: source!("bloom_down", "fill").compile(context)?,
            up: source!("bloom_up", "fill").compile(context)?,
            is_software,
            levels: Vec::new(),
        })
    }

    /// Computes the bloom around the bright parts of `light`, a picture of bodies that are drawn as `shape`.
    pub(super) fn make(&mut self, light: &Texture2d, shape: Shape) -> Result<()> {
        let skipped = usize::from(self.is_software);
        let mut sizes = std::iter::successors(Some(half(light.dimensions())), |size| Some(half(*size)));
        // The filter of the downscaling shader takes five averages of 2 × 2 pixels, which cover 4 × 4 pixels.
        let size = sizes.nth(skipped).unwrap_or((1, 1));
        if self.levels.first().is_none_or(|level| level.dimensions() != size) {
            let sizes = std::iter::once(size).chain(sizes);
            let level = |size| texture(&self.context, UncompressedFloatFormat::F16F16F16F16, size);
            self.levels = sizes.take(LEVELS - skipped).map(level).collect::<Result<_>>()?;
        }
        let bright = if matches!(shape, Shape::Spheres { .. }) { 2i32 } else { 1 };
        let mut whole = light;
        for (nth, level) in self.levels.iter().enumerate() {
            let (width, height) = level.dimensions();
            let uniforms = uniform! {
                whole: smooth(whole),
                pixel: pixel(whole),
                half_size: [width as f32, height as f32],
                pick: if nth == 0 { bright } else { 0 },
            };
            fill(&mut surface(&self.context, level)?, None, &self.down, &uniforms, None)?;
            whole = level;
        }
        for pair in self.levels.windows(2).rev() {
            let [large, small] = pair else { continue };
            let (width, height) = large.dimensions();
            let uniforms = uniform! {
                small: smooth(small),
                pixel: pixel(small),
                size: [width as f32, height as f32],
                share: SPREAD,
            };
            fill(&mut surface(&self.context, large)?, None, &self.up, &uniforms, Some(fade(1.0 - SPREAD)))?;
        }
        Ok(())
    }

    /// Returns the latest bloom, or `None` if no bloom has been computed yet.
    pub(super) fn picture(&self) -> Option<&Texture2d> {
        self.levels.first()
    }
}

fn half((width, height): (u32, u32)) -> (u32, u32) {
    (width.div_ceil(2), height.div_ceil(2))
}

fn pixel(texture: &Texture2d) -> [f32; 2] {
    let (width, height) = texture.dimensions();
    [1.0 / width as f32, 1.0 / height as f32]
}
