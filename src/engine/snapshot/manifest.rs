//! The manifest of a snapshot: everything except the lists of numbers, and the name and length of each list.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::io::Read;
use std::ops::RangeInclusive;
use std::sync::Arc;

use bytemuck::Pod;
use serde::de::{self, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize};

use super::contents::{RecipeRecord, Run, Snapshot, Summary};
use super::room::Room;
use crate::base::flow::deviations;
use crate::base::{
    Bodies, BodyNames, Error, FINITE_LIMIT, Flow, MAX_CELLS, MAX_TRACERS, Matter, Result, SPEEDS, State,
    Walls, invalid, params,
};
use crate::engine::config::Config;
use crate::modes::{self, Extra, MODES, ModeInfo, carried};
use crate::scene::{self, Origin, Scene, file};

/// The manifest of a snapshot file: all of its contents except long lists of numbers.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Manifest {
    device: String,
    driver: String,
    view: String,
    runs: Vec<RunManifest>,
    /// Name and length, in bytes, of each list of numbers that follows the manifest, in file order.
    lists: Vec<(String, u64)>,
}

/// The part of a manifest that describes one scene.
#[derive(Debug, Serialize, Deserialize)]
struct RunManifest {
    mode: String,
    scene: String,
    title: String,
    /// Text of the scene's file, without bodies and walls; empty for a built-in scene.
    file: String,
    params: BTreeMap<String, String>,
    variant: Option<String>,
    /// The configuration of the scene, except its mode, scene and variant.
    #[serde(flatten)]
    config: Config,
    recipe: RecipeRecord,
    /// Number of bodies, or approximate number of cells, requested when the scene was generated; `None` in old files.
    #[serde(rename = "made", default, skip_serializing_if = "Option::is_none")]
    generated: Option<usize>,
    #[serde(rename = "touched", default, skip_serializing_if = "std::ops::Not::not")]
    is_edited: bool,
    /// Names of the first bodies, in order; `None` if the scene defines them, or in old files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    names: Option<Vec<String>>,
    /// Number of bodies or grid cells in the scene.
    size: usize,
    step: u64,
    time: f64,
    baseline: Option<f64>,
    /// Grid of a fluid flow; `None` for a scene of bodies.
    grid: Option<GridManifest>,
    /// Grid of the walls that the scene defines; `None` if the scene defines no walls.
    walls: Option<GridManifest>,
    /// Dummy field that rejects unknown keys, because serde cannot combine `deny_unknown_fields` with `flatten`.
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
    /// Fluid density at rest; `None` in old files, which store full `cells` instead of `deviations` from rest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    rest: Option<f32>,
}

impl GridManifest {
    fn of(walls: &Walls, step: u32, rest: Option<f32>) -> Self {
        Self { nx: walls.nx, ny: walls.ny, length: walls.length, step, rest }
    }

    /// Returns the number of cells in the grid, or `None` if the number is too large.
    fn cells(&self) -> Option<usize> {
        self.nx.checked_mul(self.ny).filter(|cells| *cells <= MAX_CELLS)
    }

    fn walls(&self, solid: Vec<u8>) -> Result<Walls> {
        let Self { nx, ny, length, .. } = *self;
        if nx < 3 || ny < 3 || self.cells() != Some(solid.len()) || !(length.is_finite() && length > 0.0) {
            let text = format!("its grid has an invalid size ({nx} × {ny} cells) or length ({length})");
            return Err(wrong(text));
        }
        let solid: Vec<bool> = solid.into_iter().map(|cell| cell != 0).collect();
        match solid.contains(&false) {
            true => Ok(Walls { nx, ny, solid, length }),
            false => Err(wrong("all cells are blocked")),
        }
    }
}

/// Function that reads a list with the given name and length (in bytes) into a boxed `Vec` of the list's elements.
type ReadList = fn(&str, u64, &mut dyn Read) -> Result<Box<dyn Any>>;

/// Allowed lengths of a list in a snapshot file, and the function that reads the list.
struct Expected {
    bytes: RangeInclusive<u64>,
    read: ReadList,
    /// Whether the list belongs to a fluid flow, limited by [`Room::flows`], or to bodies, limited by [`Room::bodies`].
    is_flow: bool,
}

