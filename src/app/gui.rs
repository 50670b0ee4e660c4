//! Connects egui to the window: collects input events for egui, and paints its output as a few large meshes.

use egui::epaint::{ClippedShape, Primitive};
use egui::{ClippedPrimitive, Event, Pos2, RawInput, Rect, TexturesDelta, ViewportId, vec2};
use egui_glium::egui_winit::State;
use egui_glium::{EventResponse, Painter};
use glium::backend::Facade;
use glium::glutin::surface::WindowSurface;
use glium::{Display, Frame, Surface};
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

use super::patches::{EDGE, Patches, bounds};
use crate::base::Result;
use crate::ui;
use crate::view::Layer;

/// egui's state and painter, and an image of the painted panel.
pub(super) struct Gui {
    state: State,
    painter: Painter,
    /// Image of the painted panel. Only the parts that have changed are repainted.
    layer: Layer,
    /// Shapes of the latest egui layout.
    shapes: Vec<ClippedShape>,
    /// Shapes of the layout that was last painted.
    painted: Vec<ClippedShape>,
    /// Rectangles covered by the shapes of the painted panel.
    covered: Patches,
    /// Number of pixels per point when the panel was last painted.
    scale: f32,
    textures: TexturesDelta,
    /// Keyboard and window state for egui's next pass.
    input: RawInput,
    pointer: PhysicalPosition<f64>,
}

impl Gui {
    pub(super) fn new(
        display: &Display<WindowSurface>,
        window: &Window,
        event_loop: &ActiveEventLoop,
    ) -> Result<Self> {
        let painter = Painter::new(display);
        let (scale, most) = (window.scale_factor() as f32, painter.max_texture_side());
        let context = egui::Context::default();
        let state = State::new(context, ViewportId::ROOT, event_loop, Some(scale), None, Some(most));
        Ok(Self {
            state,
            painter,
            layer: Layer::new(display.get_context())?,
            shapes: Vec::new(),
            painted: Vec::new(),
            covered: Patches::default(),
            scale,
            textures: TexturesDelta::default(),
            input: RawInput::default(),
            pointer: PhysicalPosition::default(),
        })
    }

    pub(super) fn context(&self) -> &egui::Context {
        self.state.egui_ctx()
    }

    /// Returns the latest position of the pointer.
    pub(super) fn pointer(&self) -> PhysicalPosition<f64> {
        self.pointer
    }

    /// Returns egui's connection to the window, which reads and writes the clipboard.
    pub(super) fn clipboard(&mut self) -> &mut State {
        &mut self.state
    }

    /// Passes an event to egui. Returns whether the panel consumed the event, and whether egui needs to repaint.
    pub(super) fn on_event(&mut self, window: &Window, event: &WindowEvent) -> EventResponse {
        let mut response = self.state.on_window_event(window, event);
        match event {
            WindowEvent::CursorMoved { position, .. } => self.pointer = *position,
            // egui knows only where the pointer was in the last frame, so this tests the current position.
            WindowEvent::MouseInput { state: ElementState::Pressed, .. } | WindowEvent::MouseWheel { .. } => {
                response.consumed = self.context().is_using_pointer() || self.is_over_panel();
            }
            _ => {}
        }
        response
    }

    /// Returns whether the pointer is over the panel or an egui window, according to the latest layout.
    fn is_over_panel(&self) -> bool {
        let context = self.context();
        let scale = f64::from(context.pixels_per_point());
        let at = egui::pos2((self.pointer.x / scale) as f32, (self.pointer.y / scale) as f32);
        match context.layer_id_at(at) {
            Some(layer) if layer.order != egui::Order::Background => true,
            _ => context.cumulative_pass_nr() > 0 && !context.available_rect().contains(at),
        }
    }

    /// Starts a frame and returns its input events in groups. Each group needs its own call to [`Gui::run`].
    pub(super) fn take_events(&mut self, window: &Window) -> Vec<Vec<Event>> {
        self.input = self.state.take_egui_input(window);
        ui::split_events(std::mem::take(&mut self.input.events))
    }

