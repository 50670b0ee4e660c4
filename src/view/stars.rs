//! Draws the sky behind the bodies: faint stars and the band of the Milky Way, which are the same in every picture.

use std::rc::Rc;

use bytemuck::{Pod, Zeroable};
use glam::Vec3;
use glium::backend::Context;
use glium::index::{IndexBuffer, PrimitiveType};
use glium::texture::{Texture2d, UncompressedFloatFormat};
use glium::{DrawParameters, Program, Surface, VertexBuffer, implement_vertex, uniform};

use super::camera::Camera;
use super::fill::{pixels, surface, texture};
use super::light::Over;
use super::opengl::{ADD, draw_sprites, graphics, scale, source};
use crate::base::Result;

/// Number of stars spread over the whole sky, and number of stars in the Milky Way. About 400 of the former are in view
/// at a time.
const COUNTS: [usize; 2] = [3000, 1500];
/// Brightness of the brightest star when the appearance setting `stars` is 1.
const BRIGHTEST: f32 = 6.0;
/// Light of the brightest part of the Milky Way when the appearance setting `stars` is 1.
const BAND: f32 = 0.11;
/// Axis of the great circle along which the band of the Milky Way lies. Most scenes open with a part of the band in
/// view.
const AXIS: Vec3 = Vec3::new(0.30, 0.62, 0.72);
/// Half the width of the band of the Milky Way, in radians.
const HALF_WIDTH: f32 = 0.42;
/// Numbers of points along and across the band of the Milky Way, between which its light is interpolated.
const POINTS: [u16; 2] = [480, 49];

/// Size of the region in which stars are drawn, divided by the size of the picture. Sprites with their centre just
/// outside the picture reach into it.
const MARGIN: f32 = 1.1;

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Star {
    direction: [f32; 3],
    star: [f32; 2],
}
implement_vertex!(Star, direction, star);

/// Camera, size and settings with which the picture of the sky was drawn.
#[derive(Clone, PartialEq)]
struct Drawn {
    camera: Camera,
    /// Width and height of the picture of the sky in pixels.
    size: (u32, u32),
    sky: Sky,
}

/// Settings with which the sky is drawn.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Sky {
    pub brightness: f32,
    /// Whether alpha holds the fraction of a pixel that is covered, which is 0 for stars. Otherwise, alpha holds the
    /// sum of the light.
    pub covers: bool,
    /// Whether the picture of the sky contains the stars. If not, [`Stars::draw_over`] draws them.
    pub has_stars: bool,
}

pub(super) struct Stars {
    context: Rc<Context>,
    /// Last picture of the sky, which is reused until the camera turns or the settings change.
    sky: Texture2d,
    /// Camera, size and settings of the last picture of the sky; `None` if there is no valid picture.
    drawn: Option<Drawn>,
    /// Programs that draw stars: into a texture that collects light, and directly over a finished picture.
    programs: [Program; 2],
    all: Vec<Star>,
    /// The stars in the view of the last picture of the sky.
    visible: VertexBuffer<Star>,
    band_program: Program,
    band: (VertexBuffer<Star>, IndexBuffer<u16>),
}

