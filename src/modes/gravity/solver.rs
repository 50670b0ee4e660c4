//! Solvers, which evaluate gravity: the trait that each group of kernels implements, and its inputs.

use std::ops::Range;

use super::parameters::{Gravity, Softening};
use super::step::{Step, step_defines};
use crate::base::bodies::Bodies;
use crate::base::error::Result;
use crate::compute::{Arg, Device, Kernel, Lane, Pass, Program, Rows};
use crate::modes::{Assignment, Define, Extra, Mode, Plan, Recipe, Traffic, flags};

/// Evaluates the forces between bodies and takes a step with them. Each group of related kernels has one implementation.
pub(super) trait Solver {
    /// Queues the first part of the work-items `range` of a stage, without waiting for the device. Returns the first
    /// work-item after that part.
    fn evaluate(&mut self, lane: &mut Lane, pass: &ForcePass, range: Range<usize>) -> Result<usize>;

    /// Queues the computation of the potential at each body due to all others, which the energy is computed from. By
    /// default, evaluates all pairs.
    fn potential(&mut self, lane: &mut Lane, pass: &PotentialPass) -> Result<()> {
        let PotentialPass { all_pairs: kernel, bodies, eps2, x, phi, .. } = *pass;
        let (args, group, cost) =
            (&[Arg::Uint(bodies as u32), eps2, x, phi], Pass::CHEAP_GROUP, bodies as f64);
        lane.whole(Pass { kernel, args, items: bodies, group, cost })
    }

    /// Returns the number of interactions that one evaluation of all forces computes, divided by N² for N bodies.
    fn work(&self) -> f64 {
        1.0
    }

    /// Returns the solver's lists that a snapshot must contain so that later steps give identical bits.
    fn carried(&self) -> Extra {
        Extra::new()
    }

    /// Restores the solver's lists, as returned by [`Solver::carried`], from a snapshot.
    fn resume(&mut self, _extra: &Extra, _device: &Device, _params: &Gravity) -> Result<()> {
        Ok(())
    }

    /// Returns how a pass is divided among devices.
    fn plan(&self) -> Plan;

    /// Returns the number of stages of a pass that devices share. A pass on a single device has one stage.
    fn stages(&self) -> usize {
        1
    }

    /// Returns the work-items of a stage that belong to `assignment`.
    fn share(&self, stage: usize, assignment: &Assignment) -> Range<usize>;

    /// Returns the rows of the bodies that devices exchange together with the new positions, if any.
    fn gathered(&self) -> Option<Rows<'_>> {
        None
    }

    /// Returns the data that devices exchange after a stage; `None` means the new positions.
    fn traffic(&self, _stage: usize) -> Option<Traffic<'_>> {
        None
    }
}

/// A pass over all bodies that evaluates forces, with its inputs and outputs.
pub(super) struct ForcePass<'a> {
    /// Square of the softening length.
    pub eps2: Arg<'static>,
    /// Accuracy of approximate variants: the parameter `opening`.
    pub opening: f32,
    /// Coefficients of the step that the kernel takes with the forces.
    pub step: Step,
    /// Buffers of positions before the step, positions after the step, velocities, and accelerations.
    pub state: [Arg<'a>; 4],
    pub stage: usize,
    /// The part of the pass over all bodies that this device computes.
    pub assignment: &'a Assignment,
}

impl ForcePass<'_> {
    /// Returns the coefficients of the step for sums over masses in units of `mass`.
    pub(super) fn coefficients(&self, mass: f32) -> Arg<'static> {
        Arg::Float8(self.step.coefficients(mass))
    }
}

/// A pass that sums the potential at each body.
pub(super) struct PotentialPass<'a> {
    /// Kernel that evaluates all pairs.
    pub all_pairs: &'a Kernel,
    pub bodies: usize,
    /// Square of the softening length.
    pub eps2: Arg<'static>,
    /// Accuracy of approximate variants: the parameter `opening`.
    pub opening: f32,
    /// Positions of the bodies, and the buffer for the sums.
    pub x: Arg<'a>,
    pub phi: Arg<'a>,
}

/// Inputs for building a simulation and its solver.
pub(super) struct Setup<'a> {
    pub device: &'a Device,
    pub params: &'a Gravity,
    pub recipe: Recipe,
    /// Recipes of all devices that step together, including `recipe`.
    pub recipes: &'a [Recipe],
    pub bodies: &'a Bodies,
}

/// Constructor of a variant's solver, stored in [`Variant::solver`](crate::modes::Variant::solver).
pub(super) struct Builder(pub fn(&Setup) -> Result<Box<dyn Solver>>);

/// Builds the program of a recipe. With `has_equal_masses`, kernels sum without masses and multiply by the mass afterwards.
pub(super) fn program(
    device: &Device,
    recipe: Recipe,
    params: &Gravity,
    has_equal_masses: bool,
) -> Result<Program> {
    let equal_mass = flags(&[("EQUAL_MASS", has_equal_masses)]);
    let defines = [recipe.defines(), softening_defines(params), step_defines(params), equal_mass].concat();
    let files = params.info().sources(recipe.variant);
    Program::build_with_root(device, &files, &defines)
}

/// Returns the macros that select the softening law.
pub(super) fn softening_defines(params: &Gravity) -> Vec<Define> {
    let is_plummer = params.softening == Softening::Plummer;
    flags(&[("SOFTENING_PLUMMER", is_plummer), ("SOFTENING_CLAMP", !is_plummer)])
}
