//! What can be simulated. A mode is a plain struct of parameters, a ladder of kernel variants, a set of
//! scenes and an f64 reference; adding a mode is a folder here, kernels beside it, and a row in [`MODES`].

pub mod accuracy;
pub mod asteroids;
pub mod carried;
pub mod checks;
mod fleet;
pub mod fluid;
pub mod gravity;
mod hand;
mod limit;
mod recipe;
mod reduction;
mod sharing;
mod snapshot;
mod work;

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use self::accuracy::Sample;
use self::carried::CarriedList;
use self::checks::Start;
pub use self::limit::{Busy, Limit, Pair};
use self::recipe::common_multiple;
pub use self::recipe::{Knob, Recipe};
pub use self::sharing::{Member, Sharing, Station, Together};
pub use self::work::{Series, Sizes, Work};
use crate::bodies::{Bodies, Points};
use crate::compute::{Device, DeviceInfo, Pending, Source};
use crate::error::{Error, Result};
use crate::hand::{Edit, Field, Pull};
use crate::lattice::Stroke;
use crate::params::{self, Params, Values};
use crate::scene::Scene;
use crate::state::State;

/// Every mode. Panel, command line, `check`, `bench` and the tests walk this table.
pub static MODES: &[&ModeInfo] = &[&gravity::INFO, &asteroids::INFO, &fluid::INFO];

/// One row of [`MODES`].
#[derive(Debug)]
pub struct ModeInfo {
    /// The name in `--mode` and the panel.
    pub name: &'static str,
    /// One line on what it simulates.
    pub summary: &'static str,
    /// What it steps, and what counts as work.
    pub work: Work,
    /// What the error that [`Simulation::sample`] leads to is called, and what that means.
    pub error: (&'static str, &'static str),
    /// What sets the limit of its speed on a device.
    pub limit: Limit,
    /// What is built in front of each variant, besides the prelude.
    pub kernels: &'static [Source],
    /// The ladder, slowest first.
    pub variants: &'static [Variant],
    /// Where it starts; the first row is the default.
    pub scenes: &'static LazyLock<Vec<Arc<Scene>>>,
    /// The starts of `check`: among them they show all that can happen.
    pub checks: fn(&'static ModeInfo) -> Result<Vec<Start>>,
    /// What it tells of every step, if anything.
    pub series: Option<Series>,
    /// What it carries on besides its state: a row for each list of [`Simulation::extra`].
    pub carries: &'static [CarriedList],
    /// Whether obstacles can be painted into it.
    pub paints: bool,
    /// The mode with its default parameters.
    pub default: fn() -> Box<dyn Mode>,
    /// The variant that `auto` takes on a device for this many bodies or cells.
    pub auto_variant: fn(&DeviceInfo, usize) -> &'static Variant,
}

/// One rung of a ladder: the same step, computed another way.
#[derive(Debug)]
pub struct Variant {
    /// The name in `--variant` and the panel.
    pub name: &'static str,
    /// The idea in one line.
    pub summary: &'static str,
    /// The file under `kernels/` with the entry point `advance`.
    pub file: &'static str,
    /// Its text.
    pub source: &'static str,
    /// The numbers that it is compiled with besides the work-group size.
    pub knobs: &'static [Knob],
    /// Work-items to a work-group: a good guess for a device.
    pub work_group: fn(&DeviceInfo) -> usize,
    /// The knob that says how wide a work-group is, if it covers a part of a grid.
    pub width_knob: Option<&'static str>,
    /// Bodies or cells that a work-group steps.
    pub bodies_per_group: fn(&Recipe) -> usize,
    /// Sides of a pair that it sees at once, with one root.
    pub sides: f64,
    /// The relative error that passes.
    pub tolerance: f64,
    /// Local memory that a work-group needs, in bytes.
    pub local_bytes: fn(&Recipe) -> usize,
    /// Whether several devices can step it together.
    pub together: Together,
    /// Whether the mode's limit holds for it: a variant that does not look at every pair is not held by what pairs take.
    pub has_limit: bool,
}

/// Variants are told apart by their rows.
impl PartialEq for Variant {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

/// Modes are told apart by their rows.
impl PartialEq for ModeInfo {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Variant {
    fn source(&self) -> Source {
        Source { file: self.file, text: self.source }
    }
}

impl ModeInfo {
    /// The variant called `name`.
    pub fn variant(&self, name: &str) -> Option<&'static Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// The files of a variant, in the order in which they are built.
    pub fn sources(&self, variant: &Variant) -> Vec<Source> {
        sources(&[self.kernels, &[variant.source()]].concat())
    }

