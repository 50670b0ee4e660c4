//! Fluid on a device.

use super::grid::{Grid, Layout};
use super::{Colour, Drive, Field, Fluid, check_walls};
use crate::bodies::{Points, Shape};
use crate::compute::{Arg, Buffer, Device, Kernel, Lane, Pass, Pending, Program, Source};
use crate::error::Result;
use crate::lattice::{Flow, Image, Walls};
use crate::modes::reduction::Reduction;
use crate::modes::{Diagnostics, Reading, Recipe, source, sources};

const CELL: Source = source!("fluid/cell.cl");
const GRID: Source = source!("fluid/grid.cl");
const FLOW: Source = source!("fluid/flow.cl");
const MEASURE: Source = source!("fluid/measure.cl");

/// Steps after which tracers move on: they go a cell or two in that time.
const CARRY: u32 = 16;
/// Steps whose sums of speeds wait for being added up, at most, and the numbers that there may be of them.
const SUMMED_STEPS: usize = 1024;
const SUMS: usize = 1 << 20;
/// Work-items that add up the sums of a step.
const SUM_GROUP: usize = 64;
/// The last steps of a burst of which the mean speed is kept. A multiple of all numbers of steps that are summed.
const SERIES: usize = 1 << 20;
/// The most pixels in a row or column of an image.
const IMAGE_SIDE: usize = 1024;

/// A flow on a device with the kernels that step it.
pub struct FluidSimulation {
    lane: Lane,
    device: Device,
    params: Fluid,
    walls: Walls,
    free: usize,
    recipe: Recipe,
    grid: Grid,
    stages: Vec<Kernel>,
    open_burst: Kernel,
    add_sums: Kernel,
    paint: Kernel,
    survey: Kernel,
    carry: Kernel,
    pack: Kernel,
    image: Kernel,
    reduction: Reduction,
    /// The cells now, and where the next step puts them: swapped by arguments. `split` keeps what arrived in the other.
    f: [Buffer<f32>; 2],
    solid: Buffer<u8>,
    /// Σ |u| of each work-group, for some steps.
    sums: Buffer<f32>,
    /// Σ |u| of all, for each step of a burst.
    series: Buffer<f32>,
    /// (ux, uy, ρ, free) of each cell, as it last was looked at.
    field: Buffer<[f32; 4]>,
    tracers: Buffer<[f32; 2]>,
    tracer_count: usize,
    place: Buffer<[f32; 4]>,
    value: Buffer<f32>,
    pixels: Buffer<f32>,
    burst: Burst,
    /// Steps so far: what tells one throw of the dice for a tracer from another.
    now: u32,
}

/// A burst under way.
#[derive(Debug, Clone, Copy, Default)]
struct Burst {
    steps: u32,
    /// The step that comes next, the stage of it, and the work-item at which that goes on.
    step: u32,
    stage: usize,
    from: usize,
    /// Steps whose speeds are added up, and up to which tracers were carried.
    summed: u32,
    carried: u32,
}

/// The entry points of a variant, in their order, and its grid.
fn stages_of(variant: &str) -> (&'static [&'static str], Layout) {
    match variant {
        "split" => (&["propagate", "rebound", "relax", "add_speeds"], Layout::Cells),
        "fused" => (&["advance"], Layout::Cells),
        "vector" => (&["advance"], Layout::Haloed),
        _ => (&["advance"], Layout::Planes),
    }
}

