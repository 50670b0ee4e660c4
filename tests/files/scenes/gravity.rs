//! Tests properties of the gravity scenes: balance, rotation, periods.

use std::f64::consts::TAU;

use gravitile::base::bodies::Bodies;
use gravitile::base::params::ParamValues;
use gravitile::engine::config::Config;
use gravitile::modes;
use gravitile::scene::file::parse;
use gravitile::scene::gravity::{FIGURE_EIGHT_PERIOD, two_body_period};

use super::{length, made_by, make, scene, values};

fn gravity(name: &str, bodies: usize, set: &[(&str, &str)]) -> (Bodies<f64>, ParamValues) {
    scene("gravity", name, bodies, set)
}

/// Generates two bodies on an orbit of the given eccentricity. Returns the bodies and the scene's parameters.
fn two_bodies(eccentricity: &str, set: &[(&str, &str)]) -> (Bodies<f64>, ParamValues) {
    let file = format!(
        "mode = \"gravity\"\ngenerator = \"two-body\"\ncount = 2\n[arguments]\neccentricity = {eccentricity}\n"
    );
    let config = Config::of_file(parse("two bodies", &file).unwrap()).unwrap();
    let values = values(modes::find("gravity").unwrap(), &config.start, set);
    (make(&config.start, 2, 1, &values).to_f64(), values)
}

#[test]
fn without_gravity_nothing_moves() {
    for scene in modes::find("gravity").unwrap().scenes.iter() {
        let (bodies, _) = gravity(&scene.name, 64, &[("g", "0")]);
        assert!(bodies.velocities.iter().all(|v| v[..3] == [0.0; 3]), "{}", scene.name);
    }
}

#[test]
fn speeds_scale_with_the_root_of_g_and_positions_do_not_depend_on_g() {
    for scene in modes::find("gravity").unwrap().scenes.iter() {
        let (one, _) = gravity(&scene.name, 64, &[]);
        let (four, _) = gravity(&scene.name, 64, &[("g", "4")]);
        assert_eq!(one.positions, four.positions, "{}", scene.name);
        let speeds = |bodies: &Bodies<f64>| -> Vec<f64> {
            bodies.velocities.iter().flat_map(|v| v[..3].to_vec()).collect()
        };
        for (slow, fast) in speeds(&one).iter().zip(&speeds(&four)) {
            assert!((2.0 * slow - fast).abs() <= 1e-6, "{}: {slow}, {fast}", scene.name);
        }
    }
}

#[test]
fn every_softening_gives_finite_bodies() {
    for scene in modes::find("gravity").unwrap().scenes.iter() {
        for eps in ["1e-5", "1"] {
            for law in ["plummer", "clamp"] {
                for n in [1, 2, 100] {
                    let (bodies, _) = gravity(&scene.name, n, &[("eps", eps), ("softening", law)]);
                    let all = bodies.positions.iter().chain(&bodies.velocities).flatten();
                    assert!(all.into_iter().all(|x| x.is_finite()), "{}, {eps}, {law}", scene.name);
                }
            }
        }
    }
}

#[test]
fn the_plummer_sphere_is_in_virial_equilibrium_in_standard_units() {
    for (n, set) in [(100, [].as_slice()), (2048, &[]), (2048, &[("g", "2")]), (6000, &[])] {
        let (bodies, values) = gravity("plummer", n, set);
        let g = f64::from(values.float("g").unwrap());
        let kinetic: f64 = half_m_v2(&bodies);
        let potential = -g * pairs(&bodies, |d2| 1.0 / d2.sqrt());
        assert!((potential / g + 0.5).abs() < 0.005, "{n}: V = {potential}");
        assert!((kinetic / g - 0.25).abs() < 0.01, "{n}: T = {kinetic}");
        let ratio = 2.0 * kinetic / potential.abs();
        assert!((ratio - 1.0).abs() < 0.05, "{n}: virial ratio {ratio}");
    }
    // Half of the mass is within 1.305 a. With a softened force the bodies need less motion.
    let (bodies, values) = gravity("plummer", 8192, &[("eps", "0.5")]);
    let mut radii: Vec<f64> = bodies.positions.iter().map(|p| length(&p[..3])).collect();
    radii.sort_by(f64::total_cmp);
    assert!((radii[4096] - 1.305 * 3.0 * TAU / 32.0).abs() < 0.05, "{}", radii[4096]);
    let eps2 = f64::from(values.float("eps").unwrap()).powi(2);
    let virial = pairs(&bodies, |d2| d2 / (d2 + eps2).powf(1.5));
    assert!((2.0 * half_m_v2(&bodies) / virial - 1.0).abs() < 0.01);
    assert!(virial < 0.3);
}

