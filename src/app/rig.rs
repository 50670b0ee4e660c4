//! What moves the camera: a hand, its momentum when it lets go, a place to go to, and a point to go with.

use std::collections::{HashMap, VecDeque};
use std::f32::consts::{PI, TAU};
use std::time::{Duration, Instant};

use glam::{Vec2, Vec3};

use crate::view::Camera;

/// The last so much of a drag says how fast the camera goes on.
const MEMORY: Duration = Duration::from_millis(80);
/// Momentum falls to 1/e in this many seconds, ...
const COAST_SECONDS: f32 = 0.28;
/// ... and is none below this, in heights of the picture a second.
const COAST_LEAST: f32 = 0.01;
/// A wheel's turn is nearly done after a few times this, in seconds.
const ZOOM_SECONDS: f32 = 0.06;
/// A camera gets to its point in a few times this, in seconds.
const FOLLOW_SECONDS: f32 = 0.15;
/// Going to a place takes this long, in seconds.
const GLIDE_SECONDS: f32 = 0.45;
/// By itself the camera turns by this, in radians a second: round in two minutes.
const TURN: f32 = TAU / 120.0;
/// However long the last frame took, nothing moves by more than this many seconds at once.
const LONGEST: f32 = 0.1;

/// Which way a hand moves the camera.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Drag {
    Orbit,
    Pan,
}

/// What a camera can go with, in the scene of a mode that was seeded so many times.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Whom {
    pub mode: &'static str,
    pub generation: u64,
    /// Which body; none is the middle of all.
    pub body: Option<usize>,
}

/// A camera with what moves it.
#[derive(Debug, Default)]
pub(crate) struct Rig {
    pub camera: Camera,
    /// Where the hand went lately, in heights of the picture.
    strokes: VecDeque<(Instant, Vec2)>,
    /// What goes on without a hand, in heights a second.
    momentum: Option<(Drag, Vec2)>,
    /// What the wheel still asks for, as a logarithm of the distance, and the cursor that keeps its place.
    zoom: Option<(f32, [f32; 2])>,
    glide: Option<Glide>,
    /// What the camera goes with, and where that was last.
    followed: Option<(Whom, Vec3)>,
    /// Views by mode and number.
    kept: HashMap<(&'static str, u8), Camera>,
}

/// On the way from one view to another.
#[derive(Debug)]
struct Glide {
    from: Camera,
    to: Camera,
    /// 0 to 1.
    done: f32,
}

impl Rig {
    /// A hand takes hold: whatever moved stands still.
    pub fn hold(&mut self) {
        (self.momentum, self.zoom, self.glide) = (None, None, None);
        self.strokes.clear();
    }

    /// Stands there at once, and still.
    pub fn stand(&mut self, camera: Camera) {
        self.hold();
        self.camera = camera;
    }

    /// A hand moves by `(dx, dy)` heights of the picture.
    pub fn drag(&mut self, drag: Drag, [dx, dy]: [f32; 2], now: Instant) {
        self.strokes.push_back((now, Vec2::new(dx, dy)));
        self.glide = None;
        self.apply(drag, Vec2::new(dx, dy));
    }

    /// The hand lets go: a camera in motion stays in motion for a while.
    pub fn release(&mut self, drag: Drag, now: Instant) {
        self.strokes.retain(|(at, _)| now.saturating_duration_since(*at) < MEMORY);
        if let Some((first, _)) = self.strokes.front() {
            let seconds = now.saturating_duration_since(*first).as_secs_f32().max(1e-2);
            let way: Vec2 = self.strokes.iter().map(|(_, by)| *by).sum();
            let speed = way / seconds;
            self.momentum = (speed.is_finite() && speed.length() > COAST_LEAST).then_some((drag, speed));
        }
        self.strokes.clear();
    }

    /// The wheel asks for a distance that is `factor` times as large.
    pub fn wheel(&mut self, factor: f32, cursor: [f32; 2]) {
        let left = self.zoom.map_or(0.0, |(left, _)| left);
        self.zoom = Some((left + factor.ln(), cursor));
        self.glide = None;
    }

    /// Goes to a view by and by.
    pub fn glide_to(&mut self, to: Camera) {
        self.hold();
        self.glide = Some(Glide { from: self.camera.clone(), to, done: 0.0 });
    }

    /// Keeps the view under a number.
    pub fn keep(&mut self, mode: &'static str, number: u8) {
        self.kept.insert((mode, number), self.camera.clone());
    }

    /// Goes to the view that was kept under a number; whether there is one.
    pub fn recall(&mut self, mode: &'static str, number: u8) -> bool {
        let kept = self.kept.get(&(mode, number)).cloned();
        let is_there = kept.is_some();
        kept.into_iter().for_each(|camera| self.glide_to(camera));
        is_there
    }

    /// Lets time go by; whether anything goes on moving. `point` is what the camera goes with, if anything, and where it is
    /// now.
    pub fn tick(&mut self, elapsed: Duration, turns: bool, point: Option<(Whom, Vec3)>) -> bool {
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
        if turns {
            self.camera.orbit(-TURN * seconds / PI, 0.0);
        }
        let settles = self.follow(point, nearly(FOLLOW_SECONDS));
        turns || settles || self.momentum.is_some() || self.zoom.is_some() || self.glide.is_some()
    }

