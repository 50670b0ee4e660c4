//! Divides a simulation of asteroids among devices. Each device stores all bodies and advances its share of them; then
//! the devices exchange positions and velocities. The `grid` variant runs on one device only, because sorting all
//! bodies takes nearly as long as testing them.

use std::ops::Range;

use super::simulation::{AsteroidSimulation, Burst, Measurement};
use super::solver::{ContactPass, SecondPass};
use super::substeps::Schedule;
use crate::base::Result;
use crate::compute::{Arg, Pass, Rows};
use crate::modes::fleet::{Assignment, Cursor, Need, Plan, SharedSimulation, Traffic};

impl SharedSimulation for AsteroidSimulation {
    /// State kept on the host: the flag `stepped`, the number of substeps per step, and the substep schedule as a list.
    type HostState = (bool, u32, Vec<f32>);

    fn host_state(&mut self) -> Result<Self::HostState> {
        let measured = self.last_measurement()?.unwrap_or_default();
        Ok((self.stepped, self.substeps, self.schedule.to_list(measured, &self.params)))
    }

    fn adopt(&mut self, (stepped, substeps, schedule): Self::HostState) {
        (self.stepped, self.substeps, self.burst) = (stepped, substeps, Burst::default());
        self.schedule = Schedule::from_list(&schedule, &self.params, Measurement::Done).unwrap_or_default();
    }

    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn plan(&self) -> Plan {
        let Self { grain, count, .. } = *self;
        Plan {
            units: count.div_ceil(grain),
            count,
            grain: Some(grain),
            edge: 0,
            cut: 1,
            has_fixed_work: false,
        }
    }

    fn remains(&self) -> bool {
        self.burst.step < self.burst.steps
    }

    fn stages(&self) -> usize {
        if self.second.is_some() { 2 } else { 1 }
    }

    /// Chooses the number of substeps. One device chooses for all devices, because their rounding may differ.
    fn decide(&mut self) -> Result<u32> {
        if self.burst.substep == 0 {
            self.begin_step()?;
        }
        Ok(self.substeps)
    }

    fn follow(&mut self, substeps: u32) {
        self.substeps = substeps;
    }

    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<Range<usize>> {
        Ok(if stage == 0 { self.solver.share(assignment) } else { assignment.own.clone() })
    }

    fn slice(&mut self, stage: usize, assignment: &Assignment, range: Range<usize>) -> Result<usize> {
        let coefficients = self.coefficients();
        let Self { lane, solver, x, v, contact, second, params, radii, count, .. } = self;
        let pass = ContactPass {
            bodies: *count,
            coefficients,
            radius: params.radius,
            largest: radii[1] * params.radius,
            from: [&x[0], &v[0]],
            to: [&x[1], &v[1], &*contact].map(Arg::from),
            second: second.as_ref(),
            assignment,
        };
        match pass.second.filter(|_| stage > 0) {
            None => solver.evaluate(lane, &pass, range),
            Some(SecondPass { kernel, .. }) => {
                let (args, group) = (solver.second_args(&pass), solver.advance().recipe.work_group);
                let pass = Pass { kernel, args: &args, items: range.end, group, cost: SecondPass::COST };
                lane.slice(pass, range.start)
            }
        }
    }

    fn end_pass(&mut self) -> Result<()> {
        self.x.swap(0, 1);
        self.v.swap(0, 1);
        let Burst { step, substep, substeps, .. } = &mut self.burst;
        *substep += 1;
        *substeps += 1;
        if *substep >= self.substeps {
            (*step, *substep) = (*step + 1, 0);
        }
        Ok(())
    }

    /// Returns the data to exchange. After the first of two passes, these are contact roles; after the last pass, they
    /// are the new positions and velocities.
    fn traffic(&self, stage: usize) -> Traffic<'_> {
        match &self.second {
            Some(second) if stage == 0 => Traffic::All(vec![Rows::new(&second.roles, 1, 1, 0)]),
            _ => Traffic::All(vec![Rows::new(&self.x[1], 1, 1, 0), Rows::new(&self.v[1], 1, 1, 0)]),
        }
    }

    fn kept(&self, _need: Need) -> Vec<Rows<'_>> {
        vec![Rows::new(&self.contact, 1, 1, 0)]
    }

    fn shared(&self) -> Vec<Rows<'_>> {
        vec![Rows::new(&self.x[0], 1, 1, 0), Rows::new(&self.v[0], 1, 1, 0)]
    }
}
