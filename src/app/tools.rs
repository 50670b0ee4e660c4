//! Mouse tools over the picture: a click selects a body; a drag launches bodies, or attracts or repels them.

use glam::{DVec3, Vec3};

use super::input::{DragTool, Gesture, Mouse};
use super::named_bodies::NamedBodies;
use crate::base::{Attractor, GravitySample, Launch, Orbit, Points, SelectedBody, edit};
use crate::engine::Config;
use crate::session::Stats;
use crate::ui::{Captions, Markers, Tool, ToolSettings};
use crate::view::Camera;

/// Maximum number of sampled bodies whose gravity is used to predict the path of a launched body.
const MAX_SAMPLES: usize = 1024;
/// Maximum number of segments in a predicted path.
const SEGMENTS: usize = 400;
/// Length of a segment of a predicted path, in picture heights.
const SEGMENT: f32 = 0.008;
/// Length of a drag that launches a body at escape velocity, in picture heights.
const ESCAPE: f32 = 0.5;
/// Radius of the attractor, in picture heights.
const ATTRACTOR_RADIUS: f32 = 0.08;
/// Radius of a launched cluster of bodies, in picture heights.
const CLUSTER_RADIUS: f32 = 0.025;

/// The camera, config and bodies that a mouse tool works with.
pub(super) struct Surroundings<'a> {
    pub camera: &'a Camera,
    pub config: &'a Config,
    pub points: &'a Points,
}

/// A request to the simulation that results from a mouse gesture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Request {
    /// Select this body; `None` clears the selection.
    Select(Option<usize>),
    Launch(Launch),
    /// Start attracting or repelling bodies.
    StartAttractor {
        repels: bool,
    },
    /// Cancel the current gesture of the mouse tool.
    Cancel,
}

/// The mouse, the selected tool, and the current gesture.
#[derive(Debug, Default)]
pub(super) struct Tools {
    pub mouse: Mouse,
    pub settings: ToolSettings,
    /// Radius of the brush in scene units; `None` while the brush is off.
    pub brush: Option<f32>,
    /// Body that the camera follows once a frame reports this body as selected.
    pub follows_next: Option<usize>,
    pub named: NamedBodies,
    /// The launch that the user is aiming, if any.
    aim: Option<Aim>,
    /// Position of the attractor and whether it repels, or `None` if there is no attractor.
    attractor: Option<(Vec3, bool)>,
    /// Position and mass `(x, y, z, m)` of each body in a sample that represents all bodies.
    samples: Vec<[f32; 4]>,
    /// Whether the gesture or the bodies have changed since the last call to [`Tools::update`].
    has_moved: bool,
}

#[derive(Debug)]
struct Aim {
    from: Vec3,
    to: Vec3,
    is_cluster: bool,
    path: Vec<DVec3>,
}

impl Tools {
    /// Returns the tool for drags with the left button in the mode of `config`.
    pub(super) fn drag_tool(&self, config: &Config) -> DragTool {
        match (self.settings.active(config), self.brush) {
            (Tool::Launch, _) => DragTool::Launch,
            (Tool::Attract, _) => DragTool::Attract,
            (Tool::Look, Some(radius)) => DragTool::Brush(radius),
            (Tool::Look, None) if config.mode.info().work.orbit.is_err() => DragTool::Pan,
            (Tool::Look, None) => DragTool::Camera,
        }
    }

