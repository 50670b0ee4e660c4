//! The camera rig, the scene in view, and the last camera of each mode.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use glam::Vec3;

use super::rig::{FollowTarget, Rig};
use crate::base::{Partial, Points, SceneCamera, Shape};
use crate::scene::Scene;
use crate::session::{Frame, Stats};
use crate::view::{self, Camera, Viewport, VisibilitySearch};

/// Minimum time between updates of the view to which the camera moves so that the bodies stay visible.
const KEEP_INTERVAL: Duration = Duration::from_millis(250);

#[derive(Default)]
pub(super) struct Viewpoint {
    pub rig: Rig,
    /// Watches whether bodies are in view.
    pub visibility: VisibilitySearch,
    /// Centre of mass of the shown bodies, while the camera follows the centre of mass.
    centre: Option<Vec3>,
    /// Camera of an opened snapshot, until the snapshot's first frame is shown.
    restored: Option<Camera>,
    /// Identifies the scene in view (see [`Stats::generation`]); 0 makes the camera show all bodies of the next frame.
    generation: u64,
    /// Whether the camera returns to its initial direction the next time it moves to show all bodies.
    resets: bool,
    /// The scene in view. Comparing it with the next scene shows whether the camera must turn to the next scene's
    /// direction.
    scene: Option<Arc<Scene>>,
    /// Camera that showed all bodies when the view was last fitted to them.
    framed: Camera,
    /// Camera settings with which the view was last fitted to the bodies: those of the scene, or none if the user asked
    /// to see all bodies.
    placement: Partial<SceneCamera>,
    /// Whether a newly chosen scene opens with a camera move.
    pub opens_with_move: bool,
    /// Whether the next frame shows an opened snapshot, which never opens with a camera move.
    resumes: bool,
    /// The area of the picture that the camera is adapted to; `None` before the first frame.
    viewport: Option<Viewport>,
    /// View to which the camera slowly moves to keep the bodies in view; `None` if the camera does not do this.
    kept: Option<Camera>,
    /// Time since `kept` was computed.
    kept_for: Duration,
    /// For the name of each mode that was shown: the number of its scene (see [`Stats::generation`]), its last camera,
    /// and whether the user chose this camera (see [`Rig::is_users`]).
    by_mode: HashMap<&'static str, (u64, Camera, bool)>,
}

impl Viewpoint {
    /// Creates a viewpoint with the camera that the text `view` describes. If `view` is empty or invalid, the camera
    /// shows all bodies. `resumes` tells whether the first frame shows a snapshot.
    pub(super) fn new(view: &str, resumes: bool) -> Self {
        Self { restored: Camera::from_words(view), resumes, ..Self::default() }
    }

    /// Sets the camera to use once an opened snapshot is shown. An empty `view` changes nothing.
    pub(super) fn restore(&mut self, view: &str) {
        self.restored = Camera::from_words(view).or(self.restored.take());
        self.resumes = true;
    }

    /// Adapts the camera to the area of the picture. Does not move the camera if `is_held` is true, that is, while the
    /// user drags in the picture or records a film. Returns whether the camera has moved.
    pub(super) fn fit(&mut self, viewport: Viewport, points: &Points, is_held: bool) -> bool {
        let before = self.viewport.replace(viewport).filter(|before| *before != viewport && !is_held);
        let Some(before) = before else { return false };
        let views = self.rig.views().chain([&mut self.framed]).chain(&mut self.kept);
        views.for_each(|camera| camera.refit(points, before, viewport));
        true
    }

    /// Makes the camera show all bodies of the next frame and, if `resets` is true, return to its initial direction.
    pub(super) fn frame_anew(&mut self, resets: bool) {
        self.generation = 0;
        self.resets |= resets;
    }

    /// Returns the camera as text in the snapshot format, or an empty string before the first frame.
    pub(super) fn text(&self) -> String {
        if self.generation == 0 { String::new() } else { self.rig.camera.to_words() }
    }

