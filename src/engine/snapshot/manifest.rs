//! The manifest of a snapshot: everything except the lists of numbers, and the name and length of each list.

use std::any::Any;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytemuck::Pod;
use serde::de::{self, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};

use super::contents::{RecipeRecord, Run, Snapshot, Summary};
use super::room::Room;
use crate::base::bodies::{Bodies, FINITE_LIMIT};
use crate::base::error::{Error, Result};
use crate::base::flow::{Flow, MAX_CELLS, MAX_TRACERS, SPEEDS, Walls, deviations};
use crate::base::params;
use crate::base::state::{Matter, State};
use crate::engine::config::Config;
use crate::modes::{self, Extra, MODES, Mode, ModeInfo, carried};
use crate::scene::{self, Origin, Scene, file};

/// The manifest of a snapshot.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    device: String,
    driver: String,
    view: String,
    runs: Vec<RunManifest>,
    /// Name and length in bytes of each list, in order.
    lists: Vec<(String, u64)>,
}

#[derive(Debug, Serialize, Deserialize)]
struct RunManifest {
    mode: String,
    /// Name of the scene.
    scene: String,
    title: String,
    /// Text of the scene file without bodies and walls; empty for a built-in scene.
    file: String,
    params: BTreeMap<String, String>,
    variant: Option<String>,
    /// The configuration except mode, scene and variant.
    #[serde(flatten)]
    config: Config,
    recipe: RecipeRecord,
    /// Number of bodies, or approximate number of cells, that the scene was generated with.
    #[serde(rename = "made", default, skip_serializing_if = "Option::is_none")]
    generated: Option<usize>,
    #[serde(rename = "touched", default, skip_serializing_if = "std::ops::Not::not")]
    is_edited: bool,
    /// Number of bodies or cells.
    size: usize,
    step: u64,
    time: f64,
    baseline: Option<f64>,
    /// Grid of a flow; `None` for bodies.
    grid: Option<GridManifest>,
    /// Grid of a scene with its own walls, if any.
    walls: Option<GridManifest>,
    /// Refuses all other keys. Serde cannot combine `deny_unknown_fields` with `flatten`.
    #[serde(flatten, skip_serializing, deserialize_with = "refuse_unknown")]
    _unknown: (),
}

