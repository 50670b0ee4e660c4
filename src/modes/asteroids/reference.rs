//! Reference implementation of asteroids in f64, with which kernel results are compared.

use std::cell::RefCell;
use std::collections::HashMap;

use super::parameters::{Asteroids, ContactLaw};
use super::substeps::{Motion, Schedule};
use crate::base::{Bodies, FINITE_LIMIT, GravitySample};

type Vector = glam::DVec3;

/// Largest overlap, in units of g·dt², that a resting contact keeps to carry the bodies that lie on top.
const CARRIED: f64 = 50.0;
/// Minimum mass ratio of two bodies at which the heavier body accepts any number of impacts in one step.
const HEAVIER: f64 = 16.0;
/// Relative distance to a threshold below which a comparison may have different results in f32 and in f64.
const DOUBT: f64 = 1e-5;

/// A time step of all asteroids. The new state of each body is computed on demand.
pub(super) struct Step<T> {
    params: Asteroids,
    bodies: Bodies<T>,
    radii: Vec<f64>,
    cells: Cells,
    /// Cached contact counts and fastest impact of each body, by body index.
    roles: RefCell<HashMap<usize, Role>>,
}

/// The index of the body that a body touches, or `None` if it touches the planet.
type Partner = Option<usize>;

/// A contact of a body with a partner (another body or the planet).
struct Contact {
    partner: Partner,
    /// Unit vector from the body to the partner.
    n: Vector,
    overlap: f64,
    /// Speed at which the body and its partner approach each other.
    u: f64,
    /// Tangential part of the relative velocity of the touching surfaces.
    slip: Vector,
    /// T0: amount to subtract from the approach speed so that it is −e·u after the step, where e is the restitution.
    bounce: f64,
    /// T: amount to subtract from the approach speed so that the body rebounds and the overlap shrinks.
    hold: f64,
    /// Acceleration due to the planet's gravity, at the body or at its partner, whichever is larger.
    gravity: f64,
    is_impact: bool,
    /// f: weight of a resting contact, from 0 to 1; 0 for impacts and for resting contacts without effect.
    weight: f64,
    /// Relative distance to the nearest threshold of the contact law. If the distance is tiny, a computation in f32 may
    /// classify the contact differently.
    margin: f64,
}

/// First-pass result for a body: the numbers of its contacts by kind, and its fastest impact.
#[derive(Debug, Clone, Copy)]
struct Role {
    /// M: number of contacts.
    overlaps: f64,
    /// N: number of resting contacts with a weight above 0.
    resting: u32,
    /// F: sum of the weights f of the body's resting contacts.
    weight: f64,
    /// L: number of impacts with much lighter partners.
    light: u32,
    /// Partner and speed of the fastest impact with a partner that is not much lighter.
    best: Option<(Partner, f64)>,
    /// Smallest relative distance to a threshold in the classification of the body's contacts.
    margin: f64,
}

impl Role {
    /// First-pass result for the planet: all zeros, because the planet's contacts are not counted.
    const PLANET: Self =
        Self { overlaps: 0.0, resting: 0, weight: 0.0, light: 0, best: None, margin: f64::INFINITY };

    /// Returns C, the number of impacts among which the body's mass is divided.
    fn impacts(&self) -> f64 {
        f64::from(self.light) + f64::from(u8::from(self.best.is_some()))
    }
}

impl<T: Copy + Into<f64>> Step<T> {
    pub(super) fn new(params: &Asteroids, bodies: Bodies<T>, radii: Vec<f64>) -> Self {
        let cells = Cells::new(&bodies, &radii);
        Self { params: params.clone(), bodies, radii, cells, roles: RefCell::default() }
    }

    /// Returns the position, velocity and mass of body `i` before the step.
    pub(super) fn body(&self, i: usize) -> (Vector, Vector, f64) {
        body(&self.bodies, i)
    }

    /// Returns the acceleration of body `i` due to the planet's gravity.
    pub(super) fn pull(&self, i: usize) -> Vector {
        self.params.field_of(self.body(i).0).acceleration
    }

