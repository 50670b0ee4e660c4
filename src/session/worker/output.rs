//! Sends frames and measurements to the window, and writes snapshots, pictures and studies.

use std::ops::ControlFlow;
use std::time::Instant;

use super::measurements::Sums;
use super::thread::Worker;
use crate::base::{CellRequest, ChangeEffect, LightRequest, Points, Result, State, is_quarantined};
use crate::engine::Study;
use crate::modes::Attraction;
use crate::modes::distributions::Distributions;
use crate::session::autosave::Save;
use crate::session::commands::{CaptureRequest, Command, FilmFrame};
use crate::session::frame::Stats;
use crate::session::notices::{Capture, Notice, Purpose};
use crate::session::rates::Rates;

impl Worker {
    /// Reads back a frame and sends it to the window. Before waiting for the data, queues the next burst of steps.
    pub(super) fn publish(&mut self) -> Result<()> {
        // The image of the bodies' light must be computed for the newest camera position.
        for request in self.queue.take_light() {
            self.set_light(request);
        }
        let stats = self.stats();
        let (step, info) = (self.step(), self.config().mode.info());
        let work_in_step = self.engine.work_in_step();
        let measures = self.measurements.energy_is_due(self.moment(), work_in_step);
        let checks = self.measurements.accuracy.is_due();
        let probes = self.probe_is_due();
        let surveys = self.distributions_are_due();
        let is_idle =
            self.queue.waiting.iter().all(|command| matches!(command, Command::SetFrameInterval { .. }))
                && !measures
                && !checks
                && !probes
                && !surveys;
        // If simulations take turns, the next burst must wait for the next turn.
        let goes_on = self.config().running && is_idle && self.stepper.goal.is_none() && self.turns.is_none();
        let next = goes_on.then(|| self.burst_length()).filter(|steps| *steps > 0);
        let selected = self.edits.selected.map(|body| self.engine.body(body)).transpose()?.flatten();
        let momentum = match self.config().mode.attraction() {
            Attraction::Bodies { .. } => selected.map(|_| self.momentum()).transpose()?.flatten(),
            Attraction::Planet { .. } | Attraction::Nothing => None,
        };
        let memory = self.publisher.take_memory();
        self.request_cells();
        // Until the window has received a frame of a new scene, its request for an image belongs to the previous scene.
        let is_known = self.publisher.generation == Some(stats.generation);
        self.publisher.generation = Some(stats.generation);
        let mut light = self.publisher.light.as_deref().filter(|_| is_known).cloned();
        // The field at a selected body depends on all other bodies, and names belong to single bodies.
        if selected.is_some() || !self.engine.names().is_empty() {
            light.iter_mut().for_each(|light| light.listed = usize::MAX);
        }
        self.engine.show_light(light);
        let pending = self.engine.publish(memory)?;
        if let Some(steps) = next {
            self.begin_burst(steps)?;
            self.engine.advance()?;
        }
        let (points, seconds) = match pending.wait() {
            Ok(answer) => answer,
            Err(error) => {
                // The other devices compute the lost steps again. A later frame shows the result.
                self.engine.recover(error)?;
                (self.stepper.is_bursting, self.publisher.is_stale) = (true, true);
                return Ok(());
            }
        };
        let step_seconds = self.measurements.rates.rates().step_seconds;
        self.measurements.profiler.read(&self.engine, step_seconds);
        if probes {
            // The probe runs before the window wakes, because drawing takes cores from a CPU device.
            self.measurements.peaks.turn(info);
        }
        if std::mem::take(&mut self.publisher.has_new_series) {
            self.publisher.history.note(info.name, stats.generation, step, &points.series);
        }
        let is_broken = points.series.iter().any(|value| !value.is_finite());
        let points = self.coloured(points);
        if let Some(seconds) = seconds {
            self.publisher.read_ms = seconds * 1e3;
        }
        let stats = Stats {
            read_ms: self.publisher.read_ms,
            selected: selected.map(|body| self.engine.complete_selected(body, &points.positions, momentum)),
            cells: points.cells.as_ref().map(|cells| cells.counts),
            distributions: self.measurements.distributions.latest.clone(),
            series: self.publisher.history.points(info.name, stats.generation),
            profiles: self.measurements.profiler.profiles.clone(),
            source: self.engine.source().cloned(),
            ..stats
        };
        self.publisher.publish(points, stats, &self.notifier);
        self.edits.published();
        self.measurements.rates.note(Instant::now(), step, self.engine.take_seconds());
        if is_broken && self.config().running {
            return self.halt();
        }
        if measures {
            self.measure_energy()?;
        }
        if checks {
            self.check_accuracy()?;
        }
        if surveys {
            self.compute_distributions()?;
        }
        Ok(())
    }

