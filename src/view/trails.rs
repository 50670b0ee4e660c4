//! Trails behind moving bodies: strips through the bodies' past positions, which are stored on the graphics card.

use std::rc::Rc;

use glium::backend::Context;
use glium::draw_parameters::DepthTest;
use glium::index::{IndexBuffer, PrimitiveType};
use glium::texture::buffer_texture::{
    BufferTexture, BufferTextureType, TextureBufferContent, TextureBufferContentType,
};
use glium::vertex::EmptyVertexAttributes;
use glium::{Depth, DrawParameters, Program, Surface, VertexBuffer, uniform};

use super::camera::Camera;
use super::cloud::{Body, Cloud, Value};
use super::opengl::{ADD, graphics, source};
use crate::base::{Look, Result, Shape};

/// Maximum number of trail segments in a picture, with hardware rendering and with software rendering.
const PIECES: [usize; 2] = [1 << 19, 1 << 14];
/// Maximum number of recorded positions in one trail, at least the number of pictures that the longest trail spans.
const MOST: usize = 2048;
/// Maximum number of segments per trail between two recorded positions.
const FINEST: usize = 4;
/// Half the width of a trail, in pixels, in a picture that is `opengl::REFERENCE_HEIGHT` pixels high.
const WIDTH: f32 = 0.7;

// SAFETY: a `Body` is four floats without padding, the layout of a texel of four floats.
unsafe impl TextureBufferContent for Body {
    fn get_type() -> TextureBufferContentType {
        TextureBufferContentType::F32F32F32F32
    }
}

pub(super) struct Trails {
    context: Rc<Context>,
    program: Program,
    /// Indices that form two triangles from the four corners of each segment.
    corners: IndexBuffer<u16>,
    /// Maximum number of trail segments in a picture.
    pieces: usize,
    past: Option<Past>,
}

/// Past positions of the bodies, in a ring buffer of rows. Each row holds the positions of all bodies in one picture.
struct Past {
    places: BufferTexture<Body>,
    /// Copy of the current bodies and their values in the graphics card's memory. Drawing reads them for each corner of
    /// a trail segment.
    now: (VertexBuffer<Body>, VertexBuffer<Value>),
    bodies: usize,
    rows: usize,
    /// Number of pictures from one recording of positions to the next.
    stride: usize,
    newest: usize,
    filled: usize,
    /// Number of pictures drawn since positions were last recorded.
    since: usize,
}

impl Trails {
    pub(super) fn new(context: &Rc<Context>, is_software: bool) -> Result<Self> {
        let pieces = PIECES[usize::from(is_software)];
        let piece = |nth: u16| [0, 1, 2, 2, 1, 3].map(|corner| 4 * nth + corner);
        let corners: Vec<u16> = (0..(MOST * FINEST) as u16).flat_map(piece).collect();
        let corners = IndexBuffer::immutable(context, PrimitiveType::TrianglesList, &corners)
            .map_err(graphics("allocate memory for the trails"))?;
        let program = source!("trails").compile(context)?;
        Ok(Self { context: context.clone(), program, corners, pieces, past: None })
    }

    pub(super) fn clear(&mut self) {
        self.past = None;
    }

    /// Records the bodies of a new picture in graphics memory, for trails that span the last `span` pictures.
    pub(super) fn note(&mut self, cloud: &Cloud, span: f32) -> Result<()> {
        let bodies = cloud.count();
        if span < 1.0 || bodies == 0 || self.are_too_many(bodies) {
            self.past = None;
            return Ok(());
        }
        let pieces = (self.pieces / bodies).min(MOST);
        let stride = (span as usize).div_ceil(pieces).next_power_of_two();
        if self.past.as_ref().is_none_or(|past| past.bodies != bodies || past.stride != stride) {
            self.past = Some(self.allocate(bodies, pieces + 1, stride)?);
        }
        let (Some(past), Some((now, values))) = (&mut self.past, &cloud.buffers) else { return Ok(()) };
        let keep = "store a trail";
        now.copy_to(past.now.0.as_slice()).map_err(graphics(keep))?;
        values.copy_to(past.now.1.as_slice()).map_err(graphics(keep))?;
        past.since += 1;
        if past.filled == 0 || past.since >= past.stride {
            past.newest = (past.newest + 1) % past.rows;
            past.filled = (past.filled + 1).min(past.rows);
            past.since = 0;
            let row = past.newest * bodies..(past.newest + 1) * bodies;
            if let Some(row) = past.places.slice(row) {
                now.copy_to(row).map_err(graphics(keep))?;
            }
        }
        Ok(())
    }

