//! A burst: how long it is, and what comes while it runs.

use std::time::Instant;

use super::{PATIENCE, PICTURE, Worker, is_asked_for};
use crate::error::Result;
use crate::session::Command;

/// The share of the time between two pictures that a burst of `auto` length and its read-back may take: the rest is
/// for drawing, and for steps that take longer than the last ones.
const BURST_SHARE: f64 = 0.85;
/// Bursts that a picture waits for in free run: the one that runs when it is asked for, and those queued behind.
const FREE_BURSTS: f64 = 3.0;
/// The longest burst of `auto` length in free run; while steps wait for the screen, [`Work::burst`] bounds it, since a
/// handful of bodies would be a blur at the speed that a device can go.
///
/// [`Work::burst`]: crate::modes::Work::burst
const MAX_FREE_BURST: u32 = 256;
/// Pictures that take longer to draw than so many of a screen are not made up for.
const MOST_SLOWER: f64 = 6.0;
/// No burst of more than a step takes longer than so many pictures of a screen.
const LONGEST_PICTURES: f64 = 2.0;
/// The longest burst of `auto` length while a hand acts, which it does between bursts.
const MAX_PULLED_BURST: u32 = 16;
/// The longest that the least burst of a mode may take, in seconds.
const LEAST_BURST_SECONDS: f64 = 0.25;

impl Worker<'_> {
    pub(super) fn start_burst(&mut self) -> Result<()> {
        self.face_goal()?;
        let steps = if self.single_steps > 0 { self.within_reach(1) } else { self.burst_length() };
        if steps == 0 {
            return self.arrive();
        }
        self.single_steps = self.single_steps.saturating_sub(1);
        self.begin_burst(steps)
    }

    pub(super) fn begin_burst(&mut self, steps: u32) -> Result<()> {
        self.pull_for(steps)?;
        self.engine.start(steps);
        (self.burst, self.under_way) = (steps, true);
        Ok(())
    }

    /// As chosen, or as many steps as the screen waits for with their read-back, within limits.
    pub(super) fn burst_length(&mut self) -> u32 {
        let config = self.engine.config();
        let (is_free, steps_per_frame) = (self.is_free(), config.steps_per_frame);
        let (least, _) = config.mode.info().work.burst;
        // Steps make up for pictures that take long to draw: the simulation goes no slower for them. They do not in free run, and
        // what takes long because the steps do is not waited for longer and longer.
        let (usual, picture) = (PICTURE.as_secs_f64(), self.picture.as_secs_f64());
        let slower = if is_free { 1.0 } else { (picture / usual).clamp(1.0, MOST_SLOWER) };
        let picture = picture.min(if is_free { usual } else { LONGEST_PICTURES * usual });
        let most = if is_free { MAX_FREE_BURST.into() } else { f64::from(config.pace()) * slower };
        // A scene may be for fewer steps to a picture than its mode is.
        let least = f64::from(least).min(most);
        let room = picture * BURST_SHARE - self.read_ms * 1e-3;
        let room = if is_free { room / FREE_BURSTS } else { room };
        let steps = match self.meter.rates().step_seconds {
            step if step > 0.0 => {
                let least = if step * least < LEAST_BURST_SECONDS { least } else { 1.0 };
                (room / step).clamp(least, most)
            }
            _ => least,
        };
        // There no picture is missed for a step too many now and then.
        let due = steps + if slower > 1.0 { self.owed } else { 0.0 };
        self.owed = due.fract();
        let steps = steps_per_frame.filter(|_| self.goal.is_none()).unwrap_or(due as u32);
        let most = if self.hold.is_some() { MAX_PULLED_BURST } else { u32::MAX };
        self.within_reach(steps.min(most))
    }

    /// Queues what remains of the burst. False if a command made it pointless half-way.
    pub(super) fn complete_burst(&mut self) -> Result<bool> {
        self.complete_unless(Self::discards)
    }

    /// The same for a command that is about what is there now: where another makes the burst pointless there is nothing left
    /// for it to act on. Whether a file can be opened is not known before.
    pub(super) fn settle(&mut self) -> Result<bool> {
        let discards = |worker: &Self, command: &Command| {
            !matches!(command, Command::Resume(_)) && worker.discards(command)
        };
        Ok(!self.under_way || self.complete_unless(discards)?)
    }

    /// The same for a config that goes on with what is there: only another that does not has no use for it.
    pub(super) fn settle_unless_reseeded(&mut self) -> Result<bool> {
        let reseeds = |worker: &Self, command: &Command| match command {
            Command::Configure(config) => worker.engine.reseeds(config),
            _ => false,
        };
        Ok(!self.under_way || self.complete_unless(reseeds)?)
    }

    /// The same for what is to be kept whatever comes. False if that is the end.
    pub(super) fn finish_burst(&mut self) -> Result<bool> {
        Ok(!self.under_way || self.complete_unless(|_, _| false)?)
    }

    fn complete_unless(&mut self, is_pointless: impl Fn(&Self, &Command) -> bool) -> Result<bool> {
        while self.engine.advance()? {
            self.waiting.extend(self.inbox.try_iter());
            let mut waiting = self.waiting.iter();
            let ends = waiting.any(|command| matches!(command, Command::Quit(_)));
            // What is asked for before the end comes with all that was done before it, as long as there is time.
            if ends && self.waiting.iter().any(is_asked_for) {
                self.deadline.get_or_insert_with(|| Instant::now() + PATIENCE);
            }
            if ends && self.deadline.is_none_or(|deadline| Instant::now() > deadline) {
                return Ok(false);
            }
            // What is to be kept is what was there before.
            let mut first = self.waiting.iter().take_while(|command| !keeps(command));
            if first.any(|command| is_pointless(self, command)) {
                return Ok(false);
            }
        }
        (self.under_way, self.stale, self.told) = (false, true, false);
        self.arrive()?;
        Ok(true)
    }

    /// Whether a command makes the steps under way pointless.
    fn discards(&self, command: &Command) -> bool {
        match command {
            Command::Restart | Command::Resume(_) => true,
            Command::Configure(config) => self.engine.reseeds(config),
            Command::Quit(_)
            | Command::Step
            | Command::GoTo(_)
            | Command::Select(_)
            | Command::Edit(_)
            | Command::Pull(_)
            | Command::Undo
            | Command::Paint(_)
            | Command::Save(_)
            | Command::Keep(_)
            | Command::Kernels(_)
            | Command::Still(_)
            | Command::FrameTaken
            | Command::Picture(_)
            | Command::Watch(_)
            | Command::Study(_)
            | Command::LossHeard
            | Command::EndStudy => false,
        }
    }
}

/// Whether a command keeps what there is.
fn keeps(command: &Command) -> bool {
    is_asked_for(command) || matches!(command, Command::Still(_))
}
