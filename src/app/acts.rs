//! What is asked for, by the panel or by a key, is done here.

use std::io::Write;

use super::open::{Open, first};
use super::settings::Settings;
use crate::config::Config;
use crate::engine::Resolved;
use crate::error::Result;
use crate::files::{Names, Output};
use crate::hand::Edit;
use crate::look::Look;
use crate::session::Command;
use crate::ui::{Action, Export};

impl Open {
    /// Sends the config if the panel or a key changed it.
    pub(super) fn tell(&mut self, before: &Config) {
        if self.config == *before {
            return;
        }
        if self.must_wait() {
            self.ui.refused(&self.config, before);
            self.config = before.clone();
        } else {
            // There is nothing before a beginning.
            self.config.reverse &= !self.begins_anew(before);
            self.begin_keeping();
            self.recorder.change(before, &self.config, &self.shown);
            self.session.send(Command::Configure(Box::new(self.config.clone())));
        }
    }

    /// Whether the config has other bodies than the one `before` it, of the same mode.
    fn begins_anew(&self, before: &Config) -> bool {
        let device = first(&self.pool, before);
        let bodies = |config| Resolved::new(config, device).map(|resolved| resolved.bodies).ok();
        before.mode.info() == self.config.mode.info()
            && (before.reseeds(&self.config) || bodies(before) != bodies(&self.config))
    }

    /// Draws as the panel, a key or the mouse has it now.
    pub(super) fn dress(&mut self, before: &Look) -> Result<()> {
        if self.look != *before {
            self.recorder.change_of_look(before, &self.look, &self.shown);
        }
        self.view.set_look(&self.look)
    }

    /// Does what was asked for; false if that is to leave.
    pub(super) fn act(&mut self, actions: &[Action]) -> bool {
        for action in actions {
            if changes_bodies(*action) && self.must_wait() {
                continue;
            }
            self.recorder.action(*action, &self.shown);
            match action {
                Action::Step => self.session.send(Command::Step),
                Action::GoTo(goal) => self.session.send(Command::GoTo(*goal)),
                Action::Restart | Action::Rerun | Action::Resume => {
                    // In this order: what blew up, or goes backwards, must not go on in between.
                    let is_undone = *action == Action::Resume;
                    self.session.send(if is_undone { Command::Undo } else { Command::Restart });
                    let before = self.config.clone();
                    self.config.running |= *action != Action::Restart;
                    // There is nothing before the beginning.
                    self.config.reverse &= is_undone;
                    self.tell(&before);
                }
                Action::Undo => self.session.send(Command::Undo),
                Action::Delete => {
                    if let Some(held) = self.shown.held {
                        self.edit(Edit::Remove(held.body));
                    }
                }
                Action::LetGo => self.select(None),
                Action::Abandon => self.abandon(),
                Action::FrameAll => self.look_anew(),
                Action::ResetView => {
                    self.look_anew();
                    self.resets = true;
                }
                Action::Recall(number) => self.recall(*number),
                Action::Keep(number) => {
                    self.rig.keep(self.shown.mode, *number);
                    self.ui.say(format!(
                        "View {number} is kept until the program ends: {number} goes back to it"
                    ));
                }
                Action::Study(study) => self.session.send(Command::Study(*study)),
                Action::EndStudy => self.session.send(Command::EndStudy),
                Action::SaveChart(kind) => self.save_chart(*kind),
                Action::SavePlots => self.save_plots(),
                Action::Continue => match self.kept.left() {
                    Some(path) => self.resume(path),
                    None => self.ui.say("There is nothing to continue any more."),
                },
                Action::Picture(size) => self.take_picture(*size),
                Action::Record(plan) => self.record(*plan),
                Action::EndFilm { keeps } => self.end_film(*keeps),
                Action::OwnKernels => self.own_kernels(),
                Action::NotNow => self.begin_keeping(),
                Action::Quit => return false,
            }
        }
        true
    }

    /// Brings every body into view. Who wants that is done with going along with one of them, or with their middle.
    fn look_anew(&mut self) {
        self.stop_following();
        self.generation = 0;
    }

    /// Goes to a view that was kept.
    fn recall(&mut self, number: u8) {
        match self.rig.recall(self.shown.mode, number) {
            true => self.stop_following(),
            false => self.ui.say(format!("No view {number} is kept: Ctrl+{number} keeps one")),
        }
    }

    /// The camera goes with nothing any more: it would be taken back from where it is to go.
    fn stop_following(&mut self) {
        (self.look.follow, self.hand.grip.follows) = (false, false);
    }

    /// Keeps what runs, and the settings, now and then.
    pub(super) fn keep(&mut self) {
        if !self.kept.is_due() {
            return;
        }
        let settings = self.settings();
        let Self { kept, session, shown, rig, .. } = self;
        let commands = kept.tick(shown, settings, || rig.camera.to_words());
        commands.into_iter().for_each(|command| session.send(command));
    }

    /// Starts autosaving the simulation with the current view, unless autosaving has started already.
    pub(super) fn begin_keeping(&mut self) {
        let Self { kept, session, rig, generation, .. } = self;
        // Before the first picture the camera stands nowhere yet.
        let view = || if *generation == 0 { String::new() } else { rig.camera.to_words() };
        kept.begin(view).into_iter().for_each(|command| session.send(command));
    }

    pub(super) fn settings(&mut self) -> Settings {
        let folder = self.ui.folder().clone();
        let look = self.once.leave_out(Settings::of_look(&self.look), &self.look);
        Settings { size: self.window.logical_size(), panel: self.ui.panel, folder, look }
    }

    /// Writes the chart to a file of its own in the working directory.
    fn save_chart(&mut self, kind: Export) {
        let Some(chart) = self.ui.chart() else { return };
        let name = format!("gravitile-{}-{}", chart.info.name, chart.axis.name());
        let (charts, names) = (std::slice::from_ref(chart), &self.studio.names);
        match save(names, (&name, kind.extension()), |file| kind.write(charts, file)) {
            Ok(path) => self.ui.chart_saved(path),
            Err(error) => self.ui.error("Not saved", format!("{error}."), None),
        }
    }

    fn save_plots(&mut self) {
        let name = format!("gravitile-{}-plots", self.shown.mode);
        match save(&self.studio.names, (&name, "csv"), |file| self.ui.write_plots(file)) {
            Ok(path) => self.ui.plots_saved(path),
            Err(error) => self.ui.error("Not saved", format!("{error}."), None),
        }
    }
}

/// Writes to a file in the working directory that is not there yet; where that is.
fn save(
    names: &Names,
    (stem, extension): (&str, &str),
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<String> {
    let name = names.free(stem, extension, false);
    Output::create(name.path())?.save(|file| write(file))?;
    Ok(std::path::absolute(name.path()).unwrap_or_else(|_| name.path().to_owned()).display().to_string())
}

/// Whether it is about the bodies that are shown, and not only about how.
fn changes_bodies(action: Action) -> bool {
    match action {
        Action::Step | Action::GoTo(_) | Action::Restart | Action::Rerun => true,
        Action::Undo | Action::Resume | Action::Delete | Action::LetGo => true,
        Action::Continue | Action::Picture(_) | Action::Record(_) => true,
        Action::Abandon | Action::FrameAll | Action::ResetView | Action::Recall(_) | Action::Keep(_) => false,
        Action::Study(_) | Action::EndStudy | Action::SaveChart(_) | Action::SavePlots => false,
        Action::EndFilm { .. } | Action::OwnKernels | Action::NotNow | Action::Quit => false,
    }
}
