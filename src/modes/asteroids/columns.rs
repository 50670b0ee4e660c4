//! Solver of the `vector` variant: runs the kernels of `kernels/asteroids/vector.cl`.

use std::ops::Range;

use super::solver::{Advance, ContactPass, Setup, Solver};
use crate::base::Result;
use crate::compute::{Arg, Buffer, Kernel, Lane, Pass};
use crate::modes::Assignment;

/// Number of bodies that a kernel in `kernels/asteroids/vector.cl` tests at a time. There is no branch between these
/// tests.
const ROWS: usize = 64;
/// Maximum number of contacts in the list of one body. A body with more contacts is tested against all bodies.
const LISTED: usize = 32;

/// Solver that tests each pair of bodies once and lists touching pairs. Each coordinate is stored in a separate column.
pub(super) struct Columns {
    advance: Advance,
    columns: Kernel,
    find: Kernel,
    collide: Kernel,
    bodies: usize,
    /// Length of each column: the number of bodies, rounded up to a multiple of `ROWS`.
    rows: usize,
    column: Buffer<f32>,
    met: Buffer<u32>,
    others: Buffer<u32>,
}

impl Columns {
    /// Device memory for the contact lists, in bytes per body.
    pub(super) const BYTES_PER_BODY: usize = (1 + LISTED) * size_of::<u32>();

    pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let Setup { device, program, recipe, bodies } = *setup;
        let rows = bodies.next_multiple_of(ROWS);
        let find = program.kernel("find")?;
        find.check_work_group(recipe.variant.name, recipe.work_group)?;
        Ok(Box::new(Self {
            advance: Advance::new(setup)?,
            columns: program.kernel("columns")?,
            find,
            collide: program.kernel("collide_listed")?,
            bodies,
            rows,
            column: Buffer::new(device, 5 * rows)?,
            met: Buffer::new(device, rows)?,
            others: Buffer::new(device, LISTED * bodies)?,
        }))
    }

    /// Queues the kernel that fills the columns and clears all contact lists.
    fn fill(&self, lane: &mut Lane, pass: &ContactPass) -> Result<()> {
        let args = [
            pass.count(),
            Arg::Uint(self.rows as u32),
            Arg::Float(pass.radius),
            pass.from[0].into(),
            (&self.column).into(),
            (&self.met).into(),
        ];
        lane.whole(Pass::cheap(&self.columns, &args, self.rows))
    }
}

impl Solver for Columns {
    fn advance(&self) -> &Advance {
        &self.advance
    }

    fn share(&self, assignment: &Assignment) -> Range<usize> {
        let Assignment { own, of, .. } = assignment;
        let recipe = self.advance.recipe;
        if *of > 1 {
            return recipe.items(own.start)..recipe.items(own.end);
        }
        let few = self.bodies.div_ceil(recipe.bodies_per_group() / recipe.work_group);
        0..few.div_ceil(2).next_multiple_of(recipe.work_group)
    }

    /// Queues part of the search for touching bodies and, after the last part, the first pass over the contact lists.
    /// With several devices, instead tests the bodies in this device's share against all other bodies, because lists of
    /// pairs cannot be divided among devices.
    fn evaluate(&mut self, lane: &mut Lane, pass: &ContactPass, range: Range<usize>) -> Result<usize> {
        if range.start == self.share(pass.assignment).start {
            self.fill(lane, pass)?;
        }
        let (rows, column) = (Arg::Uint(self.rows as u32), (&self.column).into());
        let cost = self.advance.pairs_per_item(self.bodies);
        if pass.assignment.of > 1 {
            let args = [pass.args(pass.from.map(Arg::from)), vec![rows, column]].concat();
            return self.advance.slice(lane, &args, cost, range);
        }
        let [met, others] = [&self.met, &self.others].map(Arg::from);
        let args = [pass.count(), pass.coefficients, pass.from[0].into(), rows, column, met, others];
        let group = self.advance.recipe.work_group;
        let search = Pass { kernel: &self.find, args: &args, items: range.end, group, cost };
        let next = lane.slice(search, range.start)?;
        if next >= range.end {
            let args = [pass.args(pass.from.map(Arg::from)), vec![met, others]].concat();
            lane.whole(Pass::cheap(&self.collide, &args, self.bodies))?;
        }
        Ok(next)
    }
}
