//! Measures the time that each kernel takes in a step, for the Lens window. Several times a second, records the kernels
//! of one burst of steps.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::Result;
use crate::engine::{Engine, Profile};

/// Time between two recordings. OpenCL events slow launches down, so only some of the bursts are recorded.
const EVERY: Duration = Duration::from_millis(250);
/// Maximum number of kernel launches in a recording. The limit ensures that reading the launch times takes at most a
/// few milliseconds.
const MOST_LAUNCHES: usize = 4096;

/// Records the kernels of some bursts of steps while switched on, and holds the latest profiles.
pub(super) struct Profiler {
    is_on: bool,
    next: Instant,
    /// Recording that has begun but has not been read yet, if any: its number of steps, and whether all of these steps
    /// have been queued.
    recording: Option<(u32, bool)>,
    /// Latest profile of each device; empty if there is none.
    pub profiles: Arc<[Profile]>,
}

impl Profiler {
    pub(super) fn new() -> Self {
        Self { is_on: false, next: Instant::now(), recording: None, profiles: Arc::default() }
    }

    /// Switches the recordings on or off.
    pub(super) fn switch(&mut self, is_on: bool) {
        if is_on != self.is_on {
            (self.is_on, self.next) = (is_on, Instant::now());
            self.profiles = Arc::default();
        }
    }

    /// If a recording is due, begins to record the next burst, which has `steps` steps.
    pub(super) fn begin_burst(&mut self, engine: &Engine, steps: u32) {
        if self.is_on && self.recording.is_none() && steps > 0 && Instant::now() >= self.next {
            engine.begin_recording(MOST_LAUNCHES);
            self.recording = Some((steps, false));
        }
    }

    /// Ends the recording. Called when all steps of the burst have been queued.
    pub(super) fn end_burst(&mut self, engine: &Engine) {
        if let Some((_, is_queued)) = &mut self.recording {
            engine.end_recording();
            *is_queued = true;
        }
    }

    /// Reads the recording of a burst that the devices have completed, if there is one. `step_seconds` is the mean
    /// device time of a step, or 0 if it is unknown. Recording hardly changes this mean, because few bursts are
    /// recorded.
    pub(super) fn read(&mut self, engine: &Engine, step_seconds: f64) {
        let Some((steps, true)) = self.recording else { return };
        self.recording = None;
        self.next = Instant::now() + EVERY;
        match profiles(engine, steps, step_seconds) {
            Ok(profiles) => self.profiles = profiles,
            Err(error) => {
                tracing::warn!("cannot measure the time of each kernel: {error}");
                self.is_on = false;
            }
        }
    }

    /// Discards the profiles and the recording. Called when the kernels or the number of bodies change.
    pub(super) fn discard(&mut self, engine: &Engine) {
        engine.end_recording();
        (self.recording, self.next) = (None, Instant::now());
        self.profiles = Arc::default();
    }
}

fn profiles(engine: &Engine, steps: u32, step_seconds: f64) -> Result<Arc<[Profile]>> {
    let recordings = engine.take_recordings()?;
    let step_seconds = Profile::reference(engine.devices(), step_seconds);
    let of = |(device, recording): (&crate::compute::Device, _)| {
        Some(Profile::new(&device.info.name, &recording, steps)?.corrected(step_seconds))
    };
    Ok(engine.devices().iter().zip(recordings).filter_map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::params;
    use crate::compute::{self, DeviceKind};
    use crate::engine::Config;

    fn engine() -> Engine {
        let found = compute::list().unwrap().into_iter().find(|found| found.info.kind == DeviceKind::Cpu);
        let mut config = Config::new(&crate::modes::gravity::INFO);
        config.bodies = Some(256);
        params::set(config.mode.as_mut(), "integrator", "euler").unwrap();
        Engine::new(found.expect("there is a CPU device").open().unwrap(), config).unwrap()
    }

    fn burst(profiler: &mut Profiler, engine: &mut Engine, steps: u32) {
        profiler.begin_burst(engine, steps);
        engine.run(steps, |_| ()).unwrap();
        profiler.end_burst(engine);
    }

    #[test]
    fn a_burst_is_profiled_only_while_the_profiler_is_enabled() {
        let (mut engine, mut profiler) = (engine(), Profiler::new());
        burst(&mut profiler, &mut engine, 3);
        profiler.read(&engine, 0.0);
        assert!(profiler.profiles.is_empty() && engine.take_recordings().unwrap()[0].launches.is_empty());

        profiler.switch(true);
        burst(&mut profiler, &mut engine, 3);
        // Launches after the burst do not count.
        engine.run(5, |_| ()).unwrap();
        profiler.read(&engine, 0.0);
        let profile = profiler.profiles[0].clone();
        assert_eq!(profile.steps, 3.0);
        let force = profile.kernels.iter().max_by(|a, b| a.seconds.total_cmp(&b.seconds)).unwrap();
        assert!(force.calls >= 1.0 && force.seconds > 0.0 && force.items > 0.0, "{profile:?}");
        assert!(profile.step_seconds >= force.seconds, "{profile:?}");

        // The next recording is not due yet.
        burst(&mut profiler, &mut engine, 3);
        profiler.read(&engine, 0.0);
        assert_eq!(profiler.profiles[0], profile);
        profiler.discard(&engine);
        assert!(profiler.profiles.is_empty());
        // A burst that is never completed leaves no profile.
        profiler.begin_burst(&engine, 3);
        profiler.discard(&engine);
        engine.run(1, |_| ()).unwrap();
        profiler.read(&engine, 0.0);
        assert!(profiler.profiles.is_empty());
    }
}
