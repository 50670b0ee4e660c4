//! Bodies at rest in regular patterns. A pattern collapses more evenly than bodies at random positions, and is pleasant
//! to look at from the first moment.

use std::f64::consts::TAU;

use libm::{cos, sin};

use crate::base::Bodies;
use crate::scene::random::Random;

/// Largest displacement of a body from its lattice point along each axis, as a fraction of the spacing. The
/// displacement makes the bodies depend on the seed.
const JITTER: f64 = 0.01;
/// Golden angle as a fraction of a full turn. For any number of bodies, successive multiples of this angle are
/// spread nearly evenly around a circle.
const GOLDEN: f64 = 0.381_966_011_250_105_2;
/// Number of nested shells.
const SHELLS: usize = 3;
/// Number of groups into which the bodies of a shell are divided. The colour `origin` shows the groups.
const GROUPS: usize = 3;

/// Returns `n` bodies of equal mass on a cubic lattice that fills a cube of side 2, with G = M = 1. The lattice may
/// have more than `n` points (see [`sides`]); points at even intervals then stay empty. If the numbers of points
/// along the axes differ, the spacings differ slightly too.
pub(super) fn lattice(n: usize, random: &mut Random) -> Bodies<f64> {
    let sides = sides(n);
    let points = sides.iter().product::<usize>();
    let mut bodies = Bodies::with_capacity(n);
    for nth in 0..n {
        let point = (nth as u128 * points as u128 / n as u128) as usize;
        let steps = [point % sides[0], point / sides[0] % sides[1], point / (sides[0] * sides[1])];
        let at = std::array::from_fn(|axis| {
            let place = steps[axis] as f64 + 0.5 + JITTER * random.signed();
            2.0 * place / sides[axis] as f64 - 1.0
        });
        bodies.push(at, [0.0; 3], 1.0 / n as f64);
    }
    bodies
}

/// Returns the numbers of lattice points along the three axes. The numbers differ by at most one, and their product
/// is as small as possible but at least `n`.
fn sides(n: usize) -> [usize; 3] {
    let mut sides = [1; 3];
    for axis in (0..3).cycle() {
        if sides.iter().product::<usize>() >= n {
            break;
        }
        sides[axis] += 1;
    }
    sides
}

/// Returns `n` bodies of equal mass on [`SHELLS`] concentric spheres, with G = M = 1. The radii increase in equal
/// steps up to 1, and all spheres have the same number of bodies per unit area. Successive bodies on a sphere differ
/// by the golden angle around the z axis and by equal steps in z, so the bodies form spirals like the seeds of a
/// sunflower.
pub(super) fn shells(n: usize, random: &mut Random) -> Bodies<f64> {
    let mut bodies = Bodies::with_capacity(n);
    // The area of a sphere is proportional to its radius squared, and so is its number of bodies.
    let area: usize = (1..=SHELLS).map(|shell| shell * shell).sum();
    let mut inside = 0;
    for shell in 1..=SHELLS {
        inside += shell * shell;
        let count = (n as u128 * inside as u128 / area as u128) as usize - bodies.len();
        let (radius, turn) = (shell as f64 / SHELLS as f64, random.unit());
        for nth in 0..count {
            let angle = TAU * (turn + GOLDEN * nth as f64).fract();
            let z = 1.0 - (2.0 * nth as f64 + 1.0) / count as f64;
            let ring = (1.0 - z * z).sqrt();
            let [x, y, z] = [ring * cos(angle), ring * sin(angle), z];
            bodies.positions.push([radius * x, radius * y, radius * z, 1.0 / n as f64]);
            bodies.velocities.push([0.0, 0.0, 0.0, group(shell, x)]);
        }
    }
    bodies
}

