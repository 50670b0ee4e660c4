//! Divides a gravity simulation among devices. Each device has the positions of all bodies and evaluates part of the
//! forces.

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

    /// Returns the rows of the velocity buffer, including rounding errors if the `compensated` parameter is on.
    fn velocity_rows(&self) -> Rows<'_> {
        Rows::new(&self.v, 1, planes(&self.params), self.count)
    }

    /// Returns whether every device completes the step of all bodies.
    fn is_replicated(&self) -> bool {
        self.solver.replicated().is_some()
    }
}

impl SharedSimulation for GravitySimulation {
    /// State kept on the host: the validity of the accelerations, and the result of
    /// [`Solver::has_earlier_pass`](super::solver::Solver::has_earlier_pass).
    type HostState = (Known, bool);

    fn host_state(&mut self) -> Result<(Known, bool)> {
        Ok((self.known, self.solver.has_earlier_pass()))
    }

    fn adopt(&mut self, (known, has_earlier_pass): (Known, bool)) {
        (self.known, self.burst) = (known, Burst::default());
        self.solver.set_earlier_pass(has_earlier_pass);
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
            false if self.is_replicated() => 0..self.count,
            false => assignment.own.clone(),
        })
    }

    fn inner(&self, stage: usize, assignment: &Assignment) -> Option<Range<usize>> {
        if self.evaluates_forces() { self.solver.inner(stage, assignment) } else { None }
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
        let forces = if self.evaluates_forces() { self.solver.traffic(stage) } else { None };
        forces.unwrap_or_else(|| match self.is_replicated() {
            true => Traffic::Nothing,
            false => Traffic::All(vec![Rows::new(&self.x[1], 1, 1, 0)]),
        })
    }

    fn kept(&self, need: Need) -> Vec<Rows<'_>> {
        let v = Rows::new(&self.v, 1, 1, 0);
        match need {
            _ if self.is_replicated() => Vec::new(),
            Need::Picture if self.params.colour != Colour::Acceleration => vec![v],
            Need::Picture | Need::Sums => vec![v, Rows::new(&self.a, 1, 1, 0)],
            Need::State | Need::LastStep => {
                vec![self.velocity_rows(), Rows::new(&self.a, 1, 1, 0)]
            }
        }
    }

    fn shared(&self) -> Vec<Rows<'_>> {
        let x = Rows::new(&self.x[0], 1, 1, 0);
        match self.solver.replicated() {
            Some(more) => vec![x, self.velocity_rows(), Rows::new(&self.a, 1, 1, 0), more],
            None => vec![x],
        }
    }
}
