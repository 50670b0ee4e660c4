//! Properties of the body that the user selected, and its orbit.

use glam::{DVec3, Vec3};

use super::core::Engine;
use crate::base::{Orbit, OrbitCentre, Result, SelectedBody};
use crate::modes::Attraction;

impl Engine {
    /// Returns the mass, position and velocity of a body after the last complete burst, and its orbit if it orbits a
    /// planet or a body with most of the mass. Returns `None` if the index is invalid. [`Engine::complete_selected`]
    /// fills in the other fields. Blocks until the device has finished.
    pub fn body(&mut self, body: usize) -> Result<Option<SelectedBody>> {
        if body >= self.size() {
            return Ok(None);
        }
        let Some([[x, y, z, mass], [vx, vy, vz, _]]) = self.retry(|simulation| simulation.body(body))? else {
            return Ok(None);
        };
        let (position, velocity) = ([x, y, z], [vx, vy, vz]);
        let selected = SelectedBody { body, mass, position, velocity, ..SelectedBody::default() };
        let orbit = match self.config.mode.attraction() {
            Attraction::Nothing => None,
            Attraction::Planet { gm } => orbit_around(&selected, OrbitCentre::Planet, gm, [DVec3::ZERO; 2]),
            Attraction::Bodies { g } => match self.main_body(body) {
                Some(main) => self.retry(|simulation| simulation.body(main))?.and_then(|rows| {
                    let gm = g * (f64::from(rows[0][3]) + f64::from(mass));
                    orbit_around(&selected, OrbitCentre::Body(main), gm, rows.map(|row| vector(&row)))
                }),
                None => None,
            },
        };
        Ok(Some(SelectedBody { orbit, ..selected }))
    }

    /// Returns the index of the body that has at least half of the mass of all bodies except `except`, or `None` if
    /// there is no such body.
    fn main_body(&self, except: usize) -> Option<usize> {
        // Only edits change the masses, and a new checkpoint follows each edit.
        let bodies = self.checkpoint.state.bodies().ok()?;
        let masses = bodies.positions.iter().map(|x| f64::from(x[3])).enumerate();
        let others = masses.filter(|(body, mass)| *body != except && *mass > 0.0);
        let total: f64 = others.clone().map(|(_, mass)| mass).sum();
        let (heaviest, mass) = others.max_by(|(_, a), (_, b)| a.total_cmp(b))?;
        (mass >= 0.5 * total).then_some(heaviest)
    }

    /// Fills in the acceleration and the energy of `body`, computed from the positions of all bodies. Fills in the
    /// distance of the heaviest other body if that body is more than twice as heavy. If `momentum`, the total momentum,
    /// is known, also fills in a missing orbit around the other bodies.
    pub fn complete_selected(
        &self,
        body: SelectedBody,
        positions: &[[f32; 4]],
        momentum: Option<[f64; 3]>,
    ) -> SelectedBody {
        let at = Vec3::from(body.position).as_dvec3();
        let mode = &self.config.mode;
        let field = mode.field(at, positions, Some(body.body)).unwrap_or_default();
        let speed2 = Vec3::from(body.velocity).as_dvec3().length_squared();
        let energy = f64::from(body.mass) * (0.5 * speed2 + field.potential);
        let others = positions.iter().enumerate().filter(|(other, x)| *other != body.body && x[3] > 0.0);
        let heaviest = others.max_by(|(_, a), (_, b)| a[3].total_cmp(&b[3]));
        // Among bodies of similar mass, the heaviest one does not show where most of the mass is.
        let heaviest = heaviest.filter(|(_, x)| x[3] > 2.0 * body.mass);
        let heaviest = heaviest.map(|(other, x)| (other, vector(x).distance(at)));
        let orbit = body.orbit.or_else(|| match mode.attraction() {
            Attraction::Bodies { g } => orbit_around_others(&body, positions, g, momentum?.into()),
            Attraction::Planet { .. } | Attraction::Nothing => None,
        });
        SelectedBody { acceleration: field.acceleration.into(), heaviest, energy, orbit, ..body }
    }
}

