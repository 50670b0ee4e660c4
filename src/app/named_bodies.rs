//! Selects the named bodies whose names and orbits are drawn over the picture.

use glam::Vec3;

use crate::base::look::Srgb;
use crate::base::{Look, Points};
use crate::scene::{Orbits, Origin, Scene};
use crate::session::Stats;
use crate::ui::{Caption, Captions};
use crate::view::Camera;

/// Maximum number of named bodies in view whose names are shown.
const SHOWN: usize = 12;
/// Maximum number of named bodies, heaviest first, that are considered for display.
const CONSIDERED: usize = 4096;

/// The named bodies, the heaviest first.
#[derive(Debug, Default)]
pub(crate) struct NamedBodies {
    /// Mode, generation and number of changes for which `order` was computed.
    moment: Option<(&'static str, u64, u64)>,
    order: Vec<usize>,
}

impl NamedBodies {
    /// Returns the captions (names, orbits and date) for a picture of `points` with this aspect ratio. The look selects
    /// which captions are shown.
    pub(crate) fn captions(
        &mut self,
        (look, scene): (&Look, &Scene),
        view: (&Camera, f32),
        points: &Points,
        stats: &Stats,
    ) -> Captions {
        let date = scene.units.date(stats.time).filter(|_| look.labels).map(|date| date.to_string());
        if stats.names.is_empty() {
            return Captions { date, ..Captions::default() };
        }
        self.update(points, stats);
        let selected = stats.selected.map(|selected| selected.body);
        let caption = |(body, at)| {
            let name = stats.names.get(body)?.to_owned();
            Some(Caption { body, name, at, is_selected: selected == Some(body) })
        };
        let in_view = if look.labels { self.in_view(view, points, stats) } else { Vec::new() };
        let orbits = match &scene.origin {
            Origin::Orbits(orbits) if look.orbits => self.orbits((orbits, scene), view.0, points, stats),
            _ => Vec::new(),
        };
        Captions { names: in_view.into_iter().filter_map(caption).collect(), orbits, date }
    }

    /// Returns the heaviest named bodies in a picture with this `aspect`, and their positions in picture heights from its
    /// centre. If the selected body has a name, it comes first.
    fn in_view(
        &self,
        (camera, aspect): (&Camera, f32),
        points: &Points,
        stats: &Stats,
    ) -> Vec<(usize, [f32; 2])> {
        let selected = stats.selected.map(|selected| selected.body);
        let selected = selected.filter(|body| stats.names.get(*body).is_some());
        let others = self.order.iter().copied().filter(|body| Some(*body) != selected);
        let place = |body: usize| {
            let [x, y, z, _] = *points.positions.get(body)?;
            let is_drawn = points.values.get(body).is_none_or(|value| *value != Points::QUARANTINED);
            let (at, _) = camera.project(Vec3::new(x, y, z)).filter(|_| is_drawn)?;
            (at[0].abs() < 0.5 * aspect && at[1].abs() < 0.5).then_some((body, at))
        };
        selected.into_iter().chain(others).filter_map(place).take(SHOWN).collect()
    }

    /// Returns the initial orbits of the heaviest named bodies as lines on the screen, each with its colour. Each ellipse
    /// moves with the body at its focus. The parts in front of and behind the eye are separate lines.
    fn orbits(
        &self,
        (orbits, scene): (&Orbits, &Scene),
        camera: &Camera,
        points: &Points,
        stats: &Stats,
    ) -> Vec<(Option<Srgb>, Vec<[f32; 2]>)> {
        let mut lines = Vec::new();
        for body in self.order.iter().take(SHOWN).copied() {
            let name = stats.names.get(body).unwrap_or_default();
            let Some((focus, ellipse)) = orbits.ellipse(name) else { continue };
            let focus = stats.names.iter().find(|(_, name)| *name == focus);
            let Some(centre) = focus.and_then(|(focus, _)| points.positions.get(focus)) else { continue };
            let centre = Vec3::new(centre[0], centre[1], centre[2]);
            let shown: Vec<_> = ellipse
                .map(|at| camera.project(centre + glam::DVec3::from(at).as_vec3()).map(|(at, _)| at))
                .collect();
            let parts = shown.split(Option::is_none).filter(|part| part.len() > 1);
            let colour = scene.colours.get(name).copied();
            lines.extend(parts.map(|part| (colour, part.iter().copied().flatten().collect())));
        }
        lines
    }

    /// Sorts the named bodies by mass, if the bodies have changed.
    fn update(&mut self, points: &Points, stats: &Stats) {
        let moment = Some((stats.mode, stats.generation, stats.changes));
        if self.moment != moment {
            let mass = |body: usize| points.positions.get(body).map_or(0.0, |x| x[3]);
            self.order = stats.names.iter().map(|(body, _)| body).collect();
            self.order.sort_by(|a, b| mass(*b).total_cmp(&mass(*a)));
            self.order.truncate(CONSIDERED);
            self.moment = moment;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heaviest_named_bodies_in_view_are_shown_and_the_selected_one_first() {
        let rows = [[0.0, 0.0, 0.0, 1.0], [0.1, 0.0, 0.0, 9.0], [0.2, 0.0, 0.0, 2.0], [900.0, 0.0, 0.0, 5.0]];
        let points =
            Points { positions: rows.to_vec().into(), values: vec![0.0; 4].into(), ..Points::default() };
        let mut stats =
            Stats { names: ["a", "", "c", "d"].into_iter().collect(), changes: 1, ..Stats::default() };
        let mut named = NamedBodies::default();
        let camera = Camera::default();
        let scene = Scene::of_bodies("test", crate::base::Bodies::default());
        let mut bodies = |stats: &Stats| -> Vec<usize> {
            let captions = named.captions((&Look::default(), &scene), (&camera, 1.5), &points, stats);
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
        let captions =
            |look: &Look| NamedBodies::default().captions((look, &scene), (&camera, 1.5), &many, &stats);
        assert_eq!(captions(&Look::default()).names.len(), SHOWN);
        assert_eq!(captions(&Look { labels: false, ..Look::default() }), Captions::default());
    }
}
