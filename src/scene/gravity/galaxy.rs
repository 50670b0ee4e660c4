//! A disc galaxy: a disc of Toomre's second kind around a small Plummer bulge.
//!
//! The disc has Σ(R) = 3Ma³/2π · (R² + a²)^(−5/2) (Toomre 1963, ApJ 138, 385, n = 2), for which all formulas are
//! algebraic. In a plane, a force softened by eps equals Newton's force at the height eps above the plane. With
//! S² = R² + (a + eps)², the softened potential in the plane is therefore exactly Φ = −GM(1/S + a(a + eps)/S³). The
//! angular speed Ω and the epicyclic frequency κ follow from Φ.
//!
//! The galaxy may have a dark halo. In this case the speeds in the bulge and the halo follow from the Jeans equation:
//! see [`Speeds`].

use std::f64::consts::TAU;

use super::halo::{Halo, Speeds};
use super::law::Law;
use super::plummer;
use crate::base::Bodies;
use crate::scene::random::Random;

/// Fraction of the bodies that belong to the bulge. Bulge bodies are heavier, which leaves more bodies for the disc.
const BULGE_BODIES: f64 = 0.125;
/// Group of the bodies of a dark halo. Groups below 0 are dark: see `star_colour` in `kernels/gravity/drift.cl`.
const DARK: f64 = -1.0;
/// Fraction of the bodies that belong to the halo, if there is one.
const HALO_BODIES: f64 = 0.3;
/// Scale radius of the halo, divided by the scale radius of the disc.
const HALO_SCALE: f64 = 2.0;
/// Scale radius of the bulge, divided by the scale radius of the disc.
const BULGE_SCALE: f64 = 0.2;
/// Strength of the initial spiral arms, from 0 to 1. Around a circle, the density varies as 1/(1 − `CONTRAST` cos(…)).
const CONTRAST: f64 = 0.65;
/// Angle between the initial spiral arms and a circle, in radians.
const PITCH: f64 = 0.4;
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
    /// Toomre's stability parameter of the disc, at all radii.
    q: f64,
    /// Number of spiral arms in the initial disc; 0 for a disc without arms.
    arms: f64,
    halo: Halo,
    eps: f64,
}

impl Galaxy {
    /// Creates a galaxy from its mass, the fractions of this mass in the bulge and the halo, and three numbers of the
    /// disc: the scale radius `a`, Toomre's stability parameter `q` and the number of initial spiral `arms`.
    pub(super) fn new(mass: f64, [bulge, halo]: [f64; 2], (a, q, arms): (f64, f64, f64), law: Law) -> Self {
        Self {
            disc: (1.0 - bulge - halo).max(0.0) * mass,
            bulge: bulge * mass,
            a,
            b: BULGE_SCALE * a,
            q,
            arms,
            halo: Halo { mass: halo * mass, a: HALO_SCALE * a },
            eps: law.blur(),
        }
    }

    /// Returns the squared orbital frequency Ω² = v²/r² and the squared epicyclic frequency κ² = 4Ω² + r dΩ²/dr at
    /// radius `r`.
    pub(super) fn frequencies2(&self, r: f64) -> [f64; 2] {
        let a2 = self.a * (self.a + self.eps);
        let s2 = r * r + (self.a + self.eps) * (self.a + self.eps);
        let s3 = s2 * s2.sqrt();
        // A Plummer sphere under Plummer softening acts nearly like a wider Plummer sphere.
        let b2 = r * r + self.b * self.b + self.eps * self.eps;
        let b3 = b2 * b2.sqrt();
        let omega2 = self.disc * (1.0 + 3.0 * a2 / s2) / s3 + self.bulge / b3;
        let slope = self.disc * (-3.0 - 15.0 * a2 / s2) / (s3 * s2) - 3.0 * self.bulge / (b3 * b2);
        let [halo, halo_slope] = self.halo.frequency2((r * r + self.eps * self.eps).sqrt());
        let (omega2, slope) = (omega2 + halo, slope + halo_slope);
        [omega2, 4.0 * omega2 + r * r * slope]
    }

    /// Returns the acceleration towards the centre, averaged over the sphere of radius `r`.
    fn acceleration(&self, r: f64) -> f64 {
        // The mass M(<r) of a Plummer sphere is M·r³/(r² + b²)^(3/2). `disc_body` explains the mass of the thin disc.
        let (b2, a2) = (r * r + self.b * self.b, r * r + self.a * self.a);
        let disc = self.disc * (1.0 - (self.a * self.a / a2) * (self.a * self.a / a2).sqrt());
        let mass = self.bulge * r * r * r / (b2 * b2.sqrt()) + disc + self.halo.enclosed(r);
        let d2 = r * r + self.eps * self.eps;
        mass * r / (d2 * d2.sqrt())
    }

