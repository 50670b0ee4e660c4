//! What is open: the window with all that is in it. [`Open::frame`] reads as the frame.

use std::collections::HashMap;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoopProxy};

use super::clock::FrameClock;
use super::hand::Hand;
use super::input::{InHand, Mouse};
use super::kept::Kept;
use super::kernels::Lab;
use super::opening::Opening;
use super::report::Recorder;
use super::rig::{Rig, Whom};
use super::settings::{Once, Settings};
use super::share::Studio;
use super::window::Window;
use super::{Options, Wake};
use crate::compute::DeviceInfo;
use crate::config::Config;
use crate::engine;
use crate::error::{Error, Result};
use crate::files;
use crate::hand::Edit;
use crate::look::Look;
use crate::session::{Command, Notice, Session, Stats};
use crate::trial::{self, Study};
use crate::tuned::Tuned;
use crate::ui::{Action, Export, Model, Output, Tool, Ui, WindowStats};
use crate::view::{self, Camera, View};

/// Everything there is while the window is open.
pub(super) struct Open {
    pub(super) view: View,
    pub(super) rig: Rig,
    pub(super) look: Look,
    /// What of that was asked for this once.
    once: Once,
    /// The middle of the bodies that are shown, while the camera goes with it.
    middle: Option<glam::Vec3>,
    pub(super) mouse: Mouse,
    pub(super) hand: Hand,
    /// Half the width of the brush in the scene, while one is in hand.
    brush: Option<f32>,
    /// Whether the plots are shown.
    plots: bool,
    pub(super) ui: Ui,
    pub(super) kept: Kept,
    /// Pictures and films that are being made.
    pub(super) studio: Studio,
    /// Kernels that are being edited.
    pub(super) lab: Option<Lab>,
    /// A file that is being read.
    pub(super) opening: Option<Opening>,
    /// Whether a snapshot is on its way to the simulation: what the panel shows until then is not meant for it.
    pub(super) is_resuming: bool,
    /// From where a snapshot is looked at, once it is shown.
    restored: Option<Camera>,
    pub(super) proxy: EventLoopProxy<Wake>,
    pub(super) session: Session,
    /// The devices that may compute.
    pool: Vec<DeviceInfo>,
    /// What the panel edits. The worker has the same, or it is on its way.
    pub(super) config: Config,
    /// The seeding that the camera looks at; 0 to frame it anew.
    generation: u64,
    /// Whether the camera is to stand where it stood first.
    resets: bool,
    /// Of each mode that was shown: which seeding it was, and from where it was looked at.
    cameras: HashMap<&'static str, (u64, Camera)>,
    pub clock: FrameClock,
    stats: WindowStats,
    /// How the simulation was at the frame on the screen.
    pub(super) shown: Stats,
    /// Why the simulation stopped, if it did: the program's outcome.
    pub(super) failure: Option<Error>,
    pub(super) recorder: Recorder,
    frames: Option<u64>,
    /// Last, because fields are dropped in order and what draws must go before what it draws in.
    pub window: Window,
}

