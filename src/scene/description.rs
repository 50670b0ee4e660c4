//! The description of a scene: names, parameters, and the origin of its bodies or its fluid.

use std::sync::Arc;

use super::generator::{Arguments, Generator, Setup};
use super::orbits::Orbits;
use super::{fluid, gravity};
use crate::base::bodies::Bodies;
use crate::base::error::Plain;
use crate::base::flow::Walls;
use crate::base::state::State;

/// A scene: the state that a simulation starts from, and how it is presented.
#[derive(Clone)]
pub struct Scene {
    /// Name of a built-in scene for `--scene`, or name of the scene's file.
    pub name: String,
    /// Title of the scene in the gallery.
    pub title: String,
    /// One-line description of the scene.
    pub summary: String,
    /// Parameters that suit the scene, as pairs of key and value in the format of `--set`.
    pub params: Vec<(String, String)>,
    /// Number of bodies or cells if the scene fixes the number; `None` if the user may choose.
    pub bodies: Option<usize>,
    /// Default number of steps of a run; `None` if the scene's file does not set a number.
    pub steps: Option<u32>,
    /// Maximum number of steps per picture, set by scenes with a small time step; `None` means the mode's default.
    pub pace: Option<u32>,
    /// Where the bodies or the fluid of the scene come from.
    pub origin: Origin,
    /// Thumbnail in PNG format; empty if the scene has no thumbnail.
    pub thumbnail: &'static [u8],
}

/// Where the bodies or the fluid of a scene come from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A generator that makes any number of bodies or cells, with its arguments.
    Made(&'static Generator, Arguments),
    /// Bodies that were read from a file.
    Bodies(Arc<Bodies>),
    /// Bodies on Kepler orbits, with speeds for G = 1 that are scaled to the current G.
    Orbits(Arc<Orbits>),
    /// A fluid at rest between walls that were read from a file.
    Walls(Arc<Walls>),
}

/// Prints only the scene's name, because bodies and thumbnails are long.
impl std::fmt::Debug for Scene {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Scene({})", self.name)
    }
}

/// Compares scenes by address, so a file that is read twice gives two different scenes.
impl PartialEq for Scene {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Scene {
    /// Returns the scene's name for use in a file name, with `/`, `\` and `:` replaced by `-`.
    pub fn file_name(&self) -> String {
        self.name.replace(['/', '\\', ':'], "-")
    }

    /// Creates a scene that starts from `bodies`, which were read from a file.
    pub fn of_bodies(name: impl Into<String>, bodies: impl Into<Arc<Bodies>>) -> Arc<Self> {
        let bodies = bodies.into();
        let count = bodies.len();
        Self::of(name.into(), "bodies from a file", count, Origin::Bodies(bodies), None)
    }

    /// Creates a scene with a fluid at rest between `walls`. The default number of steps of a run is `steps`.
    pub fn of_walls(name: impl Into<String>, walls: impl Into<Arc<Walls>>, steps: u32) -> Arc<Self> {
        let walls = walls.into();
        let cells = walls.cells();
        Self::of(name.into(), "grid from a file", cells, Origin::Walls(walls), Some(steps))
    }

    fn of(name: String, summary: &str, bodies: usize, origin: Origin, steps: Option<u32>) -> Arc<Self> {
        let name = label(&name, MOST_NAME);
        Arc::new(Self {
            title: name.clone(),
            name,
            summary: summary.to_owned(),
            params: Vec::new(),
            bodies: Some(bodies),
            steps,
            pace: None,
            origin,
            thumbnail: &[],
        })
    }

    /// Returns whether the scene depends on the seed of the random numbers.
    pub fn is_random(&self) -> bool {
        matches!(self.origin, Origin::Made(..))
    }

    /// Creates the initial state of the scene: its bodies, or its fluid at rest.
    pub fn generate(&self, setup: &Setup) -> State {
        match &self.origin {
            Origin::Made(generator, arguments) => (generator.make)(setup, arguments),
            Origin::Bodies(bodies) => Bodies::clone(bodies).into(),
            Origin::Orbits(orbits) => gravity::orbiting(setup, orbits),
            Origin::Walls(walls) => fluid::at_rest(setup, Walls::clone(walls)),
        }
    }
}

/// Maximum number of characters in the name or title of a scene.
pub(crate) const MOST_NAME: usize = 200;
pub(super) const MOST_SUMMARY: usize = 1000;

/// Returns at most `most` characters of a text from a file, with control characters escaped, for display.
pub(crate) fn label(text: &str, most: usize) -> String {
    Plain(text, most).to_string()
}
