//! Turns mouse events over the picture into camera motion or tool gestures. `ui::CONTROLS` lists the controls.

use std::time::Instant;

use winit::dpi::PhysicalPosition;
use winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use winit::keyboard::ModifiersState;

use super::rig::{self, Rig};
use crate::base::Stroke;

/// Factor by which one notch of the mouse wheel changes the camera's distance.
const ZOOM_PER_LINE: f32 = 0.88;
/// Number of pixels of touchpad scrolling that count as one notch of the mouse wheel.
const PIXELS_PER_LINE: f32 = 50.0;

/// Maximum distance that the pointer may move during a click, in picture heights.
const CLICK: f32 = 0.006;

/// The tool that responds to a mouse drag over the picture.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum DragTool {
    /// Rotates the view with the left button. Moves the view if Shift is held or another button is pressed.
    Camera,
    /// Moves the view with any button. This tool is used in flat scenes, which are not rotated.
    Pan,
    /// Paints or erases obstacles with a brush of this radius, in scene units.
    Brush(f32),
    Launch,
    Attract,
}

/// A click, or a stage of a drag with a mouse tool. Positions are in picture heights, relative to the picture's centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Gesture {
    /// The left button was pressed and released in one place, with no tool selected.
    Click([f32; 2]),
    /// Start of a drag at a position. If the flag is true, the tool launches a cluster instead of one body, or repels
    /// bodies instead of attracting them.
    Press([f32; 2], bool),
    /// Movement of a drag to a new position. If the flag is true, the tool launches a cluster instead of one body, or
    /// repels bodies instead of attracting them.
    Move([f32; 2], bool),
    /// End of a drag. If the flag is true, the tool launches a cluster instead of one body, or repels bodies instead of
    /// attracting them.
    Release(bool),
    Cancel,
}

/// State of the mouse over the picture.
#[derive(Debug, Default)]
pub(super) struct Mouse {
    at: PhysicalPosition<f64>,
    pub drag: Option<Drag>,
    shift: bool,
    /// Length of the pointer's path since a button was pressed, in picture heights.
    travel: f32,
    /// Brush strokes that the simulation has not received yet.
    pub strokes: Vec<Stroke>,
    /// Whether the next brush stroke is the first one of a drag.
    begins: bool,
    /// Gestures that have not been applied yet.
    pub gestures: Vec<Gesture>,
}

/// A mouse drag over the picture, with the button that is held down.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Drag {
    Camera(MouseButton, rig::Drag),
    /// A drag that uses a mouse tool: the button and the tool.
    Tool(MouseButton, DragTool),
    /// A drag with the brush: the button, a flag that is true to paint obstacles and false to erase them, and the brush
    /// radius.
    Paint(MouseButton, bool, f32),
}

impl Drag {
    fn button(self) -> MouseButton {
        match self {
            Self::Camera(button, _) | Self::Tool(button, _) | Self::Paint(button, ..) => button,
        }
    }
}

