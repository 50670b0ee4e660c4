//! The window with the plots of how numbers went.

use std::cell::Cell;
use std::ops::RangeInclusive;

use egui::{Align2, Label, Rangef, Rect, RichText, Vec2, vec2};
use egui_plot::{Axis, AxisHints, GridMark, Line, Plot};

use super::history::{History, QUANTITIES, Quantity};
use super::widgets::Sink;
use super::{Action, format, hud, theme};

/// Plots beside each other.
const COLUMNS: usize = 2;
/// The height of one, in points.
const HEIGHT: f32 = 110.0;
/// A notch of the wheel shows this share more, or less.
const ZOOM_PER_POINT: f32 = 1.0 / 200.0;
/// Lines of the grid this far apart, in points, would be as bright as text; nearer ones are fainter.
const GRID_FADES: f32 = 3000.0;
/// Marks along an axis, at most.
const MARKS: f64 = 4.0;
/// Room for a number beside an axis, in points.
const NUMBER_WIDTH: f32 = 64.0;
/// Lines are drawn anew this often, in seconds: to paint all of them takes as long as many steps where a processor draws.
const EVERY: f64 = 0.5;
/// A line has at most so many corners: more than there are pixels beside each other say nothing.
const CORNERS: usize = 256;

/// The plots, while they are shown.
#[derive(Debug, Default)]
pub(super) struct Plots {
    pub is_open: bool,
    /// Where they were written to last.
    pub saved: Option<String>,
    /// Whether the axes go back to showing everything.
    resets: bool,
    lines: Lines,
}

