//! The user interface as a whole: its state, and how one frame shows it.

use std::io;
use std::path::PathBuf;

use egui::Rect;

use super::action::Action;
use super::alerts::Alerts;
use super::brush::Brush;
use super::chart_window::{self, Measurement};
use super::collector::Collector;
use super::command_palette::CommandPalette;
use super::export::Export;
use super::files::Files;
use super::film_plan::FilmPlan;
use super::gallery::Gallery;
use super::mode_memory::ModeMemory;
use super::model::Model;
use super::panel::Sections;
use super::plots::Plots;
use super::undo_tracker::UndoTracker;
use super::{body_card, help, jump, keys, markers, overlay, panel, theme, tools};
use crate::base::look::{self, Look};
use crate::engine::config::Config;
use crate::engine::tuning::Trial;
use crate::export::chart::Chart;

/// Result of showing one frame of the user interface.
#[derive(Debug)]
pub struct Output {
    /// Actions for the window to carry out, in order.
    pub actions: Vec<Action>,
    /// Names and places of all controls, in points; empty unless [`Ui::records_controls`] is set.
    pub controls: Vec<(String, Rect)>,
    /// Place of the picture, in points.
    pub picture: Rect,
    /// Part of the picture that a large window covers, in points.
    pub hidden: Option<Rect>,
    /// Whether the plots are shown, for which conserved quantities are measured more often.
    pub plots: bool,
    /// Radius of the brush in units of the scene, while the brush is on.
    pub brush: Option<f32>,
    /// Whether a control gets the keyboard focus in the next pass, which must run before the next keys.
    pub moves_focus: bool,
}

/// State of the windows over the picture.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// Whether the help window is shown.
    pub help: bool,
    pub gallery: Gallery,
    pub files: Files,
    pub plots: Plots,
    pub measurement: Measurement,
    pub palette: CommandPalette,
}

/// Keys that are down, and whether a text field has the keyboard.
#[derive(Debug, Default)]
struct Keyboard {
    down: keys::PressedKeys,
    /// Whether a text field had the keyboard at the end of the last frame.
    had_focus: bool,
}

/// State of the user interface.
#[derive(Debug, Default)]
pub struct Ui {
    /// Whether the panel is shown.
    pub panel: bool,
    /// Whether [`Output::controls`] lists all controls, for tests.
    pub records_controls: bool,
    pub(super) fold: overlay::Fold,
    pub(super) brush: Brush,
    pub(super) export: Export,
    pub(super) windows: Windows,
    pub(super) alerts: Alerts,
    pub(super) undo: UndoTracker,
    pub(super) modes: ModeMemory,
    /// Key of the setting that the panel scrolls to in the next frame.
    pub(super) jump: Option<&'static str>,
    /// The folder of kernels that is watched.
    kernels: Option<PathBuf>,
    /// Size of text that was last passed to egui; `None` means the default.
    scale: Option<look::Size>,
    keyboard: Keyboard,
}

impl Ui {
    /// Sets the style of `ctx`, and returns a user interface with the panel shown.
    pub fn new(ctx: &egui::Context) -> Self {
        theme::apply(ctx);
        ctx.options_mut(|options| {
            // A second pass would repeat the frame, and discard the actions of the first.
            options.max_passes = std::num::NonZeroUsize::MIN;
            // The size of text is part of the look.
            options.zoom_with_keyboard = false;
        });
        Self { panel: true, ..Self::default() }
    }

    /// Opens an error dialog that stays until the user closes it, with the compiler's log if there is one.
    pub fn error(&mut self, title: impl Into<String>, text: impl Into<String>, log: Option<String>) {
        self.alerts.dialogs.push(title.into(), text.into(), log);
    }

    /// Shows a message for a few seconds.
    pub fn say(&mut self, text: impl Into<String>) {
        self.alerts.toasts.say(text);
    }

    /// Offers to continue the session that `text` describes; `None` withdraws the offer.
    pub fn offer(&mut self, text: Option<String>) {
        self.alerts.toasts.offer(text);
    }

