//! Simulation modes: their descriptions ([`ModeInfo`]), parameters ([`Mode`]) and running simulations ([`Simulation`]).

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, LazyLock};

use glam::Vec3;

use super::accuracy::{Sample, TOLERANCE, UNNOTICED};
use super::distributions::Distribution;
use super::kernels::sources;
use super::{
    Counts, DeviceRecipe, Diagnostics, Limit, Order, Recipe, Remedy, Series, Sharing, Team, Variant, Work,
};
use crate::base::look::Srgb;
use crate::base::{
    Attractor, Bodies, CellRequest, Cells, ChangeEffect, Edit, GravitySample, LightRequest, Palette,
    ParamValues, Params, Points, Result, State, Stroke, Tones, Unit, Units, invalid, params,
};
use crate::compute::{Device, DeviceInfo, KernelSource, Lane, Pending, ProgramSource};
use crate::scene::Scene;

/// Description of a simulation mode, a row of the table [`MODES`](super::MODES).
#[derive(Debug)]
pub struct ModeInfo {
    /// Name of the mode in `--mode` and the panel.
    pub name: &'static str,
    /// One-line description of the mode.
    pub summary: &'static str,
    /// What the mode simulates, its labels and speed units, and the amount of work in a step.
    pub work: Work,
    /// Label and explanation of the relative error that [`Simulation::sample`] measures.
    pub error: (&'static str, &'static str),
    /// Hardware limit on the mode's speed.
    pub limit: Limit,
    /// Kernel sources that every variant includes, after the prelude and before the variant's own file.
    pub kernels: &'static [KernelSource],
    /// Kernel variants of the mode, slowest first.
    pub variants: &'static [Variant],
    /// Built-in scenes; the first is the default.
    pub scenes: &'static LazyLock<Vec<Arc<Scene>>>,
    /// Returns the initial states for the `check` command, which together cover every behaviour of the mode.
    pub checks: fn(&'static ModeInfo) -> Result<Vec<Start>>,
    /// Quantity that the mode reports for each step, if any.
    pub series: Option<Series>,
    /// Distributions of the bodies that the Plots window shows.
    pub distributions: &'static [Distribution],
    /// Change of a parameter that makes an unstable simulation more stable, for example after a blow-up.
    pub stabilizer: Remedy,
    /// Descriptions of the lists that the mode's snapshots contain besides the state (see [`Simulation::extra`]).
    pub carries: &'static [CarriedList],
    /// Creates the mode with default parameters.
    pub default: fn() -> Box<dyn Mode>,
}

/// Modes are equal if they are the same row of [`MODES`](super::MODES).
impl PartialEq for ModeInfo {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl ModeInfo {
    /// Returns the variant called `name`, if there is one.
    pub fn variant(&self, name: &str) -> Option<&'static Variant> {
        self.variants.iter().find(|variant| variant.name == name)
    }

    /// Returns the source files of a variant, in the order in which they are compiled.
    pub fn sources(&self, variant: &Variant) -> Vec<KernelSource> {
        sources(&[self.kernels, &[variant.source()]].concat())
    }

    /// Returns the mode with the parameters that `scene` sets. The scene must be valid; see [`ModeInfo::try_mode_for`].
    pub fn mode_for(&self, scene: &Scene) -> Box<dyn Mode> {
        let mode = self.try_mode_for(scene);
        debug_assert!(mode.is_ok(), "scene {}: {mode:?}", scene.name);
        mode.unwrap_or_else(|_| (self.default)())
    }

    /// Returns the mode with the parameters that `scene` sets; all other parameters have default values.
    ///
    /// # Errors
    /// Returns an error if the mode lacks one of the scene's parameters, or if a value is out of range.
    pub fn try_mode_for(&self, scene: &Scene) -> Result<Box<dyn Mode>> {
        let mut mode = (self.default)();
        for (key, value) in &scene.params {
            params::set(mode.as_mut(), key, value)?;
        }
        Ok(mode)
    }

    /// Returns the built-in scene called `name`, if there is one.
    pub fn scene(&self, name: &str) -> Option<&'static Arc<Scene>> {
        self.scenes.iter().find(|scene| scene.name == name)
    }

    /// Returns the description of the snapshot list `name`, if the mode has such a list.
    pub fn carried(&self, name: &str) -> Option<&'static CarriedList> {
        self.carries.iter().find(|list| list.name == name)
    }

    /// Returns whether the parameter `key` affects the results of `variant`; see [`Variant::own_params`].
    pub fn uses(&self, variant: &Variant, key: &str) -> bool {
        let is_own = |variant: &Variant| variant.own_params.contains(&key);
        is_own(variant) || !self.variants.iter().any(is_own)
    }
}

