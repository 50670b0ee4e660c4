//! The simulation's thread: owns the engine and every OpenCL object. [`run`] reads as the design's right-hand
//! column.

mod burst;
mod hand;
mod keep;
mod measure;
mod publish;
mod trip;

use std::collections::{BTreeSet, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, TryRecvError, after, never, select};

use self::hand::Hold;
use self::measure::{SETTLED, Sums};
use crate::compute::Edits;
use crate::config::Config;
use crate::engine::{Engine, Loss};
use crate::error::{Error, Result};
use crate::hand::Deed;
use crate::params::{Effect, Values};
use crate::rescue;
use crate::session::accuracy::{Judge, Ladder};
use crate::session::gauge::Gauge;
use crate::session::history::History;
use crate::session::keeper::{Keeper, Rest};
use crate::session::meter::Meter;
use crate::session::voice::Voice;
use crate::session::{Command, Frame, Notice, Save, Taken};
use crate::snapshot::{Carried, Snapshot};

/// The longest that the end of a burst is waited for when the program ends.
const PATIENCE: Duration = Duration::from_secs(2);
/// The time between two pictures until the window tells.
const PICTURE: Duration = Duration::from_nanos(16_666_667);
/// Energy and momentum are measured at most this often,
const DIAGNOSTICS_EVERY: Duration = Duration::from_secs(1);
/// or this, while somebody watches how they go.
const WATCHED_EVERY: Duration = Duration::from_millis(100);

/// Runs until [`Command::Quit`], or until the window's end of a channel is gone.
pub(in crate::session) fn run(
    engine: Engine,
    inbox: &Receiver<Command>,
    frames: triple_buffer::Input<Frame>,
    voice: Voice,
) {
    let mut worker = Worker {
        engine,
        inbox,
        frames,
        voice,
        waiting: VecDeque::new(),
        screen_is_ready: true,
        single_steps: 0,
        goal: None,
        selected: None,
        renumbered: None,
        hold: None,
        paints: false,
        lost: VecDeque::new(),
        under_way: false,
        stale: true,
        quit: false,
        burst: 1,
        picture: PICTURE,
        owed: 0.0,
        meter: Meter::new(),
        gauge: Gauge::new(),
        read_ms: 0.0,
        sums: None,
        coloured: (0, (0, Values::default())),
        next_measurement: Instant::now(),
        measured_in: None,
        measure_every: DIAGNOSTICS_EVERY,
        judge: Judge::new(),
        ladder: Ladder::default(),
        history: History::default(),
        told: true,
        keeper: Keeper::default(),
        deadline: None,
        last_view: None,
    };
    let mut is_resumed = worker.engine.is_resumed();
    let mut has_failed = false;
    while !worker.quit && !has_failed {
        // What there is outlives a mistake of the program.
        let turn = catch_unwind(AssertUnwindSafe(|| match std::mem::take(&mut is_resumed) {
            true => worker.tell_resumed(String::new()),
            false => worker.turn(),
        }));
        let ended = Error::Invalid("the simulation's thread ended unexpectedly".to_owned());
        worker.tell_losses();
        if let Err(error) = turn.unwrap_or(Err(ended)) {
            worker.voice.tell(Notice::Failed(rescue::keep(&worker.engine, error)));
            has_failed = true;
        }
    }
    let Worker { mut engine, mut keeper, voice, waiting, under_way, last_view, deadline, .. } = worker;
    let asked = waiting.into_iter().filter_map(|command| match command {
        Command::Save(save) => save.path.map(|path| (path, save.view)),
        _ => None,
    });
    let until = deadline.unwrap_or_else(|| Instant::now() + PATIENCE);
    let rest = Rest { under_way, has_failed, asked: asked.collect(), view: last_view, until };
    keeper.end(&mut engine, rest, &voice);
}

