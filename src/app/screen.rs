//! The window together with its OpenGL view, appearance, frame clock and timings.

use std::time::Duration;

use super::appearance::Appearance;
use super::clock::FrameClock;
use super::window::Window;
use crate::base::look::EffectMode;
use crate::base::{Look, Result};
use crate::ui::WindowStats;
use crate::view::View;

/// Time, in seconds, for which frames may be slow before the window leaves out bloom. Shorter slowdowns, for example
/// while a kernel is compiled, have no effect.
const PATIENCE: f64 = 3.0;

pub(super) struct Screen {
    pub view: View,
    /// The current appearance settings, which the panel edits.
    pub look: Look,
    /// The sources of the appearance settings: the scene and the user.
    pub appearance: Appearance,
    pub clock: FrameClock,
    pub stats: WindowStats,
    /// Whether trails are switched on but cannot be drawn, because there are too many bodies.
    lacks_trails: bool,
    /// Run of the scene, size of the picture in pixels, and bloom setting for which `omits_auto_bloom` was determined.
    tried: Option<(u64, [u32; 2], EffectMode)>,
    /// Whether the window leaves out automatic bloom because frames with bloom were too slow.
    omits_auto_bloom: bool,
    /// The window. This field is last, because the view must be dropped before the window's OpenGL context.
    pub window: Window,
}

impl Screen {
    pub(super) fn new(window: Window, appearance: Appearance) -> Result<Self> {
        let mut view = View::new(window.context())?;
        view.simplify_spheres()?;
        Ok(Self {
            view,
            look: appearance.look().clone(),
            appearance,
            clock: FrameClock::new(window.refresh_interval()),
            stats: WindowStats::default(),
            lacks_trails: false,
            tried: None,
            omits_auto_bloom: false,
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

    /// Leaves out automatic bloom if the CPU draws and cannot reach 30 frames a second. Tries bloom again when the run
    /// of the scene, the size of the picture or the bloom setting changes. Returns whether bloom is left out.
    pub(super) fn update_auto_bloom(&mut self, run: u64, size: [u32; 2]) -> bool {
        let shown = (run, size, self.look.bloom);
        if self.tried != Some(shown) {
            self.tried = Some(shown);
            self.omits_auto_bloom = false;
            self.clock.forgive();
        }
        self.omits_auto_bloom |= self.window.is_software && self.clock.is_slow_for(PATIENCE);
        self.view.omit_auto_bloom(self.omits_auto_bloom);
        self.omits_auto_bloom
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
