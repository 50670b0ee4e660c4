//! Waits for OpenCL events, and reads their times. An OpenCL wait cannot be interrupted, so each device has a watchdog
//! thread that waits for events, and callers wait for this thread with a timeout.

use std::ffi::OsStr;
use std::sync::OnceLock;
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use ocl::core::{self, ProfilingInfo, ProfilingInfoResult};

use crate::base::{Result, invalid};

/// Argument for an OpenCL command that does not wait for any event.
pub(super) const NO_WAIT: Option<core::Event> = None;
/// Argument for an OpenCL command that does not create an event.
pub(super) const NO_EVENT: Option<&mut core::Event> = None;

/// Time after which an unresponsive device counts as lost. A working device needs about 0.1 s per part of its work.
const TIMEOUT: Duration = Duration::from_secs(60);
/// Environment variable that overrides the device timeout, in seconds, for emulators and tests.
pub(super) const TIMEOUT_VARIABLE: &str = "GRAVITILE_PATIENCE";
/// Minimum and maximum device timeout that users can set, in seconds. Values outside this range are clamped.
const TIMEOUTS: [f64; 2] = [0.1, 1e6];

/// Returns the timeout for devices that are opened now, or an error if the user's setting is invalid.
pub(super) fn timeout() -> Result<Duration> {
    std::env::var_os(TIMEOUT_VARIABLE).map_or(Ok(TIMEOUT), |text| parse_timeout(&text))
}

fn parse_timeout(text: &OsStr) -> Result<Duration> {
    let seconds = text.to_str().and_then(|text| text.trim().parse::<f64>().ok());
    match seconds.filter(|seconds| seconds.is_finite() && *seconds > 0.0) {
        Some(seconds) => Ok(Duration::from_secs_f64(seconds.clamp(TIMEOUTS[0], TIMEOUTS[1]))),
        None => Err(invalid!(
            "the environment variable {TIMEOUT_VARIABLE} must be a positive number of seconds (it is `{}`); \
             correct or unset it",
            text.to_string_lossy()
        )),
    }
}

/// Result of waiting for an event: the time at which the program noticed its completion, or the driver's error.
type Outcome = Result<Instant, core::Error>;
/// An event to wait for, and the channel on which to send the outcome.
type Job = (core::Event, Sender<Outcome>);

/// Channel to the watchdog thread of a device. The first wait starts the thread.
#[derive(Debug, Default)]
pub(super) struct Waiter(OnceLock<Option<Sender<Job>>>);

/// A wait for an event, started by [`Waiter::begin`].
pub(super) enum Wait {
    /// The event had already completed when the wait began, at the given time.
    Over(Instant),
    Pending(Receiver<Outcome>),
    /// The wait never ends, because a test injected a fault or the device is lost.
    Never,
}

impl Waiter {
    /// Starts waiting for `event`, using the watchdog thread if the event has not completed yet.
    pub(super) fn begin(&self, event: &core::Event) -> Wait {
        if core::event_is_complete(event).unwrap_or(false) {
            return Wait::Over(Instant::now());
        }
        let (reply, answer) = bounded(1);
        let thread = self.0.get_or_init(spawn);
        let sent = thread.as_ref().is_some_and(|jobs| jobs.send((event.clone(), reply.clone())).is_ok());
        if !sent {
            // No thread could be started: wait here, without a timeout.
            let _ = reply.send(core::wait_for_event(event).map(|()| Instant::now()));
        }
        Wait::Pending(answer)
    }
}

fn spawn() -> Option<Sender<Job>> {
    let (jobs, inbox) = unbounded::<Job>();
    let body = move || {
        for (event, reply) in inbox {
            let outcome = core::wait_for_event(&event).map(|()| Instant::now());
            // Releases the event first: the program may exit after the reply, and drivers must be idle by then.
            drop(event);
            // The receiver no longer exists if the timeout has passed.
            let _ = reply.send(outcome);
        }
    };
    thread::Builder::new().name("watchdog".to_owned()).spawn(body).ok().map(|_| jobs)
}

impl Wait {
    /// Blocks until the event completes. Returns `None` if it does not complete within `timeout`.
    pub(super) fn finish(self, timeout: Duration) -> Option<Outcome> {
        match self {
            Self::Over(at) => Some(Ok(at)),
            Self::Never => {
                thread::sleep(timeout);
                None
            }
            // A watchdog that ended without a reply leaves the outcome unknown, as a timeout does.
            Self::Pending(answer) => answer.recv_timeout(timeout).ok(),
        }
    }
}

/// Returns the time in seconds from the start of `first` to the end of `last`, two completed events. Returns `None` if
/// the device lacks profiling, or reports an end that is not after the start, as some drivers do for markers.
pub(super) fn span(first: &core::Event, last: &core::Event) -> Option<f64> {
    let start = core::get_event_profiling_info(first, ProfilingInfo::Start);
    let end = core::get_event_profiling_info(last, ProfilingInfo::End);
    match (start, end) {
        (Ok(ProfilingInfoResult::Start(start)), Ok(ProfilingInfoResult::End(end))) if end > start => {
            Some((end - start) as f64 * 1e-9)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_timeout_is_a_positive_number_of_seconds() {
        let parse = |text: &str| parse_timeout(OsStr::new(text));
        for (text, seconds) in [("2", 2.0), (" 0.5 ", 0.5), ("1e-9", 0.1), ("1e300", 1e6)] {
            assert_eq!(parse(text).unwrap(), Duration::from_secs_f64(seconds), "{text}");
        }
        for text in ["nan", "inf", "-inf", "0", "-0.0", "-1", "", " ", "ten", "1e999"] {
            let error = parse(text).unwrap_err().to_string();
            let expected =
                format!("GRAVITILE_PATIENCE must be a positive number of seconds (it is `{text}`)");
            assert!(error.contains(&expected), "{error}");
        }
    }
}