struct Worker<'a> {
    engine: Engine,
    inbox: &'a Receiver<Command>,
    frames: triple_buffer::Input<Frame>,
    voice: Voice,
    /// Commands that were heard but not yet obeyed.
    waiting: VecDeque<Command>,
    /// Whether the last frame was taken.
    screen_is_ready: bool,
    /// Steps asked for one by one.
    single_steps: u32,
    /// The step that is to be reached, as fast as it can be.
    goal: Option<u64>,
    /// The body that is told of.
    selected: Option<usize>,
    /// Whether bodies have other numbers than the window knows, and if so whether it was shown them.
    renumbered: Option<bool>,
    /// What attracts or repels while steps go on.
    hold: Option<Hold>,
    /// Whether the brush has changed something that its next strokes are undone with.
    paints: bool,
    /// Places of devices that failed, as long as the window may not have heard of it.
    lost: VecDeque<usize>,
    /// Whether a burst was started and not yet completed.
    under_way: bool,
    /// Whether the engine holds something that was never published.
    stale: bool,
    quit: bool,
    /// Steps of the last burst.
    burst: u32,
    /// The time between two pictures, and the part of a step that is still to be made up for with longer ones.
    picture: Duration,
    owed: f64,
    meter: Meter,
    gauge: Gauge,
    read_ms: f64,
    /// The last energy and momentum.
    sums: Option<Sums>,
    /// What colours mean, and of which seeding, counted.
    coloured: (u64, (u64, Values)),
    next_measurement: Instant,
    /// What the last measurement of this scene took.
    measured_in: Option<Duration>,
    /// Between two measurements, at least.
    measure_every: Duration,
    judge: Judge,
    ladder: Ladder,
    history: History,
    /// Whether what the last burst told was taken in.
    told: bool,
    keeper: Keeper,
    /// When the end is waited for no longer, though something is to be done before it.
    deadline: Option<Instant>,
    /// From where it was looked at in the end.
    last_view: Option<String>,
}

