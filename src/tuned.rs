//! The fastest recipes that were found on devices, remembered from one start of the program to the next.

use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::compute::{self, DeviceInfo};
use crate::error::{Error, Result};
use crate::files::{self, Output};
use crate::modes::{ModeInfo, Recipe, Variant};

/// The version of the file.
const VERSION: u32 = 1;
/// More than a file can be meant to have.
const MOST_BYTES: u64 = 1 << 20;

/// The fastest recipe that was found for each device, driver, mode, variant and class of numbers of bodies.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tuned(Arc<Vec<Winner>>);

/// One of them, in words, as it stands in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Winner {
    device: String,
    driver: String,
    mode: String,
    /// The class of numbers of bodies, by its middle.
    bodies: usize,
    variant: String,
    /// Of the kernel: another kernel has to be tuned anew.
    fingerprint: u64,
    work_group: usize,
    knobs: std::collections::BTreeMap<String, u32>,
    pairs_per_second: f64,
}

/// The file.
#[derive(Serialize, Deserialize)]
struct Contents {
    version: u32,
    winners: Vec<Winner>,
}

/// The power of two next to a number of bodies: what is fastest changes slowly with it.
fn class(bodies: usize) -> usize {
    1 << (bodies.max(1) as f64).log2().round() as u32
}

/// Of all that is compiled. Another Rust may come to another number: then the search is done anew.
fn fingerprint(mode: &ModeInfo, variant: &Variant) -> u64 {
    let mut hasher = DefaultHasher::new();
    let sources = mode.sources(variant);
    sources.iter().chain([&compute::ROOT]).for_each(|source| source.text.hash(&mut hasher));
    hasher.finish()
}

impl Winner {
    fn new(device: &DeviceInfo, mode: &ModeInfo, bodies: usize, recipe: &Recipe, speed: f64) -> Self {
        Self {
            device: device.name.clone(),
            driver: device.driver.clone(),
            mode: mode.name.to_owned(),
            bodies: class(bodies),
            variant: recipe.variant.name.to_owned(),
            fingerprint: fingerprint(mode, recipe.variant),
            work_group: recipe.work_group,
            knobs: recipe.knobs().map(|(knob, value)| (knob.name.to_owned(), value)).collect(),
            pairs_per_second: speed,
        }
    }

    /// Whether both are the answer to the same question.
    fn replaces(&self, other: &Self) -> bool {
        let key =
            |w: &Self| (w.device.clone(), w.driver.clone(), w.mode.clone(), w.bodies, w.variant.clone());
        key(self) == key(other)
    }

    /// The recipe that the words mean to `device`; none if a newer kernel or another device cannot be meant.
    fn recipe(&self, device: &DeviceInfo, mode: &'static ModeInfo) -> Option<Recipe> {
        let variant =
            mode.variant(&self.variant).filter(|variant| fingerprint(mode, variant) == self.fingerprint)?;
        Recipe::of_words(variant, device, self.work_group, &self.knobs)
    }
}

impl Tuned {
    /// The file in the user's folder for what can be found again; none where there is no such folder.
    pub fn path() -> Option<PathBuf> {
        Some(dirs::cache_dir()?.join("gravitile").join("tuned.json"))
    }

    /// What the file `path` holds. A file that is not there holds nothing.
    ///
    /// # Errors
    /// If it cannot be read, or is not such a file: then it is of no use, and that does no harm.
    pub fn load(path: &Path) -> Result<Self> {
        let error = |source| Error::Io { doing: "read", path: path.to_owned(), source };
        let Some(text) = files::read_small(path, MOST_BYTES, "a list of tuned kernels")? else {
            return Ok(Self::default());
        };
        let contents: Contents = serde_json::from_slice(&text).map_err(|why| error(why.into()))?;
        match contents.version {
            VERSION => Ok(Self(Arc::new(contents.winners))),
            other => Err(error(std::io::Error::other(format!("it is of version {other}, not {VERSION}")))),
        }
    }

    /// Writes the file `path`, and its folder. What stands there of other questions stays: another start of the program
    /// may have found it meanwhile.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn save(&self, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(|source| Error::Io {
                doing: "write",
                path: folder.to_owned(),
                source,
            })?;
        }
        let mut winners = Vec::clone(&self.0);
        let others = Self::load(path).unwrap_or_default();
        winners.extend(others.0.iter().filter(|old| !self.0.iter().any(|new| new.replaces(old))).cloned());
        let contents = Contents { version: VERSION, winners };
        let text = serde_json::to_vec_pretty(&contents)
            .map_err(|error| Error::Invalid(format!("tuned kernels cannot be written: {error}")))?;
        Output::create(path)?.replace(&text)
    }

    /// Remembers the speed of a recipe with so many bodies in place of what was known of its variant.
    pub fn remember(
        &mut self,
        device: &DeviceInfo,
        mode: &'static ModeInfo,
        bodies: usize,
        (recipe, pairs_per_second): (&Recipe, f64),
    ) {
        let new = Winner::new(device, mode, bodies, recipe, pairs_per_second);
        let winners = Arc::make_mut(&mut self.0);
        winners.retain(|old| !new.replaces(old));
        winners.push(new);
    }

    /// The fastest recipe that is known for so many bodies, of one variant or of all.
    pub fn recipe(
        &self,
        device: &DeviceInfo,
        mode: &'static ModeInfo,
        variant: Option<&'static Variant>,
        bodies: usize,
    ) -> Option<Recipe> {
        let is_meant = |winner: &&Winner| {
            (&winner.device, &winner.driver) == (&device.name, &device.driver)
                && winner.mode == mode.name
                && winner.bodies == class(bodies)
                && variant.is_none_or(|variant| variant.name == winner.variant)
        };
        let mut meant: Vec<&Winner> = self.0.iter().filter(is_meant).collect();
        meant.sort_by(|a, b| b.pairs_per_second.total_cmp(&a.pairs_per_second));
        meant.into_iter().find_map(|winner| winner.recipe(device, mode))
    }
}
