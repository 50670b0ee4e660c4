//! The window with its OpenGL context and egui.

use std::num::NonZeroU32;
use std::rc::Rc;
use std::time::{Duration, Instant};

use egui::Rect;
use egui_glium::EventResponse;
use glium::Surface;
use glium::backend::{Context, Facade};
use glutin::config::{Config, ConfigTemplateBuilder};
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, Version};
use glutin::display::GetGlDisplay;
use glutin::prelude::*;
use glutin::surface::{SurfaceAttributesBuilder, SwapInterval, WindowSurface};
use glutin_winit::{ApiPreference, DisplayBuilder};
use raw_window_handle::{HasWindowHandle, RawWindowHandle};
use winit::dpi::{LogicalSize, PhysicalPosition, PhysicalSize};
use winit::event::WindowEvent;
use winit::event_loop::ActiveEventLoop;
use winit::window::{Fullscreen, Icon, WindowAttributes};

use super::gui::{Gui, pixels};
use crate::base::look::Theme;
use crate::base::{Error, Result, advice};
use crate::ui::WindowStats;
use crate::view::{self, Viewport};

pub(super) struct Window {
    gui: Gui,
    display: glium::Display<WindowSurface>,
    /// Whether presenting a frame waits for the monitor's next refresh.
    vsync: bool,
    /// Whether the CPU draws the frames.
    pub is_software: bool,
    /// Area of the picture, in pixels from the window's lower left corner.
    pub picture: glium::Rect,
    /// Area of the picture that shows the other simulation, while two simulations are compared.
    pub other: Option<glium::Rect>,
    /// The area in which the pointer is, or in which the current drag began: `picture` or `other`.
    hand: glium::Rect,
    /// Size of the corner of the picture that the statistics cover, in points.
    pub covered: egui::Vec2,
    /// Whether the window was in full screen before the current presentation; `None` without a presentation.
    before_presentation: Option<bool>,
    /// Inner width and height, in logical pixels, before the window went to full screen.
    windowed_size: (u32, u32),
    /// Theme of the window's title bar.
    theme: Theme,
    /// The window. This field is last, because the surface must be dropped before the window.
    pub window: winit::window::Window,
}

impl Window {
    /// Opens a window of `(width, height)` logical pixels, with a title bar in this theme.
    pub(super) fn new(
        event_loop: &ActiveEventLoop,
        (width, height): (u32, u32),
        theme: Theme,
    ) -> Result<Self> {
        let attributes = winit::window::Window::default_attributes()
            .with_title("gravitile")
            .with_window_icon(icon())
            // Without a theme, the title bar of Wayland asks the desktop for one, and logs an error if no answer comes.
            .with_theme(Some(title_bar(theme)))
            .with_inner_size(LogicalSize::new(width, height))
            .with_min_inner_size(LogicalSize::new(320, 240));
        #[cfg(all(unix, not(target_vendor = "apple")))]
        let attributes = super::display::name(attributes);
        // Under X11, GLX comes first, because a remote or virtual display often offers only GLX. Some of these displays
        // offer a GLX that is too old; EGL then draws in software.
        let (window, display, waits) = open(event_loop, attributes.clone(), ApiPreference::FallbackEgl)
            .or_else(|error| open(event_loop, attributes, ApiPreference::PreferEgl).map_err(|_| error))?;
        let is_software = view::is_software(&display);
        // A software renderer accepts the swap interval but does not wait.
        let vsync = waits && !is_software;
        let gui = Gui::new(&display, &window, event_loop)?;
        let windowed_size = (width, height);
        let (width, height) = window.inner_size().into();
        let picture = glium::Rect { left: 0, bottom: 0, width, height };
        Ok(Self {
            window,
            display,
            gui,
            vsync,
            is_software,
            picture,
            other: None,
            hand: picture,
            covered: egui::Vec2::ZERO,
            before_presentation: None,
            windowed_size,
            theme,
        })
    }

    pub(super) fn context(&self) -> &Rc<Context> {
        self.display.get_context()
    }

    pub(super) fn egui(&self) -> egui::Context {
        self.gui.context().clone()
    }

    /// Returns the text in the clipboard, if there is any.
    pub(super) fn clipboard_text(&mut self) -> Option<String> {
        self.gui.clipboard().clipboard_text()
    }

    pub(super) fn set_clipboard_text(&mut self, text: String) {
        self.gui.clipboard().set_clipboard_text(text);
    }

    /// Returns the monitor's refresh interval minus 5 %, so that no refresh is missed.
    pub(super) fn refresh_interval(&self) -> Duration {
        let millihertz = self.window.current_monitor().and_then(|monitor| monitor.refresh_rate_millihertz());
        Duration::from_secs_f64(950.0 / f64::from(millihertz.unwrap_or(60_000).max(1_000)))
    }

    pub(super) fn resize(&mut self, size: PhysicalSize<u32>) {
        if size.width > 0 && size.height > 0 {
            self.display.resize(size.into());
        }
    }

