//! Drawing of roofline charts, in the Lens window and in picture files.

use egui::{Align2, Color32, FontId, Pos2, Rangef, Sense, Stroke, vec2};
use egui_plot::{Plot, PlotBounds, PlotTransform};

use super::chart_drawing::{
    GRID_FADES, SPEED_WIDTH, heading, hints, legend, log_bounds, log_label, log_marks, log_text, marker,
};
use super::theme;
use crate::base::format;
use crate::export::roofline_chart::{Roof, RooflineChart, RooflinePoint, Shape};

/// Maximum distance from the pointer to a marker, in points, at which the marker's numbers are shown.
const REACH: f32 = 16.0;
/// Distance between the name and the line of a roof, in points.
const NAME: f32 = 3.0;
/// Radius of the ring around the marker of the variant that runs, in points.
const RING: f32 = 9.0;
/// Smallest height of a plot, in points.
const MIN_HEIGHT: f32 = 140.0;

/// Draws a chart that fills the available width and is `height` points high.
pub(super) fn draw(ui: &mut egui::Ui, chart: &RooflineChart, height: f32) {
    let top = ui.cursor().top();
    let RooflineChart { info, bodies, scene, device, driver, .. } = chart;
    let (bodies, things) = (format::count(*bodies as u64), info.work.things);
    let title = "Roofline: operations per second by operations per byte".to_owned();
    let subject = format!("{} · {scene} · {bodies} {things} · {device} · driver {driver}", info.name);
    heading(ui, title, subject);
    let all = indexed(chart);
    legend(ui, all.iter().map(|(index, point)| (*index, point.variant)));
    let roofs = chart.roofs();
    let [x, y] = bounds(&all, &roofs);
    let x_axis = hints(ui, egui_plot::Axis::X, "operations per byte")
        .formatter(|mark, range| log_label(mark, range, format::field));
    let y_axis = hints(ui, egui_plot::Axis::Y, "operations/s").formatter(log_text).min_thickness(SPEED_WIDTH);
    let plot = Plot::new("roofline")
        .height((height - (ui.cursor().top() - top)).max(MIN_HEIGHT))
        .sense(Sense::hover())
        .show_x(false)
        .show_y(false)
        .grid_spacing(Rangef::new(1.0, GRID_FADES))
        .x_grid_spacer(|input| log_marks(input.bounds))
        .y_grid_spacer(|input| log_marks(input.bounds))
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis]);
    let colours = theme::of(ui);
    let shown = plot.show(ui, |plot| {
        plot.set_plot_bounds(PlotBounds::from_min_max([x[0], y[0]], [x[1], y[1]]));
        for roof in &roofs {
            let points: Vec<[f64; 2]> = x.iter().map(|x| [*x, roof.at(10f64.powf(*x)).log10()]).collect();
            plot.line(egui_plot::Line::new("", points).color(colours.weak).width(1.5));
        }
    });
    let (painter, place) = (ui.painter().with_clip_rect(shown.response.rect), &shown.transform);
    for roof in &roofs {
        // Of two level lines close to each other, the lower one has its name below it.
        let is_lower = roofs.iter().any(|other| other.shape == Shape::Level && other.rate > roof.rate);
        name(&painter, (roof, is_lower), (place, &x, &y), colours.text);
    }
    let markers: Vec<_> =
        all.iter().map(|(index, point)| (*index, on_screen(place, point), *point)).collect();
    for (index, centre, point) in &markers {
        marker(ui, *index, *centre);
        if Some(point.variant) == chart.current {
            ui.painter().circle_stroke(*centre, RING, Stroke::new(1.5_f32, colours.text));
        }
    }
    show_nearest(ui, chart, &shown.response, &markers);
}

/// Returns the points with the indices of their variants in the mode's list.
fn indexed(chart: &RooflineChart) -> Vec<(usize, &RooflinePoint)> {
    let index = |point: &&RooflinePoint| chart.info.variants.iter().position(|it| it == point.variant);
    chart.points.iter().filter_map(|point| Some((index(&point)?, point))).collect()
}

/// Returns the ranges of both axes, as logarithms to base 10, that contain all points and the corners of the roofs.
fn bounds(points: &[(usize, &RooflinePoint)], roofs: &[Roof]) -> [[f64; 2]; 2] {
    // The first level roof is that of the multiply-adds. A higher one limits nothing, so it may be out of sight.
    let level = roofs.iter().find(|roof| roof.shape == Shape::Level).map(|roof| roof.rate);
    let slopes = roofs.iter().filter(|roof| roof.shape == Shape::Slope);
    let corners = slopes.filter_map(|roof| Some([(level? / roof.rate).log10(), level?.log10()]));
    let all = points.iter().map(|(_, point)| at(point)).chain(corners);
    log_bounds(all).map(|range| [*range.start(), *range.end()])
}

