//! The commands of the command line: one file or folder for each, and the code that they share.

mod bench;
pub mod check;
mod devices;
mod dispatch;
mod launch;
mod open_devices;
mod options;
mod progress;
mod render;
mod report;
mod run;
mod view;

pub use self::dispatch::{call, prepare};
