//! Solvers, which find and resolve contacts between asteroids: their trait, its inputs, and an all-pairs solver.

use std::ops::Range;
use std::sync::Arc;

use crate::base::Result;
use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Program, ProgramSource};
use crate::modes::{Assignment, Recipe};

/// Finds contacts between bodies and advances the bodies. Each family of kernel variants has an implementation.
pub(super) trait Solver {
    /// Returns the kernel `advance`, which runs the first pass of a step.
    fn advance(&self) -> &Advance;

    /// Returns the work-items of a step's first pass that `assignment` gives to this device.
    fn share(&self, assignment: &Assignment) -> Range<usize> {
        let recipe = self.advance().recipe;
        recipe.items(assignment.own.start)..recipe.items(assignment.own.end)
    }

    /// Queues the next work-items of `range` without waiting for the device. Returns the first work-item that is not
    /// queued yet.
    fn evaluate(&mut self, lane: &mut Lane, pass: &ContactPass, range: Range<usize>) -> Result<usize>;

    /// Returns the name of the kernel that runs the second pass of a step.
    fn second_kernel(&self) -> &'static str {
        "resolve"
    }

    /// Returns the arguments of the kernel that runs the second pass of a step.
    fn second_args<'a>(&'a self, pass: &ContactPass<'a>) -> Vec<Arg<'a>> {
        pass.args(pass.from.map(Arg::from))
    }
}

/// Inputs and outputs of one pass of the contact kernels over all bodies.
pub(super) struct ContactPass<'a> {
    pub bodies: usize,
    /// Coefficients of the contact law, in the layout of `kernels/asteroids/contact.cl`.
    pub coefficients: Arg<'static>,
    /// Radius of a body of mean mass (the `radius` parameter).
    pub radius: f32,
    /// Radius of the largest body.
    pub largest: f32,
    /// Buffers of positions and velocities before the step.
    pub from: [&'a Buffer<[f32; 4]>; 2],
    /// Buffers for the positions and velocities after the step, and for the contacts of each body.
    pub to: [Arg<'a>; 3],
    /// Second pass of the step; `None` under the contact law `simple`, which has only one pass.
    pub second: Option<&'a SecondPass>,
    /// Part of the pass that this device computes.
    pub assignment: &'a Assignment,
}

impl<'a> ContactPass<'a> {
    /// Returns the number of bodies as a kernel argument.
    pub(super) fn count(&self) -> Arg<'static> {
        Arg::Uint(self.bodies as u32)
    }

    /// Returns the leading arguments, which are the same for all contact kernels. `from` holds the input positions and
    /// velocities.
    pub(super) fn args(&self, from: [Arg<'a>; 2]) -> Vec<Arg<'a>> {
        let shared = self.second.map(|second| [(&second.roles).into(), (&second.partners).into()]);
        let shared = shared.as_ref().map_or(&[][..], |shared| shared);
        [&[self.count(), self.coefficients], &from[..], &self.to, shared].concat()
    }
}

/// Second pass of a step, which resolves contacts: its kernel, and the first-pass results that the kernel reads.
pub(super) struct SecondPass {
    pub kernel: Kernel,
    /// Partner in the fastest impact, contact counts and flags of each body; see `kernels/asteroids/contact.cl`.
    pub roles: Buffer<[u32; 4]>,
    /// Indices of the bodies that each body touches. The buffer holds the first index for every body, then the second
    /// index for every body, and so on.
    partners: Buffer<u32>,
}

impl SecondPass {
    /// Maximum number of touching bodies listed per body, enough for a sphere among slightly overlapping equal spheres.
    /// If a body touches more, the second pass repeats the search for touching bodies.
    const PARTNERS: usize = 16;
    /// Device memory for the buffers `roles` and `partners`, in bytes per body.
    pub(super) const BYTES_PER_BODY: usize = size_of::<[u32; 4]>() + Self::PARTNERS * size_of::<u32>();
    /// Approximate cost of the second pass per body, as an equivalent number of pair tests.
    pub(super) const COST: f64 = 16.0;

    /// Returns the preprocessor macros with which the kernels of both passes are compiled.
    pub(super) fn defines() -> [(&'static str, String); 2] {
        [("MATCH", "1".to_owned()), ("PARTNERS", Self::PARTNERS.to_string())]
    }

    pub(super) fn new(setup: &Setup, kernel: &'static str) -> Result<Self> {
        let Setup { device, program, recipe, bodies: count } = *setup;
        let kernel = program.kernel(kernel)?;
        kernel.check_work_group(recipe.variant.name, recipe.work_group)?;
        let (roles, partners) = (Buffer::new(device, count)?, Buffer::new(device, Self::PARTNERS * count)?);
        Ok(Self { kernel, roles, partners })
    }
}

/// Inputs for building a [`Solver`].
pub(super) struct Setup<'a> {
    pub device: &'a Device,
    pub program: &'a Program,
    pub recipe: Recipe,
    pub bodies: usize,
}

/// Constructor of a kernel variant's solver, stored in [`Variant::solver`](crate::modes::Variant::solver).
pub(super) struct Builder(pub fn(&Setup) -> Result<Box<dyn Solver>>);

/// The kernel `advance`, which runs the first pass of a step.
pub(super) struct Advance {
    kernel: Kernel,
    pub(super) recipe: Recipe,
}

impl Advance {
    /// Returns the source of the kernel's program.
    pub(super) fn source(&self) -> &Arc<ProgramSource> {
        self.kernel.source()
    }

    pub(super) fn new(setup: &Setup) -> Result<Self> {
        let (kernel, recipe) = (setup.program.kernel("advance")?, setup.recipe);
        kernel.check_work_group(recipe.variant.name, recipe.work_group)?;
        Ok(Self { kernel, recipe })
    }

    /// Returns the number of pairs of bodies that each work-item tests in a kernel that tests all pairs.
    pub(super) fn pairs_per_item(&self, bodies: usize) -> f64 {
        bodies as f64 * self.recipe.bodies_per_item()
    }

    /// Queues the kernel for the next part of the work-items in `range`. Returns the end of that part. `cost` is the
    /// cost of a work-item, as a number of pair tests.
    pub(super) fn slice(
        &self,
        lane: &mut Lane,
        args: &[Arg],
        cost: f64,
        range: Range<usize>,
    ) -> Result<usize> {
        let group = self.recipe.work_group;
        lane.slice(Pass { kernel: &self.kernel, args, items: range.end, group, cost }, range.start)
    }
}

/// Solver that tests all pairs of bodies with one kernel.
pub(super) struct AllPairs(Advance);

impl AllPairs {
    pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        Ok(Box::new(Self(Advance::new(setup)?)))
    }
}

impl Solver for AllPairs {
    fn advance(&self) -> &Advance {
        &self.0
    }

    fn evaluate(&mut self, lane: &mut Lane, pass: &ContactPass, range: Range<usize>) -> Result<usize> {
        let args = pass.args(pass.from.map(Arg::from));
        self.0.slice(lane, &args, self.0.pairs_per_item(pass.bodies), range)
    }
}
