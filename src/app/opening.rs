//! Files that a person opens: read beside the window, so that it never waits for a large one.

use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, unbounded};

use crate::config::Config;
use crate::error::{Error, Result};
use crate::modes::{self, ModeInfo};
use crate::scene::{self, Scene, csv, tipsy};
use crate::snapshot;
use crate::state::Matter;
use crate::ui::OPENED;

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Snapshot,
    Scene,
    Csv,
    Tipsy,
}

impl Kind {
    /// What the name of a file says.
    ///
    /// # Errors
    /// If that is nothing that can be opened.
    pub fn of(path: &Path) -> Result<Self> {
        let extension = path.extension().unwrap_or_default();
        let is = |known: &str| extension.eq_ignore_ascii_case(known);
        match () {
            () if is(snapshot::EXTENSION) => Ok(Self::Snapshot),
            () if is(scene::file::EXTENSION) => Ok(Self::Scene),
            () if is("csv") => Ok(Self::Csv),
            () if tipsy::EXTENSIONS.into_iter().any(is) => Ok(Self::Tipsy),
            () => {
                let known = OPENED.iter().flat_map(|(_, extensions)| *extensions);
                let known = known.map(|extension| format!(".{extension}")).collect::<Vec<_>>().join(", ");
                Err(Error::Invalid(format!("{}: what can be opened ends in {known}", path.display())))
            }
        }
    }
}

/// A file that is being read.
pub(super) struct Opening(Receiver<Result<Config>>);

impl Opening {
    /// Begins to read the scene or bodies in `path`, which are for `mode` if it steps bodies; `wake` is called when that
    /// is done.
    pub fn new(path: PathBuf, mode: &'static ModeInfo, wake: impl FnOnce() + Send + 'static) -> Self {
        let (done, outcome) = unbounded();
        std::thread::spawn(move || {
            // Nobody waits for it any more if something else was opened meanwhile.
            let _ = done.send(read(&path, mode));
            wake();
        });
        Self(outcome)
    }

    /// What came of it, once.
    pub fn outcome(&self) -> Option<Result<Config>> {
        self.0.try_recv().ok()
    }
}

fn read(path: &Path, mode: &'static ModeInfo) -> Result<Config> {
    let bodies = match Kind::of(path)? {
        Kind::Scene => return Config::load(path),
        Kind::Tipsy => tipsy::load(path)?,
        Kind::Csv | Kind::Snapshot => csv::load(path)?,
    };
    let steps_bodies = |info: &&&ModeInfo| info.work.matter == Matter::Bodies;
    let info = Some(&mode).filter(steps_bodies).or(modes::MODES.iter().find(steps_bodies));
    let info = info.ok_or_else(|| Error::Invalid("no mode steps bodies".to_owned()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut config = Config { mode: (info.default)(), ..Config::new(info) };
    config.start = Scene::of_bodies(name, bodies);
    Ok(config)
}
