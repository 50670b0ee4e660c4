//! What is to run: one plain value that the command line makes, the panel edits and the engine obeys.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::error::{Error, Result};
use crate::modes::{self, Mode, ModeInfo, Variant};
use crate::params::Effect;
use crate::scene::Scene;
use crate::scene::file::{self, SceneFile};
use crate::tuned::Tuned;

/// What is to run. `None` stands for `auto`.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The mode with its parameters.
    pub mode: Box<dyn Mode>,
    /// Where the bodies come from.
    pub start: Arc<Scene>,
    /// How many bodies, or about how many cells, if the start leaves that open.
    pub bodies: Option<usize>,
    /// Which devices compute, by their places among those that may be chosen; empty for those that it was started with.
    pub devices: Vec<usize>,
    /// The seed of the scene.
    pub seed: u64,
    /// The rung of the ladder.
    pub variant: Option<&'static Variant>,
    /// Work-items to a work-group.
    pub work_group: Option<usize>,
    /// Knobs by name; those of other variants wait for them.
    pub knobs: BTreeMap<&'static str, u32>,
    /// What `auto` knows of the device beyond guesses.
    pub tuned: Tuned,
    /// Steps to a burst.
    pub steps_per_frame: Option<u32>,
    /// Whether time goes on.
    pub running: bool,
    /// Whether it goes backwards, where [`Mode::backwards`] can.
    pub reverse: bool,
    /// Whether bursts follow each other without waiting for the screen.
    pub free_run: bool,
}

impl Config {
    /// The first scene of a mode, everything `auto`.
    pub fn new(info: &'static ModeInfo) -> Self {
        let mut config = Self {
            mode: (info.default)(),
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
        };
        config.select_scene(&info.scenes[0]);
        config
    }

    /// Changes to `scene` with the parameters that suit it; all others go back to their defaults.
    pub fn select_scene(&mut self, scene: &Arc<Scene>) {
        self.mode = self.mode.info().mode_for(scene);
        self.start = scene.clone();
    }

    /// The most steps to a picture of a burst of `auto` length that is watched.
    pub fn pace(&self) -> u32 {
        let (_, watched) = self.mode.info().work.burst;
        self.start.pace.unwrap_or(watched)
    }

    /// Whether `next`, of the same mode, needs other bodies, were there as many.
    pub fn reseeds(&self, next: &Self) -> bool {
        let (_, effect) = self.mode.values().changes(&next.mode.values());
        self.start != next.start || self.seed != next.seed || effect == Some(Effect::Reseed)
    }

    /// What the scene file `path` says.
    ///
    /// # Errors
    /// If it cannot be read, or is wrong.
    pub fn load(path: &Path) -> Result<Self> {
        let named = |error: Error| Error::Invalid(format!("{}: {error}", path.display()));
        Self::of_file(file::load(path)?).map_err(named)
    }

    /// What a scene file says, the rest as in [`Config::new`].
    ///
    /// # Errors
    /// If the mode has no such parameter, or it does not take the value.
    pub fn of_file(file: SceneFile) -> Result<Self> {
        let SceneFile { mode, scene, bodies, seed } = file;
        // Whoever read the file knows the mode.
        let info = modes::find(&mode).ok_or_else(|| Error::Invalid(format!("there is no mode {mode}")))?;
        let mut config = Self { bodies, seed: seed.unwrap_or(1), ..Self::new(info) };
        config.mode = info.try_mode_for(&scene)?;
        config.start = Arc::new(scene);
        Ok(config)
    }

    /// The text of a scene file that says this.
    ///
    /// # Errors
    /// If no file can say it.
    pub fn to_file(&self) -> Result<String> {
        let Self { mode, start, bodies, seed, .. } = self;
        file::text(start, mode.info().name, &mode.values(), *bodies, *seed)
    }
}
