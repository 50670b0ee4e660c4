//! The quiet overlay at the top right: how fast it goes and how true it stays.

use std::borrow::Cow;

use egui::text::{LayoutJob, TextFormat};
use egui::{Align, Align2, FontFamily, FontId, Layout, Rect, RichText, ScrollArea, WidgetInfo, WidgetType};

use super::keys::{self, Command};
use super::widgets::Sink;
use super::{Model, format, spark, theme};
use crate::modes::Sharing;
use crate::modes::accuracy::{self, WORRYING};
use crate::session::{Rung, Stats};
use crate::state::Matter;

/// Wide enough for the longest row: nothing moves when a number changes.
const WIDTH: f32 = 268.0;
/// Around that.
const MARGIN: f32 = 10.0;
/// What the overlay takes of the right edge.
pub(super) const OUTER_WIDTH: f32 = WIDTH + 3.0 * MARGIN;

/// One line: what, how much, and what that means.
struct Row {
    label: Cow<'static, str>,
    value: String,
    help: &'static str,
    tone: Tone,
}

/// How much a row is to be looked at.
#[derive(Clone, Copy)]
enum Tone {
    Strong,
    Plain,
    Weak,
    Warning,
}

fn row(label: impl Into<Cow<'static, str>>, value: String, help: &'static str) -> Row {
    Row { label: label.into(), value, help, tone: Tone::Plain }
}

impl Row {
    /// One to worry about, if `warns`.
    fn warns(self, warns: bool) -> Self {
        Self { tone: if warns { Tone::Warning } else { self.tone }, ..self }
    }
}

/// A picture lower than this is small.
const LOW: f32 = 500.0;

/// Whether the overlay is folded to its headline: until somebody chooses, where the picture is small.
#[derive(Debug, Default)]
pub(super) struct Fold {
    chosen: Option<bool>,
    /// As it was last shown.
    now: bool,
    is_small: bool,
    /// The tools as they were last shown.
    pub tools: Option<Rect>,
}

impl Fold {
    /// Whether it is folded over this picture.
    fn over(&mut self, picture: Rect) -> bool {
        let is_small = picture.width() < 2.0 * OUTER_WIDTH || picture.height() < LOW;
        if is_small && !std::mem::replace(&mut self.is_small, is_small) && self.chosen == Some(false) {
            // It was unfolded where there was room.
            self.chosen = None;
        }
        self.is_small = is_small;
        self.now = self.chosen.unwrap_or(is_small);
        self.now
    }

    /// The height that the tools leave of the picture, where they stand below the overlay.
    fn room(&self, picture: Rect) -> f32 {
        let beside = |tools: &Rect| tools.right() + OUTER_WIDTH < picture.right();
        let below = self.tools.filter(|tools| !beside(tools)).map_or(0.0, |tools| tools.height() + MARGIN);
        (picture.height() - 2.0 * MARGIN - below).max(0.0)
    }

    /// Folds it, or unfolds it.
    pub fn turn(&mut self) {
        self.chosen = Some(!self.now);
    }
}

/// Shows the overlay, with why it does not run, if it does not; where it is.
pub(super) fn show(
    ctx: &egui::Context,
    model: &Model,
    (fold, waits): (&mut Fold, Option<&str>),
    sink: &mut Sink,
) -> Rect {
    let picture = ctx.available_rect();
    let (folded, room) = (fold.over(picture), fold.room(picture));
    // Not in the background: a click on its headline is not meant for the picture behind it.
    let area =
        egui::Area::new("hud".into()).anchor(Align2::RIGHT_TOP, [-MARGIN, MARGIN]).order(egui::Order::Middle);
    let shown = area.show(ctx, |ui| {
        let fill = theme::of(ui).veil();
        egui::Frame::NONE.fill(fill).corner_radius(8).inner_margin(MARGIN).show(ui, |ui| {
            ui.set_width(WIDTH.min(picture.width() - 4.0 * MARGIN).max(1.0));
            ui.spacing_mut().item_spacing.y = 3.0;
            ui.spacing_mut().interact_size.y = 0.0;
            // An area gives what is in it no more room than it had before.
            ui.set_max_height(room);
            headline(ui, model, (folded, waits), sink);
            if model.started() && !folded {
                let left = room - ui.min_rect().height() - 2.0 * MARGIN;
                let scroll = ScrollArea::vertical().auto_shrink([false, true]).min_scrolled_height(0.0);
                scroll.max_height(left.max(0.0)).show(ui, |ui| numbers(ui, model));
            }
        });
    });
    shown.response.rect
}

