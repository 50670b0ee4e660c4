//! Switches an engine to another configuration, with as little work as possible, or to edited kernels.

use std::collections::BTreeSet;
use std::iter;
use std::sync::Arc;

use super::build::{Resolved, build, directed};
use super::config::Config;
use super::core::Engine;
use super::states::{Checkpoint, SceneState};
use crate::base::{Attractor, ChangeEffect, Points, Result};
use crate::compute::{Device, DeviceInfo, Devices, KernelEdits};

impl Engine {
    /// Applies `config`. Rebuilds kernels or generates new bodies only if necessary. A mode that the user returns to
    /// continues where it stopped. Returns the effect on the simulation, or `None` if nothing changed.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if the configuration cannot be applied or a kernel fails to build.
    pub fn configure(&mut self, mut config: Config) -> Result<Option<ChangeEffect>> {
        let before = self.devices.chosen().to_vec();
        let is_other_mode = self.config.mode.info() != config.mode.info();
        // Queued steps are finished first, because a device may fail while computing these steps.
        let left = match is_other_mode || self.changes_devices(&config) {
            true => Some(self.scene_state()?),
            false if self.reseeds(&config) => None,
            false => self.finish_replay().map(|()| None)?,
        };
        // A device that was lost during the change is not opened again.
        config.devices.retain(|place| self.devices.chosen().contains(place) || !before.contains(place));
        let moves = self.changes_devices(&config);
        let devices = if moves { self.devices.choose(&config.devices)? } else { self.devices.clone() };
        let resolved = self.resolve(&config, &devices[0].info)?;
        let begins = resolved.bodies != self.resolved.bodies || self.config.reseeds(&config);
        let (_, changed) = self.config.mode.values().changes(&config.mode.values());
        // The parameters in effect also depend on the kernel variant.
        let (_, in_use) = self.config.mode_in_use().values().changes(&config.mode_in_use().values());
        let changed = changed.max(in_use);
        let rebuilds = resolved != self.resolved || moves || changed == Some(ChangeEffect::Rebuild);
        let effect = match left {
            Some(left) if is_other_mode => {
                self.switch_mode(devices, &config, resolved, left)?;
                Some(ChangeEffect::Reseed)
            }
            _ if begins => {
                self.begin_scene(devices, config.clone(), resolved)?;
                Some(ChangeEffect::Reseed)
            }
            left if rebuilds => {
                let mut scene = left.map_or_else(|| self.scene_state(), Ok)?;
                config.mode.unsettle(&mut scene.extra);
                self.replace_simulation(devices, SceneState { config: config.clone(), resolved, ..scene })?;
                Some(ChangeEffect::Rebuild)
            }
            _ => {
                let turns = (self.is_backwards != config.reverse).then_some(ChangeEffect::Live);
                let effect = changed.max(turns);
                if effect.is_some() {
                    self.simulation.set(directed(&config, config.reverse)?.as_ref())?;
                }
                effect
            }
        };
        // Parameters that change only the picture do not change the energy.
        if is_other_mode || changed >= Some(ChangeEffect::Live) {
            self.baseline = None;
        }
        // Rebuilding or restarting the simulation has already created a new checkpoint.
        self.changed_since_checkpoint |= effect == Some(ChangeEffect::Live);
        self.changes += u64::from(effect.is_some());
        self.is_backwards = config.reverse;
        (self.config, self.resolved) = (config, resolved);
        Ok(effect)
    }

    /// Replaces each `auto` in `config` with a value for `device`. A scene that ran before keeps its number of bodies.
    fn resolve(&self, config: &Config, device: &DeviceInfo) -> Result<Resolved> {
        let suspended = self.suspended.iter().map(|scene| (&scene.config, scene.resolved));
        let ran = iter::once((&self.config, self.resolved)).chain(suspended).find(|(before, _)| {
            before.mode.info() == config.mode.info()
                && (&before.start, before.bodies) == (&config.start, config.bodies)
        });
        match ran {
            Some((_, ran)) => Resolved::new(&Config { bodies: Some(ran.bodies), ..config.clone() }, device),
            None => Resolved::new(config, device),
        }
    }

    fn changes_devices(&self, config: &Config) -> bool {
        !config.devices.is_empty() && config.devices != self.devices.chosen()
    }

    /// Stores the state `left` of the current mode, then resumes or starts the mode of `config`.
    fn switch_mode(
        &mut self,
        devices: Devices,
        config: &Config,
        resolved: Resolved,
        left: SceneState,
    ) -> Result<()> {
        let is_the_same = |scene: &&SceneState| {
            scene.config.mode.info() == config.mode.info()
                && scene.resolved.bodies == resolved.bodies
                && !scene.config.reseeds(config)
        };
        match self.suspended.iter().find(is_the_same).cloned() {
            Some(mut scene) => {
                let (_, change) = scene.config.mode.values().changes(&config.mode.values());
                if change >= Some(ChangeEffect::Live) || scene.resolved != resolved {
                    config.mode.unsettle(&mut scene.extra);
                }
                self.replace_simulation(devices, SceneState { config: config.clone(), resolved, ..scene })?;
                self.forget_edits();
            }
            None => self.begin_scene(devices, config.clone(), resolved)?,
        }
        self.suspended.retain(|scene| scene.config.mode.info() != config.mode.info());
        self.suspended.push(left);
        Ok(())
    }