    /// Goes with a point, and in its direction while it is not in the middle; whether it is not yet there.
    fn follow(&mut self, point: Option<(Whom, Vec3)>, share: f32) -> bool {
        let point = point.filter(|(_, point)| point.is_finite());
        let before = std::mem::replace(&mut self.followed, point);
        let Some((whom, point)) = point else { return false };
        // To something else it goes by and by.
        let before = before.filter(|(other, _)| *other == whom);
        let moved = before.map_or(Vec3::ZERO, |(_, before)| point - before);
        let target = self.camera.target + moved;
        let left = point - target;
        let is_there = left.length() < 1e-4 * self.camera.distance;
        self.camera.target = if is_there { point } else { target + left * share };
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
    /// Slow at both ends; distances by factors, and round the shorter way.
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
    const MIDDLE: Whom = Whom { mode: "gravity", generation: 1, body: None };

    /// Lets it move until it stands still; how many frames that takes.
    fn settle(rig: &mut Rig, point: Option<Vec3>) -> usize {
        let point = point.map(|point| (MIDDLE, point));
        let frames = (0..1000).take_while(|_| rig.tick(FRAME, false, point)).count();
        assert!(frames < 1000, "it never comes to rest");
        frames
    }

    #[test]
    fn what_is_let_go_in_motion_goes_on_and_comes_to_rest() {
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
    fn what_is_held_before_it_is_let_go_stays() {
        let mut rig = Rig::default();
        let start = Instant::now();
        rig.drag(Drag::Pan, [0.2, 0.1], start);
        let held = rig.camera.clone();
        rig.release(Drag::Pan, start + Duration::from_millis(300));
        assert!(!rig.tick(FRAME, false, None));
        assert_eq!(rig.camera, held);
    }

    #[test]
    fn a_hand_stops_what_moves() {
        let mut rig = Rig::default();
        rig.drag(Drag::Orbit, [0.2, 0.0], Instant::now());
        rig.release(Drag::Orbit, Instant::now());
        rig.wheel(0.5, [0.0; 2]);
        assert!(rig.tick(FRAME, false, None));
        rig.hold();
        assert!(!rig.tick(FRAME, false, None));
    }

    #[test]
    fn the_wheel_comes_to_where_it_asked_for() {
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
    fn kept_views_are_gone_back_to_and_each_mode_has_its_own() {
        let mut rig = Rig::default();
        rig.keep("gravity", 3);
        let kept = rig.camera.clone();
        rig.drag(Drag::Orbit, [0.7, 0.2], Instant::now());
        rig.camera.distance = 40.0;
        for (mode, number) in [("gravity", 4), ("fluid", 3)] {
            assert!(!rig.recall(mode, number) && !rig.tick(FRAME, false, None), "there is none");
        }
        assert!(rig.recall("gravity", 3));
        rig.tick(FRAME, false, None);
        assert!((3.5..39.9).contains(&rig.camera.distance), "it is on its way");
        settle(&mut rig, None);
        assert_eq!(rig.camera, kept);
    }

    #[test]
    fn it_goes_with_a_point_without_lagging_behind() {
        let mut rig = Rig::default();
        let mut point = Vec3::new(5.0, 0.0, 0.0);
        settle(&mut rig, Some(point));
        assert_eq!(rig.camera.target, point);
        for _ in 0..10 {
            point += Vec3::new(0.0, 0.3, -0.1);
            rig.tick(FRAME, false, Some((MIDDLE, point)));
            assert!(rig.camera.target.distance(point) < 1e-4);
        }
        let left = rig.camera.target;
        rig.tick(FRAME, false, None);
        rig.tick(FRAME, false, Some((MIDDLE, Vec3::splat(f32::NAN))));
        assert_eq!(rig.camera.target, left);
    }

    #[test]
    fn it_goes_over_to_something_else_by_and_by() {
        let mut rig = Rig::default();
        let start = Vec3::new(5.0, 0.0, 0.0);
        settle(&mut rig, Some(start));
        let end = Vec3::new(-5.0, 2.0, 0.0);
        for other in [Whom { body: Some(7), ..MIDDLE }, Whom { generation: 2, ..MIDDLE }] {
            rig.camera.target = start;
            rig.tick(FRAME, false, Some((MIDDLE, start)));
            rig.tick(FRAME, false, Some((other, end)));
            let gone = rig.camera.target.distance(start) / start.distance(end);
            assert!((0.01..0.3).contains(&gone), "{gone} of the way to {other:?} at once");
            for _ in 0..200 {
                rig.tick(FRAME, false, Some((other, end)));
            }
            assert_eq!(rig.camera.target, end);
        }
    }

    #[test]
    fn it_turns_slowly_round() {
        let mut rig = Rig::default();
        let before = rig.camera.yaw;
        assert!((0..120).all(|_| rig.tick(Duration::from_millis(100), true, None)));
        let turned = (rig.camera.yaw - before).rem_euclid(TAU);
        assert!((turned - TAU / 10.0).abs() < 1e-3, "{turned} in 12 s");
    }
}
