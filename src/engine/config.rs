//! The configuration of a simulation. The command line creates it, the panel edits it, and the engine applies it.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::base::{Bodies, BodyNames, ChangeEffect, Error, ParamValue, Result, invalid, params};
use crate::engine::tuned::Tuned;
use crate::modes::{self, MODES, Mode, ModeInfo, Variant};
use crate::scene::file::{self, SceneFile};
use crate::scene::{FAST_FACTOR, Origin, Scene, softening};

/// A configuration of the simulation. In optional fields, `None` stands for `auto`.
///
/// Snapshots store the fields that serde does not skip; the snapshot's manifest stores mode, scene and variant by name.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// The simulation mode with its parameters.
    #[serde(skip, default = "first_mode")]
    pub mode: Box<dyn Mode>,
    /// The scene, which provides the initial state of the simulation.
    #[serde(skip, default = "first_scene")]
    pub start: Arc<Scene>,
    /// Number of bodies, or approximate number of cells; `None` for `auto`. Ignored if the scene fixes the number.
    pub bodies: Option<usize>,
    /// Devices to use, as indices into the list of available devices. If empty, the command line selects the devices.
    #[serde(skip)]
    pub devices: Vec<usize>,
    /// The seed for the scene's random numbers.
    #[serde(serialize_with = "write_seed", deserialize_with = "read_seed")]
    pub seed: u64,
    /// The kernel variant that computes the steps; `None` for `auto`.
    #[serde(skip)]
    pub variant: Option<&'static Variant>,
    /// Number of work-items in a work-group; `None` for `auto`.
    pub work_group: Option<usize>,
    /// Values of the kernels' compile-time parameters, by name. May include parameters of variants that are not in use.
    #[serde(deserialize_with = "read_knobs")]
    pub knobs: BTreeMap<&'static str, u32>,
    /// The fastest kernel settings found by measurement; `auto` prefers them to guessed settings.
    #[serde(skip)]
    pub tuned: Tuned,
    /// Number of simulation steps per displayed frame (a burst); `None` for `auto`.
    pub steps_per_frame: Option<u32>,
    /// Whether the simulation is running rather than paused.
    pub running: bool,
    /// Whether time runs backwards, if the mode supports it (see [`Mode::backwards`]).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub reverse: bool,
    /// Whether the simulation computes steps without waiting for the screen.
    pub free_run: bool,
    /// Number of times that the user has chosen a scene. If this number changes, the scene restarts, even if the scene
    /// is the same.
    #[serde(skip)]
    pub run: u64,
}

fn first_mode() -> Box<dyn Mode> {
    (MODES[0].default)()
}

fn first_scene() -> Arc<Scene> {
    MODES[0].scenes[0].clone()
}

/// Writes a seed as text, because a TOML integer cannot hold every `u64`.
fn write_seed<S: Serializer>(seed: &u64, serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_str(seed)
}

fn read_seed<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<u64, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.parse()
        .map_err(|_| de::Error::custom(format!("{text:?} is not a valid seed; expected a whole number")))
}

/// Reads compile-time parameters of kernels by name. Ignores parameters that no longer exist.
fn read_knobs<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> std::result::Result<BTreeMap<&'static str, u32>, D::Error> {
    let values = BTreeMap::<String, u32>::deserialize(deserializer)?;
    let knobs = MODES.iter().flat_map(|info| info.variants).flat_map(|variant| variant.knobs);
    Ok(knobs.filter_map(|knob| Some((knob.name, *values.get(knob.name)?))).collect())
}

/// The initial configuration of the program: the first scene of the first mode.
impl Default for Config {
    fn default() -> Self {
        Self::new(MODES[0])
    }
}

impl Config {
    /// Returns a configuration with the first scene of the mode `info`, and with each setting at `auto` where possible.
    pub fn new(info: &'static ModeInfo) -> Self {
        Self {
            mode: info.mode_for(&info.scenes[0]),
            start: info.scenes[0].clone(),
            bodies: None,
            devices: Vec::new(),
            seed: 1,
            variant: None,
            work_group: None,
            knobs: BTreeMap::new(),
            tuned: Tuned::default(),
            steps_per_frame: None,
            running: true,
            reverse: false,
            free_run: false,
            run: 0,
        }
    }

