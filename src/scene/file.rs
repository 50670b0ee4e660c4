//! Scene files: TOML that describes the initial state and the parameters that suit it.
//!
//! ```toml
//! mode = "gravity"
//! title = "Star cluster"                # only the mode and the origin are required
//! summary = "a star cluster in equilibrium"
//! generator = "plummer"                 # the origin: a generator, with its arguments in [arguments];
//!                                       # or bodies = "x,y,z,vx,vy,vz,m…", lines as in a CSV file; or
//!                                       # orbits = "…"; or walls = "#.…" of a fluid, top row first
//! pace = 100                            # maximum number of steps per frame, for scenes with a small time step
//! fast_steps = 3000                     # number of steps at the beginning that run ten times as fast
//! path_time = 20                        # simulated time that the predicted paths of a few named bodies cover
//! [params]                              # parameters of the mode, in the format of --set
//! dt = 0.01
//! [start]                               # number of bodies and seed
//! bodies = 10000
//! seed = 7
//! [look]                                # how the picture is drawn, in the format of --look
//! palette = "ice"
//! [camera]                              # initial position of the camera: see `SceneCamera`
//! pitch = 60
//! [units]                               # meaning of 1: a unit, or a number and a unit; and the date at the start
//! length = "AU"
//! time = "58.13 days"
//! date = 2000-01-01T12:00:00
//! [colours]                             # colours of bodies by name, for `colour = "own"`
//! Sun = "#ffcc44"
//! ```
//! Files are untrusted: sizes are limited, an unknown key is an error, and every number is checked.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};
use toml::Value;

use super::description::{MAX_PATH_BODIES, MOST_NAME, MOST_SUMMARY, Origin, Scene, label};
use super::generator::{Arguments, Generator};
use super::lines::quoted;
use super::orbits::Orbits;
use super::tables::{self, Table, line_of, toml_value, word};
use super::unit_table::UnitTable;
use super::{asteroids, csv, fluid, gravity};
use crate::base::files::{from_toml, read_bounded};
use crate::base::look::Srgb;
use crate::base::{Bodies, BodyNames, Error, MAX_CELLS, ParamValues, Result, Walls, invalid};

/// Maximum size of a scene file in bytes.
const MOST_BYTES: u64 = 1 << 28;
/// Maximum value of the `pace` key (steps per frame) in a scene file.
const MAX_PACE: usize = 10_000;
/// Advice in the error message for an unknown key in the `[look]` table.
const OF_MODE: &str = "; parameters of the mode, such as colour, belong in [params]";
/// File name extension of scene files.
pub const EXTENSION: &str = "toml";

/// Contents of a scene file.
#[derive(Debug, Clone)]
pub struct SceneFile {
    /// Name of the mode that the scene is for.
    pub mode: String,
    /// The scene in the file. Its parameters have not been validated, because only the mode can validate them.
    pub scene: Scene,
    /// Number of bodies to start with; `None` if the file does not set one or the scene has a fixed number.
    pub bodies: Option<usize>,
    /// Seed of the random numbers; `None` if the file does not set one.
    pub seed: Option<u64>,
}

/// Keys of a scene file, as parsed from TOML.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Contents {
    mode: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    title: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    summary: String,
    generator: Option<String>,
    /// Number of bodies or cells, if the scene fixes it.
    count: Option<usize>,
    /// Largest number of bodies that `auto` selects.
    auto_bodies: Option<usize>,
    /// Share of the device's usual number of bodies that `auto` selects.
    auto_share: Option<f32>,
    /// Characteristic length for the Reynolds number, in cells.
    length: Option<f32>,
    steps: Option<u32>,
    pace: Option<u32>,
    fast_steps: Option<u32>,
    /// Simulated time that the predicted paths of the bodies cover.
    path_time: Option<f32>,
    bodies: Option<String>,
    orbits: Option<String>,
    walls: Option<String>,
    /// Names of the first bodies, in order; they replace the names in `bodies` and `orbits`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<String>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    arguments: BTreeMap<String, f64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    params: BTreeMap<String, Value>,
    #[serde(skip_serializing_if = "Chosen::is_empty")]
    start: Chosen,
    #[serde(skip_serializing_if = "Table::is_empty")]
    look: Table,
    #[serde(skip_serializing_if = "Table::is_empty")]
    camera: Table,
    #[serde(skip_serializing_if = "UnitTable::is_empty")]
    units: UnitTable,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    colours: BTreeMap<String, String>,
}

/// The `[start]` section of a scene file: the number of bodies and the seed chosen in the panel.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct Chosen {
    bodies: Option<usize>,
    seed: Option<Value>,
}

