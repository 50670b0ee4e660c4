//! Drawing of charts, in the window and in picture files.

use std::ops::RangeInclusive;

use egui::{Label, Pos2, Rangef, RichText, Sense, Shape, Stroke, Vec2, vec2};
use egui_plot::{AxisHints, GridMark, Plot, PlotBounds};

use super::theme;
use super::widgets::small;
use crate::base::format;
use crate::engine::Trial;
use crate::export::chart::{Axis, Chart, Line};
use crate::modes::Variant;

/// Minimum height of a plot including its axes, in points.
const MIN_HEIGHT: f32 = 120.0;
/// Width of one digit in the x-axis labels, in points.
const DIGIT_WIDTH: f64 = 9.0;
/// Radius of the largest data marker, in points.
const MARKER: f32 = 5.5;
/// Width reserved for the labels of the speed (y) axis, in points.
pub(super) const SPEED_WIDTH: f32 = 56.0;
/// Spacing of grid lines, in points, at which they reach full brightness; closer grid lines are fainter.
pub(super) const GRID_FADES: f32 = 4000.0;
/// Maximum distance from the pointer to a data marker, in points, at which the marker's values are shown.
const REACH: f32 = 16.0;
/// Minimum range of a logarithmic axis of speeds or errors, in decades (powers of ten).
const MIN_DECADES: f64 = 0.8;
/// Range, in decades, below which a logarithmic axis also has labels at 2 and 5 times each power of ten.
const FEW_DECADES: f64 = 2.5;

/// Draws a chart that fills the available width and is `height` points high.
pub(super) fn draw(ui: &mut egui::Ui, chart: &Chart, height: f32) {
    let top = ui.cursor().top();
    let things = chart.info.work.things;
    let mut unit = chart.unit();
    unit[..1].make_ascii_uppercase();
    let title = format!("{unit} by {}", chart.axis.title(things));
    let bodies = chart.bodies().map(|bodies| format!("{} {things}", format::count(bodies as u64)));
    let driver = (!chart.driver.is_empty()).then(|| format!("driver {}", chart.driver));
    let (mode, scene, device) = (chart.info.name.to_owned(), chart.scene.clone(), chart.device.clone());
    let words = [Some(mode), Some(scene), bodies, Some(device), driver];
    let subject = words.into_iter().flatten().collect::<Vec<_>>().join(" · ");
    heading(ui, title, subject);
    let lines = chart.lines();
    legend(ui, lines.iter().map(|line| (line.index, line.variant)));
    plot(ui, chart, &lines, height - (ui.cursor().top() - top));
}

/// Shows the title of a chart, and the subject of its measurements.
pub(super) fn heading(ui: &mut egui::Ui, title: String, subject: String) {
    ui.label(RichText::new(title).strong().size(16.0).color(theme::of(ui).strong));
    ui.add(Label::new(small(ui, subject)).truncate());
}

