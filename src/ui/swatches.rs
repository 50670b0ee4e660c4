//! Palette chooser: one button per colour palette, filled with the palette's colours.

use egui::{Color32, CornerRadius, Mesh, Sense, Stroke, StrokeKind, WidgetInfo, WidgetType, vec2};

use super::action::Collector;
use super::widgets::tooltip;
use super::{jump, theme};
use crate::base::look::Srgb;
use crate::base::{Choice, Opt, Palette};

/// Number of colour steps in a palette's swatch.
const STEPS: usize = 12;

/// Shows a button for each colour palette; `index` is the index of the chosen palette.
pub(super) fn show(ui: &mut egui::Ui, out: &mut Collector, index: &mut usize) {
    ui.spacing_mut().item_spacing.x = 2.0;
    ui.horizontal(|ui| {
        let (gap, count) = (ui.spacing().item_spacing.x, Palette::OPTIONS.len() as f32);
        let width = ((ui.available_width() - gap * (count - 1.0)) / count).floor();
        for (nth, option) in Palette::OPTIONS.iter().enumerate() {
            if swatch(ui, out, option, (width, nth == *index)) {
                *index = nth;
            }
        }
    });
}

/// Shows a button with the colours of a palette; returns whether the button was clicked.
fn swatch(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (palette, opt): &(Palette, Opt),
    (width, is_selected): (f32, bool),
) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(width, 18.0), Sense::click());
    ui.painter().add(colour_strip(|share| palette.colour(share), rect.shrink(3.0)));
    let colours = theme::of(ui);
    let edge = match (is_selected, response.hovered() || response.has_focus()) {
        (true, _) => Stroke::new(2.0_f32, colours.accent),
        (false, true) => Stroke::new(1.0_f32, colours.weak),
        (false, false) => Stroke::NONE,
    };
    ui.painter().rect_stroke(rect, CornerRadius::same(4), edge, StrokeKind::Inside);
    let enabled = ui.is_enabled();
    let name = || format!("Palette: {}", opt.name);
    response.widget_info(|| WidgetInfo::selected(WidgetType::RadioButton, enabled, is_selected, name()));
    out.record(format_args!("palette {}", opt.name), &response);
    if is_selected {
        jump::reveal("palette", &response);
    }
    tooltip(response, || format!("{}: {}", opt.name, opt.help)).clicked()
}

/// Returns a rectangle filled with the colours of a scale. `colour` maps a position, from 0 (left) to 1 (right), to a colour.
pub(super) fn colour_strip(colour: impl Fn(f32) -> Srgb, rect: egui::Rect) -> Mesh {
    let mut mesh = Mesh::default();
    for nth in 0..=STEPS {
        let share = nth as f32 / STEPS as f32;
        let [red, green, blue] = colour(share);
        let x = rect.left() + share * rect.width();
        for y in [rect.top(), rect.bottom()] {
            mesh.colored_vertex(egui::pos2(x, y), Color32::from_rgb(red, green, blue));
        }
        if nth > 0 {
            let at = 2 * nth as u32;
            mesh.add_triangle(at - 2, at - 1, at);
            mesh.add_triangle(at - 1, at, at + 1);
        }
    }
    mesh
}