/// Converts a point to plot coordinates: the logarithms of its intensity and its speed.
fn at(point: &RooflinePoint) -> [f64; 2] {
    [point.counts.intensity().log10(), point.operations_per_second().log10()]
}

fn on_screen(place: &PlotTransform, point: &RooflinePoint) -> Pos2 {
    place.position_from_point(&at(point).into())
}

/// Writes the name and the rate of a roof beside its line: at the right end of level lines, at the left end of others.
fn name(
    painter: &egui::Painter,
    (roof, is_lower): (&Roof, bool),
    (place, x, y): (&PlotTransform, &[f64; 2], &[f64; 2]),
    colour: Color32,
) {
    let font = FontId::proportional(11.0);
    let rate = format::si(roof.rate);
    match roof.shape {
        Shape::Level => {
            let at = place.position_from_point(&[x[1], roof.rate.log10()].into());
            let text = format!("{} {rate} operations/s", roof.name);
            let (anchor, above) =
                if is_lower { (Align2::RIGHT_TOP, -NAME) } else { (Align2::RIGHT_BOTTOM, NAME) };
            painter.text(at - vec2(2.0 * NAME, above), anchor, text, font, colour);
        }
        Shape::Slope => {
            let text = format!("{} {}B/s", roof.name, rate);
            // The lowest place of the line within the plot.
            let left = x[0].max(y[0] - roof.rate.log10());
            let at = place.position_from_point(&[left, left + roof.rate.log10()].into());
            let galley = painter.layout_no_wrap(text, font, colour);
            let along = place.position_from_point(&[left + 1.0, left + 1.0 + roof.rate.log10()].into()) - at;
            // The name stands on the side of its line that has more room.
            let is_above = at.y > place.frame().center().y;
            let (anchor, side, top) = match is_above {
                true => (Align2::LEFT_BOTTOM, 1.0, -galley.size().y),
                false => (Align2::LEFT_TOP, -1.0, 0.0),
            };
            let along = along.normalized();
            let start = at + NAME * (4.0 * along + side * along.rot90()) + vec2(0.0, top);
            let shape = egui::epaint::TextShape::new(start, galley, colour);
            painter.add(shape.with_angle_and_anchor(along.angle(), anchor));
        }
    }
}

/// Outlines the marker closest to the pointer and shows its numbers, if any marker is close enough.
fn show_nearest(
    ui: &egui::Ui,
    chart: &RooflineChart,
    response: &egui::Response,
    markers: &[(usize, Pos2, &RooflinePoint)],
) {
    let Some(pointer) = response.hover_pos() else { return };
    let near = markers.iter().filter(|(_, centre, _)| centre.distance(pointer) < REACH);
    let nearest = near.min_by(|a, b| a.1.distance(pointer).total_cmp(&b.1.distance(pointer)));
    if let Some((_, centre, point)) = nearest {
        ui.painter().circle_stroke(*centre, 7.0, Stroke::new(1.5_f32, theme::of(ui).strong));
        let (ctx, layer) = (ui.ctx().clone(), response.layer_id);
        let tip = egui::Tooltip::always_open(ctx, layer, response.id, egui::PopupAnchor::Pointer);
        tip.gap(12.0).show(|ui| ui.label(description(chart, point)));
    }
}

/// Returns the text that describes a point: what was counted, and how close it is to the roofs.
fn description(chart: &RooflineChart, point: &RooflinePoint) -> String {
    let (counts, speed) = (point.counts, point.operations_per_second());
    let number = |value: f64| format::significant(value, 3);
    let unit = if matches!(chart.info.limit, crate::modes::Limit::Pair(_)) { "pair" } else { "cell" };
    let share = chart
        .ceiling(counts.intensity())
        .map(|most| format!(", {:.0} % of the roofline", 100.0 * speed / most));
    format!(
        "{}\n{} operations and {} bytes per {unit}: {} operations per byte\n{} operations/s{}",
        point.variant.name,
        number(counts.operations),
        number(counts.bytes),
        number(counts.intensity()),
        format::si(speed),
        share.unwrap_or_default(),
    )
}
