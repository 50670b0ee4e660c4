//! Asteroids: bodies with a size that collide, round a planet that holds them in orbit.

mod carried;
mod columns;
mod edit;
mod grid;
mod part;
mod reference;
mod simulation;
mod substeps;

use self::columns::Columns;
use self::simulation::{AsteroidSimulation, Second};
pub use self::substeps::Substeps;
use crate::bodies::Bodies;
use crate::compute::{Device, Kind};
use crate::error::Result;
use crate::hand::{Edit, Field};
use crate::modes::checks::Start;
use crate::modes::snapshot::Snapshot;
use crate::modes::{
    Diagnostics, Extra, Limit, Mode, ModeInfo, Pair, Recipe, Simulation, Station, Together, Variant, Work,
    checks, source, variant,
};
use crate::params::{self, Choice, Effect, Info, Opt, Params, Scale, Visitor};
use crate::scene;
use crate::state::State;

/// The mode's row.
pub static INFO: ModeInfo = ModeInfo {
    name: "asteroids",
    summary: "bodies with a size collide, round a planet",
    work: Work::pairs("pairs", None),
    error: (
        "Step error",
        "how far a step is from an exact one: how up to 256 random bodies moved is worked out again in double precision; 1e-6 is a millionth",
    ),
    limit: Limit::Pair(Pair::new(&[source!("asteroids/limit.cl")], 4, 5, 2, 0.0)),
    kernels: &[source!("asteroids/contact.cl"), source!("asteroids/motion.cl")],
    variants: &VARIANTS,
    scenes: &scene::asteroids::SCENES,
    checks: starts_to_check,
    series: None,
    carries: carried::CARRIES,
    paints: false,
    default: || Box::new(Asteroids::default()),
    // Looking at everyone is the quicker way only while there are few.
    auto_variant: |device, bodies| match device.kind {
        Kind::Cpu if bodies <= 2_048 => &VARIANTS[3],
        Kind::Gpu | Kind::Accelerator if bodies <= 8_192 => &VARIANTS[1],
        _ => &VARIANTS[4],
    },
};

static VARIANTS: [Variant; 5] = [
    variant!("asteroids", "naive", "every pair, every operand from global memory"),
    Variant {
        local_bytes: |recipe| size_of::<[f32; 4]>() * recipe.work_group.next_multiple_of(8),
        ..variant!("asteroids", "tiled", "places loaded once per work-group into local memory")
    },
    Variant {
        local_bytes: |recipe| size_of::<[f32; 8]>() * recipe.work_group,
        ..variant!("asteroids", "tiled-both", "the tile holds velocities too")
    },
    Variant {
        work_group: |_| 16,
        bodies_per_group: |recipe| 4 * recipe.work_group,
        sides: 2.0,
        ..variant!("asteroids", "vector", "for CPUs: each pair once, four bodies against 16 others at once")
    },
    Variant {
        together: Together::No,
        has_limit: false,
        ..variant!("asteroids", "grid", "bodies sorted into cells: only neighbours are looked at")
    },
];

/// Starts in which few bodies touch, some in which all do: a box of bodies that grew into each other, with a planet in it; and
/// some whose steps are divided.
fn starts_to_check(info: &'static ModeInfo) -> Result<Vec<Start>> {
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
        checks::of_bodies(info, &["belt", "box"])?,
        telling("box", " crowded round a planet", &crowd)?,
        telling("belt", ", but substeps=4", &[("substeps", "4")])?,
        telling(
            "belt",
            ", but contact_law=simple substeps=2",
            &[("contact_law", "simple"), ("substeps", "2")],
        )?,
    ];
    Ok(starts.into_iter().flatten().collect())
}

