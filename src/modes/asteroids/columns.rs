//! What `vector` looks at and whom it finds: the host's side of `kernels/asteroids/vector.cl`.

use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Program};
use crate::error::Result;
use crate::modes::Recipe;

/// Bodies that the inner loop looks at before it branches.
const ROWS: usize = 64;
/// Others that are listed with a body.
const LISTED: usize = 32;

/// Places in columns, and who touches whom.
pub(super) struct Columns {
    columns: Kernel,
    find: Kernel,
    collide: Kernel,
    rows: usize,
    column: Buffer<f32>,
    met: Buffer<u32>,
    others: Buffer<u32>,
}

impl Columns {
    /// Bytes of a body in the lists.
    pub const BYTES_PER_BODY: usize = (1 + LISTED) * size_of::<u32>();

    pub fn new(device: &Device, program: &Program, recipe: Recipe, count: usize) -> Result<Self> {
        let rows = count.next_multiple_of(ROWS);
        let find = program.kernel("find")?;
        find.check_work_group(recipe.variant.name, recipe.work_group)?;
        Ok(Self {
            columns: program.kernel("columns")?,
            find,
            collide: program.kernel("collide_listed")?,
            rows,
            column: Buffer::new(device, 5 * rows)?,
            met: Buffer::new(device, rows)?,
            others: Buffer::new(device, LISTED * count)?,
        })
    }

    /// Queues the filling of the columns from the places `x` of `count` bodies, of radius ρ·`radius`; all lists are empty then.
    pub fn fill(&self, lane: &mut Lane, count: Arg, radius: f32, x: Arg) -> Result<()> {
        let args = [
            count,
            Arg::Uint(self.rows as u32),
            Arg::Float(radius),
            x,
            (&self.column).into(),
            (&self.met).into(),
        ];
        lane.whole(Pass::cheap(&self.columns, &args, self.rows))
    }

    /// What `advance` takes besides.
    pub fn args(&self) -> Vec<Arg<'_>> {
        vec![Arg::Uint(self.rows as u32), (&self.column).into()]
    }

    /// Work-items of the search for all who touch.
    pub fn items(&self, recipe: &Recipe, count: usize) -> usize {
        let few = count.div_ceil(recipe.bodies_per_group() / recipe.work_group);
        few.div_ceil(2).next_multiple_of(recipe.work_group)
    }

    /// The kernel that searches, and its arguments.
    pub fn search<'a>(&'a self, n: Arg<'a>, c: Arg<'a>, x: Arg<'a>) -> (&'a Kernel, Vec<Arg<'a>>) {
        let own =
            [Arg::Uint(self.rows as u32), (&self.column).into(), (&self.met).into(), (&self.others).into()];
        (&self.find, [&[n, c, x], &own[..]].concat())
    }

    /// Queues the first pass of all `count` bodies over the lists, once the search has ended; `common` is what every kernel
    /// takes that looks for contacts.
    pub fn finish(&self, lane: &mut Lane, common: &[Arg], count: usize) -> Result<()> {
        let args = [common, &[(&self.met).into(), (&self.others).into()]].concat();
        lane.whole(Pass::cheap(&self.collide, &args, count))
    }
}
