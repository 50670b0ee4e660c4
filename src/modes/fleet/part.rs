//! What a mode has to be able to do for several devices to step it together.

use std::ops::Range;

use crate::compute::{Field, Lane};
use crate::error::Result;
use crate::modes::Simulation;

/// What one device does in a pass.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::modes) struct Duty {
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
pub(in crate::modes) struct Plan {
    /// Units of work.
    pub units: usize,
    /// Bodies or rows.
    pub count: usize,
    /// Bodies or rows to a unit, whose owner does that unit; none where any device can do any unit.
    pub grain: Option<usize>,
    /// How many of the rows beside its own an owner has to know on either side.
    pub edge: usize,
    /// A burst may be cut into multiples of so many steps.
    pub cut: u32,
}

/// What devices exchange.
pub(in crate::modes) enum Traffic<'a> {
    /// Everyone gets what the owners have.
    All(Vec<Field<'a>>),
    /// Each owner gets what its neighbours have at their edges; the last and the first are neighbours.
    Edges(Field<'a>),
    /// The first gets what the owners have.
    ToFirst(Field<'a>),
    /// Nothing.
    Nothing,
    /// Everyone has a part of a sum for all bodies; the owners get the parts of all others, one behind the other, each so
    /// many bodies from the last.
    Sums { parts: Field<'a>, into: Field<'a>, stride: usize },
}

/// A whole simulation on one device, of which it can step a share.
pub(in crate::modes) trait Part: Simulation {
    /// What it knows of its state besides buffers.
    type Mark;

    /// Returns the simulation state that is not stored in buffers. May wait for the device.
    fn mark(&mut self) -> Result<Self::Mark>;

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

    /// Decides before a pass what all who take part have to decide alike; the first one comes first.
    fn agree(_crew: &mut [&mut Self]) -> Result<()> {
        Ok(())
    }

    /// Begins a stage of that pass.
    fn begin(&mut self, stage: usize, duty: &Duty) -> Result<()>;

    /// Queues as much of it as is handed over at once; whether that was all.
    fn feed(&mut self) -> Result<bool>;

    /// What is exchanged after a stage.
    fn traffic(&self, stage: usize) -> Traffic<'_>;

    /// Ends the pass.
    fn end_pass(&mut self) -> Result<()>;

    /// What only owners know of their bodies or rows, and it takes to go on from here, or to be seen.
    fn kept(&self, need: Need) -> Vec<Field<'_>>;

    /// What all who take part know of all, of that.
    fn shared(&self) -> Vec<Field<'_>>;

    /// What the first alone knows, and how many there are of it.
    fn apart(&self) -> Option<(Field<'_>, usize)> {
        None
    }

    /// Makes ready what is needed of those that it owns, before it is gathered.
    fn show(&mut self, _need: Need, _own: &Range<usize>) -> Result<()> {
        Ok(())
    }

    /// Draws together what those who take part, the first one first, tell of a burst; `goes_on` if it belongs to the same
    /// one as the last, and `is_whole` if it is all of it.
    fn sum_up(_crew: &mut [&mut Self], _goes_on: bool, _is_whole: bool) -> Result<()> {
        Ok(())
    }
}

/// What the parts are brought together for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(in crate::modes) enum Need {
    /// To be drawn.
    Picture,
    /// To be drawn and measured.
    Sums,
    /// To be put aside, or to go on.
    State,
    /// That, and what the last step began from.
    LastStep,
}
