//! What a simulation must implement so that several devices can share it.

use std::ops::Range;

use crate::base::error::Result;
use crate::compute::{Lane, Rows};
use crate::modes::Simulation;

/// The part of a pass that a device computes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assignment {
    /// Units of work.
    pub work: Range<usize>,
    /// Bodies or rows that the device moves and alone has up to date.
    pub own: Range<usize>,
    /// Position among the participants, and their number.
    pub nth: usize,
    pub of: usize,
}

/// The stage of a pass in progress.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cursor {
    pub stage: usize,
    /// Whether the stage has begun.
    pub begun: bool,
    pub assignment: Assignment,
    /// Work-items of the stage that are not queued yet.
    pub items: Range<usize>,
}

impl Cursor {
    /// Returns the fraction of the stage that is queued, 0 to 1, if the stage starts at work-item 0.
    pub(crate) fn progress(&self) -> f32 {
        (self.items.start as f32 / self.items.end.max(1) as f32).min(1.0)
    }
}

/// How the work of a step can be divided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Number of units of work.
    pub units: usize,
    /// Number of bodies or rows.
    pub count: usize,
    /// Bodies or rows in a unit, whose owner computes that unit; `None` if any device can compute any unit.
    pub grain: Option<usize>,
    /// Number of neighboring rows on each side that an owner needs.
    pub edge: usize,
    /// Bursts may be cut into multiples of this many steps.
    pub cut: u32,
}

/// What devices exchange after a stage.
pub(crate) enum Traffic<'a> {
    /// Each device receives the rows of all owners.
    All(Vec<Rows<'a>>),
    /// Each owner receives the edge rows of its two neighbors; the last and the first are neighbors.
    Edges(Rows<'a>),
    /// The first participant receives the rows of all owners.
    ToFirst(Rows<'a>),
    /// No exchange.
    Nothing,
    /// Each device has partial sums for all bodies. Each owner receives the partial sums of all other devices for its
    /// bodies, `stride` bodies apart.
    Sums { parts: Rows<'a>, into: Rows<'a>, stride: usize },
}

/// A complete simulation on one device that can step a part of its bodies or rows. A pass over the bodies or rows has
/// stages, and devices exchange data after each. A simulation that runs alone steps all of them.
pub(crate) trait SharedSimulation: Simulation {
    /// State that is not stored in buffers.
    type HostState;

    /// Returns the simulation state that is not stored in buffers. May wait for the device.
    fn host_state(&mut self) -> Result<Self::HostState>;

    /// Restores the state of another simulation, whose buffers are already copied.
    fn adopt(&mut self, host_state: Self::HostState);

    /// Returns the queue of the device.
    fn lane(&mut self) -> &mut Lane;

    /// Returns the stage in progress; the default before the first pass of a burst.
    fn cursor(&mut self) -> &mut Cursor;

    /// Returns how a step can be divided.
    fn plan(&self) -> Plan;

    /// Returns whether passes of the burst remain.
    fn remains(&self) -> bool;

    /// Returns the number of stages of the pass in progress.
    fn stages(&self) -> usize;

    /// Makes decisions before a pass that all participants must share; the first participant decides.
    fn agree(_participants: &mut [&mut Self]) -> Result<()> {
        Ok(())
    }

    /// Begins a stage of the pass and returns its work-items; queues the whole stage and returns none if it is cheap.
    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<Range<usize>>;

    /// Queues the next slice of the work-items `range` of a stage without waiting. Returns the work-item at which the slice
    /// after it begins.
    fn slice(&mut self, stage: usize, assignment: &Assignment, range: Range<usize>) -> Result<usize>;

    /// Ends the pass.
    fn end_pass(&mut self) -> Result<()>;

    /// Begins the stage at the cursor.
    fn begin_stage(&mut self, assignment: &Assignment) -> Result<()> {
        let stage = self.cursor().stage;
        let items = self.begin(stage, assignment)?;
        *self.cursor() = Cursor { stage, begun: true, assignment: assignment.clone(), items };
        Ok(())
    }

    /// Queues more of the stage until the lane is full; returns whether all of the stage is queued.
    fn feed(&mut self) -> Result<bool> {
        let Cursor { stage, assignment, mut items, .. } = self.cursor().clone();
        while !items.is_empty() && !self.lane().is_full() {
            items.start = self.slice(stage, &assignment, items.clone())?;
        }
        self.cursor().items = items.clone();
        Ok(items.is_empty())
    }

    /// Moves the cursor to the next stage, or to the next pass after the last stage.
    fn end_stage(&mut self) -> Result<()> {
        let next = self.cursor().stage + 1;
        let is_last = next == self.stages();
        *self.cursor() = Cursor { stage: if is_last { 0 } else { next }, ..Cursor::default() };
        if is_last { self.end_pass() } else { Ok(()) }
    }

    /// Does the work of [`Simulation::advance`] on a single device.
    fn advance_alone(&mut self) -> Result<bool>
    where
        Self: Sized,
    {
        let Plan { units, count, .. } = self.plan();
        let whole = Assignment { work: 0..units, own: 0..count, nth: 0, of: 1 };
        while self.remains() && !self.lane().is_full() {
            if !self.cursor().begun {
                if self.cursor().stage == 0 {
                    Self::agree(&mut [self])?;
                }
                self.begin_stage(&whole)?;
            }
            if self.feed()? {
                self.end_stage()?;
            }
        }
        self.lane().flush()?;
        Ok(self.remains())
    }

    /// Returns what is exchanged after a stage.
    fn traffic(&self, stage: usize) -> Traffic<'_>;

    /// Returns the buffers that only owners keep up to date and that `need` requires.
    fn kept(&self, need: Need) -> Vec<Rows<'_>>;

    /// Returns the buffers that all participants keep up to date.
    fn shared(&self) -> Vec<Rows<'_>>;

    /// Returns a buffer that only the first participant keeps, and its length in rows.
    fn apart(&self) -> Option<(Rows<'_>, usize)> {
        None
    }

    /// Prepares the owner's rows before they are gathered for `need`.
    fn show(&mut self, _need: Need, _own: &Range<usize>) -> Result<()> {
        Ok(())
    }

    /// Combines the series of the participants after a burst; `goes_on` if the burst continues the one before,
    /// `is_whole` if it is the complete requested burst.
    fn sum_up(_participants: &mut [&mut Self], _goes_on: bool, _is_whole: bool) -> Result<()> {
        Ok(())
    }
}

/// What data is gathered for, in the order of how much is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// Drawing.
    Picture,
    /// Drawing and measuring.
    Sums,
    /// Saving or continuing.
    State,
    /// Saving, with the state before the last step.
    LastStep,
}
