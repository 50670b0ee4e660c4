//! Decides the length of bursts (the steps between two frames), and keeps track of single steps and seeking.

use std::time::Duration;

use crate::engine::Config;

/// Assumed interval between displayed frames, until the window reports the actual interval.
const PICTURE: Duration = Duration::from_nanos(16_666_667);
/// Fraction of the interval between displayed frames that an `auto` burst and its read-back may take. The rest is a
/// reserve, so that the frame is ready when the window has drawn the previous one.
const BURST_SHARE: f64 = 0.85;
/// Number of bursts, including the current one, that a displayed frame may have to wait for in free run (when steps do
/// not wait for the screen).
const FREE_BURSTS: f64 = 3.0;
/// Longest `auto` burst in free run, in steps. Outside free run, [`Config::pace_at`] determines the limit.
const MAX_FREE_BURST: u32 = 256;
/// Longest duration of a burst of more than one step if a graphics card draws the frames, as a multiple of the usual
/// interval between displayed frames. If the same card computes the steps, drawing waits for the burst.
const LONGEST_PICTURES: f64 = 2.0;
/// Minimum time, in seconds, for a burst during the first [`fast_steps`](crate::scene::Scene::fast_steps) steps of a scene
/// if the CPU draws the frames. Drawing fewer frames leaves more CPU time for the steps.
const FAST_BURST_SECONDS: f64 = 0.06;
/// Longest burst, in steps, while the pointer attracts bodies. It is short because the attraction acts only between
/// bursts.
const MAX_ATTRACTING_BURST: u32 = 16;
/// Longest time, in seconds, that a mode's minimum burst may take. If the minimum burst takes longer, bursts may be as
/// short as one step.
const LEAST_BURST_SECONDS: f64 = 0.25;

/// Decides how many steps to compute in the next burst.
pub(super) struct Stepper {
    /// Whether a burst of steps has started but is not complete.
    pub is_bursting: bool,
    /// Number of steps in the last burst, and thus between the last two frames.
    pub burst: u32,
    /// Number of requested single steps that have not been computed yet.
    pub single_steps: u32,
    /// Target step of the current seek; `None` if no seek is in progress.
    pub goal: Option<u64>,
    /// Interval between displayed frames.
    pub picture: Duration,
    /// Whether the CPU draws the frames.
    pub is_software: bool,
    /// Number of steps between displayed frames if another simulation runs beside this one; otherwise `None`. A burst
    /// ends at the next step that is a multiple of this number.
    pub every: Option<u32>,
    /// Fraction of a step that did not fit into the last burst and is carried over to the next one.
    carry: f64,
}

/// Conditions that limit the number of steps in the next burst.
#[derive(Clone, Copy)]
pub(super) struct Situation {
    /// Current step of the simulation.
    pub step: u64,
    pub is_backwards: bool,
    /// Device time of one step, in seconds; 0 if no step has been measured yet.
    pub step_seconds: f64,
    /// Time to read back a frame, in seconds.
    pub read_seconds: f64,
    /// Minimum time of a burst in free run, in seconds. It is the time of a step of the other simulation, so that both
    /// simulations get equal shares of the device. It is 0 without another simulation.
    pub least_seconds: f64,
    /// Whether the pointer attracts bodies.
    pub attracts: bool,
}

impl Stepper {
    pub(super) fn new() -> Self {
        Self {
            is_bursting: false,
            burst: 1,
            single_steps: 0,
            goal: None,
            picture: PICTURE,
            is_software: false,
            every: None,
            carry: 0.0,
        }
    }

    /// Returns whether the simulation should compute steps now.
    pub(super) fn wants_steps(&self, config: &Config) -> bool {
        config.running || self.single_steps > 0 || self.goal.is_some()
    }

    /// Returns whether steps are computed without waiting for the screen: in free run and while seeking.
    pub(super) fn is_free(&self, config: &Config) -> bool {
        config.free_run || self.goal.is_some()
    }

    /// Cancels any requested single steps and the current seek.
    pub(super) fn stop(&mut self) {
        (self.single_steps, self.goal) = (0, None);
    }

    /// Returns the number of steps in the next burst, and counts down the requested single steps.
    pub(super) fn next_burst(&mut self, config: &Config, situation: Situation) -> u32 {
        if self.single_steps == 0 {
            return self.burst_length(config, situation);
        }
        let steps = self.within_reach(1, situation);
        self.single_steps -= steps;
        steps
    }