/// An initial state for the `check` command, which compares every variant with the reference after some steps.
pub struct Start {
    /// Description of the state, shown in reports.
    pub name: String,
    /// The mode and the parameters to check.
    pub mode: Box<dyn Mode>,
    /// The initial state.
    pub state: State,
    /// Number of steps to take before the comparison.
    pub steps: u32,
    /// Whether quick checks include this initial state.
    pub telling: bool,
}

/// Description of a list of numbers that a snapshot contains in addition to the [`State`].
#[derive(Debug)]
pub struct CarriedList {
    /// Name of the list in [`Extra`] and in snapshot files.
    pub name: &'static str,
    /// Returns the maximum number of values in the list, for a grid of `[nx, ny]` cells or for `[n, 1]` bodies.
    pub most: fn([usize; 2]) -> usize,
    /// Checks a list that was read from a file. The error says what is wrong and what is expected.
    pub check: fn(&Carries, &[f32]) -> Result<(), String>,
}

/// A snapshot's mode, state and additional lists, for checking that each list is consistent with the rest.
pub struct Carries<'a> {
    /// The snapshot's mode with its parameters.
    pub mode: &'a dyn Mode,
    /// The snapshot's bodies or flow, which have already been checked.
    pub state: &'a State,
    /// All additional lists in the snapshot; some of them may not have been checked yet.
    pub extra: &'a Extra,
}

impl<'a> Carries<'a> {
    /// Returns the bodies in the snapshot's state.
    ///
    /// # Errors
    /// Returns an error if the state is a flow.
    pub fn bodies(&self) -> Result<&'a Bodies, String> {
        self.state.bodies().map_err(|error| error.to_string())
    }

    /// Returns the snapshot's list called `name`.
    ///
    /// # Errors
    /// Returns an error if there is no such list.
    pub fn other(&self, name: &str) -> Result<&'a [f32], String> {
        self.extra.get(name).map(Vec::as_slice).ok_or_else(|| format!("the data {name:?} is missing"))
    }
}

/// Quantity, unit and scale that the colours in the picture represent, for the legend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ColourScale {
    /// Name of the quantity, as in the panel.
    pub name: &'static str,
    /// Unit of the quantity.
    pub unit: ScaleUnit,
    /// Whether the values are decimal logarithms of the quantity.
    pub is_log: bool,
    /// Colours of the fluid's image, if the image shows the quantity; `None` if bodies or tracers show the quantity.
    pub tones: Option<Tones>,
}

/// Unit of the quantity that colours represent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ScaleUnit {
    /// The scene's unit of length.
    Length,
    /// The scene's unit of mass.
    Mass,
    /// The scene's unit of speed.
    Speed,
    /// A combination of scene units that has no name, such as the unit of acceleration.
    Unnamed,
    /// A unit that does not depend on the scene.
    Fixed(&'static str),
}

impl ScaleUnit {
    /// Returns the unit in a scene with the units `units`, or `None` if the unit has no name there.
    pub fn of(self, units: &Units) -> Option<Unit> {
        match self {
            Self::Length => units.length.clone(),
            Self::Mass => units.mass.clone(),
            Self::Speed => units.speed(),
            Self::Unnamed => None,
            Self::Fixed(name) => Some(Unit { size: 1.0, name: name.to_owned() }),
        }
    }
}

impl ColourScale {
    /// Describes a linear scale: the values are the quantity itself.
    pub(super) const fn linear(name: &'static str, unit: ScaleUnit) -> Option<Self> {
        Some(Self { name, unit, is_log: false, tones: None })
    }

    /// Describes a logarithmic scale: the values are decimal logarithms of the quantity, in scene units.
    pub(super) const fn log(name: &'static str, unit: ScaleUnit) -> Option<Self> {
        Some(Self { name, unit, is_log: true, tones: None })
    }

    /// Returns the colour at position `share` on the scale, from 0 for the lowest value to 1 for the highest.
    pub fn colour(&self, palette: Palette, share: f32) -> Srgb {
        self.tones.map_or_else(|| palette.colour(share), |tones| tones.colour(palette, share))
    }
}

/// Source of the gravity that acts on the bodies of a mode, around which they may orbit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Attraction {
    /// No source of gravity.
    Nothing,
    /// Gravity of a planet that rests at the origin.
    Planet {
        /// Gravitational constant times the mass of the planet.
        gm: f64,
    },
    /// Gravity of all other bodies.
    Bodies {
        /// Gravitational constant.
        g: f64,
    },
}

