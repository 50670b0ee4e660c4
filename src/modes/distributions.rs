//! Distributions of the bodies: density by distance from the densest point, and speeds. All sums have double precision.

use std::f64::consts::PI;

use glam::{DVec3, Vec3};

use crate::base::{Bodies, Choice, is_quarantined, sample_stride};
use crate::scene::density::{DensityLaw, DensityModel, ScaledDensity};

/// A kind of distribution of the bodies, which the Plots window can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Distribution {
    /// Density by distance from the densest point.
    Density,
    /// Numbers of bodies by speed.
    Speeds,
}

/// Number of shells per factor of ten in the radius, where there are enough bodies.
const SHELLS_PER_DECADE: f64 = 12.0;
/// Smallest number of bodies in a shell. With this number, the density is known to about 25 %.
const LEAST_BODIES: usize = 16;
/// Smallest number of shells that a density profile needs.
const LEAST_SHELLS: usize = 4;
/// Largest power of ten for the radius of a shell. Distances are clamped to the range from 10^−20 to 10^20.
const DECADES: f64 = 20.0;
/// Maximum number of bodies used to find the densest point.
const SAMPLE: usize = 65_536;
/// Factor by which the sphere around the densest point shrinks in each round.
const SHRINKING: f64 = 0.8;
/// Number of bins of a speed histogram.
const SPEED_BINS: usize = 48;
/// Upper end of a speed histogram, as a multiple of the root of the mean square speed.
const FASTEST: f64 = 3.0;
/// Largest ratio of the rms speed along z to the total rms speed at which bodies count as moving in a plane.
const FLAT: f64 = 1e-6;
/// Number of intervals into which each round of a fit divides the range of scale radii.
const TRIALS: usize = 64;
/// Number of rounds of a fit. Each round narrows the range of scale radii.
const ROUNDS: usize = 4;

/// Bodies in a range of distances or speeds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bin {
    /// Lower end of the range.
    pub from: f64,
    /// Upper end of the range.
    pub to: f64,
    /// Number of bodies in the range.
    pub bodies: usize,
    /// In a density profile, mass per volume; in a speed histogram, fraction of all bodies per unit of speed.
    pub value: f64,
}

impl Bin {
    /// Returns the radius that divides a shell into two parts of equal volume.
    pub fn radius(&self) -> f64 {
        ((self.from.powi(3) + self.to.powi(3)) / 2.0).cbrt()
    }
}

/// Distributions of the bodies at one moment, in scene units.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Distributions {
    /// Number of steps since the scene began.
    pub step: u64,
    /// Simulated time since the scene began.
    pub time: f64,
    /// Density by distance; `None` if the mode has none or if there are too few bodies.
    pub density: Option<DensityProfile>,
    /// Numbers of bodies by speed; `None` if the mode has none or if the bodies do not move relative to each other.
    pub speeds: Option<SpeedHistogram>,
}

impl Distributions {
    /// Computes the distributions in `wanted`. `model` says which density law the scene follows.
    pub fn of(
        bodies: &Bodies,
        wanted: &[Distribution],
        model: DensityModel,
        (step, time): (u64, f64),
    ) -> Self {
        let density = wanted.contains(&Distribution::Density).then(|| DensityProfile::new(bodies, model));
        let speeds = wanted.contains(&Distribution::Speeds).then(|| SpeedHistogram::new(bodies));
        Self { step, time, density: density.flatten(), speeds: speeds.flatten() }
    }
}

/// Density of the bodies by distance from the densest point.
#[derive(Debug, Clone, PartialEq)]
pub struct DensityProfile {
    /// Position of the densest point.
    pub centre: [f64; 3],
    /// Spherical shells from the centre outwards, each with at least 16 bodies. The outermost bodies are left out if
    /// they are fewer than 16.
    pub shells: Vec<Bin>,
    /// Each density law with its scales, in the order of [`DensityLaw::OPTIONS`]. The flag is true if the scales are
    /// those of the scene, and false if they are fitted to the shells.
    pub laws: Vec<(ScaledDensity, bool)>,
    /// Density law that the scene follows or is expected to approach.
    pub suggested: DensityLaw,
}