impl Expected {
    /// Describes a list of `T` elements, whose number must be in `count`. `is_flow` says whether the list belongs to a
    /// flow.
    fn rows<T: Pod>(count: RangeInclusive<usize>, is_flow: bool) -> Self {
        let bytes = |count: usize| (size_of::<T>() as u64).saturating_mul(count as u64);
        Self { bytes: bytes(*count.start())..=bytes(*count.end()), read: read_list::<T>, is_flow }
    }
}

/// Reads the list `name` of `bytes` bytes from `input`. Reserves the memory at the start, but fills it as data arrives.
fn read_list<T: Pod>(name: &str, bytes: u64, input: &mut dyn Read) -> Result<Box<dyn Any>> {
    const BLOCK: usize = 1 << 20;
    let no_memory = || wrong(format!("there is not enough memory for the list {name:?} ({bytes} bytes)"));
    let bytes = usize::try_from(bytes).map_err(|_| no_memory())?;
    let (rows, rest) = (bytes / size_of::<T>(), bytes % size_of::<T>());
    if rest != 0 {
        return Err(wrong(format!("the data {name:?} ends in the middle of a number")));
    }
    let mut list: Vec<T> = Vec::new();
    list.try_reserve_exact(rows).map_err(|_| no_memory())?;
    while list.len() < rows {
        let from = list.len();
        list.resize(rows.min(from + BLOCK / size_of::<T>()), T::zeroed());
        let block = bytemuck::cast_slice_mut(&mut list[from..]);
        input.read_exact(block).map_err(|_| wrong(format!("the list {name:?} is cut off at its end")))?;
    }
    Ok(Box::new(list))
}

/// The lists of one scene by name, each a boxed `Vec` of its elements.
type Lists = HashMap<String, Box<dyn Any>>;

/// Removes the list `name` from `lists` and returns it.
fn take<T: Pod>(lists: &mut Lists, name: &str) -> Result<Vec<T>> {
    let list = lists.remove(name).and_then(|list| list.downcast().ok());
    list.map(|list| *list).ok_or_else(|| wrong(format!("the data {name:?} is missing")))
}

/// Removes the lists of positions and velocities whose names start with `prefix`, and returns them as bodies.
fn take_bodies(lists: &mut Lists, prefix: &str) -> Result<Bodies> {
    let positions = take(lists, &format!("{prefix}positions"))?;
    let bodies = Bodies { positions, velocities: take(lists, &format!("{prefix}velocities"))? };
    bodies.check().map_err(wrong)?;
    if bodies.is_empty() { Err(wrong("it contains no bodies")) } else { Ok(bodies) }
}

fn wrong(what: impl Into<String>) -> Error {
    invalid!("the snapshot is invalid: {}", what.into())
}

/// A list of numbers in a snapshot file: its name, and its contents as bytes.
type List<'a> = (String, Cow<'a, [u8]>);

impl Manifest {
    /// Converts a snapshot into a manifest and the lists of numbers that follow it in the file.
    pub(super) fn of(snapshot: &Snapshot) -> Result<(Self, Vec<List<'_>>)> {
        let mut lists = Vec::new();
        let [device, driver] = snapshot.device.clone();
        let runs = snapshot.runs.iter().enumerate();
        let runs = runs.map(|(nth, run)| RunManifest::of(run, nth, &mut lists)).collect::<Result<_>>()?;
        let lengths = lists.iter().map(|(name, list)| (name.clone(), list.len() as u64)).collect();
        Ok((Self { device, driver, view: snapshot.view.clone(), runs, lists: lengths }, lists))
    }

