//! Number of substeps per step, chosen so that no body moves too far in a substep and piles on the planet do not sink.
//!
//! With `auto`, the bodies' speeds are measured at the start, after each change, and then every [`PERIOD`] steps. A
//! measurement takes effect [`LAG`] steps later, so that the host rarely has to wait for the device. The schedule
//! depends only on step numbers, so dividing a run into bursts does not change its results.

use super::parameters::{Asteroids, Substeps};
use crate::base::Choice;

/// Number of steps between measurements of the bodies' speeds.
const PERIOD: u32 = 8;
/// Number of steps from a measurement of the bodies' speeds to the step in which it takes effect.
const LAG: u32 = 4;
/// Largest allowed displacement of a body in a substep, as a fraction of its radius.
pub(super) const LONGEST_MOVE: f64 = 0.5;
/// Limit for g·h², as a fraction of the smallest radius, where g is the planet's surface gravity and h is the duration
/// of a substep. Each layer of a pile sinks by 4 to 8 g·h². The limit keeps overlaps below 5 %.
const LAYER: f64 = 1.0 / 200.0;

/// Result of measuring the bodies' speeds, from which the number of substeps is chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Motion {
    /// Largest ratio of a body's speed to its radius, including speed that gravity may add before the next measurement.
    pub rate: f64,
    /// Whether a body touches the planet or might touch it before the next measurement takes effect.
    pub lands: bool,
}

impl Motion {
    /// Returns the length of simulated time for which a measurement of the bodies' speeds must remain valid.
    pub(super) fn ahead(params: &Asteroids) -> f64 {
        f64::from(PERIOD + LAG) * f64::from(params.dt)
    }

    /// Returns the number of substeps that this motion requires if the smallest body has radius `least`. It is a power
    /// of two, because dividing the time step by a power of two is exact.
    pub(super) fn substeps(self, params: &Asteroids, least: f64) -> u32 {
        let Asteroids { dt, planet_mass, planet_radius, g, .. } = *params;
        let [dt, gm, planet] = [dt, g * planet_mass, planet_radius].map(f64::from);
        let moves = self.rate * dt / LONGEST_MOVE;
        let piles = if self.lands { dt * (gm / (planet * planet) / (LAYER * least)).sqrt() } else { 0.0 };
        let wanted = moves.max(piles).ceil().clamp(1.0, f64::from(Substeps::MOST));
        (wanted as u32).next_power_of_two()
    }
}

/// Tasks due before a step: measuring the bodies' speeds, applying a measurement, both, or neither.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Due {
    /// Whether to measure the bodies' speeds before the step.
    pub measure: bool,
    /// Whether the latest measurement takes effect in this step. It may be a measurement made just before this step.
    pub apply: bool,
}

/// Schedule of the measurements that determine the number of substeps. `M` is the type of a measurement.
pub(super) struct Schedule<M> {
    /// Current number of substeps per step; 0 if the bodies' speeds must be measured first.
    pub substeps: u32,
    /// Number of steps since the bodies' speeds were last measured.
    pub phase: u32,
    /// The latest measurement, or `None` if it has taken effect.
    pub measurement: Option<M>,
}

impl<M> Default for Schedule<M> {
    fn default() -> Self {
        Self { substeps: 0, phase: 0, measurement: None }
    }
}

impl<M> Schedule<M> {
    /// Length of the list that [`Schedule::to_list`] returns.
    pub(super) const NUMBERS: usize = 10;

    /// Advances the schedule by one step and returns what to do before that step.
    pub(super) fn next(&mut self) -> Due {
        let is_new = self.substeps == 0;
        if is_new || self.phase >= PERIOD {
            self.phase = 0;
        }
        let measure = self.phase == 0;
        let apply = is_new || (self.phase == LAG && self.measurement.is_some());
        self.phase += 1;
        Due { measure, apply }
    }

    /// Returns the schedule as a list of numbers for a snapshot. `measured` is the result of the latest measurement.
    pub(super) fn to_list(&self, measured: [f32; 2], params: &Asteroids) -> Vec<f32> {
        let is_measured = u8::from(self.measurement.is_some());
        let own = [self.substeps as f32, self.phase as f32, f32::from(is_measured)];
        [&own[..], &measured, &params.divided_by()].concat()
    }

