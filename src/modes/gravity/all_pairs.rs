//! Solver of the gravity variants that sum over all pairs with a single kernel, `advance`.

use std::ops::Range;
use std::sync::Arc;

use super::carried::COMMON_MASS;
use super::parameters::Gravity;
use super::solver::{ForcePass, Setup, Solver, program};
use crate::base::{Bodies, Result};
use crate::compute::{Arg, Device, Kernel, Lane, Pass, ProgramSource};
use crate::modes::carried::list;
use crate::modes::{Assignment, Extra, Plan, Recipe, common_multiple};

/// Solver that uses a single kernel to sum the forces of all pairs of bodies and to advance the bodies.
pub(super) struct AllPairs {
    advance: Kernel,
    recipe: Recipe,
    bodies: usize,
    /// Number of bodies in a unit of work: a common multiple of the bodies per work-group on each device.
    grain: usize,
    /// Common mass of all bodies that have mass, by which the kernel multiplies its sums; `None` if the kernel uses
    /// each body's own mass.
    common_mass: Option<f32>,
}

impl AllPairs {
    pub(super) fn build(setup: &Setup) -> Result<Box<dyn Solver>> {
        let Setup { device, params, recipe, recipes, bodies } = *setup;
        let common_mass = common_mass(bodies).filter(|_| recipe.knob("equal") == 1);
        let advance = program(device, recipe, params, common_mass.is_some())?.kernel("advance")?;
        advance.check_work_group(recipe.variant.name, recipe.work_group)?;
        let grain = recipes.iter().map(Recipe::bodies_per_group).fold(1, common_multiple);
        Ok(Box::new(Self { advance, recipe, bodies: bodies.len(), grain, common_mass }))
    }
}

impl Solver for AllPairs {
    fn source(&self) -> &Arc<ProgramSource> {
        self.advance.source()
    }

    fn evaluate(&mut self, lane: &mut Lane, pass: &ForcePass, range: Range<usize>) -> Result<usize> {
        let coefficients = pass.coefficients(self.common_mass.unwrap_or(1.0));
        let args = [&[Arg::Uint(self.bodies as u32), pass.eps2, coefficients], &pass.state[..]].concat();
        let cost = self.bodies as f64 * self.recipe.bodies_per_item();
        let group = self.recipe.work_group;
        lane.slice(Pass { kernel: &self.advance, args: &args, items: range.end, group, cost }, range.start)
    }

    fn carried(&self) -> Extra {
        self.common_mass.map(|mass| (COMMON_MASS.to_owned(), vec![mass])).into_iter().collect()
    }

    fn resume(&mut self, extra: &Extra, device: &Device, params: &Gravity) -> Result<()> {
        let common_mass = match extra.contains_key(COMMON_MASS) {
            true => Some(list(extra, COMMON_MASS, 1)?[0]),
            false => None,
        };
        if self.recipe.knob("equal") == 1 && common_mass != self.common_mass {
            let program = program(device, self.recipe, params, common_mass.is_some())?;
            (self.advance, self.common_mass) = (program.kernel("advance")?, common_mass);
        }
        Ok(())
    }

    fn plan(&self) -> Plan {
        let (units, grain) = (self.bodies.div_ceil(self.grain), Some(self.grain));
        Plan { units, count: self.bodies, grain, edge: 0, cut: 1, has_fixed_work: false }
    }

    fn share(&self, _stage: usize, assignment: &Assignment) -> Range<usize> {
        self.recipe.items(assignment.own.start)..self.recipe.items(assignment.own.end)
    }
}

/// Returns the common mass of all bodies that have mass, or `None` if their masses differ or no body has mass.
fn common_mass(bodies: &Bodies) -> Option<f32> {
    let mut masses = bodies.positions.iter().map(|x| x[3]).filter(|mass| *mass != 0.0);
    let first = masses.next()?;
    masses.all(|mass| mass == first).then_some(first)
}