impl Mouse {
    /// Handles a window event. Returns whether anything changed. `taken` is true if the panel has consumed the event;
    /// `place` converts a position in the window to an offset from the picture's centre, in picture heights.
    pub(super) fn on_event(
        &mut self,
        event: &WindowEvent,
        taken: bool,
        place: impl Fn(PhysicalPosition<f64>) -> [f32; 2],
        (rig, tool): (&mut Rig, DragTool),
    ) -> bool {
        match event {
            WindowEvent::ModifiersChanged(modifiers) => {
                self.shift = modifiers.state().contains(ModifiersState::SHIFT);
                false
            }
            // During a drag, the other buttons do nothing.
            WindowEvent::MouseInput { state: ElementState::Pressed, button, .. }
                if !taken && self.drag.is_none_or(|drag| drag.button() == *button) =>
            {
                (self.travel, self.begins) = (0.0, true);
                self.drag = match (button, tool) {
                    (MouseButton::Left, DragTool::Brush(radius)) => {
                        Some(Drag::Paint(*button, !self.shift, radius))
                    }
                    (MouseButton::Left, DragTool::Launch | DragTool::Attract)
                    | (MouseButton::Right, DragTool::Attract) => {
                        let other = self.shift || *button == MouseButton::Right;
                        self.gestures.push(Gesture::Press(place(self.at), other));
                        Some(Drag::Tool(*button, tool))
                    }
                    (MouseButton::Right, DragTool::Brush(radius)) => {
                        Some(Drag::Paint(*button, false, radius))
                    }
                    _ => self.drag_of_camera(*button, tool),
                };
                rig.hold();
                // A click without a drag paints a dot.
                self.moved(self.at, place, rig)
            }
            WindowEvent::MouseInput { state: ElementState::Released, button, .. } => {
                match self.drag.take_if(|drag| drag.button() == *button) {
                    Some(Drag::Camera(_, drag)) => {
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
            // If the button is released over another window, winit does not report the release.
            WindowEvent::Focused(false) => {
                if matches!(self.drag, Some(Drag::Tool(..))) {
                    self.gestures.push(Gesture::Cancel);
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

    fn drag_of_camera(&self, button: MouseButton, tool: DragTool) -> Option<Drag> {
        match button {
            MouseButton::Left if !self.shift && tool != DragTool::Pan => {
                Some(Drag::Camera(button, rig::Drag::Orbit))
            }
            MouseButton::Left | MouseButton::Right | MouseButton::Middle => {
                Some(Drag::Camera(button, rig::Drag::Pan))
            }
            _ => None,
        }
    }

    /// Returns whether the current drag began with a tool other than `tool`.
    pub(super) fn is_stale(&self, tool: DragTool) -> bool {
        match self.drag {
            Some(Drag::Tool(_, began)) => tool != began,
            Some(Drag::Paint(..)) => !matches!(tool, DragTool::Brush(_)),
            Some(Drag::Camera(..)) | None => false,
        }
    }

    /// Returns whether the user is panning the camera with a drag that is too long to be a click.
    pub(super) fn pans(&self) -> bool {
        matches!(self.drag, Some(Drag::Camera(_, rig::Drag::Pan))) && self.travel >= CLICK
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
            Some(Drag::Camera(_, drag)) => rig.drag(drag, [dx, dy], Instant::now()),
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

    /// A mouse over a 100 × 100 pixel picture.
    #[derive(Default)]
    struct Fixture {
        mouse: Mouse,
        rig: Rig,
    }

    impl Fixture {
        fn event(&mut self, event: &WindowEvent, tool: DragTool) {
            let place = |at: PhysicalPosition<f64>| [at.x as f32 / 100.0 - 0.5, at.y as f32 / 100.0 - 0.5];
            self.mouse.on_event(event, false, place, (&mut self.rig, tool));
        }

        fn button(&mut self, button: MouseButton, state: ElementState, tool: DragTool) {
            self.event(&WindowEvent::MouseInput { device_id: DeviceId::dummy(), state, button }, tool);
        }

        fn move_to(&mut self, x: f64, y: f64) {
            let (device_id, position) = (DeviceId::dummy(), PhysicalPosition { x, y });
            self.event(&WindowEvent::CursorMoved { device_id, position }, DragTool::Camera);
        }
    }

    #[test]
    fn a_drag_becomes_stale_when_another_tool_is_selected() {
        for (begun, other) in [(DragTool::Launch, DragTool::Attract), (DragTool::Attract, DragTool::Launch)] {
            let mut fixture = Fixture::default();
            fixture.move_to(50.0, 50.0);
            fixture.button(MouseButton::Left, ElementState::Pressed, begun);
            fixture.move_to(60.0, 50.0);
            assert!(!fixture.mouse.is_stale(begun), "{begun:?}");
            for now in [other, DragTool::Camera, DragTool::Brush(0.1)] {
                assert!(fixture.mouse.is_stale(now), "{begun:?}, then {now:?}");
            }
        }
    }

    #[test]
    fn a_drag_rotates_the_camera_or_with_the_pan_tool_only_moves_the_camera() {
        for (tool, rotates) in [(DragTool::Camera, true), (DragTool::Pan, false)] {
            let mut fixture = Fixture::default();
            let before = fixture.rig.camera.clone();
            fixture.move_to(50.0, 50.0);
            fixture.button(MouseButton::Left, ElementState::Pressed, tool);
            fixture.move_to(80.0, 60.0);
            let after = &fixture.rig.camera;
            assert_eq!(
                (after.yaw != before.yaw, after.target != before.target),
                (rotates, !rotates),
                "{tool:?}"
            );
        }
    }

    #[test]
    fn a_click_without_movement_does_not_pan() {
        for button in [MouseButton::Right, MouseButton::Middle] {
            let mut fixture = Fixture::default();
            fixture.move_to(50.0, 50.0);
            fixture.button(button, ElementState::Pressed, DragTool::Camera);
            assert!(!fixture.mouse.pans(), "{button:?}");
            fixture.button(button, ElementState::Released, DragTool::Camera);
            fixture.button(button, ElementState::Pressed, DragTool::Camera);
            fixture.move_to(55.0, 50.0);
            assert!(fixture.mouse.pans(), "{button:?}");
        }
    }
}
