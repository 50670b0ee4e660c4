//! Compares two simulations that start from the same state, side by side, and keeps them at the same step.

use std::rc::Rc;
use std::time::Duration;

use crossbeam_channel::bounded;
use glium::backend::Context;

use super::simulation::{Simulation, first_device};
use crate::base::{ChangeEffect, Divergence, DivergenceLog, Look, Result, invalid, params};
use crate::compute::DeviceInfo;
use crate::engine::{Config, Fork, Resolved};
use crate::session::{Command, Pairing, Session, Turns};
use crate::ui::{Compared, Half};
use crate::view::View;

/// Fraction of the interval between displayed frames that the steps of both simulations may take.
const SHARE: f64 = 0.85;
/// Assumed minimum time between displayed frames, in seconds, for choosing the number of steps per frame.
const PICTURE: f64 = 1.0 / 60.0;
/// Maximum number of frames by which one simulation may lag behind the other. A simulation that lags further behind
/// catches up without showing its steps.
const MOST_FRAMES: u64 = 4;

/// A comparison of two simulations: the active one, which the panel edits, and the other one.
pub(super) struct Comparison {
    /// The simulation that the panel does not edit.
    pub other: Simulation,
    /// Renderer of the other simulation's half of the picture.
    pub view: View,
    /// Half of the picture that shows the active simulation.
    pub active: Half,
    /// Whether the active simulation is the one from which the comparison began.
    pub has_original: bool,
    /// Time between displayed frames.
    pub picture: Duration,
    log: DivergenceLog,
    /// Run and step of the latest comparison of the bodies; see [`Stats::generation`](crate::session::Stats).
    compared: (u64, u64),
    /// Turns of the two simulations in using the shared devices: first of the active one, then of the other one.
    pub turns: [Turns; 2],
    /// Steps per frame that were last sent to both simulations: `Some(None)` in free run, `None` if not sent yet.
    sent: Option<Option<u32>>,
    /// Step to which one of the simulations catches up, if any.
    goal: Option<u64>,
}

impl Comparison {
    /// Starts a copy of the simulation `sim`. `wake` is called when the copy has something new.
    pub(super) fn new(
        sim: &mut Simulation,
        (context, look): (&Rc<Context>, &Look),
        wake: impl Fn() + Send + Sync + 'static,
    ) -> Result<Self> {
        let mut view = View::new(context)?;
        view.simplify_spheres()?;
        view.set_look(look)?;
        let (answer, fork) = bounded::<Result<Fork>>(1);
        let ended = || Err(invalid!("the simulation has ended"));
        let engine = move || fork.recv().unwrap_or_else(|_| ended())?.engine();
        let other = Simulation::new(Session::spawn(engine, wake)?, sim.pool.clone(), sim.config.clone());
        let mut comparison = Self {
            other,
            view,
            active: Half::Left,
            has_original: true,
            picture: Duration::ZERO,
            log: DivergenceLog::default(),
            compared: (0, 0),
            turns: Turns::pair(),
            sent: None,
            goal: None,
        };
        // Sent before the copy is taken, so that the frames of `sim` and of its copy show the same steps.
        comparison.set_pace(sim);
        sim.send(Command::Fork(answer));
        Ok(comparison)
    }