    /// Runs `show` with `events` as input, and keeps the resulting layout for [`Gui::paint`].
    pub(super) fn run(&mut self, window: &Window, events: Vec<Event>, show: impl FnMut(&egui::Context)) {
        let input = RawInput { events, ..self.input.take() };
        let output = self.context().run(input, show);
        self.state.handle_platform_output(window, output.platform_output);
        self.shapes = output.shapes;
        self.textures.append(output.textures_delta);
    }

    /// Paints the latest layout into an image. Call this before a frame starts, because some software drivers are slow
    /// to switch surfaces within a frame.
    pub(super) fn paint(&mut self, display: &Display<WindowSurface>) -> Result<()> {
        let (width, height) = display.get_framebuffer_dimensions();
        let (size, scale) = ((width.max(1), height.max(1)), self.context().pixels_per_point());
        let (shapes, textures) = (std::mem::take(&mut self.shapes), std::mem::take(&mut self.textures));
        let whole = Rect::from_min_size(Pos2::ZERO, vec2(size.0 as f32, size.1 as f32) / scale);
        let changed = match self.layer.fit(size)? || !textures.is_empty() || scale != self.scale {
            true => Patches(vec![whole]),
            false => Patches::changed(&self.painted, &shapes, scale),
        };
        if !changed.0.is_empty() {
            let mut surface = self.layer.surface()?;
            let mut primitives = Vec::new();
            for patch in changed.0 {
                let area = pixels(patch, size, scale);
                surface.clear(Some(&area), Some((0.0, 0.0, 0.0, 0.0)), false, None, None);
                let within = shapes.iter().filter(|shape| bounds(shape).intersects(patch)).cloned();
                primitives.extend(merged(self.context().tessellate(within.collect(), scale), patch));
            }
            self.painter.paint_and_update_textures(display, &mut surface, scale, &primitives, &textures);
            self.covered = Patches::covered(&shapes, scale);
        }
        (self.painted, self.scale) = (shapes, scale);
        Ok(())
    }

    /// Draws the painted panel over the picture in `frame`.
    pub(super) fn composite(&self, frame: &mut Frame) -> Result<()> {
        let size = frame.get_dimensions();
        self.layer.composite(frame, self.covered.0.iter().map(|rect| pixels(*rect, size, self.scale)))
    }
}

/// Converts a rectangle in points to pixels, counted from the lower left corner as in OpenGL.
pub(super) fn pixels(rect: Rect, (width, height): (u32, u32), scale: f32) -> glium::Rect {
    let pixel = |at: f32, most: u32| ((at * scale).round().max(0.0) as u32).min(most);
    let [left, right] = [rect.left(), rect.right()].map(|x| pixel(x, width));
    let [top, bottom] = [rect.top(), rect.bottom()].map(|y| pixel(y, height));
    // After a resize, clamping an outdated layout may put the edges in the wrong order.
    let (width, seen) = (right.saturating_sub(left), bottom.saturating_sub(top));
    glium::Rect { left, bottom: height - bottom, width, height: seen }
}

/// Merges consecutive meshes to save buffers and draw calls. To allow more merging, a mesh that fits into its clip
/// rectangle, apart from soft edges, is clipped to the whole `patch` instead.
fn merged(primitives: Vec<ClippedPrimitive>, patch: Rect) -> Vec<ClippedPrimitive> {
    let mut all: Vec<ClippedPrimitive> = Vec::with_capacity(primitives.len());
    for mut next in primitives {
        next.clip_rect = match &next.primitive {
            Primitive::Mesh(mesh) if next.clip_rect.expand(EDGE).contains_rect(mesh.calc_bounds()) => patch,
            _ => next.clip_rect.intersect(patch),
        };
        match (all.last_mut(), next) {
            (
                Some(ClippedPrimitive { clip_rect: before, primitive: Primitive::Mesh(whole) }),
                ClippedPrimitive { clip_rect, primitive: Primitive::Mesh(mesh) },
            ) if *before == clip_rect && whole.texture_id == mesh.texture_id => whole.append(mesh),
            (_, next) => all.push(next),
        }
    }
    all
}
