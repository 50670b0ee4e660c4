//! Which way time goes, and on to a step that a person asked for.

use super::Worker;
use crate::error::{Error, Result};
use crate::params::Effect;
use crate::session::Notice;

impl Worker<'_> {
    /// Sets out for the step `goal`: forwards, or back by the shorter way, which is by steps backwards where the mode can, or
    /// from the start. What was changed by hand is not on the way from the start: where no other leads back, it refuses.
    pub(super) fn go_to(&mut self, goal: u64) -> Result<()> {
        if !self.settle()? {
            return Ok(());
        }
        let (step, _) = self.engine.clock();
        let can_go_back = self.engine.config().mode.backwards().is_ok();
        if goal < step && !(can_go_back && (step - goal <= goal || self.engine.is_touched())) {
            if self.engine.is_touched() {
                self.goal = None;
                let text = format!(
                    "time does not go back here, and from the start to step {goal} what was changed by hand would be lost; \
                     to begin anew without it, restart (R)"
                );
                self.refuse(Error::Invalid(text));
                return Ok(());
            }
            let outcome = self.engine.restart().map(|()| Some(Effect::Reseed));
            self.conclude(outcome, self.engine.config().clone());
            self.measure_start()?;
        }
        self.single_steps = 0;
        self.goal = (goal != self.engine.clock().0).then_some(goal);
        self.stale = true;
        Ok(())
    }

    /// Ends a trip, wherever it has come to.
    pub(super) fn stay(&mut self) -> Result<()> {
        // The burst under way goes the way that it went.
        if self.goal.is_some() && self.settle()? && self.goal.take().is_some() {
            self.stale = true;
            self.face(self.engine.config().reverse)?;
        }
        Ok(())
    }

    /// Lets time go that way from the next burst on.
    fn face(&mut self, backwards: bool) -> Result<()> {
        if self.engine.is_backwards() != backwards {
            self.engine.direct(backwards)?;
            self.judge.forget();
            self.meter.reset();
        }
        Ok(())
    }

    /// Faces the goal, if there is one.
    pub(super) fn face_goal(&mut self) -> Result<()> {
        match self.goal {
            Some(goal) => self.face(goal < self.engine.clock().0),
            None => Ok(()),
        }
    }

    /// Of `steps` those that there are until the goal, or until the beginning when time goes back.
    pub(super) fn within_reach(&self, steps: u32) -> u32 {
        let (step, _) = self.engine.clock();
        let most = match self.goal {
            Some(goal) => goal.abs_diff(step),
            None if self.engine.is_backwards() => step,
            None => u64::MAX,
        };
        steps.min(u32::try_from(most).unwrap_or(u32::MAX))
    }

    /// Looks whether the trip, or the way back, has come to its end.
    pub(super) fn arrive(&mut self) -> Result<()> {
        let (step, _) = self.engine.clock();
        if self.goal == Some(step) {
            self.stay()?;
        }
        if step == 0 && self.goal.is_none() && self.engine.is_backwards() && self.wants_steps() {
            let still = self.pause()?;
            self.voice.tell(Notice::Paused { text: "This is where it began.", in_force: Box::new(still) });
        }
        Ok(())
    }
}
