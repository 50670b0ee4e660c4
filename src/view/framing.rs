//! Computes the camera distance at which the bodies are in view, ignoring a few escaping bodies.

use glam::{DVec3, Vec3};

use crate::base::{FINITE_LIMIT, Points, Shape, sample_stride};

/// Minimum fraction of the bodies that the camera must show.
const SHARE: f64 = 0.9;
/// Largest factor by which the camera distance may grow to show all bodies instead of only 90 % of them.
const REACH: f64 = 1.15;
/// Factor by which the camera distance grows to leave a margin around the bodies.
const MARGIN: f64 = 1.05;
/// Maximum number of bodies from which the camera's target and distance are computed. If there are more, a sample is
/// used.
const SAMPLE: usize = 16_384;

/// Maximum number of bodies from which [`middle`] computes the centre. If there are more, a sample is used.
const MIDDLE_SAMPLE: usize = 4_096;

/// Smallest allowed size of a flow's picture that avoids the covered corner, as a fraction of the size that the picture
/// has if it may extend into the corner. If avoiding the corner makes the picture smaller than this, the picture
/// extends into the corner.
const LEAST: f32 = 0.6;

/// The area that shows the bodies: its aspect ratio, and how much of it other parts of the window cover.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Viewport {
    /// Width divided by height.
    pub aspect: f32,
    /// Width and height of the covered part of the upper right corner, in viewport heights; 0 if nothing is covered.
    pub covered: [f32; 2],
}

/// Converts an aspect ratio to a viewport in which nothing is covered.
impl From<f32> for Viewport {
    fn from(aspect: f32) -> Self {
        Self { aspect, covered: [0.0; 2] }
    }
}

impl Viewport {
    /// Returns the place of bodies of this shape in the viewport: the offset of their centre from the viewport's
    /// centre, in viewport heights with y pointing down, and the width and height available to them, as fractions of
    /// the viewport's. Glows and balls take the whole viewport, because only few of them are in the covered corner. A
    /// flow, which is a rectangle, moves down or to the left as far as necessary to avoid that corner.
    pub(super) fn free_part(self, shape: Shape) -> ([f32; 2], [f32; 2]) {
        let (Self { aspect, covered: [wide, high] }, whole) = (self, ([0.0; 2], [1.0; 2]));
        let Shape::Tracers { half: [x, y] } = shape else { return whole };
        // `size` returns the factor from the flow's half width `x` and half height `y` to the full width and height, in
        // viewport heights, of the largest picture of the flow that fits into these fractions of the viewport.
        let size = |[width, height]: [f32; 2]| (width * aspect / x).min(height / y);
        let past_right = |size: f32| 0.5 * (size * x - aspect) + wide;
        let past_top = |size: f32| 0.5 * (size * y - 1.0) + high;
        let most = size(whole.1);
        let (below, beside) = ([1.0, 1.0 - high], [1.0 - wide / aspect, 1.0]);
        let best = size(below).max(size(beside));
        if past_right(most) <= 0.0 || past_top(most) <= 0.0 || best.is_nan() || best < LEAST * most {
            whole
        } else if size(below) > size(beside) {
            ([0.0, past_top(best).max(0.0)], below)
        } else {
            ([-past_right(best).max(0.0), 0.0], beside)
        }
    }
}

/// Returns the planet's position or, without a planet, the bodies' centre of mass, ignoring escaping bodies. Returns
/// `None` for a flow or an empty scene.
pub fn middle(points: &Points) -> Option<Vec3> {
    match points.shape {
        Shape::Spheres { planet } if planet > 0.0 => return Some(Vec3::ZERO),
        Shape::Tracers { .. } => return None,
        Shape::Glow | Shape::Spheres { .. } => {}
    }
    let stride = sample_stride(points.positions.len(), MIDDLE_SAMPLE);
    let sample = points.positions.iter().step_by(stride);
    let mut bodies: Vec<Placed> = sample.filter_map(|p| Placed::of(*p, points.shape)).collect();
    centre(&mut bodies).map(|at| at.as_vec3())
}

/// A camera's view: half its width and half its height at unit distance from the eye, and its pitch and yaw in radians.
pub(super) struct Frame {
    pub half_width: f32,
    pub half_height: f32,
    pub pitch: f32,
    pub yaw: f32,
}

impl Frame {
    /// Returns the camera's target and the distance that shows nearly all bodies, or `None` if no body has a finite
    /// position. The target is the planet if there is one, otherwise the centre of the bodies. The distance is 0 for a
    /// single point.
    pub(super) fn fit(&self, points: &Points) -> Option<(Vec3, f32)> {
        if let Shape::Tracers { half } = points.shape {
            return Some((Vec3::ZERO, (self.plane(half.map(f64::from)) * MARGIN) as f32));
        }
        let planet = f64::from(points.shape.planet());
        let stride = sample_stride(points.positions.len(), SAMPLE);
        let sample = points.positions.iter().step_by(stride);
        let mut bodies: Vec<Placed> = sample.filter_map(|p| Placed::of(*p, points.shape)).collect();
        let centre = if planet > 0.0 { DVec3::ZERO } else { centre(&mut bodies)? };
        let distance = self.distance(&bodies, centre).max(self.needed(DVec3::ZERO, planet));
        Some((centre.as_vec3(), (distance * MARGIN) as f32))
    }

