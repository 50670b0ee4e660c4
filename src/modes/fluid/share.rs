//! Divides a fluid among devices. Each device advances a band of rows, and receives its neighbours' edge rows after
//! each launch. A device computes its own edge rows first, so that they are transferred while it computes its other
//! rows. The tracers stay on the first device, which gathers the whole flow field before it moves the tracers.

use std::ops::Range;

use super::carried::SERIES;
use super::simulation::{Burst, FluidSimulation, MOVE_STEPS, Share};
use super::variants::cells_of_group;
use crate::base::Result;
use crate::compute::{Arg, Pass, Rows};
use crate::modes::{Assignment, Cursor, Need, Plan, SharedSimulation, Traffic, common_multiple};

impl FluidSimulation {
    /// Sets the same unit of work (a number of grid rows) on all devices, large enough for launches of `steps` steps.
    pub(super) fn agree_on_units(parts: &mut [Self], steps: usize) {
        let rows = parts.iter().map(|part| cells_of_group(&part.recipe)[1]).fold(1, common_multiple);
        let summed_steps = parts.iter().map(Self::summed_steps).min();
        for part in parts {
            // A band must be at least as high as the edge that a launch reads.
            part.share.grain = rows * steps.div_ceil(rows);
            (part.share.edge, part.share.summed_steps) = (steps, summed_steps);
        }
    }

    /// Describes how the grid's rows are laid out in the buffer `f[grid]`.
    fn rows(&self, grid: usize) -> Rows<'_> {
        let (each, planes, pitch) = self.grid.rows();
        Rows::new(&self.f[grid], each, planes, pitch)
    }
}

/// Each kernel of a launch is a stage; moving the tracers takes two additional stages.
impl SharedSimulation for FluidSimulation {
    /// State kept on the host: the number of steps so far, and the mean speeds of the current burst. The speeds are
    /// stored as bits, because JSON cannot represent the non-finite speeds of a flow that blew up.
    type HostState = (u32, Option<Vec<u32>>);

    fn host_state(&mut self) -> Result<Self::HostState> {
        let bits = |speeds: &Vec<f32>| speeds.iter().map(|speed| speed.to_bits()).collect();
        Ok((self.now, self.share.mean_speeds.as_ref().map(bits)))
    }

    fn adopt(&mut self, (now, mean_speeds): Self::HostState) {
        let speeds = |bits: Vec<u32>| bits.into_iter().map(f32::from_bits).collect();
        (self.now, self.share.mean_speeds) = (now, mean_speeds.map(speeds));
        (self.burst, self.stepped, self.share.has_all_fields) = (Burst::default(), false, false);
    }

    fn cursor(&mut self) -> &mut Cursor {
        &mut self.cursor
    }

    fn plan(&self) -> Plan {
        let Share { grain, edge, .. } = self.share;
        let count = self.walls.ny;
        // The device with the last unit also advances the remaining rows.
        let units = (count / grain.max(1)).max(1);
        Plan { units, count, grain: Some(grain), edge, cut: MOVE_STEPS, has_fixed_work: false }
    }

    fn remains(&self) -> bool {
        self.cursor.stage > 0 || self.burst.step < self.burst.steps
    }

    fn stages(&self) -> usize {
        self.kernels.len() + if self.share.moves_tracers { 2 } else { 0 }
    }

    fn begin(&mut self, stage: usize, assignment: &Assignment) -> Result<Range<usize>> {
        let Assignment { own, nth, of, .. } = assignment;
        if stage == 0 {
            self.share.steps = self.steps_of_launch();
            self.share.moves_tracers = self.moves_tracers(self.share.steps);
            if *of > 1 && self.burst.step == 0 {
                // Only the device's own rows write sums, so the other sums must be set to 0.
                self.sums.clear()?;
            }
            self.before_step()?;
        }
        self.share.has_all_fields = false;
        match stage.checked_sub(self.kernels.len()) {
            None => return Ok(self.items(own.start)..self.items(own.end)),
            Some(0) => {
                self.after(self.share.steps)?;
                self.update_field(own.clone())?;
            }
            Some(_) if *nth == 0 => self.move_tracers()?,
            Some(_) => {}
        }
        Ok(0..0)
    }

