//! Parameters of the fluid.

use std::f64::consts::SQRT_2;

use crate::base::flow::MAX_TRACERS;
use crate::base::params::{ChangeEffect, Choice, Info, Opt, Params, Scale, Visitor};
use crate::scene::fluid::files::{ACCEL, DENSITY, OMEGA};

/// The parameters of a flow.
#[derive(Debug, Clone, PartialEq)]
pub struct Fluid {
    /// Mass in a cell at the start.
    pub density: f32,
    /// How strongly the fluid is pushed: three times the acceleration.
    pub accel: f32,
    /// Fraction of the way to equilibrium in a step.
    pub omega: f32,
    /// Viscosity that follows from `omega`, in cells² per step: see [`Fluid::viscosity`]. [`Params::visit`] keeps both
    /// fields consistent; only `omega` affects the steps.
    pub viscosity: f32,
    /// How populations relax towards equilibrium.
    pub collision: Collision,
    /// The Smagorinsky constant C of [`Collision::Les`].
    pub smagorinsky: f32,
    /// What sets the fluid in motion.
    pub drive: Drive,
    /// Speed at the inlet.
    pub inlet: f32,
    /// Number of tracers, a whole number.
    pub tracers: f32,
    /// Quantity that the colours show.
    pub colour: Colour,
    /// Quantity that is drawn behind the tracers.
    pub field: Field,
}

/// The collision operator: how populations relax towards equilibrium.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collision {
    /// One relaxation rate for all populations.
    Bgk,
    /// One rate for the sum of opposite populations, which sets the viscosity, and one for their difference.
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
                help: "One relaxation rate for all populations: the basic method of textbooks.",
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

/// Λ = (1/ω⁺ − ½)(1/ω⁻ − ½) of [`Collision::Trt`]. With 3/16, the walls of a Poiseuille flow lie exactly half-way between
/// free and solid cells (Ginzburg, Verhaeghe and d'Humières 2008, Commun. Comput. Phys. 3, 427).
const MAGIC: f64 = 3.0 / 16.0;

/// What sets the fluid in motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Drive {
    /// A push on the row below the topmost row.
    Row,
    /// A push on all of the fluid.
    Force,
    /// An inlet at the left and an outlet at the right.
    Inlet,
}

impl Choice for Drive {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Row, Opt { name: "row", help: "Pushes the row below the topmost one to the right." }),
        (Self::Force, Opt { name: "force", help: "Pushes all of the fluid to the right." }),
        (Self::Inlet, Opt { name: "inlet", help: "The fluid enters at the left and leaves at the right." }),
    ];
}

/// Quantity that the colour of a tracer shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// |u|.
    Speed,
    /// |∂u_y/∂x − ∂u_x/∂y|.
    Vorticity,
}

impl Choice for Colour {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Speed, Opt { name: "speed", help: "Speed of the flow at the tracer." }),
        (
            Self::Vorticity,
            Opt { name: "vorticity", help: "Vorticity of the flow at the tracer, without its sign." },
        ),
    ];
}

/// Quantity that is drawn behind the tracers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Field {
    /// Only the obstacles.
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
        (Self::Walls, Opt { name: "walls", help: "Shows only the obstacles." }),
        (Self::Speed, Opt { name: "speed", help: "Speed of the flow." }),
        (Self::Vorticity, Opt { name: "vorticity", help: "Vorticity of the flow, with its direction." }),
        (
            Self::Density,
            Opt { name: "density", help: "Density of the fluid. Shows pressure and sound waves." },
        ),
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
        v.choice(
            &Info::new("drive", "Drive", "What sets the fluid in motion.").effect(ChangeEffect::Rebuild),
            drive,
        );
        v.float(
            &Info::new(
                "omega",
                "Relaxation ω",
                "Fraction of the way to equilibrium in each step. Near 2 the viscosity is low and the flow can blow up.",
            ),
            omega,
            OMEGA,
            Linear,
        );
        *nu = viscosity(*omega);
        let before = *nu;
        v.float(
            &Info::new(
                "viscosity",
                "Viscosity",
                "Viscosity of the fluid. Changing it changes ω, and changing ω changes it.",
            )
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
                "How the fluid in a cell relaxes towards equilibrium in each step.",
            )
            .effect(ChangeEffect::Rebuild),
            collision,
        );
        v.float(
            &Info::new(
                "smagorinsky",
                "Smagorinsky",
                "Smagorinsky constant: sets the strength of the eddy viscosity. Typical values are 0.1 to 0.2. Only the collision operator les uses it.",
            ),
            smagorinsky,
            0.0..=0.5,
            Linear,
        );
        v.float(
            &Info::new(
                "accel",
                "Push",
                "How strongly the drives row and force push the fluid: three times the acceleration.",
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
                "Speed of the fluid at the inlet. Above 0.15 the fluid is visibly compressed.",
            )
            .unit("cells/step"),
            inlet,
            0.0..=0.3,
            Linear,
        );
        v.float(
            &Info::new("density", "Density", "Mass in a cell at the start. The push is proportional to it.")
                .effect(ChangeEffect::Reseed),
            density,
            DENSITY,
            Log,
        );
        v.float(
            &Info::new("tracers", "Tracers", "Number of dots that move with the flow.")
                .effect(ChangeEffect::Rebuild),
            tracers,
            0.0..=MAX_TRACERS as f32,
            Log,
        );
        v.choice(
            &Info::new("colour", "Colour", "Quantity that the colour of a tracer shows.")
                .effect(ChangeEffect::View),
            colour,
        );
        v.choice(
            &Info::new("field", "Field", "Quantity that is drawn behind the tracers.")
                .effect(ChangeEffect::View),
            field,
        );
    }
}

/// Returns the kinematic viscosity in cells² per step: c²·(1/omega − ½).
fn viscosity(omega: f32) -> f32 {
    ((2.0 / f64::from(omega) - 1.0) / 6.0) as f32
}

impl Fluid {
    /// Returns the kinematic viscosity in cells² per step: c²·(1/omega − ½). With [`Collision::Les`] this is the nominal
    /// viscosity, without the eddy viscosity.
    pub fn viscosity(&self) -> f64 {
        (2.0 / f64::from(self.omega) - 1.0) / 6.0
    }

    /// Returns ω⁻ of [`Collision::Trt`], the relaxation rate of the difference of opposite populations.
    pub(super) fn odd_rate(&self) -> f64 {
        1.0 / (0.5 + MAGIC / (1.0 / f64::from(self.omega) - 0.5))
    }

    /// Returns 18√2·C² of [`Collision::Les`]: the increase of the squared relaxation time per relative stress.
    pub(super) fn eddy_factor(&self) -> f64 {
        18.0 * SQRT_2 * f64::from(self.smagorinsky).powi(2)
    }

    /// Returns the Reynolds number for a speed and a length, with the viscosity of [`Fluid::viscosity`].
    pub fn reynolds(&self, speed: f64, length: f32) -> f64 {
        speed * f64::from(length) / self.viscosity()
    }

    /// Returns the first row that is pushed, and the number of such rows.
    pub(super) fn driven_rows(&self, ny: usize) -> (usize, usize) {
        match self.drive {
            Drive::Row => (ny - 2, 1),
            Drive::Force => (0, ny),
            Drive::Inlet => (0, 0),
        }
    }
}