impl Stars {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let visible = VertexBuffer::new(context, &[]).map_err(graphics("allocate memory for the stars"))?;
        let (points, corners) = band();
        let band = (
            VertexBuffer::new(context, &points).map_err(graphics("allocate memory for the Milky Way"))?,
            IndexBuffer::new(context, PrimitiveType::TrianglesList, &corners)
                .map_err(graphics("allocate memory for the Milky Way"))?,
        );
        let direct = source!("stars").compile_with(context, "#define DIRECT\n")?;
        let (programs, band_program) =
            ([source!("stars").compile(context)?, direct], source!("band").compile(context)?);
        let sky = texture(context, UncompressedFloatFormat::F16F16F16F16, (1, 1))?;
        let context = context.clone();
        Ok(Self { context, sky, drawn: None, programs, all: stars(), visible, band_program, band })
    }

    /// Returns the light of the sky in a picture of `size` pixels. Draws the sky again only if the camera has turned,
    /// or if the size or the settings have changed.
    pub(super) fn sky(&mut self, size: (u32, u32), camera: &Camera, sky: Sky) -> Result<&Texture2d> {
        // Only the direction of the camera matters, because the sky is infinitely far away.
        let camera = Camera { target: Vec3::ZERO, distance: 1.0, home: 1.0, ..camera.clone() };
        let wanted = Drawn { camera, size, sky };
        if self.drawn.as_ref() != Some(&wanted) {
            self.drawn = None;
            if self.sky.dimensions() != size {
                self.sky = texture(&self.context, UncompressedFloatFormat::F16F16F16F16, size)?;
            }
            let mut surface = surface(&self.context, &self.sky)?;
            surface.clear_color(0.0, 0.0, 0.0, 0.0);
            self.draw_band(&mut surface, &wanted.camera, sky)?;
            let visible = visible(&self.all, &wanted);
            self.visible = VertexBuffer::new(&self.context, &visible)
                .map_err(graphics("allocate memory for the stars"))?;
            if sky.has_stars {
                self.draw_stars(&mut surface, &wanted.camera, sky, None)?;
            }
            self.drawn = Some(wanted);
        }
        Ok(&self.sky)
    }

    /// Draws the stars of the last picture of the sky over a finished picture. `over` holds the picture and its
    /// exposure in stops.
    pub(super) fn draw_over(
        &self,
        surface: &mut impl Surface,
        camera: &Camera,
        sky: Sky,
        over: (&Over, f32),
    ) -> Result<()> {
        self.draw_stars(surface, camera, sky, Some(over))
    }

    fn draw_band(&self, surface: &mut impl Surface, camera: &Camera, sky: Sky) -> Result<()> {
        let (width, height) = surface.get_dimensions();
        let uniforms = uniform! {
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            brightness: sky.brightness * BAND,
            covers: sky.covers,
        };
        let parameters = DrawParameters { blend: ADD, ..Default::default() };
        let (points, corners) = &self.band;
        surface
            .draw(points, corners, &self.band_program, &uniforms, &parameters)
            .map_err(graphics("draw the Milky Way"))
    }

    /// Draws the visible stars: over a finished picture if `over` holds one and its exposure in stops, otherwise into a
    /// texture of light.
    fn draw_stars(
        &self,
        surface: &mut impl Surface,
        camera: &Camera,
        sky: Sky,
        over: Option<(&Over, f32)>,
    ) -> Result<()> {
        let (over, stops) = (over.map(|(over, _)| over), over.map_or(0.0, |(_, stops)| stops));
        let (width, height) =
            over.map_or(surface.get_dimensions(), |over| (over.area.width, over.area.height));
        let uniforms = uniform! {
            view_projection: camera.view_projection(width as f32 / height as f32).to_cols_array_2d(),
            brightness: sky.brightness * BRIGHTEST,
            scale: scale(height),
            covers: sky.covers,
            measured: pixels(over.map_or(&self.sky, |over| over.measured)),
            automatic: over.is_some_and(|over| over.is_automatic),
            stops: stops,
        };
        let (program, parameters) = Over::choose(over, &self.programs);
        draw_sprites(surface, "the stars", &self.visible, program, &uniforms, &parameters)
    }
}

/// Returns the stars that are in view, or so close to its edge that a part of their sprite is in view.
fn visible(all: &[Star], view: &Drawn) -> Vec<Star> {
    let (width, height) = (view.size.0 as f32, view.size.1 as f32);
    let projection = view.camera.view_projection(width / height);
    let is_visible = |star: &&Star| {
        let at = projection * Vec3::from(star.direction).extend(0.0);
        at.w > 0.0 && at.x.abs() <= MARGIN * at.w && at.y.abs() <= MARGIN * at.w
    };
    all.iter().filter(is_visible).copied().collect()
}

/// Returns stars spread uniformly over the sky, and faint stars in the Milky Way. Few of them are bright.
fn stars() -> Vec<Star> {
    let mut state = 0x9e37_79b9_u32;
    // Xorshift generator (Marsaglia 2003).
    let mut chance = move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state as f32 / u32::MAX as f32
    };
    let mut star = |_: usize| {
        let (z, turn) = (2.0 * chance() - 1.0, std::f32::consts::TAU * chance());
        let flat = (1.0 - z * z).max(0.0).sqrt();
        let brightness = (0.006 / (chance() + 0.006)).sqrt();
        Star { direction: [flat * turn.cos(), flat * turn.sin(), z], star: [brightness, chance()] }
    };
    let mut stars: Vec<Star> = (0..COUNTS[0]).map(&mut star).collect();
    let axis = AXIS.normalize();
    for nth in 0..COUNTS[1] {
        let Star { direction, star } = star(nth);
        // Pressing a sphere flat collects the stars around its great circle.
        let direction = Vec3::from(direction);
        let flat = direction - 0.85 * direction.dot(axis) * axis;
        stars.push(Star { direction: flat.normalize_or(direction).into(), star: [0.6 * star[0], star[1]] });
    }
    stars
}