    /// Selects `scene` and sets the parameters that it specifies; all other parameters are reset to their defaults.
    /// Keeps parameters that affect only the picture, such as the colour, if the user has changed them.
    pub fn select_scene(&mut self, scene: &Arc<Scene>) {
        let own = self.own_view();
        self.mode = self.mode.info().mode_for(scene);
        self.start = scene.clone();
        for (key, value) in own {
            let set = params::set(self.mode.as_mut(), key, &value.to_string());
            debug_assert!(set.is_ok(), "{set:?}");
        }
    }

    /// Returns the parameters that affect only the picture and differ from those of the selected scene.
    fn own_view(&self) -> Vec<(&'static str, ParamValue)> {
        let of_scene = self.mode.info().mode_for(&self.start).values().of(ChangeEffect::View);
        of_scene.changes(&self.mode.values().of(ChangeEffect::View)).0
    }

    /// Returns this configuration with each setting that differs between `before` and `after` set to its value in
    /// `after`.
    pub fn with_changes(self, before: &Self, after: &Self) -> Self {
        fn pick<T: PartialEq + Clone>(own: T, before: &T, after: &T) -> T {
            if before == after { own } else { after.clone() }
        }
        Self {
            mode: pick(self.mode, &before.mode, &after.mode),
            start: pick(self.start, &before.start, &after.start),
            bodies: pick(self.bodies, &before.bodies, &after.bodies),
            devices: pick(self.devices, &before.devices, &after.devices),
            seed: pick(self.seed, &before.seed, &after.seed),
            variant: pick(self.variant, &before.variant, &after.variant),
            work_group: pick(self.work_group, &before.work_group, &after.work_group),
            knobs: pick(self.knobs, &before.knobs, &after.knobs),
            steps_per_frame: pick(self.steps_per_frame, &before.steps_per_frame, &after.steps_per_frame),
            running: pick(self.running, &before.running, &after.running),
            free_run: pick(self.free_run, &before.free_run, &after.free_run),
            ..self
        }
    }

    /// Returns the mode with the parameters in effect. If `auto` selects the kernel variant, some parameters may be
    /// more exact than configured.
    pub fn mode_in_use(&self) -> Box<dyn Mode> {
        if self.variant.is_none() { self.mode.for_auto() } else { self.mode.clone() }
    }

    /// Returns the largest number of steps per frame that `auto` may choose if steps wait for the screen (no free run).
    pub fn pace(&self) -> u32 {
        let (_, watched) = self.mode.info().work.burst;
        self.start.pace.unwrap_or(watched)
    }

    /// Returns the [`pace`](Self::pace) at a step; at the beginning of some scenes, it is higher.
    pub fn pace_at(&self, step: u64) -> u32 {
        let is_fast = step < self.start.fast_steps.unwrap_or(0).into();
        self.pace() * if is_fast { FAST_FACTOR } else { 1 }
    }

    /// Returns whether switching to `next`, which has the same mode and size, requires generating the scene again.
    pub fn reseeds(&self, next: &Self) -> bool {
        let (_, effect) = self.mode.values().changes(&next.mode.values());
        let is_same = (self.run, self.seed) == (next.run, next.seed) && self.start == next.start;
        !is_same || effect == Some(ChangeEffect::Reseed)
    }

    /// Reads a configuration from the scene file at `path`.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or is invalid.
    pub fn load(path: &Path) -> Result<Self> {
        let named = |error: Error| invalid!("{}: {error}", path.display());
        Self::of_file(file::load(path)?).map_err(named)
    }

    /// Converts a parsed scene file into a configuration. Values that the file does not set come from [`Config::new`].
    ///
    /// # Errors
    /// Returns an error if the mode, a parameter or a value is invalid.
    pub fn of_file(file: SceneFile) -> Result<Self> {
        let SceneFile { mode, mut scene, bodies, seed } = file;
        let info = modes::find(&mode).ok_or_else(|| invalid!("unknown mode {mode}"))?;
        soften(info, &mut scene);
        let mut config = Self { bodies, seed: seed.unwrap_or(1), ..Self::new(info) };
        config.mode = info.try_mode_for(&scene)?;
        config.start = Arc::new(scene);
        Ok(config)
    }

