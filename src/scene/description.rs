//! Description of a scene: its names, its parameters, and the source of its bodies or its fluid.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::density::DensityModel;
use super::generator::{Arguments, Generator, Setup};
use super::orbits::Orbits;
use super::{fluid, gravity};
use crate::base::look::Srgb;
use crate::base::{Bodies, BodyNames, Look, Partial, Plain, SceneCamera, State, Units, Walls};

/// Factor by which [`Scene::pace`] is higher during the first [`Scene::fast_steps`] steps.
pub const FAST_FACTOR: u32 = 10;

/// A scene: an initial state with suitable parameters, and the scene's presentation in the gallery.
#[derive(Clone)]
pub struct Scene {
    /// Name of the scene: the name to pass to `--scene` if the scene is built in, otherwise the name of its file.
    pub name: String,
    /// Title of the scene in the gallery.
    pub title: String,
    /// One-line description of the scene.
    pub summary: String,
    /// Parameters that the scene sets, as key-value pairs in the format of `--set`.
    pub params: Vec<(String, String)>,
    /// Display settings that suit the scene. The user's own settings override them.
    pub look: Partial<Look>,
    /// Initial camera of the scene. If empty, the camera shows all bodies from the default direction.
    pub camera: Partial<SceneCamera>,
    /// Fixed number of bodies or cells; `None` if the user may choose the number.
    pub bodies: Option<usize>,
    /// Largest number of bodies that `auto` selects. Scenes that look best with few bodies set this limit; with `None`,
    /// the number depends only on the device.
    pub auto_bodies: Option<usize>,
    /// Share of the device's usual number of bodies that `auto` selects, greater than 0 and at most 1; `None` means 1.
    /// Scenes that need several steps per frame set a small share. [`Self::auto_bodies`] still limits the result.
    pub auto_share: Option<f32>,
    /// Default number of steps in a run of the scene; `None` if the scene does not set one.
    pub steps: Option<u32>,
    /// Maximum number of steps per frame. Scenes with a small time step set a high maximum; `None` means the mode's
    /// default.
    pub pace: Option<u32>,
    /// Number of steps at the beginning during which the pace is [`FAST_FACTOR`] times as high, so that the scene soon looks as
    /// it is meant to look; `None` means 0.
    pub fast_steps: Option<u32>,
    /// Simulated time that the predicted paths of the bodies cover. With `None`, only a scene that lists its bodies
    /// shows such paths, and the mode chooses the time.
    pub path_time: Option<f32>,
    /// Source of the scene's bodies or fluid.
    pub origin: Origin,
    /// Names of the scene's bodies.
    pub names: BodyNames,
    /// Colours of bodies, by the name of the body. They are used if the parameter `colour` is `own`.
    pub colours: BTreeMap<String, Srgb>,
    /// Units in which lengths, times and masses are shown.
    pub units: Units,
    /// Thumbnail in PNG format; empty if the scene has no thumbnail.
    pub thumbnail: &'static [u8],
    /// Absolute path of the file that the scene was read from; `None` for other scenes.
    pub file: Option<PathBuf>,
}

/// Source of a scene's bodies or fluid.
#[derive(Debug, Clone)]
pub enum Origin {
    /// A generator that makes the bodies or the fluid, and its arguments.
    Made(&'static Generator, Arguments),
    /// Bodies that were read from a file.
    Bodies(Arc<Bodies>),
    /// Bodies on Kepler orbits. Their speeds are stored for G = 1 and scaled to the current G.
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

/// Compares scenes by address, so reading a file twice yields two unequal scenes.
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

    /// Creates a scene from `bodies` that were read from a file.
    pub fn of_bodies(name: impl Into<String>, bodies: impl Into<Arc<Bodies>>) -> Arc<Self> {
        let bodies = bodies.into();
        let count = bodies.len();
        Self::of(name.into(), "bodies from a file", count, Origin::Bodies(bodies), None)
    }

    /// Creates a scene with a fluid at rest between `walls`. A run has `steps` steps by default.
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
            look: Partial::default(),
            camera: Partial::default(),
            bodies: Some(bodies),
            auto_bodies: None,
            auto_share: None,
            steps,
            pace: None,
            fast_steps: None,
            path_time: None,
            origin,
            names: BodyNames::default(),
            colours: BTreeMap::new(),
            units: Units::default(),
            thumbnail: &[],
            file: None,
        })
    }

    /// Returns whether the scene depends on the seed of the random numbers.
    pub fn is_random(&self) -> bool {
        matches!(self.origin, Origin::Made(..))
    }

    /// Returns what is known about the density of the scene's bodies, for comparison with the simulated density.
    pub fn density(&self) -> DensityModel {
        match &self.origin {
            Origin::Made(generator, _) => generator.density.unwrap_or_default(),
            Origin::Bodies(_) | Origin::Orbits(_) | Origin::Walls(_) => DensityModel::default(),
        }
    }

    /// Creates the initial state of the scene: its bodies or its fluid.
    pub fn generate(&self, setup: &Setup) -> State {
        match &self.origin {
            Origin::Made(generator, arguments) => (generator.make)(setup, arguments),
            Origin::Bodies(bodies) => Bodies::clone(bodies).into(),
            Origin::Orbits(orbits) => gravity::orbiting(setup, orbits),
            Origin::Walls(walls) => fluid::at_rest(setup, Walls::clone(walls)),
        }
    }
}

/// Maximum number of bodies in a scene that shows predicted paths. The limit keeps the prediction too short to notice.
pub const MAX_PATH_BODIES: usize = 8;
/// Maximum number of characters in the name or title of a scene.
pub(crate) const MOST_NAME: usize = 200;
pub(super) const MOST_SUMMARY: usize = 1000;

/// Prepares text from a file for display: keeps at most `most` characters, and escapes control characters.
pub(crate) fn label(text: &str, most: usize) -> String {
    Plain(text, most).to_string()
}
