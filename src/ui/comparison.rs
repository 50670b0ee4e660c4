//! Two simulations side by side: captions in both halves of the picture, and a card with their divergence.

use egui::{Align2, Order, Pos2, Rect, RichText, Sense, Shape, Stroke, TextStyle, Vec2, pos2, vec2};

use super::action::{Action, Collector};
use super::compared::{Compared, DIVIDER, Half};
use super::model::Model;
use super::overlay::{row, show_rows};
use super::widgets::{Chip, button, chips, shortcut_button, small, tooltip};
use super::{keys, theme};
use crate::base::{Divergence, DivergenceLog, format, params};
use crate::modes::accuracy;
use crate::session::Stats;

/// Width of a caption, in points.
const WIDTH: f32 = 214.0;
/// Margin inside and outside the captions and the comparison card, in points.
const MARGIN: f32 = 10.0;
/// Height of the plot of the divergence, in points.
const CURVE: f32 = 54.0;
/// Width of the comparison card, in points.
const CARD: f32 = 392.0;
/// Distance of the comparison card from the lower edge of the picture, in points. Leaves room for messages.
const BELOW: f32 = 50.0;
/// Smallest divergence that the plot distinguishes from zero. It is below the rounding errors of single precision.
const LEAST: f64 = 1e-9;
/// Text shown instead of a value that has not been measured.
const UNKNOWN: &str = "–";

const DIVERGENCE_HELP: &str = "How much the two simulations differ at the same step: root mean square and largest difference. For bodies, the \
                               difference is the distance between the two positions of a body, relative to the size of the \
                               scene (the root mean square distance of the bodies from their mean position). For a flow, it \
                               is the difference between the two values shown at a place, relative to the root mean square \
                               of all values. At most 65 536 bodies or places are compared";
const TURNS_HELP: &str = "Steps per second that this simulation would compute if it had the device to itself. The two simulations take turns on the device";

/// Shows the line between the two halves of the picture, their captions and, if `has_card` is true, the comparison
/// card. Does nothing while there is only one simulation.
pub(super) fn show(ctx: &egui::Context, model: &mut Model, has_card: bool, out: &mut Collector) {
    let Some(compared) = model.compared else { return };
    let picture = ctx.available_rect();
    let line = Rect::from_center_size(picture.center(), vec2(DIVIDER, picture.height()));
    let colour = theme::of_context(ctx).weak.gamma_multiply(0.6);
    ctx.layer_painter(egui::LayerId::background()).rect_filled(line, 0.0, colour);
    for half in [Half::Left, Half::Right] {
        let is_active = half == compared.active;
        let (own, others) =
            if is_active { (model.stats, compared.other) } else { (compared.other, model.stats) };
        caption(ctx, (half, is_active), (own, others), out);
    }
    if has_card {
        card(ctx, model, compared, out);
    }
}

/// Shows the caption of one half of the picture: how its simulation differs from the other, its speed and its errors.
fn caption(
    ctx: &egui::Context,
    (half, is_active): (Half, bool),
    (own, others): (&Stats, &Stats),
    out: &mut Collector,
) {
    let place = half.of(ctx.available_rect()).shrink(MARGIN);
    let (pivot, corner, key): (_, Pos2, _) = match half {
        Half::Left => (Align2::LEFT_TOP, place.left_top(), "left"),
        Half::Right => (Align2::RIGHT_TOP, place.right_top(), "right"),
    };
    let area =
        egui::Area::new(egui::Id::new(("caption", key))).pivot(pivot).fixed_pos(corner).order(Order::Middle);
    area.show(ctx, |ui| {
        theme::veil(ui).inner_margin(MARGIN).show(ui, |ui| {
            ui.set_width(WIDTH.min(place.width() - 2.0 * MARGIN).max(1.0));
            ui.spacing_mut().item_spacing.y = 3.0;
            ui.spacing_mut().interact_size.y = 0.0;
            ui.horizontal(|ui| {
                let name = if own.has_started() { own.variant } else { "Starting…" };
                ui.label(RichText::new(name).strong().size(15.0).color(theme::of(ui).strong));
                let right = egui::Layout::right_to_left(egui::Align::Center);
                ui.with_layout(right, |ui| match is_active {
                    true => {
                        let mark = RichText::new("Edited in panel").small().color(theme::of(ui).accent);
                        ui.label(mark)
                            .on_hover_text("The panel shows and changes the settings of this simulation");
                    }
                    false => {
                        let edit = ui.small_button("Edit").on_hover_text(keys::hint(&Action::EditOther));
                        out.button("edit other", &edit, Action::EditOther);
                    }
                });
            });
            if own.has_started() {
                let differences = differences(own, others);
                if !differences.is_empty() {
                    ui.add(egui::Label::new(small(ui, differences.join(" · "))).wrap());
                }
                show_rows(ui, &numbers(own));
            }
        });
    });
}

