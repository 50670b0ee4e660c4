//! Fluid on several devices: each steps a band of rows, and is told after each step what stands in the rows beside it. The
//! tracers stay with the first: it is told how all of the fluid flows when they move on, every few steps.

use std::ops::Range;

use super::simulation::{Burst, CARRY, FluidSimulation, SERIES};
use super::{Fluid, cells_of_group, steps_of_launch};
use crate::compute::{Field, Lane};
use crate::error::Result;
use crate::lattice::Flow;
use crate::modes::fleet::{Duty, Fleet, Need, Part, Plan, Traffic};
use crate::modes::{Station, common_multiple};

/// What it does among several.
#[derive(Default)]
pub(super) struct Share {
    /// Rows to a unit of work.
    grain: usize,
    /// Rows beside its own that reach these in a launch.
    edge: usize,
    /// As `FluidSimulation::summed_steps`, of all.
    pub summed_steps: Option<u32>,
    stage: usize,
    own: Range<usize>,
    is_first: bool,
    /// Whether a launch has begun and not ended, the steps of it, whether tracers move on after it, and whether the stage is
    /// all queued.
    in_step: bool,
    steps: u32,
    carries: bool,
    is_fed: bool,
    /// Whether how all of it flows was gathered here.
    pub is_shown: bool,
    /// The mean speeds of the burst, where several devices added them up.
    pub told: Option<Vec<f32>>,
}

/// A simulation on each of `stations`.
pub(super) fn together(
    params: &Fluid,
    stations: &[Station],
    flow: &Flow,
    tracers: &[[f32; 2]],
) -> Result<Fleet<FluidSimulation>> {
    // They have to keep step.
    let steps = stations.iter().map(|station| steps_of_launch(&station.recipe)).min().unwrap_or(1);
    let build = |Station { device, recipe }: &Station| {
        FluidSimulation::new(device, params, recipe.with_knob("steps", steps as u32), flow, tracers)
    };
    let mut parts = stations.iter().map(build).collect::<Result<Vec<_>>>()?;
    let rows = parts.iter().map(|part| cells_of_group(&part.recipe)[1]).fold(1, common_multiple);
    let summed_steps = parts.iter().map(FluidSimulation::summed_steps).min();
    for part in &mut parts {
        // At least as many as reach the rows beside them in a launch.
        part.share.grain = rows * steps.div_ceil(rows);
        (part.share.edge, part.share.summed_steps) = (steps, summed_steps);
    }
    Ok(Fleet::new(parts))
}

impl FluidSimulation {
    /// The rows of one of the two grids.
    fn rows(&self, grid: usize) -> Field<'_> {
        let (each, planes, pitch) = self.grid.rows();
        Field::new(&self.f[grid], each, planes, pitch)
    }

    /// Where a step leaves the cells before the grids are swapped.
    fn result(&self) -> usize {
        usize::from(self.stages.len() == 1)
    }
}

impl Part for FluidSimulation {
    /// The step, and the mean speeds of the burst so far.
    type Mark = (u32, Option<Vec<f32>>);

    fn mark(&mut self) -> Result<Self::Mark> {
        Ok((self.now, self.share.told.clone()))
    }

    fn follow(&mut self, (now, told): Self::Mark) {
        (self.now, self.share.told) = (now, told);
        (self.burst, self.stepped) = (Burst::default(), false);
        (self.share.is_shown, self.share.in_step) = (false, false);
    }

    fn lane(&mut self) -> &mut Lane {
        &mut self.lane
    }

    fn plan(&self) -> Plan {
        let Share { grain, edge, .. } = self.share;
        let count = self.walls.ny;
        // Whoever has the last one has the rest too.
        Plan { units: (count / grain).max(1), count, grain: Some(grain), edge, cut: CARRY }
    }

    fn remains(&self) -> bool {
        self.share.in_step || self.burst.step < self.burst.steps
    }

    fn stages(&self) -> usize {
        if self.share.carries { 3 } else { 1 }
    }

