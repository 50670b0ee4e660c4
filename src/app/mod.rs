//! The window: winit's handler, which hands everything to what is open.

mod acts;
mod clock;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod display;
mod gui;
mod hand;
mod input;
mod kept;
mod kernels;
mod newest;
mod notices;
mod open;
mod opening;
mod patches;
mod report;
mod rig;
pub mod settings;
mod share;
mod window;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::WindowId;

use self::open::Open;
pub(crate) use self::rig::{Rig, Whom};
use crate::compute::Found;
use crate::config::Config;
use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files;
use crate::look::Look;

/// What the viewer is started with.
pub struct Options {
    /// The devices that may compute: the config says which do.
    pub devices: Vec<Found>,
    /// What runs at first.
    pub config: Config,
    /// How it is drawn at first.
    pub look: Look,
    /// What of that was asked for, by key: for this once, and in place of what was kept.
    pub named: BTreeSet<String>,
    /// From where it is looked at first, as snapshots say it; empty is from where all is in view.
    pub view: String,
    /// Starts it, on the simulation's own thread.
    pub engine: Box<dyn FnOnce() -> Result<Engine> + Send>,
    /// The window's inner size in logical pixels; none is as it was left.
    pub size: Option<(u32, u32)>,
    /// How often settings and what runs are kept for the next start of the program; none is never.
    pub keeps: Option<Duration>,
    /// A folder of kernels that is watched.
    pub kernels: Option<PathBuf>,
    /// Whether it was said what to begin with: then there is no offer to go on where the program was left.
    pub is_chosen: bool,
    /// Leave after so many frames.
    pub frames: Option<u64>,
    /// Where to report to on leaving.
    pub report: Option<files::Output>,
    /// When the program started.
    pub started: Instant,
}

/// What wakes the event loop.
#[derive(Debug)]
enum Wake {
    /// The simulation has a frame or a notice.
    News,
    /// The panel wants to be drawn again, after a while.
    Repaint(Duration),
}

/// Opens the window and stays until it is closed.
///
/// # Errors
/// If there is no display, or OpenGL or the device fails at the start.
pub fn run(options: Options) -> Result<()> {
    let mut builder = EventLoop::<Wake>::with_user_event();
    #[cfg(all(unix, not(target_vendor = "apple")))]
    display::choose(&mut builder);
    let event_loop = builder.build().map_err(|error| {
        // winit puts the place in its own sources before the reason.
        let text = error.to_string();
        let reason = text.rsplit(": ").next().unwrap_or_default().trim_end_matches('.');
        Error::Graphics(format!(
            "no display to open a window on ({reason}); without one, `gravitile render` draws pictures and \
             `gravitile run` reports numbers"
        ))
    })?;
    let mut app =
        App { proxy: event_loop.create_proxy(), options: Some(options), open: None, outcome: Ok(()) };
    event_loop
        .run_app(&mut app)
        .map_err(|error| Error::Graphics(format!("the window system failed: {error}")))?;
    app.outcome
}

/// The handler: waits for the window system, then hands everything to what is open.
struct App {
    proxy: EventLoopProxy<Wake>,
    /// Until the window is open.
    options: Option<Options>,
    open: Option<Open>,
    outcome: Result<()>,
}

impl App {
    fn leave(&mut self, event_loop: &ActiveEventLoop, outcome: Result<()>) {
        let report = self.open.take().map_or(Ok(()), Open::close);
        self.outcome = outcome.and(report);
        event_loop.exit();
    }
}

impl ApplicationHandler<Wake> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let Some(options) = self.options.take() else { return };
        match Open::new(event_loop, &self.proxy, options) {
            Ok(open) => self.open = Some(open),
            Err(error) => self.leave(event_loop, Err(error)),
        }
    }

    fn user_event(&mut self, _: &ActiveEventLoop, wake: Wake) {
        let Some(open) = &mut self.open else { return };
        match wake {
            Wake::News => open.clock.redraw_after(Duration::ZERO),
            Wake::Repaint(delay) => open.clock.redraw_after(delay),
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(open) = &mut self.open else { return };
        match event {
            WindowEvent::CloseRequested => self.leave(event_loop, Ok(())),
            WindowEvent::RedrawRequested => match open.frame() {
                Ok(true) => {}
                Ok(false) => self.leave(event_loop, Ok(())),
                Err(error) => self.leave(event_loop, Err(error)),
            },
            event => open.input(&event),
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(open) = &mut self.open else { return };
        let next = open.clock.next();
        if next <= Instant::now() {
            open.window.request_redraw();
            // A hidden window may never get the redraw that it asks for.
            open.clock.requested();
        }
        event_loop.set_control_flow(ControlFlow::WaitUntil(open.clock.next()));
    }
}