fn numbers(ui: &mut egui::Ui, model: &Model) {
    ui.add_space(4.0);
    let stats = model.stats;
    speed(model).iter().for_each(|row| line(ui, row));
    ui.add_space(6.0);
    truth(model).iter().for_each(|row| line(ui, row));
    advice(ui, model);
    held_out(ui, stats.nonfinite);
    spark::show(ui, model);
    let shares = sharing(model);
    if !shares.is_empty() {
        ui.add_space(6.0);
        shares.iter().for_each(|row| line(ui, row));
    }
    let rungs = ladder(model);
    // One alone is what stands above already.
    if rungs.len() > 1 {
        ui.add_space(6.0);
        line(ui, &rung("Variants seen", ("on device", "error"), Tone::Weak));
        rungs.iter().for_each(|row| line(ui, row));
    }
}

/// Tells how large the grid's squares are, at the lower right of the picture.
pub(super) fn show_scale(ctx: &egui::Context, spacing: f32) {
    let area = egui::Area::new("grid scale".into())
        .anchor(Align2::RIGHT_BOTTOM, [-MARGIN, -MARGIN])
        .order(egui::Order::Background)
        .interactable(false);
    area.show(ctx, |ui| {
        let fill = theme::of(ui).veil();
        egui::Frame::NONE.fill(fill).corner_radius(6).inner_margin(6).show(ui, |ui| {
            let text = format!("grid {}", format::significant(spacing.into(), 1));
            ui.label(RichText::new(text).monospace().size(12.0).color(theme::of(ui).text));
        });
    });
}

fn headline(ui: &mut egui::Ui, model: &Model, (folded, waits): (bool, Option<&str>), sink: &mut Sink) {
    let work = &model.config.mode.info().work;
    let rate = model.stats.work_per_second();
    let unit = work.name.map_or_else(|| format!("{}/s", work.unit), str::to_owned);
    let (number, words, aside) = match (model.started(), waits) {
        (false, _) => (String::new(), "starting…", String::new()),
        (true, Some(why)) => (String::new(), why, String::new()),
        (true, None) if rate == 0.0 => (String::new(), "computing…", String::new()),
        (true, None) => {
            let flops = work.flops.map(|flops| format!("({}FLOP/s)", format::si(rate * flops)));
            let number = match work.name {
                Some(_) => format::significant(work.reported(rate), 3),
                None => format::si(rate),
            };
            (format!("{number} "), unit.as_str(), flops.unwrap_or_default())
        }
    };
    let font = |size, family| TextFormat::simple(FontId::new(size, family), theme::of(ui).strong);
    let mut big = LayoutJob::default();
    big.append(&number, 0.0, font(15.0, FontFamily::Monospace));
    big.append(words, 0.0, font(15.0, FontFamily::Proportional));
    let line = ui.horizontal(|ui| {
        ui.label(big);
        ui.label(RichText::new(aside).small().color(theme::of(ui).weak));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            let arrow = if folded { "⏷" } else { "⏶" };
            ui.label(RichText::new(arrow).small().color(theme::of(ui).weak));
        });
    });
    let line = line.response.interact(egui::Sense::click());
    let enabled = line.enabled();
    line.widget_info(|| WidgetInfo::labeled(WidgetType::Button, enabled, "Numbers"));
    sink.note("numbers", &line);
    sink.commands.extend(line.clicked().then_some(Command::Numbers));
    line.on_hover_text(format!("{}\n\n{}", work.help, keys::hint(Command::Numbers)));
}