impl Worker<'_> {
    /// One frame, or a sleep until there is something to do.
    fn turn(&mut self) -> Result<()> {
        self.listen()?;
        while !self.quit
            && let Some(command) = self.next_command()
        {
            self.obey(command)?;
        }
        if self.quit || !self.has_work() {
            return Ok(());
        }
        // What is already there is shown before a step that may take long.
        let shows_first = self.stale && self.screen_is_ready && !self.under_way;
        if !shows_first && self.wants_steps() && !self.under_way {
            self.start_burst()?;
        }
        if self.under_way && !self.complete_burst()? {
            return Ok(());
        }
        if self.stale && self.screen_is_ready {
            self.publish()?;
        }
        Ok(())
    }

    /// Tells of devices that failed, and were left behind.
    fn tell_losses(&mut self) {
        for Loss { error, place, step } in self.engine.take_losses() {
            self.lost.push_back(place);
            (self.gauge, self.ladder) = (Gauge::new(), Ladder::default());
            let in_force = Box::new(self.engine.config().clone());
            self.voice.tell(Notice::Lost { error, step, in_force });
            self.meter.reset();
        }
    }

    /// Takes in what was said; without work, waits for it.
    fn listen(&mut self) -> Result<()> {
        let verdict = self.judge.verdict();
        // Some may have been heard while a burst ran.
        if self.has_work() || !self.waiting.is_empty() {
            self.judge.hear(verdict.try_recv());
        } else {
            if !self.wants_steps() {
                self.gauge.rest();
            }
            let settles = if self.lacks_measurement() { after(SETTLED) } else { never() };
            select! {
                recv(self.inbox) -> command => self.waiting.push_back(command.unwrap_or(Command::Quit(None))),
                recv(verdict) -> verdict => {
                    self.judge.hear(verdict.map_err(|_| TryRecvError::Disconnected));
                    // While it runs, the next frame tells.
                    self.stale |= !self.engine.config().running;
                }
                recv(settles) -> _ => self.measure()?,
            }
        }
        self.waiting.extend(self.inbox.try_iter());
        Ok(())
    }

    /// The next command to obey. The end comes first, but for what is to be kept before it, with what was done before that;
    /// and of several configs in a row only the last counts: each says all that is to run.
    fn next_command(&mut self) -> Option<Command> {
        if let Some(at) = self.waiting.iter().position(|command| matches!(command, Command::Quit(_))) {
            self.waiting.truncate(at + 1);
            if !self.has_something_to_finish() {
                let quit = self.waiting.pop_back();
                for command in std::mem::take(&mut self.waiting) {
                    match command {
                        Command::Keep(path) => self.keeper.keep(path),
                        command if is_asked_for(&command) => self.waiting.push_back(command),
                        _ => {}
                    }
                }
                return quit;
            }
        }
        loop {
            let command = self.waiting.pop_front()?;
            let is_config = |command: &Command| matches!(command, Command::Configure(_));
            let mut next = self.waiting.iter().filter(|command| !is_aside(command));
            if !(is_config(&command) && next.next().is_some_and(is_config)) {
                return Some(command);
            }
        }
    }

    /// Whether there is something to be done before the end, which is what waits last, and time left for it: files that were
    /// asked for, and what was changed before.
    fn has_something_to_finish(&mut self) -> bool {
        let Some(last) = self.waiting.iter().rposition(is_asked_for) else { return false };
        let mut nth = 0..;
        self.waiting.retain(|command| match nth.next() {
            Some(nth) if nth < last => is_asked_for(command) || changes(command),
            _ => true,
        });
        Instant::now() < *self.deadline.get_or_insert_with(|| Instant::now() + PATIENCE)
    }

    fn wants_steps(&self) -> bool {
        self.engine.config().running || self.single_steps > 0 || self.goal.is_some()
    }

    /// Whether steps do not wait for the screen.
    fn is_free(&self) -> bool {
        self.engine.config().free_run || self.goal.is_some()
    }

    fn has_work(&self) -> bool {
        let steps = self.under_way || self.wants_steps();
        (self.stale && self.screen_is_ready) || (steps && (self.screen_is_ready || self.is_free()))
    }

    fn obey(&mut self, command: Command) -> Result<()> {
        match command {
            Command::FrameTaken => {
                self.screen_is_ready = true;
                self.renumbered = self.renumbered.filter(|is_shown| !is_shown);
            }
            Command::LossHeard => drop(self.lost.pop_front()),
            Command::Picture(picture) => self.picture = picture,
            Command::Quit(view) => (self.quit, self.last_view) = (true, view),
            Command::Keep(path) => self.keeper.keep(path),
            Command::Save(save) => self.save(save)?,
            Command::Still(shot) => {
                if self.finish_burst()? {
                    self.still(shot)?;
                }
            }
            Command::Resume(path) => self.resume(&path)?,
            Command::Kernels(edits) => match self.settle()? {
                true => self.take_edits(edits),
                // They are not about what is there.
                false => self.waiting.push_back(Command::Kernels(edits)),
            },
            Command::Watch(is_watched) => {
                self.measure_every = if is_watched { WATCHED_EVERY } else { DIAGNOSTICS_EVERY };
                self.next_measurement = self.next_measurement.min(Instant::now() + self.measure_every);
            }
            Command::Study(study) => self.study(study)?,
            Command::EndStudy => {}
            // A held key asks for more steps than there can be; they are not saved up.
            Command::Step => {
                self.stay()?;
                self.single_steps = 1;
            }
            Command::GoTo(Some(goal)) => self.go_to(goal)?,
            Command::GoTo(None) => self.stay()?,
            // It is meant for whoever had that number before.
            Command::Select(Some(_)) if self.renumbered.is_some() => {}
            Command::Select(body) => {
                self.selected = body;
                self.stale = true;
            }
            Command::Edit(edit) => self.edit(edit)?,
            Command::Pull(pull) => self.take_pull(pull)?,
            Command::Undo => self.undo()?,
            Command::Restart => {
                let outcome = self.engine.restart().map(|()| Some(Effect::Reseed));
                self.conclude(outcome, self.engine.config().clone());
            }
            Command::Paint(stroke) => self.paint(stroke)?,
            Command::Configure(mut config) => {
                self.tell_losses();
                self.leave_out_lost(&mut config);
                // What keeps the bodies waits for whole steps; what replaces them does not. Half-way only a newer config may
                // come that does, which counts in place of this: what else waits comes after it.
                if !self.engine.reseeds(&config) && !self.settle_unless_reseeded()? {
                    return Ok(());
                }
                if config.running && !self.engine.config().running {
                    self.meter.reset();
                    self.single_steps = 0;
                    self.goal = None;
                }
                if config.reverse != self.engine.config().reverse {
                    self.meter.reset();
                }
                let before = self.engine.devices().chosen().to_vec();
                let outcome = self.engine.configure(Config::clone(&config));
                if self.engine.devices().chosen() != before {
                    (self.gauge, self.ladder) = (Gauge::new(), Ladder::default());
                }
                self.conclude(outcome, *config);
                // Another way may lead there now.
                if let Some(goal) = self.goal {
                    self.go_to(goal)?;
                }
            }
        }
        Ok(())
    }

    /// Goes on where a snapshot was taken, or tells why not and goes on as it is.
    fn resume(&mut self, path: &Path) -> Result<()> {
        let restore = |snapshot: Snapshot| {
            let view = snapshot.view.clone();
            self.engine.restore(snapshot).map(|()| view)
        };
        let carried = Carried::load(path).and_then(|carried| match carried {
            Carried::Snapshot(snapshot) => Ok(*snapshot),
            Carried::Scene(_) => Err(Error::Invalid(format!("{}: it carries no snapshot", path.display()))),
        });
        match carried.and_then(restore) {
            Ok(view) => {
                self.remember(Some(Effect::Reseed));
                self.stale = true;
                self.tell_resumed(view)
            }
            Err(error) => {
                self.voice.tell(Notice::ResumeRefused(error));
                Ok(())
            }
        }
    }

    /// Goes on with edited kernels, or tells why not and goes on as it is.
    fn take_edits(&mut self, edits: Edits) {
        let before = self.engine.devices().edits();
        let names: BTreeSet<&String> = before.keys().chain(edits.keys()).collect();
        let changed = names.into_iter().filter(|name| before.get(*name) != edits.get(*name));
        let changed: Vec<String> = changed.cloned().collect();
        let outcome = self.engine.set_edits(edits).map(|built| {
            let (run, wait) = changed.into_iter().partition(|name| built.contains(name.as_str()));
            Taken { run, wait }
        });
        if outcome.is_ok() {
            self.remember(Some(Effect::Rebuild));
            self.stale = true;
        }
        self.voice.tell(Notice::Kernels(outcome));
    }

    fn tell_resumed(&mut self, view: String) -> Result<()> {
        let config = Box::new(self.engine.config().clone());
        let left = self.engine.left().cloned().collect();
        self.voice.tell(Notice::Resumed { config, left, view });
        if self.engine.checkpoint().state.has_blown_up() { self.halt() } else { Ok(()) }
    }

    /// A config that was made before the window heard of a loss does not ask for what was lost.
    fn leave_out_lost(&self, config: &mut Config) {
        let wanted = config.devices.len();
        config.devices.retain(|place| !self.lost.contains(place));
        let in_force = self.engine.config();
        if config.devices.len() < wanted && config.mode.info() == in_force.mode.info() {
            config.bodies = config.bodies.or(in_force.bodies);
        }
    }

    fn refuse(&self, error: Error) {
        self.voice.tell(Notice::Refused(error));
    }

    /// Draws the conclusions from a change to `wanted`, or tells that it is not possible.
    fn conclude(&mut self, outcome: Result<Option<Effect>>, wanted: Config) {
        match outcome {
            Ok(effect) => self.remember(effect),
            Err(error) => {
                let in_force = Box::new(self.engine.config().clone());
                self.voice.tell(Notice::Rejected { error, wanted: Box::new(wanted), in_force });
            }
        }
        self.stale = true;
    }

    /// What is no longer true after a change is forgotten.
    fn remember(&mut self, effect: Option<Effect>) {
        if effect >= Some(Effect::Live) {
            // Soon, but a slider that is dragged must not make every frame measure.
            self.next_measurement = self.next_measurement.min(Instant::now() + DIAGNOSTICS_EVERY);
            self.sums = None;
            self.judge.forget();
        }
        if effect >= Some(Effect::Rebuild) {
            self.meter.reset();
            self.judge.hurry();
        }
        if effect == Some(Effect::Reseed) {
            (self.next_measurement, self.measured_in) = (Instant::now(), None);
            (self.under_way, self.single_steps, self.goal) = (false, 0, None);
            (self.selected, self.renumbered) = (None, Some(false));
            (self.hold, self.paints) = (None, false);
        }
    }

    /// Steps no further what makes no sense any more.
    fn halt(&mut self) -> Result<()> {
        let still = self.pause()?;
        if let Some(series) = &still.mode.info().series {
            let is_painted = self.engine.last_deed() == Some(Deed::Stroke);
            let in_force = Box::new(still);
            self.voice.tell(Notice::Broken { text: series.broken, is_painted, in_force });
        }
        Ok(())
    }

    /// Lets it stand still; what is in force then.
    fn pause(&mut self) -> Result<Config> {
        let still = Config { running: false, ..self.engine.config().clone() };
        self.engine.configure(still.clone())?;
        (self.single_steps, self.goal) = (0, None);
        Ok(still)
    }
}

/// Whether a command writes a file that a person asked for.
fn is_asked_for(command: &Command) -> bool {
    matches!(command, Command::Save(Save { path: Some(_), .. }))
}

/// Whether a command changes what is kept, or where.
fn changes(command: &Command) -> bool {
    matches!(
        command,
        Command::Configure(_)
            | Command::Restart
            | Command::Resume(_)
            | Command::Edit(_)
            | Command::Paint(_)
            | Command::Pull(_)
            | Command::Undo
            | Command::Keep(_)
            | Command::LossHeard
    )
}

/// Whether a command is not about what runs.
fn is_aside(command: &Command) -> bool {
    matches!(
        command,
        Command::FrameTaken
            | Command::Picture(_)
            | Command::Watch(_)
            | Command::Keep(_)
            | Command::LossHeard
            | Command::Select(_)
    )
}
