//! The window together with its OpenGL view, appearance, frame clock and timings.

use std::time::Duration;

use super::appearance::Appearance;
use super::clock::FrameClock;
use super::window::Window;
use crate::base::{Look, Result};
use crate::ui::WindowStats;
use crate::view::View;

pub(super) struct Screen {
    pub view: View,
    /// The current look, which the panel edits.
    pub look: Look,
    /// The sources of the look: the scene's settings and the user's settings.
    pub appearance: Appearance,
    pub clock: FrameClock,
    pub stats: WindowStats,
    /// Whether trails are switched on but cannot be drawn, because there are too many bodies.
    lacks_trails: bool,
    /// The window. This field is last, because the view must be dropped before the window's OpenGL context.
    pub window: Window,
}

impl Screen {
    pub(super) fn new(window: Window, appearance: Appearance) -> Result<Self> {
        let mut view = View::new(window.context())?;
        view.hurry()?;
        Ok(Self {
            view,
            look: appearance.look().clone(),
            appearance,
            clock: FrameClock::new(window.refresh_interval()),
            stats: WindowStats::default(),
            lacks_trails: false,
            window,
        })
    }

    /// Returns whether trails that the user switched on have disappeared since the last call, because there are now too
    /// many bodies. Trails that only the scene sets do not count, because a scene may intend them for few bodies only.
    pub(super) fn lost_trails(&mut self) -> bool {
        let lacks = self.view.lacks_trails() && self.look.trails != self.appearance.of_scene().trails;
        let lacked = std::mem::replace(&mut self.lacks_trails, lacks);
        self.lacks_trails && !lacked
    }

    /// Schedules a frame as soon as possible.
    pub(super) fn redraw(&mut self) {
        self.clock.redraw_after(Duration::ZERO);
    }

    /// Sets the frame clock to the refresh rate of the window's monitor.
    pub(super) fn update_refresh(&mut self) {
        self.clock.refresh = self.window.refresh_interval();
    }
}