#[test]
fn the_galaxy_rotates_at_the_circular_speed_of_its_own_gravity() {
    for set in [[].as_slice(), &[("g", "3"), ("eps", "0.2")]] {
        let (bodies, values) = gravity("galaxy", 4096, set);
        let [mut turning, mut circular, mut outward, mut outward2, mut count] = [0.0; 5];
        let force = force(&values);
        for (p, v) in bodies.positions.iter().zip(&bodies.velocities) {
            let r = p[0].hypot(p[1]);
            if !(0.5..2.0).contains(&r) || p[2].abs() > 0.2 {
                continue;
            }
            let a = acceleration(&bodies, [p[0], p[1], 0.0], &force);
            circular += (-(a[0] * p[0] + a[1] * p[1])).max(0.0).sqrt();
            turning += (p[0] * v[1] - p[1] * v[0]) / r;
            let out = (p[0] * v[0] + p[1] * v[1]) / r;
            (outward, outward2, count) = (outward + out, outward2 + out * out, count + 1.0);
        }
        assert!(count > 1500.0, "{count}");
        let speed = circular / count;
        let (turning, outward, spread) =
            (turning / count / speed, outward / count / speed, (outward2 / count).sqrt() / speed);
        // Because of asymmetric drift, bodies are slightly slower than on a circular orbit.
        assert!((0.96..1.0).contains(&turning), "{turning} of the circular speed");
        assert!(outward.abs() < 0.02, "{outward}");
        assert!((0.05..0.3).contains(&spread), "{spread}");
    }
}

#[test]
fn the_ring_is_on_circular_orbits() {
    let (bodies, values) = gravity("ring", 2000, &[]);
    let force = force(&values);
    for (p, v) in bodies.positions.iter().zip(&bodies.velocities).skip(1) {
        let a = acceleration(&bodies, [p[0], p[1], p[2]], &force);
        let r = length(&p[..3]);
        assert!((0.84..1.16).contains(&r));
        let pull = -(a[0] * p[0] + a[1] * p[1]);
        let v2 = length(&v[..3]).powi(2);
        // The ring's own gravity (1 % of the mass) is ignored, but close neighbours have a small effect.
        assert!((v2 / pull - 1.0).abs() < 0.1, "{}", v2 / pull);
        assert!((p[0] * v[0] + p[1] * v[1]).abs() < 0.01);
    }
}

#[test]
fn the_galaxies_fall_towards_each_other() {
    let (bodies, _) = gravity("collision", 2000, &[]);
    let half = |rows: &[[f64; 4]]| [0, 1, 2].map(|axis| rows.iter().map(|r| r[axis]).sum::<f64>() / 1000.0);
    // Each half of the list is a galaxy. Its bodies differ in mass, but in the same way in both galaxies.
    let [first, second] = [&bodies.positions[..1000], &bodies.positions[1000..]].map(half);
    let [slow, fast] = [&bodies.velocities[..1000], &bodies.velocities[1000..]].map(half);
    let (d, v) = (minus(second, first), minus(fast, slow));
    assert!((length(&d) - 4.0).abs() < 0.1, "{d:?}");
    let approach = (d[0] * v[0] + d[1] * v[1] + d[2] * v[2]) / length(&d);
    assert!(approach < -0.4, "{approach}");
    let energy = length(&v).powi(2) / 2.0 - 1.0 / length(&d);
    assert!(energy.abs() < 0.05, "{energy}");
}

/// Returns twice the kinetic energy of `bodies`, divided by the virial of their softened forces: 1 in equilibrium.
fn virial_ratio(bodies: &Bodies<f64>, values: &ParamValues) -> f64 {
    let eps2 = f64::from(values.float("eps").unwrap()).powi(2);
    2.0 * half_m_v2(bodies) / pairs(bodies, |d2| d2 / (d2 + eps2).powf(1.5))
}

