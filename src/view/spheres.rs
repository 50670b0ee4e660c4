//! Draws bodies as lit balls, with one ray per pixel for the exact outline and depth.

use std::rc::Rc;

use glium::backend::Context;
use glium::draw_parameters::DepthTest;
use glium::{Blend, Depth, DrawParameters, Program, Surface, VertexBuffer, uniform};

use super::camera::Camera;
use super::cloud::{Body, Cloud, Value};
use super::opengl::{PREMULTIPLIED, Source, draw_sprites, graphics, source};
use crate::base::{Look, Result};

/// Minimum radius of a ball in pixels; smaller balls could fall between pixel centres.
const LEAST_RADIUS: f32 = 0.75;

pub(super) struct Spheres {
    program: Program,
    planet: (VertexBuffer<Body>, VertexBuffer<Value>),
}

impl Spheres {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let geometry = Some(include_str!("../../shaders/spheres.geom"));
        let source = Source { geometry, ..source!("spheres") };
        let body = VertexBuffer::dynamic(context, &[Body { body: [0.0; 4] }]);
        let value = VertexBuffer::dynamic(context, &[Value { value: 0.0 }]);
        let failed = || graphics("allocate the planet's vertex buffers");
        let planet = (body.map_err(failed())?, value.map_err(failed())?);
        Ok(Self { program: source.compile(context)?, planet })
    }

    /// Draws the bodies, and a planet of radius `planet` at the origin unless the radius is 0. The depth buffer of `surface`
    /// must be cleared to 0, which represents infinity.
    ///
    /// The first pass draws the pixels inside the balls, in any order, with a depth test. The second pass blends the partly
    /// covered pixels of the outlines, so that soft edges show the background.
    pub(super) fn draw(
        &self,
        surface: &mut impl Surface,
        cloud: &Cloud,
        (camera, look): (&Camera, &Look),
        planet: f32,
    ) -> Result<()> {
        self.planet.0.write(&[Body { body: [0.0, 0.0, 0.0, planet] }]);
        let (width, height) = surface.get_dimensions();
        let [right, up, back] = camera.axes();
        let lens = camera.lens(width as f32 / height as f32);
        let planets = (planet > 0.0).then_some((&self.planet, true));
        let balls = planets.into_iter().chain(cloud.buffers.as_ref().map(|bodies| (bodies, false)));
        let passes = [false, true].into_iter().flat_map(|edges| balls.clone().map(move |ball| (ball, edges)));
        for (((bodies, values), is_planet), edges) in passes {
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
            // Nearer balls cover farther ones. Depth is stored as its reciprocal, which floats resolve evenly at all distances.
            let parameters = DrawParameters {
                depth: Depth { test: DepthTest::IfMore, write: !edges, ..Default::default() },
                blend: if edges { PREMULTIPLIED } else { Blend::default() },
                ..Default::default()
            };
            draw_sprites(surface, "the bodies", (bodies, values), &self.program, &uniforms, &parameters)?;
        }
        Ok(())
    }
}
