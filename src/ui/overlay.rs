//! Overlay at the top right of the picture: speed, frame rate, error and the legend of the colours. Expanded, it also
//! shows details of accuracy, the variants measured so far, and how devices share the work.

use std::borrow::Cow;

use egui::text::{LayoutJob, TextFormat};
use egui::{
    Align, Align2, FontFamily, FontId, Layout, Rect, RichText, ScrollArea, Vec2, WidgetInfo, WidgetType, vec2,
};

use super::action::{Action, Collector};
use super::history::{ENERGY_HELP, MOMENTUM_HELP, momentum_share};
use super::model::Model;
use super::swatches::colour_strip;
use super::warnings::Warning;
use super::widgets::{shortcut_button, small, tooltip};
use super::{keys, sparkline, theme};
use crate::base::format;
use crate::base::look::Srgb;
use crate::modes::accuracy::{self, SampleErrors};
use crate::modes::{ColourScale, Recipe, Sharing};
use crate::session::{ErrorColours, Rung, Stats};

/// Width of the overlay's contents, in points. The longest row fits, so that changing numbers do not shift the layout.
const WIDTH: f32 = 268.0;
/// Margin inside and outside the overlay's frame, in points.
const MARGIN: f32 = 10.0;
/// Width of the overlay including its margins, in points.
const OUTER_WIDTH: f32 = WIDTH + 3.0 * MARGIN;
/// Minimum width, in points, of a picture beside the panel for which the overlay is shown.
pub(super) const NARROWEST: f32 = 200.0;
/// Picture height, in points, below which the overlay starts collapsed.
const LOW: f32 = 500.0;
/// Heights of the collapsed overlay over a large and a small picture, in points. Rows that are not always shown do not
/// count. The picture of a flow leaves this height free for the overlay.
const REST_HEIGHTS: [f32; 2] = [110.0, 40.0];
/// Tooltip for the rows that compare the variants.
const VARIANTS_HELP: &str = "Last measurement of each variant with this number of bodies or cells: speed on the device, and relative error";
/// Tooltip for the legend shown while colours represent force errors.
const ERRORS_HELP: &str = "The colour of a body is the relative error of its force, |δa|/|a|, compared with a sum over all bodies in double precision. The scale is logarithmic. Grey bodies have not been measured yet: the live check measures some bodies at a time, in turn, so that the check takes at most 2 % of the time (more while the simulation is paused). Each body keeps its colour until it is measured again.";
/// Size of the colour bar in the legend, in points.
const LEGEND: Vec2 = vec2(52.0, 10.0);
/// Size of a number at an end of the colour bar, in points. The longest number fits, so that the bar does not move.
const END: Vec2 = vec2(54.0, 14.0);
/// Text shown instead of a value that has not been measured.
const UNKNOWN: &str = "–";

/// A line of the overlay: a label, a value and a tooltip.
pub(super) struct Row {
    label: Cow<'static, str>,
    value: String,
    help: Cow<'static, str>,
    tone: Tone,
}

/// Emphasis of a row in the overlay.
#[derive(Clone, Copy)]
enum Tone {
    Strong,
    Plain,
    Weak,
    Warning,
}

pub(super) fn row(
    label: impl Into<Cow<'static, str>>,
    value: impl Into<String>,
    help: impl Into<Cow<'static, str>>,
) -> Row {
    Row { label: label.into(), value: value.into(), help: help.into(), tone: Tone::Plain }
}

impl Row {
    /// Returns the row, highlighted as a warning if `warns` is true.
    fn warns(self, warns: bool) -> Self {
        Self { tone: if warns { Tone::Warning } else { self.tone }, ..self }
    }
}

/// State of the overlay: whether it is expanded, and the area of the toolbar, which it must not cover.
#[derive(Debug, Default)]
pub(super) struct Fold {
    /// Whether the overlay shows all statistics.
    is_expanded: bool,
    /// Whether the picture is so small that the collapsed overlay shows only its headline.
    is_small: bool,
    /// Rectangle of the toolbar in the previous frame.
    pub tools: Option<Rect>,
    /// Size of the corner of the picture that the collapsed overlay covers, with its margins.
    pub covered: Vec2,
}

impl Fold {
    /// Adapts the overlay to the size of `picture`.
    fn update(&mut self, picture: Rect) {
        let is_small = picture.width() < 2.0 * OUTER_WIDTH || picture.height() < LOW;
        // The choice to expand the overlay over a large picture does not apply to a small picture.
        self.is_expanded &= !is_small || self.is_small;
        self.is_small = is_small;
    }