#[test]
fn galaxies_with_halos_are_in_virial_equilibrium() {
    let (bodies, values) = gravity("disc", 4096, &[]);
    let ratio = virial_ratio(&bodies, &values);
    assert!((ratio - 1.0).abs() < 0.1, "{ratio}");
    let mass = |is_disc: bool| -> f64 {
        let rows = bodies.positions.iter().zip(&bodies.velocities);
        rows.filter(|(_, v)| (v[3] == 1.0) == is_disc).map(|(p, _)| p[3]).sum()
    };
    assert!((mass(true) - 0.15).abs() < 1e-6 && (mass(false) - 0.85).abs() < 1e-6);
    let dark: f64 =
        bodies.positions.iter().zip(&bodies.velocities).filter(|(_, v)| v[3] < 0.0).map(|(p, _)| p[3]).sum();
    assert!((dark - 0.8).abs() < 1e-6, "{dark}");
    // Each of the two galaxies is in equilibrium.
    let (bodies, values) = gravity("merger", 4096, &[]);
    let groups = [0..2048, 2048..4096].map(|half| {
        let mut groups: Vec<i64> = bodies.velocities[half].iter().map(|v| v[3] as i64).collect();
        groups.dedup();
        groups
    });
    assert_eq!(groups, [[0, -1, 1], [2, -2, 3]], "bulge, halo and disc");
    for (place, half) in [0..2048, 2048..4096].into_iter().enumerate() {
        let mut one = Bodies::default();
        let mean: [f64; 3] = [0, 1, 2].map(|axis| {
            let sum: f64 = half.clone().map(|k| bodies.velocities[k][axis] * bodies.positions[k][3]).sum();
            sum / 0.5
        });
        for k in half {
            let [p, v] = [bodies.positions[k], bodies.velocities[k]];
            one.push([p[0], p[1], p[2]], minus([v[0], v[1], v[2]], mean), p[3]);
        }
        let ratio = virial_ratio(&one, &values);
        assert!((ratio - 1.0).abs() < 0.1, "galaxy {place}: {ratio}");
    }
}

#[test]
fn the_clumpy_cloud_is_cold_and_clumpy() {
    let (bodies, values) = gravity("cold-collapse", 4096, &[]);
    let ratio = virial_ratio(&bodies, &values);
    assert!((0.01..0.1).contains(&ratio), "{ratio}");
    assert!(bodies.positions.iter().all(|p| length(&p[..3]) < 2.0));
    // Returns the median distance to the nearest neighbour, which is far smaller in clumps than in a uniform ball.
    let nearest = |bodies: &Bodies<f64>| {
        let mut all: Vec<f64> = (0..400)
            .map(|i| {
                let to = |j: usize| length(&minus3(bodies.positions[i], bodies.positions[j]));
                (0..bodies.len()).filter(|j| *j != i).map(to).fold(f64::INFINITY, f64::min)
            })
            .collect();
        all.sort_by(f64::total_cmp);
        all[200]
    };
    let even = made_by("ball", "", 4096);
    assert!(nearest(&bodies) < 0.6 * nearest(&even), "{} {}", nearest(&bodies), nearest(&even));
}

#[test]
fn the_cosmic_web_starts_nearly_uniform_and_expands_to_twice_its_radius() {
    let (bodies, _) = gravity("cosmic-web", 4096, &[]);
    // In a uniform ball, the mean distance of the mass from the centre is ¾ of the radius, and speeds are proportional
    // to the distance.
    let radii: Vec<f64> = bodies.positions.iter().map(|p| length(&p[..3])).collect();
    let mean = radii.iter().sum::<f64>() / 4096.0;
    assert!((mean - 0.75).abs() < 0.02, "{mean}");
    let along = |row: usize| {
        (0..3).map(|axis| bodies.positions[row][axis] * bodies.velocities[row][axis]).sum::<f64>()
    };
    let hubble = (0..4096).map(along).sum::<f64>() / radii.iter().map(|r| r * r).sum::<f64>();
    assert!((hubble - 1.0).abs() < 0.03, "{hubble}");
    // The kinetic energy is half of |V| = ⅗: the ball comes to rest at twice its radius.
    let [kinetic, potential] = [half_m_v2(&bodies), pairs(&bodies, |d2| 1.0 / d2.sqrt())];
    assert!((kinetic / potential - 0.5).abs() < 0.03, "{kinetic} {potential}");
}

#[test]
fn the_cosmic_web_forms_clumps_while_expanding() {
    let (mut bodies, values) = gravity("cosmic-web", 1024, &[]);
    // Returns the fraction of the bodies in cells with more than three times the mean number of bodies.
    let clumped = |bodies: &Bodies<f64>, radius: f64| {
        let mut cells = std::collections::BTreeMap::new();
        for p in &bodies.positions {
            *cells.entry([0, 1, 2].map(|axis| (p[axis] / radius * 4.0).floor() as i64)).or_insert(0) += 1;
        }
        let mean = 1024.0 / (4.0 / 3.0 * std::f64::consts::PI * 64.0);
        let crowded: i32 = cells.values().filter(|count| f64::from(**count) > 3.0 * mean).sum();
        f64::from(crowded) / 1024.0
    };
    let before = clumped(&bodies, 1.0);
    leapfrog(&mut bodies, &force(&values), 0.02, 130);
    let mean = bodies.positions.iter().map(|p| length(&p[..3])).sum::<f64>() / 1024.0;
    assert!((1.2..1.7).contains(&mean), "{mean}");
    let after = clumped(&bodies, mean / 0.75);
    assert!(before < 0.02 && after > 0.08, "{before} {after}");
}

