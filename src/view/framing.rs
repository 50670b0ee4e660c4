//! Where to stand to see the bodies: robust, because a few always fly off.

use glam::{DVec3, Vec3};

use crate::bodies::FINITE_LIMIT;

/// The share of the bodies that must be in the picture; the farthest others do not count.
const SHARE: f64 = 0.96;
/// Air around them.
const MARGIN: f64 = 1.12;
/// More bodies than this are looked at by sample: the camera needs no more.
const SAMPLE: usize = 16_384;

/// The camera's opening: half extents at unit distance, and its pitch in radians.
pub struct Frame {
    pub half_width: f32,
    pub half_height: f32,
    pub pitch: f32,
}

impl Frame {
    /// The target and the distance that show the bodies `(x, y, z, m)`; none without a finite body.
    ///
    /// The distance is 0 if all of them are at one place.
    pub fn fit(&self, positions: &[[f32; 4]]) -> Option<(Vec3, f32)> {
        let stride = positions.len().div_ceil(SAMPLE).max(1);
        let mut bodies: Vec<(DVec3, f64)> =
            positions.iter().step_by(stride).filter_map(|p| finite(*p)).collect();
        let centre = centre(&mut bodies)?;
        let mut needed: Vec<f64> = bodies.iter().map(|(x, _)| self.needed(*x - centre)).collect();
        let last = share_of(needed.len());
        let (_, distance, _) = needed.select_nth_unstable_by(last, f64::total_cmp);
        Some((centre.as_vec3(), (*distance * MARGIN) as f32))
    }

    /// The distance from which a body at `offset` from the target is in the picture however far the scene turns
    /// about the z axis.
    ///
    /// On its circle of radius ρ at angle θ a body is ρ cos θ to the side and ρ sin θ cos(pitch) nearer; it is
    /// widest where the sum of the two, each as the frame weighs it, is largest, and lowest where it is nearest.
    fn needed(&self, offset: DVec3) -> f64 {
        let (sin, cos) = f64::from(self.pitch).abs().sin_cos();
        let (rho, z) = (offset.truncate().length(), offset.z.abs());
        let wide = rho * cos.hypot(1.0 / f64::from(self.half_width)) + z * sin;
        let high = (rho * sin + z * cos) / f64::from(self.half_height) + rho * cos + z * sin;
        wide.max(high)
    }
}

/// The place and the weight of a body, unless it is nowhere.
fn finite([x, y, z, m]: [f32; 4]) -> Option<(DVec3, f64)> {
    let place = [x, y, z].iter().all(|c| c.abs() <= FINITE_LIMIT);
    let weight = if m.is_finite() && m > 0.0 { m } else { 0.0 };
    place.then(|| (Vec3::new(x, y, z).as_dvec3(), f64::from(weight)))
}

/// The centre of mass of the bodies nearest to the median: bodies turn about the centre of mass, and the median
/// does not follow those that fly off.
fn centre(bodies: &mut [(DVec3, f64)]) -> Option<DVec3> {
    let middle = bodies.len() / 2;
    let mut median = |axis: usize| {
        let by_axis = |a: &(DVec3, f64), b: &(DVec3, f64)| a.0[axis].total_cmp(&b.0[axis]);
        (!bodies.is_empty()).then(|| bodies.select_nth_unstable_by(middle, by_axis).1.0[axis])
    };
    let median = DVec3::new(median(0)?, median(1)?, median(2)?);
    let last = share_of(bodies.len());
    let by_distance = |a: &(DVec3, f64), b: &(DVec3, f64)| {
        a.0.distance_squared(median).total_cmp(&b.0.distance_squared(median))
    };
    bodies.select_nth_unstable_by(last, by_distance);
    let near = &bodies[..=last];
    let mass: f64 = near.iter().map(|(_, m)| m).sum();
    let mean = |weight: &dyn Fn(f64) -> f64| near.iter().map(|(x, m)| *x * weight(*m)).sum::<DVec3>();
    Some(if mass > 0.0 { mean(&|m| m / mass) } else { mean(&|_| 1.0 / near.len() as f64) })
}

/// The index of the last of `count` sorted bodies that count.
fn share_of(count: usize) -> usize {
    ((count as f64 * SHARE).ceil() as usize).clamp(1, count) - 1
}
