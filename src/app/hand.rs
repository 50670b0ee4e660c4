//! The hand over the picture: a click selects, a drag with a tool launches or pulls.

use glam::{DVec3, Vec3};

use super::open::Open;
use crate::hand::{self, Edit, Field, Launch, Pull};
use crate::session::Command;
use crate::ui::{Grip, Overlay, Tool};

/// The most bodies that stand for all in the field that a path is worked out in.
const SAMPLE: usize = 1024;
/// Pieces of a path, ...
const PIECES: usize = 400;
/// ... and how long one is, in heights of the picture.
const PIECE: f32 = 0.008;
/// A drag over this many heights of the picture launches with the speed that escapes.
const ESCAPE: f32 = 0.5;
/// How wide the hand and a cluster are, in heights of the picture.
const REACH: f32 = 0.08;
const CLUSTER: f32 = 0.025;

/// What the mouse did that concerns the bodies; places in heights of the picture from its middle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Gesture {
    /// Pressed and let go in one place, without a tool.
    Click([f32; 2]),
    /// A tool takes hold; whether it is to do the other of its two things.
    Press([f32; 2], bool),
    /// It moves.
    Move([f32; 2], bool),
    /// It lets go.
    Release(bool),
    /// It is taken away, and nothing comes of what it did.
    Abandon,
}

/// What the hand holds, and what it does.
#[derive(Debug, Default)]
pub(super) struct Hand {
    pub grip: Grip,
    /// Where a launch begins and how far it is drawn.
    aim: Option<Aim>,
    /// Where it attracts, and whether it repels.
    pull: Option<(Vec3, bool)>,
    /// Bodies that stand for all, while something is in hand.
    field: Vec<[f32; 4]>,
    /// Whether it moved since its path was worked out, or the bodies were told of it.
    has_moved: bool,
}

#[derive(Debug)]
struct Aim {
    from: Vec3,
    to: Vec3,
    is_cluster: bool,
    path: Vec<DVec3>,
}

impl Open {
    /// Does what the mouse asks for.
    pub(super) fn gesture(&mut self, gesture: Gesture) {
        match gesture {
            Gesture::Click(at) => {
                let body = self.rig.camera.pick(&self.session.shown().points, at);
                self.select(body);
            }
            Gesture::Press(at, other) => {
                self.feel();
                let place = self.rig.camera.on_plane(at);
                match self.hand.grip.tool(&self.config) {
                    Tool::Launch => {
                        let aim = Aim { from: place, to: place, is_cluster: other, path: Vec::new() };
                        self.hand.aim = Some(aim);
                    }
                    Tool::Pull => {
                        self.recorder.note(format!("pull={}", !other), &self.shown);
                        self.hand.pull = Some((place, other));
                    }
                    Tool::Look => {}
                }
                self.hand.has_moved = true;
            }
            Gesture::Move(at, other) => {
                let place = self.rig.camera.on_plane(at);
                if let Some(aim) = &mut self.hand.aim {
                    (aim.to, aim.is_cluster) = (place, other);
                }
                if let Some((held, _)) = &mut self.hand.pull {
                    *held = place;
                }
                self.hand.has_moved = true;
            }
            Gesture::Release(other) => {
                if let Some(aim) = self.hand.aim.take() {
                    self.launch(&Aim { is_cluster: other, ..aim });
                }
                self.abandon();
            }
            Gesture::Abandon => self.abandon(),
        }
    }

    /// Gives up what the hand is doing: nothing is launched, and nothing attracts any more.
    pub(super) fn abandon(&mut self) {
        self.mouse.abandon();
        self.hand.aim = None;
        if self.hand.pull.take().is_some() {
            self.session.send(Command::Pull(None));
        }
    }

    /// Draws the conclusions from where the hand is now. Once a frame, however often it moved.
    pub(super) fn tend_hand(&mut self) {
        if std::mem::take(&mut self.hand.has_moved) {
            self.foresee();
            self.pull();
        }
    }

