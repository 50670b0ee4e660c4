//! Charts: in a window beside the panel, and as files. Both are drawn by [`draw`].

use std::io::{self, Cursor, Write};
use std::ops::RangeInclusive;
use std::path::Path;

use egui::{
    Align, Align2, Button, Color32, Label, Layout, Pos2, ProgressBar, Rangef, RichText, Sense, Shape, Stroke,
    Vec2, vec2,
};
use egui_plot::{AxisHints, GridMark, Plot, PlotBounds};
use image::ImageFormat;

use super::keys::Command;
use super::widgets::Sink;
use super::{Action, Lab, canvas, format, hud, theme};
use crate::chart::{Axis, Chart, Line};
use crate::error::{Error, Result};
use crate::trial::Trial;

/// A chart in a picture, in points.
const PICTURE: egui::Vec2 = vec2(800.0, 500.0);
/// Pixels to a point in a picture: enough for paper.
const PICTURE_SCALE: f32 = 2.0;
/// Between the edge of a picture or window and what is in it, in points.
const MARGIN: f32 = 14.0;
/// The least height of the axes, in points.
const MIN_HEIGHT: f32 = 120.0;
/// How wide a digit under the x axis may be, in points.
const DIGIT_WIDTH: f64 = 9.0;
/// The size of a mark, from its middle, in points.
const MARK: f32 = 5.5;
/// How wide a number beside the y axis may be, in points.
const SPEED_WIDTH: f32 = 56.0;
/// Lines of the grid this far apart, in points, would be as bright as text; nearer ones are fainter.
const GRID_FADES: f32 = 4000.0;
/// How near the pointer comes to a mark that it means, in points.
const REACH: f32 = 16.0;
/// The least range of speeds that is shown, in decades.
const LEAST_DECADES: f64 = 0.8;
/// Decades of speed up to which numbers between the powers of ten are written out.
const FEW_DECADES: f64 = 2.5;

/// A kind of file that a chart can become.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Export {
    /// A picture of it.
    Png,
    /// Its numbers.
    Csv,
}

impl Export {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Png, Self::Csv];

    /// How the file's name ends.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Png => "png",
            Self::Csv => "csv",
        }
    }

    /// The kind that a file's name asks for.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none of that name.
    pub fn of(path: &Path) -> Result<Self> {
        let is_asked_for =
            |kind: &Self| path.extension().is_some_and(|end| end.eq_ignore_ascii_case(kind.extension()));
        Self::ALL.into_iter().find(is_asked_for).ok_or_else(|| {
            Error::Invalid(format!("--plot {}: what is drawn ends in .png or .csv", path.display()))
        })
    }

    /// Writes `charts`, one below the other.
    ///
    /// # Errors
    /// What `file` refuses.
    pub fn write(self, charts: &[Chart], file: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv => Chart::write_csv(charts, file),
            Self::Png => {
                let mut png = Cursor::new(Vec::new());
                picture(charts).write_to(&mut png, ImageFormat::Png).map_err(io::Error::other)?;
                file.write_all(png.get_ref())
            }
        }
    }
}

fn picture(charts: &[Chart]) -> image::RgbImage {
    let size = vec2(PICTURE.x, PICTURE.y * charts.len() as f32);
    canvas::paint(size, PICTURE_SCALE, |ctx| {
        let frame = egui::Frame::NONE.fill(theme::of_all(ctx).surface);
        egui::CentralPanel::default().frame(frame).show(ctx, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            for (nth, chart) in charts.iter().enumerate() {
                ui.allocate_ui(PICTURE, |ui| {
                    egui::Frame::NONE.inner_margin(MARGIN).show(ui, |ui| {
                        ui.spacing_mut().item_spacing = theme::ITEM_SPACING;
                        let all = ui.available_size();
                        ui.push_id(nth, |ui| draw(ui, chart, all.y));
                        ui.allocate_space(ui.available_size());
                    });
                });
            }
        });
    })
}

/// The window with the chart of the last study, while it is open.
pub(super) fn show(ctx: &egui::Context, lab: &mut Lab, sink: &mut Sink, actions: &mut Vec<Action>) {
    let Lab { under_way, chart: Some(chart), is_open, saved } = lab else { return };
    let free = ctx.available_rect().shrink(10.0);
    // Beside the overlay, where there is room.
    let width = (free.width() - hud::OUTER_WIDTH).clamp(320.0, 620.0);
    let window = egui::Window::new("Chart")
        .open(is_open)
        .collapsible(false)
        .default_size([width - 2.0 * MARGIN, 400.0])
        .min_size([300.0, 240.0])
        .pivot(Align2::LEFT_BOTTOM)
        .default_pos(free.left_bottom());
    window.show(ctx, |ui| {
        let below = 2.0 * ui.spacing().interact_size.y + 3.0 * ui.spacing().item_spacing.y;
        draw(ui, chart, ui.available_height() - below);
        ui.horizontal(|ui| {
            for kind in Export::ALL {
                let name = kind.extension();
                let text = format!("Save {}", name.to_uppercase());
                let help = "into the folder in which gravitile was started";
                let button = ui.add_enabled(!chart.trials.is_empty(), Button::new(text));
                let button = button.on_hover_text(help).on_disabled_hover_text("once something is measured");
                sink.note(format!("save {name}"), &button);
                if button.clicked() {
                    actions.push(Action::SaveChart(kind));
                }
            }
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if let Some((_, share)) = under_way {
                    let stop = ui.button("Stop").on_hover_text("go on with the simulation");
                    sink.note("stop chart", &stop);
                    if stop.clicked() {
                        sink.commands.push(Command::EndStudy);
                    }
                    ui.add(ProgressBar::new(*share).desired_height(8.0));
                }
            });
        });
        let text = match saved {
            Some(path) => format!("saved as {path}"),
            None => "Point at a mark to read its numbers.".to_owned(),
        };
        ui.add(Label::new(RichText::new(text).small().color(theme::of(ui).weak)).truncate());
    });
}

