//! Bodies as lit balls: each fills the pixels whose rays hit it, at the depth where they do.

use std::rc::Rc;

use glium::backend::Context;
use glium::draw_parameters::DepthTest;
use glium::index::{NoIndices, PrimitiveType};
use glium::{Blend, BlendingFunction, Depth, DrawParameters, LinearBlendingFactor, Program, Surface};
use glium::{VertexBuffer, uniform};

use super::cloud::{Body, Cloud, Value};
use super::shader::Source;
use super::{Camera, graphics};
use crate::error::Result;
use crate::look::Look;

/// No ball is shown with less, in pixels: it would fall between them.
const LEAST_RADIUS: f32 = 0.75;

/// Draws bodies, and the planet among them, as balls.
pub struct Spheres {
    program: Program,
    planet: (VertexBuffer<Body>, VertexBuffer<Value>),
}

impl Spheres {
    /// Compiles the shaders.
    pub fn new(context: &Rc<Context>) -> Result<Self> {
        let source = Source {
            name: "spheres",
            vertex: include_str!("../../shaders/spheres.vert"),
            geometry: Some(include_str!("../../shaders/spheres.geom")),
            fragment: include_str!("../../shaders/spheres.frag"),
        };
        let body = VertexBuffer::dynamic(context, &[Body { body: [0.0; 4] }]);
        let value = VertexBuffer::dynamic(context, &[Value { value: 0.0 }]);
        let failed = || graphics("allocate the planet's vertex buffers");
        let planet = (body.map_err(failed())?, value.map_err(failed())?);
        Ok(Self { program: source.compile(context)?, planet })
    }

    /// Draws the bodies, and a planet of radius `planet` at the origin, unless that is 0. The surface's depth
    /// is to be 0, which stands for infinitely far.
    ///
    /// First whatever fills its pixels, in any order, because depth sorts it; then, before that, the pixels that
    /// outlines only graze. So behind a soft edge there is what is behind the ball, not a hole.
    pub fn draw(
        &self,
        surface: &mut impl Surface,
        cloud: &Cloud,
        seen: (&Camera, &Look),
        planet: f32,
    ) -> Result<()> {
        self.planet.0.write(&[Body { body: [0.0, 0.0, 0.0, planet] }]);
        for edges in [false, true] {
            if planet > 0.0 {
                self.pass(surface, (&self.planet, true), cloud, seen, planet, edges)?;
            }
            if let Some(bodies) = &cloud.buffers {
                self.pass(surface, (bodies, false), cloud, seen, planet, edges)?;
            }
        }
        Ok(())
    }

    fn pass(
        &self,
        surface: &mut impl Surface,
        ((bodies, values), is_planet): (&(VertexBuffer<Body>, VertexBuffer<Value>), bool),
        cloud: &Cloud,
        (camera, look): (&Camera, &Look),
        planet: f32,
        edges: bool,
    ) -> Result<()> {
        let (width, height) = surface.get_dimensions();
        let [right, up, back] = camera.axes();
        let lens = camera.lens(width as f32 / height as f32);
        let uniforms = uniform! {
            value_range: cloud.value_range,
            palette: cloud.palette(),
            eye: camera.eye().to_array(),
            right: right.to_array(),
            up: up.to_array(),
            back: back.to_array(),
            lens: lens,
            pixel: 2.0 * lens[1] / height as f32,
            near: camera.near(),
            least_radius: LEAST_RADIUS,
            planet: planet,
            is_planet: is_planet,
            edges: edges,
            distance: camera.distance,
            depth_cue: 4.0 * look.depth_cue,
        };
        surface
            .draw((bodies, values), NoIndices(PrimitiveType::Points), &self.program, &uniforms, &over(edges))
            .map_err(graphics("draw the bodies"))
    }
}

/// Nearer things over farther ones, and soft edges over what is behind them. Nearness is the reciprocal of
/// depth, which floats resolve evenly at all distances.
fn over(edges: bool) -> DrawParameters<'static> {
    let over = BlendingFunction::Addition {
        source: LinearBlendingFactor::One,
        destination: LinearBlendingFactor::OneMinusSourceAlpha,
    };
    DrawParameters {
        depth: Depth { test: DepthTest::IfMore, write: !edges, ..Default::default() },
        blend: match edges {
            true => Blend { color: over, alpha: over, constant_value: (0.0, 0.0, 0.0, 0.0) },
            false => Blend::default(),
        },
        ..Default::default()
    }
}
