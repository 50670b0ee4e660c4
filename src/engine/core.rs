//! The engine: a simulation on its devices, with its configuration and its clock.

use std::collections::VecDeque;
use std::sync::Arc;

use super::build::{Resolved, build};
use super::config::Config;
use super::states::{Checkpoint, Clock, LostDevice, SceneState};
use crate::base::{Bodies, BodyNames, CellRequest, Cells, EditKind, LightRequest, Points, Result, State};
use crate::compute::{Device, Devices, Pending, ProgramSource, Recording};
use crate::modes::accuracy::Sample;
use crate::modes::{Diagnostics, Sharing, Simulation};
use crate::scene::Scene;

/// A simulation configured by a [`Config`], and the devices that it runs on.
pub struct Engine {
    pub(super) devices: Devices,
    pub(super) config: Config,
    pub(super) resolved: Resolved,
    pub(super) simulation: Box<dyn Simulation>,
    pub(super) clock: Clock,
    pub(super) is_backwards: bool,
    /// Number of times a scene has been generated or restored so far.
    pub(super) seedings: u64,
    /// Saved states of the modes that the user switched away from.
    pub(super) suspended: Vec<SceneState>,
    /// Undo history: the kind of each manual edit and the state before the edit, oldest first.
    pub(super) undos: VecDeque<(EditKind, SceneState)>,
    /// Edits that were undone: the kind of each edit and the state before it was undone, in the order of undoing.
    pub(super) redos: VecDeque<(EditKind, SceneState)>,
    /// Number of manual edits so far.
    pub(super) edits: u64,
    /// Whether the user has edited the scene since its first step.
    pub(super) is_edited: bool,
    /// Names of the bodies.
    pub(super) names: BodyNames,
    pub(super) is_resumed: bool,
    /// Number of manual edits, parameter changes and undos so far.
    pub(super) changes: u64,
    /// Reference energy for measuring the energy drift; `None` after a change that does not conserve energy.
    pub(super) baseline: Option<f64>,
    pub(super) checkpoint: Arc<Checkpoint>,
    /// Whether something other than a step has changed the state since the last checkpoint.
    pub(super) changed_since_checkpoint: bool,
    /// Whether restore points are kept. If so, checkpoints are also taken after edits and parameter changes.
    pub(super) keeps_restore_points: bool,
    /// Step and time at the start of the planned burst of steps; `None` once the first part of the burst has been
    /// queued.
    pub(super) new_burst: Option<Clock>,
    /// Whether the steps since the last checkpoint are being recomputed because a device was lost.
    pub(super) is_replaying: bool,
    pub(super) lost_devices: Vec<LostDevice>,
    /// Total number of passes over all pairs or cells in all calls to [`Engine::run`].
    pub(super) rounds_run: f64,
    /// Request for the tree cells that [`Engine::publish`] adds to the points; `None` for no cells.
    pub(super) shown_cells: Option<CellRequest>,
    /// Request for the image of the bodies' light that [`Engine::publish`] adds to the points; `None` for no image.
    pub(super) shown_light: Option<LightRequest>,
}

/// Picture of the initial state of a scene, available before the kernels that advance the simulation are compiled.
pub struct Preview {
    /// The points to draw.
    pub points: Points,
    /// The configuration of the scene.
    pub config: Config,
    /// Names of the bodies.
    pub names: BodyNames,
    /// Number that identifies the run; the engine's frames have the same number.
    pub generation: u64,
}

impl Preview {
    /// Maximum number of bodies or cells in a preview, so that copying them hardly delays the kernels.
    const MOST: usize = 1 << 20;

    /// Returns the preview of `scene`, or `None` if there are too many bodies or cells, or if only a simulation can
    /// compute the colours.
    fn of(scene: &SceneState, device: &Device) -> Result<Option<Self>> {
        let SceneState { config, resolved, state, names, clock, .. } = scene;
        if state.len() > Self::MOST {
            return Ok(None);
        }
        Ok(config.mode.preview(device, &resolved.recipe, state)?.map(|mut points| {
            if config.mode.shows_own_colours() {
                use_own_colours(&mut points, &config.start, names);
            }
            Self { points, config: config.clone(), names: names.clone(), generation: clock.generation }
        }))
    }
}

