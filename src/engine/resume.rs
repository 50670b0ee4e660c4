//! Going on where something was left: a mode while another was shown, and all of it in a snapshot.

use super::{Checkpoint, Clock, Engine, Resolved, bodies_for, continued, max_bodies};
use crate::compute::{DeviceInfo, Devices};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::modes::{Extra, Recipe};
use crate::snapshot::{RecipeWords, Run, Snapshot};
use crate::state::State;
use crate::tuned::Tuned;

impl Engine {
    /// Goes on where a snapshot was taken: on the same device with the same bits, as if it had never stopped. `tuned` is what
    /// `auto` knows of the device.
    ///
    /// # Errors
    /// As [`Engine::new`], or if the snapshot is not of what it says.
    pub fn resume(devices: impl Into<Devices>, snapshot: Snapshot, tuned: &Tuned) -> Result<Self> {
        let devices = devices.into();
        let device = &devices[0];
        let is_same = snapshot.device == signature(&device.info);
        let mut runs = snapshot.runs.into_iter();
        let first =
            runs.next().ok_or_else(|| Error::Invalid("there is no scene in the snapshot".to_owned()))?;
        let parked = |(nth, run): (u64, Run)| Parked::of(run, &device.info, is_same, tuned, nth);
        let parked = (2..).zip(runs).map(parked).collect::<Result<Vec<_>>>()?;
        let baseline = first.baseline;
        let Parked { mut config, resolved, state, extra, clock, is_touched } =
            Parked::of(first, &device.info, is_same, tuned, 1)?;
        if devices.pool().nth(1).is_some() {
            config.devices = devices.chosen().to_vec();
        }
        let simulation = continued(&devices, &config, resolved, (&state, &extra))?;
        let checkpoint = Checkpoint::new(state, extra, clock);
        let seedings = 1 + parked.len() as u64;
        let engine = Self::with(devices, (config, resolved), simulation, checkpoint);
        Ok(Self { seedings, parked, baseline, is_touched, ..engine })
    }

    /// The same in place of what there is, which stays on an error.
    ///
    /// # Errors
    /// As [`Engine::resume`].
    pub fn restore(&mut self, snapshot: Snapshot) -> Result<()> {
        let resumed = Self::resume(self.devices.clone(), snapshot, &self.config.tuned)?;
        let before = std::mem::replace(self, resumed);
        self.changes = before.changes + 1;
        // No seeding is taken for one that was shown before.
        self.seedings += before.seedings;
        self.clock.generation += before.seedings;
        self.parked.iter_mut().for_each(|parked| parked.clock.generation += before.seedings);
        Ok(())
    }

    /// All that it is after the last whole burst, to be resumed. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn snapshot(&mut self) -> Result<Snapshot> {
        let first = self.shown()?;
        Ok(self.packed(first))
    }

    /// What it was at the last checkpoint, to be resumed, without asking a device.
    pub fn last_snapshot(&self) -> Snapshot {
        let Checkpoint { state, extra, clock, .. } = self.checkpoint.clone();
        let (config, resolved, is_touched) = (self.config.clone(), self.resolved, self.is_touched);
        self.packed(Parked { config, resolved, state, extra, clock, is_touched })
    }

    /// A snapshot of `first`, with the other modes.
    fn packed(&self, first: Parked) -> Snapshot {
        let first = Run { baseline: self.baseline, ..first.run() };
        let others = self.parked.iter().map(|parked| parked.clone().run());
        Snapshot {
            device: signature(&self.devices[0].info),
            view: String::new(),
            runs: std::iter::once(first).chain(others).collect(),
        }
    }

    /// What is shown, as it would be put aside. Waits.
    pub(super) fn shown(&mut self) -> Result<Parked> {
        let (state, extra) = self.past()?;
        let (config, resolved, is_touched) = (self.config.clone(), self.resolved, self.is_touched);
        Ok(Parked { config, resolved, state, extra, clock: self.clock, is_touched })
    }
}

/// A scene that waits while another mode is shown.
#[derive(Clone)]
pub(super) struct Parked {
    pub config: Config,
    pub resolved: Resolved,
    pub state: State,
    pub extra: Extra,
    pub clock: Clock,
    /// Whether anything was changed by hand since it began.
    pub is_touched: bool,
}

impl Parked {
    /// A run of a snapshot on a device: what it came to there by then is what it comes to now, if that is the same one.
    fn of(run: Run, device: &DeviceInfo, is_same: bool, tuned: &Tuned, generation: u64) -> Result<Self> {
        let Run { config, recipe, made, is_touched, step, time, state, extra, .. } = run;
        let mut config = Config { tuned: tuned.clone(), ..config };
        // `auto` is another number on another device, and a restart is to make the same scene.
        if let (Some(made), None) = (made, config.start.bodies)
            && bodies_for(&config, device).ok() != Some(made)
        {
            config.bodies = Some(made);
        }
        let variant = config.mode.info().variant(&recipe.variant);
        let meant = variant.and_then(|v| Recipe::of_words(v, device, recipe.work_group, &recipe.knobs));
        let resolved = match (Resolved::new(&config, device), meant) {
            (Ok(resolved), Some(meant)) if is_same && resolved.recipe != meant => {
                // `auto` has learnt something since. It is not asked again.
                config.variant = Some(meant.variant);
                config.work_group = Some(meant.work_group);
                config.knobs.extend(meant.knobs().map(|(knob, value)| (knob.name, value)));
                Resolved::new(&config, device)?
            }
            (Err(_), _) if !is_same => {
                // What another device took, this one need not take.
                (config.variant, config.work_group) = (None, None);
                Resolved::new(&config, device)?
            }
            (resolved, _) => resolved?,
        };
        let most = max_bodies(device, config.mode.as_ref());
        if state.len() > most {
            let (count, things) = (state.len(), config.mode.info().work.things);
            return Err(Error::Invalid(format!(
                "{count} {things} are too many: {} has room for {most}",
                device.name
            )));
        }
        let clock = Clock { generation, step, time };
        Ok(Self { config, resolved, state, extra, clock, is_touched })
    }

    /// The memory that it takes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        let state = match &self.state {
            State::Bodies(bodies) => 2 * bodies.len() * size_of::<[f32; 4]>(),
            State::Flow(flow) => size_of_val(&flow.cells[..]) + flow.walls.solid.len(),
        };
        state + self.extra.values().map(|list| size_of_val(&list[..])).sum::<usize>()
    }

    fn run(self) -> Run {
        let Self { config, resolved, state, extra, clock: Clock { step, time, .. }, is_touched } = self;
        let Resolved { bodies, recipe } = resolved;
        let knobs = recipe.values().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        let recipe =
            RecipeWords { variant: recipe.variant.name.to_owned(), work_group: recipe.work_group, knobs };
        let (baseline, told) = (None, Vec::new());
        Run { config, recipe, made: Some(bodies), is_touched, step, time, baseline, state, extra, told }
    }
}

/// What tells one device from another.
fn signature(device: &DeviceInfo) -> [String; 2] {
    [device.name.clone(), device.driver.clone()]
}
