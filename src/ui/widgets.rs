//! The few shapes that the panel is made of: a labelled row, a set of chips, a number with `auto`.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use egui::text::{CCursor, CCursorRange};
use egui::text_edit::TextEditState;
use egui::util::IdTypeMap;
use egui::{
    Align, Button, DragValue, Label, Layout, PointerButton, Response, RichText, Sense, Slider, Stroke,
    StrokeKind, TextEdit, WidgetInfo, WidgetType, vec2,
};

use super::keys::Command;
use super::{format, theme};
use crate::params::Scale;

/// What the widgets of one frame leave behind.
#[derive(Default)]
pub(super) struct Sink {
    pub commands: Vec<Command>,
    /// Where each control is on the screen, so that a test of the real window finds it.
    pub rects: Vec<(String, egui::Rect)>,
    /// What is to be told of a number that was typed.
    pub said: Option<String>,
}

impl Sink {
    /// Remembers where the control `key` is.
    pub fn note(&mut self, key: impl Into<String>, response: &Response) {
        self.rects.push((key.into(), response.rect));
    }
}

/// A button, with what it does.
pub(super) fn button(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (key, text, help): (&str, &str, &str),
    command: Command,
) {
    let button = ui.button(text).on_hover_text(help);
    sink.note(key, &button);
    sink.commands.extend(button.clicked().then_some(command));
}

/// A number that counts once it is typed, named by `label`.
pub(super) fn number(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (key, label, help): (&str, &Response, &str),
    number: DragValue,
) {
    let number = ui.add(number.update_while_editing(false)).labelled_by(label.id).on_hover_text(help);
    sink.note(key, &number);
    seize(key, &number);
}

/// A label in a column of its own, and the controls beside it. `add` is given the label.
pub(super) fn row(
    ui: &mut egui::Ui,
    label: &str,
    help: &str,
    add: impl FnOnce(&mut egui::Ui, &Response),
) -> Response {
    let height = ui.spacing().interact_size.y;
    let inner = ui.horizontal_top(|ui| {
        let cell = vec2(theme::LABEL_WIDTH, height);
        let label = ui.allocate_ui_with_layout(cell, Layout::left_to_right(Align::Center), |ui| {
            ui.set_min_size(cell);
            // No stop for the tabulator: it hears clicks alone.
            ui.add(Label::new(RichText::new(label).color(theme::of(ui).text)).truncate().sense(Sense::CLICK))
        });
        let label = label.inner.on_hover_text(help);
        add(ui, &label);
        label
    });
    inner.inner
}

/// For this long a control that is jumped to is brought into sight, in seconds: what it stands in may unfold meanwhile.
const JUMP: f64 = 0.5;

/// What is jumped to: a control's key, until when, and whether it has been given the keyboard.
type Jump = (&'static str, f64, bool);

/// Brings a control into sight.
pub(super) fn jump(ctx: &egui::Context, key: &'static str) {
    let jump: Jump = (key, ctx.input(|input| input.time) + JUMP, false);
    ctx.data_mut(|data| data.insert_temp(egui::Id::new("jump"), jump));
}

/// What is being jumped to.
pub(super) fn jumped(ctx: &egui::Context) -> Option<&'static str> {
    let (key, until, _): Jump = ctx.data(|data| data.get_temp(egui::Id::new("jump")))?;
    (ctx.input(|input| input.time) < until).then_some(key)
}

/// Shows `control`, if it is what is jumped to.
pub(super) fn land(key: &str, control: &Response) -> bool {
    let is_goal = jumped(&control.ctx) == Some(key);
    if is_goal {
        control.scroll_to_me(Some(Align::Center));
        // What is out of sight has no outline there yet.
        let (seen, edge) = (control.interact_rect, Stroke::new(1.5_f32, theme::of_all(&control.ctx).accent));
        if seen.is_positive() {
            let painter = control.ctx.layer_painter(control.layer_id);
            painter.rect_stroke(seen.expand(2.0), 4.0, edge, StrokeKind::Outside);
        }
        control.ctx.request_repaint();
    }
    is_goal
}

