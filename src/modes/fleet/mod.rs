//! A simulation on several devices: each has a whole one of its own, of which it steps a share.
//!
//! After each stage of a step the devices exchange what the others need, through the host. Shares follow the speeds that
//! were measured, and who only slows the others gets none: where one device alone is quickest it steps as if there were no
//! others. Long bursts are cut, since shares change between two bursts only.

mod moves;
mod part;
mod search;
mod shares;
mod trials;

use std::time::Instant;

pub(super) use self::part::{Duty, Need, Part, Plan, Traffic};
use self::search::Search;
use self::shares::{Speeds, split};
use self::trials::Trials;
use super::accuracy::Sample;
use super::{Diagnostics, Extra, Member, Mode, Sharing, Simulation};
use crate::bodies::Points;
use crate::compute::{Device, Exchange, Pending};
use crate::error::Result;
use crate::hand::Pull;
use crate::lattice::Stroke;
use crate::state::State;

/// A burst while speeds are measured: long beside a launch.
const MEASURED_SECONDS: f64 = 0.01;
/// A burst after that: how soon shares follow a change.
const BURST_SECONDS: f64 = 0.25;
/// How long to feed devices before a look at the commands.
const LOOK_SECONDS: f64 = 0.1;

/// The simulations of several devices that step as one.
pub(super) struct Fleet<P> {
    parts: Vec<P>,
    plan: Plan,
    exchange: Exchange,
    speeds: Speeds,
    search: Search,
    /// Slower kinds of devices, which show what they can do before anyone waits for them.
    trials: Trials,
    /// Who takes part, in the order of their shares.
    crew: Vec<usize>,
    /// As long.
    duties: Vec<Duty>,
    /// Who is to take part in the next burst, if shares or crew are to change.
    wanted: Option<Vec<usize>>,
    /// What the first of them has of what the others keep.
    gathered: Option<Need>,
    /// Steps that were asked for, and those not yet begun.
    asked: u32,
    left: u32,
    burst: Option<Burst>,
    /// Rounds of the steps so far that were asked for.
    rounds: f64,
    /// Whether the next look may wait for devices.
    may_wait: bool,
    /// Seconds of a step; 0 before it is known.
    step_seconds: f64,
    seconds: f64,
    sharing: Sharing,
}

/// A burst under way, on all who take part.
struct Burst {
    steps: u32,
    start: Instant,
    /// The stage that comes next, and whether it has begun.
    stage: usize,
    begun: bool,
}

impl<P: Part> Fleet<P> {
    /// Of simulations of the same state.
    pub fn new(mut parts: Vec<P>) -> Self {
        let devices: Vec<Device> = parts.iter_mut().map(|part| part.lane().device().clone()).collect();
        let plan = parts[0].plan();
        let guesses: Vec<f64> = parts.iter_mut().map(|part| part.lane().rate()).collect();
        let (crew, trials): (Vec<usize>, _) = match Search::is_off() {
            true => ((0..parts.len()).collect(), Trials::default()),
            false => Trials::of(&guesses),
        };
        let speeds = Speeds::guess(guesses);
        let members = devices.iter().map(|device| Member::new(&device.info)).collect();
        let mut fleet = Self {
            exchange: Exchange::new(devices),
            plan,
            speeds,
            search: Search::new(crew.clone()),
            trials,
            // All begin with all there is.
            crew: vec![0],
            duties: vec![Duty { work: 0..plan.units, own: 0..plan.count, nth: 0, of: 1 }],
            wanted: None,
            gathered: Some(Need::LastStep),
            asked: 0,
            left: 0,
            burst: None,
            rounds: 0.0,
            may_wait: false,
            step_seconds: 0.0,
            seconds: 0.0,
            sharing: Sharing { members, ..Sharing::default() },
            parts,
        };
        (fleet.crew, fleet.duties) = fleet.arranged(crew);
        fleet
    }

    /// How the work of a step is shared between those of `crew` for whom there is any.
    fn arranged(&self, mut crew: Vec<usize>) -> (Vec<usize>, Vec<Duty>) {
        crew.truncate(self.plan.units.max(1));
        let work = self.speeds.shares(&crew, self.plan.units.max(1));
        let own = match self.plan.grain {
            Some(grain) => {
                // The last unit may be a smaller or a larger one.
                let Plan { units, count, .. } = self.plan;
                let end = |unit: usize| if unit == units { count } else { unit * grain };
                work.iter().map(|work| end(work.start)..end(work.end)).collect()
            }
            None => split(self.plan.count, &vec![1.0; crew.len()]),
        };
        let of = crew.len();
        let duty = |(nth, (work, own))| Duty { work, own, nth, of };
        let duties = work.into_iter().zip(own).enumerate().map(duty).collect();
        (crew, duties)
    }

