//! egui in the window: events in, few large meshes out.

use egui::epaint::{ClippedShape, Primitive};
use egui::{ClippedPrimitive, Pos2, Rect, TexturesDelta, ViewportId, vec2};
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
use crate::error::Result;
use crate::view::Layer;

/// What shows and paints the panel.
pub(super) struct Gui {
    state: State,
    painter: Painter,
    /// What was painted last is kept there, and only what changed is painted again.
    layer: Layer,
    /// What was laid out, and before that painted.
    shapes: Vec<ClippedShape>,
    painted: Vec<ClippedShape>,
    /// Where anything is.
    covered: Patches,
    /// Pixels to a point, as it was painted.
    scale: f32,
    textures: TexturesDelta,
    /// Where the pointer is, in physical pixels.
    pointer: PhysicalPosition<f64>,
}

impl Gui {
    pub fn new(
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
            pointer: PhysicalPosition::default(),
        })
    }

    pub fn context(&self) -> &egui::Context {
        self.state.egui_ctx()
    }

    /// Takes an event; whether it is the panel's alone.
    pub fn on_event(&mut self, window: &Window, event: &WindowEvent) -> EventResponse {
        let mut response = self.state.on_window_event(window, event);
        match event {
            WindowEvent::CursorMoved { position, .. } => self.pointer = *position,
            // egui says where the pointer was in the last frame; a quick hand has gone on since.
            WindowEvent::MouseInput { state: ElementState::Pressed, .. } | WindowEvent::MouseWheel { .. } => {
                response.consumed = self.context().is_using_pointer() || self.is_over_panel();
            }
            _ => {}
        }
        response
    }

    /// Whether the pointer is over the panel or a window, as they were laid out last.
    fn is_over_panel(&self) -> bool {
        let context = self.context();
        let scale = f64::from(context.pixels_per_point());
        let at = egui::pos2((self.pointer.x / scale) as f32, (self.pointer.y / scale) as f32);
        match context.layer_id_at(at) {
            Some(layer) if layer.order != egui::Order::Background => true,
            _ => context.cumulative_pass_nr() > 0 && !context.available_rect().contains(at),
        }
    }

    /// Lays out what `show` shows, for [`Gui::paint`].
    pub fn run(&mut self, window: &Window, show: impl FnMut(&egui::Context)) {
        let input = self.state.take_egui_input(window);
        let output = self.context().run(input, show);
        self.state.handle_platform_output(window, output.platform_output);
        self.shapes = output.shapes;
        self.textures.append(output.textures_delta);
    }

    /// Paints what was laid out last, beside what is on the screen: a driver that draws on a processor is slow to go from one
    /// surface to another and back.
    ///
    /// # Errors
    /// If OpenGL fails.
    pub fn paint(&mut self, display: &Display<WindowSurface>) -> Result<()> {
        let (width, height) = display.get_framebuffer_dimensions();
        let (size, scale) = ((width.max(1), height.max(1)), self.context().pixels_per_point());
        let (shapes, textures) = (std::mem::take(&mut self.shapes), std::mem::take(&mut self.textures));
        let whole = Rect::from_min_size(Pos2::ZERO, vec2(size.0 as f32, size.1 as f32) / scale);
        let changed = match self.layer.fit(size)? || !textures.is_empty() || scale != self.scale {
            true => Patches::from(whole),
            false => Patches::changed(&self.painted, &shapes, scale),
        };
        if !changed.is_empty() {
            let mut surface = self.layer.surface()?;
            let mut primitives = Vec::new();
            for patch in changed.iter() {
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

    /// Lays what was painted over a picture.
    ///
    /// # Errors
    /// If OpenGL fails.
    pub fn lay(&self, frame: &mut Frame) -> Result<()> {
        let size = frame.get_dimensions();
        self.layer.lay(frame, self.covered.iter().map(|rect| pixels(rect, size, self.scale)))
    }
}

/// The pixels of a rectangle of points, as OpenGL counts them: from the lower left.
pub(super) fn pixels(rect: Rect, (width, height): (u32, u32), scale: f32) -> glium::Rect {
    let pixel = |at: f32, most: u32| ((at * scale).round().max(0.0) as u32).min(most);
    let [left, right] = [rect.left(), rect.right()].map(|x| pixel(x, width));
    let [top, bottom] = [rect.top(), rect.bottom()].map(|y| pixel(y, height));
    // A panel that was laid out for a smaller window may stand beyond its own right edge.
    let (width, seen) = (right.saturating_sub(left), bottom.saturating_sub(top));
    glium::Rect { left, bottom: height - bottom, width, height: seen }
}

/// What is seen of a picture in `patch`, in few meshes: each costs two buffers and a draw, and what is nowhere clipped, but for the
/// soft edge of a line, needs no clip rectangle of its own.
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
