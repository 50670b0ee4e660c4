//! Options for starting the window.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::base::{Look, OutputFile, Partial, Result};
use crate::compute::FoundDevice;
use crate::engine::{Config, Engine, Preview};
use crate::ui::Lesson;

/// Function that builds an engine. It may first show a preview of the scene by passing it to its argument.
pub type EngineBuilder = Box<dyn FnOnce(&mut dyn FnMut(Preview)) -> Result<Engine> + Send>;

/// Function that parses the arguments of `gravitile view` into a configuration and appearance settings.
pub type ReadCommandLine = fn(Vec<String>) -> Result<(Config, Partial<Look>)>;

/// Options for starting the window.
pub struct Options {
    /// Devices that the simulation may use; the config selects some of them.
    pub devices: Vec<FoundDevice>,
    /// The config that the simulation starts with.
    pub config: Config,
    /// Appearance settings given on the command line, which override the saved settings for this run only.
    pub look: Partial<Look>,
    /// The initial camera, as text in the snapshot format. If empty, the camera shows all bodies.
    pub view: String,
    /// Whether the program continues from a snapshot.
    pub resumes: bool,
    /// Whether a scene may open with a camera move, if the appearance settings enable it. False in runs that measure or
    /// compare frames, unless the command line sets `opening_move`.
    pub may_open_with_move: bool,
    /// Function that builds the engine. It is called on the simulation's thread.
    pub engine: EngineBuilder,
    /// The window's inner size in logical pixels; `None` restores the saved size.
    pub size: Option<(u32, u32)>,
    /// Interval between autosaves. If `None`, neither the simulation nor the settings are saved.
    pub autosave: Option<Duration>,
    /// Folder whose kernel files are watched for changes, if any.
    pub kernels: Option<PathBuf>,
    /// Whether the command line selects an initial state. If so, the program does not offer to continue the previous
    /// run.
    pub is_chosen: bool,
    /// Lesson to start with, if any.
    pub lesson: Option<Arc<Lesson>>,
    /// Number of frames to draw before the program exits, or `None` to run until the user quits.
    pub frames: Option<u64>,
    /// File to which the report (frame times and events) is written on exit, if the user asked for one.
    pub report: Option<OutputFile>,
    /// Function that parses a pasted command line into a configuration and appearance settings.
    pub read_command_line: ReadCommandLine,
    /// Time at which the program started.
    pub started: Instant,
}
