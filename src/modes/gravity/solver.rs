//! Solvers, which evaluate gravitational forces: the trait that each kernel family implements, and its inputs.

use std::ops::Range;
use std::sync::Arc;

use super::parameters::{Gravity, Softening};
use super::step::{Step, step_defines};
use crate::base::{Bodies, CellRequest, Cells, Result};
use crate::compute::{Arg, Buffer, Device, DeviceInfo, Kernel, Lane, Pass, Program, ProgramSource, Rows};
use crate::modes::{Assignment, Define, Extra, Mode, Plan, Recipe, Traffic, flags};

/// Algorithm that evaluates forces and advances bodies. Each family of kernel variants has an implementation.
pub(super) trait Solver {
    /// Returns the source of the program that evaluates forces.
    fn source(&self) -> &Arc<ProgramSource>;

    /// Queues the next slice of `range`, the work-items of one stage of a pass, without waiting for the device. Returns
    /// the end of the slice.
    fn evaluate(&mut self, lane: &mut Lane, pass: &ForcePass, range: Range<usize>) -> Result<usize>;

    /// Queues the kernel that computes the potential at each body, to measure the energy. By default, sums over all
    /// pairs.
    fn potential(&mut self, lane: &mut Lane, pass: &PotentialPass) -> Result<()> {
        let PotentialPass { all_pairs: kernel, bodies, eps2, x, phi, .. } = *pass;
        let (args, group, cost) =
            (&[Arg::Uint(bodies as u32), eps2, x, phi], Pass::CHEAP_GROUP, bodies as f64);
        lane.whole(Pass { kernel, args, items: bodies, group, cost })
    }

    /// Returns the number of interactions in one evaluation of all forces, divided by N² for N bodies. May wait for the
    /// device.
    fn work(&mut self, _lane: &mut Lane) -> f64 {
        1.0
    }

    /// Returns the requested cells of the solver's tree, to draw them, or `None` if the solver has no tree. Waits for
    /// the device. Must be called between passes, and does not change what later passes compute.
    fn cells(&mut self, _lane: &mut Lane, _pass: &TreePass, _request: CellRequest) -> Result<Option<Cells>> {
        Ok(None)
    }

    /// Returns a buffer in which the fourth number of each row is the number of bodies and cells that act on a body, or
    /// `None` if that number is the same for all bodies. Must be called between passes, and may queue a walk of the
    /// tree, which does not change what later passes compute.
    fn costs(&mut self, _lane: &mut Lane, _pass: &TreePass) -> Result<Option<&Buffer<[f32; 4]>>> {
        Ok(None)
    }

    /// Returns the solver's lists that a snapshot must contain so that later steps are bit-identical.
    fn carried(&self) -> Extra {
        Extra::new()
    }

    /// Restores the solver's lists, as returned by [`Solver::carried`], from a snapshot.
    fn resume(&mut self, _extra: &Extra, _device: &Device, _params: &Gravity) -> Result<()> {
        Ok(())
    }

    /// Returns how a pass over all bodies can be divided among devices.
    fn plan(&self) -> Plan;

    /// Returns the number of stages in a pass that several devices share. A pass on a single device has one stage.
    fn stages(&self) -> usize {
        1
    }

    /// Returns the work-items of a stage that `assignment` gives to this device.
    fn share(&self, stage: usize, assignment: &Assignment) -> Range<usize>;

    /// Returns those work-items of a stage that can run while results of its other work-items are exchanged, or `None` if
    /// results are exchanged only after the stage.
    fn inner(&self, _stage: usize, _assignment: &Assignment) -> Option<Range<usize>> {
        None
    }

    /// Returns the data that devices exchange after a stage, or `None` if they exchange the new positions.
    fn traffic(&self, _stage: usize) -> Option<Traffic<'_>> {
        None
    }

    /// Returns the solver's data for each body if every device completes the step of all bodies. The devices then
    /// exchange only forces. Returns `None` if each device completes the step of its own bodies only.
    fn replicated(&self) -> Option<Rows<'_>> {
        None
    }

    /// Returns whether an earlier pass has computed the data that [`Solver::replicated`] returns.
    fn has_earlier_pass(&self) -> bool {
        false
    }

    /// Tells the solver whether the data for [`Solver::replicated`], received from another device, were computed in an
    /// earlier pass.
    fn set_earlier_pass(&mut self, _has_earlier_pass: bool) {}
}