    /// Checks the lengths of all lists against their scenes and the file length. Returns the total length in bytes.
    pub(super) fn check_lists(&self, room: Room) -> Result<u64> {
        if self.runs.is_empty() || self.runs.len() > MODES.len() {
            let count = self.runs.len();
            let expected = "expected at least one, and at most one for each mode";
            return Err(wrong(format!("it contains {count} scenes; {expected}")));
        }
        let mut modes = HashSet::new();
        for run in &self.runs {
            run.check_grid()?;
            if !modes.insert(&run.mode) {
                return Err(wrong(format!("it contains two scenes for {} mode", run.mode)));
            }
        }
        let (mut names, mut of_bodies, mut of_flows) = (HashSet::new(), 0u64, 0u64);
        for (name, bytes) in &self.lists {
            let (.., Expected { bytes: expected, is_flow, .. }) = self.expected(name)?;
            if !names.insert(name) {
                return Err(wrong(format!("the data {name:?} occurs twice")));
            }
            if !expected.contains(bytes) {
                let (least, most) = expected.into_inner();
                let text = format!("the data {name:?} has {bytes} bytes; expected {least} to {most}");
                return Err(wrong(text));
            }
            let all = if is_flow { &mut of_flows } else { &mut of_bodies };
            *all = all.saturating_add(*bytes);
        }
        for (bytes, most, what) in [(of_bodies, room.bodies(), "bodies"), (of_flows, room.flows(), "flows")] {
            if bytes > most {
                return Err(wrong(format!("the file is too short to hold {bytes} bytes of {what}")));
            }
        }
        Ok(of_bodies.saturating_add(of_flows))
    }

    /// Finds the scene to which the list `name` belongs. Returns the index of the scene, and the short name and the
    /// expected contents of the list.
    fn expected<'a>(&self, name: &'a str) -> Result<(usize, &'a str, Expected)> {
        let found = || {
            let (nth, list) = name.split_once('.')?;
            // `parse` also accepts numbers such as `+1` and `01`, which are not valid here.
            let place = nth.parse::<usize>().ok().filter(|place| place.to_string() == nth)?;
            Some((place, list, self.runs.get(place)?.expected(list)?))
        };
        found().ok_or_else(|| {
            wrong(format!("it contains the data {name:?}, which does not belong to its scene"))
        })
    }

    /// Reads the lists from `input` and returns the complete snapshot. Call [`Manifest::check_lists`] first.
    pub(super) fn read_snapshot(self, input: &mut impl Read) -> Result<Snapshot> {
        let mut lists: Vec<Lists> = self.runs.iter().map(|_| Lists::new()).collect();
        for (name, bytes) in &self.lists {
            let (nth, list, expected) = self.expected(name)?;
            lists[nth].insert(list.to_owned(), (expected.read)(name, *bytes, input)?);
        }
        let runs = self.runs.into_iter().zip(&mut lists).map(|(run, lists)| run.run(lists));
        let runs = runs.collect::<Result<_>>()?;
        Ok(Snapshot { device: [self.device, self.driver], view: self.view, runs })
    }

    pub(super) fn summary(&self) -> Result<Summary> {
        let first = self.runs.first().ok_or_else(|| wrong("it contains no scene"))?;
        let title = scene::label(&first.title, scene::MOST_NAME);
        Ok(Summary { mode: first.mode.clone(), title, size: first.size, step: first.step })
    }
}

