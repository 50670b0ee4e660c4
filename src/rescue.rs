//! What is left when nothing can compute any more: the last whole state, in a snapshot.

use std::path::PathBuf;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::snapshot::EXTENSION;

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

/// Writes the last checkpoint to a new file in the working folder.
fn save(engine: &Engine) -> Result<PathBuf> {
    let name = format!("gravitile-step-{}", engine.checkpoint().step());
    let names = std::iter::once(name.clone()).chain((2..).map(|nth| format!("{name}-{nth}")));
    let mut paths = names.map(|name| PathBuf::from(name).with_extension(EXTENSION));
    let Some(path) = paths.find(|path| !path.exists()) else {
        return Err(Error::Invalid("there is no name left for a file".to_owned()));
    };
    engine.last_snapshot().save(&path)?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}