    pub(super) fn toggle_full_screen(&mut self) {
        self.set_full_screen(!self.is_full_screen());
    }

    fn is_full_screen(&self) -> bool {
        self.window.fullscreen().is_some()
    }

    /// Turns full screen on when a presentation begins, and restores the earlier state when the presentation ends.
    pub(super) fn present(&mut self, presents: bool) {
        match (presents, self.before_presentation) {
            (true, None) => {
                self.before_presentation = Some(self.is_full_screen());
                self.set_full_screen(true);
            }
            (false, Some(was_full)) => {
                self.before_presentation = None;
                self.set_full_screen(was_full);
            }
            _ => {}
        }
    }

    fn set_full_screen(&mut self, is_full: bool) {
        self.windowed_size = self.logical_size();
        self.window.set_fullscreen(is_full.then_some(Fullscreen::Borderless(None)));
    }

    /// Sets the theme of the title bar, on systems that support themed title bars.
    pub(super) fn set_theme(&mut self, theme: Theme) {
        if std::mem::replace(&mut self.theme, theme) != theme {
            self.window.set_theme(Some(title_bar(theme)));
        }
    }

    pub(super) fn is_minimised(&self) -> bool {
        let size = self.window.inner_size();
        size.width == 0 || size.height == 0
    }

    /// Returns the number of physical pixels per point in the panel.
    pub(super) fn scale(&self) -> f32 {
        self.gui.context().pixels_per_point()
    }

    /// Returns the window's inner size in logical pixels; in full screen, the inner size before full screen.
    pub(super) fn logical_size(&self) -> (u32, u32) {
        match self.is_full_screen() {
            true => self.windowed_size,
            false => self.window.inner_size().to_logical::<u32>(self.window.scale_factor()).into(),
        }
    }

    pub(super) fn size(&self) -> (u32, u32) {
        self.window.inner_size().into()
    }

    /// Passes an event to egui, which consumes pointer events over the panel.
    pub(super) fn on_event(&mut self, event: &WindowEvent) -> EventResponse {
        self.gui.on_event(&self.window, event)
    }

    /// Starts a frame and returns its input events in groups. Each group needs its own call to [`Window::run_ui`].
    pub(super) fn take_events(&mut self) -> Vec<Vec<egui::Event>> {
        self.gui.take_events(&self.window)
    }

    pub(super) fn run_ui<T>(
        &mut self,
        events: Vec<egui::Event>,
        mut show: impl FnMut(&egui::Context) -> T,
    ) -> Option<T> {
        let mut shown = None;
        self.gui.run(&self.window, events, |ctx| shown = Some(show(ctx)));
        shown
    }

    /// Converts a rectangle from points to pixels, counted from the lower left corner of the window.
    pub(super) fn pixels(&self, rect: Rect) -> glium::Rect {
        pixels(rect, self.size(), self.scale())
    }

    /// Returns the picture's width divided by its height.
    pub(super) fn aspect(&self) -> f32 {
        self.picture.width.max(1) as f32 / self.picture.height.max(1) as f32
    }

    /// Returns the aspect ratio of the picture, and the size of the corner that the statistics cover.
    pub(super) fn viewport(&self) -> Viewport {
        let covered = self.covered * self.scale() / self.picture.height.max(1) as f32;
        Viewport { aspect: self.aspect(), covered: covered.into() }
    }

    /// Notes in which half of the picture the pointer is. A drag stays in the half in which it began.
    pub(super) fn note_pointer(&mut self, is_dragging: bool) {
        if !is_dragging {
            let x = self.gui.pointer().x;
            let holds =
                |area: &glium::Rect| (f64::from(area.left)..f64::from(area.left + area.width)).contains(&x);
            self.hand = self.other.filter(holds).unwrap_or(self.picture);
        }
    }

    /// Returns whether the pointer is in the half of the picture that shows the other simulation.
    pub(super) fn points_at_other(&self) -> bool {
        self.other == Some(self.hand)
    }

    /// Converts a window position to an offset from the picture's centre, in picture heights, with y pointing down.
    pub(super) fn off_centre(&self, at: PhysicalPosition<f64>) -> [f32; 2] {
        let glium::Rect { left, bottom, width, height } = self.hand;
        let top = f64::from(self.size().1) - f64::from(bottom) - f64::from(height);
        let unit = f64::from(height.max(1));
        let x = at.x - f64::from(left) - f64::from(width) / 2.0;
        let y = at.y - top - f64::from(height) / 2.0;
        [(x / unit) as f32, (y / unit) as f32]
    }