fn refuse_unknown<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<(), D::Error> {
    match BTreeMap::<String, IgnoredAny>::deserialize(deserializer)?.keys().next() {
        Some(key) => Err(de::Error::custom(format!("unknown field `{key}`"))),
        None => Ok(()),
    }
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct GridManifest {
    nx: usize,
    ny: usize,
    length: f32,
    step: u32,
    /// Density at rest, which the list `deviations` refers to. Old files hold whole populations in a list `cells` instead.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rest: Option<f32>,
}

/// Type of the rows of a list, each a fixed number of values.
#[derive(Debug, Clone, Copy)]
enum Rows {
    Bytes,
    Numbers,
    Pairs,
    Fours,
    Cells,
    Doubles,
}

/// Lists by name, each a `Vec` of its type of [`Rows`].
pub(super) struct Lists(HashMap<String, Box<dyn Any>>);

impl Lists {
    /// Reads the lists that `manifest` names, after [`Manifest::check_lists`].
    pub(super) fn read(manifest: &Manifest, input: &mut impl Read) -> Result<Self> {
        let mut lists = HashMap::new();
        for (name, bytes) in &manifest.lists {
            let Expected { rows, .. } = manifest.expected(name)?;
            let from = (name.as_str(), *bytes, &mut *input);
            let list: Box<dyn Any> = match rows {
                Rows::Bytes => Box::new(read_list::<u8>(from)?),
                Rows::Numbers => Box::new(read_list::<f32>(from)?),
                Rows::Pairs => Box::new(read_list::<[f32; 2]>(from)?),
                Rows::Fours => Box::new(read_list::<[f32; 4]>(from)?),
                Rows::Cells => Box::new(read_list::<[f32; SPEEDS]>(from)?),
                Rows::Doubles => Box::new(read_list::<f64>(from)?),
            };
            lists.insert(name.clone(), list);
        }
        Ok(Self(lists))
    }

    fn take<T: Pod>(&mut self, name: &str) -> Result<Vec<T>> {
        let list = self.0.remove(name).and_then(|list| list.downcast().ok());
        list.map(|list| *list).ok_or_else(|| wrong(format!("there is no list {name:?}")))
    }
}

/// Reads the list `name` of `bytes` bytes. Memory grows with the data that arrives, not with the stated length.
fn read_list<T: Pod>((name, bytes, input): (&str, u64, &mut impl Read)) -> Result<Vec<T>> {
    const BLOCK: usize = 1 << 20;
    let no_memory = || wrong(format!("there is no memory for the {bytes} bytes of the list {name:?}"));
    let bytes = usize::try_from(bytes).map_err(|_| no_memory())?;
    let (rows, rest) = (bytes / size_of::<T>(), bytes % size_of::<T>());
    if rest != 0 {
        return Err(wrong(format!("the list {name:?} ends within a number")));
    }
    let mut list: Vec<T> = Vec::new();
    list.try_reserve_exact(rows).map_err(|_| no_memory())?;
    while list.len() < rows {
        let from = list.len();
        list.resize(rows.min(from + BLOCK / size_of::<T>()), T::zeroed());
        input
            .read_exact(bytemuck::cast_slice_mut(&mut list[from..]))
            .map_err(|_| wrong(format!("the list {name:?} is cut off")))?;
    }
    Ok(list)
}

/// Type and length that a list must have for its scene.
struct Expected {
    rows: Rows,
    bytes: RangeInclusive<u64>,
    /// Whether [`Room::bodies`] limits the list; otherwise [`Room::flows`] does.
    is_bodies: bool,
}

impl Expected {
    fn new(rows: Rows, row: usize, count: RangeInclusive<usize>) -> Self {
        let bytes = |count: usize| (row as u64).saturating_mul(count as u64);
        Self { rows, bytes: bytes(*count.start())..=bytes(*count.end()), is_bodies: true }
    }

    fn of_a_flow(self) -> Self {
        Self { is_bodies: false, ..self }
    }
}

fn wrong(what: impl Into<String>) -> Error {
    Error::Invalid(format!("the snapshot is wrong: {}", what.into()))
}

/// Returns the range that contains only `count`.
fn exactly(count: usize) -> RangeInclusive<usize> {
    count..=count
}

impl GridManifest {
    fn of(walls: &Walls, step: u32) -> Self {
        Self { nx: walls.nx, ny: walls.ny, length: walls.length, step, rest: None }
    }

    fn walls(self, solid: Vec<u8>) -> Result<Walls> {
        let Self { nx, ny, length, .. } = self;
        let cells = nx.checked_mul(ny).filter(|cells| (9..=MAX_CELLS).contains(cells));
        if nx < 3 || ny < 3 || cells != Some(solid.len()) || !(length.is_finite() && length > 0.0) {
            return Err(wrong(format!(
                "a grid of {nx} × {ny} cells with a length of {length} is not possible"
            )));
        }
        let solid: Vec<bool> = solid.into_iter().map(|cell| cell != 0).collect();
        match solid.contains(&false) {
            true => Ok(Walls { nx, ny, solid, length }),
            false => Err(wrong("all cells are blocked")),
        }
    }
}

/// Name and contents of a list, in bytes.
type List<'a> = (String, std::borrow::Cow<'a, [u8]>);

fn borrowed<T: Pod>(list: &[T]) -> std::borrow::Cow<'_, [u8]> {
    bytemuck::cast_slice(list).into()
}

fn solid(walls: &Walls) -> Vec<u8> {
    walls.solid.iter().map(|solid| u8::from(*solid)).collect()
}

impl Manifest {
    /// Returns the manifest and the lists of a snapshot.
    pub(super) fn of(snapshot: &Snapshot) -> Result<(Self, Vec<List<'_>>)> {
        let mut lists = Vec::new();
        let [device, driver] = snapshot.device.clone();
        let runs = snapshot.runs.iter().enumerate();
        let runs = runs.map(|(nth, run)| RunManifest::of(run, nth, &mut lists)).collect::<Result<_>>()?;
        let lengths = lists.iter().map(|(name, list)| (name.clone(), list.len() as u64)).collect();
        Ok((Self { device, driver, view: snapshot.view.clone(), runs, lists: lengths }, lists))
    }

