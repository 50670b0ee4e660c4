//! The window that says what keys and mouse do.

use egui::RichText;

use super::keys::CONTROLS;
use super::theme;

/// Shows the window while `open`.
pub(super) fn show(ctx: &egui::Context, open: &mut bool) {
    let window =
        egui::Window::new("Keys and mouse").open(open).collapsible(false).resizable(false).vscroll(true);
    window.pivot(egui::Align2::CENTER_CENTER).default_pos(ctx.available_rect().center()).show(ctx, |ui| {
        egui::Grid::new("keys").num_columns(2).spacing([24.0, 3.0]).show(ui, |ui| {
            for control in CONTROLS {
                ui.label(RichText::new(control.text()).color(theme::of(ui).accent));
                ui.label(control.help);
                ui.end_row();
            }
        });
        ui.add_space(8.0);
        let hint = "Point at anything to read what it does. Double-click a name or a slider to reset it.";
        ui.label(RichText::new(hint).small().color(theme::of(ui).weak));
    });
}
