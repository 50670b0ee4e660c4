//! Bodies as light: sprites without an edge that add up.

use std::rc::Rc;

use glium::backend::Context;
use glium::index::{NoIndices, PrimitiveType};
use glium::{DrawParameters, Program, Surface, uniform};

use super::cloud::Cloud;
use super::fill::ADD;
use super::shader::Source;
use super::{Camera, graphics, scale};
use crate::error::Result;
use crate::look::Look;

/// Draws bodies as glows.
pub struct Glow {
    program: Program,
    typical_mass: f32,
}

impl Glow {
    /// Compiles the shaders.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let source = Source {
            name: "points",
            vertex: include_str!("../../shaders/points.vert"),
            geometry: None,
            fragment: include_str!("../../shaders/points.frag"),
        };
        Ok(Self { program: source.compile(context)?, typical_mass: 0.0 })
    }

    /// Finds what a typical one of the masses is, so that its sprite has a typical size.
    pub fn weigh(&mut self, positions: &[[f32; 4]]) {
        self.typical_mass = typical_mass(positions);
    }

    /// Adds the bodies' light to `surface`.
    /// With `hides`, those without any mass are left out.
    pub fn draw(
        &self,
        surface: &mut impl Surface,
        cloud: &Cloud,
        (camera, look): (&Camera, &Look),
        hides: bool,
    ) -> Result<()> {
        let Some((bodies, values)) = &cloud.buffers else { return Ok(()) };
        let (width, height) = surface.get_dimensions();
        let scale = scale(height);
        let style = Style::of(bodies.len(), scale);
        let uniforms = uniform! {
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            value_range: cloud.value_range,
            palette: cloud.palette(),
            mass_scale: if self.typical_mass > 0.0 { self.typical_mass.recip() } else { 0.0 },
            size: style.size * camera.closeness() * look.point_size,
            size_limits: style.size_limits,
            size_unit: scale,
            distance: camera.distance,
            light: style.light,
            depth_cue: 4.0 * look.depth_cue,
            hides: hides,
        };
        let parameters = DrawParameters { blend: ADD, ..Default::default() };
        surface
            .draw((bodies, values), NoIndices(PrimitiveType::Points), &self.program, &uniforms, &parameters)
            .map_err(graphics("draw the bodies"))
    }
}

/// How a number of bodies is shown so that few are bright and many are not a blot.
struct Style {
    /// Of a typical body's sprite, in pixels.
    size: f32,
    /// The smallest and the largest sprite, in pixels.
    size_limits: [f32; 2],
    /// At a typical sprite's middle; 1 is about half of full brightness.
    light: f32,
}

/// The light of a trail: many are fainter, so that a crowd of them is not a fog.
pub fn trail_light(bodies: usize) -> f32 {
    2.0 * (bodies.max(2) as f32).powf(-0.25)
}

impl Style {
    /// `scale` is that of [`super::scale`].
    fn of(bodies: usize, scale: f32) -> Self {
        let count = bodies.max(2) as f32;
        Self {
            size: (120.0 * count.powf(-0.35) + 0.8) * scale,
            size_limits: [1.5 * scale.max(1.0), 160.0 * scale],
            light: 5.0 * count.powf(-0.11),
        }
    }
}

/// The mass of a typical body that has any, from a sample: the 90th percentile, so that among a few bodies it
/// is the heaviest, and among many one of the crowd. 0 if none has any.
fn typical_mass(positions: &[[f32; 4]]) -> f32 {
    let stride = positions.len().div_ceil(4096).max(1);
    let mut masses: Vec<f32> =
        positions.iter().step_by(stride).map(|p| p[3]).filter(|m| m.is_normal() && *m > 0.0).collect();
    let rank = masses.len() * 9 / 10;
    if masses.is_empty() { 0.0 } else { *masses.select_nth_unstable_by(rank, f32::total_cmp).1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typical_mass_is_of_the_crowd_or_the_heaviest_of_few() {
        let of =
            |masses: &[f32]| typical_mass(&masses.iter().map(|m| [0.0, 0.0, 0.0, *m]).collect::<Vec<_>>());
        assert_eq!(of(&[]), 0.0);
        assert_eq!(of(&[0.0, 0.0]), 0.0);
        assert_eq!(of(&[0.0, 0.0, 0.0, f32::NAN, 2.0]), 2.0);
        assert_eq!(of(&[1.0, 1e-3, 1e-5]), 1.0);
        let crowd: Vec<f32> = (0..1000).map(|i| if i == 0 { 1e3 } else { 1e-3 }).collect();
        assert_eq!(of(&crowd), 1e-3);
    }
}