    /// Returns the camera settings that make a scene open in the current view. `points` are the bodies on the screen.
    pub(super) fn to_scene(&self, points: &Points, viewport: Viewport) -> SceneCamera {
        self.rig.camera.to_scene(&self.framed, points, viewport)
    }

    /// Moves the camera if the scene is new or if the user asked to see all bodies. Returns whether the camera moved.
    /// `scene` is the scene that `frame` shows; `shown` describes the frame on the screen.
    pub(super) fn frame_scene(
        &mut self,
        (frame, scene): (&Frame, &Arc<Scene>),
        shown: &Stats,
        viewport: Viewport,
    ) -> bool {
        let next = &frame.stats;
        let has_bodies = !frame.points.positions.is_empty() || !frame.points.image.values.is_empty();
        if self.generation == next.generation || !has_bodies {
            return false;
        }
        // Each mode keeps its own camera while another mode is shown.
        self.by_mode.insert(shown.mode, (shown.generation, self.rig.camera.clone(), self.rig.is_users));
        let seen = self.by_mode.get(next.mode);
        let is_first = seen.is_none() && shown.mode != next.mode;
        let left = seen.filter(|(generation, ..)| *generation == next.generation && self.generation != 0);
        let left = left.map(|(_, camera, is_users)| (camera.clone(), *is_users));
        let is_other = self.scene.as_ref() != Some(scene);
        let resets = self.takes_camera_of(scene) || is_first;
        let resumes = std::mem::take(&mut self.resumes);
        if let Some((camera, is_users)) = self.restored.take().map(|camera| (camera, true)).or(left) {
            self.framed = camera.clone();
            self.framed.frame_all(&frame.points, viewport);
            self.placement = Partial::default();
            self.rig.jump_to(camera);
            self.rig.is_users = is_users;
        } else {
            self.resets |= resets;
            let camera = self.frame_bodies((frame, scene), shown.generation == next.generation, viewport);
            let is_flat = matches!(frame.points.shape, Shape::Tracers { .. });
            if shown.generation == next.generation {
                self.rig.glide_to(camera);
            } else if is_other && self.opens_with_move && !resumes {
                self.rig.open(camera, !is_flat);
            } else {
                self.rig.jump_to(camera);
            }
        }
        self.kept = None;
        if (shown.mode, shown.generation) != (next.mode, next.generation) {
            self.centre = None;
        }
        self.generation = next.generation;
        true
    }

    /// Records `scene` as the scene in view. Returns whether the camera must turn to the initial direction of `scene`.
    /// A scene that sets no camera keeps the current direction, unless the previous scene has set a camera.
    fn takes_camera_of(&mut self, scene: &Arc<Scene>) -> bool {
        let before = self.scene.replace(scene.clone());
        let is_other = before.as_ref() != Some(scene);
        is_other && !before.is_some_and(|before| before.camera.is_empty() && scene.camera.is_empty())
    }

    /// Returns a camera that shows all bodies of `frame`. `is_same` is true if the scene has not changed.
    fn frame_bodies(
        &mut self,
        (frame, scene): (&Frame, &Scene),
        is_same: bool,
        viewport: Viewport,
    ) -> Camera {
        let resets = std::mem::take(&mut self.resets);
        let mut camera = match resets {
            true => Camera::opening(&scene.camera, frame.points.shape),
            false => self.rig.camera.clone(),
        };
        // The user asked to see all bodies.
        let shows_all = is_same && !resets;
        self.placement = if shows_all { Partial::default() } else { scene.camera.clone() };
        self.framed = camera.frame_scene(&self.placement, &frame.points, viewport);
        camera
    }

    /// Updates `kept` at most once per [`KEEP_INTERVAL`], or clears it if `keeps` is false or there are no bodies.
    /// `is_new` tells whether `points` have changed since the last call.
    pub(super) fn update_kept(&mut self, points: &Points, is_new: bool, (keeps, viewport): (bool, Viewport)) {
        if !keeps || view::middle(points).is_none() {
            self.kept = None;
        } else if self.kept.is_none() || (is_new && self.kept_for >= KEEP_INTERVAL) {
            let mut camera = self.rig.camera.clone();
            camera.frame_scene(&self.placement, points, viewport);
            (self.kept, self.kept_for) = (Some(camera), Duration::ZERO);
        }
    }