    /// The first who takes part: it is asked for what is not shared.
    fn lead(&mut self) -> &mut P {
        &mut self.parts[self.crew[0]]
    }

    /// Those who take part, the first one first.
    fn crew_parts(&mut self) -> Vec<&mut P> {
        let mut places: Vec<Option<&mut P>> = self.parts.iter_mut().map(Some).collect();
        self.crew.iter().filter_map(|&device| places[device].take()).collect()
    }

    /// Lets those of `crew` take part, with shares by what is known now; whoever is to know something gets it.
    fn assign(&mut self, crew: Vec<usize>) -> Result<()> {
        let (crew, duties) = self.arranged(crew);
        let owned = |duties: &[Duty]| duties.iter().map(|duty| duty.own.clone()).collect::<Vec<_>>();
        if crew != self.crew || owned(&duties) != owned(&self.duties) {
            self.spread(&crew, &duties)?;
            for &device in &crew {
                let mark = self.lead().mark()?;
                self.parts[device].follow(mark);
            }
        }
        (self.crew, self.duties) = (crew, duties);
        Ok(())
    }

    /// Begins the next burst of those that make up the one that was asked for.
    fn begin_burst(&mut self) -> Result<Burst> {
        if let Some(crew) = self.wanted.take() {
            self.assign(crew)?;
        }
        let knows = self.search.is_settled() && self.step_seconds > 0.0;
        let seconds = if knows { BURST_SECONDS } else { MEASURED_SECONDS };
        let most = match self.crew.len() {
            // Nothing changes any more.
            1 if self.search.is_settled() => f64::INFINITY,
            _ if self.step_seconds > 0.0 => seconds / self.step_seconds,
            _ => 1.0,
        };
        let most = (most as u32).max(1).div_ceil(self.plan.cut).saturating_mul(self.plan.cut);
        let steps = self.left.min(most);
        self.left -= steps;
        for &device in &self.crew {
            self.parts[device].start(steps);
        }
        self.gathered = None;
        Ok(Burst { steps, start: Instant::now(), stage: 0, begun: false })
    }

    /// Feeds all who take part; whether the burst is over.
    fn feed(&mut self, burst: &mut Burst) -> Result<bool> {
        let is_alone = self.crew.len() == 1;
        if is_alone {
            return Ok(!self.lead().advance()?);
        }
        if !self.lead().remains() {
            return Ok(true);
        }
        let all = self.feed_stage(burst)?;
        if !all {
            for &device in &self.crew {
                self.parts[device].lane().keep_up()?;
            }
            return Ok(false);
        }
        self.exchange(burst.stage)?;
        (burst.stage, burst.begun) = (burst.stage + 1, false);
        if burst.stage == self.lead().stages() {
            burst.stage = 0;
            for &device in &self.crew {
                self.parts[device].end_pass()?;
            }
        }
        Ok(!self.lead().remains())
    }

    /// Hands each who takes part more of the stage; whether that was all of it.
    fn feed_stage(&mut self, burst: &mut Burst) -> Result<bool> {
        if burst.stage == 0 && !burst.begun {
            P::agree(&mut self.crew_parts())?;
        }
        let mut all = true;
        for (&device, duty) in self.crew.iter().zip(&self.duties) {
            let part = &mut self.parts[device];
            if !burst.begun {
                part.begin(burst.stage, duty)?;
            }
            all &= part.feed()?;
        }
        burst.begun = true;
        for &device in &self.crew {
            self.parts[device].lane().hand_over()?;
        }
        Ok(all)
    }

