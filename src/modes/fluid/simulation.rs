//! Simulation of a fluid on one device: buffers, kernels and steps.

use super::carried::SERIES;
use super::grid::{CELL, GRID, Grid, check_walls};
use super::parameters::{Collision, Drive, Fluid};
use super::variants::{Stages, cells_of_group, possible, steps_of_launch};
use crate::base::{Flow, Result, Walls, invalid};
use crate::compute::{Arg, Buffer, Device, Kernel, KernelSource, Lane, Pass, Program, ProgramSource};
use crate::modes::{Cursor, Mode, PackedPoints, Recipe, Reduction, source, sources};

const FLOW: KernelSource = source!("fluid/flow.cl");
const MEASURE: KernelSource = source!("fluid/measure.cl");

/// Number of steps between two updates of the tracers' positions. A tracer travels at most a few cells in this time.
pub(super) const MOVE_STEPS: u32 = 16;
/// Maximum number of steps between two runs of the kernel that adds up the work-groups' sums of speeds.
const SUMMED_STEPS: usize = 1024;
/// Maximum length of the `sums` buffer (one sum of speeds per work-group and step), unless one step needs more.
const SUMS: usize = 1 << 22;
/// Work-group size of the kernel that adds up the work-groups' sums of speeds.
const SUM_GROUP: usize = 256;

/// Simulation of a flow on one device, with the buffers of the flow and the kernels that advance it.
pub struct FluidSimulation {
    pub(super) lane: Lane,
    pub(super) params: Fluid,
    pub(super) walls: Walls,
    pub(super) free: usize,
    pub(super) recipe: Recipe,
    pub(super) grid: Grid,
    /// Kernels of one launch, in order. A launch advances the flow by one or more steps.
    pub(super) kernels: Vec<Kernel>,
    open_burst: Kernel,
    add_sums: Kernel,
    pub(super) paint: Kernel,
    pub(super) survey: Kernel,
    pub(super) carry: Kernel,
    pub(super) image: Kernel,
    pub(super) reduction: Reduction,
    /// Populations of the cells before and after the next step. The buffers are swapped after each step. In the `split`
    /// variant, the second buffer instead holds the populations that have arrived from neighbouring cells.
    pub(super) f: [Buffer<u32>; 2],
    pub(super) solid: Buffer<u8>,
    /// Sum of the speeds |u| of the cells in each work-group, for each step since the sums were last added up.
    pub(super) sums: Buffer<f32>,
    /// Mean speeds |u| after each step, for the current burst and for the previous one, which may still be in transfer.
    pub(super) series: [Buffer<f32>; 2],
    /// Velocity, density and viscosity (ux, uy, ρ, ν) of each cell as of the last update; all zero for solid cells.
    pub(super) field: Buffer<[f32; 4]>,
    pub(super) tracers: Buffer<[f32; 2]>,
    pub(super) packed: PackedPoints,
    pub(super) pixels: Buffer<f32>,
    pub(super) burst: Burst,
    pub(super) cursor: Cursor,
    /// Whether `f[1]` holds the state before the last step, and this step used the current parameters and walls.
    pub(super) stepped: bool,
    /// Number of steps so far; also seeds the random numbers for the tracers.
    pub(super) now: u32,
    /// State for sharing the work with other devices.
    pub(super) share: Share,
}

/// State of a fluid simulation that shares the work with other devices.
#[derive(Default)]
pub(super) struct Share {
    /// Number of grid rows in a unit of work.
    pub(super) grain: usize,
    /// Number of neighbouring grid rows that a device reads on each side of its own rows.
    pub(super) edge: usize,
    /// Smallest value of `FluidSimulation::summed_steps` among all devices; `None` until they have agreed on it.
    pub(super) summed_steps: Option<u32>,
    /// Number of steps in the kernel launch in progress.
    pub(super) steps: u32,
    /// Whether the tracers must be moved after the kernel launch in progress.
    pub(super) moves_tracers: bool,
    /// Whether this device holds the current velocities and densities of all devices.
    pub(super) has_all_fields: bool,
    /// Mean speed of the fluid after each step of the burst; `None` unless several devices share the burst.
    pub(super) mean_speeds: Option<Vec<f32>>,
}

/// Progress of a burst (a number of steps that run without a read-back).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Burst {
    pub(super) steps: u32,
    /// Index of the next step in the burst.
    pub(super) step: u32,
    /// Number of steps in the burst whose speeds have already been added up.
    pub(super) summed: u32,
    /// Number of steps in the burst for which the tracers have already been moved.
    pub(super) moved: u32,
}