    /// Returns the position and velocity of body `i` after the step, or `None` if the velocity is not finite.
    ///
    /// v' = (v + Σ Δv + a·dt)·decay; x' = x + v'·dt + Σ push. The right-hand sides use the state before the step.
    pub(super) fn moved(&self, i: usize) -> Option<(Vector, Vector)> {
        let (x, v, _) = self.body(i);
        let (dv, dx) = match self.params.contact_law {
            ContactLaw::Match => self.second_pass(i),
            ContactLaw::Simple => self.only_pass(i),
        };
        let dt = f64::from(self.params.dt);
        let v = (v + dv + self.pull(i) * dt) * f64::from(self.params.decay);
        v.is_finite().then_some((x + v * dt + dx, v))
    }

    /// Returns whether f32 rounding might change the classification of a contact that affects body `i`.
    pub(super) fn is_in_doubt(&self, i: usize) -> bool {
        let near = |i: usize| self.role(i).margin < DOUBT;
        let best_of = |i: usize| self.role(i).best?.0;
        match self.params.contact_law {
            ContactLaw::Match => {
                let partners = self.touching(i).into_iter();
                partners.chain([i]).any(|j| near(j) || best_of(j).is_some_and(near))
            }
            ContactLaw::Simple => self.contacts(i).iter().any(|contact| contact.margin < DOUBT),
        }
    }

    /// Returns the indices of the bodies that touch body `i`.
    pub(super) fn touching(&self, i: usize) -> Vec<usize> {
        let (x, v, _) = self.body(i);
        let touches = |&j: &usize| {
            let reach = self.radii[i] + self.radii[j];
            j != i && (self.body(j).0 - x).length() < reach && self.body(j).1.is_finite()
        };
        let near = if v.is_finite() { self.cells.around(x) } else { Vec::new() };
        near.into_iter().filter(touches).collect()
    }

    fn touches_planet(&self, i: usize) -> bool {
        let reach = f64::from(self.params.planet_radius) + self.radii[i];
        self.params.planet_radius > 0.0 && self.body(i).0.length() < reach
    }

    fn contacts(&self, i: usize) -> Vec<Contact> {
        let bodies = self.touching(i).into_iter().map(Some);
        let planet = self.touches_planet(i).then_some(None);
        bodies.chain(planet).map(|partner| self.contact(i, partner)).collect()
    }

    fn contact(&self, i: usize, partner: Partner) -> Contact {
        let (x, v, _) = self.body(i);
        // The planet is at rest at the origin.
        let (place, velocity, radius, pull, apart) = match partner {
            Some(j) => {
                let ((x, v, _), apart) = (self.body(j), if i < j { Vector::X } else { -Vector::X });
                (x, v, self.radii[j], self.pull(j), apart)
            }
            None => {
                let radius = f64::from(self.params.planet_radius);
                (Vector::ZERO, Vector::ZERO, radius, Vector::ZERO, -Vector::X)
            }
        };
        let [dt, e] = [self.params.dt, self.params.restitution].map(f64::from);
        let (d, reach) = (place - x, self.radii[i] + radius);
        let n = d.try_normalize().unwrap_or(apart);
        let overlap = reach - d.length();
        let relative = v - velocity;
        let a = self.pull(i) - pull;
        let gravity = self.pull(i).length().max(pull.length());

        let u = relative.dot(n);
        let end = u + a.dot(n) * dt;
        let rebound = e * u.max(0.0);
        let bounce = end + rebound;
        let hold = end + rebound.max((overlap / dt).min(CARRIED * gravity * dt));
        let fall = 10.0 * gravity * overlap.max(u * dt);
        let is_impact = u > 0.0 && bounce > 0.0 && u * u > fall;
        let weight = if !is_impact && hold > 0.0 { (hold / (gravity * dt)).min(1.0) } else { 0.0 };

        let speed = relative.length() + a.length() * dt;
        let margins = [u / speed, bounce / speed, (u * u - fall) / (u * u + fall + 0.1 * gravity * reach)];
        // An impact needs all three conditions, so the smallest margin decides.
        let impact = margins.into_iter().fold(f64::INFINITY, f64::min).abs();
        let correction = hold - end;
        let rest =
            if is_impact { f64::INFINITY } else { hold.abs() / (speed + correction + 0.01 * reach / dt) };
        let sided = if is_impact { f64::INFINITY } else { bounce.abs() / speed };
        let thresholds = match self.params.contact_law {
            ContactLaw::Match => [impact, rest, sided],
            // Friction acts only on bodies that approach each other, so its effect jumps at u = 0. `f64::min` ignores
            // the NaN of bodies that move together.
            ContactLaw::Simple => [(u / relative.length()).abs(); 3],
        };
        let margin = thresholds.into_iter().fold(overlap / reach, f64::min);
        let slip = relative + a * dt - end * n;
        Contact { partner, n, overlap, u, slip, bounce, hold, gravity, is_impact, weight, margin }
    }

