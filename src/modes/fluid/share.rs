//! Fluid on several devices. Each device steps a band of rows and receives its neighbours' edge rows after each launch. The
//! tracers stay on the first device, which gathers the whole flow field each time they move.

use std::ops::Range;

use super::carried::SERIES;
use super::parameters::Fluid;
use super::simulation::{Burst, CARRY, FluidSimulation, Share};
use super::variants::{cells_of_group, steps_of_launch};
use crate::base::error::Result;
use crate::base::flow::Flow;
use crate::compute::{Lane, Rows};
use crate::modes::DeviceRecipe;
use crate::modes::fleet::{Assignment, Fleet, Need, Plan, SharedSimulation, Traffic};
use crate::modes::variant::common_multiple;

/// Builds a simulation on each of `device_recipes`, which share the steps.
pub(super) fn together(
    params: &Fluid,
    device_recipes: &[DeviceRecipe],
    flow: &Flow,
    tracers: &[[f32; 2]],
) -> Result<Fleet<FluidSimulation>> {
    // All devices must take the same number of steps per launch.
    let steps = device_recipes.iter().map(|own| steps_of_launch(&own.recipe)).min().unwrap_or(1);
    let build = |DeviceRecipe { device, recipe }: &DeviceRecipe| {
        FluidSimulation::new(device, params, recipe.with_knob("steps", steps as u32), flow, tracers)
    };
    let mut parts = device_recipes.iter().map(build).collect::<Result<Vec<_>>>()?;
    let rows = parts.iter().map(|part| cells_of_group(&part.recipe)[1]).fold(1, common_multiple);
    let summed_steps = parts.iter().map(FluidSimulation::summed_steps).min();
    for part in &mut parts {
        // A band must be at least as high as the edge that a launch reads.
        part.share.grain = rows * steps.div_ceil(rows);
        (part.share.edge, part.share.summed_steps) = (steps, summed_steps);
    }
    Ok(Fleet::new(parts))
}

impl FluidSimulation {
    /// Returns the rows of one of the two grids.
    fn rows(&self, grid: usize) -> Rows<'_> {
        let (each, planes, pitch) = self.grid.rows();
        Rows::new(&self.f[grid], each, planes, pitch)
    }

    /// Returns the index of the grid that holds the result of a step before the grids are swapped.
    fn result(&self) -> usize {
        usize::from(self.stages.len() == 1)
    }
}

impl SharedSimulation for FluidSimulation {
    /// Number of steps so far, and the mean speeds of the burst so far.
    type HostState = (u32, Option<Vec<f32>>);

    fn host_state(&mut self) -> Result<Self::HostState> {
        Ok((self.now, self.share.told.clone()))
    }

    fn adopt(&mut self, (now, told): Self::HostState) {
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
        // The device with the last unit also steps the remaining rows.
        Plan { units: (count / grain).max(1), count, grain: Some(grain), edge, cut: CARRY }
    }

    fn remains(&self) -> bool {
        self.share.in_step || self.burst.step < self.burst.steps
    }

    fn stages(&self) -> usize {
        if self.share.carries { 3 } else { 1 }
    }

    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<()> {
        let (carries, steps) = match stage {
            0 => (self.carries(self.steps_of_launch()), self.steps_of_launch()),
            _ => (self.share.carries, self.share.steps),
        };
        let share = &mut self.share;
        (share.stage, share.own, share.is_first) = (stage, assignment.own.clone(), assignment.nth == 0);
        (share.in_step, share.carries, share.is_fed, share.is_shown) = (true, carries, false, false);
        share.steps = steps;
        match stage {
            0 => {
                self.burst.from = self.items(assignment.own.start);
                if self.burst.step == 0 {
                    // Only the device's own rows write sums; all others must be 0.
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
            1 => Traffic::ToFirst(Rows::new(&self.field, self.walls.nx, 1, 0)),
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

    fn kept(&self, need: Need) -> Vec<Rows<'_>> {
        match need {
            Need::Picture | Need::Sums => vec![Rows::new(&self.field, self.walls.nx, 1, 0)],
            Need::State => vec![self.rows(0)],
            Need::LastStep => vec![self.rows(0), self.rows(1)],
        }
    }

    fn shared(&self) -> Vec<Rows<'_>> {
        Vec::new()
    }

    fn apart(&self) -> Option<(Rows<'_>, usize)> {
        Some((Rows::new(&self.tracers, 1, 1, 0), self.tracer_count))
    }

    fn show(&mut self, need: Need, own: &Range<usize>) -> Result<()> {
        self.share.is_shown = need <= Need::Sums;
        if self.share.is_shown { self.look_at(own.clone()) } else { Ok(()) }
    }

    fn sum_up(participants: &mut [&mut Self], goes_on: bool, is_whole: bool) -> Result<()> {
        let told = match participants {
            // A single device keeps its own series.
            [_] if is_whole => None,
            _ => {
                let series =
                    participants.iter().map(|part| part.series[0].read()).collect::<Result<Vec<_>>>()?;
                let sum = |nth: usize| series.iter().map(|series| series[nth]).sum::<f32>();
                let sums = (0..series[0].len()).map(sum);
                let before = participants[0].share.told.take().filter(|_| goes_on).unwrap_or_default();
                let all: Vec<f32> = before.into_iter().chain(sums).collect();
                Some(all[all.len().saturating_sub(SERIES)..].to_vec())
            }
        };
        if let Some(first) = participants.first_mut() {
            first.share.told = told;
        }
        Ok(())
    }
}
