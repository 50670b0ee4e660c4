//! Scene files: TOML that says what there is at the beginning, and which parameters suit it.
//!
//! ```toml
//! mode = "gravity"
//! title = "Star cluster"                # all else but the mode and one origin may be left out
//! summary = "a star cluster in balance"
//! generator = "plummer"                 # the origin: a generator, with arguments of its own in [arguments];
//!                                       # or bodies = "x,y,z,vx,vy,vz,m…", lines as in a CSV file; or
//!                                       # orbits = "…"; or walls = "#.…", of a fluid, rows from above
//! pace = 100                            # steps to a picture, where there is time: for scenes whose steps are small
//! [params]                              # as --set takes them
//! dt = 0.01
//! [start]                               # what else can be chosen in the panel
//! bodies = 10000
//! seed = 7
//! ```
//! Files are untrusted: sizes are bounded, an unknown key is an error, and every number is checked.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Value;

use super::orbits::Orbits;
use super::{Arguments, MOST_NAME, MOST_SUMMARY, Origin, Scene, csv, generators, label, shown};
use crate::bodies::Bodies;
use crate::error::{Error, Result};
use crate::files::{from_toml, read_bounded};
use crate::lattice::{MAX_CELLS, Walls};
use crate::params::{self, Values};

/// More than a scene file can be meant to have.
const MOST_BYTES: u64 = 1 << 28;
/// The most steps that a file may ask to have in a picture.
const MAX_PACE: u32 = 10_000;
/// How scene files' names end.
pub const EXTENSION: &str = "toml";

/// What a scene file says.
#[derive(Debug, Clone)]
pub struct SceneFile {
    /// The name of the mode, which there is.
    pub mode: String,
    /// The scene. Its parameters are not checked: the mode knows them.
    pub scene: Scene,
    /// How many bodies, if that is open and the file says.
    pub bodies: Option<usize>,
    /// The seed, if the file says.
    pub seed: Option<u64>,
}

/// The file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Contents {
    mode: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    generator: Option<String>,
    /// The number of bodies, if no other is possible.
    #[serde(skip_serializing_if = "Option::is_none")]
    count: Option<usize>,
    /// The length that the Reynolds number speaks of, in cells.
    #[serde(skip_serializing_if = "Option::is_none")]
    length: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    steps: Option<u32>,
    /// Steps to a picture, where there is time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pace: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bodies: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    orbits: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    walls: Option<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    arguments: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    params: BTreeMap<String, Value>,
    #[serde(skip_serializing_if = "Chosen::is_empty")]
    start: Chosen,
}

/// What else can be chosen in the panel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Chosen {
    #[serde(skip_serializing_if = "Option::is_none")]
    bodies: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<Value>,
}

impl Chosen {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// Reads the scene file `path`.
///
/// # Errors
/// [`Error::Io`] if it cannot be read; [`Error::File`] or [`Error::Scene`] if it is not what the [module](self) says.
pub fn load(path: &Path) -> Result<SceneFile> {
    let io_error = |source| Error::Io { doing: "read", path: path.to_owned(), source };
    let bytes = read_bounded(path, MOST_BYTES, "a scene")?;
    let text = String::from_utf8(bytes).map_err(|error| io_error(std::io::Error::other(error)))?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    parse(&name, &text).map_err(|error| match error {
        Error::Scene { line: Some(line), what } => Error::File { path: path.to_owned(), line, what },
        error => Error::Invalid(format!("{}: {error}", path.display())),
    })
}

/// Reads the text of a scene file called `name`.
///
/// # Errors
/// [`Error::Scene`] with the line where that is known.
pub fn parse(name: &str, text: &str) -> Result<SceneFile> {
    complete(name, text, None)
}

/// The same, of a text without an origin if one is given.
///
/// # Errors
/// As [`parse`].
pub fn complete(name: &str, text: &str, origin: Option<Origin>) -> Result<SceneFile> {
    let contents: Contents =
        from_toml(text).map_err(|(at, what)| Error::Scene { line: at.map(|at| line_of(text, at)), what })?;
    let wrong = |what: String| Error::Scene { line: None, what };
    let Contents { mode, title, summary, count, steps, pace, length, start, .. } = &contents;
    let origin = origin.map_or_else(|| origin_of(&contents), Ok)?;
    let fixed = match &origin {
        Origin::Made(..) => *count,
        Origin::Bodies(bodies) => Some(bodies.len()),
        Origin::Orbits(orbits) => Some(orbits.len()),
        Origin::Walls(walls) => Some(walls.cells()),
    };
    for (what, number) in [("count", count), ("start.bodies", &start.bodies)] {
        if number.is_some_and(|number| !(1..=MAX_CELLS).contains(&number)) {
            return Err(wrong(format!("{what} is not a whole number from 1 to {MAX_CELLS}")));
        }
    }
    if count.is_some() && *count != fixed {
        return Err(wrong(format!("count is not the number that there are, {}", fixed.unwrap_or_default())));
    }
    if length.is_some() && !matches!(origin, Origin::Walls(_)) {
        return Err(wrong("length says something of walls, and there are none".to_owned()));
    }
    if pace.is_some_and(|pace| !(1..=MAX_PACE).contains(&pace)) {
        return Err(wrong(format!("pace is not a whole number from 1 to {MAX_PACE}")));
    }
    let seed = start
        .seed
        .as_ref()
        .map(|seed| seed_of(seed).ok_or_else(|| wrong("start.seed is not a whole number from 0".to_owned())));
    let seed = seed.transpose()?;
    let text_of = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) => Some(value.to_string()),
        Value::Datetime(_) | Value::Array(_) | Value::Table(_) => None,
    };
    let param = |(key, value): (&String, &Value)| {
        let text = text_of(value).ok_or_else(|| wrong(format!("params.{key} is neither number nor text")))?;
        Ok((key.clone(), text))
    };
    let title = if title.is_empty() { name } else { title };
    Ok(SceneFile {
        mode: mode.clone(),
        scene: Scene {
            name: label(name, MOST_NAME),
            title: label(title, MOST_NAME),
            summary: label(summary, MOST_SUMMARY),
            params: contents.params.iter().map(param).collect::<Result<_>>()?,
            bodies: fixed,
            steps: *steps,
            pace: *pace,
            origin,
            thumbnail: &[],
        },
        bodies: start.bodies.filter(|_| fixed.is_none()),
        seed,
    })
}

