//! Performs user actions that the panel passes on to the window, such as opening a file or restarting the scene.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::clock::waker;
use super::command_line::{Pasted, command_line, set_all};
use super::exports::Exports;
use super::file_reader::{Content, KernelFolder, start_reading};
use super::screen::Screen;
use super::simulation::Simulation;
use super::viewer::Viewer;
use crate::base::{ChangeEffect, Choice, Edit, Look, OutputFile, Partial, Result};
use crate::compute::KernelEdits;
use crate::engine::{Config, FileKind, kernel_lab};
use crate::scene::Scene;
use crate::session::{Command, Save};
use crate::ui::{Action, ChartFormat};

impl Viewer {
    /// Performs the actions that the user chose in the panel. Returns false if the program must exit.
    pub(super) fn act(&mut self, actions: Vec<Action>) -> bool {
        for action in actions {
            if (action.changes_state() && self.must_wait()) || self.is_refused_in_past(&action) {
                continue;
            }
            let edits = action.needs_one_simulation() || matches!(action, Action::Undo | Action::Redo);
            if edits && self.refuses_edits() {
                continue;
            }
            self.recorder.note(format!("{action:?}").to_lowercase(), &self.sim.shown);
            if action.starts_autosave() {
                self.start_autosave();
            }
            if self.act_on_timeline(&action) {
                continue;
            }
            match action {
                Action::Step => self.send_to_all(|| Command::Step),
                Action::GoTo(goal) => self.send_to_all(|| Command::Seek(goal)),
                Action::Restart | Action::RestartAndRun => {
                    if let Some(comparison) = &self.comparison {
                        comparison.other.send(Command::Restart);
                    }
                    self.restart(Command::Restart, action == Action::RestartAndRun);
                }
                Action::UndoAndRun => self.restart(Command::Undo, true),
                Action::Undo => self.sim.send(Command::Undo),
                Action::Redo => self.sim.send(Command::Redo),
                Action::CopyCommandLine => self.copy_command_line(),
                Action::PasteSettings => self.paste_settings(),
                Action::TakeSettings(text) => {
                    self.take_settings(&text, "Could not set up this step of the lesson");
                }
                Action::DeleteBody => {
                    if let Some(selected) = self.sim.shown.selected {
                        self.edit(Edit::Remove(selected.body));
                    }
                }
                Action::Edit(edit) => {
                    self.edit(edit);
                }
                Action::Deselect => self.select(None),
                Action::Follow(body) => {
                    self.select(Some(body));
                    self.tools.follows_next = Some(body).filter(|_| !self.must_wait());
                }
                Action::CancelGesture => self.cancel_gesture(),
                Action::FrameAll => self.frame_all(false),
                Action::ResetView => self.frame_all(true),
                Action::RecallView(number) => self.recall_view(number),
                Action::StoreView(number) => self.store_view(number),
                Action::Compare => self.compare(),
                Action::EditOther => self.edit_other(),
                Action::SwapHalves => self.swap_halves(),
                Action::Keep(half) => self.keep(half),
                Action::StartStudy(study) => self.sim.send(Command::StartStudy(study)),
                Action::StopStudy => self.sim.send(Command::StopStudy),
                Action::SaveChart(kind) => self.save_chart(kind),
                Action::SaveRoofline(kind) => self.save_roofline(kind),
                Action::SavePlots => self.save_plots(),
                Action::ContinuePrevious => match self.autosave.offered() {
                    Some(path) => {
                        self.opening = None;
                        self.resume(path);
                    }
                    None => self.ui.alerts.say("The autosave of the previous session no longer exists"),
                },
                Action::SavePicture => self.take_picture(self.ui.export.plan().size),
                Action::RecordFilm => self.record(self.ui.export.plan()),
                Action::FinishFilm => self.end_film(true),
                Action::CancelFilm => self.end_film(false),
                Action::OpenFile(path) => self.open(path),
                Action::SaveSnapshotTo(path) => self.save_snapshot(path),
                Action::SaveSceneTo(path) => self.save_scene(&path),
                Action::EditKernelsIn(folder) => self.edit_kernels(&folder),
                Action::RunKernels(edits) => self.sim.send(Command::EditKernels(edits)),
                Action::SaveKernel(file, text) => self.save_kernel(file, text),
                Action::UseBuiltInKernels => self.use_built_in_kernels(),
                Action::ToggleFullScreen => self.screen.window.toggle_full_screen(),
                Action::Quit => return false,
                // `Ui::show` has already performed all other actions.
                _ => {}
            }
        }
        true
    }