    /// Draws the picture and then the panel on top, and presents the frame.
    pub(super) fn draw(
        &mut self,
        picture: impl FnOnce(&mut glium::Frame) -> Result<()>,
        stats: &mut WindowStats,
    ) -> Result<()> {
        let start = Instant::now();
        self.gui.paint(&self.display)?;
        let mut target = self.display.draw();
        target.clear_color(0.0, 0.0, 0.0, 1.0);
        // Does not use `?`, because a frame that is dropped before it is finished panics.
        let outcome = picture(&mut target);
        let outcome = outcome.and_then(|()| self.gui.composite(&mut target));
        let drawn = start.elapsed();
        // This call lets Wayland set the pace of the next redraws.
        self.window.pre_present_notify();
        target.finish().map_err(graphics("cannot show the frame"))?;
        // With vsync, presenting the frame mostly waits for the monitor; without vsync, it completes the drawing.
        let work = if self.vsync { drawn } else { start.elapsed() };
        stats.draw_ms = work.as_secs_f64() * 1e3;
        outcome
    }
}

/// Returns the icon of the window on X11 and Windows. Wayland shows the icon of the desktop entry instead.
fn icon() -> Option<Icon> {
    let file = include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/icons/64.png"));
    let picture = image::load_from_memory(file).ok()?.into_rgba8();
    let (width, height) = picture.dimensions();
    Icon::from_rgba(picture.into_raw(), width, height).ok()
}

/// Converts a theme to winit's type, for the title bar.
fn title_bar(theme: Theme) -> winit::window::Theme {
    match theme {
        Theme::Dark => winit::window::Theme::Dark,
        Theme::Light => winit::window::Theme::Light,
    }
}

/// Chooses the OpenGL config with the fewest samples. Bodies and the panel have soft edges and need no multisampling.
fn plainest(configs: Box<dyn Iterator<Item = Config> + '_>) -> Config {
    let least = configs.min_by_key(|config| (config.num_samples(), config.depth_size()));
    // glutin-winit has no way to report an empty iterator, and glutin always finds at least one config.
    least.unwrap_or_else(|| unreachable!("an iterator over OpenGL configs was empty"))
}

/// Opens a window with OpenGL 3.3. Returns the window, its display, and whether presenting a frame waits for the
/// monitor's next refresh.
fn open(
    event_loop: &ActiveEventLoop,
    attributes: WindowAttributes,
    preference: ApiPreference,
) -> Result<(winit::window::Window, glium::Display<WindowSurface>, bool)> {
    let (window, config) = DisplayBuilder::new()
        .with_preference(preference)
        .with_window_attributes(Some(attributes))
        .build(event_loop, ConfigTemplateBuilder::new(), plainest)
        .map_err(unsupported("OpenGL"))?;
    let window = window.ok_or_else(|| Error::Graphics("the system did not open a window".to_owned()))?;
    let (display, waits) = open_display(&window, &config)?;
    Ok((window, display, waits))
}

fn open_display(
    window: &winit::window::Window,
    config: &Config,
) -> Result<(glium::Display<WindowSurface>, bool)> {
    let handle = window.window_handle().map_err(graphics("cannot access the window"))?.as_raw();
    let gl = config.display();
    let attributes = ContextAttributesBuilder::new()
        .with_profile(GlProfile::Core)
        .with_context_api(ContextApi::OpenGl(Some(Version::new(3, 3))))
        .build(Some(handle));
    // SAFETY: the window outlives the context: [`Window`] owns both and drops the context first.
    let context = unsafe { gl.create_context(config, &attributes) }.map_err(unsupported("OpenGL 3.3"))?;
    let (width, height) = window.inner_size().into();
    let [width, height] = [width, height].map(|side| NonZeroU32::new(side).unwrap_or(NonZeroU32::MIN));
    let attributes = SurfaceAttributesBuilder::<WindowSurface>::new().build(handle, width, height);
    // SAFETY: the window outlives the surface: [`Window`] owns both and drops the surface first.
    let surface = unsafe { gl.create_window_surface(config, &attributes) }
        .map_err(graphics("cannot draw in the window"))?;
    let context =
        context.make_current(&surface).map_err(graphics("OpenGL cannot be started in the window"))?;
    // Under Wayland, presenting a hidden window would block forever, so the frame clock alone sets the pace.
    let interval = match handle {
        RawWindowHandle::Wayland(_) => SwapInterval::DontWait,
        _ => SwapInterval::Wait(NonZeroU32::MIN),
    };
    let waits = surface.set_swap_interval(&context, interval).is_ok() && interval != SwapInterval::DontWait;
    let display = glium::Display::new(context, surface).map_err(unsupported("OpenGL 3.3"))?;
    view::check_version(&display).map_err(unsupported("OpenGL 3.3"))?;
    Ok((display, waits))
}

/// Returns a function that turns an error into a message. The message says that the display does not support `what`,
/// and what the user can do about it.
fn unsupported<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> Error {
    move |reason| {
        Error::Graphics(format!(
            "cannot open a window, because this display does not support {what} ({reason}); {}; {}",
            advice::OPENGL,
            advice::WITHOUT_WINDOW
        ))
    }
}

fn graphics<E: std::fmt::Display>(what: &str) -> impl FnOnce(E) -> Error {
    move |reason| Error::Graphics(format!("{what}: {reason}"))
}