    fn inner(&self, stage: usize, Assignment { own, .. }: &Assignment) -> Option<Range<usize>> {
        let [_, rows] = cells_of_group(&self.recipe);
        let start = (own.start + self.share.edge).next_multiple_of(rows);
        let end = own.end.saturating_sub(self.share.edge) / rows * rows;
        let is_last = stage + 1 == self.kernels.len();
        (is_last && start < end).then(|| self.items(start)..self.items(end))
    }

    fn slice(&mut self, kernel: usize, _: &Assignment, range: Range<usize>) -> Result<usize> {
        let steps = self.share.steps;
        let (c, grid) = (self.coefficients(), self.grid.args());
        let [f, other] = [&self.f[0], &self.f[1]].map(Arg::from);
        let solid = Arg::from(&self.solid);
        let (sums, from) = (Arg::from(&self.sums), self.burst.step - self.burst.summed);
        let from = Arg::Uint((from as usize * self.groups()) as u32);
        let own = match (self.kernels.len(), kernel) {
            (1, _) => {
                let [first, rows] = self.driven_rows();
                let is_last = self.burst.step + steps == self.burst.steps;
                let end = if is_last { first } else { first + rows };
                let mut own =
                    vec![c, Arg::Uint(first as u32), Arg::Uint(end as u32), solid, f, other, sums, from];
                own.extend((self.recipe.knob("steps") > 0).then_some(Arg::Uint(steps)));
                own
            }
            (_, 0) => vec![c, f, other],
            (_, 3) => vec![c, solid, f, sums, from],
            (_, _) => vec![c, solid, other, f],
        };
        let args = [grid.as_slice(), &own].concat();
        let (group, cost) = (self.recipe.work_group, self.recipe.bodies_per_item() * f64::from(steps));
        let pass = Pass { kernel: &self.kernels[kernel], args: &args, items: range.end, group, cost };
        self.lane.slice(pass, range.start)
    }

    fn end_pass(&mut self) -> Result<()> {
        if self.share.moves_tracers {
            self.burst.moved = self.burst.step;
            return Ok(());
        }
        self.after(self.share.steps)
    }

    fn traffic(&self, stage: usize) -> Traffic<'_> {
        let kernels = self.kernels.len();
        match stage {
            // Uses the buffer with the result of the launch, because the grids are not swapped yet.
            last if last + 1 == kernels => Traffic::Edges(self.rows(usize::from(kernels == 1))),
            field if field == kernels => Traffic::ToFirst(Rows::new(&self.field, self.walls.nx, 1, 0)),
            _ => Traffic::Nothing,
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
        Some((Rows::new(&self.tracers, 1, 1, 0), self.tracers.len()))
    }

    fn show(&mut self, need: Need, own: &Range<usize>) -> Result<()> {
        self.share.has_all_fields = need <= Need::Sums;
        if self.share.has_all_fields { self.update_field(own.clone()) } else { Ok(()) }
    }

    fn recorded(&mut self) -> Result<Vec<f32>> {
        self.series[0].read()
    }

    fn sum_up(&mut self, records: &[Vec<f32>], goes_on: bool) {
        // A device that computes a burst alone keeps its own series of mean speeds.
        self.share.mean_speeds = records.first().map(|first| {
            let sums = (0..first.len()).map(|nth| records.iter().map(|record| record[nth]).sum::<f32>());
            let before = self.share.mean_speeds.take().filter(|_| goes_on).unwrap_or_default();
            let all: Vec<f32> = before.into_iter().chain(sums).collect();
            all[all.len().saturating_sub(SERIES)..].to_vec()
        });
    }
}