impl RunManifest {
    fn of<'a>(run: &'a Run, nth: usize, lists: &mut Vec<List<'a>>) -> Result<Self> {
        fn bytes<T: Pod>(list: &[T]) -> Cow<'_, [u8]> {
            bytemuck::cast_slice(list).into()
        }
        let solid = |walls: &Walls| walls.solid.iter().map(|solid| u8::from(*solid)).collect();
        let Run { config, recipe, generated, is_edited, names, step, time, baseline, state, extra, series } =
            run;
        let mut add = |name: &str, list| lists.push((format!("{nth}.{name}"), list));
        let (info, scene) = (config.mode.info(), &config.start);
        let grid = match state {
            State::Bodies(bodies) => {
                add("positions", bytes(&bodies.positions));
                add("velocities", bytes(&bodies.velocities));
                None
            }
            State::Flow(flow) => {
                add("solid", solid(&flow.walls));
                add("deviations", bytes(&flow.cells));
                add("tracers", bytes(&flow.tracers));
                Some(GridManifest::of(&flow.walls, flow.step, Some(flow.rest)))
            }
        };
        let walls = match &scene.origin {
            Origin::Made(..) | Origin::Orbits(_) => None,
            Origin::Bodies(bodies) => {
                add("scene.positions", bytes(&bodies.positions));
                add("scene.velocities", bytes(&bodies.velocities));
                None
            }
            Origin::Walls(walls) => {
                add("scene.solid", solid(walls));
                Some(GridManifest::of(walls, 0, None))
            }
        };
        add("told", bytes(series));
        extra.iter().for_each(|(name, list)| add(&format!("extra.{name}"), bytes(list)));
        let is_own = !info.scenes.contains(scene);
        let params = config.mode.values();
        Ok(Self {
            mode: info.name.to_owned(),
            scene: scene.name.clone(),
            title: scene.title.clone(),
            file: if is_own { file::outline(scene, info.name)? } else { String::new() },
            params: params.iter().map(|(key, value)| (key.to_owned(), value.to_string())).collect(),
            variant: config.variant.map(|variant| variant.name.to_owned()),
            config: config.clone(),
            recipe: recipe.clone(),
            generated: *generated,
            is_edited: *is_edited,
            names: (*is_edited && !config.start.names.is_empty()).then(|| names.to_list()),
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
        modes::find(&self.mode).ok_or_else(|| wrong(format!("unknown mode {:?}", self.mode)))
    }

    /// Checks that the scene has a grid only if its mode simulates a flow, and that its number of cells fits the grid.
    fn check_grid(&self) -> Result<()> {
        let (info, size) = (self.info()?, self.size);
        match (self.grid, info.work.matter) {
            (None, Matter::Bodies) => Ok(()),
            (Some(grid), Matter::Flow) if grid.cells() == Some(size) => Ok(()),
            (Some(GridManifest { nx, ny, .. }), Matter::Flow) => {
                Err(wrong(format!("it states {size} cells, but its grid has {nx} × {ny}")))
            }
            _ => Err(wrong(format!("its contents do not match the mode {}", info.name))),
        }
    }

    /// Returns the expected contents of `list`, or `None` if the scene has no such list. Call
    /// [`RunManifest::check_grid`] first.
    fn expected(&self, list: &str) -> Option<Expected> {
        let (info, size, is_flow) = (modes::find(&self.mode)?, self.size, self.grid.is_some());
        Some(match list {
            "positions" | "velocities" if !is_flow => Expected::rows::<[f32; 4]>(size..=size, false),
            "solid" if is_flow => Expected::rows::<u8>(size..=size, true),
            "cells" | "deviations" if is_flow => Expected::rows::<[f32; SPEEDS]>(size..=size, true),
            "tracers" if is_flow => Expected::rows::<[f32; 2]>(0..=MAX_TRACERS, true),
            "scene.positions" | "scene.velocities" if self.walls.is_none() => {
                Expected::rows::<[f32; 4]>(1..=info.work.most, false)
            }
            "scene.solid" => {
                let cells = self.walls?.cells()?;
                Expected::rows::<u8>(cells..=cells, true)
            }
            "told" => {
                let steps = usize::try_from(self.step).unwrap_or(usize::MAX);
                Expected::rows::<f64>(0..=if info.series.is_some() { steps } else { 0 }, false)
            }
            _ => {
                let row = info.carried(list.strip_prefix("extra.")?)?;
                let extent = self.grid.map_or([size.min(info.work.most), 1], |grid| [grid.nx, grid.ny]);
                Expected::rows::<f32>(0..=(row.most)(extent), is_flow)
            }
        })
    }

    /// Creates the scene, with its state, from this manifest and the numbers in `lists`.
    fn run(self, lists: &mut Lists) -> Result<Run> {
        let config = self.config(lists)?;
        let state = self.state(&config, lists)?;
        let mut extra = Extra::new();
        for list in config.mode.info().carries {
            let name = format!("extra.{}", list.name);
            if lists.contains_key(&name) {
                extra.insert(list.name.to_owned(), take(lists, &name)?);
            }
        }
        carried::check(config.mode.as_ref(), &state, &extra).map_err(|what| wrong(what.to_string()))?;
        let series: Vec<f64> = take(lists, "told")?;
        // Old files do not store names. If a body was deleted before such a file was saved, the scene's names may
        // belong to the wrong bodies.
        let names = match &self.names {
            Some(names) => names.iter().collect(),
            None if self.is_edited => BodyNames::default(),
            None => config.start.names.clone().of_first(self.size),
        };
        if !names.fit(self.size) {
            return Err(wrong("the file has more names than bodies"));
        }
        let Self { recipe, generated, is_edited, step, time, baseline, .. } = self;
        // Old files may hold the infinite energy of a flow that blew up.
        let baseline = baseline.filter(|energy| energy.is_finite());
        // The time and the number of steps must not overflow in later steps.
        if !time.is_finite() || step > u64::MAX / 2 {
            return Err(wrong("its simulated time is not finite, or its step number is too large"));
        }
        let is_recorded = |value: &f64| (0.0..=f64::from(FINITE_LIMIT)).contains(value);
        if !series.iter().all(is_recorded) && !state.has_blown_up() {
            return Err(wrong("a recorded value is negative, too large or not finite"));
        }
        if generated == Some(0) {
            return Err(wrong("the number of bodies must be at least 1"));
        }
        Ok(Run { config, recipe, generated, is_edited, names, step, time, baseline, state, extra, series })
    }

    fn config(&self, lists: &mut Lists) -> Result<Config> {
        let info = self.info()?;
        let start = self.scene(info, lists)?;
        let mut mode = info.try_mode_for(&start)?;
        for (key, text) in &self.params {
            // Skips parameters that already have their value, because setting a parameter may change a coupled one.
            if mode.values().get(key).is_none_or(|value| value.to_string() != *text) {
                params::set(mode.as_mut(), key, text)?;
            }
        }
        let Config { bodies, steps_per_frame, work_group, .. } = self.config;
        if bodies == Some(0) || steps_per_frame == Some(0) || work_group == Some(0) {
            return Err(wrong("the numbers of bodies, steps and work-items must be at least 1"));
        }
        let variant = |name: &String| {
            info.variant(name)
                .ok_or_else(|| wrong(format!("unknown variant {name:?} of the mode {}", info.name)))
        };
        let variant = self.variant.as_ref().map(variant).transpose()?;
        let mut config = Config { mode, start, variant, ..self.config.clone() };
        let knobs = info.variants.iter().flat_map(|variant| variant.knobs);
        config.knobs.retain(|name, value| {
            knobs.clone().any(|knob| knob.name == *name && knob.options.contains(value))
        });
        Ok(config)
    }

    fn scene(&self, info: &'static ModeInfo, lists: &mut Lists) -> Result<Arc<Scene>> {
        if self.file.is_empty() {
            let scene = info.scene(&self.scene);
            return scene.cloned().ok_or_else(|| wrong(format!("unknown scene {:?}", self.scene)));
        }
        let origin = match self.walls {
            Some(walls) => Some(Origin::Walls(walls.walls(take(lists, "scene.solid")?)?.into())),
            None if lists.contains_key("scene.positions") => {
                Some(Origin::Bodies(take_bodies(lists, "scene.")?.into()))
            }
            None => None,
        };
        let file = file::complete(&self.scene, &self.file, origin)?;
        match file.mode == info.name {
            true => Ok(Arc::new(file.scene)),
            false => Err(wrong(format!("its scene belongs to the mode {}", file.mode))),
        }
    }

    fn state(&self, config: &Config, lists: &mut Lists) -> Result<State> {
        let Some(grid) = self.grid else { return Ok(take_bodies(lists, "")?.into()) };
        let walls = grid.walls(take(lists, "solid")?)?;
        let (rest, cells) = match grid.rest {
            Some(rest) if rest.is_finite() && rest > 0.0 => (rest, take(lists, "deviations")?),
            Some(rest) => {
                return Err(wrong(format!(
                    "the density {rest} of the fluid at rest is not allowed; it must be above 0"
                )));
            }
            None => {
                let rest = config.mode.values().float("density").unwrap_or(1.0);
                let populations: Vec<[f32; SPEEDS]> = take(lists, "cells")?;
                let deviations =
                    |cell: [f32; SPEEDS]| deviations(&cell.map(f64::from), rest).map(|h| h as f32);
                (rest, populations.into_iter().map(deviations).collect())
            }
        };
        Ok(Flow { walls, rest, cells, tracers: take(lists, "tracers")?, step: grid.step }.into())
    }
}
