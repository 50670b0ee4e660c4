//! The trait that a simulation must implement to run on several devices.

use std::ops::Range;

use crate::base::error::Result;
use crate::compute::Rows;
use crate::modes::Simulation;

/// The part of a pass over all bodies or cells that one device computes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Assignment {
    /// Units of work that the device computes.
    pub work: Range<usize>,
    /// Bodies or grid rows that the device updates. Only this device has their current data.
    pub own: Range<usize>,
    /// Position of the device among the `of` participating devices, starting at 0.
    pub nth: usize,
    pub of: usize,
}

/// Progress of the current stage of a pass over all bodies or cells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cursor {
    pub stage: usize,
    /// Whether the current stage of the pass has begun.
    pub begun: bool,
    pub assignment: Assignment,
    /// Work-items of the current stage that are not queued yet.
    pub items: Range<usize>,
}

impl Cursor {
    /// Returns the fraction of the stage that has been queued, from 0 to 1. Assumes that the stage starts at work-item 0.
    pub(crate) fn progress(&self) -> f32 {
        (self.items.start as f32 / self.items.end.max(1) as f32).min(1.0)
    }
}

/// How the work of a step can be divided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Number of units of work in a step.
    pub units: usize,
    /// Number of bodies or grid rows.
    pub count: usize,
    /// Number of bodies or rows in a unit of work, or `None` if units of work do not correspond to the bodies that a device owns.
    pub grain: Option<usize>,
    /// Number of neighbouring grid rows that a device needs on each side of its own rows.
    pub edge: usize,
    /// Each part of a split burst, except the last, has a multiple of this number of steps.
    pub cut: u32,
}

/// Data that devices exchange after a stage.
pub(crate) enum Traffic<'a> {
    /// Each device receives the rows that the other devices computed.
    All(Vec<Rows<'a>>),
    /// Each device receives the edge rows of its two neighbours. The first and the last device are neighbours.
    Edges(Rows<'a>),
    /// The first device receives the rows of all other devices.
    ToFirst(Rows<'a>),
    /// The devices exchange no data.
    Nothing,
    /// Each device receives the partial sums for its own bodies from every other device. In the buffer `into`, the sums from
    /// different devices are `stride` bodies apart.
    Sums { parts: Rows<'a>, into: Rows<'a>, stride: usize },
}

/// A complete simulation on one device that can also compute just part of each step. A pass over all bodies or rows
/// consists of stages, and the devices exchange data after each stage. A device that runs alone computes all parts.
pub(crate) trait SharedSimulation: Simulation {
    /// Simulation state that is kept on the host rather than in device buffers.
    type HostState;

    /// Returns the simulation state that is not stored in buffers. May wait for the device.
    fn host_state(&mut self) -> Result<Self::HostState>;

    /// Adopts the host state of another simulation. The caller has already copied that simulation's buffers.
    fn adopt(&mut self, host_state: Self::HostState);

    /// Returns the progress of the current stage, or the default value before the first pass of a burst.
    fn cursor(&mut self) -> &mut Cursor;

    /// Returns how a step can be divided among devices.
    fn plan(&self) -> Plan;

    /// Returns whether the current burst of steps has passes left.
    fn remains(&self) -> bool;

    /// Returns the number of stages of the current pass. Devices exchange data after each stage.
    fn stages(&self) -> usize;

    /// Lets the first device make the decisions that all participating devices must share during a pass.
    fn agree(_participants: &mut [&mut Self]) -> Result<()> {
        Ok(())
    }

    /// Begins a stage and returns its work-items. If the stage is cheap, queues all of it and returns an empty range.
    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<Range<usize>>;

    /// Queues the first part of the work-items `range` of a stage, without waiting for the device. Returns the first
    /// work-item after that part.
    fn slice(&mut self, stage: usize, assignment: &Assignment, range: Range<usize>) -> Result<usize>;

    /// Completes a pass over all bodies or cells, for example by swapping buffers.
    fn end_pass(&mut self) -> Result<()>;

    /// Begins the part of the current stage that `assignment` gives to this device.
    fn begin_stage(&mut self, assignment: &Assignment) -> Result<()> {
        let stage = self.cursor().stage;
        let items = self.begin(stage, assignment)?;
        *self.cursor() = Cursor { stage, begun: true, assignment: assignment.clone(), items };
        Ok(())
    }

    /// Queues parts of the current stage until the device has enough work. Returns whether the whole stage has been queued.
    fn feed(&mut self) -> Result<bool> {
        let Cursor { stage, assignment, mut items, .. } = self.cursor().clone();
        while !items.is_empty() && !self.lane().is_full() {
            items.start = self.slice(stage, &assignment, items.clone())?;
        }
        self.cursor().items = items.clone();
        Ok(items.is_empty())
    }

    /// Moves the cursor to the next stage. After the last stage, ends the pass and moves the cursor to the next pass.
    fn end_stage(&mut self) -> Result<()> {
        let next = self.cursor().stage + 1;
        let is_last = next == self.stages();
        *self.cursor() = Cursor { stage: if is_last { 0 } else { next }, ..Cursor::default() };
        if is_last { self.end_pass() } else { Ok(()) }
    }

    /// Implements [`Simulation::advance`] for a simulation that runs on a single device.
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

    /// Returns the buffers that `need` requires and in which only the device's own rows are up to date.
    fn kept(&self, need: Need) -> Vec<Rows<'_>>;

    /// Returns the buffers that are fully up to date on every participating device.
    fn shared(&self) -> Vec<Rows<'_>>;

    /// Returns the buffer that only the first device keeps up to date, with its number of rows, or `None` if there is none.
    fn apart(&self) -> Option<(Rows<'_>, usize)> {
        None
    }

    /// Prepares the device's own rows to be gathered for `need`.
    fn show(&mut self, _need: Need, _own: &Range<usize>) -> Result<()> {
        Ok(())
    }

    /// Combines the values that the devices recorded for each step of a burst. `goes_on` says whether the burst continues
    /// the previous one; `is_whole` says whether it is the entire requested burst.
    fn sum_up(_participants: &mut [&mut Self], _goes_on: bool, _is_whole: bool) -> Result<()> {
        Ok(())
    }
}

/// Purpose for which data is gathered. Each purpose requires at least as much data as the previous one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Need {
    /// The data is needed to draw the bodies or the flow.
    Picture,
    /// The data is needed to draw, and to sum quantities such as the energy.
    Sums,
    /// The data is needed to save or continue the simulation.
    State,
    /// The data, including the state before the last step, is needed to compare the last step with the exact result.
    LastStep,
}