    pub(super) fn are_too_many(&self, bodies: usize) -> bool {
        bodies > self.pieces
    }

    fn allocate(&self, bodies: usize, rows: usize, stride: usize) -> Result<Past> {
        let failed = "allocate memory for the trails";
        let (context, float) = (&self.context, BufferTextureType::Float);
        let places =
            BufferTexture::empty_immutable(context, bodies * rows, float).map_err(graphics(failed))?;
        let now = (
            VertexBuffer::empty_immutable(context, bodies).map_err(graphics(failed))?,
            VertexBuffer::empty_immutable(context, bodies).map_err(graphics(failed))?,
        );
        Ok(Past { places, now, bodies, rows, stride, newest: 0, filled: 0, since: 0 })
    }

    /// Adds the light of the trails to `surface`. Balls hide the trails behind them. `scale` is the factor from
    /// `opengl::scale` that adapts the width of the trails to the height of the picture.
    pub(super) fn draw(
        &self,
        surface: &mut impl Surface,
        cloud: &Cloud,
        (camera, look): (&Camera, &Look),
        (shape, scale): (Shape, f32),
    ) -> Result<()> {
        let Some(past @ Past { now: (bodies, values), .. }) = &self.past else { return Ok(()) };
        // Trails may have been switched off after the last upload.
        if look.trails < 1.0 {
            return Ok(());
        }
        let (width, height) = surface.get_dimensions();
        let (is_solid, jump) = match shape {
            Shape::Glow => (false, f32::INFINITY),
            Shape::Spheres { .. } => (true, f32::INFINITY),
            // A tracer that leaves the flow at one side re-enters at the other; its trail must not cross the flow.
            Shape::Tracers { half } => (false, half[0].min(half[1])),
        };
        let spans = past.filled.min((look.trails as usize).div_ceil(past.stride) + 1).min(MOST);
        // Between two recorded positions, a trail is a curve, drawn with as many segments as the limit for a picture
        // allows.
        let parts = (self.pieces / (past.bodies * spans).max(1)).clamp(1, FINEST);
        let pieces = spans * parts;
        // Trails of fewer than 32 bodies are wider; those of up to 8 bodies are twice as wide.
        let wider = (32.0 / past.bodies as f32).clamp(1.0, 4.0).sqrt();
        let uniforms = uniform! {
            value_range: cloud.value_range,
            palette: cloud.palette(),
            past: &past.places,
            parts: parts as i32,
            filled: past.filled as i32,
            bodies: past.bodies as i32,
            newest: past.newest as i32,
            rows: past.rows as i32,
            since: past.since as f32,
            stride: past.stride as f32,
            span: look.trails,
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            area: [width as f32, height as f32],
            width: WIDTH * wider * scale.max(0.7),
            // Trails of many bodies are fainter, so that they do not blur into a fog.
            light: 2.0 * (past.bodies.max(2) as f32).powf(-0.25),
            hides: shape != Shape::Glow,
            jump: jump,
            near: camera.near(),
            covers: is_solid,
        };
        let test = if is_solid { DepthTest::IfMore } else { DepthTest::Overwrite };
        let depth = Depth { test, write: false, ..Default::default() };
        let parameters = DrawParameters { blend: ADD, depth, ..Default::default() };
        // Instancing is part of OpenGL 3.3.
        let old = |_| graphics("draw the trails")("this version of OpenGL is too old");
        let each = (
            EmptyVertexAttributes { len: 4 * pieces },
            bodies.per_instance().map_err(old)?,
            values.per_instance().map_err(old)?,
        );
        let Some(corners) = self.corners.slice(..6 * pieces) else { return Ok(()) };
        surface
            .draw(each, corners, &self.program, &uniforms, &parameters)
            .map_err(graphics("draw the trails"))
    }
}
