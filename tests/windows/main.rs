//! Tests of the window, its panel, and pictures.

mod desktop;
mod events;
mod grab;
mod kept;
mod panel;
mod picture;
mod sharing;
#[path = "../support/mod.rs"]
mod support;
mod view;
mod walk;
mod window;