    /// Returns whether `config` is valid, keeps the current mode, and requires generating the scene again.
    pub fn reseeds(&self, config: &Config) -> bool {
        self.config.mode.info() == config.mode.info()
            && self
                .resolve(config, &self.devices[0].info)
                .is_ok_and(|resolved| resolved.bodies != self.resolved.bodies || self.config.reseeds(config))
    }

    /// Restarts the scene from its first step.
    pub fn restart(&mut self) -> Result<()> {
        self.begin_scene(self.devices.clone(), self.config.clone(), self.resolved)
    }

    /// Generates the scene of `config`, and starts simulating it on `devices`.
    fn begin_scene(&mut self, devices: Devices, config: Config, resolved: Resolved) -> Result<()> {
        let scene = SceneState::begin(config, resolved, self.seedings + 1);
        self.replace_simulation(devices, scene)?;
        self.seedings += 1;
        self.forget_edits();
        self.baseline = None;
        Ok(())
    }

    /// Replaces the current simulation with a new one that continues from `scene`. On an error or a panic, nothing
    /// changes.
    pub(super) fn replace_simulation(&mut self, devices: Devices, scene: SceneState) -> Result<()> {
        let SceneState { config, resolved, state, extra, clock, is_edited, names } = scene;
        self.simulation = build(&devices, &config, resolved, (&state, &extra))?;
        (self.devices, self.is_backwards) = (devices, config.reverse);
        (self.config, self.resolved) = (config, resolved);
        (self.is_edited, self.names) = (is_edited, names);
        (self.clock, self.checkpoint) = (clock, Arc::new(Checkpoint::new(state, extra, clock)));
        (self.changed_since_checkpoint, self.is_replaying, self.new_burst) = (false, false, None);
        Ok(())
    }

    /// Makes simulated time run forwards or backwards, regardless of the direction in the configuration.
    ///
    /// # Errors
    /// Returns an error if the mode cannot step backwards.
    pub fn set_direction(&mut self, backwards: bool) -> Result<()> {
        if self.is_backwards != backwards {
            self.finish_replay()?;
            self.simulation.set(directed(&self.config, backwards)?.as_ref())?;
            (self.is_backwards, self.changed_since_checkpoint) = (backwards, true);
        }
        Ok(())
    }

    /// Returns whether the simulation runs backwards in time.
    pub fn is_backwards(&self) -> bool {
        self.is_backwards
    }

    /// Replaces built-in kernels with `edits`, after testing them for one step on a copy of the simulation. During the
    /// test, calls `goes_on` repeatedly, and cancels the test if `goes_on` returns false. If the test fails or is
    /// cancelled, nothing changes. Kernels of other variants are built on first use. Returns the names of the built
    /// files, or `None` if the test was cancelled.
    ///
    /// # Errors
    /// Returns the compiler's log if a kernel fails to build, or an error if the device fails.
    pub fn set_edits_unless(
        &mut self,
        edits: KernelEdits,
        goes_on: impl FnMut() -> bool,
    ) -> Result<Option<BTreeSet<&'static str>>> {
        let before = self.devices.edits();
        self.devices.set_edits(edits);
        self.devices.iter().for_each(|device| drop(device.take_built()));
        let outcome = self.rebuild(goes_on);
        if !matches!(outcome, Ok(true)) {
            self.devices.set_edits(before);
            return outcome.map(|_| None);
        }
        self.devices.iter().for_each(Device::forget_edits);
        Ok(Some(self.devices.iter().flat_map(Device::take_built).collect()))
    }

    /// Replaces built-in kernels with `edits`, like [`Engine::set_edits_unless`] but without a way to cancel.
    ///
    /// # Errors
    /// Returns the compiler's log, and keeps the previous kernels, if a kernel fails to build.
    pub fn set_edits(&mut self, edits: KernelEdits) -> Result<BTreeSet<&'static str>> {
        Ok(self.set_edits_unless(edits, || true)?.unwrap_or_default())
    }

    /// Tests the edited kernels on a copy of the simulation, then rebuilds the simulation. If `goes_on` returns false
    /// during the test, stops and returns false.
    fn rebuild(&mut self, mut goes_on: impl FnMut() -> bool) -> Result<bool> {
        let mut scene = self.scene_state()?;
        scene.config.mode.unsettle(&mut scene.extra);
        let mut copy = build(&self.devices, &scene.config, scene.resolved, (&scene.state, &scene.extra))?;
        if self.config.mode.info().work.tools.is_ok() {
            copy.attract(&Attractor { at: [0.0; 3], strength: 0.0, reach: 1.0 }, 0.0)?;
        }
        copy.start(1);
        while copy.advance()? {
            if !goes_on() {
                return Ok(false);
            }
        }
        copy.finish()?;
        copy.publish(Points::default(), None)?.wait()?;
        if !goes_on() {
            return Ok(false);
        }
        copy.diagnostics()?;
        drop(copy);
        let is_backwards = self.is_backwards;
        self.replace_simulation(self.devices.clone(), scene)?;
        self.set_direction(is_backwards)?;
        // Edited kernels may sum the energy differently.
        self.baseline = None;
        Ok(true)
    }
}