impl DensityProfile {
    fn new(bodies: &Bodies, model: DensityModel) -> Option<Self> {
        let weighted = || weighted(bodies).map(|(x, _, mass)| (x, mass));
        let centre = densest_point(weighted().step_by(sample_stride(bodies.len(), SAMPLE)).collect())?;
        let index = |decades: f64| ((decades + DECADES) * SHELLS_PER_DECADE) as usize;
        let mut sums = vec![(0, 0.0); index(DECADES) + 1];
        for (x, mass) in weighted() {
            let decades = 0.5 * x.distance_squared(centre).log10();
            let shell = &mut sums[index(decades.clamp(-DECADES, DECADES))];
            *shell = (shell.0 + 1, shell.1 + mass);
        }
        let mut shells = Vec::new();
        let (mut from, mut found) = (0.0, (0, 0.0));
        for (nth, (count, mass)) in sums.into_iter().enumerate() {
            found = (found.0 + count, found.1 + mass);
            if found.0 >= LEAST_BODIES {
                let to = 10f64.powf((nth + 1) as f64 / SHELLS_PER_DECADE - DECADES);
                let volume = 4.0 / 3.0 * PI * (to.powi(3) - f64::powi(from, 3));
                shells.push(Bin { from, to, bodies: found.0, value: found.1 / volume });
                (from, found) = (to, (0, 0.0));
            }
        }
        let laws = DensityLaw::OPTIONS.iter().map(|(law, _)| match model {
            DensityModel::Exact(scaled) if scaled.law == *law => (scaled, true),
            _ => (fitted(*law, &shells), false),
        });
        let laws = laws.collect();
        let suggested = model.law();
        (shells.len() >= LEAST_SHELLS).then(|| Self { centre: centre.into(), shells, laws, suggested })
    }
}

/// Returns the position, velocity and mass of each body that takes part in the simulation and has a mass.
fn weighted(bodies: &Bodies) -> impl Iterator<Item = (DVec3, DVec3, f64)> {
    let vector = |row: &[f32; 4]| Vec3::new(row[0], row[1], row[2]).as_dvec3();
    let all = bodies.positions.iter().zip(&bodies.velocities);
    let whole = all.filter(|(x, v)| x[3] > 0.0 && !is_quarantined(v));
    whole.map(move |(x, v)| (vector(x), vector(v), f64::from(x[3])))
}

/// Returns the densest point of `bodies`, given by their positions and masses, or `None` if there are no bodies. A
/// sphere around the centre of mass of the bodies inside it shrinks until few bodies remain; the last centre of mass is
/// the result (Power et al. 2003, MNRAS 338, 14).
fn densest_point(mut bodies: Vec<(DVec3, f64)>) -> Option<DVec3> {
    let middle = |bodies: &[(DVec3, f64)]| {
        let mass: f64 = bodies.iter().map(|(_, mass)| mass).sum();
        bodies.iter().map(|(x, mass)| *x * *mass).sum::<DVec3>() / mass
    };
    let least = (bodies.len() / 100).max(LEAST_BODIES);
    let mut centre = (!bodies.is_empty()).then(|| middle(&bodies))?;
    let mean: f64 = bodies.iter().map(|(x, _)| x.distance(centre)).sum::<f64>() / bodies.len() as f64;
    // Twice the mean distance leaves out bodies that have escaped.
    let mut radius = 2.0 * mean;
    loop {
        bodies.retain(|(x, _)| x.distance_squared(centre) < radius * radius);
        if bodies.len() < least {
            return Some(centre);
        }
        centre = middle(&bodies);
        radius *= SHRINKING;
    }
}

