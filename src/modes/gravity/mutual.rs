//! Solver of the `mutual` variant, which uses Newton's third law to evaluate each pair only once. Bodies form blocks,
//! and each pair of blocks forms a tile of pairs. Each tile adds its partial forces to a buffer, `slots`.

use std::ops::Range;
use std::sync::Arc;

use super::solver::{ForcePass, Setup, Solver, program};
use super::step::{FORCE, step_defines};
use crate::base::{Bodies, Result};
use crate::compute::{Arg, Buffer, Kernel, KernelSource, Lane, Pass, Program, ProgramSource, Rows};
use crate::modes::{Assignment, Plan, Recipe, Traffic, common_multiple, source, sources};

const SHARES: KernelSource = source!("gravity/shares.cl");

/// Maximum number of block distances whose partial forces are stored at once. A block distance is the difference of two
/// block indices, modulo the number of blocks.
const DEPTH: usize = 64;
/// Divisor that limits the memory for partial forces to 1/`SHARE` of the device memory. Partial forces of one block
/// distance are stored even if they exceed this limit.
const SHARE: u64 = 16;
/// Minimum device memory that the solver needs per body, in bytes: position, mass and two partial forces.
pub(super) const BYTES_PER_BODY: usize = size_of::<[f32; 4 + 6]>();

/// Returns the number of work-items that evaluate one tile of pairs; must match `kernels/gravity/mutual.cl`.
fn team(recipe: &Recipe) -> usize {
    if recipe.knob("lanes") > 1 { 1 } else { recipe.work_group }
}

/// Returns the number of bodies that the work-items of one tile of pairs process at a time.
fn own(recipe: &Recipe) -> usize {
    team(recipe) * (recipe.knob("lanes") * recipe.knob("k")) as usize
}

/// Returns the number of bodies that a work-group processes at a time.
pub(super) fn bodies_per_group(recipe: &Recipe) -> usize {
    own(recipe) * recipe.work_group / team(recipe)
}

/// Returns the local memory that a work-group uses, in bytes; must match `kernels/gravity/mutual.cl`.
pub(super) fn local_bytes(recipe: &Recipe) -> usize {
    let lanes = recipe.knob("lanes") as usize;
    let others = 128usize.next_multiple_of(team(recipe)) * recipe.work_group / team(recipe);
    others * (4 + 3 * lanes) * size_of::<f32>()
}

/// Solver that evaluates each pair of bodies once. A final kernel adds up the partial forces from separate buffers.
pub(super) struct Mutual {
    advance: Kernel,
    tiles: Tiles,
    /// Buffers and kernels for dividing the pairs among several devices, or `None` if there is only one device.
    sums: Option<Sums>,
}

impl Mutual {
    pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let program = program(setup.device, setup.recipe, setup.params, false)?;
        let sums = if setup.recipes.len() > 1 { Some(Sums::new(setup)?) } else { None };
        Ok(Box::new(Self { advance: program.kernel("advance")?, tiles: Tiles::new(setup, &program)?, sums }))
    }
}

impl Solver for Mutual {
    fn source(&self) -> &Arc<ProgramSource> {
        self.tiles.meet.source()
    }

    fn evaluate(&mut self, lane: &mut Lane, pass: &ForcePass, range: Range<usize>) -> Result<usize> {
        let tiles = &self.tiles;
        if let Some(sums) = self.sums.as_ref().filter(|_| pass.assignment.of > 1) {
            return match pass.stage {
                0 => sums.meet(lane, tiles, pass, range),
                _ => sums.finish(lane, pass.coefficients(tiles.mass_unit), pass).map(|()| range.end),
            };
        }
        if range.start == 0 {
            tiles.prepare(lane, pass.state[0])?;
        }
        let to = tiles.meet(lane, pass.eps2, &range)?;
        if to >= range.end {
            let [n, length, depth] = tiles.sizes();
            let head = [n, length, depth, pass.coefficients(tiles.mass_unit), (&tiles.slots).into()];
            let args = [&head[..], &pass.state].concat();
            lane.whole(Pass::cheap(&self.advance, &args, tiles.bodies))?;
        }
        Ok(to)
    }

