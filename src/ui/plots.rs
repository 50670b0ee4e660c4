//! "Plots" window: measured quantities against simulated time.

use std::cell::Cell;

use egui::{Label, Rangef, Rect, RichText, Vec2, vec2};
use egui_plot::{Axis, AxisHints, Line, Plot};

use super::action::{Action, Collector};
use super::history::{History, QUANTITIES, Quantity};
use super::plot_lines::{is_difference, marks, number, simplified};
use super::widgets::{small, tooltip};
use super::{overlay, theme};
use crate::base::{Unit, format, units};
use crate::engine::Config;

const COLUMNS: usize = 2;
const HEIGHT: f32 = 110.0;
/// Relative change in a plot's zoom per point of scrolling.
const ZOOM_PER_POINT: f32 = 1.0 / 200.0;
/// Spacing of grid lines, in points, at which they reach full brightness; closer grid lines are fainter.
const GRID_FADES: f32 = 3000.0;
/// Width reserved for the number labels beside the y axis, in points.
const NUMBER_WIDTH: f32 = 64.0;
/// Interval between updates of the plotted lines, in seconds. More frequent updates would slow down a software renderer.
const INTERVAL: f64 = 0.5;

/// State of the Plots window.
#[derive(Debug, Default)]
pub struct Plots {
    /// Whether the Plots window is shown.
    pub is_open: bool,
    /// Values of all measured quantities, recorded since the scene was last started.
    pub history: History,
    /// Path of the CSV file that was last written.
    pub saved: Option<String>,
    /// Whether the next frame resets the axes to show all points.
    resets: bool,
    lines: Lines,
}

