//! Parameters of the fluid.

use std::f64::consts::SQRT_2;

use crate::base::params::ChangeEffect::{Rebuild, Reseed, View};
use crate::base::{MAX_TRACERS, choice, parameters};
use crate::scene::fluid::files::{ACCEL, DENSITY, OMEGA};

parameters! {
    /// The parameters of a flow. `omega` and `viscosity` describe the same quantity; only `omega` affects the steps.
    #[derive(Debug, Clone, PartialEq)]
    pub struct Fluid {
        /// What sets the fluid in motion.
        drive: Drive = Drive::Row, "Drive" effect(Rebuild),
        /// How far each step moves the fluid towards equilibrium. Near 2 the viscosity is low and the flow can blow up.
        omega: f32 = 1.85, "Relaxation ω" [OMEGA, Linear] advanced(true) => set_viscosity,
        /// Viscosity of the fluid. Viscosity and ω are linked: changing one changes the other.
        viscosity: f32 = viscosity(1.85), "Viscosity" [viscosity(*OMEGA.end())..=viscosity(*OMEGA.start()), Log]
            unit("cells²/step") => set_omega,
        /// How the fluid in a cell relaxes towards equilibrium in each step.
        collision: Collision = Collision::Bgk, "Collision" effect(Rebuild) advanced(true),
        /// Smagorinsky constant: sets the strength of the eddy viscosity. Typical values are 0.1 to 0.2.
        /// Only the collision operator `les` uses this constant.
        smagorinsky: f32 = 0.1, "Smagorinsky" [0.0..=0.5, Linear] advanced(true),
        /// Strength of the push with the drives `row` and `force`. The value is three times the acceleration of the fluid.
        accel: f32 = 0.005, "Push" [ACCEL, Log] unit("cells/step²"),
        /// Speed of the fluid at the inlet. Above 0.15 the fluid is visibly compressed.
        inlet: f32 = 0.1, "Inlet speed" [0.0..=0.3, Linear] unit("cells/step"),
        /// Mass in each cell at the start. The force of the push is proportional to this mass.
        density: f32 = 0.1, "Density" [DENSITY, Log] effect(Reseed) advanced(true),
        // The number of tracers is a whole number.
        /// Number of tracers: short streaks that move with the flow and show its direction.
        tracers: f32 = 16_384.0, "Tracers" [0.0..=MAX_TRACERS as f32, Log] effect(Rebuild),
        /// What the colour of a tracer shows. Over a coloured field, tracers are white, and those with higher values are
        /// brighter.
        colour: Colour = Colour::Speed, "Colour" effect(View),
        /// What is drawn behind the tracers.
        field: Field = Field::Speed, "Field" effect(View),
    }
}

choice! {
    /// The collision operator: how populations relax towards equilibrium.
    pub enum Collision {
        /// One relaxation rate for all populations: the standard textbook method.
        Bgk = "bgk",
        // One rate for the sum of opposite populations, which sets the viscosity, and one for their difference.
        /// Two relaxation rates with Λ = 3/16: walls lie exactly half-way between free and solid cells, at any viscosity.
        /// Suited to slow flows.
        Trt = "trt",
        /// BGK plus Smagorinsky's eddy viscosity, which grows with the shear rate.
        /// Suited to turbulent flows at low viscosity, and to drawing walls with the brush.
        Les = "les",
    }
}

/// Value of Λ = (1/ω⁺ − ½)(1/ω⁻ − ½) for [`Collision::Trt`]. With 3/16, the walls of a Poiseuille flow lie exactly
/// half-way between free and solid cells (Ginzburg, Verhaeghe and d'Humières 2008, Commun. Comput. Phys. 3, 427).
const MAGIC: f64 = 3.0 / 16.0;

choice! {
    /// What sets the fluid in motion.
    pub enum Drive {
        /// Pushes the fluid to the right, only in the second row of cells from the top.
        Row = "row",
        /// Pushes the whole fluid to the right.
        Force = "force",
        /// The fluid enters at the left and leaves at the right.
        Inlet = "inlet",
    }
}

choice! {
    /// What the colour of a tracer shows.
    pub enum Colour {
        /// Speed of the flow at the tracer.
        Speed = "speed",
        // |∂u_y/∂x − ∂u_x/∂y|
        /// Absolute vorticity (rate of rotation) of the flow at the tracer.
        Vorticity = "vorticity",
    }
}

choice! {
    /// What is drawn behind the tracers.
    pub enum Field {
        /// Shows only the obstacles.
        Walls = "walls",
        /// Speed of the flow.
        Speed = "speed",
        // ∂u_y/∂x − ∂u_x/∂y
        /// Vorticity of the flow: rate and direction of its rotation.
        Vorticity = "vorticity",
        /// Density of the fluid. Shows pressure and sound waves.
        Density = "density",
    }
}

/// Returns the kinematic viscosity in cells² per step for the relaxation rate `omega`: c²·(1/omega − ½) with c² = 1/3.
fn viscosity(omega: f32) -> f32 {
    ((2.0 / f64::from(omega) - 1.0) / 6.0) as f32
}

impl Fluid {
    fn set_viscosity(&mut self) {
        self.viscosity = viscosity(self.omega);
    }

    /// Sets the relaxation rate `omega` to match the current `viscosity`.
    fn set_omega(&mut self) {
        if self.viscosity != viscosity(self.omega) {
            let omega = (2.0 / (6.0 * f64::from(self.viscosity) + 1.0)) as f32;
            self.omega = omega.clamp(*OMEGA.start(), *OMEGA.end());
        }
    }

    /// Returns the viscosity c²·(1/omega − ½) in cells² per step, with c² = 1/3, without the eddy viscosity of `les`.
    pub fn viscosity(&self) -> f64 {
        (2.0 / f64::from(self.omega) - 1.0) / 6.0
    }

    /// Returns ω⁻ of [`Collision::Trt`], the relaxation rate of the difference between opposite populations.
    pub(super) fn odd_rate(&self) -> f64 {
        1.0 / (0.5 + MAGIC / (1.0 / f64::from(self.omega) - 0.5))
    }

    /// Returns 18√2·C² (C is the Smagorinsky constant), the factor of the stress in the relaxation time of `les`.
    pub(super) fn eddy_factor(&self) -> f64 {
        18.0 * SQRT_2 * f64::from(self.smagorinsky).powi(2)
    }

    /// Returns the Reynolds number for a speed and a length in cells, based on the nominal viscosity.
    pub fn reynolds(&self, speed: f64, length: f32) -> f64 {
        speed * f64::from(length) / self.viscosity()
    }

    /// Returns the index of the first grid row that the drive pushes, and the number of rows it pushes.
    pub(super) fn driven_rows(&self, ny: usize) -> (usize, usize) {
        match self.drive {
            Drive::Row => (ny - 2, 1),
            Drive::Force => (0, ny),
            Drive::Inlet => (0, 0),
        }
    }
}