    /// Returns the state of the comparison for display in the panel.
    pub(super) fn shown(&self) -> Compared<'_> {
        Compared { active: self.active, other: &self.other.shown, divergence: &self.log }
    }

    /// Returns whether the other simulation has started.
    pub(super) fn has_started(&self) -> bool {
        self.other.shown.has_started()
    }

    /// Sends the number of steps between frames to both simulations, if it has changed.
    fn set_pace(&mut self, sim: &Simulation) {
        let times = [sim, &self.other].map(|sim| sim.shown.device_ms_per_step * 1e-3);
        let every = (!sim.config.free_run).then(|| every(&sim.config, times, self.picture.as_secs_f64()));
        if self.sent.replace(every) != Some(every) {
            for (sim, turns) in [sim, &self.other].into_iter().zip(&self.turns) {
                sim.send(Command::Pair(Some(Pairing { turns: turns.clone(), every })));
            }
        }
    }

    /// Returns whether the newest frames of the two simulations may be shown. In free run and during a seek, they
    /// always may. Otherwise, both must show the same step; until they do, only the simulation that is behind
    /// continues.
    pub(super) fn keep_in_step(&mut self, sim: &mut Simulation) -> bool {
        self.set_pace(sim);
        self.follow_pause(&sim.config);
        let other = &mut self.other;
        if ![&mut *sim, &mut *other].into_iter().all(|sim| sim.session.newest().stats.has_started()) {
            return false;
        }
        let [(run, step, goal), (other_run, other_step, other_goal)] = [&mut *sim, &mut *other].map(|sim| {
            let stats = &sim.session.newest().stats;
            (stats.generation, stats.step, stats.goal)
        });
        let seeks = self.goal.is_none() && (goal.is_some() || other_goal.is_some());
        let is_same_run = run == other_run;
        if sim.config.free_run || seeks || (is_same_run && step == other_step) {
            self.goal = None;
            return true;
        }
        let is_behind = (step < other_step) != sim.config.reverse;
        if is_behind || !is_same_run || !sim.config.running {
            sim.skip_frame();
        }
        if !is_behind || !is_same_run || !sim.config.running {
            other.skip_frame();
        }
        if !is_same_run {
            self.goal = None;
            return false;
        }
        let (distance, goal) = (step.abs_diff(other_step), step.max(other_step));
        let is_near = distance <= MOST_FRAMES * u64::from(self.sent.flatten().unwrap_or(1));
        let waits = sim.config.running && (is_near || sim.config.reverse);
        if !waits && self.goal != Some(goal) {
            let late = if step < other_step { sim } else { other };
            late.send(Command::Seek(Some(goal)));
            self.goal = Some(goal);
        }
        false
    }

    /// Uploads the newest frame of the other simulation, and compares the bodies if both simulations show the same step.
    pub(super) fn upload(&mut self, sim: &mut Simulation) -> Result<()> {
        let Simulation { session, shown, returns, .. } = &mut self.other;
        let (frame, is_new) = session.take();
        if is_new | std::mem::take(returns) {
            if (shown.mode, shown.generation) != (frame.stats.mode, frame.stats.generation) {
                self.view.reset_history();
            }
            self.view.upload(&frame.points, frame.value_range)?;
            shown.clone_from(&frame.stats);
        }
        let moment = (sim.shown.generation, sim.shown.step);
        let [own, others] = [&mut sim.session, &mut self.other.session].map(|session| session.shown());
        let is_same = [own, others].iter().all(|frame| (frame.stats.generation, frame.stats.step) == moment);
        if is_same && moment != self.compared {
            if moment.0 != self.compared.0 {
                self.log = DivergenceLog::default();
            }
            self.compared = moment;
            if let Some(divergence) = Divergence::between(&own.points, &others.points) {
                self.log.note(moment.1, divergence);
            }
        }
        Ok(())
    }

    /// Changes the other simulation's settings in the same way as the active one's, which have changed from `before` to
    /// `after`. Leaves out settings that each simulation keeps for itself, such as the kernel variant.
    pub(super) fn follow(&mut self, before: &Config, after: &Config) {
        let config = followed(&self.other.pool, &self.other.config, before, after);
        if config != self.other.config {
            self.other.config = config.clone();
            self.other.send(Command::Configure(Box::new(config)));
        }
    }

    /// Runs the other simulation if `config`, the config of the active one, is running; otherwise pauses it.
    fn follow_pause(&mut self, config: &Config) {
        if self.other.config.running != config.running {
            self.other.config.running = config.running;
            self.other.send(Command::Configure(Box::new(self.other.config.clone())));
        }
    }
}

/// Returns the number of steps between frames. This is the user's choice or, by default, as many steps of both
/// simulations as fit between two frames. `times` contains the time that a step of each simulation takes, or 0 if
/// unknown. `picture` is the time between frames. All times are in seconds.
fn every(config: &Config, times: [f64; 2], picture: f64) -> u32 {
    let slower = (picture / PICTURE).max(1.0);
    let [a, b] = times;
    let step = if a > 0.0 && b > 0.0 { a + b } else { 2.0 * a.max(b) };
    let fitting = if step > 0.0 { SHARE * slower * PICTURE / step } else { 1.0 };
    let most = f64::from(config.pace()) * slower;
    // Powers of two: when the number changes, both simulations still share the steps at which frames end.
    let auto = 1 << (fitting.min(most).max(1.0) as u32).ilog2();
    config.steps_per_frame.unwrap_or(auto)
}

