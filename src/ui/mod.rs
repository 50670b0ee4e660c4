//! The panel, the overlay and the windows over the picture, with egui alone. Showing and testing them needs no window,
//! OpenGL or OpenCL.

mod action;
mod alerts;
mod appearance;
mod apply;
mod body_card;
mod brush;
mod chart_drawing;
mod chart_file;
mod chart_window;
mod command_palette;
mod dialogs;
mod event_groups;
mod export;
mod fields;
mod files;
mod gallery;
mod help;
mod history;
mod interface;
mod jump;
mod kernel_section;
mod keys;
mod mode_memory;
mod model;
mod numbers;
mod overlay;
mod palette_entries;
mod panel;
mod playback;
mod plot_lines;
mod plots;
mod rasterizer;
mod sparkline;
mod theme;
mod toasts;
mod tools;
mod widgets;

pub use action::{Action, ChartFormat, Tool};
pub use event_groups::split_events;
pub use export::{FilmPlan, PictureSize};
pub use files::OPENED;
pub use interface::{Output, Ui};
pub use keys::{CONTROLS, Control, Trigger};
pub use model::{Markers, Model, ToolSettings, WindowStats};
