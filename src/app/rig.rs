//! The camera rig: moves the camera in response to drags and the mouse wheel, with momentum, glides to stored views,
//! follows a point, and keeps the bodies in view.

use std::collections::{HashMap, VecDeque};
use std::f32::consts::{PI, TAU};
use std::time::{Duration, Instant};

use glam::{Vec2, Vec3};

use crate::view::Camera;

/// Time at the end of a drag over which the pointer's speed is averaged. The speed sets the camera's momentum.
const MEMORY: Duration = Duration::from_millis(80);
/// Time, in seconds, in which the camera's momentum decays to 1/e of its initial value.
const COAST_SECONDS: f32 = 0.28;
/// Minimum speed, in picture heights per second, of a camera that coasts after a drag. A slower camera stops.
const COAST_LEAST: f32 = 0.01;
/// Time constant of zooming with the wheel, in seconds.
const ZOOM_SECONDS: f32 = 0.06;
/// Time constant, in seconds, of the camera's approach to the point that it follows.
const FOLLOW_SECONDS: f32 = 0.15;
/// Duration of a camera glide to another view, in seconds.
const GLIDE_SECONDS: f32 = 0.45;
/// Duration of the camera move with which a scene opens, in seconds.
const OPENING_SECONDS: f32 = 3.0;
/// Angle between the scene's view and the view at the start of the opening move, in radians.
const OPENING_TURN: f32 = 0.35;
/// Distance of the camera at the start of the opening move, relative to its distance in the scene's view.
const OPENING_FACTOR: f32 = 1.3;
/// Time constant, in seconds, of the camera motion that keeps the bodies in view.
const KEEP_SECONDS: f32 = 2.0;
/// Maximum distance of the camera while it keeps the bodies in view, relative to the distance that just shows all
/// bodies.
const KEEP_FARTHEST: f32 = 1.5;
/// Distance between the bodies' centre and the middle of the picture, in picture heights, up to which the camera stays
/// where it is.
const KEEP_OFF_CENTRE: f32 = 0.1;
/// Speed of the automatic rotation, in radians per second: one turn in two minutes.
const TURN: f32 = TAU / 120.0;
/// Longest time, in seconds, by which one call to [`Rig::tick`] advances the camera's motion.
const LONGEST: f32 = 0.1;

/// Whether a drag orbits the camera around its target or pans it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drag {
    Orbit,
    Pan,
}

/// A point that the camera can follow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FollowTarget {
    pub mode: &'static str,
    /// Identifies the scene in which the index `body` is valid; see [`Stats::generation`](crate::session::Stats).
    pub generation: u64,
    /// Index of the body, or `None` for the centre of mass.
    pub body: Option<usize>,
}

/// A camera and its motion.
#[derive(Debug, Default)]
pub(crate) struct Rig {
    pub camera: Camera,
    /// Most recent movements of the current drag, in picture heights, with their times.
    movements: VecDeque<(Instant, Vec2)>,
    /// Motion that continues after a drag: the kind of drag, and the velocity in picture heights per second.
    momentum: Option<(Drag, Vec2)>,
    /// Natural logarithm of the factor by which the camera's distance has yet to change, and the cursor position that
    /// the zoom keeps fixed.
    zoom: Option<(f32, [f32; 2])>,
    glide: Option<Glide>,
    opening: Option<Opening>,
    /// Whether the user has panned, zoomed or recalled a stored view since the last call to [`Rig::jump_to`] or
    /// [`Rig::glide_to`]. If so, the camera does not keep the bodies in view.
    pub is_users: bool,
    /// The point that the camera follows, if any, and its last position.
    followed: Option<(FollowTarget, Vec3)>,
    /// Views that the user has stored, keyed by mode and number.
    stored: HashMap<(&'static str, u8), Camera>,
}

/// A gradual move of the camera from one view to another.
#[derive(Debug)]
struct Glide {
    from: Camera,
    to: Camera,
    /// Progress of the move, from 0 to 1.
    done: f32,
}

/// The camera move with which a scene opens.
#[derive(Debug)]
struct Opening {
    /// Rotation away from the scene's view at the start of the move, in radians.
    turn: f32,
    /// Progress of the move, from 0 to 1.
    done: f32,
}

impl Rig {
    /// Completes the opening move at once, and stops all other motion of the camera.
    pub(crate) fn finish_opening(&mut self) {
        if let Some(Opening { turn, done }) = self.opening.take() {
            self.move_aside(-(1.0 - done).powi(3), turn);
        }
        self.hold();
    }

