//! The mouse over the picture moves the camera, or the brush. Keys belong to the panel's table of shortcuts.

use std::time::Instant;

use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::keyboard::ModifiersState;

use super::hand::Gesture;
use super::rig::{self, Rig};
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
    /// A tool is at work, this one.
    Tool(MouseButton, InHand),
    /// Makes solid, or free, with a brush of this radius.
    Paint(MouseButton, bool, f32),
}

impl Drag {
    fn button(self) -> MouseButton {
        match self {
            Self::View(button, _) | Self::Tool(button, _) | Self::Paint(button, ..) => button,
        }
    }
}

impl Mouse {
    /// Moves the camera, or what is in hand, unless the panel has the event; whether anything moved. `place` tells where in
    /// the picture, in heights from its middle, a place in the window is.
    pub fn on_event(
        &mut self,
        event: &WindowEvent,
        taken: bool,
        place: impl Fn(PhysicalPosition<f64>) -> [f32; 2],
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
                        self.gestures.push(Gesture::Press(place(self.at), other));
                        Some(Drag::Tool(*button, held))
                    }
                    (MouseButton::Right, InHand::Brush(radius)) => Some(Drag::Paint(*button, false, radius)),
                    _ => self.drag_of_camera(*button),
                };
                rig.hold();
                // A click without a drag is a dot.
                self.moved(self.at, place, rig)
            }
            WindowEvent::MouseInput { state: ElementState::Released, button, .. } => {
                match self.drag.take_if(|drag| drag.button() == *button) {
                    Some(Drag::View(_, drag)) => {
                        if *button == MouseButton::Left && self.travel < CLICK {
                            self.gestures.push(Gesture::Click(place(self.at)));
                        }
                        rig.release(drag, Instant::now());
                    }
                    Some(Drag::Tool(..)) => self.gestures.push(Gesture::Release(self.shift)),
                    _ => return false,
                }
                true
            }
            // What is let go of while another window has the mouse is never told.
            WindowEvent::Focused(false) => {
                if matches!(self.drag, Some(Drag::Tool(..))) {
                    self.gestures.push(Gesture::Abandon);
                }
                self.drag.take().is_some()
            }
            WindowEvent::CursorMoved { position, .. } => self.moved(*position, place, rig),
            WindowEvent::MouseWheel { delta, .. } if !taken => {
                let lines = match delta {
                    MouseScrollDelta::LineDelta(_, y) => *y,
                    MouseScrollDelta::PixelDelta(offset) => offset.y as f32 / PIXELS_PER_LINE,
                };
                rig.wheel(ZOOM_PER_LINE.powf(lines), place(self.at));
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
            Some(Drag::Tool(_, began)) => held != began,
            Some(Drag::Paint(..)) => !matches!(held, InHand::Brush(_)),
            Some(Drag::View(..)) | None => false,
        }
    }

    /// Whether it is at work.
    pub fn is_at_work(&self) -> bool {
        self.drag.is_some()
    }

    /// Whether it moves the view sideways, by more than a click does.
    pub fn pans(&self) -> bool {
        matches!(self.drag, Some(Drag::View(_, rig::Drag::Pan))) && self.travel >= CLICK
    }

    /// Where the brush went since this was last asked.
    pub fn take_strokes(&mut self) -> Vec<Stroke> {
        std::mem::take(&mut self.strokes)
    }

    /// What was done with a tool, or by a click, since this was last asked.
    pub fn take_gestures(&mut self) -> Vec<Gesture> {
        std::mem::take(&mut self.gestures)
    }

    fn moved(
        &mut self,
        to: PhysicalPosition<f64>,
        place: impl Fn(PhysicalPosition<f64>) -> [f32; 2],
        rig: &mut Rig,
    ) -> bool {
        let [from, now] = [self.at, to].map(place);
        let (dx, dy) = (now[0] - from[0], now[1] - from[1]);
        self.at = to;
        self.travel += dx.hypot(dy);
        match self.drag {
            Some(Drag::View(_, drag)) => rig.drag(drag, [dx, dy], Instant::now()),
            Some(Drag::Tool(..)) => self.gestures.push(Gesture::Move(now, self.shift)),
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

#[cfg(test)]
mod tests {
    use winit::event::DeviceId;

    use super::*;

    /// A mouse over a picture of 100 × 100 pixels.
    #[derive(Default)]
    struct Desk {
        mouse: Mouse,
        rig: Rig,
    }

    impl Desk {
        fn hear(&mut self, event: &WindowEvent, held: InHand) {
            let place = |at: PhysicalPosition<f64>| [at.x as f32 / 100.0 - 0.5, at.y as f32 / 100.0 - 0.5];
            self.mouse.on_event(event, false, place, (&mut self.rig, held));
        }

        fn turn(&mut self, button: MouseButton, state: ElementState, held: InHand) {
            self.hear(&WindowEvent::MouseInput { device_id: DeviceId::dummy(), state, button }, held);
        }

        fn go(&mut self, x: f64, y: f64) {
            let (device_id, position) = (DeviceId::dummy(), PhysicalPosition { x, y });
            self.hear(&WindowEvent::CursorMoved { device_id, position }, InHand::Nothing);
        }
    }

    #[test]
    fn what_one_tool_began_another_does_not_end() {
        for (begun, other) in [(InHand::Launch, InHand::Pull), (InHand::Pull, InHand::Launch)] {
            let mut desk = Desk::default();
            desk.go(50.0, 50.0);
            desk.turn(MouseButton::Left, ElementState::Pressed, begun);
            desk.go(60.0, 50.0);
            assert!(!desk.mouse.is_stale(begun), "{begun:?}");
            for now in [other, InHand::Nothing, InHand::Brush(0.1)] {
                assert!(desk.mouse.is_stale(now), "{begun:?}, then {now:?}");
            }
        }
    }

    #[test]
    fn a_click_does_not_move_the_view_away() {
        for button in [MouseButton::Right, MouseButton::Middle] {
            let mut desk = Desk::default();
            desk.go(50.0, 50.0);
            desk.turn(button, ElementState::Pressed, InHand::Nothing);
            assert!(!desk.mouse.pans(), "{button:?}");
            desk.turn(button, ElementState::Released, InHand::Nothing);
            desk.turn(button, ElementState::Pressed, InHand::Nothing);
            desk.go(55.0, 50.0);
            assert!(desk.mouse.pans(), "{button:?}");
        }
    }
}
