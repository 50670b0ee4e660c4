//! Measures peak rates of the device in short parts between frames. Measures only the rate that limits the speed of the
//! current mode, or all rates while the roofline chart is shown.

use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, bounded};

use crate::base::{Result, invalid};
use crate::compute::{Device, MicroKernel, Probe, Roofline};
use crate::modes::ModeInfo;

/// Time between two parts of a measurement. Each part takes only about 10 ms, so that the animation does not stutter.
const EVERY: Duration = Duration::from_millis(100);
/// The micro-kernels of all peak rates, in the order in which they are measured.
const ALL: [&MicroKernel; 4] =
    [&MicroKernel::MULTIPLY_ADDS, &MicroKernel::FETCHES, &MicroKernel::COPIES, &MicroKernel::ROOTS];

/// Peak rates that have been measured, and the unfinished measurement, if any.
pub(super) struct Peaks {
    rates: Vec<(&'static MicroKernel, State)>,
    /// Whether to measure all peak rates, not only the one that limits the current mode.
    measures_all: bool,
    next_turn: Instant,
    /// The thread that builds, or has built, the most recent kernel for a measurement.
    builder: Option<JoinHandle<()>>,
}

enum State {
    Building(Receiver<Result<Probe>>),
    Timing(Box<Probe>),
    /// Measured rate, in operations or bytes per second; `None` if the measurement failed.
    Known(Option<f64>),
}

impl Peaks {
    pub(super) fn new() -> Self {
        Self { rates: Vec::new(), measures_all: false, next_turn: Instant::now() + EVERY, builder: None }
    }

    /// Sets whether to measure all peak rates of the device.
    pub(super) fn measure_all(&mut self, measures_all: bool) {
        self.measures_all = measures_all;
    }

    /// Discards all measured rates. Called when the device changes.
    pub(super) fn discard(&mut self) {
        self.rates.clear();
    }

    /// Returns the speed limit of a mode in pairs or cells per second, or `None` if it is unknown.
    pub(super) fn limit(&self, info: &'static ModeInfo) -> Option<f64> {
        self.rate(info.limit.micro()).map(|rate| info.limit.at(rate))
    }

    /// Returns the peak rates that have been measured so far.
    pub(super) fn roofline(&self) -> Roofline {
        Roofline {
            multiply_adds_per_second: self.rate(&MicroKernel::MULTIPLY_ADDS),
            roots_per_second: self.rate(&MicroKernel::ROOTS),
            fetched_bytes_per_second: self.rate(&MicroKernel::FETCHES),
            copied_bytes_per_second: self.rate(&MicroKernel::COPIES),
        }
    }

    fn rate(&self, micro: &MicroKernel) -> Option<f64> {
        self.rates.iter().find_map(|(of, state)| match state {
            State::Known(rate) if *of == micro => *rate,
            _ => None,
        })
    }

