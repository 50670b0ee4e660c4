//! Judges the variant in force: once in a while what the last step did to some bodies is worked out in f64, on a
//! thread of its own.

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError, bounded, never};

use super::{Rung, Stats};
use crate::modes::accuracy::{SAMPLE, Sample, choose, relative_error};

/// Bodies are judged at most this often.
const EVERY: Duration = Duration::from_secs(1);
/// The share of the host's cores that judging may take: on a CPU they are the device's too.
const SHARE: f64 = 0.02;
/// Where that share does not reach for this many bodies a turn, turns become rarer.
const LEAST: usize = 32;
/// How long one body against one other takes, in seconds, before it was measured.
const GUESSED_SECONDS_PER_PAIR: f64 = 1e-8;

/// What came of a sample.
#[derive(Debug, Clone, Copy)]
pub(super) struct Verdict {
    relative_error: Option<f64>,
    took: Duration,
    pairs: f64,
}

/// The thread that judges, one sample at a time.
pub(super) struct Judge {
    under_way: Option<Trial>,
    next: Instant,
    /// Seconds of the judging thread that may go by for each second.
    share: f64,
    seconds_per_pair: f64,
    relative_error: Option<f64>,
}

struct Trial {
    verdict: Receiver<Verdict>,
    /// Gone, nobody waits for the verdict any more.
    _waits: Arc<()>,
}

impl Judge {
    pub fn new() -> Self {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        Self {
            under_way: None,
            next: Instant::now(),
            share: SHARE * cores as f64,
            seconds_per_pair: GUESSED_SECONDS_PER_PAIR,
            relative_error: None,
        }
    }

    /// The last verdict on what is in force.
    pub fn relative_error(&self) -> Option<f64> {
        self.relative_error
    }

    pub fn is_due(&self) -> bool {
        self.under_way.is_none() && Instant::now() >= self.next
    }

    /// Which of `count` bodies or cells to judge, each of so many pairs: as many as the share of a turn reaches for.
    pub fn choose(&self, count: usize, pairs: f64) -> Vec<usize> {
        let within = self.share * EVERY.as_secs_f64() / (self.seconds_per_pair * pairs);
        choose(count, (within as usize).clamp(LEAST, SAMPLE))
    }

    /// Hands a sample, `pairs` in all, to the thread; to take it held the steps up for `cost`. Without a thread there is
    /// no verdict.
    pub fn judge(&mut self, sample: Sample, pairs: f64, cost: Duration) {
        let (answer, verdict) = bounded(1);
        let waits = Arc::new(());
        let waiting = Arc::downgrade(&waits);
        let work = move || {
            let start = Instant::now();
            let relative_error = relative_error(sample.take_while(|_| waiting.strong_count() > 0));
            // Nobody listening means that something else is in force.
            let _ = answer.send(Verdict { relative_error, took: start.elapsed(), pairs });
        };
        let thread = thread::Builder::new().name("accuracy".to_owned()).spawn(work);
        self.under_way = thread.is_ok().then_some(Trial { verdict, _waits: waits });
        self.next = Instant::now() + EVERY.max(cost.mul_f64(1.0 / SHARE));
    }

    /// Where the verdict comes, to be waited for and then taken by [`Judge::hear`].
    pub fn verdict(&self) -> Receiver<Verdict> {
        self.under_way.as_ref().map_or_else(never, |trial| trial.verdict.clone())
    }

    /// Takes the verdict, if there is one.
    pub fn hear(&mut self, verdict: Result<Verdict, TryRecvError>) {
        match verdict {
            Ok(Verdict { relative_error, took, pairs }) => {
                self.relative_error = relative_error;
                self.seconds_per_pair = took.as_secs_f64() / pairs.max(1.0);
                self.next =
                    self.next.max(Instant::now() + took.mul_f64(1.0 / self.share).saturating_sub(took));
            }
            Err(TryRecvError::Empty) => return,
            // It ended without a word: a panic was printed there.
            Err(TryRecvError::Disconnected) => {}
        }
        self.under_way = None;
    }

    /// Forgets what is in force no more: no verdict is ever told of what it was not passed on.
    pub fn forget(&mut self) {
        (self.under_way, self.relative_error) = (None, None);
    }

    /// Judges as soon as there is something to judge.
    pub fn hurry(&mut self) {
        self.next = Instant::now();
    }
}

/// What every variant was last seen to do, of each mode and number of bodies.
#[derive(Default)]
pub(super) struct Ladder(Vec<(&'static str, usize, Rung)>);

impl Ladder {
    /// Takes note of what is in force, and tells `stats` of those like it.
    pub fn note(&mut self, stats: &mut Stats) {
        let Stats { mode, bodies, variant, relative_error, .. } = *stats;
        let is_like = |row: &&mut (&str, usize, Rung)| row.0 == mode && row.1 == bodies;
        if let Some(pairs_per_second) = stats.device_work_per_second() {
            match self.0.iter_mut().filter(is_like).find(|row| row.2.variant == variant) {
                Some((.., rung)) => {
                    rung.pairs_per_second = pairs_per_second;
                    rung.relative_error = relative_error.or(rung.relative_error);
                }
                None => self.0.push((mode, bodies, Rung { variant, pairs_per_second, relative_error })),
            }
        }
        stats.ladder = self.0.iter_mut().filter(is_like).map(|row| row.2.clone()).collect();
    }
}
