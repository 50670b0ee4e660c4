//! Tests of the window, its panel, and pictures.

mod comparison;
mod desktop;
mod events;
mod grab;
mod kept;
mod panel;
mod picture;
#[cfg(feature = "mpi")]
mod ranks;
mod sharing;
#[path = "../support/mod.rs"]
mod support;
mod timeline;
mod view;
mod walk;
mod wayland;
mod window;
mod wine;