impl FluidSimulation {
    pub(super) fn new(device: &Device, params: &Fluid, recipe: Recipe, flow: &Flow) -> Result<Self> {
        let (names, layout) = stages_of(recipe.variant.name);
        let walls = flow.walls.clone();
        let grid = Grid::new(layout, &walls, params.drive == Drive::Inlet);
        // A work-group no wider than it is large.
        let recipe = recipe.with_knob("width", recipe.knob("width").min(recipe.work_group as u32));
        let build = |file: Source, defines: &[(&str, String)]| {
            Program::build(
                device,
                &sources(&[CELL, GRID, file]),
                &[grid.defines().as_slice(), defines].concat(),
            )
        };
        let stepping = build(recipe.variant.source(), &recipe.defines())?;
        let stages = names.iter().map(|name| stepping.kernel(name)).collect::<Result<Vec<_>>>()?;
        for stage in &stages {
            stage.check_work_group(recipe.variant.name, recipe.work_group)?;
        }
        let program = build(FLOW, &[])?;
        let reduction = Reduction::new(device, &[MEASURE], &[])?;
        let cells = grid.pack(&flow.cells);
        let tracer_count = flow.tracers.len();
        let mut simulation = Self {
            lane: Lane::new(device),
            device: device.clone(),
            params: params.clone(),
            free: walls.free(),
            recipe,
            grid,
            stages,
            open_burst: program.kernel("open_burst")?,
            add_sums: program.kernel("add_sums")?,
            paint: program.kernel("paint")?,
            survey: program.kernel("survey")?,
            carry: program.kernel("carry")?,
            pack: program.kernel("pack")?,
            image: program.kernel("image")?,
            reduction,
            // Both, since what is no cell is never written and may be read.
            f: [Buffer::from_slice(device, &cells)?, Buffer::from_slice(device, &cells)?],
            solid: Buffer::from_slice(device, &grid.solid(&walls))?,
            sums: Buffer::new(device, 0)?,
            series: Buffer::new(device, 0)?,
            field: Buffer::new(device, walls.cells())?,
            tracers: Buffer::from_slice(device, &flow.tracers)?,
            tracer_count,
            place: Buffer::new(device, tracer_count)?,
            value: Buffer::new(device, tracer_count)?,
            pixels: Buffer::new(device, 0)?,
            burst: Burst::default(),
            now: 0,
            walls,
        };
        simulation.sums = Buffer::new(device, simulation.groups() * simulation.summed_steps() as usize)?;
        let (width, height, _) = simulation.image_size();
        simulation.pixels = Buffer::new(device, width * height)?;
        simulation.carry_tracers(0)?;
        Ok(simulation)
    }

    fn width(&self) -> usize {
        self.recipe.knob("width") as usize
    }

    fn lanes(&self) -> usize {
        (self.recipe.knob("lanes") as usize).max(1)
    }

    fn groups(&self) -> usize {
        let height = self.recipe.work_group / self.width();
        self.walls.nx.div_ceil(self.width() * self.lanes()) * self.walls.ny.div_ceil(height)
    }

    /// Steps between two passes that add up sums: a power of two.
    fn summed_steps(&self) -> u32 {
        let fit = (SUMS / self.groups()).clamp(1, SUMMED_STEPS);
        1 << fit.ilog2()
    }

