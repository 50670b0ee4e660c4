//! What is open: the window with all that is in it. [`Open::frame`] reads as the frame.

use std::collections::HashMap;
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
use super::settings::Once;
use super::share::Studio;
use super::window::Window;
use super::{Options, Wake};
use crate::compute::DeviceInfo;
use crate::config::Config;
use crate::engine;
use crate::error::{Error, Result};
use crate::look::Look;
use crate::session::{Command, Notice, Session, Stats};
use crate::ui::{Model, Output, Tool, Ui, WindowStats};
use crate::view::{Camera, View};

/// Everything there is while the window is open.
pub(super) struct Open {
    pub(super) view: View,
    pub(super) rig: Rig,
    pub(super) look: Look,
    /// What of that was asked for this once.
    pub(super) once: Once,
    /// The middle of the bodies that are shown, while the camera goes with it.
    pub(super) middle: Option<glam::Vec3>,
    pub(super) mouse: Mouse,
    pub(super) hand: Hand,
    /// Half the width of the brush in the scene, while one is in hand.
    brush: Option<f32>,
    /// Whether the plots are shown.
    plots: bool,
    /// Whether trails are wanted of too many bodies.
    lacks_trails: bool,
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
    pub(super) restored: Option<Camera>,
    pub(super) proxy: EventLoopProxy<Wake>,
    pub(super) session: Session,
    /// The devices that may compute.
    pub(super) pool: Vec<DeviceInfo>,
    /// What the panel edits. The worker has the same, or it is on its way.
    pub(super) config: Config,
    /// The seeding that the camera looks at; 0 to frame it anew.
    pub(super) generation: u64,
    /// Whether the camera is to stand where it stood first.
    pub(super) resets: bool,
    /// Of each mode that was shown: which seeding it was, and from where it was looked at.
    pub(super) cameras: HashMap<&'static str, (u64, Camera)>,
    pub clock: FrameClock,
    pub(super) stats: WindowStats,
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
        let (mut kept, wrong) = Kept::new(keeps);
        let pool: Vec<DeviceInfo> = devices.iter().map(|found| found.info.clone()).collect();
        // The simulation starts first: its kernels build while the window opens.
        let session = Session::spawn(engine, waker(proxy))?;
        let window = Window::new(event_loop, size.unwrap_or(kept.settings().size))?;
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
            kept.begin(|| view.clone()).into_iter().for_each(|command| session.send(command));
        }
        ui.offer(offer);
        wrong.into_iter().for_each(|wrong| ui.error("Settings are not read", wrong, None));
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
            lacks_trails: false,
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
        // A press beside the edge of a panel or a window is egui's: it takes hold there.
        if self.mouse.is_at_work() && self.window.egui().is_using_pointer() {
            self.abandon();
        }
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
        self.window.set_picture(area);
        let hidden = output.hidden.map(|rect| self.window.pixels(rect));
        self.upload()?;
        if !std::mem::replace(&mut self.lacks_trails, self.view.lacks_trails()) && self.lacks_trails {
            self.ui.say("No trails: there are too many bodies for them to be drawn here");
        }
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
        let begun = start.elapsed();
        self.window.draw(
            |surface| {
                let places = (Some(area), hidden);
                recorder.drawing(&context, stands, || view.draw_beside(surface, &rig.camera, places))
            },
            &mut self.stats,
        )?;
        // 5: with the panel over it, and shown.
        self.stats.fps = self.clock.fps();
        self.stats.frame_ms = start.elapsed().as_secs_f64() * 1e3;
        let drawn = Duration::from_secs_f64(self.stats.draw_ms * 1e-3);
        if let Some(picture) = self.clock.made(begun + drawn) {
            self.session.send(Command::Picture(picture));
        }
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
        let (place, hand) = (|at| self.window.off_centre(at), (&mut self.rig, in_hand));
        let moved = self.mouse.on_event(event, response.consumed, place, hand);
        // Who moves the view away from what it goes with does not want to be taken back.
        self.look.follow &= !self.mouse.pans();
        self.hand.grip.follows &= !self.mouse.pans();
        for gesture in self.mouse.take_gestures() {
            self.gesture(gesture);
        }
        for stroke in self.mouse.take_strokes() {
            if self.must_wait() {
                continue;
            }
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
        self.clock.set_refresh(self.window.refresh_interval());
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
pub(super) fn first<'a>(pool: &'a [DeviceInfo], config: &Config) -> &'a DeviceInfo {
    &pool[config.devices.first().copied().filter(|place| *place < pool.len()).unwrap_or(0)]
}

pub(super) fn waker(proxy: &EventLoopProxy<Wake>) -> impl Fn() + Send + use<> {
    let proxy = proxy.clone();
    move || {
        // A closed loop has no use for news.
        let _ = proxy.send_event(Wake::News);
    }
}