    fn mass(&self, partner: Partner) -> f64 {
        partner.map_or(f64::INFINITY, |j| self.body(j).2)
    }

    /// Returns whether the mass of `partner` is at least 16 times that of body `i`. Such a partner accepts every impact
    /// with the body.
    fn is_light(&self, i: usize, partner: Partner) -> bool {
        let mass = self.mass(partner);
        mass > 0.0 && HEAVIER * self.body(i).2 <= mass
    }

    /// Returns the contact counts and the fastest impact of body `i`. The first call for a body computes and caches
    /// them.
    fn role(&self, i: usize) -> Role {
        if let Some(role) = self.roles.borrow().get(&i) {
            return *role;
        }
        let mut role = Role::PLANET;
        for contact in self.contacts(i) {
            let Contact { partner, u, .. } = contact;
            role.overlaps += 1.0;
            role.margin = role.margin.min(contact.margin);
            let is_light = partner.is_some_and(|j| self.is_light(j, Some(i)));
            if !contact.is_impact {
                role.resting += u32::from(contact.weight > 0.0);
                role.weight += contact.weight;
            } else if is_light {
                role.light += 1;
            } else {
                if let Some((_, fastest)) = role.best {
                    role.margin = role.margin.min((u / fastest - 1.0).abs());
                }
                // Ties between equally fast impacts go to the smallest index; the planet comes last.
                let place = |partner: Partner| partner.unwrap_or(usize::MAX);
                let beats = |(best, fastest): (Partner, f64)| {
                    u > fastest || (u == fastest && place(partner) < place(best))
                };
                if role.best.is_none_or(beats) {
                    role.best = Some((partner, u));
                }
            }
        }
        self.roles.borrow_mut().insert(i, role);
        role
    }

    /// Returns whether body `i` accepts an impact with `partner`. A body accepts an impact if the partner is much
    /// lighter, or if the impact is the body's fastest.
    fn consents(&self, i: usize, partner: Partner) -> bool {
        let is_heavy = partner.is_some_and(|j| self.is_light(j, Some(i)));
        is_heavy || self.role(i).best.is_some_and(|(best, _)| best == partner)
    }

    /// Returns whether the impact between body `i` and `partner` takes effect. Both of them must accept the impact.
    fn acts(&self, i: usize, partner: Partner) -> bool {
        self.consents(i, partner) && partner.is_none_or(|j| self.consents(j, Some(i)))
    }

    /// Returns whether any impact of body `i` takes effect.
    fn is_hit(&self, i: usize) -> bool {
        let role = self.role(i);
        role.light > 0 || role.best.is_some_and(|(best, _)| self.acts(i, best))
    }

    /// Returns the share of a contact's effect that acts on body `i`: (1/m_i) / (C_i/m_i + C_j/m_j). `own` is C_i, the
    /// number (or total weight) of body i's contacts of this kind, and `other` is C_j, that of its partner.
    fn share(&self, i: usize, partner: Partner, own: f64, other: f64) -> f64 {
        match (self.body(i).2, self.mass(partner)) {
            (_, f64::INFINITY) => 1.0 / own,
            (0.0, 0.0) => 1.0 / (own + other),
            (m_i, m_j) => m_j / (own * m_j + other * m_i),
        }
    }

    /// Returns the changes in velocity and position of body `i`, summed over all its contacts.
    fn second_pass(&self, i: usize) -> (Vector, Vector) {
        let [dt, friction, push] = [self.params.dt, self.params.friction, self.params.push].map(f64::from);
        let (own, is_hit) = (self.role(i), self.is_hit(i));
        let (mut dv, mut dx) = (Vector::ZERO, Vector::ZERO);
        for contact in self.contacts(i) {
            let Contact { partner, n, slip, weight, .. } = contact;
            let (other, is_other_hit) =
                partner.map_or((Role::PLANET, false), |j| (self.role(j), self.is_hit(j)));
            let is_crowded = own.resting > 1 || other.resting > 1;
            if contact.is_impact && self.acts(i, partner) {
                let share = self.share(i, partner, own.impacts(), other.impacts());
                dv -= share * (contact.bounce * n + friction * slip);
            } else if weight > 0.0 && !is_hit && !is_other_hit {
                let change = if is_crowded { contact.hold } else { contact.bounce };
                if change > 0.0 {
                    let share = weight * self.share(i, partner, own.weight, other.weight);
                    dv -= share * (change * n + friction * slip);
                }
            }
            // Overlaps that carry a load are not pushed apart.
            let loaded = if weight > 0.0 && is_crowded { CARRIED } else { 2.0 } * contact.gravity * dt * dt;
            let share = self.share(i, partner, own.overlaps, other.overlaps);
            dx -= share * push * (contact.overlap - loaded).max(0.0) * n;
        }
        (dv, dx)
    }