/// The points that the plots show, copied from the history at intervals.
#[derive(Debug, Default)]
struct Lines {
    /// Points (simulated time, value) of each quantity in [`QUANTITIES`], with times in the scene's unit.
    points: Vec<Vec<[f64; 2]>>,
    /// Time at which the points were last copied, in seconds of egui's clock.
    at: f64,
    /// Simulated times of the first and last recorded rows.
    times: [f64; 2],
    /// Unit of the plotted times; `None` for scene units.
    unit: Option<Unit>,
    /// Mode and generation (see [`Stats::generation`](crate::session::Stats)) of the plotted scene.
    scene: (&'static str, u64),
}

impl Lines {
    /// Copies the plotted points from the history if an update is due.
    fn update(&mut self, ctx: &egui::Context, history: &History, unit: Option<&Unit>) {
        let now = ctx.input(|input| input.time);
        let (is_another, is_due) = (history.scene != self.scene, (now - self.at).abs() >= INTERVAL);
        if is_another || is_due || self.points.is_empty() || self.unit.as_ref() != unit {
            let size = unit.map_or(1.0, |unit| unit.size);
            let points =
                |nth| history.points(nth).into_iter().map(|[time, value]| [time * size, value]).collect();
            let points = (0..QUANTITIES.len()).map(points).collect();
            let unit = unit.cloned();
            *self = Self { points, at: now, times: history.times(), unit, scene: history.scene };
        } else if history.times() != self.times {
            ctx.request_repaint_after_secs((self.at + INTERVAL - now) as f32);
        }
    }
}

impl Plots {
    /// Shows the window if it is open, and returns the part of the picture that the window hides, if any. `config` belongs to
    /// the frame on the screen. If the mode conserves energy, reserves space for the energy plot even before the energy is
    /// first measured.
    pub(super) fn show(&mut self, ctx: &egui::Context, config: &Config, out: &mut Collector) -> Option<Rect> {
        let conserves = config.mode.conserves_energy();
        let unit = config.start.units.time.as_ref();
        let Self { is_open, history, saved, resets, lines } = self;
        let shown = overlay::window_beside(ctx, "Plots", is_open, 640.0).show(ctx, |ui| {
            lines.update(ui.ctx(), history, unit);
            grid(ui, lines, (conserves, *resets));
            *resets = buttons(ui, !history.is_empty(), out);
            let hint = match saved {
                Some(path) => format!("Saved as {path}"),
                None => format!(
                    "Horizontal axis: {}. Scroll to zoom, drag to move, right-drag to select a range. Energy and \
                     momentum are measured up to ten times per second, or less often if that would slow the simulation.",
                    units::labelled("simulated time", unit),
                ),
            };
            ui.add(Label::new(small(ui, hint)).wrap());
            // While the window fades in, or is laid out for the first time, the picture is visible behind it.
            let hides = ui.is_visible() && !ui.is_sizing_pass() && ui.opacity() >= 1.0;
            hides.then(|| ui.min_rect().intersect(ui.clip_rect()))
        });
        shown.filter(|_| self.is_open).and_then(|shown| shown.inner.flatten())
    }
}

/// Shows the plots of all quantities that have data.
fn grid(ui: &mut egui::Ui, lines: &Lines, (conserves, resets): (bool, bool)) {
    let all = QUANTITIES.iter().zip(&lines.points);
    let has_data = lines.points.iter().any(|points| points.len() > 1);
    let keeps_place = |it: &Quantity| conserves && has_data && it.key == "energy_drift";
    let shown: Vec<_> = all.filter(|(it, points)| points.len() > 1 || keeps_place(it)).collect();
    let cell = vec2((ui.available_width() - ui.spacing().item_spacing.x) / COLUMNS as f32, HEIGHT);
    for row in shown.chunks(COLUMNS) {
        ui.horizontal_top(|ui| {
            row.iter().for_each(|(it, points)| match &points[..] {
                [] => placeholder(ui, (it, "Not measured yet"), cell),
                [_] => placeholder(ui, (it, "Only one measurement so far"), cell),
                points => plot(ui, it, points, (cell, lines, resets)),
            });
        });
    }
    if shown.is_empty() {
        ui.label(RichText::new("No data yet. Start the simulation.").color(theme::of(ui).weak));
    }
}

/// Shows the buttons below the plots; returns whether the user asked to reset the zoom.
fn buttons(ui: &mut egui::Ui, has_rows: bool, out: &mut Collector) -> bool {
    ui.horizontal(|ui| {
        let save = ui.add_enabled(has_rows, egui::Button::new("Save CSV"));
        let save = save
            .on_hover_text("Save the plotted data to the folder that gravitile was started in")
            .on_disabled_hover_text("No data yet. Start the simulation.");
        out.button("save plots", &save, Action::SavePlots);
        let reset = ui.button("Reset zoom").on_hover_text("Show all data. You can also double-click a plot");
        out.record("show all", &reset);
        reset.clicked()
    })
    .inner
}

/// Shows text in place of a plot with fewer than two points.
fn placeholder(ui: &mut egui::Ui, (quantity, text): (&Quantity, &str), cell: Vec2) {
    ui.vertical(|ui| {
        ui.set_width(cell.x);
        let label = RichText::new(quantity.label).small().color(theme::of(ui).text);
        ui.label(label).on_hover_text(quantity.help);
        let text = small(ui, text);
        ui.add_sized(cell.max(Vec2::ZERO), Label::new(text));
    });
}

/// Shows the plot of one quantity, with its label and its latest value above the axes.
fn plot(
    ui: &mut egui::Ui,
    quantity: &Quantity,
    points: &[[f64; 2]],
    (cell, lines, resets): (Vec2, &Lines, bool),
) {
    let unit = lines.unit.as_ref();
    let [from, to] = lines.times.map(|time| time * unit.map_or(1.0, |unit| unit.size));
    let after = unit.map_or_else(String::new, |unit| format!(" {}", unit.name));
    let accent = theme::of(ui).accent;
    // The title changes one frame late, because drawing the axis decides whether its labels are differences.
    let (differs, differs_id) = (Cell::new(false), egui::Id::new(("differs", quantity.key)));
    let (low, high) = points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), [_, value]| {
        (low.min(*value), high.max(*value))
    });
    ui.vertical(|ui| {
        ui.set_width(cell.x);
        let has_differences = ui.data(|data| data.get_temp(differs_id)) == Some(true);
        title(ui, quantity, points.last().map(|[_, value]| *value), has_differences);
        let axis = |axis| AxisHints::new(axis).formatter(number).label_spacing(Rangef::new(0.0, 1.0));
        let y_axis = axis(Axis::Y).formatter(|mark, range| {
            differs.set(differs.get() || is_difference(mark));
            number(mark, range)
        });
        let mut plot = Plot::new(quantity.key)
            .width(cell.x)
            .height(cell.y)
            .link_axis("plots", [true, false])
            .include_x(from)
            .include_x(to)
            .include_y(low)
            .include_y(high)
            .grid_spacing(Rangef::new(1.0, GRID_FADES))
            .x_grid_spacer(|input| marks(input.bounds))
            .y_grid_spacer(|input| marks(input.bounds))
            .custom_x_axes(vec![axis(Axis::X)])
            .custom_y_axes(vec![y_axis.min_thickness(NUMBER_WIDTH)])
            .show_x(false)
            .allow_scroll(false)
            .label_formatter(|_, at| {
                let [x, y] = [at.x, at.y].map(|value| format::significant(value, 4));
                format!("{y}\nat time {x}{after}")
            });
        if resets {
            plot = plot.reset();
        }
        let scroll = ui.input(|input| input.smooth_scroll_delta.y);
        plot.show(ui, |plot| {
            if scroll != 0.0 && plot.response().hovered() {
                plot.zoom_bounds_around_hovered(vec2(1.0 + scroll * ZOOM_PER_POINT, 1.0));
            }
            let bounds = plot.plot_bounds();
            let range = (!plot.auto_bounds().x).then(|| [bounds.min()[0], bounds.max()[0]]);
            plot.line(Line::new(quantity.label, simplified(points, range)).color(accent).width(1.5_f32));
        });
        ui.data_mut(|data| data.insert_temp(differs_id, differs.get()));
    });
}

/// Shows a plot's label and latest value, and adds a note if the axis shows differences.
fn title(ui: &mut egui::Ui, quantity: &Quantity, last: Option<f64>, has_differences: bool) {
    let colours = theme::of(ui);
    let last = last.map_or(String::new(), |value| format::significant(value, 3));
    let title = ui.horizontal(|ui| {
        ui.label(RichText::new(quantity.label).small().color(colours.text));
        ui.label(RichText::new(last).monospace().size(12.0).color(colours.accent));
        if has_differences {
            ui.label(small(ui, "relative to the axis centre"));
        }
    });
    let note = "\n\nAxis labels with a sign are relative to the value at the centre of the axis";
    tooltip(title.response, || quantity.help.to_owned() + if has_differences { note } else { "" });
}