    /// Reports that an autosave failed. Failures in a row share one dialog.
    pub fn autosave_failed(&mut self, reason: String) {
        self.alerts.autosave_failed(reason);
    }

    /// Reports that an autosave succeeded; says so if the last one failed.
    pub fn autosave_succeeded(&mut self) {
        self.alerts.autosave_succeeded();
    }

    /// Reports that the simulation blew up and stopped; offers a restart, and undoing the last stroke if `can_undo`.
    pub fn blew_up(&mut self, text: impl Into<String>, can_undo: bool) {
        self.alerts.blew_up(text.into(), can_undo);
    }

    /// Reports that an edited kernel does not build, with the compiler's log, or does not run.
    pub fn kernel_failed(&mut self, text: String, log: Option<String>) {
        self.alerts.kernel_failed(text, log);
    }

    /// Reports that edited kernels run, and closes an earlier report of failure.
    pub fn kernel_runs(&mut self, text: impl Into<String>) {
        self.alerts.kernel_runs(text);
    }

    /// Sets the number of recorded frames and of all frames of the film; `None` while no film is recorded.
    pub fn set_film_progress(&mut self, progress: Option<(u32, u32)>) {
        self.export.filming = progress;
    }

    /// Sets the folder of kernels that is watched.
    pub fn set_kernel_folder(&mut self, folder: Option<PathBuf>) {
        self.kernels = folder;
    }

    /// Sets the settings of the modes that are not selected, after a snapshot was opened.
    pub fn set_other_modes(&mut self, left: Vec<Config>) {
        self.modes.replace(left);
    }

    /// Returns the folder that file dialogs start in.
    pub fn folder(&mut self) -> &mut Option<PathBuf> {
        self.windows.files.folder()
    }

    /// Changes `config` to `next`, which was read from a file; settings that belong to no scene stay.
    pub fn adopt(&mut self, next: Config, config: &mut Config) {
        self.modes.adopt(next, config);
    }

    /// Reports that the config `wanted` was rejected and `in_force` still runs.
    pub fn config_rejected(&mut self, wanted: &Config, in_force: &Config) {
        self.modes.rejected(wanted, in_force);
    }

    /// Adds a result of the running measurement, and sets the completed share of the measurement, 0 to 1.
    pub fn measured(&mut self, share: f32, trial: Trial) {
        let Measurement { running, chart, .. } = &mut self.windows.measurement;
        if let Some((_, done)) = running {
            *done = share;
        }
        if let Some(chart) = chart {
            chart.trials.push(trial);
        }
    }

    /// Reports that no measurement is running any more.
    pub fn measurement_ended(&mut self) {
        self.windows.measurement.running = None;
    }

    /// Returns the chart of the last measurement.
    pub fn chart(&self) -> Option<&Chart> {
        self.windows.measurement.chart.as_ref()
    }

    /// Reports the path that the chart was saved to.
    pub fn chart_saved(&mut self, path: String) {
        self.windows.measurement.saved = Some(path);
    }

    /// Writes the plotted data as CSV.
    ///
    /// # Errors
    /// Returns an error if `file` cannot be written.
    pub fn write_plots(&self, file: &mut dyn io::Write) -> io::Result<()> {
        self.windows.plots.history.write_csv(file)
    }

    /// Reports the path that the plots were saved to.
    pub fn plots_saved(&mut self, path: String) {
        self.windows.plots.saved = Some(path);
    }

    /// Returns the size, format and length chosen for films, and the size chosen for pictures.
    pub fn film_plan(&self) -> FilmPlan {
        self.export.plan()
    }

