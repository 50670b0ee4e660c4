//! Edits of bodies by the user, and helpers to preview edits in the window.

use glam::DVec3;

use crate::base::orbit::Orbit;

/// An edit that the user makes to the bodies. Each body is identified by its index in the list of bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edit {
    /// Sets the mass of a body, its velocity, or both.
    Change {
        /// Index of the body to change.
        body: usize,
        /// New mass; `None` keeps the old mass.
        mass: Option<f32>,
        /// New velocity; `None` keeps the old velocity.
        velocity: Option<[f32; 3]>,
    },
    /// Removes the body at this index, which lowers the index of each later body by 1.
    Remove(usize),
    /// Adds a body or a cluster of bodies to the end of the list of bodies.
    Launch(Launch),
}

/// Kinds of edits that can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EditKind {
    /// The mass or velocity of a body was changed.
    Change,
    /// A body was removed.
    Removal,
    /// A body or a cluster was added.
    Launch,
    /// Bodies were attracted or repelled by an [`Attractor`].
    #[serde(rename = "pull")]
    Attract,
    /// Obstacles were painted or erased.
    Stroke,
}

impl EditKind {
    /// Returns a phrase that names the edit in a sentence, such as `the launch`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Change => "the change",
            Self::Removal => "the deletion",
            Self::Launch => "the launch",
            Self::Attract => "the attraction",
            Self::Stroke => "the brush stroke",
        }
    }
}

impl From<&Edit> for EditKind {
    fn from(edit: &Edit) -> Self {
        match edit {
            Edit::Change { .. } => Self::Change,
            Edit::Remove(_) => Self::Removal,
            Edit::Launch(_) => Self::Launch,
        }
    }
}

/// A new body, or a cluster of new bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Launch {
    /// Position of the body, or of the cluster's centre.
    pub at: [f32; 3],
    /// Velocity of the body or of the whole cluster.
    pub velocity: [f32; 3],
    /// Mass of the new body or cluster, as a fraction of the total mass of all existing bodies.
    pub share: f32,
    /// Radius of a cluster of [`CLUSTER`] bodies that share the mass; `None` to launch a single body.
    pub cluster: Option<f32>,
}

/// Number of bodies in a launched cluster.
pub const CLUSTER: usize = 64;

/// A Plummer sphere that attracts or repels all bodies while the user holds the mouse button.
#[derive(Debug, Clone, Copy, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Attractor {
    /// Position of the sphere's centre.
    pub at: [f32; 3],
    /// Strength of the attraction: the sphere's mass times the gravitational constant; negative to repel.
    pub strength: f32,
    /// Softening length: at smaller distances, the force is weakened.
    pub reach: f32,
}

/// Properties of the body that the user selected.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct SelectedBody {
    /// Index of the body in the list of bodies.
    pub body: usize,
    /// Mass of the body.
    pub mass: f32,
    /// Position of the body.
    pub position: [f32; 3],
    /// Velocity of the body; NaN if the body is quarantined.
    pub velocity: [f32; 3],
    /// Gravitational acceleration of the body, computed in double precision.
    pub acceleration: [f64; 3],
    /// Index of the heaviest other body, and its distance; `None` if no other body has mass.
    pub heaviest: Option<(usize, f64)>,
    /// Energy ½ m v² + m Φ of the body, where Φ is the gravitational potential at its position.
    pub energy: f64,
    /// Osculating orbit of the body; `None` if nothing attracts it, or if the mode has no attraction.
    pub orbit: Option<Orbit>,
}

/// Gravitational acceleration and potential at a position.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct GravitySample {
    /// Acceleration of a body at the position.
    pub acceleration: DVec3,
    /// Potential energy per unit mass at the position.
    pub potential: f64,
}

/// Returns a sample of about `most` bodies `(x, y, z, m)`. A quarter are the heaviest bodies. The rest are picked at
/// regular intervals from the other bodies, with their masses scaled up so that the total mass is unchanged.
pub fn sample(bodies: &[[f32; 4]], most: usize) -> Vec<[f32; 4]> {
    if bodies.len() <= most {
        return bodies.to_vec();
    }
    let mut order: Vec<u32> = (0..bodies.len() as u32).collect();
    let mass = |at: u32| bodies[at as usize][3];
    let heaviest = (most / 4).max(1);
    order.select_nth_unstable_by(heaviest - 1, |a, b| mass(*b).total_cmp(&mass(*a)));
    let (heavy, light) = order.split_at(heaviest);
    let row = |at: &u32| bodies[*at as usize];
    let stride = light.len().div_ceil((most - heaviest).max(1)).max(1);
    let mut chosen: Vec<[f32; 4]> = light.iter().step_by(stride).map(row).collect();
    let sum = |rows: &mut dyn Iterator<Item = f32>| rows.map(f64::from).sum::<f64>();
    let (all, some) = (sum(&mut light.iter().map(|at| mass(*at))), sum(&mut chosen.iter().map(|x| x[3])));
    let factor = if some > 0.0 { all / some } else { 0.0 };
    chosen.iter_mut().for_each(|x| x[3] = (f64::from(x[3]) * factor) as f32);
    chosen.extend(heavy.iter().map(row));
    chosen
}

/// Computes the path of a massless body in a static gravity field with kick–drift–kick steps. Returns the start and at
/// most `pieces` further positions, about `length` apart. Stops before the first position where `ends` returns true.
pub fn path(
    (mut x, mut v): (DVec3, DVec3),
    length: f64,
    pieces: usize,
    field: impl Fn(DVec3) -> GravitySample,
    ends: impl Fn(DVec3) -> bool,
) -> Vec<DVec3> {
    let mut places = vec![x];
    let mut a = field(x).acceleration;
    for _ in 0..pieces {
        let by_speed = length / v.length();
        let by_pull = (length / a.length()).sqrt();
        let step = by_speed.min(by_pull);
        if !step.is_finite() {
            break;
        }
        v += a * (0.5 * step);
        x += v * step;
        a = field(x).acceleration;
        v += a * (0.5 * step);
        if !x.is_finite() || ends(x) {
            break;
        }
        places.push(x);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_preserves_the_total_mass_and_contains_the_heaviest_body() {
        let bodies: Vec<[f32; 4]> =
            (0..10_000).map(|i| [i as f32, 0.0, 0.0, if i == 77 { 5.0 } else { 1e-4 }]).collect();
        let some = sample(&bodies, 1000);
        assert!((900..=1000).contains(&some.len()), "{}", some.len());
        assert!(some.contains(&bodies[77]));
        let mass = |rows: &[[f32; 4]]| rows.iter().map(|x| f64::from(x[3])).sum::<f64>();
        assert!((mass(&some) / mass(&bodies) - 1.0).abs() < 1e-5);
        assert_eq!(sample(&bodies[..5], 1000), &bodies[..5]);
    }

    #[test]
    fn a_predicted_circular_orbit_closes_and_a_path_stops_at_an_obstacle() {
        let sun = |x: DVec3| GravitySample {
            acceleration: -x / x.length().powi(3),
            potential: -x.length().recip(),
        };
        let places = path((DVec3::X, DVec3::Y), 0.01, 628, sun, |_| false);
        assert!(places.iter().all(|x| (x.length() - 1.0).abs() < 1e-3));
        assert!(places[628].distance(DVec3::X) < 0.02, "round once: {}", places[628]);
        let cut = path((DVec3::X, DVec3::ZERO), 0.01, 628, sun, |x| x.length() < 0.3);
        assert!(cut.len() > 10 && cut.iter().all(|x| x.length() >= 0.3), "it falls, and ends there");
    }
}