    /// Returns the height available to the overlay, in points. In a narrow picture, the toolbar takes up some of it.
    fn room(&self, picture: Rect) -> f32 {
        let beside = |tools: &Rect| tools.right() + OUTER_WIDTH < picture.right();
        let below = self.tools.filter(|tools| !beside(tools)).map_or(0.0, |tools| tools.height() + MARGIN);
        (picture.height() - 2.0 * MARGIN - below).max(0.0)
    }

    /// Collapses or expands the overlay.
    pub(super) fn toggle(&mut self) {
        self.is_expanded ^= true;
    }
}

/// Returns a window at the lower left of the picture. The window leaves room for the overlay and is initially at most
/// `most` points wide.
pub(super) fn window_beside<'a>(
    ctx: &egui::Context,
    title: &'a str,
    is_open: &'a mut bool,
    most: f32,
) -> egui::Window<'a> {
    let free = ctx.available_rect().shrink(MARGIN);
    let width = (free.width() - OUTER_WIDTH).clamp(320.0, most);
    egui::Window::new(title)
        .open(is_open)
        .collapsible(false)
        .default_width(width - 28.0)
        .min_width(300.0)
        .pivot(Align2::LEFT_BOTTOM)
        .default_pos(free.left_bottom())
}

/// Shows the overlay and returns its rectangle. If `status` is given, the headline shows `status` instead of the speed.
pub(super) fn show(
    ctx: &egui::Context,
    model: &Model,
    (fold, status, warnings): (&mut Fold, Option<&str>, &[Warning]),
    out: &mut Collector,
) -> Rect {
    let picture = ctx.available_rect();
    fold.update(picture);
    let (is_expanded, room) = (fold.is_expanded, fold.room(picture));
    // `Order::Background` would pass clicks on to the picture.
    let area = egui::Area::new("overlay".into())
        .anchor(Align2::RIGHT_TOP, [-MARGIN, MARGIN])
        .order(egui::Order::Middle);
    let shown = area.show(ctx, |ui| {
        theme::veil(ui).inner_margin(MARGIN).show(ui, |ui| {
            ui.set_width(WIDTH.min(picture.width() - 4.0 * MARGIN).max(1.0));
            ui.spacing_mut().item_spacing.y = 3.0;
            ui.spacing_mut().interact_size.y = 0.0;
            // Without this call, an egui area limits its contents to the size of the last frame.
            ui.set_max_height(room);
            headline(ui, model, (is_expanded, status), out);
            if model.stats.has_started() && (is_expanded || !fold.is_small) {
                let left = room - ui.min_rect().height() - 2.0 * MARGIN;
                let scroll = ScrollArea::vertical().auto_shrink([false, true]).min_scrolled_height(0.0);
                scroll.max_height(left.max(0.0)).show(ui, |ui| {
                    summary(ui, model);
                    warnings.iter().for_each(|warning| warning.show(ui, out));
                    if is_expanded {
                        details(ui, model);
                    }
                });
            }
        });
    });
    let place = shown.response.rect;
    // This height does not depend on the rows, because the picture of a flow would otherwise move whenever they change.
    let height = REST_HEIGHTS[usize::from(fold.is_small)];
    fold.covered = vec2(place.width(), height) + Vec2::splat(2.0 * MARGIN);
    place
}

/// Shows the most important statistics, always in the same rows, then the legend of the colours.
fn summary(ui: &mut egui::Ui, model: &Model) {
    ui.add_space(4.0);
    show_rows(ui, &rates(model));
    show_rows(ui, &[error_row(model)]);
    match model.stats.error_colours {
        Some(colours) => legend_of_errors(ui, model, colours),
        None => legend(ui, model),
    }
    show_variants(ui, model);
}

fn details(ui: &mut egui::Ui, model: &Model) {
    ui.add_space(6.0);
    show_rows(ui, &timings(model));
    show_rows(ui, &setup(model));
    ui.add_space(6.0);
    show_rows(ui, &accuracy_rows(model));
    sparkline::show(ui, model);
    let devices = devices(model);
    if !devices.is_empty() {
        ui.add_space(6.0);
        show_rows(ui, &devices);
    }
}

/// Shows a table of the kernel variants measured so far, if there are at least two. Other rows describe a single
/// variant.
fn show_variants(ui: &mut egui::Ui, model: &Model) {
    let variants = variants(model);
    if variants.len() > 1 {
        ui.add_space(6.0);
        let titles = ("speed", "error");
        show_rows(ui, &[two_columns("Variants measured", titles, (VARIANTS_HELP, Tone::Weak))]);
        show_rows(ui, &variants);
    }
}

