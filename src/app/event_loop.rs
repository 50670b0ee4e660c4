//! winit's event loop: passes window events to the viewer, and polls the viewer while the window is not being redrawn.

use std::time::Instant;

use winit::application::ApplicationHandler;
use winit::event::WindowEvent;
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::window::WindowId;

use super::clock::Wake;
#[cfg(all(unix, not(target_vendor = "apple")))]
use super::display;
use super::options::Options;
use super::viewer::Viewer;
use crate::base::{Error, Result, advice};

/// Opens the window and runs until it is closed.
///
/// # Errors
/// Returns an error if there is no display, or if OpenGL or the device fails.
pub fn run(options: Options) -> Result<()> {
    let mut builder = EventLoop::<Wake>::with_user_event();
    #[cfg(all(unix, not(target_vendor = "apple")))]
    display::choose(&mut builder);
    let event_loop = builder.build().map_err(|error| {
        // winit puts its source file and line number before the reason.
        let text = error.to_string();
        let reason = text.rsplit(": ").next().unwrap_or_default().trim_end_matches('.');
        Error::Graphics(format!(
            "cannot open a window, because there is no display ({reason}); {}",
            advice::WITHOUT_WINDOW
        ))
    })?;
    let mut app =
        App { proxy: event_loop.create_proxy(), options: Some(options), viewer: None, outcome: Ok(()) };
    let ended = event_loop.run_app(&mut app).map_err(|error| {
        Error::Graphics(format!(
            "lost the connection to the display ({error}); if autosaves are on, restart gravitile to continue from the last autosave"
        ))
    });
    // The window may be gone, for example because the Wayland compositor has crashed, but its settings must be saved.
    let closed = app.viewer.take().map_or(Ok(()), Viewer::close);
    ended.and(app.outcome).and(closed)
}

/// The application that handles winit's events.
struct App {
    proxy: EventLoopProxy<Wake>,
    /// Options for opening the window; `None` once the window is open.
    options: Option<Options>,
    viewer: Option<Viewer>,
    outcome: Result<()>,
}

impl App {
    fn exit(&mut self, event_loop: &ActiveEventLoop, outcome: Result<()>) {
        let closed = self.viewer.take().map_or(Ok(()), Viewer::close);
        self.outcome = outcome.and(closed);
        event_loop.exit();
    }
}

impl ApplicationHandler<Wake> for App {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        let Some(options) = self.options.take() else { return };
        match Viewer::new(event_loop, &self.proxy, options) {
            Ok(viewer) => self.viewer = Some(viewer),
            Err(error) => self.exit(event_loop, Err(error)),
        }
    }

    fn user_event(&mut self, _: &ActiveEventLoop, delay: Wake) {
        if let Some(viewer) = &mut self.viewer {
            viewer.screen.clock.redraw_after(delay);
        }
    }

    fn window_event(&mut self, event_loop: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        let Some(viewer) = &mut self.viewer else { return };
        match event {
            WindowEvent::CloseRequested => self.exit(event_loop, Ok(())),
            WindowEvent::RedrawRequested => match viewer.frame() {
                Ok(true) => {}
                Ok(false) => self.exit(event_loop, Ok(())),
                Err(error) => self.exit(event_loop, Err(error)),
            },
            event => viewer.input(&event),
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        let Some(viewer) = &mut self.viewer else { return };
        // A hidden or minimised window gets no redraws, but notices, films and autosaves must continue.
        if let Err(error) = viewer.poll() {
            return self.exit(event_loop, Err(error));
        }
        if viewer.screen.clock.due <= Instant::now() {
            viewer.screen.window.window.request_redraw();
            // The window system may drop a hidden window's request for a redraw.
            viewer.screen.clock.requested();
        }
        event_loop.set_control_flow(ControlFlow::WaitUntil(viewer.next_wake()));
    }
}
