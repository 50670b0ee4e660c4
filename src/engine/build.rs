//! Builds simulations on devices from a configuration.

use super::config::Config;
use super::resolved::Resolved;
use crate::base::error::{Error, Result};
use crate::base::state::State;
use crate::compute::Devices;
use crate::modes::{DeviceRecipe, Extra, Mode, Simulation, Together};
use crate::scene::Setup;

/// Generates the initial state of a configuration: `count` bodies or about as many cells, unless the scene fixes the number.
pub(super) fn seed(config: &Config, count: usize) -> State {
    let mut state =
        config.start.generate(&Setup { bodies: count, seed: config.seed, params: &config.mode.values() });
    if let Ok(bodies) = state.bodies_mut() {
        bodies.group_by_shells();
    }
    state
}

/// Builds the simulation of `state` on `devices`, in the time direction of the configuration.
pub(super) fn build(
    devices: &Devices,
    config: &Config,
    resolved: Resolved,
    state: &State,
) -> Result<Box<dyn Simulation>> {
    let mode = directed(config, config.reverse)?;
    match device_recipes(devices, config, resolved)?.as_slice() {
        [only] => mode.build(&only.device, only.recipe, state),
        several => mode.build_together(several, state),
    }
}

/// Builds a simulation that continues from `state` with the solver's `extra` data of the same moment, which may be empty.
pub(super) fn continued(
    devices: &Devices,
    config: &Config,
    resolved: Resolved,
    (state, extra): (&State, &Extra),
) -> Result<Box<dyn Simulation>> {
    let mut simulation = build(devices, config, resolved, state)?;
    if !extra.is_empty() {
        simulation.resume(extra)?;
    }
    Ok(simulation)
}

/// Returns each participating device with its recipe. `resolved` holds the choices for the first device.
///
/// # Errors
/// Returns an error if a device does not support the configuration.
pub fn device_recipes(devices: &Devices, config: &Config, resolved: Resolved) -> Result<Vec<DeviceRecipe>> {
    let Resolved { bodies, recipe } = resolved;
    let first = DeviceRecipe { device: devices[0].clone(), recipe };
    if recipe.variant.together == Together::No {
        return Ok(vec![first]);
    }
    let others = devices.iter().skip(1).map(|device| {
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

/// Returns the mode with time running forwards or backwards.
pub(super) fn directed(config: &Config, backwards: bool) -> Result<Box<dyn Mode>> {
    match backwards {
        false => Ok(config.mode.clone()),
        true => config.mode.backwards().map_err(|why| {
            Error::Invalid(format!("time cannot run backwards here: {}", why.trim_end_matches('.')))
        }),
    }
}
