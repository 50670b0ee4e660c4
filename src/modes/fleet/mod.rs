//! A simulation on several devices: each has a whole one of its own, of which it steps a share.
//!
//! After each stage of a step the devices exchange what the others need, through the host. Shares follow the speeds that
//! were measured, and who only slows the others gets none: where one device alone is quickest it steps as if there were no
//! others. Long bursts are cut, since shares change between two bursts only.

mod search;
mod shares;

use std::ops::Range;
use std::time::Instant;

use self::search::Search;
use self::shares::{Speeds, split};
use super::accuracy::Sample;
use super::{Diagnostics, Member, Mode, Sharing, Simulation};
use crate::bodies::Points;
use crate::compute::{Device, Exchange, Field, Lane, Mail, Pending};
use crate::error::Result;
use crate::lattice::Stroke;
use crate::state::State;

/// A burst while speeds are measured: long beside a launch.
const MEASURED_SECONDS: f64 = 0.01;
/// A burst after that: how soon shares follow a change.
const BURST_SECONDS: f64 = 0.25;
/// How long to feed devices before a look at the commands.
const LOOK_SECONDS: f64 = 0.1;

/// What one device does in a pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Duty {
    /// Its share of the work, in units.
    pub work: Range<usize>,
    /// Bodies or rows that it moves: of these it alone has all there is to know.
    pub own: Range<usize>,
    /// Its place among those who take part, and how many these are.
    pub nth: usize,
    pub of: usize,
}

/// How the work of a step can be shared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Plan {
    /// Units of work.
    pub units: usize,
    /// Bodies or rows.
    pub count: usize,
    /// Bodies or rows to a unit, whose owner does that unit; none where any device can do any unit.
    pub grain: Option<usize>,
}

