//! Replaces the `auto` settings of a configuration with concrete values, and builds its simulation on devices.

use super::config::Config;
use super::ranks;
use crate::base::{Result, State, invalid};
use crate::compute::{DeviceInfo, DeviceKind, Devices};
use crate::modes::{DeviceRecipe, Extra, Mode, Recipe, Simulation, Together};
use crate::scene::Setup;

/// The settings of a configuration for one device, with each `auto` replaced by a concrete value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolved {
    /// Number of bodies, or approximate number of cells.
    pub bodies: usize,
    /// Kernel variant, work-group size and values of the compile-time parameters.
    pub recipe: Recipe,
}

impl Resolved {
    /// Replaces each `auto` in `config` with a value that suits `device`, and checks the values that the user chose.
    /// Ignores chosen compile-time parameters that the variant does not have. If `auto` selects the variant, also
    /// ignores a chosen method and, if the variant has a fixed work-group size, a chosen work-group size.
    ///
    /// # Errors
    /// Returns an error if the device cannot hold the bodies or does not support the work-group size.
    pub fn new(config: &Config, device: &DeviceInfo) -> Result<Self> {
        let bodies = bodies_for(config, device)?;
        let mode = config.mode.info();
        let telling = bodies.min(mode.work.sizes(device.kind).telling);
        let auto = || config.mode.auto_variant(device, bodies);
        // For more than `telling` bodies, measurements show the best settings of a variant, but not the best variant.
        let variant = config.variant.or_else(|| (bodies > telling).then(auto));
        let best = config.tuned.recipe(device, config.mode.as_ref(), variant, telling);
        let best = best.unwrap_or_else(|| Recipe::guess(variant.unwrap_or_else(auto), device, bodies));
        // Settings that should differ between the measured number of bodies and this one are guessed.
        let [guess, measured] = [bodies, telling].map(|bodies| Recipe::guess(best.variant, device, bodies));
        let differing = guess.knobs().zip(measured.knobs()).filter(|(guess, measured)| guess.1 != measured.1);
        let best = differing.fold(best, |recipe, ((knob, value), _)| recipe.with_knob(knob.name, value));
        // `auto` keeps the default methods, because another method might be less accurate than `auto` guarantees.
        let is_method = |name: &str| best.knobs().any(|(knob, _)| knob.name == name && knob.is_method);
        let counts = |name: &str| config.variant.is_some() || !is_method(name);
        let chosen = config.knobs.iter().filter(|(name, _)| counts(name));
        let recipe = chosen.fold(best, |recipe, (name, value)| recipe.with_knob(name, *value));
        let most = recipe.max_work_group(device);
        let is_fixed = recipe.variant.has_fixed_group;
        // A size that the user chose for another variant must not prevent `auto` from choosing a variant of fixed size,
        // unless no variant can have that size on this device.
        let must_fit = |size: &usize| !is_fixed || config.variant.is_some() || *size > device.max_work_group;
        let chosen = config.work_group.filter(must_fit);
        let work_group = chosen.unwrap_or(recipe.work_group.min(most));
        let least = if is_fixed { most } else { 1 };
        if !(least..=most).contains(&work_group) {
            let (variant, device) = (recipe.variant.name, &device.name);
            let allowed = if is_fixed { format!("only {most}") } else { format!("1 to {most}") };
            return Err(invalid!(
                "a work-group size of {work_group} is not possible: the variant {variant} allows {allowed} on {device}"
            ));
        }
        Ok(Self { bodies, recipe: recipe.with_work_group(work_group) })
    }
}

/// Returns the number of bodies, or the approximate number of cells, for `config`. Resolves `auto` to suit `device`.
pub(super) fn bodies_for(config: &Config, device: &DeviceInfo) -> Result<usize> {
    let work = &config.mode.info().work;
    let of_device = config.mode.auto_count(device, config.variant);
    let scene = &config.start;
    let share = |share: f32| ((of_device as f64 * f64::from(share)).round() as usize).max(1);
    let of_scene = scene.auto_share.map_or(of_device, share);
    let auto = scene.auto_bodies.map_or(of_scene, |most| of_scene.min(most));
    let most = max_bodies(device, config);
    // A scene with a fixed number of bodies ignores the number chosen for other scenes.
    let bodies = config.start.bodies.or(config.bodies).unwrap_or(auto.min(most));
    let (things, device) = (work.things, &device.name);
    match (1..=most).contains(&bodies) {
        true => Ok(bodies),
        false => Err(invalid!(
            "cannot simulate {bodies} {things}: on {device}, the number must be from 1 to {most}"
        )),
    }
}