    /// Checks, before any list is read, that each list fits its scene and that the lists fit the length of the file. Returns the
    /// length of all lists in bytes.
    pub(super) fn check_lists(&self, room: Room) -> Result<u64> {
        if self.runs.is_empty() || self.runs.len() > MODES.len() {
            return Err(wrong(format!("it holds {} scenes", self.runs.len())));
        }
        let mut modes = HashSet::new();
        for run in &self.runs {
            run.check_grid()?;
            if !modes.insert(&run.mode) {
                return Err(wrong(format!("it holds two scenes of {}", run.mode)));
            }
        }
        let (mut names, mut of_bodies, mut of_flows) = (HashSet::new(), 0u64, 0u64);
        for (name, bytes) in &self.lists {
            let Expected { bytes: expected, is_bodies, .. } = self.expected(name)?;
            if !names.insert(name) {
                return Err(wrong(format!("the list {name:?} occurs twice")));
            }
            if !expected.contains(bytes) {
                let (least, most) = expected.into_inner();
                return Err(wrong(format!(
                    "the list {name:?} has {bytes} bytes; expected {least} to {most}"
                )));
            }
            let all = if is_bodies { &mut of_bodies } else { &mut of_flows };
            *all = all.saturating_add(*bytes);
        }
        for (bytes, most, what) in [(of_bodies, room.bodies(), "bodies"), (of_flows, room.flows(), "flows")] {
            if bytes > most {
                return Err(wrong(format!("the file is too short to hold {bytes} bytes of {what}")));
            }
        }
        Ok(of_bodies.saturating_add(of_flows))
    }

    /// Returns the type and length that the list `name` must have.
    fn expected(&self, name: &str) -> Result<Expected> {
        let unknown = || wrong(format!("it has a list {name:?}, which does not belong to its scene"));
        let (nth, list) = name.split_once('.').ok_or_else(unknown)?;
        let run = nth.parse().ok().and_then(|nth: usize| self.runs.get(nth)).ok_or_else(unknown)?;
        // `parse` also accepts `+1` and `01`.
        if !name.starts_with(&format!("{}.", nth.parse::<usize>().unwrap_or_default())) {
            return Err(unknown());
        }
        run.expected(list).ok_or_else(unknown)
    }

    /// Returns the snapshot that the manifest and the lists describe.
    pub(super) fn snapshot(self, mut lists: Lists) -> Result<Snapshot> {
        let runs = self.runs.into_iter().enumerate();
        Ok(Snapshot {
            device: [self.device, self.driver],
            view: self.view,
            runs: runs.map(|(nth, run)| run.run(nth, &mut lists)).collect::<Result<_>>()?,
        })
    }

    /// Returns a short description of the snapshot.
    pub(super) fn summary(&self) -> Result<Summary> {
        let RunManifest { mode, title, size, step, .. } =
            self.runs.first().ok_or_else(|| wrong("it holds no scene"))?;
        Ok(Summary {
            mode: mode.clone(),
            title: scene::label(title, scene::MOST_NAME),
            size: *size,
            step: *step,
        })
    }
}