/// What devices exchange.
pub(super) enum Traffic<'a> {
    /// Everyone gets what the owners have.
    All(Vec<Field<'a>>),
    /// Each owner gets what its neighbours have at their edges; the last and the first are neighbours.
    Edges(Vec<Field<'a>>),
    /// Everyone has a part of a sum for all bodies; the owners get the parts of all others, one behind the other, each so
    /// many bodies from the last.
    Sums { parts: Field<'a>, into: Field<'a>, stride: usize },
}

/// A whole simulation on one device, of which it can step a share.
pub(super) trait Part: Simulation {
    /// What it knows of its state besides buffers.
    type Mark;

    /// That.
    fn mark(&self) -> Self::Mark;

    /// Takes over the state of another, of which the buffers were exchanged.
    fn follow(&mut self, mark: Self::Mark);

    /// Where work is queued.
    fn lane(&mut self) -> &mut Lane;

    /// How a step can be shared.
    fn plan(&self) -> Plan;

    /// Whether passes of the burst remain.
    fn remains(&self) -> bool;

    /// Stages of the pass that comes next.
    fn stages(&self) -> usize;

    /// Begins a stage of that pass.
    fn begin(&mut self, stage: usize, duty: &Duty) -> Result<()>;

    /// Queues as much of it as is handed over at once; whether that was all.
    fn feed(&mut self) -> Result<bool>;

    /// What is exchanged after a stage.
    fn traffic(&self, stage: usize) -> Traffic<'_>;

    /// Ends the pass.
    fn end_pass(&mut self) -> Result<()>;

    /// What only owners know after a burst, besides what was exchanged.
    fn kept(&self) -> Vec<Field<'_>>;

    /// The rest of what it takes to go on from here.
    fn shared(&self) -> Vec<Field<'_>>;
}

/// The simulations of several devices that step as one.
pub(super) struct Fleet<P> {
    parts: Vec<P>,
    plan: Plan,
    exchange: Exchange,
    speeds: Speeds,
    search: Search,
    /// Who takes part, in the order of their shares.
    crew: Vec<usize>,
    /// As long.
    duties: Vec<Duty>,
    /// Whether the first of them has all that the others keep.
    is_gathered: bool,
    /// Steps that were asked for, and those not yet begun.
    asked: u32,
    left: u32,
    burst: Option<Burst>,
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
    /// Of simulations of the same state; `bytes` is the most that is exchanged at once.
    pub fn new(mut parts: Vec<P>, bytes: usize) -> Self {
        let devices: Vec<Device> = parts.iter_mut().map(|part| part.lane().device().clone()).collect();
        let plan = parts[0].plan();
        let kept: usize = [parts[0].kept(), parts[0].shared()].concat().iter().map(|f| f.bytes(plan.count)).sum();
        let speeds = Speeds::guess(parts.iter_mut().map(|part| part.lane().rate()).collect());
        let members = devices.iter().map(|device| Member::new(&device.info)).collect();
        let mut fleet = Self {
            exchange: Exchange::new(&devices, bytes.max(kept)),
            plan,
            speeds,
            search: Search::chosen(),
            crew: (0..parts.len()).collect(),
            duties: Vec::new(),
            // All begin with all there is.
            is_gathered: true,
            asked: 0,
            left: 0,
            burst: None,
            may_wait: false,
            step_seconds: 0.0,
            seconds: 0.0,
            sharing: Sharing { members, ..Sharing::default() },
            parts,
        };
        fleet.duties = fleet.duties_of(&fleet.crew);
        fleet
    }

    /// How the work of a step is shared between `crew`.
    fn duties_of(&self, crew: &[usize]) -> Vec<Duty> {
        let work = self.speeds.shares(crew, self.plan.units);
        let own = match self.plan.grain {
            Some(grain) => {
                let end = |unit: usize| (unit * grain).min(self.plan.count);
                work.iter().map(|work| end(work.start)..end(work.end)).collect()
            }
            None => split(self.plan.count, &vec![1.0; crew.len()]),
        };
        let of = crew.len();
        let duty = |(nth, (work, own))| Duty { work, own, nth, of };
        work.into_iter().zip(own).enumerate().map(duty).collect()
    }

    /// The first who takes part: it is asked for what is not shared.
    fn lead(&mut self) -> &mut P {
        &mut self.parts[self.crew[0]]
    }

    /// Lets `crew` take part, with other shares; whoever is to know something gets it.
    fn assign(&mut self, crew: Vec<usize>, duties: Vec<Duty>) -> Result<()> {
        let owned = |duties: &[Duty]| duties.iter().map(|duty| duty.own.clone()).collect::<Vec<_>>();
        if crew != self.crew || owned(&duties) != owned(&self.duties) {
            self.spread(&crew)?;
            for &device in &crew {
                let mark = self.lead().mark();
                self.parts[device].follow(mark);
            }
        }
        (self.crew, self.duties) = (crew, duties);
        Ok(())
    }

    /// Gives all there is to each of `to`.
    fn spread(&mut self, to: &[usize]) -> Result<()> {
        let Self { parts, crew, duties, exchange, plan, .. } = self;
        let mut mails = Vec::new();
        for device in 0..parts.len() {
            let nth = crew.iter().position(|&member| member == device);
            let fields = [parts[device].shared(), parts[device].kept()].concat();
            let mut mail = Mail { device, ..Mail::default() };
            let mut base = 0;
            for field in fields {
                let place = |own: &Range<usize>| base + field.bytes(own.start);
                if let Some(own) = nth.map(|nth| &duties[nth].own) {
                    mail.out.push(field.piece(own.clone(), place(own)));
                }
                if to.contains(&device) {
                    let others = duties.iter().enumerate().filter(|(other, _)| Some(*other) != nth);
                    mail.into.extend(others.map(|(_, duty)| field.piece(duty.own.clone(), place(&duty.own))));
                }
                base += field.bytes(plan.count);
            }
            if !(mail.out.is_empty() && mail.into.is_empty()) {
                mails.push(mail);
            }
        }
        exchange.pass(&mails)?;
        drop(mails);
        for part in &mut self.parts {
            part.lane().finish()?;
        }
        Ok(())
    }

    /// Gives the first who takes part what the others keep.
    fn gather(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.is_gathered, true) || self.crew.len() == 1 {
            return Ok(());
        }
        let Self { parts, crew, duties, exchange, plan, .. } = self;
        let mut mails = Vec::new();
        for (nth, &device) in crew.iter().enumerate() {
            let mut mail = Mail { device, ..Mail::default() };
            let mut base = 0;
            for field in parts[device].kept() {
                let piece = |own: &Range<usize>| field.piece(own.clone(), base + field.bytes(own.start));
                match nth {
                    0 => mail.into.extend(duties[1..].iter().map(|duty| piece(&duty.own))),
                    _ => mail.out.push(piece(&duties[nth].own)),
                }
                base += field.bytes(plan.count);
            }
            mails.push(mail);
        }
        exchange.pass(&mails)
    }

    /// What is exchanged after a stage.
    fn send(&mut self, stage: usize) -> Result<()> {
        let Self { parts, crew, duties, exchange, plan, .. } = self;
        let mails: Vec<Mail> = crew
            .iter()
            .enumerate()
            .map(|(nth, &device)| mail(&parts[device].traffic(stage), (nth, device), duties, plan.count))
            .collect();
        exchange.pass(&mails)
    }

    /// Begins the next burst of those that make up the one that was asked for.
    fn begin_burst(&mut self) -> Burst {
        let knows = self.search.is_settled() && self.step_seconds > 0.0;
        let seconds = if knows { BURST_SECONDS } else { MEASURED_SECONDS };
        let most = match self.crew.len() {
            // Nothing changes any more.
            1 if self.search.is_settled() => f64::INFINITY,
            _ if self.step_seconds > 0.0 => seconds / self.step_seconds,
            _ => 1.0,
        };
        let steps = self.left.min((most as u32).max(1));
        self.left -= steps;
        for &device in &self.crew {
            self.parts[device].start(steps);
        }
        self.is_gathered = false;
        Burst { steps, start: Instant::now(), stage: 0, begun: false }
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
        self.send(burst.stage)?;
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
        let is_alone = self.crew.len() == 1;
        if is_alone && self.search.is_settled() {
            let (seconds, only) = (self.lead().take_seconds(), self.crew[0]);
            self.seconds += seconds;
            self.sharing.members.iter_mut().for_each(|member| (member.share, member.step_ms) = (0.0, 0.0));
            let member = &mut self.sharing.members[only];
            (member.share, member.step_ms) = (1.0, seconds / f64::from(burst.steps) * 1e3);
            (self.sharing.exchange_ms, self.sharing.efficiency) = (0.0, 1.0);
            return Ok(());
        }
        for &device in &self.crew {
            self.parts[device].lane().finish()?;
        }
        let steps = f64::from(burst.steps);
        let step = burst.start.elapsed().as_secs_f64() / steps;
        self.seconds += step * steps;
        self.step_seconds = step;
        let mut slowest = 0.0f64;
        self.sharing.members.iter_mut().for_each(|member| (member.share, member.step_ms) = (0.0, 0.0));
        for (nth, &device) in self.crew.iter().enumerate() {
            let seconds = self.parts[device].take_seconds() / steps;
            let units = if is_alone { self.plan.units } else { self.duties[nth].work.len() };
            self.speeds.note(device, units, seconds);
            slowest = slowest.max(seconds);
            let member = &mut self.sharing.members[device];
            (member.share, member.step_ms) = (units as f64 / self.plan.units as f64, seconds * 1e3);
        }
        self.sharing.exchange_ms = if is_alone { 0.0 } else { (step - slowest).max(0.0) * 1e3 };
        self.sharing.efficiency = (self.plan.units as f64 / self.speeds.together(&self.crew) / step).min(1.0);
        let crew = self.search.note(step, &self.speeds, self.plan.units);
        self.sharing.is_settled = self.search.is_settled();
        if let Some(crew) = crew {
            let duties = self.duties_of(&crew);
            return self.assign(crew, duties);
        }
        let shares: Vec<_> = self.duties.iter().map(|duty| duty.work.clone()).collect();
        if !is_alone && self.speeds.is_uneven(&self.crew, &shares) {
            let duties = self.duties_of(&self.crew);
            return self.assign(self.crew.clone(), duties);
        }
        Ok(())
    }
}

