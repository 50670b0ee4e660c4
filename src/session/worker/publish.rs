//! What the window is told of each frame.

use std::time::Instant;

use super::Worker;
use crate::bodies::Points;
use crate::error::Result;
use crate::params::Effect;
use crate::session::meter::Rates;
use crate::session::{Command, Stats};

impl Worker<'_> {
    /// Reads the frame back, beside the next burst which is already queued, and hands it over.
    pub(super) fn publish(&mut self) -> Result<()> {
        let stats = self.stats();
        let (step, _) = self.engine.clock();
        let (measures, judges) = (self.measurement_is_due(), self.judge.is_due());
        let info = self.engine.config().mode.info();
        self.gauge.turn_to(info);
        // While steps go on at a rate that can be compared; never before the first picture.
        let gauges = self.engine.config().running
            && self.meter.rates().steps_per_second > 0.0
            && self.gauge.is_due(self.engine.device(), info);
        let is_idle = self.waiting.iter().all(|command| matches!(command, Command::Picture(_)))
            && !measures
            && !judges
            && !gauges;
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
        let colours = self.colours();
        let frame = self.frames.input_buffer_mut();
        frame.points = Points { colours, ..points };
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
        self.voice.wake();
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

    /// See [`Points::colours`].
    pub(super) fn colours(&mut self) -> u64 {
        let shown = (self.engine.generation(), self.engine.config().mode.values().of(Effect::View));
        if self.coloured.1 != shown {
            self.coloured = (self.coloured.0 + 1, shown);
        }
        self.coloured.0
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
            work_in_step: self.engine.work_in_step() * self.engine.rounds(),
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
            last_deed: self.engine.last_deed(),
            changes: self.engine.changes(),
            device: self.engine.device().info.name.as_str().into(),
            sharing: self.engine.sharing().cloned(),
            diagnostics: self.sums.as_ref().map(|sums| sums.diagnostics.clone()),
            energy_drift: self.sums.as_ref().and_then(|sums| sums.energy_drift),
            relative_error: self.judge.relative_error(),
            ladder: Vec::new(),
            nonfinite: 0, // counted when the frame is whole
            series: Vec::new(),
        };
        self.ladder.note(&mut stats);
        stats
    }
}
