//! Handles the notices (messages) that the simulation's thread sends to the window.

use super::viewer::Viewer;
use crate::base::{Error, Result, format};
use crate::engine::{Study, Tuned, tuning};
use crate::session::{Command, Notice, ReplacedKernels};

impl Viewer {
    /// Handles the notices that the simulation has sent since the last call.
    pub(super) fn poll_notices(&mut self) -> Result<()> {
        for notice in self.sim.session.notices() {
            match notice {
                Notice::Failed(error) if !self.sim.shown.has_started() => return Err(error),
                Notice::Failed(error) => {
                    self.ui.measurement.running = None;
                    let advice = self.autosave.advice();
                    let text = format!(
                        "{error}. The simulation has stopped; the window shows its last state. {advice}"
                    );
                    self.ui.alerts.error("The simulation stopped", text, None);
                    (self.sim.failure, self.sim.is_resuming) = (Some(error), false);
                    self.exports.requested.clear();
                    self.end_film(true);
                }
                Notice::DeviceLost { error, step, current } => {
                    self.sim.send(Command::AcknowledgeLoss);
                    self.sim.config.devices.clone_from(&current.devices);
                    if self.sim.config.mode.info() == current.mode.info() {
                        self.sim.config.bodies = current.bodies;
                    }
                    let text =
                        format!("{error}. The other devices continue without this device from step {step}.");
                    self.ui.alerts.error("A device failed", text, None);
                }
                Notice::SnapshotSaved { path, is_asked_for: true, outcome, .. } => match outcome {
                    Ok(()) => {
                        self.ui.files.remember(&path);
                        self.ui.alerts.say(format!("Saved {}", path.display()));
                    }
                    Err(error) => self.ui.alerts.failed("Could not save the snapshot", &error),
                },
                Notice::SnapshotSaved { is_asked_for: false, moment, outcome, .. } => match outcome {
                    Ok(()) => {
                        self.autosave.saved = Some(moment);
                        self.ui.alerts.autosave_succeeded();
                    }
                    Err(error) => self.ui.alerts.autosave_failed(error.to_string()),
                },
                Notice::Resumed { config, left, view } => {
                    (self.sim.config, self.sim.is_resuming) = (*config, false);
                    let commands = self.autosave.start(|| view.clone());
                    commands.into_iter().for_each(|command| self.sim.send(command));
                    self.ui.modes.left = left;
                    self.ui.undo.clear();
                    self.remember_opened();
                    self.ui.alerts.toasts.offer = None;
                    self.viewpoint.restore(&view);
                    self.recorder.note(format!("resumed={}", self.sim.config.start.name), &self.sim.shown);
                }
                Notice::ResumeRefused(error) => {
                    (self.sim.is_resuming, self.sim.returns) = (false, true);
                    let title = match self.opening.take() {
                        Some(_) => "Could not open the file",
                        None => "Could not continue from this moment",
                    };
                    self.ui.alerts.failed(title, &error);
                }
                Notice::Refused(Error::Build { file, device, log }) => {
                    let text = build_errors(&device, &file) + "The simulation continues unchanged.";
                    self.ui.alerts.error("Could not compile the kernel", text, Some(log));
                }
                Notice::Refused(error) => {
                    self.ui.alerts.failed("Could not carry out the last action", &error);
                }
                Notice::BlownUp { text, is_painted, current } => {
                    if self.sim.config.mode.info() != current.mode.info() {
                        self.ui.alerts.say(sentence(text));
                        continue;
                    }
                    self.sim.config.running = false;
                    self.timeline.note(sentence(text));
                    let way_back = " You can also undo the last brush stroke (Ctrl+Z) and continue from the step before the stroke.";
                    let text = sentence(text) + if is_painted { way_back } else { "" };
                    self.ui.alerts.blew_up(text, self.sim.config.mode.as_ref(), is_painted);
                }
                Notice::KernelsReplaced(outcome) => self.kernels_replaced(outcome),
                Notice::Captured(capture) => self.draw_capture(*capture)?,
                Notice::Message(text) => self.ui.alerts.say(text),
                Notice::Paused { text, current } => {
                    if self.sim.config.mode.info() == current.mode.info() {
                        self.sim.config.running = false;
                    }
                    self.ui.alerts.say(text);
                }
                Notice::StudyProgress(share, trial) => self.ui.measurement.add(share, trial),
                Notice::StudyEnded { study, complete } => {
                    self.ui.measurement.running = None;
                    if study == Study::Tune && complete {
                        self.remember_fastest();
                    }
                }
                Notice::Rejected { error, wanted, current } => {
                    // If the user has changed the config again since then, the new config is already on its way to the
                    // worker.
                    if self.sim.config == *wanted {
                        self.ui.modes.rejected(&wanted, &current);
                        self.sim.config = *current;
                        self.active_rejected(&wanted);
                    }
                    match error {
                        error @ Error::Build { .. } => self.kernel_refused(error),
                        error => {
                            let text = format!("{error}. The simulation continues unchanged.");
                            self.ui.alerts.error("Could not apply the change", text, None);
                        }
                    }
                }
            }
        }
        Ok(())
    }

