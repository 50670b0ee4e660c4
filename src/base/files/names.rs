//! Names for new files.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Reserves names for new files, so that two files written at once never get the same name.
#[derive(Debug, Clone, Default)]
pub struct Names(Arc<Mutex<BTreeSet<PathBuf>>>);

/// Reserved name of a new file; dropping it ends the reservation.
#[derive(Debug)]
pub struct Name {
    path: PathBuf,
    names: Names,
}

impl Names {
    /// Reserves `stem.extension`, or the first free name of `stem-2.extension`, `stem-3.extension` and so on. For numbered
    /// files, reserves the pattern `stem-%04d.extension` instead.
    pub fn free(&self, stem: &str, extension: &str, is_numbered: bool) -> Name {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut stems = (1u64..).map(|nth| if nth == 1 { stem.to_owned() } else { format!("{stem}-{nth}") });
        let path = loop {
            let stem = stems.next().unwrap_or_default();
            let [path, first] = match is_numbered {
                true => ["-%04d", "-0001"],
                false => [""; 2],
            }
            .map(|end| PathBuf::from(format!("{stem}{end}.{extension}")));
            if !first.exists() && held.insert(path.clone()) {
                break path;
            }
        };
        Name { path, names: self.clone() }
    }
}

impl Name {
    /// Returns the file's path, relative to the working directory.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Name {
    fn drop(&mut self) {
        self.names.0.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.path);
    }
}