fn origin_of(contents: &Contents) -> Result<Origin> {
    let wrong = |what: String| Error::Scene { line: None, what };
    let Contents { mode, generator, arguments, bodies, orbits, walls, length, .. } = contents;
    let known = generators(mode).ok_or_else(|| wrong(format!("there is no mode {}", shown(mode))))?;
    let fits = |what: &str, fits: bool| match fits {
        true => Ok(()),
        false => Err(wrong(format!("{what} are not what {mode} begins with"))),
    };
    let in_text = |what: &str, (line, why): (u64, String)| wrong(format!("{what}, line {line}: {why}"));
    if !arguments.is_empty() && generator.is_none() {
        return Err(wrong("arguments are for a generator, and there is none".to_owned()));
    }
    match (generator, bodies, orbits, walls) {
        (Some(name), None, None, None) => {
            let names = || known.iter().map(|generator| generator.name).collect::<Vec<_>>().join(", ");
            let generator = known.iter().find(|generator| generator.name == name).ok_or_else(|| {
                wrong(format!("there is no generator {}; of {mode} there is {}", shown(name), names()))
            })?;
            Ok(Origin::Made(generator, Arguments::new(generator, arguments)?))
        }
        (None, Some(text), None, None) => {
            fits("bodies", mode != "fluid")?;
            let bodies = csv::parse(text, csv::MAX_BODIES).map_err(|why| in_text("bodies", why))?;
            Ok(Origin::Bodies(bodies.into()))
        }
        (None, None, Some(text), None) => {
            fits("orbits", mode == "gravity")?;
            Ok(Origin::Orbits(Orbits::parse(text).map_err(|why| in_text("orbits", why))?.into()))
        }
        (None, None, None, Some(text)) => {
            fits("walls", mode == "fluid")?;
            let walls = walls_of(text, length.unwrap_or(1.0)).map_err(|why| in_text("walls", why))?;
            Ok(Origin::Walls(walls.into()))
        }
        _ => Err(wrong("a scene has one origin: generator, bodies, orbits or walls".to_owned())),
    }
}

/// A grid drawn in letters, the highest row first.
fn walls_of(text: &str, length: f32) -> Result<Walls, (u64, String)> {
    if !(length.is_finite() && length > 0.0) {
        return Err((1, "length is not a number above 0".to_owned()));
    }
    // No list of rows: a file of short ones would take many times its size.
    let (mut nx, mut ny, mut solid) = (0, 0, Vec::new());
    for (line, row) in (1..).zip(text.lines().map(|line| line.trim().as_bytes())) {
        if row.is_empty() {
            continue;
        }
        if nx == 0 {
            nx = row.len();
        }
        if row.len() != nx {
            return Err((line, format!("the row has {} cells, and the first has {nx}", row.len())));
        }
        if row.iter().any(|cell| !b"#.".contains(cell)) {
            return Err((line, "a cell must be # (solid) or . (free)".to_owned()));
        }
        solid.extend(row.iter().map(|cell| *cell == b'#'));
        ny += 1;
    }
    if nx < 3 || ny < 3 {
        return Err((1, format!("a grid of {nx} × {ny} cells is too small: 3 × 3 are the least")));
    }
    // The highest row came first: what is turned round is upside down and, row by row, back to front.
    solid.reverse();
    solid.chunks_mut(nx).for_each(<[bool]>::reverse);
    let walls = Walls { nx, ny, solid, length };
    if walls.free() == 0 {
        return Err((1, "all cells are blocked: nothing could flow".to_owned()));
    }
    Ok(walls)
}