fn speed(model: &Model) -> Vec<Row> {
    let Model { config, stats, device, window, .. } = model;
    let info = config.mode.info();
    // Zero is what stands there before it was measured.
    let measured = |value: f64, unit| if value > 0.0 { format::si(value) + unit } else { "–".to_owned() };
    let ms = |value: f64| measured(value / 1e3, "s");
    // What goes on only while it runs.
    let now = |text: String| if model.config.running { text } else { "–".to_owned() };
    vec![
        row("Screen", now(format!("{:.0} fps", window.fps)), "pictures drawn a second"),
        row("Steps", now(measured(stats.steps_per_second, "/s")), "steps a second by the clock on the wall"),
        row(
            "Step on device",
            match model.config.running && stats.device_busy > 0.0 {
                true => format!("{} · {:.0} % busy", ms(stats.device_ms_per_step), stats.device_busy * 100.0),
                false => ms(stats.device_ms_per_step),
            },
            "time that the device takes for one step, and the share of the time that it is busy with steps",
        ),
        row(
            "Share of limit",
            stats.share_of_limit().map_or("–".to_owned(), |share| format!("{:.0} %", 100.0 * share)),
            info.limit.help(),
        ),
        row("Read back", ms(stats.read_ms), "time to copy the bodies from the device"),
        row(
            "Upload + draw",
            ms(window.upload_ms + window.draw_ms),
            "time that this program takes to hand the bodies to OpenGL and to have them drawn",
        ),
        row(info.work.label.0, format::count(stats.bodies as u64), "how many there are"),
        row(
            "Variant",
            format!("{} · {}", stats.variant, stats.work_group),
            "the kernel variant and the work-group size in force",
        ),
        row("Device", device.name.clone(), "where the steps are computed"),
    ]
}

fn truth(model: &Model) -> Vec<Row> {
    let stats: &Stats = model.stats;
    let (label, help) = model.config.mode.info().error;
    let worries = stats.relative_error.is_some_and(|error| error > WORRYING);
    let mut rows = vec![row(label, accuracy::text(stats.relative_error), help).warns(worries)];
    if model.config.mode.conserves_energy() {
        rows.push(row(
            "Energy drift",
            stats.energy_drift.map_or("–".to_owned(), |drift| format!("{drift:+.2e}")),
            "relative change of the total energy since the scene began, or a parameter or a body was last changed; 0 is perfect",
        ));
    }
    if let Some(diagnostics) = &stats.diagnostics {
        if model.config.mode.info().work.matter == Matter::Bodies {
            let size = diagnostics.momentum.iter().map(|p| p * p).sum::<f64>().sqrt();
            rows.push(row("Momentum", format!("{:.2e}", ratio(size, diagnostics.momentum_scale)), "|Σ m·v| / Σ m·|v|: how much of the motion all bodies share; without a planet it should not change"));
        }
        // What has a line of its own is not told twice.
        let drawn = model.config.mode.info().series.as_ref().map(|series| series.key);
        rows.extend(
            diagnostics.readings.iter().filter(|reading| Some(reading.key) != drawn).map(|reading| {
                row(reading.label, format::reading(reading), reading.help).warns(reading.warns)
            }),
        );
    }
    rows
}

/// What each variant was last seen to do, in the order of the ladder.
fn ladder(model: &Model) -> Vec<Row> {
    let Stats { ladder, variant: in_force, .. } = model.stats;
    let seen = |name| ladder.iter().find(|rung| rung.variant == name);
    let rungs = model.config.mode.info().variants.iter().filter_map(|variant| seen(variant.name));
    rungs
        .map(|Rung { variant, pairs_per_second, relative_error }| {
            let tone = if variant == in_force { Tone::Strong } else { Tone::Weak };
            let speed = format!("{}/s", format::si(*pairs_per_second));
            rung(variant, (&speed, &accuracy::text(*relative_error)), tone)
        })
        .collect()
}

