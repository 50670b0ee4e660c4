//! Accuracy checks: a separate thread compares the effect of the last step on some bodies with a reference computed in
//! f64.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError, bounded, never};

use super::frame::{Rung, Stats};
use crate::modes::accuracy::{Judged, LEAST_SAMPLE, SAMPLE, Sample, SampleErrors, choose};
use crate::modes::{BodyErrors, Counts};

/// Shortest time between two accuracy checks.
const EVERY: Duration = Duration::from_secs(1);
/// Largest fraction of the time for which checks may delay the steps, and largest fraction of the host's computing time
/// that checks may use. After a long check, the next one starts later to stay within these limits.
const SHARE: f64 = 0.01;
/// Largest fraction of the time that the checking thread may run while the simulation is paused and the colours show
/// errors. The fraction is large so that the picture soon shows the errors of all bodies.
const PAUSED_SHARE: f64 = 0.25;
/// Assumed duration of a check per pair of bodies, in seconds, before the first check.
const GUESSED_SECONDS_PER_PAIR: f64 = 1e-8;

/// Result of an accuracy check, with its duration and the number of pairs that it computed.
#[derive(Debug)]
pub(super) struct Verdict {
    errors: Option<SampleErrors>,
    judged: Vec<Judged>,
    took: Duration,
    pairs: f64,
}

/// Runs accuracy checks on a separate thread, one at a time.
pub(super) struct AccuracyCheck {
    /// Channel that receives the result of the running check, and a token. Dropping the token cancels the check.
    running: Option<(Receiver<Verdict>, Arc<()>)>,
    next: Instant,
    /// Largest fraction of the time that the checking thread may run: [`SHARE`] times the number of cores, or
    /// [`PAUSED_SHARE`].
    share: f64,
    cores: usize,
    seconds_per_pair: f64,
    /// Errors found by the last check of the current variant, if any.
    pub(super) errors: Option<SampleErrors>,
    /// Latest measured error of each body, for colours that show errors.
    pub(super) bodies: BodyErrors,
    /// Whether the next check may find errors of bodies whose error is not known yet.
    may_find_more: bool,
}

impl AccuracyCheck {
    pub(super) fn new() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            running: None,
            next: Instant::now(),
            share: SHARE * cores as f64,
            cores,
            seconds_per_pair: GUESSED_SECONDS_PER_PAIR,
            errors: None,
            bodies: BodyErrors::default(),
            may_find_more: true,
        }
    }

    pub(super) fn is_due(&self) -> bool {
        self.running.is_none() && Instant::now() >= self.next
    }

    /// Returns when to start the next check while the simulation is paused; `None` while a check runs or if nothing is
    /// left to check.
    pub(super) fn next_in_pause(&self) -> Option<Instant> {
        (self.running.is_none() && self.may_find_more).then_some(self.next)
    }

    /// Chooses which of `count` bodies or cells to check, as many as time allows. Each requires computing `pairs`
    /// pairs. If `shows_errors` is true, all bodies are checked in turn over several checks.
    pub(super) fn choose(
        &mut self,
        count: usize,
        pairs: f64,
        (shows_errors, is_paused): (bool, bool),
    ) -> Vec<usize> {
        self.share = if shows_errors && is_paused { PAUSED_SHARE } else { SHARE * self.cores as f64 };
        let within = (self.share * EVERY.as_secs_f64() / (self.seconds_per_pair * pairs)) as usize;
        match shows_errors {
            true => self.bodies.choose(count, within.max(LEAST_SAMPLE)),
            false => choose(count, within.clamp(LEAST_SAMPLE, SAMPLE)),
        }
    }

    /// Records that new steps have been computed. The next check can compare these steps with the reference.
    pub(super) fn stepped(&mut self) {
        self.may_find_more = true;
    }

    /// Postpones the next check. Called when there is no step to check.
    pub(super) fn postpone(&mut self) {
        self.next = Instant::now() + EVERY;
        self.may_find_more = false;
    }

    /// Starts checking `sample`. `pairs` is the number of pairs to compute for the check, and `cost` is the time by
    /// which taking the sample delayed the steps.
    pub(super) fn check(&mut self, sample: Sample, pairs: f64, cost: Duration) {
        let (answer, verdict) = bounded(1);
        let is_wanted = Arc::new(());
        let waiting = Arc::downgrade(&is_wanted);
        let work = move || {
            let start = Instant::now();
            let judged: Vec<Judged> = sample.take_while(|_| waiting.strong_count() > 0).collect();
            let errors = SampleErrors::of(judged.iter().copied());
            // The receiver of a cancelled check no longer exists.
            let _ = answer.send(Verdict { errors, judged, took: start.elapsed(), pairs });
        };
        let thread = thread::Builder::new().name("accuracy".to_owned()).spawn(work);
        self.running = thread.is_ok().then_some((verdict, is_wanted));
        self.next = Instant::now() + EVERY.max(cost.mul_f64(1.0 / SHARE));
    }

    /// Returns the channel that delivers the result of the running check, for [`AccuracyCheck::receive`].
    pub(super) fn verdict(&self) -> Receiver<Verdict> {
        self.running.as_ref().map_or_else(never, |(verdict, _)| verdict.clone())
    }

    /// Stores the result `verdict` of a check if it has arrived, and schedules the next check.
    pub(super) fn receive(&mut self, verdict: Result<Verdict, TryRecvError>) {
        match verdict {
            Ok(Verdict { errors, judged, took, pairs }) => {
                self.errors = errors;
                self.may_find_more = self.bodies.note(&judged);
                self.seconds_per_pair = took.as_secs_f64() / pairs.max(1.0);
                self.next =
                    self.next.max(Instant::now() + took.mul_f64(1.0 / self.share).saturating_sub(took));
            }
            Err(TryRecvError::Empty) => return,
            // The thread panicked; the panic was already printed.
            Err(TryRecvError::Disconnected) => {}
        }
        self.running = None;
    }

    /// Cancels the running check and discards the last result.
    pub(super) fn discard(&mut self) {
        (self.running, self.errors, self.may_find_more) = (None, None, true);
        self.bodies.discard();
    }

    /// Makes the next check due immediately.
    pub(super) fn check_soon(&mut self) {
        self.next = Instant::now();
    }
}

/// Latest measured speed and accuracy of each kernel variant, for each mode and number of bodies.
#[derive(Default)]
pub(super) struct VariantLog(Vec<(&'static str, usize, Rung)>);

impl VariantLog {
    /// Records the current variant's speed, accuracy and `counts`. Copies all records with the same mode and number of
    /// bodies to `stats`.
    pub(super) fn note(&mut self, stats: &mut Stats, counts: Option<Counts>) {
        let Stats { mode, bodies, variant, relative_error, .. } = *stats;
        let is_like = |row: &&mut (&str, usize, Rung)| row.0 == mode && row.1 == bodies;
        if let Some(pairs_per_second) = stats.device_work_per_second() {
            match self.0.iter_mut().filter(is_like).find(|row| row.2.variant == variant) {
                Some((.., rung)) => {
                    (rung.pairs_per_second, rung.counts) = (pairs_per_second, counts);
                    rung.relative_error = relative_error.or(rung.relative_error);
                }
                None => {
                    self.0.push((mode, bodies, Rung { variant, pairs_per_second, relative_error, counts }));
                }
            }
        }
        stats.ladder = self.0.iter_mut().filter(is_like).map(|row| row.2.clone()).collect();
    }
}
