//! What is open: the window with all that is in it. [`Open::frame`] reads as the frame.

use std::collections::HashMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, EventLoopProxy};

use super::clock::FrameClock;
use super::input::Mouse;
use super::report::Recorder;
use super::window::Window;
use super::{Options, Wake};
use crate::compute::{DeviceInfo, Devices};
use crate::config::Config;
use crate::engine::{self, Engine};
use crate::error::{Error, Result};
use crate::files;
use crate::session::{Command, Notice, Session, Stats};
use crate::trial::{self, Study};
use crate::tuned::Tuned;
use crate::ui::{Action, Export, Model, Output, Ui, WindowStats};
use crate::view::{Camera, View};

/// Everything there is while the window is open.
pub(super) struct Open {
    view: View,
    camera: Camera,
    mouse: Mouse,
    /// Half the width of the brush in the scene, while one is in hand.
    brush: Option<f32>,
    ui: Ui,
    session: Session,
    /// The devices that may compute.
    pool: Vec<DeviceInfo>,
    /// What the panel edits. The worker has the same, or it is on its way.
    config: Config,
    /// The seeding that the camera looks at; 0 to frame it anew.
    generation: u64,
    /// Of each mode that was shown: which seeding it was, and from where it was looked at.
    cameras: HashMap<&'static str, (u64, Camera)>,
    pub clock: FrameClock,
    stats: WindowStats,
    /// How the simulation was at the frame on the screen.
    shown: Stats,
    /// Why the simulation stopped, if it did: the program's outcome.
    failure: Option<Error>,
    recorder: Recorder,
    frames: Option<u64>,
    /// Last, because fields are dropped in order and what draws must go before what it draws in.
    pub window: Window,
}