/// A chart on all of the width, `height` points high.
fn draw(ui: &mut egui::Ui, chart: &Chart, height: f32) {
    let top = ui.cursor().top();
    let things = chart.info.work.things;
    let mut unit = chart.unit();
    unit[..1].make_ascii_uppercase();
    let title = format!("{unit} by {}", chart.axis.title(things));
    ui.label(RichText::new(title).strong().size(16.0).color(theme::of(ui).strong));
    let bodies = chart.bodies().map(|bodies| format!("{} {things}", format::count(bodies as u64)));
    let driver = (!chart.driver.is_empty()).then(|| format!("driver {}", chart.driver));
    let words = [Some(chart.info.name.to_owned()), Some(chart.scene.clone()), bodies];
    let words = words.into_iter().chain([Some(chart.device.clone()), driver]);
    let subject = words.flatten().collect::<Vec<_>>().join(" · ");
    ui.add(Label::new(RichText::new(subject).small().color(theme::of(ui).weak)).truncate());
    let lines = chart.lines();
    legend(ui, &lines);
    plot(ui, chart, &lines, height - (ui.cursor().top() - top));
}

/// Above the lines, where it hides none of them.
fn legend(ui: &mut egui::Ui, lines: &[Line]) {
    ui.horizontal_wrapped(|ui| {
        ui.set_min_height(ui.spacing().interact_size.y);
        for line in lines {
            let (sign, _) = ui.allocate_exact_size(vec2(14.0, 14.0), Sense::hover());
            mark(ui, line.rung, sign.center());
            // Never wrapped: no name is parted from its sign.
            ui.add(Label::new(RichText::new(line.variant.name).color(theme::of(ui).text)).extend())
                .on_hover_text(line.variant.summary);
            ui.add_space(8.0);
        }
    });
}

/// The colour of a rung, whichever others there are.
fn colour(ui: &egui::Ui, rung: usize) -> Color32 {
    let lines = &theme::of(ui).lines;
    lines[rung % lines.len()]
}

/// Lower rungs are drawn first and larger, so that one sees them under others.
fn size(rung: usize) -> f32 {
    1.0 - 0.06 * rung.min(8) as f32
}

/// A point of a rung: told apart by its colour, and without colours by its shape.
fn mark(ui: &egui::Ui, rung: usize, centre: Pos2) {
    const SHAPES: [&[[f32; 2]]; 6] = [
        &[],
        &[[-0.8, -0.8], [0.8, -0.8], [0.8, 0.8], [-0.8, 0.8]],
        &[[0.0, -1.1], [1.0, 0.7], [-1.0, 0.7]],
        &[[0.0, -1.2], [1.2, 0.0], [0.0, 1.2], [-1.2, 0.0]],
        &[[0.0, 1.1], [-1.0, -0.7], [1.0, -0.7]],
        &[[1.1, 0.0], [-0.7, 1.0], [-0.7, -1.0]],
    ];
    let radius = MARK * size(rung);
    let corners = SHAPES[rung % SHAPES.len()];
    let corners: Vec<Pos2> = corners.iter().map(|&corner| centre + radius * Vec2::from(corner)).collect();
    match corners.is_empty() {
        true => ui.painter().circle_filled(centre, radius, colour(ui, rung)),
        false => ui.painter().add(Shape::convex_polygon(corners, colour(ui, rung), Stroke::NONE)),
    };
}

