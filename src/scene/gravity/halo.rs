//! A dark halo with Hernquist's profile (Hernquist 1990, ApJ 356, 359), and the speeds in spherical parts of a galaxy.
//!
//! Speeds follow from the Jeans equation of the whole galaxy: with the mean force a(r) of all its parts, a part of
//! density ρ has σ² = 1/ρ · ∫ρ·a dr from r to the edge (Hernquist 1993, ApJS 86, 389).

use crate::scene::random::Random;

/// Radius of the halo's edge, divided by the halo's scale radius.
const EDGE: f64 = 3.0;
/// Fraction of an infinite halo's mass that is inside the edge.
const INSIDE: f64 = (EDGE / (1.0 + EDGE)) * (EDGE / (1.0 + EDGE));
/// Number of intervals in the table of speeds.
const ROWS: usize = 1024;
/// Largest speed of a body, as a fraction of the escape speed.
const FASTEST: f64 = 0.95;

/// A spherical halo of density ∝ 1/(r(r + a)³), cut off at an edge.
#[derive(Debug, Clone, Copy)]
pub(super) struct Halo {
    pub(super) mass: f64,
    /// Scale radius of the halo.
    pub(super) a: f64,
}

impl Halo {
    /// Returns the radius of the halo's edge.
    pub(super) fn edge(&self) -> f64 {
        EDGE * self.a
    }

    /// Returns a random radius, distributed like the mass: M(<r)/M ∝ (r/(r + a))².
    pub(super) fn radius(&self, random: &mut Random) -> f64 {
        let s = (INSIDE * random.unit()).sqrt();
        self.a * s / (1.0 - s)
    }

    /// Returns the mass within radius `r`.
    pub(super) fn enclosed(&self, r: f64) -> f64 {
        let s = r / (r + self.a);
        self.mass * (s * s / INSIDE).min(1.0)
    }

    /// Returns the density at radius `r` > 0, up to a constant factor.
    pub(super) fn density(&self, r: f64) -> f64 {
        let d = r + self.a;
        if r < self.edge() { 1.0 / (r * d * d * d) } else { 0.0 }
    }

    /// Returns Ω² = M(<r)/r³ and (dΩ²/dr)/r at the softened radius `d`, with G = 1.
    pub(super) fn frequency2(&self, d: f64) -> [f64; 2] {
        let (m, outer) = (self.mass / INSIDE, d + self.a);
        let omega2 = m / (d * outer * outer);
        [omega2, -omega2 / d * (1.0 / d + 2.0 / outer)]
    }
}

/// Table of the speeds in a spherical part of a galaxy at increasing radii.
pub(super) struct Speeds {
    /// Largest radius in the table.
    edge: f64,
    /// Squared speed along one axis and squared escape speed at each radius of the table.
    rows: Vec<[f64; 2]>,
}

impl Speeds {
    /// Computes the speeds of a part that has the density `density(r)` up to the radius `edge`, in a galaxy whose mean
    /// acceleration at radius r is `acceleration(r)`. The galaxy has the mass `mass`, nearly all of it inside `edge`.
    pub(super) fn new(
        edge: f64,
        mass: f64,
        density: impl Fn(f64) -> f64,
        acceleration: impl Fn(f64) -> f64,
    ) -> Self {
        let mut rows = vec![[0.0, 2.0 * mass / edge]; ROWS + 1];
        let mut pressure = 0.0;
        for nth in (1..ROWS).rev() {
            let (inner, outer) = (place(nth) * edge, place(nth + 1) * edge);
            let (middle, step) = ((inner + outer) / 2.0, outer - inner);
            pressure += density(middle) * acceleration(middle) * step;
            rows[nth] = [pressure / density(inner), rows[nth + 1][1] + 2.0 * acceleration(middle) * step];
        }
        rows[0] = rows[1];
        Self { edge, rows }
    }

    /// Returns a random velocity at the radius `r`: isotropic, bell-shaped, and limited to the escape speed.
    pub(super) fn draw(&self, r: f64, random: &mut Random) -> [f64; 3] {
        // The inverse of `place`.
        let row = ROWS as f64 * (r / self.edge).min(1.0).sqrt();
        let nth = (row as usize).min(ROWS - 1);
        let part = row - nth as f64;
        let [sigma2, escape2] =
            [0, 1].map(|k| self.rows[nth][k] * (1.0 - part) + self.rows[nth + 1][k] * part);
        let sigma = sigma2.sqrt();
        let v: [f64; 3] = std::array::from_fn(|_| sigma * random.bell());
        let most2 = FASTEST * FASTEST * escape2;
        let v2: f64 = v.iter().map(|c| c * c).sum();
        if v2 > most2 { v.map(|c| c * (most2 / v2).sqrt()) } else { v }
    }
}

/// Returns the radius of row `nth` in the table of speeds, divided by the largest radius. Rows are closer together near
/// the centre.
fn place(nth: usize) -> f64 {
    let x = nth as f64 / ROWS as f64;
    x * x
}
