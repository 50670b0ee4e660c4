//! Brush that paints obstacles: its state, its rows in the panel, and its outline over the picture.

use super::action::{Action, Collector};
use super::model::Model;
use super::numbers::slider_row;
use super::widgets::{labelled_checkbox, note, row};
use super::{keys, theme, tools};
use crate::base::Scale;
use crate::engine::Config;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Brush {
    /// Whether dragging over the picture paints obstacles.
    pub is_on: bool,
    /// Radius of the brush, in scene units.
    radius: f32,
}

impl Default for Brush {
    fn default() -> Self {
        Self { is_on: false, radius: Self::RADIUS }
    }
}

impl Brush {
    /// Allowed radii of the brush, in scene units. The longer side of the scene measures 2 units.
    const RADII: std::ops::RangeInclusive<f32> = 0.005..=0.2;
    /// Default radius of the brush, in scene units.
    const RADIUS: f32 = 0.03;

    /// Returns the radius of the brush, or `None` if the brush is off or the mode has no obstacles.
    pub(super) fn active(&self, config: &Config) -> Option<f32> {
        (self.is_on && config.mode.info().work.brush.is_ok()).then_some(self.radius)
    }

    /// Shows the brush's controls in the panel if the mode has obstacles.
    pub(super) fn show_rows(&mut self, ui: &mut egui::Ui, model: &Model, out: &mut Collector) {
        if model.config.mode.info().work.brush.is_err() {
            return;
        }
        let help = keys::hint(&Action::ToggleBrush);
        row(ui, "Brush", help, |ui, label| {
            labelled_checkbox(ui, out, "brush", ("Brush", label, help), &mut self.is_on);
        });
        let texts = ("brush size", "Brush radius", "Half the width of the brush, in scene units.");
        ui.add_enabled_ui(self.is_on, |ui| {
            slider_row(ui, out, texts, (&mut self.radius, Self::RADIUS), (Self::RADII, Scale::Log));
        });
        note(ui, "Drag to paint obstacles; right-drag or Shift+drag to erase them");
    }

    /// Draws the outline of the brush around the pointer.
    pub(super) fn show_outline(&self, ctx: &egui::Context, model: &Model) {
        let (Some(radius), picture) = (self.active(model.config), ctx.available_rect()) else { return };
        let Some(at) = ctx.pointer_hover_pos().filter(|at| picture.contains(*at)) else { return };
        if ctx.is_pointer_over_area() {
            return;
        }
        let size = radius * model.heights_per_unit * picture.height();
        let painter = ctx.layer_painter(egui::LayerId::background()).with_clip_rect(picture);
        tools::ring(&painter, at, size.max(2.0), theme::of_context(painter.ctx()).strong);
        ctx.set_cursor_icon(egui::CursorIcon::Crosshair);
    }
}