    /// Shows which edited kernels are now running, or the error that prevents them from running.
    pub(super) fn kernels_replaced(&mut self, outcome: Result<ReplacedKernels>) {
        self.recorder
            .note(format!("kernels={}", if outcome.is_ok() { "taken" } else { "refused" }), &self.sim.shown);
        let failure = outcome.as_ref().err().map(|error| match error {
            Error::Build { log, .. } => log.clone(),
            error => error.to_string(),
        });
        let is_shown = self.ui.lens.source.editor.finish_build(failure.as_deref());
        match outcome {
            // The kernel editor already shows the error at its line.
            Err(_) if is_shown && self.ui.lens.is_open => {}
            Ok(ReplacedKernels { running, waiting }) => {
                let [runs, waits] =
                    [("Running now: ", running), ("Will be compiled when first used: ", waiting)].map(
                        |(text, files)| (!files.is_empty()).then(|| text.to_owned() + &files.join(", ")),
                    );
                let all: Vec<String> = runs.into_iter().chain(waits).collect();
                match all.is_empty() {
                    true => self.ui.alerts.kernel_runs("The kernels are unchanged"),
                    false => self.ui.alerts.kernel_runs(all.join(" · ")),
                }
            }
            Err(error) => self.kernel_refused(error),
        }
    }

    /// Shows the error for a kernel that does not compile or run on the device. The previous kernel keeps running.
    fn kernel_refused(&mut self, error: Error) {
        match error {
            Error::Build { file, device, log } => {
                let text = build_errors(&device, &file) + "The previous kernel keeps running.";
                self.ui.alerts.kernel_failed(text, Some(log));
            }
            error => {
                self.ui.alerts.kernel_failed(format!("{error}. The previous kernel keeps running."), None);
            }
        }
    }

    /// Stores the fastest kernel variant that was measured, so that the setting `auto` uses it from now on.
    fn remember_fastest(&mut self) {
        let Some(chart) = self.ui.measurement.chart.as_ref() else { return };
        // The speed of an edited kernel says nothing about the built-in kernel.
        if self.kernels.is_some() || self.sim.shown.runs_edited_kernels() {
            let text = "The fastest settings were not stored for `auto`, because edited kernels are in use";
            return self.ui.alerts.say(text);
        }
        let before = self.sim.config.clone();
        let device = self.sim.device().clone();
        tuning::remember(&mut self.sim.config.tuned, &device, chart.info, &chart.trials);
        self.configure(&before);
        if let Some(Err(error)) = Tuned::path().map(|path| self.sim.config.tuned.save(&path)) {
            let text = format!(
                "{error}. The setting `auto` uses the fastest variant only until you close the window."
            );
            self.ui.alerts.error("Could not save the fastest variant", text, None);
        }
    }
}

fn build_errors(device: &str, file: &str) -> String {
    format!("The compiler of {device} reported errors in {file}. ")
}

/// Returns `text` as a sentence, with an initial capital and a full stop.
fn sentence(text: &str) -> String {
    format::capitalised(text) + "."
}