/// Fits the scale radius and the scale density of `law` to the logarithms of the shells' densities, by least squares.
fn fitted(law: DensityLaw, shells: &[Bin]) -> ScaledDensity {
    let points: Vec<[f64; 2]> = shells.iter().map(|shell| [shell.radius(), shell.value.ln()]).collect();
    let trial = |radius: f64| {
        let residuals = points.iter().map(|[r, ln]| ln - law.shape(r / radius).ln());
        // The best scale density for this scale radius makes the mean residual zero.
        let mean = residuals.clone().sum::<f64>() / points.len() as f64;
        (residuals.map(|residual| (residual - mean).powi(2)).sum::<f64>(), mean.exp())
    };
    let ends = [points.first(), points.last()].map(|point| point.map_or(0.0, |[r, _]| r.ln()));
    let [mut low, mut high] = [ends[0] - 1.0, ends[1] + 1.0];
    let mut best = low;
    for _ in 0..ROUNDS {
        let step = (high - low) / TRIALS as f64;
        let trials = (0..=TRIALS).map(|nth| low + step * nth as f64);
        let by_rest = |a: &f64, b: &f64| trial(a.exp()).0.total_cmp(&trial(b.exp()).0);
        best = trials.min_by(by_rest).unwrap_or(best);
        (low, high) = (best - step, best + step);
    }
    ScaledDensity { law, density: trial(best.exp()).1, radius: best.exp() }
}

/// Numbers of bodies by speed relative to the centre of mass.
#[derive(Debug, Clone, PartialEq)]
pub struct SpeedHistogram {
    /// Number of dimensions in which the bodies move: 2 if all stay in a plane parallel to z = 0, otherwise 3.
    pub dimensions: u32,
    /// Root of the mean square speed.
    pub rms: f64,
    /// Ranges of speed from 0 to 3 times `rms`. The sum of value times width over all bins, plus `beyond`, is 1.
    pub bins: Vec<Bin>,
    /// Fraction of the bodies that are faster than 3 times `rms`, the upper end of the last bin.
    pub beyond: f64,
}

impl SpeedHistogram {
    fn new(bodies: &Bodies) -> Option<Self> {
        let weighted = || weighted(bodies).map(|(_, v, mass)| (v, mass));
        let (momentum, mass, count) = weighted()
            .fold((DVec3::ZERO, 0.0, 0usize), |(momentum, all, count), (v, mass)| {
                (momentum + v * mass, all + mass, count + 1)
            });
        let mean = momentum / mass;
        let (sum, across) = weighted().fold((0.0, 0.0), |(sum, across), (v, _)| {
            let v = v - mean;
            (sum + v.length_squared(), across + v.z * v.z)
        });
        let (rms, flat) = ((sum / count as f64).sqrt(), across <= FLAT * FLAT * sum);
        if !(rms > 0.0 && rms.is_finite()) {
            return None;
        }
        let width = FASTEST * rms / SPEED_BINS as f64;
        let mut counts = [0usize; SPEED_BINS + 1];
        weighted().for_each(|(v, _)| counts[((v.distance(mean) / width) as usize).min(SPEED_BINS)] += 1);
        let share = |bodies: usize| bodies as f64 / count as f64;
        let bin = |(nth, bodies): (usize, &usize)| {
            let [from, to] = [nth, nth + 1].map(|nth| nth as f64 * width);
            Bin { from, to, bodies: *bodies, value: share(*bodies) / width }
        };
        Some(Self {
            dimensions: if flat { 2 } else { 3 },
            rms,
            bins: counts[..SPEED_BINS].iter().enumerate().map(bin).collect(),
            beyond: share(counts[SPEED_BINS]),
        })
    }