    /// Computes the centre of mass if the bodies are new or the centre is unknown.
    pub(super) fn update_centre(&mut self, points: &Points, is_new: bool) {
        if is_new || self.centre.is_none() {
            self.centre = view::middle(points);
        }
    }

    /// Advances the camera's motion. Returns whether the camera is still moving. `body` is the position of the followed
    /// body. If no body is followed and `follows_centre` is true, the camera follows the centre of mass.
    pub(super) fn tick(
        &mut self,
        elapsed: Duration,
        rotates: bool,
        target: FollowTarget,
        (body, follows_centre): (Option<Option<Vec3>>, bool),
    ) -> bool {
        let point = body.unwrap_or_else(|| self.centre.filter(|_| follows_centre));
        let is_moving = self.rig.tick(elapsed, rotates, point.map(|point| (target, point)));
        self.kept_for += elapsed;
        self.kept.as_ref().is_some_and(|camera| self.rig.keep(camera, elapsed)) || is_moving
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use super::*;
    use crate::modes::MODES;

    const SQUARE: Viewport = Viewport { aspect: 1.0, covered: [0.0; 2] };

    /// Returns a scene with a camera.
    fn scene(camera: &[(&str, &str)]) -> Arc<Scene> {
        let mut scene = Scene::clone(&MODES[0].scenes[0]);
        scene.camera = Partial::default();
        camera.iter().for_each(|(key, text)| scene.camera.set(key, text).unwrap());
        Arc::new(scene)
    }

    fn frame(mode: &'static str, generation: u64) -> Frame {
        let points = Points {
            positions: vec![[-1.0, 0.0, 0.0, 1.0], [1.0, 0.5, 0.0, 1.0]].into(),
            ..Points::default()
        };
        Frame { points, stats: Stats { mode, generation, ..Stats::default() }, ..Frame::default() }
    }

    fn settle(viewpoint: &mut Viewpoint) {
        let body = (Some(None), false);
        let target = FollowTarget { mode: "gravity", generation: 1, body: None };
        let frames =
            (0..9000).take_while(|_| viewpoint.tick(Duration::from_millis(50), false, target, body)).count();
        assert!(frames < 9000, "the camera never stops");
    }

    #[test]
    fn selecting_a_scene_plays_the_opening_move_but_a_restart_or_snapshot_does_not() {
        let mut viewpoint = Viewpoint { opens_with_move: true, ..Viewpoint::new("", false) };
        let [first, second] = [scene(&[("pitch", "40")]), scene(&[("pitch", "60")])];
        let mut shown = Stats::default();
        let mut opens = |viewpoint: &mut Viewpoint, generation: u64, scene: &Arc<Scene>| {
            let frame = frame("gravity", generation);
            viewpoint.frame_scene((&frame, scene), &shown, SQUARE);
            shown = frame.stats;
            let begun = viewpoint.rig.camera.clone();
            settle(viewpoint);
            begun != viewpoint.rig.camera
        };
        assert!(opens(&mut viewpoint, 1, &first));
        assert!(!opens(&mut viewpoint, 2, &first), "a restart");
        assert!(opens(&mut viewpoint, 3, &second));
        assert!((viewpoint.rig.camera.distance / viewpoint.framed.distance - 1.0).abs() < 1e-4);
        viewpoint.restore("");
        assert!(!opens(&mut viewpoint, 4, &first), "a snapshot without a view");
        viewpoint.opens_with_move = false;
        assert!(!opens(&mut viewpoint, 5, &second), "switched off");
        let mut resumed = Viewpoint { opens_with_move: true, ..Viewpoint::new("", true) };
        assert!(!opens(&mut resumed, 6, &first), "a snapshot from the command line");
    }

    #[test]
    fn the_camera_refits_when_the_viewport_changes_but_not_during_a_drag() {
        let mut viewpoint = Viewpoint::new("", false);
        let frame = frame("gravity", 1);
        let [wide, narrow] = [1.6, 0.6].map(Viewport::from);
        viewpoint.fit(wide, &frame.points, false);
        viewpoint.frame_scene((&frame, &scene(&[])), &Stats::default(), wide);
        let framed = viewpoint.rig.camera.clone();
        assert!(!viewpoint.fit(wide, &frame.points, false), "nothing has changed");
        assert!(!viewpoint.fit(narrow, &frame.points, true), "during a drag");
        assert!(!viewpoint.fit(narrow, &frame.points, false), "nor after it");
        assert!(viewpoint.rig.camera == framed && !viewpoint.fit(wide, &frame.points, true));
        assert!(viewpoint.fit(narrow, &frame.points, false));
        assert!(viewpoint.rig.camera.distance > 1.2 * framed.distance);
        assert_eq!(viewpoint.rig.camera.distance, viewpoint.framed.distance);
        assert!(viewpoint.fit(wide, &frame.points, false));
        assert!((viewpoint.rig.camera.distance / framed.distance - 1.0).abs() < 1e-5);
    }

    #[test]
    fn the_camera_keeps_spreading_bodies_in_view_at_the_zoom_of_the_scene() {
        let mut viewpoint = Viewpoint::new("", false);
        let mut frame = frame("gravity", 1);
        viewpoint.frame_scene((&frame, &scene(&[("zoom", "2")])), &Stats::default(), SQUARE);
        let before = viewpoint.rig.camera.clone();
        let keep = |viewpoint: &mut Viewpoint, points: &Points, keeps: bool| {
            viewpoint.update_kept(points, true, (keeps, SQUARE));
            settle(viewpoint);
        };
        keep(&mut viewpoint, &frame.points, true);
        assert_eq!(viewpoint.rig.camera, before, "the bodies are where they were");
        let far: Vec<_> =
            frame.points.positions.iter().map(|[x, y, z, m]| [4.0 * x, 4.0 * y, *z, *m]).collect();
        frame.points.positions = far.into();
        keep(&mut viewpoint, &frame.points, false);
        assert_eq!(viewpoint.rig.camera, before, "switched off");
        keep(&mut viewpoint, &frame.points, true);
        let factor = viewpoint.rig.camera.distance / before.distance;
        assert!((factor - 4.0).abs() < 0.05, "{factor}: zoomed in as much as the scene asks for");
    }

    #[test]
    fn switching_back_to_a_mode_restores_the_camera_of_that_mode() {
        let mut viewpoint = Viewpoint::new("", false);
        let (gravity, fluid) = (frame("gravity", 1), frame("fluid", 2));
        assert_eq!(viewpoint.text(), "", "nothing was framed yet");
        let [a, b] = [scene(&[]), scene(&[])];
        assert!(viewpoint.frame_scene((&gravity, &a), &Stats::default(), SQUARE));
        assert!(
            !viewpoint.frame_scene((&gravity, &a), &gravity.stats, SQUARE),
            "the scene is framed already"
        );
        viewpoint.rig.camera.distance = 7.0;
        assert!(viewpoint.frame_scene((&fluid, &b), &gravity.stats, SQUARE));
        assert!(viewpoint.rig.camera.distance != 7.0);
        assert!(viewpoint.frame_scene((&gravity, &a), &fluid.stats, SQUARE));
        assert_eq!(viewpoint.rig.camera.distance, 7.0);
    }

    #[test]
    fn the_camera_of_a_snapshot_overrides_the_camera_of_the_scene_once() {
        let camera = Camera { distance: 9.0, ..Camera::default() };
        let mut viewpoint = Viewpoint::new(&camera.to_words(), false);
        viewpoint.restore("");
        let scene = scene(&[("yaw", "50"), ("zoom", "3")]);
        viewpoint.frame_scene((&frame("gravity", 1), &scene), &Stats::default(), SQUARE);
        assert_eq!(viewpoint.rig.camera, camera);
        viewpoint.frame_scene((&frame("gravity", 2), &scene), &frame("gravity", 1).stats, SQUARE);
        assert!(viewpoint.rig.camera != camera);
    }

    #[test]
    fn selecting_a_scene_applies_the_scene_camera_and_a_restart_keeps_the_direction() {
        let mut viewpoint = Viewpoint::new("", false);
        let top = scene(&[("pitch", "90"), ("zoom", "2")]);
        let is_at = |viewpoint: &Viewpoint, pitch: f32, zoom: f32| {
            let Camera { pitch: found, home, distance, .. } = viewpoint.rig.camera;
            assert!((found - pitch).abs() < 1e-4 && (home / distance / zoom - 1.0).abs() < 1e-4, "{found}");
        };
        let mut shown = Stats::default();
        let mut show = |viewpoint: &mut Viewpoint, generation: u64, scene: &Arc<Scene>| {
            let frame = frame("gravity", generation);
            viewpoint.frame_scene((&frame, scene), &shown, SQUARE);
            while viewpoint.rig.tick(Duration::from_millis(50), false, None) {}
            shown = frame.stats;
        };
        let usual = Camera::default().pitch;
        show(&mut viewpoint, 1, &scene(&[]));
        is_at(&viewpoint, usual, 1.0);
        show(&mut viewpoint, 2, &top);
        is_at(&viewpoint, FRAC_PI_2, 2.0);
        viewpoint.rig.camera.pitch = 0.3;
        show(&mut viewpoint, 3, &top);
        is_at(&viewpoint, 0.3, 2.0);
        viewpoint.frame_anew(false);
        show(&mut viewpoint, 3, &top);
        is_at(&viewpoint, 0.3, 1.0);
        viewpoint.frame_anew(true);
        show(&mut viewpoint, 3, &top);
        is_at(&viewpoint, FRAC_PI_2, 2.0);
        show(&mut viewpoint, 4, &scene(&[]));
        is_at(&viewpoint, usual, 1.0);
        viewpoint.rig.camera.pitch = 0.7;
        show(&mut viewpoint, 5, &scene(&[]));
        is_at(&viewpoint, 0.7, 1.0);
    }

    #[test]
    fn a_view_is_saved_relative_to_the_framing_of_all_bodies() {
        let mut viewpoint = Viewpoint::new("", false);
        let frame = frame("gravity", 1);
        viewpoint.frame_scene((&frame, &scene(&[("pitch", "70")])), &Stats::default(), SQUARE);
        viewpoint.rig.camera.zoom(0.5, [0.0; 2]);
        viewpoint.rig.camera.target.x += 0.25;
        let saved = viewpoint.to_scene(&frame.points, SQUARE);
        for (found, expected) in [(saved.pitch, 70.0), (saved.zoom, 2.0), (saved.x, 0.25), (saved.y, 0.0)] {
            assert!((found - expected).abs() < 1e-4, "{found} for {expected}");
        }
    }

    #[test]
    fn reframing_the_bodies_can_reset_the_camera_direction() {
        let mut viewpoint = Viewpoint::new("", false);
        let (shown, scene) = (frame("gravity", 1), scene(&[]));
        viewpoint.frame_scene((&shown, &scene), &Stats::default(), SQUARE);
        viewpoint.rig.camera.yaw = 2.0;
        for (resets, yaw) in [(false, 2.0), (true, Camera::default().yaw)] {
            viewpoint.frame_anew(resets);
            viewpoint.frame_scene((&shown, &scene), &shown.stats, SQUARE);
            while viewpoint.rig.tick(Duration::from_millis(50), false, None) {}
            assert!((viewpoint.rig.camera.yaw - yaw).abs() < 1e-5, "{resets}");
        }
    }
}