    fn plan(&self) -> Plan {
        Plan {
            units: self.tiles.count(),
            count: self.tiles.bodies,
            grain: None,
            edge: 0,
            cut: 1,
            has_fixed_work: false,
        }
    }

    fn stages(&self) -> usize {
        2
    }

    fn share(&self, stage: usize, assignment: &Assignment) -> Range<usize> {
        let team = team(&self.tiles.recipe);
        match stage {
            0 => assignment.work.start * team..assignment.work.end * team,
            _ => assignment.own.clone(),
        }
    }

    fn traffic(&self, stage: usize) -> Option<Traffic<'_>> {
        let Sums { parts, others, stride, .. } = self.sums.as_ref().filter(|_| stage == 0)?;
        let [parts, into] = [parts, others].map(|buffer| Rows::new(buffer, 3, 1, 0));
        Some(Traffic::Sums { parts, into, stride: *stride })
    }
}

/// Tiles into which the pairs of bodies are divided, with their kernels and buffers.
struct Tiles {
    spread: Kernel,
    meet: Kernel,
    recipe: Recipe,
    bodies: usize,
    /// Number of bodies, rounded up to a multiple of the block length.
    length: usize,
    side: usize,
    blocks: usize,
    /// Number of block distances (differences of block indices) to evaluate at once, at most [`DEPTH`].
    depth: usize,
    places: Buffer<f32>,
    slots: Buffer<f32>,
    /// Unit of mass in the buffer `places`, which holds positions and masses.
    mass_unit: f32,
}

/// Returns the unit of mass for sums of forces: a power of two in which the heaviest body has a mass of 2¹⁵ to 2¹⁶. In
/// the units of `kernels/gravity/mutual.cl`, the force of the heaviest body then neither overflows at the smallest
/// softening length nor vanishes at the largest distance.
fn mass_unit(bodies: &Bodies) -> f32 {
    let heaviest = bodies.positions.iter().map(|x| x[3]).fold(0.0, f32::max);
    match heaviest > 0.0 && heaviest.is_finite() {
        // A mass can be as small as 2⁻¹⁴⁹; the unit and its fractions must be normal floats.
        true => (f64::from(heaviest).log2().floor() - 15.0).max(-110.0).exp2() as f32,
        false => 1.0,
    }
}

/// Returns the number of bodies in a block. It is close to the block size of the first recipe, and a multiple of the
/// number of bodies that each recipe processes at a time.
fn side(recipes: &[Recipe], bodies: usize) -> usize {
    // Blocks have equal lengths, so that the last block is not half empty.
    let blocks = bodies.div_ceil((recipes[0].knob("block") as usize).max(1));
    let multiple = recipes.iter().map(|recipe| own(recipe).max(1)).fold(1, common_multiple);
    bodies.div_ceil(blocks.max(1)).next_multiple_of(multiple)
}