/// Shows a legend above the axes, where it hides no data. `lines` holds each kernel variant with its index in the
/// mode's list of variants.
pub(super) fn legend(ui: &mut egui::Ui, lines: impl Iterator<Item = (usize, &'static Variant)>) {
    ui.horizontal_wrapped(|ui| {
        ui.set_min_height(ui.spacing().interact_size.y);
        for (index, variant) in lines {
            let (marker_rect, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
            marker(ui, index, marker_rect.center());
            // Not wrapped, so that a name stays beside its marker.
            ui.add(Label::new(RichText::new(variant.name).color(theme::of(ui).text)).extend())
                .on_hover_text(variant.summary);
            ui.add_space(8.0);
        }
    });
}

/// Returns the relative size of the markers of chart line `index`. Sizes decrease from line to line, so that no marker
/// hides another.
fn relative_size(index: usize) -> f32 {
    1.0 - 0.06 * index.min(8) as f32
}

/// Draws a data marker in the colour and shape of the chart line `index`.
pub(super) fn marker(ui: &egui::Ui, index: usize, centre: Pos2) {
    const SHAPES: [&[[f32; 2]]; 6] = [
        &[],
        &[[-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8]],
        &[[0.0, -1.1], [1.0, 0.7], [-1.0, 0.7]],
        &[[0.0, -1.2], [1.2, 0.0], [0.0, 1.2], [-1.2, 0.0]],
        &[[0.0, 1.1], [-1.0, -0.7], [1.0, -0.7]],
        &[[1.1, 0.0], [-0.7, 1.0], [-0.7, -1.0]],
    ];
    let radius = MARKER * relative_size(index);
    let corners = SHAPES[index % SHAPES.len()];
    let corners: Vec<Pos2> = corners.iter().map(|&corner| centre + radius * Vec2::from(corner)).collect();
    match corners.is_empty() {
        true => ui.painter().circle_filled(centre, radius, theme::of(ui).line_of(index)),
        false => ui.painter().add(Shape::convex_polygon(corners, theme::of(ui).line_of(index), Stroke::NONE)),
    };
}

/// Draws the axes, lines and markers, and shows the values of the marker closest to the pointer.
fn plot(ui: &mut egui::Ui, chart: &Chart, lines: &[Line], height: f32) {
    let [x, y] = bounds(chart.axis, lines);
    let plot = axes(ui, chart, &x).height(height.max(MIN_HEIGHT));
    let colours = theme::of(ui);
    let shown = plot.show(ui, |plot| {
        plot.set_plot_bounds(PlotBounds::from_min_max([*x.start(), *y.start()], [*x.end(), *y.end()]));
        for line in lines {
            let points: Vec<[f64; 2]> = line.points.iter().map(|point| at(chart.axis, point)).collect();
            let line_of = egui_plot::Line::new("", points).color(colours.line_of(line.index));
            plot.line(line_of.width(3.0 * relative_size(line.index)));
        }
    });
    let on_screen = |point| shown.transform.position_from_point(&at(chart.axis, point).into());
    let markers = lines.iter().flat_map(|line| line.points.iter().map(move |point| (line.index, point)));
    let markers: Vec<_> = markers.map(|(index, point)| (index, on_screen(point), &point.1)).collect();
    markers.iter().for_each(|(index, centre, _)| marker(ui, *index, *centre));
    show_nearest(ui, chart, &shown.response, &markers);
}

/// Returns an axis with a `title` and a label at every mark. The functions that create the marks, `whole_marks` and
/// `log_marks`, leave enough room for the labels.
pub(super) fn hints(ui: &egui::Ui, axis: egui_plot::Axis, title: impl Into<String>) -> AxisHints<'static> {
    let title = RichText::new(title).color(theme::of(ui).weak);
    AxisHints::new(axis).label(title).label_spacing(Rangef::new(0.0, 1.0))
}

/// Returns an empty plot with the axes of `chart`; `x` is the range of the x axis.
fn axes(ui: &egui::Ui, chart: &Chart, x: &RangeInclusive<f64>) -> Plot<'static> {
    let axis = chart.axis;
    let width = f64::from(ui.available_width() - SPEED_WIDTH);
    let digits = number(axis, *x.end()).log10().floor() + 2.5;
    let every = (digits * DIGIT_WIDTH / width * (x.end() - x.start())).ceil();
    let x_axis = hints(ui, egui_plot::Axis::X, axis.title(chart.info.work.things))
        .formatter(move |mark, _| format::count(number(axis, mark.value).round() as u64));
    let y_axis = hints(ui, egui_plot::Axis::Y, chart.unit()).formatter(log_text).min_thickness(SPEED_WIDTH);
    Plot::new("plot")
        .sense(Sense::hover())
        .show_x(false)
        .show_y(false)
        .grid_spacing(Rangef::new(1.0, GRID_FADES))
        .x_grid_spacer(move |input| whole_marks(input.bounds, every))
        .y_grid_spacer(|input| log_marks(input.bounds))
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis])
}

/// Outlines the marker closest to the pointer and shows its values, if any marker is close enough.
fn show_nearest(ui: &egui::Ui, chart: &Chart, response: &egui::Response, markers: &[(usize, Pos2, &Trial)]) {
    let Some(pointer) = response.hover_pos() else { return };
    let near = markers.iter().filter(|(_, centre, _)| centre.distance(pointer) < REACH);
    let nearest = near.min_by(|a, b| a.1.distance(pointer).total_cmp(&b.1.distance(pointer)));
    if let Some((_, centre, trial)) = nearest {
        ui.painter().circle_stroke(*centre, 7.0, Stroke::new(1.5_f32, theme::of(ui).strong));
        let (ctx, layer) = (ui.ctx().clone(), response.layer_id);
        let tip = egui::Tooltip::always_open(ctx, layer, response.id, egui::PopupAnchor::Pointer);
        tip.gap(12.0).show(|ui| ui.label(description(chart, trial)));
    }
}

