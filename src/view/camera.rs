//! Orbit camera, which rotates about a target, pans, zooms, and frames the bodies.
//!
//! The z axis points up, because discs lie in the x-y plane. Lengths on the screen are in *viewport heights*, with x to
//! the right and y downwards. The position of the cursor is relative to the centre of the viewport.

use std::f32::consts::{FRAC_PI_2, PI, TAU};

use glam::{Mat4, Vec3};

use super::framing::{self, Viewport};
use crate::base::{Partial, Points, SceneCamera, Shape};

/// A camera that orbits a target: position, direction and field of view.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(default)]
pub struct Camera {
    /// Point that the camera looks at and orbits, in scene units.
    pub target: Vec3,
    /// Rotation about the z axis in radians; at 0, the camera is on the −y side and the x axis points right.
    pub yaw: f32,
    /// Elevation above the x-y plane in radians, from −π/2 to π/2.
    pub pitch: f32,
    /// Distance from the target to the eye, in scene units.
    pub distance: f32,
    /// Vertical field of view in radians.
    pub fov: f32,
    /// Distance from the target at which the camera last framed the bodies, in scene units. Sprites are enlarged when
    /// the camera is closer than this distance, and reduced when it is farther away.
    pub home: f32,
}

/// Allowed distances from the target to the eye, in scene units. The squares of these distances are finite and nonzero
/// in `f32`.
const DISTANCES: std::ops::RangeInclusive<f32> = 1e-15..=1e18;
/// Angle in radians by which a drag across one viewport height rotates the camera.
const RADIANS_PER_HEIGHT: f32 = PI;

impl Default for Camera {
    /// Returns a camera that frames the unit sphere around the origin from 30° above the x-y plane.
    fn default() -> Self {
        Self { target: Vec3::ZERO, yaw: -0.35, pitch: 0.52, distance: 3.0, fov: 0.8, home: 3.0 }
    }
}

impl Camera {
    /// Returns the default camera for bodies of the given shape. The tracers of a flow are viewed from directly above.
    pub fn facing(shape: Shape) -> Self {
        match shape {
            Shape::Glow | Shape::Spheres { .. } => Self::default(),
            Shape::Tracers { .. } => Self { yaw: 0.0, pitch: FRAC_PI_2, ..Self::default() },
        }
    }

    /// Returns the initial camera of a scene. It looks in the direction that `scene` sets, or else in the default
    /// direction for bodies of this shape. [`Camera::frame_scene`] then moves it so that the bodies are in view.
    pub fn opening(scene: &Partial<SceneCamera>, shape: Shape) -> Self {
        let camera = Self::facing(shape);
        if scene.is_empty() {
            return camera;
        }
        let [yaw, pitch] = [camera.yaw, camera.pitch].map(f32::to_degrees);
        let mut place = SceneCamera { yaw, pitch, ..SceneCamera::default() };
        scene.apply(&mut place);
        Self {
            yaw: place.yaw.to_radians().clamp(-TAU, TAU),
            pitch: place.pitch.to_radians().clamp(-FRAC_PI_2, FRAC_PI_2),
            ..camera
        }
    }

    /// Frames the bodies like [`Camera::frame_all`], then zooms and shifts the target as `scene` specifies. Returns the
    /// camera as it was before the zoom and the shift.
    pub fn frame_scene(
        &mut self,
        scene: &Partial<SceneCamera>,
        points: &Points,
        viewport: impl Into<Viewport>,
    ) -> Self {
        self.frame_all(points, viewport);
        let (framed, place) = (self.clone(), scene.complete());
        self.zoom(place.zoom.recip(), [0.0; 2]);
        self.look_at(framed.target + Vec3::new(place.x, place.y, place.z));
        framed
    }