    /// Returns the number of steps in a burst: the user's choice, or as many steps as fit between displayed frames.
    pub(super) fn burst_length(&mut self, config: &Config, situation: Situation) -> u32 {
        let is_free = self.is_free(config);
        if let Some(every) = self.every.filter(|_| !is_free) {
            let past = (situation.step % u64::from(every.max(1))) as u32;
            let steps = if situation.is_backwards && past > 0 { past } else { every - past };
            return self.within_reach(steps, situation);
        }
        let (least, _) = config.mode.info().work.burst;
        // Outside free run, slow drawing leads to longer bursts: they fill the time between frames, and keep the number
        // of steps per second.
        let (usual, picture) = (PICTURE.as_secs_f64(), self.picture.as_secs_f64());
        let slower = if is_free { 1.0 } else { (picture / usual).max(1.0) };
        let picture = picture.min(match (is_free, self.is_software) {
            (true, _) => usual,
            (false, true) => f64::INFINITY,
            (false, false) => LONGEST_PICTURES * usual,
        });
        // Slow drawing raises only the usual limit, and not that of a scene's fast beginning, so that trails stay smooth.
        let (usual_pace, pace) = (config.pace(), config.pace_at(situation.step));
        let is_fast = pace > usual_pace;
        let most = match is_free {
            true => MAX_FREE_BURST.into(),
            false => (f64::from(usual_pace) * slower).max(pace.into()),
        };
        // A scene may have shorter bursts than its mode.
        let least = f64::from(least).min(most);
        let room = picture * BURST_SHARE - situation.read_seconds;
        let room = match is_free {
            true => (room / FREE_BURSTS).max(situation.least_seconds),
            false if is_fast && self.is_software => room.max(FAST_BURST_SECONDS),
            false => room,
        };
        let steps = match situation.step_seconds {
            step if step > 0.0 => {
                let least = if step * least < LEAST_BURST_SECONDS { least } else { 1.0 };
                (room / step).clamp(least, most)
            }
            _ => least,
        };
        let due = steps + if slower > 1.0 { self.carry } else { 0.0 };
        self.carry = due.fract();
        let steps = config.steps_per_frame.filter(|_| self.goal.is_none()).unwrap_or(due as u32);
        let most = if situation.attracts { MAX_ATTRACTING_BURST } else { u32::MAX };
        self.within_reach(steps.min(most), situation)
    }