/// The lines over their axes; whoever points at a mark reads its numbers.
fn plot(ui: &mut egui::Ui, chart: &Chart, lines: &[Line], height: f32) {
    let axis = chart.axis;
    let [x, y] = bounds(axis, lines);
    let room = f64::from(ui.available_width() - SPEED_WIDTH);
    let digits = number(axis, *x.end()).log10().floor() + 2.5;
    let every = (digits * DIGIT_WIDTH / room * (x.end() - x.start())).ceil();
    let hint = |title: String, axis| {
        // Room for the numbers is made by `whole_marks` and `speed_marks`.
        AxisHints::new(axis)
            .label(RichText::new(title).color(theme::of(ui).weak))
            .label_spacing(Rangef::new(0.0, 1.0))
    };
    let x_axis = hint(axis.title(chart.info.work.things), egui_plot::Axis::X)
        .formatter(move |mark, _| format::count(number(axis, mark.value).round() as u64));
    let y_axis = hint(chart.unit(), egui_plot::Axis::Y).formatter(speed_text).min_thickness(SPEED_WIDTH);
    let plot = Plot::new("plot")
        .height(height.max(MIN_HEIGHT))
        .sense(Sense::hover())
        .show_x(false)
        .show_y(false)
        .grid_spacing(Rangef::new(1.0, GRID_FADES))
        .x_grid_spacer(move |input| whole_marks(input.bounds, every))
        .y_grid_spacer(|input| speed_marks(input.bounds))
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis]);
    let line_colours = &theme::of(ui).lines;
    let shown = plot.show(ui, |plot| {
        plot.set_plot_bounds(PlotBounds::from_min_max([*x.start(), *y.start()], [*x.end(), *y.end()]));
        for line in lines {
            let points: Vec<[f64; 2]> = line.points.iter().map(|point| at(axis, point)).collect();
            let width = 3.0 * size(line.rung);
            plot.line(
                egui_plot::Line::new("", points)
                    .color(line_colours[line.rung % line_colours.len()])
                    .width(width),
            );
        }
    });
    let on_screen = |point| shown.transform.position_from_point(&at(axis, point).into());
    for line in lines {
        line.points.iter().for_each(|point| mark(ui, line.rung, on_screen(point)));
    }
    let Some(pointer) = shown.response.hover_pos() else { return };
    let points = lines.iter().flat_map(|line| &line.points);
    let places = points.map(|point| (on_screen(point), &point.1));
    let nearest = places.min_by(|(a, _), (b, _)| a.distance_sq(pointer).total_cmp(&b.distance_sq(pointer)));
    if let Some((place, trial)) = nearest.filter(|(place, _)| place.distance(pointer) < REACH) {
        ui.painter().circle_stroke(place, 7.0, Stroke::new(1.5_f32, theme::of(ui).strong));
        let (ctx, layer) = (ui.ctx().clone(), shown.response.layer_id);
        let tip = egui::Tooltip::always_open(ctx, layer, shown.response.id, egui::PopupAnchor::Pointer);
        tip.gap(12.0).show(|ui| ui.label(told(chart, trial)));
    }
}

/// All that there is to say of a point.
fn told(chart: &Chart, trial: &Trial) -> String {
    let Trial { recipe, bodies, pairs_per_second, .. } = trial;
    let speed = format!("{} {}", format::si(*pairs_per_second), chart.unit());
    let words = format!("{} × {} {}", recipe.variant.name, recipe.work_group, recipe.words());
    let things = chart.info.work.things;
    format!("{}\n{speed}\n{} {things}", words.trim_end(), format::count(*bodies as u64))
}

/// Where a point stands: logarithms, but for what is counted.
fn at(axis: Axis, (place, trial): &(usize, Trial)) -> [f64; 2] {
    let place = *place as f64;
    [if axis.is_logarithmic() { place.log2() } else { place }, trial.pairs_per_second.log10()]
}

/// The number that stands at a place along the x axis.
fn number(axis: Axis, place: f64) -> f64 {
    if axis.is_logarithmic() { place.exp2() } else { place }
}

/// From where to where the axes go: all points are well inside, and there is something to see before there are any.
fn bounds(axis: Axis, lines: &[Line]) -> [RangeInclusive<f64>; 2] {
    let span = |of: usize, empty: [f64; 2]| {
        let all = lines.iter().flat_map(|line| &line.points).map(|point| at(axis, point)[of]);
        let range = all.fold(None, |range: Option<[f64; 2]>, x| {
            Some(range.map_or([x, x], |[low, high]| [low.min(x), high.max(x)]))
        });
        range.unwrap_or(empty)
    };
    let ([left, right], [low, high]) = (span(0, [0.0, 8.0]), span(1, [8.0, 10.0]));
    let side = 0.04 * (right - left).max(4.0);
    // Speeds that are nearly the same must not look as if they were not.
    let (above, below) = ((high - low) * 0.08 + 0.05, (high - low) * 0.08 + 0.05);
    let more = (LEAST_DECADES - (high - low) - above - below).max(0.0) / 2.0;
    [left - side..=right + side, low - below - more..=high + above + more]
}

/// Marks at multiples of `every`, of which each has a number.
fn whole_marks((low, high): (f64, f64), every: f64) -> Vec<GridMark> {
    let every = every.max(1.0);
    let first = (low / every).ceil() as i64;
    let marks = (first..).map(|nth| nth as f64 * every).take_while(|&value| value <= high);
    marks.filter(|&value| value >= 0.0).map(|value| GridMark { value, step_size: every }).collect()
}

/// Marks at 1, 2, 3 … 9 times the powers of ten.
fn speed_marks((low, high): (f64, f64)) -> Vec<GridMark> {
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

/// The number at a mark, if it has one: at the powers of ten, and between few of them also at 2 and 5.
fn speed_text(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    let decades = range.end() - range.start();
    let has_number = mark.step_size == 1.0 || (mark.step_size == 0.3 && decades < FEW_DECADES);
    if has_number { format::si_short(10f64.powf(mark.value)) } else { String::new() }
}
