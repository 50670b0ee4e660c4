//! What the window is told of each frame, and what is measured for that.

use std::time::{Duration, Instant};

use super::Worker;
use crate::error::Result;
use crate::session::Stats;
use crate::session::meter::Rates;

/// Energy and momentum may take this share of the time, ...
const DIAGNOSTICS_SHARE: f64 = 0.01;
/// ... and are left out where they would hold up the steps for longer than this.
const DIAGNOSTICS_SECONDS: f64 = 0.5;
/// How fast a device is before it was measured, for that decision.
const GUESSED_PAIRS_PER_SECOND: f64 = 1e9;

impl Worker<'_> {
    /// Reads the frame back, beside the next burst which is already queued, and hands it over.
    pub(super) fn publish(&mut self) -> Result<()> {
        let stats = self.stats();
        let (step, _) = self.engine.clock();
        let (measures, judges) = (self.measurement_is_due(), self.judge.is_due());
        let info = self.engine.config().mode.info();
        self.gauge.turn_to(info);
        // Once steps go on at a rate that can be compared; never before the first picture.
        let gauges =
            self.meter.rates().steps_per_second > 0.0 && self.gauge.is_due(self.engine.device(), info);
        let is_idle = self.waiting.is_empty() && !measures && !judges && !gauges;
        let goes_on = self.engine.config().running && is_idle && self.goal.is_none();
        let next = goes_on.then(|| self.burst_length()).filter(|steps| *steps > 0);
        let held = self.held()?;
        let memory = std::mem::take(&mut self.frames.input_buffer_mut().points);
        let pending = self.engine.publish(memory)?;
        if let Some(steps) = next {
            self.begin_burst(steps)?;
            self.engine.advance()?;
        }
        let (points, seconds) = match pending.wait() {
            Ok(answer) => answer,
            Err(error) => {
                // The others take what was lost anew, and show it then.
                self.engine.recover(error)?;
                (self.under_way, self.stale) = (true, true);
                return Ok(());
            }
        };
        if gauges {
            // Before the window wakes and draws: that would take cores from a CPU.
            self.gauge.turn(info);
        }
        if !std::mem::replace(&mut self.told, true) {
            self.history.note(info.name, stats.generation, step, &points.series);
        }
        let is_broken = points.series.iter().any(|value| !value.is_finite());
        let frame = self.frames.input_buffer_mut();
        frame.points = points;
        if let Some(seconds) = seconds {
            self.read_ms = seconds * 1e3;
        }
        frame.value_range = frame.points.value_range();
        frame.stats = Stats { read_ms: self.read_ms, ..stats };
        frame.stats.held = held.map(|held| self.engine.complete(held, &frame.points.positions));
        frame.stats.nonfinite = frame.points.nonfinite();
        frame.stats.series = self.history.points(info.name, frame.stats.generation);
        self.frames.publish();
        (self.stale, self.screen_is_ready) = (false, false);
        self.renumbered = self.renumbered.map(|_| true);
        (self.wake)();
        self.meter.note(Instant::now(), step, self.engine.take_seconds());
        if is_broken && self.engine.config().running {
            return self.halt();
        }
        if measures {
            self.measure()?;
        }
        if judges {
            self.judge()?;
        }
        Ok(())
    }

    /// How the simulation is doing at the burst that was last completed.
    fn stats(&mut self) -> Stats {
        let (step, time) = self.engine.clock();
        let resolved = self.engine.resolved();
        let Rates { steps_per_second, step_seconds, busy } = self.meter.rates();
        let mut stats = Stats {
            mode: self.engine.config().mode.info().name,
            generation: self.engine.generation(),
            step,
            time,
            bodies: self.engine.size(),
            variant: resolved.recipe.variant.name,
            work_group: resolved.recipe.work_group,
            knobs: resolved.recipe.values(),
            steps_per_frame: self.burst,
            steps_per_second,
            device_ms_per_step: step_seconds * 1e3,
            device_busy: busy,
            device_busy_overall: self.meter.busy(),
            limit: self
                .gauge
                .limit(self.engine.config().mode.info())
                // It is that of one device.
                .filter(|_| resolved.recipe.variant.has_limit && !self.engine.shares()),
            read_ms: self.read_ms,
            running: self.engine.config().running,
            goal: self.goal,
            held: None, // told when it is known where all are
            undos: self.engine.undos(),
            changes: self.engine.changes(),
            device: self.engine.device().info.name.as_str().into(),
            sharing: self.engine.sharing().cloned(),
            diagnostics: self.sums.as_ref().map(|(sums, _)| sums.clone()),
            energy_drift: self.sums.as_ref().and_then(|(_, drift)| *drift),
            relative_error: self.judge.relative_error(),
            ladder: Vec::new(),
            nonfinite: 0, // counted when the frame is whole
            series: Vec::new(),
        };
        self.ladder.note(&mut stats, &self.engine.config().mode.info().work);
        stats
    }

    /// Energy and momentum cost about a step: never where that would be felt.
    fn measurement_is_due(&self) -> bool {
        let guess = self.engine.work_in_step() / GUESSED_PAIRS_PER_SECOND;
        let cost = match self.meter.rates().step_seconds {
            step if step > 0.0 => step,
            _ => guess,
        };
        cost < DIAGNOSTICS_SECONDS && Instant::now() >= self.next_measurement
    }

    fn measure(&mut self) -> Result<()> {
        let start = Instant::now();
        self.sums = Some(self.engine.diagnostics()?);
        // The first takes longer, where a compiler waits for it, and tells no drift: the second comes as soon as can be.
        let cost = start.elapsed();
        let usual = self.measured_in.replace(cost).map_or(Duration::ZERO, |before| before.min(cost));
        let pause = usual.mul_f64(1.0 / DIAGNOSTICS_SHARE).max(self.measure_every);
        self.next_measurement = Instant::now() + pause;
        // The first numbers of a scene are worth a frame of their own.
        self.stale |= !self.engine.config().running;
        Ok(())
    }

    /// Hands what the last step did to some bodies over to be judged. It was computed in the ordinary course and is
    /// only read.
    fn judge(&mut self) -> Result<()> {
        let start = Instant::now();
        let size = self.engine.size();
        let pairs_of_one = self.engine.work_in_step() / size.max(1) as f64;
        let chosen = self.judge.choose(size, pairs_of_one);
        let pairs = chosen.len() as f64 * pairs_of_one;
        if let Some(sample) = self.engine.sample(chosen)? {
            self.judge.judge(sample, pairs, start.elapsed());
        }
        Ok(())
    }
}
