//! Entry of the asteroids mode in the table of modes.

use super::carried::CARRIES;
use super::columns::Columns;
use super::edit;
use super::parameters::{Asteroids, Colour, ContactLaw, Substeps};
use super::simulation::{self, AsteroidSimulation};
use super::solver::SecondPass;
use super::variants::{VARIANTS, auto_variant};
use crate::base::{Bodies, Edit, GravitySample, Points, Result, State, params};
use crate::compute::{Device, DeviceInfo, MicroKernel, ProgramSource};
use crate::modes::distributions::Distribution;
use crate::modes::{
    Attraction, ColourScale, DeviceRecipe, Diagnostics, Extra, Limit, Mode, ModeInfo, PackedPoints, Pair,
    Recipe, Remedy, ScaleUnit, Simulation, Start, Team, Variant, Work, checks, common_multiple, fleet,
    source,
};
use crate::scene::{self, Scene, file};

/// Entry of the asteroids mode in the table of modes.
pub static INFO: ModeInfo = ModeInfo {
    name: "asteroids",
    summary: "Solid bodies orbit a planet and collide.",
    work: Work::pairs("pairs", None),
    error: (
        "Step error",
        "Relative error of a step, measured on up to 256 random bodies, whose motion is recomputed in double precision. 1e-6 means one part in a million.",
    ),
    limit: Limit::Pair(Pair {
        micro: MicroKernel::pairs(&[source!("asteroids/limit.cl")], 4, 5, 2),
        roots: 0.0,
    }),
    kernels: &[source!("asteroids/contact.cl"), source!("asteroids/motion.cl")],
    variants: &VARIANTS,
    scenes: &scene::ASTEROIDS,
    checks: starts_to_check,
    series: None,
    distributions: &[Distribution::Speeds],
    stabilizer: Remedy::SHORTER_STEP,
    carries: CARRIES,
    default: || Box::new(Asteroids::default()),
};

/// Returns the initial states for `check`: scenes with few contacts, a crowded box around a planet, and substeps.
fn starts_to_check(info: &'static ModeInfo) -> Result<Vec<Start>> {
    let (belt, block) = (checks::scene(info, "belt")?, &block()?);
    let telling = |scene, name: &str, set: &[(&str, &str)]| -> Result<Vec<Start>> {
        let mut starts = checks::of_bodies(info, &[scene])?;
        starts.retain(|start| start.telling);
        for start in &mut starts {
            for (key, value) in set {
                params::set(start.mode.as_mut(), key, value)?;
            }
            start.name += name;
        }
        Ok(starts)
    };
    let crowd = [("radius", "0.06"), ("planet_mass", "1"), ("planet_radius", "0.1")];
    let starts = [
        checks::of_bodies(info, &[belt, block])?,
        telling(block, " crowded around a planet", &crowd)?,
        telling(belt, ", but substeps=4", &[("substeps", "4")])?,
        telling(
            belt,
            ", but contact_law=simple substeps=2",
            &[("contact_law", "simple"), ("substeps", "2")],
        )?,
    ];
    Ok(starts.into_iter().flatten().collect())
}

/// Returns a scene for checks and tests, which is not in the gallery: a block of balls that nearly touch, so that many
/// collide within a few steps if they move.
///
/// # Errors
/// Never returns an error, because the text of the scene is valid.
pub fn block() -> Result<Scene> {
    Ok(file::parse("block", include_str!("block.toml"))?.scene)
}

