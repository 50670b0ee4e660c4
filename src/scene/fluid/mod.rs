//! Generators of fluid scenes, which are grids with walls. [`Setup::bodies`](super::Setup::bodies) counts cells here.

pub mod files;
mod generators;
mod whirls;

pub use self::generators::CELLS;
pub(super) use self::generators::{GENERATORS, at_rest};
