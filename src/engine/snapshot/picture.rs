//! Embeds simulations in PNG pictures, and reads such pictures.
//!
//! A private chunk before the end holds a [`Snapshot`] (`gvSt`) or the text of a scene file (`gvSc`). Other programs
//! ignore these chunks. PNGs are untrusted: sizes are limited, and contents are checked like snapshots and scene files.

use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use super::contents::{Run, Snapshot};
use super::format::{self, in_file};
use crate::base::{Result, files, invalid};
use crate::engine::config::Config;
use crate::scene::{Scene, file as scene_file};

/// File name extension of pictures.
pub const PICTURE: &str = "png";
/// Maximum size of the simulation embedded in a picture, in bytes: enough for about 500 000 bodies.
pub const MOST_CARRIED: usize = 1 << 24;
/// Maximum size of a picture file, in bytes.
const MOST_BYTES: u64 = 1 << 32;
/// Maximum uncompressed size of the simulation embedded in a picture, in bytes.
const MOST_UNPACKED: u64 = 1 << 26;

const MAGIC: &[u8; 8] = b"\x89PNG\r\n\x1a\n";
const SNAPSHOT: &[u8; 4] = b"gvSt";
const SCENE: &[u8; 4] = b"gvSc";
/// Length of the final chunk of a PNG file, in bytes. This chunk has no data, only its length, name and checksum.
const END: usize = 12;

/// Part of a simulation that is embedded in a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The picture contains the complete state of the simulation.
    All,
    /// The picture contains only the scene and its parameters, because the state is too large.
    Scene,
    /// The picture contains no simulation, because even the scene is too large.
    Nothing,
}

impl Extent {
    /// Returns a message about missing parts of the simulation, or `None` if the picture contains the complete state.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Scene => Some(
                "the simulation is too large for a picture: this one contains only the scene and its parameters",
            ),
            Self::Nothing => Some("the scene is too large for a picture: this one contains no simulation"),
        }
    }
}

/// A simulation read from a snapshot file or a picture.
#[derive(Debug, Clone)]
pub enum Carried {
    /// The complete state of a simulation, which can continue where it stopped.
    Snapshot(Box<Snapshot>),
    /// A scene without a saved state, which starts from its first step.
    Scene(Box<Config>),
}

impl Carried {
    /// Reads a snapshot file, or a picture with an embedded simulation.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, contains no simulation, is damaged, or holds invalid values.
    pub fn load(path: &Path) -> Result<Self> {
        if !path.extension().unwrap_or_default().eq_ignore_ascii_case(PICTURE) {
            return Snapshot::load(path).map(|snapshot| Self::Snapshot(Box::new(snapshot)));
        }
        let (file, _) = files::open(path, MOST_BYTES, "a picture")?;
        Self::read(file).map_err(|error| in_file(path, &error))
    }

    /// Reads the snapshot or the scene that is embedded in a PNG picture.
    pub fn read(png: impl Read + Seek) -> Result<Self> {
        let mut png = BufReader::new(png);
        let cut_off = |_| invalid!("the picture is incomplete: the end of the file is missing");
        let mut magic = [0; MAGIC.len()];
        png.read_exact(&mut magic).map_err(cut_off)?;
        if magic != *MAGIC {
            return Err(invalid!("this file is not a PNG picture"));
        }
        loop {
            let mut header = [0; 8];
            png.read_exact(&mut header).map_err(cut_off)?;
            let (length, name) = header.split_at(4);
            let length = length.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
            match name {
                b"IEND" => return Err(invalid!("the picture contains no gravitile scene")),
                name if name == SNAPSHOT || name == SCENE => return carried(name, length, &mut png),
                name if name.iter().all(u8::is_ascii_alphabetic) => {
                    png.seek_relative(length as i64 + 4).map_err(cut_off)?;
                }
                _ => return Err(invalid!("the picture is damaged: a PNG chunk has no valid name")),
            }
        }
    }
}

fn carried(name: &[u8], length: u64, png: &mut impl Read) -> Result<Carried> {
    if length > MOST_CARRIED as u64 {
        return Err(invalid!("the simulation in the picture is too large: {length} bytes"));
    }
    let mut data = Vec::new();
    let mut crc = [0; 4];
    let whole = png.take(length).read_to_end(&mut data).is_ok_and(|read| read as u64 == length);
    if !whole || png.read_exact(&mut crc).is_err() {
        return Err(invalid!("the picture is incomplete: the end of the file is missing"));
    }
    if checksum(name, &data) != u32::from_be_bytes(crc) {
        return Err(invalid!("the data in the picture is damaged: its checksum does not match"));
    }
    if name == SNAPSHOT {
        let snapshot = format::decode(Cursor::new(&data), data.len() as u64, MOST_UNPACKED)?;
        return Ok(Carried::Snapshot(Box::new(snapshot)));
    }
    let text = String::from_utf8(data)
        .map_err(|_| invalid!("the scene stored in this picture file is damaged: it is not UTF-8 text"))?;
    Ok(Carried::Scene(Box::new(Config::of_file(scene_file::parse("picture", &text)?)?)))
}

/// Embeds the visible scene of `snapshot` in `png`, with its state if it fits. Returns the PNG and what was embedded.
///
/// # Errors
/// Returns an error if `png` is not a PNG.
pub fn embed(png: &[u8], snapshot: &Snapshot) -> Result<(Vec<u8>, Extent)> {
    let end = png.len().checked_sub(END).filter(|_| png.starts_with(MAGIC));
    let end = end.ok_or_else(|| invalid!("the picture is not a PNG"))?;
    let (name, data, extent) = payload(snapshot);
    let mut carrier = png[..end].to_vec();
    if extent != Extent::Nothing {
        carrier.extend((data.len() as u32).to_be_bytes());
        carrier.extend(name);
        carrier.extend(&data);
        carrier.extend(checksum(name, &data).to_be_bytes());
    }
    carrier.extend(&png[end..]);
    Ok((carrier, extent))
}

fn payload(snapshot: &Snapshot) -> (&'static [u8; 4], Vec<u8>, Extent) {
    let Some(run) = snapshot.runs.first().map(anonymous) else { return (SCENE, Vec::new(), Extent::Nothing) };
    let scene = run.config.to_file();
    let Snapshot { device, view, .. } = snapshot;
    let shown = Snapshot { device: device.clone(), view: view.clone(), runs: vec![run] };
    let fits = |data: &Vec<u8>| data.len() <= MOST_CARRIED;
    if let Some(data) = format::encode(&shown, MOST_UNPACKED).ok().filter(fits) {
        return (SNAPSHOT, data, Extent::All);
    }
    match scene.map(String::into_bytes).ok().filter(fits) {
        Some(data) => (SCENE, data, Extent::Scene),
        None => (SCENE, Vec::new(), Extent::Nothing),
    }
}

/// Returns a copy of the scene with each file path reduced to the file name, because folder names are private.
fn anonymous(run: &Run) -> Run {
    let mut run = run.clone();
    let scene = &run.config.start;
    let last = |name: &str| Path::new(name).file_name().map(|last| last.to_string_lossy().into_owned());
    if let Some(name) = last(&scene.name).filter(|name| *name != scene.name) {
        let title = last(&scene.title).unwrap_or_default();
        run.config.start = Arc::new(Scene { name, title, ..Scene::clone(scene) });
    }
    run
}

fn checksum(name: &[u8], data: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(name);
    hasher.update(data);
    hasher.finalize()
}
