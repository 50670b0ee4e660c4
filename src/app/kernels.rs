//! The kernel lab in the window: a folder is watched, and what is saved there runs.

use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, unbounded};

use super::open::{Open, waker};
use crate::compute::Edits;
use crate::error::{Error, Result};
use crate::kernels::{self, Watch};
use crate::session::{Command, Taken};

/// A folder of kernels, and what was found in it.
pub(super) struct Lab {
    news: Receiver<Result<Edits>>,
    watch: Watch,
}

impl Lab {
    /// Watches `folder`; `wake` is called whenever there is something new.
    pub fn new(folder: PathBuf, wake: impl Fn() + Send + 'static) -> Result<Self> {
        let (sender, news) = unbounded();
        let watch = Watch::new(folder, move |edits| {
            // Nobody listens once another folder is watched.
            let _ = sender.send(edits);
            wake();
        })?;
        Ok(Self { news, watch })
    }

    /// Where it is.
    pub fn folder(&self) -> &Path {
        &self.watch.folder
    }
}

impl Open {
    /// Writes the program's own kernels to `folder`, unless there are some, and watches it.
    pub(super) fn edit_kernels(&mut self, folder: &Path) {
        let lab = kernels::prepare(folder).and_then(|place| Lab::new(place, waker(&self.proxy)));
        match lab {
            Ok(lab) => {
                if self.lab.is_some() {
                    // What another folder held is forgotten.
                    self.own_kernels();
                }
                let place = lab.folder().to_owned();
                self.ui.say(format!("Edit a file in {} and save it: it runs at once", place.display()));
                self.ui.watched(Some(place));
                self.lab = Some(lab);
            }
            Err(error) => self.ui.error("No kernels to edit", format!("{error}."), None),
        }
    }

    /// Goes back to the program's own kernels; the folder stays as it is.
    pub(super) fn own_kernels(&mut self) {
        self.lab = None;
        self.ui.watched(None);
        self.session.send(Command::Kernels(Edits::new()));
    }

    /// Hands over what was saved since this was last asked.
    pub(super) fn hear_kernels(&mut self) {
        let Some(lab) = &self.lab else { return };
        for news in lab.news.try_iter().collect::<Vec<_>>() {
            match news {
                Ok(edits) => self.session.send(Command::Kernels(edits)),
                Err(error) => self.ui.error("The kernels cannot be read", format!("{error}."), None),
            }
        }
    }

    /// Tells what came of it.
    pub(super) fn kernels_taken(&mut self, outcome: Result<Taken>) {
        self.recorder
            .note(format!("kernels={}", if outcome.is_ok() { "taken" } else { "refused" }), &self.shown);
        match outcome {
            Ok(Taken { run, wait }) => {
                let [runs, waits] = [("Runs now: ", run), ("Built once it is used: ", wait)]
                    .map(|(text, files)| (!files.is_empty()).then(|| text.to_owned() + &files.join(", ")));
                let all: Vec<String> = runs.into_iter().chain(waits).collect();
                match all.is_empty() {
                    true => self.ui.kernel_builds("The kernels are as they were"),
                    false => self.ui.kernel_builds(all.join(" · ")),
                }
            }
            Err(error) => self.kernel_refused(error),
        }
    }

    /// Tells that a kernel does not build, or that the device does not run it.
    pub(super) fn kernel_refused(&mut self, error: Error) {
        let runs_on = "The kernel before it runs on.";
        match error {
            Error::Build { file, device, log } => {
                let text = format!("{device}'s compiler does not take {file}. {runs_on}");
                self.ui.kernel_refused(text, Some(log));
            }
            error => self.ui.kernel_refused(format!("{error}. {runs_on}"), None),
        }
    }
}
