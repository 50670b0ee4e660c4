//! The map of gravitile.
//!
//! Arrows point down, and `tests/layering.rs` holds them:
//! ```text
//! commands → app → ui, view, session → chart → trial → rescue → engine → snapshot → config → modes, kernels → scene, compute → state, look → bodies → hand, lattice, film → files → error, memory → params
//! ```
//! `compute` knows no physics, `modes` no window, `view` no OpenCL, `session` no OpenGL: OpenCL and OpenGL
//! never meet, because what crosses is plain memory, a [`session::Frame`].
//!
//! # One frame
//! The simulation has its own thread, so the window never waits for a kernel.
//! ```text
//! window thread (app/open.rs, Open::frame)      worker thread (session/worker, Worker::turn)
//!   1 the panel edits a copy of the Config        a obey the Commands that wait
//!   2 if it changed, it goes to the worker        b complete the burst: slices of the body range, queued
//!   3 take the newest Frame, if any                 in parts of about 100 ms with a look at the Commands
//!   4 vertex buffer ← frame; View::draw           c queue a snapshot of what is drawn and its read-back
//!   5 the panel, painted where it changed,        d start the next burst beside it; wait for the
//!     is laid over it; swap                         read-back; publish the Frame; wake the window
//! ```
//! Frames are drawn when there is something new, never more often than the screen shows. A burst is some steps
//! with nothing read back between them; one burst a frame, unless it runs free.
//!
//! # Where things are described once
//! * parameters: `visit` of a mode (`modes/gravity/mod.rs`); read by panel, `--set`, scenes, reports, tests
//! * how it looks: `visit` of [`look::Look`]; read by panel, `--look`, the view
//! * modes and kernel variants: [`modes::MODES`]; read by panel, `run`, `check`, `bench`, tests
//! * what a step counts for, and what sizes suit a device: `work` of a mode; read by panel, overlay, `run`, `bench`, studies
//! * what limits the speed: `limit` of a mode; read by `bench` and the overlay
//! * what `check` compares: `checks` of a mode; read by `check` and tests
//! * which lists a snapshot may hold, and their limits: `carries` of a mode; read by [`snapshot`]
//! * charts of what was measured: [`chart::Chart`]; read by the window beside the panel, `bench --plot` as PNG and CSV
//! * scenes: files in `assets/scenes/`, read by [`scene::file`] as a person's own are; their order:
//!   [`scene::gravity::SCENES`], [`scene::asteroids::SCENES`], [`scene::fluid::SCENES`]; what they may name: the tables of
//!   generators beside these
//! * kernels: files in `kernels/`; those that a person edits stand in for them, see [`kernels`] and [`compute::Device::edits`]
//! * what a film is written as: [`film::Format`]; read by panel, `render --frames`
//! * shortcuts: [`ui::CONTROLS`]; read by the panel's help and the command palette
//! * what runs: [`config::Config`]; all that a simulation is: [`snapshot::Snapshot`], made of [`modes::Simulation::state`] and
//!   [`modes::Simulation::extra`]

pub mod app;
pub mod bodies;
pub mod chart;
pub mod cli;
pub mod commands;
pub mod compute;
pub mod config;
pub mod engine;
pub mod error;
pub mod files;
pub mod film;
pub mod hand;
pub mod kernels;
pub mod lattice;
pub mod look;
pub mod memory;
pub mod modes;
pub mod params;
pub mod rescue;
pub mod scene;
pub mod session;
pub mod snapshot;
pub mod state;
pub mod trial;
pub mod tuned;
pub mod ui;
pub mod view;
