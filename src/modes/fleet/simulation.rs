//! A simulation on several devices: divides the work, exchanges data and adapts the devices' shares.

use std::time::Instant;

use super::search::Search;
use super::shared::{Assignment, Cursor, Need, Plan, SharedSimulation};
use super::shares::{Speeds, split};
use super::trials::Trials;
use crate::base::{Attractor, CellRequest, Cells, LightRequest, Points, Result, State, Stroke};
use crate::compute::{Device, Lane, Pending, Staging};
use crate::modes::accuracy::Sample;
use crate::modes::{Diagnostics, Extra, Member, Mode, Sharing, Simulation};

/// Duration in seconds of a burst of steps while speeds are being measured. Must be much longer than a kernel launch.
const MEASURED_SECONDS: f64 = 0.01;
/// Duration in seconds of a burst of steps once the devices are chosen. Shares of the work can change after each burst.
const BURST_SECONDS: f64 = 0.25;
/// Time in seconds after which `advance` returns, so that the caller can respond to commands.
const LOOK_SECONDS: f64 = 0.1;

/// Combines simulations of one state, one per device, into a single simulation.
pub(crate) fn together<P: SharedSimulation + 'static>(parts: Vec<P>) -> Box<dyn Simulation> {
    match <[P; 1]>::try_from(parts) {
        Ok([only]) => Box::new(only),
        Err(parts) => Box::new(Fleet::new(parts)),
    }
}

/// Simulations on several devices that act as a single simulation.
pub(super) struct Fleet<P> {
    pub(super) parts: Vec<P>,
    pub(super) plan: Plan,
    pub(super) staging: Staging,
    speeds: Speeds,
    search: Search,
    /// Trials of slow devices, such as a CPU beside GPUs, which are timed before they may share the work.
    trials: Trials,
    /// Indices of the participating devices, in the order of their shares of the work.
    pub(super) participants: Vec<usize>,
    /// Part of the work that each of `participants` computes.
    pub(super) assignments: Vec<Assignment>,
    /// Devices to use for the next burst of steps, or `None` to keep the current division of work.
    wanted: Option<Vec<usize>>,
    /// Purpose for which the first device has gathered all data since the last step, or `None` if it has not done so.
    pub(super) gathered: Option<Need>,
    /// Number of steps in the burst that the caller requested, of which `left` have not yet begun.
    requested: u32,
    left: u32,
    burst: Option<Burst>,
    /// Work done in the requested burst of steps so far: the sum of [`Simulation::rounds`] over the steps.
    rounds: f64,
    /// Whether the next call of `advance` may wait for devices.
    may_wait: bool,
    /// Measured duration of a step in seconds, or 0 if unknown.
    step_seconds: f64,
    seconds: f64,
    sharing: Sharing,
}

/// Part of the requested burst of steps that is in progress on all participating devices.
struct Burst {
    steps: u32,
    start: Instant,
}

/// Divides the work of a step among `participants`, without devices that would get no work.
fn arranged(plan: &Plan, speeds: &Speeds, mut participants: Vec<usize>) -> (Vec<usize>, Vec<Assignment>) {
    participants.truncate(plan.units.max(1));
    let work = speeds.shares(&participants, plan.units.max(1));
    let own = match plan.grain {
        Some(grain) => {
            // The last unit may be smaller or larger than the others.
            let Plan { units, count, .. } = *plan;
            let end = |unit: usize| if unit == units { count } else { unit * grain };
            work.iter().map(|work| end(work.start)..end(work.end)).collect()
        }
        None => split(plan.count, &vec![1.0; participants.len()]),
    };
    let of = participants.len();
    let assignment = |(nth, (work, own))| Assignment { work, own, nth, of };
    let assignments = work.into_iter().zip(own).enumerate().map(assignment).collect();
    (participants, assignments)
}

