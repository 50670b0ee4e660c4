//! Saves the last checkpoint when the last device fails.

use std::fs;
use std::path::{Path, PathBuf};

use super::core::Engine;
use super::snapshot::{EXTENSION, Snapshot};
use crate::base::error::{Error, Result};

/// Saves the last checkpoint if `error` is the failure of a device. Returns `error` with the path of the file.
pub fn keep(engine: &Engine, error: Error) -> Error {
    let Error::OpenCl { .. } = error else { return error };
    let step = engine.checkpoint().step();
    let text = match save(engine) {
        Ok(path) => {
            let path = path.display();
            format!("{error}. The simulation is saved as of step {step} in {path}; continue it with --resume")
        }
        Err(why) => format!("{error}. The simulation could not be saved as of step {step}: {why}"),
    };
    Error::Invalid(text)
}

/// Writes the last checkpoint to a new file in the working folder, or in the user's state folder if that fails.
fn save(engine: &Engine) -> Result<PathBuf> {
    let snapshot = engine.last_snapshot();
    let name = format!("gravitile-step-{}", engine.checkpoint().step());
    save_in(&snapshot, Path::new(""), &name).or_else(|error| {
        let folder = dirs::state_dir().or_else(dirs::data_local_dir).map(|folder| folder.join("gravitile"));
        let Some(folder) = folder.filter(|folder| fs::create_dir_all(folder).is_ok()) else {
            return Err(error);
        };
        save_in(&snapshot, &folder, &name)
    })
}

fn save_in(snapshot: &Snapshot, folder: &Path, name: &str) -> Result<PathBuf> {
    let names = std::iter::once(name.to_owned()).chain((2..).map(|nth| format!("{name}-{nth}")));
    let mut paths = names.map(|name| folder.join(format!("{name}.{EXTENSION}")));
    let Some(path) = paths.find(|path| !path.exists()) else {
        return Err(Error::Invalid("all names for the file are taken".to_owned()));
    };
    snapshot.save(&path)?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}