impl Chosen {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub(crate) fn load(path: &Path) -> Result<SceneFile> {
    let bytes = read_bounded(path, MOST_BYTES, "a scene")?;
    let not_text = |error| Error::io("read", path)(std::io::Error::other(error));
    let text = String::from_utf8(bytes).map_err(not_text)?;
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut file = parse(&name, &text).map_err(|error| match error {
        Error::Scene { line: Some(line), what } => Error::File { path: path.to_owned(), line, what },
        error => invalid!("{}: {error}", path.display()),
    })?;
    file.scene.file = std::path::absolute(path).ok();
    Ok(file)
}

/// Parses the text of a scene file called `name`.
///
/// # Errors
/// Returns [`Error::Scene`], with the line where it is known, if the text is not a valid scene file.
pub fn parse(name: &str, text: &str) -> Result<SceneFile> {
    complete(name, text, None)
}

/// Parses the text of a scene file called `name`. If `origin` is given, it is used instead of the bodies or fluid that
/// the text describes.
pub(crate) fn complete(name: &str, text: &str, origin: Option<Origin>) -> Result<SceneFile> {
    let contents: Contents =
        from_toml(text).map_err(|(at, what)| Error::Scene { line: at.map(|at| line_of(text, at)), what })?;
    let Contents { mode, title, summary, count, steps, pace, length, start, .. } = &contents;
    let (origin, names) = match origin {
        Some(origin) => (origin, BodyNames::default()),
        None => origin_of(&contents)?,
    };
    let names = if contents.names.is_empty() { names } else { contents.names.iter().collect() };
    let fixed = match &origin {
        Origin::Made(..) => *count,
        Origin::Bodies(bodies) => Some(bodies.len()),
        Origin::Orbits(orbits) => Some(orbits.bodies.len()),
        Origin::Walls(walls) => Some(walls.cells()),
    };
    for (what, number, most) in [
        ("count", *count, MAX_CELLS),
        ("start.bodies", start.bodies, MAX_CELLS),
        ("auto_bodies", contents.auto_bodies, MAX_CELLS),
        ("pace", pace.map(|pace| pace as usize), MAX_PACE),
    ] {
        if number.is_some_and(|number| !(1..=most).contains(&number)) {
            return Err(wrong(format!("{what} must be a whole number from 1 to {most}")));
        }
    }
    if contents.auto_share.is_some_and(|share| !(share > 0.0 && share <= 1.0)) {
        return Err(wrong("auto_share must be greater than 0 and at most 1"));
    }
    if let Some(time) = contents.path_time {
        if !(time > 0.0 && time.is_finite()) {
            return Err(wrong("path_time must be a number above 0"));
        }
        let has_orbits = matches!(origin, Origin::Orbits(_));
        if mode != "gravity" || has_orbits || fixed.is_none_or(|fixed| fixed > MAX_PATH_BODIES) {
            let most = MAX_PATH_BODIES;
            return Err(wrong(format!(
                "path_time applies only to gravity scenes without orbits of at most {most} bodies; with a generator, set count"
            )));
        }
    }
    if count.is_some() && *count != fixed {
        let fixed = fixed.unwrap_or_default();
        return Err(wrong(format!("count must be {fixed}, the number of bodies or cells in this file")));
    }
    if fixed.is_some_and(|fixed| !names.fit(fixed)) {
        return Err(wrong("`names` has more entries than the scene has bodies"));
    }
    if mode == "fluid" && !names.is_empty() {
        return Err(wrong("names applies only to scenes with bodies"));
    }
    if length.is_some() && !matches!(origin, Origin::Walls(_)) {
        return Err(wrong("length applies only to walls; remove length or add walls"));
    }
    let seed = start.seed.as_ref().map(seed_of).transpose()?;
    let param = |(key, value): (&String, &Value)| {
        let text = word(value)
            .ok_or_else(|| wrong(format!("params.{key} must be a number, true, false or text")))?;
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
            look: tables::read(text, ("look", OF_MODE), &contents.look)?,
            camera: tables::read(text, ("camera", ""), &contents.camera)?,
            bodies: fixed,
            auto_bodies: contents.auto_bodies,
            auto_share: contents.auto_share,
            steps: *steps,
            pace: *pace,
            fast_steps: contents.fast_steps,
            path_time: contents.path_time,
            origin,
            names,
            colours: contents.colours.iter().map(colour_of).collect::<Result<_>>()?,
            units: contents.units.read().map_err(wrong)?,
            thumbnail: &[],
            file: None,
        },
        bodies: start.bodies.filter(|_| fixed.is_none()),
        seed,
    })
}