impl<P: SharedSimulation> Fleet<P> {
    /// Creates a fleet from simulations of one state, one per device.
    fn new(mut parts: Vec<P>) -> Self {
        let devices: Vec<Device> = parts.iter_mut().map(|part| part.lane().device().clone()).collect();
        let plan = parts[0].plan();
        let guesses: Vec<f64> = parts.iter_mut().map(|part| part.lane().rate()).collect();
        let (participants, trials): (Vec<usize>, _) = match Search::is_off() {
            true => ((0..parts.len()).collect(), Trials::default()),
            false => Trials::of(&guesses),
        };
        let speeds = Speeds::guess(guesses);
        let members = devices.iter().map(|device| Member::new(&device.info)).collect();
        let search = Search::new(participants.clone());
        let (participants, assignments) = arranged(&plan, &speeds, participants);
        Self {
            staging: Staging::new(devices),
            plan,
            speeds,
            search,
            trials,
            participants,
            assignments,
            wanted: None,
            // Every simulation starts with the complete state.
            gathered: Some(Need::LastStep),
            requested: 0,
            left: 0,
            burst: None,
            rounds: 0.0,
            may_wait: false,
            step_seconds: 0.0,
            seconds: 0.0,
            sharing: Sharing { members, ..Sharing::default() },
            parts,
        }
    }

    /// Returns the simulation on the first participating device. Its results represent the simulation as a whole.
    pub(super) fn lead(&mut self) -> &mut P {
        &mut self.parts[self.participants[0]]
    }

    /// Returns the simulations on the participating devices, in the order of their shares of the work.
    fn participating(&mut self) -> Vec<&mut P> {
        let mut places: Vec<Option<&mut P>> = self.parts.iter_mut().map(Some).collect();
        self.participants.iter().filter_map(|&device| places[device].take()).collect()
    }

    /// Calls `act` on the simulation of each participating device, in the order of their shares of the work.
    fn each(&mut self, mut act: impl FnMut(&mut P) -> Result<()>) -> Result<()> {
        self.participants.iter().try_for_each(|&device| act(&mut self.parts[device]))
    }

    /// Divides the work among `participants` in proportion to their speeds, and sends them the data they lack.
    fn assign(&mut self, participants: Vec<usize>) -> Result<()> {
        let (participants, assignments) = arranged(&self.plan, &self.speeds, participants);
        let owned =
            |of: &[Assignment]| of.iter().map(|assignment| assignment.own.clone()).collect::<Vec<_>>();
        if participants != self.participants || owned(&assignments) != owned(&self.assignments) {
            self.spread(&participants, &assignments)?;
            for &device in &participants {
                let host_state = self.lead().host_state()?;
                self.parts[device].adopt(host_state);
            }
        }
        (self.participants, self.assignments) = (participants, assignments);
        Ok(())
    }

    /// Begins the next part of the requested burst of steps on all participating devices.
    fn begin_burst(&mut self) -> Result<Burst> {
        if let Some(participants) = self.wanted.take() {
            self.assign(participants)?;
        }
        let knows = self.search.is_settled() && self.step_seconds > 0.0;
        let seconds = if knows { BURST_SECONDS } else { MEASURED_SECONDS };
        let most = match self.participants.len() {
            // A device that stays alone needs no new shares, so the burst need not be split.
            1 if self.search.is_settled() => f64::INFINITY,
            _ if self.step_seconds > 0.0 => seconds / self.step_seconds,
            _ => 1.0,
        };
        let most = (most as u32).max(1).div_ceil(self.plan.cut).saturating_mul(self.plan.cut);
        let steps = self.left.min(most);
        self.left -= steps;
        self.participating().into_iter().for_each(|part| part.start(steps));
        self.gathered = None;
        Ok(Burst { steps, start: Instant::now() })
    }

    /// Queues work for all participating devices. Returns whether the current burst of steps has ended.
    fn feed(&mut self) -> Result<bool> {
        if self.participants.len() == 1 {
            return Ok(!self.lead().advance()?);
        }
        if !self.lead().remains() {
            return Ok(true);
        }
        if !self.feed_stage()? {
            self.each(|part| part.lane().throttle())?;
            return Ok(false);
        }
        let stage = self.lead().cursor().stage;
        self.exchange(stage)?;
        self.each(P::end_stage)?;
        Ok(!self.lead().remains())
    }

