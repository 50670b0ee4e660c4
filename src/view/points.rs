//! Draws bodies as glows: soft sprites whose light adds up.

use std::rc::Rc;

use glium::backend::Context;
use glium::{Program, Surface, uniform};

use super::camera::Camera;
use super::cloud::Cloud;
use super::fill::pixels;
use super::light::Over;
use super::opengl::{draw_sprites, scale, source};
use crate::base::{Look, Result, Sprites};

/// Number of bodies beyond which the brightness of the picture no longer grows.
const MILLION: f32 = 1_048_576.0;
/// Number of bodies above which bodies of equal mass are drawn with varied brightness and size, like stars.
const VARIED: usize = 1 << 12;

pub(super) struct Glow {
    /// Programs that draw the glows: into the texture that collects light, and directly over a finished picture.
    programs: [Program; 2],
    typical_mass: f32,
    /// Number of bodies, including those that are not drawn as sprites.
    count: usize,
}

impl Glow {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let direct = source!("points").compile_with(context, "#define DIRECT\n")?;
        Ok(Self { programs: [source!("points").compile(context)?, direct], typical_mass: 0.0, count: 0 })
    }

    /// Determines the typical mass of the `count` bodies from `positions`, which may hold only some of them. A body of
    /// this mass is drawn as a sprite of the nominal size.
    pub(super) fn weigh(&mut self, positions: &[[f32; 4]], count: usize) {
        self.typical_mass = percentile(positions, |position| position[3]);
        self.count = count;
    }

    /// Returns the number of bodies, including those that are not drawn as sprites.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Returns the size and light of the sprites in a picture of this `height` in pixels.
    pub(super) fn sprites(&self, height: u32, (camera, look): (&Camera, &Look)) -> Sprites {
        let scale = scale(height);
        // The more bodies there are, the smaller and fainter their sprites.
        let count = self.count.max(2) as f32;
        Sprites {
            mass_scale: if self.typical_mass > 0.0 { self.typical_mass.recip() } else { 0.0 },
            size: (120.0 * count.powf(-0.35) + 0.8) * scale * camera.closeness() * look.point_size,
            size_limits: [1.5 * scale.max(1.0), 160.0 * scale],
            distance: camera.distance,
            // A `light` of 1 is about half of full brightness. Beyond a million bodies, more bodies do not make a
            // brighter picture.
            light: 5.0 * count.powf(-0.11) * (MILLION / count).min(1.0).powf(0.7),
            depth_cue: 4.0 * look.depth_cue,
        }
    }

    /// Draws the glowing bodies by adding their light to `surface`, or over the picture that `over` describes.
    pub(super) fn draw(
        &self,
        surface: &mut impl Surface,
        cloud: &Cloud,
        (camera, look): (&Camera, &Look),
        over: Option<&Over>,
    ) -> Result<()> {
        let Some((bodies, values)) = &cloud.buffers else { return Ok(()) };
        let (width, height) =
            over.map_or(surface.get_dimensions(), |over| (over.area.width, over.area.height));
        let Sprites { mass_scale, size, size_limits, distance, light, depth_cue } =
            self.sprites(height, (camera, look));
        let uniforms = uniform! {
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            value_range: cloud.value_range,
            palette: cloud.palette(),
            mass_scale: mass_scale,
            size: size,
            size_limits: size_limits,
            size_unit: scale(height),
            distance: distance,
            light: light,
            depth_cue: depth_cue,
            varied: self.count > VARIED,
            stride: cloud.stride,
            measured: over.map_or_else(|| cloud.palette(), |over| pixels(over.measured)),
            automatic: over.is_some_and(|over| over.is_automatic),
            stops: look.exposure,
        };
        let (program, parameters) = Over::choose(over, &self.programs);
        draw_sprites(surface, "the bodies", (bodies, values), program, &uniforms, &parameters)
    }
}

/// Returns the 90th percentile of a quantity in a sample of the bodies. Ignores values that are not positive, and
/// returns 0 if none is.
pub(super) fn percentile(positions: &[[f32; 4]], quantity: impl Fn([f32; 4]) -> f32) -> f32 {
    let stride = positions.len().div_ceil(4096).max(1);
    let sample = positions.iter().step_by(stride).map(|position| quantity(*position));
    let mut sample: Vec<f32> = sample.filter(|value| value.is_normal() && *value > 0.0).collect();
    let rank = sample.len() * 9 / 10;
    if sample.is_empty() { 0.0 } else { *sample.select_nth_unstable_by(rank, f32::total_cmp).1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_typical_mass_ignores_outliers_of_many_bodies_and_is_the_maximum_of_few() {
        let of = |masses: &[f32]| {
            let bodies: Vec<_> = masses.iter().map(|m| [0.0, 0.0, 0.0, *m]).collect();
            percentile(&bodies, |body| body[3])
        };
        assert_eq!(of(&[]), 0.0);
        assert_eq!(of(&[0.0, 0.0]), 0.0);
        assert_eq!(of(&[0.0, 0.0, 0.0, f32::NAN, 2.0]), 2.0);
        assert_eq!(of(&[1.0, 1e-3, 1e-5]), 1.0);
        let crowd: Vec<f32> = (0..1000).map(|i| if i == 0 { 1e3 } else { 1e-3 }).collect();
        assert_eq!(of(&crowd), 1e-3);
    }
}
