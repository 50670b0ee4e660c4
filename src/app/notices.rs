//! What the simulation has to say is heard here.

use super::open::{Open, first};
use crate::error::{Error, Result};
use crate::session::{Command, Notice};
use crate::trial::{self, Study};
use crate::tuned::Tuned;
use crate::view::Camera;

impl Open {
    /// Shows what the worker had to say. A simulation that never came to a first frame ends the program.
    pub(super) fn hear_notices(&mut self) -> Result<()> {
        for notice in self.session.notices() {
            match notice {
                Notice::Failed(error) if self.shown.generation == 0 => return Err(error),
                Notice::Failed(error) => {
                    self.ui.study_ended();
                    let text =
                        format!("{error}. What is shown is its last state; start gravitile again to go on.");
                    self.ui.error("The simulation stopped", text, None);
                    (self.failure, self.is_resuming) = (Some(error), false);
                    self.forget_moments();
                }
                Notice::Lost { error, step, in_force } => {
                    self.session.send(Command::LossHeard);
                    self.config.devices.clone_from(&in_force.devices);
                    if self.config.mode.info() == in_force.mode.info() {
                        self.config.bodies = in_force.bodies;
                    }
                    let text = format!("{error}. The others went on without it from step {step}.");
                    self.ui.error("A device failed", text, None);
                }
                Notice::Saved { path, is_asked_for: true, outcome, .. } => match outcome {
                    Ok(()) => self.ui.say(format!("Saved {}", path.display())),
                    Err(error) => self.ui.error("Not saved", format!("{error}."), None),
                },
                Notice::Saved { is_asked_for: false, moment, outcome, .. } => match outcome {
                    Ok(()) => {
                        self.kept.saved(moment);
                        self.ui.autosave_succeeded();
                    }
                    Err(error) => self.ui.autosave_failed(error.to_string()),
                },
                Notice::Resumed { config, left, view } => {
                    (self.config, self.is_resuming) = (*config, false);
                    let commands = self.kept.begin(|| view.clone());
                    commands.into_iter().for_each(|command| self.session.send(command));
                    self.ui.resumed(left);
                    self.ui.offer(None);
                    // One that came with the program's start says nothing of it again.
                    self.restored = Camera::from_words(&view).or(self.restored.take());
                    self.recorder.note(format!("resumed={}", self.config.start.name), &self.shown);
                }
                Notice::ResumeRefused(error) => {
                    self.is_resuming = false;
                    self.ui.error("Not opened", format!("{error}."), None);
                }
                Notice::Refused(Error::Build { file, device, log }) => {
                    let text = format!("{device}'s compiler does not take {file}. What ran before runs on.");
                    self.ui.error("Not possible", text, Some(log));
                }
                Notice::Refused(error) => self.ui.error("Not possible", format!("{error}."), None),
                Notice::Broken { text, is_painted, in_force } => {
                    if self.config.mode.info() != in_force.mode.info() {
                        self.ui.say(capitalised(text));
                        continue;
                    }
                    self.config.running = false;
                    let way_back = match is_painted {
                        true => " Or undo what was painted last (Ctrl+Z): it goes on from before that.",
                        false => "",
                    };
                    self.ui.broken(capitalised(text) + way_back, is_painted);
                }
                Notice::Kernels(outcome) => self.kernels_taken(outcome),
                Notice::Still(still) => self.develop(*still)?,
                Notice::Said(text) => self.ui.say(text),
                Notice::Paused { text, in_force } => {
                    if self.config.mode.info() == in_force.mode.info() {
                        self.config.running = false;
                    }
                    self.ui.say(text);
                }
                Notice::Trial(share, trial) => self.ui.trial(share, trial),
                Notice::StudyEnded { study, complete } => {
                    self.ui.study_ended();
                    if study == Study::Tune && complete {
                        self.remember_fastest();
                    }
                }
                Notice::Rejected { error, wanted, in_force } => {
                    // Unless the panel has gone on to something else meanwhile, which the worker will get to.
                    if self.config == *wanted {
                        self.ui.refused(&wanted, &in_force);
                        self.config = *in_force;
                    }
                    match error {
                        error @ Error::Build { .. } => self.kernel_refused(error),
                        error => {
                            self.ui.error("Not possible", format!("{error}. What ran before runs on."), None)
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Lets `auto` take what was found to be the fastest, from now on and after the next start.
    fn remember_fastest(&mut self) {
        let Some(chart) = self.ui.chart() else { return };
        // What an edited kernel came to says nothing of the program's own.
        if self.lab.is_some() {
            return self.ui.say("Not remembered: the kernels are edited");
        }
        let before = self.config.clone();
        let device = first(&self.pool, &self.config).clone();
        trial::remember(&mut self.config.tuned, &device, chart.info, &chart.trials);
        self.tell(&before);
        if let Some(Err(error)) = Tuned::path().map(|path| self.config.tuned.save(&path)) {
            self.ui.error(
                "Not remembered",
                format!("{error}. `auto` forgets it when the program ends."),
                None,
            );
        }
    }
}

/// As a sentence of its own.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}
