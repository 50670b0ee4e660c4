//! What a person's hand does to the bodies, and how that is undone.

use super::resume::Parked;
use super::{Engine, max_bodies};
use crate::error::{Error, Result};
use crate::hand::{Deed, Edit, Held, Pull};
use crate::lattice::Stroke;

/// The most changes that can be undone, ...
const MOST_UNDOS: usize = 32;
/// ... and the most memory that what was before them takes, in bytes; one can always be undone.
const UNDO_BYTES: usize = 256 << 20;

impl Engine {
    /// Carries out a change to the bodies, which can be undone. Waits. On an error all stays as it was.
    ///
    /// # Errors
    /// If there are no bodies, they do not take the change, or the device fails.
    pub fn edit(&mut self, edit: &Edit) -> Result<()> {
        let past = self.shown()?;
        let mut next = past.clone();
        let bodies = next.state.bodies_mut().map_err(|_| no_bodies())?;
        self.config.mode.edit(bodies, &mut next.extra, edit)?;
        let most = max_bodies(&self.devices[0].info, self.config.mode.as_ref());
        if next.state.len() > most {
            return Err(Error::Invalid(format!("{} has room for {most} bodies", self.devices[0].info.name)));
        }
        self.put(&next)?;
        self.keep(Deed::from(edit), past);
        Ok(())
    }

    /// Keeps all as it is now, before something is done, to go back to by [`Engine::undo`]. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn remember(&mut self, before: Deed) -> Result<()> {
        let past = self.shown()?;
        self.keep(before, past);
        Ok(())
    }

    /// Goes back to before the last change that was made by hand, its time too; whether there was one. Waits. On an error
    /// all stays as it was.
    ///
    /// # Errors
    /// If the device fails.
    pub fn undo(&mut self) -> Result<bool> {
        let Some((deed, past)) = self.undos.pop_back() else { return Ok(false) };
        if let Err(error) = self.put(&past) {
            self.undos.push_back((deed, past));
            return Err(error);
        }
        self.go_to(past.clock);
        self.is_touched = past.is_touched;
        Ok(true)
    }

    /// How many changes can be undone.
    pub fn undos(&self) -> usize {
        self.undos.len()
    }

    /// What would be undone.
    pub fn last_deed(&self) -> Option<Deed> {
        self.undos.back().map(|(deed, _)| *deed)
    }

    /// Makes what a stroke covers solid, or free (see [`crate::modes::Simulation::paint`]), which can be undone; one that
    /// `goes_on` is undone with the one before. Whether that changed anything. Waits.
    ///
    /// # Errors
    /// If that is not possible, or the device fails.
    pub fn paint(&mut self, stroke: &Stroke, goes_on: bool) -> Result<bool> {
        if !self.insist(|simulation| Ok(simulation.is_painted_by(stroke)))? {
            return Ok(false);
        }
        let past = match self.config.mode.info().paints && !goes_on {
            true => Some(self.shown()?),
            false => None,
        };
        self.insist(|simulation| simulation.paint(stroke))?;
        self.is_changed = true;
        self.changes += 1;
        past.into_iter().for_each(|past| self.keep(Deed::Stroke, past));
        Ok(true)
    }

    /// Lets a point attract or repel all bodies for the time of so many steps, at once. To be called between two bursts.
    ///
    /// # Errors
    /// If there are no bodies, or the device fails.
    pub fn pull(&mut self, pull: &Pull, steps: f64) -> Result<()> {
        let time = steps * self.config.mode.time_step();
        let time = if self.backwards { -time } else { time } as f32;
        self.insist(|simulation| simulation.pull(pull, time))?;
        (self.is_changed, self.baseline) = (true, None);
        self.changes += 1;
        Ok(())
    }

    /// Mass, place and velocity of a body after the last whole burst; the rest is for whoever knows where all are:
    /// [`Engine::complete`]. None if there is no such body. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn body(&mut self, body: usize) -> Result<Option<Held>> {
        if body >= self.size {
            return Ok(None);
        }
        let Some([[x, y, z, mass], [vx, vy, vz, _]]) = self.insist(|simulation| simulation.body(body))?
        else {
            return Ok(None);
        };
        Ok(Some(Held { body, mass, position: [x, y, z], velocity: [vx, vy, vz], ..Held::default() }))
    }

    /// Adds acceleration and energy, when all bodies are at `positions`.
    pub fn complete(&self, held: Held, positions: &[[f32; 4]]) -> Held {
        let at = glam::Vec3::from(held.position).as_dvec3();
        let field = self.config.mode.field(at, positions, Some(held.body)).unwrap_or_default();
        let speed2 = glam::Vec3::from(held.velocity).as_dvec3().length_squared();
        let energy = f64::from(held.mass) * (0.5 * speed2 + field.potential);
        Held { acceleration: field.acceleration.into(), energy, ..held }
    }

    /// Puts a state of the mode that runs in place of what is there; without the devices that fail at that, if others are
    /// left.
    fn put(&mut self, next: &Parked) -> Result<()> {
        loop {
            let (config, resolved) = (self.config.clone(), self.resolved);
            let mut extra = next.extra.clone();
            let settled = (&next.config.mode, next.resolved, &next.config.devices);
            if settled != (&config.mode, resolved, &config.devices) {
                config.mode.unsettle(&mut extra);
            }
            let outcome = self.carry_on(self.devices.clone(), &config, resolved, (next.state.clone(), extra));
            if self.survive(outcome)?.is_some() {
                break;
            }
        }
        (self.backwards, self.baseline) = (self.config.reverse, None);
        self.changes += 1;
        Ok(())
    }

    /// Whether anything was changed by hand since the scene began.
    pub fn is_touched(&self) -> bool {
        self.is_touched
    }

    /// Another scene has a past of its own.
    pub(super) fn forget_hands(&mut self) {
        self.undos.clear();
        self.is_touched = false;
    }

    fn keep(&mut self, deed: Deed, past: Parked) {
        self.undos.push_back((deed, past));
        let mut bytes: usize = self.undos.iter().map(|(_, past)| past.bytes()).sum();
        while self.undos.len() > MOST_UNDOS || (bytes > UNDO_BYTES && self.undos.len() > 1) {
            bytes -= self.undos.pop_front().map_or(0, |(_, past)| past.bytes());
        }
        self.is_touched = true;
    }
}

fn no_bodies() -> Error {
    Error::Invalid(
        "there are no bodies to take hold of in a fluid; the brush paints obstacles there".to_owned(),
    )
}