    /// Returns the distance from `centre` at which the camera shows nearly all bodies.
    fn distance(&self, bodies: &[Placed], centre: DVec3) -> f64 {
        if bodies.is_empty() {
            return 0.0;
        }
        let mut needed: Vec<f64> = bodies.iter().map(|b| self.needed(b.at - centre, b.radius)).collect();
        let last = share_of(needed.len());
        let (_, most, beyond) = needed.select_nth_unstable_by(last, f64::total_cmp);
        beyond.iter().fold(*most, |a, b| a.max(*b)).min(*most * REACH)
    }

    /// Returns the distance at which the camera shows the rectangle from (−x, −y) to (x, y) in the plane z = 0.
    fn plane(&self, [x, y]: [f64; 2]) -> f64 {
        let ((sin_yaw, cos_yaw), (sin, cos)) =
            (f64::from(self.yaw).sin_cos(), f64::from(self.pitch).abs().sin_cos());
        let across = x * cos_yaw.abs() + y * sin_yaw.abs();
        let along = x * sin_yaw.abs() + y * cos_yaw.abs();
        let (wide, high) = (across / f64::from(self.half_width), along * sin / f64::from(self.half_height));
        wide.max(high) + along * cos
    }

    /// Returns the distance at which a body at `offset` from the target stays in view under any rotation about the z
    /// axis.
    ///
    /// A body at the angle θ on a circle of radius ρ around the z axis is ρ cos θ to the side and ρ sin θ cos(pitch)
    /// nearer to the eye. The view must be wide enough for the maximum of the weighted sum of both lengths, and high
    /// enough for the point nearest to the eye. The sides of the view are slanted, so a ball of radius r needs more
    /// room than r.
    fn needed(&self, offset: DVec3, radius: f64) -> f64 {
        let (sin, cos) = f64::from(self.pitch).abs().sin_cos();
        let (rho, z) = (offset.truncate().length(), offset.z.abs());
        let [to_side, to_top] = [self.half_width, self.half_height].map(|half| f64::from(half).recip());
        let wide = rho * cos.hypot(to_side) + z * sin + radius * to_side.hypot(1.0);
        let high = (rho * sin + z * cos) * to_top + rho * cos + z * sin + radius * to_top.hypot(1.0);
        wide.max(high)
    }
}

/// A visible body: its finite position, its weight in the computation of the centre, and its radius.
struct Placed {
    at: DVec3,
    weight: f64,
    radius: f64,
}

impl Placed {
    /// Converts a body; returns `None` if the body is hidden or its position is not finite. Balls get equal weights,
    /// because their masses are unknown.
    fn of([x, y, z, w]: [f32; 4], shape: Shape) -> Option<Self> {
        let size = if w.is_finite() && w > 0.0 { f64::from(w) } else { 0.0 };
        let (weight, radius, shown) = match shape {
            Shape::Glow | Shape::Tracers { .. } => (size, 0.0, true),
            Shape::Spheres { .. } => (1.0, size, size > 0.0),
        };
        let is_somewhere = [x, y, z].iter().all(|c| c.abs() <= FINITE_LIMIT);
        (shown && is_somewhere).then(|| Self { at: Vec3::new(x, y, z).as_dvec3(), weight, radius })
    }
}

/// Returns the centre of mass of the 90 % of the bodies nearest to the median position, so that escaping bodies do not
/// affect it. Returns `None` if there are no bodies.
fn centre(bodies: &mut [Placed]) -> Option<DVec3> {
    let middle = bodies.len() / 2;
    let mut median = |axis: usize| {
        let by_axis = |a: &Placed, b: &Placed| a.at[axis].total_cmp(&b.at[axis]);
        (!bodies.is_empty()).then(|| bodies.select_nth_unstable_by(middle, by_axis).1.at[axis])
    };
    let median = DVec3::new(median(0)?, median(1)?, median(2)?);
    let last = share_of(bodies.len());
    let by_distance =
        |a: &Placed, b: &Placed| a.at.distance_squared(median).total_cmp(&b.at.distance_squared(median));
    bodies.select_nth_unstable_by(last, by_distance);
    let near = &bodies[..=last];
    let mass: f64 = near.iter().map(|b| b.weight).sum();
    let mean = |weight: &dyn Fn(f64) -> f64| near.iter().map(|b| b.at * weight(b.weight)).sum::<DVec3>();
    Some(if mass > 0.0 { mean(&|m| m / mass) } else { mean(&|_| 1.0 / near.len() as f64) })
}

/// Returns the index of the last body that must be visible if `count` bodies are sorted by distance and 90 % must be
/// visible.
fn share_of(count: usize) -> usize {
    ((count as f64 * SHARE).ceil() as usize).clamp(1, count) - 1
}
