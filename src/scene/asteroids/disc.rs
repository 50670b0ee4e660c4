//! Belts and rings: discs of bodies round the planet.

use std::f64::consts::PI;

use super::packing::GAP;
use super::{Balls, cube_root, param};
use crate::bodies::Bodies;
use crate::scene::Setup;
use crate::scene::random::Random;

/// Bodies on circular orbits round the planet, each in a plane of its own.
pub(super) struct Disc {
    /// The inner edge, unless the planet reaches that far.
    pub inner: f64,
    /// The outer edge over the inner one, unless the bodies need more room.
    pub ratio: f64,
    /// Where there is none, in shares of the way from edge to edge.
    pub gap: [f64; 2],
    /// The largest slope of an orbit, and the half thickness over the distance from the planet.
    pub tilt: f64,
    /// The most of the volume that bodies may fill.
    pub filling: f64,
}

impl Disc {
    /// The bodies of `balls`, each on its orbit.
    pub fn fill(&self, setup: &Setup, balls: &Balls) -> Bodies {
        let [g, mass, planet, radius] =
            ["g", "planet_mass", "planet_radius", "radius"].map(|key| param(setup, key));
        let inner = self.inner.max(1.2 * planet + (1.0 + GAP) * balls.largest());
        // Across the disc the density falls off as a semicircle of half height tilt·r, so that out to r there is
        // room for π²·tilt·(r³ − inner³)/3.
        let need = 4.0 * setup.bodies as f64 * cubed(radius) / (PI * self.tilt * self.filling);
        let (first, last) = (cubed(inner), cubed(self.ratio * inner).max(cubed(inner) + need));
        let outer = cube_root(last);
        let [from, to] = self.gap.map(|share| inner + share * (outer - inner));

        let random = &mut Random::new(setup.seed);
        let mut packing = balls.packing();
        let mut bodies = Bodies::with_capacity(setup.bodies);
        for &(m, ball) in &balls.0 {
            // How far the orbit rises at the body, and how steeply it goes on rising.
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

/// The velocity of a circular orbit anticlockwise through a place: v² = GM/r. Its plane rises there by `slope`.
fn circular([x, y, z]: [f64; 3], slope: f64, gm: f64) -> [f64; 3] {
    let (rho2, r2) = (x * x + y * y, x * x + y * y + z * z);
    let climb = slope * rho2.sqrt();
    // (−y, x, climb) less its part along (x, y, z).
    let outward = climb * z / r2;
    let along = [-y - outward * x, x - outward * y, climb - outward * z];
    let length2: f64 = along.iter().map(|c| c * c).sum();
    let speed = (gm / (r2.sqrt() * length2)).sqrt();
    along.map(|c| c * speed)
}

fn cubed(x: f64) -> f64 {
    x * x * x
}
