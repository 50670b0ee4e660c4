//! Entry of the gravity mode in the table of modes.

use glam::Vec3;

use super::carried::{CARRIES, LOW_PARTS, edit_low_parts};
use super::parameters::{Accuracy, Colour, Gravity};
use super::simulation::{self, GravitySimulation};
use super::solver::{Builder, Setup};
use super::step::{FORCE, planes};
use super::tree;
use super::variants::{VARIANTS, auto_bodies, auto_variant};
use crate::base::{Bodies, Choice, Edit, GravitySample, Points, Result, State};
use crate::compute::{Device, DeviceInfo, KernelSource, MicroKernel, ProgramSource, ROOT};
use crate::modes::distributions::Distribution;
use crate::modes::{
    Attraction, ColourScale, DeviceRecipe, Diagnostics, Extra, Limit, Mode, ModeInfo, PackedPoints, Pair,
    Recipe, Remedy, ScaleUnit, Simulation, Team, Variant, Work, checks, edits, fleet, source,
};
use crate::scene;

/// Entry of the gravity mode in the table of modes.
pub static INFO: ModeInfo = ModeInfo {
    name: "gravity",
    summary: "Every body attracts every other body.",
    work: Work::pairs("interactions", Some(20.0)),
    error: (
        "Force error",
        "Relative error of the forces, measured on up to 256 random bodies (more if bodies are coloured by error), whose forces are recomputed in double precision. 1e-6 means one part in a million.",
    ),
    limit: Limit::Pair(Pair {
        micro: MicroKernel::pairs(&[COLUMNS, source!("gravity/limit.cl")], 3, 3, 2),
        roots: 1.0,
    }),
    kernels: &[FORCE, COLUMNS],
    variants: &VARIANTS,
    scenes: &scene::GRAVITY,
    checks: |info| {
        let galaxy = checks::scene(info, "galaxy")?;
        let mut starts = checks::of_bodies(info, &[galaxy])?;
        starts.extend(checks::at_all_scales(info, galaxy)?);
        Ok(starts)
    },
    series: None,
    distributions: &[Distribution::Density, Distribution::Speeds],
    stabilizer: Remedy::SHORTER_STEP,
    carries: CARRIES,
    default: || Box::new(Gravity::default()),
};

/// Source of the kernel functions that compute the forces on several bodies at once.
const COLUMNS: KernelSource = source!("gravity/columns.cl");