/// A simulation mode with its parameters. Each method that takes a state fails if the mode cannot simulate the state.
#[allow(clippy::missing_errors_doc, reason = "the trait says it for all methods")]
pub trait Mode: Params + Any + Send + Sync {
    /// Returns the mode's row in [`MODES`](super::MODES).
    fn info(&self) -> &'static ModeInfo;

    /// Returns a boxed copy of the mode and its parameters.
    fn boxed(&self) -> Box<dyn Mode>;

    /// Builds a simulation that starts from `state` on one or several devices. The devices compute each step together,
    /// each with its own recipe; [`Variant::together`] must allow the combination. Fails with the compiler's log if a
    /// kernel does not build. Also fails if a device cannot hold the state.
    fn build_together(&self, team: Team, state: &State) -> Result<Box<dyn Simulation>>;

    /// Returns the source of the program that computes steps on `device` with `recipe`. The source lacks the macros
    /// that depend on the bodies or on the compiler.
    fn source(&self, recipe: &Recipe, _device: &DeviceInfo) -> Result<ProgramSource> {
        let files = self.info().sources(recipe.variant);
        Ok(ProgramSource { files, defines: recipe.defines(), ..ProgramSource::default() })
    }

    /// Builds a simulation that starts from `state` and runs on `device` with `recipe`.
    fn build(&self, device: &Device, recipe: Recipe, state: &State) -> Result<Box<dyn Simulation>> {
        self.build_together(vec![DeviceRecipe { device: device.clone(), recipe }].into(), state)
    }

    /// Returns the points to draw for `state`. Does not compile the kernels that advance the simulation, because
    /// compiling them may take seconds. `recipe` is the recipe with which the simulation will be built. Returns `None`
    /// if only a simulation can compute the points.
    fn preview(&self, device: &Device, recipe: &Recipe, state: &State) -> Result<Option<Points>>;

    /// Returns the path that each of `bodies` will follow, as points in chronological order. The first point is the
    /// body's present position. The paths cover the simulated time `duration`; if it is `None`, the mode chooses the
    /// time. Returns an empty list if the mode does not predict the paths of these bodies.
    fn paths(&self, _bodies: &Bodies, _duration: Option<f64>) -> Vec<Vec<Vec3>> {
        Vec::new()
    }

    /// Returns the time step, which is the simulated time that one step covers.
    fn time_step(&self) -> f64;

    /// Returns the number of force evaluations in a step. [`Work::in_step`] counts the work of one evaluation.
    fn force_evaluations(&self) -> u32 {
        1
    }

    /// Returns the mode with time reversed, whose steps undo the steps of this mode except for rounding errors. The
    /// error is a sentence that explains why the mode cannot run backwards.
    fn backwards(&self) -> Result<Box<dyn Mode>, &'static str>;

    /// Turns off computations that only the display needs; used for runs without a window.
    fn unseen(&mut self) {}

    /// Returns the variant that `auto` selects for a device and a number of bodies or cells.
    fn auto_variant(&self, device: &DeviceInfo, count: usize) -> &'static Variant;

    /// Returns the number of bodies or cells that `auto` selects for a device and a variant. If the variant is `None`,
    /// `auto` selects the variant as well.
    fn auto_count(&self, device: &DeviceInfo, _variant: Option<&'static Variant>) -> usize {
        self.info().work.sizes(device.kind).auto
    }

    /// Returns a copy of the mode with parameters for which every variant that `auto` may select is accurate enough.
    fn for_auto(&self) -> Box<dyn Mode> {
        self.boxed()
    }