/// The same, and gives it the keyboard, once.
pub(super) fn seize(key: &str, control: &Response) {
    let ctx = &control.ctx;
    let is_first = |data: &mut IdTypeMap| {
        let jump: &mut Jump = data.get_temp_mut_or_default(egui::Id::new("jump"));
        !std::mem::replace(&mut jump.2, true)
    };
    if land(key, control) && ctx.data_mut(is_first) {
        control.request_focus();
        // What was typed there before is forgotten, and what is typed takes a number's place.
        ctx.data_mut(|data| data.remove::<String>(control.id));
        let mut text = TextEditState::default();
        let all = CCursorRange::two(CCursor::default(), CCursor::new(usize::MAX));
        text.cursor.set_char_range(Some(all));
        TextEdit::store_state(ctx, control.id, text);
    }
}

/// A row whose ↺, or a double click on its label, brings back `default`.
pub(super) fn resettable<T: PartialEq + Copy>(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (key, label, help): (&str, &str, &str),
    value: &mut T,
    default: T,
    add: impl FnOnce(&mut egui::Ui, &mut Sink, &Response, &mut T),
) {
    let name = row(ui, label, help, |ui, name| {
        let height = ui.spacing().interact_size.y;
        // The place of ↺ stays free, so that nothing moves when it comes and goes.
        let width = (ui.available_width() - height - ui.spacing().item_spacing.x).max(0.0);
        ui.allocate_ui(vec2(width, height), |ui| {
            ui.set_min_width(width);
            add(ui, sink, name, value);
        });
        if *value != default {
            let reset = ui.add(Button::new("↺").frame(false).min_size(vec2(height, height)));
            let enabled = reset.enabled();
            // A symbol cannot be read out.
            reset.widget_info(|| WidgetInfo::labeled(WidgetType::Button, enabled, format!("Reset {label}")));
            let reset = reset.on_hover_text("back to the default");
            sink.note(format!("reset {key}"), &reset);
            if reset.clicked() {
                *value = default;
            }
        }
    });
    if name.double_clicked() && ui.is_enabled() {
        *value = default;
    }
}

/// A slider, and a number for the same value beside it; a double click on the slider brings back `default`.
pub(super) fn slider(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (key, label, help): (&str, &Response, &str),
    value: &mut f32,
    (range, scale): (RangeInclusive<f32>, Scale),
    default: f32,
) {
    let height = ui.spacing().interact_size.y;
    let beside = theme::NUMBER_WIDTH + ui.spacing().item_spacing.x;
    ui.spacing_mut().slider_width = (ui.available_width() - beside).max(0.0);
    let speed = match scale {
        Scale::Linear => f64::from(range.end() - range.start()) / 300.0,
        Scale::Log => f64::from(*value) / 100.0,
    };
    let slider = Slider::new(value, range.clone()).show_value(false).logarithmic(scale == Scale::Log);
    let slider = ui.add(slider).labelled_by(label.id).on_hover_text(help).on_disabled_hover_text(help);
    sink.note(key, &slider);
    if double_clicked(&slider) {
        *value = default;
    }
    let (before, low, high) = (*value, *range.start(), *range.end());
    // A half-typed number must not reach the simulation.
    let typed = Typed::within(low.into(), high.into());
    let number = DragValue::new(value).range(range).speed(speed).update_while_editing(false);
    let number = number.custom_formatter(|x, _| format::field(x)).custom_parser(|text| typed.read(text));
    let number = ui.add_sized([theme::NUMBER_WIDTH, height], number).labelled_by(label.id);
    sink.said = typed.refused().or(sink.said.take());
    // The field shows fewer digits than the number has: to look at it is no change.
    let looked_at = read(&format::field(before.into())).map(|shown| (shown as f32).clamp(low, high));
    if !number.dragged() && looked_at == Some(*value) {
        *value = before;
    }
    let number = number.on_hover_text(help).on_disabled_hover_text(help);
    sink.note(format!("{key} number"), &number);
    seize(key, &number);
}

/// One choice among [`chips`].
pub(super) struct Chip<'a> {
    pub name: &'a str,
    pub help: &'a str,
    pub selected: bool,
    /// Marks what `auto` came to.
    pub in_force: bool,
}