/// Returns the text that describes a measurement in its marker's tooltip.
fn description(chart: &Chart, trial: &Trial) -> String {
    let Trial { recipe, bodies, pairs_per_second, .. } = trial;
    let speed = format!("{} {}", format::si(*pairs_per_second), chart.unit());
    let words = format!("{} × {} {}", recipe.variant.name, recipe.work_group, recipe.words());
    let things = chart.info.work.things;
    format!("{}\n{speed}\n{} {things}", words.trim_end(), format::count(*bodies as u64))
}

/// Converts a measurement to plot coordinates: x (or its logarithm, on a logarithmic `axis`) and the logarithm of the
/// speed.
fn at(axis: Axis, (place, trial): &(usize, Trial)) -> [f64; 2] {
    let place = *place as f64;
    [if axis.is_logarithmic() { place.log2() } else { place }, trial.pairs_per_second.log10()]
}

/// Converts the x coordinate `place` of a plot back to a value. On a logarithmic axis, undoes the logarithm.
fn number(axis: Axis, place: f64) -> f64 {
    if axis.is_logarithmic() { place.exp2() } else { place }
}

/// Returns the ranges of the x axis and the speed axis: the extent of all points plus a margin, or default ranges if
/// there are no points.
fn bounds(axis: Axis, lines: &[Line]) -> [RangeInclusive<f64>; 2] {
    let points = lines.iter().flat_map(|line| &line.points).map(|point| at(axis, point));
    let [[left, right], speeds] = extent(points).unwrap_or([[0.0, 8.0], [8.0, 10.0]]);
    let side = 0.04 * (right - left).max(4.0);
    [left - side..=right + side, log_range(speeds)]
}

/// Returns the ranges of two logarithmic (base 10) axes: the extent of `points` plus a margin, or [`MIN_DECADES`] around 1
/// if there are no points.
pub(super) fn log_bounds(points: impl Iterator<Item = [f64; 2]>) -> [RangeInclusive<f64>; 2] {
    extent(points).unwrap_or_default().map(log_range)
}

/// Returns the smallest and largest values of the points on each axis, or `None` if there are no points.
fn extent(points: impl Iterator<Item = [f64; 2]>) -> Option<[[f64; 2]; 2]> {
    points
        .map(|point| point.map(|x| [x, x]))
        .reduce(|a, b| [0, 1].map(|of| [a[of][0].min(b[of][0]), a[of][1].max(b[of][1])]))
}

/// Adds a margin to a logarithmic range, and widens it to at least [`MIN_DECADES`], so that nearly equal values look
/// nearly equal.
fn log_range([low, high]: [f64; 2]) -> RangeInclusive<f64> {
    let margin = ((high - low) * 0.08 + 0.05).max((MIN_DECADES - (high - low)) / 2.0);
    low - margin..=high + margin
}

/// Returns grid marks for the x axis at multiples of `every`.
fn whole_marks((low, high): (f64, f64), every: f64) -> Vec<GridMark> {
    let every = every.max(1.0);
    let first = (low / every).ceil() as i64;
    let marks = (first..).map(|nth| nth as f64 * every).take_while(|&value| value <= high);
    marks.filter(|&value| value >= 0.0).map(|value| GridMark { value, step_size: every }).collect()
}

/// Returns grid marks for a logarithmic axis at 1, 2, 3, …, 9 times each power of ten.
pub(super) fn log_marks((low, high): (f64, f64)) -> Vec<GridMark> {
    let decades = low.floor() as i32..=high.ceil() as i32;
    let all = decades.flat_map(|decade| (1..=9).map(move |digit| (decade, digit)));
    let mark = |(decade, digit): (i32, i32)| GridMark {
        value: f64::from(decade) + f64::from(digit).log10(),
        step_size: match digit {
            1 => 1.0,
            2 | 5 => 0.3,
            _ => 0.05,
        },
    };
    all.map(mark).filter(|mark| (low..=high).contains(&mark.value)).collect()
}

/// Returns the label of a mark on a logarithmic axis, such as `20 k`, or an empty string if the mark has no label; see
/// [`FEW_DECADES`].
pub(super) fn log_text(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    log_label(mark, range, format::si_short)
}

/// Like [`log_text`], but formats the number with the function `text`.
pub(super) fn log_label(mark: GridMark, range: &RangeInclusive<f64>, text: fn(f64) -> String) -> String {
    let decades = range.end() - range.start();
    let has_number = mark.step_size == 1.0 || (mark.step_size == 0.3 && decades < FEW_DECADES);
    if has_number { text(10f64.powf(mark.value)) } else { String::new() }
}
