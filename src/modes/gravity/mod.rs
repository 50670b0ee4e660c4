//! Gravity: every body attracts every other, `a_i = G Σ_j m_j d_ij s(|d_ij|)`, stepped all pairs.

mod colour;
mod mutual;
mod part;
mod reference;
mod simulation;
mod step;

pub use self::colour::Colour;
use self::simulation::{GravitySimulation, planes};
use crate::bodies::Bodies;
use crate::compute::{Device, Kind, Source};
use crate::error::{Error, Result};
use crate::hand::{Edit, Field};
use crate::modes::snapshot::Snapshot;
use crate::modes::{
    Diagnostics, Extra, Knob, Limit, Mode, ModeInfo, Pair, Recipe, Simulation, Station, Together, Variant,
    Work, checks, hand, source, variant,
};
use crate::params::{Choice, Effect, Info, Opt, Params, Scale, Visitor};
use crate::scene;
use crate::state::State;

/// The mode's row.
pub static INFO: ModeInfo = ModeInfo {
    name: "gravity",
    summary: "every body attracts every other",
    work: Work::pairs("interactions", Some(20.0)),
    error: (
        "Force error",
        "how far the forces are from exact ones: those on up to 256 random bodies are worked out again in double precision; 1e-6 is a millionth",
    ),
    limit: Limit::Pair(Pair::new(&[COLUMNS, source!("gravity/limit.cl")], 3, 3, 2, 1.0)),
    kernels: &[FORCE, COLUMNS],
    variants: &VARIANTS,
    scenes: &scene::gravity::SCENES,
    checks: |info| {
        let mut starts = checks::of_bodies(info, &["galaxy"])?;
        starts.extend(checks::at_all_scales(info, "galaxy")?);
        Ok(starts)
    },
    series: None,
    carries: simulation::CARRIES,
    paints: false,
    default: || Box::new(Gravity::default()),
    auto_variant: |device, bodies| match device.kind {
        _ if bodies >= MANY => &VARIANTS[6],
        Kind::Cpu => &VARIANTS[4],
        Kind::Gpu | Kind::Accelerator => &VARIANTS[5],
    },
};

/// From so many bodies on, tiles of pairs are enough to fill a device.
const MANY: usize = 12_288;

/// The force, and how a step ends.
const FORCE: Source = source!("gravity/force.cl");
/// The force on several bodies at once.
const COLUMNS: Source = source!("gravity/columns.cl");

static VARIANTS: [Variant; 7] = [
    variant!("gravity", "naive", "every operand from global memory, the sum too"),
    variant!("gravity", "private", "own body and sum in registers"),
    Variant {
        local_bytes: tile,
        ..variant!("gravity", "tiled", "bodies loaded once per work-group into local memory")
    },
    Variant {
        local_bytes: tile,
        ..variant!("gravity", "unrolled", "the tile, with the inner loop written out eight times")
    },
    Variant {
        knobs: &[LANES, VECTORS, ROOT],
        work_group: |_| 2,
        bodies_per_group: |r| r.work_group * (r.knob("lanes") * r.knob("vectors")) as usize,
        ..variant!("gravity", "vector", "for CPUs: 16 bodies at once, one to a vector lane, fast root")
    },
    Variant {
        knobs: &[K, SPLIT, UNROLL, ROOT, EQUAL],
        work_group: |device| if device.kind == Kind::Cpu { 64 } else { 512 },
        bodies_per_group: |r| r.work_group / shares(r) * r.knob("k") as usize,
        local_bytes: |r| {
            let turn = shares(r) * r.knob("unroll") as usize;
            size_of::<[f32; 4]>() * r.work_group.next_multiple_of(turn)
        },
        ..variant!(
            "gravity",
            "blocked",
            "for GPUs: several bodies an item, the sum split over items, fast root"
        )
    },
    Variant {
        knobs: &[VECTOR, OWN, BLOCK, ROOT],
        work_group: |device| if device.kind == Kind::Cpu { 1 } else { 32 },
        sides: 2.0,
        together: Together::Alike,
        bodies_per_group: mutual::bodies_per_group,
        local_bytes: mutual::local_bytes,
        ..variant!("gravity", "mutual", "every pair once: what one body feels, the other feels too")
    },
];