/// What the `nth` of those who take part hands in and gets.
fn mail<'a>(traffic: &Traffic<'a>, (nth, device): (usize, usize), duties: &[Duty], count: usize) -> Mail<'a> {
    let own = &duties[nth].own;
    let mut mail = Mail { device, ..Mail::default() };
    let others = || duties.iter().enumerate().filter(|(other, _)| *other != nth);
    match traffic {
        Traffic::All(fields) => {
            let mut base = 0;
            for field in fields {
                let piece = |own: &Range<usize>| field.piece(own.clone(), base + field.bytes(own.start));
                mail.out.push(piece(own));
                mail.into.extend(others().map(|(_, duty)| piece(&duty.own)));
                base += field.bytes(count);
            }
        }
        Traffic::Edges(fields) => {
            let mut base = 0;
            for field in fields {
                // Each owner's first row and its last, on the host one behind the other.
                let place = |nth: usize, last: bool| base + field.bytes(2 * nth + usize::from(last));
                let row = |row: usize, host: usize| field.piece(row..row + 1, host);
                let edges = |nth: usize| (duties[nth].own.start, duties[nth].own.end - 1);
                let (first, last) = edges(nth);
                mail.out.extend([row(first, place(nth, false)), row(last, place(nth, true))]);
                let (before, behind) = ((nth + duties.len() - 1) % duties.len(), (nth + 1) % duties.len());
                mail.into.extend([
                    row(edges(before).1, place(before, true)),
                    row(edges(behind).0, place(behind, false)),
                ]);
                base += field.bytes(2 * duties.len());
            }
        }
        Traffic::Sums { parts, into, stride } => {
            let host = |from: usize, body: usize| parts.bytes(from * count + body);
            mail.out.push(parts.piece(0..own.start, host(nth, 0)));
            mail.out.push(parts.piece(own.end..count, host(nth, own.end)));
            mail.into.extend(others().enumerate().map(|(slot, (other, _))| {
                into.piece(slot * stride..slot * stride + own.len(), host(other, own.start))
            }));
        }
    }
    mail
}

