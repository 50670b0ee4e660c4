//! What is left when nothing can compute any more: the last whole state, in a snapshot.

use std::fs;
use std::path::{Path, PathBuf};

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::snapshot::{EXTENSION, Snapshot};

/// `error` with the news of where the last whole state is kept, if it is the failure of a device.
pub fn keep(engine: &Engine, error: Error) -> Error {
    let Error::OpenCl { .. } = error else { return error };
    let step = engine.checkpoint().step();
    let text = match save(engine) {
        Ok(path) => {
            let path = path.display();
            format!("{error}. What there was at step {step} is kept in {path}; --resume goes on from there")
        }
        Err(why) => format!("{error}. What there was at step {step} is not kept either: {why}"),
    };
    Error::Invalid(text)
}

/// Writes the last checkpoint to a new file in the working folder, or where that is not possible in the user's folder for state.
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
        return Err(Error::Invalid("there is no name left for a file".to_owned()));
    };
    snapshot.save(&path)?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}
