//! Where bodies and flows come from: scenes with their generators, and the files that hold bodies.
//!
//! A scene is a file in TOML, `assets/scenes/*.toml` or one of a person's own (see [`mod@file`]). It names a generator with
//! arguments, or holds bodies, orbits or walls itself, and says which parameters suit it.

pub mod asteroids;
pub mod csv;
pub mod file;
pub mod fluid;
mod frame;
pub mod gravity;
mod orbits;
mod random;
pub mod tipsy;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::sync::Arc;

use crate::bodies::Bodies;
use crate::error::{Error, Plain, Result};
use crate::lattice::{Flow, Walls};
use crate::params::Values;
use crate::state::State;

/// What a generator is given.
#[derive(Debug, Clone)]
pub struct Setup<'a> {
    /// How many bodies to make, at least 1; or about how many cells.
    pub bodies: usize,
    /// The same seed gives the same bodies, for ever.
    pub seed: u64,
    /// The parameters of the mode, so that orbits fit today's `g` and `eps`.
    pub params: &'a Values,
}

/// Where a simulation begins.
#[derive(Clone)]
pub struct Scene {
    /// The name in `--scene`, or of the file.
    pub name: String,
    /// The name in the gallery.
    pub title: String,
    /// One line on what is to be seen.
    pub summary: String,
    /// Parameters that make it look good at once, as `--set` would take them.
    pub params: Vec<(String, String)>,
    /// The number of bodies or cells, if the scene allows no other.
    pub bodies: Option<usize>,
    /// How many steps a file asks for.
    pub steps: Option<u32>,
    /// How many of its steps make a picture where there is time: more than its mode's where they are small.
    pub pace: Option<u32>,
    /// Where its bodies or its fluid come from.
    pub origin: Origin,
    /// What it looks like, as PNG; empty where nobody drew it.
    pub thumbnail: &'static [u8],
}

/// Where the bodies or the fluid of a scene come from.
#[derive(Debug, Clone)]
pub enum Origin {
    /// They are made, as many as are asked for.
    Made(&'static Generator, Arguments),
    /// They are these.
    Bodies(Arc<Bodies>),
    /// They go round each other by these elements, at G = 1: other speeds where G is another.
    Orbits(Arc<orbits::Orbits>),
    /// It rests between these walls.
    Walls(Arc<Walls>),
}

/// By name: bodies and pictures are long.
impl std::fmt::Debug for Scene {
    fn fmt(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
        write!(f, "Scene({})", self.name)
    }
}

/// Scenes are told apart by where they are: one that is read again begins anew.
impl PartialEq for Scene {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self, other)
    }
}

impl Scene {
    /// Its name as that of a file in any folder: it may be that of a file itself.
    pub fn file_name(&self) -> String {
        self.name.replace(['/', '\\', ':'], "-")
    }

    /// Bodies from elsewhere, under a name.
    pub fn of_bodies(name: impl Into<String>, bodies: impl Into<Arc<Bodies>>) -> Arc<Self> {
        let bodies = bodies.into();
        let count = bodies.len();
        Self::of(name.into(), "the bodies of a file", Some(count), Origin::Bodies(bodies))
    }

    /// A fluid at rest between the walls of a file, which asks for so many steps.
    pub fn of_walls(name: impl Into<String>, walls: impl Into<Arc<Walls>>, steps: u32) -> Arc<Self> {
        let walls = walls.into();
        let cells = walls.cells();
        let scene = Self::of(name.into(), "the grid of a file", Some(cells), Origin::Walls(walls));
        Arc::new(Self { steps: Some(steps), ..Scene::clone(&scene) })
    }

    fn of(name: String, summary: &str, bodies: Option<usize>, origin: Origin) -> Arc<Self> {
        let name = label(&name, MOST_NAME);
        let (title, summary, params) = (name.clone(), summary.to_owned(), Vec::new());
        Arc::new(Self {
            name,
            title,
            summary,
            params,
            bodies,
            steps: None,
            pace: None,
            origin,
            thumbnail: &[],
        })
    }

    /// Whether a seed makes a difference.
    pub fn is_random(&self) -> bool {
        matches!(self.origin, Origin::Made(..))
    }