    /// Returns a configuration of the mode `info` that starts from bodies that were read from the file `path`. If the
    /// usual softening length would change the orbits of close bodies, a shorter one is set.
    pub fn of_bodies(info: &'static ModeInfo, path: &Path, bodies: Bodies, names: BodyNames) -> Self {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let file = std::path::absolute(path).ok();
        let mut scene = Scene { names, file, ..Scene::clone(&Scene::of_bodies(name, bodies)) };
        soften(info, &mut scene);
        let start = Arc::new(scene);
        Self { mode: info.mode_for(&start), start, ..Self::new(info) }
    }

    /// Converts this configuration to the text of a scene file.
    ///
    /// # Errors
    /// Returns an error if a scene file cannot describe the scene.
    pub fn to_file(&self) -> Result<String> {
        let Self { mode, start, bodies, seed, .. } = self;
        file::text(start, mode.info().name, &mode.values(), *bodies, *seed)
    }
}

/// Sets a shorter softening length in a scene of the mode `info` whose bodies come from a file, if the usual length
/// would change the orbits of close bodies and the scene does not set the length itself.
fn soften(info: &ModeInfo, scene: &mut Scene) {
    let usual = (info.default)().values().float("eps");
    let usual = usual.filter(|_| scene.params.iter().all(|(key, _)| key != "eps"));
    if let (Some(usual), Origin::Bodies(bodies)) = (usual, &scene.origin)
        && let Some(eps) = softening::for_bodies(bodies, usual)
    {
        scene.params.push(("eps".to_owned(), eps.to_string()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_config_round_trips_through_toml() {
        let knob = MODES[0].variants.iter().flat_map(|variant| variant.knobs).next().unwrap();
        let config = Config {
            mode: first_mode(),
            bodies: Some(7),
            seed: u64::MAX,
            work_group: Some(64),
            knobs: BTreeMap::from([(knob.name, 3)]),
            steps_per_frame: Some(2),
            running: false,
            reverse: true,
            free_run: true,
            ..Config::new(MODES[0])
        };
        let text = toml::to_string(&config).unwrap();
        assert_eq!(toml::from_str::<Config>(&text).unwrap(), config);
    }

    #[test]
    fn undoing_a_config_change_reverts_only_the_changed_fields() {
        let before = Config::new(MODES[0]);
        let after = Config { seed: 9, variant: Some(&MODES[0].variants[1]), ..before.clone() };
        let now = Config { bodies: Some(77), running: false, ..after.clone() };
        let back = now.with_changes(&after, &before);
        assert_eq!(back, Config { bodies: Some(77), running: false, ..before });
    }

    #[test]
    fn selecting_the_same_scene_again_restarts_the_simulation() {
        let before = Config::new(MODES[0]);
        assert!(!before.reseeds(&before));
        assert!(before.reseeds(&Config { run: 1, ..before.clone() }));
    }

    #[test]
    fn a_user_selected_colour_persists_across_scenes_and_other_parameters_do_not() {
        let fluid = modes::find("fluid").unwrap();
        let [street, step] = ["cylinder", "step"].map(|name| fluid.scene(name).unwrap());
        let mut config = Config::new(fluid);
        config.select_scene(street);
        let value = |config: &Config, key: &str| config.mode.values().get(key).unwrap().to_string();
        assert_eq!(value(&config, "field"), "vorticity", "the scene sets it");
        config.select_scene(step);
        assert_eq!(config.mode, fluid.mode_for(step), "what a scene sets goes with it");
        params::set(config.mode.as_mut(), "colour", "vorticity").unwrap();
        params::set(config.mode.as_mut(), "inlet", "0.02").unwrap();
        config.select_scene(street);
        assert_eq!(value(&config, "colour"), "vorticity");
        assert_eq!(config.mode.values().get("inlet"), fluid.mode_for(street).values().get("inlet"));
    }

    #[test]
    fn removed_knobs_are_ignored_and_invalid_seeds_are_rejected() {
        let text = "seed = \"5\"\nrunning = true\nfree_run = false\n[knobs]\nthat_is_no_more = 3\n";
        let config: Config = toml::from_str(text).unwrap();
        assert_eq!((config.seed, config.reverse, config.knobs.len()), (5, false, 0));
        assert!(toml::from_str::<Config>(&text.replace("\"5\"", "\"five\"")).is_err());
    }
}
