//! "Plots" window: measured quantities against simulated time, and distributions of the bodies.

use std::cell::Cell;
use std::io::{self, Write};

use egui::{Color32, Label, Rangef, Rect, RichText, Vec2, vec2};
use egui_plot::{Axis, AxisHints, Line, Plot};

use super::action::{Action, Collector};
use super::distributions::DistributionPage;
use super::history::{History, QUANTITIES, Quantity};
use super::plot_lines::{is_difference, marks, number, simplified};
use super::widgets::{Chip, chips, small, tooltip};
use super::{overlay, theme};
use crate::base::{Unit, format, units};
use crate::session::Stats;

const COLUMNS: usize = 2;
/// Minimum and maximum height of a plot, in points. Plots shrink to fit a low window.
const HEIGHTS: [f32; 2] = [56.0, 110.0];
/// Combined height of a plot's title and x axis, in points.
const TITLE: f32 = 34.0;
/// Height of the window's contents other than the plots, in points.
const AROUND: f32 = 170.0;
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
    page: Page,
    distributions: DistributionPage,
}

/// A page of the Plots window.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Page {
    /// Measured quantities against simulated time.
    #[default]
    Time,
    /// Distributions of the bodies at one moment.
    Distributions,
}

/// All pages of the Plots window with their titles and tooltips, in the order in which the window lists them.
const PAGES: [(Page, &str, &str); 2] = [
    (Page::Time, "Over time", "Measured quantities plotted against simulated time"),
    (Page::Distributions, "Distributions", "Density profile and speeds of the bodies at the current step"),
];

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
    /// Returns whether the window shows the distributions of the bodies. If so, the simulation must compute them.
    pub fn shows_distributions(&self) -> bool {
        self.is_open && self.page == Page::Distributions
    }

    /// Returns the part of a saved file's name that identifies the shown page.
    pub fn file_name(&self) -> &'static str {
        match self.page {
            Page::Time => "plots",
            Page::Distributions => "distributions",
        }
    }

    /// Returns whether the shown page has data to save.
    pub(super) fn has_data(&self, stats: &Stats) -> bool {
        match self.page {
            Page::Time => !self.history.is_empty(),
            Page::Distributions => stats.distributions.is_some(),
        }
    }

    /// Writes the data of the shown page as CSV.
    ///
    /// # Errors
    /// Returns an error if `file` cannot be written.
    pub fn write_csv(&self, stats: &Stats, file: &mut dyn Write) -> io::Result<()> {
        match (self.page, &stats.distributions) {
            (Page::Distributions, Some(distributions)) => self.distributions.write_csv(distributions, file),
            _ => self.history.write_csv(file),
        }
    }

    /// Shows the Plots window if it is open, and returns the part of the picture that the window hides, if any. `stats`
    /// describes the frame on the screen. If the mode conserves energy, reserves space for the energy plot even before
    /// the energy is first measured.
    pub(super) fn show(&mut self, ctx: &egui::Context, stats: &Stats, out: &mut Collector) -> Option<Rect> {
        let config = &stats.config;
        let conserves = config.mode.conserves_energy();
        let unit = config.start.units.time.as_ref();
        let has_data = self.has_data(stats);
        let Self { is_open, history, saved, resets, lines, page, distributions } = self;
        let shown = overlay::window_beside(ctx, "Plots", is_open, 640.0).show(ctx, |ui| {
            let tabs = PAGES.iter().map(|(it, title, help)| Chip::new(title, help, it == page));
            if let Some(clicked) = chips(ui, out, ("plots page", "Page"), tabs) {
                (*page, *saved) = (PAGES[clicked].0, None);
            }
            let hint = match page {
                Page::Time => {
                    lines.update(ui.ctx(), history, unit);
                    grid(ui, lines, (conserves, *resets));
                    format!(
                        "Horizontal axis: {}. Scroll to zoom, drag to move, right-drag to select a range. Energy and \
                         momentum are measured at most ten times per second, and less often if measuring would slow the \
                         simulation.",
                        units::labelled("simulated time", unit),
                    )
                }
                Page::Distributions => distributions.show(ui, stats, out),
            };
            *resets = buttons(ui, *page, has_data, out);
            let hint = saved.as_ref().map_or(hint, |path| format!("Saved as {path}"));
            ui.add(Label::new(small(ui, hint)).wrap());
            // While the window fades in, or is laid out for the first time, the picture is visible behind it.
            let hides = ui.is_visible() && !ui.is_sizing_pass() && ui.opacity() >= 1.0;
            hides.then(|| ui.min_rect().intersect(ui.clip_rect()))
        });
        shown.filter(|_| self.is_open).and_then(|shown| shown.inner.flatten())
    }
}

/// A plotted quantity and its points (simulated time, value).
type Curve<'a> = (&'static Quantity, &'a [[f64; 2]]);

