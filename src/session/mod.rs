//! Runs the simulation on its own thread, which receives commands and sends frames and notices.

mod accuracy;
mod autosave;
mod distributions;
mod frame;
mod handle;
mod history;
mod messages;
mod peaks;
mod profiler;
mod rates;
pub mod story;
mod turns;
mod worker;

pub use self::autosave::{Autosave, crashed, is_foreign, left_by_earlier_run, previous};
pub use self::frame::{ErrorColours, Frame, Rung, Stats};
pub use self::handle::Session;
pub use self::messages::{
    Capture, CaptureRequest, Command, Continuation, FilmFrame, Moment, Notice, Pairing, Purpose,
    ReplacedKernels, Save, WatchList,
};
pub use self::turns::Turns;