impl Open {
    pub fn new(event_loop: &ActiveEventLoop, proxy: &EventLoopProxy<Wake>, options: Options) -> Result<Self> {
        let Options { devices, config, size, frames, report, started } = options;
        let pool: Vec<DeviceInfo> = devices.iter().map(|found| found.info.clone()).collect();
        // A wrong number of bodies or work-group size is told before a window opens.
        engine::Resolved::new(&config, first(&pool, &config))?;
        // The simulation starts first: its kernels build while the window opens.
        let session = Session::spawn(
            {
                let config = config.clone();
                move || Engine::new(Devices::open(devices, &config.devices)?, config)
            },
            waker(proxy),
        )?;
        let window = Window::new(event_loop, size)?;
        session.send(Command::Refresh(window.refresh_interval()));
        let repaint = proxy.clone();
        window.egui().set_request_repaint_callback(move |info| {
            // A closed loop wants no repaint.
            let _ = repaint.send_event(Wake::Repaint(info.delay));
        });
        Ok(Self {
            view: View::new(window.context())?,
            camera: Camera::default(),
            mouse: Mouse::default(),
            brush: None,
            ui: Ui::new(&window.egui()),
            session,
            pool,
            config,
            generation: 0,
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
        let interval = self.clock.begin(start);
        self.hear_notices()?;
        if self.window.is_minimised() {
            return Ok(true);
        }
        // 1: the panel edits a copy of what runs.
        let before = self.config.clone();
        let Some(output) = self.show_ui() else { return Ok(true) };
        // 2: what changed goes to the worker.
        self.tell(&before);
        let stays = self.act(&output.actions);
        self.brush = output.brush;
        // 3 and 4: the newest frame, if any, goes to the vertex buffer; then the picture is drawn,
        let area = self.window.pixels(output.picture);
        self.upload()?;
        let Self { view, camera, recorder, .. } = self;
        let context = self.window.context().clone();
        self.window.draw(
            |surface| recorder.drawing(&context, || view.draw(surface, camera, Some(area))),
            &mut self.stats,
        )?;
        // 5: with the panel over it, and shown.
        self.stats.fps = self.clock.fps();
        self.recorder.frame(start.elapsed(), interval, &self.stats);
        self.recorder.place(output.rects, self.window.scale());
        Ok(stays && self.frames.is_none_or(|frames| self.recorder.frames() < frames))
    }

    fn show_ui(&mut self) -> Option<Output> {
        let heights_per_unit = self.camera.heights_per_unit();
        let Self { ui, config, pool, shown, stats, window, .. } = self;
        let device = first(pool, config);
        let resolved = engine::Resolved::new(config, device);
        let recipe = resolved.ok().map(|resolved| resolved.recipe);
        let max_bodies = engine::max_bodies(device, config.mode.as_ref());
        window.run_ui(|ctx| {
            let window = *stats;
            let model =
                Model { config, stats: shown, device, pool, window, max_bodies, recipe, heights_per_unit };
            ui.show(ctx, model)
        })
    }

    /// Sends the config if the panel or a key changed it.
    fn tell(&mut self, before: &Config) {
        if self.config != *before {
            self.recorder.change(before, &self.config, &self.shown);
            self.session.send(Command::Configure(Box::new(self.config.clone())));
        }
    }

    /// Does what was asked for; false if that is to leave.
    fn act(&mut self, actions: &[Action]) -> bool {
        for action in actions {
            self.recorder.action(*action, &self.shown);
            match action {
                Action::Step => self.session.send(Command::Step),
                Action::Restart => self.session.send(Command::Restart),
                Action::FrameAll => self.generation = 0,
                Action::Study(study) => self.session.send(Command::Study(*study)),
                Action::EndStudy => self.session.send(Command::EndStudy),
                Action::SaveChart(kind) => self.save_chart(*kind),
                Action::Quit => return false,
            }
        }
        true
    }

    /// Writes the chart to a file of its own in the working directory.
    fn save_chart(&mut self, kind: Export) {
        let Some(chart) = self.ui.chart() else { return };
        let name = format!("gravitile-{}-{}", chart.info.name, chart.axis.name());
        let names = std::iter::once(name.clone()).chain((2..).map(|nth| format!("{name}-{nth}")));
        let mut paths = names.map(|name| PathBuf::from(name).with_extension(kind.extension()));
        let Some(path) = paths.find(|path| !path.exists()) else { return };
        let charts = std::slice::from_ref(chart);
        let saved = files::Output::create(&path).and_then(|file| file.save(|file| kind.write(charts, file)));
        match saved {
            Ok(()) => self.ui.chart_saved(std::path::absolute(&path).unwrap_or(path).display().to_string()),
            Err(error) => self.ui.error("Not saved", format!("{error}."), None),
        }
    }

    /// Takes the newest frame, if there is one, and frames a scene that is new.
    fn upload(&mut self) -> Result<()> {
        let start = Instant::now();
        let (frame, fresh) = self.session.frame();
        let is_something = !frame.points.positions.is_empty() || !frame.points.image.values.is_empty();
        let is_new = self.generation != frame.stats.generation && is_something;
        if is_new {
            // Each mode keeps its camera while another is shown.
            self.cameras.insert(self.shown.mode, (self.shown.generation, self.camera.clone()));
            match self.cameras.get(frame.stats.mode) {
                Some((generation, camera))
                    if *generation == frame.stats.generation && self.generation != 0 =>
                {
                    self.camera = camera.clone();
                }
                seen => {
                    // A mode that was never shown has a direction of its own to be looked at from.
                    if seen.is_none() && self.shown.mode != frame.stats.mode {
                        self.camera = Camera::facing(frame.points.shape);
                    }
                    self.camera.frame_all(&frame.points, self.window.aspect());
                }
            }
            self.generation = frame.stats.generation;
            self.clock.redraw_after(Duration::ZERO);
        }
        if fresh {
            self.view.upload(&frame.points, frame.value_range)?;
            self.shown = frame.stats.clone();
            self.stats.upload_ms = start.elapsed().as_secs_f64() * 1e3;
            self.recorder.news();
        }
        Ok(())
    }

    /// Shows what the worker had to say. A simulation that never came to a first frame ends the program.
    fn hear_notices(&mut self) -> Result<()> {
        for notice in self.session.notices() {
            match notice {
                Notice::Failed(error) if self.shown.generation == 0 => return Err(error),
                Notice::Failed(error) => {
                    self.ui.study_ended();
                    let text =
                        format!("{error}. What is shown is its last state; start gravitile again to go on.");
                    self.ui.error("The simulation stopped", text, None);
                    self.failure = Some(error);
                }
                Notice::Lost { error, step, in_force } => {
                    self.config.devices.clone_from(&in_force.devices);
                    if self.config.mode.info() == in_force.mode.info() {
                        self.config.bodies = in_force.bodies;
                    }
                    let text = format!("{error}. The others went on without it from step {step}.");
                    self.ui.error("A device failed", text, None);
                }
                Notice::Refused(error) => self.ui.error("Not possible", format!("{error}."), None),
                Notice::Broken { text, in_force } => {
                    if self.config.mode.info() == in_force.mode.info() {
                        self.config.running = false;
                    }
                    self.ui.broken("It blew up", capitalised(text));
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
                        self.config = *in_force;
                    }
                    match error {
                        Error::Build { file, device, log } => {
                            let text =
                                format!("{device}'s compiler refused {file}. The kernel before it runs on.");
                            self.ui.error("The kernel does not build", text, Some(log));
                        }
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
        let response = self.window.on_event(event);
        let hand = (&mut self.camera, self.brush);
        let moved = self.mouse.on_event(event, response.consumed, &self.window, hand);
        for stroke in self.mouse.take_strokes() {
            self.recorder.note(format!("paint={}", stroke.solid), &self.shown);
            self.session.send(Command::Paint(stroke));
        }
        if response.repaint || moved {
            self.clock.redraw_after(Duration::ZERO);
        }
    }

    /// Ends the simulation and writes the report.
    pub fn close(mut self) -> Result<()> {
        self.recorder.write(&self.config, &self.shown, &self.window, first(&self.pool, &self.config))?;
        self.failure.map_or(Ok(()), Err)
    }
}

/// The first of the devices that compute: numbers that suit a device suit this one.
fn first<'a>(pool: &'a [DeviceInfo], config: &Config) -> &'a DeviceInfo {
    &pool[config.devices.first().copied().filter(|place| *place < pool.len()).unwrap_or(0)]
}

/// As a sentence of its own.
fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    format!("{first}{}.", letters.as_str())
}

fn waker(proxy: &EventLoopProxy<Wake>) -> impl Fn() + Send + use<> {
    let proxy = proxy.clone();
    move || {
        // A closed loop has no use for news.
        let _ = proxy.send_event(Wake::News);
    }
}
