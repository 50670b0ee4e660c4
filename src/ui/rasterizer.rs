//! Software rasterizer for egui: draws into an image, without a window or OpenGL.

use std::ops::Range;

use egui::epaint::{ImageDelta, Mesh, Primitive, Vertex};
use egui::{ClippedPrimitive, Color32, ColorImage, Pos2, RawInput, Rect, TextureId, Vec2};
use image::{Rgb, RgbImage};

/// Number of egui passes needed for a stable layout. Each pass uses sizes that the previous pass measured.
const PASSES: usize = 4;
/// Number of subpixels per pixel. The corners of triangles are rounded to whole subpixels.
const SUBPIXELS: f32 = 256.0;
/// Maximum width and height of a texture, in pixels.
const MAX_TEXTURE: usize = 4096;

/// Draws the widgets that `show` creates into an image of `size` points, with `scale` pixels per point.
pub(super) fn paint(size: Vec2, scale: f32, show: impl FnMut(&egui::Context)) -> RgbImage {
    let [width, height] = [size.x, size.y].map(|side| (side * scale).round() as u32);
    paint_over(RgbImage::new(width, height), scale, show)
}

/// Draws the widgets that `show` creates over `picture`, with `scale` pixels per point.
pub(super) fn paint_over(picture: RgbImage, scale: f32, mut show: impl FnMut(&egui::Context)) -> RgbImage {
    let size = Vec2::new(picture.width() as f32, picture.height() as f32) / scale;
    let ctx = egui::Context::default();
    super::theme::apply(&ctx);
    let mut input = RawInput {
        screen_rect: Some(Rect::from_min_size(Pos2::ZERO, size)),
        max_texture_side: Some(MAX_TEXTURE),
        ..RawInput::default()
    };
    input.viewports.entry(input.viewport_id).or_default().native_pixels_per_point = Some(scale);
    let (mut font, mut shapes) = (ColorImage::default(), Vec::new());
    for _ in 0..PASSES {
        let output = ctx.run(input.clone(), &mut show);
        // No images are shown, so the only texture is the font texture.
        let deltas = output.textures_delta.set.into_iter().filter(|(id, _)| *id == TextureId::default());
        deltas.for_each(|(_, delta)| update(&mut font, delta));
        shapes = output.shapes;
    }
    let mut canvas = Canvas { picture, font, scale };
    for ClippedPrimitive { clip_rect, primitive } in ctx.tessellate(shapes, scale) {
        if let Primitive::Mesh(mesh) = primitive {
            canvas.mesh(clip_rect, &mesh);
        }
    }
    canvas.picture
}

/// Replaces a texture, or part of it, with the pixels in `delta`.
fn update(texture: &mut ColorImage, delta: ImageDelta) {
    let egui::ImageData::Color(image) = delta.image;
    let Some([left, top]) = delta.pos else {
        *texture = (*image).clone();
        return;
    };
    for (y, row) in image.pixels.chunks_exact(image.width().max(1)).enumerate() {
        let start = (top + y) * texture.width() + left;
        texture.pixels[start..start + row.len()].copy_from_slice(row);
    }
}

/// An image that triangles are drawn into.
struct Canvas {
    picture: RgbImage,
    /// Texture with the glyphs of the fonts.
    font: ColorImage,
    /// Pixels per point.
    scale: f32,
}

impl Canvas {
    fn mesh(&mut self, clip: Rect, mesh: &Mesh) {
        let pixel = |x: f32, most: u32| (x * self.scale).round().clamp(0.0, most as f32) as i64;
        let (width, height) = self.picture.dimensions();
        let x = pixel(clip.left(), width)..pixel(clip.right(), width);
        let y = pixel(clip.top(), height)..pixel(clip.bottom(), height);
        for corners in mesh.indices.as_chunks::<3>().0 {
            self.triangle([&x, &y], corners.map(|at| mesh.vertices[at as usize]));
        }
    }