    /// Returns the changes in velocity and position of body `i` under the contact law `simple`. Each contact whose
    /// partners approach each other adds Δv = −share·[(1+e)·u·n + μ·v_t]. Every contact pushes its partners apart.
    fn only_pass(&self, i: usize) -> (Vector, Vector) {
        let Asteroids { restitution, friction, push, .. } = self.params;
        let [restitution, friction, push] = [restitution, friction, push].map(f64::from);
        let (_, v, _) = self.body(i);
        let (mut dv, mut dx) = (Vector::ZERO, Vector::ZERO);
        for Contact { partner, n, u, overlap, .. } in self.contacts(i) {
            let velocity = partner.map_or(Vector::ZERO, |j| self.body(j).1);
            let share = self.share(i, partner, 1.0, 1.0);
            if u > 0.0 {
                dv -= share * ((1.0 + restitution) * u * n + friction * (v - velocity - u * n));
            }
            dx -= share * push * overlap * n;
        }
        (dv, dx)
    }
}

/// Bodies sorted into cells. A cell is wider than the largest body; touching bodies are therefore in the same cell or
/// in adjacent cells.
struct Cells {
    width: f64,
    /// Cell and index of each body with finite values, in ascending order.
    sorted: Vec<([i64; 3], usize)>,
}

impl Cells {
    fn new<T: Copy + Into<f64>>(bodies: &Bodies<T>, radii: &[f64]) -> Self {
        let largest = radii.iter().copied().filter(|radius| radius.is_finite()).fold(0.0, f64::max);
        let mut cells = Self { width: (2.001 * largest).max(f64::MIN_POSITIVE), sorted: Vec::new() };
        for i in 0..bodies.positions.len() {
            let (x, v, _) = body(bodies, i);
            if x.is_finite() && v.is_finite() {
                cells.sorted.push((cells.cell(x), i));
            }
        }
        cells.sorted.sort_unstable();
        cells
    }

    fn cell(&self, x: Vector) -> [i64; 3] {
        // The outermost cells extend to infinity.
        x.to_array().map(|x| (x / self.width).floor().clamp(-1e12, 1e12) as i64)
    }

    /// Returns the indices of the bodies in the 27 cells around a position, in ascending order.
    fn around(&self, x: Vector) -> Vec<usize> {
        let home = self.cell(x);
        let mut near = Vec::new();
        for (dx, dy) in (0..9).map(|k| (k / 3 - 1, k % 3 - 1)) {
            let from = [home[0] + dx, home[1] + dy, home[2] - 1];
            let to = [from[0], from[1], home[2] + 1];
            let first = self.sorted.partition_point(|(cell, _)| *cell < from);
            let rows = self.sorted[first..].iter().take_while(|(cell, _)| *cell <= to);
            near.extend(rows.map(|(_, i)| *i));
        }
        near.sort_unstable();
        near
    }
}

impl Asteroids {
    /// Advances `bodies` by `steps` steps, each divided into as many substeps as in the simulation on a device.
    pub(super) fn reference_steps(&self, bodies: &mut Bodies<f64>, steps: u32) {
        let mut schedule = Schedule::default();
        for _ in 0..steps {
            let count = self.substeps.fixed().unwrap_or_else(|| {
                let due = schedule.next();
                if due.measure {
                    schedule.measurement = Some(self.substeps_for(bodies));
                }
                if due.apply
                    && let Some(count) = schedule.measurement.take()
                {
                    schedule.substeps = count;
                }
                schedule.substeps
            });
            let last = self.substep(count);
            let before = Self { decay: 1.0, ..last.clone() };
            (1..count).for_each(|_| before.reference_step(bodies));
            last.reference_step(bodies);
        }
    }