    /// Restores a schedule from its list. Returns a new schedule if the parameters differ, or `None` if the list is
    /// invalid.
    pub(super) fn from_list(
        list: &[f32],
        params: &Asteroids,
        measurement: impl FnOnce([f32; 2]) -> M,
    ) -> Option<Self> {
        let &[substeps, phase, is_measured, rate, lands, ref divided_by @ ..] = list else { return None };
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
        let is_motion =
            rate >= 0.0 && (lands == 0.0 || lands == 1.0) && (is_measured == 0.0 || is_measured == 1.0);
        (is_count && whole && phase <= PERIOD as f32 && is_motion).then(|| Self {
            substeps: substeps as u32,
            phase: phase as u32,
            measurement: (is_measured == 1.0).then(|| measurement([rate, lands])),
        })
    }
}

impl Asteroids {
    /// Returns the values of the parameters that determine the number of substeps.
    pub(super) fn divided_by(&self) -> [f32; 5] {
        let Self { dt, radius, g, planet_mass, planet_radius, substeps, .. } = *self;
        [dt, radius, g * planet_mass, planet_radius, substeps.fixed().unwrap_or(0) as f32]
    }

    /// Returns the parameters of the last of `count` substeps, where `count` is a power of two. Earlier substeps use a
    /// `decay` of 1, because applying a root of `decay` in each substep would accumulate rounding errors.
    pub(super) fn substep(&self, count: u32) -> Self {
        Self { dt: self.dt / count.max(1) as f32, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(schedule: &mut Schedule<u32>, steps: u32) -> Vec<Due> {
        let take = |_| {
            let due = schedule.next();
            if due.measure {
                schedule.measurement = Some(1);
            }
            if due.apply {
                schedule.substeps = schedule.measurement.take().unwrap();
            }
            due
        };
        (0..steps).map(take).collect()
    }

    #[test]
    fn the_first_substep_measurement_applies_at_once_and_later_ones_after_4_steps() {
        let due = measured(&mut Schedule::default(), 30);
        let at = |wanted: fn(&Due) -> bool| -> Vec<usize> {
            due.iter().enumerate().filter(|(_, due)| wanted(due)).map(|(step, _)| step).collect()
        };
        assert_eq!(at(|due| due.measure), [0, 8, 16, 24]);
        assert_eq!(at(|due| due.apply), [0, 12, 20, 28]);
    }

    #[test]
    fn a_substep_schedule_resumes_from_a_saved_list_and_rejects_invalid_lists() {
        let mut whole = Schedule::default();
        let all = measured(&mut whole, 40);
        let params = Asteroids::default();
        for cut in 0..40 {
            let mut first = Schedule::default();
            let mut due = measured(&mut first, cut);
            let list = first.to_list([1.0, 0.0], &params);
            let mut second = Schedule::from_list(&list, &params, |[rate, _]| rate as u32).unwrap();
            due.extend(measured(&mut second, 40 - cut));
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
        // With other parameters the schedule starts again.
        let list = whole.to_list([1.0, 0.0], &params);
        let other = Asteroids { dt: 0.001, ..params };
        assert_eq!(Schedule::from_list(&list, &other, |_| ()).unwrap().substeps, 0);
    }

    #[test]
    fn faster_bodies_and_stronger_gravity_need_more_substeps() {
        let params =
            Asteroids { dt: 0.01, planet_radius: 0.5, planet_mass: 1.0, g: 1.0, ..Asteroids::default() };
        let of = |rate: f64, lands| Motion { rate, lands }.substeps(&params, 0.02);
        assert_eq!([0.0, 50.0, 51.0, 201.0].map(|rate| of(rate, false)), [1, 1, 2, 8]);
        // The acceleration at the surface is 4, so a substep may be √(0.02 / 800) = 0.005 long.
        assert_eq!(of(0.0, true), 2);
        assert_eq!([1e9, f64::INFINITY].map(|rate| of(rate, true)), [Substeps::MOST; 2]);
    }
}