/// Additional memory per body on a CPU device, in bytes. A CPU device shares the memory of the host, which also holds
/// `f64` values while a scene is generated or checked, `f32` values, and the drawing data of three frames.
const HOST_BYTES_PER_BODY: usize = 64 + 32 + 3 * 20;

/// Returns the maximum number of bodies or cells on a device for the variant in `config`, or for every variant that
/// `auto` may select. The bodies fill less than half of the memory, because new bodies are created before old ones are
/// freed.
pub fn max_bodies(device: &DeviceInfo, config: &Config) -> usize {
    let mode = config.mode.as_ref();
    let of_variant = match config.variant {
        Some(variant) => variant.bytes_per_body,
        None => {
            let allowed = mode.info().variants.iter().filter(|variant| mode.allows(variant));
            allowed.map(|variant| variant.bytes_per_body).max().unwrap_or(0)
        }
    };
    let on_host = match device.kind {
        DeviceKind::Cpu => HOST_BYTES_PER_BODY,
        DeviceKind::Gpu | DeviceKind::Accelerator => 0,
    };
    let room =
        (device.memory_bytes as f64 * 0.45 / (mode.bytes_per_body() + of_variant + on_host) as f64) as u64;
    let buffer = device.max_alloc_bytes / mode.bytes_in_a_buffer() as u64;
    room.min(buffer).min(mode.info().work.most as u64) as usize
}

/// Generates the initial state of a scene, with `count` bodies or about `count` cells unless the scene fixes the size.
pub(super) fn seed(config: &Config, count: usize) -> State {
    let mut state =
        config.start.generate(&Setup { bodies: count, seed: config.seed, params: &config.mode.values() });
    if let Ok(bodies) = state.bodies_mut() {
        bodies.group_by_shells();
    }
    state
}

/// Builds a simulation on `devices` that continues from `state`. `extra` holds additional solver data and may be empty.
pub(super) fn build(
    devices: &Devices,
    config: &Config,
    resolved: Resolved,
    (state, extra): (&State, &Extra),
) -> Result<Box<dyn Simulation>> {
    let recipes = device_recipes(devices, config, resolved)?;
    let mode = directed(config, config.reverse)?;
    let team = ranks::team(devices, recipes, mode.as_ref(), state)?;
    let mut simulation = mode.build_together(team, state)?;
    if !extra.is_empty() {
        simulation.resume(extra)?;
    }
    Ok(simulation)
}

/// Returns the kernel settings of each device that computes steps. `resolved` contains the settings of the first
/// device.
///
/// # Errors
/// Returns an error if a device does not support the configuration.
pub fn device_recipes(devices: &Devices, config: &Config, resolved: Resolved) -> Result<Vec<DeviceRecipe>> {
    let Resolved { bodies, recipe } = resolved;
    let first = DeviceRecipe { device: devices[0].clone(), recipe };
    let together = recipe.variant.together;
    let allowed = devices.iter().skip(1).filter(|device| together.allows(&devices[0].info, &device.info));
    let others = allowed.map(|device| {
        let mut config = Config { bodies: Some(bodies), ..config.clone() };
        let mut own = Resolved::new(&config, &device.info)?.recipe;
        let may_differ = [recipe, own].iter().all(|recipe| recipe.variant.together == Together::Freely);
        if own.variant != recipe.variant && !may_differ {
            config.variant = Some(recipe.variant);
            own = Resolved::new(&config, &device.info)?.recipe;
        }
        Ok(DeviceRecipe { device: device.clone(), recipe: own })
    });
    [Ok(first)].into_iter().chain(others).collect()
}

/// Returns a copy of the mode in `config` that simulates backwards in time if `backwards` is true, otherwise forwards.
pub(super) fn directed(config: &Config, backwards: bool) -> Result<Box<dyn Mode>> {
    let mode = config.mode_in_use();
    match backwards {
        false => Ok(mode),
        true => mode
            .backwards()
            .map_err(|why| invalid!("this simulation cannot run backwards: {}", why.trim_end_matches('.'))),
    }
}
