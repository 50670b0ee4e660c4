//! Gravity on several devices. All hold every place. Where a variant sums for one body at a time, each steps the bodies of its
//! share; `mutual`, which sees both sides of a pair at once, shares the tiles of pairs instead, and then the sums are
//! exchanged too.

use std::ops::Range;

use super::mutual::{self, Sums};
use super::simulation::{Burst, GravitySimulation, planes, step_defines};
use super::{Colour, Gravity};
use crate::bodies::Bodies;
use crate::compute::{Arg, Field, Lane};
use crate::error::Result;
use crate::modes::fleet::{Duty, Fleet, Need, Part, Plan, Traffic};
use crate::modes::{Recipe, Station, common_multiple};

/// What it does among several.
#[derive(Default)]
pub(super) struct Share {
    /// Bodies to a unit of work.
    grain: usize,
    /// Where pairs are shared.
    sums: Option<Sums>,
    stage: usize,
    duty: Duty,
    /// Where the stage ends, in work-items.
    end: usize,
    /// Whether the stage has nothing to be queued any more.
    is_fed: bool,
}

/// A simulation on each of `stations`.
pub(super) fn together(
    params: &Gravity,
    stations: &[Station],
    bodies: &Bodies,
) -> Result<Fleet<GravitySimulation>> {
    let recipes: Vec<Recipe> = stations.iter().map(|station| station.recipe).collect();
    let side = mutual::side(&recipes, bodies.len());
    let grain = recipes.iter().map(Recipe::bodies_per_group).fold(1, common_multiple);
    let build = |station: &Station| {
        let Station { device, recipe } = station;
        let mut part = GravitySimulation::new(device, params, (*recipe, side), bodies)?;
        part.share.grain = grain;
        if part.tiles.is_some() {
            part.share.sums = Some(Sums::new(device, &step_defines(params), bodies.len(), stations.len())?);
        }
        Ok(part)
    };
    let parts = stations.iter().map(build).collect::<Result<Vec<_>>>()?;
    Ok(Fleet::new(parts))
}

impl GravitySimulation {
    fn evaluates_forces(&self) -> bool {
        self.step_of(self.burst.pass).0
    }
}

impl Part for GravitySimulation {
    /// Whether the accelerations are those of the places, whether a step led there, and whether there are any.
    type Mark = (bool, bool, bool);

    fn mark(&mut self) -> Result<(bool, bool, bool)> {
        Ok((self.a_is_current, self.stepped, self.a_is_there))
    }

    fn follow(&mut self, mark: (bool, bool, bool)) {
        (self.a_is_current, self.stepped, self.a_is_there) = mark;
        self.burst = Burst::default();
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.lane
    }

    fn plan(&self) -> Plan {
        let count = self.count;
        match &self.tiles {
            Some(tiles) => Plan { units: tiles.count(), count, grain: None, edge: 0, cut: 1 },
            None => {
                let grain = self.share.grain;
                Plan { units: count.div_ceil(grain), count, grain: Some(grain), edge: 0, cut: 1 }
            }
        }
    }

    fn remains(&self) -> bool {
        self.burst.pass < self.burst.passes
    }

    fn stages(&self) -> usize {
        if self.evaluates_forces() && self.tiles.is_some() { 2 } else { 1 }
    }

    fn begin(&mut self, stage: usize, duty: &Duty) -> Result<()> {
        let items = |bodies: usize| bodies.div_ceil(self.recipe.bodies_per_group()) * self.recipe.work_group;
        let team = Sums::team(&self.recipe);
        let range: Range<usize> = match (self.evaluates_forces(), &self.tiles) {
            (false, _) => duty.own.clone(),
            (true, Some(_)) => duty.work.start * team..duty.work.end * team,
            (true, None) => items(duty.own.start)..items(duty.own.end),
        };
        self.burst.from = range.start;
        let share = &mut self.share;
        (share.stage, share.duty, share.end, share.is_fed) = (stage, duty.clone(), range.end, false);
        Ok(())
    }

    fn feed(&mut self) -> Result<bool> {
        let (forces, step) = self.step_of(self.burst.pass);
        let Self { lane, share, .. } = self;
        match (&self.tiles, &share.sums) {
            (Some(tiles), Some(sums)) if forces => {
                let eps2 = Arg::Float(self.params.eps * self.params.eps);
                if share.stage == 1 && !share.is_fed {
                    let state = [&self.x[0], &self.x[1], &self.v, &self.a].map(Arg::from);
                    let c = Arg::Float8(step.coefficients(tiles.mass_unit()));
                    sums.finish(lane, c, (&share.duty.own, share.duty.of), state)?;
                    share.is_fed = true;
                }
                while !share.is_fed && !lane.is_full() {
                    let x = Arg::from(&self.x[0]);
                    let from = (&share.duty.work, self.burst.from);
                    self.burst.from = sums.meet(lane, tiles, (eps2, x), from)?;
                    share.is_fed = self.burst.from >= share.end;
                }
            }
            _ => {
                while self.burst.from < self.share.end && !self.lane.is_full() {
                    self.slice_of_pass(self.share.end)?;
                }
                self.share.is_fed = self.burst.from >= self.share.end;
            }
        }
        Ok(self.share.is_fed)
    }

    fn traffic(&self, stage: usize) -> Traffic<'_> {
        match (&self.share.sums, stage) {
            (Some(Sums { parts, others, stride, .. }), 0) if self.evaluates_forces() => Traffic::Sums {
                parts: Field::new(parts, 3, 1, 0),
                into: Field::new(others, 3, 1, 0),
                stride: *stride,
            },
            _ => Traffic::All(vec![Field::new(&self.x[1], 1, 1, 0)]),
        }
    }

    fn end_pass(&mut self) -> Result<()> {
        GravitySimulation::end_pass(self);
        Ok(())
    }

    fn kept(&self, need: Need) -> Vec<Field<'_>> {
        let v = Field::new(&self.v, 1, 1, 0);
        match need {
            Need::Picture if self.params.colour != Colour::Acceleration => vec![v],
            Need::Picture | Need::Sums => vec![v, Field::new(&self.a, 1, 1, 0)],
            Need::State | Need::LastStep => {
                let with_low_parts = Field::new(&self.v, 1, planes(&self.params), self.count);
                vec![with_low_parts, Field::new(&self.a, 1, 1, 0)]
            }
        }
    }

    fn shared(&self) -> Vec<Field<'_>> {
        vec![Field::new(&self.x[0], 1, 1, 0)]
    }
}
