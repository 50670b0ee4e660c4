//! The simulation on its own thread: commands go in, frames and notices come out.

mod accuracy;
mod autosave;
mod frame;
mod handle;
mod history;
mod limit_probe;
mod messages;
mod rates;
mod worker;

pub use self::autosave::{crashed, left_by_earlier_run, previous};
pub use self::frame::{Frame, Rung, Stats};
pub use self::handle::Session;
pub use self::messages::{Capture, Command, FilmFrame, Moment, Notice, Purpose, ReplacedKernels, Save};
