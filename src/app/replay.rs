//! Shows the recorded run in place of the live simulation: looks back, replays, and continues from a past moment.

use std::time::Duration;

use super::simulation::Past;
use super::viewer::Viewer;
use crate::session::{Command, Continuation};
use crate::ui::{self, Action};

/// Reason, shown to the user, why the simulation cannot continue from a recorded moment.
const NO_POINT: &str = "The simulation cannot continue from this moment, because its exact state is not stored. Choose another moment.";

impl Viewer {
    /// Updates the memory limit of the recorded run, and the state that the timeline shows.
    pub(super) fn update_timeline(&mut self) {
        let limit = self.screen.look.record_bytes();
        if std::mem::replace(&mut self.timeline.limit, limit) != limit {
            if limit == 0 {
                self.go_live(true);
            }
            self.timeline.recorder.set_limit(limit);
        }
        self.timeline.update();
    }

    /// Performs `action` if it is a timeline action. Returns whether it is one.
    pub(super) fn act_on_timeline(&mut self, action: &Action) -> bool {
        use Action as A;
        let is_moving =
            matches!(action, A::ScrubTo(_) | A::ScrubBy(_) | A::ReplayOrPause | A::GoLive | A::ContinueHere);
        if is_moving && (self.exports.film.is_some() || self.sim.is_resuming) {
            self.ui.alerts.say(
                "The timeline is not available while a film is being recorded or a file is being opened.",
            );
            return true;
        }
        if is_moving && self.comparison.is_some() {
            self.ui
                .alerts
                .say("The timeline is not available while comparing two simulations. Press D to end the comparison.");
            return true;
        }
        let now = self.timeline.shown.past;
        match *action {
            Action::ScrubTo(at) => self.scrub_to(Some(at)),
            Action::ScrubBy(count) => {
                let [_, last] = self.timeline.shown.span.unwrap_or_default();
                let at = self.timeline.neighbour(now.unwrap_or(last), count);
                self.scrub_to(at);
            }
            Action::ReplayOrPause => {
                let plays = !self.timeline.shown.plays;
                let [first, last] = self.timeline.shown.span.unwrap_or_default();
                // At its end, the replay restarts from the beginning of the record.
                let is_at_end =
                    now.is_none_or(|now| self.timeline.neighbour(now, 1).is_none_or(|next| next <= now));
                if plays && (is_at_end || now.is_some_and(|now| now >= last)) {
                    self.scrub_to(Some(first));
                }
                self.timeline.shown.plays = plays && self.timeline.shown.past.is_some();
                self.screen.redraw();
            }
            Action::SetReplaySpeed(speed) => self.timeline.shown.speed = speed,
            Action::GoLive => self.go_live(true),
            Action::ContinueHere => self.continue_here(),
            _ => return false,
        }
        true
    }

    /// Shows the recorded moment at the time `at`. Pauses the simulation until the user returns to the live simulation.
    fn scrub_to(&mut self, at: Option<f64>) {
        let Some(at) = at else { return };
        self.timeline.shown.plays = false;
        self.screen.view.reset_history();
        self.show_past(at);
    }

    fn show_past(&mut self, at: f64) {
        let Some((_, frame)) = self.timeline.frame(at) else { return };
        if self.sim.past.is_none() {
            self.cancel_gesture();
            let before = self.sim.config.clone();
            self.timeline.was_running = before.running;
            self.sim.config.running = false;
            self.configure(&before);
        }
        let [first, last] = self.timeline.shown.span.unwrap_or_default();
        self.timeline.shown.past = Some(at.clamp(first, last));
        self.timeline.shown.can_continue = frame.stats.restore_point.as_ref().map(|_| ()).ok_or(NO_POINT);
        self.sim.past = Some(Past { frame, is_new: true });
        self.screen.redraw();
    }

    /// Advances the replay, if it runs, by the time since the last frame of the window.
    pub(super) fn replay(&mut self, interval: Duration) {
        let Some(now) = self.timeline.shown.past.filter(|_| self.timeline.shown.plays) else { return };
        let [_, last] = self.timeline.shown.span.unwrap_or_default();
        // Limits the interval, so that a slow frame does not skip a part of the run.
        let at = now + self.timeline.shown.speed * interval.as_secs_f64().min(0.25);
        self.timeline.shown.plays = at < last;
        self.screen.redraw();
        if self.timeline.neighbour(now, 0) == self.timeline.neighbour(at, 0) {
            self.timeline.shown.past = Some(at.min(last));
        } else {
            self.show_past(at);
        }
    }

    /// Returns from a past moment to the live simulation. If `resumes` is true and the simulation ran before, resumes
    /// it.
    pub(super) fn go_live(&mut self, resumes: bool) {
        if !self.leave_past() {
            return;
        }
        self.sim.returns = true;
        let before = self.sim.config.clone();
        self.sim.config.running |= resumes && self.timeline.was_running;
        self.configure(&before);
    }

    /// Stops showing a past moment. Returns whether a past moment was shown. Its picture stays on the screen until the
    /// next frame.
    fn leave_past(&mut self) -> bool {
        let was_past = self.sim.past.take().is_some();
        (self.timeline.shown.past, self.timeline.shown.plays) = (None, false);
        self.timeline.shown.can_continue = ui::TimelineState::default().can_continue;
        if was_past {
            self.screen.view.reset_history();
            self.screen.redraw();
        }
        was_past
    }

    /// Asks the simulation to continue from the past moment on the screen.
    fn continue_here(&mut self) {
        if self.has_stopped("Could not continue from this moment") {
            return;
        }
        let Some(Past { frame, .. }) = &self.sim.past else { return };
        let Some(point) = frame.stats.restore_point.clone() else { return };
        let (config, step) = ((*frame.stats.config).clone(), frame.stats.step);
        let view = self.viewpoint.rig.camera.to_words();
        self.sim.is_resuming = true;
        self.start_autosave();
        self.sim.send(Command::ContinueFrom(Box::new(Continuation { point, config, step, view })));
        self.leave_past();
    }

    /// Returns whether `action` is refused, because it needs the live simulation and the screen shows a past moment. If
    /// so, shows a message. Actions that move or replace the live bodies, such as a restart, are not refused: the
    /// screen first returns to the live simulation.
    pub(super) fn is_refused_in_past(&mut self, action: &Action) -> bool {
        use Action as A;
        let saves = matches!(action, A::SaveSnapshot | A::SaveSnapshotTo(_));
        if self.sim.past.is_none() || !(action.changes_state() || saves) {
            return false;
        }
        match action {
            A::RecordFilm | A::Deselect | A::Compare => false,
            A::Step | A::GoTo(_) | A::Restart | A::RestartAndRun | A::OpenFile(_) | A::ContinuePrevious => {
                self.go_live(false);
                false
            }
            _ => {
                let text = "This action is not available while a recorded moment is shown. Press End to return to the live simulation.";
                self.ui.alerts.say(text);
                true
            }
        }
    }
}
