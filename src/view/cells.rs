//! Draws the cells of the gravity tree as boxes of thin lines, over the picture.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use glium::backend::Context;
use glium::index::{IndexBuffer, PrimitiveType};
use glium::texture::Texture2d;
use glium::vertex::EmptyVertexAttributes;
use glium::{DrawParameters, Program, Rect, Surface, VertexBuffer, implement_vertex, uniform};

use super::camera::Camera;
use super::fill::pixels;
use super::opengl::{OVER, graphics, scale, source};
use crate::base::{Corners, Result, cells};

/// Half the width of a line, in pixels, in a picture that is `opengl::REFERENCE_HEIGHT` pixels high.
const WIDTH: f32 = 0.6;
const EDGES: u16 = 12;

/// Vertex that holds a box and its role: 0 for a cell at the chosen depth, 1 for a cell that a body's tree walk opened,
/// 2 for a cell that the walk used as a whole.
#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Cell {
    low: [f32; 3],
    high: [f32; 3],
    role: f32,
}
implement_vertex!(Cell, low, high, role);

pub(super) struct Cells {
    context: Rc<Context>,
    program: Program,
    /// Indices that form two triangles from the four vertices of each edge.
    corners: IndexBuffer<u16>,
    /// The boxes to draw; `None` if there are none.
    boxes: Option<VertexBuffer<Cell>>,
    /// Number of boxes with each of the roles 0, 1 and 2; see [`Cell`].
    counts: [usize; 3],
}

impl Cells {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let edge = |nth: u16| [0, 1, 2, 2, 1, 3].map(|corner| 4 * nth + corner);
        let corners: Vec<u16> = (0..EDGES).flat_map(edge).collect();
        let corners = IndexBuffer::immutable(context, PrimitiveType::TrianglesList, &corners)
            .map_err(graphics("allocate memory for the cells"))?;
        let program = source!("cells").compile(context)?;
        Ok(Self { context: context.clone(), program, corners, boxes: None, counts: [0; 3] })
    }

    /// Replaces the boxes to draw with the boxes of the tree cells `cells`; `None` removes all boxes.
    pub(super) fn upload(&mut self, cells: Option<&cells::Cells>) -> Result<()> {
        let roles = cells.map_or([&[][..]; 3], |cells| [&cells.level, &cells.opened, &cells.taken]);
        self.counts = roles.map(<[Corners]>::len);
        let of_role = |(role, boxes): (usize, &[Corners])| {
            let cell = |[low, high]: &Corners| Cell { low: *low, high: *high, role: role as f32 };
            boxes.iter().map(cell).collect::<Vec<_>>()
        };
        let all: Vec<Cell> = roles.into_iter().enumerate().flat_map(of_role).collect();
        let buffer = || VertexBuffer::dynamic(&self.context, &all);
        self.boxes = (!all.is_empty()).then(buffer).transpose().map_err(graphics("upload the cells"))?;
        Ok(())
    }

    /// Draws the boxes of the tree cells into `area`, behind the bodies. `light` is the texture that holds the light of
    /// the bodies.
    pub(super) fn draw(
        &self,
        surface: &mut impl Surface,
        area: Rect,
        camera: &Camera,
        light: &Texture2d,
    ) -> Result<()> {
        let Some(boxes) = &self.boxes else { return Ok(()) };
        let size = [area.width as f32, area.height as f32];
        // The more boxes there are, the fainter each is, so that the bodies stay visible.
        let opacity = |count: usize, one: f32| one * (count.max(1) as f32).powf(-0.2);
        let [level, opened, taken] = self.counts;
        let uniforms = uniform! {
            light: pixels(light),
            origin: [area.left as f32, area.bottom as f32],
            view_projection: camera.view_projection(size[0] / size[1]).to_cols_array_2d(),
            area: size,
            width: WIDTH * scale(area.height).max(0.7),
            distance: camera.distance,
            near: camera.near(),
            opacity: [opacity(level, 0.7), opacity(opened, 0.55), opacity(taken, 0.8)],
        };
        let parameters = DrawParameters { viewport: Some(area), blend: OVER, ..Default::default() };
        // Instancing is part of OpenGL 3.3.
        let old = |_| graphics("draw the cells")("this version of OpenGL is too old");
        let each =
            (EmptyVertexAttributes { len: 4 * usize::from(EDGES) }, boxes.per_instance().map_err(old)?);
        surface
            .draw(each, &self.corners, &self.program, &uniforms, &parameters)
            .map_err(graphics("draw the cells"))
    }
}
