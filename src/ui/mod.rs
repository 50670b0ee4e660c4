//! The panel, the overlay and the windows over the picture, in egui alone: no window, no OpenGL, no OpenCL
//! is needed to show or to test them.

mod canvas;
mod dialogs;
mod fields;
pub mod format;
mod help;
mod hud;
mod keys;
mod panel;
mod plot;
mod spark;
mod theme;
mod widgets;

use egui::Rect;

pub use keys::{CONTROLS, Control, Trigger};
pub use plot::Export;

use crate::chart::Chart;
use crate::compute::DeviceInfo;
use crate::config::Config;
use crate::modes::{MODES, ModeInfo, Recipe};
use crate::session::Stats;
use crate::trial::{Study, Trial};
use dialogs::Dialogs;
use keys::Command;
use widgets::Sink;

/// What the window measured of itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct WindowStats {
    /// Pictures a second.
    pub fps: f64,
    /// Time to draw a picture, in ms.
    pub draw_ms: f64,
    /// Time to hand the bodies to OpenGL, in ms.
    pub upload_ms: f64,
}

/// What is shown, and edited.
#[derive(Debug)]
pub struct Model<'a> {
    /// Edited in place; whoever calls compares it with what it was.
    pub config: &'a mut Config,
    /// How the simulation is doing, of the newest frame.
    pub stats: &'a Stats,
    /// Where the steps are computed: the first, if there are several.
    pub device: &'a DeviceInfo,
    /// All devices that may compute; [`Config::devices`] has the places of those that do.
    pub pool: &'a [DeviceInfo],
    /// How the window is doing.
    pub window: WindowStats,
    /// The most bodies that the device holds.
    pub max_bodies: usize,
    /// What the config comes to on the device; none if that is not possible.
    pub recipe: Option<Recipe>,
    /// Heights of the picture to a unit of the scene, as far away as what is looked at.
    pub heights_per_unit: f32,
}

impl Model<'_> {
    /// Whether a first frame has come: before it there is nothing to say of speed.
    fn started(&self) -> bool {
        self.stats.bodies > 0
    }
}

/// The last study of the device, as far as it has come.
#[derive(Debug, Clone, Default)]
struct Lab {
    /// Which is under way, and the share of it that is done.
    under_way: Option<(Study, f32)>,
    /// What it measured.
    chart: Option<Chart>,
    /// Whether the chart is shown.
    is_open: bool,
    /// Where the chart was written to last.
    saved: Option<String>,
}

/// What a person asked for that the user interface cannot do by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    /// Advance one step; `config.running` is false by then.
    Step,
    /// Start the scene afresh.
    Restart,
    /// Move the camera so that every body is in view.
    FrameAll,
    /// Measure.
    Study(Study),
    /// Measure no more.
    EndStudy,
    /// Write [`Ui::chart`] to a file.
    SaveChart(Export),
    /// End the program.
    Quit,
}

/// What one frame of the user interface came to.
#[derive(Debug)]
pub struct Output {
    /// What was asked for, in order.
    pub actions: Vec<Action>,
    /// Where each control is, in points, by its key: for tests of the real window.
    pub rects: Vec<(String, Rect)>,
    /// What the panel leaves free for the picture, in points.
    pub picture: Rect,
    /// Half the width of the brush in the scene, while one is in hand.
    pub brush: Option<f32>,
}

/// What paints obstacles into a scene that takes them.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Brush {
    /// Whether it is in hand: then a drag over the picture paints.
    in_hand: bool,
    /// Half its width in the scene, whose longer side is 2.
    radius: f32,
}

impl Brush {
    /// Its radius, if it is in hand and the mode takes obstacles.
    fn of(&self, config: &Config) -> Option<f32> {
        (self.in_hand && config.mode.info().paints).then_some(self.radius)
    }

    /// Shows it under the pointer.
    fn show(&self, ctx: &egui::Context, model: &Model) {
        let (Some(radius), picture) = (self.of(model.config), ctx.available_rect()) else { return };
        let Some(at) = ctx.pointer_hover_pos().filter(|at| picture.contains(*at)) else { return };
        if ctx.is_pointer_over_area() {
            return;
        }
        let size = radius * model.heights_per_unit * picture.height();
        let painter = ctx.layer_painter(egui::LayerId::background());
        painter.with_clip_rect(picture).circle_stroke(
            at,
            size.max(2.0),
            egui::Stroke::new(1.5_f32, theme::STRONG),
        );
        ctx.set_cursor_icon(egui::CursorIcon::Crosshair);
    }
}

/// What is open, and the errors that wait to be read.
#[derive(Debug)]
pub struct Ui {
    /// Whether the panel is shown.
    pub panel: bool,
    /// Whether the help is shown.
    pub help: bool,
    brush: Brush,
    dialogs: Dialogs,
    lab: Lab,
    /// The other modes, as they were left.
    left: Vec<Config>,
}