    /// Sends the edited config to the simulation if it differs from `before`. While a snapshot is being opened,
    /// restores `before` instead.
    pub(super) fn configure(&mut self, before: &Config) {
        if self.sim.config == *before {
            return;
        }
        // Changed settings apply to the live simulation, so the view of a past moment ends.
        self.go_live(false);
        if self.must_wait() {
            self.ui.modes.rejected(&self.sim.config, before);
            self.sim.config = before.clone();
        } else {
            self.start_autosave();
            self.sim.configure(before);
            if let Some(comparison) = &mut self.comparison {
                comparison.follow(before, &self.sim.config);
            }
            self.recorder.change(before, &self.sim.config, &self.sim.shown);
        }
    }

    /// Sends `command`, a restart or an undo, and then the config. The config starts the simulation if `runs` is true.
    /// The config must not come first, because a simulation that has blown up or runs backwards could then compute
    /// another step.
    fn restart(&mut self, command: Command, runs: bool) {
        let is_undone = matches!(command, Command::Undo);
        self.sim.send(command);
        let before = self.sim.config.clone();
        self.sim.config.running |= runs;
        // A restarted scene runs forwards, because it cannot run backwards past its start.
        self.sim.config.reverse &= is_undone;
        self.configure(&before);
    }

    /// Selects a body; `None` clears the selection.
    pub(super) fn select(&mut self, body: Option<usize>) {
        if self.must_wait() {
            return;
        }
        self.tools.settings.follows &= body.is_some();
        self.tools.follows_next = None;
        self.send_to_all(|| Command::Select(body));
        let text = body.map_or_else(|| "none".to_owned(), |body| body.to_string());
        self.recorder.note(format!("select={text}"), &self.sim.shown);
    }

    /// Sends an edit of the bodies to the simulation. Returns false, without sending it, if a snapshot is being opened.
    pub(super) fn edit(&mut self, edit: Edit) -> bool {
        let is_possible = !self.must_wait() && !self.refuses_edits();
        if is_possible {
            self.start_autosave();
            self.sim.send(Command::Edit(edit));
        }
        is_possible
    }

    /// Cancels the current mouse gesture without launching anything, and removes the attractor, if any.
    pub(super) fn cancel_gesture(&mut self) {
        if self.tools.cancel() {
            self.sim.send(Command::Attract(None));
        }
    }

    fn frame_all(&mut self, resets: bool) {
        self.stop_following();
        self.viewpoint.frame_anew(resets);
    }

    fn recall_view(&mut self, number: u8) {
        match self.viewpoint.rig.recall(self.sim.shown.mode, number) {
            true => self.stop_following(),
            false => {
                self.ui.alerts.say(format!(
                    "View {number} is empty. Press Ctrl+{number} to store the current view there."
                ));
            }
        }
    }

    fn store_view(&mut self, number: u8) {
        self.viewpoint.rig.store(self.sim.shown.mode, number);
        self.ui.alerts.say(format!(
            "View {number} is stored until you close the window. Press {number} to return to it."
        ));
    }

    /// Stops the camera from following a body or the centre of mass, so that the view stays where the user moves it.
    fn stop_following(&mut self) {
        (self.screen.look.follow, self.tools.settings.follows) = (false, false);
    }

    /// Opens a scene, a snapshot, a picture with an embedded scene or snapshot, or a list of bodies.
    fn open(&mut self, path: PathBuf) {
        if !path.exists() && self.ui.files.forget(&path) {
            let text = "no longer exists, and was removed from the list of recent files.";
            let text = format!("{} {text}", path.display());
            return self.ui.alerts.error("Could not open the file", text, None);
        }
        self.opening = Some(path.clone());
        match FileKind::of(&path) {
            Ok(FileKind::Snapshot) => self.resume(path),
            Ok(FileKind::Scene | FileKind::Picture | FileKind::Csv | FileKind::Tipsy) => {
                let wake = waker(&self.proxy);
                self.reader = Some(start_reading(path, self.sim.config.mode.info(), wake));
            }
            Err(error) => self.ui.alerts.failed("Could not open the file", &error),
        }
    }

    /// Asks the simulation to continue from the snapshot file `path`.
    fn resume(&mut self, path: PathBuf) {
        if self.sim.failure.is_some() {
            let text = "The simulation has stopped. Restart gravitile, then open the snapshot.";
            return self.ui.alerts.error("Could not open the file", text, None);
        }
        if self.reader.take().is_some() {
            self.ui.alerts.say("Cancelled opening the previous file; opening this snapshot instead");
        }
        self.sim.is_resuming = true;
        self.sim.send(Command::Resume(path));
    }

