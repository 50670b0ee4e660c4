//! What the device could do at most, measured beside a simulation that goes on: the kernel is built on a thread of its own, and
//! timed in short turns between two frames. It is done once for each mode.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use crate::compute::{Device, Probe};
use crate::error::{Error, Result};
use crate::modes::ModeInfo;

/// A turn takes about a hundredth of a second: so seldom, the picture does not stutter.
const EVERY: Duration = Duration::from_millis(100);

/// The limits of modes, as far as they are known.
pub(super) struct Gauge {
    modes: Vec<(&'static ModeInfo, State)>,
    next_turn: Instant,
    /// What was begun and is not known to have ended, whether somebody waits for it or not.
    builder: Option<JoinHandle<()>>,
}

enum State {
    /// What nobody waits for any more is given back as soon as it is built.
    Building(Receiver<Result<Probe>>),
    Timing(Box<Probe>),
    /// Pairs or cells a second; none where it could not be measured, which stops nobody.
    Known(Option<f64>),
}

impl Gauge {
    pub fn new() -> Self {
        Self { modes: Vec::new(), next_turn: Instant::now() + EVERY, builder: None }
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
        self.modes.retain(|(mode, state)| *mode == info || matches!(state, State::Known(_)));
    }

    /// Gives up what was begun: nobody knows for how long nothing goes on.
    pub fn rest(&mut self) {
        self.modes.retain(|(_, state)| matches!(state, State::Known(_)));
    }

    /// Whether it is time for a turn that the device has to be idle for. Until then, what can be done beside is begun.
    pub fn is_due(&mut self, device: &Device, info: &'static ModeInfo) -> bool {
        // One at a time, given up or not.
        let is_built = self.builder.as_ref().is_none_or(JoinHandle::is_finished);
        match self.modes.iter().find(|(mode, _)| *mode == info) {
            None => {
                if is_built {
                    self.build(device.clone(), info);
                }
                false
            }
            Some((_, State::Building(_))) => is_built,
            Some((_, State::Timing(_))) => Instant::now() >= self.next_turn,
            Some((_, State::Known(_))) => false,
        }
    }

    fn build(&mut self, device: Device, info: &'static ModeInfo) {
        let (sender, probe) = bounded(1);
        let body = move || drop(sender.send(Probe::new(&device, info.limit.micro())));
        let builder = std::thread::Builder::new().name("limit".to_owned()).spawn(body);
        let state = if builder.is_ok() { State::Building(probe) } else { State::Known(None) };
        self.builder = builder.ok();
        self.modes.push((info, state));
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

impl State {
    fn next(self, info: &ModeInfo) -> Result<Self> {
        match self {
            State::Building(probe) => match probe.recv() {
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
        if let Some(builder) = self.builder.take() {
            // A panic over there was printed there.
            let _ = builder.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{self, Kind};

    #[test]
    fn while_nothing_goes_on_no_memory_is_held_for_it() {
        let found = compute::list().unwrap().into_iter().find(|found| found.info.kind == Kind::Cpu);
        let device = found.expect("there is a CPU device").open().unwrap();
        let info = &crate::modes::fluid::INFO;
        let mut gauge = Gauge::new();
        let build = |gauge: &mut Gauge| {
            while !gauge.is_due(&device, info) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        build(&mut gauge);
        gauge.turn(info);
        assert!(matches!(gauge.modes[..], [(_, State::Timing(_))]));
        gauge.rest();
        assert!(gauge.modes.is_empty());
        // What is given up while it is built is built anew.
        assert!(!gauge.is_due(&device, info));
        gauge.rest();
        build(&mut gauge);
        gauge.turn(info);
        assert!(matches!(gauge.modes[..], [(_, State::Timing(_))]));
    }
}