impl Open {
    pub fn new(event_loop: &ActiveEventLoop, proxy: &EventLoopProxy<Wake>, options: Options) -> Result<Self> {
        let Options {
            devices,
            config,
            engine,
            mut look,
            named,
            view,
            size,
            keeps,
            kernels,
            is_chosen,
            frames,
            report,
            started,
        } = options;
        let (mut kept, note) = Kept::new(keeps);
        let pool: Vec<DeviceInfo> = devices.iter().map(|found| found.info.clone()).collect();
        // The simulation starts first: its kernels build while the window opens.
        let session = Session::spawn(engine, waker(proxy))?;
        let window = Window::new(event_loop, size.unwrap_or(kept.settings().size))?;
        session.send(Command::Refresh(window.refresh_interval()));
        let repaint = proxy.clone();
        window.egui().set_request_repaint_callback(move |info| {
            // A closed loop wants no repaint.
            let _ = repaint.send_event(Wake::Repaint(info.delay));
        });
        let mut ui = Ui::new(&window.egui());
        ui.panel = kept.settings().panel;
        ui.folder().clone_from(&kept.settings().folder);
        kept.settings().dress(&mut look, &named);
        let once = Once::new(&look, &named, kept.settings());
        let offer = kept.offer();
        let offer = offer.filter(|_| !is_chosen);
        // What was left is not replaced while it is offered.
        if offer.is_none() {
            kept.begin(&session);
        }
        ui.offer(offer);
        note.into_iter().for_each(|note| ui.say(note));
        let lab = kernels.map(|folder| Lab::new(folder, waker(proxy))).transpose()?;
        ui.watched(lab.as_ref().map(|lab| lab.folder().to_owned()));
        Ok(Self {
            view: View::new(window.context())?,
            rig: Rig::default(),
            look,
            once,
            middle: None,
            mouse: Mouse::default(),
            hand: Hand::default(),
            brush: None,
            plots: false,
            ui,
            kept,
            studio: Studio::default(),
            lab,
            opening: None,
            is_resuming: false,
            restored: Camera::from_words(&view),
            proxy: proxy.clone(),
            session,
            pool,
            config,
            generation: 0,
            resets: false,
            cameras: HashMap::new(),
            clock: FrameClock::new(window.refresh_interval()),
            stats: WindowStats::default(),
            shown: Stats::default(),
            failure: None,
            recorder: Recorder::new(report, started),
            frames,
            window,
        })
    }

    /// One frame; false when the program is to end.
    pub fn frame(&mut self) -> Result<bool> {
        let start = Instant::now();
        let interval = self.clock.begin(start, self.is_active());
        // Wayland says which screen it is only some time after something was shown.
        if self.recorder.frames().is_power_of_two() {
            self.mind_refresh();
        }
        self.hear_notices()?;
        self.hear_opening();
        self.hear_kernels();
        self.tend_studio();
        self.keep();
        if self.window.is_minimised() {
            return Ok(true);
        }
        // 1: the panel edits a copy of what runs.
        let before = (self.config.clone(), self.look.clone());
        self.tend_hand();
        let Some(output) = self.show_ui() else { return Ok(true) };
        // 2: what changed goes to the worker.
        self.tell(&before.0);
        self.dress(&before.1)?;
        let stays = self.act(&output.actions);
        output.edits.into_iter().for_each(|edit| self.edit(edit));
        output.wishes.into_iter().for_each(|wish| self.grant(wish));
        self.brush = output.brush;
        // What was begun with one tool, or in one mode, is not ended with another.
        if self.mouse.is_stale(self.in_hand()) || before.0.mode.info() != self.config.mode.info() {
            self.abandon();
        }
        if std::mem::replace(&mut self.plots, output.plots) != output.plots {
            self.session.send(Command::Watch(output.plots));
        }
        // 3 and 4: the newest frame, if any, goes to the vertex buffer; then the picture is drawn,
        let area = self.window.pixels(output.picture);
        self.upload()?;
        let followed = match self.hand.grip.follows {
            true => self.held_at(),
            false => self.middle.filter(|_| self.look.follow),
        };
        let followed = followed.map(|point| (self.whom(), point));
        // A film has a time of its own.
        if !self.studio.is_filming() && self.rig.tick(interval, self.look.turn, followed) {
            self.clock.redraw_after(Duration::ZERO);
        }
        let Self { view, rig, recorder, .. } = self;
        let (context, stands) = (self.window.context().clone(), !self.config.running);
        self.window.draw(
            |surface| recorder.drawing(&context, stands, || view.draw(surface, &rig.camera, Some(area))),
            &mut self.stats,
        )?;
        // 5: with the panel over it, and shown.
        self.stats.fps = self.clock.fps();
        self.stats.frame_ms = start.elapsed().as_secs_f64() * 1e3;
        self.recorder.frame(start.elapsed(), interval, &self.stats);
        self.recorder.place(output.rects, self.window.scale());
        Ok(stays && self.frames.is_none_or(|frames| self.recorder.frames() < frames))
    }