/// Returns the settings of the other simulation after the active one's have changed from `before` to `after`. Each
/// simulation keeps its own variant, work-group size, compile-time parameters, devices and physical parameters; the
/// initial bodies and the appearance are shared. `pool` holds the devices that the simulations may use.
fn followed(pool: &[DeviceInfo], other: &Config, before: &Config, after: &Config) -> Config {
    if before.mode.info() != after.mode.info() {
        return after.clone();
    }
    let begins_anew = before.start != after.start || before.run != after.run;
    let mut mode = if begins_anew { after.mode.clone() } else { other.mode.clone() };
    for effect in [ChangeEffect::View, ChangeEffect::Reseed] {
        let [old, new] = [before, after].map(|config| config.mode.values().of(effect));
        for (key, value) in old.changes(&new).0 {
            let set = params::set(mode.as_mut(), key, &value.to_string());
            debug_assert!(set.is_ok(), "{set:?}");
        }
    }
    let (knobs, devices) = (other.knobs.clone(), other.devices.clone());
    let mut config = Config {
        mode,
        variant: other.variant,
        work_group: other.work_group,
        knobs,
        devices,
        ..after.clone()
    };
    if begins_anew {
        // The number of bodies that `auto` chooses depends on the variant and on the device.
        let count = |config: &Config| {
            Resolved::new(config, first_device(pool, config)).map(|resolved| resolved.bodies).ok()
        };
        let bodies = count(after);
        if bodies != count(&config) {
            config.bodies = bodies;
        }
    }
    config
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::MODES;

    #[test]
    fn the_common_step_count_is_a_power_of_two_that_fits_within_one_frame() {
        // A flow may take more steps per frame than gravity.
        let config = Config::new(MODES[2]);
        let most = config.pace();
        assert!(most >= 2);
        let steps = |times, picture| every(&config, times, picture);
        assert_eq!(steps([0.0, 0.0], 0.0), 1);
        assert_eq!(steps([2e-3, 5e-3], 0.0), 2, "85 % of 16.7 ms are 14.2 ms");
        assert_eq!(steps([2e-3, 0.0], 0.0), 2, "the other is guessed to take as long");
        assert_eq!(steps([1e-9, 1e-9], 0.0), 1 << most.ilog2());
        assert_eq!(steps([1.0, 1.0], 0.0), 1);
        assert!(
            steps([1e-9, 1e-9], 10.0 * PICTURE) >= 8 * (1 << most.ilog2()),
            "slow pictures have more steps"
        );
        let chosen = Config { steps_per_frame: Some(7), ..config.clone() };
        assert_eq!(every(&chosen, [1.0, 1.0], 0.0), 7);
    }

    #[test]
    fn compared_simulations_share_initial_conditions_but_not_variant_or_work_group() {
        let info = MODES[0];
        let before = Config::new(info);
        let mut other = Config { variant: Some(&info.variants[1]), work_group: Some(32), ..before.clone() };
        params::set(other.mode.as_mut(), "dt", "0.02").unwrap();
        let mut after = Config {
            variant: Some(&info.variants[2]),
            work_group: Some(64),
            seed: 5,
            running: false,
            ..before.clone()
        };
        params::set(after.mode.as_mut(), "eps", "0.3").unwrap();
        params::set(after.mode.as_mut(), "colour", "mass").unwrap();
        let (memory_bytes, max_alloc_bytes, local_bytes, max_work_group) = (1 << 34, 1 << 32, 1 << 15, 256);
        let sizes = DeviceInfo { memory_bytes, max_alloc_bytes, local_bytes, ..DeviceInfo::default() };
        let pool = [DeviceInfo { max_work_group, ..sizes }];
        let next = followed(&pool, &other, &before, &after);
        assert_eq!((next.variant, next.work_group), (other.variant, other.work_group));
        assert_eq!((next.seed, next.running), (5, false));
        let value = |key: &str| next.mode.values().get(key).unwrap().to_string();
        assert_eq!((value("dt").as_str(), value("colour").as_str()), ("0.02", "mass"));
        assert_eq!(next.mode.values().get("eps"), before.mode.values().get("eps"));
        let another = Config { start: info.scenes[1].clone(), ..after.clone() };
        assert_eq!(
            followed(&pool, &other, &after, &another).mode,
            another.mode,
            "a new scene has its own parameters"
        );
        assert_eq!(followed(&pool, &other, &before, &Config::new(MODES[1])), Config::new(MODES[1]));
        let tree = Config { variant: info.variant("tree"), work_group: None, ..another };
        let count = |config: &Config| Resolved::new(config, &pool[0]).unwrap().bodies;
        assert_ne!(count(&tree), count(&Config { variant: other.variant, ..tree.clone() }));
        assert_eq!(followed(&pool, &other, &before, &tree).bodies, Some(count(&tree)), "the same bodies");
    }
}