/// Returns the points of the Milky Way's band, and the corners of the triangles between them. The light of a point
/// decreases with its distance from the middle of the band, and varies: clouds of stars are brighter, dust along the
/// middle is darker.
fn band() -> (Vec<Star>, Vec<u16>) {
    let axis = AXIS.normalize();
    let (first, second) = axis.any_orthonormal_pair();
    let [along, across] = POINTS;
    let mut points = Vec::new();
    for (i, j) in (0..along).flat_map(|i| (0..across).map(move |j| (i, j))) {
        let turn = std::f32::consts::TAU * f32::from(i) / f32::from(along);
        let height = HALF_WIDTH * (2.0 * f32::from(j) / f32::from(across - 1) - 1.0);
        let flat = first * turn.cos() + second * turn.sin();
        let direction = flat * height.cos() + axis * height.sin();
        // The centre of the galaxy is in the direction `first`, where the band is wide, bright and warm.
        let bulge = (0.5 + 0.5 * turn.cos()).powi(4);
        let width = 0.085 + 0.07 * bulge;
        let glow = (-(height / width).powi(2)).exp() * (0.5 + 0.5 * bulge);
        let clouds = 0.15 + 2.4 * noise(direction * 9.0).powi(2) + 0.5 * noise(direction * 31.0).powi(2);
        let lane = (-((height - 0.12 * (noise(direction * 4.0) - 0.5)) / 0.05).powi(2)).exp();
        let dust =
            1.0 - 0.9 * lane * (2.2 * noise(direction * 13.0 + Vec3::splat(9.0)) - 0.3).clamp(0.0, 1.0);
        // The light ends smoothly at both edges of the band.
        let edge = (1.0 - (height / HALF_WIDTH).powi(2)).max(0.0);
        points.push(Star {
            direction: direction.into(),
            star: [glow * clouds * dust * edge, 0.3 + 0.7 * bulge],
        });
    }
    let at = |i: u16, j: u16| i % along * across + j;
    let square = |i: u16, j: u16| {
        let [a, b, c, d] = [at(i, j), at(i + 1, j), at(i, j + 1), at(i + 1, j + 1)];
        [a, b, c, c, b, d]
    };
    let corners = (0..along).flat_map(|i| (0..across - 1).flat_map(move |j| square(i, j)));
    (points, corners.collect())
}

/// Returns smooth noise from 0 to 1 at a point in space (value noise, three octaves).
fn noise(at: Vec3) -> f32 {
    let octave = |at: Vec3| {
        let (cell, share) = (at.floor(), at - at.floor());
        let share = share * share * (Vec3::splat(3.0) - 2.0 * share);
        let corner = |x: f32, y: f32, z: f32| {
            let [x, y, z] = (cell + Vec3::new(x, y, z)).to_array().map(|c| c as i32 as u32);
            let mut hash =
                x.wrapping_mul(0x9e37_79b9) ^ y.wrapping_mul(0x85eb_ca6b) ^ z.wrapping_mul(0xc2b2_ae35);
            hash = (hash ^ (hash >> 15)).wrapping_mul(0x2c1b_3c6d);
            hash = (hash ^ (hash >> 12)).wrapping_mul(0x297a_2d39);
            ((hash ^ (hash >> 15)) >> 8) as f32 / (1 << 24) as f32
        };
        let mix = |a: f32, b: f32, share: f32| a + (b - a) * share;
        let row = |y, z| mix(corner(0.0, y, z), corner(1.0, y, z), share.x);
        let side = |z| mix(row(0.0, z), row(1.0, z), share.y);
        mix(side(0.0), side(1.0), share.z)
    };
    (4.0 * octave(at) + 2.0 * octave(at * 2.1) + octave(at * 4.3)) / 7.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stars_in_view_are_those_that_the_camera_projects_into_the_picture() {
        let all = stars();
        let sky = Sky { brightness: 1.0, covers: false, has_stars: true };
        for yaw in [0.0, 1.0, 2.0, 4.0] {
            let camera = Camera { yaw, ..Camera::default() };
            let seen = visible(&all, &Drawn { camera: camera.clone(), size: (800, 400), sky });
            assert!((100..1500).contains(&seen.len()), "{} stars in view", seen.len());
            let projection = camera.view_projection(2.0);
            let inside = all.iter().filter(|star| {
                let at = projection * Vec3::from(star.direction).extend(0.0);
                at.w > 0.0 && at.x.abs().max(at.y.abs()) < at.w
            });
            assert!(inside.into_iter().all(|star| seen.iter().any(|it| it.direction == star.direction)));
        }
    }

    #[test]
    fn the_milky_way_band_is_dark_at_both_edges_and_bright_between() {
        let (points, corners) = band();
        assert_eq!(corners.len(), 6 * usize::from(POINTS[0]) * usize::from(POINTS[1] - 1));
        assert!(corners.iter().all(|corner| usize::from(*corner) < points.len()));
        let light = |row: &[Star]| row.iter().map(|point| point.star[0]).collect::<Vec<_>>();
        for row in points.chunks(usize::from(POINTS[1])) {
            let light = light(row);
            assert!(light.iter().all(|x| (0.0..=3.1).contains(x)), "{light:?}");
            assert!(light[0] == 0.0 && light[light.len() - 1] == 0.0 && light.iter().any(|x| *x > 0.02));
        }
    }
}
