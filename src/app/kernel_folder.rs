//! Watches a folder of kernels while its files are edited.

use std::path::{Path, PathBuf};

use crossbeam_channel::{Receiver, unbounded};

use crate::base::error::Result;
use crate::compute::KernelEdits;
use crate::engine::kernel_lab::Watch;

/// A watched folder of kernel files.
pub(super) struct KernelFolder {
    edits: Receiver<Result<KernelEdits>>,
    watch: Watch,
}

impl KernelFolder {
    /// Watches `folder`, and calls `wake` whenever a file in it changes.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be watched.
    pub(super) fn new(folder: PathBuf, wake: impl Fn() + Send + 'static) -> Result<Self> {
        let (sender, edits) = unbounded();
        let watch = Watch::new(folder, move |edit| {
            // The receiver no longer exists once another folder is watched.
            let _ = sender.send(edit);
            wake();
        })?;
        Ok(Self { edits, watch })
    }

    pub(super) fn path(&self) -> &Path {
        &self.watch.folder
    }

    /// Returns the kernels that were saved in the folder since the last call.
    pub(super) fn poll(&self) -> Vec<Result<KernelEdits>> {
        self.edits.try_iter().collect()
    }
}
