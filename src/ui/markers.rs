//! Drawing of the mouse tools' marks over the picture.

use egui::{Color32, CursorIcon, LayerId, Painter, Pos2, Stroke, pos2};

use super::action::Tool;
use super::model::Model;
use super::theme;
use super::tool_settings::Markers;

/// Draws a circle that is visible over dark and over bright places.
pub(super) fn ring(painter: &Painter, at: Pos2, radius: f32, colour: Color32) {
    painter.circle_stroke(at, radius, Stroke::new(4.0_f32, Color32::from_black_alpha(170)));
    painter.circle_stroke(at, radius, Stroke::new(2.0_f32, colour));
}

/// Draws the marks, and shows a crosshair as the pointer while a tool is selected.
pub(super) fn show(ctx: &egui::Context, model: &Model) {
    let picture = ctx.available_rect();
    let Markers { selected, aim, path, attractor } = model.markers;
    let colours = theme::on_picture();
    let painter = ctx.layer_painter(LayerId::background()).with_clip_rect(picture);
    let place = |[x, y]: [f32; 2]| {
        pos2(picture.center().x + x * picture.height(), picture.center().y + y * picture.height())
    };
    if let Some(at) = selected {
        ring(&painter, place(*at), 10.0, colours.accent);
    }
    for (nth, ends) in path.windows(2).enumerate() {
        // The prediction fades with time, because it becomes less certain.
        let share = 1.0 - nth as f32 / path.len() as f32;
        let stroke = Stroke::new(2.0_f32, colours.accent.gamma_multiply(0.15 + 0.85 * share));
        painter.line_segment([place(ends[0]), place(ends[1])], stroke);
    }
    if let Some([from, to]) = aim {
        let (from, to) = (place(*from), place(*to));
        painter.circle_filled(from, 4.0, colours.strong);
        painter.arrow(from, to - from, Stroke::new(1.5_f32, colours.strong));
    }
    if let Some((at, radius)) = attractor {
        ring(&painter, place(*at), (radius * picture.height()).max(6.0), colours.accent);
        painter.circle_filled(place(*at), 3.0, colours.accent);
    }
    let is_over = ctx.pointer_hover_pos().is_some_and(|at| picture.contains(at));
    if model.tools.active(model.config) != Tool::Look && is_over && !ctx.is_pointer_over_area() {
        ctx.set_cursor_icon(CursorIcon::Crosshair);
    }
}
