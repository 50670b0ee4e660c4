//! A simulation on several devices, which divides the work, exchanges data and adapts the devices' shares of the work.

use std::sync::Arc;
use std::time::Instant;

use super::assignment::{Assignment, Need, Portion};
use super::orders::{Link, Order, bits};
use super::search::Search;
use super::shared::{Cursor, Plan, SharedSimulation};
use super::shares::{Speeds, split};
use super::trials::Trials;
use crate::base::{Attractor, CellRequest, Cells, LightRequest, Points, Result, State, Stroke, invalid};
use crate::compute::{Device, DeviceInfo, Lane, Pending, ProgramSource, Staging};
use crate::modes::accuracy::Sample;
use crate::modes::{Diagnostics, Extra, Member, Mode, Sharing, Simulation};

/// Duration in seconds of a burst of steps while speeds are being measured. Must be much longer than a kernel launch.
const MEASURED_SECONDS: f64 = 0.01;
/// Minimum number of steps in a burst while speeds are being measured, unless they take longer than [`LOOK_SECONDS`].
/// In a single step, the time to begin and end a burst would weigh too much.
const MEASURED_STEPS: f64 = 3.0;
/// Duration in seconds of a burst of steps once the devices are chosen. Shares of the work can change after each burst.
const BURST_SECONDS: f64 = 0.25;
/// Time in seconds after which `advance` returns, so that the caller can respond to commands.
const LOOK_SECONDS: f64 = 0.1;

/// Combines one simulation per device, which all start from the same state, into a single simulation.
///
/// # Errors
/// Returns an error if a device or another rank of `link` fails.
pub(crate) fn together<P: SharedSimulation + 'static>(
    mut parts: Vec<P>,
    link: Option<Link>,
) -> Result<Box<dyn Simulation>> {
    Ok(match parts.pop() {
        Some(only) if parts.is_empty() && link.is_none() => Box::new(only),
        last => {
            parts.extend(last);
            Box::new(Fleet::new(parts, link)?)
        }
    })
}

/// Simulations on several devices that act as a single simulation.
pub(super) struct Fleet<P: SharedSimulation> {
    /// The simulations on the devices of this process.
    pub(super) parts: Vec<P>,
    /// Connection to the other ranks of an MPI run, or `None`. Rank 0 sends orders, which the other ranks carry out.
    link: Option<Link>,
    /// Index of this process's first device among all devices.
    pub(super) first: usize,
    /// Number of devices of all ranks.
    pub(super) count: usize,
    pub(super) plan: Plan,
    pub(super) staging: Staging,
    /// Whether the exchange after the current stage has already begun.
    exchanges_early: bool,
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
    /// Purpose for which the first device has gathered all data since the last step, or `None` if it has gathered none.
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

/// Divides the work of a step among `participants`. Leaves out devices that would get no work.
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
    /// Creates the combined simulation from one simulation per device, which all start from the same state.
    fn new(mut parts: Vec<P>, link: Option<Link>) -> Result<Self> {
        let devices: Vec<Device> = parts.iter_mut().map(|part| part.lane().device().clone()).collect();
        let plan = parts[0].plan();
        let mut guesses: Vec<f64> = parts.iter_mut().map(|part| part.lane().rate()).collect();
        let mut members: Vec<Member> = devices.iter().map(|device| Member::new(&device.info)).collect();
        let staging = match &link {
            Some(link) => Staging::among(link.ranks, link.owners.clone(), devices),
            None => Staging::new(devices),
        };
        let (first, count) =
            link.as_ref().map_or((0, parts.len()), |link| (link.own().start, link.owners.len()));
        if let Some(link) = &link {
            let ranks = link.ranks;
            if link.is_home() {
                ranks.order(link.others(), &link.message)?;
                members.iter_mut().for_each(|member| member.device.push_str(", rank 0"));
                for rank in link.others() {
                    guesses.extend(ranks.answer(rank)?);
                    let named = |info: &DeviceInfo| Member {
                        device: format!("{}, rank {rank}", info.name),
                        ..Member::new(info)
                    };
                    members.extend(ranks.devices()[rank].iter().map(named));
                }
            } else {
                ranks.reply(&guesses)?;
                guesses.resize(count, 1.0);
            }
        }
        // Slow devices of other ranks are found by the search, because rank 0 cannot time them while others compute.
        let (participants, trials): (Vec<usize>, _) = match Search::is_off() || link.is_some() {
            true => ((0..count).collect(), Trials::default()),
            false => Trials::of(&guesses),
        };
        let speeds = Speeds::guess(guesses).with_fixed_first(link.is_some());
        let search = Search::new(participants.clone());
        let (participants, assignments) = arranged(&plan, &speeds, participants);
        if let Some(link) = &link {
            // Every rank starts with the complete state, so that nothing has to be sent.
            link.tell(Order::Assign(participants.clone(), assignments.clone(), false), Vec::new())?;
        }
        Ok(Self {
            staging,
            exchanges_early: false,
            link,
            first,
            count,
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
        })
    }