/// Shows the plots of all quantities that have data.
fn grid(ui: &mut egui::Ui, lines: &Lines, (conserves, resets): (bool, bool)) {
    let all = QUANTITIES.iter().zip(lines.points.iter().map(Vec::as_slice));
    let has_data = lines.points.iter().any(|points| points.len() > 1);
    let keeps_place = |it: &Quantity| conserves && has_data && it.key == "energy_drift";
    let shown: Vec<Curve> = all.filter(|(it, points)| points.len() > 1 || keeps_place(it)).collect();
    let shown: Vec<&[Curve]> = shown.chunk_by(|_, (it, _)| it.joins).collect();
    let rows = shown.len().div_ceil(COLUMNS).max(1) as f32;
    let height = (ui.ctx().available_rect().height() - AROUND) / rows - TITLE;
    let width = (ui.available_width() - ui.spacing().item_spacing.x) / COLUMNS as f32;
    let cell = vec2(width, height.clamp(HEIGHTS[0], HEIGHTS[1]));
    for row in shown.chunks(COLUMNS) {
        ui.horizontal_top(|ui| {
            row.iter().for_each(|curves| match curves {
                [(it, [])] => placeholder(ui, (it, "Not measured yet"), cell),
                [(it, [_])] => placeholder(ui, (it, "Only one measurement so far"), cell),
                curves => plot(ui, curves, (cell, lines, resets)),
            });
        });
    }
    if shown.is_empty() {
        ui.label(RichText::new("No data yet. Start the simulation.").color(theme::of(ui).weak));
    }
}

/// Shows the buttons below the plots; returns whether the user asked to reset the zoom.
fn buttons(ui: &mut egui::Ui, page: Page, has_data: bool, out: &mut Collector) -> bool {
    ui.horizontal(|ui| {
        let save = ui.add_enabled(has_data, egui::Button::new("Save CSV"));
        let save = save
            .on_hover_text("Save the plotted data to the folder in which gravitile was started")
            .on_disabled_hover_text("No data yet. Start the simulation.");
        out.button("save plots", &save, Action::SavePlots);
        if page != Page::Time {
            return false;
        }
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

/// Shows the plot of one or several quantities, with their labels and latest values above the axes.
fn plot(ui: &mut egui::Ui, curves: &[Curve], (cell, lines, resets): (Vec2, &Lines, bool)) {
    let unit = lines.unit.as_ref();
    let [from, to] = lines.times.map(|time| time * unit.map_or(1.0, |unit| unit.size));
    let after = unit.map_or_else(String::new, |unit| format!(" {}", unit.name));
    let key = curves[0].0.key;
    // The title changes one frame late, because drawing the axis decides whether its labels are differences.
    let (differs, differs_id) = (Cell::new(false), egui::Id::new(("differs", key)));
    let (low, high) = curves
        .iter()
        .flat_map(|(_, points)| *points)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), [_, value]| {
            (low.min(*value), high.max(*value))
        });
    ui.vertical(|ui| {
        ui.set_width(cell.x);
        let has_differences = ui.data(|data| data.get_temp(differs_id)) == Some(true);
        title(ui, curves, has_differences);
        let axis = |axis| AxisHints::new(axis).formatter(number).label_spacing(Rangef::new(0.0, 1.0));
        let y_axis = axis(Axis::Y).formatter(|mark, range| {
            differs.set(differs.get() || is_difference(mark));
            number(mark, range)
        });
        let mut plot = Plot::new(key)
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
        let colours = [0, 1].map(|nth| colour_of(ui, nth));
        let scroll = ui.input(|input| input.smooth_scroll_delta.y);
        plot.show(ui, |plot| {
            if scroll != 0.0 && plot.response().hovered() {
                plot.zoom_bounds_around_hovered(vec2(1.0 + scroll * ZOOM_PER_POINT, 1.0));
            }
            let bounds = plot.plot_bounds();
            let range = (!plot.auto_bounds().x).then(|| [bounds.min()[0], bounds.max()[0]]);
            for ((quantity, points), colour) in curves.iter().zip(colours) {
                plot.line(Line::new(quantity.label, simplified(points, range)).color(colour).width(1.5_f32));
            }
        });
        ui.data_mut(|data| data.insert_temp(differs_id, differs.get()));
    });
}

/// Returns the colour of a curve in a plot.
fn colour_of(ui: &egui::Ui, nth: usize) -> Color32 {
    if nth == 0 { theme::of(ui).accent } else { theme::of(ui).line_of(nth) }
}

/// Shows the labels and latest values of a plot's curves, and adds a note if the axis shows differences.
fn title(ui: &mut egui::Ui, curves: &[Curve], has_differences: bool) {
    let colours = theme::of(ui);
    let title = ui.horizontal(|ui| {
        for (nth, (quantity, points)) in curves.iter().enumerate() {
            let last = points.last().map_or(String::new(), |[_, value]| format::significant(*value, 3));
            ui.label(RichText::new(quantity.label).small().color(colours.text));
            ui.label(RichText::new(last).monospace().size(12.0).color(colour_of(ui, nth)));
        }
        if has_differences {
            ui.label(small(ui, "relative to the axis centre"));
        }
    });
    let note = "\n\nAxis labels with a + or − sign are differences from the value at the centre of the axis";
    let help = || curves.iter().map(|(quantity, _)| quantity.help).collect::<Vec<_>>().join("\n\n");
    tooltip(title.response, || help() + if has_differences { note } else { "" });
}