impl Mode for Gravity {
    fn info(&self) -> &'static ModeInfo {
        &INFO
    }

    fn auto_variant(&self, device: &DeviceInfo, bodies: usize) -> &'static Variant {
        auto_variant(device, bodies, self.accuracy)
    }

    fn auto_count(&self, device: &DeviceInfo, variant: Option<&'static Variant>) -> usize {
        let approximates = match variant {
            Some(variant) => variant.normal_error.is_some(),
            None => self.accuracy != Accuracy::Exact,
        };
        if approximates { auto_bodies(device) } else { INFO.work.sizes(device.kind).auto }
    }

    fn for_auto(&self) -> Box<dyn Mode> {
        let most = self.accuracy.max_opening().unwrap_or(f32::INFINITY);
        Box::new(Self { opening: self.opening.min(most), ..self.clone() })
    }

    fn accuracy(&self) -> &'static str {
        self.accuracy.name()
    }

    fn colour_scale(&self) -> Option<ColourScale> {
        match self.colour {
            Colour::Speed => ColourScale::linear("Speed", ScaleUnit::Speed),
            Colour::Mass => ColourScale::log("Mass", ScaleUnit::Mass),
            Colour::Acceleration => ColourScale::log("Acceleration", ScaleUnit::Unnamed),
            Colour::Height => ColourScale::linear("Height", ScaleUnit::Length),
            Colour::Cost => ColourScale::linear("Cost", ScaleUnit::Fixed("bodies + cells")),
            Colour::Origin | Colour::Error | Colour::Own | Colour::Stars => None,
        }
    }

    fn shows_own_colours(&self) -> bool {
        self.colour == Colour::Own
    }

    fn use_palette(&mut self) {
        if matches!(self.colour, Colour::Own | Colour::Stars) {
            self.colour = Colour::Speed;
        }
    }

    fn shows_errors(&self) -> bool {
        self.colour == Colour::Error
    }

    fn source(&self, recipe: &Recipe, device: &DeviceInfo) -> Result<ProgramSource> {
        let builder: &Builder = recipe.variant.solver()?;
        let mut source = (builder.source)(self, recipe, device);
        source.files.insert(0, ROOT);
        Ok(source)
    }

    fn boxed(&self) -> Box<dyn Mode> {
        Box::new(self.clone())
    }

    fn build_together(&self, team: Team, state: &State) -> Result<Box<dyn Simulation>> {
        let recipes = team.recipes();
        let (params, recipes, bodies) = (self, &recipes[..], state.bodies()?);
        let build = |DeviceRecipe { device, recipe }: &DeviceRecipe| {
            GravitySimulation::new(&Setup { device, params, recipe: *recipe, recipes, bodies })
        };
        fleet::together(team.local.iter().map(build).collect::<Result<_>>()?, team.link)
    }

    fn preview(&self, device: &Device, _recipe: &Recipe, state: &State) -> Result<Option<Points>> {
        match self.colour {
            Colour::Acceleration | Colour::Cost | Colour::Error => Ok(None),
            _ => simulation::preview(device, self, state.bodies()?).map(Some),
        }
    }

    fn paths(&self, bodies: &Bodies, duration: Option<f64>) -> Vec<Vec<Vec3>> {
        self.predicted_paths(bodies, duration)
    }

    fn time_step(&self) -> f64 {
        f64::from(self.dt)
    }

    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str> {
        if !self.integrator.is_symmetric() {
            return Err("Only the integrators leapfrog and yoshida can run backwards. Choose one of them.");
        }
        if self.decay != 1.0 {
            return Err(
                "A decay below 1 destroys energy, so steps cannot be undone. Set Decay to 1 to run backwards.",
            );
        }
        Ok(Box::new(Self { dt: -self.dt, ..self.clone() }))
    }

    fn edit(&self, bodies: &mut Bodies, extra: &mut Extra, edit: &Edit) -> Result<()> {
        let spin = |mass: f32, radius: f32| {
            let softened = radius * radius + self.eps * self.eps;
            (self.g * mass / (softened * softened.sqrt())).sqrt()
        };
        let before = bodies.len();
        edits::apply(bodies, edit, 0.0, spin)?;
        self.unsettle(extra);
        if let Some(low) = extra.get_mut(LOW_PARTS) {
            edit_low_parts(low, edit, before, bodies.len())?;
        }
        Ok(())
    }

    fn unsettle(&self, extra: &mut Extra) {
        // The low parts are the rounding errors of the bodies, so they stay valid with other parameters and recipes.
        extra.retain(|name, _| self.compensated && name == LOW_PARTS);
    }

    fn allows(&self, variant: &Variant) -> bool {
        variant.normal_error.is_none() || self.accuracy != Accuracy::Exact
    }

    fn normal_error(&self, recipe: &Recipe) -> Option<f64> {
        recipe.variant.normal_error.map(|_| self.usual_error(tree::Method::of(recipe).usual_error()))
    }

    fn tolerance(&self, recipe: &Recipe) -> f64 {
        let Variant { tolerance, normal_error, .. } = recipe.variant;
        let (usual, _) = tree::Method::of(recipe).usual_error();
        normal_error.map_or(*tolerance, |normal| tolerance * (usual / normal).max(1.0))
    }

    fn force_evaluations(&self) -> u32 {
        self.integrator.evaluations()
    }

    fn field(&self, at: glam::DVec3, others: &[[f32; 4]], except: Option<usize>) -> Option<GravitySample> {
        Some(self.field_of(at, others, except))
    }

    fn attraction(&self) -> Attraction {
        Attraction::Bodies { g: self.g.into() }
    }

    fn conserves_energy(&self) -> bool {
        self.decay == 1.0 && !self.flat
    }

    fn bytes_per_body(&self) -> usize {
        // Memory per body: position before and after a step, acceleration, velocity with low parts; packed picture;
        // potential.
        (3 + planes(self)) * size_of::<[f32; 4]>() + PackedPoints::BYTES_PER_BODY + size_of::<f64>()
    }

    fn bytes_in_a_buffer(&self) -> usize {
        planes(self) * size_of::<[f32; 4]>()
    }

    fn reference(&self, state: &mut State<f64>, steps: u32) -> Result<()> {
        let bodies = state.bodies_mut()?;
        for _ in 0..steps {
            self.reference_step(bodies);
        }
        Ok(())
    }

    fn reference_diagnostics(&self, state: &State<f64>) -> Result<Diagnostics> {
        Ok(self.reference_sums(state.bodies()?))
    }
}

#[cfg(test)]
mod tests {
    use super::super::variants::{MUTUAL, NAIVE, TREE};
    use super::*;
    use crate::modes::accuracy::TOLERANCE;

    #[test]
    fn the_error_alarm_threshold_of_the_tree_follows_the_opening_parameter() {
        let device = DeviceInfo::default();
        let alarm = |opening, variant| {
            let mode: &dyn Mode = &Gravity { opening, ..Gravity::default() };
            mode.alarm(&Recipe::guess(variant, &device, 1000))
        };
        let usual = alarm(Gravity::default().opening, &TREE);
        assert_eq!(Some(usual), TREE.normal_error.map(|normal| 2.0 * normal));
        assert!(alarm(0.0005, &TREE) < 0.5 * usual && alarm(0.02, &TREE) > 2.0 * usual);
        // With the smallest opening, only rounding errors remain.
        assert_eq!(alarm(1e-5, &TREE), TOLERANCE);
        for variant in [&NAIVE, &MUTUAL] {
            assert_eq!([0.0005, 0.02].map(|opening| alarm(opening, variant)), [variant.tolerance; 2]);
        }
    }
}