    /// Queues work of the current stage on each participating device. Returns whether the whole stage has been queued.
    fn feed_stage(&mut self) -> Result<bool> {
        let Cursor { stage, begun, .. } = *self.lead().cursor();
        if !begun {
            if stage == 0 {
                P::agree(&mut self.participating())?;
            }
            for (&device, assignment) in self.participants.iter().zip(&self.assignments) {
                self.parts[device].begin_stage(assignment)?;
            }
        }
        let mut all = true;
        self.each(|part| {
            all &= part.feed()?;
            part.lane().submit()
        })?;
        Ok(all)
    }

    /// Records the devices' speeds in a burst of steps and decides whether to divide the work of the next differently.
    fn end_burst(&mut self, burst: &Burst) -> Result<()> {
        let Self { trials, parts, plan, speeds, participants, .. } = self;
        if let Some(joins) = trials.check(parts, plan, speeds, participants)? {
            self.wanted = Some(self.search.join(joins));
        }
        let is_alone = self.participants.len() == 1;
        let (goes_on, is_whole) = (self.left + burst.steps < self.requested, burst.steps == self.requested);
        P::sum_up(&mut self.participating(), goes_on, is_whole)?;
        let (rounds, steps) = (self.rounds_of_burst(), f64::from(burst.steps));
        self.rounds += rounds * steps;
        if is_alone && self.search.is_settled() {
            self.measure_alone(steps);
            return Ok(());
        }
        self.each(|part| part.lane().finish())?;
        let all = burst.start.elapsed().as_secs_f64();
        self.seconds += all;
        self.step_seconds = all / steps;
        self.measure(steps, rounds);
        // Compares speeds by rounds, because the number of rounds in a step may change between bursts.
        let round = self.step_seconds / rounds;
        let possible = self.plan.units as f64 / self.speeds.together(&self.participants);
        self.sharing.efficiency = (possible / round).min(1.0);
        let participants = self.search.note(round, &self.speeds, &self.plan);
        self.sharing.is_settled = self.search.is_settled();
        let shares: Vec<_> = self.assignments.iter().map(|assignment| assignment.work.clone()).collect();
        if participants.is_some() {
            self.wanted = participants;
        } else if !is_alone && self.speeds.is_uneven(&self.participants, &shares) {
            self.wanted = Some(self.participants.clone());
        }
        Ok(())
    }

    /// Returns the work done per step in the last burst, from what each device did in its share.
    fn rounds_of_burst(&self) -> f64 {
        if let [only] = self.participants[..] {
            return self.parts[only].rounds();
        }
        let weighted = |(device, assignment): (&usize, &Assignment)| {
            self.parts[*device].rounds() * assignment.work.len() as f64
        };
        let sum: f64 = self.participants.iter().zip(&self.assignments).map(weighted).sum();
        sum / self.plan.units as f64
    }

    /// Records how long the only participating device took for the completed part of `steps` steps. Does not wait.
    fn measure_alone(&mut self, steps: f64) {
        let (seconds, only) = (self.lead().take_seconds(), self.participants[0]);
        self.seconds += seconds;
        for (device, member) in self.sharing.members.iter_mut().enumerate() {
            member.share = f64::from(u8::from(device == only));
            member.step_ms *= member.share;
        }
        if seconds > 0.0 {
            self.sharing.members[only].step_ms = seconds / steps * 1e3;
        }
        (self.sharing.exchange_ms, self.sharing.efficiency) = (0.0, 1.0);
    }

    /// Records how long each participating device took to compute its share of a completed burst of `steps` steps.
    fn measure(&mut self, steps: f64, rounds: f64) {
        let is_alone = self.participants.len() == 1;
        let mut slowest = 0.0f64;
        self.sharing.members.iter_mut().for_each(|member| (member.share, member.step_ms) = (0.0, 0.0));
        for (nth, &device) in self.participants.iter().enumerate() {
            let seconds = self.parts[device].take_seconds() / steps;
            let units = if is_alone { self.plan.units } else { self.assignments[nth].work.len() };
            self.speeds.note(device, units, seconds / rounds);
            slowest = slowest.max(seconds);
            let member = &mut self.sharing.members[device];
            (member.share, member.step_ms) = (units as f64 / self.plan.units as f64, seconds * 1e3);
        }
        let exchange = if is_alone { 0.0 } else { (self.step_seconds - slowest).max(0.0) };
        self.sharing.exchange_ms = exchange * 1e3;
    }
}

