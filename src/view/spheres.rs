//! Draws bodies as lit balls, with one ray per pixel for the exact outline and depth.

use std::borrow::Cow;
use std::f32::consts::PI;
use std::rc::Rc;

use glium::backend::Context;
use glium::draw_parameters::DepthTest;
use glium::index::{IndexBuffer, IndicesSource, NoIndices, PrimitiveType};
use glium::texture::{ClientFormat, MipmapsOption, RawImage2d, Texture2d, UncompressedFloatFormat};
use glium::{Blend, Depth, DrawParameters, Program, Rect, Surface, VertexBuffer, uniform};

use super::camera::Camera;
use super::cloud::{Body, Cloud, Value};
use super::fill::smooth;
use super::opengl::{PREMULTIPLIED, Source, graphics, source};
use super::points::percentile;
use crate::base::{Look, Result};
use glam::{Vec3, vec3};

/// Minimum radius of a ball in pixels; smaller balls could fall between pixel centres.
const LEAST_RADIUS: f32 = 0.75;

/// Number of ring-shaped zones around the planet for which the shadow of the bodies on the planet is computed.
const ZONES: usize = 96;
/// Radius to which the ring-shaped zones around the planet reach, in radii of the planet. Must match
/// `shaders/spheres.frag`.
const REACH: f32 = 4.0;
/// Largest ratio of |z| to the distance from the z axis at which a body counts as part of a ring. In the scene `belt`,
/// the ratio reaches 0.12.
const FLATNESS: f32 = 0.15;
/// Smallest distance from the z axis, in radii of the planet, at which a body counts as part of a ring. Closer bodies
/// may rest on the planet. The generator `disc` starts its bodies at this distance or farther out.
const INNERMOST: f32 = 1.2;
/// Maximum number of bodies from which the shadow on the planet is computed. If there are more, a sample is used.
const SAMPLE: usize = 32_768;

pub(super) struct Spheres {
    /// Programs that draw bodies and planets with the exact depth of each pixel.
    exact: Programs,
    /// Programs that draw each ball with a single depth, which saves time on a CPU; `None` if every picture is exact.
    sorted: Option<Programs>,
    /// Drawing order for the programs that draw each ball with a single depth. These programs are faster if a hidden
    /// ball is drawn after the balls that hide it.
    order: Order,
    /// Optical depth of the bodies of rings in each ring-shaped zone around the planet, seen along the z axis.
    rings: Texture2d,
    /// Brightness of the flash of a body that has just been hit. Each flash is fainter if more bodies flash at the same
    /// time.
    flash: f32,
    /// Radius of a typical ball, in scene units.
    pub radius: f32,
    planet: (VertexBuffer<Body>, VertexBuffer<Value>),
}

struct Programs {
    rocks: Program,
    planets: Program,
}

impl Programs {
    fn new(context: &Rc<Context>, defines: &str) -> Result<Self> {
        let geometry = Some(include_str!("../../shaders/spheres.geom"));
        let source = Source { geometry, ..source!("spheres") };
        Ok(Self {
            rocks: source.compile_with(context, defines)?,
            planets: source.compile_with(context, &format!("{defines}#define PLANET\n"))?,
        })
    }
}

/// Drawing order of the bodies, by their distance from the eye.
struct Order {
    /// Centres and radii of the bodies; empty if no drawing order is needed.
    bodies: Vec<[f32; 4]>,
    /// Indices of the bodies from the nearest to the farthest, and from the farthest to the nearest.
    indices: [IndexBuffer<u32>; 2],
}

impl Order {
    fn new(context: &Rc<Context>) -> Result<Self> {
        Ok(Self { bodies: Vec::new(), indices: [indices(context, &[])?, indices(context, &[])?] })
    }