/// Returns the rows of numbers in the caption of a simulation.
fn numbers(stats: &Stats) -> Vec<super::overlay::Row> {
    let mode = &stats.config.mode;
    let work = &mode.info().work;
    let steps = stats.device_ms_per_step;
    let steps = if steps > 0.0 { format::si(1e3 / steps) + "steps/s" } else { UNKNOWN.to_owned() };
    let speed = stats.device_work_per_second().map_or(UNKNOWN.to_owned(), |rate| match work.name {
        Some(name) => format!("{} {name}", format::significant(work.reported(rate), 3)),
        None => format!("{}{}/s", format::si(rate), work.unit),
    });
    let (error, error_help) = mode.info().error;
    let mut rows = vec![
        row("Step", format::count(stats.step), "Number of steps since the scene began"),
        row("Solo step rate", steps, TURNS_HELP),
        row("Speed", speed, work.help),
        row(error, accuracy::text(stats.relative_error), error_help),
    ];
    if mode.conserves_energy() {
        let drift = stats.energy_drift.map_or(UNKNOWN.to_owned(), |drift| format!("{drift:+.2e}"));
        rows.push(row("Energy drift", drift, super::history::ENERGY_HELP));
    }
    rows
}

/// Returns the settings of `own`, except the kernel variant, that differ from those of `others`, with their values.
fn differences(own: &Stats, others: &Stats) -> Vec<String> {
    if !others.has_started() || own.mode != others.mode {
        return Vec::new();
    }
    let mut texts = Vec::new();
    if own.device != others.device {
        texts.push(own.device.to_string());
    }
    if own.work_group != others.work_group {
        texts.push(format!("work-group {}", own.work_group));
    }
    if own.variant == others.variant {
        let knobs = own.knobs.iter().filter(|(name, value)| others.knobs.get(*name) != Some(*value));
        texts.extend(knobs.map(|(name, value)| format!("{name} {value}")));
    }
    let changes = params::labelled_changes(&others.config.mode.values(), own.config.mode.clone().as_mut());
    texts.extend(changes.into_iter().map(|(label, value)| format!("{label} {value}")));
    texts
}

/// Shows the comparison card, with the divergence of the two simulations and buttons for actions.
fn card(ctx: &egui::Context, model: &mut Model, compared: Compared, out: &mut Collector) {
    let picture = ctx.available_rect();
    let area = egui::Area::new("comparison".into()).pivot(Align2::CENTER_BOTTOM).order(Order::Middle);
    area.fixed_pos(picture.center_bottom() - vec2(0.0, BELOW)).show(ctx, |ui| {
        theme::veil(ui).inner_margin(MARGIN).show(ui, |ui| {
            ui.set_width(CARD.min(picture.width() - 4.0 * MARGIN).max(1.0));
            ui.spacing_mut().item_spacing = vec2(4.0, 5.0);
            ui.horizontal(|ui| {
                ui.label(RichText::new("Divergence").strong().color(theme::of(ui).accent));
                ui.add_space(6.0);
                let text = divergence_text(compared.divergence.latest());
                let text = RichText::new(text).monospace().size(12.0).color(theme::of(ui).strong);
                ui.label(text).on_hover_text(DIVERGENCE_HELP);
            });
            curve(ui, compared.divergence);
            ui.horizontal_wrapped(|ui| {
                ui.spacing_mut().button_padding.x = 6.0;
                let together = "Both simulations show the same step: the faster one waits for the other";
                let free = "The simulations take turns on the device; each computes as many steps as it can in its turn";
                let is_free = model.config.free_run;
                let options =
                    [Chip::new("same step", together, !is_free), Chip::new("free run", free, is_free)];
                if let Some(clicked) = chips(ui, out, ("pace", "Pace"), options) {
                    model.config.free_run = clicked == 1;
                }
                ui.add_space(6.0);
                let help = "Swap the left and right sides of the comparison";
                button(ui, out, ("swap halves", "Swap", help), Action::SwapHalves);
                let help = "End the comparison, and continue with the simulation on the left";
                button(ui, out, ("keep left", "Keep left", help), Action::Keep(Half::Left));
                let help = "End the comparison, and continue with the simulation on the right";
                button(ui, out, ("keep right", "Keep right", help), Action::Keep(Half::Right));
                shortcut_button(ui, out, ("end comparison", "End"), Action::Compare);
            });
        });
    });
}