/// Gives the bodies in `points` the colours that the scene defines for their names.
fn use_own_colours(points: &mut Points, scene: &Scene, names: &BodyNames) {
    points.colour(names.iter().filter_map(|(body, name)| Some((body, *scene.colours.get(name)?))));
}

impl Engine {
    /// Generates the scene of `config` and uploads it to the devices.
    ///
    /// # Errors
    /// Returns an error if the configuration cannot be applied or a kernel fails to build.
    pub fn new(devices: impl Into<Devices>, config: Config) -> Result<Self> {
        let devices = devices.into();
        let resolved = Resolved::new(&config, &devices[0].info)?;
        Self::with(devices, SceneState::begin(config, resolved, 1))
    }

    /// Generates the scene of `config` and uploads it to the devices, as [`Engine::new`] does. Before it builds the
    /// kernels, which may take seconds, calls `show` with a preview of the scene, if there is one.
    ///
    /// # Errors
    /// See [`Engine::new`].
    pub fn with_preview(
        devices: impl Into<Devices>,
        config: Config,
        show: impl FnOnce(Preview),
    ) -> Result<Self> {
        let devices = devices.into();
        let resolved = Resolved::new(&config, &devices[0].info)?;
        let scene = SceneState::begin(config, resolved, 1);
        // An error will occur again when the simulation is built, and is reported then.
        if let Some(preview) = Preview::of(&scene, &devices[0]).ok().flatten() {
            show(preview);
        }
        Self::with(devices, scene)
    }

    /// Returns an engine that continues from `scene`.
    pub(super) fn with(devices: Devices, scene: SceneState) -> Result<Self> {
        let SceneState { config, resolved, state, extra, clock, is_edited, names } = scene;
        Ok(Self {
            is_backwards: config.reverse,
            simulation: build(&devices, &config, resolved, (&state, &extra))?,
            devices,
            config,
            resolved,
            clock,
            seedings: 1,
            suspended: Vec::new(),
            undos: VecDeque::new(),
            redos: VecDeque::new(),
            edits: 0,
            is_edited,
            names,
            is_resumed: false,
            changes: 0,
            baseline: None,
            checkpoint: Arc::new(Checkpoint::new(state, extra, clock)),
            changed_since_checkpoint: false,
            keeps_restore_points: false,
            new_burst: None,
            is_replaying: false,
            lost_devices: Vec::new(),
            rounds_run: 0.0,
            shown_cells: None,
            shown_light: None,
        })
    }

    /// Returns whether the engine was resumed from a snapshot.
    pub fn is_resumed(&self) -> bool {
        self.is_resumed
    }

    /// Returns the configurations of the modes that the user switched away from.
    pub fn suspended(&self) -> impl Iterator<Item = &Config> {
        self.suspended.iter().map(|scene| &scene.config)
    }

    /// Plans `steps` steps for [`Engine::advance`], and sets the clock to the end of these steps. Backward steps stop
    /// at step 0.
    pub fn start(&mut self, steps: u32) {
        let Clock { step, .. } = self.clock;
        let dt = self.config.mode.time_step();
        let (steps, next, dt) = match self.is_backwards {
            false => (steps, step + u64::from(steps), dt),
            true => {
                let steps = steps.min(u32::try_from(step).unwrap_or(u32::MAX));
                (steps, step - u64::from(steps), -dt)
            }
        };
        if self.is_replaying {
            // The planned burst includes the steps that the remaining devices repeat after the loss of a device.
            let again = next.abs_diff(self.checkpoint.clock.step);
            self.simulation.start(u32::try_from(again).unwrap_or(u32::MAX));
        } else {
            self.simulation.start(steps);
            self.new_burst = Some(self.clock);
        }
        self.clock.step = next;
        self.clock.time += f64::from(steps) * dt;
        // Rounding errors of the time are removed at step 0.
        if self.is_backwards && next == 0 && self.clock.time.abs() < 1e-6 * dt.abs() {
            self.clock.time = 0.0;
        }
    }

