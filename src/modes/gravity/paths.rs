//! Predicted paths of a few bodies, computed from their initial state in double precision.

use std::f64::consts::TAU;

use glam::{DVec3, Vec3};

use super::parameters::{Gravity, Integrator};
use super::reference::place;
use crate::base::Bodies;
use crate::scene::MAX_PATH_BODIES;

/// Maximum number of steps. Close encounters without softening need many short steps; if this limit is reached, the
/// paths end early.
const MAX_STEPS: usize = 20_000;
/// Maximum number of points of a path, enough for five to fifty turns of a circular orbit.
const MAX_POINTS: usize = 3000;
/// Default time that the paths cover, in periods of a circular orbit around the total mass. The radius of this orbit is
/// the distance of the outermost body from the centre of mass.
const PERIODS: f64 = 0.8;
/// Length of a step, divided by the time that [`Gravity::shortest_fall_time`] returns.
const STEP: f64 = 0.02;
/// Minimum distance between successive points of a path, divided by the body's distance from its nearest neighbour.
const SPACING: f64 = 0.03;

impl Gravity {
    /// Returns the path that each of `bodies` will follow, as points in chronological order. The first point is the
    /// body's present position. The paths cover the simulated time `duration`; if it is `None`, they cover [`PERIODS`]
    /// periods of a circular orbit around the total mass. Returns an empty list if there are more than
    /// [`MAX_PATH_BODIES`] bodies, if no two bodies at different positions attract each other, or if the parameter
    /// `decay` is not 1.
    pub(super) fn predicted_paths(&self, bodies: &Bodies, duration: Option<f64>) -> Vec<Vec<Vec3>> {
        if bodies.len() > MAX_PATH_BODIES || self.decay != 1.0 {
            return Vec::new();
        }
        let mut bodies = bodies.to_f64();
        let mut paths: Vec<_> = bodies.positions.iter().map(|x| vec![place(x)]).collect();
        let period = self.period(&bodies);
        if !(period > 0.0 && period.is_finite()) {
            return Vec::new();
        }
        let duration = duration.unwrap_or(PERIODS * period);
        let (mut time, mut steps) = (0.0, 0);
        while time < duration && steps < MAX_STEPS {
            let dt = (STEP * self.shortest_fall_time(&bodies)) as f32;
            let step = Self { dt, integrator: Integrator::Yoshida, ..self.clone() };
            step.reference_step(&mut bodies);
            (time, steps) = (time + f64::from(dt), steps + 1);
            for (i, path) in paths.iter_mut().enumerate() {
                let at = place(&bodies.positions[i]);
                let is_far = |last: &DVec3| last.distance(at) > SPACING * nearest(i, &bodies);
                if path.len() < MAX_POINTS && path.last().is_some_and(is_far) {
                    path.push(at);
                }
            }
        }
        paths.into_iter().map(|path| path.iter().map(DVec3::as_vec3).collect()).collect()
    }

    /// Returns the period of a circular orbit around the total mass, with the distance of the outermost body from the
    /// centre of mass as its radius.
    fn period(&self, bodies: &Bodies<f64>) -> f64 {
        let x = &bodies.positions;
        let mass: f64 = x.iter().map(|x| x[3]).sum();
        let centre = x.iter().map(|x| place(x) * x[3]).sum::<DVec3>() / mass;
        let radius = x.iter().map(|x| place(x).distance(centre)).fold(0.0, f64::max);
        TAU * (radius.powi(3) / (f64::from(self.g) * mass)).sqrt()
    }

    /// Returns the shortest free-fall time scale √(r³/(G·M)) of all pairs of bodies, where r is the softened distance
    /// and M the total mass of the pair.
    fn shortest_fall_time(&self, bodies: &Bodies<f64>) -> f64 {
        let x = &bodies.positions;
        let fall_time = |[a, b]: [&[f64; 4]; 2]| {
            let r2 = place(a).distance_squared(place(b));
            1.0 / (f64::from(self.g) * (a[3] + b[3]) * self.fade(r2)).sqrt()
        };
        let pairs = (0..x.len()).flat_map(|i| (0..i).map(move |j| [&x[i], &x[j]]));
        pairs.map(fall_time).fold(f64::INFINITY, f64::min)
    }
}