impl Tiles {
    fn new(setup: &Setup, program: &Program) -> Result<Self> {
        let Setup { device, recipe, recipes, bodies: all, .. } = *setup;
        let (bodies, side) = (all.len(), side(recipes, all.len()));
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
            // With an even number of blocks, half of the slots of the largest distance are never written.
            slots: Buffer::zeroed(device, a_distance * depth)?,
            mass_unit: mass_unit(all),
        })
    }

    /// Returns the number of tiles into which the pairs of bodies are divided.
    fn count(&self) -> usize {
        self.blocks * (self.blocks + 1) / 2
    }

    fn sizes(&self) -> [Arg<'static>; 3] {
        [self.bodies, self.length, self.depth].map(|count| Arg::Uint(count as u32))
    }

    /// Queues the kernel that copies the bodies into four columns: the three coordinates and the mass.
    fn prepare(&self, lane: &mut Lane, x: Arg) -> Result<()> {
        let [n, length, _] = self.sizes();
        let args = [n, length, Arg::Float(1.0 / self.mass_unit), x, (&self.places).into()];
        lane.whole(Pass::cheap(&self.spread, &args, self.length))
    }

    /// Queues the evaluation of pairs for the next slice of the work-items `range`. Returns the end of the slice.
    fn meet(&self, lane: &mut Lane, eps2: Arg, range: &Range<usize>) -> Result<usize> {
        let [_, length, depth] = self.sizes();
        let team = team(&self.recipe);
        // The next `depth` block distances reuse the slots of the current ones, so a slice ends before them.
        let end = (range.start + 1).next_multiple_of(self.depth * self.blocks * team).min(range.end);
        let [places, slots] = [&self.places, &self.slots].map(Arg::from);
        let side = Arg::Uint(self.side as u32);
        let pass = Pass {
            kernel: &self.meet,
            args: &[length, side, depth, Arg::Uint((end / team) as u32), eps2, places, slots],
            items: end,
            group: self.recipe.work_group,
            // The cost counts each pair twice, once for each of its bodies.
            cost: (self.length * self.length) as f64 / (self.count() * team) as f64,
        };
        Ok(lane.slice(pass, range.start)?.min(end))
    }
}

/// Buffers and kernels for computing the forces of some pairs while other devices compute the rest.
struct Sums {
    clear: Kernel,
    collect: Kernel,
    finish: Kernel,
    /// Forces on each body from the pairs that this device computes, three floats per body.
    parts: Buffer<f32>,
    /// Forces on this device's own bodies, computed by the other devices; three floats per body and device.
    others: Buffer<f32>,
    /// Number of bodies per device for which `others` has room.
    stride: usize,
}

impl Sums {
    fn new(setup: &Setup) -> Result<Self> {
        let Setup { device, params, recipes, bodies, .. } = *setup;
        let program = Program::build(device, &sources(&[FORCE, SHARES]), &step_defines(params))?;
        // A device may own up to half of the bodies, plus one body.
        let (bodies, stride) = (bodies.len(), bodies.len().div_ceil(2));
        Ok(Self {
            clear: program.kernel("clear")?,
            collect: program.kernel("collect")?,
            finish: program.kernel("finish")?,
            parts: Buffer::new(device, 3 * bodies)?,
            others: Buffer::new(device, 3 * stride * (recipes.len() - 1))?,
            stride,
        })
    }

    /// Queues the evaluation of pairs for the next slice of the work-items `range` and, after the last slice, the
    /// kernel that sums the forces on each body. Returns the end of the slice.
    fn meet(&self, lane: &mut Lane, tiles: &Tiles, pass: &ForcePass, range: Range<usize>) -> Result<usize> {
        let [n, length, depth] = tiles.sizes();
        if range.start == pass.assignment.work.start * team(&tiles.recipe) {
            let floats = tiles.slots.len();
            let args = [Arg::Uint((floats / 2) as u32), (&tiles.slots).into()];
            lane.whole(Pass::cheap(&self.clear, &args, floats / 2))?;
            tiles.prepare(lane, pass.state[0])?;
        }
        let to = tiles.meet(lane, pass.eps2, &range)?;
        if to >= range.end {
            let args = [n, length, depth, (&tiles.slots).into(), (&self.parts).into()];
            lane.whole(Pass::cheap(&self.collect, &args, tiles.bodies))?;
        }
        Ok(to)
    }

    /// Queues the kernel that adds up the forces from all devices and completes the step for this device's own bodies.
    fn finish(&self, lane: &mut Lane, coefficients: Arg, pass: &ForcePass) -> Result<()> {
        let (bodies, Assignment { own, of, .. }) = (self.parts.len() / 3, pass.assignment);
        let [n, first, count, others, stride] =
            [bodies, own.start, own.len(), of - 1, self.stride].map(|count| Arg::Uint(count as u32));
        let sums = [(&self.parts).into(), (&self.others).into()];
        let args = [&[n, first, count, others, stride, coefficients], &sums[..], &pass.state].concat();
        lane.whole(Pass::cheap(&self.finish, &args, own.len()))
    }
}