    fn show_ui(&mut self) -> Option<Output> {
        let camera = &self.rig.camera;
        let (heights_per_unit, grid_spacing) = (camera.heights_per_unit(), camera.grid_spacing());
        let overlay = self.overlay();
        let Self { ui, config, look, hand, pool, shown, stats, window, .. } = self;
        let device = first(pool, config);
        let resolved = engine::Resolved::new(config, device);
        let recipe = resolved.ok().map(|resolved| resolved.recipe);
        let max_bodies = engine::max_bodies(device, config.mode.as_ref());
        window.run_ui(|ctx| {
            let window = *stats;
            let model = Model {
                config,
                look,
                grip: &mut hand.grip,
                overlay: &overlay,
                stats: shown,
                device,
                pool,
                window,
                max_bodies,
                recipe,
                heights_per_unit,
                grid_spacing,
            };
            ui.show(ctx, model)
        })
    }

    /// Sends the config if the panel or a key changed it.
    pub(super) fn tell(&mut self, before: &Config) {
        if self.is_resuming {
            self.config = before.clone();
        } else if self.config != *before {
            self.kept.begin(&self.session);
            self.recorder.change(before, &self.config, &self.shown);
            self.session.send(Command::Configure(Box::new(self.config.clone())));
        }
    }

    /// Draws as the panel, a key or the mouse has it now.
    fn dress(&mut self, before: &Look) -> Result<()> {
        if self.look != *before {
            self.recorder.change_of_look(before, &self.look, &self.shown);
        }
        self.view.set_look(&self.look)
    }

    /// Does what was asked for; false if that is to leave.
    fn act(&mut self, actions: &[Action]) -> bool {
        for action in actions {
            self.recorder.action(*action, &self.shown);
            match action {
                Action::Step => self.session.send(Command::Step),
                Action::GoTo(goal) => self.session.send(Command::GoTo(*goal)),
                Action::Restart => self.session.send(Command::Restart),
                Action::Undo => self.session.send(Command::Undo),
                Action::Delete => {
                    if let Some(held) = self.shown.held {
                        self.edit(Edit::Remove(held.body));
                    }
                }
                Action::LetGo => self.select(None),
                Action::Abandon => self.abandon(),
                Action::FrameAll => self.generation = 0,
                Action::ResetView => {
                    (self.look.follow, self.hand.grip.follows) = (false, false);
                    (self.generation, self.resets) = (0, true);
                }
                Action::Recall(number) => self.rig.recall(self.shown.mode, *number),
                Action::Keep(number) => self.rig.keep(self.shown.mode, *number),
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
                Action::NotNow => self.kept.begin(&self.session),
                Action::Quit => return false,
            }
        }
        true
    }

    /// Keeps what runs, and the settings, now and then.
    fn keep(&mut self) {
        if !self.kept.is_due() {
            return;
        }
        let settings = self.settings();
        let Self { kept, session, shown, rig, .. } = self;
        kept.tick(session, shown, settings, || rig.camera.to_words());
    }

    fn settings(&mut self) -> Settings {
        let folder = self.ui.folder().clone();
        let look = self.once.leave_out(Settings::of_look(&self.look), &self.look);
        Settings { size: self.window.logical_size(), panel: self.ui.panel, folder, look }
    }

    /// Writes the chart to a file of its own in the working directory.
    fn save_chart(&mut self, kind: Export) {
        let Some(chart) = self.ui.chart() else { return };
        let name = format!("gravitile-{}-{}", chart.info.name, chart.axis.name());
        let charts = std::slice::from_ref(chart);
        match save(&name, kind.extension(), |file| kind.write(charts, file)) {
            Ok(path) => self.ui.chart_saved(path),
            Err(error) => self.ui.error("Not saved", format!("{error}."), None),
        }
    }

