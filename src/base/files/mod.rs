//! Files: bounded reading of files that may be broken or malicious, and writing that never leaves a half-written file.

mod names;
mod output;
mod read;
mod toml;
mod unfinished;

pub use names::{Name, Names};
pub use output::{Draft, OutputFile};
pub use read::{open, read_bounded, read_small};
pub use toml::from_toml;