    /// Limits `steps` so that the burst does not overshoot the goal of a seek or, when time runs backwards, step 0.
    fn within_reach(&self, steps: u32, Situation { step, is_backwards, .. }: Situation) -> u32 {
        let most = match self.goal {
            Some(goal) => goal.abs_diff(step),
            None if is_backwards => step,
            None => u64::MAX,
        };
        steps.min(u32::try_from(most).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::modes::gravity;

    const START: Situation = Situation {
        step: 0,
        is_backwards: false,
        step_seconds: 1e-3,
        read_seconds: 0.0,
        least_seconds: 0.0,
        attracts: false,
    };

    fn config() -> Config {
        Config::new(&gravity::INFO)
    }

    #[test]
    fn a_scene_may_begin_with_longer_bursts() {
        let mut config = config();
        let scene = Arc::make_mut(&mut config.start);
        (scene.pace, scene.fast_steps) = (Some(10), Some(100));
        let length =
            |step| Stepper::new().burst_length(&config, Situation { step, step_seconds: 1e-9, ..START });
        let first = length(0);
        assert!(first > 10 && [99, 100].map(length) == [first, 10]);
        // Slow drawing lengthens fast bursts only if the usual bursts become as long.
        let drawn_in = |milliseconds| {
            let mut stepper = Stepper { picture: Duration::from_millis(milliseconds), ..Stepper::new() };
            stepper.burst_length(&config, Situation { step_seconds: 1e-9, ..START })
        };
        assert_eq!(drawn_in(100), 100);
        assert!((290..=300).contains(&drawn_in(500)));
        // If the CPU draws, bursts are longer at the beginning: fewer frames leave time for more steps.
        let bursts = |is_software| {
            [0, 100].map(|step| {
                let mut stepper = Stepper { is_software, ..Stepper::new() };
                stepper.burst_length(&config, Situation { step, step_seconds: 0.005, ..START })
            })
        };
        assert_eq!((bursts(false), bursts(true)), ([2, 2], [12, 2]));
    }

    #[test]
    fn a_burst_ends_at_the_goal_step_or_when_running_backwards_at_step_0() {
        let mut stepper = Stepper::new();
        let config = Config { steps_per_frame: Some(10), ..config() };
        let back = Situation { step: 3, is_backwards: true, ..START };
        assert_eq!(stepper.burst_length(&config, START), 10);
        assert_eq!(stepper.burst_length(&config, back), 3);
        stepper.goal = Some(2);
        assert_eq!(stepper.burst_length(&config, back), 1, "the chosen length does not count while seeking");
        assert_eq!(stepper.burst_length(&config, Situation { step: 2, ..START }), 0);
    }

    #[test]
    fn bursts_beside_another_simulation_end_at_multiples_of_the_common_interval() {
        let mut stepper = Stepper { every: Some(8), ..Stepper::new() };
        let config = Config { steps_per_frame: Some(3), ..config() };
        let mut steps = |step, is_backwards| {
            stepper.burst_length(&config, Situation { step, is_backwards, step_seconds: 10.0, ..START })
        };
        assert_eq!([0, 3, 8, 15].map(|step| steps(step, false)), [8, 5, 8, 1]);
        assert_eq!([0, 3, 8, 15].map(|step| steps(step, true)), [0, 3, 8, 7]);
        let free = Config { free_run: true, ..config.clone() };
        assert_eq!(stepper.burst_length(&free, Situation { step: 3, ..START }), 3);
    }

    #[test]
    fn single_steps_are_taken_one_by_one() {
        let mut stepper = Stepper { single_steps: 1, ..Stepper::new() };
        let config = Config { running: false, ..config() };
        assert!(stepper.wants_steps(&config));
        assert_eq!(stepper.next_burst(&config, START), 1);
        assert!(!stepper.wants_steps(&config));
    }

    #[test]
    fn an_automatic_burst_fits_between_two_frames() {
        let free = Config { free_run: true, ..config() };
        let steps = |step_seconds, attracts| {
            Stepper::new().burst_length(&free, Situation { step_seconds, attracts, ..START })
        };
        assert_eq!(steps(1e-3, false), 4, "a third of 85 % of 16.7 ms");
        assert_eq!((steps(1e-9, false), steps(10.0, false)), (MAX_FREE_BURST, 1));
        assert_eq!(steps(1e-9, true), MAX_ATTRACTING_BURST);
        let beside = Situation { least_seconds: 0.05, ..START };
        assert_eq!(
            Stepper::new().burst_length(&free, beside),
            50,
            "as long as a step of the other simulation"
        );
    }

    /// Simulates the timing of frames. Drawing a frame takes `draw` seconds plus the fraction `contention` of the time
    /// of its burst. A step takes `step` seconds. Returns the fraction of the time that the device is busy, the steps
    /// per second, and the interval between frames in seconds, after the first half of the frames.
    fn simulated(stepper: &mut Stepper, draw: f64, contention: f64, step: f64) -> (f64, f64, f64) {
        const FRAMES: usize = 400;
        let (mut busy, mut steps, mut elapsed) = (0.0, 0.0, 0.0);
        let situation = Situation { step_seconds: step, ..START };
        let mut config = config();
        config.select_scene(gravity::INFO.scene("plummer").unwrap());
        for nth in 0..FRAMES {
            let burst = f64::from(stepper.burst_length(&config, situation));
            let drawing = draw + contention * (burst * step);
            let interval = drawing.max(PICTURE.as_secs_f64());
            // The window averages over some frames.
            let picture = 0.8 * stepper.picture.as_secs_f64() + 0.2 * interval;
            stepper.picture = Duration::from_secs_f64(picture);
            if nth >= FRAMES / 2 {
                (busy, steps) = (busy + burst * step, steps + burst);
                elapsed += interval.max(burst * step);
            }
        }
        (busy / elapsed, steps / elapsed, elapsed / (FRAMES / 2) as f64)
    }

    #[test]
    fn simulation_steps_fill_the_time_spent_drawing() {
        let software = || Stepper { is_software: true, ..Stepper::new() };
        for (draw, step) in [(0.005, 0.0035), (0.03, 0.0045), (0.3, 0.01), (1.3, 0.04)] {
            let (busy, ..) = simulated(&mut software(), draw, 0.0, step);
            assert!((0.75..0.9).contains(&busy), "{busy} with {draw} s to draw");
        }
        // Cheap steps must not fill the time, because the simulation would run too fast. It keeps its speed: 4 steps in
        // each sixtieth of a second.
        for draw in [0.005, 0.05, 1.3] {
            let (_, per_second, _) = simulated(&mut software(), draw, 0.0, 1e-5);
            assert!((per_second / 240.0 - 1.0).abs() < 0.02, "{per_second} with {draw} s to draw");
        }
        // Steps on a CPU delay drawing a little, and longer drawing makes room for more steps. This must not escalate.
        let (busy, _, interval) = simulated(&mut software(), 0.3, 0.2, 0.01);
        assert!(busy > 0.75 && interval < 0.4, "{busy} at {interval} s");
        // A graphics card that draws and computes must stay responsive.
        let (_, _, interval) = simulated(&mut Stepper::new(), 0.02, 1.0, 0.004);
        assert!(interval < 0.06, "{interval} s");
    }
}
