//! A simulation that follows a [`config::Config`]. All calls run on the caller's thread: headless commands and tests call
//! the [`Engine`] directly, and the window calls it through a session on another thread.

mod build;
mod checkpoint;
pub mod config;
mod configure;
mod core;
pub mod crash_save;
mod edits;
mod kernel_edits;
pub mod kernel_lab;
mod recovery;
mod resolved;
mod resume;
mod scene_state;
pub mod snapshot;
pub mod tuned;
pub mod tuning;

pub use self::build::device_recipes;
pub use self::checkpoint::{Checkpoint, LostDevice};
pub use self::core::{Engine, relative_drift};
pub use self::resolved::{Resolved, max_bodies};
