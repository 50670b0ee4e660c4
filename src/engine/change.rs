//! Changes of what runs: what they cost, and how it goes on after them.

use std::iter;

use super::resume::Parked;
use super::{Checkpoint, Clock, Engine, Resolved, continued, directed, seed};
use crate::compute::{DeviceInfo, Devices};
use crate::config::Config;
use crate::error::Result;
use crate::modes::Extra;
use crate::params::Effect;
use crate::state::State;

impl Engine {
    /// Changes to `config`: live parameters at once, kernels with the state kept, bodies only if they have to
    /// be others; a mode that was left goes on where it was. Says what the change cost, if it touched the
    /// simulation at all. On an error all stays as it was.
    ///
    /// # Errors
    /// As [`Engine::new`].
    pub fn configure(&mut self, mut config: Config) -> Result<Option<Effect>> {
        let before = self.devices.chosen().to_vec();
        let is_other_mode = self.config.mode.info() != config.mode.info();
        // What waits for devices comes first: one of them may fail at that.
        let left = match is_other_mode || self.chooses(&config) {
            true => Some(self.shown()?),
            false if self.reseeds(&config) => None,
            false => self.catch_up().map(|()| None)?,
        };
        // What was lost on the way is not opened again.
        config.devices.retain(|place| self.devices.chosen().contains(place) || !before.contains(place));
        let moves = self.chooses(&config);
        let devices = if moves { self.devices.choose(&config.devices)? } else { self.devices.clone() };
        let resolved = self.resolve(&config, &devices[0].info)?;
        let begins = resolved.bodies != self.resolved.bodies || self.config.reseeds(&config);
        let (_, touched) = self.config.mode.values().changes(&config.mode.values());
        let effect = match (touched, left) {
            (_, Some(left)) if is_other_mode => {
                self.switch(devices, &config, resolved, left)?;
                Some(Effect::Reseed)
            }
            _ if begins => {
                self.begin(devices, &config, resolved, seed(&config, resolved.bodies))?;
                self.reset_clock();
                Some(Effect::Reseed)
            }
            (_, left) if resolved != self.resolved || moves => {
                let Parked { state, mut extra, .. } = left.map_or_else(|| self.shown(), Ok)?;
                config.mode.unsettle(&mut extra);
                self.carry_on(devices, &config, resolved, (state, extra))?;
                Some(Effect::Rebuild)
            }
            (Some(Effect::Rebuild), _) => {
                let (state, mut extra) = self.past()?;
                config.mode.unsettle(&mut extra);
                self.carry_on(devices, &config, resolved, (state, extra))?;
                Some(Effect::Rebuild)
            }
            (effect, _) => {
                let effect = match self.backwards != config.reverse {
                    true => effect.max(Some(Effect::Live)),
                    false => effect,
                };
                if effect.is_some() {
                    self.simulation.set(directed(&config, config.reverse)?.as_ref())?;
                }
                effect
            }
        };
        // What only the picture shows does not touch the energy.
        if is_other_mode || touched >= Some(Effect::Live) {
            self.baseline = None;
        }
        self.is_changed |= effect >= Some(Effect::Live);
        self.changes += u64::from(effect.is_some());
        self.backwards = config.reverse;
        (self.config, self.resolved) = (config, resolved);
        Ok(effect)
    }

    /// Decides every `auto` of `config` for a device. A number of bodies that was left open stays what it came to, though
    /// another device would have begun with another: nobody asked for other bodies.
    fn resolve(&self, config: &Config, device: &DeviceInfo) -> Result<Resolved> {
        let parked = self.parked.iter().map(|parked| (&parked.config, parked.resolved));
        let ran = iter::once((&self.config, self.resolved)).chain(parked).find(|(before, _)| {
            before.mode.info() == config.mode.info()
                && (&before.start, before.bodies) == (&config.start, config.bodies)
        });
        match ran {
            Some((_, ran)) => Resolved::new(&Config { bodies: Some(ran.bodies), ..config.clone() }, device),
            None => Resolved::new(config, device),
        }
    }