    /// Returns the index in `parts` of the simulation on a device, or `None` if the device belongs to another rank.
    pub(super) fn place(&self, device: usize) -> Option<usize> {
        device.checked_sub(self.first).filter(|place| *place < self.parts.len())
    }

    /// Sends an order to the other ranks of an MPI run, if this is rank 0.
    pub(super) fn tell(&self, order: impl FnOnce() -> (Order, Vec<Vec<u8>>)) -> Result<()> {
        self.link.as_ref().filter(|link| link.is_home()).map_or(Ok(()), |link| {
            let (order, lists) = order();
            link.tell(order, lists)
        })
    }

    /// Returns the simulation on the first participating device of this process, or on its first device if none
    /// participates. On rank 0 and outside of MPI runs, this simulation holds the results of all devices.
    pub(super) fn lead(&mut self) -> &mut P {
        let place = self.lead_place();
        &mut self.parts[place]
    }

    fn lead_place(&self) -> usize {
        self.participants.iter().find_map(|&device| self.place(device)).unwrap_or(0)
    }

    /// Calls `act` on the simulation of each participating device of this process, in the order of their shares.
    fn each(&mut self, mut act: impl FnMut(&mut P) -> Result<()>) -> Result<()> {
        let places: Vec<usize> = self.participants.iter().filter_map(|&device| self.place(device)).collect();
        places.into_iter().try_for_each(|place| act(&mut self.parts[place]))
    }

    /// Carries out an [`Order::Stage`] of rank 0: queues a whole stage on the participating devices of this process.
    fn obey_stage(&mut self, decision: Option<u32>) -> Result<()> {
        if let Some(decision) = decision {
            self.each(|part| {
                part.follow(decision);
                Ok(())
            })?;
        }
        self.begin_stage()?;
        loop {
            let mut all = true;
            self.each(|part| {
                all &= part.feed()?;
                part.lane().submit()
            })?;
            if all {
                return Ok(());
            }
            self.each(|part| part.lane().throttle())?;
        }
    }

    /// Begins the current stage on each participating device of this process. If part of the results can be exchanged
    /// while the devices compute the rest, computes this part first, and begins to exchange it.
    fn begin_stage(&mut self) -> Result<()> {
        let of = self.participants.clone().into_iter().zip(self.assignments.clone());
        let here: Vec<_> =
            of.filter_map(|(device, assignment)| Some((self.place(device)?, assignment))).collect();
        let stage = self.lead().cursor().stage;
        let has_inner =
            |(place, assignment): &(usize, Assignment)| self.parts[*place].inner(stage, assignment).is_some();
        self.exchanges_early = !here.is_empty() && here.iter().all(has_inner);
        for (place, assignment) in &here {
            self.parts[*place].begin_stage(assignment, self.exchanges_early)?;
            self.parts[*place].lane().submit()?;
        }
        if self.exchanges_early { self.exchange(stage, Portion::Early, Staging::begin) } else { Ok(()) }
    }

