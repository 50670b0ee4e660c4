//! egui in the window: events in, few large meshes out.

use egui::epaint::{ClippedShape, Primitive};
use egui::{ClippedPrimitive, TexturesDelta, ViewportId};
use egui_glium::egui_winit::State;
use egui_glium::{EventResponse, Painter};
use glium::glutin::surface::WindowSurface;
use glium::{Display, Frame};
use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::ActiveEventLoop;
use winit::window::Window;

/// What shows and paints the panel.
pub(super) struct Gui {
    state: State,
    painter: Painter,
    shapes: Vec<ClippedShape>,
    textures: TexturesDelta,
    /// Where the pointer is, in physical pixels.
    pointer: PhysicalPosition<f64>,
}

impl Gui {
    pub fn new(display: &Display<WindowSurface>, window: &Window, event_loop: &ActiveEventLoop) -> Self {
        let painter = Painter::new(display);
        let (scale, most) = (window.scale_factor() as f32, painter.max_texture_side());
        let context = egui::Context::default();
        let state = State::new(context, ViewportId::ROOT, event_loop, Some(scale), None, Some(most));
        let pointer = PhysicalPosition::default();
        Self { state, painter, shapes: Vec::new(), textures: TexturesDelta::default(), pointer }
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

    /// Paints what was laid out last.
    pub fn paint(&mut self, display: &Display<WindowSurface>, frame: &mut Frame) {
        let (shapes, textures) = (std::mem::take(&mut self.shapes), std::mem::take(&mut self.textures));
        let scale = self.context().pixels_per_point();
        let primitives = merged(self.context().tessellate(shapes, scale));
        self.painter.paint_and_update_textures(display, frame, scale, &primitives, &textures);
    }
}

/// The same picture in fewer meshes: each costs two buffers and a draw, and what is nowhere clipped, but for the soft edge
/// of a line, needs no clip rectangle of its own.
fn merged(primitives: Vec<ClippedPrimitive>) -> Vec<ClippedPrimitive> {
    let mut all: Vec<ClippedPrimitive> = Vec::with_capacity(primitives.len());
    for mut next in primitives {
        if let Primitive::Mesh(mesh) = &next.primitive
            && next.clip_rect.expand(1.5).contains_rect(mesh.calc_bounds())
        {
            next.clip_rect = egui::Rect::EVERYTHING;
        }
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