impl<P: Part> Simulation for Fleet<P> {
    fn set(&mut self, mode: &dyn Mode) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.set(mode))
    }

    fn start(&mut self, steps: u32) {
        (self.asked, self.left, self.burst, self.may_wait) = (steps, steps, None, false);
    }

    fn advance(&mut self) -> Result<bool> {
        let clock = Instant::now();
        loop {
            let mut burst = match self.burst.take() {
                Some(burst) => burst,
                None if self.left == 0 => return Ok(false),
                None => self.begin_burst(),
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
        let under_way = self.burst.as_ref().map_or(0.0, |burst| {
            burst.steps as f32 * self.parts[self.crew[0]].progress()
        });
        (done as f32 + under_way) / self.asked.max(1) as f32
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
        self.gather()?;
        self.lead().state()
    }

    fn publish(&mut self, points: Points) -> Result<Pending<Points>> {
        self.gather()?;
        self.lead().publish(points)
    }

    fn series(&mut self) -> Result<Vec<f64>> {
        self.lead().series()
    }

    fn paint(&mut self, stroke: &Stroke) -> Result<()> {
        self.parts.iter_mut().try_for_each(|part| part.paint(stroke))
    }

    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>> {
        if self.burst.is_some() || self.left > 0 {
            return Ok(None);
        }
        self.gather()?;
        self.lead().sample(chosen)
    }

    fn diagnostics(&mut self) -> Result<Diagnostics> {
        self.gather()?;
        self.lead().diagnostics()
    }

    fn sharing(&self) -> Option<&Sharing> {
        Some(&self.sharing)
    }
}