    /// Shows one frame, and reads the keyboard.
    pub fn show(&mut self, ctx: &egui::Context, mut model: Model) -> Output {
        self.alerts.update(model.stats);
        if let Some(text) = self.undo.update(model.stats) {
            self.say(text);
        }
        let mut out = Collector {
            actions: keys::pressed_actions(ctx, &mut self.keyboard.down, self.keyboard.had_focus),
            controls: self.records_controls.then(Vec::new),
            message: None,
        };
        if self.windows.files.is_open() {
            // The file dialog receives all keys except Ctrl+Q.
            out.actions.retain(|action| *action == Action::Quit);
            self.windows.palette.close(ctx);
        }
        self.windows.palette.show(ctx, model.config, &mut out);
        if let Some(key) = self.jump.take() {
            jump::start(ctx, key);
        }
        self.apply_look(ctx, model.look);
        let followed = model.look.follow;
        self.show_panel(ctx, &mut model, &mut out);
        self.show_over_picture(ctx, &mut model, &mut out);
        let hidden = self.show_windows(ctx, &model, &mut out);
        self.keyboard.had_focus = ctx.wants_keyboard_input();
        let Collector { actions, controls, message } = out;
        message.into_iter().for_each(|text| self.say(text));
        let actions = actions.into_iter().filter_map(|action| self.apply(action, &mut model)).collect();
        // The camera follows either the centre of mass or a body: whichever was chosen last.
        match model.look.follow && !followed {
            true => model.tools.follows = false,
            false => model.look.follow &= !model.tools.follows,
        }
        Output {
            actions,
            controls: controls.unwrap_or_default(),
            picture: ctx.available_rect(),
            hidden,
            plots: self.windows.plots.is_open,
            brush: self.brush.active(model.config),
            moves_focus: self.jump.is_some(),
        }
    }

    fn show_panel(&mut self, ctx: &egui::Context, model: &mut Model, out: &mut Collector) {
        if !self.panel {
            return panel::show_hidden(ctx, out);
        }
        let sections = Sections {
            measurement: &self.windows.measurement,
            brush: &mut self.brush,
            export: &mut self.export,
            kernels: self.kernels.as_deref(),
        };
        panel::show(ctx, model, sections, out);
    }

    /// Shows the overlay, the tools and their marks.
    fn show_over_picture(&mut self, ctx: &egui::Context, model: &mut Model, out: &mut Collector) {
        let is_filming = self.export.filming.is_some();
        let status = match (self.windows.measurement.running.is_some(), is_filming, model.config.running) {
            (true, ..) => Some("Measuring: simulation paused"),
            (false, true, _) => Some("Recording"),
            (false, false, is_running) => (!is_running).then_some("Paused"),
        };
        let place = overlay::show(ctx, model, (&mut self.fold, status), out);
        if model.look.grid {
            overlay::show_scale(ctx, model.grid_spacing);
        }
        self.brush.show_outline(ctx, model);
        markers::show(ctx, model);
        let below = if self.panel { 0.0 } else { 34.0 };
        self.fold.tools = tools::show(ctx, model, out, (below, place, is_filming));
        body_card::show(ctx, model, out);
    }

    /// Shows the windows; returns the part of the picture that one of them covers.
    fn show_windows(&mut self, ctx: &egui::Context, model: &Model, out: &mut Collector) -> Option<Rect> {
        let Windows { help, gallery, files, plots, measurement, .. } = &mut self.windows;
        if let Some((info, scene)) = gallery.show(ctx, model.config, out) {
            out.actions.push(Action::SelectScene(info, scene));
        }
        chart_window::show(ctx, measurement, out);
        plots.history.update(ctx.input(|input| input.time), model.stats, &model.window);
        let hidden = plots.show(ctx, model.config.mode.conserves_energy(), out);
        help::show(ctx, help);
        self.export.show_progress(ctx, out);
        self.alerts.toasts.show(ctx, out);
        files.show(ctx, out);
        self.alerts.dialogs.show(ctx, out);
        hidden
    }

    /// Sets the theme and the size of text.
    fn apply_look(&mut self, ctx: &egui::Context, look: &Look) {
        ctx.set_theme(match look.theme {
            look::Theme::Dark => egui::Theme::Dark,
            look::Theme::Light => egui::Theme::Light,
        });
        if self.scale.unwrap_or(look::Size::One) != look.scale {
            ctx.set_zoom_factor(look.scale.factor());
            self.scale = Some(look.scale);
        }
    }
}
