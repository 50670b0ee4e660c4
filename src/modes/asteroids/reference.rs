//! The same step in f64, written for reading: what the kernels are checked against.

use std::cell::RefCell;
use std::collections::HashMap;

use super::substeps::{Motion, Schedule};
use super::{Asteroids, ContactLaw, unit_radii};
use crate::bodies::{Bodies, FINITE_LIMIT};
use crate::hand::Field;
use crate::modes::Diagnostics;

type Vector = glam::DVec3;

/// The largest overlap that is held against gravity, in units of g·dt².
const CARRIED: f64 = 50.0;
/// A side that is so many times heavier may have as many impacts at once as there are.
const HEAVIER: f64 = 16.0;
/// A decision that is so near to its threshold can come out differently in single precision.
const DOUBT: f64 = 1e-5;

/// A step of all bodies, of which each can be worked out by itself.
pub(super) struct Step<T> {
    params: Asteroids,
    bodies: Bodies<T>,
    radii: Vec<f64>,
    cells: Cells,
    /// What the first pass found of bodies that were asked for.
    roles: RefCell<HashMap<usize, Role>>,
}

/// Who touches a body.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
enum Partner {
    Body(usize),
    Planet,
}

/// A contact of a body, seen from that body.
struct Contact {
    partner: Partner,
    /// From the body to its partner.
    n: Vector,
    overlap: f64,
    /// Speed of approach.
    u: f64,
    /// Relative velocity along the surfaces.
    slip: Vector,
    /// T0: the change of u that leaves −e·u.
    bounce: f64,
    /// T: the change of u that holds the overlap, too.
    hold: f64,
    /// The larger acceleration of the two.
    gravity: f64,
    is_impact: bool,
    /// f: how much of a rest contact it is; 0 of an impact, and of a rest contact that is not active.
    weight: f64,
    /// How far the nearest threshold is from what was compared with it.
    margin: f64,
}

/// What the first pass finds of a body.
#[derive(Debug, Clone, Copy)]
struct Role {
    /// M: what it touches.
    overlaps: f64,
    /// N: active rest contacts.
    resting: u32,
    /// F: the sum of their weights.
    weight: f64,
    /// L: impacts with much lighter partners.
    light: u32,
    /// The partner of its best other impact, and the speed of that impact.
    best: Option<(Partner, f64)>,
    /// How far the nearest threshold is from what was compared with it.
    margin: f64,
}

impl Role {
    /// The planet counts nothing.
    const PLANET: Self =
        Self { overlaps: 0.0, resting: 0, weight: 0.0, light: 0, best: None, margin: f64::INFINITY };

    /// C: impacts that the body shares its mass between.
    fn impacts(&self) -> f64 {
        f64::from(self.light) + f64::from(u8::from(self.best.is_some()))
    }
}

impl<T: Copy + Into<f64>> Step<T> {
    /// A step from where the bodies are.
    pub fn new(params: &Asteroids, bodies: Bodies<T>, radii: Vec<f64>) -> Self {
        let cells = Cells::new(&bodies, &radii);
        Self { params: params.clone(), bodies, radii, cells, roles: RefCell::default() }
    }

    /// Place, velocity and mass of a body before the step.
    pub fn body(&self, i: usize) -> (Vector, Vector, f64) {
        body(&self.bodies, i)
    }

    /// The planet's pull on a body.
    pub fn pull(&self, i: usize) -> Vector {
        self.params.pull(self.body(i).0)
    }

    /// Place and velocity of a body after the step; none of one that is held out.
    ///
    /// v' = (v + Σ Δv + a·dt)·decay; x' = x + v'·dt + Σ push, all from the old state.
    pub fn moved(&self, i: usize) -> Option<(Vector, Vector)> {
        let (x, v, _) = self.body(i);
        let (dv, dx) = match self.params.contact_law {
            ContactLaw::Match => self.second_pass(i),
            ContactLaw::Simple => self.only_pass(i),
        };
        let dt = f64::from(self.params.dt);
        let v = (v + dv + self.pull(i) * dt) * f64::from(self.params.decay);
        v.is_finite().then_some((x + v * dt + dx, v))
    }