    /// The mode with the parameters that suit `scene`, all others at their defaults. Whoever has a scene has tried it with
    /// [`ModeInfo::try_mode_for`].
    pub fn mode_for(&self, scene: &Scene) -> Box<dyn Mode> {
        let mode = self.try_mode_for(scene);
        debug_assert!(mode.is_ok(), "scene {}: {mode:?}", scene.name);
        mode.unwrap_or_else(|_| (self.default)())
    }

    /// The mode with the parameters that suit `scene`, all others at their defaults.
    ///
    /// # Errors
    /// If it has no such parameter, or does not take the value.
    pub fn try_mode_for(&self, scene: &Scene) -> Result<Box<dyn Mode>> {
        let mut mode = (self.default)();
        for (key, value) in &scene.params {
            params::set(mode.as_mut(), key, value)?;
        }
        Ok(mode)
    }

    /// The scene called `name`.
    pub fn scene(&self, name: &str) -> Option<&'static Arc<Scene>> {
        self.scenes.iter().find(|scene| scene.name == name)
    }
}

/// A file under `kernels/`.
macro_rules! source {
    ($file:literal) => {
        crate::compute::Source {
            file: $file,
            text: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $file)),
        }
    };
}
use source;

/// One rung of the ladder of `kernels/MODE/`, by name and idea: a body to a work-item, and no local memory.
macro_rules! variant {
    ($mode:literal, $name:literal, $summary:literal) => {
        crate::modes::Variant {
            name: $name,
            summary: $summary,
            file: concat!($mode, "/", $name, ".cl"),
            source: include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/kernels/", $mode, "/", $name, ".cl")),
            knobs: &[],
            work_group: |device| match device.kind {
                crate::compute::Kind::Cpu => 64,
                _ => 256,
            },
            width_knob: None,
            bodies_per_group: |recipe| recipe.work_group,
            sides: 1.0,
            tolerance: crate::modes::accuracy::TOLERANCE,
            local_bytes: |_| 0,
            together: crate::modes::Together::Freely,
            has_limit: true,
        }
    };
}
use variant;

const PRELUDE: Source = source!("prelude.cl");

/// The prelude, and `files` after it.
fn sources(files: &[Source]) -> Vec<Source> {
    [&[PRELUDE], files].concat()
}

/// The mode called `name`.
pub fn find(name: &str) -> Option<&'static ModeInfo> {
    MODES.iter().copied().find(|info| info.name == name)
}

/// A mode: its parameters, and what can be done with them.
pub trait Mode: Params + Any + Send + Sync {
    /// The mode's row in [`MODES`].
    fn info(&self) -> &'static ModeInfo;

    /// A copy of the parameters.
    fn boxed(&self) -> Box<dyn Mode>;

    /// Puts `state` on `device`, stepped by `recipe`.
    ///
    /// # Errors
    /// If the kernel does not build (with the compiler's log), the device cannot hold the state, or it is of other matter.
    fn build(&self, device: &Device, recipe: Recipe, state: &State) -> Result<Box<dyn Simulation>>;

    /// Puts `state` on several devices that step it together, each by its own recipe. The variants are such as
    /// [`Variant::together`] allows. A mode that says nothing of it stays on the first.
    ///
    /// # Errors
    /// As [`Mode::build`].
    fn build_together(&self, stations: &[Station], state: &State) -> Result<Box<dyn Simulation>> {
        self.build(&stations[0].device, stations[0].recipe, state)
    }

    /// Simulated time of one step.
    fn time_step(&self) -> f64;

    /// Number of force evaluations in a step. [`Work::in_step`] counts the work of one evaluation.
    fn force_evaluations(&self) -> u32 {
        1
    }

    /// The same mode with time going backwards: so many steps of it undo as many steps, but for rounding.
    ///
    /// # Errors
    /// If it cannot go back: why, as a sentence.
    fn backwards(&self) -> std::result::Result<Box<dyn Mode>, &'static str>;

    /// Leaves out what only a picture needs.
    fn unseen(&mut self) {}

    /// Makes every step the same work, for measurements of speed.
    fn even(&mut self) {}

    /// Carries out a change that a person makes by hand to bodies, and to what they carry on besides.
    ///
    /// # Errors
    /// If they do not take it.
    fn edit(&self, _bodies: &mut Bodies, _extra: &mut Extra, _edit: &Edit) -> Result<()> {
        Err(Error::Invalid("there are no bodies here".to_owned()))
    }