impl Ui {
    /// Gives `ctx` its looks; panel open, help closed.
    pub fn new(ctx: &egui::Context) -> Self {
        theme::apply(ctx);
        // A second pass would show the same frame twice, and what was asked for in the first would be lost.
        ctx.options_mut(|options| options.max_passes = std::num::NonZeroUsize::MIN);
        Self {
            panel: true,
            help: false,
            brush: Brush { in_hand: false, radius: 0.03 },
            dialogs: Dialogs::default(),
            lab: Lab::default(),
            left: Vec::new(),
        }
    }

    /// Tells the person of an error, with the compiler's log if it has one. It stays until it is closed.
    pub fn error(&mut self, title: impl Into<String>, text: impl Into<String>, log: Option<String>) {
        self.dialogs.push(title.into(), text.into(), log);
    }

    /// Tells the person that the simulation makes no sense any more, and offers to restart it.
    pub fn broken(&mut self, title: impl Into<String>, text: impl Into<String>) {
        self.dialogs.push_with_restart(title.into(), text.into());
    }

    /// Takes in what a study measured, and the share of it that is done.
    pub fn trial(&mut self, share: f32, trial: Trial) {
        if let Some((_, done)) = &mut self.lab.under_way {
            *done = share;
        }
        if let Some(chart) = &mut self.lab.chart {
            chart.trials.push(trial);
        }
    }

    /// Takes in that no study is under way any more.
    pub fn study_ended(&mut self) {
        self.lab.under_way = None;
    }

    /// What the last study measured.
    pub fn chart(&self) -> Option<&Chart> {
        self.lab.chart.as_ref()
    }

    /// Takes in where the chart was written to.
    pub fn chart_saved(&mut self, path: String) {
        self.lab.saved = Some(path);
    }

    /// Shows everything and reads the keys; to be called once a frame.
    pub fn show(&mut self, ctx: &egui::Context, mut model: Model) -> Output {
        let mut sink = Sink { commands: keys::pressed(ctx), ..Sink::default() };
        match self.panel {
            true => panel::show(ctx, &mut model, (&self.lab, &mut self.brush), &mut sink),
            false => panel::show_hidden(ctx, &mut sink),
        }
        hud::show(ctx, &model, self.lab.under_way.is_some());
        self.brush.show(ctx, &model);
        let mut actions = Vec::new();
        plot::show(ctx, &mut self.lab, &mut sink, &mut actions);
        help::show(ctx, &mut self.help);
        self.dialogs.show(ctx, &mut sink);
        let Sink { commands, rects } = sink;
        actions.extend(commands.into_iter().filter_map(|command| self.obey(command, &mut model)));
        let brush = self.brush.of(model.config);
        Output { actions, rects, picture: ctx.available_rect(), brush }
    }

    /// Changes to another mode as it was left, or at first as it comes; what is not about the mode stays.
    fn select_mode(&mut self, info: &'static ModeInfo, config: &mut Config) {
        let Config { seed, running, free_run, ref tuned, ref devices, .. } = *config;
        let (tuned, devices) = (tuned.clone(), devices.clone());
        if info != config.mode.info() {
            let left = self.left.iter().position(|left| left.mode.info() == info);
            let next =
                left.map_or_else(|| Config { seed, ..Config::new(info) }, |at| self.left.swap_remove(at));
            self.left.push(std::mem::replace(config, Config { running, free_run, tuned, devices, ..next }));
        }
    }

    /// Does what can be done here, and passes on the rest.
    fn obey(&mut self, command: Command, model: &mut Model) -> Option<Action> {
        let Model { config, device, .. } = model;
        match command {
            Command::RunPause => config.running = !config.running,
            Command::Mode(info) => self.select_mode(info, config),
            Command::NextMode => {
                let at = MODES.iter().position(|info| *info == config.mode.info()).unwrap_or(0);
                self.select_mode(MODES[(at + 1) % MODES.len()], config);
            }
            Command::Brush => self.brush.in_hand ^= config.mode.info().paints,
            Command::Panel => self.panel = !self.panel,
            Command::Help => self.help = !self.help,
            // One thing at a time: the help stays while there was an error to close.
            Command::Close => self.help &= self.dialogs.close(),
            Command::Step => {
                config.running = false;
                return Some(Action::Step);
            }
            Command::Restart => return Some(Action::Restart),
            Command::Study(study) => {
                let chart = Some(Chart::of(study, config, device));
                self.lab = Lab { under_way: Some((study, 0.0)), chart, is_open: true, saved: None };
                return Some(Action::Study(study));
            }
            Command::Chart => self.lab.is_open = true,
            Command::EndStudy => return Some(Action::EndStudy),
            Command::FrameAll => return Some(Action::FrameAll),
            Command::Quit => return Some(Action::Quit),
        }
        None
    }
}
