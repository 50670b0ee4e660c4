//! Selects the named bodies whose names, orbits and paths are drawn over the picture, and lists the heaviest bodies.

use std::sync::Arc;

use glam::{DVec3, Vec3};

use crate::base::look::Srgb;
use crate::base::{Look, Points, Shape};
use crate::engine::Config;
use crate::scene::{MAX_PATH_BODIES, Origin, Setup};
use crate::session::Stats;
use crate::ui::{Caption, Captions, Line};
use crate::view::Camera;

/// Maximum number of named bodies in view whose names are shown.
const SHOWN: usize = 12;
/// Maximum number of named bodies, heaviest first, that are considered for display.
const CONSIDERED: usize = 4096;

/// Maximum number of bodies in the list of the heaviest bodies.
const LISTED: usize = 8;

/// The named bodies, the heaviest bodies, and the orbits and paths to show. The paths are computed when a run begins,
/// and everything else when the bodies change.
#[derive(Debug, Default)]
pub(crate) struct NamedBodies {
    /// Mode, generation and number of changes for which `order`, `orbits` and `heaviest` were computed.
    moment: Option<(&'static str, u64, u64)>,
    /// Indices of the bodies that have names, the heaviest first.
    order: Vec<usize>,
    /// Initial orbits of the heaviest named bodies.
    orbits: Vec<Orbit>,
    /// Index and mass of each body in the list of the heaviest bodies; see the function [`heaviest`].
    heaviest: Vec<(usize, f32)>,
    /// Mode and generation for which `paths` were computed.
    run: Option<(&'static str, u64)>,
    /// Paths that the named bodies will follow from the start of the run, each with the colour of the body; see the
    /// function [`predicted_paths`].
    paths: Vec<(Option<Srgb>, Vec<Vec3>)>,
}

/// Initial orbit of a body around another one, which is at the focus of the ellipse.
#[derive(Debug)]
struct Orbit {
    /// Index of the body at the focus of the ellipse. The orbit moves with this body.
    focus: usize,
    /// Points along the orbit, relative to the body at the focus.
    line: Vec<Vec3>,
    /// Colour of the body that has the orbit, if the scene sets one.
    colour: Option<Srgb>,
}

impl NamedBodies {
    /// Returns the captions (names, orbits, paths and date) for a picture of `points`. `view` holds the camera and the
    /// aspect ratio of the picture; the settings in `look` select which captions are shown.
    pub(crate) fn captions(
        &mut self,
        look: &Look,
        view: (&Camera, f32),
        points: &Points,
        stats: &Stats,
    ) -> Captions {
        self.update(points, stats);
        let units = &stats.config.start.units;
        let date = units.date(stats.time).filter(|_| look.labels).map(|date| date.to_string());
        let selected = stats.selected.map(|selected| selected.body);
        let caption = |(body, at)| {
            let name = stats.names.get(body)?.to_owned();
            Some(Caption { body, name, at, is_selected: selected == Some(body) })
        };
        let in_view = if look.labels { self.in_view(view, points, stats) } else { Vec::new() };
        let (mut orbits, mut paths) = (Vec::new(), Vec::new());
        if look.orbits {
            orbits = self.orbits(view.0, points);
            paths = self.paths(view.0);
        }
        Captions { names: in_view.into_iter().filter_map(caption).collect(), orbits, paths, date }
    }

    /// Returns the index and the mass of each body in the list of the heaviest bodies, the heaviest first.
    pub(super) fn heaviest(&self) -> &[(usize, f32)] {
        &self.heaviest
    }

    /// Returns the heaviest named bodies in a picture with this `aspect`, and their positions in picture heights from
    /// its centre. If the selected body has a name, it comes first.
    fn in_view(
        &self,
        (camera, aspect): (&Camera, f32),
        points: &Points,
        stats: &Stats,
    ) -> Vec<(usize, [f32; 2])> {
        let selected = stats.selected.map(|selected| selected.body);
        let selected = selected.filter(|body| stats.names.get(*body).is_some());
        let others = self.order.iter().copied().filter(|body| Some(*body) != selected);
        let project = camera.projector();
        let place = |body: usize| {
            let [x, y, z, _] = points.position(body)?;
            let is_drawn =
                points.values.get(points.place(body)?).is_none_or(|value| *value != Points::QUARANTINED);
            let (at, _) = project(Vec3::new(x, y, z)).filter(|_| is_drawn)?;
            (at[0].abs() < 0.5 * aspect && at[1].abs() < 0.5).then_some((body, at))
        };
        selected.into_iter().chain(others).filter_map(place).take(SHOWN).collect()
    }

    /// Returns the orbits as lines on the screen.
    fn orbits(&self, camera: &Camera, points: &Points) -> Vec<Line> {
        let mut lines = Vec::new();
        for Orbit { focus, line, colour } in &self.orbits {
            let Some([x, y, z, _]) = points.position(*focus) else { continue };
            let parts = camera.project_line(line.iter().map(|at| Vec3::new(x, y, z) + *at));
            lines.extend(parts.into_iter().map(|part| (*colour, part)));
        }
        lines
    }

    /// Returns the paths as lines on the screen.
    fn paths(&self, camera: &Camera) -> Vec<Line> {
        let mut lines = Vec::new();
        for (colour, path) in &self.paths {
            let parts = camera.project_line(path.iter().copied());
            lines.extend(parts.into_iter().map(|part| (*colour, part)));
        }
        lines
    }

    /// Sorts the named bodies by mass, and finds the heaviest bodies and the orbits, if the bodies have changed.
    /// Predicts the paths if a run has begun.
    fn update(&mut self, points: &Points, stats: &Stats) {
        let run = Some((stats.mode, stats.generation));
        if self.run != run {
            (self.run, self.paths) = (run, predicted_paths(stats));
        }
        let moment = Some((stats.mode, stats.generation, stats.changes));
        if self.moment != moment {
            let mass = |body: usize| points.position(body).map_or(0.0, |x| x[3]);
            let mut order: Vec<_> = stats.names.iter().map(|(body, _)| body).collect();
            order.sort_by(|a, b| mass(*b).total_cmp(&mass(*a)));
            order.truncate(CONSIDERED);
            let orbits = order.iter().take(SHOWN).filter_map(|body| orbit(*body, stats)).collect();
            (self.moment, self.order, self.orbits, self.heaviest) = (moment, order, orbits, heaviest(points));
        }
    }
}

/// Returns the initial orbit of a named body, if the scene describes one and the body at its focus has a name.
fn orbit(body: usize, stats: &Stats) -> Option<Orbit> {
    let (scene, name) = (&stats.config.start, stats.names.get(body)?);
    let Origin::Orbits(orbits) = &scene.origin else { return None };
    let (focus, ellipse) = orbits.ellipse(name)?;
    let (focus, _) = stats.names.iter().find(|(_, name)| *name == focus)?;
    let line = ellipse.map(|at| DVec3::from(at).as_vec3()).collect();
    Some(Orbit { focus, line, colour: scene.colours.get(name).copied() })
}

/// Returns the predicted paths of the named bodies, each with the body's colour, if the scene has at most
/// [`MAX_PATH_BODIES`] bodies, and either lists them or sets the time that the paths cover.
fn predicted_paths(stats: &Stats) -> Vec<(Option<Srgb>, Vec<Vec3>)> {
    let Config { start: scene, mode, seed, .. } = &*stats.config;
    let time = scene.path_time.map(f64::from);
    let bodies = match (&scene.origin, scene.bodies) {
        (Origin::Bodies(bodies), _) => Arc::clone(bodies),
        (Origin::Made(..), Some(count @ ..=MAX_PATH_BODIES)) if time.is_some() => {
            let setup = Setup { bodies: count, seed: *seed, params: &mode.values() };
            let Ok(bodies) = scene.generate(&setup).into_bodies() else { return Vec::new() };
            bodies.into()
        }
        _ => return Vec::new(),
    };
    let paths = mode.paths(&bodies, time).into_iter().enumerate();
    paths
        .filter_map(|(body, path)| {
            let name = scene.names.get(body)?;
            Some((scene.colours.get(name).copied(), path))
        })
        .collect()
}

/// Returns the index and the mass of the [`LISTED`] heaviest bodies, the heaviest first. Omits listed bodies that are
/// only as heavy as the heaviest unlisted body. The list is therefore empty if many bodies have the same mass.
fn heaviest(points: &Points) -> Vec<(usize, f32)> {
    // Only glowing bodies carry their masses; balls carry their radii. If bodies were skipped, the heaviest may be
    // missing.
    if points.shape != Shape::Glow || points.skipped > 0 {
        return Vec::new();
    }
    let mut found: Vec<(usize, f32)> = Vec::with_capacity(LISTED + 2);
    for (body, &[.., mass]) in points.positions.iter().enumerate() {
        if mass > found.get(LISTED).map_or(0.0, |(_, least)| *least) {
            let at = found.partition_point(|(_, other)| *other >= mass);
            found.insert(at, (body, mass));
            found.truncate(LISTED + 1);
        }
    }
    if let Some((_, next)) = found.get(LISTED).copied() {
        found.retain(|(_, mass)| *mass > next);
    }
    found
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::base::BodyNames;
    use crate::engine::Config;
    use crate::modes::MODES;
    use crate::scene::Scene;

    #[test]
    fn named_bodies_in_view_are_labelled_with_the_selected_first_then_by_mass() {
        let rows = [[0.0, 0.0, 0.0, 1.0], [0.1, 0.0, 0.0, 9.0], [0.2, 0.0, 0.0, 2.0], [900.0, 0.0, 0.0, 5.0]];
        let points =
            Points { positions: rows.to_vec().into(), values: vec![0.0; 4].into(), ..Points::default() };
        let mut stats =
            Stats { names: ["a", "", "c", "d"].into_iter().collect(), changes: 1, ..Stats::default() };
        let mut named = NamedBodies::default();
        let camera = Camera::default();
        let mut bodies = |stats: &Stats| -> Vec<usize> {
            let captions = named.captions(&Look::default(), (&camera, 1.5), &points, stats);
            captions.names.into_iter().map(|caption| caption.body).collect()
        };
        assert_eq!(bodies(&stats), [2, 0], "body 1 has no name, body 3 is out of view");
        stats.selected = Some(crate::base::SelectedBody { body: 0, ..Default::default() });
        assert_eq!(bodies(&stats), [0, 2]);
        let many = Points {
            positions: vec![[0.0, 0.0, 0.0, 1.0]; 40].into(),
            values: vec![0.0; 40].into(),
            ..points
        };
        let stats = Stats { names: (0..40).map(|nth| nth.to_string()).collect(), ..stats };
        let captions = |look: &Look| NamedBodies::default().captions(look, (&camera, 1.5), &many, &stats);
        assert_eq!(captions(&Look::default()).names.len(), SHOWN);
        assert_eq!(captions(&Look { labels: false, ..Look::default() }), Captions::default());
        // Every second one of 80 bodies is drawn: the bodies 0, 2, 4 and so on.
        let sample = Points { skipped: 1, ..many.clone() };
        let names = ["a", "b", "c"].into_iter().collect();
        let stats = Stats { names, generation: 9, ..stats.clone() };
        let captions = NamedBodies::default().captions(&Look::default(), (&camera, 1.5), &sample, &stats);
        let bodies: Vec<_> = captions.names.into_iter().map(|caption| caption.body).collect();
        assert_eq!(bodies, [0, 2], "body 1 is left out");
    }

    /// The captions show the orbits and the date of the frame's scene, even if the user has since chosen another scene.
    #[test]
    fn captions_use_the_orbits_and_the_date_of_the_displayed_frames_scene() {
        let start = MODES[0].scene("solar-system").unwrap().clone();
        let Origin::Orbits(orbits) = &start.origin else { panic!("the scene has orbits") };
        let bodies = orbits.ellipse("Earth").map(|(focus, _)| focus);
        assert_eq!(bodies, Some("Sun"));
        let config = Arc::new(Config { start, ..Config::default() });
        let names = ["Sun", "Earth", "Nobody"].into_iter().collect();
        let mut stats = Stats { names, config, generation: 3, ..Stats::default() };
        let rows = [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.0, 3e-6], [0.0, 2.0, 0.0, 1e-9]];
        let mut points =
            Points { positions: rows.to_vec().into(), values: vec![0.0; 3].into(), ..Points::default() };
        let camera = Camera { pitch: 1.5, distance: 5.0, ..Camera::default() };
        let mut named = NamedBodies::default();
        let first = named.captions(&Look::default(), (&camera, 1.5), &points, &stats);
        assert_eq!((first.orbits.len(), first.date.as_deref()), (1, Some("2000-01-01")));
        points.positions[0][0] = 0.5;
        stats.time = std::f64::consts::TAU;
        let later = named.captions(&Look::default(), (&camera, 1.5), &points, &stats);
        assert!(later.orbits != first.orbits, "the orbit moves with the Sun");
        assert_eq!(later.date.as_deref(), Some("2000-12-31"));
        stats = Stats { config: Arc::default(), generation: 4, ..stats };
        let other = named.captions(&Look::default(), (&camera, 1.5), &points, &stats);
        assert_eq!((other.orbits.len(), other.date), (0, None), "another scene");
    }

    /// A scene with a generator shows paths only if it sets the time that they cover.
    #[test]
    fn bodies_of_a_generator_show_paths_for_the_time_that_the_scene_sets() {
        let start = MODES[0].scene("two-body").unwrap();
        let length = |path_time: Option<f32>| -> Vec<f32> {
            let start = Arc::new(Scene { path_time, ..Scene::clone(start) });
            let mut config = Config::default();
            config.select_scene(&start);
            let stats = Stats { config: Arc::new(config), ..Stats::default() };
            let length = |path: &[Vec3]| path.windows(2).map(|pair| pair[0].distance(pair[1])).sum::<f32>();
            predicted_paths(&stats).iter().map(|(_, path)| length(path)).collect()
        };
        assert!(length(None).is_empty());
        let [short, long] = [3.0, 55.0].map(|time| length(Some(time)));
        assert_eq!((short.len(), long.len()), (2, 2));
        // The heavy body is three times as heavy, so its path is a third as long.
        for [heavy, light] in [&short, &long].map(|lengths| [lengths[0], lengths[1]]) {
            assert!(light > 1.0 && (light / heavy - 3.0).abs() < 0.05, "{light} {heavy}");
        }
        assert!(long[1] > 10.0 * short[1], "{long:?} {short:?}");
    }

    #[test]
    fn a_few_listed_bodies_show_the_paths_that_they_will_follow() {
        let start = MODES[0].scene("pythagorean").unwrap().clone();
        let config = Arc::new(Config { start: start.clone(), ..Config::default() });
        let stats = Stats { names: start.names.clone(), config, generation: 1, ..Stats::default() };
        let Origin::Bodies(bodies) = &start.origin else {
            panic!("the scene `pythagorean` does not list its bodies")
        };
        let points = Points {
            positions: bodies.positions.clone().into(),
            values: vec![0.0; 3].into(),
            ..Points::default()
        };
        let camera = Camera { pitch: 1.5, distance: 20.0, ..Camera::default() };
        let captions = |look: &Look, stats: &Stats| {
            NamedBodies::default().captions(look, (&camera, 1.5), &points, stats)
        };
        let shown = captions(&Look::default(), &stats);
        let colours: Vec<_> = shown.paths.iter().map(|(colour, _)| *colour).collect();
        assert_eq!(colours, ["Mass 3", "Mass 4", "Mass 5"].map(|name| start.colours.get(name).copied()));
        assert!(shown.orbits.is_empty() && shown.paths.iter().all(|(_, line)| line.len() > 50));
        assert_eq!(captions(&Look { orbits: false, ..Look::default() }, &stats).paths, []);
        let unnamed = Scene { names: BodyNames::default(), ..Scene::clone(&start) };
        let without_names = Config { start: Arc::new(unnamed), ..Config::default() };
        let stats = Stats { config: Arc::new(without_names), ..stats };
        assert_eq!(captions(&Look::default(), &stats).paths, [], "bodies without names have no paths");
    }

    #[test]
    fn the_list_contains_the_heaviest_bodies_and_omits_ties_with_unlisted_bodies() {
        let of = |masses: &[f32]| {
            let positions: Vec<_> = masses.iter().map(|mass| [0.0, 0.0, 0.0, *mass]).collect();
            heaviest(&Points { positions: positions.into(), ..Points::default() })
        };
        assert_eq!(of(&[1.0, 3.0, f32::NAN, 0.0, 2.0]), [(1, 3.0), (4, 2.0), (0, 1.0)]);
        assert_eq!(of(&[1.0; 2]).len(), 2, "few bodies are all listed");
        assert_eq!(of(&[1.0; 50]), []);
        let mut masses = vec![1.0; 50];
        (masses[20], masses[40]) = (5.0, 7.0);
        assert_eq!(of(&masses), [(40, 7.0), (20, 5.0)]);
        let rising: Vec<f32> = (1..=1000).map(|nth| nth as f32).collect();
        let listed: Vec<_> = of(&rising).into_iter().map(|(body, _)| body).collect();
        assert_eq!(listed, (992..1000).rev().collect::<Vec<_>>());
        let balls = Shape::Spheres { planet: 0.0 };
        assert_eq!(
            heaviest(&Points { shape: balls, positions: vec![[1.0; 4]].into(), ..Points::default() }),
            []
        );
    }
}
