//! Orders that rank 0 sends to the other ranks of an MPI run, and their form as bytes: JSON, then lists of numbers.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, Need};
use crate::base::params::{Info, Opt, Params, Scale, Visitor};
use crate::base::{Attractor, Bodies, Flow, Result, State, Stroke, Walls, invalid};
use crate::compute::{KernelEdits, Ranks};
use crate::modes::Recipe;

/// What the other ranks must do next with a simulation. Rank 0 does the same in its own process.
#[derive(Debug, Serialize, Deserialize)]
pub enum Order {
    /// Build the simulation. The lists hold the state.
    Build(Box<Blueprint>),
    /// Forget the simulation.
    Drop,
    /// Apply the parameters, given as bits.
    Set(Vec<u32>),
    /// Restore the lists with these names, from [`Simulation::extra`](crate::modes::Simulation::extra).
    Resume(Vec<String>),
    /// Paint a stroke of obstacles.
    Paint(Stroke),
    /// Attract the bodies for a simulated time.
    Attract(Attractor, f32),
    /// Divide the work anew among the devices with these indices. If the flag is set, also exchange what they lack.
    Assign(Vec<usize>, Vec<Assignment>, bool),
    /// Take over the host state of the first device, given as JSON.
    Adopt(String),
    /// Begin a burst of so many steps.
    Start(u32),
    /// Queue a stage of a pass. In the first stage, follow this decision of the first device.
    Stage(Option<u32>),
    /// Exchange data after a stage of a pass.
    Exchange(usize),
    /// Finish all work and answer with measurements; `true` asks for the values recorded in each step.
    Measure(bool),
    /// Send the data that rank 0 needs.
    Gather(Need),
    /// Leave the MPI run.
    Quit,
}

/// All that a rank needs to build a simulation.
#[derive(Debug, Serialize, Deserialize)]
pub struct Blueprint {
    /// Name of the mode.
    pub mode: String,
    /// Values of the parameters, as bits.
    pub params: Vec<u32>,
    /// Name of the variant, work-group size and values of the knobs, which are the same on all devices.
    pub recipe: (String, usize, std::collections::BTreeMap<String, u32>),
    /// Rank of each device.
    pub owners: Vec<usize>,
    /// Kernel sources that replace built-in ones.
    pub edits: KernelEdits,
    /// Grid of a flow, or `None` for bodies.
    pub grid: Option<Grid>,
}

/// The numbers that describe a flow besides its lists.
#[derive(Debug, Serialize, Deserialize)]
pub struct Grid {
    nx: usize,
    ny: usize,
    length: f32,
    rest: f32,
    step: u32,
}

/// An order as it travels: the number of its simulation, the order, and lists of bytes.
#[derive(Debug)]
pub struct Parcel {
    /// Number of the simulation.
    pub id: u64,
    /// The order.
    pub order: Order,
    /// Lists that belong to the order.
    pub lists: Vec<Vec<u8>>,
}

impl Parcel {
    /// Returns the parcel as bytes.
    ///
    /// # Errors
    /// Returns an error if the order cannot be written.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        let head = serde_json::to_vec(&(self.id, &self.order)).map_err(|error| invalid!("{error}"))?;
        let mut bytes = Vec::new();
        for part in [&head].into_iter().chain(&self.lists) {
            bytes.extend((part.len() as u64).to_ne_bytes());
            bytes.extend_from_slice(part);
        }
        Ok(bytes)
    }

    /// Reads a parcel.
    ///
    /// # Errors
    /// Returns an error if the bytes are not a parcel.
    pub fn from_bytes(mut bytes: &[u8]) -> Result<Self> {
        let damaged = || invalid!("an order from rank 0 is damaged");
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

/// The other ranks of a simulation.
#[derive(Debug)]
pub struct Link {
    /// The ranks.
    pub ranks: &'static Ranks,
    /// Number of the simulation.
    pub id: u64,
    /// Rank of each device, in ascending order.
    pub owners: Vec<usize>,
    /// The order [`Order::Build`] as bytes; empty on other ranks than 0.
    pub message: Vec<u8>,
}

impl Link {
    /// Returns whether this is rank 0, which decides.
    pub(super) fn is_home(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// Returns the indices of the devices of this rank.
    pub(super) fn own(&self) -> Range<usize> {
        let rank = self.ranks.rank();
        self.owners.partition_point(|owner| *owner < rank)
            ..self.owners.partition_point(|owner| *owner <= rank)
    }

    /// Returns the ranks besides rank 0 that have devices of this simulation.
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

/// Returns the lists that hold a state, and the description of its grid if it is a flow.
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

/// Restores the state from what [`pack`] returned.
///
/// # Errors
/// Returns an error if a list is missing.
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
        _ => Err(invalid!("an order from rank 0 is damaged")),
    }
}

/// Copies parameters to or from bits. Unlike text, bits may lie outside of the ranges of the sliders, as a reversed time
/// step does.
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

/// Returns the parameters of a mode as bits. Does not change the parameters.
pub fn bits(params: &mut dyn Params) -> Vec<u32> {
    let mut bits = Bits { values: Vec::new(), next: 0, writes: false };
    params.visit(&mut bits);
    bits.values
}

/// Sets the parameters of a mode to bits that [`bits`] returned.
pub fn set_bits(params: &mut dyn Params, values: Vec<u32>) {
    params.visit(&mut Bits { values, next: 0, writes: true });
}

/// Returns the recipe in the form that a [`Blueprint`] has.
pub fn words(recipe: &Recipe) -> (String, usize, std::collections::BTreeMap<String, u32>) {
    let knobs = recipe.values().into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
    (recipe.variant.name.to_owned(), recipe.work_group, knobs)
}