    /// Exchanges data after a stage, and moves on to the next stage.
    fn end_stage(&mut self, stage: usize) -> Result<()> {
        // The caller may have gathered the state in the meantime, which abandons the exchange that had begun.
        let has_begun = self.exchanges_early && self.staging.has_begun();
        if has_begun {
            self.exchange(stage, Portion::Early, Staging::finish)?;
        }
        self.exchange(stage, if has_begun { Portion::Late } else { Portion::All }, Staging::run)?;
        self.each(P::end_stage)
    }

    /// Waits for the participating devices of this process, and returns their measurements. If `reads` is set, these
    /// include the values recorded in each step.
    fn measured_here(&mut self, reads: bool) -> Result<Vec<Measured>> {
        self.each(|part| part.lane().finish())?;
        let mut all = Vec::new();
        self.each(|part| {
            let record = if reads { part.recorded()? } else { Vec::new() };
            all.push(Measured { seconds: part.take_seconds(), rounds: part.rounds(), record });
            Ok(())
        })?;
        Ok(all)
    }

    /// Returns the measurements of all participating devices in the burst, in the order of `participants`.
    fn measured(&mut self, reads: bool) -> Result<Vec<Measured>> {
        let is_alone = self.participants.len() == 1;
        if !is_alone {
            self.tell(|| (Order::Measure(reads), Vec::new()))?;
        }
        let mut here = self.measured_here(reads)?.into_iter();
        let Some(link) = self.link.as_ref().filter(|_| !is_alone) else { return Ok(here.collect()) };
        let mut answers = vec![Vec::new().into_iter()];
        for rank in link.others() {
            answers.push(link.ranks.answer(rank)?.into_iter());
        }
        let of = |&device: &usize| match link.owners[device] {
            0 => here.next(),
            rank => Measured::read(&mut answers[rank]),
        };
        let all: Vec<Measured> = self.participants.iter().filter_map(of).collect();
        match all.len() == self.participants.len() {
            true => Ok(all),
            false => Err(invalid!("a rank did not send its measurements")),
        }
    }

