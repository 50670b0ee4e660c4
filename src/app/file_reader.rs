//! Reads scenes and bodies from files, and watches the kernel folder. Uses other threads, so that the window never
//! blocks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, unbounded};

use crate::base::{BodyNames, Matter, Result, invalid};
use crate::compute::KernelEdits;
use crate::engine::kernel_lab::Watch;
use crate::engine::snapshot::Carried;
use crate::engine::{Config, FileKind};
use crate::modes::{self, ModeInfo};
use crate::scene::{csv, tipsy};

/// The content of a file that the user opened.
pub(super) enum Content {
    /// Configuration that starts from the scene or the bodies in the file.
    Scene(Box<Config>),
    /// Path of a picture that contains a snapshot. The simulation's thread reads the snapshot later.
    Snapshot(PathBuf),
}

/// Starts a thread that reads the file `path`, sends its content to the returned receiver, and then calls `wake`. A
/// list of bodies opens in `mode` if this mode simulates bodies, and otherwise in the first mode that does.
pub(super) fn start_reading(
    path: PathBuf,
    mode: &'static ModeInfo,
    wake: impl FnOnce() + Send + 'static,
) -> Receiver<Result<Content>> {
    let (done, content) = unbounded();
    std::thread::spawn(move || {
        let read = match FileKind::of(&path) {
            Ok(FileKind::Picture) => Carried::load(&path).map(|carried| match carried {
                Carried::Snapshot(_) => Content::Snapshot(path),
                Carried::Scene(config) => Content::Scene(config),
            }),
            _ => read(&path, mode).map(|config| Content::Scene(Box::new(config))),
        };
        // The receiver no longer exists if the user has opened another file in the meantime.
        let _ = done.send(read);
        wake();
    });
    content
}

fn read(path: &Path, mode: &'static ModeInfo) -> Result<Config> {
    let (bodies, names) = match FileKind::of(path)? {
        FileKind::Scene => return Config::load(path),
        FileKind::Tipsy => (tipsy::load(path)?, BodyNames::default()),
        FileKind::Csv | FileKind::Snapshot | FileKind::Picture => csv::load(path)?,
    };
    let steps_bodies = |info: &&&ModeInfo| info.work.matter == Matter::Bodies;
    let info = Some(&mode).filter(steps_bodies).or(modes::MODES.iter().find(steps_bodies));
    let info = info.ok_or_else(|| invalid!("no mode simulates bodies"))?;
    Ok(Config::of_bodies(info, path, bodies, names))
}

/// A watched folder of kernel files.
pub(super) struct KernelFolder {
    /// Receives the edited kernels whenever a file in the folder is saved.
    pub edits: Receiver<Result<KernelEdits>>,
    pub watch: Watch,
    /// The text of each kernel file as the built-in editor last saved it, by file name.
    pub saved: BTreeMap<&'static str, String>,
}

impl KernelFolder {
    /// Watches `folder`, and calls `wake` whenever a file in it changes.
    pub(super) fn new(folder: PathBuf, wake: impl Fn() + Send + 'static) -> Result<Self> {
        let (sender, edits) = unbounded();
        let watch = Watch::new(folder, move |edit| {
            // The receiver no longer exists once another folder is watched.
            let _ = sender.send(edit);
            wake();
        })?;
        Ok(Self { edits, watch, saved: BTreeMap::new() })
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::modes::MODES;

    #[test]
    fn a_csv_file_of_bodies_opens_in_a_mode_that_simulates_bodies() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("two.csv");
        fs::write(&path, "x,y,z,vx,vy,vz,m\n0,0,0,0,0,0,1\n1,0,0,0,1,0,1\n").unwrap();
        for mode in MODES {
            let config = read(&path, mode).unwrap();
            assert_eq!(config.mode.info().work.matter, Matter::Bodies, "{}", mode.name);
        }
    }
}
