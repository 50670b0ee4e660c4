//! The same step in f64, written for reading: what the kernels are checked against.

use super::{Asteroids, unit_radii};
use crate::bodies::{Bodies, FINITE_LIMIT};
use crate::hand::Field;
use crate::modes::Diagnostics;

type Vector = glam::DVec3;

/// What the others do to a body in one step.
#[derive(Default)]
struct Contacts {
    dv: Vector,
    dx: Vector,
}

impl Asteroids {
    pub(super) fn reference_step(&self, bodies: &mut Bodies<f64>) {
        let radii = self.radii(bodies);
        let moved: Vec<_> = (0..bodies.len()).map(|i| self.moved(i, bodies, &radii)).collect();
        for (i, (x, v)) in moved.into_iter().enumerate() {
            if finite(x) && finite(v) {
                bodies.positions[i] = [x.x, x.y, x.z, bodies.positions[i][3]];
                bodies.velocities[i] = [v.x, v.y, v.z, bodies.velocities[i][3]];
            } else {
                bodies.velocities[i][..3].fill(f64::NAN);
            }
        }
    }

    pub(super) fn radii<T: Copy + Into<f64>>(&self, bodies: &Bodies<T>) -> Vec<f64> {
        let units = unit_radii(bodies.positions.iter().map(|x| x[3].into()));
        units.iter().map(|unit| unit * f64::from(self.radius)).collect()
    }

    /// v' = (v + Σ Δv + a·dt)·decay; x' = x + v'·dt + Σ push, all from the old state.
    pub(super) fn moved<T: Copy + Into<f64>>(
        &self,
        i: usize,
        bodies: &Bodies<T>,
        radii: &[f64],
    ) -> (Vector, Vector) {
        let (x, v, _) = body(bodies, i);
        let mut contacts = Contacts::default();
        for j in (0..bodies.positions.len()).filter(|j| *j != i) {
            self.collide(&mut contacts, i, j, bodies, radii);
        }
        self.bounce_off_planet(&mut contacts, x, v, radii[i]);
        let dt = f64::from(self.dt);
        let v = (v + contacts.dv + self.pull(x) * dt) * f64::from(self.decay);
        (x + v * dt + contacts.dx, v)
    }

    fn collide<T: Copy + Into<f64>>(
        &self,
        contacts: &mut Contacts,
        i: usize,
        j: usize,
        bodies: &Bodies<T>,
        radii: &[f64],
    ) {
        let ((x_i, v_i, m_i), (x_j, v_j, m_j)) = (body(bodies, i), body(bodies, j));
        let d = x_j - x_i;
        let overlap = radii[i] + radii[j] - d.length();
        if overlap > 0.0 && v_j.is_finite() {
            let apart = Vector::X * if i < j { 1.0 } else { -1.0 };
            let share = if m_i + m_j > 0.0 { m_j / (m_i + m_j) } else { 0.5 };
            self.touch(contacts, d.try_normalize().unwrap_or(apart), v_i - v_j, overlap, share);
        }
    }

    fn bounce_off_planet(&self, contacts: &mut Contacts, x: Vector, v: Vector, radius: f64) {
        let overlap = f64::from(self.planet_radius) + radius - x.length();
        if self.planet_radius > 0.0 && overlap > 0.0 {
            self.touch(contacts, (-x).try_normalize().unwrap_or(-Vector::X), v, overlap, 1.0);
        }
    }

    /// Δv = −share·[(1+e)·u·n + μ·v_t] if they approach, and the push apart.
    fn touch(&self, contacts: &mut Contacts, n: Vector, relative: Vector, overlap: f64, share: f64) {
        let [restitution, friction, push] = [self.restitution, self.friction, self.push].map(f64::from);
        let u = relative.dot(n);
        if u > 0.0 {
            contacts.dv -= share * ((1.0 + restitution) * u * n + friction * (relative - u * n));
        }
        contacts.dx -= share * push * overlap * n;
    }

    /// The planet's pull; within the planet it does not grow any more.
    fn pull(&self, x: Vector) -> Vector {
        let near = x.length().max(f64::from(self.planet_radius)).max(1e-6);
        x * (-f64::from(self.g) * f64::from(self.planet_mass) / near.powi(3))
    }

    /// The planet's pull and its potential at a place.
    pub(super) fn field_of(&self, x: Vector) -> Field {
        let near = x.length().max(f64::from(self.planet_radius)).max(1e-6);
        let potential = -f64::from(self.g) * f64::from(self.planet_mass) / near;
        Field { acceleration: self.pull(x), potential }
    }

    pub(super) fn reference_sums(&self, bodies: &Bodies<f64>) -> Diagnostics {
        let mut sums = Diagnostics::default();
        let gm = f64::from(self.g) * f64::from(self.planet_mass);
        for i in 0..bodies.len() {
            let (x, v, mass) = body(bodies, i);
            if !v.is_finite() {
                sums.nonfinite += 1;
                continue;
            }
            sums.kinetic += 0.5 * mass * v.length_squared();
            sums.potential -= gm * mass / x.length().max(f64::from(self.planet_radius)).max(1e-6);
            sums.momentum_scale += mass * v.length();
            sums.momentum = (Vector::from(sums.momentum) + v * mass).into();
            sums.angular_momentum = (Vector::from(sums.angular_momentum) + x.cross(v) * mass).into();
        }
        sums
    }
}

pub(super) fn finite(v: Vector) -> bool {
    v.to_array().iter().all(|c| c.abs() <= f64::from(FINITE_LIMIT))
}

/// Place, velocity and mass.
pub(super) fn body<T: Copy + Into<f64>>(bodies: &Bodies<T>, i: usize) -> (Vector, Vector, f64) {
    let [x, y, z, m] = bodies.positions[i].map(Into::into);
    let [vx, vy, vz, _] = bodies.velocities[i].map(Into::into);
    (Vector::new(x, y, z), Vector::new(vx, vy, vz), m)
}
