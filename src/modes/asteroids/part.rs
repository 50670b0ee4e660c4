//! Asteroids on several devices. All hold every body; each steps those of its share, and all are told where these are then
//! and how they move. The cell list stays on one device: it takes little longer to sort all bodies than to look at them.

use super::Asteroids;
use super::simulation::{AsteroidSimulation, Burst, Look};
use super::substeps::Schedule;
use crate::bodies::Bodies;
use crate::compute::{Field, Lane};
use crate::error::Result;
use crate::modes::fleet::{Duty, Fleet, Need, Part, Plan, Traffic};
use crate::modes::{Station, common_multiple};

/// What it does among several.
#[derive(Default)]
pub(super) struct Share {
    /// Bodies to a unit of work.
    grain: usize,
    /// Where its part of the step begins and ends, in work-items.
    start: usize,
    end: usize,
}

/// A simulation on each of `stations`.
pub(super) fn together(
    params: &Asteroids,
    stations: &[Station],
    bodies: &Bodies,
) -> Result<Fleet<AsteroidSimulation>> {
    let grain = stations.iter().map(|station| station.recipe.bodies_per_group()).fold(1, common_multiple);
    let build = |Station { device, recipe }: &Station| {
        let mut part = AsteroidSimulation::new(device, params, *recipe, bodies)?;
        part.share.grain = grain;
        Ok(part)
    };
    Ok(Fleet::new(stations.iter().map(build).collect::<Result<Vec<_>>>()?))
}

impl Part for AsteroidSimulation {
    /// Whether a step led here, how many substeps it had, and the numbers of the schedule of looks.
    type Mark = (bool, u32, Vec<f32>);

    fn mark(&mut self) -> Result<Self::Mark> {
        let look = self.last_look()?.unwrap_or_default();
        Ok((self.stepped, self.substeps, self.schedule.to_list(look, &self.params)))
    }

    fn follow(&mut self, (stepped, substeps, schedule): Self::Mark) {
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

    /// The first looks at the bodies, of which all know the same, and tells the others how many substeps the step has: another
    /// kind of device may round otherwise.
    fn agree(crew: &mut [&mut Self]) -> Result<()> {
        if let Some((first, others)) = crew.split_first_mut()
            && first.burst.substep == 0
        {
            first.begin_step()?;
            others.iter_mut().for_each(|other| other.divide(first.substeps));
        }
        Ok(())
    }

    fn begin(&mut self, stage: usize, duty: &Duty) -> Result<()> {
        self.burst.is_second = stage > 0;
        let items = |bodies: usize| match stage {
            0 => bodies.div_ceil(self.recipe.bodies_per_group()) * self.recipe.work_group,
            _ => bodies,
        };
        (self.share.start, self.share.end) = (items(duty.own.start), items(duty.own.end));
        self.burst.from = self.share.start;
        Ok(())
    }

    fn feed(&mut self) -> Result<bool> {
        while self.burst.from < self.share.end && !self.lane.is_full() {
            match self.burst.is_second {
                false => self.slice_of_first(self.burst.from == self.share.start, self.share.end)?,
                true => self.slice_of_second(self.share.end)?,
            }
        }
        Ok(self.burst.from >= self.share.end)
    }

    /// Between the passes the devices exchange what the first one tells of each body, after the last one the bodies.
    fn traffic(&self, stage: usize) -> Traffic<'_> {
        match &self.second {
            Some(second) if stage == 0 => Traffic::All(vec![Field::new(&second.roles, 1, 1, 0)]),
            _ => Traffic::All(vec![Field::new(&self.x[1], 1, 1, 0), Field::new(&self.v[1], 1, 1, 0)]),
        }
    }

    fn end_pass(&mut self) -> Result<()> {
        self.end_substep();
        Ok(())
    }

    fn kept(&self, _need: Need) -> Vec<Field<'_>> {
        vec![Field::new(&self.contact, 1, 1, 0)]
    }

    fn shared(&self) -> Vec<Field<'_>> {
        vec![Field::new(&self.x[0], 1, 1, 0), Field::new(&self.v[0], 1, 1, 0)]
    }
}