    /// Returns a table of speeds for the bulge and one for the halo. Call only for a galaxy with a halo.
    fn speeds(&self) -> [Speeds; 2] {
        let (mass, b2) = (self.disc + self.bulge + self.halo.mass, self.b * self.b);
        let bulge = |r: f64| {
            let d2 = r * r + b2;
            1.0 / (d2 * d2 * d2.sqrt())
        };
        let acceleration = |r| self.acceleration(r);
        let edge = self.halo.edge();
        [
            Speeds::new(edge, mass, bulge, acceleration),
            Speeds::new(edge, mass, |r| self.halo.density(r), acceleration),
        ]
    }

    /// Returns the squared escape speed 2M/B at distance `r`, for a Plummer sphere with Ω² = M/B³ that exerts the same
    /// force as bulge and disc together. Bulge speeds are fractions of the escape speed.
    fn escape2(&self, r: f64) -> f64 {
        let b2 = r * r + self.b * self.b + self.eps * self.eps;
        2.0 * self.frequencies2(r)[0] * b2
    }

    /// Returns `n` bodies of the galaxy: first the bulge (group 0, at least one body), then the halo (group [`DARK`]),
    /// then the disc (group 1).
    pub(super) fn bodies(&self, n: usize, random: &mut Random) -> Bodies<f64> {
        let mut bodies = Bodies::with_capacity(n);
        let bulge = ((n as f64 * BULGE_BODIES) as usize).max(1).min(n);
        let halo = if self.halo.mass > 0.0 { (n as f64 * HALO_BODIES) as usize } else { 0 };
        let disc = n - bulge - halo;
        // The bulge also gets the mass of the disc or the halo if these have no bodies.
        let unused = |mass: f64, count: usize| if count == 0 { mass } else { 0.0 };
        let bulge_mass = self.bulge + unused(self.disc, disc) + unused(self.halo.mass, halo);
        let speeds = (self.halo.mass > 0.0).then(|| self.speeds());
        for _ in 0..bulge {
            let r = self.b * plummer::radius(random);
            let (at, velocity) = match &speeds {
                Some([bulge, _]) => {
                    let v = bulge.draw(r, random);
                    (random.direction().map(|c: f64| r * c), v)
                }
                None => {
                    let v = plummer::speed(random) * self.escape2(r).sqrt();
                    let at = random.direction().map(|c: f64| r * c);
                    (at, random.direction().map(|c: f64| v * c))
                }
            };
            bodies.push(at, velocity, bulge_mass / bulge as f64);
        }
        if let Some([_, speeds]) = &speeds {
            for _ in 0..halo {
                let r = self.halo.radius(random);
                let v = speeds.draw(r, random);
                bodies.push(random.direction().map(|c: f64| r * c), v, self.halo.mass / halo as f64);
            }
        }
        for _ in 0..disc {
            let (at, velocity) = self.disc_body(random);
            bodies.push(at, velocity, self.disc / disc as f64);
        }
        bodies.velocities[bulge..bulge + halo].iter_mut().for_each(|v| v[3] = DARK);
        bodies.velocities[bulge + halo..].iter_mut().for_each(|v| v[3] = 1.0);
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
        let [x, y] = self.towards_arms(r, random.direction());
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

    /// Turns the direction `[x, y]` of a body at radius `r` towards the nearest spiral arm (logarithmic and trailing).
    /// As a result, the density varies as 1/(1 − [`CONTRAST`] cos(…)) around a circle. In a disc without arms, returns
    /// the direction unchanged.
    fn towards_arms(&self, r: f64, [x, y]: [f64; 2]) -> [f64; 2] {
        if self.arms == 0.0 {
            return [x, y];
        }
        let angle = y.atan2(x);
        let crest = -(r / self.a).ln() / PITCH.tan();
        let turned = angle - CONTRAST / self.arms * (self.arms * (angle - crest)).sin();
        [turned.cos(), turned.sin()]
    }

    /// Returns the surface density Σ of the disc at radius `r`.
    fn density(&self, r: f64) -> f64 {
        let d2 = r * r + self.a * self.a;
        3.0 * self.disc * self.a * self.a * self.a / (TAU * d2 * d2 * d2.sqrt())
    }

    /// Returns the squared radial velocity dispersion σ² at radius `r`, from Q = κσ/(3.36 GΣ) (Toomre 1964, ApJ 139,
    /// 1217).
    fn dispersion2(&self, r: f64) -> f64 {
        let [_, kappa2] = self.frequencies2(r);
        let reach = self.q * 3.36 * self.density(r);
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
