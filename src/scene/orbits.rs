//! Parses lists of bodies on Kepler orbits.
//!
//! Each line is one body: `name, about, mass, a, e, i, node, peri, anomaly`. `about` names a body of an earlier line.
//! A body with an empty `about` rests at the origin, and its line ends after the mass. Lengths and masses are in the
//! scene's units with G = 1. Angles are in degrees: inclination, longitude of the ascending node, argument of the
//! pericentre, mean anomaly. Lines that start with # are comments.
//!
//! Sines and cosines come from `libm`, which rounds identically on every platform.

use std::collections::HashMap;
use std::f64::consts::TAU;

use libm::{cos, sin};

use super::lines::quoted;
use crate::base::{Bodies, BodyNames};

const MAX_BODIES: usize = 1 << 20;
/// Number of fields in a line: name, about, mass, a, e, i, node, peri, anomaly.
const FIELDS: usize = 9;
/// Number of Newton iterations, enough to solve Kepler's equation to the last digit for eccentricities below 0.999.
const ROUNDS: usize = 60;
/// Number of straight segments with which an orbit is drawn.
const SEGMENTS: usize = 180;

/// Bodies on Kepler orbits, and the text that describes the orbits.
#[derive(Debug, Clone)]
pub struct Orbits {
    pub(super) text: String,
    /// The bodies, with velocities for G = 1.
    pub(super) bodies: Bodies<f64>,
    pub(super) names: BodyNames,
    /// For each body, the index of the body at its orbit's focus, and the elements a, e, i, node, peri, anomaly; `None`
    /// if the body has no orbit.
    elements: Vec<Option<(usize, [f64; 6])>>,
}

impl Orbits {
    /// Parses text with one body per line. On error, returns the 1-based line number and a description.
    pub(super) fn parse(text: &str) -> Result<Self, (u64, String)> {
        let mut bodies = Bodies::default();
        let (mut places, mut names, mut elements) = (HashMap::new(), Vec::new(), Vec::new());
        for (line, row) in (1..).zip(text.lines()) {
            let row = row.trim();
            if row.is_empty() || row.starts_with('#') {
                continue;
            }
            let at = |what: String| (line, what);
            if bodies.len() == MAX_BODIES {
                return Err(at(format!("there are more than {MAX_BODIES} bodies")));
            }
            // Takes one more field than allowed, so that an extra field is detected.
            let fields: Vec<&str> = row.split(',').take(FIELDS + 1).map(str::trim).collect();
            let (name, about, numbers) = match fields[..] {
                [name, about, ref numbers @ ..] if numbers.len() == 1 || numbers.len() == 7 => {
                    (name, about, numbers)
                }
                _ => {
                    return Err(at(
                        "a line must have the fields name, about, mass, a, e, i, node, peri, anomaly"
                            .to_owned(),
                    ));
                }
            };
            let numbers: Vec<f64> =
                numbers.iter().map(|text| number(text)).collect::<Result<_, _>>().map_err(at)?;
            let mass = numbers[0];
            if mass < 0.0 {
                return Err(at("the mass must be at least 0".to_owned()));
            }
            let (at, velocity) = match (about, &numbers[1..]) {
                ("", []) => {
                    elements.push(None);
                    ([0.0; 3], [0.0; 3])
                }
                (_, &[a, e, i, node, peri, anomaly]) => {
                    let centre: usize = *places.get(about).ok_or_else(|| {
                        at(format!("{} is not the name of a body on an earlier line", quoted(about)))
                    })?;
                    if !(a > 0.0 && (0.0..0.999).contains(&e)) {
                        return Err(at(
                            "`a` must be above 0, and `e` must be at least 0 and below 0.999".to_owned()
                        ));
                    }
                    let (x, v) = (bodies.positions[centre], bodies.velocities[centre]);
                    elements.push(Some((centre, [a, e, i, node, peri, anomaly])));
                    let (dx, dv) = around(x[3] + mass, [a, e, i, node, peri, anomaly]);
                    ([0, 1, 2].map(|axis| x[axis] + dx[axis]), [0, 1, 2].map(|axis| v[axis] + dv[axis]))
                }
                _ => {
                    return Err(at(
                        "a body has either both `about` and all orbital elements, or neither".to_owned()
                    ));
                }
            };
            places.insert(name, bodies.len());
            names.push(name);
            bodies.push(at, velocity, mass);
        }
        match bodies.is_empty() {
            true => Err((1, "the file contains no bodies; expected one per line".to_owned())),
            false => {
                let names = names.into_iter().collect();
                Ok(Self { text: text.to_owned(), bodies, names, elements })
            }
        }
    }

