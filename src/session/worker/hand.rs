//! A body that is looked at, what a person's hand does to the bodies or paints, and undoing it.

use super::Worker;
use crate::error::{Error, Result};
use crate::hand::{Deed, Edit, Held, Pull};
use crate::lattice::Stroke;
use crate::params::Effect;
use crate::session::Notice;
use crate::state::Matter;

/// A hand that attracts or repels.
pub(super) struct Hold {
    pull: Pull,
    /// Steps of the last burst that it has not acted for yet.
    owed: f64,
    /// Whether it acted at all: from then on there is something to undo.
    has_acted: bool,
}

impl Worker<'_> {
    pub(super) fn edit(&mut self, edit: Edit) -> Result<()> {
        // It is meant for whoever had that number before.
        let is_late = self.renumbered.is_some() && !matches!(edit, Edit::Launch(_));
        if is_late || !self.settle()? {
            return Ok(());
        }
        let outcome = self.engine.edit(&edit);
        if outcome.is_ok()
            && let Edit::Remove(body) = edit
        {
            self.renumbered = Some(false);
            // Those behind it moved up.
            self.selected = match self.selected {
                Some(selected) if selected > body => Some(selected - 1),
                selected => selected.filter(|selected| *selected != body),
            };
        }
        self.take_in(outcome);
        Ok(())
    }

    pub(super) fn undo(&mut self) -> Result<()> {
        if !self.settle()? {
            return Ok(());
        }
        match self.engine.undo() {
            Ok(true) => {
                (self.selected, self.single_steps, self.goal) = (None, 0, None);
                (self.renumbered, self.hold, self.paints) = (Some(false), None, false);
                let (step, _) = self.engine.clock();
                self.history.go_back(self.engine.config().mode.info().name, step);
                self.take_in(Ok(()));
                Ok(())
            }
            Ok(false) => {
                self.voice.tell(Notice::Said("There is nothing to undo."));
                Ok(())
            }
            Err(error) => {
                self.take_in(Err(error));
                Ok(())
            }
        }
    }

    /// Draws the conclusions from a change that was made by hand, or tells that it is not possible. What ran is whole then;
    /// whether its device is lost shows when it is next asked.
    fn take_in(&mut self, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.remember(Some(Effect::Rebuild)),
            Err(error) => self.refuse(error),
        }
        self.stale = true;
    }

    /// Tells that something is not possible, unless it is the device that failed.
    fn refuse_unless_lost(&mut self, error: Error) -> Result<()> {
        match error {
            Error::OpenCl { .. } => Err(error),
            error => {
                self.refuse(error);
                Ok(())
            }
        }
    }

    /// A grid is painted between two bursts. What a movement of the hand changes is undone at once.
    pub(super) fn paint(&mut self, stroke: Stroke) -> Result<()> {
        if !self.settle()? {
            return Ok(());
        }
        self.paints &= !stroke.begins;
        match self.engine.paint(&stroke, self.paints) {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.judge.forget();
                (self.stale, self.paints) = (true, true);
                Ok(())
            }
            Err(error) => self.refuse_unless_lost(error),
        }
    }

    /// From now on a point attracts or repels, or none does.
    pub(super) fn take_pull(&mut self, pull: Option<Pull>) -> Result<()> {
        match (pull, &mut self.hold) {
            (Some(pull), Some(hold)) => hold.pull = pull,
            (Some(pull), None) => {
                // A mode without bodies may have come while the hand was still held.
                if self.engine.config().mode.info().work.matter == Matter::Bodies {
                    self.hold = Some(Hold { pull, owed: 0.0, has_acted: false });
                }
            }
            (None, Some(_)) => {
                let is_settled = self.settle()?;
                if let Some(hold) = self.hold.take().filter(|hold| is_settled && hold.owed > 0.0) {
                    self.stale = true;
                    return match self.engine.pull(&hold.pull, hold.owed) {
                        Ok(()) => Ok(()),
                        Err(error) => self.refuse_unless_lost(error),
                    };
                }
            }
            (None, None) => {}
        }
        Ok(())
    }

    /// Lets the hand act for half the time of the next burst, after the other half of the last one: kick, drift, kick. That
    /// it began can be undone.
    pub(super) fn pull_for(&mut self, steps: u32) -> Result<()> {
        let Some(mut hold) = self.hold.take() else { return Ok(()) };
        let half = 0.5 * f64::from(steps);
        let begin = match hold.has_acted {
            true => Ok(()),
            // What is refused leaves nothing to undo.
            false => self.engine.pull(&hold.pull, 0.0).and_then(|()| self.engine.remember(Deed::Pull)),
        };
        match begin.and_then(|()| self.engine.pull(&hold.pull, half + hold.owed)) {
            Ok(()) => {
                (hold.owed, hold.has_acted) = (half, true);
                self.hold = Some(hold);
                Ok(())
            }
            Err(error) => self.refuse_unless_lost(error),
        }
    }

    /// The body that is looked at, as it is after the last whole burst.
    pub(super) fn held(&mut self) -> Result<Option<Held>> {
        match self.selected {
            Some(body) => self.engine.body(body),
            None => Ok(None),
        }
    }
}
