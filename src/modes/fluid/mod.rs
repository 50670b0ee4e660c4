//! Fluid: a flow on a grid by the lattice-Boltzmann method (D2Q9), seen through tracers that it carries.

pub mod check;
mod grid;
mod look;
mod part;
mod reference;
mod simulation;

use std::f64::consts::SQRT_2;

pub use self::simulation::FluidSimulation;
use crate::compute::{Device, DeviceInfo, Kind};
use crate::error::{Error, Result};
use crate::lattice::{Flow, MAX_CELLS, MAX_TRACERS, SPEEDS, Walls};
use crate::modes::{
    Diagnostics, Knob, Limit, Mode, ModeInfo, Recipe, Series, Simulation, Station, Together, Variant, Work,
    variant,
};
use crate::params::{Choice, Effect, Info, Opt, Params, Scale, Visitor};
use crate::scene;
use crate::scene::fluid::files::{ACCEL, DENSITY, OMEGA};
use crate::state::State;

/// The mode's row.
pub static INFO: ModeInfo = ModeInfo {
    name: "fluid",
    summary: "a fluid flows round obstacles",
    work: Work::cells(),
    error: (
        "Step error",
        "how far a step is from an exact one: the numbers in up to 256 random cells are worked out again in double precision; 1e-6 is a millionth",
    ),
    limit: Limit::Copies { bytes: BYTES_PER_UPDATE },
    kernels: &[simulation::CELL, simulation::GRID],
    variants: &VARIANTS,
    scenes: &scene::fluid::SCENES,
    checks: |_| Ok(check::starts()),
    series: Some(Series {
        key: "mean_speed",
        label: "Mean speed",
        help: "the mean speed over the free cells, in cells a step, since the scene began",
        broken: "the flow blew up: it was too fast or too thin for its grid. Restart it with a lower relaxation ω, a weaker \
                 push or a slower inlet",
    }),
    carries: simulation::CARRIES,
    paints: true,
    default: || Box::new(Fluid::default()),
    auto_variant,
};

/// What a step reads and writes of a cell at the least: nine numbers each.
const BYTES_PER_UPDATE: f64 = (2 * SPEEDS * size_of::<f32>()) as f64;

/// Cells beside each other that a work-group begins with.
const WIDTH: Knob = Knob {
    name: "width",
    define: "WIDTH",
    summary: "work-items beside each other in a work-group; as many rows as the rest allows",
    options: &[1, 2, 4, 8, 16, 32, 64, 128, 256],
    guess: |device, _| match device.kind {
        Kind::Cpu => 64,
        _ => 128,
    },
    never_hurts: false,
};

/// Floats in the vectors of `vector`.
const LANES: Knob = Knob {
    name: "lanes",
    define: "LANES",
    summary: "cells to a vector",
    options: &[8, 16],
    guess: |_, _| 16,
    never_hurts: false,
};

/// A work-group as wide as it is large, unless its width says otherwise, and a float each for the sum of the speeds.
const fn of_cells(variant: Variant) -> Variant {
    Variant {
        knobs: &[WIDTH],
        work_group: |device| match device.kind {
            Kind::Cpu => 64,
            _ => 256,
        },
        width_knob: Some(WIDTH.name),
        bodies_per_group: |recipe| cells_of_group(recipe).iter().product(),
        local_bytes: |recipe| size_of::<f32>() * recipe.work_group,
        together: Together::Alike,
        ..variant
    }
}

/// Steps to a launch of `temporal`.
const STEPS: Knob = Knob {
    name: "steps",
    define: "STEPS",
    summary: "steps to a launch, as far as a work-group is large enough; cells around it are computed twice",
    options: &[1, 2, 3, 4, 6, 8],
    guess: |_, cells| if cells < MANY { 4 } else { 2 },
    never_hurts: false,
};

/// Cells from which on it is memory that takes the time, and not the launches.
const MANY: usize = 1 << 19;

/// Columns and rows of cells that a work-group steps.
fn cells_of_group(recipe: &Recipe) -> [usize; 2] {
    let width = (recipe.knob(WIDTH.name) as usize).min(recipe.work_group).max(1);
    let sides = [width * (recipe.knob(LANES.name) as usize).max(1), recipe.work_group / width];
    sides.map(|side| side - 2 * (steps_of_launch(recipe) - 1))
}

