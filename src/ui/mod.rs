//! The panel, the overlay and the windows over the picture, in egui alone: no window, no OpenGL, no OpenCL
//! is needed to show or to test them.

mod canvas;
mod dialogs;
mod fields;
mod files;
pub mod format;
mod gallery;
mod hand;
mod help;
mod history;
mod hud;
mod keys;
mod notes;
mod panel;
mod picture;
mod plot;
mod plots;
mod search;
mod share;
mod spark;
mod theme;
mod time;
mod widgets;

use std::path::PathBuf;

use egui::Rect;

pub use files::{FileWish, OPENED};
pub use hand::{Grip, Overlay, Tool};
pub use keys::{CONTROLS, Control, Trigger};
pub use plot::Export;
pub use share::{PictureSize, Plan};

use crate::chart::Chart;
use crate::compute::DeviceInfo;
use crate::config::Config;
use crate::hand::{Deed, Edit};
use crate::look::{self, Look};
use crate::modes::{MODES, ModeInfo, Recipe};
use crate::params::{self, Value, Values};
use crate::session::Stats;
use crate::trial::{Study, Trial};
use dialogs::Dialogs;
use files::{Files, Purpose};
use gallery::Gallery;
use history::History;
use keys::Command;
use notes::Notes;
use plots::Plots;
use search::Search;
use share::Share;
use widgets::Sink;

/// What a kernel that does not build or run is told under.
const NO_KERNEL: &str = "The kernel is refused";
/// What a simulation that makes no sense any more is told under.
const BROKEN: &str = "It blew up";

/// A simulation that stands still because it makes no sense any more.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Halt {
    /// It was told so; a frame that shows it is yet to come.
    Told,
    Coming,
    /// What is shown: mode, seeding and step.
    Shown(&'static str, u64, u64),
}

impl Halt {
    /// What is left of it now that `stats` are shown: nothing once that is another scene, or an earlier step.
    fn after(self, stats: &Stats) -> Option<Self> {
        let Stats { mode, generation, step, .. } = *stats;
        match self {
            Self::Told => Some(Self::Coming),
            Self::Shown(of, seeding, at) if (of, seeding) != (mode, generation) || step < at => None,
            _ => Some(Self::Shown(mode, generation, step)),
        }
    }
}

/// What the window measured of itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct WindowStats {
    /// Pictures a second.
    pub fps: f64,
    /// Time to draw a picture, in ms.
    pub draw_ms: f64,
    /// Time to hand the bodies to OpenGL, in ms.
    pub upload_ms: f64,
    /// Time that the window is busy with a picture, all told, in ms.
    pub frame_ms: f64,
}

/// What is shown, and edited.
#[derive(Debug)]
pub struct Model<'a> {
    /// Edited in place; whoever calls compares it with what it was.
    pub config: &'a mut Config,
    /// How it is drawn; edited in place too.
    pub look: &'a mut Look,
    /// The hand as it is set; edited in place too.
    pub grip: &'a mut Grip,
    /// What the hand does, to be drawn over the picture.
    pub overlay: &'a Overlay,
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
    /// The side of the grid's small squares in the scene.
    pub grid_spacing: f32,
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
    /// To this step as fast as it can be, or no further; `config.running` is false by then.
    GoTo(Option<u64>),
    /// Start the scene afresh.
    Restart,
    /// The same, and let it run.
    Rerun,
    /// Undo what was done last, and let it run.
    Resume,
    /// Undo the last change that was made by hand.
    Undo,
    /// Remove the selected body.
    Delete,
    /// Let go of the selected body.
    LetGo,
    /// Give up what the hand is doing: launch nothing, pull no more.
    Abandon,
    /// Move the camera so that every body is in view.
    FrameAll,
    /// Move the camera to where it stood first, and frame every body.
    ResetView,
    /// Move the camera to where it was kept under this number, 1 to 9.
    Recall(u8),
    /// Keep where the camera is under this number.
    Keep(u8),
    /// Measure.
    Study(Study),
    /// Measure no more.
    EndStudy,
    /// Write the plots to a file, by [`Ui::write_plots`].
    SavePlots,
    /// Write [`Ui::chart`] to a file.
    SaveChart(Export),
    /// Go on where the program was left.
    Continue,
    /// Do not, and keep what runs now.
    NotNow,
    /// Go back to the program's own kernels.
    OwnKernels,
    /// Make a picture that carries what is in it.
    Picture(PictureSize),
    /// Begin a film.
    Record(Plan),
    /// End the film, and keep it or not.
    EndFilm {
        /// Whether the file stays.
        keeps: bool,
    },
    /// End the program.
    Quit,
}