    /// Stops all motion of the camera.
    pub(crate) fn hold(&mut self) {
        (self.momentum, self.zoom, self.glide, self.opening) = (None, None, None, None);
        self.movements.clear();
    }

    /// Stops the camera's motion and moves the camera to a view at once.
    pub(crate) fn jump_to(&mut self, camera: Camera) {
        self.hold();
        (self.camera, self.is_users) = (camera, false);
    }

    /// Starts the move that opens a scene: places the camera farther away than `camera` and, if `rotates` is true,
    /// turned aside. From there it approaches the view `camera`.
    pub(crate) fn open(&mut self, camera: Camera, rotates: bool) {
        self.jump_to(camera);
        let turn = if rotates { OPENING_TURN } else { 0.0 };
        self.move_aside(1.0, turn);
        self.opening = Some(Opening { turn, done: 0.0 });
    }

    /// Moves the camera away from the view of an opening scene, by the fraction `share` of the whole opening move.
    /// `turn` is the rotation of the whole move, in radians.
    fn move_aside(&mut self, share: f32, turn: f32) {
        self.camera.orbit(share * turn / PI, 0.0);
        self.camera.zoom(OPENING_FACTOR.powf(share), [0.0; 2]);
    }

    /// Returns the camera, and the cameras at both ends of the current glide.
    pub(crate) fn views(&mut self) -> impl Iterator<Item = &mut Camera> {
        let ends = self.glide.as_mut().map(|glide| [&mut glide.from, &mut glide.to]);
        std::iter::once(&mut self.camera).chain(ends.into_iter().flatten())
    }

    /// Moves the camera in response to a drag by `[dx, dy]` picture heights.
    pub(crate) fn drag(&mut self, drag: Drag, [dx, dy]: [f32; 2], now: Instant) {
        let by = Vec2::new(dx, dy);
        self.movements.push_back((now, by));
        (self.glide, self.opening) = (None, None);
        self.is_users |= drag == Drag::Pan && by != Vec2::ZERO;
        self.apply(drag, by);
    }

    /// Ends a drag. If the pointer was still moving, the camera coasts to a stop.
    pub(crate) fn release(&mut self, drag: Drag, now: Instant) {
        self.movements.retain(|(at, _)| now.saturating_duration_since(*at) < MEMORY);
        if let Some((first, _)) = self.movements.front() {
            let seconds = now.saturating_duration_since(*first).as_secs_f32().max(1e-2);
            let way: Vec2 = self.movements.iter().map(|(_, by)| *by).sum();
            let speed = way / seconds;
            self.momentum = (speed.is_finite() && speed.length() > COAST_LEAST).then_some((drag, speed));
        }
        self.movements.clear();
    }

    /// Starts a zoom that multiplies the camera's distance by `factor` and keeps the point under the cursor in place.
    pub(crate) fn wheel(&mut self, factor: f32, cursor: [f32; 2]) {
        let left = self.zoom.map_or(0.0, |(left, _)| left);
        self.zoom = Some((left + factor.ln(), cursor));
        (self.glide, self.opening, self.is_users) = (None, None, true);
    }

    /// Starts a glide from the current view to `to`.
    pub(crate) fn glide_to(&mut self, to: Camera) {
        self.hold();
        self.is_users = false;
        self.glide = Some(Glide { from: self.camera.clone(), to, done: 0.0 });
    }