    /// Takes hold of a body, or of none.
    pub(super) fn select(&mut self, body: Option<usize>) {
        if self.must_wait() {
            return;
        }
        self.hand.grip.follows &= body.is_some();
        self.session.send(Command::Select(body));
        let text = body.map_or_else(|| "none".to_owned(), |body| body.to_string());
        self.recorder.note(format!("select={text}"), &self.shown);
    }

    /// Changes the bodies.
    pub(super) fn edit(&mut self, edit: Edit) {
        if self.must_wait() {
            return;
        }
        self.begin_keeping();
        self.session.send(Command::Edit(edit));
    }

    /// Takes in where the bodies are now, while that matters.
    pub(super) fn feel_again(&mut self) {
        if self.hand.aim.is_some() {
            self.feel();
            self.hand.has_moved = true;
        }
    }

    fn feel(&mut self) {
        self.hand.field = hand::sample(&self.session.shown().points.positions, SAMPLE);
    }

    fn field(&self, at: DVec3) -> Field {
        self.config.mode.field(at, &self.hand.field, None).unwrap_or_default()
    }

    /// The speed that escapes from a place; where nothing attracts, a height of the picture in a unit of time.
    fn speed(&self, at: Vec3) -> f32 {
        let speed = (-2.0 * self.field(at.as_dvec3()).potential).max(0.0).sqrt() as f32;
        if speed > 0.0 { speed } else { self.rig.camera.heights_per_unit().recip() }
    }

    fn velocity(&self, aim: &Aim) -> Vec3 {
        let heights = (aim.to - aim.from) * self.rig.camera.heights_per_unit();
        heights * (self.speed(aim.from) / ESCAPE)
    }

    /// Works out where a light body would go.
    fn foresee(&mut self) {
        let Some(aim) = &self.hand.aim else { return };
        let unit = f64::from(self.rig.camera.heights_per_unit().recip());
        let start = (aim.from.as_dvec3(), self.velocity(aim).as_dvec3());
        let planet = f64::from(self.session.shown().points.shape.planet());
        let target = self.rig.camera.target.as_dvec3();
        let ends = |x: DVec3| x.length() < planet || x.distance(target) > 3.0 * unit;
        let path = hand::path(start, f64::from(PIECE) * unit, PIECES, |x| self.field(x), ends);
        if let Some(aim) = &mut self.hand.aim {
            aim.path = path;
        }
    }

    fn launch(&mut self, aim: &Aim) {
        let unit = self.rig.camera.heights_per_unit().recip();
        let cluster = aim.is_cluster.then_some(CLUSTER * unit);
        let (at, velocity) = (aim.from.into(), self.velocity(aim).into());
        self.recorder
            .note(format!("launch={}", if aim.is_cluster { "cluster" } else { "body" }), &self.shown);
        self.edit(Edit::Launch(Launch { at, velocity, share: self.hand.grip.share, cluster }));
    }

    /// Tells the simulation where the hand attracts.
    fn pull(&mut self) {
        let Some((at, repels)) = self.hand.pull else { return };
        if self.must_wait() {
            return;
        }
        self.begin_keeping();
        let reach = REACH / self.rig.camera.heights_per_unit();
        let strength = self.hand.grip.strength * reach * self.speed(at).powi(2);
        let strength = if repels { -strength } else { strength };
        self.session.send(Command::Pull(Some(Pull { at: at.into(), strength, reach })));
    }

    /// Where the selected body is.
    pub(super) fn held_at(&self) -> Option<Vec3> {
        self.shown.held.map(|held| held.position.into())
    }

    /// What is drawn of all this.
    pub(super) fn overlay(&self) -> Overlay {
        let shown = |place: Vec3| self.rig.camera.project(place).map(|(at, _)| at);
        let Hand { aim, pull, .. } = &self.hand;
        let path = aim.iter().flat_map(|aim| &aim.path).map_while(|place| shown(place.as_vec3()));
        Overlay {
            marker: self.held_at().and_then(shown),
            aim: aim.as_ref().and_then(|aim| Some([shown(aim.from)?, shown(aim.to)?])),
            path: path.collect(),
            pull: pull.and_then(|(at, _)| Some((shown(at)?, REACH))),
        }
    }
}
