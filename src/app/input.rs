//! The mouse over the picture moves the camera, or the brush. Keys belong to the panel's table of shortcuts.

use std::time::Instant;

use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::keyboard::ModifiersState;

use super::hand::Gesture;
use super::rig::{self, Rig};
use super::window::Window;
use crate::lattice::Stroke;

/// One notch of the wheel changes the distance by this factor.
const ZOOM_PER_LINE: f32 = 0.88;
/// A touchpad counts pixels; so many are a notch.
const PIXELS_PER_LINE: f32 = 50.0;

/// A hand that moves by less than this between press and release clicks, in heights of the picture.
const CLICK: f32 = 0.006;

/// What a drag over the picture moves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum InHand {
    /// The view.
    Nothing,
    /// A brush of this radius.
    Brush(f32),
    /// Something new, which is launched.
    Launch,
    /// A place that attracts or repels.
    Pull,
}

/// What the mouse is doing.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    at: PhysicalPosition<f64>,
    drag: Option<Drag>,
    shift: bool,
    /// How far it went since a button was pressed, in heights of the picture.
    travel: f32,
    /// Where the brush went since that was last asked.
    strokes: Vec<Stroke>,
    /// Whether a button was pressed and the brush has left nothing since.
    begins: bool,
    /// What was done with a tool, or by a click, since that was last asked.
    gestures: Vec<Gesture>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Drag {
    View(MouseButton, rig::Drag),
    /// A tool is at work.
    Tool(MouseButton),
    /// Makes solid, or free, with a brush of this radius.
    Paint(MouseButton, bool, f32),
}

impl Drag {
    fn button(self) -> MouseButton {
        match self {
            Self::View(button, _) | Self::Tool(button) | Self::Paint(button, ..) => button,
        }
    }
}

impl Mouse {
    /// Moves the camera, or what is in hand, unless the panel has the event; whether anything moved.
    pub fn on_event(
        &mut self,
        event: &WindowEvent,
        taken: bool,
        window: &Window,
        (rig, held): (&mut Rig, InHand),
    ) -> bool {
        match event {
            WindowEvent::ModifiersChanged(held) => {
                self.shift = held.state().contains(ModifiersState::SHIFT);
                false
            }
            // Another button than the one that is at work does not count.
            WindowEvent::MouseInput { state: ElementState::Pressed, button, .. }
                if !taken && self.drag.is_none_or(|drag| drag.button() == *button) =>
            {
                (self.travel, self.begins) = (0.0, true);
                self.drag = match (button, held) {
                    (MouseButton::Left, InHand::Brush(radius)) => {
                        Some(Drag::Paint(*button, !self.shift, radius))
                    }
                    (MouseButton::Left, InHand::Launch | InHand::Pull)
                    | (MouseButton::Right, InHand::Pull) => {
                        let other = self.shift || *button == MouseButton::Right;
                        self.gestures.push(Gesture::Press(window.off_centre(self.at), other));
                        Some(Drag::Tool(*button))
                    }
                    (MouseButton::Right, InHand::Brush(radius)) => Some(Drag::Paint(*button, false, radius)),
                    _ => self.drag_of_camera(*button),
                };
                rig.hold();
                // A click without a drag is a dot.
                self.moved(self.at, window, rig)
            }
            WindowEvent::MouseInput { state: ElementState::Released, button, .. } => {
                match self.drag.take_if(|drag| drag.button() == *button) {
                    Some(Drag::View(_, drag)) => {
                        if *button == MouseButton::Left && self.travel < CLICK {
                            self.gestures.push(Gesture::Click(window.off_centre(self.at)));
                        }
                        rig.release(drag, Instant::now());
                    }
                    Some(Drag::Tool(_)) => self.gestures.push(Gesture::Release(self.shift)),
                    _ => return false,
                }
                true
            }
            // What is let go of while another window has the mouse is never told.
            WindowEvent::Focused(false) => {
                if matches!(self.drag, Some(Drag::Tool(_))) {
                    self.gestures.push(Gesture::Abandon);
                }
                self.drag.take().is_some()
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
            _ => None,
        }
    }

    /// Gives up what it is doing.
    pub fn abandon(&mut self) {
        self.drag = None;
    }

    /// Whether it is at work with something else than what is in hand now.
    pub fn is_stale(&self, held: InHand) -> bool {
        match self.drag {
            Some(Drag::Tool(_)) => !matches!(held, InHand::Launch | InHand::Pull),
            Some(Drag::Paint(..)) => !matches!(held, InHand::Brush(_)),
            Some(Drag::View(..)) | None => false,
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

    /// What was done with a tool, or by a click, since this was last asked.
    pub fn take_gestures(&mut self) -> Vec<Gesture> {
        std::mem::take(&mut self.gestures)
    }

    fn moved(&mut self, to: PhysicalPosition<f64>, window: &Window, rig: &mut Rig) -> bool {
        let [from, now] = [self.at, to].map(|at| window.off_centre(at));
        let (dx, dy) = (now[0] - from[0], now[1] - from[1]);
        self.at = to;
        self.travel += dx.hypot(dy);
        match self.drag {
            Some(Drag::View(_, drag)) => rig.drag(drag, [dx, dy], Instant::now()),
            Some(Drag::Tool(_)) => self.gestures.push(Gesture::Move(now, self.shift)),
            Some(Drag::Paint(_, solid, radius)) => {
                let ends = (rig.camera.on_ground(from), rig.camera.on_ground(now));
                if let (Some(from), Some(to)) = ends {
                    let begins = std::mem::take(&mut self.begins);
                    self.strokes.push(Stroke { from, to, radius, solid, begins });
                }
            }
            None => return false,
        }
        true
    }
}
