//! Orbital elements of a body: the Kepler orbit that the body would follow if only one mass attracted it.

use std::f64::consts::TAU;

use glam::DVec3;

/// Number of points along a drawn orbit.
const POINTS: usize = 256;
/// Eccentricity below which an orbit counts as a circle. The direction of a circle's pericentre is undefined.
const ROUND: f64 = 1e-12;

/// What a body orbits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OrbitCentre {
    /// The planet at the origin.
    Planet,
    /// The body at this index, which has most of the total mass.
    Body(usize),
    /// The centre of mass of all other bodies. Only the mass of bodies that are nearer to this centre than the orbiting
    /// body determines the orbit.
    Others,
}

/// Osculating orbit of a body: the Kepler orbit around one mass that matches the body's current position and velocity.
/// Lengths and times are in scene units.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize)]
pub struct Orbit {
    /// What the body orbits.
    pub centre: OrbitCentre,
    /// Semi-major axis; negative for a hyperbola, infinite for a parabola.
    pub semi_major_axis: f64,
    /// Eccentricity: 0 for a circle, below 1 for an ellipse, above 1 for a hyperbola.
    pub eccentricity: f64,
    /// Angle between the orbit's plane and the plane z = 0, in degrees: 0 to 90 if the body moves counterclockwise as seen
    /// from +z, otherwise 90 to 180. `None` if the body moves along a straight line.
    pub inclination: Option<f64>,
    /// Smallest distance from the focus.
    pub pericentre: f64,
    /// Largest distance from the focus; `None` if the body is not bound.
    pub apocentre: Option<f64>,
    /// Orbital period; `None` if the body is not bound.
    pub period: Option<f64>,
    /// Position of the orbit's focus.
    #[serde(skip)]
    focus: DVec3,
    /// Semi-axes of the ellipse: the major one from the centre to the pericentre, and the minor one in the direction of
    /// motion at the pericentre. Both are zero if the body is not bound.
    #[serde(skip)]
    axes: [DVec3; 2],
}

impl Orbit {
    /// Returns the orbit around a mass at the position `focus`. `gm` is the gravitational constant times the sum of this mass
    /// and the body's own mass; `x` and `v` are the body's position and velocity relative to the mass.
    ///
    /// Returns `None` if there is no attraction, if the body is at the focus, or if a number is not finite.
    pub fn new(centre: OrbitCentre, focus: DVec3, gm: f64, (x, v): (DVec3, DVec3)) -> Option<Self> {
        let (r, spin) = (x.length(), x.cross(v));
        let is_known = r > 0.0 && gm > 0.0 && gm.is_finite() && v.is_finite() && r.is_finite();
        if !is_known {
            return None;
        }
        // Points to the pericentre; its length is the eccentricity.
        let laplace = v.cross(spin) / gm - x / r;
        let eccentricity = laplace.length();
        // The energy is exact where the length of `laplace` is rounded to 1.
        let energy = v.length_squared() / 2.0 - gm / r;
        let semi_major_axis = -gm / (2.0 * energy);
        let is_bound = energy < 0.0;
        let towards = if eccentricity > ROUND { laplace / eccentricity } else { x / r };
        let minor = semi_major_axis * (1.0 - eccentricity * eccentricity).max(0.0).sqrt();
        let axes = [towards * semi_major_axis, spin.normalize_or_zero().cross(towards) * minor];
        Some(Self {
            centre,
            semi_major_axis,
            eccentricity,
            inclination: spin.try_normalize().map(|spin| spin.z.clamp(-1.0, 1.0).acos().to_degrees()),
            pericentre: spin.length_squared() / (gm * (1.0 + eccentricity)),
            apocentre: is_bound.then_some(semi_major_axis * (1.0 + eccentricity)),
            period: is_bound.then(|| TAU * (semi_major_axis.powi(3) / gm).sqrt()),
            focus,
            axes: if is_bound { axes } else { [DVec3::ZERO; 2] },
        })
    }

