//! The camera rig, the scene in view, and the last camera of each mode.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use glam::Vec3;

use super::rig::{FollowTarget, Rig};
use crate::base::{Partial, Points, SceneCamera};
use crate::scene::Scene;
use crate::session::{Frame, Stats};
use crate::view::{self, Camera, Lookout};

#[derive(Default)]
pub(super) struct Viewpoint {
    pub rig: Rig,
    /// Watches whether bodies are in view.
    pub lookout: Lookout,
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
    /// The camera as it last framed all bodies.
    framed: Camera,
    /// Last camera of each mode that was shown, by mode name, with the number of its scene (see [`Stats::generation`]).
    by_mode: HashMap<&'static str, (u64, Camera)>,
}

impl Viewpoint {
    /// Creates a viewpoint with the camera that the text `view` describes. If `view` is empty or invalid, the camera
    /// shows all bodies.
    pub(super) fn new(view: &str) -> Self {
        Self { restored: Camera::from_words(view), ..Self::default() }
    }

    /// Sets the camera to use once an opened snapshot is shown. An empty `view` changes nothing.
    pub(super) fn restore(&mut self, view: &str) {
        self.restored = Camera::from_words(view).or(self.restored.take());
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
    pub(super) fn to_scene(&self, points: &Points, aspect: f32) -> SceneCamera {
        self.rig.camera.to_scene(&self.framed, points, aspect)
    }

    /// Moves the camera if the scene is new or if the user asked to see all bodies. Returns whether the camera moved.
    /// `scene` is the scene that `frame` shows; `shown` describes the frame on the screen.
    pub(super) fn frame_scene(
        &mut self,
        (frame, scene): (&Frame, &Arc<Scene>),
        shown: &Stats,
        aspect: f32,
    ) -> bool {
        let next = &frame.stats;
        let has_bodies = !frame.points.positions.is_empty() || !frame.points.image.values.is_empty();
        if self.generation == next.generation || !has_bodies {
            return false;
        }
        // Each mode keeps its own camera while another mode is shown.
        self.by_mode.insert(shown.mode, (shown.generation, self.rig.camera.clone()));
        let seen = self.by_mode.get(next.mode);
        let is_first = seen.is_none() && shown.mode != next.mode;
        let kept = seen.filter(|(generation, _)| *generation == next.generation && self.generation != 0);
        let kept = kept.map(|(_, camera)| camera.clone());
        let resets = self.takes_camera_of(scene) || is_first;
        if let Some(camera) = self.restored.take().or(kept) {
            self.framed = camera.clone();
            self.framed.frame_all(&frame.points, aspect);
            self.rig.jump_to(camera);
        } else {
            self.resets |= resets;
            self.frame_bodies((frame, scene), shown.generation == next.generation, aspect);
        }
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

    /// Moves the camera so that it shows all bodies of `frame`: gradually if the scene has not changed (`is_same`), at
    /// once otherwise.
    fn frame_bodies(&mut self, (frame, scene): (&Frame, &Scene), is_same: bool, aspect: f32) {
        let resets = std::mem::take(&mut self.resets);
        let mut camera = match resets {
            true => Camera::opening(&scene.camera, frame.points.shape),
            false => self.rig.camera.clone(),
        };
        // The user asked to see all bodies.
        let shows_all = is_same && !resets;
        let settings = if shows_all { &Partial::default() } else { &scene.camera };
        self.framed = camera.frame_scene(settings, &frame.points, aspect);
        match is_same {
            true => self.rig.glide_to(camera),
            false => self.rig.jump_to(camera),
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
        self.rig.tick(elapsed, rotates, point.map(|point| (target, point)))
    }
}

#[cfg(test)]
mod tests {
    use std::f32::consts::FRAC_PI_2;

    use super::*;
    use crate::modes::MODES;

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

    #[test]
    fn each_mode_gets_its_camera_back() {
        let mut viewpoint = Viewpoint::new("");
        let (gravity, fluid) = (frame("gravity", 1), frame("fluid", 2));
        assert_eq!(viewpoint.text(), "", "nothing was framed yet");
        let [a, b] = [scene(&[]), scene(&[])];
        assert!(viewpoint.frame_scene((&gravity, &a), &Stats::default(), 1.0));
        assert!(!viewpoint.frame_scene((&gravity, &a), &gravity.stats, 1.0), "the scene is framed already");
        viewpoint.rig.camera.distance = 7.0;
        assert!(viewpoint.frame_scene((&fluid, &b), &gravity.stats, 1.0));
        assert!(viewpoint.rig.camera.distance != 7.0);
        assert!(viewpoint.frame_scene((&gravity, &a), &fluid.stats, 1.0));
        assert_eq!(viewpoint.rig.camera.distance, 7.0);
    }

    #[test]
    fn the_camera_of_a_snapshot_wins_once() {
        let camera = Camera { distance: 9.0, ..Camera::default() };
        let mut viewpoint = Viewpoint::new(&camera.to_words());
        viewpoint.restore("");
        let scene = scene(&[("yaw", "50"), ("zoom", "3")]);
        viewpoint.frame_scene((&frame("gravity", 1), &scene), &Stats::default(), 1.0);
        assert_eq!(viewpoint.rig.camera, camera);
        viewpoint.frame_scene((&frame("gravity", 2), &scene), &frame("gravity", 1).stats, 1.0);
        assert!(viewpoint.rig.camera != camera);
    }

    #[test]
    fn a_chosen_scene_brings_its_camera_and_a_restart_keeps_the_direction() {
        let mut viewpoint = Viewpoint::new("");
        let top = scene(&[("pitch", "90"), ("zoom", "2")]);
        let is_at = |viewpoint: &Viewpoint, pitch: f32, zoom: f32| {
            let Camera { pitch: found, home, distance, .. } = viewpoint.rig.camera;
            assert!((found - pitch).abs() < 1e-4 && (home / distance / zoom - 1.0).abs() < 1e-4, "{found}");
        };
        let mut shown = Stats::default();
        let mut show = |viewpoint: &mut Viewpoint, generation: u64, scene: &Arc<Scene>| {
            let frame = frame("gravity", generation);
            viewpoint.frame_scene((&frame, scene), &shown, 1.0);
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
    fn a_view_is_saved_relative_to_all_bodies() {
        let mut viewpoint = Viewpoint::new("");
        let frame = frame("gravity", 1);
        viewpoint.frame_scene((&frame, &scene(&[("pitch", "70")])), &Stats::default(), 1.0);
        viewpoint.rig.camera.zoom(0.5, [0.0; 2]);
        viewpoint.rig.camera.target.x += 0.25;
        let saved = viewpoint.to_scene(&frame.points, 1.0);
        for (found, expected) in [(saved.pitch, 70.0), (saved.zoom, 2.0), (saved.x, 0.25), (saved.y, 0.0)] {
            assert!((found - expected).abs() < 1e-4, "{found} for {expected}");
        }
    }

    #[test]
    fn framing_anew_can_reset_the_direction() {
        let mut viewpoint = Viewpoint::new("");
        let (shown, scene) = (frame("gravity", 1), scene(&[]));
        viewpoint.frame_scene((&shown, &scene), &Stats::default(), 1.0);
        viewpoint.rig.camera.yaw = 2.0;
        for (resets, yaw) in [(false, 2.0), (true, Camera::default().yaw)] {
            viewpoint.frame_anew(resets);
            viewpoint.frame_scene((&shown, &scene), &shown.stats, 1.0);
            while viewpoint.rig.tick(Duration::from_millis(50), false, None) {}
            assert!((viewpoint.rig.camera.yaw - yaw).abs() < 1e-5, "{resets}");
        }
    }
}