    /// Makes the bodies, or the fluid at rest.
    pub fn generate(&self, setup: &Setup) -> State {
        match &self.origin {
            Origin::Made(generator, arguments) => (generator.make)(setup, arguments),
            Origin::Bodies(bodies) => Bodies::clone(bodies).into(),
            Origin::Orbits(orbits) => gravity::orbiting(setup, orbits).into(),
            Origin::Walls(walls) => {
                Flow::at_rest(Walls::clone(walls), setup.params.float("density").unwrap_or(1.0), 0).into()
            }
        }
    }
}

/// Makes bodies, or walls for a fluid.
#[derive(Debug)]
pub struct Generator {
    /// The name in scene files.
    pub name: &'static str,
    /// What can be asked of it.
    pub arguments: &'static [Argument],
    /// Makes them.
    pub make: fn(&Setup, &Arguments) -> State,
}

/// A number that a generator is given.
#[derive(Debug)]
pub struct Argument {
    /// Its name in scene files.
    pub name: &'static str,
    /// What it is where a scene says nothing.
    pub default: f64,
    /// What it may be.
    pub range: RangeInclusive<f64>,
}

impl Argument {
    const fn new(name: &'static str, default: f64, range: RangeInclusive<f64>) -> Self {
        Self { name, default, range }
    }
}

/// A value for each argument of a generator.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments(BTreeMap<&'static str, f64>);

impl Arguments {
    /// Those of `generator`: what `given` says, and defaults.
    ///
    /// # Errors
    /// If there is no such argument, or its value is out of range.
    pub fn new(generator: &Generator, given: &BTreeMap<String, f64>) -> Result<Self> {
        let mut values: BTreeMap<_, _> =
            generator.arguments.iter().map(|argument| (argument.name, argument.default)).collect();
        for (name, value) in given {
            let known =
                || generator.arguments.iter().map(|argument| argument.name).collect::<Vec<_>>().join(", ");
            let argument =
                generator.arguments.iter().find(|argument| argument.name == name).ok_or_else(|| {
                    let name = shown(name);
                    Error::Invalid(format!("{} has no argument {name}; it has: {}", generator.name, known()))
                })?;
            if !argument.range.contains(value) {
                let (from, to) = (argument.range.start(), argument.range.end());
                return Err(Error::Invalid(format!("{name} = {value} is not from {from} to {to}")));
            }
            values.insert(argument.name, *value);
        }
        Ok(Self(values))
    }

    /// The value of an argument; 0 where the generator has none of that name.
    fn get(&self, name: &str) -> f64 {
        debug_assert!(self.0.contains_key(name), "no argument {name}");
        self.0.get(name).copied().unwrap_or(0.0)
    }
}

/// The generators that the scenes of a mode may name; none if there is no such mode.
fn generators(mode: &str) -> Option<&'static [Generator]> {
    match mode {
        "gravity" => Some(gravity::GENERATORS),
        "asteroids" => Some(asteroids::GENERATORS),
        "fluid" => Some(fluid::GENERATORS),
        _ => None,
    }
}

/// The most letters of a scene's name or title, and of its summary.
pub(crate) const MOST_NAME: usize = 200;
const MOST_SUMMARY: usize = 1000;

/// What a file calls something, fit to be shown: short, and without control characters.
pub(crate) fn label(text: &str, most: usize) -> String {
    Plain(text, most).to_string()
}

/// Text from a file, short enough to be shown.
fn shown(text: &str) -> String {
    csv::quoted(text)
}

/// Scenes of `assets/scenes/`, by their names without `.toml`, with their pictures in `assets/thumbnails/`.
macro_rules! scenes {
    ($($name:literal),* $(,)?) => {
        ::std::sync::LazyLock::new(|| {
            vec![$($crate::scene::embedded(
                $name,
                include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/scenes/", $name, ".toml")),
                include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/thumbnails/", $name, ".png")),
            )),*]
        })
    };
}
use scenes;

/// A scene of `assets/scenes/`. One that is wrong ends the program: tests/scenes walks them all.
fn embedded(name: &str, text: &str, thumbnail: &'static [u8]) -> Arc<Scene> {
    match file::parse(name, text) {
        Ok(file) => Arc::new(Scene { thumbnail, ..file.scene }),
        Err(error) => unreachable!("assets/scenes/{name}.toml: {error}"),
    }
}