/// A row of buttons of which one is pressed; the index of the one that was clicked.
pub(super) fn chips<'a>(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (key, label): (&str, &str),
    options: impl IntoIterator<Item = Chip<'a>>,
) -> Option<usize> {
    let mut clicked = None;
    let line = ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(3.0, 3.0);
        ui.spacing_mut().button_padding.x = 5.0;
        for (i, option) in options.into_iter().enumerate() {
            let chip = chip(ui, label, &option);
            sink.note(format!("{key} {}", option.name), &chip);
            if chip.clicked() && !option.selected {
                clicked = Some(i);
            }
        }
    });
    sink.note(key, &line.response);
    land(key, &line.response);
    clicked
}

/// Which of some options is chosen, none for `auto`, and which that comes to.
pub(super) struct Auto {
    pub chosen: Option<usize>,
    pub in_force: Option<usize>,
}

/// Chips for options, each a name and a help, with `auto` before them; what was clicked, none for `auto`, which a double click on
/// their label is too.
pub(super) fn auto_chips<'a>(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (key, name, label): (&str, &str, &Response),
    options: impl Iterator<Item = (&'a str, &'a str)>,
    Auto { chosen, in_force }: Auto,
) -> Option<Option<usize>> {
    let auto = Chip {
        name: "auto",
        help: "let the program choose; the outlined one is in force",
        selected: chosen.is_none(),
        in_force: false,
    };
    let options = options.enumerate().map(|(at, (name, help))| Chip {
        name,
        help,
        selected: chosen == Some(at),
        in_force: chosen.is_none() && in_force == Some(at),
    });
    let clicked = chips(ui, sink, (key, name), std::iter::once(auto).chain(options));
    if label.double_clicked() {
        return Some(None);
    }
    clicked.map(|at| at.checked_sub(1))
}

fn chip(ui: &mut egui::Ui, label: &str, option: &Chip) -> Response {
    let &Chip { name, help, selected, in_force } = option;
    let stroke = if in_force { Stroke::new(1.0_f32, theme::of(ui).accent) } else { Stroke::NONE };
    let fill = if selected { theme::of(ui).accent_fill } else { theme::of(ui).raised };
    let text = RichText::new(name).color(if selected { theme::of(ui).strong } else { theme::of(ui).text });
    let chip = ui.add(Button::new(text).fill(fill).stroke(stroke));
    // Alone, a chip's text does not say what it is an option of.
    let enabled = ui.is_enabled();
    let info =
        || WidgetInfo::selected(WidgetType::RadioButton, enabled, selected, format!("{label}: {name}"));
    chip.widget_info(info);
    chip.on_hover_text(help).on_disabled_hover_text(help)
}

/// Whether a slider, which hears drags alone, was clicked twice.
fn double_clicked(slider: &Response) -> bool {
    let twice = slider.ctx.input(|input| input.pointer.button_double_clicked(PointerButton::Primary));
    twice && slider.contains_pointer() && slider.enabled()
}

/// A checkbox with an outline, which tells an empty one from a patch of grey.
pub(super) fn tick(ui: &mut egui::Ui, on: &mut bool, text: impl Into<egui::WidgetText>) -> Response {
    ui.scope(|ui| {
        let (fill, line) = (theme::of(ui).sunken, theme::of(ui).weak);
        let visuals = &mut ui.visuals_mut().widgets;
        // Who has the keyboard keeps its own outline.
        for state in [&mut visuals.inactive, &mut visuals.hovered] {
            (state.bg_fill, state.bg_stroke.color) = (fill, line);
        }
        visuals.active.bg_fill = fill;
        visuals.inactive.bg_stroke.width = 1.0;
        ui.checkbox(on, text)
    })
    .inner
}

/// A checkbox that its label ticks too.
pub(super) fn switch(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    key: &str,
    (name, label, help): (&str, &Response, &str),
    on: &mut bool,
) {
    *on ^= label.clicked();
    let checkbox = tick(ui, on, "");
    let enabled = checkbox.enabled();
    checkbox.widget_info(|| WidgetInfo::selected(WidgetType::Checkbox, enabled, *on, name));
    let checkbox = checkbox.on_hover_text(help);
    sink.note(key, &checkbox);
    land(key, &checkbox);
}