    /// Whether `config` asks for other devices.
    fn chooses(&self, config: &Config) -> bool {
        !config.devices.is_empty() && config.devices != self.devices.chosen()
    }

    /// Puts the mode that runs aside, as it was `left`, and goes on with that of `config` where it was left, or starts it.
    fn switch(&mut self, devices: Devices, config: &Config, resolved: Resolved, left: Parked) -> Result<()> {
        let is_the_same = |parked: &&Parked| {
            parked.config.mode.info() == config.mode.info()
                && parked.resolved.bodies == resolved.bodies
                && !parked.config.reseeds(config)
        };
        match self.parked.iter().find(is_the_same).cloned() {
            Some(Parked { config: before, resolved: ran, state, mut extra, clock, is_touched }) => {
                let (_, change) = before.mode.values().changes(&config.mode.values());
                if change >= Some(Effect::Live) || ran != resolved {
                    config.mode.unsettle(&mut extra);
                }
                self.carry_on(devices, config, resolved, (state, extra))?;
                self.go_to(clock);
                self.forget_hands();
                self.is_touched = is_touched;
            }
            None => {
                self.begin(devices, config, resolved, seed(config, resolved.bodies))?;
                self.reset_clock();
            }
        }
        self.parked.retain(|parked| parked.config.mode.info() != config.mode.info());
        self.parked.push(left);
        Ok(())
    }

    /// Whether `config` is possible and makes today's bodies pointless.
    pub fn reseeds(&self, config: &Config) -> bool {
        self.config.mode.info() == config.mode.info()
            && self
                .resolve(config, &self.devices[0].info)
                .is_ok_and(|resolved| resolved.bodies != self.resolved.bodies || self.config.reseeds(config))
    }

    /// Starts the scene afresh.
    ///
    /// # Errors
    /// If the device fails.
    pub fn restart(&mut self) -> Result<()> {
        let (config, resolved) = (self.config.clone(), self.resolved);
        self.begin(self.devices.clone(), &config, resolved, seed(&config, resolved.bodies))?;
        self.backwards = config.reverse;
        self.reset_clock();
        Ok(())
    }

    /// Puts `state` on `devices` in place of what there is. On an error that stays.
    pub(super) fn begin(
        &mut self,
        devices: Devices,
        config: &Config,
        resolved: Resolved,
        state: State,
    ) -> Result<()> {
        self.carry_on(devices, config, resolved, (state, Extra::new()))
    }

    /// The same with what is carried on besides, if there is any.
    pub(super) fn carry_on(
        &mut self,
        devices: Devices,
        config: &Config,
        resolved: Resolved,
        (state, extra): (State, Extra),
    ) -> Result<()> {
        let simulation = continued(&devices, config, resolved, (&state, &extra))?;
        (self.devices, self.simulation, self.size) = (devices, simulation, state.len());
        self.checkpoint = Checkpoint::new(state, extra, self.clock);
        (self.is_changed, self.replays, self.is_fresh) = (false, false, false);
        self.go_to(self.clock);
        Ok(())
    }

    /// What is on the devices since the last change is of this time.
    pub(super) fn go_to(&mut self, clock: Clock) {
        (self.clock, self.before, self.checkpoint.clock) = (clock, clock, clock);
    }

    fn reset_clock(&mut self) {
        self.seedings += 1;
        self.go_to(Clock { generation: self.seedings, ..Clock::default() });
        self.forget_hands();
        self.baseline = None;
    }

    /// State, and what is carried on besides.
    pub(super) fn past(&mut self) -> Result<(State, Extra)> {
        self.insist(|simulation| Ok((simulation.state()?, simulation.extra()?)))
    }

    /// Lets time go backwards from now on, or forwards, whatever the config says of that.
    ///
    /// # Errors
    /// If it cannot go back.
    pub fn direct(&mut self, backwards: bool) -> Result<()> {
        if self.backwards != backwards {
            self.catch_up()?;
            self.simulation.set(directed(&self.config, backwards)?.as_ref())?;
            (self.backwards, self.is_changed) = (backwards, true);
        }
        Ok(())
    }

    /// Whether steps go backwards.
    pub fn is_backwards(&self) -> bool {
        self.backwards
    }
}
