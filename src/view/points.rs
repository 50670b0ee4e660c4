//! The bodies' light: two vertex buffers, and sprites that add up.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use glium::backend::Context;
use glium::index::{NoIndices, PrimitiveType};
use glium::program::ProgramCreationInput;
use glium::texture::Texture2d;
use glium::uniforms::{MagnifySamplerFilter, MinifySamplerFilter};
use glium::{Blend, BlendingFunction, DrawParameters, LinearBlendingFactor, Program, Surface, VertexBuffer};
use glium::{implement_vertex, uniform};

use super::{Camera, graphics, palette};
use crate::bodies::Points;
use crate::error::{Error, Result};

/// `(x, y, z, m)` as it stands in [`Points::positions`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Body {
    body: [f32; 4],
}
implement_vertex!(Body, body);

/// A speed as it stands in [`Points::values`].
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Value {
    value: f32,
}
implement_vertex!(Value, value);

/// The share of the way that an end of the colour map goes to the values at each upload: fast outwards, so
/// that no value stays beyond it, and slow inwards, so that a body keeps its colour while others come and go.
const FOLLOW: [f32; 2] = [0.2, 0.01];
/// Sprites are sized for a picture of this height in pixels and grow with it.
const REFERENCE_HEIGHT: f32 = 800.0;

/// The bodies on the OpenGL side.
pub struct PointCloud {
    context: Rc<Context>,
    program: Program,
    palette: Texture2d,
    /// Of the same length; none as long as there is nothing to draw.
    buffers: Option<(VertexBuffer<Body>, VertexBuffer<Value>)>,
    value_range: [f32; 2],
    typical_mass: f32,
}

impl PointCloud {
    /// An empty one.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let input = ProgramCreationInput::SourceCode {
            vertex_shader: include_str!("../../shaders/points.vert"),
            fragment_shader: include_str!("../../shaders/points.frag"),
            tessellation_control_shader: None,
            tessellation_evaluation_shader: None,
            geometry_shader: None,
            transform_feedback_varyings: None,
            outputs_srgb: true,
            uses_point_size: true,
        };
        Ok(Self {
            context: context.clone(),
            program: Program::new(context, input).map_err(graphics("compile shaders/points"))?,
            palette: palette::texture(context)?,
            buffers: None,
            value_range: [0.0, 1.0],
            typical_mass: 0.0,
        })
    }

    /// Replaces the bodies. The buffers' old contents are given up first, so that OpenGL may go on reading
    /// them.
    pub fn upload(&mut self, points: &Points, value_range: [f32; 2]) -> Result<()> {
        let count = points.positions.len();
        if points.values.len() != count {
            return Err(Error::Graphics(format!("{count} bodies came with {} values", points.values.len())));
        }
        let same = self.buffers.as_ref().is_some_and(|(bodies, _)| bodies.len() == count);
        if !same {
            self.buffers = self.allocate(count)?;
        }
        if let Some((bodies, values)) = &self.buffers {
            bodies.invalidate();
            bodies.write(bytemuck::cast_slice(&points.positions));
            values.invalidate();
            values.write(bytemuck::cast_slice(&points.values));
        }
        self.typical_mass = typical_mass(&points.positions);
        self.value_range = followed(if same { self.value_range } else { value_range }, value_range);
        Ok(())
    }

    fn allocate(&self, count: usize) -> Result<Option<(VertexBuffer<Body>, VertexBuffer<Value>)>> {
        if count == 0 {
            return Ok(None);
        }
        let failed = || graphics("allocate the vertex buffers");
        let bodies = VertexBuffer::empty_dynamic(&self.context, count).map_err(failed())?;
        let values = VertexBuffer::empty_dynamic(&self.context, count).map_err(failed())?;
        Ok(Some((bodies, values)))
    }

    /// Adds the bodies' light to `surface`.
    pub fn draw(&self, surface: &mut impl Surface, camera: &Camera) -> Result<()> {
        let Some((bodies, values)) = &self.buffers else { return Ok(()) };
        let (width, height) = surface.get_dimensions();
        let scale = height as f32 / REFERENCE_HEIGHT;
        let look = Look::of(bodies.len(), scale);
        let uniforms = uniform! {
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            value_range: self.value_range,
            mass_scale: if self.typical_mass > 0.0 { self.typical_mass.recip() } else { 0.0 },
            size: look.size * camera.closeness(),
            size_limits: look.size_limits,
            size_unit: scale,
            distance: camera.distance,
            light: look.light,
            palette: self.palette.sampled()
                .minify_filter(MinifySamplerFilter::Nearest).magnify_filter(MagnifySamplerFilter::Nearest),
        };
        let add = BlendingFunction::Addition {
            source: LinearBlendingFactor::One,
            destination: LinearBlendingFactor::One,
        };
        let parameters = DrawParameters {
            blend: Blend { color: add, alpha: add, constant_value: (0.0, 0.0, 0.0, 0.0) },
            ..Default::default()
        };
        surface
            .draw((bodies, values), NoIndices(PrimitiveType::Points), &self.program, &uniforms, &parameters)
            .map_err(graphics("draw the bodies"))
    }
}

/// How a number of bodies is shown so that few are bright and many are not a blot.
struct Look {
    /// Of a typical body's sprite, in pixels.
    size: f32,
    /// The smallest and the largest sprite, in pixels.
    size_limits: [f32; 2],
    /// At a typical sprite's middle; 1 is about half of full brightness.
    light: f32,
}

impl Look {
    /// `scale` is the picture's height over [`REFERENCE_HEIGHT`].
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

/// The range on its way from `old` to `new`, never empty, never without a number.
fn followed(old: [f32; 2], new: [f32; 2]) -> [f32; 2] {
    let towards = |i: usize, outwards: bool| old[i] + (new[i] - old[i]) * FOLLOW[usize::from(!outwards)];
    let (low, high) = (towards(0, new[0] < old[0]), towards(1, new[1] > old[1]));
    // Bodies of nearly one speed get the middle of the colour map, not all of it.
    let (middle, half) = ((low + high) / 2.0, (high - low) / 2.0);
    let half = half.max(middle.abs() * 0.05).max(1e-20);
    let range = [middle - half, middle + half];
    if range.iter().all(|v| v.is_finite()) { range } else { [0.0, 1.0] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_colour_map_opens_fast_and_closes_slowly() {
        let mut range = [0.0, 1.0];
        for _ in 0..30 {
            range = followed(range, [0.0, 10.0]);
        }
        assert!(range[1] > 9.9, "{range:?}");
        for _ in 0..30 {
            range = followed(range, [0.0, 1.0]);
        }
        assert!((5.0..9.0).contains(&range[1]), "{range:?}");
        for _ in 0..1000 {
            range = followed(range, [0.0, 1.0]);
        }
        assert!(range[1] < 1.01, "{range:?}");
    }

    #[test]
    fn the_colour_map_is_never_empty_nor_without_a_number() {
        let [low, high] = followed([2.0, 2.0], [2.0, 2.0]);
        assert!(low < 1.95 && high > 2.05, "{low} {high}");
        let [low, high] = followed([0.0, 0.0], [0.0, 0.0]);
        assert!(low < 0.0 && high > 0.0, "{low} {high}");
        assert_eq!(followed([f32::NAN, 1.0], [0.0, f32::INFINITY]), [0.0, 1.0]);
    }

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
