//! Projects points to the screen, and finds the body under a click.

use glam::{Vec3, Vec4Swizzles};

use super::camera::Camera;
use crate::base::{Points, Shape};

/// Maximum distance between a click and the body that it selects, in viewport heights.
const REACH: f32 = 0.03;
/// Maximum number of bodies that one call of [`VisibilitySearch::sees_any`] checks.
const SEARCHED: usize = 16_384;

/// Searches for bodies in view, a part of the bodies at a time, so that a search among millions does not delay a frame.
#[derive(Debug, Default)]
pub struct VisibilitySearch {
    /// Index of the body at which the next call continues the search.
    next: usize,
    /// Number of bodies checked since the last one that was in view.
    unseen: usize,
}

impl VisibilitySearch {
    /// Continues the search with at most 16 384 bodies. Returns false if all bodies have been checked since a body was
    /// last found in view. The picture is `aspect` times as wide as high. A flow always counts as visible.
    pub fn sees_any(&mut self, camera: &Camera, aspect: f32, points: &Points) -> bool {
        let count = points.positions.len();
        if count == 0 || matches!(points.shape, Shape::Tracers { .. }) {
            *self = Self::default();
            return true;
        }
        let project = camera.projector();
        let is_seen = |body: &usize| {
            let [x, y, z, _] = points.positions[*body];
            let at = project(Vec3::new(x, y, z)).filter(|_| points.values[*body] != Points::QUARANTINED);
            at.is_some_and(|([x, y], _)| x.abs() < 0.5 * aspect && y.abs() < 0.5)
        };
        let searched = SEARCHED.min(count);
        let found = (0..searched).map(|nth| (self.next + nth) % count).find(is_seen);
        *self = match found {
            Some(body) => Self { next: body, unseen: 0 },
            None => {
                Self { next: (self.next + searched) % count, unseen: (self.unseen + searched).min(count) }
            }
        };
        self.unseen < count
    }
}

impl Camera {
    /// Returns a point's screen position, in viewport heights from the centre, and its depth; `None` if the point is
    /// behind the eye.
    pub fn project(&self, place: Vec3) -> Option<([f32; 2], f32)> {
        self.projector()(place)
    }

    /// Returns a function that projects points like [`Self::project`], but faster if there are many points.
    pub fn projector(&self) -> impl Fn(Vec3) -> Option<([f32; 2], f32)> + use<> {
        let view_projection = self.view_projection(1.0);
        move |place| {
            let clip = view_projection * place.extend(1.0);
            let at = clip.xy() / (2.0 * clip.w);
            (clip.w > 0.0 && at.is_finite()).then_some(([at.x, -at.y], clip.w))
        }
    }

    /// Projects the points along a line like [`Self::project`]. Where a part of the line is behind the eye, the line is
    /// split: each part in front of the eye becomes a separate line.
    pub fn project_line(&self, line: impl Iterator<Item = Vec3>) -> Vec<Vec<[f32; 2]>> {
        let project = self.projector();
        let shown: Vec<_> = line.map(|at| project(at).map(|(at, _)| at)).collect();
        let parts = shown.split(Option::is_none).filter(|part| part.len() > 1);
        parts.map(|part| part.iter().copied().flatten().collect()).collect()
    }

    /// Returns the point under the `cursor` in the plane through the target that is parallel to the screen.
    pub fn on_plane(&self, cursor: [f32; 2]) -> Vec3 {
        self.target + self.on_target_plane(cursor[0], cursor[1])
    }

    /// Returns the index of the body nearest to the `cursor` on the screen, or `None` if no body is near. If several
    /// are equally near, chooses the one in front. For balls, measures the distance to the edge. Ignores bodies behind
    /// a planet.
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
                (least, nearest) = ((gap, depth), Some(points.body(nth)));
            }
        }
        nearest
    }
}

/// Returns whether a planet of radius `planet` at the origin hides the point `place` from the `eye`.
fn hides(planet: f32, eye: Vec3, place: Vec3) -> bool {
    let way = place - eye;
    // Fraction of the line from the eye to `place`, 0 to 1, at which the line is nearest to the planet's centre.
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
        let mut bodies = points(&[[0.0, 0.0, 0.0, 1.0], [0.3, 0.0, 0.0, 1.0]], Shape::Glow);
        let camera = Camera::default();
        let sees =
            |camera: &Camera, points: &Points| VisibilitySearch::default().sees_any(camera, 1.6, points);
        assert!(sees(&camera, &bodies));
        for target in [Vec3::new(9.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 9.0), Vec3::new(0.0, 30.0, 0.0)] {
            let away = Camera { target, ..camera.clone() };
            assert!(!sees(&away, &bodies), "{target}: beside the picture or behind the eye");
        }
        bodies.values = vec![Points::QUARANTINED; 2].into();
        assert!(!sees(&camera, &bodies), "excluded bodies are not drawn");
        assert!(sees(&camera, &points(&[], Shape::Tracers { half: [1.0; 2] })), "a flow is always there");
    }

    #[test]
    fn the_visibility_search_finds_one_body_in_view_among_many() {
        let mut places = vec![[1e3, 0.0, 0.0, 1.0]; 3 * SEARCHED + 5];
        let (camera, mut search) = (Camera::default(), VisibilitySearch::default());
        places[2 * SEARCHED + 1] = [0.0, 0.0, 0.0, 1.0];
        let near = points(&places, Shape::Glow);
        assert!((0..9).all(|_| search.sees_any(&camera, 1.6, &near)), "found before all were passed");
        places[2 * SEARCHED + 1] = places[0];
        let far = points(&places, Shape::Glow);
        let calls: Vec<_> = (0..6).map(|_| search.sees_any(&camera, 1.6, &far)).collect();
        assert_eq!(calls, [true, true, true, false, false, false], "all bodies must be passed");
        assert!((0..9).any(|_| search.sees_any(&camera, 1.6, &near)), "found again");
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
    fn a_body_behind_the_planet_cannot_be_picked() {
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
    fn a_point_on_the_plane_under_the_cursor_projects_back_to_the_cursor() {
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
