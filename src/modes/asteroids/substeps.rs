//! How many substeps a step is divided into, so that no body moves too far in one of them and piles on the planet stand.
//!
//! Under `auto` the bodies are looked at in every step whose number is a multiple of [`PERIOD`], counted from the first
//! step after the start or after a change; what a look tells is in force from [`LAG`] steps later on: the device is
//! hardly ever waited for. Neither bursts nor clocks have a say, so a run gives the same bits however it is cut.

use super::Asteroids;
use crate::params::{Choice, Opt};

/// Steps from one look at the bodies to the next one.
const PERIOD: u32 = 8;
/// Steps from a look until it is in force.
const LAG: u32 = 4;
/// The part of its radius that a body may move in a substep.
pub(super) const LONGEST_MOVE: f64 = 0.5;
/// Piles stand where g·h² is no more than this part of the smallest radius: overlaps stay below 5 %, since each layer of a
/// pile sinks by 4 to 8 g·h².
const LAYER: f64 = 1.0 / 200.0;

/// How many substeps a step is divided into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Substeps {
    /// As many as the bodies' motion and piles need.
    Auto,
    /// A power of two.
    Fixed(u32),
}

macro_rules! fixed {
    ($count:literal, $help:literal) => {
        (Self::Fixed($count), Opt { name: stringify!($count), help: $help })
    };
}

impl Choice for Substeps {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Auto,
            Opt {
                name: "auto",
                help: "As many as needed, at most 64: no body moves more than half its radius in a substep, and piles on the planet do not sink.",
            },
        ),
        fixed!(1, "A step is not divided, as in `bench`."),
        fixed!(2, "2 substeps in every step."),
        fixed!(4, "4 substeps in every step."),
        fixed!(8, "8 substeps in every step."),
        fixed!(16, "16 substeps in every step."),
        fixed!(32, "32 substeps in every step."),
        fixed!(64, "64 substeps in every step."),
    ];
}

impl Substeps {
    /// The most substeps in a step.
    pub const MOST: u32 = 64;

    /// The number of substeps where it is fixed.
    pub fn fixed(self) -> Option<u32> {
        match self {
            Self::Auto => None,
            Self::Fixed(count) => Some(count),
        }
    }
}

/// What a look at the bodies tells.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Motion {
    /// The largest speed of a body over its radius, with what the planet may add to it until the next look is in force.
    pub rate: f64,
    /// Whether a body touches the planet, or may until then.
    pub lands: bool,
}

impl Motion {
    /// How long after a look its answer has to do.
    pub fn ahead(params: &Asteroids) -> f64 {
        f64::from(PERIOD + LAG) * f64::from(params.dt)
    }

    /// The number of substeps for bodies of which the smallest has the radius `least`: a power of two, since a time step
    /// divided by that is exact.
    pub fn substeps(self, params: &Asteroids, least: f64) -> u32 {
        let Asteroids { dt, planet_mass, planet_radius, g, .. } = *params;
        let [dt, gm, planet] = [dt, g * planet_mass, planet_radius].map(f64::from);
        let moves = self.rate * dt / LONGEST_MOVE;
        let piles = if self.lands { dt * (gm / (planet * planet) / (LAYER * least)).sqrt() } else { 0.0 };
        let wanted = moves.max(piles).ceil().clamp(1.0, f64::from(Substeps::MOST));
        (wanted as u32).next_power_of_two()
    }
}

/// What has to be done before a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    /// The bodies are looked at.
    pub look: bool,
    /// What the last look tells comes into force, after a look that is due too.
    pub answer: bool,
}

/// Where the looks stand. `L` is a look that is not in force yet.
pub(super) struct Schedule<L> {
    /// The number of substeps in force; 0 if the bodies have to be looked at first.
    pub substeps: u32,
    /// Steps since the last look.
    pub phase: u32,
    /// The last look, until it is in force.
    pub look: Option<L>,
}

impl<L> Default for Schedule<L> {
    fn default() -> Self {
        Self { substeps: 0, phase: 0, look: None }
    }
}

impl<L> Schedule<L> {
    /// The length of [`Schedule::to_list`].
    pub const NUMBERS: usize = 10;

    /// Goes on to the next step.
    pub fn next(&mut self) -> Due {
        let is_new = self.substeps == 0;
        if is_new || self.phase >= PERIOD {
            self.phase = 0;
        }
        let look = self.phase == 0;
        let answer = is_new || (self.phase == LAG && self.look.is_some());
        self.phase += 1;
        Due { look, answer }
    }

    /// The schedule as numbers, `look` being the last look in its own numbers.
    pub fn to_list(&self, look: [f32; 2], params: &Asteroids) -> Vec<f32> {
        let has_look = u8::from(self.look.is_some());
        let own = [self.substeps as f32, self.phase as f32, f32::from(has_look)];
        [&own[..], &look, &params.divided_by()].concat()
    }