/// Returns the distance of body `i` from the nearest other body.
fn nearest(i: usize, bodies: &Bodies<f64>) -> f64 {
    let own = place(&bodies.positions[i]);
    let others = bodies.positions.iter().enumerate().filter(|(j, _)| *j != i);
    others.map(|(_, other)| place(other).distance(own)).fold(f64::INFINITY, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn two_bodies(speed: f32) -> Bodies {
        let mut bodies = Bodies::default();
        bodies.push([-0.5, 0.0, 0.0], [0.0, -speed, 0.0], 0.5);
        bodies.push([0.5, 0.0, 0.0], [0.0, speed, 0.0], 0.5);
        bodies
    }

    #[test]
    fn a_circular_orbit_gives_an_arc_of_a_circle() {
        let gravity = Gravity { eps: 1e-5, ..Gravity::default() };
        let paths = gravity.predicted_paths(&two_bodies(0.5), None);
        assert_eq!(paths.len(), 2);
        for (path, body) in paths.iter().zip([-1.0, 1.0]) {
            assert_eq!(path[0], Vec3::new(0.5 * body, 0.0, 0.0));
            assert!(path.len() > 20, "{}", path.len());
            let off = path.iter().map(|at| (at.length() - 0.5).abs()).fold(0.0, f32::max);
            assert!(off < 1e-4, "{off}");
        }
        // The paths last 0.8 · 2π · √(0.5³), because the outermost body is 0.5 from the centre of mass and G·M = 1. The
        // orbit has a period of 2π.
        let angle = paths[1].windows(2).map(|pair| pair[0].angle_between(pair[1])).sum::<f32>();
        assert!((angle - 0.8 * TAU as f32 * 0.125f32.sqrt()).abs() < 0.05, "{angle}");
    }

    #[test]
    fn paths_pass_through_the_places_that_a_simulation_reaches() {
        let scene = crate::modes::MODES[0].scene("pythagorean").unwrap();
        let crate::scene::Origin::Bodies(listed) = &scene.origin else {
            panic!("the scene `pythagorean` does not list its bodies")
        };
        let gravity = Gravity { eps: 0.03, dt: 2e-4, ..Gravity::default() };
        let paths = gravity.predicted_paths(listed, None);
        let mut bodies = listed.to_f64();
        let mut passed = [0; 3];
        for step in 1..=25_000 {
            gravity.reference_step(&mut bodies);
            if step % 5000 == 0 {
                for ((path, at), passed) in paths.iter().zip(&bodies.positions).zip(&mut passed) {
                    let at = place(at).as_vec3();
                    let away = |nth: &usize| path[*nth].distance(at);
                    let nearest = (0..path.len()).min_by(|a, b| away(a).total_cmp(&away(b))).unwrap();
                    assert!(
                        away(&nearest) < 0.05,
                        "step {step}: the body is {} away from its path",
                        away(&nearest)
                    );
                    assert!(nearest > *passed, "step {step}: the path is not in chronological order");
                    *passed = nearest;
                }
            }
        }
    }

    /// A planet far from a close pair of stars has a smooth path, and the stars have paths of several turns.
    #[test]
    fn paths_suit_bodies_at_very_different_distances() {
        let mut bodies = Bodies::default();
        bodies.push([-0.05, 0.0, 0.0], [0.0, -5.0f32.sqrt(), 0.0], 1.0);
        bodies.push([0.05, 0.0, 0.0], [0.0, 5.0f32.sqrt(), 0.0], 1.0);
        bodies.push([10.0, 0.0, 0.0], [0.0, 0.2f32.sqrt(), 0.0], 0.0);
        let paths = Gravity { eps: 1e-5, ..Gravity::default() }.predicted_paths(&bodies, None);
        for (path, [least, most]) in paths.iter().zip([[5.0, 60.0], [5.0, 60.0], [0.05, 0.8]]) {
            let turns = path.windows(2).map(|pair| pair[0].angle_between(pair[1])).collect::<Vec<_>>();
            let all = turns.iter().sum::<f32>() / TAU as f32;
            assert!((least..most).contains(&all), "{all} turns");
            assert!(turns.iter().all(|turn| *turn < 0.1), "corners in the path");
        }
    }

    #[test]
    fn there_are_no_paths_for_many_bodies_or_without_attraction() {
        let gravity = Gravity::default();
        let bodies = two_bodies(0.5);
        assert_eq!(gravity.predicted_paths(&bodies, None).len(), 2);
        let mut many = bodies.clone();
        (2..=MAX_PATH_BODIES).for_each(|nth| many.push([nth as f32, 0.0, 0.0], [0.0; 3], 1.0));
        let single = Bodies { positions: vec![[1.0; 4]], velocities: vec![[0.0; 4]] };
        let mut massless = bodies.clone();
        massless.positions.iter_mut().for_each(|x| x[3] = 0.0);
        for none in [&many, &single, &massless, &Bodies::default()] {
            assert_eq!(gravity.predicted_paths(none, None), Vec::<Vec<Vec3>>::new());
        }
        assert!(Gravity { decay: 0.9, ..gravity.clone() }.predicted_paths(&bodies, None).is_empty());
        assert!(Gravity { g: 0.0, ..gravity.clone() }.predicted_paths(&bodies, None).is_empty());
        // With very little softening, two bodies at the same position make the steps so short that their number
        // reaches its limit before the paths have their full duration.
        let mut together = bodies;
        together.push([0.5, 0.0, 0.0], [0.0; 3], 1.0);
        assert_eq!(Gravity { eps: 1e-5, ..gravity }.predicted_paths(&together, None).len(), 3);
    }
}