    /// Learns from a burst, and changes shares or crew.
    fn end_burst(&mut self, burst: &Burst) -> Result<()> {
        let Self { trials, parts, plan, speeds, crew, .. } = self;
        if let Some(joins) = trials.look(parts, plan, speeds, crew)? {
            self.wanted = Some(self.search.join(joins));
        }
        let is_alone = self.crew.len() == 1;
        let (goes_on, is_whole) = (self.left + burst.steps < self.asked, burst.steps == self.asked);
        P::sum_up(&mut self.crew_parts(), goes_on, is_whole)?;
        let rounds = self.lead().rounds();
        self.rounds += rounds * f64::from(burst.steps);
        if is_alone && self.search.is_settled() {
            let (seconds, only) = (self.lead().take_seconds(), self.crew[0]);
            self.seconds += seconds;
            for (device, member) in self.sharing.members.iter_mut().enumerate() {
                member.share = f64::from(u8::from(device == only));
                member.step_ms *= member.share;
            }
            // Nobody waits for it: what has ended by now is what is known.
            if seconds > 0.0 {
                self.sharing.members[only].step_ms = seconds / f64::from(burst.steps) * 1e3;
            }
            (self.sharing.exchange_ms, self.sharing.efficiency) = (0.0, 1.0);
            return Ok(());
        }
        for &device in &self.crew {
            self.parts[device].lane().finish()?;
        }
        // Speeds are compared by rounds: a later burst may have more of them in a step.
        let steps = f64::from(burst.steps);
        let step = burst.start.elapsed().as_secs_f64() / steps;
        self.seconds += step * steps;
        self.step_seconds = step;
        let round = step / rounds;
        let mut slowest = 0.0f64;
        self.sharing.members.iter_mut().for_each(|member| (member.share, member.step_ms) = (0.0, 0.0));
        for (nth, &device) in self.crew.iter().enumerate() {
            let seconds = self.parts[device].take_seconds() / steps;
            let units = if is_alone { self.plan.units } else { self.duties[nth].work.len() };
            self.speeds.note(device, units, seconds / rounds);
            slowest = slowest.max(seconds);
            let member = &mut self.sharing.members[device];
            (member.share, member.step_ms) = (units as f64 / self.plan.units as f64, seconds * 1e3);
        }
        self.sharing.exchange_ms = if is_alone { 0.0 } else { (step - slowest).max(0.0) * 1e3 };
        self.sharing.efficiency =
            (self.plan.units as f64 / self.speeds.together(&self.crew) / round).min(1.0);
        let crew = self.search.note(round, &self.speeds, self.plan.units);
        self.sharing.is_settled = self.search.is_settled();
        if crew.is_some() {
            self.wanted = crew;
            return Ok(());
        }
        let shares: Vec<_> = self.duties.iter().map(|duty| duty.work.clone()).collect();
        if !is_alone && self.speeds.is_uneven(&self.crew, &shares) {
            self.wanted = Some(self.crew.clone());
        }
        Ok(())
    }
}

impl<P: Part> Simulation for Fleet<P> {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        // What is seen depends on them.
        self.gathered = None;
        self.parts.iter_mut().try_for_each(|part| part.set(mode))
    }

    fn start(&mut self, steps: u32) {
        (self.asked, self.left, self.burst, self.may_wait) = (steps, steps, None, false);
        self.rounds = 0.0;
    }

    fn advance(&mut self) -> Result<bool> {
        let clock = Instant::now();
        loop {
            let mut burst = match self.burst.take() {
                Some(burst) => burst,
                None if self.left == 0 => return Ok(false),
                None => self.begin_burst()?,
            };
            if !std::mem::replace(&mut self.may_wait, true) && self.crew.len() > 1 {
                // Whoever looks for the first time has something else to do while the devices compute.
                self.feed_stage(&mut burst)?;
                self.burst = Some(burst);
                return Ok(true);
            }
            match self.feed(&mut burst)? {
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
        let done = self.asked - self.left - self.burst.as_ref().map_or(0, |burst| burst.steps);
        let under_way =
            self.burst.as_ref().map_or(0.0, |burst| burst.steps as f32 * self.parts[self.crew[0]].progress());
        (done as f32 + under_way) / self.asked.max(1) as f32
    }

    fn rounds(&self) -> f64 {
        match self.asked - self.left {
            0 => 1.0,
            steps => self.rounds / f64::from(steps),
        }
    }

    fn take_seconds(&mut self) -> f64 {
        std::mem::take(&mut self.seconds)
    }

    fn finish(&mut self) -> Result<()> {
        for &device in &self.crew {
            self.parts[device].finish()?;
        }
        if self.crew.len() == 1 {
            self.seconds += self.lead().take_seconds();
        }
        Ok(())
    }

    fn state(&mut self) -> Result<State> {
        self.gather(Need::State)?;
        self.lead().state()
    }

    fn extra(&mut self) -> Result<Extra> {
        self.gather(Need::State)?;
        self.lead().extra()
    }

    fn resume(&mut self, extra: &Extra) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.resume(extra))
    }

    fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        self.gather(Need::Picture)?;
        self.lead().publish(points)
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
        self.gather(Need::State)?;
        self.lead().body(body)
    }

    /// Each pulls all bodies, though it knows the velocities of its own alone: those of others are told it before they matter.
    fn pull(&mut self, pull: &Pull, time: f32) -> Result<()> {
        self.gathered = None;
        self.crew.iter().try_for_each(|&device| self.parts[device].pull(pull, time))
    }

    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        if self.burst.is_some() || self.left > 0 {
            return Ok(None);
        }
        self.gather(Need::LastStep)?;
        self.lead().sample(chosen)
    }

    fn diagnostics(&mut self) -> Result<Diagnostics> {
        self.gather(Need::Sums)?;
        self.lead().diagnostics()
    }

    fn sharing(&self) -> Option<&Sharing> {
        Some(&self.sharing)
    }
}