    fn begin(&mut self, stage: usize, duty: &Duty) -> Result<()> {
        let (carries, steps) = match stage {
            0 => (self.carries(self.steps_of_launch()), self.steps_of_launch()),
            _ => (self.share.carries, self.share.steps),
        };
        let share = &mut self.share;
        (share.stage, share.own, share.is_first) = (stage, duty.own.clone(), duty.nth == 0);
        (share.in_step, share.carries, share.is_fed, share.is_shown) = (true, carries, false, false);
        share.steps = steps;
        match stage {
            0 => {
                self.burst.from = self.items(duty.own.start);
                if self.burst.step == 0 {
                    // Only its own rows write their sums, whatever stood there before.
                    self.sums.clear()?;
                }
                self.before_step()
            }
            1 => self.after(steps),
            _ => Ok(()),
        }
    }

    fn feed(&mut self) -> Result<bool> {
        let Share { own, stage, is_first, .. } = &self.share;
        let (own, stage, is_first) = (own.clone(), *stage, *is_first);
        let (start, end) = (self.items(own.start), self.items(own.end));
        while !self.share.is_fed && !self.lane.is_full() {
            self.share.is_fed = match stage {
                0 => {
                    self.slice_of_stage(end, self.share.steps)?;
                    if self.burst.from >= end {
                        (self.burst.stage, self.burst.from) = (self.burst.stage + 1, start);
                    }
                    self.burst.stage == self.stages.len()
                }
                1 => self.look_at(own.clone()).map(|()| true)?,
                _ if is_first => self.carry().map(|()| true)?,
                _ => true,
            };
        }
        Ok(self.share.is_fed)
    }

    fn traffic(&self, stage: usize) -> Traffic<'_> {
        match stage {
            0 => Traffic::Edges(self.rows(self.result())),
            1 => Traffic::ToFirst(Field::new(&self.field, self.walls.nx, 1, 0)),
            _ => Traffic::Nothing,
        }
    }

    fn end_pass(&mut self) -> Result<()> {
        (self.burst.stage, self.burst.from, self.share.in_step) = (0, 0, false);
        if self.share.carries {
            self.burst.carried = self.burst.step;
            Ok(())
        } else {
            self.after(self.share.steps)
        }
    }

    fn kept(&self, need: Need) -> Vec<Field<'_>> {
        match need {
            Need::Picture | Need::Sums => vec![Field::new(&self.field, self.walls.nx, 1, 0)],
            Need::State => vec![self.rows(0)],
            Need::LastStep => vec![self.rows(0), self.rows(1)],
        }
    }

    fn shared(&self) -> Vec<Field<'_>> {
        Vec::new()
    }

    fn apart(&self) -> Option<(Field<'_>, usize)> {
        Some((Field::new(&self.tracers, 1, 1, 0), self.tracer_count))
    }

    fn show(&mut self, need: Need, own: &Range<usize>) -> Result<()> {
        self.share.is_shown = need <= Need::Sums;
        if self.share.is_shown { self.look_at(own.clone()) } else { Ok(()) }
    }

    fn sum_up(crew: &mut [&mut Self], goes_on: bool, is_whole: bool) -> Result<()> {
        let told = match crew {
            // It tells by itself.
            [_] if is_whole => None,
            _ => {
                let series = crew.iter().map(|part| part.series[0].read()).collect::<Result<Vec<_>>>()?;
                let sum = |nth: usize| series.iter().map(|series| series[nth]).sum::<f32>();
                let sums = (0..series[0].len()).map(sum);
                let before = crew[0].share.told.take().filter(|_| goes_on).unwrap_or_default();
                let all: Vec<f32> = before.into_iter().chain(sums).collect();
                Some(all[all.len().saturating_sub(SERIES)..].to_vec())
            }
        };
        if let Some(first) = crew.first_mut() {
            first.share.told = told;
        }
        Ok(())
    }
}