    /// Whether single precision may decide otherwise of a contact that has to do with the body.
    pub fn is_in_doubt(&self, i: usize) -> bool {
        let near = |i: usize| self.role(i).margin < DOUBT;
        let best_of = |i: usize| match self.role(i).best {
            Some((Partner::Body(j), _)) => Some(j),
            _ => None,
        };
        let partners = self.touching(i).into_iter();
        self.params.contact_law == ContactLaw::Match
            && partners.chain([i]).any(|j| near(j) || best_of(j).is_some_and(near))
    }

    /// The bodies that a body touches.
    fn touching(&self, i: usize) -> Vec<usize> {
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

    /// All contacts of a body.
    fn contacts(&self, i: usize) -> Vec<Contact> {
        let bodies = self.touching(i).into_iter().map(Partner::Body);
        let planet = self.touches_planet(i).then_some(Partner::Planet);
        bodies.chain(planet).map(|partner| self.contact(i, partner)).collect()
    }

    fn contact(&self, i: usize, partner: Partner) -> Contact {
        let (x, v, _) = self.body(i);
        // The planet rests at the origin.
        let (place, velocity, radius, pull, apart) = match partner {
            Partner::Body(j) => {
                let ((x, v, _), apart) = (self.body(j), if i < j { Vector::X } else { -Vector::X });
                (x, v, self.radii[j], self.pull(j), apart)
            }
            Partner::Planet => {
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
        // All three must hold: the one that fails by most decides.
        let impact = margins.into_iter().fold(f64::INFINITY, f64::min).abs();
        let held = hold - end;
        let rest = if is_impact { f64::INFINITY } else { hold.abs() / (speed + held + 0.01 * reach / dt) };
        let sided = if is_impact { f64::INFINITY } else { bounce.abs() / speed };
        let margin = [impact, rest, sided, overlap / reach].into_iter().fold(f64::INFINITY, f64::min);
        let slip = relative + a * dt - end * n;
        Contact { partner, n, overlap, u, slip, bounce, hold, gravity, is_impact, weight, margin }
    }

    fn mass(&self, partner: Partner) -> f64 {
        match partner {
            Partner::Body(j) => self.body(j).2,
            Partner::Planet => f64::INFINITY,
        }
    }

    /// Whether body i is so much lighter than its partner that an impact needs no consent of the partner.
    fn is_light(&self, i: usize, partner: Partner) -> bool {
        let mass = self.mass(partner);
        mass > 0.0 && HEAVIER * self.body(i).2 <= mass
    }

    /// The first pass: counts a body's contacts, and names its best impact.
    fn role(&self, i: usize) -> Role {
        if let Some(role) = self.roles.borrow().get(&i) {
            return *role;
        }
        let mut role = Role::PLANET;
        for contact in self.contacts(i) {
            let Contact { partner, u, .. } = contact;
            role.overlaps += 1.0;
            role.margin = role.margin.min(contact.margin);
            let is_light = match partner {
                Partner::Body(j) => self.is_light(j, Partner::Body(i)),
                Partner::Planet => false,
            };
            if !contact.is_impact {
                role.resting += u32::from(contact.weight > 0.0);
                role.weight += contact.weight;
            } else if is_light {
                role.light += 1;
            } else {
                if let Some((_, fastest)) = role.best {
                    role.margin = role.margin.min((u / fastest - 1.0).abs());
                }
                // The fastest; among equals the one with the smaller number, and the planet last.
                if role.best.is_none_or(|(best, fastest)| u > fastest || (u == fastest && partner < best)) {
                    role.best = Some((partner, u));
                }
            }
        }
        self.roles.borrow_mut().insert(i, role);
        role
    }

    /// Whether body i names the partner as its best, or need not.
    fn consents(&self, i: usize, partner: Partner) -> bool {
        let is_heavy = matches!(partner, Partner::Body(j) if self.is_light(j, Partner::Body(i)));
        is_heavy || self.role(i).best.is_some_and(|(best, _)| best == partner)
    }

    /// An impact acts if both sides consent.
    fn acts(&self, i: usize, partner: Partner) -> bool {
        self.consents(i, partner)
            && match partner {
                Partner::Body(j) => self.consents(j, Partner::Body(i)),
                Partner::Planet => true,
            }
    }

    /// Whether an impact of the body acts.
    fn is_hit(&self, i: usize) -> bool {
        let role = self.role(i);
        role.light > 0 || role.best.is_some_and(|(best, _)| self.acts(i, best))
    }

    /// (1/m_i) / (C_i/m_i + C_j/m_j)
    fn share(&self, i: usize, partner: Partner, own: f64, other: f64) -> f64 {
        match (self.body(i).2, self.mass(partner)) {
            (_, f64::INFINITY) => 1.0 / own,
            (0.0, 0.0) => 1.0 / (own + other),
            (m_i, m_j) => m_j / (own * m_j + other * m_i),
        }
    }

    /// The second pass: the impulses and displacements of a body, each shared by the counts of both sides.
    fn second_pass(&self, i: usize) -> (Vector, Vector) {
        let [dt, friction, push] = [self.params.dt, self.params.friction, self.params.push].map(f64::from);
        let (own, is_hit) = (self.role(i), self.is_hit(i));
        let (mut dv, mut dx) = (Vector::ZERO, Vector::ZERO);
        for contact in self.contacts(i) {
            let Contact { partner, n, slip, weight, .. } = contact;
            let (other, is_other_hit) = match partner {
                Partner::Body(j) => (self.role(j), self.is_hit(j)),
                Partner::Planet => (Role::PLANET, false),
            };
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
            // Overlap that carries a load stays.
            let loaded = if weight > 0.0 && is_crowded { CARRIED } else { 2.0 } * contact.gravity * dt * dt;
            let share = self.share(i, partner, own.overlaps, other.overlaps);
            dx -= share * push * (contact.overlap - loaded).max(0.0) * n;
        }
        (dv, dx)
    }

    /// The law `simple`: Δv = −share·[(1+e)·u·n + μ·v_t] of each contact where they approach, and the push apart.
    fn only_pass(&self, i: usize) -> (Vector, Vector) {
        let Asteroids { restitution, friction, push, .. } = self.params;
        let [restitution, friction, push] = [restitution, friction, push].map(f64::from);
        let (_, v, _) = self.body(i);
        let (mut dv, mut dx) = (Vector::ZERO, Vector::ZERO);
        for Contact { partner, n, u, overlap, .. } in self.contacts(i) {
            let velocity = match partner {
                Partner::Body(j) => self.body(j).1,
                Partner::Planet => Vector::ZERO,
            };
            let share = self.share(i, partner, 1.0, 1.0);
            if u > 0.0 {
                dv -= share * ((1.0 + restitution) * u * n + friction * (v - velocity - u * n));
            }
            dx -= share * push * overlap * n;
        }
        (dv, dx)
    }
}

/// Bodies by cells as wide as the largest of them: those that touch are in neighbouring cells.
struct Cells {
    width: f64,
    /// Every body that is not held out with its cell, in order.
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
        // The outermost cells go on for ever.
        x.to_array().map(|x| (x / self.width).floor().clamp(-1e12, 1e12) as i64)
    }

    /// The bodies in the 27 cells around a place, by their numbers.
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
    /// Steps, each divided into substeps as the device divides it.
    pub(super) fn reference_steps(&self, bodies: &mut Bodies<f64>, steps: u32) {
        let mut schedule = Schedule::default();
        for _ in 0..steps {
            let count = self.substeps.fixed().unwrap_or_else(|| {
                let due = schedule.next();
                if due.look {
                    schedule.look = Some(self.look(bodies));
                }
                if due.answer
                    && let Some(count) = schedule.look.take()
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

    /// The number of substeps that the bodies need from now on.
    fn look(&self, bodies: &Bodies<f64>) -> u32 {
        let radii = self.radii(bodies);
        let least = radii.iter().copied().filter(|radius| *radius > 0.0).fold(f64::INFINITY, f64::min);
        let (ahead, planet) = (Motion::ahead(self), f64::from(self.planet_radius));
        let mut motion = Motion { rate: 0.0, lands: false };
        for (i, radius) in radii.iter().map(|radius| radius.max(least)).enumerate() {
            let (x, v, _) = body(bodies, i);
            if v.is_finite() {
                let speed = v.length() + self.pull(x).length() * ahead;
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

    fn radii(&self, bodies: &Bodies<f64>) -> Vec<f64> {
        let units = unit_radii(bodies.positions.iter().map(|x| x[3]));
        units.iter().map(|unit| unit * f64::from(self.radius)).collect()
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
