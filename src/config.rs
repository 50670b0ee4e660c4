//! What is to run: one plain value that the command line makes, the panel edits and the engine obeys.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::bodies::Bodies;
use crate::lattice::Walls;
use crate::modes::{Mode, ModeInfo, Variant};
use crate::scene::Scene;
use crate::tuned::Tuned;

/// Where the bodies come from.
#[derive(Debug, Clone)]
pub enum Start {
    /// A row of the mode's scenes.
    Scene(&'static Scene),
    /// Bodies from a file.
    Loaded {
        /// The file's name, for the panel.
        name: String,
        /// Its bodies.
        bodies: Arc<Bodies>,
    },
    /// A fluid at rest between the walls of files.
    Grid {
        /// The file's name, for the panel.
        name: String,
        /// Where it is solid.
        walls: Arc<Walls>,
        /// How many steps the file asks for.
        steps: u32,
    },
}

impl Start {
    /// The name of the scene or file.
    pub fn name(&self) -> &str {
        match self {
            Start::Scene(scene) => scene.name,
            Start::Loaded { name, .. } | Start::Grid { name, .. } => name,
        }
    }

    /// The number of bodies or cells, where it is fixed.
    pub fn fixed_bodies(&self) -> Option<usize> {
        match self {
            Start::Scene(scene) => scene.bodies,
            Start::Loaded { bodies, .. } => Some(bodies.len()),
            Start::Grid { walls, .. } => Some(walls.cells()),
        }
    }
}

impl PartialEq for Start {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Start::Scene(a), Start::Scene(b)) => std::ptr::eq(*a, *b),
            (Start::Loaded { bodies: a, .. }, Start::Loaded { bodies: b, .. }) => Arc::ptr_eq(a, b),
            (Start::Grid { walls: a, .. }, Start::Grid { walls: b, .. }) => Arc::ptr_eq(a, b),
            _ => false,
        }
    }
}

/// What is to run. `None` stands for `auto`.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// The mode with its parameters.
    pub mode: Box<dyn Mode>,
    /// Where the bodies come from.
    pub start: Start,
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
    /// Whether bursts follow each other without waiting for the screen.
    pub free_run: bool,
}

impl Config {
    /// The first scene of a mode, everything `auto`.
    pub fn new(info: &'static ModeInfo) -> Self {
        let mut config = Self {
            mode: (info.default)(),
            start: Start::Scene(&info.scenes[0]),
            bodies: None,
            devices: Vec::new(),
            seed: 1,
            variant: None,
            work_group: None,
            knobs: BTreeMap::new(),
            tuned: Tuned::default(),
            steps_per_frame: None,
            running: true,
            free_run: false,
        };
        config.select_scene(&info.scenes[0]);
        config
    }

    /// Changes to `scene` with the parameters that suit it; all others go back to their defaults.
    pub fn select_scene(&mut self, scene: &'static Scene) {
        self.mode = self.mode.info().mode_for(scene);
        self.start = Start::Scene(scene);
    }
}
