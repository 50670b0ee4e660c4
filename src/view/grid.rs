//! Draws the coordinate axes, and a grid in the plane z = 0, over the picture.

use std::rc::Rc;

use glam::{Vec2, Vec3, Vec4, Vec4Swizzles};
use glium::backend::Context;
use glium::texture::Texture2d;
use glium::{Program, Rect, Surface, uniform};

use super::camera::Camera;
use super::fill::{fill, pixels};
use super::opengl::{OVER, source};
use crate::base::Result;

pub(super) struct Grid {
    program: Program,
}

impl Grid {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        Ok(Self { program: source!("grid", "fill").compile(context)? })
    }

    /// Draws the grid and the axes into `area`, behind the bodies. `light` is the texture that holds the light of the
    /// bodies.
    pub(super) fn draw(
        &self,
        surface: &mut impl Surface,
        area: Rect,
        camera: &Camera,
        light: &Texture2d,
    ) -> Result<()> {
        let size = Vec2::new(area.width as f32, area.height as f32);
        let spacing = camera.grid_spacing();
        let [right, up, back] = camera.axes();
        let upright = upright(camera, size, 10.0 * spacing);
        let uniforms = uniform! {
            light: pixels(light),
            eye: camera.eye().to_array(),
            right: right.to_array(),
            up: up.to_array(),
            back: back.to_array(),
            lens: camera.lens(size.x / size.y),
            origin: [area.left as f32, area.bottom as f32],
            area: size.to_array(),
            spacing: spacing,
            reach: 4.0 * camera.distance,
            upright: upright,
        };
        fill(surface, Some(area), &self.program, &uniforms, Some(OVER))
    }
}

/// Returns the ends of the drawn z axis, in pixels: x and y of the lower end, then of the upper end. The axis extends
/// from `reach` below to `reach` above the origin, and is clipped just in front of the eye.
fn upright(camera: &Camera, size: Vec2, reach: f32) -> [f32; 4] {
    let matrix = camera.view_projection(size.x / size.y);
    let [top, foot] = [1.0, -1.0].map(|side| matrix * (Vec3::Z * side * reach).extend(1.0));
    // Clips slightly beyond the near plane, because rounding could move a point on the plane to its other side.
    let near = 2.0 * camera.near();
    let seen = |end: Vec4, other: Vec4| match end.w < near {
        true => end.lerp(other, (near - end.w) / (other.w - end.w)),
        false => end,
    };
    if top.w.max(foot.w) < near {
        return [-1e4; 4];
    }
    let (top, foot) = (seen(top, foot), seen(foot, top));
    let [top, foot] = [top, foot].map(|end| (end.xy() / end.w * 0.5 + 0.5) * size);
    [foot.x, foot.y, top.x, top.y]
}