/// What is drawn of the history.
#[derive(Debug, Default)]
struct Lines {
    /// Of each of [`QUANTITIES`], and when they were taken.
    points: Vec<Vec<[f64; 2]>>,
    at: f64,
    /// The simulated times of the first and the last row, and of which seeding they are.
    times: [f64; 2],
    scene: (&'static str, u64),
}

impl Lines {
    /// Takes in how it went, if it is time.
    fn refresh(&mut self, ctx: &egui::Context, history: &History) {
        let now = ctx.input(|input| input.time);
        let (is_another, is_due) = (history.scene() != self.scene, (now - self.at).abs() >= EVERY);
        if is_another || is_due || self.points.is_empty() {
            let points = (0..QUANTITIES.len()).map(|nth| history.points(nth)).collect();
            *self = Self { points, at: now, times: history.times(), scene: history.scene() };
        } else if history.times() != self.times {
            ctx.request_repaint_after_secs((self.at + EVERY - now) as f32);
        }
    }
}

/// Shows the window while it is open; what is conserved keeps its place until it is measured. Where it hides the picture.
pub(super) fn show(
    ctx: &egui::Context,
    plots: &mut Plots,
    (history, conserves): (&History, bool),
    sink: &mut Sink,
    actions: &mut Vec<Action>,
) -> Option<Rect> {
    let Plots { is_open, saved, resets, lines } = plots;
    let free = ctx.available_rect().shrink(10.0);
    let width = (free.width() - hud::OUTER_WIDTH).clamp(320.0, 640.0);
    let window = egui::Window::new("Plots")
        .open(is_open)
        .collapsible(false)
        .default_width(width - 28.0)
        .min_width(300.0)
        .pivot(Align2::LEFT_BOTTOM)
        .default_pos(free.left_bottom());
    let shown = window.show(ctx, |ui| {
        lines.refresh(ui.ctx(), history);
        let all = QUANTITIES.iter().zip(&lines.points);
        let goes_on = lines.points.iter().any(|points| points.len() > 1);
        let keeps_place = |it: &Quantity| conserves && goes_on && it.key == "energy_drift";
        let shown: Vec<_> =
            all.filter(|(it, points)| points.len() > 1 || keeps_place(it)).collect();
        let cell = vec2((ui.available_width() - ui.spacing().item_spacing.x) / COLUMNS as f32, HEIGHT);
        for row in shown.chunks(COLUMNS) {
            ui.horizontal_top(|ui| {
                row.iter().for_each(|(it, points)| match &points[..] {
                    [] => unmeasured(ui, (it, "not measured yet"), cell),
                    [_] => unmeasured(ui, (it, "measured once so far"), cell),
                    points => plot(ui, it, points, (cell, lines.times, *resets)),
                });
            });
        }
        *resets = false;
        if shown.is_empty() {
            ui.label(RichText::new("Nothing yet: it has to run.").color(theme::of(ui).weak));
        }
        ui.horizontal(|ui| {
            let save = ui.add_enabled(!history.is_empty(), egui::Button::new("Save CSV"));
            let save = save
                .on_hover_text("the rows that are shown, into the folder in which gravitile was started")
                .on_disabled_hover_text("once it has run");
            sink.note("save plots", &save);
            if save.clicked() {
                actions.push(Action::SavePlots);
            }
            let whole =
                ui.button("Show all").on_hover_text("undo every zoom; a double click on a plot does too");
            sink.note("show all", &whole);
            *resets = whole.clicked();
        });
        let hint = match saved {
            Some(path) => format!("saved as {path}"),
            None => "Against simulated time. The wheel zooms, a drag moves, a right drag picks a part. Energy and \
                     momentum are measured up to ten times a second, and less often where that would slow the steps."
                .to_owned(),
        };
        ui.add(Label::new(RichText::new(hint).small().color(theme::of(ui).weak)).wrap());
        // While it fades in, or is measured for the first time, the picture shines through.
        let hides = ui.is_visible() && !ui.is_sizing_pass() && ui.opacity() >= 1.0;
        hides.then(|| ui.min_rect().intersect(ui.clip_rect()))
    });
    shown.filter(|_| *is_open).and_then(|shown| shown.inner.flatten())
}

/// The place of a plot that needs two numbers to begin.
fn unmeasured(ui: &mut egui::Ui, (quantity, words): (&Quantity, &str), cell: Vec2) {
    ui.vertical(|ui| {
        ui.set_width(cell.x);
        ui.label(RichText::new(quantity.label).small().color(theme::of(ui).text))
            .on_hover_text(quantity.help);
        let words = RichText::new(words).small().color(theme::of(ui).weak);
        ui.add_sized(cell.max(Vec2::ZERO), Label::new(words));
    });
}

/// One plot under its name and its last number.
fn plot(
    ui: &mut egui::Ui,
    quantity: &Quantity,
    points: &[[f64; 2]],
    (cell, [from, to], resets): (Vec2, [f64; 2], bool),
) {
    let colours = theme::of(ui);
    // Whether the axis shows differences is known once it is drawn.
    let (differs, differs_id) = (Cell::new(false), egui::Id::new(("differs", quantity.key)));
    let (low, high) = points.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), [_, value]| {
        (low.min(*value), high.max(*value))
    });
    let last = points.last().map_or(String::new(), |[_, value]| format::significant(*value, 3));
    ui.vertical(|ui| {
        ui.set_width(cell.x);
        let title = ui.horizontal(|ui| {
            ui.label(RichText::new(quantity.label).small().color(colours.text));
            ui.label(RichText::new(last).monospace().size(12.0).color(colours.accent));
            if ui.data(|data| data.get_temp(differs_id)) == Some(true) {
                ui.label(RichText::new("axis: off its middle").small().color(colours.weak));
            }
        });
        title
            .response
            .on_hover_text(format!("{}\n\nsigned numbers beside it are differences", quantity.help));
        let axis = |axis| AxisHints::new(axis).formatter(number).label_spacing(Rangef::new(0.0, 1.0));
        let upright = axis(Axis::Y).formatter(|mark, range| {
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
            .custom_y_axes(vec![upright.min_thickness(NUMBER_WIDTH)])
            .show_x(false)
            .allow_scroll(false)
            .label_formatter(|_, at| {
                let [x, y] = [at.x, at.y].map(|value| format::significant(value, 4));
                format!("{y}\nat time {x}")
            });
        if resets {
            plot = plot.reset();
        }
        let scroll = ui.input(|input| input.smooth_scroll_delta.y);
        plot.show(ui, |plot| {
            if scroll != 0.0 && plot.response().hovered() {
                plot.zoom_bounds_around_hovered(vec2(1.0 + scroll * ZOOM_PER_POINT, 1.0));
            }
            // Only a part of it that somebody chose is as wide as the plot.
            let bounds = plot.plot_bounds();
            let chosen = (!plot.auto_bounds().x).then(|| [bounds.min()[0], bounds.max()[0]]);
            plot.line(Line::new(quantity.label, drawn(points, chosen)).color(colours.accent).width(1.5_f32));
        });
        ui.data_mut(|data| data.insert_temp(differs_id, differs.get()));
    });
}

/// What is drawn of a line, or of the part that is between two times: where it is too long, the highest and the lowest of
/// neighbours.
fn drawn(points: &[[f64; 2]], chosen: Option<[f64; 2]>) -> Vec<[f64; 2]> {
    let part = chosen.map_or(points, |[from, to]| {
        let first = points.partition_point(|[time, _]| *time < from).saturating_sub(1);
        let end = points.partition_point(|[time, _]| *time <= to).saturating_add(1).min(points.len());
        &points[first.min(end)..end]
    });
    let neighbours = part.len().div_ceil(CORNERS / 2).max(2);
    let corners = part.chunks(neighbours).flat_map(|some| {
        let by_value = |a: &&[f64; 2], b: &&[f64; 2]| a[1].total_cmp(&b[1]);
        let (low, high) = (some.iter().min_by(by_value), some.iter().max_by(by_value));
        let [a, b] = [low, high].map(|it| it.copied().unwrap_or_default());
        if a[0] <= b[0] { [a, b] } else { [b, a] }
    });
    match part.len() > CORNERS {
        true => corners.chain(part.last().copied()).collect(),
        false => part.to_vec(),
    }
}

/// A few round numbers between two others.
fn marks((low, high): (f64, f64)) -> Vec<GridMark> {
    let rough = (high - low) / MARKS;
    if !(rough.is_finite() && rough > 0.0) {
        return Vec::new();
    }
    let decade = 10f64.powf(rough.log10().floor());
    let step_size = [1.0, 2.0, 5.0].map(|by| by * decade).into_iter().find(|step| *step >= rough);
    let step_size = step_size.unwrap_or(10.0 * decade);
    let first = (low / step_size).ceil() as i64;
    let all = (first..).map(|nth| nth as f64 * step_size).take_while(|value| *value <= high);
    all.map(|value| GridMark { value, step_size }).collect()
}

/// The number at a mark with as many digits as tell it from its neighbours, where these are not too many.
fn plain(GridMark { value, step_size }: GridMark) -> Option<String> {
    let places = (-step_size.log10().floor()).clamp(0.0, 12.0) as usize;
    let text = format!("{value:.places$}");
    (text.len() <= 9 && value.abs() < 1e6).then_some(text)
}

/// Whether what stands at a mark is how far it is from the middle of the axis.
fn is_difference(mark: GridMark) -> bool {
    plain(mark).is_none() && mark.step_size <= mark.value.abs() * 0.01
}

/// What stands at a mark: as many digits as tell it from its neighbours, or where that would be too many, how far it is from
/// the middle of the axis.
fn number(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    let GridMark { value, step_size } = mark;
    if let Some(text) = plain(mark) {
        return text;
    }
    if !is_difference(mark) {
        return format!("{value:.1e}");
    }
    let middle = ((range.start() + range.end()) / 2.0 / step_size).round() * step_size;
    let off = ((value - middle) / step_size).round() * step_size;
    if off == 0.0 { "±0".to_owned() } else { format!("{off:+.0e}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_has_few_corners_and_all_of_its_peaks() {
        let mut points: Vec<_> = (0..2000).map(|nth| [f64::from(nth), f64::from(nth % 7)]).collect();
        assert_eq!(drawn(&points[..CORNERS], None), points[..CORNERS]);
        (points[1234][1], points[77][1]) = (50.0, -50.0);
        let all = drawn(&points, None);
        assert!(all.len() <= CORNERS + 2 && all.is_sorted_by(|a, b| a[0] <= b[0]), "{}", all.len());
        assert!(all.contains(&points[1234]) && all.contains(&points[77]) && all.contains(&points[1999]));
        // Who looks closer sees each of them, and where the line comes from and goes to.
        assert_eq!(drawn(&points, Some([1200.5, 1300.0])), points[1200..1302]);
        assert_eq!(drawn(&points, Some([1990.0, 1e9])), points[1989..]);
        assert_eq!(drawn(&points, Some([-5.0, -1.0])), points[..1]);
        assert!(drawn(&[], None).is_empty() && drawn(&[], Some([0.0, 1.0])).is_empty());
    }

    #[test]
    fn marks_are_few_and_round_and_each_has_a_number_of_its_own() {
        for (low, high) in
            [(0.0, 1.0), (-3e-9, 7e-9), (119.0, 247.0), (0.318_999_99, 0.319_000_02), (1e7, 9e7), (-2.0, 0.1)]
        {
            let all = marks((low, high));
            assert!((2..=6).contains(&all.len()), "{low} to {high}: {}", all.len());
            assert!(all.iter().all(|mark| (low..=high).contains(&mark.value)));
            let texts: Vec<String> = all.iter().map(|mark| number(*mark, &(low..=high))).collect();
            assert!(texts.windows(2).all(|pair| pair[0] != pair[1]), "{texts:?}");
            assert!(texts.iter().all(|text| text.chars().count() <= 9), "{texts:?}");
        }
        assert!(marks((1.0, 1.0)).is_empty() && marks((f64::NAN, 1.0)).is_empty());
    }
}
