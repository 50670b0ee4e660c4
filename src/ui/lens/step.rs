//! "Step time" page of the Lens window: a bar and a table of the kernels that a step runs.

use egui::{Align, Align2, Color32, Grid, Label, Layout, Rect, RichText, Sense, TextStyle, pos2, vec2};

use crate::base::format;
use crate::engine::{KernelTime, Profile};
use crate::session::Stats;
use crate::ui::theme;
use crate::ui::widgets::{small, tooltip};

/// Height of the bar that shows the shares of the kernels, in points.
const BAR: f32 = 26.0;
/// Width and height of the square that marks a kernel in the table, in points.
const MARK: f32 = 10.0;
/// Width per character, in points, from which a kernel's part of the bar is wide enough to show the kernel's name.
const CHARACTER: f32 = 8.0;
/// Width of a column of numbers, in points.
const NUMBER: f32 = 76.0;
/// Titles and tooltips of the number columns in the table of kernels.
const COLUMNS: [(&str, &str); 5] = [
    ("launches", "Average number of launches of the kernel per step"),
    ("µs per step", "Total time of the kernel's launches per step, in microseconds"),
    ("share", "Share of the time of a whole step"),
    ("work-group", "Number of work-items that run together and share local memory"),
    ("local memory", "Local memory per work-group, as reported by the driver"),
];

/// Shows how long each kernel takes on each device.
pub(super) fn show(ui: &mut egui::Ui, stats: &Stats) {
    if stats.profiles.is_empty() {
        let text = match stats.running {
            true => "Measuring… If no times appear, this device does not report kernel times.",
            false => "Run the simulation to measure how long each kernel takes.",
        };
        ui.label(text);
        return;
    }
    for (nth, profile) in stats.profiles.iter().enumerate() {
        if nth > 0 {
            ui.add_space(8.0);
        }
        show_profile(ui, profile, nth);
    }
    let note = "Times come from OpenCL's profiling events, minus the overhead that profiling adds to each launch. While this page \
                is shown, a few steps are profiled every quarter of a second; otherwise, profiling is off. \
                `gravitile run --profile FILE.json` writes a trace of the launches.";
    ui.add_space(4.0);
    ui.add(Label::new(small(ui, note)).wrap());
}

fn show_profile(ui: &mut egui::Ui, profile: &Profile, nth: usize) {
    let Profile { device, step_seconds, kernels, .. } = profile;
    ui.horizontal_wrapped(|ui| {
        let time = format!("{} per step", short(*step_seconds));
        ui.label(RichText::new(time).strong().color(theme::of(ui).strong));
        ui.label(small(ui, format!("on {device}")));
    });
    bar(ui, profile);
    ui.spacing_mut().interact_size.y = ui.text_style_height(&TextStyle::Body);
    let grid = Grid::new(("kernels", nth)).num_columns(2 + COLUMNS.len()).min_col_width(0.0);
    grid.spacing([14.0, 3.0]).show(ui, |ui| {
        ui.label("");
        ui.label(small(ui, "kernel"));
        for (title, help) in COLUMNS {
            right(ui, small(ui, title)).on_hover_text(help);
        }
        ui.end_row();
        for (nth, kernel) in kernels.iter().enumerate() {
            row(ui, kernel, (theme::of(ui).line_of(nth), *step_seconds));
        }
        idle_row(ui, profile);
    });
}

/// Draws a bar of the kernels, in the order in which a step runs them, with widths proportional to their times.
fn bar(ui: &mut egui::Ui, profile: &Profile) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::hover());
    let colours = theme::of(ui);
    ui.painter().rect_filled(rect, 4.0, colours.sunken);
    let pointer = response.hover_pos();
    let mut left = rect.left();
    let mut hovered = None;
    for (nth, kernel) in profile.kernels.iter().enumerate() {
        let right = left + (kernel.seconds / profile.step_seconds) as f32 * rect.width();
        let part = Rect::from_min_max(pos2(left, rect.top()), pos2(right, rect.bottom()));
        ui.painter().rect_filled(part, 0.0, colours.line_of(nth));
        if part.width() > CHARACTER * kernel.kernel.len() as f32 {
            let font = TextStyle::Small.resolve(ui.style());
            ui.painter().text(part.center(), Align2::CENTER_CENTER, kernel.kernel, font, Color32::BLACK);
        }
        if pointer.is_some_and(|at| part.contains(at)) {
            hovered = Some(kernel);
        }
        left = right;
    }
    tooltip(response, || match hovered {
        Some(KernelTime { kernel, seconds, .. }) => {
            format!("{kernel}: {}, {}", short(*seconds), percent(*seconds, profile.step_seconds))
        }
        None => {
            let idle = profile.idle_seconds();
            format!("No kernel runs: {}, {}", short(idle), percent(idle, profile.step_seconds))
        }
    });
}

fn row(ui: &mut egui::Ui, kernel: &KernelTime, (colour, step_seconds): (Color32, f64)) {
    let KernelTime { kernel, calls, seconds, work_group, local_bytes, items } = kernel;
    mark(ui, colour);
    let items = format::si(*items);
    let name = RichText::new(*kernel).color(theme::of(ui).strong);
    ui.label(name).on_hover_text(format!("{} work-items per step", items.trim()));
    let local = if *local_bytes > 0 { format!("{local_bytes} B") } else { "–".to_owned() };
    let numbers = [
        format!("{calls:.1}"),
        format!("{:.1}", seconds * 1e6),
        percent(*seconds, step_seconds),
        work_group.to_string(),
        local,
    ];
    numbers.into_iter().for_each(|number| drop(right(ui, RichText::new(number))));
    ui.end_row();
}

/// Shows the table row with the time per step in which no kernel runs.
fn idle_row(ui: &mut egui::Ui, profile: &Profile) {
    let idle = profile.idle_seconds();
    mark(ui, theme::of(ui).sunken);
    let help = "Time between kernels, during which the device waits for the next launch";
    ui.label(small(ui, "no kernel")).on_hover_text(help);
    right(ui, small(ui, ""));
    right(ui, small(ui, format!("{:.1}", idle * 1e6)));
    right(ui, small(ui, percent(idle, profile.step_seconds)));
    ui.end_row();
}

/// Draws a small square in the colour of a kernel.
fn mark(ui: &mut egui::Ui, colour: Color32) {
    let (rect, _) = ui.allocate_exact_size(vec2(MARK, MARK), Sense::hover());
    ui.painter().rect_filled(rect, 2.0, colour);
}

/// Shows right-aligned text in a column of numbers.
fn right(ui: &mut egui::Ui, text: RichText) -> egui::Response {
    let cell = vec2(NUMBER, ui.spacing().interact_size.y);
    let layout = Layout::right_to_left(Align::Center);
    ui.allocate_ui_with_layout(cell, layout, |ui| {
        ui.set_min_size(cell);
        ui.label(text)
    })
    .inner
}

fn percent(part: f64, whole: f64) -> String {
    format!("{:.0} %", 100.0 * part / whole)
}

/// Formats a time of at most a few seconds, such as `1.66 ms` or `850 µs`.
fn short(seconds: f64) -> String {
    match seconds {
        _ if seconds < 1e-3 => format!("{} µs", format::significant(seconds * 1e6, 3)),
        _ if seconds < 1.0 => format!("{} ms", format::significant(seconds * 1e3, 3)),
        _ => format!("{} s", format::significant(seconds, 3)),
    }
}
