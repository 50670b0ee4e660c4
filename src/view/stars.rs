//! The stars behind it all: faint, and always the same.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use glium::backend::Context;
use glium::index::{NoIndices, PrimitiveType};
use glium::{DrawParameters, Program, Surface, VertexBuffer, implement_vertex, uniform};

use super::fill::ADD;
use super::shader::Source;
use super::{Camera, graphics};
use crate::error::Result;

/// How many there are all around: some four hundred are in the picture.
const COUNT: usize = 3000;
/// The light of the brightest at full brightness.
const BRIGHTEST: f32 = 6.0;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Star {
    direction: [f32; 3],
    star: [f32; 2],
}
implement_vertex!(Star, direction, star);

/// Draws them.
pub struct Stars {
    program: Program,
    all: VertexBuffer<Star>,
}

impl Stars {
    /// Compiles the shaders.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let source = Source {
            name: "stars",
            vertex: include_str!("../../shaders/stars.vert"),
            geometry: None,
            fragment: include_str!("../../shaders/stars.frag"),
        };
        let all = VertexBuffer::new(context, &stars()).map_err(graphics("allocate the stars"))?;
        Ok(Self { program: source.compile(context)?, all })
    }

    /// Adds their light; `covers` as in `shaders/stars.frag`, `scale` is pixels to one of the reference height.
    pub fn draw(
        &self,
        surface: &mut impl Surface,
        camera: &Camera,
        (brightness, covers, scale): (f32, bool, f32),
    ) -> Result<()> {
        let (width, height) = surface.get_dimensions();
        let uniforms = uniform! {
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            brightness: brightness * BRIGHTEST,
            scale: scale,
            covers: covers,
        };
        let parameters = DrawParameters { blend: ADD, ..Default::default() };
        surface
            .draw(&self.all, NoIndices(PrimitiveType::Points), &self.program, &uniforms, &parameters)
            .map_err(graphics("draw the stars"))
    }
}

/// Spread evenly over the sphere by chance; few are bright.
fn stars() -> Vec<Star> {
    let mut state = 0x9e37_79b9_u32;
    // Marsaglia's xorshift (2003).
    let mut chance = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / u32::MAX as f32
    };
    let mut star = |_| {
        let (z, turn) = (2.0 * chance() - 1.0, std::f32::consts::TAU * chance());
        let flat = (1.0 - z * z).max(0.0).sqrt();
        let brightness = (0.006 / (chance() + 0.006)).sqrt();
        Star { direction: [flat * turn.cos(), flat * turn.sin(), z], star: [brightness, chance()] }
    };
    (0..COUNT).map(&mut star).collect()
}