    /// Drops of `extra` what does not hold any more when bodies, parameters or the recipe are others.
    fn unsettle(&self, extra: &mut Extra) {
        extra.clear();
    }

    /// Gravity at a place when bodies are at `others`, `(x, y, z, m)`, without the body `except`; in f64. None where there is
    /// no gravity.
    fn field(&self, _at: glam::DVec3, _others: &[[f32; 4]], _except: Option<usize>) -> Option<Field> {
        None
    }

    /// Whether the energy should stay what it is, with today's parameters.
    fn conserves_energy(&self) -> bool;

    /// Device memory that one body or cell takes, in bytes.
    fn bytes_per_body(&self) -> usize;

    /// What one takes of the largest buffer among that.
    fn bytes_in_a_buffer(&self) -> usize {
        size_of::<[f32; 4]>()
    }

    /// The same step in f64 on the host, written for reading.
    ///
    /// # Errors
    /// If the state is of other matter.
    fn reference(&self, state: &mut State<f64>, steps: u32) -> Result<()>;

    /// What is conserved, in f64 on the host, written for reading.
    ///
    /// # Errors
    /// If the state is of other matter.
    fn reference_diagnostics(&self, state: &State<f64>) -> Result<Diagnostics>;
}

impl dyn Mode {
    /// All parameters with their values.
    pub fn values(&self) -> Values {
        Values::collect(self.boxed().as_mut())
    }
}

impl Clone for Box<dyn Mode> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

impl PartialEq for dyn Mode {
    fn eq(&self, other: &Self) -> bool {
        self.info() == other.info() && self.values() == other.values()
    }
}

/// `derive(PartialEq)` on a struct with a `Box<dyn Mode>` asks for this one (rust-lang/rust#31740).
impl PartialEq<&Self> for Box<dyn Mode> {
    fn eq(&self, other: &&Self) -> bool {
        **self == ***other
    }
}

impl fmt::Debug for dyn Mode {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "{} {:?}", self.info().name, self.values())
    }
}

/// What a simulation carries on from step to step besides its [`State`]: lists of numbers by name, each of which has its row in
/// [`ModeInfo::carries`].
pub type Extra = BTreeMap<String, Vec<f32>>;

/// A mode running on a device.
pub trait Simulation {
    /// Takes over changed live parameters, from the next burst on.
    ///
    /// # Errors
    /// If `mode` is not the mode that built this simulation.
    fn set(&mut self, mode: &dyn Mode) -> Result<()>;

    /// Plans a burst of `steps` steps, to be carried out by [`Simulation::advance`].
    fn start(&mut self, steps: u32);

    /// Queues the next part of the burst, at most about 100 ms of work, and says whether work remains.
    /// Waits only where two earlier parts are still under way, so a short burst never waits.
    ///
    /// # Errors
    /// If the device refuses the work.
    fn advance(&mut self) -> Result<bool>;

    /// The share of the burst that is queued, 0 to 1.
    fn progress(&self) -> f32;

    /// Waits for all queued work.
    ///
    /// # Errors
    /// If the device fails.
    fn finish(&mut self) -> Result<()>;

    /// How often a step of the last burst went over all pairs or cells, on average: more than once where steps are divided
    /// into substeps.
    fn rounds(&self) -> f64 {
        1.0
    }

    /// Device time of the steps that ended since this was last asked, in seconds.
    fn take_seconds(&mut self) -> f64;

    /// All that it is after the last whole burst. Waits.
    ///
    /// # Errors
    /// If the device fails.
    fn state(&mut self) -> Result<State>;

    /// What the steps to come depend on besides [`Simulation::state`], and what the picture shows of the past. Waits.
    ///
    /// # Errors
    /// If the device fails.
    fn extra(&mut self) -> Result<Extra>;

    /// Takes up what another simulation, which had the state that this one was built from, carried on: if both are of one
    /// recipe, the steps to come are the same to the last bit.
    ///
    /// # Errors
    /// If `extra` is not of such a simulation, or the device fails.
    fn resume(&mut self, extra: &Extra) -> Result<()>;

    /// Queues the read-back of what is drawn into the memory of `points`, whatever that held. It runs beside the steps
    /// that are started next and does not see them. One at a time: the answer comes before the next is asked for.
    ///
    /// # Errors
    /// If the device fails.
    fn publish(&mut self, points: Points) -> Result<Pending<Points>>;

