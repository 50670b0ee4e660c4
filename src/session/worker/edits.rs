//! Carries out manual edits of bodies and obstacles, undo and redo.

use super::thread::Worker;
use crate::base::{Attractor, ChangeEffect, Edit, EditKind, Error, Result, Stroke};
use crate::engine::Engine;
use crate::session::notices::Notice;

impl Worker {
    /// Applies an edit to the bodies. Ignores an edit of a single body while the window may still use outdated indices.
    pub(super) fn edit(&mut self, edit: Edit) -> Result<()> {
        let is_late = self.edits.is_renumbered() && !matches!(edit, Edit::Launch(_));
        if is_late || !self.settle()? {
            return Ok(());
        }
        let outcome = self.engine.edit(&edit);
        if let (Ok(()), Edit::Remove(body)) = (&outcome, edit) {
            self.edits.removed(body);
        }
        self.conclude_edit(outcome);
        Ok(())
    }

    /// Calls `restore`, which undoes or redoes an edit. If there is no such edit, sends the message `nothing`.
    pub(super) fn undo_or_redo(
        &mut self,
        restore: fn(&mut Engine) -> Result<bool>,
        nothing: &'static str,
    ) -> Result<()> {
        if !self.settle()? {
            return Ok(());
        }
        match restore(&mut self.engine) {
            Ok(true) => {
                self.edits.reset();
                self.stepper.stop();
                let (mode, step) = (self.config().mode.info().name, self.step());
                self.publisher.history.go_back(mode, step);
                self.conclude_edit(Ok(()));
            }
            Ok(false) => self.notifier.send(Notice::Message(nothing)),
            Err(error) => self.conclude_edit(Err(error)),
        }
        Ok(())
    }

    /// Discards the results that a successful edit made outdated, or reports why an edit failed. Does not check for a
    /// lost device.
    fn conclude_edit(&mut self, outcome: Result<()>) {
        match outcome {
            Ok(()) => self.discard(Some(ChangeEffect::Rebuild)),
            Err(error) => self.notifier.send(Notice::Refused(error)),
        }
        self.publisher.is_stale = true;
    }

    /// Reports to the user that an edit was refused. Returns `error` instead if a device or another rank failed.
    fn refuse_unless_lost(&mut self, error: Error) -> Result<()> {
        match error {
            Error::OpenCl { .. } | Error::Rank(_) => Err(error),
            error => {
                self.notifier.send(Notice::Refused(error));
                Ok(())
            }
        }
    }

    /// Adds or removes obstacles between two bursts of steps. All strokes of a single mouse drag are undone together.
    pub(super) fn paint(&mut self, stroke: Stroke) -> Result<()> {
        if !self.settle()? {
            return Ok(());
        }
        self.edits.stroke_goes_on &= !stroke.begins;
        match self.engine.paint(&stroke, self.edits.stroke_goes_on) {
            Ok(false) => Ok(()),
            Ok(true) => {
                self.measurements.accuracy.discard();
                (self.publisher.is_stale, self.edits.stroke_goes_on) = (true, true);
                Ok(())
            }
            Err(error) => self.refuse_unless_lost(error),
        }
    }

    /// Starts, moves or ends the attraction of bodies to the pointer.
    pub(super) fn set_attractor(&mut self, attractor: Option<Attractor>) -> Result<()> {
        let is_settled = attractor.is_some() || self.edits.attraction.is_none() || self.settle()?;
        let has_bodies = self.config().mode.info().work.tools.is_ok();
        let ended = self.edits.attract(attractor, has_bodies);
        if let Some(ended) = ended.filter(|ended| is_settled && ended.owed > 0.0) {
            self.publisher.is_stale = true;
            if let Err(error) = self.engine.attract(&ended.attractor, ended.owed) {
                return self.refuse_unless_lost(error);
            }
        }
        Ok(())
    }

    /// Attracts the bodies once for the second half of the last burst and the first half of the next burst. The next
    /// burst has `steps` steps.
    pub(super) fn attract_for(&mut self, steps: u32) -> Result<()> {
        let Some(mut attraction) = self.edits.attraction.take() else { return Ok(()) };
        let half = 0.5 * f64::from(steps);
        let attractor = &attraction.attractor;
        let begin = match attraction.has_acted {
            true => Ok(()),
            // Applies the attractor for no time first: if it is refused, there is nothing to undo.
            false => {
                self.engine.attract(attractor, 0.0).and_then(|()| self.engine.remember(EditKind::Attract))
            }
        };
        match begin.and_then(|()| self.engine.attract(attractor, half + attraction.owed)) {
            Ok(()) => {
                (attraction.owed, attraction.has_acted) = (half, true);
                self.edits.attraction = Some(attraction);
                Ok(())
            }
            Err(error) => self.refuse_unless_lost(error),
        }
    }
}
