//! Manual edits of the bodies or the flow, undo and redo.

use super::build::max_bodies;
use super::core::Engine;
use super::states::SceneState;
use crate::base::{Attractor, Edit, EditKind, Result, Stroke, invalid};

/// Maximum number of edits that can be undone.
const MOST_UNDOS: usize = 32;
/// Limit on the memory used for undo, in bytes. The most recent edit can be undone even if its state exceeds the limit.
const UNDO_BYTES: usize = 256 << 20;

impl Engine {
    /// Applies an edit to the bodies. Blocks until the device has finished. If the edit fails, nothing changes.
    ///
    /// # Errors
    /// Returns an error if the mode has no bodies or the edit cannot be applied.
    pub fn edit(&mut self, edit: &Edit) -> Result<()> {
        let past = self.scene_state()?;
        let mut next = past.clone();
        let bodies = next.state.bodies_mut();
        let bodies = bodies.map_err(|_| invalid!("this mode has no bodies to change"))?;
        self.config.mode.edit(bodies, &mut next.extra, edit)?;
        if let Edit::Remove(body) = edit {
            next.names.remove(*body);
        }
        let most = max_bodies(&self.devices[0].info, &self.config);
        if next.state.len() > most {
            let device = &self.devices[0].info.name;
            return Err(invalid!("cannot add bodies: {device} has room for at most {most} bodies in total"));
        }
        self.put(&next)?;
        self.push_undo(EditKind::from(edit), past);
        Ok(())
    }

    /// Saves the current state so that [`Engine::undo`] can restore it. Called before an edit of the kind `before`.
    /// Blocks until the device is done.
    pub fn remember(&mut self, before: EditKind) -> Result<()> {
        let past = self.scene_state()?;
        self.push_undo(before, past);
        Ok(())
    }

    /// Restores the state and time before the last edit. Returns false if there is no edit. A failure changes nothing.
    pub fn undo(&mut self) -> Result<bool> {
        let Some((kind, past)) = self.undos.back().cloned() else { return Ok(false) };
        let now = self.replace_state(&past)?;
        self.undos.pop_back();
        // Redo must not return to a flow that has blown up, so the redo history is cleared.
        match now.state.has_blown_up() {
            true => self.redos.clear(),
            false => self.redos.push_back((kind, now)),
        }
        Ok(true)
    }

    /// Restores the state and time before the last undo. Returns false if there is no undone edit, or if another edit
    /// has followed. A failure changes nothing.
    pub fn redo(&mut self) -> Result<bool> {
        let Some((kind, undone)) = self.redos.back().cloned() else { return Ok(false) };
        let now = self.replace_state(&undone)?;
        self.redos.pop_back();
        self.undos.push_back((kind, now));
        Ok(true)
    }

    /// Replaces the current state with `next`, and returns the previous state.
    fn replace_state(&mut self, next: &SceneState) -> Result<SceneState> {
        let now = self.scene_state()?;
        self.put(next)?;
        Ok(now)
    }

    /// Clears the undo and redo history. Called when another scene or a saved state replaces the current state.
    pub(super) fn forget_edits(&mut self) {
        self.undos.clear();
        self.redos.clear();
    }

    /// Returns the number of edits that can be undone.
    pub fn undos(&self) -> usize {
        self.undos.len()
    }

    /// Returns the kind of the edit that [`Engine::undo`] would undo, or `None` if there is no such edit.
    pub fn last_edit(&self) -> Option<EditKind> {
        self.undos.back().map(|(kind, _)| *kind)
    }

    /// Adds or removes obstacles under a brush stroke (see [`crate::modes::Simulation::paint`]). Returns whether a cell
    /// changed. If `goes_on` is true, the stroke continues the previous one, and undo removes both. Blocks until the
    /// device has finished.
    ///
    /// # Errors
    /// Returns an error if the mode has no obstacles.
    pub fn paint(&mut self, stroke: &Stroke, goes_on: bool) -> Result<bool> {
        if !self.retry(|simulation| Ok(simulation.is_painted_by(stroke)))? {
            return Ok(false);
        }
        let is_first = self.config.mode.info().work.brush.is_ok() && !goes_on;
        let past = is_first.then(|| self.scene_state()).transpose()?;
        self.retry(|simulation| simulation.paint(stroke))?;
        self.changed_since_checkpoint = true;
        self.changes += 1;
        past.into_iter().for_each(|past| self.push_undo(EditKind::Stroke, past));
        Ok(true)
    }

    /// Accelerates all bodies towards or away from `attractor` for the duration of `steps` steps. Call only between
    /// bursts.
    ///
    /// # Errors
    /// Returns an error if the mode has no bodies.
    pub fn attract(&mut self, attractor: &Attractor, steps: f64) -> Result<()> {
        let time = steps * self.config.mode.time_step();
        let time = if self.is_backwards { -time } else { time } as f32;
        self.retry(|simulation| simulation.attract(attractor, time))?;
        (self.changed_since_checkpoint, self.baseline) = (true, None);
        self.changes += 1;
        Ok(())
    }

    /// Replaces the state of the current mode with `next`. If a device fails, retries with the remaining devices.
    fn put(&mut self, next: &SceneState) -> Result<()> {
        loop {
            let (config, resolved) = (self.config.clone(), self.resolved);
            let mut scene = SceneState { config, resolved, ..next.clone() };
            let settled = (&next.config.mode, next.resolved, &next.config.devices);
            if settled != (&scene.config.mode, resolved, &scene.config.devices) {
                scene.config.mode.unsettle(&mut scene.extra);
            }
            let outcome = self.replace_simulation(self.devices.clone(), scene);
            if self.or_recover(outcome)?.is_some() {
                break;
            }
        }
        self.baseline = None;
        self.changes += 1;
        Ok(())
    }

    /// Returns whether the user has edited the scene since its first step.
    pub fn is_edited(&self) -> bool {
        self.is_edited
    }

    /// Stores the state `past` for undo. Drops the oldest stored states if the undo history exceeds its limits.
    fn push_undo(&mut self, kind: EditKind, past: SceneState) {
        self.redos.clear();
        self.undos.push_back((kind, past));
        self.edits += 1;
        let mut bytes: usize = self.undos.iter().map(|(_, past)| past.bytes()).sum();
        while self.undos.len() > MOST_UNDOS || (bytes > UNDO_BYTES && self.undos.len() > 1) {
            bytes -= self.undos.pop_front().map_or(0, |(_, past)| past.bytes());
        }
        self.is_edited = true;
    }
}