    /// Sorts the bodies by their power with respect to the `eye`: the squared distance from the eye, less the squared
    /// radius.
    fn sort(&mut self, context: &Rc<Context>, eye: Vec3) -> Result<()> {
        let power = |[x, y, z, r]: [f32; 4]| (vec3(x, y, z) - eye).length_squared() - r * r;
        let mut keys: Vec<_> = self.bodies.iter().map(|body| power(*body)).zip(0..).collect();
        keys.sort_unstable_by(|(a, _), (b, _)| a.total_cmp(b));
        let nearest_first: Vec<u32> = keys.iter().map(|(_, index)| *index).collect();
        let farthest_first: Vec<u32> = nearest_first.iter().rev().copied().collect();
        for (buffer, order) in self.indices.iter_mut().zip([nearest_first, farthest_first]) {
            if buffer.len() == order.len() {
                buffer.write(&order);
            } else {
                *buffer = indices(context, &order)?;
            }
        }
        Ok(())
    }
}

fn indices(context: &Rc<Context>, of: &[u32]) -> Result<IndexBuffer<u32>> {
    IndexBuffer::dynamic(context, PrimitiveType::Points, of)
        .map_err(graphics("allocate the order of the bodies"))
}

impl Spheres {
    pub(super) fn new(context: &Rc<Context>) -> Result<Self> {
        let body = VertexBuffer::dynamic(context, &[Body { body: [0.0; 4] }]);
        let value = VertexBuffer::dynamic(context, &[Value { value: 0.0 }]);
        let failed = || graphics("allocate the planet's vertex buffers");
        let planet = (body.map_err(failed())?, value.map_err(failed())?);
        let format = UncompressedFloatFormat::F32;
        let rings = Texture2d::empty_with_format(context, format, MipmapsOption::NoMipmap, ZONES as u32, 1);
        Ok(Self {
            exact: Programs::new(context, "")?,
            sorted: None,
            order: Order::new(context)?,
            rings: rings.map_err(graphics("create the texture of the rings' shadow"))?,
            flash: 0.0,
            radius: 0.0,
            planet,
        })
    }

    /// From now on, draws each ball with a single depth in pictures that do not need exact depths. This saves time on a
    /// CPU, but balls that intersect do not meet in a plane.
    pub(super) fn simplify(&mut self, context: &Rc<Context>) -> Result<()> {
        self.sorted = Some(Programs::new(context, "#define SORTED\n")?);
        Ok(())
    }

    /// Measures how large the bodies are, how much light they block from the planet, and how many of them flash after a
    /// hit.
    pub(super) fn measure(&mut self, bodies: &[[f32; 4]], planet: f32) {
        if self.sorted.is_some() {
            bodies.clone_into(&mut self.order.bodies);
        }
        self.radius = percentile(bodies, |body| body[3]);
        self.flash = 1.0 / (1.0 + 20.0 * mean_flash(bodies));
        if planet > 0.0 {
            let data = Cow::from(optical_depths(bodies, planet));
            let raw = RawImage2d { data, width: ZONES as u32, height: 1, format: ClientFormat::F32 };
            self.rings.write(Rect { left: 0, bottom: 0, width: ZONES as u32, height: 1 }, raw);
        }
    }

    /// Draws the bodies, and a planet of radius `planet` at the origin unless the radius is 0. The depth buffer of
    /// `surface` must be cleared to 0, which represents infinity.
    ///
    /// The first pass draws the pixels inside the balls, in any order, with a depth test. The second pass blends the
    /// partly covered pixels of the outlines, so that soft edges show the background. If `needs_depths` is true, every
    /// pixel gets its exact depth.
    pub(super) fn draw(
        &mut self,
        surface: &mut impl Surface,
        cloud: &Cloud,
        (camera, look): (&Camera, &Look),
        (planet, needs_depths): (f32, bool),
    ) -> Result<()> {
        let sorted = self.sorted.as_ref().filter(|_| !needs_depths);
        if sorted.is_some() {
            self.order.sort(&cloud.context, camera.eye())?;
        }
        let Programs { rocks, planets } = sorted.unwrap_or(&self.exact);
        self.planet.0.write(&[Body { body: [0.0, 0.0, 0.0, planet] }]);
        let (width, height) = surface.get_dimensions();
        let [right, up, back] = camera.axes();
        let lens = camera.lens(width as f32 / height as f32);
        let planet_ball = (planet > 0.0).then_some((&self.planet, true));
        let balls = planet_ball.into_iter().chain(cloud.buffers.as_ref().map(|bodies| (bodies, false)));
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
                rings: smooth(&self.rings),
                flash: self.flash,
                edges: edges,
                distance: camera.distance,
                depth_cue: 4.0 * look.depth_cue,
            };
            // Nearer balls cover farther ones. Depth is stored as its reciprocal, which floats resolve evenly at all
            // distances.
            let parameters = DrawParameters {
                depth: Depth { test: DepthTest::IfMore, write: !edges, ..Default::default() },
                blend: if edges { PREMULTIPLIED } else { Blend::default() },
                ..Default::default()
            };
            let order: IndicesSource = match (is_planet, sorted) {
                (false, Some(_)) => (&self.order.indices[usize::from(edges)]).into(),
                _ => NoIndices(PrimitiveType::Points).into(),
            };
            let program = if is_planet { planets } else { rocks };
            let drawn = surface.draw((bodies, values), order, program, &uniforms, &parameters);
            drawn.map_err(graphics("draw the bodies"))?;
        }
        Ok(())
    }
}

