//! The window that says what keys and mouse do.

use egui::RichText;

use super::keys::CONTROLS;
use super::theme;

/// How wide it is where there is room, what stays free around it, and the least that is left of it, in points.
const WIDTH: f32 = 820.0;
const AROUND: f32 = 100.0;
const LEAST: f32 = 40.0;
/// The column of keys, and between the columns.
const KEYS: f32 = 230.0;
const GAP: f32 = 24.0;

/// Shows the window while `open`.
pub(super) fn show(ctx: &egui::Context, open: &mut bool) {
    let window =
        egui::Window::new("Keys and mouse").open(open).collapsible(false).resizable(false).vscroll(true);
    let free = (ctx.content_rect().size() - egui::Vec2::splat(AROUND)).max(egui::Vec2::splat(LEAST));
    let width = WIDTH.min(free.x);
    // Where text is large, lines break; a grid breaks them at this width alone.
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
        let hint = "Point at anything to read what it does. Double-click a name or a slider to reset it.";
        ui.set_max_width(width);
        ui.label(RichText::new(hint).small().color(theme::of(ui).weak));
    });
}