fn vector([x, y, z, _]: &[f32; 4]) -> DVec3 {
    Vec3::new(*x, *y, *z).as_dvec3()
}

/// Returns the orbit of `body` around a mass with the position `x` and the velocity `v`. `gm` is G times the mass that
/// determines the orbit.
fn orbit_around(body: &SelectedBody, centre: OrbitCentre, gm: f64, [x, v]: [DVec3; 2]) -> Option<Orbit> {
    let [own_x, own_v] = [body.position, body.velocity].map(|v| Vec3::from(v).as_dvec3());
    Orbit::new(centre, x, gm, (own_x - x, own_v - v))
}

/// Returns the orbit of `body` around the centre of mass of all other bodies. Counts only the mass that is nearer to
/// the centre than `body`, because outer shells of a spherical cluster do not attract a body inside. `momentum` is the
/// total momentum of all bodies, including `body`.
fn orbit_around_others(
    body: &SelectedBody,
    positions: &[[f32; 4]],
    g: f64,
    momentum: DVec3,
) -> Option<Orbit> {
    let others = positions.iter().enumerate().filter(|(other, x)| *other != body.body && x[3] > 0.0);
    let others = others.map(|(_, x)| (vector(x), f64::from(x[3])));
    let mass: f64 = others.clone().map(|(_, mass)| mass).sum();
    let centre = others.clone().map(|(x, mass)| x * mass).sum::<DVec3>() / mass;
    let own_mass = f64::from(body.mass);
    let velocity = (momentum - own_mass * Vec3::from(body.velocity).as_dvec3()) / mass;
    let reach2 = Vec3::from(body.position).as_dvec3().distance_squared(centre);
    let inner: f64 = others.filter(|(x, _)| x.distance_squared(centre) < reach2).map(|(_, mass)| mass).sum();
    // Without an inner mass, nothing holds the body on an orbit.
    let gm = if inner > 0.0 { g * (inner + own_mass) } else { 0.0 };
    orbit_around(body, OrbitCentre::Others, gm, [centre, velocity])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shell of bodies does not attract a body inside; bodies inside attract as if they were at the centre.
    #[test]
    fn an_orbit_depends_only_on_enclosed_mass_and_not_on_the_motion_of_the_cluster() {
        let axes = [DVec3::X, -DVec3::X, DVec3::Y, -DVec3::Y, DVec3::Z, -DVec3::Z];
        let shell = |radius: f64, mass: f64| axes.map(move |axis| (axis * radius, mass / 6.0));
        let (drift, middle) = (DVec3::new(0.3, -0.2, 0.1), DVec3::new(4.0, 0.0, -2.0));
        let own = SelectedBody {
            body: 12,
            mass: 1e-6,
            position: (middle + DVec3::new(0.6, 0.8, 0.0)).as_vec3().into(),
            // A circular orbit around the mass 4 within the distance 1.
            velocity: (drift + 2.0 * DVec3::new(-0.8, 0.6, 0.0)).as_vec3().into(),
            ..SelectedBody::default()
        };
        let bodies = shell(0.1, 4.0).into_iter().chain(shell(5.0, 100.0));
        let row = |x: DVec3, mass: f64| [x.x as f32, x.y as f32, x.z as f32, mass as f32];
        let mut positions: Vec<[f32; 4]> = bodies.map(|(x, mass)| row(middle + x, mass)).collect();
        let [x, y, z] = own.position;
        positions.push([x, y, z, own.mass]);
        let momentum = drift * 104.0;
        let orbit = orbit_around_others(&own, &positions, 1.0, momentum).unwrap();
        assert_eq!(orbit.centre, OrbitCentre::Others);
        assert!(orbit.eccentricity < 1e-5, "{orbit:?}");
        assert!((orbit.semi_major_axis - 1.0).abs() < 1e-5 && orbit.inclination.unwrap() < 1e-3, "{orbit:?}");
        let within = SelectedBody { position: (middle + DVec3::X * 0.05).as_vec3().into(), ..own };
        assert_eq!(orbit_around_others(&within, &positions, 1.0, momentum), None, "no mass is nearer");
    }
}
