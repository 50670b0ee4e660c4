//! Sparkline in the overlay: a small chart of a value that the simulation mode reports for each step.

use egui::{Align, Layout, RichText, Sense, Shape, Stroke, pos2, vec2};

use super::model::Model;
use super::theme;
use super::widgets::{small, tooltip};
use crate::base::format;

const HEIGHT: f32 = 44.0;

/// Shows a small chart of the values that the simulation mode has reported, one per step, if any.
pub(super) fn show(ui: &mut egui::Ui, model: &Model) {
    let Some(series) = &model.stats.config.mode.info().series else { return };
    let points = &model.stats.series;
    let Some(&[last_step, last]) = points.last() else { return };
    let colours = theme::of(ui);
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        ui.label(small(ui, series.label));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let value = RichText::new(format::significant(last, 4));
            ui.label(value.monospace().size(12.0).color(colours.text));
        });
    });
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), HEIGHT), Sense::hover());
    let most = points.iter().map(|[_, value]| *value).fold(f64::MIN_POSITIVE, f64::max);
    let inner = rect.shrink(3.0);
    let place = |[step, value]: &[f64; 2]| {
        let (x, y) = (step / last_step.max(1.0), value / most);
        pos2(inner.left() + inner.width() * x as f32, inner.bottom() - inner.height() * y as f32)
    };
    ui.painter().rect_filled(rect, 4.0, colours.sunken);
    let line = points.iter().map(place).collect();
    ui.painter().add(Shape::line(line, Stroke::new(1.5_f32, colours.accent)));
    tooltip(response, || {
        let (most, steps) = (format::significant(most, 3), format::count(last_step as u64));
        format!("{}. Vertical axis: 0 to {most}. Horizontal axis: step 0 to {steps}", series.help)
    });
}
