//! gravitile, an interactive particle visualizer. This page lists the folders of the source and how they work together.
//!
//! A folder uses only folders that are further right in this list; `tests/layering.rs` checks the rule:
//! ```text
//! commands → app → ui → session, export → engine → modes → compute, scene, view → base
//! ```
//! `compute` contains no physics, `modes` uses no window, `view` uses no OpenCL, and `session` uses no OpenGL. OpenCL
//! and OpenGL exchange data through plain memory, a [`session::Frame`].
//!
//! # One frame
//! The simulation has its own thread, so the window never waits for a kernel.
//! ```text
//! window thread (app/viewer.rs, `frame`)        worker thread (session/worker/thread.rs, `turn`)
//!   1 take the newest Frame, if any; upload it    a apply the waiting commands
//!   2 move the camera                             b complete the burst: queue slices of the body range in
//!   3 the panel edits a copy of the Config          chunks of about 100 ms, and check for commands
//!   4 a changed Config goes to the worker         c queue a copy of the points to draw, and its read-back
//!   5 draw the view and the panel over it; swap   d start the next burst; wait for the read-back; publish
//!                                                   the Frame; wake the window
//! ```
//! The window draws only after a change, and at most as often as the screen refreshes. A burst is a number of steps
//! without a read-back. Each frame shows one burst, except in free run.
//!
//! # Where to find definitions
//! * Parameters: the rows of `parameters!` in a mode's `parameters.rs`; used by the panel, `--set`, scenes and reports.
//! * Appearance: the rows of `parameters!` for [`base::look::Look`]; used by the panel, `--look`, scenes and the view.
//! * Modes and kernel variants: [`modes::MODES`]; used by the panel, `run`, `check` and `bench`. A mode's entry also
//!   describes the work of a step, the peak speed, the checks, and the lists in a snapshot.
//! * Scenes: the files in `assets/scenes/`, read by [`scene::file`] like a user's own files. `scene/built_in.rs` sets
//!   their order. The table `GENERATORS` of each mode in `scene/` lists the generators that a scene can name.
//! * Kernels: the files in `kernels/`. Edited files replace them: [`engine::kernel_lab`], [`compute::Device::edits`].
//!   Notes on kernels are in `kernels/*/notes.toml`; [`engine::listing`] shows each note at the line that it describes.
//! * Shortcuts: [`ui::CONTROLS`]; used by the help window and the command palette.
//! * Undo and redo: `ui/undo.rs` lists the steps; `engine/edits.rs` keeps the states before manual edits.
//! * Timeline: `session/timeline/` records frames; `app/replay.rs` shows them again.
//! * Comparison: `app/comparison.rs` keeps two simulations at the same step; they use the device in turn, as
//!   [`session::Turns`] decides.
//! * Film formats: [`export::film::Format`]; used by the panel and `render --frames`.
//! * Charts: [`export::chart::Chart`]; used by the chart window, and by `bench --plot` for PNG and CSV.
//! * Configuration: [`engine::config::Config`]. A simulation's state is an [`engine::snapshot::Snapshot`], made from
//!   [`modes::Simulation::state`] and [`modes::Simulation::extra`].

// Tests may panic, so these lints apply only to the program itself.
#![cfg_attr(not(test), warn(clippy::expect_used, clippy::panic, clippy::unwrap_used))]

pub mod app;
pub mod base;
pub mod cli;
pub mod commands;
pub mod compute;
pub mod engine;
pub mod export;
pub mod modes;
pub mod scene;
pub mod session;
pub mod ui;
pub mod view;
