//! What is left when nothing can compute any more: the last whole state, in a file.

use std::path::PathBuf;

use crate::engine::Engine;
use crate::error::{Error, Result};
use crate::files::Output;
use crate::scene;
use crate::scene::fluid::files::write_final_state;
use crate::state::State;

/// `error` with the news of where the last whole state is kept, if it is the failure of a device.
pub fn keep(engine: &Engine, error: Error) -> Error {
    let Error::OpenCl { .. } = error else { return error };
    let step = engine.checkpoint().step();
    let text = match save(engine) {
        Ok(path) => {
            let goes_on = match engine.checkpoint().state {
                State::Bodies(_) => "; --load goes on from there",
                State::Flow(_) => "",
            };
            format!("{error}. What there was at step {step} is kept in {}{goes_on}", path.display())
        }
        Err(why) => format!("{error}. What there was at step {step} is not kept either: {why}"),
    };
    Error::Invalid(text)
}

/// Writes the last checkpoint to a new file in the working folder.
fn save(engine: &Engine) -> Result<PathBuf> {
    let checkpoint = engine.checkpoint();
    let extension = match checkpoint.state {
        State::Bodies(_) => "csv",
        State::Flow(_) => "dat",
    };
    let name = format!("gravitile-step-{}", checkpoint.step());
    let names = std::iter::once(name.clone()).chain((2..).map(|nth| format!("{name}-{nth}")));
    let mut paths = names.map(|name| PathBuf::from(name).with_extension(extension));
    let Some(path) = paths.find(|path| !path.exists()) else {
        return Err(Error::Invalid("there is no name left for a file".to_owned()));
    };
    let density = engine.config().mode.values().float("density").unwrap_or(1.0);
    Output::create(&path)?.save(|file| match &checkpoint.state {
        State::Bodies(bodies) => scene::csv::write(file, bodies),
        State::Flow(flow) => write_final_state(file, flow, density),
    })?;
    Ok(std::path::absolute(&path).unwrap_or(path))
}
