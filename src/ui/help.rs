//! The window that says what keys and mouse do.

use egui::RichText;

use super::keys::CONTROLS;
use super::theme;

/// What a column leaves free for margins and the scroll bar, and the least that is left of it, in points.
const EDGE: f32 = 50.0;
const LEAST: f32 = 20.0;
/// How wide it is at least, where there is room.
const USUAL: f32 = 340.0;
/// Between the columns.
const GAP: f32 = 24.0;

/// Shows the window while `open`.
pub(super) fn show(ctx: &egui::Context, open: &mut bool) {
    let window =
        egui::Window::new("Keys and mouse").open(open).collapsible(false).resizable(false).vscroll(true);
    let window = window.max_height((ctx.content_rect().height() - 2.0 * EDGE).max(LEAST));
    // Each column at most half of the window: where text is large, their lines break.
    let column = (0.5 * ctx.content_rect().width() - EDGE).max(LEAST);
    let window = window.default_width(USUAL.min(2.0 * column + GAP));
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
        ui.set_max_width(2.0 * column);
        ui.label(RichText::new(hint).small().color(theme::of(ui).weak));
    });
}
