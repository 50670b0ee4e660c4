//! Complete states of scenes in host memory.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::build::{Resolved, bodies_for, max_bodies, seed};
use super::config::Config;
use super::snapshot::{RecipeRecord, Run};
use super::tuned::Tuned;
use crate::base::{BodyNames, Error, Result, State, invalid};
use crate::compute::{DeviceInfo, KernelEdits};
use crate::modes::{Extra, Recipe};

/// Number of steps and simulated time since a scene began.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Clock {
    /// Number that identifies a run. It increases whenever a scene is generated or restored from a snapshot.
    pub generation: u64,
    pub step: u64,
    pub time: f64,
}

/// A complete state, saved between two bursts of steps, from which the simulation can resume after a device fails.
#[derive(Debug, Clone)]
pub struct Checkpoint {
    /// Bodies or fluid flow at the time of the checkpoint.
    pub state: State,
    pub(super) extra: Extra,
    pub(super) clock: Clock,
    /// Time at which the checkpoint was taken.
    pub taken: Instant,
    /// Duration of copying the checkpoint's state from the devices.
    pub(super) cost: Duration,
}

impl Checkpoint {
    pub(super) fn new(state: State, extra: Extra, clock: Clock) -> Self {
        Self { state, extra, clock, taken: Instant::now(), cost: Duration::ZERO }
    }
}

/// A failed device, which the simulation no longer uses.
#[derive(Debug)]
pub struct LostDevice {
    /// The error that the failed device reported.
    pub error: Error,
    /// Index of the failed device in the list of available devices.
    pub place: usize,
    /// Number of the simulation step from which the remaining devices resumed after the failure.
    pub step: u64,
}

/// Returns the size in memory of a state and of the solver's additional lists, in bytes.
fn bytes(state: &State, extra: &Extra) -> usize {
    let state = match state {
        State::Bodies(bodies) => 2 * bodies.len() * size_of::<[f32; 4]>(),
        State::Flow(flow) => {
            size_of_val(&flow.cells[..]) + flow.walls.solid.len() + size_of_val(&flow.tracers[..])
        }
    };
    state + extra.values().map(|list| size_of_val(&list[..])).sum::<usize>()
}

/// A saved state from which [`Engine::continue_from`](super::core::Engine::continue_from) can repeat later steps
/// exactly, up to the next edit or parameter change. Clones share their memory.
#[derive(Debug, Clone)]
pub struct RestorePoint {
    pub(super) checkpoint: Arc<Checkpoint>,
    pub(super) resolved: Resolved,
    pub(super) is_edited: bool,
    pub(super) names: BodyNames,
    /// Number of manual edits, parameter changes and undos before this restore point.
    pub(super) changes: u64,
    /// Edited kernels that compute the steps after this restore point.
    pub(super) edits: Arc<KernelEdits>,
}

impl RestorePoint {
    /// Returns the number of steps from the beginning of the scene to this restore point.
    pub fn step(&self) -> u64 {
        self.checkpoint.clock.step
    }

    /// Returns the size of the state in memory, in bytes.
    pub fn bytes(&self) -> usize {
        bytes(&self.checkpoint.state, &self.checkpoint.extra)
    }

    /// Returns whether `other` shares its checkpoint in memory with this restore point.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.checkpoint, &other.checkpoint)
    }

    /// Returns whether only simulation steps lead from `earlier` to this restore point. If so, `earlier` can replace
    /// this restore point.
    pub fn follows(&self, earlier: &Self) -> bool {
        let run = |point: &Self| (point.checkpoint.clock.generation, point.changes);
        run(self) == run(earlier) && self.resolved == earlier.resolved && self.edits == earlier.edits
    }
}

/// Complete state of a scene, as kept for undo, snapshots and suspended modes.
#[derive(Clone)]
pub(super) struct SceneState {
    pub config: Config,
    pub resolved: Resolved,
    pub state: State,
    pub extra: Extra,
    pub clock: Clock,
    /// Whether the user has edited the scene since its first step.
    pub is_edited: bool,
    /// Names of the bodies. If the user edits the scene, each body keeps its name.
    pub names: BodyNames,
}

impl SceneState {
    /// Generates the initial state of the scene in `config`.
    pub(super) fn begin(config: Config, resolved: Resolved, generation: u64) -> Self {
        let clock = Clock { generation, ..Clock::default() };
        let state = seed(&config, resolved.bodies);
        let names = config.start.names.clone().of_first(resolved.bodies);
        Self { config, resolved, state, extra: Extra::new(), clock, is_edited: false, names }
    }

    /// Converts a scene from a snapshot to a state for `device`. `is_same` says whether `device` wrote the snapshot; if
    /// so, the stored kernel settings are kept.
    pub(super) fn from_run(
        run: Run,
        device: &DeviceInfo,
        is_same: bool,
        tuned: &Tuned,
        generation: u64,
    ) -> Result<Self> {
        let Run { config, recipe, generated, is_edited, names, step, time, state, mut extra, .. } = run;
        let mut config = Config { tuned: tuned.clone(), ..config };
        // `auto` differs between devices, but a restart must generate the same scene as before.
        if let (Some(generated), None) = (generated, config.start.bodies)
            && bodies_for(&config, device).ok() != Some(generated)
        {
            config.bodies = Some(generated);
        }
        let variant = config.mode.info().variant(&recipe.variant);
        let meant = variant.and_then(|v| Recipe::of_words(v, device, recipe.work_group, &recipe.knobs));
        let resolved = match (Resolved::new(&config, device), meant) {
            (Ok(resolved), Some(meant)) if is_same && resolved.recipe != meant => {
                // `auto` might choose other kernel settings than before, for instance after tuning.
                config.variant = Some(meant.variant);
                config.work_group = Some(meant.work_group);
                config.knobs.extend(meant.knobs().map(|(knob, value)| (knob.name, value)));
                Resolved::new(&config, device)?
            }
            (Err(_), _) if !is_same => {
                // The kernel settings were chosen for another device.
                (config.variant, config.work_group) = (None, None);
                Resolved::new(&config, device)?
            }
            (resolved, _) => resolved?,
        };
        if !is_same || meant != Some(resolved.recipe) {
            config.mode.unsettle(&mut extra);
        }
        let (count, most) = (state.len(), max_bodies(device, &config));
        if count > most {
            let (things, name) = (config.mode.info().work.things, &device.name);
            return Err(invalid!("cannot simulate {count} {things}: {name} has room for at most {most}"));
        }
        let clock = Clock { generation, step, time };
        Ok(Self { config, resolved, state, extra, clock, is_edited, names })
    }

    /// Returns the size of the state in memory, in bytes.
    pub(super) fn bytes(&self) -> usize {
        bytes(&self.state, &self.extra)
    }

    /// Converts the state to a scene for a snapshot. `baseline` is the reference energy for the drift, if any.
    pub(super) fn into_run(self, baseline: Option<f64>) -> Run {
        let Self { config, resolved, state, extra, clock: Clock { step, time, .. }, is_edited, names } = self;
        let Resolved { bodies, recipe } = resolved;
        let knobs = recipe.values().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let (variant, work_group) = (recipe.variant.name.to_owned(), recipe.work_group);
        let recipe = RecipeRecord { variant, work_group, knobs };
        let (generated, series) = (Some(bodies), Vec::new());
        Run { config, recipe, generated, is_edited, names, step, time, baseline, state, extra, series }
    }
}