/// Says that no body is in view, and shows a button that brings the bodies back into view.
pub(super) fn show_way_back(ctx: &egui::Context, model: &Model, out: &mut Collector) {
    let area = egui::Area::new("way back".into()).anchor(Align2::CENTER_CENTER, [0.0, 0.0]);
    area.show(ctx, |ui| {
        theme::veil(ui).inner_margin(MARGIN).show(ui, |ui| {
            ui.horizontal(|ui| {
                ui.label(format!("All {} are out of view.", model.stats.config.mode.info().work.things));
                shortcut_button(ui, out, ("frame all", "Show all (F)"), Action::FrameAll);
            });
        });
    });
}

/// Shows the headline of the overlay: the speed, or `status` if given. A click collapses or expands the overlay.
fn headline(
    ui: &mut egui::Ui,
    model: &Model,
    (is_expanded, status): (bool, Option<&str>),
    out: &mut Collector,
) {
    let work = &model.stats.config.mode.info().work;
    let rate = model.stats.work_per_second();
    let unit = work.name.map_or_else(|| format!("{}/s", work.unit), str::to_owned);
    let (number, text, aside) = match (model.stats.has_started(), status) {
        (false, _) => (String::new(), "Starting…", String::new()),
        (true, Some(status)) => (String::new(), status, String::new()),
        (true, None) if rate == 0.0 => (String::new(), "Computing…", String::new()),
        (true, None) => {
            let flops = work.flops.map(|flops| format!("({}FLOP/s)", format::si(rate * flops)));
            let number = match work.name {
                Some(_) => format::significant(work.reported(rate), 3),
                None => format::si(rate),
            };
            (format!("{number} "), unit.as_str(), flops.unwrap_or_default())
        }
    };
    let font = |family| TextFormat::simple(FontId::new(15.0, family), theme::of(ui).strong);
    let mut large = LayoutJob::default();
    large.append(&number, 0.0, font(FontFamily::Monospace));
    large.append(text, 0.0, font(FontFamily::Proportional));
    let line = ui.horizontal(|ui| {
        ui.label(large);
        ui.label(small(ui, aside));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.label(small(ui, if is_expanded { "⏶" } else { "⏷" }));
        });
    });
    let line = line.response.interact(egui::Sense::click());
    let enabled = line.enabled();
    line.widget_info(|| WidgetInfo::labeled(WidgetType::Button, enabled, "Statistics"));
    out.button("numbers", &line, Action::ToggleNumbers);
    tooltip(line, || format!("{}\n\n{}", work.help, keys::hint(&Action::ToggleNumbers)));
}

/// Formats a positive `value` with an SI prefix and its `unit`. Returns [`UNKNOWN`] for 0, which means "not measured".
fn measured(value: f64, unit: &str) -> String {
    if value > 0.0 { format::si(value) + unit } else { UNKNOWN.to_owned() }
}

fn milliseconds(ms: f64) -> String {
    measured(ms / 1e3, "s")
}

fn rates(model: &Model) -> [Row; 2] {
    let Model { config, stats, window, .. } = model;
    // Rates are known only while the simulation runs.
    let (frames, steps) = match config.running {
        true => (format!("{:.0} fps", window.fps), measured(stats.steps_per_second, "steps/s")),
        false => (UNKNOWN.to_owned(), UNKNOWN.to_owned()),
    };
    [
        row("Frame rate", frames, "Frames drawn per second"),
        row("Step rate", steps, "Simulation steps per second of real time"),
    ]
}

