//! Chooses a softening length for bodies that were read from a file.

use super::description::{Origin, Scene};
use crate::base::Bodies;

/// Number of heaviest bodies whose distances to all other bodies are examined.
const HEAVIEST: usize = 32;
/// Largest number of bodies for which a softening length is chosen if no body has most of the mass. In larger systems,
/// close pairs are chance encounters, which the usual softening length smooths on purpose.
const FEW: usize = 64;
/// Ratio of the smallest distance between two bodies to the softening length. At this distance, softening weakens
/// gravity by 0.06 %.
const SHARE: f32 = 50.0;
/// Shortest softening length that gravity mode accepts.
const SHORTEST: f32 = 1e-5;

/// Returns a softening length for the bodies or orbits listed in `scene` if the `usual` one is too long, or else
/// `None`. Scenes from generators and scenes with walls always keep the usual length.
pub fn for_scene(scene: &Scene, usual: f32) -> Option<f32> {
    match &scene.origin {
        Origin::Bodies(bodies) => for_bodies(bodies, usual),
        Origin::Orbits(orbits) => for_bodies(&orbits.bodies.to_f32(), usual),
        Origin::Made(..) | Origin::Walls(_) => None,
    }
}

/// Returns a softening length that preserves the orbits of `bodies` if the `usual` length would change them, or else
/// `None`.
///
/// The length is a fiftieth of the smallest distance from one of the heaviest bodies to any other body, rounded down to
/// one digit. Crowds of bodies without a dominant mass keep the usual length.
pub fn for_bodies(bodies: &Bodies, usual: f32) -> Option<f32> {
    let mass = |body: usize| bodies.positions[body][3];
    let mut order: Vec<usize> = (0..bodies.len()).filter(|body| mass(*body) > 0.0).collect();
    order.sort_unstable_by(|a, b| mass(*b).total_cmp(&mass(*a)));
    let total: f64 = order.iter().map(|body| f64::from(mass(*body))).sum();
    let heaviest = f64::from(order.first().map(|body| mass(*body))?);
    if bodies.len() > FEW && heaviest < 0.5 * total {
        return None;
    }
    let place = |body: &[f32; 4]| glam::Vec3::new(body[0], body[1], body[2]);
    let nearest = |body: &usize| {
        let at = place(&bodies.positions[*body]);
        let distances = bodies.positions.iter().map(|other| place(other).distance(at));
        // Bodies at the same place have no orbit that softening could change.
        distances.filter(|distance| *distance > 0.0).fold(f32::INFINITY, f32::min)
    };
    let closest = order.iter().take(HEAVIEST).map(nearest).fold(f32::INFINITY, f32::min);
    let wanted = (closest / SHARE).max(SHORTEST);
    let digit = 10f64.powi(f64::from(wanted).log10().floor() as i32);
    let rounded = ((f64::from(wanted) / digit + 1e-6).floor() * digit) as f32;
    (rounded < usual).then_some(rounded.max(SHORTEST))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bodies(rows: &[[f32; 4]]) -> Bodies {
        let mut bodies = Bodies::default();
        rows.iter().for_each(|[x, y, z, m]| bodies.push([*x, *y, *z], [0.0; 3], *m));
        bodies
    }

    #[test]
    fn close_orbits_get_a_short_softening_length() {
        let mercury = bodies(&[[0.0, 0.0, 0.0, 1.0], [0.387, 0.0, 0.0, 1e-7], [1.0, 0.0, 0.0, 3e-6]]);
        assert_eq!(for_bodies(&mercury, 0.05), Some(0.007));
        let wide = bodies(&[[0.0, 0.0, 0.0, 1.0], [9.0, 0.0, 0.0, 1.0]]);
        assert_eq!(for_bodies(&wide, 0.05), None);
        let touching = bodies(&[[0.0, 0.0, 0.0, 1.0], [1e-9, 0.0, 0.0, 1.0]]);
        assert_eq!(for_bodies(&touching, 0.05), Some(SHORTEST));
        for lone in [bodies(&[]), bodies(&[[0.0; 4]]), bodies(&[[1.0; 4], [1.0; 4]])] {
            assert_eq!(for_bodies(&lone, 0.05), None);
        }
    }

    #[test]
    fn many_bodies_keep_the_default_softening_unless_one_body_dominates() {
        let crowd = |heaviest: f32| -> Vec<[f32; 4]> {
            let mass = |nth: usize| if nth == 0 { heaviest } else { 0.01 };
            (0..100).map(|nth| [nth as f32 * 0.25, 0.0, 0.0, mass(nth)]).collect()
        };
        assert_eq!(for_bodies(&bodies(&crowd(0.01)), 0.05), None);
        assert_eq!(for_bodies(&bodies(&crowd(5.0)), 0.05), Some(0.005));
    }
}