/// The parameters of asteroids.
#[derive(Debug, Clone)]
pub struct Asteroids {
    /// Time step.
    pub dt: f32,
    /// How many substeps a step is divided into.
    pub substeps: Substeps,
    /// Factor on the velocities after each step.
    pub decay: f32,
    /// Speed after a collision over speed before, along the line of centres.
    pub restitution: f32,
    /// Share of the tangential velocity that a collision takes.
    pub friction: f32,
    /// Radius of a body of mean mass.
    pub radius: f32,
    /// Share of an overlap that is undone in a step.
    pub push: f32,
    /// Mass of the planet at the origin.
    pub planet_mass: f32,
    /// Radius of the planet; 0 is no planet to bounce off.
    pub planet_radius: f32,
    /// Gravitational constant.
    pub g: f32,
    /// How the impulses of a body's contacts are put together.
    pub contact_law: ContactLaw,
    /// What colours show.
    pub colour: Colour,
}

/// How the impulses of a body's contacts are put together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ContactLaw {
    /// Two passes: contacts are counted, then impulses are shared between them.
    Match,
    /// One pass: every contact adds its whole impulse.
    Simple,
}

impl Choice for ContactLaw {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Match,
            Opt {
                name: "match",
                help: "Two passes: the first counts contacts, the second shares impulses among them. Crowds gain no energy, and piles stay at rest.",
            },
        ),
        (
            Self::Simple,
            Opt {
                name: "simple",
                help: "One pass, as in tutorials: each contact adds its whole impulse. Correct for two bodies; crowds gain energy and piles sink.",
            },
        ),
    ];
}

/// What the colour of a body shows, in the order in which `kernels/prelude.cl` counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Colour {
    /// |v|.
    Speed,
    /// m.
    Mass,
    /// The logarithm of |Δv|/dt of the last step.
    Acceleration,
    /// The group it began in.
    Origin,
    /// z.
    Height,
    /// How lately it was hit.
    Hit,
}

impl Choice for Colour {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (Self::Speed, Opt { name: "speed", help: "How fast each body is." }),
        (Self::Mass, Opt { name: "mass", help: "How heavy each body is." }),
        (
            Self::Acceleration,
            Opt { name: "acceleration", help: "How strongly each body is pulled or pushed, by factors." },
        ),
        (Self::Origin, Opt { name: "origin", help: "Where each body began: its group, or its shell." }),
        (Self::Height, Opt { name: "height", help: "How high each body is above the plane z = 0." }),
        (Self::Hit, Opt { name: "hit", help: "How lately each body was hit: bright is just now." }),
    ];
}

impl Default for Asteroids {
    fn default() -> Self {
        Self {
            dt: 0.005,
            substeps: Substeps::Auto,
            decay: 1.0,
            restitution: 0.8,
            friction: 0.05,
            radius: 0.01,
            push: 0.2,
            planet_mass: 1.0,
            planet_radius: 0.3,
            g: 1.0,
            contact_law: ContactLaw::Match,
            colour: Colour::Speed,
        }
    }
}

