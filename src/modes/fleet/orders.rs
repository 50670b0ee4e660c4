//! Orders that rank 0 sends to the other ranks of an MPI run, and their encoding as bytes: JSON, then lists of numbers.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, Need};
use crate::base::params::{Info, Opt, Params, Scale, Visitor};
use crate::base::{Attractor, Bodies, Flow, Result, State, Stroke, Walls, invalid};
use crate::compute::{KernelEdits, Ranks};
use crate::modes::Recipe;

/// Order from rank 0 of an MPI run to the other ranks. Rank 0 carries out the same operation in its own process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Build a simulation. The lists of the [`Parcel`] hold its initial state.
    Build(Box<Blueprint>),
    /// Delete the simulation and free its memory.
    Drop,
    /// Apply new values of the mode's parameters, given as 32-bit patterns (see [`bits`]).
    Set(Vec<u32>),
    /// Restore the lists with these names, which [`Simulation::extra`](crate::modes::Simulation::extra) has returned.
    Resume(Vec<String>),
    /// Paint or erase obstacles along a brush stroke.
    Paint(Stroke),
    /// Attract or repel the bodies for the given simulated time.
    Attract(Attractor, f32),
    /// Divide the work among the devices with these indices. If the flag is set, also send them the data they lack.
    Assign(Vec<usize>, Vec<Assignment>, bool),
    /// Replace the simulation state that is kept on the host with that of the first device, given as JSON.
    Adopt(String),
    /// Begin a burst of this many steps.
    Start(u32),
    /// Queue a stage of a pass. The first stage comes with the first device's decision, such as the number of substeps.
    Stage(Option<u32>),
    /// Exchange data after the stage with this index.
    Exchange(usize),
    /// Finish all work and reply with measurements. If the flag is set, include the values recorded in each step.
    Measure(bool),
    /// Send rank 0 the data that it needs for this purpose.
    Gather(Need),
    /// Leave the MPI run.
    Quit,
}

/// Description of a simulation, from which another rank can build the same simulation.
#[derive(Debug, Serialize, Deserialize)]
pub struct Blueprint {
    /// Name of the mode.
    pub mode: String,
    /// Values of the parameters, as 32-bit patterns.
    pub params: Vec<u32>,
    /// Name of the variant, work-group size and values of the knobs, which are the same on all devices.
    pub recipe: (String, usize, std::collections::BTreeMap<String, u32>),
    /// Rank that each device belongs to.
    pub owners: Vec<usize>,
    /// Kernel sources that the user has edited, which replace the built-in sources.
    pub edits: KernelEdits,
    /// Grid of a flow, or `None` for a simulation of bodies.
    pub grid: Option<Grid>,
}

/// Numbers that describe a flow, in addition to its lists: grid size, length scale, rest density and step number.
#[derive(Debug, Serialize, Deserialize)]
pub struct Grid {
    nx: usize,
    ny: usize,
    length: f32,
    rest: f32,
    step: u32,
}

/// A message from rank 0 to other ranks: the number of a simulation, an order, and lists of bytes.
#[derive(Debug)]
pub struct Parcel {
    /// Number that identifies the simulation.
    pub id: u64,
    /// The order to carry out.
    pub order: Order,
    /// Data that the order needs, such as the initial state of a simulation.
    pub lists: Vec<Vec<u8>>,
}

impl Parcel {
    /// Encodes the parcel as bytes, to be sent to other ranks.
    ///
    /// # Errors
    /// Returns an error if the order cannot be converted to JSON.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let head = serde_json::to_vec(&(self.id, &self.order)).map_err(|error| invalid!("{error}"))?;
        let mut bytes = Vec::new();
        for part in [&head].into_iter().chain(&self.lists) {
            bytes.extend((part.len() as u64).to_ne_bytes());
            bytes.extend_from_slice(part);
        }
        Ok(bytes)
    }

    /// Decodes a parcel from the bytes that [`Parcel::to_bytes`] returned.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a parcel.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self> {
        let damaged = || invalid!("a command from rank 0 is damaged");
        let mut parts = Vec::new();
        while let Some((len, rest)) = bytes.split_first_chunk::<8>() {
            let (part, rest) =
                rest.split_at_checked(u64::from_ne_bytes(*len) as usize).ok_or_else(damaged)?;
            parts.push(part);
            bytes = rest;
        }
        let (head, lists) = parts.split_first().ok_or_else(damaged)?;
        let (id, order) = serde_json::from_slice(head).map_err(|_| damaged())?;
        Ok(Self { id, order, lists: lists.iter().map(|list| list.to_vec()).collect() })
    }
}

/// Connection between the ranks of an MPI run that compute a simulation together.
#[derive(Debug)]
pub struct Link {
    /// All ranks of the MPI run.
    pub ranks: &'static Ranks,
    /// Number that identifies the simulation in orders.
    pub id: u64,
    /// Rank that each device belongs to, in ascending order.
    pub owners: Vec<usize>,
    /// The encoded order [`Order::Build`]; empty on ranks other than 0.
    pub message: Vec<u8>,
}

