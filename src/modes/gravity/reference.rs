//! Reference implementation of gravity in f64, with which kernel results are compared.

use super::parameters::{Gravity, Integrator, OUTER, Softening};
use crate::base::{Bodies, FINITE_LIMIT, GravitySample};
use crate::modes::Diagnostics;

type Vector = glam::DVec3;

impl Gravity {
    /// Returns the softened 1/r³ factor s(r) in the acceleration m·d·s(r), for the squared distance `r2` = r².
    pub(super) fn fade(&self, r2: f64) -> f64 {
        let eps2 = f64::from(self.eps).powi(2);
        let r2 = match self.softening {
            Softening::Plummer => r2 + eps2,
            Softening::Clamp => r2.max(eps2),
        };
        1.0 / (r2 * r2.sqrt())
    }

    /// Returns the potential energy of a pair of bodies, divided by −G m_i m_j, for the squared distance `r2`.
    fn potential(&self, r2: f64) -> f64 {
        let eps = f64::from(self.eps);
        match self.softening {
            Softening::Plummer => 1.0 / (r2 + eps * eps).sqrt(),
            Softening::Clamp if r2 >= eps * eps => 1.0 / r2.sqrt(),
            Softening::Clamp => (1.5 - 0.5 * r2 / (eps * eps)) / eps,
        }
    }

    /// Returns the acceleration of body `i` due to all bodies: a_i = G Σ_j m_j d_ij s(|d_ij|).
    pub(super) fn acceleration<T: Copy + Into<f64>>(&self, i: usize, positions: &[[T; 4]]) -> Vector {
        let own = place(&positions[i]);
        let pull = |other: &[T; 4]| {
            let d = place(other) - own;
            d * (other[3].into() * self.fade(d.length_squared()))
        };
        positions.iter().map(pull).sum::<Vector>() * f64::from(self.g)
    }

    /// Returns the gravitational acceleration and potential at the position `at` due to all bodies but `except`.
    pub(super) fn field_of(&self, at: Vector, others: &[[f32; 4]], except: Option<usize>) -> GravitySample {
        let mut field = GravitySample::default();
        for (j, other) in others.iter().enumerate() {
            if Some(j) != except {
                let (d, mass) = (place(other) - at, f64::from(other[3]));
                let r2 = d.length_squared();
                field.acceleration += d * (mass * self.fade(r2));
                field.potential -= mass * self.potential(r2);
            }
        }
        let g = f64::from(self.g);
        GravitySample { acceleration: field.acceleration * g, potential: field.potential * g }
    }

    fn accelerations(&self, bodies: &Bodies<f64>) -> Vec<Vector> {
        (0..bodies.len()).map(|i| self.acceleration(i, &bodies.positions)).collect()
    }

    pub(super) fn reference_step(&self, bodies: &mut Bodies<f64>) {
        let dt = f64::from(self.dt);
        match self.integrator {
            Integrator::Euler => {
                let a = self.accelerations(bodies);
                self.update(bodies, |i, x, v| {
                    *v += a[i] * dt;
                    *x += *v * dt;
                    *v *= f64::from(self.decay);
                });
            }
            Integrator::Taylor => {
                let a = self.accelerations(bodies);
                self.update(bodies, |i, x, v| {
                    *x += *v * dt + a[i] * (0.5 * dt * dt);
                    *v += a[i] * dt;
                    *v *= f64::from(self.decay);
                });
            }
            Integrator::Leapfrog => {
                self.kick_drift_kick(bodies, dt);
                self.update(bodies, |_, _, v| *v *= f64::from(self.decay));
            }
            Integrator::Yoshida => {
                for share in [OUTER, 1.0 - 2.0 * OUTER, OUTER] {
                    self.kick_drift_kick(bodies, share * dt);
                }
                self.update(bodies, |_, _, v| *v *= f64::from(self.decay));
            }
        }
    }

    fn kick_drift_kick(&self, bodies: &mut Bodies<f64>, dt: f64) {
        let before = self.accelerations(bodies);
        self.update(bodies, |i, x, v| {
            *v += before[i] * (0.5 * dt);
            *x += *v * dt;
        });
        let after = self.accelerations(bodies);
        self.update(bodies, |i, _, v| *v += after[i] * (0.5 * dt));
    }

    /// Applies `step` to each position and velocity, keeps a `flat` system flat, and excludes non-finite bodies.
    fn update(&self, bodies: &mut Bodies<f64>, mut step: impl FnMut(usize, &mut Vector, &mut Vector)) {
        for i in 0..bodies.len() {
            let (mut x, mut v) = (place(&bodies.positions[i]), place(&bodies.velocities[i]));
            step(i, &mut x, &mut v);
            if self.flat {
                (x.z, v.z) = (0.0, 0.0);
            }
            let finite = |v: Vector| v.to_array().iter().all(|c| c.abs() <= f64::from(FINITE_LIMIT));
            if finite(x) && finite(v) {
                bodies.positions[i] = [x.x, x.y, x.z, bodies.positions[i][3]];
                bodies.velocities[i] = [v.x, v.y, v.z, bodies.velocities[i][3]];
            } else {
                bodies.positions[i][3] = 0.0;
                bodies.velocities[i][..3].fill(f64::NAN);
            }
        }
    }

    pub(super) fn reference_sums(&self, bodies: &Bodies<f64>) -> Diagnostics {
        Diagnostics::of_bodies(bodies, |i, mass, x| {
            let others = bodies.positions.iter().enumerate().filter(|(j, _)| *j != i);
            let phi: f64 =
                others.map(|(_, other)| other[3] * self.potential(place(other).distance_squared(x))).sum();
            -0.5 * f64::from(self.g) * mass * phi
        })
    }
}

/// Returns the position of a body.
pub(super) fn place<T: Copy + Into<f64>>([x, y, z, _]: &[T; 4]) -> Vector {
    Vector::new((*x).into(), (*y).into(), (*z).into())
}