/// Steps that a launch takes: as many as leave a work-group cells of its own.
fn steps_of_launch(recipe: &Recipe) -> usize {
    let width = (recipe.knob(WIDTH.name) as usize).min(recipe.work_group).max(1);
    let narrow = width.min(recipe.work_group / width);
    (recipe.knob(STEPS.name) as usize).min(narrow.div_ceil(2)).max(1)
}

/// The ladder, slowest first.
pub static VARIANTS: [Variant; 6] = [
    of_cells(variant!("fluid", "split", "a kernel for each stage of the step, speeds of a cell together")),
    of_cells(variant!("fluid", "fused", "one kernel: every number is read once and written once")),
    Variant {
        name: "soa",
        ..of_cells(variant!(
            "fluid",
            "fused",
            "the same over a plane for each speed: neighbours read neighbours"
        ))
    },
    Variant {
        knobs: &[Knob { guess: |_, cells| if cells < MANY { 16 } else { 32 }, ..WIDTH }, STEPS],
        work_group: |_| 256,
        local_bytes: |recipe| SPEEDS * size_of::<f32>() * recipe.work_group,
        has_limit: false,
        ..of_cells(variant!(
            "fluid",
            "temporal",
            "several steps to a launch, in local memory; cells around a work-group are computed twice"
        ))
    },
    Variant {
        name: "half",
        has_limit: false,
        tolerance: 3e-2,
        ..of_cells(variant!(
            "fluid",
            "fused",
            "planes of 16-bit numbers: half the memory to go through, and rounded to three digits"
        ))
    },
    Variant {
        name: "vector",
        knobs: &[
            Knob {
                guess: |device, _| match device.kind {
                    Kind::Cpu => 16,
                    _ => 128,
                },
                ..WIDTH
            },
            LANES,
        ],
        ..of_cells(variant!("fluid", "fused", "for CPUs: 16 cells at once, and no edges to look for"))
    },
];

/// The variant that `auto` takes.
pub fn auto_variant(device: &DeviceInfo, _cells: usize) -> &'static Variant {
    match device.kind {
        Kind::Cpu => &VARIANTS[5],
        _ => &VARIANTS[3],
    }
}

/// The parameters of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Fluid {
    /// Mass in a cell at the start.
    pub density: f32,
    /// How strongly it is pushed: three times the acceleration.
    pub accel: f32,
    /// Share of the way to equilibrium in a step.
    pub omega: f32,
    /// What `omega` makes of it, in cells² a step: see [`Fluid::viscosity`]. A visit keeps the two consistent, and the
    /// steps read `omega` alone.
    pub viscosity: f32,
    /// How populations relax towards equilibrium.
    pub collision: Collision,
    /// The Smagorinsky constant C of [`Collision::Les`].
    pub smagorinsky: f32,
    /// What moves it.
    pub drive: Drive,
    /// Speed at the inlet.
    pub inlet: f32,
    /// How many tracers there are: a whole number.
    pub tracers: f32,
    /// What colours show.
    pub colour: Colour,
    /// What is behind the tracers.
    pub field: Field,
}

/// The collision operator: how populations relax towards equilibrium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collision {
    /// One relaxation rate for all populations.
    Bgk,
    /// One rate for what opposite populations share, which makes the viscosity, and one for what tells them apart.
    Trt,
    /// BGK with an eddy viscosity that grows with the local rate of strain.
    Les,
}

impl Choice for Collision {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Bgk,
            Opt {
                name: "bgk",
                help: "One relaxation rate for all: the plain method, as in the teaching code.",
            },
        ),
        (
            Self::Trt,
            Opt {
                name: "trt",
                help: "Two relaxation rates with Λ = 3/16: walls lie exactly half-way between free and solid cells, at any viscosity. For slow flows.",
            },
        ),
        (
            Self::Les,
            Opt {
                name: "les",
                help: "BGK plus Smagorinsky's eddy viscosity, which grows with the shear rate. For turbulent flows of low viscosity, and for painting walls.",
            },
        ),
    ];
}

/// Λ = (1/ω⁺ − ½)(1/ω⁻ − ½) of [`Collision::Trt`]: with 3/16 a wall of Poiseuille flow stands exactly half-way between a free
/// and a solid cell (Ginzburg, Verhaeghe and d'Humières 2008, Commun. Comput. Phys. 3, 427).
const MAGIC: f64 = 3.0 / 16.0;

/// What moves the fluid.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drive {
    /// The row next to the last is pushed.
    Row,
    /// All of it is.
    Force,
    /// It comes in at the left and leaves at the right.
    Inlet,
}