    /// Returns whether to compute the distributions of the bodies now.
    fn distributions_are_due(&self) -> bool {
        !self.config().mode.info().distributions.is_empty()
            && self.measurements.distributions.is_due(self.moment())
    }

    /// Copies the bodies, and starts a thread that computes their distributions.
    pub(super) fn compute_distributions(&mut self) -> Result<()> {
        let start = Instant::now();
        let State::Bodies(bodies) = self.engine.state()? else { return Ok(()) };
        let (clock, wanted) = (self.engine.clock(), self.config().mode.info().distributions);
        let (model, moment) = (self.config().start.density(), self.moment());
        let compute = move || Distributions::of(&bodies, wanted, model, clock);
        self.measurements.distributions.begin(moment, start.elapsed(), compute);
        Ok(())
    }

    /// Returns the last measured total momentum. Without a measurement, adds up the momenta of the bodies.
    fn momentum(&mut self) -> Result<Option<[f64; 3]>> {
        if let Some(sums) = &self.measurements.sums {
            return Ok(Some(sums.diagnostics.momentum));
        }
        let State::Bodies(bodies) = self.engine.state()? else { return Ok(None) };
        let moments = bodies.positions.iter().zip(&bodies.velocities).filter(|(_, v)| !is_quarantined(v));
        let sum = |axis: usize| moments.clone().map(|(x, v)| f64::from(x[3]) * f64::from(v[axis])).sum();
        Ok(Some([0, 1, 2].map(sum)))
    }

    /// Returns whether to measure a peak rate of the device now. Requires a running simulation whose speed is known.
    fn probe_is_due(&mut self) -> bool {
        let info = self.config().mode.info();
        let peaks = &mut self.measurements.peaks;
        peaks.keep_only(Some(info));
        self.engine.config().running
            && self.measurements.rates.rates().steps_per_second > 0.0
            && peaks.is_due(&self.engine.devices()[0], info)
    }

    /// Sets the image of the bodies' light that the next frames contain; `None` for no image.
    pub(super) fn set_light(&mut self, request: Option<Box<LightRequest>>) {
        let is_switch = self.publisher.light.is_some() != request.is_some();
        self.publisher.light = request;
        // While the simulation runs, the next frame soon contains the new image anyway.
        self.publisher.is_stale |= is_switch || !self.wants_steps();
    }

    /// Tells the engine which tree cells to include in the next frame.
    fn request_cells(&mut self) {
        let body = self.edits.selected;
        self.engine.show_cells(self.publisher.cells.map(|depth| CellRequest { depth, body }));
    }

    /// Sets [`Points::colours`], which identifies the quantity shown by the colours. If the colours show errors, also
    /// replaces the values of `points` with errors.
    fn coloured(&mut self, points: Points) -> Points {
        let view = self.config().mode.values().of(ChangeEffect::View);
        let colours = self.publisher.colours(self.engine.generation(), view);
        let mut points = Points { colours, ..points };
        if self.config().mode.shows_errors() {
            self.measurements.accuracy.bodies.colour(&mut points);
        }
        points
    }

    /// Returns the statistics of the simulation after the last complete burst of steps.
    fn stats(&mut self) -> Stats {
        let Self { engine, measurements, publisher, .. } = self;
        let (step, time) = engine.clock();
        let (resolved, info) = (engine.resolved(), engine.config().mode.info());
        let shares = engine.sharing().is_some_and(|sharing| sharing.used() > 1);
        let Rates { steps_per_second, step_seconds, busy } = measurements.rates.rates();
        let mut stats = Stats {
            mode: info.name,
            config: publisher.config(engine.config()),
            generation: engine.generation(),
            step,
            time,
            bodies: engine.size(),
            names: engine.names().clone(),
            variant: resolved.recipe.variant.name,
            work_group: resolved.recipe.work_group,
            knobs: resolved.recipe.values(),
            work_in_step: engine.work_in_step() * engine.rounds(),
            steps_per_frame: self.stepper.burst,
            steps_per_second,
            device_ms_per_step: step_seconds * 1e3,
            device_busy: busy,
            device_busy_overall: measurements.rates.busy(),
            // The limit is known only for a single device.
            limit: measurements.peaks.limit(info).filter(|_| resolved.recipe.variant.has_limit && !shares),
            peaks: measurements.peaks.roofline(),
            running: engine.config().running,
            goal: self.stepper.goal,
            undos: engine.undos(),
            last_edit: engine.last_edit(),
            edits: engine.edits(),
            changes: engine.changes(),
            device: engine.devices()[0].info.name.as_str().into(),
            sharing: engine.sharing().cloned(),
            diagnostics: measurements.sums.as_ref().map(|sums| sums.diagnostics.clone()),
            energy_drift: measurements.sums.as_ref().and_then(|sums| sums.energy_drift),
            relative_error: measurements.accuracy.errors.map(|errors| errors.rms),
            errors: measurements.accuracy.errors,
            restore_point: engine.restore_point(),
            ..Stats::default()
        };
        let counts = engine.config().mode.counts(&resolved.recipe);
        measurements.variants.note(&mut stats, counts);
        stats
    }