fn timings(model: &Model) -> Vec<Row> {
    let Model { config, stats, window, .. } = model;
    let busy = match config.running && stats.device_busy > 0.0 {
        true => format!(" · {:.0} % busy", stats.device_busy * 100.0),
        false => String::new(),
    };
    let limit = stats.share_of_limit().map_or(UNKNOWN.to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let step_help = "Time that the device needs for one step. “Busy” is the share of time that the device spends on steps; for the rest of the time, it is idle";
    let draw_help = "Time to upload the frame's data to OpenGL and to draw the frame";
    vec![
        row("Step on device", milliseconds(stats.device_ms_per_step) + &busy, step_help),
        row("Share of peak", limit, stats.config.mode.info().limit.help()),
        row("Read back", milliseconds(stats.read_ms), "Time to copy the frame's data from the device"),
        row("Upload + draw", milliseconds(window.upload_ms + window.draw_ms), draw_help),
    ]
}

fn setup(model: &Model) -> Vec<Row> {
    let Model { stats, device, .. } = model;
    let label = stats.config.mode.info().work.label.0;
    let variant = format!("{} · {}", stats.variant, stats.work_group);
    let help = "Name of the kernel variant in use, and its work-group size: the number of work-items that run together";
    vec![
        row(label, format::count(stats.bodies as u64), "Number of bodies or cells in this simulation"),
        row("Variant", variant, help),
        row("Device", device.name.as_str(), "Device that computes the steps"),
    ]
}

/// Returns the row with the error of the last step, highlighted if it is larger than usual for the variant in use.
fn error_row(model: &Model) -> Row {
    let (stats, mode) = (model.stats, &model.stats.config.mode);
    let (label, help) = mode.info().error;
    let in_use = mode.info().variant(stats.variant).map(|variant| {
        let chosen = model.recipe.filter(|recipe| recipe.variant == variant);
        chosen.unwrap_or_else(|| Recipe::guess(variant, model.device, stats.bodies))
    });
    let alarm = in_use.map_or(f64::INFINITY, |recipe| mode.alarm(&recipe));
    let worries = stats.relative_error.is_some_and(|error| error > alarm);
    let spread = stats.errors.map(|errors| format!("\n\nLast measurement: {}.", errors.spread()));
    let (alarm, spread) = (accuracy::text(Some(alarm)), spread.unwrap_or_default());
    let help = format!(
        "{help} The number shown is the root mean square. Values above {alarm} are highlighted as a warning.{spread}"
    );
    row(label, accuracy::text(stats.relative_error), help).warns(worries)
}

fn accuracy_rows(model: &Model) -> Vec<Row> {
    let (stats, mode) = (model.stats, &model.stats.config.mode);
    let mut rows = Vec::new();
    if let Some(SampleErrors { p99: Some(p99), max, .. }) = stats.errors {
        let [p99, max] = [p99, max].map(|error| accuracy::text(Some(error)));
        rows.push(row("99th percentile · largest", format!("{p99} · {max}"), mode.info().error.1));
    }
    if mode.conserves_energy() {
        let drift = stats.energy_drift.map_or(UNKNOWN.to_owned(), |drift| format!("{drift:+.2e}"));
        rows.push(row("Energy drift", drift, ENERGY_HELP));
    }
    let Some(diagnostics) = &stats.diagnostics else { return rows };
    if mode.info().work.shows_momentum {
        let share = format!("{:.2e}", momentum_share(stats).unwrap_or(0.0));
        let help = format!("{MOMENTUM_HELP}. The total momentum is constant if there are no external forces");
        rows.push(row("Momentum", share, help));
    }
    // The sparkline already shows its reading with a separate label.
    let drawn = mode.info().series.as_ref().map(|series| series.key);
    let readings = diagnostics.readings.iter().filter(|reading| Some(reading.key) != drawn);
    rows.extend(readings.map(|it| row(it.label, it.text(), it.help).warns(it.warns)));
    rows
}

/// Shows the number of measured bodies and the colour scale, while colours represent force errors.
fn legend_of_errors(ui: &mut egui::Ui, model: &Model, ErrorColours { measured, decades }: ErrorColours) {
    let [some, all] = [measured, model.stats.bodies].map(|count| format::count(count as u64));
    show_rows(ui, &[row("Bodies measured", format!("{some} of {all}"), ERRORS_HELP)]);
    if measured > 0 {
        let ends = decades.map(|exponent| format!("1e{exponent}"));
        let palette = model.look.palette;
        let theme = model.look.theme;
        colour_scale(ui, |share| theme.shown(palette.colour(share)), (("Colour", ""), ends), ERRORS_HELP);
    }
}

/// Shows the colour scale with the values at its ends, if the mode describes what the colours show.
fn legend(ui: &mut egui::Ui, model: &Model) {
    let config = &model.stats.config;
    let Some(scale) = config.mode.colour_scale() else { return };
    let ColourScale { name, is_log, .. } = scale;
    let unit = scale.unit.of(&config.start.units);
    let size = unit.as_ref().map_or(1.0, |unit| unit.size);
    let ends = model.value_range.map(|value| {
        let value = f64::from(value);
        format::significant(size * if is_log { 10f64.powf(value) } else { value }, 2)
    });
    let unit = unit.map_or_else(String::new, |unit| unit.name);
    let shown_unit = if unit.is_empty() { "scene units" } else { &unit };
    let spacing = if is_log { ", on a logarithmic scale" } else { "" };
    let help = format!(
        "Colours show {} in {shown_unit}{spacing}. Values outside the range have the colour of the nearer end.",
        name.to_lowercase()
    );
    let (palette, theme) = (model.look.palette, model.look.theme);
    colour_scale(ui, |share| theme.shown(scale.colour(palette, share)), ((name, &unit), ends), &help);
}

/// Shows the name of a quantity, its unit, and a bar of colours between the lowest and the highest value.
fn colour_scale(
    ui: &mut egui::Ui,
    colour: impl Fn(f32) -> Srgb,
    ((name, unit), ends): ((&str, &str), [String; 2]),
    help: &str,
) {
    let line = ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 4.0;
        ui.label(small(ui, name));
        ui.label(RichText::new(unit).size(11.0).color(theme::of(ui).weak));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let [low, high] =
                ends.map(|text| RichText::new(text).monospace().size(11.0).color(theme::of(ui).text));
            ui.add_sized(END, egui::Label::new(high));
            let (rect, _) = ui.allocate_exact_size(LEGEND, egui::Sense::hover());
            ui.painter().add(colour_strip(colour, rect));
            ui.add_sized(END, egui::Label::new(low));
        });
    });
    line.response.on_hover_text(help);
}

