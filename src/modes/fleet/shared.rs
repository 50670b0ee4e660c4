//! Trait that a simulation must implement so that several devices can share its steps.

use std::ops::Range;

use crate::base::error::Result;
use crate::compute::{Lane, Rows};
use crate::modes::Simulation;

/// The part of a pass that one device computes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assignment {
    /// Range of units of work that the device computes.
    pub work: Range<usize>,
    /// Bodies or rows that the device updates. Only this device has current data of these rows.
    pub own: Range<usize>,
    /// Position of the device among the participants, and number of participants.
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
    /// Returns the queued fraction of the stage, 0 to 1, if the stage starts at work-item 0.
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
    /// Number of bodies or rows in a unit that their owner must compute; `None` if any device can compute any unit.
    pub grain: Option<usize>,
    /// Number of neighbouring rows on each side whose data an owner needs.
    pub edge: usize,
    /// Bursts are cut only into multiples of this number of steps.
    pub cut: u32,
}

/// Data that devices exchange after a stage.
pub(crate) enum Traffic<'a> {
    /// Each device receives the rows of all owners.
    All(Vec<Rows<'a>>),
    /// Each owner receives the edge rows of its two neighbours. The last owner and the first owner are neighbours.
    Edges(Rows<'a>),
    /// The first participant receives the rows of all owners.
    ToFirst(Rows<'a>),
    /// No exchange.
    Nothing,
    /// Each device has partial sums for all bodies. Each owner receives the partial sums for its bodies from all other
    /// devices. The sums of two devices start `stride` bodies apart.
    Sums { parts: Rows<'a>, into: Rows<'a>, stride: usize },
}

/// A complete simulation on one device that can step a part of its bodies or rows. A pass over the bodies or rows has
/// stages. Devices exchange data after each stage. A simulation on a single device computes all parts.
pub(crate) trait SharedSimulation: Simulation {
    /// State that is not stored in buffers.
    type HostState;

    /// Returns the simulation state that is not stored in buffers. May wait for the device.
    fn host_state(&mut self) -> Result<Self::HostState>;

    /// Restores the state of another simulation, whose buffers are already copied.
    fn adopt(&mut self, host_state: Self::HostState);

    /// Returns the queue of the device.
    fn lane(&mut self) -> &mut Lane;

    /// Returns the stage in progress, or the default value before the first pass of a burst.
    fn cursor(&mut self) -> &mut Cursor;

    /// Returns how a step can be divided.
    fn plan(&self) -> Plan;

    /// Returns whether the burst has passes that are not complete.
    fn remains(&self) -> bool;

    /// Returns the number of stages of the pass in progress.
    fn stages(&self) -> usize;

    /// Makes the decisions before a pass that must be equal on all participants. The first participant decides.
    fn agree(_participants: &mut [&mut Self]) -> Result<()> {
        Ok(())
    }

    /// Begins a stage and returns its work-items. A cheap stage is queued as a whole, and the returned range is empty.
    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<Range<usize>>;

    /// Queues the next slice of the work-items `range` of a stage, without waiting for the device. Returns the work-item
    /// after the slice.
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

    /// Queues parts of the stage until the lane is full. Returns whether the whole stage is queued.
    fn feed(&mut self) -> Result<bool> {
        let Cursor { stage, assignment, mut items, .. } = self.cursor().clone();
        while !items.is_empty() && !self.lane().is_full() {
            items.start = self.slice(stage, &assignment, items.clone())?;
        }
        self.cursor().items = items.clone();
        Ok(items.is_empty())
    }

    /// Moves the cursor to the next stage. After the last stage, moves the cursor to the next pass.
    fn end_stage(&mut self) -> Result<()> {
        let next = self.cursor().stage + 1;
        let is_last = next == self.stages();
        *self.cursor() = Cursor { stage: if is_last { 0 } else { next }, ..Cursor::default() };
        if is_last { self.end_pass() } else { Ok(()) }
    }

    /// Implements [`Simulation::advance`] for a single device.
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

    /// Returns the data that devices exchange after a stage.
    fn traffic(&self, stage: usize) -> Traffic<'_>;

    /// Returns the buffers required by `need` that are current only on the device of their owner.
    fn kept(&self, need: Need) -> Vec<Rows<'_>>;

    /// Returns the buffers that all participants keep up to date.
    fn shared(&self) -> Vec<Rows<'_>>;

    /// Returns a buffer that only the first participant keeps, and the number of rows in the buffer.
    fn apart(&self) -> Option<(Rows<'_>, usize)> {
        None
    }

    /// Prepares the device's own rows before the rows are gathered for `need`.
    fn show(&mut self, _need: Need, _own: &Range<usize>) -> Result<()> {
        Ok(())
    }

    /// Combines the series of the participants after a burst. `goes_on` tells whether the burst continues the previous
    /// burst, and `is_whole` whether the burst is the complete requested burst.
    fn sum_up(_participants: &mut [&mut Self], _goes_on: bool, _is_whole: bool) -> Result<()> {
        Ok(())
    }
}

/// Purpose for which data is gathered, in ascending order of the required data.
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