/// What one frame of the user interface came to.
#[derive(Debug)]
pub struct Output {
    /// What was asked for, in order.
    pub actions: Vec<Action>,
    /// Changes to bodies.
    pub edits: Vec<Edit>,
    /// What files are to be opened or saved.
    pub wishes: Vec<FileWish>,
    /// Where each control is, in points, by its key: for tests of the real window.
    pub rects: Vec<(String, Rect)>,
    /// What the panel leaves free for the picture, in points.
    pub picture: Rect,
    /// Where a large window lies over that, if one does.
    pub hidden: Option<Rect>,
    /// Whether the plots are shown: then what is conserved is worth measuring more often.
    pub plots: bool,
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
    /// What its radius may be, ...
    const RADII: std::ops::RangeInclusive<f32> = 0.005..=0.2;
    /// ... and at first.
    const RADIUS: f32 = 0.03;

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
        hand::ring(&painter.with_clip_rect(picture), at, size.max(2.0), theme::on_picture().strong);
        ctx.set_cursor_icon(egui::CursorIcon::Crosshair);
    }
}

/// The title of the dialog about an autosave that failed.
const NOT_KEPT: &str = "Autosave failed";

/// What is open, and the errors that wait to be read.
#[derive(Debug)]
pub struct Ui {
    /// Whether the panel is shown.
    pub panel: bool,
    /// Whether the help is shown.
    pub help: bool,
    fold: hud::Fold,
    brush: Brush,
    dialogs: Dialogs,
    halt: Option<Halt>,
    /// Why the last autosave failed, if it did.
    not_kept: Option<String>,
    /// How often undoing was asked for that is not seen yet, and of which seeding; what there was to undo in the last frame.
    undoing: (u64, usize),
    undoable: (usize, Option<Deed>),
    lab: Lab,
    gallery: Gallery,
    files: Files,
    notes: Notes,
    plots: Plots,
    history: History,
    /// The size of text as it was last set.
    scale: look::Size,
    /// The other modes, as they were left.
    left: Vec<Config>,
    /// The last of them that was gone on with, as it was.
    taken: Option<Config>,
    /// The folder of kernels that is watched.
    kernels: Option<PathBuf>,
    share: Share,
    search: Search,
    held: keys::Held,
    /// Whether something had the keyboard when the last frame ended.
    typing: bool,
    /// The parameter that is to be shown.
    jump: Option<&'static str>,
}

impl Ui {
    /// Gives `ctx` its looks; panel open, help closed.
    pub fn new(ctx: &egui::Context) -> Self {
        theme::apply(ctx);
        // A second pass would show the same frame twice, and what was asked for in the first would be lost.
        ctx.options_mut(|options| {
            options.max_passes = std::num::NonZeroUsize::MIN;
            // How large text is stands in the look, whoever sets it.
            options.zoom_with_keyboard = false;
        });
        Self {
            panel: true,
            help: false,
            fold: hud::Fold::default(),
            brush: Brush { in_hand: false, radius: Brush::RADIUS },
            dialogs: Dialogs::default(),
            halt: None,
            not_kept: None,
            undoing: (0, 0),
            undoable: (0, None),
            lab: Lab::default(),
            gallery: Gallery::default(),
            files: Files::default(),
            notes: Notes::default(),
            plots: Plots::default(),
            history: History::default(),
            scale: look::Size::One,
            left: Vec::new(),
            taken: None,
            kernels: None,
            share: Share::default(),
            search: Search::default(),
            held: keys::Held::default(),
            typing: false,
            jump: None,
        }
    }

