//! Shows the recorded run in place of the present: looks back, replays, and continues from an earlier moment.

use std::time::Duration;

use super::simulation::Past;
use super::viewer::Viewer;
use crate::session::{Command, Continuation};
use crate::ui::{self, Action};

/// Reason why the simulation cannot continue from a moment.
const NO_POINT: &str =
    "The simulation changed just before this moment, for example by a drag. Choose another moment.";

impl Viewer {
    /// Brings the limit on the record's memory and what the timeline shows up to date.
    pub(super) fn update_story(&mut self) {
        let limit = self.screen.look.record_bytes();
        if std::mem::replace(&mut self.story.limit, limit) != limit {
            if limit == 0 {
                self.go_live(true);
            }
            self.story.recorder.set_limit(limit);
        }
        self.story.update();
    }

    /// Performs an action of the timeline. Returns whether `action` is one.
    pub(super) fn act_on_story(&mut self, action: &Action) -> bool {
        use Action as A;
        let is_moving =
            matches!(action, A::ScrubTo(_) | A::ScrubBy(_) | A::ReplayOrPause | A::GoLive | A::ContinueHere);
        if is_moving && (self.exports.film.is_some() || self.sim.is_resuming) {
            self.ui.alerts.say("Not possible while a film is being recorded or a file is being opened.");
            return true;
        }
        if is_moving && self.comparison.is_some() {
            self.ui
                .alerts
                .say("The timeline waits while two simulations are compared. Press D to end the comparison.");
            return true;
        }
        let now = self.story.shown.past;
        match *action {
            Action::ScrubTo(at) => self.scrub_to(Some(at)),
            Action::ScrubBy(count) => {
                let [_, last] = self.story.shown.span.unwrap_or_default();
                let at = self.story.neighbour(now.unwrap_or(last), count);
                self.scrub_to(at);
            }
            Action::ReplayOrPause => {
                let plays = !self.story.shown.plays;
                let [first, last] = self.story.shown.span.unwrap_or_default();
                // At the end, the replay begins anew.
                let is_at_end =
                    now.is_none_or(|now| self.story.neighbour(now, 1).is_none_or(|next| next <= now));
                if plays && (is_at_end || now.is_some_and(|now| now >= last)) {
                    self.scrub_to(Some(first));
                }
                self.story.shown.plays = plays && self.story.shown.past.is_some();
                self.screen.redraw();
            }
            Action::SetReplaySpeed(speed) => self.story.shown.speed = speed,
            Action::GoLive => self.go_live(true),
            Action::ContinueHere => self.continue_here(),
            _ => return false,
        }
        true
    }

    /// Shows the recorded moment at the time `at`. Pauses the simulation until the user returns to the present.
    fn scrub_to(&mut self, at: Option<f64>) {
        let Some(at) = at else { return };
        self.story.shown.plays = false;
        self.screen.view.forget();
        self.show_past(at);
    }

    fn show_past(&mut self, at: f64) {
        let Some((_, frame)) = self.story.frame(at) else { return };
        if self.sim.past.is_none() {
            self.cancel_gesture();
            let before = self.sim.config.clone();
            self.story.was_running = before.running;
            self.sim.config.running = false;
            self.configure(&before);
        }
        let [first, last] = self.story.shown.span.unwrap_or_default();
        self.story.shown.past = Some(at.clamp(first, last));
        self.story.shown.can_continue = frame.stats.restore_point.as_ref().map(|_| ()).ok_or(NO_POINT);
        self.sim.past = Some(Past { frame, is_new: true });
        self.screen.redraw();
    }

    /// Advances the replay, if it runs, by the time since the last frame of the window.
    pub(super) fn replay(&mut self, interval: Duration) {
        let Some(now) = self.story.shown.past.filter(|_| self.story.shown.plays) else { return };
        let [_, last] = self.story.shown.span.unwrap_or_default();
        // A hitch does not skip a part of the run.
        let at = now + self.story.shown.speed * interval.as_secs_f64().min(0.25);
        self.story.shown.plays = at < last;
        self.screen.redraw();
        if self.story.neighbour(now, 0) == self.story.neighbour(at, 0) {
            self.story.shown.past = Some(at.min(last));
        } else {
            self.show_past(at);
        }
    }

    /// Returns from the past to the present. The simulation runs on if it ran before, and if `resumes` is true.
    pub(super) fn go_live(&mut self, resumes: bool) {
        if !self.leave_past() {
            return;
        }
        self.sim.returns = true;
        let before = self.sim.config.clone();
        self.sim.config.running |= resumes && self.story.was_running;
        self.configure(&before);
    }

    /// Ends the view of the past, and returns whether there was one. The screen keeps showing it until the next frame arrives.
    fn leave_past(&mut self) -> bool {
        let was_past = self.sim.past.take().is_some();
        (self.story.shown.past, self.story.shown.plays) = (None, false);
        self.story.shown.can_continue = ui::Story::default().can_continue;
        if was_past {
            self.screen.view.forget();
            self.screen.redraw();
        }
        was_past
    }

    /// Asks the simulation to continue from the moment on the screen.
    fn continue_here(&mut self) {
        let Some(Past { frame, .. }) = &self.sim.past else { return };
        let Some(point) = frame.stats.restore_point.clone() else { return };
        let (config, step) = ((*frame.stats.config).clone(), frame.stats.step);
        let view = self.viewpoint.rig.camera.to_words();
        self.sim.is_resuming = true;
        self.start_autosave();
        self.sim.send(Command::ContinueFrom(Box::new(Continuation { point, config, step, view })));
        self.leave_past();
    }

    /// Returns whether the user looks at the past, and `action` needs the present. Actions that leave the present bodies
    /// behind first return to it; others are refused with a message.
    pub(super) fn is_refused_in_past(&mut self, action: &Action) -> bool {
        use Action as A;
        if self.sim.past.is_none() || !action.changes_state() {
            return false;
        }
        match action {
            A::RecordFilm | A::Deselect | A::Compare => false,
            A::Step | A::GoTo(_) | A::Restart | A::RestartAndRun | A::OpenFile(_) | A::ContinuePrevious => {
                self.go_live(false);
                false
            }
            _ => {
                let text =
                    "This changes the present, but you look at the past. Press End to return to the present.";
                self.ui.alerts.say(text);
                true
            }
        }
    }
}
