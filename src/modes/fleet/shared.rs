//! Trait of simulations that can run on several devices, and descriptions of how devices divide work and exchange data.

use std::ops::Range;

use super::assignment::{Assignment, Need};
use crate::base::Result;
use crate::compute::Rows;
use crate::modes::Simulation;

/// Progress of the current stage of a pass over all bodies or grid cells.
#[derive(Debug, Clone, Default)]
pub(crate) struct Cursor {
    pub stage: usize,
    /// Whether work of the current stage has begun.
    pub begun: bool,
    pub assignment: Assignment,
    /// Work-items of the current stage that are not queued yet.
    pub items: Range<usize>,
}

impl Cursor {
    /// Returns the fraction of the stage that has been queued, from 0 to 1, assuming that it starts at work-item 0.
    pub(crate) fn progress(&self) -> f32 {
        (self.items.start as f32 / self.items.end.max(1) as f32).min(1.0)
    }
}

/// How the work of a step can be divided among devices.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Plan {
    /// Number of units of work in a step.
    pub units: usize,
    /// Number of bodies or grid rows in the simulation.
    pub count: usize,
    /// Number of bodies or grid rows in a unit of work; `None` if the units do not correspond to bodies or rows.
    pub grain: Option<usize>,
    /// Number of neighbouring grid rows that a device needs on each side of its own rows.
    pub edge: usize,
    /// Granularity at which bursts are split: every part except the last has a multiple of this number of steps.
    pub cut: u32,
    /// Whether each device also does work that does not depend on its share, such as building a whole tree. If so, the
    /// measured speeds do not predict how fast fewer devices would be.
    pub has_fixed_work: bool,
}