impl<P: SharedSimulation> Simulation for Fleet<P> {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        // Discards gathered data, because the picture depends on the parameters.
        self.gathered = None;
        self.parts.iter_mut().try_for_each(|part| part.set(mode))
    }

    fn start(&mut self, steps: u32) {
        (self.requested, self.left, self.burst, self.may_wait) = (steps, steps, None, false);
        self.rounds = 0.0;
    }

    fn advance(&mut self) -> Result<bool> {
        let clock = Instant::now();
        loop {
            let burst = match self.burst.take() {
                Some(burst) => burst,
                None if self.left == 0 => return Ok(false),
                None => self.begin_burst()?,
            };
            if !std::mem::replace(&mut self.may_wait, true) && self.participants.len() > 1 {
                // The caller can do other work while the devices compute.
                self.feed_stage()?;
                self.burst = Some(burst);
                return Ok(true);
            }
            match self.feed()? {
                true => self.end_burst(&burst)?,
                false => self.burst = Some(burst),
            }
            let remains = self.burst.is_some() || self.left > 0;
            if !remains || clock.elapsed().as_secs_f64() > LOOK_SECONDS {
                return Ok(remains);
            }
        }
    }

    fn progress(&self) -> f32 {
        let under_way = self.burst.as_ref().map_or(0, |burst| burst.steps);
        let done = (self.requested - self.left - under_way) as f32;
        let progress = self.parts[self.participants[0]].progress();
        (done + under_way as f32 * progress) / self.requested.max(1) as f32
    }

    fn rounds(&self) -> f64 {
        match self.requested - self.left {
            0 => 1.0,
            steps => self.rounds / f64::from(steps),
        }
    }

    fn lane(&mut self) -> &mut Lane {
        self.lead().lane()
    }

    fn take_seconds(&mut self) -> f64 {
        std::mem::take(&mut self.seconds)
    }

    fn finish(&mut self) -> Result<()> {
        self.each(Simulation::finish)?;
        if self.participants.len() == 1 {
            self.seconds += self.lead().take_seconds();
        }
        Ok(())
    }

    fn state(&mut self) -> Result<State> {
        self.gather(Need::State)?.state()
    }

    fn extra(&mut self) -> Result<Extra> {
        self.gather(Need::State)?.extra()
    }

    fn resume(&mut self, extra: &Extra) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.resume(extra))
    }

    fn publish(&mut self, points: Points, light: Option<&LightRequest>) -> Result<Pending<Points>> {
        self.gather(Need::Picture)?.publish(points, light)
    }

    fn cells(&mut self, request: CellRequest) -> Result<Option<Cells>> {
        self.gather(Need::Picture)?.cells(request)
    }

    fn series(&mut self) -> Result<Vec<f64>> {
        self.lead().series()
    }

    fn is_painted_by(&self, stroke: &Stroke) -> bool {
        self.parts.first().is_none_or(|part| part.is_painted_by(stroke))
    }

    fn paint(&mut self, stroke: &Stroke) -> Result<()> {
        self.gathered = None;
        self.parts.iter_mut().try_for_each(|part| part.paint(stroke))
    }

    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        self.gather(Need::State)?.body(body)
    }

    /// Changes the velocities of all bodies on each participating device. A device may hold outdated velocities of
    /// other devices' bodies; they are overwritten with received data before they are used. Every device has the current
    /// positions and masses of all bodies, and so computes the same recoil as the others.
    fn attract(&mut self, attractor: &Attractor, time: f32) -> Result<()> {
        self.gathered = None;
        self.each(|part| part.attract(attractor, time))
    }

    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        if self.burst.is_some() || self.left > 0 {
            return Ok(None);
        }
        self.gather(Need::LastStep)?.sample(chosen)
    }

    fn diagnostics(&mut self) -> Result<Diagnostics> {
        self.gather(Need::Sums)?.diagnostics()
    }

    fn sharing(&self) -> Option<&Sharing> {
        Some(&self.sharing)
    }
}
