//! Compares the speed of gravitile with that of the crate `particular` (SIMD, all cores) on the same bodies, in turn in
//! one run: `RUSTFLAGS="-C target-cpu=native" cargo bench --bench peers`. Both use the same Plummer softening.
//! gravitile computes whole steps; `particular` computes only accelerations and leaves the integration to its user.

use std::time::Instant;

use gravitile::base::bodies::Bodies;
use gravitile::base::error::Result;
use gravitile::base::params;
use gravitile::compute;
use gravitile::engine::Engine;
use gravitile::engine::config::Config;
use gravitile::modes::gravity::INFO;
use gravitile::scene::{Scene, Setup};
use particular::ComputeMethod;
use particular::math::Vec3;
use particular::parallel::BruteForceSoftenedSIMD;
use particular::storage::{ParticleSystem, PointMass};

/// Time step. After one step of symplectic Euler from rest, the velocity of a body is v = a·dt.
const DT: f64 = 0.01;
/// Maximum number of bodies whose accelerations are compared with f64.
const SAMPLE: usize = 256;

fn main() -> Result<()> {
    // `cargo test --all-targets` also runs this program; a run with few bodies is enough there.
    let (sizes, turns, seconds): (&[usize], _, _) = match std::env::args().any(|arg| arg == "--bench") {
        true => (&[4_096, 16_384], 7, 0.3),
        false => (&[300], 1, 0.0),
    };
    let built = match (cfg!(target_feature = "avx512f"), cfg!(target_feature = "avx2")) {
        (true, _) => "AVX-512",
        (_, true) => "AVX2",
        _ => "neither AVX2 nor AVX-512: set RUSTFLAGS=\"-C target-cpu=native\" to be fair",
    };
    println!(
        "particular is compiled with {built}; G interactions/s, median of {turns}; error: relative RMS from f64"
    );
    println!(
        "{:>7}  {:<10} {:>9} {:>9}  {:<10} {:>9} {:>9}  {:>5}",
        "bodies", "gravitile", "speed", "error", "particular", "speed", "error", "ratio"
    );
    sizes.iter().try_for_each(|&n| compare(n, turns, seconds))
}

/// Measures both programs with `n` bodies, and prints one line of the table.
fn compare(n: usize, turns: usize, seconds: f64) -> Result<()> {
    let (config, bodies, eps) = start(n)?;
    let mut engine = Engine::new(compute::select(None)?.open()?, config)?;
    let points: Vec<_> =
        bodies.positions.iter().map(|&[x, y, z, m]| PointMass::new(Vec3::new(x, y, z), m)).collect();
    let mut method = BruteForceSoftenedSIMD::<8, f32> { softening: eps };
    let mut theirs = || method.compute(ParticleSystem::with(&points, &points[..]));

    engine.run(1, |_| ())?;
    let ours = engine.bodies()?.velocities;
    let ours = ours.iter().map(|v| [0, 1, 2].map(|axis| f64::from(v[axis]) / DT));
    let ours = error(&bodies, eps, ours);
    let error = error(&bodies, eps, theirs().iter().map(|a| [a.x, a.y, a.z].map(f64::from)));

    let mut run = |steps| engine.run(steps, |_| ());
    let mut compute = |times| {
        (0..times).for_each(|_| drop(std::hint::black_box(theirs())));
        Ok(())
    };
    let counts = [count(&mut run, seconds)?, count(&mut compute, seconds)?];
    let mut rates = [Vec::new(), Vec::new()];
    for _ in 0..turns {
        rates[0].push(f64::from(counts[0]) / time(&mut run, counts[0])?);
        rates[1].push(f64::from(counts[1]) / time(&mut compute, counts[1])?);
    }
    let [a, b] = rates.map(|mut rates| {
        rates.sort_unstable_by(f64::total_cmp);
        rates[rates.len() / 2] * (n as f64).powi(2) * 1e-9
    });
    let variant = engine.resolved().recipe.variant.name;
    println!(
        "{n:>7}  {variant:<10} {a:>9.2} {ours:>9.1e}  {:<10} {b:>9.2} {error:>9.1e}  {:>5.2}",
        "SIMD × 8",
        a / b
    );
    Ok(())
}

/// Returns a configuration that computes a Plummer sphere at rest, its bodies, and the softening length.
fn start(n: usize) -> Result<(Config, Bodies, f32)> {
    let mut config = Config::new(&INFO);
    if let Some(scene) = INFO.scene("plummer") {
        config.select_scene(scene);
    }
    params::set(config.mode.as_mut(), "integrator", "euler")?;
    params::set(config.mode.as_mut(), "dt", &DT.to_string())?;
    let params = config.mode.values();
    let mut bodies = config.start.generate(&Setup { bodies: n, seed: 1, params: &params }).into_bodies()?;
    bodies.velocities.fill([0.0; 4]);
    config.start = Scene::of_bodies("plummer", bodies.clone());
    let Some(eps) = params.float("eps") else { unreachable!("gravity has a softening length") };
    Ok((config, bodies, eps))
}

/// Returns the RMS difference of the accelerations `found` from sums in f64, relative to their RMS, for a sample of the
/// bodies.
fn error(bodies: &Bodies, eps: f32, found: impl Iterator<Item = [f64; 3]>) -> f64 {
    let bodies = bodies.to_f64();
    let eps2 = f64::from(eps).powi(2);
    let mut sums = [0.0; 2];
    for (own, found) in bodies.positions.iter().zip(found).step_by(bodies.len().div_ceil(SAMPLE)) {
        let mut wanted = [0.0; 3];
        for other in &bodies.positions {
            let d = [0, 1, 2].map(|axis| other[axis] - own[axis]);
            let r2 = d.iter().map(|c| c * c).sum::<f64>() + eps2;
            (0..3).for_each(|axis| wanted[axis] += other[3] * d[axis] / (r2 * r2.sqrt()));
        }
        sums[0] += (0..3).map(|axis| (found[axis] - wanted[axis]).powi(2)).sum::<f64>();
        sums[1] += wanted.iter().map(|c| c * c).sum::<f64>();
    }
    (sums[0] / sums[1]).sqrt()
}

/// Returns how often `work` must be repeated to take `seconds`.
fn count(work: &mut impl FnMut(u32) -> Result<()>, seconds: f64) -> Result<u32> {
    let mut times = 1;
    loop {
        let taken = time(work, times)?;
        if taken >= 0.5 * seconds {
            return Ok(((f64::from(times) * seconds / taken).ceil() as u32).max(1));
        }
        times *= 2;
    }
}

fn time(work: &mut impl FnMut(u32) -> Result<()>, times: u32) -> Result<f64> {
    let clock = Instant::now();
    work(times)?;
    Ok(clock.elapsed().as_secs_f64())
}
