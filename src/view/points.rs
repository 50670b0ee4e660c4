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

/// How fast the colour map follows the values: the share of the way that it goes at each upload.
const FOLLOW: f32 = 0.08;
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
    mean_mass: f32,
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
            mean_mass: 0.0,
        })
    }

    /// Replaces the bodies. The buffers' old contents are given up first, so that OpenGL may go on reading them.
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
        self.mean_mass = mean_mass(&points.positions);
        self.value_range = followed(self.value_range, value_range, if same { FOLLOW } else { 1.0 });
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
        let look = Look::of(bodies.len(), height as f32 / REFERENCE_HEIGHT);
        let uniforms = uniform! {
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            value_range: self.value_range,
            mass_scale: if self.mean_mass > 0.0 { self.mean_mass.recip() } else { 0.0 },
            size: look.size * camera.closeness(),
            size_limits: look.size_limits,
            distance: camera.distance,
            light: look.light,
            palette: self.palette.sampled()
                .minify_filter(MinifySamplerFilter::Linear).magnify_filter(MagnifySamplerFilter::Linear),
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
    /// At a typical sprite's middle; 1 is about 63 % of full brightness.
    light: f32,
}

impl Look {
    /// `scale` is the picture's height over [`REFERENCE_HEIGHT`].
    fn of(bodies: usize, scale: f32) -> Self {
        let count = bodies.max(2) as f32;
        Self {
            size: (34.0 * count.powf(-0.217)).max(1.5) * scale,
            size_limits: [1.5 * scale.max(1.0), 96.0 * scale],
            light: 4.0 * count.powf(-0.18),
        }
    }
}

/// The mean mass of a sample: what a typical body weighs.
fn mean_mass(positions: &[[f32; 4]]) -> f32 {
    let stride = positions.len().div_ceil(4096).max(1);
    let masses = positions.iter().step_by(stride).map(|p| p[3]).filter(|m| m.is_finite());
    let (sum, count) = masses.fold((0.0, 0), |(sum, count), m| (sum + f64::from(m), count + 1));
    (sum / f64::from(count.max(1))) as f32
}

/// The range `share` of the way from `old` to `new`, never empty, never without a number.
fn followed(old: [f32; 2], new: [f32; 2], share: f32) -> [f32; 2] {
    if !new.iter().all(|v| v.is_finite()) {
        return old;
    }
    let [low, high] = [0, 1].map(|i| old[i] + (new[i] - old[i]) * share);
    // Bodies of one speed get the middle of the colour map.
    let least = (high.abs() * 1e-3).max(f32::MIN_POSITIVE);
    if high - low > least { [low, high] } else { [low - least, low + least] }
}
