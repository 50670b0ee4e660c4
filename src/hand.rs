//! What a person's hand does to bodies, and what there is to tell of one of them: plain data that window, simulation and
//! modes share.

use glam::DVec3;

/// A change to the bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Edit {
    /// Another mass or velocity for a body.
    Change {
        /// Which, by its place in the list.
        body: usize,
        /// Its mass from now on.
        mass: Option<f32>,
        /// Its velocity from now on.
        velocity: Option<[f32; 3]>,
    },
    /// One body less; those behind it move up.
    Remove(usize),
    /// One body more, or a cluster, at the end of the list.
    Launch(Launch),
}

/// What was done by hand, and can be undone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Deed {
    /// Another mass or velocity for a body.
    Change,
    /// A body less.
    Removal,
    /// A body more, or a cluster.
    Launch,
    /// Attracting or repelling.
    Pull,
    /// Obstacles painted, or wiped out.
    Stroke,
}

impl Deed {
    /// What it is called in a sentence.
    pub fn name(self) -> &'static str {
        match self {
            Self::Change => "the change",
            Self::Removal => "the deletion",
            Self::Launch => "the launch",
            Self::Pull => "the pull",
            Self::Stroke => "the stroke",
        }
    }
}

impl From<&Edit> for Deed {
    fn from(edit: &Edit) -> Self {
        match edit {
            Edit::Change { .. } => Self::Change,
            Edit::Remove(_) => Self::Removal,
            Edit::Launch(_) => Self::Launch,
        }
    }
}

/// Something new among the bodies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Launch {
    /// Where, or where its middle is.
    pub at: [f32; 3],
    /// How it moves.
    pub velocity: [f32; 3],
    /// Its mass, as a share of the mass of all bodies before.
    pub share: f32,
    /// The radius of a cluster of [`CLUSTER`] bodies that have the mass together; none is one body.
    pub cluster: Option<f32>,
}

/// How many bodies a launched cluster has.
pub const CLUSTER: usize = 64;

/// A point that attracts or repels all bodies for as long as it is held: a Plummer sphere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pull {
    /// Where.
    pub at: [f32; 3],
    /// G times its mass; below 0 it repels.
    pub strength: f32,
    /// Its softening length: within it the pull fades.
    pub reach: f32,
}

/// What there is to tell of a body.
#[derive(Debug, Clone, Copy, PartialEq, Default, serde::Serialize)]
pub struct Held {
    /// Which, by its place in the list.
    pub body: usize,
    /// m.
    pub mass: f32,
    /// Where it is.
    pub position: [f32; 3],
    /// How it moves; no numbers if it is held out.
    pub velocity: [f32; 3],
    /// What gravity does to it, in f64 from where all bodies are.
    pub acceleration: [f64; 3],
    /// ½ m v² + m Φ at its place.
    pub energy: f64,
}

/// Gravity at a place, in f64.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Field {
    /// Of a body there.
    pub acceleration: DVec3,
    /// The potential energy of a body there over its mass.
    pub potential: f64,
}

/// At most about `most` bodies `(x, y, z, m)` that stand for all: the heaviest quarter as they are, and of the others every
/// so many, with the mass of all of them.
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

/// Where a light body goes in a field that stays as it is: `pieces` places about `length` apart, fewer if it ends before in
/// a place of which `ends` holds. Kick–drift–kick, with shorter steps where it is fast or strongly pulled.
pub fn path(
    (mut x, mut v): (DVec3, DVec3),
    length: f64,
    pieces: usize,
    field: impl Fn(DVec3) -> Field,
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
    fn a_sample_has_the_mass_of_all_and_the_heaviest() {
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
    fn a_path_round_a_point_mass_is_a_closed_circle() {
        let sun = |x: DVec3| Field { acceleration: -x / x.length().powi(3), potential: -x.length().recip() };
        let places = path((DVec3::X, DVec3::Y), 0.01, 628, sun, |_| false);
        assert!(places.iter().all(|x| (x.length() - 1.0).abs() < 1e-3));
        assert!(places[628].distance(DVec3::X) < 0.02, "round once: {}", places[628]);
        let cut = path((DVec3::X, DVec3::ZERO), 0.01, 628, sun, |x| x.length() < 0.3);
        assert!(cut.len() > 10 && cut.iter().all(|x| x.length() >= 0.3), "it falls, and ends there");
    }
}
