//! The fastest kernel settings found for each device, stored in a file between runs of the program.

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::base::{Error, OutputFile, Result, files, invalid};
use crate::compute::{self, DeviceInfo};
use crate::modes::{Mode, ModeInfo, Recipe, Variant};

/// Version of the format of the file `tuned.json`.
const VERSION: u32 = 1;
/// Maximum size of the file `tuned.json`, in bytes.
const MOST_BYTES: u64 = 1 << 20;

/// The fastest kernel settings for each device, driver, mode, variant, accuracy and size class.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Tuned(Arc<Vec<Winner>>);

/// The fastest kernel settings for one device, driver, mode, variant, accuracy and size class, as stored in the file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Winner {
    device: String,
    driver: String,
    mode: String,
    /// Size class of the measured scene: the number of bodies or cells, rounded to a power of two.
    bodies: usize,
    variant: String,
    /// Accuracy requested in the measurement; empty in old files or if the mode offers no choice of accuracy.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    accuracy: String,
    /// Hash of the kernel's source. If the hash changes, the kernel must be tuned again.
    fingerprint: u64,
    work_group: usize,
    knobs: BTreeMap<String, u32>,
    pairs_per_second: f64,
}

/// Contents of the file `tuned.json`, which stores the fastest kernel settings.
#[derive(Serialize, Deserialize)]
struct Contents {
    version: u32,
    winners: Vec<Winner>,
}

/// Returns an error if `text`, the contents of the file `path`, has a format that only newer versions of the program
/// know.
fn refuse_newer(path: &Path, text: &[u8]) -> Result<()> {
    #[derive(Deserialize)]
    struct Header {
        version: u32,
    }
    match serde_json::from_slice::<Header>(text) {
        Ok(header) if header.version > VERSION => {
            let text =
                "a newer version of gravitile wrote this file; delete the file to tune with this version";
            Err(Error::io("use", path)(std::io::Error::other(text)))
        }
        _ => Ok(()),
    }
}

/// Returns the size class for a number of bodies: the nearest power of two.
fn class(bodies: usize) -> usize {
    1 << (bodies.max(1) as f64).log2().round() as u32
}

/// Returns a hash of the variant's source code. If the hash changes, for example with a new Rust version, the variant
/// is tuned again.
fn fingerprint(mode: &ModeInfo, variant: &Variant) -> u64 {
    let mut hasher = DefaultHasher::new();
    let sources = mode.sources(variant);
    sources.iter().chain([&compute::ROOT]).for_each(|source| source.text.hash(&mut hasher));
    hasher.finish()
}

impl Winner {
    /// Returns the device, driver, mode, size class, variant and accuracy, which together identify an entry of
    /// `tuned.json`.
    fn key(&self) -> (&str, &str, &str, usize, &str, &str) {
        (&self.device, &self.driver, &self.mode, self.bodies, &self.variant, &self.accuracy)
    }

    /// Returns the stored kernel settings, or `None` if the kernel has changed or the device does not support them.
    fn recipe(&self, device: &DeviceInfo, mode: &'static ModeInfo) -> Option<Recipe> {
        let variant =
            mode.variant(&self.variant).filter(|variant| fingerprint(mode, variant) == self.fingerprint)?;
        Recipe::of_words(variant, device, self.work_group, &self.knobs)
    }
}

impl Tuned {
    /// Returns the path of the file that stores tuned kernel settings, or `None` if the user has no cache folder.
    pub fn path() -> Option<PathBuf> {
        Some(dirs::cache_dir()?.join("gravitile").join("tuned.json"))
    }

    /// Reads the fastest kernel settings from the file `path`. Returns no settings if the file does not exist.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read or has an unknown format. The program also works without the file.
    pub fn load(path: &Path) -> Result<Self> {
        let Some(text) = files::read_small(path, MOST_BYTES, "a list of tuned kernels")? else {
            return Ok(Self::default());
        };
        refuse_newer(path, &text)?;
        let error = Error::io("read", path);
        let contents: Contents = serde_json::from_slice(&text).map_err(|why| error(why.into()))?;
        if contents.version != VERSION {
            let text =
                format!("it has version {}, but this program reads only version {VERSION}", contents.version);
            return Err(error(std::io::Error::other(text)));
        }
        Ok(Self(Arc::new(contents.winners)))
    }

    /// Writes the settings to `path`, and creates its folder if necessary. Keeps entries written by other processes.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written, or if a newer version of the program wrote it.
    pub fn save(&self, path: &Path) -> Result<()> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(Error::io("write", folder))?;
        }
        if let Ok(Some(text)) = files::read_small(path, MOST_BYTES, "a list of tuned kernels") {
            refuse_newer(path, &text)?;
        }
        let mut winners = Vec::clone(&self.0);
        let others = Self::load(path).unwrap_or_default();
        winners
            .extend(others.0.iter().filter(|old| !self.0.iter().any(|new| new.key() == old.key())).cloned());
        let contents = Contents { version: VERSION, winners };
        let text = serde_json::to_vec_pretty(&contents)
            .map_err(|error| invalid!("cannot write the tuned kernels: {error}"))?;
        OutputFile::create(path)?.replace(&text)
    }

    /// Stores kernel settings, with their speed in pairs per second, as the fastest for the size class of `bodies` and
    /// for `accuracy` (see [`Mode::accuracy`]).
    pub fn remember(
        &mut self,
        device: &DeviceInfo,
        mode: &'static ModeInfo,
        (bodies, accuracy): (usize, &str),
        (recipe, pairs_per_second): (&Recipe, f64),
    ) {
        let new = Winner {
            device: device.name.clone(),
            driver: device.driver.clone(),
            mode: mode.name.to_owned(),
            bodies: class(bodies),
            variant: recipe.variant.name.to_owned(),
            accuracy: accuracy.to_owned(),
            fingerprint: fingerprint(mode, recipe.variant),
            work_group: recipe.work_group,
            knobs: recipe.knobs().map(|(knob, value)| (knob.name.to_owned(), value)).collect(),
            pairs_per_second,
        };
        let winners = Arc::make_mut(&mut self.0);
        winners.retain(|old| new.key() != old.key());
        winners.push(new);
    }

    /// Returns the fastest known settings of `variant` on `device` for about `bodies` bodies or cells. If `variant` is
    /// `None`, considers all variants that are as accurate as `mode` requires.
    pub fn recipe(
        &self,
        device: &DeviceInfo,
        mode: &dyn Mode,
        variant: Option<&'static Variant>,
        bodies: usize,
    ) -> Option<Recipe> {
        let info = mode.info();
        let is_meant = |winner: &&Winner| {
            (&winner.device, &winner.driver) == (&device.name, &device.driver)
                && winner.mode == info.name
                && winner.bodies == class(bodies)
                && match variant {
                    Some(variant) => variant.name == winner.variant,
                    None => winner.accuracy == mode.accuracy(),
                }
        };
        let mut meant: Vec<&Winner> = self.0.iter().filter(is_meant).collect();
        // The fastest comes first, measurements with another accuracy last.
        let differs = |winner: &Winner| winner.accuracy != mode.accuracy();
        meant.sort_by(|a, b| {
            differs(a).cmp(&differs(b)).then(b.pairs_per_second.total_cmp(&a.pairs_per_second))
        });
        let recipes = meant.into_iter().filter_map(|winner| winner.recipe(device, info));
        recipes.into_iter().find(|recipe| variant.is_some() || mode.allows(recipe.variant))
    }
}
