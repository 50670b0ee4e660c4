//! Draws faint background stars, which are the same in every picture.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use glium::backend::Context;
use glium::{DrawParameters, Program, Surface, VertexBuffer, implement_vertex, uniform};

use super::camera::Camera;
use super::opengl::{ADD, draw_sprites, graphics, source};
use crate::base::Result;

/// Number of stars in the whole sky; about 400 are in view at a time.
const COUNT: usize = 3000;
/// Brightness of the brightest star when the look's `stars` setting is 1.
const BRIGHTEST: f32 = 6.0;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Star {
    direction: [f32; 3],
    star: [f32; 2],
}
implement_vertex!(Star, direction, star);

pub(super) struct Stars {
    program: Program,
    all: VertexBuffer<Star>,
}

impl Stars {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let all = VertexBuffer::new(context, &stars()).map_err(graphics("allocate memory for the stars"))?;
        Ok(Self { program: source!("stars").compile(context)?, all })
    }

    /// Adds the light of the stars to `surface`. `covers` sets the meaning of the alpha channel (see
    /// `shaders/stars.frag`), and `scale` comes from `opengl::scale`.
    pub(super) fn draw(
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
        draw_sprites(surface, "the stars", &self.all, &self.program, &uniforms, &parameters)
    }
}

/// Returns stars spread uniformly over the sky; few of them are bright.
fn stars() -> Vec<Star> {
    let mut state = 0x9e37_79b9_u32;
    // Xorshift generator (Marsaglia 2003).
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