/// The text of a scene file: `scene` of `mode` with other parameters, and with what was chosen in the panel.
///
/// # Errors
/// If bodies of the scene stopped being finite: no file could be read that says so.
pub fn text(scene: &Scene, mode: &str, params: &Values, bodies: Option<usize>, seed: u64) -> Result<String> {
    let mut contents = Contents {
        params: params.iter().map(|(key, value)| (key.to_owned(), toml_value(value))).collect(),
        start: Chosen {
            bodies: bodies.filter(|_| scene.bodies.is_none()),
            seed: scene.is_random().then(|| seed_value(seed)),
        },
        ..contents(scene, mode)
    };
    match &scene.origin {
        Origin::Made(..) | Origin::Orbits(_) => {}
        Origin::Bodies(bodies) => contents.bodies = Some(lines_of(bodies)?),
        Origin::Walls(walls) => {
            (contents.walls, contents.length) = (Some(drawn(walls)), Some(walls.length));
        }
    }
    written(&contents)
}

/// The text of a scene file with the scene's own parameters, but without its bodies or walls, for [`complete`].
///
/// # Errors
/// If no file can say it.
pub fn outline(scene: &Scene, mode: &str) -> Result<String> {
    let params = scene.params.iter().map(|(key, value)| (key.clone(), Value::String(value.clone())));
    written(&Contents { params: params.collect(), ..contents(scene, mode) })
}

fn contents(scene: &Scene, mode: &str) -> Contents {
    let mut contents = Contents {
        mode: mode.to_owned(),
        title: scene.title.clone(),
        summary: scene.summary.clone(),
        steps: scene.steps,
        pace: scene.pace,
        ..Contents::default()
    };
    match &scene.origin {
        Origin::Made(generator, arguments) => {
            let is_other = |(name, value): &(&&str, &f64)| {
                generator
                    .arguments
                    .iter()
                    .any(|argument| argument.name == **name && argument.default != **value)
            };
            contents.generator = Some(generator.name.to_owned());
            contents.count = scene.bodies;
            let others = arguments.0.iter().filter(is_other);
            contents.arguments = others.map(|(name, value)| ((*name).to_owned(), *value)).collect();
        }
        Origin::Orbits(orbits) => contents.orbits = Some(orbits.text().to_owned()),
        Origin::Bodies(_) | Origin::Walls(_) => {}
    }
    contents
}

fn written(contents: &Contents) -> Result<String> {
    toml::to_string_pretty(contents)
        .map_err(|error| Error::Invalid(format!("the scene cannot be written: {error}")))
}

/// Whole numbers of TOML end where half of the seeds begin.
fn seed_value(seed: u64) -> Value {
    i64::try_from(seed).map_or_else(|_| Value::String(seed.to_string()), Value::Integer)
}

fn seed_of(value: &Value) -> Option<u64> {
    match value {
        Value::Integer(seed) => u64::try_from(*seed).ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    }
}

fn lines_of(bodies: &Bodies) -> Result<String> {
    if bodies.nonfinite() > 0 {
        return Err(Error::Invalid(
            "bodies of this scene stopped being finite: a snapshot can hold them, a scene cannot".to_owned(),
        ));
    }
    let mut text = Vec::new();
    // Memory does not fail.
    let _ = csv::write(&mut text, bodies);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn drawn(walls: &Walls) -> String {
    let row = |row: &[bool]| {
        row.iter().map(|solid| if *solid { '#' } else { '.' }).chain(['\n']).collect::<String>()
    };
    walls.solid.chunks(walls.nx).rev().map(row).collect()
}

fn toml_value(value: params::Value) -> Value {
    match value {
        // As short as it reads back: 0.05 and not 0.05000000074505806.
        params::Value::Float(x) => Value::Float(x.to_string().parse().unwrap_or(x.into())),
        params::Value::Flag(on) => Value::Boolean(on),
        params::Value::Option(name) => Value::String(name.to_owned()),
    }
}

/// The line, from 1, in which a byte of a text is.
pub(crate) fn line_of(text: &str, byte: usize) -> u64 {
    let before = text.as_bytes().get(..byte).unwrap_or_default();
    before.iter().filter(|letter| **letter == b'\n').count() as u64 + 1
}