/// Returns the mean brightness of the flashes after hits in a sample of the bodies, from 0 to 1.
fn mean_flash(bodies: &[[f32; 4]]) -> f32 {
    let sample = bodies.iter().step_by(bodies.len().div_ceil(SAMPLE).max(1));
    let (count, sum) = sample.fold((0, 0), |(count, sum), body| (count + 1, sum + (body[3].to_bits() & 15)));
    sum as f32 / (15 * count.max(1)) as f32
}

/// Returns the optical depth of the bodies in each ring-shaped zone around the planet: the area of the bodies' discs
/// divided by the area of the zone. Leaves out bodies that are not part of a ring.
fn optical_depths(bodies: &[[f32; 4]], planet: f32) -> Vec<f32> {
    let stride = bodies.len().div_ceil(SAMPLE).max(1);
    let mut depths = vec![0.0; ZONES];
    let zone = |radius: f32| (radius / planet - 1.0) / (REACH - 1.0) * ZONES as f32;
    for &[x, y, z, r] in bodies.iter().step_by(stride) {
        let radius = x.hypot(y);
        let at = zone(radius);
        // The comparisons leave out NaN.
        let is_in_ring = radius > INNERMOST * planet && z.abs() < FLATNESS * radius;
        if is_in_ring && at < ZONES as f32 && r > 0.0 {
            depths[at as usize] += PI * r * r * stride as f32;
        }
    }
    let edge = |nth: usize| planet * (1.0 + (REACH - 1.0) * nth as f32 / ZONES as f32);
    let area = |nth: usize| PI * (edge(nth + 1).powi(2) - edge(nth).powi(2));
    depths.iter().enumerate().map(|(nth, covered)| covered / area(nth)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_optical_depth_of_a_ring_matches_the_area_covered_by_the_bodies() {
        // Bodies at random-looking angles on circles from 1.5 to 2 planet radii.
        let bodies: Vec<[f32; 4]> = (0..100_000)
            .map(|nth| {
                let (angle, share) = (nth as f32 * 2.4, (nth % 1000) as f32 / 1000.0);
                let radius = 0.5 * (1.5f32.powi(2) + share * (4.0 - 1.5f32.powi(2))).sqrt();
                [radius * angle.cos(), radius * angle.sin(), 0.0, 0.001]
            })
            .chain([
                [f32::NAN; 4],
                [0.0, 0.0, 0.0, 1.0],
                [9.0, 0.0, 0.0, 1.0],
                [0.62, 0.0, 0.2, 1.0],
                [0.55, 0.0, 0.0, 1.0],
            ])
            .collect();
        let depths = optical_depths(&bodies, 0.5);
        let even = 100_000.0 * 0.001 * 0.001 / (1.0 - 0.75f32.powi(2));
        let zone = |radii: f32| depths[((radii - 1.0) / (REACH - 1.0) * ZONES as f32) as usize];
        assert!((zone(1.7) / even - 1.0).abs() < 0.1, "{} for {even}", zone(1.7));
        assert_eq!([1.1, 1.24, 2.5].map(zone), [0.0; 3]);
    }
}