/// A number, or `auto`, in which case the number in force is shown. A drag counts when it ends: each new
/// number may cost a new scene.
pub(super) fn auto_number<T: egui::emath::Numeric>(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (key, label): (&str, &Response),
    value: &mut Option<T>,
    in_force: T,
    range: RangeInclusive<T>,
) {
    let help = "drag, or click and type; a double click on its name lets the program choose";
    let now = value.unwrap_or(in_force).to_f64();
    let text = |n: f64| if n == 0.0 { "–".to_owned() } else { format::count(n.round() as u64) };
    let (speed, range) = ((now / 100.0).max(0.1), range.start().to_f64()..=range.end().to_f64());
    let chosen = live_number(ui, sink, (key, label, help), now, (speed, text), range);
    *value = chosen.map(T::from_f64).or(*value);
    if label.double_clicked() && ui.is_enabled() {
        *value = None;
    }
    let help = "let the program choose";
    let auto = Chip { name: "auto", help, selected: value.is_none(), in_force: false };
    let chip = chip(ui, key, &auto);
    sink.note(format!("{key} auto"), &chip);
    if chip.clicked() {
        // Before the first frame nothing is in force that could be kept.
        *value = (value.is_none() && in_force.to_f64() > 0.0).then_some(in_force);
    }
}

/// A number that may go on by itself while nobody has hold of it: as `text` says it. What was typed, or dragged to, once it is
/// let go; none while it stays what it was.
pub(super) fn live_number(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (key, label, help): (&str, &Response, &str),
    value: f64,
    (speed, text): (f64, fn(f64) -> String),
    range: RangeInclusive<f64>,
) -> Option<f64> {
    let (draft, pass) = (ui.id().with(("draft", key)), ui.ctx().cumulative_pass_nr());
    // What it was when it was taken hold of, and what it is to be. Nobody has hold of what was not shown just before.
    let held: Option<(u64, f64, f64)> = ui.data(|data| data.get_temp(draft));
    let held = held.filter(|(last, ..)| last + 1 >= pass);
    let (_, start, mut number) = held.unwrap_or((pass, value, value));
    let typed = Typed::within(*range.start(), *range.end());
    let drag = DragValue::new(&mut number).range(range).clamp_existing_to_range(false);
    let drag = drag.update_while_editing(false).speed(speed).custom_formatter(move |x, _| text(x));
    // What stands there before anything is known is no number, and nobody typed it.
    let drag = drag.custom_parser(|it| if it == text(start) { read(it) } else { typed.read(it) });
    let size = [theme::COUNT_WIDTH, ui.spacing().interact_size.y];
    let drag = ui.add_sized(size, drag).labelled_by(label.id).on_hover_text(help);
    sink.said = typed.refused().or(sink.said.take());
    sink.note(key, &drag);
    seize(key, &drag);
    if drag.dragged() || drag.has_focus() {
        ui.data_mut(|data| data.insert_temp(draft, (pass, start, number)));
        return None;
    }
    ui.data_mut(|data| data.remove::<(u64, f64, f64)>(draft));
    let is_another = number.is_finite() && number != start && read(&text(start)) != Some(number);
    (held.is_some() && is_another).then_some(number)
}

/// What a field makes of a text.
fn read(text: &str) -> Option<f64> {
    let text: String =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '−' { '-' } else { c }).collect();
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// What is typed into a field that takes numbers of a range.
struct Typed {
    low: f64,
    high: f64,
    refused: RefCell<Option<String>>,
}

impl Typed {
    fn within(low: f64, high: f64) -> Self {
        Self { low, high, refused: RefCell::default() }
    }

    /// The number that it is, whether it fits or not.
    fn read(&self, text: &str) -> Option<f64> {
        let number = read(text);
        // The ends are often numbers of single precision.
        let fits = |number: f64| (self.low as f32..=self.high as f32).contains(&(number as f32));
        let text = text.trim();
        let is_an_end = [self.low, self.high].into_iter().any(|end| text == format::field(end));
        if !text.is_empty() && !is_an_end && !number.is_some_and(fits) {
            self.refused.replace(Some(text.to_owned()));
        }
        number
    }

    /// What is to be told, if it was not one that fits.
    fn refused(&self) -> Option<String> {
        let text = self.refused.take()?;
        let end = |end: f64| {
            if end.fract() == 0.0 && end.abs() < 1e9 { format!("{end}") } else { format::field(end) }
        };
        Some(format!("“{text}” is no number from {} to {}", end(self.low), end(self.high)))
    }
}