    /// Returns the name of the accuracy level that `auto` requires of a variant; empty if the mode has no such levels.
    fn accuracy(&self) -> &'static str {
        ""
    }

    /// Returns a description of the values that colours show, or `None` if colours show labels or errors (see
    /// [`Mode::shows_errors`]).
    fn colour_scale(&self) -> Option<ColourScale> {
        None
    }

    /// Returns whether colours show the errors of individual bodies, which [`Simulation::sample`] measures.
    fn shows_errors(&self) -> bool {
        false
    }

    /// Returns whether bodies are drawn in the colours that the scene gives to them.
    fn shows_own_colours(&self) -> bool {
        false
    }

    /// Switches to a colouring that uses the palette, if the current colouring ignores the palette.
    fn use_palette(&mut self) {}

    /// Returns whether `auto` may choose `variant`. The usual error of the variant must be small enough.
    fn allows(&self, variant: &Variant) -> bool {
        variant.normal_error.is_none_or(|error| error <= UNNOTICED)
    }

    /// Returns the usual relative error of a recipe with the mode's parameters; `None` if it is exact up to rounding.
    fn normal_error(&self, recipe: &Recipe) -> Option<f64> {
        recipe.variant.normal_error
    }

    /// Returns the largest relative error of a recipe that the `check` command accepts.
    fn tolerance(&self, recipe: &Recipe) -> f64 {
        recipe.variant.tolerance
    }

    /// Returns how many operations and bytes the kernels of a recipe need per pair or cell. Returns `None` if these
    /// numbers depend on the bodies.
    fn counts(&self, recipe: &Recipe) -> Option<Counts> {
        (recipe.variant.counts)(recipe)
    }

    /// Changes the parameters so that every step takes the same time, for speed measurements.
    fn even(&mut self) {}

    /// Applies a user's edit to bodies and to the lists in `extra` that describe them. Fails if the edit is impossible.
    fn edit(&self, _bodies: &mut Bodies, _extra: &mut Extra, _edit: &Edit) -> Result<()> {
        Err(invalid!("this mode has no bodies"))
    }

    /// Removes from `extra` the lists that become invalid when the bodies, the parameters or the recipe change.
    fn unsettle(&self, extra: &mut Extra) {
        extra.clear();
    }

    /// Returns the gravitational acceleration and potential at the position `at`, in f64. The sources are the bodies
    /// `(x, y, z, m)` in `others`, except the body with the index `except`. Returns `None` for modes without gravity.
    fn field(&self, _at: glam::DVec3, _others: &[[f32; 4]], _except: Option<usize>) -> Option<GravitySample> {
        None
    }

    /// Returns the source of the gravity that acts on the bodies, around which they may orbit.
    fn attraction(&self) -> Attraction {
        Attraction::Nothing
    }

    /// Returns whether the total energy should be constant with the current parameters.
    fn conserves_energy(&self) -> bool;

    /// Returns the device memory per body or cell, in bytes, that every variant needs.
    fn bytes_per_body(&self) -> usize;

    /// Returns how many bytes a body or cell takes up in the largest device buffer.
    fn bytes_in_a_buffer(&self) -> usize {
        size_of::<[f32; 4]>()
    }

    /// Advances `state` by `steps` steps in f64 on the host. The result is the reference for the kernels.
    fn reference(&self, state: &mut State<f64>, steps: u32) -> Result<()>;

    /// Computes conserved quantities in f64 on the host.
    fn reference_diagnostics(&self, state: &State<f64>) -> Result<Diagnostics>;
}

impl dyn Mode {
    /// Returns the mode as its concrete type `M`, a struct with the mode's parameters.
    ///
    /// # Errors
    /// Returns an error if the parameters belong to another mode.
    pub(super) fn of<M: Mode>(&self) -> Result<&M> {
        let any: &dyn Any = self;
        any.downcast_ref()
            .ok_or_else(|| invalid!("these are parameters of {}, not of the current mode", self.info().name))
    }

    /// Returns the costliest effect, such as a rebuild, of changing the parameters of `old` to the current ones.
    /// Returns `None` if the parameters are equal.
    pub(super) fn change_from(&self, old: &dyn Mode) -> Option<ChangeEffect> {
        old.values().changes(&self.values()).1
    }

    /// Returns the relative error above which the window shows a warning. For an exact variant, this limit is the
    /// variant's tolerance. For an approximate variant, the limit is twice the usual error with these parameters, but
    /// at least the tolerance of exact variants.
    pub fn alarm(&self, recipe: &Recipe) -> f64 {
        let exact = recipe.variant.tolerance;
        self.normal_error(recipe).map_or(exact, |normal| (2.0 * normal).max(TOLERANCE))
    }