/// A body to a work-item.
fn tile(recipe: &Recipe) -> usize {
    size_of::<[f32; 4]>() * recipe.work_group
}

/// Items that share the sum of a body.
fn shares(recipe: &Recipe) -> usize {
    recipe.work_group.min(recipe.knob("split") as usize)
}

const LANES: Knob = Knob {
    name: "lanes",
    define: "LANES",
    summary: "bodies in a vector",
    options: &[8, 16],
    never_hurts: false,
    guess: |_, _| 16,
};
const VECTORS: Knob = Knob {
    name: "vectors",
    define: "VECTORS",
    summary: "vectors of bodies that a work-item steps",
    options: &[1, 2, 4],
    never_hurts: false,
    guess: |_, _| 2,
};
const K: Knob = Knob {
    name: "k",
    define: "K",
    summary: "bodies that a work-item sums for",
    options: &[1, 2, 4, 8],
    never_hurts: false,
    guess: |_, bodies| if bodies < 65_536 { 2 } else { 4 },
};
const SPLIT: Knob = Knob {
    name: "split",
    define: "SPLIT",
    summary: "work-items that share the sum of a body",
    options: &[1, 2, 4, 8, 16, 32],
    never_hurts: false,
    // About a thousand items for each compute unit fill a large GPU.
    guess: |device, bodies| {
        let items = 1024 * device.compute_units as usize;
        let k = (K.guess)(device, bodies) as usize;
        (items * k).div_ceil(bodies).next_power_of_two().min(16) as u32
    },
};
const UNROLL: Knob = Knob {
    name: "unroll",
    define: "UNROLL",
    summary: "turns of the inner loop that are written out",
    options: &[8, 16, 32],
    never_hurts: false,
    guess: |_, _| 16,
};
const VECTOR: Knob =
    Knob { options: &[1, 8, 16], guess: |device, _| if device.kind == Kind::Cpu { 16 } else { 1 }, ..LANES };
const OWN: Knob = Knob {
    summary: "bodies, or vectors of them, that a work-item holds",
    options: &[2, 4, 8, 10],
    guess: |device, bodies| match (device.kind, bodies) {
        (Kind::Cpu, _) => 2,
        (_, 65_536..) => 10,
        (_, MANY..) => 8,
        _ => 4,
    },
    ..K
};
const BLOCK: Knob = Knob {
    name: "block",
    define: "",
    summary: "about how many bodies are a block, at least what a work-group holds: two blocks are a tile of pairs",
    options: &[128, 256, 512, 1024, 2048],
    never_hurts: false,
    // Few blocks keep the sums short, many keep all compute units busy.
    guess: |device, bodies| match device.kind {
        Kind::Cpu => {
            let blocks = (16 * device.compute_units as usize).isqrt().max(8);
            (bodies / blocks).next_power_of_two().clamp(128, 2048) as u32
        }
        _ if bodies < MANY => 128,
        _ => (bodies / 2048).next_power_of_two().clamp(256, 1024) as u32,
    },
};
const ROOT: Knob = Knob {
    name: "root",
    define: "ROOT",
    summary: "1 (on): the machine's own reciprocal root, where the compiler takes it; 0 (off): the portable one",
    options: &[0, 1],
    never_hurts: false,
    guess: |_, _| 1,
};
const EQUAL: Knob = Knob {
    name: "equal",
    define: "EQUAL",
    summary: "1 (on): where all masses are the same, the mass stands outside the sum; 0 (off): it never does",
    options: &[0, 1],
    never_hurts: true,
    guess: |_, _| 1,
};

/// The parameters of gravity.
#[derive(Debug, Clone)]
pub struct Gravity {
    /// Time step.
    pub dt: f32,
    /// Softening length.
    pub eps: f32,
    /// Gravitational constant.
    pub g: f32,
    /// Factor on the velocities after each step.
    pub decay: f32,
    /// How time is stepped.
    pub integrator: Integrator,
    /// How the force is kept finite at small distance.
    pub softening: Softening,
    /// Keep z = 0.
    pub flat: bool,
    /// Carry what rounding cuts off places and velocities.
    pub compensated: bool,
    /// What colours show.
    pub colour: Colour,
}

