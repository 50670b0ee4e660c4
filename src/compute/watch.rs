//! Waiting with a watchdog: a wait of OpenCL cannot be broken off, so it takes place on a thread of the device's own,
//! and whoever asked for it waits for that thread, but not for ever.

use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use ocl::core;

/// Work is handed over in parts of about a tenth of a second, so this is far longer than any can take.
const PATIENCE: Duration = Duration::from_secs(60);
/// Another patience, in seconds: for emulators, and for tests.
const PATIENCE_VARIABLE: &str = "GRAVITILE_PATIENCE";

/// How long to wait for a part of the work.
pub(super) fn patience() -> Duration {
    static CHOSEN: OnceLock<Duration> = OnceLock::new();
    *CHOSEN.get_or_init(|| {
        let chosen = std::env::var(PATIENCE_VARIABLE).ok().and_then(|text| text.parse().ok());
        chosen.map_or(PATIENCE, |seconds: f64| Duration::from_secs_f64(seconds.clamp(0.1, 1e6)))
    })
}

type Answer = (Result<(), core::Error>, Instant);
/// An event, and who wants to know that it came.
type Job = (core::Event, Sender<Answer>);

/// The thread that waits for a device.
#[derive(Debug, Default)]
pub(super) struct Waiter(OnceLock<Option<Sender<Job>>>);

/// How a wait ended.
pub(super) enum Ended {
    /// At this time.
    Done(Instant),
    /// With the device's refusal.
    Failed(core::Error),
    /// Not within patience.
    NotYet,
}

/// A wait under way.
pub(super) enum Awaited {
    Over(Instant),
    Pending(Receiver<Answer>),
    /// For tests.
    Never,
}

impl Waiter {
    /// Begins to wait for `event`.
    pub fn begin(&self, event: &core::Event) -> Awaited {
        if core::event_is_complete(event).unwrap_or(false) {
            return Awaited::Over(Instant::now());
        }
        let (reply, answer) = bounded(1);
        let thread = self.0.get_or_init(spawn);
        let sent = thread.as_ref().is_some_and(|jobs| jobs.send((event.clone(), reply.clone())).is_ok());
        if !sent {
            // Without threads there is no watchdog.
            let _ = reply.send((core::wait_for_event(event), Instant::now()));
        }
        Awaited::Pending(answer)
    }
}

fn spawn() -> Option<Sender<Job>> {
    let (jobs, inbox) = unbounded::<Job>();
    let body = move || {
        for (event, reply) in inbox {
            let outcome = core::wait_for_event(&event);
            // Before the answer: after it the program may end, and drivers do not like to be at work then.
            drop(event);
            // Nobody listening means that patience was over.
            let _ = reply.send((outcome, Instant::now()));
        }
    };
    thread::Builder::new().name("watchdog".to_owned()).spawn(body).ok().map(|_| jobs)
}

impl Awaited {
    /// Waits for the end.
    pub fn end(self) -> Ended {
        match self {
            Self::Over(at) => Ended::Done(at),
            Self::Never => {
                thread::sleep(patience());
                Ended::NotYet
            }
            Self::Pending(answer) => match answer.recv_timeout(patience()) {
                Ok((Ok(()), at)) => Ended::Done(at),
                Ok((Err(error), _)) => Ended::Failed(error),
                Err(RecvTimeoutError::Timeout) => Ended::NotYet,
                // The thread is gone with the answer: it cannot be known any more.
                Err(RecvTimeoutError::Disconnected) => Ended::NotYet,
            },
        }
    }
}
