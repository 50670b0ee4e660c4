//! Translation, rotation and scaling of a whole system of bodies.

use crate::base::Bodies;

/// Moves the centre of mass to the origin and brings it to rest. Does nothing if the total mass is 0.
pub(super) fn centre(bodies: &mut Bodies<f64>) {
    let total: f64 = bodies.positions.iter().map(|p| p[3]).sum();
    if total == 0.0 {
        return;
    }
    let mean = |rows: &[[f64; 4]]| -> [f64; 3] {
        let sum =
            |axis: usize| -> f64 { rows.iter().zip(&bodies.positions).map(|(r, p)| r[axis] * p[3]).sum() };
        std::array::from_fn(|axis| sum(axis) / total)
    };
    let (at, velocity) = (mean(&bodies.positions), mean(&bodies.velocities));
    shift(bodies, at.map(|c| -c), velocity.map(|c| -c));
}

/// Adds `by` to every position and `velocity` to every velocity.
pub(super) fn shift(bodies: &mut Bodies<f64>, by: [f64; 3], velocity: [f64; 3]) {
    let add = |rows: &mut [[f64; 4]], step: [f64; 3]| {
        for row in rows {
            (0..3).for_each(|axis| row[axis] += step[axis]);
        }
    };
    add(&mut bodies.positions, by);
    add(&mut bodies.velocities, velocity);
}

/// Rotates positions and velocities from axis `from` towards axis `to` by an angle with the given cosine and sine.
pub(super) fn turn(bodies: &mut Bodies<f64>, [from, to]: [usize; 2], [cos, sin]: [f64; 2]) {
    for row in bodies.positions.iter_mut().chain(&mut bodies.velocities) {
        (row[from], row[to]) = (cos * row[from] - sin * row[to], sin * row[from] + cos * row[to]);
    }
}

/// Multiplies every position by `positions` and every velocity by `velocities`.
pub(super) fn scale(bodies: &mut Bodies<f64>, positions: f64, velocities: f64) {
    let times = |rows: &mut [[f64; 4]], factor: f64| {
        for row in rows {
            row[..3].iter_mut().for_each(|c| *c *= factor);
        }
    };
    times(&mut bodies.positions, positions);
    times(&mut bodies.velocities, velocities);
}
