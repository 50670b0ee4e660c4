//! The timeline: a strip below the picture that shows earlier moments of the run.

use egui::{
    Button, Color32, CornerRadius, EventFilter, Key, Label, Layout, Modifiers, Pos2, Rect, RichText, Sense,
    Stroke, WidgetInfo, WidgetType, pos2, vec2,
};

use super::action::{Action, Collector};
use super::model::Model;
use super::theme;
use super::timeline_state::TimelineState;
use super::widgets::{Chip, chips, shortcut_button, small, with_help};
use crate::base::format;
use crate::session::timeline::{Event, EventKind};

/// Speeds of the replay, as multiples of the original speed of the run, and their names.
const SPEEDS: [(f64, &str); 6] =
    [(0.25, "¼×"), (0.5, "½×"), (1.0, "1×"), (2.0, "2×"), (4.0, "4×"), (8.0, "8×")];
/// Height of the timeline bar, in points.
const BAR: f32 = 22.0;
/// Distance from the pointer, in points, within which the bar's tooltip names events.
const NEAR: f32 = 5.0;
/// Maximum number of events in a tooltip.
const MOST_NAMED: usize = 8;
/// Number of frames by which an arrow key moves while Shift is held.
const LEAP: i32 = 10;

/// Shows the timeline at the bottom of the window, beside the panel.
pub(super) fn show(ctx: &egui::Context, model: &Model, out: &mut Collector) {
    let frame =
        egui::Frame::NONE.fill(theme::of_context(ctx).surface).inner_margin(egui::Margin::symmetric(12, 6));
    let strip = egui::TopBottomPanel::bottom("timeline").frame(frame).show_separator_line(false);
    strip.show(ctx, |ui| {
        let timeline = model.timeline;
        let has_focus = bar(ui, model, out);
        arrow_keys(ui, timeline, has_focus, out);
        ui.add_space(2.0);
        ui.horizontal(|ui| {
            // Narrow gaps, so that the row fits beside the panel of a small window.
            ui.spacing_mut().item_spacing.x = 5.0;
            controls(ui, timeline, out);
            ui.with_layout(Layout::right_to_left(egui::Align::Center), |ui| state(ui, model));
        });
    });
}

fn controls(ui: &mut egui::Ui, timeline: &TimelineState, out: &mut Collector) {
    ui.add_enabled_ui(timeline.span.is_some(), |ui| {
        let text = if timeline.plays { "⏸ Pause replay" } else { "▶ Replay" };
        let help = "Replay the recording from the recorded moment that is shown, or otherwise from its start. Press Space to start or pause the replay while a recorded moment is shown";
        let replay = with_help(ui.button(text), help);
        out.button("replay", &replay, Action::ReplayOrPause);
        let all = SPEEDS.iter().map(|(speed, name)| Chip::new(name, "Speed of the replay", *speed == timeline.speed));
        if let Some(nth) = chips(ui, out, ("replay speed", "Replay speed"), all) {
            out.actions.push(Action::SetReplaySpeed(SPEEDS[nth].0));
        }
    });
    let is_past = timeline.past.is_some();
    ui.add_enabled_ui(is_past, |ui| shortcut_button(ui, out, ("live", "Live"), Action::GoLive));
    let help = match (is_past, timeline.can_continue) {
        (true, Err(reason)) => reason,
        _ => {
            "Restore the simulation exactly as it was at the moment on the screen, and pause. Later frames stay in the recording."
        }
    };
    let goes = is_past && timeline.can_continue.is_ok();
    let fill = if goes { theme::of(ui).accent_fill } else { theme::of(ui).raised };
    let button = with_help(ui.add_enabled(goes, Button::new("Continue from here").fill(fill)), help);
    out.button("continue from here", &button, Action::ContinueHere);
}

/// Shows which moment is on the screen, and the length and memory use of the recorded run.
fn state(ui: &mut egui::Ui, model: &Model) {
    let timeline = model.timeline;
    let Some([first, last]) = timeline.span else {
        let text = if timeline.bytes[1] == 0 {
            "The timeline is off. To turn it on, set Timeline memory above 0 MB."
        } else {
            "Nothing recorded yet"
        };
        ui.label(small(ui, text));
        return;
    };
    let [used, limit] = timeline.bytes.map(|bytes| bytes as f64 / f64::from(1 << 20));
    let size = format!("Recorded: {} · {used:.0} of {limit:.0} MB", span(last - first));
    let part = match timeline.share {
        1 => String::new(),
        share => format!(" Only one in {share} bodies is recorded."),
    };
    let help = format!(
        "Length of the recording without pauses, and the memory that it uses. When the memory is used up, older parts keep fewer frames per \
         second, and the oldest are dropped. “Timeline memory” under More picture settings sets the limit.{part}"
    );
    ui.add(Label::new(small(ui, size)).truncate()).on_hover_text(help);
    ui.add_space(6.0);
    let moment = match timeline.age() {
        Some(age) => format!("step {} · {age:.1} s ago", format::count(model.stats.step)),
        None => "Live".to_owned(),
    };
    let colour = if timeline.past.is_some() { theme::of(ui).warning } else { theme::of(ui).text };
    ui.add(Label::new(RichText::new(moment).small().color(colour)).truncate());
}