    /// Applies a mouse gesture. Returns the resulting request to the simulation, if any.
    pub(super) fn apply(&mut self, gesture: Gesture, scene: &Surroundings) -> Option<Request> {
        match gesture {
            Gesture::Click(at) => Some(Request::Select(scene.camera.pick(scene.points, at))),
            Gesture::Press(at, other) => {
                self.sample(scene.points);
                self.has_moved = true;
                let place = scene.camera.on_plane(at);
                match self.settings.active(scene.config) {
                    Tool::Launch => {
                        self.aim = Some(Aim { from: place, to: place, is_cluster: other, path: Vec::new() });
                        None
                    }
                    Tool::Attract => {
                        self.attractor = Some((place, other));
                        Some(Request::StartAttractor { repels: other })
                    }
                    Tool::Look => None,
                }
            }
            Gesture::Move(at, other) => {
                let place = scene.camera.on_plane(at);
                if let Some(aim) = &mut self.aim {
                    (aim.to, aim.is_cluster) = (place, other);
                }
                if let Some((at, _)) = &mut self.attractor {
                    *at = place;
                }
                self.has_moved = true;
                None
            }
            Gesture::Release(other) => {
                let aim = self.aim.take();
                let launch = aim.map(|aim| self.launch(&Aim { is_cluster: other, ..aim }, scene));
                Some(launch.map_or(Request::Cancel, Request::Launch))
            }
            Gesture::Cancel => Some(Request::Cancel),
        }
    }

    /// Cancels the current gesture. Returns whether the simulation must remove an attractor.
    pub(super) fn cancel(&mut self) -> bool {
        self.mouse.drag = None;
        self.aim = None;
        self.attractor.take().is_some()
    }

    /// If the gesture or the bodies have changed, predicts the path of the launch being aimed and returns the
    /// attractor, if any. Otherwise returns `None`.
    pub(super) fn update(&mut self, scene: &Surroundings) -> Option<Attractor> {
        if !std::mem::take(&mut self.has_moved) {
            return None;
        }
        if let Some(aim) = &self.aim {
            let path = self.path(aim, scene);
            self.aim.as_mut()?.path = path;
        }
        let (at, repels) = self.attractor?;
        let reach = ATTRACTOR_RADIUS / scene.camera.heights_per_unit();
        let strength = self.settings.strength * reach * self.speed(at, scene).powi(2);
        Some(Attractor { at: at.into(), strength: if repels { -strength } else { strength }, reach })
    }

    /// Takes a new sample of the bodies if the user is aiming a launch.
    pub(super) fn bodies_changed(&mut self, points: &Points) {
        if self.aim.is_some() {
            self.sample(points);
            self.has_moved = true;
        }
    }

    /// Starts to follow the body that the user chose by name, once `stats` report that body as selected.
    pub(super) fn follow_when_selected(&mut self, stats: &Stats) {
        let selected = stats.selected.map(|selected| selected.body);
        self.settings.follows &= selected.is_some();
        if self.follows_next.is_some() && self.follows_next == selected {
            (self.settings.follows, self.follows_next) = (true, None);
        }
    }

    /// Returns the markers to draw for the tools and for the selected body.
    pub(super) fn markers(&self, camera: &Camera, selected: Option<&SelectedBody>) -> Markers {
        let shown = |place: Vec3| camera.project(place).map(|(at, _)| at);
        let orbit = selected.and_then(|body| body.orbit);
        let path = self.aim.iter().flat_map(|aim| &aim.path).map_while(|place| shown(place.as_vec3()));
        Markers {
            selected: selected.and_then(|body| shown(body.position.into())),
            orbit: camera.project_line(orbit.iter().flat_map(Orbit::ellipse).map(|at| at.as_vec3())),
            captions: Captions::default(),
            aim: self.aim.as_ref().and_then(|aim| Some([shown(aim.from)?, shown(aim.to)?])),
            path: path.collect(),
            attractor: self.attractor.and_then(|(at, _)| Some((shown(at)?, ATTRACTOR_RADIUS))),
        }
    }

    fn sample(&mut self, points: &Points) {
        self.samples = edit::sample(&points.positions, MAX_SAMPLES);
        // Each body in `points` represents itself and the skipped bodies that follow it.
        self.samples.iter_mut().for_each(|sample| sample[3] *= (points.skipped + 1) as f32);
    }

    fn field(&self, at: DVec3, scene: &Surroundings) -> GravitySample {
        scene.config.mode.field(at, &self.samples, None).unwrap_or_default()
    }