/// Returns the tracers of `flow`, cut or extended to the number in `params`. Added tracers are outside the grid, so
/// that they get random positions.
pub(super) fn tracers_of(params: &Fluid, flow: &Flow) -> Vec<[f32; 2]> {
    let mut tracers = flow.tracers.clone();
    tracers.resize(params.tracers as usize, [-1.0; 2]);
    tracers
}

impl FluidSimulation {
    pub(super) fn new(
        device: &Device,
        params: &Fluid,
        recipe: Recipe,
        flow: &Flow,
        tracers: &[[f32; 2]],
    ) -> Result<Self> {
        let recipe = possible(&recipe);
        let ProgramSource { files, defines, .. } = params.source(&recipe, &device.info)?;
        let program = Program::build(device, &files, &defines)?;
        let Stages { entries, .. } = recipe.variant.solver()?;
        let kernels = entries.iter().map(|name| program.kernel(name)).collect::<Result<Vec<_>>>()?;
        for kernel in &kernels {
            kernel.check_work_group(recipe.variant.name, recipe.work_group)?;
        }
        Ok(Self { kernels, ..Self::without_steps(device, params, recipe, flow, tracers)? })
    }

    /// Creates a simulation that can be drawn but not advanced: the kernels that compute steps are not compiled.
    pub(super) fn without_steps(
        device: &Device,
        params: &Fluid,
        recipe: Recipe,
        flow: &Flow,
        tracers: &[[f32; 2]],
    ) -> Result<Self> {
        let Stages { layout, .. } = recipe.variant.solver()?;
        check_walls(&flow.walls)?;
        let walls = flow.walls.clone();
        let grid = Grid::new(*layout, [walls.nx, walls.ny], flow.rest, params.drive == Drive::Inlet);
        let bytes = (grid.len() * size_of::<u32>()) as u64;
        let most = device.info.max_alloc_bytes.min(device.info.memory_bytes / 3);
        if bytes > most {
            let (nx, ny, name) = (walls.nx, walls.ny, recipe.variant.name);
            return Err(invalid!(
                "{name} needs two buffers of {bytes} bytes for {nx} × {ny} cells; {} allows {most} bytes per buffer. Reduce the number of cells",
                device.info.name
            ));
        }
        let recipe = possible(&recipe);
        let defines = [grid.defines(), params.operator_defines()].concat();
        let program = Program::build(device, &sources(&[CELL, GRID, FLOW]), &defines)?;
        let reduction = Reduction::new(device, &[MEASURE], &[])?;
        let cells = grid.pack(&flow.cells);
        let mut simulation = Self {
            lane: Lane::new(device),
            params: params.clone(),
            free: walls.free(),
            recipe,
            grid,
            kernels: Vec::new(),
            open_burst: program.kernel("open_burst")?,
            add_sums: program.kernel("add_sums")?,
            paint: program.kernel("paint")?,
            survey: program.kernel("survey")?,
            carry: program.kernel("carry")?,
            image: program.kernel("image")?,
            reduction,
            // Both buffers start with the initial values, because padding may be read but is never written.
            f: [Buffer::from_slice(device, &cells)?, Buffer::from_slice(device, &cells)?],
            solid: Buffer::from_slice(device, &grid.solid(&walls))?,
            sums: Buffer::new(device, 0)?,
            series: [Buffer::new(device, 0)?, Buffer::new(device, 0)?],
            field: Buffer::new(device, walls.cells())?,
            tracers: Buffer::from_slice(device, tracers)?,
            packed: PackedPoints::new(device, program.kernel("pack")?, tracers.len())?,
            pixels: Buffer::new(device, 0)?,
            burst: Burst::default(),
            cursor: Cursor::default(),
            stepped: false,
            now: flow.step,
            share: Share::default(),
            walls,
        };
        simulation.sums = Buffer::new(device, simulation.groups() * simulation.summed_steps() as usize)?;
        let (width, height, _) = simulation.image_size();
        simulation.pixels = Buffer::new(device, width * height)?;
        if !tracers.is_empty() {
            simulation.update_whole_field()?;
            simulation.move_tracers()?;
        }
        Ok(simulation)
    }

    pub(super) fn groups(&self) -> usize {
        let [columns, rows] = cells_of_group(&self.recipe);
        self.walls.nx.div_ceil(columns) * self.walls.ny.div_ceil(rows)
    }