/// Returns the group of a body in `shell`, for its coordinate `x` on a sphere of radius 1. Groups have even numbers,
/// like those of [`Bodies::group_by_shells`]. The numbers increase from the innermost to the outermost shell, and
/// along the x axis within a shell. Colours therefore show the shell and the side where a body started.
fn group(shell: usize, x: f64) -> f64 {
    let slice = ((x + 1.0) / 2.0 * GROUPS as f64) as usize;
    (2 * (GROUPS * (shell - 1) + slice.min(GROUPS - 1))) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn distance([a, b]: [[f64; 4]; 2]) -> f64 {
        (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum::<f64>().sqrt()
    }

    /// Returns the smallest distance between two of the bodies.
    fn least_distance(bodies: &Bodies<f64>) -> f64 {
        let x = &bodies.positions;
        let pairs = (0..x.len()).flat_map(|i| (0..i).map(move |j| [x[i], x[j]]));
        pairs.map(distance).fold(f64::INFINITY, f64::min)
    }

    #[test]
    fn a_lattice_fills_the_cube_with_any_number_of_bodies() {
        assert_eq!([1, 2, 8, 9, 4096].map(sides), [[1; 3], [2, 1, 1], [2; 3], [3, 2, 2], [16; 3]]);
        for n in [1, 2, 3, 17, 64, 1000, 1500] {
            let bodies = lattice(n, &mut Random::new(1));
            assert_eq!(bodies.len(), n);
            let extreme =
                bodies.positions.iter().flat_map(|x| &x[..3]).fold(0.0, |most: f64, c| most.max(c.abs()));
            assert!(extreme < 1.0, "{n}: {extreme}");
            let spacing = 2.0 / sides(n)[0] as f64;
            assert!(least_distance(&bodies) > (1.0 - 2.0 * JITTER) * spacing, "{n}");
            // The empty points are spread evenly, so every eighth of the cube has about an eighth of the bodies.
            let in_octant = bodies.positions.iter().filter(|x| x[..3].iter().all(|c| *c > 0.0)).count();
            assert!(n < 1000 || (in_octant as f64 * 8.0 / n as f64 - 1.0).abs() < 0.2, "{n}: {in_octant}");
        }
        assert_ne!(lattice(64, &mut Random::new(1)), lattice(64, &mut Random::new(2)));
    }

    #[test]
    fn shells_have_evenly_spread_bodies_and_groups() {
        for n in [1, 2, 3, 17, 1000] {
            let bodies = shells(n, &mut Random::new(1));
            let radii: Vec<f64> = bodies.positions.iter().map(|x| distance([*x, [0.0; 4]])).collect();
            assert!(radii.len() == n && (radii[n - 1] - 1.0).abs() < 1e-12, "{n}");
            let counts = [1.0, 2.0, 3.0]
                .map(|shell| radii.iter().filter(|r| (**r - shell / 3.0).abs() < 1e-12).count());
            assert_eq!(counts.iter().sum::<usize>(), n);
            let shares = [1.0, 4.0, 9.0].map(|area| n as f64 * area / 14.0);
            assert!(
                counts.iter().zip(shares).all(|(count, share)| (*count as f64 - share).abs() <= 1.0),
                "{counts:?}"
            );
        }
        let bodies = shells(1400, &mut Random::new(1));
        // The smallest distance between bodies is at least half the spacing of a square grid with the same number of
        // bodies per unit area.
        let spacing = (4.0 * std::f64::consts::PI / 900.0).sqrt();
        let least = least_distance(&bodies);
        assert!(least > 0.5 * spacing, "{least} {spacing}");
        for axis in 0..3 {
            let mean = bodies.positions.iter().map(|x| x[axis]).sum::<f64>() / 1400.0;
            assert!(mean.abs() < 0.005, "axis {axis}: {mean}");
        }
        let groups: std::collections::BTreeSet<i64> = bodies.velocities.iter().map(|v| v[3] as i64).collect();
        assert!(groups.iter().copied().eq((0..9).map(|nth| 2 * nth)), "{groups:?}");
        assert_ne!(bodies, shells(1400, &mut Random::new(2)));
    }
}
