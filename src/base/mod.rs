//! Plain data and helpers for all other modules, without OpenCL, OpenGL or a window.

pub mod bodies;
pub mod cells;
pub mod edit;
pub mod error;
pub mod files;
pub mod flow;
pub mod format;
pub mod look;
pub mod memory;
pub mod params;
pub mod state;