    /// Returns the fraction of bodies per unit of speed at the speed `v` in a Maxwell distribution with the same rms
    /// speed: with σ² = rms²/dimensions, √(2/π) v²/σ³ · exp(−v²/2σ²) in three dimensions, and v/σ² · exp(−v²/2σ²) in
    /// two.
    pub fn maxwell(&self, v: f64) -> f64 {
        let sigma = self.rms / f64::from(self.dimensions).sqrt();
        let x = v / sigma;
        let bell = (-0.5 * x * x).exp() / sigma;
        if self.dimensions == 2 { x * bell } else { (2.0 / PI).sqrt() * x * x * bell }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a generator of random numbers from 0 to 1, which are the same in every run.
    fn random() -> impl FnMut() -> f64 {
        let mut state = 1u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    /// Returns a vector with the given length in a random direction.
    fn turned(length: f64, random: &mut impl FnMut() -> f64) -> [f32; 3] {
        let (z, angle) = (2.0 * random() - 1.0, 2.0 * PI * random());
        let rho = (1.0 - z * z).sqrt();
        [rho * angle.cos(), rho * angle.sin(), z].map(|c| (length * c) as f32)
    }

    fn cluster(count: usize, centre: [f32; 3], radius: impl Fn(f64) -> f64) -> Bodies {
        let (mut bodies, mut random) = (Bodies::with_capacity(count), random());
        for _ in 0..count {
            let length = radius(random());
            let x = turned(length, &mut random);
            bodies.push([0, 1, 2].map(|axis| x[axis] + centre[axis]), [0.0; 3], 2.0 / count as f32);
        }
        bodies
    }

    #[test]
    fn the_density_profile_of_a_sampled_plummer_sphere_matches_the_exact_law() {
        let a = 0.5;
        // The enclosed mass is M r³/(r² + a²)^(3/2).
        let bodies = cluster(100_000, [3.0, -1.0, 0.5], |u| a / (u.powf(-2.0 / 3.0) - 1.0).sqrt());
        let profile = DensityProfile::new(&bodies, DensityModel::default()).unwrap();
        assert!(
            DVec3::from(profile.centre).distance(DVec3::new(3.0, -1.0, 0.5)) < 0.03,
            "{:?}",
            profile.centre
        );
        let exact = ScaledDensity::plummer(2.0, a);
        let inner: Vec<_> = profile.shells.iter().filter(|shell| shell.bodies > 1000).collect();
        assert!(inner.len() > 8);
        for shell in inner {
            let [expected, found] = [exact.at(shell.radius()), shell.value];
            assert!((found / expected - 1.0).abs() < 0.1, "{shell:?}: {expected}");
        }
        let counted: usize = profile.shells.iter().map(|shell| shell.bodies).sum();
        assert!((100_000 - LEAST_BODIES..=100_000).contains(&counted), "{counted}");
        let (fit, is_exact) = profile.laws[DensityLaw::Plummer.index()];
        assert!(!is_exact && (fit.radius / a - 1.0).abs() < 0.03, "{fit:?}");
        assert!((fit.density / exact.density - 1.0).abs() < 0.1, "{fit:?}, not {exact:?}");
        let known = DensityProfile::new(&bodies, DensityModel::Exact(exact)).unwrap();
        assert_eq!(known.laws[DensityLaw::Plummer.index()], (exact, true));
        assert_eq!(known.laws[DensityLaw::Nfw.index()], profile.laws[DensityLaw::Nfw.index()]);
    }

    #[test]
    fn the_fit_recovers_the_scale_radius_of_a_sampled_nfw_halo() {
        // A halo of scale radius 0.2 that ends at the radius 2: solves m(x)/m(10) = u with m(x) = ln(1 + x) − x/(1 + x).
        let mass = |x: f64| x.ln_1p() - x / (1.0 + x);
        let radius = |u: f64| {
            let [mut low, mut high] = [0.0, 10.0];
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                *(if mass(middle) < u * mass(10.0) { &mut low } else { &mut high }) = middle;
            }
            0.2 * low
        };
        let bodies = cluster(100_000, [0.0; 3], radius);
        let profile = DensityProfile::new(&bodies, DensityModel::Fitted(DensityLaw::Nfw)).unwrap();
        let (fit, _) = profile.laws[DensityLaw::Nfw.index()];
        assert!((fit.radius / 0.2 - 1.0).abs() < 0.1, "{fit:?}");
        assert_eq!(profile.suggested, DensityLaw::Nfw);
    }

    #[test]
    fn the_centre_of_the_density_profile_is_in_the_denser_of_two_clusters() {
        let mut bodies = cluster(3000, [0.0; 3], |u| 3.0 * u.cbrt());
        let dense = cluster(3000, [5.0, 0.0, 0.0], |u| 0.1 * u.cbrt());
        bodies.positions.extend(dense.positions);
        bodies.velocities.extend(dense.velocities);
        let profile = DensityProfile::new(&bodies, DensityModel::default()).unwrap();
        assert!(DVec3::from(profile.centre).distance(DVec3::X * 5.0) < 0.02, "{:?}", profile.centre);
    }

    #[test]
    fn few_or_coincident_bodies_have_no_density_profile() {
        let few = cluster(40, [0.0; 3], |u| u);
        assert_eq!(DensityProfile::new(&few, DensityModel::default()), None);
        let one_place = cluster(1000, [1.0; 3], |_| 0.0);
        assert_eq!(DensityProfile::new(&one_place, DensityModel::default()), None);
        assert_eq!(SpeedHistogram::new(&one_place), None, "all bodies are at rest");
        assert_eq!(
            Distributions::of(&Bodies::default(), &[], DensityModel::default(), (0, 0.0)).density,
            None
        );
    }

    /// Returns bodies whose velocity components are normally distributed, by the Box–Muller transform.
    fn gas(dimensions: usize, sigma: f64) -> Bodies {
        let (mut bodies, mut random) = (Bodies::with_capacity(0), random());
        for _ in 0..200_000 {
            let mut normal = || sigma * (-2.0 * (1.0 - random()).ln()).sqrt() * (2.0 * PI * random()).cos();
            let mut v = [normal(), normal(), normal()].map(|c| c as f32);
            v.iter_mut().skip(dimensions).for_each(|c| *c = 0.0);
            // Adds the same velocity to all bodies, so that the whole gas moves.
            bodies.push([0.0; 3], [v[0] + 3.0, v[1] - 1.0, v[2]], 1e-3);
        }
        bodies
    }

    #[test]
    fn speeds_of_an_equilibrium_gas_follow_maxwells_law_in_two_and_three_dimensions() {
        for dimensions in [3, 2] {
            let sigma = 0.4;
            let mut bodies = gas(dimensions, sigma);
            // Adds a body with a non-finite velocity, which must not count.
            bodies.push([0.0; 3], [f32::NAN; 3], 0.0);
            let speeds = SpeedHistogram::new(&bodies).unwrap();
            assert_eq!(speeds.dimensions as usize, dimensions);
            let rms = sigma * (dimensions as f64).sqrt();
            assert!((speeds.rms / rms - 1.0).abs() < 0.01, "{}", speeds.rms);
            let peak = speeds.bins.iter().map(|bin| bin.value).fold(0.0, f64::max);
            for bin in &speeds.bins {
                let expected = speeds.maxwell(0.5 * (bin.from + bin.to));
                assert!((bin.value - expected).abs() < 0.03 * peak, "{dimensions}: {bin:?}, not {expected}");
            }
            let total: f64 = speeds.bins.iter().map(|bin| bin.value * (bin.to - bin.from)).sum();
            assert!((total + speeds.beyond - 1.0).abs() < 1e-12 && speeds.beyond < 1e-3, "{total}");
            // Checks that the integral of Maxwell's law is 1, and that the law has the same rms speed.
            let steps = (0..100_000).map(|nth| 10.0 * rms * (f64::from(nth) + 0.5) / 100_000.0);
            let sum =
                |power| steps.clone().map(|v| v.powi(power) * speeds.maxwell(v)).sum::<f64>() * rms * 1e-4;
            assert!((sum(0) - 1.0).abs() < 1e-6 && (sum(2).sqrt() / speeds.rms - 1.0).abs() < 1e-6);
        }
    }
}