    /// Fills the pixels whose centres are inside a triangle. A pixel on an edge that two triangles share is filled only once.
    fn triangle(&mut self, clip: [&Range<i64>; 2], mut corners: [Vertex; 3]) {
        let round = |x: f32| (x * self.scale * SUBPIXELS).round() as i64;
        let mut places = corners.map(|corner| [round(corner.pos.x), round(corner.pos.y)]);
        let mut area = cross(places[0], places[1], places[2]);
        if area < 0 {
            corners.swap(1, 2);
            places.swap(1, 2);
            area = -area;
        }
        if area == 0 {
            return;
        }
        let unit = SUBPIXELS as i64;
        let range = |axis: usize| {
            let mut along = places.map(|place| place[axis].div_euclid(unit));
            along.sort_unstable();
            along[0].max(clip[axis].start)..(along[2] + 1).min(clip[axis].end)
        };
        let edges = [(1, 2), (2, 0), (0, 1)].map(|(from, to)| (places[from], places[to]));
        // With y downwards and the inside on the right, top edges point right and left edges point up.
        let owns = edges.map(|(a, b)| b[1] < a[1] || (b[1] == a[1] && b[0] > a[0]));
        for y in range(1) {
            for x in range(0) {
                let centre = [x, y].map(|at| at * unit + unit / 2);
                let weights = edges.map(|(a, b)| cross(a, b, centre));
                let inside = |(weight, owns): (&i64, bool)| *weight > 0 || (*weight == 0 && owns);
                if weights.iter().zip(owns).all(inside) {
                    self.blend([x as u32, y as u32], &corners, weights.map(|w| w as f32 / area as f32));
                }
            }
        }
    }

    /// Blends a triangle's colour, with premultiplied alpha, over a pixel; `weights` are the pixel's barycentric coordinates.
    fn blend(&mut self, [x, y]: [u32; 2], corners: &[Vertex; 3], weights: [f32; 3]) {
        let mix = |of: &dyn Fn(&Vertex) -> f32| -> f32 {
            corners.iter().zip(weights).map(|(corner, weight)| of(corner) * weight).sum()
        };
        let texel = self.texel([mix(&|corner| corner.uv.x), mix(&|corner| corner.uv.y)]);
        let part = |of: usize| mix(&|corner| f32::from(corner.color.to_array()[of])) * texel[of];
        let opacity = part(3) / 255.0;
        let Rgb(pixel) = self.picture.get_pixel_mut(x, y);
        for (channel, value) in pixel.iter_mut().enumerate() {
            *value = (part(channel) + f32::from(*value) * (1.0 - opacity)).round().min(255.0) as u8;
        }
    }

    /// Samples the font texture with bilinear interpolation; returns red, green, blue and alpha from 0 to 1.
    fn texel(&self, uv: [f32; 2]) -> [f32; 4] {
        let [width, height] = self.font.size;
        let along = |uv: f32, size: usize| {
            let at = (uv * size as f32 - 0.5).clamp(0.0, size as f32 - 1.0);
            (at as usize, (at as usize + 1).min(size - 1), at.fract())
        };
        let ((left, right, u), (top, bottom, v)) = (along(uv[0], width), along(uv[1], height));
        let at = |x: usize, y: usize| self.font.pixels[y * width + x];
        let lerp = |a: [f32; 4], b: [f32; 4], t: f32| [0, 1, 2, 3].map(|c| a[c] + (b[c] - a[c]) * t);
        let share = |color: Color32| color.to_array().map(|part| f32::from(part) / 255.0);
        let row = |y: usize| lerp(share(at(left, y)), share(at(right, y)), u);
        lerp(row(top), row(bottom), v)
    }
}

/// Returns twice the signed area of a triangle, which is positive if its corners are in clockwise order on the screen.
fn cross(a: [i64; 2], b: [i64; 2], c: [i64; 2]) -> i64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}
