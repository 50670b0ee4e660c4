//! What `mutual` needs besides the kernel that ends a step: tiles of pairs, and slots for what they sum up.

use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Program};
use crate::error::Result;
use crate::modes::Recipe;

/// The most distances round the ring of blocks whose tiles run at the same time.
const DEPTH: usize = 64;
/// Slots may take one part in so many of a device's memory, if that is enough for one distance at a time.
const SHARE: u64 = 16;
/// Bytes that a body takes at the least, with one distance at a time: place, mass and two slots.
pub(super) const BYTES_PER_BODY: usize = size_of::<[f32; 4 + 6]>();

/// Work-items that share a tile, as in `kernels/gravity/mutual.cl`.
fn team(recipe: &Recipe) -> usize {
    if recipe.knob("lanes") > 1 { 1 } else { recipe.work_group }
}

/// Bodies that they hold at once.
fn own(recipe: &Recipe) -> usize {
    team(recipe) * (recipe.knob("lanes") * recipe.knob("k")) as usize
}

/// Bodies that those of a work-group hold.
pub(super) fn bodies_per_group(recipe: &Recipe) -> usize {
    own(recipe) * recipe.work_group / team(recipe)
}

/// Bytes of local memory, as there.
pub(super) fn local_bytes(recipe: &Recipe) -> usize {
    let lanes = recipe.knob("lanes") as usize;
    let others = 128usize.next_multiple_of(team(recipe)) * recipe.work_group / team(recipe);
    others * (4 + 3 * lanes) * size_of::<f32>()
}

/// Every pair of blocks.
pub(super) struct Tiles {
    spread: Kernel,
    meet: Kernel,
    recipe: Recipe,
    bodies: usize,
    /// The same in whole blocks.
    length: usize,
    side: usize,
    blocks: usize,
    /// Distances whose tiles run at the same time.
    depth: usize,
    places: Buffer<f32>,
    slots: Buffer<f32>,
}

impl Tiles {
    pub fn new(device: &Device, program: &Program, recipe: Recipe, bodies: usize) -> Result<Self> {
        let meet = program.kernel("meet_blocks")?;
        meet.check_work_group(recipe.variant.name, recipe.work_group)?;
        // Blocks of equal length, so that the last one is not half empty.
        let blocks = bodies.div_ceil(recipe.knob("block") as usize);
        let side = bodies.div_ceil(blocks).next_multiple_of(own(&recipe));
        let blocks = bodies.div_ceil(side);
        let length = blocks * side;
        let a_distance = 6 * length;
        let room = device.info.memory_bytes / SHARE / (a_distance * size_of::<f32>()) as u64;
        let depth = (room as usize).clamp(1, DEPTH).min(blocks / 2 + 1);
        Ok(Self {
            spread: program.kernel("spread")?,
            meet,
            recipe,
            bodies,
            length,
            side,
            blocks,
            depth,
            places: Buffer::new(device, 4 * length)?,
            // Half of the greatest distance is never written, if the number of blocks is even.
            slots: Buffer::zeroed(device, a_distance * depth)?,
        })
    }

    /// Work-items that all tiles take.
    pub fn items(&self) -> usize {
        self.blocks * (self.blocks + 1) / 2 * team(&self.recipe)
    }

    /// Queues the next slice of a pass over the bodies at `state[0]` from work-item `from` of [`Tiles::items`], and says
    /// where the one after it begins; before the first what prepares it, after the last `advance`, which ends the step.
    pub fn slice(
        &self,
        lane: &mut Lane,
        advance: &Kernel,
        [eps2, coefficients]: [Arg; 2],
        state: [Arg; 4],
        from: usize,
    ) -> Result<usize> {
        let [n, length, side, depth] =
            [self.bodies, self.length, self.side, self.depth].map(|count| Arg::Uint(count as u32));
        let [places, slots] = [&self.places, &self.slots].map(Arg::from);
        if from == 0 {
            lane.whole(Pass::cheap(&self.spread, &[n, length, state[0], places], self.length))?;
        }
        let (items, team) = (self.items(), team(&self.recipe));
        // Tiles of the next `depth` distances add to what these leave behind.
        let end = (from + 1).next_multiple_of(self.depth * self.blocks * team).min(items);
        let pass = Pass {
            kernel: &self.meet,
            args: &[length, side, depth, Arg::Uint((end / team) as u32), eps2, places, slots],
            items: end,
            group: self.recipe.work_group,
            // Both sides of a pair count.
            cost: (self.length * self.length) as f64 / items as f64,
        };
        let to = lane.slice(pass, from)?.min(end);
        if to >= items {
            let args = [&[n, length, depth, coefficients, slots], &state[..]].concat();
            lane.whole(Pass::cheap(advance, &args, self.bodies))?;
        }
        Ok(to)
    }
}