impl RunManifest {
    fn of<'a>(run: &'a Run, nth: usize, lists: &mut Vec<List<'a>>) -> Result<Self> {
        let Run { config, recipe, generated, is_edited, step, time, baseline, state, extra, series } = run;
        let mut add = |name: &str, list| lists.push((format!("{nth}.{name}"), list));
        let (info, scene) = (config.mode.info(), &config.start);
        let grid = match state {
            State::Bodies(bodies) => {
                add("positions", borrowed(&bodies.positions));
                add("velocities", borrowed(&bodies.velocities));
                None
            }
            State::Flow(flow) => {
                add("solid", solid(&flow.walls).into());
                add("deviations", borrowed(&flow.cells));
                add("tracers", borrowed(&flow.tracers));
                Some(GridManifest { rest: Some(flow.rest), ..GridManifest::of(&flow.walls, flow.step) })
            }
        };
        let walls = match &scene.origin {
            Origin::Made(..) | Origin::Orbits(_) => None,
            Origin::Bodies(bodies) => {
                add("scene.positions", borrowed(&bodies.positions));
                add("scene.velocities", borrowed(&bodies.velocities));
                None
            }
            Origin::Walls(walls) => {
                add("scene.solid", solid(walls).into());
                Some(GridManifest::of(walls, 0))
            }
        };
        add("told", borrowed(series));
        extra.iter().for_each(|(name, list)| add(&format!("extra.{name}"), borrowed(list)));
        let is_own = !info.scenes.contains(scene);
        Ok(Self {
            mode: info.name.to_owned(),
            scene: scene.name.clone(),
            title: scene.title.clone(),
            file: if is_own { file::outline(scene, info.name)? } else { String::new() },
            params: config
                .mode
                .values()
                .iter()
                .map(|(key, value)| (key.to_owned(), value.to_string()))
                .collect(),
            variant: config.variant.map(|variant| variant.name.to_owned()),
            config: config.clone(),
            recipe: recipe.clone(),
            generated: *generated,
            is_edited: *is_edited,
            size: state.len(),
            step: *step,
            time: *time,
            baseline: *baseline,
            grid,
            walls,
            _unknown: (),
        })
    }

    fn info(&self) -> Result<&'static ModeInfo> {
        modes::find(&self.mode).ok_or_else(|| wrong(format!("there is no mode {:?}", self.mode)))
    }

    /// Checks that exactly the modes with a flow have a grid, and that the number of cells is that of the grid.
    fn check_grid(&self) -> Result<()> {
        let (info, size) = (self.info()?, self.size);
        match (self.grid, info.work.matter) {
            (None, Matter::Bodies) => Ok(()),
            (Some(GridManifest { nx, ny, .. }), Matter::Flow) => match nx.checked_mul(ny) {
                Some(cells) if cells == size && cells <= MAX_CELLS => Ok(()),
                _ => Err(wrong(format!("a grid of {nx} × {ny} cells does not match its {size} cells"))),
            },
            _ => Err(wrong(format!("its state is not of the kind that {} simulates", info.name))),
        }
    }

    /// Returns the type and length that the list `list` must have, after [`RunManifest::check_grid`].
    fn expected(&self, list: &str) -> Option<Expected> {
        let info = modes::find(&self.mode)?;
        let cells = |grid: Option<GridManifest>| {
            let grid = grid?;
            grid.nx.checked_mul(grid.ny).filter(|cells| *cells <= MAX_CELLS)
        };
        let (flow, size) = (info.work.matter == Matter::Flow, self.size);
        let is_own = |expected: Expected| if flow { expected.of_a_flow() } else { expected };
        Some(match list {
            "positions" | "velocities" if !flow => Expected::new(Rows::Fours, 16, size..=size),
            "solid" => Expected::new(Rows::Bytes, 1, exactly(cells(self.grid)?)).of_a_flow(),
            "cells" | "deviations" => {
                Expected::new(Rows::Cells, 4 * SPEEDS, exactly(cells(self.grid)?)).of_a_flow()
            }
            "tracers" if flow => Expected::new(Rows::Pairs, 8, 0..=MAX_TRACERS).of_a_flow(),
            "scene.positions" | "scene.velocities" if self.walls.is_none() => {
                Expected::new(Rows::Fours, 16, 1..=info.work.most)
            }
            "scene.solid" => Expected::new(Rows::Bytes, 1, exactly(cells(self.walls)?)).of_a_flow(),
            "told" => {
                let steps = usize::try_from(self.step).unwrap_or(usize::MAX);
                Expected::new(Rows::Doubles, 8, 0..=if info.series.is_some() { steps } else { 0 })
            }
            _ => {
                let row = info.carried(list.strip_prefix("extra.")?)?;
                let extent = self.grid.map_or([size.min(info.work.most), 1], |grid| [grid.nx, grid.ny]);
                is_own(Expected::new(Rows::Numbers, 4, 0..=(row.most)(extent)))
            }
        })
    }

    fn run(self, nth: usize, lists: &mut Lists) -> Result<Run> {
        let config = self.config(self.info()?, nth, lists)?;
        let state = self.state(&config, nth, lists)?;
        if state.is_empty() || state.len() != self.size {
            let things = config.mode.info().work.things;
            return Err(wrong(format!("{} {things} are not {}", state.len(), self.size)));
        }
        let mut extra = Extra::new();
        for list in config.mode.info().carries {
            let name = format!("{nth}.extra.{}", list.name);
            if lists.0.contains_key(&name) {
                extra.insert(list.name.to_owned(), lists.take(&name)?);
            }
        }
        carried::check(config.mode.as_ref(), &state, &extra).map_err(|what| wrong(what.to_string()))?;
        let series: Vec<f64> = lists.take(&format!("{nth}.told"))?;
        let Self { recipe, generated, is_edited, step, time, baseline, .. } = self;
        // Old files may hold the infinite energy of a flow that blew up.
        let baseline = baseline.filter(|energy| energy.is_finite());
        // Later steps must not overflow.
        if !time.is_finite() || step > u64::MAX / 2 {
            return Err(wrong("its time or step is too large or not finite"));
        }
        if !series.iter().all(|value| (0.0..=f64::from(FINITE_LIMIT)).contains(value))
            && !state.has_blown_up()
        {
            return Err(wrong("the recorded value of a step is out of range"));
        }
        if generated == Some(0) {
            return Err(wrong("the number of bodies must be at least 1"));
        }
        Ok(Run { config, recipe, generated, is_edited, step, time, baseline, state, extra, series })
    }

    fn config(&self, info: &'static ModeInfo, nth: usize, lists: &mut Lists) -> Result<Config> {
        let scene = self.scene(info, nth, lists)?;
        let mut mode = info.try_mode_for(&scene)?;
        set_all(mode.as_mut(), &self.params)?;
        let variant = |name: &String| {
            info.variant(name).ok_or_else(|| wrong(format!("there is no variant {name:?} of {}", info.name)))
        };
        let Config { bodies, steps_per_frame, work_group, .. } = self.config;
        if bodies == Some(0) || steps_per_frame == Some(0) || work_group == Some(0) {
            return Err(wrong("the numbers of bodies, steps and work-items must be at least 1"));
        }
        let variant = self.variant.as_ref().map(variant).transpose()?;
        let mut config = Config { mode, start: scene, variant, ..self.config.clone() };
        let knobs = || info.variants.iter().flat_map(|variant| variant.knobs);
        config
            .knobs
            .retain(|name, value| knobs().any(|knob| knob.name == *name && knob.options.contains(value)));
        Ok(config)
    }

    fn scene(&self, info: &'static ModeInfo, nth: usize, lists: &mut Lists) -> Result<Arc<Scene>> {
        if self.file.is_empty() {
            let scene = info
                .scene(&self.scene)
                .ok_or_else(|| wrong(format!("there is no scene {:?}", self.scene)))?;
            return Ok(scene.clone());
        }
        let has_bodies = lists.0.contains_key(&format!("{nth}.scene.positions"));
        let origin = match self.walls {
            Some(walls) => {
                let solid = lists.take(&format!("{nth}.scene.solid"))?;
                Some(Origin::Walls(walls.walls(solid)?.into()))
            }
            None if has_bodies => Some(Origin::Bodies(bodies(lists, &format!("{nth}.scene."))?.into())),
            None => None,
        };
        let file = file::complete(&self.scene, &self.file, origin)?;
        match file.mode == info.name {
            true => Ok(Arc::new(file.scene)),
            false => Err(wrong(format!("its scene is for the mode {}", file.mode))),
        }
    }

    fn state(&self, config: &Config, nth: usize, lists: &mut Lists) -> Result<State> {
        let state: State = match self.grid {
            None => bodies(lists, &format!("{nth}."))?.into(),
            Some(grid) => {
                let walls = grid.walls(lists.take(&format!("{nth}.solid"))?)?;
                let (rest, cells) = cells(lists, nth, grid.rest, config)?;
                if cells.len() != walls.cells() {
                    return Err(wrong(format!(
                        "{} cells do not fill a grid of {} cells",
                        cells.len(),
                        walls.cells()
                    )));
                }
                let tracers = lists.take(&format!("{nth}.tracers"))?;
                Flow { walls, rest, cells, tracers, step: grid.step }.into()
            }
        };
        let info = config.mode.info();
        match state.matter() == info.work.matter {
            true => Ok(state),
            false => Err(wrong(format!("its state is not of the kind that {} simulates", info.name))),
        }
    }
}