    /// Returns the micro-kernel to measure next while a mode runs, or `None` if all required rates are known.
    fn next(&self, info: &'static ModeInfo) -> Option<&'static MicroKernel> {
        let all = if self.measures_all { &ALL[..] } else { &[] };
        let is_known =
            |micro| self.rates.iter().any(|row| row.0 == micro && matches!(row.1, State::Known(_)));
        std::iter::once(info.limit.micro()).chain(all.iter().copied()).find(|micro| !is_known(*micro))
    }

    /// Discards unfinished measurements to free their memory. Keeps the measurement that the mode `info` needs next.
    pub(super) fn keep_only(&mut self, info: Option<&'static ModeInfo>) {
        let next = info.and_then(|info| self.next(info));
        self.rates.retain(|(micro, state)| Some(*micro) == next || matches!(state, State::Known(_)));
    }

    /// Returns whether to run the next part of a measurement now. If its kernel is missing, starts building the kernel.
    pub(super) fn is_due(&mut self, device: &Device, info: &'static ModeInfo) -> bool {
        // Only one thread builds a kernel at a time.
        let is_built = self.builder.as_ref().is_none_or(JoinHandle::is_finished);
        let Some(next) = self.next(info) else { return false };
        match self.rates.iter().find(|(micro, _)| *micro == next) {
            None if is_built => self.build(device.clone(), next),
            None => false,
            Some((_, State::Building(_))) => is_built,
            Some((_, state)) => matches!(state, State::Timing(_)) && Instant::now() >= self.next_turn,
        }
    }

    /// Starts building a micro-kernel. Returns false because measuring cannot begin yet.
    fn build(&mut self, device: Device, micro: &'static MicroKernel) -> bool {
        let (sender, probe) = bounded(1);
        let body = move || drop(sender.send(Probe::new(&device, micro)));
        let builder = std::thread::Builder::new().name("peaks".to_owned()).spawn(body);
        let state = if builder.is_ok() { State::Building(probe) } else { State::Known(None) };
        self.builder = builder.ok();
        self.rates.push((micro, state));
        false
    }

    /// Runs the next short part of the measurements for a mode on the device.
    pub(super) fn turn(&mut self, info: &'static ModeInfo) {
        let next = self.next(info);
        let Some((_, state)) = self.rates.iter_mut().find(|(micro, _)| Some(*micro) == next) else { return };
        *state = std::mem::replace(state, State::Known(None)).next().unwrap_or_else(|error| {
            tracing::warn!("cannot measure a peak rate of the device: {error}");
            State::Known(None)
        });
        self.next_turn = Instant::now() + EVERY;
    }
}

impl State {
    fn next(self) -> Result<Self> {
        match self {
            Self::Building(probe) => match probe.recv() {
                Ok(probe) => Ok(Self::Timing(Box::new(probe?))),
                Err(_) => Err(invalid!("the measurement ended unexpectedly")),
            },
            Self::Timing(mut probe) => Ok(match probe.turn()? {
                true => Self::Timing(probe),
                false => Self::Known(Some(probe.rate())),
            }),
            Self::Known(rate) => Ok(Self::Known(rate)),
        }
    }
}

impl Drop for Peaks {
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
    use crate::modes::{MODES, fluid, gravity};

    fn cpu() -> Device {
        let found = compute::list().unwrap().into_iter().find(|found| found.info.kind == DeviceKind::Cpu);
        found.expect("there is a CPU device").open().unwrap()
    }

    fn build(peaks: &mut Peaks, device: &Device, info: &'static ModeInfo) {
        while !peaks.is_due(device, info) {
            std::thread::sleep(Duration::from_millis(1));
        }
        peaks.turn(info);
    }

    #[test]
    fn pausing_a_peak_measurement_frees_device_memory() {
        let (device, mut peaks) = (cpu(), Peaks::new());
        for _ in 0..2 {
            build(&mut peaks, &device, &fluid::INFO);
            assert!(matches!(peaks.rates[..], [(_, State::Timing(_))]));
            peaks.keep_only(None);
            assert!(peaks.rates.is_empty());
            // A kernel that was discarded is built again.
            assert!(!peaks.is_due(&device, &fluid::INFO));
            peaks.keep_only(None);
        }
    }

    /// Runs measurements for a mode until all required rates are known.
    fn measure(peaks: &mut Peaks, device: &Device, info: &'static ModeInfo) {
        while peaks.next(info).is_some() {
            build(peaks, device, info);
            peaks.keep_only(Some(info));
            assert!(peaks.rates.iter().filter(|row| !matches!(row.1, State::Known(_))).count() <= 1);
        }
    }

    #[test]
    fn all_device_peaks_are_measured_only_on_demand_and_once() {
        let (device, mut peaks) = (cpu(), Peaks::new());
        measure(&mut peaks, &device, &fluid::INFO);
        let copies = peaks.roofline();
        assert_eq!(
            copies,
            Roofline { copied_bytes_per_second: copies.copied_bytes_per_second, ..Roofline::default() }
        );
        assert_eq!(
            peaks.limit(&fluid::INFO),
            Some(fluid::INFO.limit.at(copies.copied_bytes_per_second.unwrap()))
        );

        peaks.measure_all(true);
        assert_eq!(peaks.next(&gravity::INFO).map(|micro| micro == gravity::INFO.limit.micro()), Some(true));
        for info in MODES {
            measure(&mut peaks, &device, info);
            assert!(peaks.limit(info) > Some(0.0), "{}", info.name);
        }
        let all = peaks.roofline();
        assert_eq!(all.copied_bytes_per_second, copies.copied_bytes_per_second, "it is measured once");
        for rate in [all.multiply_adds_per_second, all.roots_per_second, all.fetched_bytes_per_second] {
            assert!(rate > Some(1e8), "{all:?}");
        }
        peaks.discard();
        assert_eq!((peaks.roofline(), peaks.measures_all), (Roofline::default(), true));
    }
}
