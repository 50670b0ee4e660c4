//! Ambient occlusion: darkens the gaps between crowded balls, because little ambient light arrives there.

use std::rc::Rc;

use glium::backend::Context;
use glium::texture::DepthTexture2d;
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter};
use glium::{Program, Surface, uniform};

use super::camera::Camera;
use super::fill::fill;
use super::opengl::{MULTIPLY, source};
use crate::base::Result;

/// Distance within which balls darken each other, in units of the radius of a typical ball.
const REACH: f32 = 3.0;

pub(super) struct Occlusion {
    program: Program,
}

impl Occlusion {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        Ok(Self { program: source!("occlusion", "fill").compile(context)? })
    }

    /// Darkens the gaps between the balls in the picture on `surface`, which shows the view of `camera`. `depths` holds
    /// the reciprocal depth of each pixel, and `radius` is the radius of a typical ball. The soft outlines of balls
    /// have no depth of their own, and are darkened like the objects behind them.
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
