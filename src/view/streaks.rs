//! Draws the tracers of a flow as short streaks along their velocity.

use std::rc::Rc;

use glium::backend::Context;
use glium::index::{NoIndices, PrimitiveType};
use glium::vertex::EmptyVertexAttributes;
use glium::{DrawParameters, Program, Surface, uniform};

use super::camera::Camera;
use super::cloud::Cloud;
use super::opengl::{ADD, graphics, scale, source};
use super::points::percentile;
use crate::base::{Look, Result};

/// Length of the streak of a tracer with the typical speed, in scene units. The image of the flow is 2 scene units
/// long.
const LENGTH: f32 = 0.028;
/// Length of the longest streak, in scene units. The image of the flow is 2 scene units long.
const LONGEST: f32 = 0.05;
/// Half the width of a streak, in pixels, in a picture that is `opengl::REFERENCE_HEIGHT` pixels high.
const WIDTH: f32 = 0.6;

pub(super) struct Streaks {
    program: Program,
    typical_speed: f32,
}

impl Streaks {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        Ok(Self { program: source!("trails", "streaks").compile(context)?, typical_speed: 0.0 })
    }

    /// Determines the typical speed of the tracers: the 90th percentile. A tracer of this speed gets a streak of the
    /// nominal length.
    pub(super) fn measure(&mut self, tracers: &[[f32; 4]]) {
        self.typical_speed =
            percentile(tracers, |[_, _, u, w]| if w == 0.0 { 0.0 } else { u.hypot(w - 1.0) });
    }

    /// Adds the light of the tracers to `surface`, in shades of white if `is_neutral` is set, otherwise in the colours
    /// of the palette. `half` holds half the width and half the height of the flow, in scene units.
    pub(super) fn draw(
        &self,
        surface: &mut impl Surface,
        cloud: &Cloud,
        (camera, look): (&Camera, &Look),
        (half, is_neutral): ([f32; 2], bool),
    ) -> Result<()> {
        let Some((bodies, values)) = &cloud.buffers else { return Ok(()) };
        let (width, height) = surface.get_dimensions();
        let uniforms = uniform! {
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            value_range: cloud.value_range,
            palette: cloud.palette(),
            area: [width as f32, height as f32],
            width: WIDTH * scale(height).max(0.5) * look.point_size,
            reach: if self.typical_speed > 0.0 { LENGTH / self.typical_speed } else { 0.0 },
            longest: LONGEST,
            half_size: half,
            // Over the coloured image of a flow, the streaks are fainter, so that the image stays visible.
            light: if is_neutral { 3.6 } else { 6.0 } * (bodies.len().max(2) as f32).powf(-0.15),
            neutral: is_neutral,
            near: camera.near(),
            covers: false,
        };
        // Instancing is part of OpenGL 3.3.
        let old = |_| graphics("draw the tracers")("this version of OpenGL is too old");
        let each = (
            EmptyVertexAttributes { len: 4 },
            bodies.per_instance().map_err(old)?,
            values.per_instance().map_err(old)?,
        );
        let parameters = DrawParameters { blend: ADD, ..Default::default() };
        surface
            .draw(each, NoIndices(PrimitiveType::TriangleStrip), &self.program, &uniforms, &parameters)
            .map_err(graphics("draw the tracers"))
    }
}
