//! Divides a gravity simulation among devices. Each has the positions of all bodies and evaluates part of the forces.

use std::ops::Range;

use super::parameters::Colour;
use super::simulation::{Burst, GravitySimulation, Known};
use super::solver::ForcePass;
use super::step::planes;
use crate::base::Result;
use crate::compute::{Arg, Pass, Rows};
use crate::modes::fleet::{Assignment, Cursor, Need, Plan, SharedSimulation, Traffic};

impl GravitySimulation {
    fn evaluates_forces(&self) -> bool {
        self.step_of(self.burst.pass).0
    }
}

impl SharedSimulation for GravitySimulation {
    type HostState = Known;

    fn host_state(&mut self) -> Result<Known> {
        Ok(self.known)
    }

    fn adopt(&mut self, known: Known) {
        (self.known, self.burst) = (known, Burst::default());
    }

    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn plan(&self) -> Plan {
        self.solver.plan()
    }

    fn remains(&self) -> bool {
        self.burst.pass < self.burst.passes
    }

    fn stages(&self) -> usize {
        let is_shared = self.cursor.assignment.of > 1;
        if is_shared && self.evaluates_forces() { self.solver.stages() } else { 1 }
    }

    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<Range<usize>> {
        Ok(match self.evaluates_forces() {
            true => self.solver.share(stage, assignment),
            false => assignment.own.clone(),
        })
    }

    fn slice(&mut self, stage: usize, assignment: &Assignment, range: Range<usize>) -> Result<usize> {
        let (forces, step) = self.step_of(self.burst.pass);
        let Self { lane, solver, x, v, a, params, .. } = self;
        let state = [&x[0], &x[1], &*v, &*a].map(Arg::from);
        let (eps2, opening) = (Arg::Float(params.eps * params.eps), params.opening);
        let pass = ForcePass { eps2, opening, step, state, stage, assignment };
        if forces {
            return solver.evaluate(lane, &pass, range);
        }
        let args = [&[Arg::Uint(self.count as u32), pass.coefficients(1.0)], &state[..]].concat();
        lane.slice(Pass::cheap(&self.drift, &args, range.end), range.start)
    }

    fn end_pass(&mut self) -> Result<()> {
        self.x.swap(0, 1);
        self.burst.pass += 1;
        Ok(())
    }

    fn traffic(&self, stage: usize) -> Traffic<'_> {
        let sums = if self.evaluates_forces() { self.solver.traffic(stage) } else { None };
        let more = self.solver.gathered();
        sums.unwrap_or_else(|| {
            Traffic::All([Rows::new(&self.x[1], 1, 1, 0)].into_iter().chain(more).collect())
        })
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
