//! What the device could do at most, measured beside a simulation that goes on: the kernel is built on a thread of its own, and
//! timed in short turns between two frames. It is done once for each mode.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::compute::{Device, Probe};
use crate::error::{Error, Result};
use crate::modes::ModeInfo;

/// A turn takes about a hundredth of a second: so seldom, the picture does not stutter.
const EVERY: Duration = Duration::from_millis(100);

/// The limits of modes, as far as they are known.
pub(super) struct Gauge {
    modes: Vec<(&'static ModeInfo, State)>,
    next_turn: Instant,
}

enum State {
    Building(JoinHandle<Result<Probe>>),
    Timing(Box<Probe>),
    /// Pairs or cells a second; none where it could not be measured, which stops nobody.
    Known(Option<f64>),
}

impl Gauge {
    pub fn new() -> Self {
        Self { modes: Vec::new(), next_turn: Instant::now() + EVERY }
    }

    /// Pairs or cells a second of a mode, once that is known.
    pub fn limit(&self, info: &'static ModeInfo) -> Option<f64> {
        self.modes.iter().find_map(|(mode, state)| match state {
            State::Known(limit) if *mode == info => *limit,
            _ => None,
        })
    }

    /// Gives up what was begun for other modes: copies take much memory, and they may never be shown again.
    pub fn turn_to(&mut self, info: &'static ModeInfo) {
        self.modes.retain(|(mode, state)| match state {
            State::Building(thread) => *mode == info || !thread.is_finished(),
            State::Timing(_) => *mode == info,
            State::Known(_) => true,
        });
    }

    /// Whether it is time for a turn that the device has to be idle for. Until then, what can be done beside is begun.
    pub fn is_due(&mut self, device: &Device, info: &'static ModeInfo) -> bool {
        match self.modes.iter_mut().find(|(mode, _)| *mode == info) {
            None => {
                self.modes.push((info, build(device.clone(), info)));
                false
            }
            Some((_, State::Building(thread))) => thread.is_finished(),
            Some((_, State::Timing(_))) => Instant::now() >= self.next_turn,
            Some((_, State::Known(_))) => false,
        }
    }

    /// Takes a turn.
    pub fn turn(&mut self, info: &'static ModeInfo) {
        let Some((_, state)) = self.modes.iter_mut().find(|(mode, _)| *mode == info) else { return };
        *state = std::mem::replace(state, State::Known(None)).next(info).unwrap_or_else(|error| {
            tracing::warn!("the limit of {} is not known: {error}", info.name);
            State::Known(None)
        });
        self.next_turn = Instant::now() + EVERY;
    }
}

fn build(device: Device, info: &'static ModeInfo) -> State {
    let body = move || Probe::new(&device, info.limit.micro());
    match std::thread::Builder::new().name("limit".to_owned()).spawn(body) {
        Ok(thread) => State::Building(thread),
        Err(_) => State::Known(None),
    }
}

impl State {
    fn next(self, info: &ModeInfo) -> Result<Self> {
        match self {
            State::Building(thread) => match thread.join() {
                Ok(probe) => Ok(State::Timing(Box::new(probe?))),
                Err(_) => Err(Error::Invalid("its thread ended unexpectedly".to_owned())),
            },
            State::Timing(mut probe) => Ok(match probe.turn()? {
                true => State::Timing(probe),
                false => State::Known(Some(info.limit.at(probe.rate()))),
            }),
            State::Known(limit) => Ok(State::Known(limit)),
        }
    }
}

impl Drop for Gauge {
    /// Drivers do not like to be at work when the program ends.
    fn drop(&mut self) {
        for (_, state) in self.modes.drain(..) {
            if let State::Building(thread) = state {
                let _ = thread.join();
            }
        }
    }
}
