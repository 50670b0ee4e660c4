//! Entry of the fluid mode in the table of modes.

use super::carried::CARRIES;
use super::grid::{CELL, GRID};
use super::parameters::{Collision, Colour, Drive, Field, Fluid};
use super::simulation::{FluidSimulation, tracers_of};
use super::variants::{OPERATIONS, Stages, VARIANTS, auto_variant, possible, steps_of_launch};
use super::{check, reference};
use crate::base::{Flow, Points, Result, SPEEDS, State};
use crate::compute::{Device, DeviceInfo, ProgramSource};
use crate::modes::{
    ColourScale, Counts, Define, DeviceRecipe, Diagnostics, Limit, Mode, ModeInfo, Recipe, Remedy, ScaleUnit,
    Series, Simulation, Team, Variant, Work, flags, fleet,
};
use crate::scene;

/// Entry of the fluid mode in the table of modes.
pub static INFO: ModeInfo = ModeInfo {
    name: "fluid",
    summary: "A fluid flows around obstacles.",
    work: Work::cells(),
    error: (
        "Step error",
        "Relative error of a step, measured on up to 256 random cells, which are recomputed in double precision. 1e-6 means one part in a million.",
    ),
    limit: Limit::Copies { bytes: BYTES_PER_UPDATE },
    kernels: &[CELL, GRID],
    variants: &VARIANTS,
    scenes: &scene::FLUID,
    checks: |_| Ok(check::starts()),
    series: Some(Series {
        key: "mean_speed",
        label: "Mean speed",
        help: "Mean speed of the fluid in all cells without obstacles, in cells per step, since the scene started",
        broken: "the flow blew up: its speed was too high or its viscosity too low for the grid. Restart it with a lower relaxation ω, \
                 a weaker push or a slower inlet",
    }),
    distributions: &[],
    stabilizer: Remedy::Multiply("viscosity", 2.0),
    carries: CARRIES,
    default: || Box::new(Fluid::default()),
};

/// Minimum memory traffic per cell and step, in bytes: nine numbers are read and nine numbers are written.
const BYTES_PER_UPDATE: f64 = (2 * SPEEDS * size_of::<f32>()) as f64;

impl Mode for Fluid {
    fn info(&self) -> &'static ModeInfo {
        &INFO
    }

    fn auto_variant(&self, device: &DeviceInfo, count: usize) -> &'static Variant {
        auto_variant(device, count)
    }

    fn source(&self, recipe: &Recipe, _device: &DeviceInfo) -> Result<ProgramSource> {
        let Stages { layout, .. } = recipe.variant.solver()?;
        let grid = layout.defines(self.drive == Drive::Inlet);
        let defines = [grid, self.operator_defines(), possible(recipe).defines()].concat();
        Ok(ProgramSource { files: INFO.sources(recipe.variant), defines, ..ProgramSource::default() })
    }

    fn boxed(&self) -> Box<dyn Mode> {
        Box::new(self.clone())
    }

    /// Builds a simulation of the flow in `state`, with tracers added or removed to match the number in the parameters.
    fn build_together(&self, team: Team, state: &State) -> Result<Box<dyn Simulation>> {
        let flow = state.flow()?;
        let tracers = tracers_of(self, flow);
        // All devices must take the same number of steps per launch.
        let steps = team.recipes().iter().map(steps_of_launch).min().unwrap_or(1);
        let build = |DeviceRecipe { device, recipe }: &DeviceRecipe| {
            FluidSimulation::new(device, self, recipe.with_knob("steps", steps as u32), flow, &tracers)
        };
        let mut parts = team.local.iter().map(build).collect::<Result<Vec<_>>>()?;
        FluidSimulation::agree_on_units(&mut parts, steps);
        fleet::together(parts, team.link)
    }

    fn preview(&self, device: &Device, recipe: &Recipe, state: &State) -> Result<Option<Points>> {
        let flow = state.flow()?;
        let tracers = tracers_of(self, flow);
        let mut simulation = FluidSimulation::without_steps(device, self, *recipe, flow, &tracers)?;
        Ok(Some(simulation.publish(Points::default(), None)?.wait()?.0))
    }

    fn time_step(&self) -> f64 {
        1.0
    }

    fn unseen(&mut self) {
        self.tracers = 0.0;
    }

    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str> {
        Err("Viscosity destroys information, so steps cannot be undone.")
    }

    /// Describes the colours of the drawn field. If only obstacles are drawn, describes the colours of the tracers
    /// instead, because tracers are white over a coloured field.
    fn colour_scale(&self) -> Option<ColourScale> {
        let (name, unit) = match (self.field, self.colour) {
            (Field::Speed, _) | (Field::Walls, Colour::Speed) => ("Speed", ScaleUnit::Fixed("cells/step")),
            (Field::Vorticity, _) | (Field::Walls, Colour::Vorticity) => {
                ("Vorticity", ScaleUnit::Fixed("1/step"))
            }
            (Field::Density, _) => ("Density", ScaleUnit::Unnamed),
        };
        let tones = (self.field != Field::Walls).then(|| self.field.tones());
        Some(ColourScale { name, unit, is_log: false, tones })
    }

    fn conserves_energy(&self) -> bool {
        false
    }

    fn counts(&self, recipe: &Recipe) -> Option<Counts> {
        // With a second relaxation rate, 8 populations take two more operations each. The eddy viscosity takes 26
        // operations, and 7 more because the rate differs between cells.
        let more = match self.collision {
            Collision::Bgk => 0.0,
            Collision::Trt => 16.0,
            Collision::Les => 33.0,
        };
        let own = (recipe.variant.counts)(recipe)?;
        Some(Counts { operations: own.operations * (1.0 + more / OPERATIONS), ..own })
    }

    fn bytes_per_body(&self) -> usize {
        // Memory per cell: the populations twice, with padding; the obstacle flag, the drawn field, and the pixel.
        2 * self.bytes_in_a_buffer() + size_of::<u8>() + size_of::<[f32; 4]>() + size_of::<f32>()
    }

    fn bytes_in_a_buffer(&self) -> usize {
        (SPEEDS + 1) * size_of::<f32>()
    }

    fn reference(&self, state: &mut State<f64>, steps: u32) -> Result<()> {
        Fluid::reference(self, state.flow_mut()?, steps);
        Ok(())
    }

    fn reference_diagnostics(&self, state: &State<f64>) -> Result<Diagnostics> {
        Ok(reference::sums(state.flow()?))
    }
}

impl Fluid {
    /// Returns the preprocessor macros that select the collision operator.
    pub(super) fn operator_defines(&self) -> Vec<Define> {
        let operators = [("TRT", Collision::Trt), ("LES", Collision::Les)];
        flags(&operators.map(|(name, collision)| (name, collision == self.collision)))
    }

    /// Builds a simulation of `flow` on `device` with the settings in `recipe` and exactly the tracers in `flow`.
    ///
    /// # Errors
    /// Returns an error if the grid is not valid, the kernels do not build, or the device has too little memory.
    pub fn build(&self, device: &Device, recipe: Recipe, flow: &Flow) -> Result<FluidSimulation> {
        FluidSimulation::new(device, self, recipe, flow, &flow.tracers)
    }
}