    /// How the devices share the work; none if there is one alone.
    fn sharing(&self) -> Option<&Sharing> {
        None
    }

    /// What the mode tells of each step of the last burst, by [`ModeInfo::series`]. Waits.
    ///
    /// # Errors
    /// If the device fails.
    fn series(&mut self) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }

    /// Whether [`Simulation::paint`] would change anything, or may.
    fn is_painted_by(&self, _stroke: &Stroke) -> bool {
        true
    }

    /// Makes what the stroke covers solid, or free.
    ///
    /// # Errors
    /// If that is not possible, or the device fails.
    fn paint(&mut self, _stroke: &Stroke) -> Result<()> {
        Err(Error::Invalid("nothing can be painted here".to_owned()))
    }

    /// `(x, y, z, m)` and `(vx, vy, vz, ·)` of a body that there is, after the last whole burst; none where there are no bodies.
    /// Waits.
    ///
    /// # Errors
    /// If the device fails.
    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        Ok(match self.state()? {
            State::Bodies(bodies) => Some([bodies.positions[body], bodies.velocities[body]]),
            State::Flow(_) => None,
        })
    }

    /// Queues what a point that attracts or repels does to all velocities in some time. Between two bursts.
    ///
    /// # Errors
    /// If there are no bodies, or the device refuses the work.
    fn pull(&mut self, _pull: &Pull, _time: f32) -> Result<()> {
        Err(Error::Invalid("there are no bodies here to pull".to_owned()))
    }

    /// What the last step did to the bodies or cells `chosen`, to be compared with the same in f64; less those held out. It is
    /// read from what the step left behind, so it takes no other step and changes nothing. None if no whole burst has
    /// ended under today's parameters. Waits.
    ///
    /// # Errors
    /// If the device fails.
    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>>;

    /// What is conserved, reduced on the device. Waits; the potential costs about as much as a step.
    ///
    /// # Errors
    /// If the device fails.
    fn diagnostics(&mut self) -> Result<Diagnostics>;
}

/// The list `name` of `extra`.
///
/// # Errors
/// If there is none, or it has not `len` numbers.
fn list<'a>(extra: &'a Extra, name: &str, len: usize) -> Result<&'a [f32]> {
    match extra.get(name) {
        Some(list) if list.len() == len => Ok(list),
        _ => Err(Error::Invalid(format!("what was carried on has not {len} numbers of {name}"))),
    }
}

/// Sums over all bodies that are not quarantined, or over all free cells.
#[derive(Debug, Clone, PartialEq, Default, serde::Serialize)]
pub struct Diagnostics {
    /// Σ ½ m v².
    pub kinetic: f64,
    /// The potential energy of all pairs, and of what stands still.
    pub potential: f64,
    /// Σ m v.
    pub momentum: [f64; 3],
    /// Σ m |v|: what the momentum is compared with.
    pub momentum_scale: f64,
    /// Σ m x × v, about the origin.
    pub angular_momentum: [f64; 3],
    /// Bodies held out because they stopped being finite.
    pub nonfinite: usize,
    /// What else the mode has to tell.
    pub readings: Vec<Reading>,
}

/// A number that a mode tells of itself.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct Reading {
    /// Its name in reports.
    pub key: &'static str,
    /// Its name on the screen.
    #[serde(skip)]
    pub label: &'static str,
    /// The number.
    pub value: f64,
    /// What it means.
    #[serde(skip)]
    pub help: &'static str,
    /// Whether it is one to worry about.
    pub warns: bool,
    /// The cause and a remedy, as a sentence, where it is one to worry about and that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub advice: Option<&'static str>,
    /// Whether it counts things.
    #[serde(skip)]
    pub counts: bool,
}

impl Reading {
    /// A number without worries.
    pub fn new(key: &'static str, label: &'static str, value: f64, help: &'static str) -> Self {
        Self { key, label, value, help, warns: false, advice: None, counts: false }
    }

    /// A number of things.
    pub fn count(key: &'static str, label: &'static str, value: f64, help: &'static str) -> Self {
        Self { counts: true, ..Self::new(key, label, value, help) }
    }

    /// One to worry about, if `warns`, with the cause and a remedy.
    pub fn warns_of(self, warns: bool, advice: &'static str) -> Self {
        Self { warns, advice: warns.then_some(advice), ..self }
    }
}

impl Diagnostics {
    /// Kinetic and potential energy together.
    pub fn energy(&self) -> f64 {
        self.kinetic + self.potential
    }
}