    /// Returns points along the ellipse, with the first point repeated at the end; no points if the body is not bound.
    pub fn ellipse(&self) -> impl Iterator<Item = DVec3> + use<> {
        let Self { focus, eccentricity, axes: [major, minor], .. } = *self;
        let points = if self.period.is_some() { POINTS + 1 } else { 0 };
        (0..points).map(move |nth| {
            let (sin, cos) = (TAU * nth as f64 / POINTS as f64).sin_cos();
            focus + major * (cos - eccentricity) + minor * sin
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn around_origin(gm: f64, x: DVec3, v: DVec3) -> Orbit {
        Orbit::new(OrbitCentre::Planet, DVec3::ZERO, gm, (x, v)).unwrap()
    }

    fn assert_near(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-12 * b.abs().max(1.0), "{a} instead of {b}");
    }

    /// Returns the position and velocity at the true anomaly f of an ellipse. The plane of the ellipse is tilted by 30°
    /// about the x axis, and its pericentre is on the x axis.
    fn state(gm: f64, a: f64, e: f64, f: f64) -> (DVec3, DVec3) {
        let p = a * (1.0 - e * e);
        let (r, speed) = (p / (1.0 + e * f.cos()), (gm / p).sqrt());
        let tilted = |x: f64, y: f64| DVec3::new(x, y * 0.75f64.sqrt(), y * 0.5);
        (tilted(r * f.cos(), r * f.sin()), tilted(-speed * f.sin(), speed * (e + f.cos())))
    }

    #[test]
    fn the_elements_of_a_known_ellipse_are_recovered_at_every_position() {
        let (gm, a, e) = (3.0, 2.0, 0.4);
        for nth in 0..12 {
            let (x, v) = state(gm, a, e, f64::from(nth) * TAU / 12.0);
            let orbit = around_origin(gm, x, v);
            assert_near(orbit.semi_major_axis, a);
            assert_near(orbit.eccentricity, e);
            assert_near(orbit.inclination.unwrap(), 30.0);
            assert_near(orbit.period.unwrap(), TAU * (8.0f64 / 3.0).sqrt());
            assert_near(orbit.pericentre, 1.2);
            assert_near(orbit.apocentre.unwrap(), 2.8);
            // The body is on the drawn ellipse: its distances to both foci add up to 2a.
            let points: Vec<DVec3> = orbit.ellipse().collect();
            assert_near(points[0].x, 1.2);
            assert_near(points[POINTS / 2].x, -2.8);
            let other = DVec3::new(-2.0 * a * e, 0.0, 0.0);
            points.iter().for_each(|at| assert_near(at.length() + at.distance(other), 2.0 * a));
            let nearest = points.iter().map(|at| at.distance(x)).fold(f64::INFINITY, f64::min);
            assert!(nearest < 0.03, "{nearest}");
        }
    }

    #[test]
    fn an_orbit_ellipse_is_drawn_around_the_position_of_the_focus() {
        let (focus, (x, v)) = (DVec3::new(5.0, 6.0, 7.0), state(1.0, 1.0, 0.0, 1.0));
        let orbit = Orbit::new(OrbitCentre::Body(3), focus, 1.0, (x, v)).unwrap();
        assert!(orbit.eccentricity < 1e-12);
        orbit.ellipse().for_each(|at| assert_near(at.distance(focus), 1.0));
    }

    #[test]
    fn an_unbound_body_has_a_pericentre_but_no_ellipse() {
        // At the pericentre 1, a speed of 2 is above the escape speed √2: e = r v²/GM − 1.
        let orbit = around_origin(1.0, DVec3::X, 2.0 * DVec3::Y);
        assert_near(orbit.eccentricity, 3.0);
        assert_near(orbit.pericentre, 1.0);
        assert_near(orbit.semi_major_axis, -0.5);
        assert_eq!((orbit.period, orbit.apocentre, orbit.ellipse().count()), (None, None, 0));
        let backwards = around_origin(1.0, DVec3::X, -DVec3::Y);
        assert_near(backwards.inclination.unwrap(), 180.0);
    }

    #[test]
    fn a_radial_orbit_has_eccentricity_1_and_invalid_orbits_are_rejected() {
        let orbit = around_origin(1.0, DVec3::X, DVec3::ZERO);
        assert_near(orbit.eccentricity, 1.0);
        assert_near(orbit.apocentre.unwrap(), 1.0);
        assert_eq!((orbit.pericentre, orbit.inclination), (0.0, None));
        let refused = |gm, x, v| Orbit::new(OrbitCentre::Others, DVec3::ZERO, gm, (x, v)).is_none();
        assert!(refused(0.0, DVec3::X, DVec3::Y) && refused(1.0, DVec3::ZERO, DVec3::Y));
        assert!(refused(1.0, DVec3::X, DVec3::NAN));
    }
}
