//! The camera rig, the scene in view, and the last camera of each mode.

use std::collections::HashMap;
use std::time::Duration;

use glam::Vec3;

use super::rig::{FollowTarget, Rig};
use crate::base::Points;
use crate::session::{Frame, Stats};
use crate::view::{self, Camera};

#[derive(Default)]
pub(super) struct Viewpoint {
    pub rig: Rig,
    /// Centre of mass of the shown bodies, while the camera follows the centre of mass.
    centre: Option<Vec3>,
    /// Camera of an opened snapshot, until the snapshot's first frame is shown.
    restored: Option<Camera>,
    /// Identifies the scene in view (see [`Stats::generation`]); 0 makes the camera show all bodies of the next frame.
    generation: u64,
    /// Whether the camera also returns to its initial direction the next time it moves to show all bodies.
    resets: bool,
    /// Last camera of each mode that was shown, by mode name, with the number of its scene (see [`Stats::generation`]).
    by_mode: HashMap<&'static str, (u64, Camera)>,
}

impl Viewpoint {
    /// Starts with the camera that the text `view` describes, or shows all bodies if `view` is empty or invalid.
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

    /// Moves the camera if the scene is new or if the user asked to see all bodies. Returns whether the camera moved.
    pub(super) fn frame_scene(&mut self, frame: &Frame, shown: &Stats, aspect: f32) -> bool {
        let next = &frame.stats;
        let has_bodies = !frame.points.positions.is_empty() || !frame.points.image.values.is_empty();
        if self.generation == next.generation || !has_bodies {
            return false;
        }
        // Each mode keeps its own camera while another mode is shown.
        self.by_mode.insert(shown.mode, (shown.generation, self.rig.camera.clone()));
        let seen = self.by_mode.get(next.mode);
        let kept = seen.filter(|(generation, _)| *generation == next.generation && self.generation != 0);
        if let Some(camera) = self.restored.take().or(kept.map(|(_, camera)| camera.clone())) {
            self.rig.jump_to(camera);
        } else {
            let is_first = seen.is_none() && shown.mode != next.mode;
            let mut camera = match is_first || std::mem::take(&mut self.resets) {
                true => Camera::facing(frame.points.shape),
                false => self.rig.camera.clone(),
            };
            camera.frame_all(&frame.points, aspect);
            match shown.generation == next.generation {
                true => self.rig.glide_to(camera),
                false => self.rig.jump_to(camera),
            }
        }
        if (shown.mode, shown.generation) != (next.mode, next.generation) {
            self.centre = None;
        }
        self.generation = next.generation;
        true
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
    use super::*;

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
        assert!(viewpoint.frame_scene(&gravity, &Stats::default(), 1.0));
        assert!(!viewpoint.frame_scene(&gravity, &gravity.stats, 1.0), "the scene is framed already");
        viewpoint.rig.camera.distance = 7.0;
        assert!(viewpoint.frame_scene(&fluid, &gravity.stats, 1.0));
        assert!(viewpoint.rig.camera.distance != 7.0);
        assert!(viewpoint.frame_scene(&gravity, &fluid.stats, 1.0));
        assert_eq!(viewpoint.rig.camera.distance, 7.0);
    }

    #[test]
    fn the_camera_of_a_snapshot_wins_once() {
        let camera = Camera { distance: 9.0, ..Camera::default() };
        let mut viewpoint = Viewpoint::new(&camera.to_words());
        viewpoint.restore("");
        viewpoint.frame_scene(&frame("gravity", 1), &Stats::default(), 1.0);
        assert_eq!(viewpoint.rig.camera, camera);
        viewpoint.frame_scene(&frame("gravity", 2), &frame("gravity", 1).stats, 1.0);
        assert!(viewpoint.rig.camera != camera);
    }

    #[test]
    fn framing_anew_can_reset_the_direction() {
        let mut viewpoint = Viewpoint::new("");
        let scene = frame("gravity", 1);
        viewpoint.frame_scene(&scene, &Stats::default(), 1.0);
        viewpoint.rig.camera.yaw = 2.0;
        for (resets, yaw) in [(false, 2.0), (true, Camera::default().yaw)] {
            viewpoint.frame_anew(resets);
            viewpoint.frame_scene(&scene, &scene.stats, 1.0);
            while viewpoint.rig.tick(Duration::from_millis(50), false, None) {}
            assert!((viewpoint.rig.camera.yaw - yaw).abs() < 1e-5, "{resets}");
        }
    }
}
