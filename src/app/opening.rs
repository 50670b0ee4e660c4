//! Files that a person opens and saves. They are read beside the window, so that it never waits for a large one.

use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, unbounded};

use super::open::{Open, waker};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::modes::{self, ModeInfo};
use crate::scene::{self, Scene, csv, tipsy};
use crate::session::{Command, Save};
use crate::snapshot::{self, Carried};
use crate::state::Matter;
use crate::ui::{FileWish, OPENED};

/// What a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Snapshot,
    Scene,
    Picture,
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
            () if is(snapshot::PICTURE) => Ok(Self::Picture),
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
pub(super) struct Opening(Receiver<Result<Opened>>);

/// What was in it.
pub(super) enum Opened {
    /// Something to begin with.
    Scene(Box<Config>),
    /// A picture with something to go on with: the simulation reads that itself.
    Snapshot(PathBuf),
}

impl Opening {
    /// Begins to read the scene or bodies in `path`, which are for `mode` if it steps bodies; `wake` is called when that
    /// is done.
    pub fn new(path: PathBuf, mode: &'static ModeInfo, wake: impl FnOnce() + Send + 'static) -> Self {
        let (done, outcome) = unbounded();
        std::thread::spawn(move || {
            // Nobody waits for it any more if something else was opened meanwhile.
            let opened = match Kind::of(&path) {
                Ok(Kind::Picture) => Carried::load(&path).map(|carried| match carried {
                    Carried::Snapshot(_) => Opened::Snapshot(path),
                    Carried::Scene(config) => Opened::Scene(config),
                }),
                _ => read(&path, mode).map(|config| Opened::Scene(Box::new(config))),
            };
            let _ = done.send(opened);
            wake();
        });
        Self(outcome)
    }

    /// What came of it, once.
    pub fn outcome(&self) -> Option<Result<Opened>> {
        self.0.try_recv().ok()
    }
}

fn read(path: &Path, mode: &'static ModeInfo) -> Result<Config> {
    let bodies = match Kind::of(path)? {
        Kind::Scene => return Config::load(path),
        Kind::Tipsy => tipsy::load(path)?,
        Kind::Csv | Kind::Snapshot | Kind::Picture => csv::load(path)?,
    };
    let steps_bodies = |info: &&&ModeInfo| info.work.matter == Matter::Bodies;
    let info = Some(&mode).filter(steps_bodies).or(modes::MODES.iter().find(steps_bodies));
    let info = info.ok_or_else(|| Error::Invalid("no mode steps bodies".to_owned()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let mut config = Config { mode: (info.default)(), ..Config::new(info) };
    config.start = Scene::of_bodies(name, bodies);
    Ok(config)
}

impl Open {
    /// Opens or saves a file.
    pub(super) fn grant(&mut self, wish: FileWish) {
        self.recorder.note(format!("{wish:?}").to_lowercase(), &self.shown);
        self.begin_keeping();
        match wish {
            FileWish::Open(_) if self.must_wait() => {}
            FileWish::Open(path) => match Kind::of(&path) {
                Ok(Kind::Snapshot) => self.resume(path),
                Ok(Kind::Scene | Kind::Picture | Kind::Csv | Kind::Tipsy) => {
                    let wake = waker(&self.proxy);
                    self.opening = Some(Opening::new(path, self.config.mode.info(), wake));
                }
                Err(error) => self.ui.error("Not opened", format!("{error}."), None),
            },
            FileWish::EditKernels(folder) => self.edit_kernels(&folder),
            FileWish::SaveSnapshot(_) if self.has_stopped("Not saved") => {}
            FileWish::SaveSnapshot(path) => {
                let view = self.rig.camera.to_words();
                self.session.send(Command::Save(Save { path: Some(path), view }));
            }
            FileWish::SaveScene(path) => {
                let save = |text: String| Output::create(&path)?.save(|file| file.write_all(text.as_bytes()));
                match self.config.to_file().and_then(save) {
                    Ok(()) => self.ui.say(format!("Saved {}", path.display())),
                    Err(error) => self.ui.error("Not saved", format!("{error}."), None),
                }
            }
        }
    }

    /// Whether the simulation stopped, which is said under `title`.
    pub(super) fn has_stopped(&mut self, title: &str) -> bool {
        if self.failure.is_some() {
            let text = "The simulation stopped: there is nothing more to be saved than what it said then.";
            self.ui.error(title, text, None);
        }
        self.failure.is_some()
    }

    /// Whether a snapshot is on its way to the simulation, which is said: what a person does to the one that is still shown
    /// would be done to the other.
    pub(super) fn must_wait(&mut self) -> bool {
        if self.is_resuming {
            self.ui.say("A snapshot is being opened: this has to wait until it is");
        }
        self.is_resuming
    }

    pub(super) fn resume(&mut self, path: PathBuf) {
        if self.failure.is_some() {
            let text = "The simulation stopped. Start gravitile again, and open it there.";
            return self.ui.error("Not opened", text, None);
        }
        if self.opening.take().is_some() {
            self.ui.say("What was being read is not opened: this snapshot is");
        }
        self.is_resuming = true;
        self.session.send(Command::Resume(path));
    }

    /// Takes what was read from a file.
    pub(super) fn hear_opening(&mut self) {
        let Some(outcome) = self.opening.as_ref().and_then(Opening::outcome) else { return };
        self.opening = None;
        match outcome {
            Ok(Opened::Snapshot(path)) => self.resume(path),
            Ok(Opened::Scene(next)) => {
                let before = self.config.clone();
                self.ui.adopt(*next, &mut self.config);
                self.ui.offer(None);
                self.tell(&before);
            }
            Err(error) => self.ui.error("Not opened", format!("{error}."), None),
        }
    }
}
