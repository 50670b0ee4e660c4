//! Asteroids on several devices. Each device has all bodies and steps its own; then all exchange positions and
//! velocities. The variant `grid` runs on one device, because sorting all bodies takes nearly as long as testing them.

use super::parameters::Asteroids;
use super::simulation::{AsteroidSimulation, Burst, Look};
use super::substeps::Schedule;
use crate::base::bodies::Bodies;
use crate::base::error::Result;
use crate::compute::{Lane, Rows};
use crate::modes::DeviceRecipe;
use crate::modes::fleet::{Assignment, Fleet, Need, Plan, SharedSimulation, Traffic};
use crate::modes::variant::common_multiple;

/// Creates a simulation on each device.
pub(super) fn together(
    params: &Asteroids,
    device_recipes: &[DeviceRecipe],
    bodies: &Bodies,
) -> Result<Fleet<AsteroidSimulation>> {
    let grain = device_recipes.iter().map(|own| own.recipe.bodies_per_group()).fold(1, common_multiple);
    let build = |DeviceRecipe { device, recipe }: &DeviceRecipe| {
        let mut part = AsteroidSimulation::new(device, params, *recipe, bodies)?;
        part.share.grain = grain;
        Ok(part)
    };
    Ok(Fleet::new(device_recipes.iter().map(build).collect::<Result<Vec<_>>>()?))
}

impl SharedSimulation for AsteroidSimulation {
    /// Whether a step has been taken, its number of substeps, and the schedule as numbers.
    type HostState = (bool, u32, Vec<f32>);

    fn host_state(&mut self) -> Result<Self::HostState> {
        let look = self.last_look()?.unwrap_or_default();
        Ok((self.stepped, self.substeps, self.schedule.to_list(look, &self.params)))
    }

    fn adopt(&mut self, (stepped, substeps, schedule): Self::HostState) {
        (self.stepped, self.burst) = (stepped, Burst::default());
        self.divide(substeps);
        self.schedule = Schedule::from_list(&schedule, &self.params, Look::Told).unwrap_or_default();
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.lane
    }

    fn plan(&self) -> Plan {
        let grain = self.share.grain;
        let units = self.count.div_ceil(grain);
        Plan { units, count: self.count, grain: Some(grain), edge: 0, cut: 1 }
    }

    fn remains(&self) -> bool {
        self.burst.step < self.burst.steps
    }

    fn stages(&self) -> usize {
        if self.second.is_some() { 2 } else { 1 }
    }

    /// The first device decides the number of substeps for all, since devices may round differently.
    fn agree(participants: &mut [&mut Self]) -> Result<()> {
        if let Some((first, others)) = participants.split_first_mut()
            && first.burst.substep == 0
        {
            first.begin_step()?;
            others.iter_mut().for_each(|other| other.divide(first.substeps));
        }
        Ok(())
    }

    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<()> {
        self.burst.is_second = stage > 0;
        let items = |bodies: usize| if stage == 0 { self.recipe.items(bodies) } else { bodies };
        (self.share.start, self.share.end) = (items(assignment.own.start), items(assignment.own.end));
        self.burst.from = self.share.start;
        Ok(())
    }

    fn feed(&mut self) -> Result<bool> {
        while self.burst.from < self.share.end && !self.lane.is_full() {
            match self.burst.is_second {
                false => self.slice_of_share(self.burst.from == self.share.start, self.share.end)?,
                true => self.slice_of_second(self.share.end)?,
            }
        }
        Ok(self.burst.from >= self.share.end)
    }

    /// Devices exchange roles between the two passes, and the bodies after the last.
    fn traffic(&self, stage: usize) -> Traffic<'_> {
        match &self.second {
            Some(second) if stage == 0 => Traffic::All(vec![Rows::new(&second.roles, 1, 1, 0)]),
            _ => Traffic::All(vec![Rows::new(&self.x[1], 1, 1, 0), Rows::new(&self.v[1], 1, 1, 0)]),
        }
    }

    fn end_pass(&mut self) -> Result<()> {
        self.end_substep();
        Ok(())
    }

    fn kept(&self, _need: Need) -> Vec<Rows<'_>> {
        vec![Rows::new(&self.contact, 1, 1, 0)]
    }

    fn shared(&self) -> Vec<Rows<'_>> {
        vec![Rows::new(&self.x[0], 1, 1, 0), Rows::new(&self.v[0], 1, 1, 0)]
    }
}