    /// Returns the scene settings that reproduce this view. `framed` is the camera as it last framed the scene's
    /// bodies. `points` are the current bodies, which determine how the framing distance depends on the viewing
    /// direction.
    pub fn to_scene(&self, framed: &Self, points: &Points, viewport: impl Into<Viewport>) -> SceneCamera {
        let viewport = viewport.into();
        let fitting = |camera: &Self| {
            let mut all = camera.clone();
            all.frame_all(points, viewport);
            all.distance
        };
        let home = framed.distance * (fitting(self) / fitting(framed));
        let far = *DISTANCES.end();
        let [x, y, z] = (self.target - framed.target).clamp(Vec3::splat(-far), Vec3::splat(far)).to_array();
        SceneCamera {
            yaw: self.yaw.to_degrees().clamp(-360.0, 360.0),
            pitch: self.pitch.to_degrees().clamp(-90.0, 90.0),
            zoom: (home / self.distance).clamp(1e-6, 1e6),
            x,
            y,
            z,
        }
    }

    /// Returns the camera as text, in the format that snapshots store.
    pub fn to_words(&self) -> String {
        toml::to_string(self).unwrap_or_default()
    }

    /// Parses text from [`Camera::to_words`]; returns `None` if the text is empty or does not describe a valid camera.
    pub fn from_words(words: &str) -> Option<Self> {
        if words.trim().is_empty() {
            return None;
        }
        toml::from_str(words).ok().filter(Self::is_sound)
    }

    /// Returns whether all values of the camera are in range. The values of a camera from a file may be out of range.
    pub fn is_sound(&self) -> bool {
        let Self { target, yaw, pitch, distance, fov, home } = self;
        let distances = [distance, home].into_iter().all(|length| DISTANCES.contains(length));
        let direction = yaw.abs() <= TAU && pitch.abs() <= FRAC_PI_2;
        distances && direction && (0.01..=3.0).contains(fov) && target.abs().max_element() <= *DISTANCES.end()
    }

    /// Returns the point (x, y) under the `cursor` in the plane z = 0, or `None` if the cursor is above the horizon.
    pub fn on_ground(&self, cursor: [f32; 2]) -> Option<[f32; 2]> {
        let [_, _, back] = self.axes();
        let at = self.target + self.on_target_plane(cursor[0], cursor[1]);
        let (eye, ray) = (self.eye(), at - self.eye());
        let share = -eye.z / ray.z;
        let hit = eye + ray * share;
        (share > 0.0 && hit.is_finite() && back.z.abs() > 1e-3).then_some([hit.x, hit.y])
    }

    /// Returns the on-screen length, in viewport heights, of one scene unit at the target's distance.
    pub fn heights_per_unit(&self) -> f32 {
        (2.0 * (self.fov / 2.0).tan() * self.distance).recip()
    }

    /// Returns the side length of the small grid squares in scene units: the largest power of ten up to 0.12 times the
    /// camera's distance.
    pub fn grid_spacing(&self) -> f32 {
        10f32.powf((self.distance * 0.12).log10().floor())
    }

    /// Rotates the camera about the target in response to a drag of `(dx, dy)` viewport heights; stops at the poles.
    pub fn orbit(&mut self, dx: f32, dy: f32) {
        let yaw = (self.yaw - dx * RADIANS_PER_HEIGHT).rem_euclid(TAU);
        let pitch = (self.pitch + dy * RADIANS_PER_HEIGHT).clamp(-FRAC_PI_2, FRAC_PI_2);
        if yaw.is_finite() && pitch.is_finite() {
            (self.yaw, self.pitch) = (yaw, pitch);
        }
    }

    /// Pans by `(dx, dy)` viewport heights. During a drag, the point that is under the cursor, at the target's
    /// distance, stays under the cursor.
    pub fn pan(&mut self, dx: f32, dy: f32) {
        self.look_at(self.target - self.on_target_plane(dx, dy));
    }

    /// Multiplies the distance to the target by `factor`. The point under the `cursor`, at the target's distance, stays
    /// in place on the screen.
    pub fn zoom(&mut self, factor: f32, cursor: [f32; 2]) {
        let distance = (self.distance * factor).clamp(*DISTANCES.start(), *DISTANCES.end());
        if factor > 0.0 && distance.is_finite() {
            let under_cursor = self.on_target_plane(cursor[0], cursor[1]);
            self.look_at(self.target + under_cursor * (1.0 - distance / self.distance));
            self.distance = distance;
        }
    }

