//! Computes the distributions of the bodies for the Plots window: a separate thread bins a copy of the bodies.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError, bounded, never};

use super::notices::Moment;
use crate::modes::distributions::Distributions;

/// Shortest time between two updates.
const EVERY: Duration = Duration::from_millis(250);
/// Largest fraction of the time for which copying the bodies may delay the steps.
const COPY_SHARE: f64 = 0.02;
/// Largest fraction of the time that the thread may spend on computing distributions.
const THREAD_SHARE: f64 = 0.1;

/// Computed distributions, and the time that the thread took to compute them.
type Outcome = (Distributions, Duration);

/// Computes the distributions of the bodies repeatedly while switched on, and holds the latest result.
pub(super) struct DistributionProbe {
    is_on: bool,
    next: Instant,
    /// Channel that receives the result of the running thread, if there is one.
    running: Option<Receiver<Outcome>>,
    /// Simulation moment at which the bodies were last copied; `None` before the first copy in this scene.
    moment: Option<Moment>,
    /// Latest computed distributions of the bodies; `None` if there are none.
    pub latest: Option<Arc<Distributions>>,
}

impl DistributionProbe {
    pub(super) fn new() -> Self {
        Self { is_on: false, next: Instant::now(), running: None, moment: None, latest: None }
    }

    /// Switches the computation of distributions on or off. A change discards all results.
    pub(super) fn switch(&mut self, is_on: bool) {
        if is_on != self.is_on {
            *self = Self { is_on, ..Self::new() };
        }
    }

    /// Returns whether to copy the bodies now. `moment` is the current moment of the simulation.
    pub(super) fn is_due(&self, moment: Moment) -> bool {
        self.due(moment).is_some_and(|due| Instant::now() >= due)
    }

    /// Returns when to copy the bodies at the current `moment`; `None` if no copy is needed or the thread is still
    /// running.
    pub(super) fn due(&self, moment: Moment) -> Option<Instant> {
        (self.is_on && self.running.is_none() && self.moment != Some(moment)).then_some(self.next)
    }

    /// Starts a thread that calls `compute`. `moment` is the simulation moment at which the bodies were copied, and
    /// `cost` is the time by which copying them delayed the steps.
    pub(super) fn begin(
        &mut self,
        moment: Moment,
        cost: Duration,
        compute: impl FnOnce() -> Distributions + Send + 'static,
    ) {
        let (answer, outcome) = bounded(1);
        let work = move || {
            let start = Instant::now();
            let distributions = compute();
            // The receiver is gone if the probe was switched off.
            let _ = answer.send((distributions, start.elapsed()));
        };
        let thread = thread::Builder::new().name("distributions".to_owned()).spawn(work);
        self.running = thread.is_ok().then_some(outcome);
        self.moment = Some(moment);
        self.next = Instant::now() + EVERY.max(cost.mul_f64(1.0 / COPY_SHARE));
    }

    /// Returns the channel that delivers the result of the thread, for [`DistributionProbe::receive`].
    pub(super) fn outcome(&self) -> Receiver<Outcome> {
        self.running.clone().unwrap_or_else(never)
    }

    /// Stores `outcome`, the result of the thread, if it has arrived.
    pub(super) fn receive(&mut self, outcome: Result<Outcome, TryRecvError>) {
        match outcome {
            Ok((distributions, took)) => {
                self.latest = self.moment.map(|_| Arc::new(distributions));
                self.next = self.next.max(Instant::now() + took.mul_f64(1.0 / THREAD_SHARE));
            }
            Err(TryRecvError::Empty) => return,
            // The thread panicked; the panic was already printed.
            Err(TryRecvError::Disconnected) => {}
        }
        self.running = None;
    }

    /// Discards the distributions. Called when the bodies of another scene replace the current ones.
    pub(super) fn discard(&mut self) {
        (self.latest, self.moment) = (None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_step(step: u64) -> impl FnOnce() -> Distributions + Send + 'static {
        move || Distributions { step, ..Distributions::default() }
    }

    #[test]
    fn distributions_are_computed_once_per_step_and_only_while_enabled() {
        let mut probe = DistributionProbe::new();
        assert!(!probe.is_due((1, 0, 0)));
        probe.switch(true);
        assert!(probe.is_due((1, 0, 0)));
        probe.begin((1, 0, 0), Duration::from_secs(2), of_step(7));
        assert_eq!(probe.due((1, 5, 0)), None, "one thread at a time");
        let outcome = probe.outcome().recv().unwrap();
        probe.receive(Ok(outcome));
        assert_eq!(probe.latest.as_ref().map(|it| it.step), Some(7));
        assert_eq!(probe.due((1, 0, 0)), None, "nothing has changed");
        let due = probe.due((1, 5, 0)).unwrap();
        assert!(due > Instant::now() + Duration::from_secs(50), "2 % of the time");
        assert!(!probe.is_due((1, 5, 0)));
        probe.begin((1, 5, 0), Duration::ZERO, of_step(8));
        probe.discard();
        assert_eq!(probe.due((2, 0, 0)), None, "the thread still runs");
        let outcome = probe.outcome().recv().unwrap();
        probe.receive(Ok(outcome));
        assert!(probe.latest.is_none() && probe.due((2, 0, 0)).is_some(), "the result is of another scene");
        probe.switch(false);
        assert!(!probe.is_due((3, 0, 0)));
    }
}