/// Returns the error for an invalid scene, without a line number; `what` describes the mistake.
fn wrong(what: impl Into<String>) -> Error {
    Error::Scene { line: None, what: what.into() }
}

/// Returns the source of the scene's bodies or fluid, as described by `contents`, and the names of the bodies.
fn origin_of(contents: &Contents) -> Result<(Origin, BodyNames)> {
    let Contents { mode, generator, arguments, bodies, orbits, walls, length, .. } = contents;
    let known = generators(mode).ok_or_else(|| {
        wrong(format!("unknown mode {}; the modes are gravity, asteroids and fluid", quoted(mode)))
    })?;
    let fits = |what: &str, fits: bool| match fits {
        true => Ok(()),
        false => Err(wrong(format!("{mode} mode cannot start from {what}"))),
    };
    let in_text = |what: &str, (line, why): (u64, String)| wrong(format!("{what}, line {line}: {why}"));
    if !arguments.is_empty() && generator.is_none() {
        return Err(wrong("[arguments] applies only to a generator; add generator or remove [arguments]"));
    }
    let mut names = BodyNames::default();
    let origin = match (generator, bodies, orbits, walls) {
        (Some(name), None, None, None) => {
            let generator = known.iter().find(|generator| generator.name == name).ok_or_else(|| {
                let names: Vec<_> = known.iter().map(|generator| generator.name).collect();
                let (name, names) = (quoted(name), names.join(", "));
                wrong(format!("unknown generator {name}; the generators of {mode} are {names}"))
            })?;
            Origin::Made(generator, Arguments::new(generator, arguments)?)
        }
        (None, Some(text), None, None) => {
            fits("bodies", mode != "fluid")?;
            let (bodies, of_bodies) =
                csv::parse(text, csv::MAX_BODIES).map_err(|why| in_text("bodies", why))?;
            names = of_bodies;
            Origin::Bodies(bodies.into())
        }
        (None, None, Some(text), None) => {
            fits("orbits", mode == "gravity")?;
            let orbits = Orbits::parse(text).map_err(|why| in_text("orbits", why))?;
            names = orbits.names.clone();
            Origin::Orbits(orbits.into())
        }
        (None, None, None, Some(text)) => {
            fits("walls", mode == "fluid")?;
            let walls = walls_of(text, length.unwrap_or(1.0)).map_err(|why| in_text("walls", why))?;
            Origin::Walls(walls.into())
        }
        _ => return Err(wrong("a scene must have exactly one of generator, bodies, orbits and walls")),
    };
    Ok((origin, names))
}

/// Returns the generators that scenes of a mode can use, or `None` if the mode does not exist.
fn generators(mode: &str) -> Option<&'static [Generator]> {
    match mode {
        "gravity" => Some(gravity::GENERATORS),
        "asteroids" => Some(asteroids::GENERATORS),
        "fluid" => Some(fluid::GENERATORS),
        _ => None,
    }
}

/// Parses rows of `#` (solid) and `.` (free) cells, top row first. On error, returns the 1-based line number and a
/// description.
fn walls_of(text: &str, length: f32) -> Result<Walls, (u64, String)> {
    if !(length.is_finite() && length > 0.0) {
        return Err((1, "length must be a number above 0".to_owned()));
    }
    // Rows are not collected in a list: for a file with short rows, the list would be many times as large as the file.
    let (mut nx, mut ny, mut solid) = (0, 0, Vec::new());
    for (line, row) in (1..).zip(text.lines().map(|line| line.trim().as_bytes())) {
        if row.is_empty() {
            continue;
        }
        if nx == 0 {
            nx = row.len();
        }
        if row.len() != nx {
            return Err((line, format!("the row has {} cells, but the first row has {nx}", row.len())));
        }
        if row.iter().any(|cell| !b"#.".contains(cell)) {
            return Err((line, "a cell must be # (solid) or . (free)".to_owned()));
        }
        solid.extend(row.iter().map(|cell| *cell == b'#'));
        ny += 1;
    }
    if nx < 3 || ny < 3 {
        return Err((1, format!("a grid of {nx} × {ny} cells is too small; it must have at least 3 × 3")));
    }
    // The text starts with the top row. `reverse` also mirrors each row, so each row is then mirrored again.
    solid.reverse();
    solid.chunks_mut(nx).for_each(<[bool]>::reverse);
    let walls = Walls { nx, ny, solid, length };
    if walls.free() == 0 {
        return Err((1, "all cells are blocked; leave at least one free".to_owned()));
    }
    Ok(walls)
}