impl Mode for Asteroids {
    fn info(&self) -> &'static ModeInfo {
        &INFO
    }

    fn auto_variant(&self, device: &DeviceInfo, count: usize) -> &'static Variant {
        auto_variant(device, count)
    }

    fn source(&self, recipe: &Recipe, _device: &DeviceInfo) -> Result<ProgramSource> {
        let second = SecondPass::defines().into_iter().filter(|_| self.contact_law == ContactLaw::Match);
        let defines = recipe.defines().into_iter().chain(second).collect();
        let files = self.info().sources(recipe.variant);
        Ok(ProgramSource { files, defines, ..ProgramSource::default() })
    }

    fn boxed(&self) -> Box<dyn Mode> {
        Box::new(self.clone())
    }

    fn build_together(&self, team: Team, state: &State) -> Result<Box<dyn Simulation>> {
        let bodies = state.bodies()?;
        let grain = team.recipes().iter().map(Recipe::bodies_per_group).fold(1, common_multiple);
        let build = |own: &DeviceRecipe| AsteroidSimulation::new(own, self, bodies, grain);
        fleet::together(team.local.iter().map(build).collect::<Result<_>>()?, team.link)
    }

    fn preview(&self, device: &Device, _recipe: &Recipe, state: &State) -> Result<Option<Points>> {
        simulation::preview(device, self, state.bodies()?).map(Some)
    }

    fn time_step(&self) -> f64 {
        f64::from(self.dt)
    }

    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str> {
        Err("Collisions lose information, so steps cannot be undone.")
    }

    fn even(&mut self) {
        self.substeps = Substeps::Fixed(1);
    }

    fn edit(&self, bodies: &mut Bodies, extra: &mut Extra, edit: &Edit) -> Result<()> {
        edit::edit(self, bodies, extra, edit)
    }

    /// Does nothing because all lists remain valid when parameters change. The substep schedule records the parameters
    /// on which it depends.
    fn unsettle(&self, _: &mut Extra) {}

    fn field(&self, at: glam::DVec3, _: &[[f32; 4]], _: Option<usize>) -> Option<GravitySample> {
        Some(self.field_of(at))
    }

    fn attraction(&self) -> Attraction {
        let gm = f64::from(self.g) * f64::from(self.planet_mass);
        if gm > 0.0 { Attraction::Planet { gm } } else { Attraction::Nothing }
    }

    fn colour_scale(&self) -> Option<ColourScale> {
        match self.colour {
            Colour::Speed => ColourScale::linear("Speed", ScaleUnit::Speed),
            Colour::Mass => ColourScale::linear("Mass", ScaleUnit::Mass),
            Colour::Acceleration => ColourScale::log("Acceleration", ScaleUnit::Unnamed),
            Colour::Height => ColourScale::linear("Height", ScaleUnit::Length),
            Colour::Origin | Colour::Hit => None,
        }
    }

    fn conserves_energy(&self) -> bool {
        self.restitution == 1.0 && self.friction == 0.0 && self.push == 0.0 && self.decay == 1.0
    }

    fn bytes_per_body(&self) -> usize {
        // Memory per body: two copies of positions and velocities, and a third copy, sorted or in columns; collision
        // records; groups; the packed picture; the cell list or the list of touching pairs; the results of the first
        // pass.
        7 * size_of::<[f32; 4]>()
            + size_of::<f32>()
            + PackedPoints::BYTES_PER_BODY
            + Columns::BYTES_PER_BODY
            + SecondPass::BYTES_PER_BODY
    }

    fn reference(&self, state: &mut State<f64>, steps: u32) -> Result<()> {
        self.reference_steps(state.bodies_mut()?, steps);
        Ok(())
    }

    fn reference_diagnostics(&self, state: &State<f64>) -> Result<Diagnostics> {
        Ok(Diagnostics::of_bodies(state.bodies()?, |_, mass, x| mass * self.field_of(x).potential))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parameters::ContactLaw;
    use super::super::reference::Step;
    use super::*;

    #[test]
    fn no_contact_in_the_checks_of_the_simple_contact_law_depends_on_rounding() {
        let mut tested = 0;
        for start in (INFO.checks)(&INFO).unwrap() {
            let mut mode = Asteroids::default();
            for (key, value) in start.mode.values().iter() {
                params::set(&mut mode, key, &value.to_string()).unwrap();
            }
            if mode.contact_law != ContactLaw::Simple {
                continue;
            }
            for steps in 0..start.steps {
                let mut state: State<f64> = start.state.to_f64();
                start.mode.reference(&mut state, steps).unwrap();
                let bodies = state.into_bodies().unwrap();
                let (count, radii) = (bodies.len(), mode.radii(&bodies));
                let step = Step::new(&mode, bodies, radii);
                let doubtful: Vec<_> = (0..count).filter(|i| step.is_in_doubt(*i)).collect();
                assert!(doubtful.is_empty(), "{}, after {steps} steps: bodies {doubtful:?}", start.name);
                tested += (0..count).filter(|i| !step.touching(*i).is_empty()).count();
            }
        }
        assert!(tested > 1000, "only {tested} bodies touch another body");
    }
}