    /// Queues the next part of the planned steps (see [`Simulation::advance`]). Returns whether more parts remain. If
    /// one of several devices fails, the other devices repeat the steps since the last checkpoint.
    pub fn advance(&mut self) -> Result<bool> {
        let outcome = self.update_checkpoint().and_then(|()| self.simulation.advance());
        let remains = self.or_recover(outcome)?.unwrap_or(true);
        self.is_replaying &= remains;
        Ok(remains)
    }

    /// Computes `steps` steps and waits until they are done. Calls `progress` with the completed fraction, from 0 to 1.
    pub fn run(&mut self, steps: u32, mut progress: impl FnMut(f32)) -> Result<()> {
        self.start(steps);
        while self.advance()? {
            progress(self.simulation.progress());
        }
        self.finish()?;
        self.rounds_run += f64::from(steps) * self.rounds();
        Ok(())
    }

    /// Waits until the devices have computed all planned steps.
    pub fn finish(&mut self) -> Result<()> {
        self.retry(|simulation| simulation.finish())
    }

    /// Returns energy and momentum, and the relative energy drift. The drift is measured from the first call after the
    /// last change of the physics. It is `None` in that first call, or if the mode does not conserve energy. Blocks
    /// until the device is done.
    pub fn diagnostics(&mut self) -> Result<(Diagnostics, Option<f64>)> {
        let sums = self.retry(|simulation| simulation.diagnostics())?;
        let drift = self.baseline.map(|baseline| relative_drift(baseline, sums.energy()));
        // The energy of a flow that blew up is not finite.
        self.baseline = self.baseline.or(Some(sums.energy()).filter(|energy| energy.is_finite()));
        Ok((sums, drift.filter(|_| self.config.mode.conserves_energy())))
    }

