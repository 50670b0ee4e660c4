//! State of the whole user interface, and the code that shows one frame of it.

use std::path::PathBuf;
use std::sync::Arc;

use egui::{Rect, Vec2};

use super::action::{Action, Collector};
use super::alerts::Alerts;
use super::brush::Brush;
use super::chart_window::{self, Measurement};
use super::command_palette::CommandPalette;
use super::export::Export;
use super::files::Files;
use super::gallery::Gallery;
use super::history::History;
use super::keys::Keyboard;
use super::labels::Labels;
use super::lens::Lens;
use super::lesson::{Course, Lesson};
use super::mode_memory::ModeMemory;
use super::model::Model;
use super::panel::Shown;
use super::plots::Plots;
use super::undo::UndoHistory;
use super::{body_card, comparison, help, jump, overlay, panel, scale_bar, theme, timeline, tools};
use crate::base::Look;
use crate::session::WatchList;

/// Result of showing one frame of the user interface.
#[derive(Debug)]
pub struct Output {
    /// Actions for the window to perform, in order.
    pub actions: Vec<Action>,
    /// Names and rectangles of all controls, in points; empty unless [`Ui::records_controls`] is set.
    pub controls: Vec<(String, Rect)>,
    /// Rectangle of the picture, in points.
    pub picture: Rect,
    /// Size of the upper right corner of the picture that the collapsed statistics cover, in points.
    pub covered: Vec2,
    /// Part of the picture that a large window covers, in points; `None` if there is none.
    pub hidden: Option<Rect>,
    /// Radius of the brush in scene units; `None` if the brush is inactive.
    pub brush: Option<f32>,
    /// Texts of the warnings in the overlay; `None` if the overlay is hidden or shows a past moment.
    pub warnings: Option<Vec<String>>,
    /// Whether the next egui pass moves the keyboard focus. That pass must run before egui receives further key presses.
    pub moves_focus: bool,
}

/// State of the user interface.
#[derive(Default)]
pub struct Ui {
    /// Whether the panel is shown.
    pub panel: bool,
    /// Whether only the picture is shown, in full screen, without panel, statistics, tools, messages and pointer.
    pub presents: bool,
    /// Whether [`Output::controls`] lists all controls, for tests.
    pub records_controls: bool,
    /// Error dialogs and short messages.
    pub alerts: Alerts,
    /// Saved settings of the simulation modes that are not selected.
    pub modes: ModeMemory,
    /// Export settings for pictures and films, and the progress of the current film.
    pub export: Export,
    /// The current or most recent speed measurement.
    pub measurement: Measurement,
    /// The Plots window.
    pub plots: Plots,
    /// The Lens window.
    pub lens: Lens,
    /// State of the lesson in progress, if any.
    course: Option<Course>,
    /// Whether the timeline is shown.
    pub timeline: bool,
    /// The file dialog.
    pub files: Files,
    /// Changes and edits that can be undone.
    pub undo: UndoHistory,
    /// Folder whose kernel files are watched for changes, if any.
    pub kernels: Option<PathBuf>,
    pub(super) fold: overlay::Fold,
    pub(super) brush: Brush,
    /// Whether the help window is shown.
    pub(super) help: bool,
    pub(super) gallery: Gallery,
    labels: Labels,
    palette: CommandPalette,
    /// Key of the setting that the panel scrolls to in the next frame.
    pub(super) jump: Option<Arc<str>>,
    keyboard: Keyboard,
}

impl Ui {
    /// Sets the style of `ctx`, and returns a user interface whose panel is open.
    pub fn new(ctx: &egui::Context) -> Self {
        theme::apply(ctx);
        ctx.options_mut(|options| {
            // A second egui pass would repeat the frame and discard the actions of the first pass.
            options.max_passes = std::num::NonZeroUsize::MIN;
            // egui's own zoom keys are off, because `Look::scale` sets the size of text.
            options.zoom_with_keyboard = false;
            // While frames are slow, a click can take longer than egui's default limit.
            options.input_options.max_click_duration = f64::INFINITY;
        });
        Self { panel: true, ..Self::default() }
    }

    /// Returns what the simulation must measure for the windows that are shown.
    pub fn watched(&self) -> WatchList {
        WatchList {
            energy: self.plots.is_open,
            distributions: self.plots.shows_distributions(),
            ..self.lens.watched()
        }
    }

    /// Shows one frame of the user interface, and handles the keyboard shortcuts.
    pub fn show(&mut self, ctx: &egui::Context, mut model: Model) -> Output {
        // The statistics of a past moment must not affect the edits and plots of the live simulation.
        let present = (!model.is_past()).then_some(model.stats);
        if let Some(stats) = present {
            self.alerts.update(stats, self.undo.len());
        }
        self.undo.begin_frame(ctx, (model.config, model.look), present);
        let mut out = self.pressed_actions(ctx);
        self.palette.show(ctx, (model.config, &model.stats.names, &self.files.recent), &mut out);
        if let Some(key) = self.jump.take() {
            jump::start(ctx, key);
        }
        apply_look(ctx, model.look);
        let followed = model.look.follow;
        let hidden = match self.presents {
            true => self.show_presentation(ctx, &mut model, &mut out),
            false => {
                self.show_panel(ctx, &mut model, &mut out);
                if self.timeline {
                    timeline::show(ctx, &model, &mut out);
                }
                self.show_over_picture(ctx, &mut model, &mut out);
                self.show_windows(ctx, &model, &mut out)
            }
        };
        if let Some(stats) = present {
            self.plots.history.update(ctx.input(|input| input.time), stats, &model.window);
        }
        self.files.show(ctx, &mut out);
        self.alerts.dialogs.show(ctx, &mut out);
        self.keyboard.end_frame(ctx);
        out.message.into_iter().for_each(|text| self.alerts.say(text));
        let actions = out.actions.into_iter().filter_map(|action| self.apply(action, &mut model)).collect();
        // The camera follows either the centre of mass or a body, depending on the user's last choice.
        match model.look.follow && !followed {
            true => model.tools.follows = false,
            false => model.look.follow &= !model.tools.follows,
        }
        self.undo.record(model.config, model.look);
        Output {
            actions,
            controls: out.controls.unwrap_or_default(),
            picture: ctx.available_rect(),
            covered: self.fold.covered,
            hidden,
            brush: self.brush.active(model.config),
            warnings: self.alerts.shown.take(),
            moves_focus: self.jump.is_some(),
        }
    }