/// Returns one row for each measured kernel variant, from slowest to fastest, with the variant's latest measurement.
fn variants(model: &Model) -> Vec<Row> {
    let Stats { ladder, variant: in_use, .. } = model.stats;
    let measured = |name| ladder.iter().find(|seen| seen.variant == name);
    let seen = model.stats.config.mode.info().variants.iter().filter_map(|variant| measured(variant.name));
    seen.map(|Rung { variant, pairs_per_second, relative_error, .. }| {
        let tone = if variant == in_use { Tone::Strong } else { Tone::Weak };
        let speed = format!("{}/s", format::si(*pairs_per_second));
        two_columns(*variant, (&speed, &accuracy::text(*relative_error)), (VARIANTS_HELP, tone))
    })
    .collect()
}

fn two_columns(
    label: impl Into<Cow<'static, str>>,
    (first, second): (&str, &str),
    (help, tone): (&'static str, Tone),
) -> Row {
    Row { tone, ..row(label, format!("{first:>8} {second:>8}"), help) }
}

/// Returns rows that show each device's share of the work and the cost of sharing it, or no rows for a single device.
fn devices(model: &Model) -> Vec<Row> {
    let Some(Sharing { members, exchange_ms, efficiency, .. }) = &model.stats.sharing else {
        return match model.stats.config.devices.len() {
            2.. => {
                let help =
                    "This kernel variant cannot run on several devices: the first device computes everything";
                vec![row("Devices", format!("{}: first device only", model.stats.variant), help)]
            }
            _ => Vec::new(),
        };
    };
    let help = "Each device's share of the work and its time per step. A device that would slow the others down gets no work";
    let mut rows = vec![two_columns("Devices", ("share", "step"), (help, Tone::Weak))];
    rows.extend(members.iter().map(|member| {
        let share = format!("{:.1} %", 100.0 * member.share);
        let tone = if member.share > 0.0 { Tone::Plain } else { Tone::Weak };
        let label = format!("{} {}", member.index, shorten(&member.device));
        two_columns(label, (&share, &milliseconds(member.step_ms)), (help, tone))
    }));
    let help = "Time per step to exchange results between the devices, after the slowest device has finished its share";
    rows.push(row("Exchange", milliseconds(*exchange_ms), help));
    let percent = if *efficiency > 0.0 { format!("{:.0} %", 100.0 * efficiency) } else { UNKNOWN.to_owned() };
    let help =
        "Speed of all devices together, divided by the sum of the speeds that each device reaches alone";
    rows.push(row("Efficiency", percent, help));
    rows
}

/// Shortens a long device name by replacing its middle with an ellipsis.
fn shorten(name: &str) -> String {
    const MOST: usize = 18;
    let letters: Vec<char> = name.chars().collect();
    match letters.len() {
        0..=MOST => name.to_owned(),
        len => {
            let (start, end) = (&letters[..MOST / 2], &letters[len - MOST / 2..]);
            format!("{}…{}", start.iter().collect::<String>(), end.iter().collect::<String>())
        }
    }
}

pub(super) fn show_rows(ui: &mut egui::Ui, rows: &[Row]) {
    for Row { label, value, help, tone } in rows {
        let colours = theme::of(ui);
        let color = match tone {
            Tone::Strong => colours.strong,
            Tone::Plain => colours.text,
            Tone::Weak => colours.weak,
            Tone::Warning => colours.warning,
        };
        let line = ui.horizontal(|ui| {
            ui.label(small(ui, label.as_ref()));
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                ui.add(egui::Label::new(RichText::new(value).monospace().size(12.0).color(color)).truncate());
            });
        });
        line.response.on_hover_text(help.as_ref());
    }
}