impl Link {
    /// Returns whether this process is rank 0, which sends the orders.
    pub(super) fn is_home(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// Returns the indices of the devices that belong to this rank.
    pub(super) fn own(&self) -> Range<usize> {
        let rank = self.ranks.rank();
        self.owners.partition_point(|owner| *owner < rank)
            ..self.owners.partition_point(|owner| *owner <= rank)
    }

    /// Returns the ranks that share this simulation, without rank 0.
    pub(super) fn others(&self) -> Range<usize> {
        1..self.owners.last().map_or(1, |last| last + 1)
    }

    /// Sends an order to the other ranks if this is rank 0.
    pub(super) fn tell(&self, order: Order, lists: Vec<Vec<u8>>) -> Result<()> {
        match self.is_home() {
            true => self.ranks.order(self.others(), &Parcel { id: self.id, order, lists }.to_bytes()?),
            false => Ok(()),
        }
    }
}

/// Converts a state to lists of bytes. For a flow, also returns the numbers that describe the grid.
pub fn pack(state: &State) -> (Vec<Vec<u8>>, Option<Grid>) {
    match state {
        State::Bodies(bodies) => {
            let lists = [&bodies.positions, &bodies.velocities];
            (lists.map(|list| bytemuck::cast_slice(list).to_vec()).to_vec(), None)
        }
        State::Flow(Flow { walls, rest, cells, tracers, step }) => {
            let solid = walls.solid.iter().map(|solid| u8::from(*solid)).collect();
            let lists =
                vec![solid, bytemuck::cast_slice(cells).to_vec(), bytemuck::cast_slice(tracers).to_vec()];
            let &Walls { nx, ny, length, .. } = walls;
            (lists, Some(Grid { nx, ny, length, rest: *rest, step: *step }))
        }
    }
}

/// Restores a state from the lists and the grid that [`pack`] returned.
///
/// # Errors
/// Returns an error if the number of lists is wrong.
pub fn unpack(lists: &[Vec<u8>], grid: Option<Grid>) -> Result<State> {
    match (lists, grid) {
        ([positions, velocities], None) => {
            let [positions, velocities] =
                [positions, velocities].map(|list| bytemuck::pod_collect_to_vec(list));
            Ok(Bodies { positions, velocities }.into())
        }
        ([solid, cells, tracers], Some(Grid { nx, ny, length, rest, step })) => {
            let solid = solid.iter().map(|solid| *solid > 0).collect();
            let (cells, tracers) =
                (bytemuck::pod_collect_to_vec(cells), bytemuck::pod_collect_to_vec(tracers));
            Ok(Flow { walls: Walls { nx, ny, solid, length }, rest, cells, tracers, step }.into())
        }
        _ => Err(invalid!("a command from rank 0 is damaged")),
    }
}

/// Visitor that copies parameter values to or from 32-bit patterns. Values in text form must be within the ranges of
/// the sliders, but 32-bit patterns also represent other values, such as a negative time step.
struct Bits {
    values: Vec<u32>,
    next: usize,
    writes: bool,
}

impl Bits {
    fn value(&mut self, value: &mut u32) {
        match self.writes {
            true => *value = self.values.get(self.next).copied().unwrap_or(*value),
            false => self.values.push(*value),
        }
        self.next += 1;
    }
}

impl Visitor for Bits {
    fn float(&mut self, _: &Info, value: &mut f32, _: std::ops::RangeInclusive<f32>, _: Scale) {
        let mut bits = value.to_bits();
        self.value(&mut bits);
        *value = f32::from_bits(bits);
    }

    fn flag(&mut self, _: &Info, value: &mut bool) {
        let mut bits = u32::from(*value);
        self.value(&mut bits);
        *value = bits > 0;
    }

    fn option(&mut self, _: &Info, index: &mut usize, _: &[&'static Opt]) {
        let mut bits = *index as u32;
        self.value(&mut bits);
        *index = bits as usize;
    }
}

/// Returns the parameter values of a mode as 32-bit patterns. Does not change the parameters.
pub fn bits(params: &mut dyn Params) -> Vec<u32> {
    let mut bits = Bits { values: Vec::new(), next: 0, writes: false };
    params.visit(&mut bits);
    bits.values
}

/// Sets the parameters of a mode to the 32-bit patterns that [`bits`] returned.
pub fn set_bits(params: &mut dyn Params, values: Vec<u32>) {
    params.visit(&mut Bits { values, next: 0, writes: true });
}

/// Returns the name of a recipe's variant, the work-group size and the knob values, for [`Blueprint::recipe`].
pub fn words(recipe: &Recipe) -> (String, usize, std::collections::BTreeMap<String, u32>) {
    let knobs = recipe.values().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (recipe.variant.name.to_owned(), recipe.work_group, knobs)
}
