//! Runs the simulation that a [`config::Config`] describes. All calls run on the caller's thread: headless commands and
//! tests call the [`Engine`] directly, and the window calls it through a session on another thread.
//!
//! # Errors
//! Functions that use a device return an error if no device is left. `# Errors` sections list only other errors.

#![allow(
    clippy::missing_errors_doc,
    reason = "the failure of a device is explained once, for the whole module"
)]

mod build;
pub mod config;
mod configure;
mod core;
mod edits;
mod file_kind;
mod fork;
pub mod kernel_lab;
pub mod listing;
mod preprocessor;
mod profile;
mod ranks;
mod recovery;
mod resume;
mod selected;
pub mod snapshot;
mod states;
pub mod tuned;
pub mod tuning;

pub use self::build::{Resolved, device_recipes, max_bodies};
pub use self::config::Config;
pub use self::core::{Engine, Preview, relative_drift};
pub use self::file_kind::FileKind;
pub use self::fork::Fork;
pub use self::profile::{KernelTime, Profile};
pub use self::ranks::serve;
pub use self::snapshot::Snapshot;
pub use self::states::{Checkpoint, LostDevice, RestorePoint};
pub use self::tuned::Tuned;
pub use self::tuning::{Study, Trial};
