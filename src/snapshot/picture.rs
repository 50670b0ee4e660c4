//! A PNG that carries what is in the picture: who gets it goes on from there.
//!
//! A private chunk stands before the end: `gvSt` holds a [`Snapshot`] as its file does, or `gvSc` the text of a scene file.
//! Programs that do not know them leave them alone. PNGs come from strangers: sizes are bounded, and all else is read as
//! carefully as those files are.

use std::io::{BufReader, Cursor, Read, Seek};
use std::path::Path;
use std::sync::Arc;

use super::{Run, Snapshot, format, told};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::files;
use crate::scene::{Scene, file};

/// How the names of pictures end.
pub const PICTURE: &str = "png";
/// The most that a picture carries, in bytes of the file: some 500 000 bodies.
pub const MOST_CARRIED: usize = 1 << 24;
/// More than a picture can be meant to have, with all else that may be in a PNG.
const MOST_BYTES: u64 = 1 << 32;
/// What that may be unpacked to.
const MOST_UNPACKED: u64 = 1 << 26;

const MAGIC: &[u8; 8] = b"\x89PNG\r\n\x1a\n";
const SNAPSHOT: &[u8; 4] = b"gvSt";
const SCENE: &[u8; 4] = b"gvSc";
/// The last chunk has nothing in it: length, name, checksum.
const END: usize = 12;

/// How much of what is in the picture it carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// All that is needed to go on to the last bit.
    All,
    /// There are too many bodies or cells: the scene and its parameters, to begin there.
    Scene,
    /// The scene alone is too much already.
    Nothing,
}

impl Extent {
    /// What a person is told if it is not all.
    pub fn note(self) -> Option<&'static str> {
        match self {
            Self::All => None,
            Self::Scene => {
                Some("there is too much to go on from: the picture carries the scene and its parameters")
            }
            Self::Nothing => Some("the scene is too large: the picture carries nothing"),
        }
    }
}

/// What a file carries.
#[derive(Debug, Clone)]
pub enum Carried {
    /// Something to go on with.
    Snapshot(Box<Snapshot>),
    /// Something to begin with.
    Scene(Box<Config>),
}

impl Carried {
    /// Reads a snapshot's own file, or what a picture carries.
    ///
    /// # Errors
    /// If the file cannot be read, carries nothing, or what it carries is damaged or wrong.
    pub fn load(path: &Path) -> Result<Self> {
        if !path.extension().unwrap_or_default().eq_ignore_ascii_case(PICTURE) {
            return Snapshot::load(path).map(|snapshot| Self::Snapshot(Box::new(snapshot)));
        }
        let (file, _) = files::open(path, MOST_BYTES, "a picture")?;
        Self::read(file).map_err(|error| told(path, &error))
    }

    /// Reads what a picture carries.
    ///
    /// # Errors
    /// As [`Carried::load`].
    pub fn read(png: impl Read + Seek) -> Result<Self> {
        let mut png = BufReader::new(png);
        let cut_off = |_| wrong("the picture is cut off");
        let mut magic = [0; MAGIC.len()];
        png.read_exact(&mut magic).map_err(cut_off)?;
        if magic != *MAGIC {
            return Err(wrong("it is no PNG"));
        }
        loop {
            let mut header = [0; 8];
            png.read_exact(&mut header).map_err(cut_off)?;
            let (length, name) = header.split_at(4);
            let length = length.iter().fold(0, |length, byte| length << 8 | u64::from(*byte));
            match name {
                b"IEND" => return Err(wrong("the picture carries no scene of gravitile")),
                name if name == SNAPSHOT || name == SCENE => return carried(name, length, &mut png),
                // What is in other chunks is not read, however long they are.
                name if name.iter().all(u8::is_ascii_alphabetic) => {
                    png.seek_relative(length as i64 + 4).map_err(cut_off)?;
                }
                _ => return Err(wrong("the picture is damaged: it has a chunk without a name")),
            }
        }
    }
}

fn carried(name: &[u8], length: u64, png: &mut impl Read) -> Result<Carried> {
    if length > MOST_CARRIED as u64 {
        return Err(wrong(format!("the picture says that it carries {length} bytes, which is too much")));
    }
    let mut data = Vec::new();
    let mut crc = [0; 4];
    let whole = png.take(length).read_to_end(&mut data).is_ok_and(|read| read as u64 == length);
    if !whole || png.read_exact(&mut crc).is_err() {
        return Err(wrong("the picture is cut off"));
    }
    if checksum(name, &data) != u32::from_be_bytes(crc) {
        return Err(wrong("what the picture carries is damaged: its checksum is another"));
    }
    if name == SNAPSHOT {
        return Ok(Carried::Snapshot(Box::new(format::decode(
            Cursor::new(&data),
            data.len() as u64,
            MOST_UNPACKED,
        )?)));
    }
    let text = String::from_utf8(data).map_err(|_| wrong("the scene in the picture is not UTF-8 text"))?;
    Ok(Carried::Scene(Box::new(Config::of_file(file::parse("picture", &text)?)?)))
}

/// `png` with as much of `snapshot` in it as it can carry: of the modes, the one that is shown.
///
/// # Errors
/// If `png` is none.
pub fn embed(png: &[u8], snapshot: &Snapshot) -> Result<(Vec<u8>, Extent)> {
    let end = png.len().checked_sub(END).filter(|_| png.starts_with(MAGIC));
    let end = end.ok_or_else(|| wrong("the picture is no PNG"))?;
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
    if let Some(data) = format::encode(&shown, MOST_UNPACKED).ok().filter(|data| fits(data)) {
        return (SNAPSHOT, data, Extent::All);
    }
    match scene.map(String::into_bytes).ok().filter(|data| fits(data)) {
        Some(data) => (SCENE, data, Extent::Scene),
        None => (SCENE, Vec::new(), Extent::Nothing),
    }
}

fn fits(data: &[u8]) -> bool {
    data.len() <= MOST_CARRIED
}

/// Without the folders in which its bodies were found: they are nobody's business.
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

fn wrong(what: impl Into<String>) -> Error {
    Error::Invalid(what.into())
}