    /// c of `kernels/fluid/cell.cl`.
    fn coefficients(&self) -> Arg<'static> {
        let Fluid { density, accel, omega, inlet, .. } = self.params;
        let push = density * accel;
        Arg::Float8([omega, push / 9.0, push / 36.0, inlet, density, 0.0, 0.0, 0.0])
    }

    fn driven_rows(&self) -> [usize; 2] {
        self.params.driven_rows(self.walls.ny).into()
    }

    /// Queues a slice of the next stage, and what comes before and after the step.
    fn slice(&mut self) -> Result<()> {
        if self.burst.stage == 0 && self.burst.from == 0 {
            self.before_step()?;
        }
        let items = self.groups() * self.recipe.work_group;
        let (c, grid) = (self.coefficients(), self.grid.args());
        let [f, other] = [&self.f[0], &self.f[1]].map(Arg::from);
        let solid = Arg::from(&self.solid);
        let (sums, from) = (Arg::from(&self.sums), self.burst.step - self.burst.summed);
        let from = Arg::Uint((from as usize * self.groups()) as u32);
        let own = match (self.stages.len(), self.burst.stage) {
            (1, _) => {
                let [first, rows] = self.driven_rows();
                let is_last = self.burst.step + 1 == self.burst.steps;
                let end = if is_last { first } else { first + rows };
                vec![c, Arg::Uint(first as u32), Arg::Uint(end as u32), solid, f, other, sums, from]
            }
            (_, 0) => vec![c, f, other],
            (_, 3) => vec![solid, f, sums, from],
            (_, _) => vec![c, solid, other, f],
        };
        let args = [grid.as_slice(), &own].concat();
        let (group, cost) = (self.recipe.work_group, self.lanes() as f64);
        let pass = Pass { kernel: &self.stages[self.burst.stage], args: &args, items, group, cost };
        self.burst.from = self.lane.slice(pass, self.burst.from)?;
        if self.burst.from >= items {
            self.burst.from = 0;
            self.burst.stage += 1;
            if self.burst.stage == self.stages.len() {
                self.burst.stage = 0;
                self.after_step()?;
            }
        }
        Ok(())
    }

    /// The push: of a burst in one kernel only the first, since a step ends with the push of the next.
    fn before_step(&mut self) -> Result<()> {
        let is_split = self.stages.len() > 1;
        if self.burst.step == 0 {
            self.reserve_series()?;
        }
        let [first, rows] = self.driven_rows();
        if rows > 0 && (is_split || self.burst.step == 0) {
            let own = [
                self.coefficients(),
                Arg::Uint(first as u32),
                Arg::Uint(rows as u32),
                (&self.solid).into(),
                (&self.f[0]).into(),
            ];
            let args = [self.grid.args().as_slice(), &own].concat();
            self.lane.whole(Pass::cheap(&self.open_burst, &args, rows * self.walls.nx))?;
        }
        Ok(())
    }

    fn after_step(&mut self) -> Result<()> {
        if self.stages.len() == 1 {
            self.f.swap(0, 1);
        }
        self.burst.step += 1;
        self.now = self.now.wrapping_add(1);
        let ends = self.burst.step == self.burst.steps;
        let waiting = self.burst.step - self.burst.summed;
        if ends || waiting == self.summed_steps() {
            let from = self.burst.summed as usize % SERIES;
            let args = [
                Arg::Uint(self.groups() as u32),
                (&self.sums).into(),
                (&self.series).into(),
                Arg::Uint(from as u32),
            ];
            let items = waiting as usize * SUM_GROUP;
            let pass = Pass { kernel: &self.add_sums, args: &args, items, group: SUM_GROUP, cost: 0.0 };
            self.lane.whole(pass)?;
            self.burst.summed = self.burst.step;
        }
        let drift = self.burst.step - self.burst.carried;
        if ends || drift == CARRY {
            self.carry_tracers(drift)?;
            self.burst.carried = self.burst.step;
        }
        Ok(())
    }

    fn reserve_series(&mut self) -> Result<()> {
        let len = (self.burst.steps as usize).min(SERIES);
        if self.series.len() != len {
            self.series = Buffer::new(&self.device, len)?;
        }
        Ok(())
    }

    /// Looks at the cells as they are: what is drawn and told comes from that.
    fn look(&mut self) -> Result<()> {
        let own = [(&self.solid).into(), (&self.f[0]).into(), (&self.field).into()];
        let args = [self.grid.args().as_slice(), &own].concat();
        self.lane.whole(Pass::cheap(&self.survey, &args, self.walls.cells()))
    }

    fn sides(&self) -> [Arg<'static>; 2] {
        [self.walls.nx, self.walls.ny].map(|x| Arg::Uint(x as u32))
    }

    fn carry_tracers(&mut self, steps: u32) -> Result<()> {
        if self.tracer_count == 0 {
            return Ok(());
        }
        self.look()?;
        let [nx, ny] = self.sides();
        let args = [
            Arg::Uint(self.tracer_count as u32),
            nx,
            ny,
            Arg::Uint(steps),
            Arg::Uint(self.now),
            (&self.field).into(),
            (&self.tracers).into(),
        ];
        self.lane.whole(Pass::cheap(&self.carry, &args, self.tracer_count))
    }

    /// Takes over changed live parameters, from the next burst on.
    pub fn set(&mut self, params: &Fluid) {
        self.params = params.clone();
    }

    /// Plans a burst of `steps` steps, to be carried out by [`FluidSimulation::advance`].
    pub fn start(&mut self, steps: u32) {
        self.burst = Burst { steps, ..Burst::default() };
    }

    /// Queues the next part of the burst, at most about 100 ms of work, and says whether work remains.
    ///
    /// # Errors
    /// If the device refuses the work.
    pub fn advance(&mut self) -> Result<bool> {
        while self.burst.step < self.burst.steps && !self.lane.is_full() {
            self.slice()?;
        }
        self.lane.flush()?;
        Ok(self.burst.step < self.burst.steps)
    }

    /// The share of the burst that is queued, 0 to 1.
    pub fn progress(&self) -> f32 {
        let Burst { steps, step, .. } = self.burst;
        step as f32 / steps.max(1) as f32
    }

    /// Waits for all queued work.
    ///
    /// # Errors
    /// If the device fails.
    pub fn finish(&mut self) -> Result<()> {
        self.lane.finish()
    }

    /// Device time of the steps that ended since this was last asked, in seconds.
    pub fn take_seconds(&mut self) -> f64 {
        self.lane.take_seconds()
    }

    /// The flow after the last whole burst. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn state(&mut self) -> Result<Flow> {
        Ok(Flow {
            walls: self.walls.clone(),
            cells: self.grid.unpack(&self.f[0].read()?),
            tracers: self.tracers.read()?,
        })
    }

    /// The mean speed over the free cells after each step of the last burst, or of its last million steps. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn mean_speeds(&mut self) -> Result<Vec<f64>> {
        let mut sums = self.series.read()?;
        // Longer bursts go round in it.
        let first = if self.burst.summed as usize > SERIES { self.burst.summed as usize % SERIES } else { 0 };
        sums.rotate_left(first);
        Ok(sums.into_iter().map(|sum| f64::from(sum) / self.free as f64).collect())
    }

    /// Makes the cells within `radius` of the cell `at` solid, or free and at rest.
    ///
    /// # Errors
    /// If nothing could flow then, or the device fails.
    pub fn paint(&mut self, at: [usize; 2], radius: usize, solid: bool) -> Result<()> {
        let mut walls = self.walls.clone();
        walls.paint(at, radius, solid);
        check_walls(&walls)?;
        (self.free, self.walls) = (walls.free(), walls);
        let own = [
            self.coefficients(),
            Arg::Uint(at[0] as u32),
            Arg::Uint(at[1] as u32),
            Arg::Uint(radius as u32),
            Arg::Uint(u32::from(solid)),
            (&self.solid).into(),
            (&self.f[0]).into(),
        ];
        let args = [self.grid.args().as_slice(), &own].concat();
        self.lane.whole(Pass::cheap(&self.paint, &args, self.walls.cells()))
    }

    /// Queues the read-back of the tracers into the memory of `points`.
    ///
    /// # Errors
    /// If the device fails.
    pub fn publish(&mut self, Points { positions, values, .. }: Points) -> Result<Pending<Points>> {
        self.look()?;
        let [nx, ny] = self.sides();
        let colour = match self.params.colour {
            Colour::Speed => 0,
            Colour::Vorticity => 1,
        };
        let args = [
            Arg::Uint(self.tracer_count as u32),
            nx,
            ny,
            Arg::Uint(colour),
            (&self.field).into(),
            (&self.tracers).into(),
            (&self.place).into(),
            (&self.value).into(),
        ];
        if self.tracer_count > 0 {
            self.lane.whole(Pass::cheap(&self.pack, &args, self.tracer_count))?;
        }
        let pending = self.place.read_into(positions)?.and(self.value.read_into(values)?);
        self.lane.flush()?;
        Ok(pending.map(|(positions, values)| Points { positions, values, shape: Shape::Glow }))
    }

    /// Columns, rows, and the cells along the side of a pixel.
    fn image_size(&self) -> (usize, usize, usize) {
        let by = self.walls.nx.max(self.walls.ny).div_ceil(IMAGE_SIDE);
        (self.walls.nx.div_ceil(by), self.walls.ny.div_ceil(by), by)
    }

    /// Queues the read-back of the field into the memory of `image`, after [`FluidSimulation::publish`].
    ///
    /// # Errors
    /// If the device fails.
    pub fn image(&mut self, image: Image) -> Result<Pending<Image>> {
        let (width, height, by) = self.image_size();
        let [nx, ny] = self.sides();
        let what = match self.params.field {
            Field::Walls | Field::Speed => 0,
            Field::Vorticity => 1,
            Field::Density => 2,
        };
        let args =
            [nx, ny, Arg::Uint(by as u32), Arg::Uint(what), (&self.field).into(), (&self.pixels).into()];
        self.lane.whole(Pass::cheap(&self.image, &args, width * height))?;
        let pending = self.pixels.read_into(image.values)?;
        self.lane.flush()?;
        Ok(pending.map(move |values| Image { width, height, values }))
    }

    /// What is told of the flow, reduced on the device. Waits.
    ///
    /// # Errors
    /// If the device fails.
    pub fn diagnostics(&mut self) -> Result<Diagnostics> {
        self.look()?;
        let sums = self.reduction.run(&[Arg::Uint(self.walls.cells() as u32), (&self.field).into()])?;
        let [free, mass] = sums.extra;
        let mean = self.mean_speeds()?.last().copied().unwrap_or(0.0);
        let mach = sums.maxima[0] * 3f64.sqrt();
        let readings = vec![
            Reading::new(
                "reynolds",
                "Reynolds number",
                self.params.reynolds(mean, self.walls.length),
                "mean speed × the scene's length over the viscosity: the higher, the wilder",
            ),
            Reading::new("mean_speed", "Mean speed", mean, "cells a step, over the free cells"),
            Reading::new("viscosity", "Viscosity", self.params.viscosity(), "(2/ω − 1)/6, in cells² a step"),
            Reading::new(
                "mach",
                "Largest u/c",
                mach,
                "the largest speed over that of sound; past 0.3 the fluid is squeezed and the method no longer holds",
            )
            .warns(mach > 0.3),
            Reading::new("mass", "Mass", mass, "in the free cells"),
            Reading::new("free", "Free cells", free, "cells that are not solid and still have numbers"),
        ];
        Ok(Diagnostics { readings, ..sums.diagnostics })
    }
}