    /// Stores the current view under `number`. Each mode has its own stored views.
    pub(crate) fn store(&mut self, mode: &'static str, number: u8) {
        self.stored.insert((mode, number), self.camera.clone());
    }

    /// Starts a glide to the view stored under `number` for `mode`. Returns whether there is such a view.
    pub(crate) fn recall(&mut self, mode: &'static str, number: u8) -> bool {
        let Some(camera) = self.stored.get(&(mode, number)).cloned() else { return false };
        self.glide_to(camera);
        self.is_users = true;
        true
    }

    /// Slowly moves the camera so that it keeps showing the bodies. `framed` is the camera that just shows them. Does
    /// nothing while the user's own view is shown or while the camera moves for another reason. A camera that follows a
    /// point only zooms. Returns whether the camera has moved.
    pub(crate) fn keep(&mut self, framed: &Camera, elapsed: Duration) -> bool {
        let is_dragged = !self.movements.is_empty() || self.momentum.is_some();
        if self.is_users || is_dragged || self.glide.is_some() || self.opening.is_some() {
            return false;
        }
        let share = 1.0 - (-elapsed.as_secs_f32().min(LONGEST) / KEEP_SECONDS).exp();
        let before = self.camera.clone();
        let wanted = self.camera.distance.clamp(framed.distance, KEEP_FARTHEST * framed.distance);
        let zoom = (wanted / self.camera.distance).ln();
        if zoom.abs() > 1e-3 {
            self.camera.recede((zoom * share).exp());
        }
        let off = framed.target - self.camera.target;
        let excess = off.length() - KEEP_OFF_CENTRE / self.camera.heights_per_unit();
        if self.followed.is_none() && excess > 1e-3 * self.camera.distance {
            self.camera.target += off.normalize_or_zero() * excess * share;
        }
        self.camera != before
    }

    /// Advances the camera's motion by `elapsed`. If `rotates` is true, the camera also rotates; if `point` is given,
    /// the camera follows it. Returns whether the camera is still moving.
    pub(crate) fn tick(
        &mut self,
        elapsed: Duration,
        rotates: bool,
        point: Option<(FollowTarget, Vec3)>,
    ) -> bool {
        let seconds = elapsed.as_secs_f32().min(LONGEST);
        let nearly = |time: f32| 1.0 - (-seconds / time).exp();
        if let Some((drag, speed)) = self.momentum {
            self.apply(drag, speed * seconds);
            let speed = speed * (1.0 - nearly(COAST_SECONDS));
            self.momentum = (speed.length() > COAST_LEAST).then_some((drag, speed));
        }
        if let Some((left, cursor)) = self.zoom {
            let part = if left.abs() < 1e-3 { left } else { left * nearly(ZOOM_SECONDS) };
            self.camera.zoom(part.exp(), cursor);
            self.zoom = (part != left).then_some((left - part, cursor));
        }
        if let Some(glide) = &mut self.glide {
            glide.done = (glide.done + seconds / GLIDE_SECONDS).min(1.0);
            self.camera = glide.now();
            self.glide.take_if(|glide| glide.done >= 1.0);
        }
        if let Some(Opening { turn, done }) = self.opening {
            let next = (done + seconds / OPENING_SECONDS).min(1.0);
            // Starts fast and ends slowly.
            let left = |done: f32| (1.0 - done).powi(3);
            self.move_aside(left(next) - left(done), turn);
            self.opening = (next < 1.0).then_some(Opening { turn, done: next });
        }
        if rotates {
            self.camera.orbit(-TURN * seconds / PI, 0.0);
        }
        let settles = self.follow(point, nearly(FOLLOW_SECONDS));
        let is_moving = self.glide.is_some() || self.opening.is_some();
        rotates || settles || is_moving || self.momentum.is_some() || self.zoom.is_some()
    }