    /// Returns the number of steps in the next launch. A launch ends when sums must be added up or tracers must be
    /// moved. The last step of a burst has a separate launch, after which `f[1]` holds the state before the last step.
    pub(super) fn steps_of_launch(&self) -> u32 {
        let Burst { steps, step, summed, moved } = self.burst;
        let ends = [steps.saturating_sub(1).max(step + 1), summed + self.summed_steps(), moved + MOVE_STEPS];
        let room = ends.into_iter().min().map_or(1, |end| end - step);
        room.min(steps_of_launch(&self.recipe) as u32)
    }

    /// Returns the number of steps, a power of two, between two runs of the kernel that adds up the work-groups' sums.
    pub(super) fn summed_steps(&self) -> u32 {
        if let Some(agreed) = self.share.summed_steps {
            return agreed;
        }
        let fit = (SUMS / self.groups()).clamp(1, SUMMED_STEPS);
        1 << fit.ilog2()
    }

    /// Returns the kernel argument `c`: the coefficients described in `kernels/fluid/cell.cl`.
    pub(super) fn coefficients(&self) -> Arg<'static> {
        let Fluid { density, accel, omega, inlet, .. } = self.params;
        let push = density * accel;
        let operator = match self.params.collision {
            Collision::Bgk => 0.0,
            Collision::Trt => self.params.odd_rate(),
            Collision::Les => self.params.eddy_factor(),
        };
        Arg::Float8([omega, push / 9.0, push / 36.0, inlet, self.grid.rest, operator as f32, 0.0, 0.0])
    }

    pub(super) fn driven_rows(&self) -> [usize; 2] {
        self.params.driven_rows(self.walls.ny).into()
    }

    /// Returns the number of work-items that advance the grid rows before `row`. A work-group must begin at `row`.
    pub(super) fn items(&self, row: usize) -> usize {
        let [columns, rows] = cells_of_group(&self.recipe);
        row.div_ceil(rows) * self.walls.nx.div_ceil(columns) * self.recipe.work_group
    }

    /// Queues the push that drives the fluid before a step. A variant with one kernel needs it only before the first
    /// step of a burst, because each of its steps ends with the push for the next step.
    pub(super) fn before_step(&mut self) -> Result<()> {
        let is_split = self.kernels.len() > 1;
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

    /// Completes a launch of `steps` steps: swaps the grids and, if due, adds up the work-groups' sums of speeds.
    pub(super) fn after(&mut self, steps: u32) -> Result<()> {
        if self.kernels.len() == 1 {
            self.f.swap(0, 1);
        }
        self.burst.step += steps;
        self.now = self.now.wrapping_add(steps);
        let ends = self.burst.step == self.burst.steps;
        let waiting = self.burst.step - self.burst.summed;
        if ends || waiting == self.summed_steps() {
            let from = self.burst.summed as usize % SERIES;
            let args = [
                Arg::Uint(self.groups() as u32),
                (&self.sums).into(),
                (&self.series[0]).into(),
                Arg::Uint(from as u32),
                Arg::Float((self.free as f32).recip()),
            ];
            let items = waiting as usize * SUM_GROUP;
            let pass = Pass { kernel: &self.add_sums, args: &args, items, group: SUM_GROUP, cost: 0.0 };
            self.lane.whole(pass)?;
            self.burst.summed = self.burst.step;
        }
        if self.tracers.is_empty() {
            self.burst.moved = self.burst.step;
        }
        Ok(())
    }

    /// Returns whether the tracers must be moved after the next `steps` steps.
    pub(super) fn moves_tracers(&self, steps: u32) -> bool {
        let after = self.burst.step + steps;
        let is_due = after == self.burst.steps || after - self.burst.moved == MOVE_STEPS;
        is_due && !self.tracers.is_empty()
    }

    fn reserve_series(&mut self) -> Result<()> {
        let len = (self.burst.steps as usize).min(SERIES);
        self.series.swap(0, 1);
        if self.series[0].len() != len {
            self.series[0] = Buffer::new(self.lane.device(), len)?;
        }
        Ok(())
    }

    /// Returns the flow after the last complete burst of steps. Waits for the device.
    ///
    /// # Errors
    /// Returns an error if the device fails.
    pub fn flow(&mut self) -> Result<Flow> {
        Ok(Flow {
            walls: self.walls.clone(),
            rest: self.grid.rest,
            cells: self.grid.unpack(&self.f[0].read()?),
            tracers: self.tracers.read()?,
            step: self.now,
        })
    }
}