    /// Returns the number of substeps that the speeds and positions of the bodies require.
    fn substeps_for(&self, bodies: &Bodies<f64>) -> u32 {
        let radii = self.radii(bodies);
        let least = radii.iter().copied().filter(|radius| *radius > 0.0).fold(f64::INFINITY, f64::min);
        let (ahead, planet) = (Motion::ahead(self), f64::from(self.planet_radius));
        let mut motion = Motion { rate: 0.0, lands: false };
        for (i, radius) in radii.iter().map(|radius| radius.max(least)).enumerate() {
            let (x, v, _) = body(bodies, i);
            if v.is_finite() {
                let speed = v.length() + self.field_of(x).acceleration.length() * ahead;
                motion.rate = motion.rate.max(speed / radius);
                motion.lands |= planet > 0.0 && x.length() < planet + radius + speed * ahead;
            }
        }
        motion.substeps(self, least)
    }

    fn reference_step(&self, bodies: &mut Bodies<f64>) {
        let step = Step::new(self, bodies.clone(), self.radii(bodies));
        for i in 0..bodies.len() {
            match step.moved(i).filter(|(x, v)| finite(*x) && finite(*v)) {
                Some((x, v)) => {
                    bodies.positions[i] = [x.x, x.y, x.z, bodies.positions[i][3]];
                    bodies.velocities[i] = [v.x, v.y, v.z, bodies.velocities[i][3]];
                }
                None => bodies.velocities[i][..3].fill(f64::NAN),
            }
        }
    }

    pub(super) fn radii(&self, bodies: &Bodies<f64>) -> Vec<f64> {
        let units = unit_radii(bodies.positions.iter().map(|x| x[3]));
        units.iter().map(|unit| unit * f64::from(self.radius)).collect()
    }

    /// Returns the acceleration and the potential due to the planet's gravity at the position `x`. Inside the planet,
    /// the potential is that at the surface, and the acceleration is at most that at the surface.
    pub(super) fn field_of(&self, x: Vector) -> GravitySample {
        let near = x.length().max(f64::from(self.planet_radius)).max(1e-6);
        let gm = f64::from(self.g) * f64::from(self.planet_mass);
        GravitySample { acceleration: x * (-gm / near.powi(3)), potential: -gm / near }
    }
}

pub(super) fn finite(v: Vector) -> bool {
    v.to_array().iter().all(|c| c.abs() <= f64::from(FINITE_LIMIT))
}

/// Returns the position, velocity and mass of body `i`.
pub(super) fn body<T: Copy + Into<f64>>(bodies: &Bodies<T>, i: usize) -> (Vector, Vector, f64) {
    let [x, y, z, m] = bodies.positions[i].map(Into::into);
    let [vx, vy, vz, _] = bodies.velocities[i].map(Into::into);
    (Vector::new(x, y, z), Vector::new(vx, vy, vz), m)
}

/// Returns the radius of each body divided by the `radius` parameter: ∛(m / mean m), or 1 if no body has mass.
pub(super) fn unit_radii(masses: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let (sum, count) = masses.clone().fold((0.0, 0.0), |(sum, count), m| (sum + m, count + 1.0));
    masses.map(|m| if sum > 0.0 { (m * count / sum).cbrt() } else { 1.0 }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sliding_or_barely_touching_bodies_are_in_doubt_under_the_simple_contact_law() {
        let in_doubt = |velocity: [f64; 3], distance: f64| {
            let mode =
                Asteroids { contact_law: ContactLaw::Simple, planet_radius: 0.0, ..Asteroids::default() };
            let mut bodies = Bodies::default();
            bodies.push([0.0; 3], velocity, 1.0);
            bodies.push([distance, 0.0, 0.0], [0.0; 3], 1.0);
            Step::new(&mode, bodies, vec![1.0; 2]).is_in_doubt(0)
        };
        assert!(in_doubt([1e-9, 1.0, 0.0], 1.9) && in_doubt([-1e-9, 1.0, 0.0], 1.9), "slides");
        assert!(in_doubt([1.0, 1.0, 0.0], 2.0 - 1e-9), "hardly touches");
        assert!(
            !in_doubt([1e-3, 1.0, 0.0], 1.9) && !in_doubt([-1e-3, 1.0, 0.0], 1.9),
            "approaches or departs"
        );
        assert!(!in_doubt([0.0; 3], 1.9), "moves together");
        assert!(!in_doubt([1e-9, 1.0, 0.0], 2.1), "does not touch");
    }
}
