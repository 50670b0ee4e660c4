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
    /// All devices that the simulation may use; the config selects some of them.
    pub devices: Vec<FoundDevice>,
    /// The config that the simulation starts with.
    pub config: Config,
    /// The appearance settings that the window starts with.
    pub look: Look,
    /// Keys of appearance settings that the command line sets. They override the saved settings for this run only.
    pub named: BTreeSet<String>,
    /// The initial camera, as text in the format of snapshots; an empty text shows all bodies.
    pub view: String,
    /// Function that builds the engine; called on the simulation's thread.
    pub engine: Box<dyn FnOnce() -> Result<Engine> + Send>,
    /// The window's inner size in logical pixels; `None` restores the saved size.
    pub size: Option<(u32, u32)>,
    /// Time between two autosaves; if `None`, neither the simulation nor the settings are saved.
    pub autosave: Option<Duration>,
    /// Folder whose kernel files are watched for changes, if any.
    pub kernels: Option<PathBuf>,
    /// Whether the command line selects the simulation. If so, the window does not offer to continue the previous run.
    pub is_chosen: bool,
    /// Number of drawn frames after which the program exits; `None` if it runs until the user quits.
    pub frames: Option<u64>,
    /// File that the report is written to on exit, if the user asked for a report.
    pub report: Option<OutputFile>,
    /// When the program started.
    pub started: Instant,
}