    /// Returns the computed and the exact effect of the last step on the bodies or cells with the indices `chosen`;
    /// `None` if no step can be checked yet (see [`Simulation::sample`]). Waits for the device.
    pub fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        self.retry(|simulation| simulation.sample(chosen.clone()))
    }

    /// Returns the current bodies or fluid flow. Blocks until the device has finished.
    pub fn state(&mut self) -> Result<State> {
        self.retry(|simulation| simulation.state())
    }

    /// Returns the current bodies. Blocks until the device has finished.
    ///
    /// # Errors
    /// Returns an error if the mode has no bodies.
    pub fn bodies(&mut self) -> Result<Bodies> {
        self.state()?.into_bodies()
    }

    /// Returns the quantity that the mode records after each step of the last burst, such as the mean speed of a fluid
    /// (see [`Simulation::series`]). Blocks until the device is done.
    pub fn series(&mut self) -> Result<Vec<f64>> {
        self.retry(|simulation| simulation.series())
    }

    /// Returns the names of the bodies.
    pub fn names(&self) -> &BodyNames {
        &self.names
    }

    /// Returns the number of bodies or cells.
    pub fn size(&self) -> usize {
        self.checkpoint.state.len()
    }

    /// Returns the number of pairs or cells that a step computes, not counting repetitions in substeps.
    pub fn work_in_step(&self) -> f64 {
        let mode = &self.config.mode;
        (mode.info().work.in_step)(self.size()) * f64::from(mode.force_evaluations())
    }

    /// Returns the mean number of passes over all pairs or cells per step of the last burst. Substeps raise this number
    /// above 1.
    pub fn rounds(&mut self) -> f64 {
        self.simulation.rounds()
    }

    /// Returns the total number of passes over all pairs or cells in all calls to [`Engine::run`].
    pub fn rounds_run(&self) -> f64 {
        self.rounds_run
    }

    /// Chooses the tree cells that later [`Engine::publish`] calls add to the points; `None` for no cells.
    pub fn show_cells(&mut self, request: Option<CellRequest>) {
        self.shown_cells = request;
    }

    /// Chooses the image of the bodies' light that later [`Engine::publish`] calls add to the points, in place of some
    /// of the bodies; `None` for no image. There is no image while the colour is `error` or `own`, because the host
    /// sets these colours.
    pub fn show_light(&mut self, request: Option<LightRequest>) {
        self.shown_light = request;
    }

    /// Returns the requested tree cells, or `None` if the kernel variant uses no tree. Blocks until the device has
    /// finished.
    pub fn cells(&mut self, request: CellRequest) -> Result<Option<Cells>> {
        self.retry(|simulation| simulation.cells(request))
    }

    /// Queues a copy of the drawable points to the host, reusing the memory of `points` (see [`Simulation::publish`]).
    /// If [`Engine::show_cells`] has chosen cells, this function blocks until the device has finished.
    pub fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        let cells = self.shown_cells.map(|request| self.cells(request)).transpose()?.flatten();
        let mut points = Some(points);
        let mode = &self.config.mode;
        let shows_own_colours = mode.shows_own_colours();
        let light = self.shown_light.clone().filter(|_| !shows_own_colours && !mode.shows_errors());
        let pending =
            self.retry(|simulation| simulation.publish(points.take().unwrap_or_default(), light.as_ref()))?;
        let own = shows_own_colours.then(|| (self.config.start.clone(), self.names.clone()));
        Ok(pending.map(move |mut points| {
            if let Some((scene, names)) = own {
                use_own_colours(&mut points, &scene, &names);
            }
            Points { cells, ..points }
        }))
    }

    /// Returns the time, in seconds, that the device spent on the steps that finished since the last call.
    pub fn take_seconds(&mut self) -> f64 {
        self.simulation.take_seconds()
    }

    /// Starts recording kernel launches on all devices of this process: at most `most` launches on each device.
    pub fn begin_recording(&self, most: usize) {
        self.devices.iter().for_each(|device| device.begin_recording(most));
    }

    /// Stops recording kernel launches on all devices of this process.
    pub fn end_recording(&self) {
        self.devices.iter().for_each(Device::end_recording);
    }

    /// Stops recording kernel launches, and returns the recording of each device. Waits until the recorded launches
    /// have ended.
    ///
    /// # Errors
    /// Returns an error if a driver does not report the times of kernels.
    pub fn take_recordings(&self) -> Result<Vec<Recording>> {
        self.devices.iter().map(Device::take_recording).collect()
    }

    /// Returns the current configuration.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the settings of the current configuration, with each `auto` replaced by a concrete value.
    pub fn resolved(&self) -> Resolved {
        self.resolved
    }

    /// Returns the devices that compute the steps. Settings left at `auto` are chosen to suit the first device.
    pub fn devices(&self) -> &Devices {
        &self.devices
    }

    /// Returns the source of the program that computes steps on the device, or on the first device in use if there are
    /// several. Returns `None` if the mode has no program.
    pub fn source(&self) -> Option<&Arc<ProgramSource>> {
        self.simulation.source()
    }

    /// Returns how the devices share the work, or `None` for a single device.
    pub fn sharing(&self) -> Option<&Sharing> {
        self.simulation.sharing()
    }

    /// Returns a counter that starts at 1 and increases whenever a scene is generated or restored.
    pub fn generation(&self) -> u64 {
        self.clock.generation
    }

    /// Returns the number of manual edits so far. Undoing an edit does not lower the number.
    pub fn edits(&self) -> u64 {
        self.edits
    }

    /// Returns the number of edits, parameter changes and undos so far.
    pub fn changes(&self) -> u64 {
        self.changes
    }

    /// Returns the number of steps since the scene began, and the simulated time.
    pub fn clock(&self) -> (u64, f64) {
        (self.clock.step, self.clock.time)
    }
}

/// Returns the relative change in energy from `start` to `end`, or `end` if `start` is 0.
pub fn relative_drift(start: f64, end: f64) -> f64 {
    match start {
        0.0 => end,
        _ => (end - start) / start.abs(),
    }
}