    /// Returns all parameters with their values.
    pub fn values(&self) -> ParamValues {
        ParamValues::collect(self.boxed().as_mut())
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

/// `derive(PartialEq)` needs this implementation for a struct with a `Box<dyn Mode>` (rust-lang/rust#31740).
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

/// Named lists of numbers that later steps need in addition to the [`State`]; see [`ModeInfo::carries`].
pub type Extra = BTreeMap<String, Vec<f32>>;

/// A simulation on one or several devices. Each method that returns a [`Result`] fails if a device fails.
#[allow(clippy::missing_errors_doc, reason = "the trait says it for all methods")]
pub trait Simulation {
    /// Applies the parameters of `mode` from the next burst of steps on. Fails if `mode` is a different mode. Changes
    /// that need a rebuild are not allowed.
    fn set(&mut self, mode: &dyn Mode) -> Result<()>;

    /// Starts a burst, a sequence of `steps` steps, which [`Simulation::advance`] carries out.
    fn start(&mut self, steps: u32);

    /// Queues the next part of the burst, at most about 100 ms of work. Returns whether work remains. Waits only while
    /// two earlier parts are still running, so a short burst never waits.
    fn advance(&mut self) -> Result<bool>;

    /// Returns the fraction of the current burst whose work has been queued, 0 to 1.
    fn progress(&self) -> f32;

    /// Returns the command queue of the device, or of the first device in use if there are several.
    fn lane(&mut self) -> &mut Lane;

    /// Waits for all queued work.
    fn finish(&mut self) -> Result<()> {
        self.lane().finish()
    }

    /// Returns the mean work of a step in the last burst, relative to a step without substeps (see [`Work::in_step`]).
    fn rounds(&mut self) -> f64 {
        1.0
    }

    /// Returns the device time, in seconds, of all steps that have ended since the last call.
    fn take_seconds(&mut self) -> f64 {
        self.lane().take_seconds()
    }

    /// Returns the state after the last complete burst. Waits for the device.
    fn state(&mut self) -> Result<State>;

    /// Returns the lists that later steps and pictures need in addition to [`Simulation::state`]. Waits for the device.
    fn extra(&mut self) -> Result<Extra>;

    /// Restores the lists that [`Simulation::extra`] returned for the current state. If the recipe is the same, later
    /// steps then give bit-identical results. Fails if a list is not valid.
    fn resume(&mut self, extra: &Extra) -> Result<()>;

    /// Queues a copy of the drawable data from the device to the memory of `points`, overwriting its contents. Steps
    /// that start later do not affect the copy. Only one copy may be pending at a time.
    ///
    /// If `light` is a request and the mode draws bodies as glows, adds an image of their light.
    fn publish(&mut self, points: Points, light: Option<&LightRequest>) -> Result<Pending<Points>>;

    /// Returns the requested cells of the tree after the last complete burst, or `None` if the variant has no tree.
    /// Waits for the device.
    fn cells(&mut self, _request: CellRequest) -> Result<Option<Cells>> {
        Ok(None)
    }

    /// Returns the source of the program that computes steps on the device, or on the first device in use if there are
    /// several. Returns `None` if the simulation has no program.
    fn source(&self) -> Option<&Arc<ProgramSource>> {
        None
    }

    /// Returns how devices share the work, or `None` for a single device.
    fn sharing(&self) -> Option<&Sharing> {
        None
    }

    /// Returns the quantity [`ModeInfo::series`] after each step of the last burst. Waits for the device.
    fn series(&mut self) -> Result<Vec<f64>> {
        Ok(Vec::new())
    }

    /// Returns whether painting the stroke with [`Simulation::paint`] could change any cell.
    fn is_painted_by(&self, _stroke: &Stroke) -> bool {
        true
    }

    /// Makes all cells under the stroke solid or free. Fails if the mode has no obstacles or no free cell would remain.
    fn paint(&mut self, _stroke: &Stroke) -> Result<()> {
        Err(invalid!("this mode has no obstacles to paint"))
    }

    /// Returns `(x, y, z, m)` and `(vx, vy, vz, ·)` of a body, or `None` in modes without bodies. Waits for the device.
    fn body(&mut self, body: usize) -> Result<Option<[[f32; 4]; 2]>> {
        Ok(match self.state()? {
            State::Bodies(bodies) => Some([bodies.positions[body], bodies.velocities[body]]),
            State::Flow(_) => None,
        })
    }

    /// Queues kernels that change all velocities as `attractor` would within the simulated time `time`. The total
    /// momentum stays constant, unless an immovable body such as a planet takes the recoil. Must be called between
    /// bursts of steps. Fails if the mode has no bodies.
    fn attract(&mut self, _attractor: &Attractor, _time: f32) -> Result<()> {
        Err(invalid!("this mode has no bodies to attract"))
    }

    /// Returns the effect of the last step on each body or cell in `chosen`, together with the exact effect in f64.
    /// Skips bodies with non-finite values, and does not change the state. Returns `None` if no burst has completed
    /// with the current parameters. Waits for the device.
    fn sample(&mut self, chosen: Vec<usize>) -> Result<Option<Sample>>;

    /// Carries out on this rank an order from rank 0 of an MPI run. `lists` hold the data that the order needs. Fails
    /// outside of an MPI run.
    fn obey(&mut self, _order: Order, _lists: &[Vec<u8>]) -> Result<()> {
        Err(invalid!("this simulation accepts no commands from rank 0"))
    }

    /// Computes conserved quantities on the device, and waits for the results. Computing the potential energy takes
    /// about as long as a step.
    fn diagnostics(&mut self) -> Result<Diagnostics>;
}
