//! Ambient occlusion: places between crowded balls are darker, because little ambient light arrives there.

use std::rc::Rc;

use glium::backend::Context;
use glium::texture::DepthTexture2d;
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter};
use glium::{Program, Surface, uniform};

use super::camera::Camera;
use super::fill::fill;
use super::opengl::{MULTIPLY, source};
use crate::base::Result;

/// Distance within which balls shade each other, in units of a typical radius.
const REACH: f32 = 3.0;

pub(super) struct Occlusion {
    program: Program,
}

impl Occlusion {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        Ok(Self { program: source!("occlusion", "fill").compile(context)? })
    }

    /// Darkens the gaps between the balls in the picture `surface`, which `camera` took. `depths` holds the reciprocal depth
    /// of each pixel, and `radius` is the radius of a typical ball. The soft outlines of balls have no depth of their own, and
    /// are shaded like what is behind them.
    pub(super) fn darken(
        &self,
        surface: &mut impl Surface,
        depths: &DepthTexture2d,
        (camera, radius): (&Camera, f32),
    ) -> Result<()> {
        let (width, height) = surface.get_dimensions();
        let lens = camera.lens(width as f32 / height as f32);
        let sampler = depths.sampled();
        let uniforms = uniform! {
            depths: sampler.minify_filter(MinifySamplerFilter::Nearest).magnify_filter(MagnifySamplerFilter::Nearest),
            near: camera.near(),
            pixel: 2.0 * lens[1] / height as f32,
            reach: REACH * radius,
        };
        fill(surface, None, &self.program, &uniforms, Some(MULTIPLY))
    }
}