impl Default for Gravity {
    fn default() -> Self {
        Self {
            dt: 0.005,
            eps: 0.05,
            g: 1.0,
            decay: 1.0,
            integrator: Integrator::Leapfrog,
            softening: Softening::Plummer,
            flat: false,
            compensated: false,
            colour: Colour::Speed,
        }
    }
}

impl Params for Gravity {
    fn visit(&mut self, v: &mut dyn Visitor) {
        use Scale::{Linear, Log};
        v.float(
            &Info::new("dt", "Time step", "Simulated time per step: larger is faster but less accurate.")
                .unit("time"),
            &mut self.dt,
            1e-5..=0.1,
            Log,
        );
        v.float(
            &Info::new(
                "eps",
                "Softening",
                "Below this distance gravity fades, so close pairs do not fly apart.",
            )
            .unit("length"),
            &mut self.eps,
            1e-5..=1.0,
            Log,
        );
        v.float(
            &Info::new(
                "g",
                "Gravity G",
                "The gravitational constant: how strongly bodies attract; 0 is none.",
            ),
            &mut self.g,
            0.0..=10.0,
            Linear,
        );
        v.float(
            &Info::new("decay", "Decay", "Factor on every velocity after each step: 1 loses nothing."),
            &mut self.decay,
            0.9..=1.0,
            Linear,
        );
        v.choice(
            &Info::new("integrator", "Integrator", "How the force moves the bodies."),
            &mut self.integrator,
        );
        v.choice(
            &Info::new("softening", "Softening law", "How the force is kept finite when two bodies meet.")
                .effect(Effect::Rebuild),
            &mut self.softening,
        );
        v.flag(&Info::new("flat", "Flat", "Keep every body in the plane z = 0."), &mut self.flat);
        v.flag(
            &Info::new(
                "compensated",
                "Compensated",
                "Keep the part of positions and velocities that rounding drops (Kahan summation): long runs stay accurate for longer.",
            )
            .effect(Effect::Rebuild),
            &mut self.compensated,
        );
        v.choice(
            &Info::new("colour", "Colour", "What the colour of a body shows.").effect(Effect::View),
            &mut self.colour,
        );
    }
}

/// The share of a step of each of the outer two of three kick–drift–kicks whose errors of third order cancel
/// (Yoshida 1990, Phys. Lett. A 150, 262): 1/(2 − ∛2). The middle one goes back by what these two go too far.
const OUTER: f64 = 1.351_207_191_959_657_8;

/// How time is stepped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Integrator {
    /// v += a·dt; x += v·dt.
    Euler,
    /// x += v·dt + ½a·dt²; v += a·dt.
    Taylor,
    /// Kick, drift, kick.
    Leapfrog,
    /// Three of these, the middle one backwards.
    Yoshida,
}

impl Integrator {
    /// Force evaluations in a step.
    pub fn evaluations(self) -> u32 {
        if self == Self::Yoshida { 3 } else { 1 }
    }

    /// Whether a step with a negative time step undoes one, but for rounding. Such a step is made of kick–drift–kicks.
    pub fn is_symmetric(self) -> bool {
        matches!(self, Self::Leapfrog | Self::Yoshida)
    }
}

impl Choice for Integrator {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Leapfrog,
            Opt { name: "leapfrog", help: "Kick–drift–kick: second order, energy does not drift." },
        ),
        (
            Self::Euler,
            Opt { name: "euler", help: "Symplectic Euler: first order, energy wobbles but stays." },
        ),
        (
            Self::Taylor,
            Opt { name: "taylor", help: "What the OpenCL tutorials use: not symplectic, energy grows." },
        ),
        (
            Self::Yoshida,
            Opt {
                name: "yoshida",
                help: "Three leapfrog steps in one: fourth order, for smooth orbits; takes three times as long.",
            },
        ),
    ];
}

/// How the force is kept finite at small distance r.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Softening {
    /// s = (r² + eps²)^(−3/2).
    Plummer,
    /// s = max(r, eps)^(−3).
    Clamp,
}