    /// Collects the actions whose keys were pressed. An open file dialog receives all keys except Ctrl+Q.
    fn pressed_actions(&mut self, ctx: &egui::Context) -> Collector {
        let mut actions = self.keyboard.pressed_actions(ctx, self.palette.is_open);
        if self.files.is_open() {
            actions.retain(|action| *action == Action::Quit);
            self.palette.close(ctx);
        }
        let pointed = self.course.as_ref().and_then(Course::point).map(str::to_owned);
        Collector { actions, controls: self.records_controls.then(Vec::new), message: None, pointed }
    }

    /// Clears the undo history and the plots, because the window shows a different simulation from now on.
    pub fn forget_run(&mut self) {
        self.undo.clear();
        self.plots.history = History::default();
    }

    /// Starts a lesson at its first step.
    pub fn start_lesson(&mut self, lesson: Arc<Lesson>) {
        self.course = Some(Course::new(lesson));
    }

    fn show_panel(&mut self, ctx: &egui::Context, model: &mut Model, out: &mut Collector) {
        if !self.panel {
            return panel::show_hidden(ctx, out);
        }
        let Self { brush, export, measurement, kernels, undo, files, .. } = self;
        let shown = Shown { measurement, kernels: kernels.as_deref(), undo, recent: &files.recent };
        panel::show(ctx, model, (brush, export), &shown, out);
    }

    /// Shows names, orbits and the scale bar over the picture during a presentation. Hides the pointer.
    fn show_presentation(
        &mut self,
        ctx: &egui::Context,
        model: &mut Model,
        out: &mut Collector,
    ) -> Option<Rect> {
        self.fold.covered = Vec2::ZERO;
        self.labels.show(ctx, &model.markers.captions, (model.picture(ctx), Rect::NOTHING), out);
        comparison::show(ctx, model, false, out);
        scale_bar::show(ctx, model);
        // A dialog needs the pointer.
        if !self.alerts.dialogs.is_open() {
            ctx.set_cursor_icon(egui::CursorIcon::None);
        }
        None
    }

    /// Shows the overlay, the toolbar and the markers of the tools.
    fn show_over_picture(&mut self, ctx: &egui::Context, model: &mut Model, out: &mut Collector) {
        let is_filming = self.export.filming.is_some();
        let past = model.timeline.age().map(|age| format!("Recorded {age:.1} s ago"));
        let status = match (self.measurement.running.is_some(), is_filming, model.config.running) {
            (true, ..) => Some("Measuring: simulation paused"),
            (false, true, _) => Some("Recording"),
            (false, false, is_running) => past.as_deref().or((!is_running).then_some("Paused")),
        };
        self.brush.show_outline(ctx, model);
        tools::show_markers(ctx, model);
        if model.compared.is_some() {
            (self.fold.tools, self.fold.covered) = (None, Vec2::ZERO);
            self.labels.show(ctx, &model.markers.captions, (model.picture(ctx), Rect::NOTHING), out);
            comparison::show(ctx, model, true, out);
            scale_bar::show(ctx, model);
            return body_card::show(ctx, model, out);
        }
        // While the panel is open in a small window, the picture is too narrow for overlays.
        if self.panel && ctx.available_rect().width() < overlay::NARROWEST {
            (self.fold.tools, self.fold.covered) = (None, Vec2::ZERO);
            return body_card::show(ctx, model, out);
        }
        // A remedy for a past moment would change the live simulation.
        let warnings = if model.is_past() { Vec::new() } else { self.alerts.warnings(model) };
        let place = overlay::show(ctx, model, (&mut self.fold, status, &warnings), out);
        self.labels.show(ctx, &model.markers.captions, (ctx.available_rect(), place), out);
        scale_bar::show(ctx, model);
        if model.stats.has_started() && !model.sees_bodies {
            overlay::show_way_back(ctx, model, out);
        }
        let below = if self.panel { 0.0 } else { 34.0 };
        self.fold.tools = match model.is_past() {
            true => None,
            false => tools::show(ctx, model, out, (below, place, is_filming)),
        };
        body_card::show(ctx, model, out);
    }

    /// Shows the windows and messages; returns the part of the picture that a large window covers, if any.
    fn show_windows(&mut self, ctx: &egui::Context, model: &Model, out: &mut Collector) -> Option<Rect> {
        self.gallery.show(ctx, model.config, out);
        chart_window::show(ctx, &mut self.measurement, out);
        self.lens.show(ctx, model, self.kernels.as_deref(), out);
        self.course.take_if(|course| !course.show(ctx, model, out));
        let hidden = self.plots.show(ctx, model.stats, out);
        help::show(ctx, &mut self.help);
        self.export.show_progress(ctx, out);
        self.alerts.toasts.show(ctx, out);
        hidden
    }
}

/// Applies the theme and the text size from `look`.
fn apply_look(ctx: &egui::Context, look: &Look) {
    theme::choose(ctx, look.theme);
    ctx.set_zoom_factor(look.scale.factor());
}
