//! Parses lists of bodies on Kepler orbits.
//!
//! Each line is one body: `name, about, mass, a, e, i, node, peri, anomaly`. `about` names a body of an earlier line.
//! A body with an empty `about` rests at the origin, and its line ends after the mass. Lengths and masses are in the
//! scene's units with G = 1. Angles are in degrees: inclination, longitude of the ascending node, argument of the
//! pericentre, mean anomaly. Lines that start with # are comments.
//!
//! Sines and cosines come from `libm`, which rounds identically on every platform.

use std::collections::HashMap;

use libm::{cos, sin};

use super::lines::quoted;
use crate::base::Bodies;

const MAX_BODIES: usize = 1 << 20;
/// Number of fields in a line: name, about, mass, a, e, i, node, peri, anomaly.
const FIELDS: usize = 9;
/// Number of Newton iterations that solve Kepler's equation to the last digit for eccentricities below 0.999.
const ROUNDS: usize = 60;

/// Bodies on Kepler orbits, and the text that describes the orbits.
#[derive(Debug, Clone)]
pub struct Orbits {
    pub(super) text: String,
    /// The bodies, with velocities at G = 1.
    pub(super) bodies: Bodies<f64>,
}

impl Orbits {
    /// Parses text with one body per line. On error, returns the 1-based line number and a description.
    pub(super) fn parse(text: &str) -> Result<Self, (u64, String)> {
        let mut bodies = Bodies::default();
        let mut names = HashMap::new();
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
                ("", []) => ([0.0; 3], [0.0; 3]),
                (_, &[a, e, i, node, peri, anomaly]) => {
                    let centre: usize = *names.get(about).ok_or_else(|| {
                        at(format!("{} is not the name of a body on an earlier line", quoted(about)))
                    })?;
                    if !(a > 0.0 && (0.0..0.999).contains(&e)) {
                        return Err(at(
                            "`a` must be above 0, and `e` must be at least 0 and below 0.999".to_owned()
                        ));
                    }
                    let (x, v) = (bodies.positions[centre], bodies.velocities[centre]);
                    let (dx, dv) = around(x[3] + mass, [a, e, i, node, peri, anomaly]);
                    ([0, 1, 2].map(|axis| x[axis] + dx[axis]), [0, 1, 2].map(|axis| v[axis] + dv[axis]))
                }
                _ => {
                    return Err(at(
                        "a body has either both `about` and all orbital elements, or neither".to_owned()
                    ));
                }
            };
            names.insert(name, bodies.len());
            bodies.push(at, velocity, mass);
        }
        match bodies.is_empty() {
            true => Err((1, "the file contains no bodies; expected one per line".to_owned())),
            false => Ok(Self { text: text.to_owned(), bodies }),
        }
    }
}

/// Parses a number from −1e12 to 1e12; this range prevents overflow in `f32`.
fn number(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(x) if x.abs() <= 1e12 => Ok(x),
        _ => Err(format!("{} is not a number from -1e12 to 1e12", quoted(text))),
    }
}

/// Returns the position and velocity of a body with the given orbital elements around a mass at rest at the origin.
fn around(gm: f64, [a, e, i, node, peri, anomaly]: [f64; 6]) -> ([f64; 3], [f64; 3]) {
    let [i, node, peri, mean] = [i, node, peri, anomaly.rem_euclid(360.0)].map(f64::to_radians);
    // Newton's method for E − e·sin E = M, from a start that cannot overshoot far.
    let mut eccentric = if e < 0.8 { mean } else { std::f64::consts::PI };
    for _ in 0..ROUNDS {
        eccentric -= (eccentric - e * sin(eccentric) - mean) / (1.0 - e * cos(eccentric));
    }
    let (s, c) = (sin(eccentric), cos(eccentric));
    let minor = (1.0 - e * e).sqrt();
    let speed = (gm / a).sqrt() / (1.0 - e * c);
    let plane = |x: f64, y: f64| {
        let (sw, cw, sn, cn, si, ci) = (sin(peri), cos(peri), sin(node), cos(node), sin(i), cos(i));
        [
            (cw * cn - sw * sn * ci) * x + (-sw * cn - cw * sn * ci) * y,
            (cw * sn + sw * cn * ci) * x + (-sw * sn + cw * cn * ci) * y,
            sw * si * x + cw * si * y,
        ]
    };
    (plane(a * (c - e), a * minor * s), plane(-speed * s, speed * minor * c))
}