impl Choice for Softening {
    const OPTIONS: &'static [(Self, Opt)] = &[
        (
            Self::Plummer,
            Opt { name: "plummer", help: "Every body is a small smooth ball: (r² + eps²)^(−3/2)." },
        ),
        (Self::Clamp, Opt { name: "clamp", help: "Exact beyond eps, capped within: max(r, eps)^(−3)." }),
    ];
}

/// What is carried on where `compensated` is on: the low parts of all places, then those of all velocities, four numbers a
/// body as [`Bodies`] has them, of which the last is 0.
const LOW_PARTS: &str = "low_parts";

/// Lets the low parts of bodies follow a change by hand that made `after` bodies of `before`: those of others stay, and what
/// a person sets has none.
fn edit_low_parts(low: &mut Vec<f32>, edit: &Edit, before: usize, after: usize) -> Result<()> {
    if low.len() != 8 * before {
        return Err(Error::Invalid(format!(
            "the list {LOW_PARTS} does not have the expected {} numbers",
            8 * before
        )));
    }
    let velocities = low.split_off(4 * before);
    let mut rows = [std::mem::take(low), velocities];
    for (nth, row) in rows.iter_mut().enumerate() {
        match edit {
            Edit::Launch(_) => row.resize(4 * after, 0.0),
            Edit::Remove(body) => drop(row.drain(4 * body..4 * body + 4)),
            Edit::Change { body, velocity: Some(_), .. } if nth == 1 => row[4 * body..4 * body + 4].fill(0.0),
            Edit::Change { .. } => {}
        }
    }
    *low = rows.concat();
    Ok(())
}

impl Mode for Gravity {
    fn info(&self) -> &'static ModeInfo {
        &INFO
    }

    fn boxed(&self) -> Box<dyn Mode> {
        Box::new(self.clone())
    }

    fn build(&self, device: &Device, recipe: Recipe, state: &State) -> Result<Box<dyn Simulation>> {
        let bodies = state.bodies()?;
        let side = mutual::side(&[recipe], bodies.len());
        Ok(Box::new(GravitySimulation::new(device, self, (recipe, side), bodies)?))
    }

    fn build_together(&self, stations: &[Station], state: &State) -> Result<Box<dyn Simulation>> {
        Ok(Box::new(part::together(self, stations, state.bodies()?)?))
    }

    fn time_step(&self) -> f64 {
        f64::from(self.dt)
    }

    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str> {
        if !self.integrator.is_symmetric() {
            return Err("Only the integrators leapfrog and yoshida can run backwards.");
        }
        if self.decay != 1.0 {
            return Err("With a decay below 1 speed is lost, and what is lost does not come back.");
        }
        Ok(Box::new(Self { dt: -self.dt, ..self.clone() }))
    }

    fn edit(&self, bodies: &mut Bodies, extra: &mut Extra, edit: &Edit) -> Result<()> {
        let spin = |mass: f32, radius: f32| {
            let softened = radius * radius + self.eps * self.eps;
            (self.g * mass / (softened * softened.sqrt())).sqrt()
        };
        let before = bodies.len();
        hand::apply(bodies, edit, 0.0, spin)?;
        self.unsettle(extra);
        if let Some(low) = extra.get_mut(LOW_PARTS) {
            edit_low_parts(low, edit, before, bodies.len())?;
        }
        Ok(())
    }

    fn unsettle(&self, extra: &mut Extra) {
        // What rounding cut off belongs to the bodies, whatever steps them.
        extra.retain(|name, _| self.compensated && name == LOW_PARTS);
    }

    fn force_evaluations(&self) -> u32 {
        self.integrator.evaluations()
    }

    fn field(&self, at: glam::DVec3, others: &[[f32; 4]], except: Option<usize>) -> Option<Field> {
        Some(self.field_of(at, others, except))
    }

    fn conserves_energy(&self) -> bool {
        self.decay == 1.0 && !self.flat
    }

    fn bytes_per_body(&self) -> usize {
        // Positions twice, velocities, accelerations, low parts; what `mutual` needs; what is drawn; the potential.
        (3 + planes(self)) * size_of::<[f32; 4]>()
            + mutual::BYTES_PER_BODY
            + Snapshot::BYTES_PER_BODY
            + size_of::<f64>()
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