    /// Frames the bodies without changing the viewing direction. The target is the planet if there is one, otherwise
    /// the centre of the bodies. From the chosen distance, at least 90 % of the bodies are visible at any rotation
    /// about the z axis, or all of them if that takes only a little more distance. A single point is viewed from a
    /// distance of 3. A flow fills the part of the viewport that is not covered. Does nothing if no body has a finite
    /// position.
    pub fn frame_all(&mut self, points: &Points, viewport: impl Into<Viewport>) {
        let viewport = viewport.into();
        let ([x, y], [width, height]) = viewport.free_part(points.shape);
        let [half_width, half_height] = self.lens(viewport.aspect);
        let (half_width, half_height) = (half_width * width, half_height * height);
        let frame = framing::Frame { half_width, half_height, pitch: self.pitch, yaw: self.yaw };
        let Some((centre, distance)) = frame.fit(points) else { return };
        self.look_at(centre);
        // At a distance of a few ulps of the target's coordinates, eye and target would round to the same point.
        let floor = (centre.abs().max_element() * 1e-5).max(*DISTANCES.start());
        let distance = if distance > 0.0 { distance } else { 3.0 };
        self.distance = distance.clamp(floor, *DISTANCES.end());
        self.home = self.distance;
        self.pan(x, y);
    }

    /// Adapts the camera to a viewport that changes from `before` to `after`, so that `points` fill the same fraction
    /// of the viewport.
    pub fn refit(&mut self, points: &Points, before: Viewport, after: Viewport) {
        let [before, after] = [before, after].map(|viewport| {
            let mut framed = self.clone();
            framed.frame_all(points, viewport);
            framed
        });
        self.look_at(self.target + (after.target - before.target) * (self.distance / before.distance));
        self.recede(after.distance / before.distance);
    }

    /// Multiplies the distance to the target by `factor`, without changing the size of sprites on the screen.
    pub fn recede(&mut self, factor: f32) {
        if factor.is_finite() && factor > 0.0 {
            let times = |length: f32| (length * factor).clamp(*DISTANCES.start(), *DISTANCES.end());
            (self.distance, self.home) = (times(self.distance), times(self.home));
        }
    }

    /// Returns the matrix that transforms scene coordinates to OpenGL's clip space, for a viewport `aspect` times as
    /// wide as high. The far plane is at infinity, and the near plane is at a thousandth of the target's distance.
    pub fn view_projection(&self, aspect: f32) -> Mat4 {
        let [right, up, back] = self.axes();
        // `Mat4::look_at` would lose the up direction at the poles.
        let rotation =
            Mat4::from_cols(right.extend(0.0), up.extend(0.0), back.extend(0.0), glam::Vec4::W).transpose();
        let view = Mat4::from_translation(Vec3::NEG_Z * self.distance)
            * rotation
            * Mat4::from_translation(-self.target);
        Mat4::perspective_infinite_rh(self.fov, sane(aspect), self.near()) * view
    }

    /// Returns the distance from the eye to the near plane, in scene units.
    pub(super) fn near(&self) -> f32 {
        self.distance * 1e-3
    }

    /// Returns the position of the eye, in scene coordinates.
    pub(super) fn eye(&self) -> Vec3 {
        self.target + self.axes()[2] * self.distance
    }

    /// Returns half the width and half the height of the view at unit distance from the eye.
    pub(super) fn lens(&self, aspect: f32) -> [f32; 2] {
        let half_height = (self.fov / 2.0).tan();
        [half_height * sane(aspect), half_height]
    }

    /// Returns the factor by which to enlarge sprites in close views. Sprites grow more slowly than the gaps between
    /// bodies.
    pub(super) fn closeness(&self) -> f32 {
        (self.home / self.distance).sqrt().clamp(0.25, 8.0)
    }

    /// Returns the unit vectors that point right, up, and from the target to the eye, in scene coordinates.
    pub(super) fn axes(&self) -> [Vec3; 3] {
        let ((sin_yaw, cos_yaw), (sin_pitch, cos_pitch)) = (self.yaw.sin_cos(), self.pitch.sin_cos());
        let right = Vec3::new(cos_yaw, sin_yaw, 0.0);
        let back = Vec3::new(sin_yaw * cos_pitch, -cos_yaw * cos_pitch, sin_pitch);
        [right, back.cross(right), back]
    }