/// A row of two columns.
fn rung(label: &'static str, columns: (&str, &str), tone: Tone) -> Row {
    let help = "what each variant was last seen to do with this many bodies: pairs a second while the device steps, and the error";
    two_columns(label, columns, (help, tone))
}

fn two_columns(
    label: impl Into<Cow<'static, str>>,
    (first, second): (&str, &str),
    (help, tone): (&'static str, Tone),
) -> Row {
    Row { tone, ..row(label, format!("{first:>8} {second:>8}"), help) }
}

/// How several devices share the work.
fn sharing(model: &Model) -> Vec<Row> {
    let Some(Sharing { members, exchange_ms, efficiency, .. }) = &model.stats.sharing else {
        return match model.config.devices.len() {
            2.. => vec![row(
                "Devices",
                format!("{} stays on one", model.stats.variant),
                "this variant is not shared between devices: the first computes it alone",
            )],
            _ => Vec::new(),
        };
    };
    let help = "each device's share of the work, and its own time for that in a step; a device that would slow the others gets no work";
    let ms = |value: f64| if value > 0.0 { format::si(value / 1e3) + "s" } else { "–".to_owned() };
    let mut rows = vec![two_columns("Devices", ("share", "step"), (help, Tone::Weak))];
    rows.extend(members.iter().map(|member| {
        let share = format!("{:.1} %", 100.0 * member.share);
        let tone = if member.share > 0.0 { Tone::Plain } else { Tone::Weak };
        let label = format!("{} {}", member.index, shortened(&member.device));
        two_columns(label, (&share, &ms(member.step_ms)), (help, tone))
    }));
    rows.push(row(
        "Exchange",
        ms(*exchange_ms),
        "what a step takes longer than the slowest device computes: they tell each other where the bodies are",
    ));
    let percent = if *efficiency > 0.0 { format!("{:.0} %", 100.0 * efficiency) } else { "–".to_owned() };
    rows.push(row(
        "Efficiency",
        percent,
        "what the devices do together over what they would if none ever exchanged or waited",
    ));
    rows
}

/// As much of a name as tells devices apart: its beginning and its end.
fn shortened(name: &str) -> String {
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

/// 0 where there is nothing to compare with.
fn ratio(a: f64, b: f64) -> f64 {
    if b == 0.0 { 0.0 } else { a / b }
}

/// The cause of each number that warns, and a remedy, where the mode knows them.
fn advice(ui: &mut egui::Ui, model: &Model) {
    let readings = model.stats.diagnostics.iter().flat_map(|diagnostics| &diagnostics.readings);
    for advice in readings.filter_map(|reading| reading.advice) {
        ui.label(RichText::new(advice).small().color(theme::of(ui).warning));
    }
}

fn held_out(ui: &mut egui::Ui, nonfinite: usize) {
    if nonfinite > 0 {
        let text = format!("{} bodies not finite, left out", format::count(nonfinite as u64));
        ui.label(RichText::new(text).color(theme::of(ui).warning))
            .on_hover_text("these bodies flew off all bounds; try a smaller time step or more softening");
    }
}

fn line(ui: &mut egui::Ui, row: &Row) {
    let Row { label, value, help, tone } = row;
    let colours = theme::of(ui);
    let color = match tone {
        Tone::Strong => colours.strong,
        Tone::Plain => colours.text,
        Tone::Weak => colours.weak,
        Tone::Warning => colours.warning,
    };
    let line = ui.horizontal(|ui| {
        ui.label(RichText::new(label.as_ref()).small().color(theme::of(ui).weak));
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
            ui.add(egui::Label::new(RichText::new(value).monospace().size(12.0).color(color)).truncate());
        });
    });
    line.response.on_hover_text(*help);
}