/// Data that devices exchange after a stage of a pass.
pub(crate) enum Traffic<'a> {
    /// Each device receives the bodies or grid rows that the other devices own.
    All(Vec<Rows<'a>>),
    /// Each device receives the results of the other devices, in a buffer with one row per unit of work.
    Work(Rows<'a>),
    /// Each device receives the edge rows of its two neighbours in the grid, which wraps around from last to first.
    Edges(Rows<'a>),
    /// The first device receives the bodies or grid rows that the other devices own.
    ToFirst(Rows<'a>),
    /// The devices exchange no data.
    Nothing,
    /// Each device receives the partial sums that the other devices computed for its own bodies. The sums from the
    /// first other device start at row 0 of `into`, those from the second at row `stride`, and so on.
    Sums { parts: Rows<'a>, into: Rows<'a>, stride: usize },
}

/// A complete simulation on one device that can also compute only a part of each step. A pass over all bodies or grid
/// rows consists of stages, and devices exchange data after each stage. A device that runs alone computes the whole
/// step.
pub(crate) trait SharedSimulation: Simulation {
    /// Simulation state that is kept on the host rather than in device buffers.
    type HostState: serde::Serialize + serde::de::DeserializeOwned;

    /// Returns the simulation state that is not stored in buffers. May wait for the device.
    fn host_state(&mut self) -> Result<Self::HostState>;

    /// Replaces the state kept on the host with that of another simulation, whose buffers have already been copied.
    fn adopt(&mut self, host_state: Self::HostState);

    /// Returns the progress of the current stage, or the default value before the first pass of a burst.
    fn cursor(&mut self) -> &mut Cursor;

    /// Returns how a step can be divided among devices.
    fn plan(&self) -> Plan;

    /// Returns whether any pass of the current burst of steps is left to run.
    fn remains(&self) -> bool;

    /// Returns the number of stages of the current pass. Devices exchange data after each stage.
    fn stages(&self) -> usize;

    /// Makes a decision for all participating devices before a pass, for example on the number of substeps. Called only
    /// for the first device.
    fn decide(&mut self) -> Result<u32> {
        Ok(0)
    }

    /// Applies the decision that [`SharedSimulation::decide`] returned for the first device.
    fn follow(&mut self, _decision: u32) {}

    /// Begins a stage and returns its work-items. If the stage is cheap, queues all of it and returns an empty range.
    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<Range<usize>>;

    /// Returns those work-items of a stage that can run while results of its other work-items are exchanged: those that
    /// compute rows that no neighbour needs, or the units of work after [`Assignment::early`]. Returns `None` if results
    /// are exchanged only after the stage.
    fn inner(&self, _stage: usize, _assignment: &Assignment) -> Option<Range<usize>> {
        None
    }

    /// Queues work-items from the start of `range` without waiting. Returns the first work-item that is not queued yet.
    fn slice(&mut self, stage: usize, assignment: &Assignment, range: Range<usize>) -> Result<usize>;

    /// Completes a pass over all bodies or grid cells, for example by swapping buffers.
    fn end_pass(&mut self) -> Result<()>;

    /// Begins this device's part of the current stage, as given by `assignment`. If `early_first` is set, also queues
    /// the work-items whose results are exchanged early (see [`SharedSimulation::inner`]).
    fn begin_stage(&mut self, assignment: &Assignment, early_first: bool) -> Result<()> {
        let stage = self.cursor().stage;
        if stage == 0 {
            self.lane().device().begin_pass();
        }
        let mut items = self.begin(stage, assignment)?;
        if let Some(inner) = self.inner(stage, assignment).filter(|_| early_first) {
            for mut early in [items.start..inner.start, inner.end..items.end] {
                while !early.is_empty() {
                    early.start = self.slice(stage, assignment, early.clone())?;
                    if self.lane().is_full() {
                        self.lane().flush()?;
                    }
                }
            }
            items = inner;
        }
        *self.cursor() = Cursor { stage, begun: true, assignment: assignment.clone(), items };
        Ok(())
    }

    /// Queues work of the current stage until the queue is full. Returns whether the whole stage has been queued.
    fn feed(&mut self) -> Result<bool> {
        let Cursor { stage, assignment, mut items, .. } = self.cursor().clone();
        while !items.is_empty() && !self.lane().is_full() {
            items.start = self.slice(stage, &assignment, items.clone())?;
        }
        self.cursor().items = items.clone();
        Ok(items.is_empty())
    }

    /// Moves the cursor to the next stage. After the last stage, completes the pass and moves on to the next pass.
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
                    self.decide()?;
                }
                self.begin_stage(&whole, false)?;
            }
            if self.feed()? {
                self.end_stage()?;
            }
        }
        self.lane().flush()?;
        Ok(self.remains())
    }

    /// Returns the data that devices exchange after the stage `stage`.
    fn traffic(&self, stage: usize) -> Traffic<'_>;

    /// Returns the buffers that are required for the purpose `need` but in which only this device's own rows are up to
    /// date.
    fn kept(&self, need: Need) -> Vec<Rows<'_>>;

    /// Returns the buffers that are fully up to date on every participating device.
    fn shared(&self) -> Vec<Rows<'_>>;

    /// Returns the buffer that only the first device keeps up to date, and its row count. Returns `None` if the
    /// simulation has no such buffer.
    fn apart(&self) -> Option<(Rows<'_>, usize)> {
        None
    }

    /// Prepares this device's own bodies or grid rows to be gathered for the purpose `need`.
    fn show(&mut self, _need: Need, _own: &Range<usize>) -> Result<()> {
        Ok(())
    }

    /// Returns the values that this device recorded for each step of the burst. Waits for the device.
    fn recorded(&mut self) -> Result<Vec<f32>> {
        Ok(Vec::new())
    }

    /// Combines, on the first device, the values that the devices recorded for each step of a burst. `records` is empty
    /// if a device computed the whole requested burst alone. `goes_on` is true if the burst continues another burst.
    fn sum_up(&mut self, _records: &[Vec<f32>], _goes_on: bool) {}
}
