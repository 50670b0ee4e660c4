//! Belts and rings: discs of bodies around the planet.

use std::f64::consts::PI;

use super::balls::{Balls, GAP, cube_root, param};
use crate::base::Bodies;
use crate::scene::generator::Setup;
use crate::scene::random::Random;

/// A disc of bodies on circular orbits around the planet. Each orbit has its own plane.
pub(super) struct Disc {
    /// Minimum radius of the disc's inner edge; the edge is farther out around a large planet.
    pub inner: f64,
    /// Minimum ratio of the outer radius to the inner radius; discs of many bodies have a larger ratio.
    pub ratio: f64,
    /// Start and end of an empty gap in the disc, as fractions of the way from the inner to the outer edge.
    pub gap: [f64; 2],
    /// Maximum slope of an orbit relative to the plane z = 0. Half the thickness of the disc is this slope times the
    /// distance from the planet.
    pub tilt: f64,
    /// Maximum fraction of the disc's volume that bodies may fill.
    pub filling: f64,
}

impl Disc {
    /// Places each ball on a circular orbit in the disc.
    pub(super) fn fill(&self, setup: &Setup, balls: &Balls) -> Bodies {
        let [g, mass, planet, radius] =
            ["g", "planet_mass", "planet_radius", "radius"].map(|key| param(setup, key));
        let inner = self.inner.max(1.2 * planet + (1.0 + GAP) * balls.largest());
        // The density falls off as a semicircle of half height tilt·r: the volume out to r is π²·tilt·(r³ − inner³)/3.
        let need = 4.0 * setup.bodies as f64 * cubed(radius) / (PI * self.tilt * self.filling);
        let (first, last) = (cubed(inner), cubed(self.ratio * inner).max(cubed(inner) + need));
        let outer = cube_root(last);
        let [from, to] = self.gap.map(|share| inner + share * (outer - inner));

        let random = &mut Random::new(setup.seed);
        let mut packing = balls.packing();
        let mut bodies = Bodies::with_capacity(setup.bodies);
        for &(m, ball) in &balls.0 {
            // Height and slope of the orbit at the body, divided by the distance from the planet.
            let mut slope = 0.0;
            let at = packing.put(ball, || {
                let r = loop {
                    let r = cube_root(first + (last - first) * random.unit());
                    if !(from..to).contains(&r) {
                        break r;
                    }
                };
                let [x, y] = random.direction();
                let [height, climb] = random.ball().map(|c| c * self.tilt);
                slope = climb;
                let scale = r / (1.0 + height * height).sqrt();
                [x * scale, y * scale, height * scale]
            });
            bodies.push(at, circular(at, slope, g * mass), m);
        }
        bodies.to_f32()
    }
}

/// Returns the velocity on an anticlockwise circular orbit (v² = GM/r) at a point where the orbit has the given slope.
pub(super) fn circular([x, y, z]: [f64; 3], slope: f64, gm: f64) -> [f64; 3] {
    let (rho2, r2) = (x * x + y * y, x * x + y * y + z * z);
    let climb = slope * rho2.sqrt();
    // (−y, x, climb) without its component along (x, y, z).
    let outward = climb * z / r2;
    let along = [-y - outward * x, x - outward * y, climb - outward * z];
    let length2: f64 = along.iter().map(|c| c * c).sum();
    let speed = (gm / (r2.sqrt() * length2)).sqrt();
    along.map(|c| c * speed)
}

fn cubed(x: f64) -> f64 {
    x * x * x
}