/// A pass over all bodies that evaluates forces, with its inputs and outputs.
pub(super) struct ForcePass<'a> {
    /// Square of the softening length.
    pub eps2: Arg<'static>,
    /// The `opening` parameter, which determines the accuracy of approximate variants.
    pub opening: f32,
    /// Coefficients of the step that the kernel takes once it has evaluated the forces.
    pub step: Step,
    /// Buffers of positions before the step, positions after the step, velocities, and accelerations.
    pub state: [Arg<'a>; 4],
    pub stage: usize,
    /// Part of the pass that this device computes.
    pub assignment: &'a Assignment,
}

impl ForcePass<'_> {
    /// Returns the coefficients of [`ForcePass::step`] as a kernel argument. `mass` is the unit of mass in the sums of
    /// forces.
    pub(super) fn coefficients(&self, mass: f32) -> Arg<'static> {
        Arg::Float8(self.step.coefficients(mass))
    }
}

/// A pass that computes the potential at each body, with its inputs and outputs.
pub(super) struct PotentialPass<'a> {
    /// Default kernel, which evaluates all pairs of bodies.
    pub all_pairs: &'a Kernel,
    pub bodies: usize,
    /// Square of the softening length.
    pub eps2: Arg<'static>,
    /// The `opening` parameter, which determines the accuracy of approximate variants.
    pub opening: f32,
    /// Positions of the bodies.
    pub x: Arg<'a>,
    /// Buffer that receives the potential at each body.
    pub phi: Arg<'a>,
}

/// Inputs for building and walking a tree without advancing the bodies.
pub(super) struct TreePass<'a> {
    /// Square of the softening length.
    pub eps2: f32,
    /// The `opening` parameter, which determines the accuracy of approximate variants.
    pub opening: f32,
    /// Positions of the bodies.
    pub x: Arg<'a>,
}

/// Inputs for building a gravity simulation and its solver.
pub(super) struct Setup<'a> {
    pub device: &'a Device,
    pub params: &'a Gravity,
    pub recipe: Recipe,
    /// Recipes of all devices that share the simulation, including `recipe`.
    pub recipes: &'a [Recipe],
    pub bodies: &'a Bodies,
}

/// Functions that build a kernel variant's solver and return the source of its program. Stored in
/// [`Variant::solver`](crate::modes::Variant::solver).
pub(super) struct Builder {
    pub solver: fn(&Setup) -> Result<Box<dyn Solver>>,
    pub source: fn(&Gravity, &Recipe, &DeviceInfo) -> ProgramSource,
}

/// Returns the source of the program for a recipe, without the file [`ROOT`](crate::compute::ROOT).
pub(super) fn source(params: &Gravity, recipe: &Recipe, _device: &DeviceInfo) -> ProgramSource {
    let defines = [recipe.defines(), softening_defines(params), step_defines(params)].concat();
    ProgramSource { files: params.info().sources(recipe.variant), defines, ..ProgramSource::default() }
}

/// Builds the program for a recipe. If `has_equal_masses` is set, the kernels leave the masses out of the sums of
/// forces.
pub(super) fn program(
    device: &Device,
    recipe: Recipe,
    params: &Gravity,
    has_equal_masses: bool,
) -> Result<Program> {
    let equal_mass = flags(&[("EQUAL_MASS", has_equal_masses)]);
    let ProgramSource { files, defines, .. } = source(params, &recipe, &device.info);
    Program::build_with_root(device, &files, &[defines, equal_mass].concat())
}

/// Returns the preprocessor macros that select the softening law.
pub(super) fn softening_defines(params: &Gravity) -> Vec<Define> {
    let is_plummer = params.softening == Softening::Plummer;
    flags(&[("SOFTENING_PLUMMER", is_plummer), ("SOFTENING_CLAMP", !is_plummer)])
}
