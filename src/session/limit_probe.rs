//! Measures the speed limit of each mode (the highest speed that the device can reach) in short parts between frames.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use crate::base::{Result, invalid};
use crate::compute::{Device, Probe};
use crate::modes::ModeInfo;

/// Time between two parts of a measurement. Each part takes only about 10 ms, so that the animation does not stutter.
const EVERY: Duration = Duration::from_millis(100);

/// The measured speed limit of each mode, and unfinished measurements.
pub(super) struct LimitProbe {
    modes: Vec<(&'static ModeInfo, State)>,
    next_turn: Instant,
    /// The thread that builds, or has built, the most recent kernel for a measurement.
    builder: Option<JoinHandle<()>>,
}

enum State {
    Building(Receiver<Result<Probe>>),
    Timing(Box<Probe>),
    /// Measured speed limit in pairs or cells per second; `None` if the measurement failed.
    Known(Option<f64>),
}

impl LimitProbe {
    pub(super) fn new() -> Self {
        Self { modes: Vec::new(), next_turn: Instant::now() + EVERY, builder: None }
    }

    /// Returns the speed limit of a mode in pairs or cells per second, or `None` if it is unknown.
    pub(super) fn limit(&self, info: &'static ModeInfo) -> Option<f64> {
        self.modes.iter().find_map(|(mode, state)| match state {
            State::Known(limit) if *mode == info => *limit,
            _ => None,
        })
    }

    /// Discards unfinished measurements of modes other than `info`, because measurements take up a lot of memory.
    pub(super) fn keep_only(&mut self, info: Option<&'static ModeInfo>) {
        self.modes.retain(|(mode, state)| Some(*mode) == info || matches!(state, State::Known(_)));
    }

    /// Returns whether to run the next part of the measurement now. Starts building the kernel if it is missing.
    pub(super) fn is_due(&mut self, device: &Device, info: &'static ModeInfo) -> bool {
        // Only one thread builds a kernel at a time.
        let is_built = self.builder.as_ref().is_none_or(JoinHandle::is_finished);
        match self.modes.iter().find(|(mode, _)| *mode == info) {
            None if is_built => self.build(device.clone(), info),
            None => false,
            Some((_, State::Building(_))) => is_built,
            Some((_, state)) => matches!(state, State::Timing(_)) && Instant::now() >= self.next_turn,
        }
    }

    /// Starts building the kernel that measures the speed limit. Returns false because measuring cannot begin yet.
    fn build(&mut self, device: Device, info: &'static ModeInfo) -> bool {
        let (sender, probe) = bounded(1);
        let body = move || drop(sender.send(Probe::new(&device, info.limit.micro())));
        let builder = std::thread::Builder::new().name("limit".to_owned()).spawn(body);
        let state = if builder.is_ok() { State::Building(probe) } else { State::Known(None) };
        self.builder = builder.ok();
        self.modes.push((info, state));
        false
    }

    /// Runs a short part of the benchmark that measures the speed limit of a mode on the device.
    pub(super) fn turn(&mut self, info: &'static ModeInfo) {
        let Some((_, state)) = self.modes.iter_mut().find(|(mode, _)| *mode == info) else { return };
        *state = std::mem::replace(state, State::Known(None)).next(info).unwrap_or_else(|error| {
            tracing::warn!("cannot measure the peak speed of {}: {error}", info.name);
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
                Err(_) => Err(invalid!("the measurement ended unexpectedly")),
            },
            State::Timing(mut probe) => Ok(match probe.turn()? {
                true => State::Timing(probe),
                false => State::Known(Some(info.limit.at(probe.rate()))),
            }),
            State::Known(limit) => Ok(State::Known(limit)),
        }
    }
}

impl Drop for LimitProbe {
    /// Waits for the thread that builds a kernel, because some drivers crash if the program exits during a build.
    fn drop(&mut self) {
        if let Some(builder) = self.builder.take() {
            // A panic of the thread was already printed.
            let _ = builder.join();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compute::{self, DeviceKind};

    #[test]
    fn a_pause_frees_the_memory_of_the_measurement() {
        let found = compute::list().unwrap().into_iter().find(|found| found.info.kind == DeviceKind::Cpu);
        let device = found.expect("there is a CPU device").open().unwrap();
        let info = &crate::modes::fluid::INFO;
        let mut probe = LimitProbe::new();
        let build = |probe: &mut LimitProbe| {
            while !probe.is_due(&device, info) {
                std::thread::sleep(Duration::from_millis(1));
            }
        };
        build(&mut probe);
        probe.turn(info);
        assert!(matches!(probe.modes[..], [(_, State::Timing(_))]));
        probe.keep_only(None);
        assert!(probe.modes.is_empty());
        // A kernel that was discarded is built again.
        assert!(!probe.is_due(&device, info));
        probe.keep_only(None);
        build(&mut probe);
        probe.turn(info);
        assert!(matches!(probe.modes[..], [(_, State::Timing(_))]));
    }
}
