//! Solver of the variant `vector`: the host's side of `kernels/asteroids/vector.cl`.

use std::ops::Range;

use super::solver::{Advance, ContactPass, Setup, Solver};
use crate::base::error::Result;
use crate::compute::{Arg, Buffer, Kernel, Lane, Pass};
use crate::modes::Recipe;

/// Bodies that the inner loop tests before it branches.
const ROWS: usize = 64;
/// Largest number of touching bodies in the list of a body.
const LISTED: usize = 32;

/// Tests each pair once, over positions in columns, and lists the bodies that touch.
pub(super) struct Columns {
    advance: Advance,
    recipe: Recipe,
    columns: Kernel,
    find: Kernel,
    collide: Kernel,
    bodies: usize,
    /// Length of the columns: the number of bodies, rounded up to a multiple of `ROWS`.
    rows: usize,
    column: Buffer<f32>,
    met: Buffer<u32>,
    others: Buffer<u32>,
}

impl Columns {
    /// Device memory per body for the lists, in bytes.
    pub(super) const BYTES_PER_BODY: usize = (1 + LISTED) * size_of::<u32>();

    pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let Setup { device, program, recipe, bodies } = *setup;
        let rows = bodies.next_multiple_of(ROWS);
        let find = program.kernel("find")?;
        find.check_work_group(recipe.variant.name, recipe.work_group)?;
        Ok(Box::new(Self {
            advance: Advance::new(setup)?,
            recipe,
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

    /// Queues the filling of the columns and empties all lists.
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
    fn items(&self) -> usize {
        let few = self.bodies.div_ceil(self.recipe.bodies_per_group() / self.recipe.work_group);
        few.div_ceil(2).next_multiple_of(self.recipe.work_group)
    }

    /// Searches for the bodies that touch; after the last slice makes the first pass over the lists.
    fn evaluate(&mut self, lane: &mut Lane, pass: &ContactPass, range: Range<usize>) -> Result<usize> {
        if range.start == 0 {
            self.fill(lane, pass)?;
        }
        let [met, others] = [&self.met, &self.others].map(Arg::from);
        let (x, rows) = (pass.from[0].into(), Arg::Uint(self.rows as u32));
        let args = [pass.count(), pass.coefficients, x, rows, (&self.column).into(), met, others];
        let (group, cost) = (self.recipe.work_group, self.advance.pairs_per_item(self.bodies));
        let search = Pass { kernel: &self.find, args: &args, items: range.end, group, cost };
        let next = lane.slice(search, range.start)?;
        if next >= range.end {
            let args = [pass.args(pass.from.map(Arg::from)), vec![met, others]].concat();
            lane.whole(Pass::cheap(&self.collide, &args, self.bodies))?;
        }
        Ok(next)
    }

    /// Tests the bodies of the share against all others, since lists of pairs cannot be divided by bodies.
    fn evaluate_share(
        &mut self,
        lane: &mut Lane,
        pass: &ContactPass,
        is_first: bool,
        range: Range<usize>,
    ) -> Result<usize> {
        if is_first {
            self.fill(lane, pass)?;
        }
        let own = vec![Arg::Uint(self.rows as u32), (&self.column).into()];
        let args = [pass.args(pass.from.map(Arg::from)), own].concat();
        self.advance.slice(lane, &args, self.advance.pairs_per_item(self.bodies), range)
    }
}