impl Choice for Drive {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Row, Opt { name: "row", help: "The upmost row but one is pushed to the right." }),
        (Self::Force, Opt { name: "force", help: "All of the fluid is pushed to the right." }),
        (Self::Inlet, Opt { name: "inlet", help: "It comes in at the left and leaves at the right." }),
    ];
}

/// What the colour of a tracer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// |u|.
    Speed,
    /// |∂u_y/∂x − ∂u_x/∂y|.
    Vorticity,
}

impl Choice for Colour {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Speed, Opt { name: "speed", help: "How fast it flows there." }),
        (Self::Vorticity, Opt { name: "vorticity", help: "How much it turns there." }),
    ];
}

/// What is drawn of the flow itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Nothing but what is solid.
    Walls,
    /// |u|.
    Speed,
    /// ∂u_y/∂x − ∂u_x/∂y.
    Vorticity,
    /// ρ.
    Density,
}

impl Choice for Field {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Walls, Opt { name: "walls", help: "Nothing but what is solid." }),
        (Self::Speed, Opt { name: "speed", help: "How fast it flows." }),
        (Self::Vorticity, Opt { name: "vorticity", help: "How much it turns, and which way." }),
        (Self::Density, Opt { name: "density", help: "How dense it is: the pressure, and sound." }),
    ];
}

impl Default for Fluid {
    fn default() -> Self {
        Self {
            density: 0.1,
            accel: 0.005,
            omega: 1.85,
            viscosity: viscosity(1.85),
            collision: Collision::Bgk,
            smagorinsky: 0.1,
            drive: Drive::Row,
            inlet: 0.1,
            tracers: 16_384.0,
            colour: Colour::Speed,
            field: Field::Speed,
        }
    }
}

impl Params for Fluid {
    fn visit(&mut self, v: &mut dyn Visitor) {
        use Scale::{Linear, Log};
        let Self {
            density,
            accel,
            omega,
            viscosity: nu,
            collision,
            smagorinsky,
            drive,
            inlet,
            tracers,
            colour,
            field,
        } = self;
        *nu = viscosity(*omega);
        v.choice(&Info::new("drive", "Drive", "What moves the fluid.").effect(Effect::Rebuild), drive);
        v.float(
            &Info::new(
                "omega",
                "Relaxation ω",
                "The share of the way to equilibrium in a step: near 2 the fluid is thin, and near to blowing up.",
            ),
            omega,
            OMEGA,
            Linear,
        );
        *nu = viscosity(*omega);
        let before = *nu;
        v.float(
            &Info::new("viscosity", "Viscosity", "How thick the fluid is: it goes with ω, and ω with it.")
                .unit("cells²/step"),
            nu,
            viscosity(*OMEGA.end())..=viscosity(*OMEGA.start()),
            Log,
        );
        if *nu != before {
            *omega = (2.0 / (6.0 * f64::from(*nu) + 1.0)) as f32;
            *omega = omega.clamp(*OMEGA.start(), *OMEGA.end());
        }
        v.choice(
            &Info::new(
                "collision",
                "Collision",
                "How the fluid in a cell relaxes towards equilibrium in a step.",
            )
            .effect(Effect::Rebuild),
            collision,
        );
        v.float(
            &Info::new(
                "smagorinsky",
                "Smagorinsky",
                "Smagorinsky constant: sets the strength of the eddy viscosity; 0.1 to 0.2 is usual. Only the collision operator les uses it.",
            ),
            smagorinsky,
            0.0..=0.5,
            Linear,
        );
        v.float(
            &Info::new(
                "accel",
                "Push",
                "How strongly the drives row and force push: three times the acceleration.",
            )
            .unit("cells/step²"),
            accel,
            ACCEL,
            Log,
        );
        v.float(
            &Info::new(
                "inlet",
                "Inlet speed",
                "How fast the fluid comes in; past 0.15 it is squeezed visibly.",
            )
            .unit("cells/step"),
            inlet,
            0.0..=0.3,
            Linear,
        );
        v.float(
            &Info::new(
                "density",
                "Density",
                "The mass in a cell at the start; the push is in proportion to it.",
            )
            .effect(Effect::Reseed),
            density,
            DENSITY,
            Log,
        );
        v.float(
            &Info::new("tracers", "Tracers", "How many dots go with the flow.").effect(Effect::Rebuild),
            tracers,
            0.0..=MAX_TRACERS as f32,
            Log,
        );
        v.choice(
            &Info::new("colour", "Colour", "What the colour of a tracer shows.").effect(Effect::View),
            colour,
        );
        v.choice(
            &Info::new("field", "Field", "What is drawn behind the tracers.").effect(Effect::View),
            field,
        );
    }
}