/// Returns the text of a scene file for `scene` with the given parameters, number of bodies and seed. Rejects bodies
/// with non-finite values, because such a file could not be read back.
pub(crate) fn text(
    scene: &Scene,
    mode: &str,
    params: &ParamValues,
    bodies: Option<usize>,
    seed: u64,
) -> Result<String> {
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
        Origin::Bodies(bodies) => {
            contents.bodies = Some(lines_of(bodies, &scene.names)?);
            contents.names.clear();
        }
        Origin::Walls(walls) => {
            (contents.walls, contents.length) = (Some(drawn(walls)), Some(walls.length));
        }
    }
    written(&contents)
}

/// Returns the text of a scene file for `scene`, without its bodies or walls. To read such a text, pass them to
/// [`complete`] as `origin`.
pub(crate) fn outline(scene: &Scene, mode: &str) -> Result<String> {
    let params = scene.params.iter().map(|(key, value)| (key.clone(), Value::String(value.clone())));
    written(&Contents { params: params.collect(), ..contents(scene, mode) })
}

fn contents(scene: &Scene, mode: &str) -> Contents {
    let mut contents = Contents {
        mode: mode.to_owned(),
        title: scene.title.clone(),
        summary: scene.summary.clone(),
        steps: scene.steps,
        auto_bodies: scene.auto_bodies,
        auto_share: scene.auto_share,
        pace: scene.pace,
        fast_steps: scene.fast_steps,
        path_time: scene.path_time,
        look: tables::written(&scene.look),
        camera: tables::written(&scene.camera),
        units: UnitTable::of(&scene.units),
        colours: scene
            .colours
            .iter()
            .map(|(name, [r, g, b])| (name.clone(), format!("#{r:02x}{g:02x}{b:02x}")))
            .collect(),
        ..Contents::default()
    };
    match &scene.origin {
        Origin::Made(generator, arguments) => {
            contents.generator = Some(generator.name.to_owned());
            contents.count = scene.bodies;
            contents.arguments = arguments.non_default(generator);
        }
        Origin::Orbits(orbits) => contents.orbits = Some(orbits.text.clone()),
        Origin::Bodies(_) | Origin::Walls(_) => {}
    }
    if !matches!(&scene.origin, Origin::Orbits(orbits) if orbits.names == scene.names) {
        contents.names = scene.names.to_list();
    }
    contents
}

fn written(contents: &Contents) -> Result<String> {
    toml::to_string_pretty(contents).map_err(|error| invalid!("cannot write the scene as TOML: {error}"))
}

/// Returns a seed as a TOML value. TOML integers are signed, so seeds of 2⁶³ or more become strings.
fn seed_value(seed: u64) -> Value {
    i64::try_from(seed).map_or_else(|_| Value::String(seed.to_string()), Value::Integer)
}

fn seed_of(value: &Value) -> Result<u64> {
    let seed = match value {
        Value::Integer(seed) => u64::try_from(*seed).ok(),
        Value::String(text) => text.parse().ok(),
        _ => None,
    };
    seed.ok_or_else(|| wrong("start.seed must be a whole number of at least 0"))
}

/// Reads the colour of a named body, such as `#ffcc44`.
fn colour_of((name, text): (&String, &String)) -> Result<(String, Srgb)> {
    let digits = text.strip_prefix('#').filter(|digits| digits.len() == 6);
    let number = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok());
    let colour = number.map(|number| number.to_be_bytes()).map(|[_, r, g, b]| (name.clone(), [r, g, b]));
    let wrong_colour =
        || wrong(format!("colours.{} must be a colour such as \"#ffcc44\"", label(name, MOST_NAME)));
    colour.ok_or_else(wrong_colour)
}

fn lines_of(bodies: &Bodies, names: &BodyNames) -> Result<String> {
    if bodies.nonfinite() > 0 {
        return Err(invalid!(
            "the values of some bodies are no longer finite, and a scene file cannot store these; save a snapshot instead"
        ));
    }
    let mut text = Vec::new();
    // Writing to memory cannot fail.
    let _ = csv::write(&mut text, bodies, names);
    Ok(String::from_utf8_lossy(&text).into_owned())
}

fn drawn(walls: &Walls) -> String {
    let row = |row: &[bool]| {
        row.iter().map(|solid| if *solid { '#' } else { '.' }).chain(['\n']).collect::<String>()
    };
    walls.solid.chunks(walls.nx).rev().map(row).collect()
}
