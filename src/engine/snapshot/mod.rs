//! Snapshots: files with the complete state of a simulation, from which it can continue exactly where it stopped.

mod contents;
mod format;
mod manifest;
mod picture;
mod room;

pub use self::contents::{EXTENSION, RecipeRecord, Run, Snapshot, Summary};
pub use self::format::VERSION;
pub use self::picture::{Carried, Extent, MOST_CARRIED, PICTURE, embed};
pub use self::room::MOST_BYTES;
