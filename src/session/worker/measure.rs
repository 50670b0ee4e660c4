//! What is measured beside the steps: what is conserved, and how true the variant in force is.

use std::time::{Duration, Instant};

use super::Worker;
use crate::error::Result;
use crate::modes::Diagnostics;

/// Energy and momentum may take this share of the time, ...
const DIAGNOSTICS_SHARE: f64 = 0.01;
/// ... and are left out where they would hold up the steps for longer than this.
const DIAGNOSTICS_SECONDS: f64 = 0.5;
/// How fast a device is before it was measured, for that decision.
const GUESSED_PAIRS_PER_SECOND: f64 = 1e9;
/// What stands still is measured once nothing was asked for so long: neither each step of a held key nor each picture of a
/// slider that is dragged.
pub(super) const SETTLED: Duration = Duration::from_millis(100);

/// Energy and momentum of a moment.
pub(super) struct Sums {
    pub diagnostics: Diagnostics,
    pub energy_drift: Option<f64>,
    of: [u64; 3],
}

impl Worker<'_> {
    /// Energy and momentum cost about a step: never where that would be felt, and never twice of one moment.
    pub(super) fn measurement_is_due(&self) -> bool {
        Instant::now() >= self.next_measurement && self.can_measure() && !self.is_measured()
    }

    /// Whether it stands still, all is told but what is conserved, and that can be.
    pub(super) fn lacks_measurement(&self) -> bool {
        let stands_still = !self.under_way && !self.wants_steps() && !self.stale;
        stands_still && self.can_measure() && !self.is_measured()
    }

    fn can_measure(&self) -> bool {
        let guess = self.engine.work_in_step() / GUESSED_PAIRS_PER_SECOND;
        let cost = match self.meter.rates().step_seconds {
            step if step > 0.0 => step,
            _ => guess,
        };
        cost < DIAGNOSTICS_SECONDS
    }

    fn is_measured(&self) -> bool {
        self.sums.as_ref().is_some_and(|sums| sums.of == self.moment())
    }

    /// The seeding, the step, and what was changed by hand: another moment may have other sums.
    fn moment(&self) -> [u64; 3] {
        [self.engine.generation(), self.engine.clock().0, self.engine.changes()]
    }

    /// The energy of a scene that was begun anew, from which the drift is told wherever it is looked at next.
    pub(super) fn measure_start(&mut self) -> Result<()> {
        if self.can_measure() { self.measure() } else { Ok(()) }
    }

    pub(super) fn measure(&mut self) -> Result<()> {
        let start = Instant::now();
        let (diagnostics, energy_drift) = self.engine.diagnostics()?;
        self.sums = Some(Sums { diagnostics, energy_drift, of: self.moment() });
        // The first takes longer, where a compiler waits for it, and tells no drift: the second comes as soon as can be.
        let cost = start.elapsed();
        let usual = self.measured_in.replace(cost).map_or(Duration::ZERO, |before| before.min(cost));
        let pause = usual.mul_f64(1.0 / DIAGNOSTICS_SHARE).max(self.measure_every);
        self.next_measurement = Instant::now() + pause;
        // What stands still is worth a frame of its own.
        self.stale |= !self.engine.config().running;
        Ok(())
    }

    /// Hands what the last step did to some bodies over to be judged. It was computed in the ordinary course and is
    /// only read.
    pub(super) fn judge(&mut self) -> Result<()> {
        let start = Instant::now();
        let size = self.engine.size();
        let pairs_of_one = self.engine.work_in_step() / size.max(1) as f64;
        let chosen = self.judge.choose(size, pairs_of_one);
        let pairs = chosen.len() as f64 * pairs_of_one;
        if let Some(sample) = self.engine.sample(chosen)? {
            self.judge.judge(sample, pairs, start.elapsed());
        }
        Ok(())
    }
}