fn bodies(lists: &mut Lists, prefix: &str) -> Result<Bodies> {
    let positions = lists.take(&format!("{prefix}positions"))?;
    let velocities = lists.take(&format!("{prefix}velocities"))?;
    let bodies = Bodies { positions, velocities };
    bodies.check().map_err(wrong)?;
    if bodies.is_empty() { Err(wrong("it holds no bodies")) } else { Ok(bodies) }
}

/// Returns the density of a flow at rest and the deviations from it. Old files hold whole populations instead.
fn cells(
    lists: &mut Lists,
    nth: usize,
    rest: Option<f32>,
    config: &Config,
) -> Result<(f32, Vec<[f32; SPEEDS]>)> {
    let is_density = |rest: &f32| rest.is_finite() && *rest > 0.0;
    match rest {
        Some(rest) if is_density(&rest) => Ok((rest, lists.take(&format!("{nth}.deviations"))?)),
        Some(rest) => Err(wrong(format!("{rest} is not a valid density of a fluid at rest"))),
        None => {
            let populations: Vec<[f32; SPEEDS]> = lists.take(&format!("{nth}.cells"))?;
            let rest = config.mode.values().float("density").unwrap_or(1.0);
            let deviations = |cell: [f32; SPEEDS]| deviations(&cell.map(f64::from), rest).map(|h| h as f32);
            Ok((rest, populations.into_iter().map(deviations).collect()))
        }
    }
}

/// Sets parameters to exactly the wanted values. Parameters that already have their value are skipped, because setting one of two
/// coupled parameters changes the other.
fn set_all(mode: &mut dyn Mode, wanted: &BTreeMap<String, String>) -> Result<()> {
    for (key, text) in wanted {
        if mode.values().get(key).is_none_or(|value| value.to_string() != *text) {
            params::set(mode, key, text)?;
        }
    }
    Ok(())
}
