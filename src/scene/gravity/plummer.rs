//! The Plummer sphere (Plummer 1911, MNRAS 71, 460): a star cluster in equilibrium with ρ ∝ (1 + r²/a²)^(−5/2).
//!
//! Bodies are sampled as in Aarseth, Hénon and Wielen 1974 (A&A 37, 183): the enclosed mass determines the radius, and
//! the speed is drawn by rejection from the distribution function f ∝ (−E)^(7/2).

use super::law::Law;
use crate::base::Bodies;
use crate::scene::frame::{centre, scale};
use crate::scene::random::Random;

/// Maximum radius, in scale radii; 98.5 % of an infinite sphere's mass is inside. Without a limit, the camera, which
/// shows all bodies, would be far away.
const CUTOFF: f64 = 10.0;

/// Returns a random radius r, in units of the scale radius, distributed like the mass of a Plummer sphere. Solves
/// M(<r)/M = r³/(1 + r²)^(3/2) = u for uniform u: r = t/√(1 − t²) with t = ∛u.
pub(super) fn radius(random: &mut Random) -> f64 {
    loop {
        let t = random.cube_root();
        let r = t / (1.0 - t * t).sqrt();
        if r < CUTOFF {
            return r;
        }
    }
}

/// Returns a random speed q as a fraction of the escape speed. Its probability density is proportional to
/// q²(1 − q²)^(7/2), which is always below 0.1.
pub(super) fn speed(random: &mut Random) -> f64 {
    loop {
        let (q, height) = (random.unit(), 0.1 * random.unit());
        let rest = 1.0 - q * q;
        if height < q * q * rest * rest * rest * rest.sqrt() {
            return q;
        }
    }
}

/// Returns a Plummer sphere of `n` bodies in Hénon's units: G = M = 1, energy T + V = −1/4, V = −1/2 and a = 3π/16.
///
/// Removes sampling noise: scales the positions so that the potential energy V is −1/2, and the velocities so that
/// twice the kinetic energy T balances the virial of the softened force. [`measure`] returns |V| and this virial.
pub(super) fn sphere(n: usize, law: Law, random: &mut Random) -> Bodies<f64> {
    let mut bodies = Bodies::with_capacity(n);
    for _ in 0..n {
        let r = radius(random);
        let at = random.direction().map(|c: f64| r * c);
        let v = speed(random) * (2.0 / (1.0 + r * r).sqrt()).sqrt();
        bodies.push(at, random.direction().map(|c: f64| v * c), 1.0 / n as f64);
    }
    centre(&mut bodies);
    let [potential, _] = measure(&bodies, law);
    let kinetic: f64 = bodies.velocities.iter().map(|v| v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sum();
    if potential > 0.0 && kinetic > 0.0 {
        scale(&mut bodies, 2.0 * potential, 1.0);
        let [_, virial] = measure(&bodies, law);
        scale(&mut bodies, 1.0, (virial * n as f64 / kinetic).sqrt());
    }
    bodies
}

/// Returns the potential energy |V| without softening and the virial Σ m x·∇Φ with softening, at G = M = 1.
///
/// Pairs each body with the next few bodies in the list, which wraps around. These pairs are a fair sample, because the
/// bodies are drawn independently. For up to 2048 bodies, the sums include all pairs and are exact.
fn measure(bodies: &Bodies<f64>, law: Law) -> [f64; 2] {
    const PAIRS: usize = 1 << 22;
    let n = bodies.len();
    let reach = (PAIRS / n).clamp(1, 2047).min(n - 1);
    let mut sums = [0.0; 2];
    for (i, a) in bodies.positions.iter().enumerate() {
        let others = bodies.positions[i + 1..].iter().chain(&bodies.positions).take(reach);
        for b in others {
            let d2 = (0..3).map(|axis| (a[axis] - b[axis]) * (a[axis] - b[axis])).sum::<f64>();
            if d2 > 0.0 {
                sums[0] += 1.0 / d2.sqrt();
                sums[1] += d2 * law.omega2(d2.sqrt());
            }
        }
    }
    // The mean over ordered pairs, times the n(n−1)/2 pairs of mass 1/n².
    let pairs = (n * reach).max(1) as f64;
    sums.map(|sum| sum / pairs * (n - 1) as f64 / (2 * n) as f64)
}
