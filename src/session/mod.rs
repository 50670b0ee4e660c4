//! Runs the simulation on its own thread, which receives commands and sends frames and notices.

mod accuracy;
mod autosave;
mod commands;
mod distributions;
mod frame;
mod handle;
mod history;
mod notices;
mod peaks;
mod profiler;
mod rates;
pub mod timeline;
mod turns;
mod worker;

pub use self::autosave::{Autosave, Save, crashed, is_foreign, left_by_earlier_run, previous};
pub use self::commands::{CaptureRequest, Command, Continuation, FilmFrame, Pairing, WatchList};
pub use self::frame::{ErrorColours, Frame, Rung, Stats};
pub use self::handle::Session;
pub use self::notices::{Capture, Moment, Notice, Purpose, ReplacedKernels};
pub use self::turns::Turns;
