//! Where places of the scene are on the screen, and which body is meant by a click.

use glam::{Vec3, Vec4Swizzles};

use super::Camera;
use crate::bodies::{Points, Shape};

/// A click means a body that is shown at most so far away, in heights of the viewport.
const REACH: f32 = 0.03;

impl Camera {
    /// Where a place is shown, in viewport heights from the middle, y downwards; and its depth. None behind the eye.
    pub fn project(&self, place: Vec3) -> Option<([f32; 2], f32)> {
        self.projector()(place)
    }

    /// The same for many places.
    fn projector(&self) -> impl Fn(Vec3) -> Option<([f32; 2], f32)> + use<> {
        let view_projection = self.view_projection(1.0);
        move |place| {
            let clip = view_projection * place.extend(1.0);
            let at = clip.xy() / (2.0 * clip.w);
            (clip.w > 0.0 && at.is_finite()).then_some(([at.x, -at.y], clip.w))
        }
    }

    /// The place in the target's plane, which faces the eye, that is under the `cursor`.
    pub fn on_plane(&self, cursor: [f32; 2]) -> Vec3 {
        self.target + self.on_target_plane(cursor[0], cursor[1])
    }

    /// The body that is shown nearest to the `cursor`, if one is near: of several the one in front. A ball is as near as its
    /// edge, and a planet hides what is behind it.
    pub fn pick(&self, points: &Points, cursor: [f32; 2]) -> Option<usize> {
        if matches!(points.shape, Shape::Tracers { .. }) {
            return None;
        }
        let cursor = glam::Vec2::from(cursor);
        let (project, eye) = (self.projector(), self.eye());
        let mut nearest = None;
        let mut least = (REACH, f32::INFINITY);
        for (nth, (&[x, y, z, w], value)) in points.positions.iter().zip(points.values.iter()).enumerate() {
            let place = Vec3::new(x, y, z);
            let Some((at, depth)) = project(place) else { continue };
            let radius = match points.shape {
                Shape::Spheres { .. } => w / (2.0 * (self.fov / 2.0).tan() * depth),
                _ => 0.0,
            };
            let gap = (cursor.distance(at.into()) - radius).max(0.0);
            let is_shown = || *value != Points::HELD_OUT && !hides(points.shape.planet(), eye, place);
            if (gap, depth) < least && is_shown() {
                (least, nearest) = ((gap, depth), Some(nth));
            }
        }
        nearest
    }
}

/// Whether a planet of this radius about the origin stands between the `eye` and a `place`.
fn hides(planet: f32, eye: Vec3, place: Vec3) -> bool {
    let way = place - eye;
    // Where on the way, 0 to 1, the planet's middle is nearest.
    let share = -eye.dot(way) / way.length_squared();
    (0.0..1.0).contains(&share) && (eye + way * share).length() < planet
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(positions: &[[f32; 4]], shape: Shape) -> Points {
        let values = vec![1.0; positions.len()].into();
        Points { positions: positions.to_vec().into(), values, shape, ..Points::default() }
    }

    #[test]
    fn a_click_means_the_nearest_body_on_the_screen() {
        let camera = Camera { target: Vec3::new(0.2, 0.1, -0.3), ..Camera::default() };
        let places = [[0.0, 0.0, 0.0, 0.01], [0.5, 0.2, 0.1, 0.01], [-0.4, 0.3, 0.2, 0.01]];
        let mut points = points(&places, Shape::Glow);
        for (nth, [x, y, z, _]) in places.into_iter().enumerate() {
            let ([sx, sy], _) = camera.project(Vec3::new(x, y, z)).unwrap();
            assert_eq!(camera.pick(&points, [sx + 0.005, sy - 0.005]), Some(nth));
            assert_eq!(camera.pick(&points, [sx + 0.2, sy - 0.5]), None, "there is nothing near");
        }
        let ([x, y], _) = camera.project(Vec3::ZERO).unwrap();
        points.values[0] = Points::HELD_OUT;
        assert_eq!(camera.pick(&points, [x, y]), None, "it is not shown");
    }

    #[test]
    fn of_balls_behind_each_other_the_one_in_front_is_meant() {
        let camera = Camera { yaw: 0.0, pitch: 0.0, ..Camera::default() };
        // Seen along y; the front one is off the middle but covers it.
        let balls = [[0.0, 1.0, 0.0, 0.1], [0.05, -1.0, 0.0, 0.1]];
        let points = points(&balls, Shape::Spheres { planet: 0.0 });
        assert_eq!(camera.pick(&points, [0.0, 0.0]), Some(1));
    }

    #[test]
    fn a_planet_hides_what_is_behind_it() {
        let camera = Camera { yaw: 0.0, pitch: 0.0, ..Camera::default() };
        // Seen along y: behind the planet, beside it and in front of it.
        let balls = [[0.1, 1.5, 0.0, 0.02], [0.9, 1.5, 0.0, 0.02], [-0.1, -1.0, 0.0, 0.02]];
        let at = |nth: usize| camera.project(Vec3::new(balls[nth][0], balls[nth][1], 0.0)).unwrap().0;
        let picked =
            |planet| [0, 1, 2].map(|nth| camera.pick(&points(&balls, Shape::Spheres { planet }), at(nth)));
        assert_eq!(picked(0.5), [None, Some(1), Some(2)]);
        assert_eq!(picked(0.0), [Some(0), Some(1), Some(2)], "there is none");
    }

    #[test]
    fn the_plane_under_the_cursor_is_shown_there() {
        let camera = Camera { target: Vec3::new(0.2, 0.1, -0.3), yaw: 1.0, ..Camera::default() };
        let (at, depth) = camera.project(camera.on_plane([0.3, -0.2])).unwrap();
        assert!((at[0] - 0.3).abs() < 1e-5 && (at[1] + 0.2).abs() < 1e-5, "{at:?}");
        assert!((depth - camera.distance).abs() < 1e-4, "it faces the eye");
        assert!(camera.project(camera.eye() * 2.0 - camera.target).is_none(), "behind the eye");
    }
}