#[test]
fn two_bodies_return_after_one_period() {
    let sets: [&[(&str, &str)]; 4] = [
        &[],
        &[("g", "2.5"), ("eps", "0.3")],
        &[("eps", "1"), ("softening", "clamp")],
        &[("eps", "0.3"), ("softening", "clamp")],
    ];
    for set in sets {
        let (start, values) = two_bodies("0", set);
        let (mut bodies, period) = (start.clone(), two_body_period(&values));
        leapfrog(&mut bodies, &force(&values), period / 4000.0, 2000);
        assert!(farthest(&start, &bodies) > 1.4, "{set:?}: on the other side at half time");
        for (a, b) in start.positions.iter().zip(&bodies.positions) {
            assert!(length(&[a[0] + b[0], a[1] + b[1], a[2] + b[2]]) < 1e-5, "{set:?}");
        }
        leapfrog(&mut bodies, &force(&values), period / 4000.0, 2000);
        assert!(farthest(&start, &bodies) < 1e-5, "{set:?}: {}", farthest(&start, &bodies));
    }
    let (_, values) = two_bodies("0", &[("softening", "clamp")]);
    assert!((two_body_period(&values) - TAU).abs() < 1e-12);
}

#[test]
fn two_bodies_on_an_eccentric_orbit_approach_at_half_period_and_return() {
    for (eccentricity, set) in
        [("0.6", [("eps", "1e-5")].as_slice()), ("0.3", &[("eps", "1e-5"), ("g", "2")])]
    {
        let (start, values) = two_bodies(eccentricity, set);
        let (mut bodies, period) = (start.clone(), two_body_period(&values));
        let distance = |bodies: &Bodies<f64>| {
            let [a, b] = [bodies.positions[0], bodies.positions[1]];
            length(&[a[0] - b[0], a[1] - b[1], a[2] - b[2]])
        };
        let e: f64 = eccentricity.parse().unwrap();
        assert!((distance(&start) - (1.0 + e)).abs() < 1e-6);
        leapfrog(&mut bodies, &force(&values), period / 40_000.0, 20_000);
        assert!((distance(&bodies) - (1.0 - e)).abs() < 1e-5, "{set:?}: {}", distance(&bodies));
        leapfrog(&mut bodies, &force(&values), period / 40_000.0, 20_000);
        assert!(farthest(&start, &bodies) < 1e-4, "{set:?}: {}", farthest(&start, &bodies));
    }
}

#[test]
fn three_bodies_return_after_one_figure_eight_period() {
    for (set, g) in [([].as_slice(), 1.0f64), (&[("g", "4")], 4.0)] {
        let (start, values) = gravity("figure-eight", 3, set);
        let (mut bodies, period) = (start.clone(), FIGURE_EIGHT_PERIOD / g.sqrt());
        // After a third of the period each body is at the start of the next body.
        leapfrog(&mut bodies, &force(&values), period / 30_000.0, 10_000);
        assert!(farthest(&start, &bodies) > 0.5);
        leapfrog(&mut bodies, &force(&values), period / 30_000.0, 20_000);
        assert!(farthest(&start, &bodies) < 1e-5, "{}", farthest(&start, &bodies));
    }
}

fn minus3(a: [f64; 4], b: [f64; 4]) -> [f64; 3] {
    std::array::from_fn(|axis| a[axis] - b[axis])
}

fn minus(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [a[0] - b[0], a[1] - b[1], a[2] - b[2]]
}

fn farthest(a: &Bodies<f64>, b: &Bodies<f64>) -> f64 {
    let apart = |(p, q): (&[f64; 4], &[f64; 4])| length(&[p[0] - q[0], p[1] - q[1], p[2] - q[2]]);
    a.positions.iter().zip(&b.positions).map(apart).fold(0.0, f64::max)
}

fn half_m_v2(bodies: &Bodies<f64>) -> f64 {
    let rows = bodies.positions.iter().zip(&bodies.velocities);
    rows.map(|(p, v)| 0.5 * p[3] * length(&v[..3]).powi(2)).sum()
}