/// Returns the divergence as text.
fn divergence_text(divergence: Option<Divergence>) -> String {
    let number = |value: f64| if value == 0.0 { "0".to_owned() } else { format!("{value:.1e}") };
    match divergence {
        Some(Divergence { rms, largest }) => format!("rms {} · largest {}", number(rms), number(largest)),
        None => UNKNOWN.to_owned(),
    }
}

/// Plots the divergence against the step number, on a logarithmic axis. Zero is shown at the lower edge.
fn curve(ui: &mut egui::Ui, log: &DivergenceLog) {
    let (rect, response) = ui.allocate_exact_size(vec2(ui.available_width(), CURVE), Sense::hover());
    let colours = theme::of(ui);
    ui.painter().rect_filled(rect, 4.0, colours.sunken);
    let points = log.points();
    let (Some((first, _)), Some((last, _))) = (points.first(), points.last()) else { return };
    let Some([low, high]) = decades(points) else { return };
    let inner = rect.shrink2(Vec2::new(3.0, 4.0));
    let place = |step: u64, value: f64| {
        let x = (step - first) as f32 / (last - first).max(1) as f32;
        let y = ((value.max(LEAST).log10() - low) / (high - low)).clamp(0.0, 1.0) as f32;
        pos2(inner.left() + inner.width() * x, inner.bottom() - inner.height() * y)
    };
    for (colour, value) in
        [(colours.weak, (|it| it.largest) as fn(&Divergence) -> f64), (colours.accent, |it| it.rms)]
    {
        let line = points.iter().map(|(step, it)| place(*step, value(it))).collect();
        ui.painter().add(Shape::line(line, Stroke::new(1.5_f32, colour)));
    }
    let font = TextStyle::Small.resolve(ui.style());
    let text = |value: f64| format!("1e{value:.0}");
    ui.painter().text(inner.left_top(), Align2::LEFT_TOP, text(high), font.clone(), colours.weak);
    ui.painter().text(inner.left_bottom(), Align2::LEFT_BOTTOM, text(low), font, colours.weak);
    tooltip(response, || {
        let [first, last] = [*first, *last].map(format::count);
        format!(
            "Divergence from step {first} to step {last}: root mean square (coloured) and largest (grey). The axis is logarithmic"
        )
    });
}

/// Returns the base-10 exponents at the ends of an axis for the positive values of `points`; `None` if there are none.
fn decades(points: &[(u64, Divergence)]) -> Option<[f64; 2]> {
    let values = points.iter().flat_map(|(_, it)| [it.rms, it.largest]).filter(|value| *value > 0.0);
    let (low, high) =
        values.fold((f64::INFINITY, LEAST), |(low, high), value| (low.min(value), high.max(value)));
    low.is_finite().then(|| {
        let low = low.max(LEAST).log10().floor();
        [low, high.log10().ceil().max(low + 1.0)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithmic_axis_spans_the_decades_of_all_positive_values() {
        let points = |values: &[f64]| -> Vec<_> {
            values.iter().map(|rms| (0, Divergence { rms: *rms, largest: 0.0 })).collect()
        };
        assert_eq!(decades(&points(&[0.0, 3e-6, 2e-3])), Some([-6.0, -2.0]));
        assert_eq!(decades(&points(&[1e-20])), Some([-9.0, -8.0]));
        assert_eq!(decades(&points(&[0.0])), None);
    }
}
