//! What a simulation must implement so that several devices can share it.

use std::ops::Range;

use crate::base::error::Result;
use crate::compute::{Lane, Rows};
use crate::modes::Simulation;

/// The part of a pass that a device computes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::modes) struct Assignment {
    /// Units of work.
    pub work: Range<usize>,
    /// Bodies or rows that the device moves and alone has up to date.
    pub own: Range<usize>,
    /// Position among the participants, and their number.
    pub nth: usize,
    pub of: usize,
}

/// How the work of a step can be divided.
#[derive(Debug, Clone, Copy)]
pub(in crate::modes) struct Plan {
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
pub(in crate::modes) enum Traffic<'a> {
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

/// A complete simulation on one device that can step a part of its bodies or rows.
pub(in crate::modes) trait SharedSimulation: Simulation {
    /// State that is not stored in buffers.
    type HostState;

    /// Returns the simulation state that is not stored in buffers. May wait for the device.
    fn host_state(&mut self) -> Result<Self::HostState>;

    /// Restores the state of another simulation, whose buffers are already copied.
    fn adopt(&mut self, host_state: Self::HostState);

    /// Returns the queue of the device.
    fn lane(&mut self) -> &mut Lane;

    /// Returns how a step can be divided.
    fn plan(&self) -> Plan;

    /// Returns whether passes of the burst remain.
    fn remains(&self) -> bool;

    /// Returns the number of stages of the next pass.
    fn stages(&self) -> usize;

    /// Makes decisions before a pass that all participants must share; the first participant decides.
    fn agree(_participants: &mut [&mut Self]) -> Result<()> {
        Ok(())
    }

    /// Begins a stage of the pass.
    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<()>;

    /// Queues more of the stage; returns whether all of it is queued.
    fn feed(&mut self) -> Result<bool>;

    /// Returns what is exchanged after a stage.
    fn traffic(&self, stage: usize) -> Traffic<'_>;

    /// Ends the pass.
    fn end_pass(&mut self) -> Result<()>;

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
pub(in crate::modes) enum Need {
    /// Drawing.
    Picture,
    /// Drawing and measuring.
    Sums,
    /// Saving or continuing.
    State,
    /// Saving, with the state before the last step.
    LastStep,
}