    /// Divides the work among `participants` in proportion to their speeds, and sends each device the data it lacks.
    fn assign(&mut self, participants: Vec<usize>) -> Result<()> {
        let (participants, assignments) = arranged(&self.plan, &self.speeds, participants);
        let owned =
            |of: &[Assignment]| of.iter().map(|assignment| assignment.own.clone()).collect::<Vec<_>>();
        let spreads = participants != self.participants || owned(&assignments) != owned(&self.assignments);
        self.tell(|| (Order::Assign(participants.clone(), assignments.clone(), spreads), Vec::new()))?;
        if spreads {
            self.spread(&participants, &assignments)?;
            if self.link.is_some() {
                let text = serde_json::to_string(&self.lead().host_state()?);
                let text = text.map_err(|error| invalid!("{error}"))?;
                self.tell(|| (Order::Adopt(text), Vec::new()))?;
            }
            for &device in &participants {
                if let Some(place) = self.place(device) {
                    let host_state = self.lead().host_state()?;
                    self.parts[place].adopt(host_state);
                }
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
            _ if self.step_seconds > 0.0 => {
                let least = MEASURED_STEPS.min(LOOK_SECONDS / self.step_seconds);
                (seconds / self.step_seconds).max(least)
            }
            _ => 1.0,
        };
        let most = (most as u32).max(1).div_ceil(self.plan.cut).saturating_mul(self.plan.cut);
        let steps = self.left.min(most);
        self.left -= steps;
        if self.participants.len() > 1 {
            self.tell(|| (Order::Start(steps), Vec::new()))?;
        }
        self.start_parts(steps)?;
        Ok(Burst { steps, start: Instant::now() })
    }

    /// Begins a burst of steps on the participating devices of this process.
    fn start_parts(&mut self, steps: u32) -> Result<()> {
        self.gathered = None;
        self.each(|part| {
            part.start(steps);
            Ok(())
        })
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
        self.tell(|| (Order::Exchange(stage), Vec::new()))?;
        self.end_stage(stage)?;
        Ok(!self.lead().remains())
    }

    /// Queues work of the current stage on each participating device. Returns whether the whole stage has been queued.
    fn feed_stage(&mut self) -> Result<bool> {
        let Cursor { stage, begun, .. } = *self.lead().cursor();
        if !begun {
            let decision = if stage == 0 { Some(self.lead().decide()?) } else { None };
            self.tell(|| (Order::Stage(decision), Vec::new()))?;
            if let Some(decision) = decision {
                self.each(|part| {
                    part.follow(decision);
                    Ok(())
                })?;
            }
            self.begin_stage()?;
        }
        let mut all = true;
        self.each(|part| {
            all &= part.feed()?;
            part.lane().submit()
        })?;
        Ok(all)
    }

    /// Records the devices' speeds in a burst of steps, and decides whether to divide the work differently from now on.
    fn end_burst(&mut self, burst: &Burst) -> Result<()> {
        let Self { trials, parts, plan, speeds, participants, .. } = self;
        if let Some(joins) = trials.check(parts, plan, speeds, participants)? {
            self.wanted = Some(self.search.join(joins));
        }
        let is_alone = self.participants.len() == 1;
        let (goes_on, is_whole) = (self.left + burst.steps < self.requested, burst.steps == self.requested);
        let (steps, reads) = (f64::from(burst.steps), !(is_alone && is_whole));
        if is_alone && self.search.is_settled() {
            let record = if reads { vec![self.lead().recorded()?] } else { Vec::new() };
            self.lead().sum_up(&record, goes_on);
            self.rounds += self.lead().rounds() * steps;
            self.measure_alone(steps);
            return Ok(());
        }
        let mut measured = self.measured(reads)?;
        let records: Vec<_> =
            measured.iter_mut().filter(|_| reads).map(|one| std::mem::take(&mut one.record)).collect();
        self.lead().sum_up(&records, goes_on);
        let rounds = self.rounds_of_burst(&measured);
        self.rounds += rounds * steps;
        let all = burst.start.elapsed().as_secs_f64();
        self.seconds += all;
        self.step_seconds = all / steps;
        self.measure(&measured, steps, rounds);
        // Divides the step time by the rounds, because the number of rounds in a step may change between bursts.
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

    /// Returns the mean work per step in the last burst: the mean over all devices, weighted by their shares.
    fn rounds_of_burst(&self, measured: &[Measured]) -> f64 {
        if let [only] = measured {
            return only.rounds;
        }
        let weighted =
            |(one, assignment): (&Measured, &Assignment)| one.rounds * assignment.work.len() as f64;
        let sum: f64 = measured.iter().zip(&self.assignments).map(weighted).sum();
        sum / self.plan.units as f64
    }

    /// Records the time that a device working alone took for the completed part of `steps` steps. Does not wait.
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
    fn measure(&mut self, measured: &[Measured], steps: f64, rounds: f64) {
        let is_alone = self.participants.len() == 1;
        let mut slowest = 0.0f64;
        self.sharing.members.iter_mut().for_each(|member| (member.share, member.step_ms) = (0.0, 0.0));
        for (nth, &device) in self.participants.iter().enumerate() {
            let seconds = measured[nth].seconds / steps;
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
        self.tell(|| (Order::Set(bits(mode.boxed().as_mut())), Vec::new()))?;
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
        // Only rank 0 is asked for the progress, and rank 0 has the first participating device.
        let place = self.place(self.participants[0]).unwrap_or(0);
        let progress = self.parts[place].progress();
        (done + under_way as f32 * progress) / self.requested.max(1) as f32
    }

    fn rounds(&mut self) -> f64 {
        match self.requested - self.left {
            0 => 1.0,
            steps => self.rounds / f64::from(steps),
        }
    }

    fn source(&self) -> Option<&Arc<ProgramSource>> {
        self.parts[self.lead_place()].source()
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
        self.tell(|| {
            let bytes =
                |(name, list): (&String, &Vec<f32>)| (name.clone(), bytemuck::cast_slice(list).to_vec());
            let (names, lists) = extra.iter().map(bytes).unzip();
            (Order::Resume(names), lists)
        })?;
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
        self.tell(|| (Order::Paint(*stroke), Vec::new()))?;
        self.parts.iter_mut().try_for_each(|part| part.paint(stroke))
    }

    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        self.gather(Need::State)?.body(body)
    }

    /// Changes the velocities of all bodies on each participating device. Every device has the current positions and
    /// masses of all bodies, and therefore computes the same recoil. A device may hold outdated velocities of other
    /// devices' bodies; received data overwrite these velocities before they are used.
    fn attract(&mut self, attractor: &Attractor, time: f32) -> Result<()> {
        self.gathered = None;
        self.tell(|| (Order::Attract(*attractor, time), Vec::new()))?;
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

    fn obey(&mut self, order: Order, lists: &[Vec<u8>]) -> Result<()> {
        match order {
            Order::Resume(names) => {
                let lists = lists.iter().map(|list| bytemuck::pod_collect_to_vec(list));
                self.resume(&names.into_iter().zip(lists).collect())
            }
            Order::Paint(stroke) => self.paint(&stroke),
            Order::Attract(attractor, time) => self.attract(&attractor, time),
            Order::Assign(participants, assignments, spreads) => {
                if spreads {
                    self.spread(&participants, &assignments)?;
                }
                (self.participants, self.assignments) = (participants, assignments);
                Ok(())
            }
            Order::Adopt(text) => self.each(|part| {
                let host_state = serde_json::from_str(&text).map_err(|error| invalid!("{error}"))?;
                part.adopt(host_state);
                Ok(())
            }),
            Order::Start(steps) => self.start_parts(steps),
            Order::Stage(decision) => self.obey_stage(decision),
            Order::Exchange(stage) => self.end_stage(stage),
            Order::Measure(reads) => {
                let measured = self.measured_here(reads)?;
                let values: Vec<f64> = measured.iter().flat_map(Measured::to_list).collect();
                self.link.as_ref().map_or(Ok(()), |link| link.ranks.reply(&values))
            }
            Order::Gather(need) => self.gather(need).map(drop),
            Order::Build(_) | Order::Set(_) | Order::Drop | Order::Quit => {
                Err(invalid!("rank 0 sent a command at the wrong time"))
            }
        }
    }
}

impl<P: SharedSimulation> Drop for Fleet<P> {
    fn drop(&mut self) {
        // Ignores an error: it means that another rank failed, and then no rank needs the order.
        let _ = self.tell(|| (Order::Drop, Vec::new()));
    }
}

/// Measurements of one device in a burst of steps.
#[derive(Debug)]
struct Measured {
    seconds: f64,
    rounds: f64,
    /// Values recorded for each step; empty if they were not requested.
    record: Vec<f32>,
}

impl Measured {
    fn to_list(&self) -> Vec<f64> {
        let head = [self.seconds, self.rounds, self.record.len() as f64];
        head.into_iter().chain(self.record.iter().copied().map(f64::from)).collect()
    }

    fn read(values: &mut impl Iterator<Item = f64>) -> Option<Self> {
        let (seconds, rounds, len) = (values.next()?, values.next()?, values.next()?);
        let record = values.take(len as usize).map(|value| value as f32).collect();
        Some(Self { seconds, rounds, record })
    }
}
