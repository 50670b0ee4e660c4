//! Projects points to the screen, and finds the body under a click.

use glam::{Vec3, Vec4Swizzles};

use super::camera::Camera;
use crate::base::{Points, Shape};

/// Maximum distance between a click and the body that it selects, in viewport heights.
const REACH: f32 = 0.03;
/// Maximum number of bodies that [`Camera::sees_any`] looks at.
const SEARCHED: usize = 16_384;

impl Camera {
    /// Returns a point's screen position, in viewport heights from the centre, and its depth; `None` if it is behind the eye.
    pub fn project(&self, place: Vec3) -> Option<([f32; 2], f32)> {
        self.projector()(place)
    }

    /// Returns a function that projects points like [`Self::project`], but faster if there are many points.
    fn projector(&self) -> impl Fn(Vec3) -> Option<([f32; 2], f32)> + use<> {
        let view_projection = self.view_projection(1.0);
        move |place| {
            let clip = view_projection * place.extend(1.0);
            let at = clip.xy() / (2.0 * clip.w);
            (clip.w > 0.0 && at.is_finite()).then_some(([at.x, -at.y], clip.w))
        }
    }

    /// Returns the point under the `cursor` in the plane through the target that is parallel to the screen.
    pub fn on_plane(&self, cursor: [f32; 2]) -> Vec3 {
        self.target + self.on_target_plane(cursor[0], cursor[1])
    }

    /// Returns whether at least one body is in a picture that is `aspect` times as wide as high. Looks at no more than
    /// [`SEARCHED`] bodies, evenly chosen. A flow always counts as visible.
    pub fn sees_any(&self, points: &Points, aspect: f32) -> bool {
        let project = self.projector();
        let is_seen = |([x, y, z, _], value): (&[f32; 4], &f32)| {
            let at = project(Vec3::new(*x, *y, *z)).filter(|_| *value != Points::QUARANTINED);
            at.is_some_and(|([x, y], _)| x.abs() < 0.5 * aspect && y.abs() < 0.5)
        };
        let stride = points.positions.len().div_ceil(SEARCHED).max(1);
        let mut bodies = points.positions.iter().zip(points.values.iter()).step_by(stride);
        matches!(points.shape, Shape::Tracers { .. }) || bodies.any(is_seen)
    }

    /// Returns the index of the body nearest to the `cursor` on the screen, or `None` if no body is near. If several are
    /// equally near, chooses the one in front. Measures distances to the edges of balls. Ignores bodies behind a planet.
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
            let is_shown = || *value != Points::QUARANTINED && !hides(points.shape.planet(), eye, place);
            if (gap, depth) < least && is_shown() {
                (least, nearest) = ((gap, depth), Some(nth));
            }
        }
        nearest
    }
}

/// Returns whether a planet of radius `planet` at the origin hides the point `place` from the `eye`.
fn hides(planet: f32, eye: Vec3, place: Vec3) -> bool {
    let way = place - eye;
    // Fraction of the line, 0 to 1, at which the line is nearest to the planet's centre.
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
    fn a_click_picks_the_nearest_body_on_the_screen() {
        let camera = Camera { target: Vec3::new(0.2, 0.1, -0.3), ..Camera::default() };
        let places = [[0.0, 0.0, 0.0, 0.01], [0.5, 0.2, 0.1, 0.01], [-0.4, 0.3, 0.2, 0.01]];
        let mut points = points(&places, Shape::Glow);
        for (nth, [x, y, z, _]) in places.into_iter().enumerate() {
            let ([sx, sy], _) = camera.project(Vec3::new(x, y, z)).unwrap();
            assert_eq!(camera.pick(&points, [sx + 0.005, sy - 0.005]), Some(nth));
            assert_eq!(camera.pick(&points, [sx + 0.2, sy - 0.5]), None, "no body is near");
        }
        let ([x, y], _) = camera.project(Vec3::ZERO).unwrap();
        points.values[0] = Points::QUARANTINED;
        assert_eq!(camera.pick(&points, [x, y]), None, "bodies that are not drawn cannot be picked");
    }

    #[test]
    fn a_camera_that_looks_away_sees_no_body() {
        let bodies = points(&[[0.0, 0.0, 0.0, 1.0], [0.3, 0.0, 0.0, 1.0]], Shape::Glow);
        let camera = Camera::default();
        assert!(camera.sees_any(&bodies, 1.6));
        for target in [Vec3::new(9.0, 0.0, 0.0), Vec3::new(0.0, -9.0, 0.0)] {
            let away = Camera { target, ..camera.clone() };
            assert!(!away.sees_any(&bodies, 1.6), "beside the picture or behind the eye");
        }
        assert!(!camera.sees_any(&Points::default(), 1.6));
        let flow = points(&[], Shape::Tracers { half: [1.0; 2] });
        assert!(camera.sees_any(&flow, 1.6));
        let mut excluded = points(&[[0.0; 4]], Shape::Glow);
        excluded.values[0] = Points::QUARANTINED;
        assert!(!camera.sees_any(&excluded, 1.6), "excluded bodies are not drawn");
    }

    #[test]
    fn a_click_picks_the_front_one_of_overlapping_balls() {
        let camera = Camera { yaw: 0.0, pitch: 0.0, ..Camera::default() };
        // Seen along y, the front ball is off the centre of the picture but covers it.
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
        assert_eq!(picked(0.0), [Some(0), Some(1), Some(2)], "without a planet nothing is hidden");
    }

    #[test]
    fn the_plane_under_the_cursor_is_shown_there() {
        let camera = Camera { target: Vec3::new(0.2, 0.1, -0.3), yaw: 1.0, ..Camera::default() };
        let (at, depth) = camera.project(camera.on_plane([0.3, -0.2])).unwrap();
        assert!((at[0] - 0.3).abs() < 1e-5 && (at[1] + 0.2).abs() < 1e-5, "{at:?}");
        assert!((depth - camera.distance).abs() < 1e-4, "the plane faces the eye");
        assert!(
            camera.project(camera.eye() * 2.0 - camera.target).is_none(),
            "points behind the eye are not projected"
        );
    }
}
