//! The simulation as the window sees it: its session, the config being edited, and the latest statistics.

use crate::base::{Error, LightRequest, Points};
use crate::compute::DeviceInfo;
use crate::engine::{Config, Resolved};
use crate::session::{Command, Frame, Session, Stats, WatchList};

/// A recorded moment that the screen shows in place of the live simulation.
pub(super) struct Past {
    pub frame: Frame,
    /// Whether `frame` has yet to be drawn.
    pub is_new: bool,
}

pub(super) struct Simulation {
    pub session: Session,
    /// The recorded moment on the screen; `None` if the screen shows the live simulation.
    pub past: Option<Past>,
    /// Whether the newest frame must be drawn although the session no longer reports it as new. This is so after the
    /// screen has shown a past moment, or after a comparison has skipped the frame to wait for the other simulation.
    pub returns: bool,
    /// Devices that the simulation may use.
    pub pool: Vec<DeviceInfo>,
    /// The config that the panel edits. Each change is sent to the simulation's thread.
    pub config: Config,
    /// Statistics of the frame on the screen.
    pub shown: Stats,
    /// The error that stopped the simulation, if any. The program returns it on exit.
    pub failure: Option<Error>,
    /// Whether the simulation is opening a snapshot that will replace the displayed bodies.
    pub is_resuming: bool,
    /// Quantities that the window shows, and that the simulation must therefore measure.
    watched: WatchList,
    /// Depth of the tree cells that the picture shows; `None` if it shows no cells.
    cells: Option<u32>,
    /// Request for an image of the bodies' light that the simulation adds to its frames, if any.
    light: Option<LightRequest>,
}

impl Simulation {
    pub(super) fn new(session: Session, pool: Vec<DeviceInfo>, config: Config) -> Self {
        let (shown, failure) = (Stats::default(), None);
        Self {
            session,
            past: None,
            returns: false,
            pool,
            config,
            shown,
            failure,
            is_resuming: false,
            watched: WatchList::default(),
            cells: None,
            light: None,
        }
    }

    pub(super) fn send(&self, command: Command) {
        self.session.send(command);
    }

    /// Returns the frame to show, the displayed frame's statistics, and whether the frame is new since the last call.
    pub(super) fn frame(&mut self) -> (&Frame, &Stats, bool) {
        if let Some(past) = &mut self.past {
            let is_new = std::mem::take(&mut past.is_new);
            return (&past.frame, &self.shown, is_new);
        }
        let (frame, is_new) = self.session.frame();
        (frame, &self.shown, is_new | std::mem::take(&mut self.returns))
    }

    /// Returns the frame that the last call to [`Session::newest`] found, the statistics of the displayed frame, and
    /// whether to draw the found frame. If `shows` is false, the frame must not be drawn yet, and a new frame stays new
    /// for a later call.
    pub(super) fn found_frame(&mut self, shows: bool) -> (&Frame, &Stats, bool) {
        if !shows {
            return (self.session.shown(), &self.shown, false);
        }
        let (frame, is_new) = self.session.take();
        (frame, &self.shown, is_new | std::mem::take(&mut self.returns))
    }

    /// Takes the frame that the last call to [`Session::newest`] found, without showing it, so that the simulation
    /// continues.
    pub(super) fn skip_frame(&mut self) {
        self.returns |= self.session.take().1;
    }

    /// Returns the frame on the screen: the recorded frame if a past moment is shown, or else the newest frame.
    pub(super) fn current(&mut self) -> &Frame {
        match &self.past {
            Some(past) => &past.frame,
            None => self.session.shown(),
        }
    }

    /// Returns the config that the panel edits, and the points on the screen.
    pub(super) fn scene(&mut self) -> (&Config, &Points) {
        let points = match &self.past {
            Some(past) => &past.frame.points,
            None => &self.session.shown().points,
        };
        (&self.config, points)
    }

    /// Returns the first device that the config selects.
    pub(super) fn device(&self) -> &DeviceInfo {
        first_device(&self.pool, &self.config)
    }

    /// Tells the simulation to measure the quantities in `watched`, which the window shows. Does nothing if they are
    /// unchanged.
    pub(super) fn watch(&mut self, watched: WatchList) {
        if std::mem::replace(&mut self.watched, watched) != watched {
            self.send(Command::Watch(watched));
        }
    }

    /// Tells the simulation which depth of tree cells the picture shows, if the depth has changed.
    pub(super) fn show_cells(&mut self, depth: Option<u32>) {
        if std::mem::replace(&mut self.cells, depth) != depth {
            self.send(Command::ShowCells(depth));
        }
    }

    /// Requests an image of the bodies' light with the next frames, if the request has changed.
    pub(super) fn show_light(&mut self, request: Option<LightRequest>) {
        if self.light != request {
            self.send(Command::ShowLight(request.clone().map(Box::new)));
            self.light = request;
        }
    }

    /// Sends the edited config to the simulation. If the change restarts the scene, time runs forwards again.
    pub(super) fn configure(&mut self, before: &Config) {
        self.config.reverse &= !starts_anew(&self.pool, before, &self.config);
        self.send(Command::Configure(Box::new(self.config.clone())));
    }
}

pub(super) fn first_device<'a>(pool: &'a [DeviceInfo], config: &Config) -> &'a DeviceInfo {
    &pool[config.devices.first().copied().filter(|place| *place < pool.len()).unwrap_or(0)]
}

/// Returns whether the change from `before` to `config` restarts the scene without switching to another mode.
fn starts_anew(pool: &[DeviceInfo], before: &Config, config: &Config) -> bool {
    let device = first_device(pool, before);
    let bodies = |config| Resolved::new(config, device).map(|resolved| resolved.bodies).ok();
    before.mode.info() == config.mode.info() && (before.reseeds(config) || bodies(before) != bodies(config))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::MODES;

    #[test]
    fn the_first_chosen_device_is_used_and_an_invalid_choice_falls_back_to_device_0() {
        let pool = [0, 1].map(|index| DeviceInfo { index, ..DeviceInfo::default() });
        let chosen = |devices: &[usize]| {
            let config = Config { devices: devices.to_vec(), ..Config::new(MODES[0]) };
            first_device(&pool, &config).index
        };
        assert_eq!([chosen(&[1, 0]), chosen(&[7]), chosen(&[])], [1, 0, 0]);
    }

    #[test]
    fn changing_the_seed_or_body_count_restarts_the_run_and_pausing_does_not() {
        let (memory_bytes, max_alloc_bytes, local_bytes, max_work_group) = (1 << 30, 1 << 28, 1 << 15, 256);
        let sizes = DeviceInfo { memory_bytes, max_alloc_bytes, local_bytes, ..DeviceInfo::default() };
        let pool = [DeviceInfo { max_work_group, ..sizes }];
        let before = Config::new(MODES[0]);
        let seeded = Config { seed: before.seed + 1, ..before.clone() };
        let paused = Config { running: !before.running, ..before.clone() };
        let fewer = Config { bodies: Some(17), ..before.clone() };
        let starts = |config| starts_anew(&pool, &before, config);
        assert_eq!([starts(&seeded), starts(&fewer), starts(&paused)], [true, true, false]);
        assert!(!starts(&Config::new(MODES[1])), "another mode continues where it was left");
    }
}