impl Params for Asteroids {
    fn visit(&mut self, v: &mut dyn Visitor) {
        use Scale::{Linear, Log};
        let Self {
            dt,
            substeps,
            decay,
            restitution,
            friction,
            radius,
            push,
            planet_mass,
            planet_radius,
            g,
            contact_law,
            colour,
        } = self;
        v.float(
            &Info::new(
                "dt",
                "Time step",
                "Simulated time per step. A step is divided into substeps if bodies would move too far.",
            )
            .unit("time"),
            dt,
            1e-5..=0.1,
            Log,
        );
        v.choice(
            &Info::new(
                "substeps",
                "Substeps",
                "Substeps in each step. With too few, fast bodies pass through each other and piles sink.",
            ),
            substeps,
        );
        v.float(
            &Info::new("decay", "Decay", "Factor on every velocity after each step: 1 loses nothing."),
            decay,
            0.9..=1.0,
            Linear,
        );
        v.float(
            &Info::new(
                "restitution",
                "Restitution",
                "How strongly bodies bounce: 1 keeps the full speed, 0 keeps none.",
            ),
            restitution,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &Info::new("friction", "Friction", "The share of the sideways speed that a collision takes."),
            friction,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &Info::new(
                "radius",
                "Radius",
                "Radius of a body of mean mass; others go with the cube root of theirs.",
            )
            .unit("length"),
            radius,
            1e-4..=0.5,
            Log,
        );
        v.float(
            &Info::new("push", "Push-out", "Share of an overlap that is undone in each substep. With the contact law match, overlaps that carry a load stay."),
            push,
            0.0..=1.0,
            Linear,
        );
        v.float(
            &Info::new("planet_mass", "Planet mass", "How heavy the planet at the centre is; 0 is none."),
            planet_mass,
            0.0..=10.0,
            Linear,
        );
        v.float(
            &Info::new(
                "planet_radius",
                "Planet radius",
                "Bodies bounce off the planet at this distance; 0 is none.",
            )
            .unit("length"),
            planet_radius,
            0.0..=2.0,
            Linear,
        );
        v.float(
            &Info::new("g", "Gravity G", "The gravitational constant: how strongly the planet attracts."),
            g,
            0.0..=10.0,
            Linear,
        );
        v.choice(
            &Info::new(
                "contact_law",
                "Contact law",
                "How the impulses of several contacts of one body are combined.",
            )
            .effect(Effect::Rebuild),
            contact_law,
        );
        v.choice(
            &Info::new("colour", "Colour", "What the colour of a body shows.").effect(Effect::View),
            colour,
        );
    }
}

impl Mode for Asteroids {
    fn info(&self) -> &'static ModeInfo {
        &INFO
    }

    fn boxed(&self) -> Box<dyn Mode> {
        Box::new(self.clone())
    }

    fn build(&self, device: &Device, recipe: Recipe, state: &State) -> Result<Box<dyn Simulation>> {
        Ok(Box::new(AsteroidSimulation::new(device, self, recipe, state.bodies()?)?))
    }

    fn build_together(&self, stations: &[Station], state: &State) -> Result<Box<dyn Simulation>> {
        Ok(Box::new(part::together(self, stations, state.bodies()?)?))
    }

    fn time_step(&self) -> f64 {
        f64::from(self.dt)
    }

    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str> {
        Err("Collisions cannot be undone: bodies forget how they met.")
    }

    fn even(&mut self) {
        self.substeps = Substeps::Fixed(1);
    }

    fn edit(&self, bodies: &mut Bodies, extra: &mut Extra, edit: &Edit) -> Result<()> {
        edit::edit(self, bodies, extra, edit)
    }

    /// Sizes and contacts hold, and substeps tell the parameters that they hold for.
    fn unsettle(&self, _: &mut Extra) {}

    fn field(&self, at: glam::DVec3, _: &[[f32; 4]], _: Option<usize>) -> Option<Field> {
        Some(self.field_of(at))
    }

    fn conserves_energy(&self) -> bool {
        self.restitution == 1.0 && self.friction == 0.0 && self.push == 0.0 && self.decay == 1.0
    }

    fn bytes_per_body(&self) -> usize {
        // Places and velocities twice, and once more sorted or in columns; contacts; groups; what is drawn; the cell list, or
        // who touches whom; what the first pass of a step leaves for the second one.
        7 * size_of::<[f32; 4]>()
            + size_of::<f32>()
            + Snapshot::BYTES_PER_BODY
            + Columns::BYTES_PER_BODY
            + Second::BYTES_PER_BODY
    }

    fn reference(&self, state: &mut State<f64>, steps: u32) -> Result<()> {
        self.reference_steps(state.bodies_mut()?, steps);
        Ok(())
    }

    fn reference_diagnostics(&self, state: &State<f64>) -> Result<Diagnostics> {
        Ok(self.reference_sums(state.bodies()?))
    }
}

/// ∛(m / mean m) of each body: its radius over the parameter `radius`. Bodies that all have no mass are all alike.
fn unit_radii(masses: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let (sum, count) = masses.clone().fold((0.0, 0.0), |(sum, count), m| (sum + m, count + 1.0));
    masses.map(|m| if sum > 0.0 { (m * count / sum).cbrt() } else { 1.0 }).collect()
}
