//! The mouse over the picture moves the camera, or the brush. Keys belong to the panel's table of shortcuts.

use std::time::Instant;

use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::keyboard::ModifiersState;

use super::rig::{self, Rig};
use super::window::Window;
use crate::lattice::Stroke;

/// One notch of the wheel changes the distance by this factor.
const ZOOM_PER_LINE: f32 = 0.88;
/// A touchpad counts pixels; so many are a notch.
const PIXELS_PER_LINE: f32 = 50.0;

/// What the mouse is doing.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    at: PhysicalPosition<f64>,
    drag: Option<Drag>,
    shift: bool,
    /// Where the brush went since that was last asked.
    strokes: Vec<Stroke>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Drag {
    View(MouseButton, rig::Drag),
    /// Makes solid, or free, with a brush of this radius.
    Paint(MouseButton, bool, f32),
}

impl Drag {
    fn button(self) -> MouseButton {
        match self {
            Self::View(button, _) | Self::Paint(button, ..) => button,
        }
    }
}

impl Mouse {
    /// Moves the camera, or a brush of some radius if one is in hand, unless the panel has the event; whether anything moved.
    pub fn on_event(
        &mut self,
        event: &WindowEvent,
        taken: bool,
        window: &Window,
        (rig, brush): (&mut Rig, Option<f32>),
    ) -> bool {
        match event {
            WindowEvent::ModifiersChanged(held) => {
                self.shift = held.state().contains(ModifiersState::SHIFT);
                false
            }
            WindowEvent::MouseInput { state: ElementState::Pressed, button, .. } if !taken => {
                self.drag = match (button, brush) {
                    (MouseButton::Left, Some(radius)) => Some(Drag::Paint(*button, !self.shift, radius)),
                    (MouseButton::Right, Some(radius)) => Some(Drag::Paint(*button, false, radius)),
                    _ => self.drag_of_camera(*button),
                };
                rig.hold();
                // A click without a drag is a dot.
                self.moved(self.at, window, rig)
            }
            WindowEvent::MouseInput { state: ElementState::Released, button, .. } => {
                match self.drag.take_if(|drag| drag.button() == *button) {
                    Some(Drag::View(_, drag)) => rig.release(drag, Instant::now()),
                    _ => return false,
                }
                true
            }
            WindowEvent::CursorMoved { position, .. } => self.moved(*position, window, rig),
            WindowEvent::MouseWheel { delta, .. } if !taken => {
                let lines = match delta {
                    MouseScrollDelta::LineDelta(_, y) => *y,
                    MouseScrollDelta::PixelDelta(offset) => offset.y as f32 / PIXELS_PER_LINE,
                };
                rig.wheel(ZOOM_PER_LINE.powf(lines), window.off_centre(self.at));
                true
            }
            _ => false,
        }
    }

    fn drag_of_camera(&self, button: MouseButton) -> Option<Drag> {
        match button {
            MouseButton::Left if !self.shift => Some(Drag::View(button, rig::Drag::Orbit)),
            MouseButton::Left | MouseButton::Right | MouseButton::Middle => {
                Some(Drag::View(button, rig::Drag::Pan))
            }
            _ => self.drag,
        }
    }

    /// Whether it moves the view sideways.
    pub fn pans(&self) -> bool {
        matches!(self.drag, Some(Drag::View(_, rig::Drag::Pan)))
    }

    /// Where the brush went since this was last asked.
    pub fn take_strokes(&mut self) -> Vec<Stroke> {
        std::mem::take(&mut self.strokes)
    }

    fn moved(&mut self, to: PhysicalPosition<f64>, window: &Window, rig: &mut Rig) -> bool {
        let [from, now] = [self.at, to].map(|at| window.off_centre(at));
        let (dx, dy) = (now[0] - from[0], now[1] - from[1]);
        self.at = to;
        match self.drag {
            Some(Drag::View(_, drag)) => rig.drag(drag, [dx, dy], Instant::now()),
            Some(Drag::Paint(_, solid, radius)) => {
                let ends = (rig.camera.on_ground(from), rig.camera.on_ground(now));
                if let (Some(from), Some(to)) = ends {
                    self.strokes.push(Stroke { from, to, radius, solid });
                }
            }
            None => return false,
        }
        true
    }
}
