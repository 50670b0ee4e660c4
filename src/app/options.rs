//! The options that the window starts with.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::base::error::Result;
use crate::base::files::OutputFile;
use crate::base::look::Look;
use crate::compute::FoundDevice;
use crate::engine::Engine;
use crate::engine::config::Config;

/// Options that the window starts with.
pub struct Options {
    /// The devices that may compute; the config chooses among them.
    pub devices: Vec<FoundDevice>,
    /// The config that the simulation starts with.
    pub config: Config,
    /// The appearance settings that the window starts with.
    pub look: Look,
    /// Keys of appearance settings that the command line sets. They override the saved settings for this run only.
    pub named: BTreeSet<String>,
    /// The initial camera, as text in the format of snapshots. If the text is empty, the view shows all bodies.
    pub view: String,
    /// Function that builds the engine; called on the simulation's thread.
    pub engine: Box<dyn FnOnce() -> Result<Engine> + Send>,
    /// The window's inner size in logical pixels; `None` restores the saved size.
    pub size: Option<(u32, u32)>,
    /// Time between two autosaves; `None` saves neither the simulation nor the settings.
    pub autosave: Option<Duration>,
    /// Folder whose kernel files are watched for changes, if any.
    pub kernels: Option<PathBuf>,
    /// Whether the command line selects the simulation. If so, the window does not offer to continue the previous run.
    pub is_chosen: bool,
    /// Exit after this many drawn frames; `None` runs until the user quits.
    pub frames: Option<u64>,
    /// The file for the report on exit, if the user asked for one.
    pub report: Option<OutputFile>,
    /// When the program started.
    pub started: Instant,
}