/// Returns a length of time as text, such as `2 min 5 s`.
fn span(seconds: f64) -> String {
    let whole = seconds.round() as u64;
    if whole < 60 { format!("{whole} s") } else { format!("{} min {} s", whole / 60, whole % 60) }
}

/// Shows the timeline bar, along which the user can drag. Returns whether the bar has the keyboard focus.
fn bar(ui: &mut egui::Ui, model: &Model, out: &mut Collector) -> bool {
    let timeline = model.timeline;
    let (rect, bar) = ui.allocate_exact_size(vec2(ui.available_width(), BAR), Sense::click_and_drag());
    let enabled = timeline.span.is_some();
    bar.widget_info(|| WidgetInfo::labeled(WidgetType::Slider, enabled, "Timeline"));
    out.record("timeline", &bar);
    let rail = rect.shrink2(vec2(6.0, 7.0));
    let has_focus = bar.has_focus();
    if has_focus {
        // Otherwise egui would move the focus to another control.
        let filter = EventFilter { horizontal_arrows: true, ..EventFilter::default() };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(bar.id, filter));
    }
    draw(ui, timeline, rail, has_focus);
    let Some([first, last]) = timeline.span else { return has_focus };
    let time = |at: Pos2| {
        let share = ((at.x - rail.left()) / rail.width()).clamp(0.0, 1.0);
        first + f64::from(share) * (last - first)
    };
    // Scrubs while the mouse button is held down, and once more when a click ends.
    let is_held = bar.is_pointer_button_down_on() || bar.clicked();
    if let Some(at) =
        bar.interact_pointer_pos().filter(|_| is_held).map(time).filter(|at| timeline.past != Some(*at))
    {
        out.actions.push(Action::ScrubTo(at));
    }
    let Some(at) = bar.hover_pos() else { return has_focus };
    let place =
        |event: &&Event| (rail.left() + timeline.share_of(event.at) * rail.width() - at.x).abs() <= NEAR;
    let mut lines = vec![format!("{:.1} s ago", last - time(at))];
    let named = timeline.events.iter().filter(place).take(MOST_NAMED);
    lines.extend(named.map(|event| format!("step {}: {}", format::count(event.step), event.text)));
    bar.on_hover_text_at_pointer(lines.join("\n"));
    has_focus
}

fn draw(ui: &egui::Ui, timeline: &TimelineState, rail: Rect, is_focused: bool) {
    let (colours, painter) = (theme::of(ui), ui.painter());
    let line = if is_focused { colours.accent } else { colours.raised };
    painter.rect(
        rail,
        CornerRadius::same(4),
        colours.sunken,
        Stroke::new(1.0_f32, line),
        egui::StrokeKind::Outside,
    );
    if timeline.span.is_none() {
        return;
    }
    let now = rail.left() + rail.width() * timeline.past.map_or(1.0, |at| timeline.share_of(at));
    let played = Rect::from_min_max(rail.min, pos2(now, rail.max.y));
    painter.rect_filled(played, CornerRadius::same(4), colours.accent_fill);
    for event in &timeline.events {
        let x = rail.left() + rail.width() * timeline.share_of(event.at);
        let colour: Color32 = match event.kind {
            EventKind::Setting => colours.accent,
            EventKind::Edit => colours.strong,
            EventKind::Start => colours.weak,
            EventKind::Warning => colours.warning,
        };
        painter.vline(x, rail.top() - 4.0..=rail.bottom() + 4.0, Stroke::new(2.0_f32, colour));
    }
    let handle = pos2(now, rail.center().y);
    painter.circle(handle, 6.5, colours.strong, Stroke::new(2.0_f32, colours.surface));
}

/// Moves through the recorded frames with the arrow keys, if no other control has the keyboard focus.
fn arrow_keys(ui: &egui::Ui, timeline: &TimelineState, has_focus: bool, out: &mut Collector) {
    let is_elsewhere = !has_focus && ui.memory(|memory| memory.focused().is_some());
    if timeline.span.is_none() || is_elsewhere {
        return;
    }
    for (key, sign) in [(Key::ArrowLeft, -1), (Key::ArrowRight, 1)] {
        for (held, frames) in [(Modifiers::SHIFT, LEAP), (Modifiers::NONE, 1)] {
            let count = ui.input_mut(|input| input.count_and_consume_key(held, key)) as i32;
            if count > 0 {
                out.actions.push(Action::ScrubBy(sign * frames * count));
            }
        }
    }
}