    /// Returns the escape speed at a position, or one picture height per unit of time where there is no gravity.
    fn speed(&self, at: Vec3, scene: &Surroundings) -> f32 {
        let speed = (-2.0 * self.field(at.as_dvec3(), scene).potential).max(0.0).sqrt() as f32;
        if speed > 0.0 { speed } else { scene.camera.heights_per_unit().recip() }
    }

    fn velocity(&self, aim: &Aim, scene: &Surroundings) -> Vec3 {
        let heights = (aim.to - aim.from) * scene.camera.heights_per_unit();
        heights * (self.speed(aim.from, scene) / ESCAPE)
    }

    /// Predicts the path of a launched body, as if its mass were negligible. Returns points along the path.
    fn path(&self, aim: &Aim, scene: &Surroundings) -> Vec<DVec3> {
        let unit = f64::from(scene.camera.heights_per_unit().recip());
        let start = (aim.from.as_dvec3(), self.velocity(aim, scene).as_dvec3());
        let planet = f64::from(scene.points.shape.planet());
        let target = scene.camera.target.as_dvec3();
        let ends = |x: DVec3| x.length() < planet || x.distance(target) > 3.0 * unit;
        edit::path(start, f64::from(SEGMENT) * unit, SEGMENTS, |x| self.field(x, scene), ends)
    }

    fn launch(&self, aim: &Aim, scene: &Surroundings) -> Launch {
        let unit = scene.camera.heights_per_unit().recip();
        let cluster = aim.is_cluster.then_some(CLUSTER_RADIUS * unit);
        let (at, velocity) = (aim.from.into(), self.velocity(aim, scene).into());
        Launch { at, velocity, share: self.settings.mass_share, cluster }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::MODES;

    fn use_tool(tool: Tool, gestures: &[Gesture]) -> (Tools, Vec<Request>, Option<Attractor>) {
        let points = Points {
            positions: vec![[0.0, 0.0, 0.0, 1.0]].into(),
            values: vec![0.5].into(),
            ..Points::default()
        };
        let (camera, config) = (Camera::default(), Config::new(MODES[0]));
        let scene = Surroundings { camera: &camera, config: &config, points: &points };
        let mut tools =
            Tools { settings: ToolSettings { tool, ..ToolSettings::default() }, ..Tools::default() };
        let requests = gestures.iter().filter_map(|gesture| tools.apply(*gesture, &scene)).collect();
        let attractor = tools.update(&scene);
        (tools, requests, attractor)
    }

    #[test]
    fn the_launch_tool_launches_a_cluster_from_the_start_of_the_drag() {
        let drag =
            [Gesture::Press([0.1, 0.1], false), Gesture::Move([0.2, 0.1], false), Gesture::Release(true)];
        let (tools, ..) = use_tool(Tool::Launch, &drag[..2]);
        assert!(tools.markers(&Camera::default(), None).path.len() > 1, "the path is predicted");
        let (_, requests, attractor) = use_tool(Tool::Launch, &drag);
        let [Request::Launch(launch)] = requests[..] else { panic!("{requests:?}") };
        assert_eq!(Vec3::from(launch.at), Camera::default().on_plane([0.1, 0.1]));
        assert!(launch.cluster.is_some() && Vec3::from(launch.velocity).length() > 0.0);
        assert_eq!(attractor, None);
    }

    #[test]
    fn an_attractor_stays_active_until_cancelled() {
        let press = [Gesture::Press([0.1, 0.1], true)];
        let (mut tools, requests, attractor) = use_tool(Tool::Attract, &press);
        assert_eq!(requests, [Request::StartAttractor { repels: true }]);
        assert!(attractor.unwrap().strength < 0.0);
        assert_eq!([tools.cancel(), tools.cancel()], [true, false]);
    }

    #[test]
    fn a_click_selects_the_body_under_the_cursor_or_clears_the_selection() {
        let (_, requests, _) =
            use_tool(Tool::Look, &[Gesture::Click([0.0, 0.0]), Gesture::Click([0.4, 0.4])]);
        assert_eq!(requests, [Request::Select(Some(0)), Request::Select(None)]);
    }
}