    /// Applies the content of the file that the user opened, once the reader thread has finished.
    pub(super) fn poll_reader(&mut self) {
        let Some(content) = self.reader.as_ref().and_then(|reader| reader.try_recv().ok()) else { return };
        self.reader = None;
        match content {
            Ok(Content::Snapshot(path)) => self.resume(path),
            Ok(Content::Scene(next)) => {
                let (before, look) = (self.sim.config.clone(), &self.screen.look);
                self.ui.modes.adopt(*next, &mut self.sim.config);
                self.ui.undo.add((&before, look), (&self.sim.config, look));
                self.ui.alerts.toasts.offer = None;
                self.remember_opened();
                self.configure(&before);
            }
            Err(error) => self.ui.alerts.failed("Could not open the file", &error),
        }
    }

    /// Adds the file that has been opened to the recent files.
    pub(super) fn remember_opened(&mut self) {
        self.opening.take().into_iter().for_each(|path| self.ui.files.remember(&path));
    }

    fn copy_command_line(&mut self) {
        match command_line(&self.sim.config, &self.screen.look) {
            Ok(text) => {
                self.ui.alerts.say(format!("Copied {text}"));
                self.screen.window.set_clipboard_text(text);
            }
            Err(error) => self.ui.alerts.failed("Could not copy the settings", &error),
        }
    }

    /// Applies the settings in the clipboard. The user can undo this.
    fn paste_settings(&mut self) {
        let text = self.screen.window.clipboard_text().unwrap_or_default();
        if self.take_settings(&text, "Could not paste the settings") {
            self.ui.alerts.say("Applied the settings from the clipboard");
        }
    }

    /// Applies settings given as text. Returns whether this succeeded; if not, shows an error titled `failed`.
    fn take_settings(&mut self, text: &str, failed: &str) -> bool {
        let before = (self.sim.config.clone(), self.screen.look.clone());
        if let Err(error) = Pasted::read(text).and_then(|pasted| self.apply_pasted(pasted)) {
            self.ui.alerts.failed(failed, &error);
            return false;
        }
        let Self { ui, sim, screen, .. } = self;
        ui.undo.add((&before.0, &before.1), (&sim.config, &screen.look));
        self.configure(&before.0);
        self.screen.redraw();
        true
    }

    fn apply_pasted(&mut self, pasted: Pasted) -> Result<()> {
        let Self { ui, sim: Simulation { config, .. }, screen: Screen { look, appearance, .. }, .. } = self;
        let arguments = match pasted {
            Pasted::Values(values) => return set_all(&values, config, look),
            Pasted::Command(arguments) => arguments,
        };
        let (next, of_picture) = (self.read_command_line)(arguments)?;
        let Config { steps_per_frame, free_run, .. } = next;
        ui.modes.adopt(next, config);
        (config.steps_per_frame, config.free_run) = (steps_per_frame, free_run);
        appearance.follow(&config.start, look);
        // A pasted command line lists every picture setting that differs from the scene's, so all others are reset.
        let mut of_window = Partial::all(look);
        of_window.retain(ChangeEffect::Window);
        *look = config.start.look.complete();
        of_window.apply(look);
        of_picture.apply(look);
        Ok(())
    }

    fn save_snapshot(&mut self, path: PathBuf) {
        if !self.has_stopped("Could not save the snapshot") {
            let view = self.viewpoint.rig.camera.to_words();
            self.sim.send(Command::SaveSnapshot(Save { path: Some(path), view }));
        }
    }

    fn save_scene(&mut self, path: &Path) {
        let save = |text: String| OutputFile::create(path)?.save(|file| file.write_all(text.as_bytes()));
        match self.scene_in_view().to_file().and_then(save) {
            Ok(()) => {
                self.ui.files.remember(path);
                let text = "the file contains the initial state of the scene. To save the current state, including painted walls, press Ctrl+S";
                self.ui.alerts.say(format!("Saved {}: {text}", path.display()));
            }
            Err(error) => self.ui.alerts.failed("Could not save the scene", &error),
        }
    }

    /// Returns a copy of the config in which the scene includes the current appearance and the current camera.
    fn scene_in_view(&mut self) -> Config {
        let Self { sim, viewpoint, screen, .. } = self;
        let look = Partial::changes(&Look::default(), &screen.look);
        let (config, points) = sim.scene();
        let camera = Partial::all(&viewpoint.to_scene(points, screen.window.viewport()));
        let start = Arc::new(Scene { look, camera, ..Scene::clone(&config.start) });
        Config { start, ..config.clone() }
    }

