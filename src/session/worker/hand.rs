//! A body that is looked at, what a person's hand does to the bodies, and undoing it.

use super::Worker;
use crate::error::{Error, Result};
use crate::hand::{Edit, Held, Pull};
use crate::params::Effect;
use crate::session::{Command, Notice};

impl Worker<'_> {
    pub(super) fn edit(&mut self, edit: Edit) -> Result<()> {
        if self.under_way && !self.complete_burst()? {
            self.waiting.push_back(Command::Edit(edit));
            return Ok(());
        }
        let outcome = self.engine.edit(&edit);
        if outcome.is_ok()
            && let Edit::Remove(body) = edit
        {
            // Those behind it moved up.
            self.selected = match self.selected {
                Some(selected) if selected > body => Some(selected - 1),
                selected => selected.filter(|selected| *selected != body),
            };
        }
        self.take_in(outcome)
    }

    pub(super) fn undo(&mut self) -> Result<()> {
        if self.under_way && !self.complete_burst()? {
            self.waiting.push_back(Command::Undo);
            return Ok(());
        }
        match self.engine.undo() {
            Ok(true) => {
                (self.selected, self.single_steps, self.goal) = (None, 0, None);
                (self.pull, self.pull_owed) = (None, 0.0);
                self.take_in(Ok(()))
            }
            Ok(false) => {
                self.tell(Notice::Said("There is nothing to undo."));
                Ok(())
            }
            Err(error) => self.take_in(Err(error)),
        }
    }

    /// Draws the conclusions from a change that was made by hand, or tells that it is not possible.
    fn take_in(&mut self, outcome: Result<()>) -> Result<()> {
        match outcome {
            Ok(()) => {
                self.remember(Some(Effect::Rebuild));
                self.stale = true;
                Ok(())
            }
            Err(error @ Error::Invalid(_)) => {
                self.refuse(error);
                Ok(())
            }
            Err(error) => Err(error),
        }
    }

    /// From now on a point attracts or repels, or none does. That it began can be undone.
    pub(super) fn take_pull(&mut self, pull: Option<Pull>) -> Result<()> {
        if pull.is_some() != self.pull.is_some() {
            if self.under_way && !self.complete_burst()? {
                self.waiting.push_back(Command::Pull(pull));
                return Ok(());
            }
            match &self.pull {
                None => self.engine.remember()?,
                Some(before) => self.engine.pull(before, std::mem::take(&mut self.pull_owed))?,
            }
            self.stale = true;
        }
        self.pull = pull;
        Ok(())
    }

    /// Lets the hand act for half the time of the next burst, after the other half of the last one: kick, drift, kick.
    pub(super) fn pull_for(&mut self, steps: u32) -> Result<()> {
        if let Some(pull) = &self.pull {
            let half = 0.5 * f64::from(steps);
            let outcome = self.engine.pull(pull, half + std::mem::replace(&mut self.pull_owed, half));
            if let Err(error @ Error::Invalid(_)) = outcome {
                (self.pull, self.pull_owed) = (None, 0.0);
                self.refuse(error);
                return Ok(());
            }
            return outcome;
        }
        Ok(())
    }

    /// The body that is looked at, as it is after the last whole burst.
    pub(super) fn held(&mut self) -> Result<Option<Held>> {
        match self.selected {
            Some(body) => self.engine.body(body),
            None => Ok(None),
        }
    }
}