    fn save_plots(&mut self) {
        let name = format!("gravitile-{}-plots", self.shown.mode);
        match save(&name, "csv", |file| self.ui.write_plots(file)) {
            Ok(path) => self.ui.plots_saved(path),
            Err(error) => self.ui.error("Not saved", format!("{error}."), None),
        }
    }

    /// Takes the newest frame, if there is one, and frames a scene that is new.
    fn upload(&mut self) -> Result<()> {
        let (frame, fresh) = self.session.frame();
        let is_something = !frame.points.positions.is_empty() || !frame.points.image.values.is_empty();
        let is_new = self.generation != frame.stats.generation && is_something;
        if is_new {
            // Each mode keeps its camera while another is shown.
            self.cameras.insert(self.shown.mode, (self.shown.generation, self.rig.camera.clone()));
            let restored = self.restored.take();
            match self.cameras.get(frame.stats.mode) {
                _ if restored.is_some() => self.rig.camera = restored.unwrap_or_default(),
                Some((generation, camera))
                    if *generation == frame.stats.generation && self.generation != 0 =>
                {
                    self.rig.hold();
                    self.rig.camera = camera.clone();
                }
                seen => {
                    let mut camera = self.rig.camera.clone();
                    // A mode that was never shown has a direction of its own to be looked at from.
                    let is_first = seen.is_none() && self.shown.mode != frame.stats.mode;
                    if is_first || std::mem::take(&mut self.resets) {
                        camera = Camera::facing(frame.points.shape);
                    }
                    camera.frame_all(&frame.points, self.window.aspect());
                    match self.shown.generation == frame.stats.generation {
                        true => self.rig.glide_to(camera),
                        false => {
                            self.rig.hold();
                            self.rig.camera = camera;
                        }
                    }
                }
            }
            if self.shown.generation != frame.stats.generation || self.shown.mode != frame.stats.mode {
                self.view.forget_trails();
                self.middle = None;
            }
            self.generation = frame.stats.generation;
            self.clock.redraw_after(Duration::ZERO);
        }
        if self.look.follow && (fresh || self.middle.is_none()) {
            self.middle = view::middle(&frame.points);
        }
        if fresh {
            let start = Instant::now();
            let had_trails = !self.view.lacks_trails();
            self.view.upload(&frame.points, frame.value_range)?;
            if had_trails && self.view.lacks_trails() {
                self.ui.say("No trails: there are too many bodies for them to be drawn here");
            }
            let is_another =
                (self.shown.mode, self.shown.generation) != (frame.stats.mode, frame.stats.generation);
            self.shown = frame.stats.clone();
            self.stats.upload_ms = start.elapsed().as_secs_f64() * 1e3;
            self.recorder.news();
            self.hand.grip.follows &= self.shown.held.is_some();
            if is_another {
                self.abandon();
            }
            self.feel_again();
        }
        Ok(())
    }

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
                    self.failure = Some(error);
                    self.studio.forget();
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
                Notice::Saved { path, is_asked_for, outcome } => match outcome {
                    Ok(()) if is_asked_for => self.ui.say(format!("Saved {}", path.display())),
                    Ok(()) => {}
                    Err(error) => self.ui.error("Not saved", format!("{error}."), None),
                },
                Notice::Resumed { config, left, view } => {
                    (self.config, self.is_resuming) = (*config, false);
                    self.kept.begin(&self.session);
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
                Notice::Broken { text, in_force } => {
                    if self.config.mode.info() == in_force.mode.info() {
                        self.config.running = false;
                    }
                    self.ui.broken("It blew up", capitalised(text));
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

    /// Keys and mouse: first the panel's, then the camera's.
    pub fn input(&mut self, event: &WindowEvent) {
        if let WindowEvent::Resized(size) = event {
            self.window.resize(*size);
            self.recorder.note(format!("size={}x{}", size.width, size.height), &self.shown);
        }
        if matches!(event, WindowEvent::Moved(_) | WindowEvent::ScaleFactorChanged { .. }) {
            self.mind_refresh();
        }
        let (response, in_hand) = (self.window.on_event(event), self.in_hand());
        let hand = (&mut self.rig, in_hand);
        let moved = self.mouse.on_event(event, response.consumed, &self.window, hand);
        // Who moves the view away from what it goes with does not want to be taken back.
        self.look.follow &= !self.mouse.pans();
        self.hand.grip.follows &= !self.mouse.pans();
        for gesture in self.mouse.take_gestures() {
            self.gesture(gesture);
        }
        for stroke in self.mouse.take_strokes() {
            self.recorder.note(format!("paint={}", stroke.solid), &self.shown);
            self.session.send(Command::Paint(stroke));
        }
        if response.repaint || moved {
            self.clock.redraw_after(Duration::ZERO);
        }
    }

    /// Whether there is something to be told without being asked.
    fn is_active(&self) -> bool {
        let is_busy = self.studio.is_filming() || self.opening.is_some() || self.shown.goal.is_some();
        self.config.running || is_busy || self.frames.is_some()
    }

    /// Goes by the screen that it is on now.
    fn mind_refresh(&mut self) {
        let refresh = self.window.refresh_interval();
        if self.clock.set_refresh(refresh) {
            self.session.send(Command::Refresh(refresh));
        }
    }

    /// What a drag over the picture moves now.
    fn in_hand(&self) -> InHand {
        match (self.hand.grip.tool(&self.config), self.brush) {
            (Tool::Launch, _) => InHand::Launch,
            (Tool::Pull, _) => InHand::Pull,
            (Tool::Look, Some(radius)) => InHand::Brush(radius),
            (Tool::Look, None) => InHand::Nothing,
        }
    }

    /// What the camera goes with, if it goes with anything.
    pub(super) fn whom(&self) -> Whom {
        let body = self.shown.held.map(|held| held.body).filter(|_| self.hand.grip.follows);
        Whom { mode: self.shown.mode, generation: self.shown.generation, body }
    }

    /// Ends the simulation and writes the report.
    pub fn close(mut self) -> Result<()> {
        let settings = self.settings();
        self.kept.keep_settings(settings);
        let device = first(&self.pool, &self.config);
        let reported = self.recorder.write((&self.config, &self.look), &self.shown, &self.window, device);
        self.await_pictures()?;
        let shared = self.close_studio();
        for notice in self.session.close(self.rig.camera.to_words()) {
            if let Notice::Saved { is_asked_for: true, outcome, .. } = notice {
                outcome?;
            }
        }
        shared?;
        reported?;
        self.failure.map_or(Ok(()), Err)
    }
}

/// The first of the devices that compute: numbers that suit a device suit this one.
fn first<'a>(pool: &'a [DeviceInfo], config: &Config) -> &'a DeviceInfo {
    &pool[config.devices.first().copied().filter(|place| *place < pool.len()).unwrap_or(0)]
}

/// Writes to a file in the working directory that is not there yet; where that is.
fn save(
    name: &str,
    extension: &str,
    write: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<String> {
    let path = free_name(name, extension, false);
    files::Output::create(&path)?.save(|file| write(file))?;
    Ok(std::path::absolute(&path).unwrap_or(path).display().to_string())
}

/// A name in the working directory that no file has; of numbered files, the first of which has none.
pub(super) fn free_name(name: &str, extension: &str, is_numbered: bool) -> PathBuf {
    let names = std::iter::once(name.to_owned()).chain((2..).map(|nth| format!("{name}-{nth}")));
    let path = |name: &str| PathBuf::from(format!("{name}.{extension}"));
    for name in names {
        let first = if is_numbered { path(&format!("{name}-0001")) } else { path(&name) };
        if !first.exists() {
            return if is_numbered { path(&format!("{name}-%04d")) } else { first };
        }
    }
    path(name)
}

/// As a sentence of its own.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

pub(super) fn waker(proxy: &EventLoopProxy<Wake>) -> impl Fn() + Send + use<> {
    let proxy = proxy.clone();
    move || {
        // A closed loop has no use for news.
        let _ = proxy.send_event(Wake::News);
    }
}
