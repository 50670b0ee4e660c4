//! Gravity on several devices. Each device has all positions and evaluates the part of the forces that its solver
//! assigns.

use super::parameters::{Colour, Gravity};
use super::simulation::{Burst, GravitySimulation, Share};
use super::step::planes;
use crate::base::bodies::Bodies;
use crate::base::error::Result;
use crate::compute::{Lane, Rows};
use crate::modes::fleet::{Assignment, Fleet, Need, Plan, SharedSimulation, Traffic};
use crate::modes::{DeviceRecipe, Recipe};

/// Creates a simulation on each device.
pub(super) fn together(
    params: &Gravity,
    device_recipes: &[DeviceRecipe],
    bodies: &Bodies,
) -> Result<Fleet<GravitySimulation>> {
    let recipes: Vec<Recipe> = device_recipes.iter().map(|own| own.recipe).collect();
    let build =
        |own: &DeviceRecipe| GravitySimulation::new(&own.device, params, (own.recipe, &recipes), bodies);
    Ok(Fleet::new(device_recipes.iter().map(build).collect::<Result<_>>()?))
}

impl GravitySimulation {
    fn evaluates_forces(&self) -> bool {
        self.step_of(self.burst.pass).0
    }
}

impl SharedSimulation for GravitySimulation {
    /// `a_is_current`, `stepped` and `a_is_there` of the simulation.
    type HostState = (bool, bool, bool);

    fn host_state(&mut self) -> Result<(bool, bool, bool)> {
        Ok((self.a_is_current, self.stepped, self.a_is_there))
    }

    fn adopt(&mut self, host_state: (bool, bool, bool)) {
        (self.a_is_current, self.stepped, self.a_is_there) = host_state;
        self.burst = Burst::default();
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.lane
    }

    fn plan(&self) -> Plan {
        self.solver.plan()
    }

    fn remains(&self) -> bool {
        self.burst.pass < self.burst.passes
    }

    fn stages(&self) -> usize {
        if self.evaluates_forces() { self.solver.stages() } else { 1 }
    }

    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<()> {
        let range = match self.evaluates_forces() {
            true => self.solver.share(stage, assignment),
            false => assignment.own.clone(),
        };
        self.burst.from = range.start;
        self.share = Share { stage, assignment: assignment.clone(), end: range.end };
        Ok(())
    }

    fn feed(&mut self) -> Result<bool> {
        while self.burst.from < self.share.end && !self.lane.is_full() {
            self.slice_of_pass(self.share.end, true)?;
        }
        Ok(self.burst.from >= self.share.end)
    }

    fn traffic(&self, stage: usize) -> Traffic<'_> {
        let sums = if self.evaluates_forces() { self.solver.traffic(stage) } else { None };
        sums.unwrap_or_else(|| Traffic::All(vec![Rows::new(&self.x[1], 1, 1, 0)]))
    }

    fn end_pass(&mut self) -> Result<()> {
        GravitySimulation::end_pass(self);
        Ok(())
    }

    fn kept(&self, need: Need) -> Vec<Rows<'_>> {
        let v = Rows::new(&self.v, 1, 1, 0);
        match need {
            Need::Picture if self.params.colour != Colour::Acceleration => vec![v],
            Need::Picture | Need::Sums => vec![v, Rows::new(&self.a, 1, 1, 0)],
            Need::State | Need::LastStep => {
                let with_low_parts = Rows::new(&self.v, 1, planes(&self.params), self.count);
                vec![with_low_parts, Rows::new(&self.a, 1, 1, 0)]
            }
        }
    }

    fn shared(&self) -> Vec<Rows<'_>> {
        vec![Rows::new(&self.x[0], 1, 1, 0)]
    }
}
