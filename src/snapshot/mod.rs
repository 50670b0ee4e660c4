//! Snapshots: all that a simulation is, with the modes that were left, so that it goes on exactly as if it had never
//! stopped. The file is in [`format`].

mod format;
mod picture;
mod words;

use std::collections::BTreeMap;
use std::io::Cursor;
use std::path::Path;

pub use self::format::{MOST_BYTES, VERSION};
pub use self::picture::{Carried, Extent, MOST_CARRIED, PICTURE, embed};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::files::{self, Output};
use crate::modes::Extra;
use crate::state::State;

/// How snapshots' names end.
pub const EXTENSION: &str = "gravitile";

/// All that a simulation is.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// The device and its driver, on which it goes on to the last bit.
    pub device: [String; 2],
    /// From where it was looked at, for whoever drew it; empty if nobody did.
    pub view: String,
    /// What runs, then the other modes as they were left. There is at least one.
    pub runs: Vec<Run>,
}

/// A scene and where it is.
#[derive(Debug, Clone)]
pub struct Run {
    /// What was asked for.
    pub config: Config,
    /// What it came to on the device.
    pub recipe: RecipeWords,
    /// How many bodies, or about how many cells, the scene was asked for; files of earlier versions do not tell.
    pub made: Option<usize>,
    /// Whether anything was changed by hand since the scene began.
    pub is_touched: bool,
    /// Steps since the scene began.
    pub step: u64,
    /// Simulated time since the scene began.
    pub time: f64,
    /// The energy that its drift is measured from.
    pub baseline: Option<f64>,
    /// The bodies or the flow.
    pub state: State,
    /// What the simulation carries on besides.
    pub extra: Extra,
    /// What the mode told of each step since the scene began, if all of that was kept.
    pub told: Vec<f64>,
}

/// A recipe in words: whether a device takes it is another question.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecipeWords {
    /// The variant.
    pub variant: String,
    /// Work-items to a work-group.
    pub work_group: usize,
    /// Every knob.
    pub knobs: BTreeMap<String, u32>,
}

/// What a snapshot is of, in short.
#[derive(Debug, Clone, PartialEq)]
pub struct Summary {
    /// The mode.
    pub mode: String,
    /// The scene, as the gallery calls it.
    pub title: String,
    /// Bodies or cells.
    pub size: usize,
    /// Steps since the scene began.
    pub step: u64,
}

impl Snapshot {
    /// Writes the file `path`: beside, then renamed.
    ///
    /// # Errors
    /// If it cannot be written, or is a pipe or device; an older file of that name is then still whole.
    pub fn save(&self, path: &Path) -> Result<()> {
        let bytes = format::encode(self, MOST_BYTES)?;
        Output::create(path)?.replace(&bytes)
    }

    /// Reads the file `path`.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, of another version, or says what cannot be.
    pub fn load(path: &Path) -> Result<Self> {
        let (file, length) = files::open(path, MOST_BYTES, "a snapshot")?;
        format::decode(file, length, MOST_BYTES).map_err(|error| told(path, &error))
    }

    /// What the file `path` is of, from its beginning alone: whether it is whole is not looked at.
    ///
    /// # Errors
    /// If it cannot be read, or its beginning is not that of a snapshot.
    pub fn peek(path: &Path) -> Result<Summary> {
        let (file, length) = files::open(path, MOST_BYTES, "a snapshot")?;
        format::peek(file, length).map_err(|error| told(path, &error))
    }

    /// The same from memory.
    ///
    /// # Errors
    /// As [`Snapshot::load`].
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        format::decode(Cursor::new(bytes), bytes.len() as u64, MOST_BYTES)
    }

    /// What [`Snapshot::save`] writes.
    ///
    /// # Errors
    /// If there is too much of it.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        format::encode(self, MOST_BYTES)
    }
}

fn told(path: &Path, error: &Error) -> Error {
    Error::Invalid(format!("{}: {error}", path.display()))
}
