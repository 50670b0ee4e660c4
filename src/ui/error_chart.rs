//! Drawing of charts of error against speed, in picture files.

use egui::{Align2, FontId, Rangef, Sense, vec2};
use egui_plot::{GridMark, Plot, PlotBounds};

use super::chart_drawing::{
    GRID_FADES, SPEED_WIDTH, heading, hints, legend, log_bounds, log_marks, log_text, marker,
};
use super::theme;
use crate::base::format;
use crate::export::error_chart::{ErrorChart, ErrorPoint};

/// Distance from a marker to its label, in points.
const LABEL: egui::Vec2 = vec2(7.0, 3.0);

/// Draws a chart that fills the available width and is `height` points high.
pub(super) fn draw(ui: &mut egui::Ui, chart: &ErrorChart, height: f32) {
    let top = ui.cursor().top();
    let title = format!("Steps/s by error, for several values of {}", chart.key);
    let ErrorChart { info, bodies, scene, device, driver, .. } = chart;
    let (bodies, things) = (format::count(*bodies as u64), info.work.things);
    let subject = format!("{} · {scene} · {bodies} {things} · {device} · driver {driver}", info.name);
    heading(ui, title, subject);
    let lines = chart.lines();
    legend(ui, lines.iter().map(|(index, variant, _)| (*index, *variant)));
    let points = || lines.iter().flat_map(|(index, _, points)| points.iter().map(|point| (*index, *point)));
    let [x, y] = log_bounds(points().map(|(_, point)| at(point)));
    // Leaves room for the label of the last point.
    let x = *x.start()..=x.end() + 0.06 * (x.end() - x.start());

    let error_text = |mark: GridMark, range: &_| match log_text(mark, range).is_empty() {
        true => String::new(),
        false => format!("{:.0e}", 10f64.powf(mark.value)),
    };
    let x_axis = hints(ui, egui_plot::Axis::X, "relative error (root mean square)").formatter(error_text);
    let y_axis = hints(ui, egui_plot::Axis::Y, "steps/s").formatter(log_text).min_thickness(SPEED_WIDTH);
    let plot = Plot::new("errors")
        .height(height - (ui.cursor().top() - top))
        .sense(Sense::hover())
        .grid_spacing(Rangef::new(1.0, GRID_FADES))
        .x_grid_spacer(|input| log_marks(input.bounds))
        .y_grid_spacer(|input| log_marks(input.bounds))
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis]);
    let colours = theme::of(ui);
    let shown = plot.show(ui, |plot| {
        plot.set_plot_bounds(PlotBounds::from_min_max([*x.start(), *y.start()], [*x.end(), *y.end()]));
        for (index, _, points) in &lines {
            let points: Vec<[f64; 2]> = points.iter().map(|point| at(point)).collect();
            plot.line(egui_plot::Line::new("", points).color(colours.line_of(*index)).width(3.0));
        }
    });
    for (index, point) in points() {
        let centre = shown.transform.position_from_point(&at(point).into());
        marker(ui, index, centre);
        let font = FontId::proportional(12.0);
        ui.painter().text(centre + LABEL, Align2::LEFT_TOP, point.label(), font, colours.text);
    }
}

/// Converts a measurement to plot coordinates: the logarithms of error and speed.
fn at(point: &ErrorPoint) -> [f64; 2] {
    [point.errors.rms.log10(), point.steps_per_second.log10()]
}