    /// Tells the person of an error, with the compiler's log if it has one. It stays until it is closed.
    pub fn error(&mut self, title: impl Into<String>, text: impl Into<String>, log: Option<String>) {
        self.dialogs.push(title.into(), text.into(), log);
    }

    /// Tells the person that an autosave failed. All failures in a row share one dialog, which shows the newest reason; once it
    /// is closed, only another reason opens it again.
    pub fn autosave_failed(&mut self, reason: String) {
        if self.dialogs.has(NOT_KEPT) || self.not_kept.as_ref() != Some(&reason) {
            let advice =
                "The next autosave tries again. Until then, save a snapshot elsewhere to be safe (Ctrl+S).";
            self.dialogs.update(NOT_KEPT, format!("{reason}. {advice}"));
        }
        self.not_kept = Some(reason);
    }

    /// Closes the dialog about failed autosaves, and says that they work again.
    pub fn autosave_succeeded(&mut self) {
        if self.not_kept.take().is_some() {
            self.dialogs.withdraw(NOT_KEPT);
            self.say("Autosave works again");
        }
    }

    /// Tells the person that the simulation makes no sense any more, and stands still for that; offers to restart it, for as long as
    /// it is shown, and to undo what was painted last, if it `is_painted`.
    pub fn broken(&mut self, text: impl Into<String>, is_painted: bool) {
        self.dialogs.withdraw(BROKEN);
        self.dialogs.push_broken(BROKEN.to_owned(), text.into(), is_painted);
        self.halt = Some(Halt::Told);
    }

    /// What blew up gives way to something whole; whether there was something that had.
    fn ends_halt(&mut self) -> bool {
        self.dialogs.withdraw(BROKEN);
        self.halt.take().is_some()
    }

    /// Tells the person that a kernel does not build, with the compiler's log, or does not run; in place of what was told of the
    /// one before.
    pub fn kernel_refused(&mut self, text: String, log: Option<String>) {
        self.dialogs.withdraw(NO_KERNEL);
        self.dialogs.push(NO_KERNEL.to_owned(), text, log);
    }

    /// Tells the person what runs now that kernels were edited: what was told of those before is settled.
    pub fn kernel_builds(&mut self, text: impl Into<String>) {
        self.dialogs.withdraw(NO_KERNEL);
        self.say(text);
    }

    /// Takes in how many pictures of a film are done, and of how many.
    pub fn filming(&mut self, progress: Option<(u32, u32)>) {
        self.share.filming = progress;
    }

    /// Takes in which folder of kernels is watched.
    pub fn watched(&mut self, folder: Option<PathBuf>) {
        self.kernels = folder;
    }

    /// Tells the person what was done, for a few seconds.
    pub fn say(&mut self, text: impl Into<String>) {
        self.notes.say(text.into());
    }

    /// Offers to go on with what `text` says, until that is answered; or no more.
    pub fn offer(&mut self, text: Option<String>) {
        self.notes.offer(text);
    }

    /// Takes in that what runs is another, and the other modes with it.
    pub fn resumed(&mut self, left: Vec<Config>) {
        self.left = left;
    }

    /// The folder in which dialogs begin.
    pub fn folder(&mut self) -> &mut Option<PathBuf> {
        self.files.folder()
    }

    /// Changes to `next`, which is from a file; what is not about the scene stays.
    pub fn adopt(&mut self, next: Config, config: &mut Config) {
        self.select_mode(next.mode.info(), config);
        let Config { running, free_run, ref tuned, ref devices, steps_per_frame, .. } = *config;
        let (tuned, devices) = (tuned.clone(), devices.clone());
        *config = Config { running, free_run, tuned, devices, steps_per_frame, ..next };
    }

