//! Help window: a list of keys and mouse gestures.

use egui::RichText;

use super::keys::CONTROLS;
use super::theme;
use super::widgets::small;

/// Preferred width of the help window, in points.
const WIDTH: f32 = 820.0;
/// Free space to keep around the help window, in points: left plus right, or top plus bottom.
const AROUND: f32 = 100.0;
/// Minimum width and height of the help window, in points.
const MIN_SIZE: f32 = 40.0;
/// Width of the help window's column of keys, in points.
const KEYS: f32 = 230.0;
/// Gap between the columns of the help window, in points.
const GAP: f32 = 24.0;

/// Shows the help window while `open` is true.
pub(super) fn show(ctx: &egui::Context, open: &mut bool) {
    let window =
        egui::Window::new("Keys and mouse").open(open).collapsible(false).resizable(false).vscroll(true);
    let free = (ctx.content_rect().size() - egui::Vec2::splat(AROUND)).max(egui::Vec2::splat(MIN_SIZE));
    let width = WIDTH.min(free.x);
    // egui wraps text in a grid only at `max_col_width`.
    let column = (width - GAP - KEYS).max(0.5 * (width - GAP));
    let window = window.default_width(width).max_height(free.y);
    window.pivot(egui::Align2::CENTER_CENTER).default_pos(ctx.available_rect().center()).show(ctx, |ui| {
        egui::Grid::new("keys").num_columns(2).spacing([GAP, 3.0]).max_col_width(column).show(ui, |ui| {
            for control in CONTROLS {
                ui.label(RichText::new(control.text()).color(theme::of(ui).accent));
                ui.label(control.help);
                ui.end_row();
            }
        });
        ui.add_space(8.0);
        ui.set_max_width(width);
        let hint =
            "Point at a control to see a description. Double-click a label or a slider to reset the value.";
        ui.label(small(ui, hint));
    });
}
