//! What `mutual` needs besides the kernel that ends a step: tiles of pairs, and slots for what they sum up.

use std::ops::Range;

use super::FORCE;
use crate::bodies::Bodies;
use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Program, Source};
use crate::error::Result;
use crate::modes::{Recipe, common_multiple, source, sources};

const SHARES: Source = source!("gravity/shares.cl");

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
    /// The unit of masses in `places`.
    mass_unit: f32,
}

/// A unit of mass for sums with the third power of a distance: the power of two that makes the heaviest body weigh
/// 2¹⁵ to 2¹⁶ of it. In the units of `kernels/gravity/mutual.cl` the pull of such a body stays finite down to the least
/// softening, and above zero up to the largest distance.
pub(super) fn mass_unit(bodies: &Bodies) -> f32 {
    let heaviest = bodies.positions.iter().map(|x| x[3]).fold(0.0, f32::max);
    match heaviest > 0.0 && heaviest.is_finite() {
        // A mass can be as small as 2⁻¹⁴⁹; the unit and what it is a part of are normal floats.
        true => (f64::from(heaviest).log2().floor() - 15.0).max(-110.0).exp2() as f32,
        false => 1.0,
    }
}

/// The length of the blocks that suit all of `recipes`, and the first of them best.
pub(super) fn side(recipes: &[Recipe], bodies: usize) -> usize {
    // Blocks of equal length, so that the last one is not half empty.
    let blocks = bodies.div_ceil((recipes[0].knob("block") as usize).max(1));
    let multiple = recipes.iter().map(|recipe| own(recipe).max(1)).fold(1, common_multiple);
    bodies.div_ceil(blocks.max(1)).next_multiple_of(multiple)
}

impl Tiles {
    pub fn new(
        device: &Device,
        program: &Program,
        (recipe, side): (Recipe, usize),
        (bodies, mass_unit): (usize, f32),
    ) -> Result<Self> {
        let meet = program.kernel("meet_blocks")?;
        meet.check_work_group(recipe.variant.name, recipe.work_group)?;
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
            mass_unit,
        })
    }

    /// What the sums over masses are in units of.
    pub fn mass_unit(&self) -> f32 {
        self.mass_unit
    }

    /// How many tiles there are.
    pub fn count(&self) -> usize {
        self.blocks * (self.blocks + 1) / 2
    }

    /// Work-items that all tiles take.
    pub fn items(&self) -> usize {
        self.count() * team(&self.recipe)
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
        if from == 0 {
            self.prepare(lane, state[0])?;
        }
        let to = self.meet(lane, eps2, from, self.items())?;
        if to >= self.items() {
            let [n, length, depth] = self.sizes();
            let args = [&[n, length, depth, coefficients, (&self.slots).into()], &state[..]].concat();
            lane.whole(Pass::cheap(advance, &args, self.bodies))?;
        }
        Ok(to)
    }

    fn sizes(&self) -> [Arg<'static>; 3] {
        [self.bodies, self.length, self.depth].map(|count| Arg::Uint(count as u32))
    }

    /// Puts the bodies in columns.
    fn prepare(&self, lane: &mut Lane, x: Arg) -> Result<()> {
        let [n, length, _] = self.sizes();
        let args = [n, length, Arg::Float(1.0 / self.mass_unit), x, (&self.places).into()];
        lane.whole(Pass::cheap(&self.spread, &args, self.length))
    }

    /// Queues the next slice of the tiles before work-item `last`.
    fn meet(&self, lane: &mut Lane, eps2: Arg, from: usize, last: usize) -> Result<usize> {
        let [_, length, depth] = self.sizes();
        let (items, team) = (self.items(), team(&self.recipe));
        // Tiles of the next `depth` distances add to what these leave behind.
        let end = (from + 1).next_multiple_of(self.depth * self.blocks * team).min(last);
        let [places, slots] = [&self.places, &self.slots].map(Arg::from);
        let side = Arg::Uint(self.side as u32);
        let pass = Pass {
            kernel: &self.meet,
            args: &[length, side, depth, Arg::Uint((end / team) as u32), eps2, places, slots],
            items: end,
            group: self.recipe.work_group,
            // Both sides of a pair count.
            cost: (self.length * self.length) as f64 / items as f64,
        };
        Ok(lane.slice(pass, from)?.min(end))
    }
}

/// What it takes besides to do some of the tiles, and leave the others to other devices.
pub(super) struct Sums {
    clear: Kernel,
    collect: Kernel,
    finish: Kernel,
    /// Three floats for each body: what the tiles of this device make it feel.
    pub parts: Buffer<f32>,
    /// The same of the bodies that it moves, from each other device.
    pub others: Buffer<f32>,
    /// Bodies that `others` has room for from each.
    pub stride: usize,
}

impl Sums {
    /// For one of `devices` devices.
    pub fn new(device: &Device, defines: &[(&str, String)], bodies: usize, devices: usize) -> Result<Self> {
        let program = Program::build(device, &sources(&[FORCE, SHARES]), defines)?;
        // Two may come to all the rest alone.
        let stride = bodies.div_ceil(2);
        Ok(Self {
            clear: program.kernel("clear")?,
            collect: program.kernel("collect")?,
            finish: program.kernel("finish")?,
            parts: Buffer::new(device, 3 * bodies)?,
            others: Buffer::new(device, 3 * stride * devices.saturating_sub(1))?,
            stride,
        })
    }

    /// Queues the next slice of the tiles `share` from work-item `from` on, and says where the one after it begins: behind
    /// the last of them all is added up.
    pub fn meet(
        &self,
        lane: &mut Lane,
        tiles: &Tiles,
        (eps2, x): (Arg, Arg),
        (share, from): (&Range<usize>, usize),
    ) -> Result<usize> {
        let team = team(&tiles.recipe);
        let [n, length, depth] = tiles.sizes();
        if from == share.start * team {
            let floats = tiles.slots.len();
            let args = [Arg::Uint((floats / 2) as u32), (&tiles.slots).into()];
            lane.whole(Pass::cheap(&self.clear, &args, floats / 2))?;
            tiles.prepare(lane, x)?;
        }
        let end = share.end * team;
        let to = if from < end { tiles.meet(lane, eps2, from, end)? } else { end };
        if to >= end {
            let args = [n, length, depth, (&tiles.slots).into(), (&self.parts).into()];
            lane.whole(Pass::cheap(&self.collect, &args, tiles.bodies))?;
        }
        Ok(to)
    }

    /// Queues the end of the step of the bodies `own`, from all that `devices` devices added up.
    pub fn finish(
        &self,
        lane: &mut Lane,
        coefficients: Arg,
        (own, devices): (&Range<usize>, usize),
        state: [Arg; 4],
    ) -> Result<()> {
        let bodies = self.parts.len() / 3;
        let [n, first, count, others, stride] =
            [bodies, own.start, own.len(), devices - 1, self.stride].map(|count| Arg::Uint(count as u32));
        let sums = [(&self.parts).into(), (&self.others).into()];
        let args = [&[n, first, count, others, stride, coefficients], &sums[..], &state].concat();
        lane.whole(Pass::cheap(&self.finish, &args, own.len()))
    }

    /// Work-items to a tile.
    pub fn team(recipe: &Recipe) -> usize {
        team(recipe)
    }
}
