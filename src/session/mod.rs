//! The simulation on a thread of its own, and the handle that the window holds.

mod frame;

pub use frame::{Frame, Stats};