    /// Measures energy and momentum, and stores the results for the statistics.
    pub(super) fn measure_energy(&mut self) -> Result<()> {
        let start = Instant::now();
        let (diagnostics, energy_drift) = self.engine.diagnostics()?;
        let sums = Sums { diagnostics, energy_drift, moment: self.moment() };
        self.measurements.record_energy(sums, start.elapsed());
        // While the simulation runs, the next frame shows the result anyway.
        self.publisher.is_stale |= !self.config().running;
        Ok(())
    }

    /// Starts an accuracy check, which compares the last step of some bodies with the f64 reference.
    pub(super) fn check_accuracy(&mut self) -> Result<()> {
        let start = Instant::now();
        let size = self.engine.size();
        let pairs_of_one = self.engine.work_in_step() / size.max(1) as f64;
        let shows_errors = self.config().mode.shows_errors();
        let chosen =
            self.measurements.accuracy.choose(size, pairs_of_one, (shows_errors, !self.wants_steps()));
        let pairs = chosen.len() as f64 * pairs_of_one;
        match self.engine.sample(chosen)? {
            Some(sample) => self.measurements.accuracy.check(sample, pairs, start.elapsed()),
            None if shows_errors => self.measurements.accuracy.postpone(),
            None => {}
        }
        Ok(())
    }

    /// Completes the current burst of steps, then starts writing a snapshot.
    pub(super) fn save(&mut self, save: Save) -> Result<()> {
        let is_requested = save.path.is_some();
        let is_whole = match is_requested {
            true => self.finish_burst()?,
            // An autosave may be skipped, because the next autosave comes soon.
            false => self.settle()?,
        };
        if is_whole {
            return self.autosave.save(&mut self.engine, save, &self.notifier);
        }
        if is_requested {
            // The program quits, and writes the file at the end.
            self.queue.waiting.push_front(Command::SaveSnapshot(save));
        }
        Ok(())
    }

    /// Sends the points of a picture, or computes the steps before a film frame and then sends the frame's points.
    pub(super) fn capture(&mut self, request: CaptureRequest) -> Result<()> {
        if !self.finish_burst()? {
            if request.film.is_none() {
                // The program quits, and waits for the picture if there is time.
                self.queue.waiting.push_front(Command::Capture(request));
            }
            return Ok(());
        }
        let purpose = match request.film {
            Some(FilmFrame { film, steps }) => {
                self.engine.start(steps);
                self.stepper.is_bursting = true;
                if !self.advance_unless(|_, _| false)? {
                    return Ok(());
                }
                self.engine.finish()?;
                Purpose::Film(film)
            }
            None => {
                // The window draws the picture's points in place of its frame, and then needs the frame again.
                self.publisher.is_stale = true;
                Purpose::Picture(Box::new(self.engine.snapshot()?))
            }
        };
        self.request_cells();
        // Names and the field at a selected body need all bodies.
        let light = request.light.map(|light| LightRequest { listed: usize::MAX, ..*light });
        self.engine.show_light(light);
        let (points, _) = self.engine.publish(Points::default())?.wait()?;
        let points = self.coloured(points);
        let (time, names) = (self.engine.clock().1, self.engine.names().clone());
        let config = self.publisher.config(self.engine.config());
        self.notifier.send(Notice::Captured(Box::new(Capture { points, time, names, config, purpose })));
        Ok(())
    }

    /// Measures kernel settings while the simulation waits, until the study is complete or another command arrives.
    pub(super) fn study(&mut self, study: Study) -> Result<()> {
        let complete = self.settle()? && self.run_study(study);
        self.notifier.send(Notice::StudyEnded { study, complete });
        self.measurements.rates.reset();
        Ok(())
    }

    fn run_study(&mut self, study: Study) -> bool {
        let Self { engine, queue, notifier, .. } = self;
        let mut complete = true;
        let outcome = study.run(&engine.devices()[0], engine.config(), &mut |share, trial| {
            notifier.send(Notice::StudyProgress(share, *trial));
            queue.receive();
            complete = queue.waiting.iter().all(Command::waits_for_study);
            if complete { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        // The study uses its own bodies, so the simulation is intact.
        if let Err(error) = outcome {
            complete = false;
            let current = Box::new(engine.config().clone());
            notifier.send(Notice::Rejected { error, wanted: current.clone(), current });
        }
        complete
    }
}