    /// Takes in that `wanted` is not possible: `in_force` runs on, and a mode that was to be gone on with is still to be had.
    pub fn refused(&mut self, wanted: &Config, in_force: &Config) {
        if wanted.mode.info() != in_force.mode.info() {
            self.left.retain(|left| left.mode.info() != in_force.mode.info());
            self.left.extend(self.taken.take().filter(|taken| taken.mode.info() == wanted.mode.info()));
        }
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

    /// Writes the plots as CSV: a line for each moment.
    ///
    /// # Errors
    /// What `file` refuses.
    pub fn write_plots(&self, file: &mut dyn std::io::Write) -> std::io::Result<()> {
        self.history.write_csv(file)
    }

    /// Takes in where the plots were written to.
    pub fn plots_saved(&mut self, path: String) {
        self.plots.saved = Some(path);
    }

    /// Shows everything and reads the keys; to be called once a frame.
    pub fn show(&mut self, ctx: &egui::Context, mut model: Model) -> Output {
        let mut sink = Sink { commands: keys::pressed(ctx, &mut self.held, self.typing), ..Sink::default() };
        self.follow(model.stats);
        if self.files.is_open() {
            // Keys belong to the dialog, but for the one that ends all.
            sink.commands.retain(|command| *command == Command::Quit);
            self.search.close(ctx);
        }
        self.search.show(ctx, model.config, &mut sink);
        if let Some(key) = self.jump.take() {
            widgets::jump(ctx, key);
        }
        self.dress(ctx, model.look);
        let followed = model.look.follow;
        let films = self.share.filming.is_some();
        match self.panel {
            true => {
                let kernels = self.kernels.as_deref();
                let tools =
                    panel::Tools { lab: &self.lab, brush: &mut self.brush, share: &mut self.share, kernels };
                panel::show(ctx, &mut model, tools, &mut sink);
            }
            false => panel::show_hidden(ctx, &mut sink),
        }
        let waits = match (self.lab.under_way.is_some(), films, model.config.running) {
            (true, ..) => Some("measuring; the simulation waits"),
            (false, true, _) => Some("filming"),
            (false, false, running) => (!running).then_some("paused"),
        };
        let numbers = hud::show(ctx, &model, (&mut self.fold, waits), &mut sink);
        if model.look.grid {
            hud::show_scale(ctx, model.grid_spacing);
        }
        self.brush.show(ctx, &model);
        hand::draw(ctx, &model);
        let below = if self.panel { 0.0 } else { 34.0 };
        self.fold.tools = hand::tools(ctx, &mut model, &mut sink, (below, numbers, films));
        let edits = hand::card(ctx, &mut model, &mut sink);
        if let Some((info, scene)) = self.gallery.show(ctx, model.config, &mut sink) {
            sink.commands.push(Command::Scene(info, scene));
        }
        let mut actions = Vec::new();
        plot::show(ctx, &mut self.lab, &mut sink, &mut actions);
        self.history.note(ctx.input(|input| input.time), model.stats, &model.window);
        let conserves = model.config.mode.conserves_energy();
        let hidden = plots::show(ctx, &mut self.plots, (&self.history, conserves), &mut sink, &mut actions);
        help::show(ctx, &mut self.help);
        self.share.show_progress(ctx, &mut sink);
        self.notes.show(ctx, &mut sink);
        let wishes = self.files.show(ctx, &mut sink);
        self.dialogs.show(ctx, &mut sink);
        self.typing = ctx.wants_keyboard_input();
        let Sink { commands, rects, said } = sink;
        said.into_iter().for_each(|text| self.say(text));
        actions.extend(commands.into_iter().filter_map(|command| self.obey(command, &mut model)));
        // The camera goes with one of them: what was asked for last.
        match model.look.follow && !followed {
            true => model.grip.follows = false,
            false => model.look.follow &= !model.grip.follows,
        }
        let brush = self.brush.of(model.config);
        let plots = self.plots.is_open;
        Output { actions, edits, wishes, rects, picture: ctx.available_rect(), hidden, plots, brush }
    }

    /// Takes in what became of what was told, or asked for, before.
    fn follow(&mut self, stats: &Stats) {
        if let Some(halt) = self.halt {
            self.halt = halt.after(stats);
            if self.halt.is_none() {
                self.dialogs.withdraw(BROKEN);
            }
        }
        let (before, deed) = std::mem::replace(&mut self.undoable, (stats.undos, stats.last_deed));
        let (generation, asked) = self.undoing;
        // What there is no room for goes without being asked for.
        let undone = before.saturating_sub(stats.undos).min(asked);
        self.undoing = (stats.generation, if generation == stats.generation { asked - undone } else { 0 });
        if generation == stats.generation && undone > 0 {
            let what = match (undone, deed) {
                (1, Some(deed)) => format!("Undid {}", deed.name()),
                _ => format!("Undid {undone} changes"),
            };
            self.say(match stats.undos {
                0 => format!("{what}; there is nothing more to undo"),
                more => format!("{what}; {more} more can be undone"),
            });
        }
    }

    /// Theme and size as `look` has them.
    fn dress(&mut self, ctx: &egui::Context, look: &Look) {
        ctx.set_theme(match look.theme {
            look::Theme::Dark => egui::Theme::Dark,
            look::Theme::Light => egui::Theme::Light,
        });
        if self.scale != look.scale {
            ctx.set_zoom_factor(look.scale.factor());
            self.scale = look.scale;
        }
    }

    /// Changes to another mode as it was left, or at first as it comes; what is not about the mode stays.
    fn select_mode(&mut self, info: &'static ModeInfo, config: &mut Config) {
        let Config { seed, running, free_run, ref tuned, ref devices, .. } = *config;
        let (tuned, devices) = (tuned.clone(), devices.clone());
        if info != config.mode.info() {
            let left = self.left.iter().position(|left| left.mode.info() == info);
            self.taken = left.map(|at| self.left.swap_remove(at));
            let next = self.taken.clone().unwrap_or_else(|| Config { seed, ..Config::new(info) });
            self.left.push(std::mem::replace(config, Config { running, free_run, tuned, devices, ..next }));
        }
    }

    /// Takes a tool in hand, or lays it down.
    fn take(&mut self, command: Command, model: &mut Model) {
        if !hand::has_bodies(model.config) {
            self.notes.say("There are no bodies in a fluid; the brush (B) paints obstacles.".to_owned());
            return;
        }
        let wanted = if command == Command::Launch { Tool::Launch } else { Tool::Pull };
        let is_held = model.grip.tool == wanted;
        model.grip.tool = if is_held { Tool::Look } else { wanted };
    }

    /// Shows which switch was turned, or says so where the panel is hidden.
    fn tell_switch(&mut self, key: &'static str, is_on: bool) {
        match self.panel {
            true => self.jump = Some(key),
            false => self.say(format!("{} is {}", key.replace('_', " "), if is_on { "on" } else { "off" })),
        }
    }

    /// Does what can be done here, and passes on the rest.
    fn obey(&mut self, command: Command, model: &mut Model) -> Option<Action> {
        let Model { config, device, look, .. } = model;
        match command {
            Command::ResetView => return Some(Action::ResetView),
            Command::Recall(number) => return Some(Action::Recall(number)),
            Command::Keep(number) => return Some(Action::Keep(number)),
            Command::Follow => look.follow = !look.follow,
            Command::Launch | Command::Pull => self.take(command, model),
            Command::Undo if model.stats.undos > 0 && self.ends_halt() => {
                self.undoing.1 += 1;
                return Some(Action::Resume);
            }
            Command::Undo => {
                self.undoing.1 = (self.undoing.1 + 1).min(model.stats.undos);
                return Some(Action::Undo);
            }
            Command::Delete => return model.stats.held.map(|_| Action::Delete),
            Command::LetGo => return Some(Action::LetGo),
            Command::Turn => look.turn = !look.turn,
            Command::Grid => look.grid = !look.grid,
            Command::RunPause | Command::Step | Command::GoTo(_) if self.share.filming.is_some() => {
                self.notes.say("A film steps by itself. F9 ends and keeps it.".to_owned());
            }
            Command::RunPause => config.running = !config.running,
            // It was heard before all else.
            Command::Search => {}
            Command::Scene(info, scene) => {
                self.select_mode(info, config);
                config.select_scene(scene);
                // There is nothing before its beginning.
                config.reverse = false;
                config.running |= self.ends_halt();
            }
            Command::Reverse => match config.mode.backwards() {
                Err(reason) if !config.reverse => self.notes.say(reason.to_owned()),
                _ => config.reverse ^= true,
            },
            Command::Slower => time::change_speed(config, model.stats.steps_per_frame, false),
            Command::Faster => time::change_speed(config, model.stats.steps_per_frame, true),
            Command::GoTo(goal) => {
                config.running = false;
                return Some(Action::GoTo(goal));
            }
            Command::Mode(info) => {
                config.running |= self.ends_halt();
                self.select_mode(info, config);
            }
            Command::NextMode => {
                config.running |= self.ends_halt();
                let at = MODES.iter().position(|info| *info == config.mode.info()).unwrap_or(0);
                self.select_mode(MODES[(at + 1) % MODES.len()], config);
            }
            Command::Brush if !config.mode.info().paints => {
                self.notes.say("The brush paints obstacles, which there are in a fluid alone.".to_owned());
            }
            Command::Brush => self.brush.in_hand ^= true,
            Command::Panel => self.panel = !self.panel,
            Command::Numbers => self.fold.turn(),
            Command::Larger => look.scale = look.scale.next(true),
            Command::Smaller => look.scale = look.scale.next(false),
            Command::UsualSize => look.scale = look::Size::One,
            Command::Jump(key) => {
                self.panel = true;
                self.jump = Some(key);
            }
            Command::Flip(key) => {
                let all = [config.mode.values(), Values::collect(*look)];
                let is_on = all.iter().find_map(|values| values.get(key)) == Some(Value::Flag(true));
                self.tell_switch(key, !is_on);
                return self.obey(Command::Choose(key, if is_on { "off" } else { "on" }), model);
            }
            Command::FreeRun => {
                config.free_run ^= true;
                self.tell_switch("free run", config.free_run);
            }
            Command::Variant(variant) => config.variant = variant,
            Command::Choose(key, option) => {
                // One of them has it.
                let of_mode = params::set(config.mode.as_mut(), key, option);
                let _ = of_mode.or_else(|_| params::set(*look, key, option));
            }
            Command::ResetAll => config.mode = fields::default_mode(config),
            Command::FollowBody => {
                model.grip.follows = model.stats.held.is_some() && !model.grip.follows;
            }
            Command::SavePlots => return (!self.history.is_empty()).then_some(Action::SavePlots),
            Command::Help => self.help = !self.help,
            Command::Plots => self.plots.is_open = !self.plots.is_open,
            // One thing at a time: the help stays while there was an error to close.
            Command::Close if self.dialogs.close() => {}
            Command::Close if self.help || self.gallery.is_open => {
                (self.help, self.gallery.is_open) = (self.help && self.gallery.is_open, false);
            }
            Command::Close if model.overlay.aim.is_some() || model.overlay.pull.is_some() => {
                return Some(Action::Abandon);
            }
            Command::Close if model.grip.tool(config) != Tool::Look => model.grip.tool = Tool::Look,
            Command::Close if self.brush.of(config).is_some() => self.brush.in_hand = false,
            Command::Close => return model.stats.held.map(|_| Action::LetGo),
            Command::Scenes => self.gallery.is_open ^= true,
            Command::Open => self.files.ask(Purpose::Open, ""),
            Command::SaveSnapshot => self.files.ask(Purpose::SaveSnapshot, &config.start.file_name()),
            Command::SaveScene => self.files.ask(Purpose::SaveScene, &config.start.file_name()),
            Command::EditKernels => self.files.ask(Purpose::EditKernels, ""),
            Command::Picture => return Some(Action::Picture(self.share.size())),
            Command::Record => {
                return Some(match self.share.filming {
                    None => Action::Record(self.share.plan()),
                    Some(_) => Action::EndFilm { keeps: true },
                });
            }
            Command::CancelFilm => return Some(Action::EndFilm { keeps: false }),
            Command::OwnKernels => return Some(Action::OwnKernels),
            Command::Continue | Command::NotNow => {
                self.notes.offer(None);
                let goes_on = command == Command::Continue;
                return Some(if goes_on { Action::Continue } else { Action::NotNow });
            }
            Command::Step => {
                config.running = false;
                return Some(Action::Step);
            }
            // It was not a person who let it stand still.
            Command::Restart if self.ends_halt() => return Some(Action::Rerun),
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