    /// Moves the camera along with a followed point, and brings the point closer to the centre by the fraction `share`.
    /// Returns whether the point is still off-centre.
    fn follow(&mut self, point: Option<(FollowTarget, Vec3)>, share: f32) -> bool {
        let point = point.filter(|(_, point)| point.is_finite());
        let before = std::mem::replace(&mut self.followed, point);
        let Some((target, point)) = point else { return false };
        // When the target changes, the camera moves there gradually.
        let before = before.filter(|(other, _)| *other == target);
        let moved = before.map_or(Vec3::ZERO, |(_, before)| point - before);
        let wanted = self.camera.target + moved;
        let left = point - wanted;
        let is_there = left.length() < 1e-4 * self.camera.distance;
        self.camera.target = if is_there { point } else { wanted + left * share };
        !is_there
    }

    fn apply(&mut self, drag: Drag, by: Vec2) {
        match drag {
            Drag::Orbit => self.camera.orbit(by.x, by.y),
            Drag::Pan => self.camera.pan(by.x, by.y),
        }
    }
}

impl Glide {
    /// Returns the camera at the current point of the glide. A glide starts and ends slowly, and takes the shorter
    /// rotation.
    fn now(&self) -> Camera {
        if self.done >= 1.0 {
            return self.to.clone();
        }
        let Self { from, to, done } = self;
        let share = done * done * (3.0 - 2.0 * done);
        let mix = |a: f32, b: f32| a + (b - a) * share;
        let turn = (to.yaw - from.yaw + PI).rem_euclid(TAU) - PI;
        Camera {
            target: from.target.lerp(to.target, share),
            yaw: from.yaw + turn * share,
            pitch: mix(from.pitch, to.pitch),
            distance: mix(from.distance.ln(), to.distance.ln()).exp(),
            fov: mix(from.fov, to.fov),
            home: mix(from.home.ln(), to.home.ln()).exp(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAME: Duration = Duration::from_millis(16);
    const CENTRE: FollowTarget = FollowTarget { mode: "gravity", generation: 1, body: None };

    /// Advances the rig until the camera stops, and returns the number of frames.
    fn settle(rig: &mut Rig, point: Option<Vec3>) -> usize {
        let point = point.map(|point| (CENTRE, point));
        let frames = (0..1000).take_while(|_| rig.tick(FRAME, false, point)).count();
        assert!(frames < 1000, "the camera never stops");
        frames
    }

    #[test]
    fn a_released_drag_continues_with_fading_momentum() {
        let mut rig = Rig::default();
        let start = Instant::now();
        rig.hold();
        for nth in 0..5 {
            rig.drag(Drag::Orbit, [0.02, 0.0], start + nth * FRAME);
        }
        let at_release = rig.camera.yaw;
        rig.release(Drag::Orbit, start + 5 * FRAME);
        let frames = settle(&mut rig, None);
        assert!((20..200).contains(&frames), "{frames}");
        let turned = (at_release - rig.camera.yaw).rem_euclid(TAU);
        assert!((0.2..2.0).contains(&turned), "it went on by {turned}");
    }

    #[test]
    fn a_pause_before_release_or_a_new_press_stops_all_camera_motion() {
        let mut rig = Rig::default();
        let start = Instant::now();
        rig.drag(Drag::Pan, [0.2, 0.1], start);
        let before = rig.camera.clone();
        rig.release(Drag::Pan, start + Duration::from_millis(300));
        assert!(!rig.tick(FRAME, false, None));
        assert_eq!(rig.camera, before);
        rig.drag(Drag::Orbit, [0.2, 0.0], Instant::now());
        rig.release(Drag::Orbit, Instant::now());
        rig.wheel(0.5, [0.0; 2]);
        assert!(rig.tick(FRAME, false, None));
        rig.hold();
        assert!(!rig.tick(FRAME, false, None));
    }

    #[test]
    fn scrolling_moves_the_camera_gradually_to_the_requested_distance() {
        let mut rig = Rig::default();
        let before = rig.camera.distance;
        rig.wheel(0.88, [0.2, 0.1]);
        rig.tick(FRAME, false, None);
        assert!(rig.camera.distance > before * 0.88, "not at once");
        rig.wheel(0.88, [0.2, 0.1]);
        settle(&mut rig, None);
        assert!((rig.camera.distance / (before * 0.88 * 0.88) - 1.0).abs() < 1e-4);
    }

    #[test]
    fn each_mode_has_its_own_stored_views() {
        let mut rig = Rig::default();
        rig.store("gravity", 3);
        let stored = rig.camera.clone();
        rig.drag(Drag::Orbit, [0.7, 0.2], Instant::now());
        rig.camera.distance = 40.0;
        for (mode, number) in [("gravity", 4), ("fluid", 3)] {
            assert!(!rig.recall(mode, number) && !rig.tick(FRAME, false, None), "there is none");
        }
        assert!(rig.recall("gravity", 3));
        rig.tick(FRAME, false, None);
        assert!((3.5..39.9).contains(&rig.camera.distance), "it is on its way");
        settle(&mut rig, None);
        assert_eq!(rig.camera, stored);
    }

    #[test]
    fn a_scene_opens_with_a_camera_move_that_ends_in_the_view_of_the_scene() {
        for rotates in [true, false] {
            let (mut rig, view) = (Rig::default(), Camera { yaw: 1.0, ..Camera::default() });
            rig.open(view.clone(), rotates);
            let off = |rig: &Rig| (rig.camera.distance / view.distance, (rig.camera.yaw - view.yaw).abs());
            assert!(off(&rig).0 > 1.2 && (off(&rig).1 > 0.3) == rotates, "{:?}", off(&rig));
            let frames = settle(&mut rig, None);
            assert!((180..195).contains(&frames), "{frames} frames of 16 ms are 3 s");
            let (distance, turn) = off(&rig);
            assert!((distance - 1.0).abs() < 1e-4 && turn < 1e-4, "{distance} {turn}");
        }
    }

    #[test]
    fn any_input_ends_the_opening_camera_move_at_once() {
        let acts: [fn(&mut Rig); 4] = [
            |rig| rig.hold(),
            |rig| rig.drag(Drag::Orbit, [0.0; 2], Instant::now()),
            |rig| rig.wheel(1.0, [0.0; 2]),
            |rig| rig.jump_to(rig.camera.clone()),
        ];
        for act in acts {
            let mut rig = Rig::default();
            rig.open(Camera::default(), true);
            rig.tick(FRAME, false, None);
            act(&mut rig);
            let before = rig.camera.clone();
            settle(&mut rig, None);
            assert_eq!(rig.camera, before);
        }
    }

    /// Calls [`Rig::keep`] until the camera stops; returns the number of frames.
    fn keep(rig: &mut Rig, framed: &Camera) -> usize {
        let frames = (0..5000).take_while(|_| rig.keep(framed, FRAME)).count();
        assert!(frames < 5000, "the camera never stops");
        frames
    }

    #[test]
    fn the_camera_slowly_follows_bodies_that_spread_move_or_contract() {
        let mut rig = Rig::default();
        let framed = rig.camera.clone();
        let at = |factor: f32, x: f32| Camera {
            distance: factor * framed.distance,
            target: Vec3::new(x, 0.0, 0.0),
            ..framed.clone()
        };
        for still in [at(1.0, 0.0), at(0.7, 0.0), at(1.0, 0.1)] {
            assert_eq!(keep(&mut rig, &still), 0, "a small change is no reason to move");
        }
        let frames = keep(&mut rig, &at(3.0, 0.0));
        assert!((100..1500).contains(&frames), "slowly: {frames} frames of 16 ms");
        assert!((rig.camera.distance / at(3.0, 0.0).distance - 1.0).abs() < 2e-3);
        assert!((rig.camera.home / rig.camera.distance - framed.home / framed.distance).abs() < 1e-4);
        keep(&mut rig, &at(1.0, 0.0));
        assert!((rig.camera.distance / framed.distance - KEEP_FARTHEST).abs() < 1e-2);
        let moved = at(1.5, 50.0);
        keep(&mut rig, &moved);
        let off = rig.camera.target.distance(moved.target) * rig.camera.heights_per_unit();
        assert!((off - KEEP_OFF_CENTRE).abs() < 1e-2, "{off}");
    }

    #[test]
    fn automatic_framing_pauses_after_user_input_until_the_bodies_are_framed_again() {
        let far = Camera { distance: 30.0, ..Camera::default() };
        let acts: [fn(&mut Rig); 3] = [
            |rig| rig.drag(Drag::Pan, [0.1, 0.0], Instant::now()),
            |rig| rig.wheel(0.9, [0.0; 2]),
            |rig| assert!(rig.recall("gravity", 1)),
        ];
        for act in acts {
            let mut rig = Rig::default();
            rig.store("gravity", 1);
            act(&mut rig);
            rig.movements.clear();
            settle(&mut rig, None);
            assert_eq!(keep(&mut rig, &far), 0);
            rig.glide_to(Camera::default());
            settle(&mut rig, None);
            assert!(keep(&mut rig, &far) > 0);
        }
        let mut rig = Rig::default();
        rig.drag(Drag::Orbit, [0.1, 0.0], Instant::now());
        assert_eq!(keep(&mut rig, &far), 0, "nothing moves during a drag");
        rig.hold();
        assert!(keep(&mut rig, &far) > 0, "a view may be rotated");
        // A camera that follows a point only zooms.
        rig.tick(FRAME, false, Some((CENTRE, Vec3::ZERO)));
        keep(&mut rig, &Camera { target: Vec3::splat(70.0), ..far });
        assert_eq!(rig.camera.target, Vec3::ZERO);
    }

    #[test]
    fn a_camera_that_follows_a_point_does_not_lag_behind() {
        let mut rig = Rig::default();
        let mut point = Vec3::new(5.0, 0.0, 0.0);
        settle(&mut rig, Some(point));
        assert_eq!(rig.camera.target, point);
        for _ in 0..10 {
            point += Vec3::new(0.0, 0.3, -0.1);
            rig.tick(FRAME, false, Some((CENTRE, point)));
            assert!(rig.camera.target.distance(point) < 1e-4);
        }
        let left = rig.camera.target;
        rig.tick(FRAME, false, None);
        rig.tick(FRAME, false, Some((CENTRE, Vec3::splat(f32::NAN))));
        assert_eq!(rig.camera.target, left);
    }

    #[test]
    fn changing_the_follow_target_moves_the_camera_gradually() {
        let (start, end) = (Vec3::new(5.0, 0.0, 0.0), Vec3::new(-5.0, 2.0, 0.0));
        for other in [FollowTarget { body: Some(7), ..CENTRE }, FollowTarget { generation: 2, ..CENTRE }] {
            let mut rig = Rig::default();
            rig.camera.target = start;
            rig.tick(FRAME, false, Some((CENTRE, start)));
            rig.tick(FRAME, false, Some((other, end)));
            let share = rig.camera.target.distance(start) / start.distance(end);
            assert!((0.01..0.3).contains(&share), "{share} of the way to {other:?} at once");
            while rig.tick(FRAME, false, Some((other, end))) {}
            assert_eq!(rig.camera.target, end);
        }
    }

    #[test]
    fn automatic_rotation_turns_the_camera_by_36_degrees_in_12_seconds() {
        let mut rig = Rig::default();
        let before = rig.camera.yaw;
        assert!((0..120).all(|_| rig.tick(Duration::from_millis(100), true, None)));
        let turned = (rig.camera.yaw - before).rem_euclid(TAU);
        assert!((turned - TAU / 10.0).abs() < 1e-3, "{turned} in 12 s");
    }
}
