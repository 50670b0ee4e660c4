//! Measurements during the simulation: speed, energy and momentum, accuracy, and the device's peak rates.

use std::time::{Duration, Instant};

use crate::base::ChangeEffect;
use crate::modes::Diagnostics;
use crate::session::accuracy::{AccuracyCheck, VariantLog};
use crate::session::commands::WatchList;
use crate::session::distributions::DistributionProbe;
use crate::session::notices::Moment;
use crate::session::peaks::Peaks;
use crate::session::profiler::Profiler;
use crate::session::rates::RateCounter;

/// Largest fraction of the time that measuring energy and momentum may take.
const ENERGY_SHARE: f64 = 0.01;
/// Longest time, in seconds, for which measuring energy and momentum may delay the steps.
const ENERGY_SECONDS: f64 = 0.5;
/// Assumed speed of measuring energy, in pairs per second, used while the duration of a step is unknown.
const GUESSED_PAIRS_PER_SECOND: f64 = 1e9;
/// Shortest time between two energy measurements while the energy plot is hidden.
const ENERGY_EVERY: Duration = Duration::from_secs(1);
/// Shortest time between two energy measurements while the energy plot is visible.
const WATCHED_ENERGY_EVERY: Duration = Duration::from_millis(100);
/// Time without commands after which a paused simulation measures the energy. The delay prevents lag while the user
/// drags a slider or holds a key.
pub(super) const SETTLED: Duration = Duration::from_millis(100);

/// Energy and momentum of the simulation, and the moment at which they were measured.
pub(super) struct Sums {
    pub diagnostics: Diagnostics,
    pub energy_drift: Option<f64>,
    pub moment: Moment,
}

/// Results of the measurements, and the times at which the next measurements are due.
pub(super) struct Measurements {
    pub rates: RateCounter,
    pub accuracy: AccuracyCheck,
    pub peaks: Peaks,
    pub variants: VariantLog,
    pub profiler: Profiler,
    pub distributions: DistributionProbe,
    /// The latest measured energy and momentum, if any.
    pub sums: Option<Sums>,
    next_energy: Instant,
    /// Duration of the latest energy measurement in this scene, if any.
    last_cost: Option<Duration>,
    energy_every: Duration,
}

impl Measurements {
    pub(super) fn new() -> Self {
        Self {
            rates: RateCounter::new(),
            accuracy: AccuracyCheck::new(),
            peaks: Peaks::new(),
            variants: VariantLog::default(),
            profiler: Profiler::new(),
            distributions: DistributionProbe::new(),
            sums: None,
            next_energy: Instant::now(),
            last_cost: None,
            energy_every: ENERGY_EVERY,
        }
    }

    /// Returns whether to measure the energy at `moment`. Measuring takes about as long as a step, which computes
    /// `work_in_step` pairs.
    pub(super) fn energy_is_due(&self, moment: Moment, work_in_step: f64) -> bool {
        Instant::now() >= self.next_energy && self.lacks_energy(moment, work_in_step)
    }

    /// Returns whether the energy at `moment` has not been measured yet but can be measured quickly.
    pub(super) fn lacks_energy(&self, moment: Moment, work_in_step: f64) -> bool {
        self.energy_is_cheap(work_in_step) && self.sums.as_ref().is_none_or(|sums| sums.moment != moment)
    }

    pub(super) fn energy_is_cheap(&self, work_in_step: f64) -> bool {
        let cost = match self.rates.rates().step_seconds {
            step if step > 0.0 => step,
            _ => work_in_step / GUESSED_PAIRS_PER_SECOND,
        };
        cost < ENERGY_SECONDS
    }

    /// Stores the measured energy and momentum, and schedules the next measurement. `cost` is the duration of the
    /// current measurement.
    pub(super) fn record_energy(&mut self, sums: Sums, cost: Duration) {
        self.sums = Some(sums);
        // The first measurement may wait for a compiler and cannot show a drift, so the second one follows soon.
        let usual = self.last_cost.replace(cost).map_or(Duration::ZERO, |before| before.min(cost));
        let pause = usual.mul_f64(1.0 / ENERGY_SHARE).max(self.energy_every);
        self.next_energy = Instant::now() + pause;
    }

    /// Selects the measurements whose results the window shows.
    pub(super) fn watch(&mut self, watched: WatchList) {
        let WatchList { energy, distributions, kernels, peaks, restore_points: _ } = watched;
        self.distributions.switch(distributions);
        self.profiler.switch(kernels);
        self.peaks.measure_all(peaks);
        self.energy_every = if energy { WATCHED_ENERGY_EVERY } else { ENERGY_EVERY };
        self.next_energy = self.next_energy.min(Instant::now() + self.energy_every);
    }

    /// Discards the results that a change with the given effect makes outdated.
    pub(super) fn discard(&mut self, effect: Option<ChangeEffect>) {
        if effect >= Some(ChangeEffect::Live) {
            // Dragging a slider must not cause a measurement in every frame.
            self.next_energy = self.next_energy.min(Instant::now() + ENERGY_EVERY);
            self.sums = None;
            self.accuracy.discard();
        }
        if effect >= Some(ChangeEffect::Rebuild) {
            self.rates.reset();
            self.accuracy.check_soon();
        }
        if effect == Some(ChangeEffect::Reseed) {
            (self.next_energy, self.last_cost) = (Instant::now(), None);
            self.distributions.discard();
        }
    }

    /// Discards the results that are valid only for the previous devices.
    pub(super) fn devices_changed(&mut self) {
        self.peaks.discard();
        self.variants = VariantLog::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sums(moment: Moment) -> Sums {
        Sums { diagnostics: Diagnostics::default(), energy_drift: None, moment }
    }

    #[test]
    fn energy_is_measured_once_per_step_and_the_second_measurement_is_not_delayed() {
        let mut measurements = Measurements::new();
        assert!(measurements.energy_is_due((1, 0, 0), 1e3));
        assert!(!measurements.energy_is_due((1, 0, 0), 1e12), "it would delay the steps");
        measurements.record_energy(sums((1, 0, 0)), Duration::from_secs(100));
        assert!(!measurements.lacks_energy((1, 0, 0), 1e3) && measurements.lacks_energy((1, 1, 0), 1e3));
        assert!(measurements.next_energy <= Instant::now() + ENERGY_EVERY, "its cost may be a compiler's");
        measurements.record_energy(sums((1, 1, 0)), Duration::from_secs(1));
        assert!(measurements.next_energy > Instant::now() + Duration::from_secs(90), "1 % of the time");
    }

    #[test]
    fn a_reseed_discards_all_measurements_and_a_view_parameter_discards_none() {
        let mut measurements = Measurements::new();
        measurements.record_energy(sums((1, 0, 0)), Duration::ZERO);
        measurements.discard(Some(ChangeEffect::View));
        assert!(measurements.sums.is_some());
        measurements.discard(Some(ChangeEffect::Reseed));
        assert!(measurements.sums.is_none() && measurements.energy_is_due((2, 0, 0), 1e3));
    }
}