/// The kinematic viscosity in cells² a step: c²·(1/omega − ½).
fn viscosity(omega: f32) -> f32 {
    ((2.0 / f64::from(omega) - 1.0) / 6.0) as f32
}

impl Mode for Fluid {
    fn info(&self) -> &'static ModeInfo {
        &INFO
    }

    fn boxed(&self) -> Box<dyn Mode> {
        Box::new(self.clone())
    }

    /// With as many tracers as the parameters say: of those in the flow as many as there are, and new ones.
    fn build(&self, device: &Device, recipe: Recipe, state: &State) -> Result<Box<dyn Simulation>> {
        let flow = state.flow()?;
        check_walls(&flow.walls)?;
        Ok(Box::new(FluidSimulation::new(device, self, recipe, flow, &self.tracers_of(flow))?))
    }

    fn build_together(&self, stations: &[Station], state: &State) -> Result<Box<dyn Simulation>> {
        let flow = state.flow()?;
        check_walls(&flow.walls)?;
        Ok(Box::new(part::together(self, stations, flow, &self.tracers_of(flow))?))
    }

    fn time_step(&self) -> f64 {
        1.0
    }

    fn unseen(&mut self) {
        self.tracers = 0.0;
    }

    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str> {
        Err("A viscous fluid forgets what it was: its steps cannot be undone.")
    }

    fn conserves_energy(&self) -> bool {
        false
    }

    fn bytes_per_body(&self) -> usize {
        // Cells twice, with some room around them; whether it is solid, what it looks like, and its pixel.
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
    fn tracers_of(&self, flow: &Flow) -> Vec<[f32; 2]> {
        let mut tracers = flow.tracers.clone();
        tracers.resize(self.tracers as usize, [-1.0; 2]);
        tracers
    }

    /// Puts a flow on `device` with its own tracers, stepped by `recipe`.
    ///
    /// # Errors
    /// If the grid is none that can be stepped, the kernel does not build, or the device cannot hold it.
    pub fn build(&self, device: &Device, recipe: Recipe, flow: &Flow) -> Result<FluidSimulation> {
        check_walls(&flow.walls)?;
        FluidSimulation::new(device, self, recipe, flow, &flow.tracers)
    }

    /// The kinematic viscosity in cells² a step: c²·(1/omega − ½). Under [`Collision::Les`] it is the nominal one, which
    /// the eddy viscosity adds to.
    pub fn viscosity(&self) -> f64 {
        (2.0 / f64::from(self.omega) - 1.0) / 6.0
    }

    /// ω⁻ of [`Collision::Trt`], the rate of what tells opposite populations apart.
    fn odd_rate(&self) -> f64 {
        1.0 / (0.5 + MAGIC / (1.0 / f64::from(self.omega) - 0.5))
    }

    /// 18√2·C² of [`Collision::Les`]: what a relative stress adds to the square of a relaxation time.
    fn eddy_factor(&self) -> f64 {
        18.0 * SQRT_2 * f64::from(self.smagorinsky).powi(2)
    }

    /// The Reynolds number of a flow of this speed around something of this length, with the viscosity of [`Fluid::viscosity`].
    pub fn reynolds(&self, speed: f64, length: f32) -> f64 {
        speed * f64::from(length) / self.viscosity()
    }

    /// The first of the rows that are pushed, and how many.
    fn driven_rows(&self, ny: usize) -> (usize, usize) {
        match self.drive {
            Drive::Row => (ny - 2, 1),
            Drive::Force => (0, ny),
            Drive::Inlet => (0, 0),
        }
    }
}

/// Whether a grid can be stepped: a cell needs neighbours, and some have to be free.
fn check_walls(walls: &Walls) -> Result<()> {
    let Walls { nx, ny, .. } = *walls;
    let invalid = |what: String| Err(Error::Invalid(what));
    if nx < 3 || ny < 3 || nx.saturating_mul(ny) > MAX_CELLS {
        invalid(format!("a grid of {nx} × {ny} cells is not possible: 3 × 3 to {MAX_CELLS} cells in all are"))
    } else if walls.free() == 0 {
        invalid("all cells are blocked: nothing could flow".to_owned())
    } else {
        Ok(())
    }
}
