//! The map of gravitile.
//!
//! Arrows point down, `tests/layering.rs` holds them:
//! ```text
//! commands → app → ui, view, session → engine, config → modes → scene → compute, bodies → params, error
//! ```
//! `compute` knows no physics, `modes` no window, `view` no OpenCL, `session` no OpenGL: OpenCL and OpenGL
//! never meet, because what crosses is plain memory, a [`session::Frame`].

pub mod app;
pub mod bodies;
pub mod cli;
pub mod commands;
pub mod compute;
pub mod config;
pub mod engine;
pub mod error;
pub mod files;
pub mod modes;
pub mod params;
pub mod scene;
pub mod session;
pub mod ui;
pub mod view;