/// Returns Σ m_i m_j f(d²) over all pairs of bodies at distance d.
fn pairs(bodies: &Bodies<f64>, f: impl Fn(f64) -> f64) -> f64 {
    let p = &bodies.positions;
    let pair = |a: &[f64; 4], b: &[f64; 4]| {
        let d2 = (0..3).map(|axis| (a[axis] - b[axis]).powi(2)).sum();
        a[3] * b[3] * f(d2)
    };
    (1..p.len()).map(|i| p[..i].iter().map(|b| pair(&p[i], b)).sum::<f64>()).sum()
}

/// Returns the function G·s of d² in the force G m d s(d²) between two bodies, written independently of the scenes'
/// code.
fn force(values: &ParamValues) -> impl Fn(f64) -> f64 {
    let [g, eps] = ["g", "eps"].map(|key| f64::from(values.float(key).unwrap()));
    let clamp = values.get("softening").unwrap().to_string() == "clamp";
    move |d2| g * if clamp { d2.sqrt().max(eps).powi(-3) } else { (d2 + eps * eps).powf(-1.5) }
}

fn acceleration(bodies: &Bodies<f64>, at: [f64; 3], force: impl Fn(f64) -> f64) -> [f64; 3] {
    let mut sum = [0.0; 3];
    for p in &bodies.positions {
        let d = minus([p[0], p[1], p[2]], at);
        let d2 = d.iter().map(|c| c * c).sum::<f64>();
        // A body does not attract itself.
        let pull = if d2 > 0.0 { p[3] * force(d2) } else { 0.0 };
        (0..3).for_each(|axis| sum[axis] += pull * d[axis]);
    }
    sum
}

fn leapfrog(bodies: &mut Bodies<f64>, force: &impl Fn(f64) -> f64, dt: f64, steps: usize) {
    let kick = |bodies: &mut Bodies<f64>| {
        for i in 0..bodies.len() {
            let p = bodies.positions[i];
            let a = acceleration(bodies, [p[0], p[1], p[2]], force);
            (0..3).for_each(|axis| bodies.velocities[i][axis] += 0.5 * dt * a[axis]);
        }
    };
    for _ in 0..steps {
        kick(bodies);
        for (p, v) in bodies.positions.iter_mut().zip(&bodies.velocities) {
            (0..3).for_each(|axis| p[axis] += dt * v[axis]);
        }
        kick(bodies);
    }
}

/// Compares the scene's planets with their positions relative to the Sun on 1 January 2000, 12 h, in the plane of the
/// ecliptic: rounded x and y in astronomical units (JPL Horizons). The scene's orbital elements are accurate to some
/// arc minutes.
#[test]
fn planet_positions_match_the_jpl_ephemeris() {
    let (bodies, _) = gravity("solar-system", 1, &[]);
    assert_eq!(bodies.len(), 2010);
    let from_sun = |i: usize| [0, 1, 2].map(|k| bodies.positions[i][k] - bodies.positions[0][k]);
    for (i, name, x, y) in [
        (1, "Mercury", -0.1301, -0.4473),
        (2, "Venus", -0.7183, -0.0327),
        (3, "Earth", -0.1771, 0.9672),
        (5, "Mars", 1.3907, -0.0134),
        (6, "Jupiter", 4.0012, 2.9386),
        (7, "Saturn", 6.4064, 6.5699),
        (8, "Uranus", 14.4319, -13.7343),
        (9, "Neptune", 16.8121, -24.9917),
    ] {
        let place = from_sun(i);
        let off = length(&[place[0] - x, place[1] - y]) / length(&[x, y]);
        assert!(off < 0.005, "{name}: {place:?} is {off} off");
        // The semi-major axis a = 1/(2/r − v²/GM) gives the period in years.
        let v2: f64 = (0..3).map(|k| (bodies.velocities[i][k] - bodies.velocities[0][k]).powi(2)).sum();
        let gm = bodies.positions[0][3] + bodies.positions[i][3];
        let years = (2.0 / length(&place) - v2 / gm).powf(-1.5) / gm.sqrt();
        let known = [0.241, 0.615, 1.0, 0.0, 1.881, 11.87, 29.46, 84.0, 164.8][i - 1];
        assert!((years / known - 1.0).abs() < 0.005, "{name}: {years} years");
    }
    let moon = from_sun(4).iter().zip(from_sun(3)).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    assert!((0.00238..0.00272).contains(&moon), "the Moon is {moon} away");
}