    /// Returns the initial orbit of the first body called `name`: the name of the body at its focus, and points along
    /// the ellipse relative to that body. Returns `None` if the body has no orbit or if the body at the focus has no
    /// name.
    pub fn ellipse(&self, name: &str) -> Option<(&str, impl Iterator<Item = [f64; 3]> + use<>)> {
        let (body, _) = self.names.iter().find(|(_, other)| *other == name)?;
        let (centre, elements) = (*self.elements.get(body)?)?;
        let angles = (0..=SEGMENTS).map(|nth| TAU * nth as f64 / SEGMENTS as f64);
        Some((self.names.get(centre)?, angles.map(move |eccentric| on_ellipse(eccentric, elements))))
    }
}

/// Parses a number from −1e12 to 1e12; this range prevents overflow in `f32`.
fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.abs() <= 1e12 => Ok(x),
        _ => Err(format!("{} is not a number from -1e12 to 1e12", quoted(text))),
    }
}

/// Returns the point of an orbit at an eccentric anomaly, in radians, relative to the focus.
fn on_ellipse(eccentric: f64, [a, e, i, node, peri, _]: [f64; 6]) -> [f64; 3] {
    let minor = (1.0 - e * e).sqrt();
    oriented([i, node, peri].map(f64::to_radians), [a * (cos(eccentric) - e), a * minor * sin(eccentric)])
}

/// Rotates a vector in the plane of an orbit to the scene's axes, given inclination, longitude of the node and argument
/// of the pericentre in radians.
fn oriented([i, node, peri]: [f64; 3], [x, y]: [f64; 2]) -> [f64; 3] {
    let (sw, cw, sn, cn, si, ci) = (sin(peri), cos(peri), sin(node), cos(node), sin(i), cos(i));
    [
        (cw * cn - sw * sn * ci) * x + (-sw * cn - cw * sn * ci) * y,
        (cw * sn + sw * cn * ci) * x + (-sw * sn + cw * cn * ci) * y,
        sw * si * x + cw * si * y,
    ]
}

/// Returns the position and velocity of a body with the given orbital elements around a mass at rest at the origin.
/// `gm` is G times the sum of the two masses.
fn around(gm: f64, [a, e, i, node, peri, anomaly]: [f64; 6]) -> ([f64; 3], [f64; 3]) {
    let [i, node, peri, mean] = [i, node, peri, anomaly.rem_euclid(360.0)].map(f64::to_radians);
    // Newton's method for E − e·sin E = M, from a starting value that cannot overshoot far.
    let mut eccentric = if e < 0.8 { mean } else { std::f64::consts::PI };
    for _ in 0..ROUNDS {
        eccentric -= (eccentric - e * sin(eccentric) - mean) / (1.0 - e * cos(eccentric));
    }
    let (s, c) = (sin(eccentric), cos(eccentric));
    let minor = (1.0 - e * e).sqrt();
    let speed = (gm / a).sqrt() / (1.0 - e * c);
    let plane = |x: f64, y: f64| oriented([i, node, peri], [x, y]);
    (plane(a * (c - e), a * minor * s), plane(-speed * s, speed * minor * c))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_given_by_orbital_elements_is_placed_on_the_ellipse() {
        let text = "Sun,,1\nComet,Sun,1e-9,3,0.6,40,70,20,100\nMoon,Comet,0,0.01,0,0,0,0,0";
        let orbits = Orbits::parse(text).unwrap();
        assert_eq!(orbits.names.to_list(), ["Sun", "Comet", "Moon"]);
        let (focus, points) = orbits.ellipse("Comet").unwrap();
        assert_eq!(focus, "Sun");
        let points: Vec<_> = points.map(glam::DVec3::from).collect();
        let [x, y, z, _] = orbits.bodies.positions[1];
        let nearest =
            points.iter().map(|point| point.distance(glam::dvec3(x, y, z))).fold(f64::INFINITY, f64::min);
        assert!(nearest < 0.06, "{nearest}");
        let reach = |of: fn(f64, f64) -> f64| points.iter().map(|point| point.length()).reduce(of).unwrap();
        assert!((reach(f64::min) - 1.2).abs() < 1e-9 && (reach(f64::max) - 4.8).abs() < 1e-9);
        assert_eq!(orbits.ellipse("Moon").map(|(focus, _)| focus), Some("Comet"));
        assert!(orbits.ellipse("Sun").is_none() && orbits.ellipse("Mars").is_none());
    }
}