    fn save_chart(&mut self, kind: ChartFormat) {
        let Some(chart) = self.ui.measurement.chart.as_ref() else { return };
        let name = format!("gravitile-{}-{}", chart.info.name, chart.axis.name());
        let charts = std::slice::from_ref(chart);
        match save(&self.exports, (&name, kind.name()), |file| kind.write(charts, file)) {
            Ok(path) => self.ui.measurement.saved = Some(path),
            Err(error) => self.ui.alerts.failed("Could not save the chart", &error),
        }
    }

    fn save_roofline(&mut self, kind: ChartFormat) {
        let Some(chart) = self.ui.lens.roofline.chart.as_ref() else { return };
        let name = format!("gravitile-{}-roofline", chart.info.name);
        let charts = std::slice::from_ref(chart);
        match save(&self.exports, (&name, kind.name()), |file| kind.write_rooflines(charts, file)) {
            Ok(path) => self.ui.lens.roofline.saved = Some(path),
            Err(error) => self.ui.alerts.failed("Could not save the roofline chart", &error),
        }
    }

    fn save_plots(&mut self) {
        let (plots, shown) = (&self.ui.plots, &self.sim.shown);
        let name = format!("gravitile-{}-{}", shown.mode, plots.file_name());
        match save(&self.exports, (&name, "csv"), |file| plots.write_csv(shown, file)) {
            Ok(path) => self.ui.plots.saved = Some(path),
            Err(error) => self.ui.alerts.failed("Could not save the plots", &error),
        }
    }

    /// Starts watching `folder` for edited kernels. If it contains no kernels, first copies the built-in kernels there.
    fn edit_kernels(&mut self, folder: &Path) {
        let watched =
            kernel_lab::prepare(folder).and_then(|path| KernelFolder::new(path, waker(&self.proxy)));
        match watched {
            Ok(kernels) => {
                if self.kernels.is_some() {
                    // Discards the edits from the previous folder.
                    self.use_built_in_kernels();
                }
                let path = kernels.watch.folder.clone();
                let text = "Each change takes effect as soon as you save the file";
                self.ui
                    .alerts
                    .say(format!("You can now edit the kernel files in {}. {text}", path.display()));
                self.ui.kernels = Some(path);
                self.kernels = Some(kernels);
            }
            Err(error) => self.ui.alerts.failed("Could not start editing the kernels", &error),
        }
    }

    /// Writes an edited kernel to the watched folder. The watcher then loads the kernel as if another program had
    /// changed it.
    fn save_kernel(&mut self, file: &'static str, text: String) {
        let Some(kernels) = &mut self.kernels else { return };
        let last = kernels.saved.get(file).map(String::as_str);
        match kernel_lab::save(&kernels.watch.folder, file, &text, last) {
            Ok((path, kept)) => {
                kernels.saved.insert(file, text);
                let kept = kept.map(|old| format!(". The previous version is now in {}", old.display()));
                self.ui.alerts.say(format!("Saved {}{}", path.display(), kept.unwrap_or_default()));
            }
            Err(error) => self.ui.alerts.failed("Could not save the kernel", &error),
        }
    }

    /// Stops watching the kernel folder without deleting its files, and runs the built-in kernels.
    fn use_built_in_kernels(&mut self) {
        self.kernels = None;
        self.ui.kernels = None;
        self.sim.send(Command::EditKernels(KernelEdits::new()));
    }

    /// Sends newly saved kernels from the watched folder to the simulation.
    pub(super) fn poll_kernels(&mut self) {
        for edits in self.kernels.iter().flat_map(|kernels| kernels.edits.try_iter()) {
            match edits {
                Ok(edits) => self.sim.send(Command::EditKernels(edits)),
                Err(error) => self.ui.alerts.failed("Could not read the kernels", &error),
            }
        }
    }

    /// Returns whether an error has stopped the simulation. If so, shows an error dialog with this `title`.
    pub(super) fn has_stopped(&mut self, title: &str) -> bool {
        if self.sim.failure.is_some() {
            let text = format!("The simulation has stopped. {}", self.autosave.advice());
            self.ui.alerts.error(title, text, None);
        }
        self.sim.failure.is_some()
    }

    /// Returns whether a snapshot is being opened. If so, asks the user to try again later.
    pub(super) fn must_wait(&mut self) -> bool {
        if self.sim.is_resuming {
            self.ui.alerts.say("A snapshot is being opened. Try again in a moment.");
        }
        self.sim.is_resuming
    }
}

/// Creates a file in the working directory, calls `write` to fill it, and returns its absolute path.
fn save(
    exports: &Exports,
    (stem, extension): (&str, &str),
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<String> {
    let name = exports.names.free(stem, extension, false);
    OutputFile::create(name.path())?.save(|file| write(file))?;
    Ok(std::path::absolute(name.path()).unwrap_or_else(|_| name.path().to_owned()).display().to_string())
}