    /// Returns the vector from the target to a point in the plane through the target that is parallel to the screen.
    /// The point is shown at `(x, y)` viewport heights.
    pub(super) fn on_target_plane(&self, x: f32, y: f32) -> Vec3 {
        let [right, up, _] = self.axes();
        (right * x - up * y) * (2.0 * (self.fov / 2.0).tan() * self.distance)
    }

    /// Moves the camera's target to `target`, without rotating the camera. Ignores positions that are not finite.
    fn look_at(&mut self, target: Vec3) {
        if target.is_finite() {
            self.target = target.clamp(Vec3::splat(-1e18), Vec3::splat(1e18));
        }
    }
}

/// Clamps an aspect ratio to a usable range; the ratio of a minimised window is 0 or NaN.
fn sane(aspect: f32) -> f32 {
    if aspect.is_finite() { aspect.clamp(0.01, 100.0) } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use glam::{Vec2, Vec4Swizzles};
    use proptest::num::f32::ANY;
    use proptest::prelude::*;

    use super::*;

    const ASPECT: f32 = 1.6;

    /// Returns the screen position of a point, in viewport heights from the centre.
    fn shown(camera: &Camera, point: Vec3) -> Vec2 {
        camera.project(point).unwrap().0.into()
    }

    fn glows(positions: &[[f32; 4]]) -> Points {
        Points { positions: positions.to_vec().into(), ..Points::default() }
    }

    /// Returns a default camera that has framed bodies at the given positions.
    fn framing(positions: &[[f32; 4]]) -> Camera {
        let mut camera = Camera::default();
        camera.frame_all(&glows(positions), ASPECT);
        camera
    }

    fn in_picture(camera: &Camera, aspect: f32, [x, y, z, _]: [f32; 4]) -> bool {
        let clip = camera.view_projection(aspect) * Vec3::new(x, y, z).extend(1.0);
        clip.w > 0.0 && clip.xyz().abs().max_element() <= clip.w
    }

    prop_compose! {
        fn cameras()(target in prop::array::uniform3(-3.0f32..3.0), yaw in 0.0f32..6.3,
                     pitch in -1.57f32..1.57, distance in 0.5f32..20.0) -> Camera {
            Camera { target: target.into(), yaw, pitch, distance, ..Default::default() }
        }
    }

    fn cursors() -> impl Strategy<Value = Vec2> {
        prop::array::uniform2(-0.5f32..0.5).prop_map(Vec2::from)
    }

    #[test]
    fn a_framed_flow_is_upright_and_fills_the_picture() {
        for (half, aspect) in [([1.0, 0.3], 1.6), ([1.0, 1.0], 1.6), ([0.2, 1.0], 0.7)] {
            let shape = Shape::Tracers { half };
            let mut camera = Camera::facing(shape);
            camera.frame_all(&Points { shape, ..Points::default() }, aspect);
            let corner = |x: f32, y: f32| {
                let clip =
                    camera.view_projection(aspect) * Vec3::new(x * half[0], y * half[1], 0.0).extend(1.0);
                clip.xy() / clip.w
            };
            let [a, b] = [corner(1.0, 1.0), corner(-1.0, -1.0)];
            let is_upright = a.x > 0.0 && a.y > 0.0 && (a + b).length() < 1e-5;
            assert!(is_upright, "x is to the right and y is up: {a} {b}");
            assert!((0.9..1.0).contains(&a.x.max(a.y)), "{half:?} in {aspect}: {a}");
        }
    }

    /// Returns the rectangle of a flow on the screen: left, top, right and bottom in viewport heights from the centre.
    fn rectangle(camera: &Camera, [x, y]: [f32; 2]) -> [f32; 4] {
        let [low, high] = [Vec3::new(-x, y, 0.0), Vec3::new(x, -y, 0.0)].map(|at| shown(camera, at));
        [low.x, low.y, high.x, high.y]
    }

    #[test]
    fn a_framed_flow_avoids_the_covered_corner_if_enough_area_is_left() {
        let viewport = Viewport { aspect: 1.2, covered: [0.4, 0.15] };
        for (half, avoids) in
            [([1.0, 0.3], false), ([1.0, 1.0], true), ([1.0, 0.8], true), ([0.2, 1.0], false)]
        {
            let shape = Shape::Tracers { half };
            let points = Points { shape, ..Points::default() };
            let mut camera = Camera::facing(shape);
            camera.frame_all(&points, viewport);
            let [left, top, right, bottom] = rectangle(&camera, half);
            assert!(left > -0.6 && right < 0.6 && top > -0.5 && bottom < 0.5, "{half:?} is in the picture");
            assert!(right < 0.2 || top > -0.35, "{half:?} is not covered");
            let is_centred = (left + right).abs() < 1e-4 && (top + bottom).abs() < 1e-4;
            assert_eq!(is_centred, !avoids, "{half:?} stands in the middle unless it would be covered");
            let fills = (right - left).max(bottom - top);
            assert!(fills > 0.75, "{half:?} fills the free part: {fills}");
        }
        let mut camera = Camera::default();
        let bodies = glows(&[[-1.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 1.0]]);
        camera.frame_all(&bodies, viewport);
        assert_eq!(camera.target, Vec3::ZERO, "bodies stay in the middle");
        let tiny = Viewport { aspect: 0.5, covered: [0.5, 0.9] };
        let shape = Shape::Tracers { half: [1.0, 1.0] };
        camera.frame_all(&Points { shape, ..Points::default() }, tiny);
        assert_eq!(camera.target, Vec3::ZERO, "in a tiny window, nothing would be left");
    }

    #[test]
    fn refitting_to_another_viewport_shows_the_same_part_and_is_reversible() {
        let flow = Shape::Tracers { half: [1.0, 0.9] };
        let bodies = glows(&[[-1.0, 0.2, 0.0, 1.0], [1.0, 0.0, 0.1, 1.0]]);
        let (wide, narrow) = (Viewport::from(1.6), Viewport { aspect: 0.8, covered: [0.3, 0.1] });
        for points in [Points { shape: flow, ..Points::default() }, bodies] {
            let mut camera = Camera::facing(points.shape);
            camera.frame_all(&points, wide);
            let framed = camera.clone();
            camera.refit(&points, wide, narrow);
            let mut expected = framed.clone();
            expected.frame_all(&points, narrow);
            assert!((camera.distance / expected.distance - 1.0).abs() < 1e-5, "{:?}", points.shape);
            assert!(camera.target.distance(expected.target) < 1e-5, "{:?}", points.shape);
            assert!(camera.distance > 1.2 * framed.distance, "a narrow viewport needs more distance");
            camera.refit(&points, narrow, wide);
            assert!((camera.distance / framed.distance - 1.0).abs() < 1e-5);
            assert!(camera.target.distance(framed.target) < 1e-5);
            camera.zoom(0.3, [0.0; 2]);
            let near = camera.distance;
            camera.refit(&points, wide, narrow);
            assert!((camera.distance / near - expected.distance / framed.distance).abs() < 1e-4);
        }
    }

    #[test]
    fn a_camera_round_trips_through_text_and_bad_text_is_rejected() {
        let camera =
            Camera { target: Vec3::new(0.3, -0.2, 0.7), yaw: 1.25, distance: 7.5, ..Camera::default() };
        assert_eq!(Camera::from_words(&camera.to_words()), Some(camera));
        for words in ["", "\n", "yaw = nan", "distance = -1.0", "nonsense"] {
            assert_eq!(Camera::from_words(words), None, "{words:?}");
        }
    }

    #[test]
    fn a_scene_sets_direction_zoom_and_shift_relative_to_all_bodies() {
        let points = glows(&[[5.0, 6.0, 7.0, 1.0], [7.0, 6.0, 7.0, 1.0]]);
        let mut scene = Partial::<SceneCamera>::default();
        assert_eq!(Camera::opening(&scene, points.shape), Camera::default(), "a scene may set nothing");
        for (key, text) in [("pitch", "90"), ("yaw", "360"), ("zoom", "4"), ("z", "-2")] {
            scene.set(key, text).unwrap();
        }
        let mut camera = Camera::opening(&scene, points.shape);
        assert_eq!((camera.yaw, camera.pitch), (TAU, FRAC_PI_2));
        let framed = camera.frame_scene(&scene, &points, ASPECT);
        assert_eq!((framed.target, camera.target), (Vec3::new(6.0, 6.0, 7.0), Vec3::new(6.0, 6.0, 5.0)));
        assert!((framed.distance / camera.distance - 4.0).abs() < 1e-5 && camera.is_sound());
        assert_eq!(camera.home, framed.distance, "home is the distance that shows all bodies");
    }

    #[test]
    fn a_view_round_trips_through_the_settings_of_a_scene() {
        let points = glows(&[[-1.0, 0.0, 0.0, 1.0], [3.0, 0.0, 0.5, 1.0]]);
        let mut camera = Camera::default();
        let framed = camera.frame_scene(&Partial::default(), &points, ASPECT);
        camera.orbit(0.3, 0.1);
        camera.pan(0.2, -0.4);
        camera.zoom(0.3, [0.1, 0.2]);
        let scene = Partial::all(&camera.to_scene(&framed, &points, ASPECT));
        let mut again = Camera::opening(&scene, points.shape);
        again.frame_scene(&scene, &points, ASPECT);
        assert!((again.yaw - camera.yaw).abs() < 1e-5 && (again.pitch - camera.pitch).abs() < 1e-5);
        assert!(again.target.distance(camera.target) < 1e-5 * camera.distance);
        assert!((again.distance / camera.distance - 1.0).abs() < 1e-5);
        let far = Camera { target: Vec3::splat(1e18), distance: 1e-15, home: 1e18, ..camera };
        let settings = far.to_scene(&Camera { target: Vec3::splat(-1e18), ..framed }, &points, ASPECT);
        assert_eq!(Partial::all(&settings).complete(), settings, "every view is in range");
    }

    #[test]
    fn the_ground_under_the_cursor_is_found() {
        let camera = Camera { target: Vec3::new(0.3, -0.2, 0.0), yaw: 0.4, pitch: 0.9, ..Camera::default() };
        for point in [[0.0, 0.0], [0.5, 0.1], [-0.4, 0.6]] {
            let at = shown(&camera, Vec3::new(point[0], point[1], 0.0));
            let found = Vec2::from(camera.on_ground(at.into()).unwrap());
            assert!(found.distance(point.into()) < 1e-4, "{found} for {point:?}");
        }
        let low = Camera { pitch: 0.1, ..camera };
        assert_eq!(low.on_ground([0.0, -0.5]), None, "above the horizon there is no ground");
    }

    #[test]
    fn z_points_up_and_a_drag_rotates_the_near_side_with_the_cursor() {
        let mut camera = Camera { yaw: 0.0, ..Default::default() };
        assert!(shown(&camera, Vec3::Z).y < -0.1, "z points up");
        assert!(shown(&camera, Vec3::X).x > 0.1, "x points right");
        let near_side = shown(&camera, Vec3::NEG_Y * 0.1);
        camera.orbit(0.01, 0.0);
        assert!(shown(&camera, Vec3::NEG_Y * 0.1).x > near_side.x, "the near side follows to the right");
        camera.orbit(0.0, 0.01);
        assert!(shown(&camera, Vec3::NEG_Y * 0.1).y > near_side.y, "the near side follows downwards");
    }

    #[test]
    fn bodies_are_framed_about_their_centre_of_mass() {
        for nothing in [&[][..], &[[f32::NAN, 0.0, 0.0, 1.0]]] {
            assert_eq!(framing(nothing), Camera::default());
        }
        let camera = framing(&[[5.0, 6.0, 7.0, 1.0]]);
        assert_eq!((camera.target, camera.distance), (Vec3::new(5.0, 6.0, 7.0), 3.0));
        let camera = framing(&[[-1.0, 0.0, 0.0, 3.0], [3.0, 0.0, 0.0, 1.0]]);
        assert!(camera.target.length() < 1e-6);
        assert!(in_picture(&camera, ASPECT, [3.0, 0.0, 0.0, 1.0]));
        assert!((0.35..0.8).contains(&shown(&camera, Vec3::X * 3.0).x), "the bodies fill the picture");
    }

    #[test]
    fn framing_shows_all_balls_around_a_planet() {
        let mut camera = Camera { pitch: 0.0, ..Default::default() };
        let positions = [[3.0, 0.0, 0.0, 0.1], [2.9, 0.1, 0.0, 0.0]];
        for (planet, target, half_height) in
            [(1.0, Vec3::ZERO, 1.0), (20.0, Vec3::ZERO, 20.0), (0.0, Vec3::X * 3.0, 0.1)]
        {
            let shape = Shape::Spheres { planet };
            camera.frame_all(&Points { shape, ..glows(&positions) }, ASPECT);
            assert_eq!(camera.target, target, "a planet of {planet}");
            let cone = (half_height / camera.distance).asin();
            let range = if planet == 1.0 { 0.0 } else { 0.45 * camera.fov }..camera.fov / 2.0;
            assert!(range.contains(&cone), "a planet of {planet} from {}", camera.distance);
        }
    }

    #[test]
    fn framing_ignores_far_outliers() {
        let mut ring: Vec<[f32; 4]> =
            (0..100).map(|i| (i as f32).sin_cos()).map(|(y, x)| [x, y, 0.0, 1.0]).collect();
        let without = framing(&ring).distance;
        ring.extend([[1e6, 0.0, 0.0, 1.0], [0.0, 0.0, -1e17, 1.0], [f32::INFINITY, 0.0, 0.0, 1.0]]);
        let with = framing(&ring).distance;
        assert!((with / without - 1.0).abs() < 0.3, "{with} {without}");
    }

    proptest! {
        #[test]
        fn orbiting_keeps_the_distance_to_the_target(mut camera in cameras(), by in cursors()) {
            let before = camera.clone();
            camera.orbit(by.x, by.y);
            prop_assert!((camera.eye().distance(camera.target) / before.distance - 1.0).abs() < 1e-4);
            prop_assert_eq!(camera.target, before.target);
            prop_assert!(shown(&camera, camera.target).length() < 1e-4);
        }

        #[test]
        fn pan_keeps_the_point_under_the_cursor(mut camera in cameras(), from in cursors(), to in cursors()) {
            let point = camera.target + camera.on_target_plane(from.x, from.y);
            prop_assert!(shown(&camera, point).distance(from) < 1e-3);
            camera.pan(to.x - from.x, to.y - from.y);
            prop_assert!(shown(&camera, point).distance(to) < 1e-3);
        }

        #[test]
        fn zoom_keeps_the_point_under_the_cursor(
            mut camera in cameras(), at in cursors(), factor in 0.2f32..5.0,
        ) {
            let (point, before) = (camera.target + camera.on_target_plane(at.x, at.y), camera.distance);
            camera.zoom(factor, at.into());
            prop_assert!(shown(&camera, point).distance(at) < 1e-3);
            prop_assert!((camera.distance / (before * factor) - 1.0).abs() < 1e-5);
        }

        #[test]
        fn framed_bodies_stay_in_the_picture_under_rotation(
            cloud in prop::collection::vec(prop::array::uniform3(-1.0f32..1.0), 1..200),
            (scale, flat, aspect) in (1e-6f32..1e6, 0.0f32..1.0, 0.4f32..3.0),
            (mut camera, turn) in (cameras(), 0.0f32..1.0),
        ) {
            let body = |[x, y, z]: &[f32; 3]| [x * scale, y * scale, z * scale * flat, 1.0];
            let bodies: Vec<[f32; 4]> = cloud.iter().map(body).collect();
            camera.frame_all(&glows(&bodies), aspect);
            camera.orbit(turn, 0.0);
            let inside = bodies.iter().filter(|b| in_picture(&camera, aspect, **b)).count();
            prop_assert!(inside * 10 >= bodies.len() * 9, "{inside} of {}", bodies.len());
        }

        #[test]
        fn matrices_stay_finite_for_any_input(
            bodies in prop::collection::vec(prop::array::uniform4(ANY), 0..20),
            (dx, dy, factor, aspect) in (ANY, ANY, ANY, ANY),
        ) {
            let mut camera = Camera::default();
            camera.frame_all(&glows(&bodies), aspect);
            prop_assert!(camera.view_projection(aspect).is_finite(), "{camera:?}");
            camera.orbit(dx, dy);
            camera.pan(dy, dx);
            camera.zoom(factor, [dx, dy]);
            prop_assert!(camera.view_projection(aspect).is_finite(), "{camera:?}");
        }
    }
}
