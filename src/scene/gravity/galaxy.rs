//! A disc galaxy: a disc of Toomre's second kind around a small Plummer bulge.
//!
//! The disc has Σ(R) = 3Ma³/2π · (R² + a²)^(−5/2) (Toomre 1963, ApJ 138, 385, n = 2), for which all formulas are
//! algebraic. In a plane, a force softened by eps equals Newton's force at the height eps above the plane. With
//! S² = R² + (a + eps)², the softened potential in the plane is therefore exactly Φ = −GM(1/S + a(a + eps)/S³). The angular
//! speed Ω and the epicyclic frequency κ follow from Φ.

use std::f64::consts::TAU;

use super::law::Law;
use super::plummer;
use crate::base::bodies::Bodies;
use crate::scene::random::Random;

/// Fraction of the bodies that belong to the bulge. Bulge bodies are heavier, which leaves more bodies for the disc.
const BULGE_BODIES: f64 = 0.125;
/// Scale radius of the bulge, divided by the scale radius of the disc.
const BULGE_SCALE: f64 = 0.2;
/// Toomre's stability parameter Q. A thin Newtonian disc with Q < 1 forms clumps; this thick, softened disc grows arms.
const Q: f64 = 0.8;
/// Thickness of the galaxy's disc (one standard deviation), divided by the disc's scale radius.
const THICKNESS: f64 = 0.03;
/// Radius of the disc's edge, divided by its scale radius. The edge encloses 99 % of the mass of an infinite disc.
const EDGE: f64 = 5.0;

/// A disc galaxy that rotates anticlockwise in the plane z = 0, in units with G = 1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Galaxy {
    disc: f64,
    bulge: f64,
    /// Scale radius of the disc.
    a: f64,
    /// Scale radius of the bulge.
    b: f64,
    eps: f64,
}

impl Galaxy {
    /// Creates a galaxy from its mass, the fraction of the mass in the bulge, and the scale radius `a` of the disc.
    pub(super) fn new(mass: f64, bulge: f64, a: f64, law: Law) -> Self {
        Self { disc: (1.0 - bulge) * mass, bulge: bulge * mass, a, b: BULGE_SCALE * a, eps: law.blur() }
    }

    /// Returns two squared frequencies at radius `r`: orbital, Ω² = v²/r², and epicyclic, κ² = 4Ω² + r dΩ²/dr.
    pub(super) fn frequencies2(&self, r: f64) -> [f64; 2] {
        let a2 = self.a * (self.a + self.eps);
        let s2 = r * r + (self.a + self.eps) * (self.a + self.eps);
        let s3 = s2 * s2.sqrt();
        // A Plummer sphere under Plummer softening acts nearly like a wider Plummer sphere.
        let b2 = r * r + self.b * self.b + self.eps * self.eps;
        let b3 = b2 * b2.sqrt();
        let omega2 = self.disc * (1.0 + 3.0 * a2 / s2) / s3 + self.bulge / b3;
        let slope = self.disc * (-3.0 - 15.0 * a2 / s2) / (s3 * s2) - 3.0 * self.bulge / (b3 * b2);
        [omega2, 4.0 * omega2 + r * r * slope]
    }

    /// Returns the squared escape speed at distance `r`, which sets the scale of the speeds in the bulge. Treats the
    /// combined force of bulge and disc as the force of a Plummer sphere with Ω² = M/B³; the result is 2M/B.
    fn escape2(&self, r: f64) -> f64 {
        let b2 = r * r + self.b * self.b + self.eps * self.eps;
        2.0 * self.frequencies2(r)[0] * b2
    }

    /// Returns `n` bodies of the galaxy: first the bulge (group 0, at least one body), then the disc (group 1).
    pub(super) fn bodies(&self, n: usize, random: &mut Random) -> Bodies<f64> {
        let mut bodies = Bodies::with_capacity(n);
        let bulge = ((n as f64 * BULGE_BODIES) as usize).max(1).min(n);
        let disc = n - bulge;
        // A single body has the whole mass.
        let bulge_mass = if disc == 0 { self.bulge + self.disc } else { self.bulge };
        for _ in 0..bulge {
            let r = self.b * plummer::radius(random);
            let v = plummer::speed(random) * self.escape2(r).sqrt();
            let at = random.direction().map(|c: f64| r * c);
            bodies.push(at, random.direction().map(|c: f64| v * c), bulge_mass / bulge as f64);
        }
        for _ in 0..disc {
            let (at, velocity) = self.disc_body(random);
            bodies.push(at, velocity, self.disc / disc as f64);
        }
        bodies.velocities[bulge..].iter_mut().for_each(|v| v[3] = 1.0);
        bodies
    }

    fn disc_body(&self, random: &mut Random) -> ([f64; 3], [f64; 3]) {
        // M(<R)/M = 1 − (1 + R²/a²)^(−3/2) = 1 − u, so R = a√(1/t² − 1) with t = ∛u.
        let r = loop {
            let t = random.cube_root();
            let r = (1.0 / (t * t) - 1.0).sqrt();
            if r < EDGE {
                break r * self.a;
            }
        };
        let [x, y] = random.direction();
        let [omega2, kappa2] = self.frequencies2(r);
        let sigma = self.dispersion2(r).sqrt();
        let outward = sigma * random.bell();
        // The tangential amplitude of an epicycle is κ/2Ω times the radial one.
        let spread = sigma * (kappa2 / (4.0 * omega2)).sqrt();
        let along = (omega2 * r * r - self.drift(r)).max(0.0).sqrt() + spread * random.bell();
        let height = THICKNESS * self.a * random.bell();
        let up = 0.5 * sigma * random.bell();
        ([r * x, r * y, height], [outward * x - along * y, outward * y + along * x, up])
    }

    /// Returns the surface density Σ of the disc at radius `r`.
    fn density(&self, r: f64) -> f64 {
        let d2 = r * r + self.a * self.a;
        3.0 * self.disc * self.a * self.a * self.a / (TAU * d2 * d2 * d2.sqrt())
    }

    /// Returns the squared radial velocity dispersion σ² at `r`, from Q = κσ/(3.36 GΣ) (Toomre 1964, ApJ 139, 1217).
    fn dispersion2(&self, r: f64) -> f64 {
        let [_, kappa2] = self.frequencies2(r);
        let reach = Q * 3.36 * self.density(r);
        reach * reach / kappa2
    }

    /// Returns the asymmetric drift, the amount by which random motion lowers the square of the mean rotation speed:
    /// σ²(κ²/4Ω² − 1 − d ln(Σσ²)/d ln R) (Binney and Tremaine 2008, eq. 4.228).
    fn drift(&self, r: f64) -> f64 {
        const STEP: f64 = 1e-3;
        let [omega2, kappa2] = self.frequencies2(r);
        let pressure = |r: f64| self.density(r) * self.dispersion2(r);
        let (inner, outer) = (pressure(r * (1.0 - STEP)), pressure(r * (1.0 + STEP)));
        let slope = (outer - inner) / (STEP * (outer + inner));
        self.dispersion2(r) * (kappa2 / (4.0 * omega2) - 1.0 - slope)
    }
}
