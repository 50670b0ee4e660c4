//! The window: event handling, drawing, mouse tools, files and films.

mod actions;
mod appearance;
mod autosave;
mod clock;
pub(crate) mod command_line;
mod compare;
mod comparison;
#[cfg(all(unix, not(target_vendor = "apple")))]
mod display;
mod event_loop;
mod exports;
mod file_reader;
mod gui;
mod input;
mod named_bodies;
mod notices;
mod options;
mod patches;
mod recording;
mod replay;
mod report;
mod rig;
mod screen;
pub mod settings;
mod simulation;
mod timeline;
mod tools;
mod viewer;
mod viewpoint;
mod window;

pub use self::event_loop::run;
pub(crate) use self::named_bodies::NamedBodies;
pub use self::options::{EngineBuilder, Options, ReadCommandLine};
pub(crate) use self::rig::{FollowTarget, Rig};