    /// The schedule from its numbers and those of the last look, or a new one if they are of other parameters; none if they are
    /// of no schedule.
    pub fn from_list(list: &[f32], params: &Asteroids, look: impl FnOnce([f32; 2]) -> L) -> Option<Self> {
        let &[substeps, phase, has_look, rate, lands, ref divided_by @ ..] = list else { return None };
        let now = params.divided_by();
        if divided_by.len() != now.len() {
            return None;
        }
        if *divided_by != now {
            return Some(Self::default());
        }
        let is_count =
            substeps == 0.0 || Substeps::OPTIONS.iter().any(|(it, _)| it.fixed() == Some(substeps as u32));
        let whole = [substeps, phase].iter().all(|x| x.fract() == 0.0 && (0.0..=64.0).contains(x));
        let is_look = rate >= 0.0 && (lands == 0.0 || lands == 1.0) && (has_look == 0.0 || has_look == 1.0);
        (is_count && whole && phase <= PERIOD as f32 && is_look).then(|| Self {
            substeps: substeps as u32,
            phase: phase as u32,
            look: (has_look == 1.0).then(|| look([rate, lands])),
        })
    }
}

impl Asteroids {
    /// What the number of substeps follows from, besides the bodies.
    pub(super) fn divided_by(&self) -> [f32; 5] {
        let Self { dt, radius, g, planet_mass, planet_radius, substeps, .. } = *self;
        [dt, radius, g * planet_mass, planet_radius, substeps.fixed().unwrap_or(0) as f32]
    }

    /// The parameters of the last one of so many substeps: a whole step of the law with a part of the time. Before the last
    /// one `decay` is 1: a root of it for every substep would be lost to rounding. Counts are powers of two.
    pub(super) fn substep(&self, count: u32) -> Self {
        Self { dt: self.dt / count.max(1) as f32, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn looks(schedule: &mut Schedule<u32>, steps: u32) -> Vec<Due> {
        let take = |_| {
            let due = schedule.next();
            if due.look {
                schedule.look = Some(1);
            }
            if due.answer {
                schedule.substeps = schedule.look.take().unwrap();
            }
            due
        };
        (0..steps).map(take).collect()
    }

    #[test]
    fn a_first_look_is_in_force_at_once_and_others_some_steps_later() {
        let due = looks(&mut Schedule::default(), 30);
        let at = |wanted: fn(&Due) -> bool| -> Vec<usize> {
            due.iter().enumerate().filter(|(_, due)| wanted(due)).map(|(step, _)| step).collect()
        };
        assert_eq!(at(|due| due.look), [0, 8, 16, 24]);
        assert_eq!(at(|due| due.answer), [0, 12, 20, 28]);
    }

    #[test]
    fn a_schedule_goes_on_from_its_numbers_and_takes_no_others() {
        let mut whole = Schedule::default();
        let all = looks(&mut whole, 40);
        let params = Asteroids::default();
        for cut in 0..40 {
            let mut first = Schedule::default();
            let mut due = looks(&mut first, cut);
            let list = first.to_list([1.0, 0.0], &params);
            let mut second = Schedule::from_list(&list, &params, |[rate, _]| rate as u32).unwrap();
            due.extend(looks(&mut second, 40 - cut));
            assert_eq!(due, all, "cut at {cut}");
        }
        for wrong in [
            [3.0, 0.0, 0.0, 0.0, 0.0],
            [128.0, 0.0, 0.0, 0.0, 0.0],
            [1.0, 9.0, 0.0, 0.0, 0.0],
            [1.0, 0.5, 0.0, 0.0, 0.0],
            [1.0, 0.0, 0.5, 0.0, 0.0],
            [1.0, 0.0, 1.0, -1.0, 0.0],
            [1.0, 0.0, 1.0, f32::NAN, 0.0],
            [f32::NAN, 0.0, 0.0, 0.0, 0.0],
        ] {
            let wrong = [&wrong[..], &params.divided_by()].concat();
            assert!(Schedule::from_list(&wrong, &params, |_| ()).is_none(), "{wrong:?}");
        }
        assert!(Schedule::from_list(&[1.0; 4], &params, |_| ()).is_none());
        // Of other parameters it begins anew.
        let list = whole.to_list([1.0, 0.0], &params);
        let other = Asteroids { dt: 0.001, ..params };
        assert_eq!(Schedule::from_list(&list, &other, |_| ()).unwrap().substeps, 0);
    }

    #[test]
    fn the_faster_or_heavier_the_more_substeps() {
        let params =
            Asteroids { dt: 0.01, planet_radius: 0.5, planet_mass: 1.0, g: 1.0, ..Asteroids::default() };
        let of = |rate: f64, lands| Motion { rate, lands }.substeps(&params, 0.02);
        assert_eq!([0.0, 50.0, 51.0, 201.0].map(|rate| of(rate, false)), [1, 1, 2, 8]);
        // g = 4, and h may be √(0.02 / 800) = 0.005.
        assert_eq!(of(0.0, true), 2);
        assert_eq!([1e9, f64::INFINITY].map(|rate| of(rate, true)), [Substeps::MOST; 2]);
    }
}
