//! The simulation's thread, which owns the engine and every OpenCL object.

mod bursts;
mod editing;
mod edits;
mod measurements;
mod obey;
mod output;
mod publisher;
mod queue;
mod stepper;
mod thread;

pub(super) use self::publisher::Publisher;
pub(super) use self::thread::run;
