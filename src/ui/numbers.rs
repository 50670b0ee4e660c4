//! Number fields and sliders.

use std::cell::RefCell;
use std::ops::RangeInclusive;

use egui::{DragValue, PointerButton, Response, Slider};

use super::action::Collector;
use super::widgets::{Chip, chip, resettable, with_help};
use super::{jump, theme};
use crate::base::{Scale, format};

/// Shows a number field labelled by `label`. A typed number takes effect on Enter or when the field loses the focus.
pub(super) fn number(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, label, help): (&str, &Response, &str),
    number: DragValue,
) {
    let number = ui.add(number.update_while_editing(false)).labelled_by(label.id).on_hover_text(help);
    out.record(key, &number);
    jump::reveal_and_focus(key, &number);
}

/// Shows a row with a slider and a number field for one value. Double-clicking the slider or the label restores
/// `default`.
pub(super) fn slider_row(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, name, help): (&str, &str, &str),
    (value, default): (&mut f32, f32),
    (range, scale): (RangeInclusive<f32>, Scale),
) {
    resettable(ui, out, (key, name, help), value, default, |ui, out, label, value| {
        let height = ui.spacing().interact_size.y;
        let beside = theme::NUMBER_WIDTH + ui.spacing().item_spacing.x;
        ui.spacing_mut().slider_width = (ui.available_width() - beside).max(0.0);
        let speed = match scale {
            Scale::Linear => f64::from(range.end() - range.start()) / 300.0,
            // Near 0, a share of the value would hardly move it.
            Scale::Log if *range.start() == 0.0 => f64::from(value.max(10.0)) / 100.0,
            Scale::Log => f64::from(*value) / 100.0,
        };
        let slider = Slider::new(value, range.clone()).show_value(false);
        // On a logarithmic slider that starts at 0, all other values are at least 1.
        let slider = slider.logarithmic(scale == Scale::Log).smallest_positive(1.0);
        let slider = with_help(ui.add(slider).labelled_by(label.id), help);
        out.record(key, &slider);
        if double_clicked(&slider) {
            *value = default;
        }
        let (before, low, high) = (*value, *range.start(), *range.end());
        let parser = RangeParser::new(low.into(), high.into());
        let number = DragValue::new(value).range(range).speed(speed).update_while_editing(false);
        let number =
            number.custom_formatter(|x, _| format::field(x)).custom_parser(|text| parser.parse(text));
        let number = ui.add_sized([theme::NUMBER_WIDTH, height], number).labelled_by(label.id);
        out.message = parser.message().or(out.message.take());
        // The field shows fewer digits than the value has: entering and leaving the field must not round the value.
        let shown = parse(&format::field(before.into())).map(|shown| (shown as f32).clamp(low, high));
        if !number.dragged() && shown == Some(*value) {
            *value = before;
        }
        let number = with_help(number, help);
        out.record(format_args!("{key} number"), &number);
        jump::reveal_and_focus(key, &number);
    });
}

/// Returns whether a slider was double-clicked. egui itself does not report double-clicks on sliders.
fn double_clicked(slider: &Response) -> bool {
    let twice = slider.ctx.input(|input| input.pointer.button_double_clicked(PointerButton::Primary));
    twice && slider.contains_pointer() && slider.enabled()
}

/// Shows a number field with an `auto` button. While `value` is `None` (automatic), the field shows the current value
/// `in_use`. A drag takes effect only when it ends, because each new value may restart the scene.
pub(super) fn auto_number<T: egui::emath::Numeric>(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, label): (&str, &Response),
    value: &mut Option<T>,
    in_use: T,
    range: RangeInclusive<T>,
) {
    let help = "Drag, or click and type. Double-click the label to let the program choose.";
    let now = value.unwrap_or(in_use).to_f64();
    let text = |n: f64| if n == 0.0 { "–".to_owned() } else { format::count(n.round() as u64) };
    let (speed, range) = ((now / 100.0).max(0.1), range.start().to_f64()..=range.end().to_f64());
    let chosen = live_number(ui, out, (key, label, help), now, (speed, text), range);
    *value = chosen.map(T::from_f64).or(*value);
    if label.double_clicked() && ui.is_enabled() {
        *value = None;
    }
    let auto = Chip::new("auto", "Let the program choose", value.is_none());
    let chip = chip(ui, key, &auto);
    out.record(format_args!("{key} auto"), &chip);
    if chip.clicked() {
        // Before the first frame `in_use` is 0, which must not become the value.
        *value = (value.is_none() && in_use.to_f64() > 0.0).then_some(in_use);
    }
}

/// An unfinished edit of a number field, stored in egui's memory.
#[derive(Clone, Copy)]
struct Draft {
    /// Number of the last egui pass in which the field was shown.
    pass: u64,
    /// Value of the field when the edit began.
    start: f64,
    /// Current value of the field, which takes effect when the edit ends.
    number: f64,
}

/// Shows a number field for a value that changes by itself, such as the current step. `text` formats the number.
/// Returns a new number once the user has typed it or finished dragging.
pub(super) fn live_number(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, label, help): (&str, &Response, &str),
    value: f64,
    (speed, text): (f64, fn(f64) -> String),
    range: RangeInclusive<f64>,
) -> Option<f64> {
    let (id, pass) = (ui.id().with(("draft", key)), ui.ctx().cumulative_pass_nr());
    let draft: Option<Draft> = ui.data(|data| data.get_temp(id));
    // A draft ends if the field was not shown in the last pass.
    let draft = draft.filter(|draft| draft.pass + 1 >= pass);
    let Draft { start, mut number, .. } = draft.unwrap_or(Draft { pass, start: value, number: value });
    let parser = RangeParser::new(*range.start(), *range.end());
    let drag = DragValue::new(&mut number).range(range).clamp_existing_to_range(false);
    let drag = drag.update_while_editing(false).speed(speed).custom_formatter(move |x, _| text(x));
    // The unchanged text may be a placeholder, such as a dash, which is not a typing mistake.
    let drag = drag.custom_parser(|it| if it == text(start) { parse(it) } else { parser.parse(it) });
    let size = [theme::COUNT_WIDTH, ui.spacing().interact_size.y];
    let drag = ui.add_sized(size, drag).labelled_by(label.id).on_hover_text(help);
    out.message = parser.message().or(out.message.take());
    out.record(key, &drag);
    jump::reveal_and_focus(key, &drag);
    if drag.dragged() || drag.has_focus() {
        ui.data_mut(|data| data.insert_temp(id, Draft { pass, start, number }));
        return None;
    }
    ui.data_mut(|data| data.remove::<Draft>(id));
    let has_changed = number.is_finite() && number != start && parse(&text(start)) != Some(number);
    (draft.is_some() && has_changed).then_some(number)
}

/// Parses a finite number from text that may contain spaces and a typographic minus sign.
fn parse(text: &str) -> Option<f64> {
    let text: String =
        text.chars().filter(|c| !c.is_whitespace()).map(|c| if c == '−' { '-' } else { c }).collect();
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

/// Parser for the text of a number field. Remembers the last text that was not a number within the range.
struct RangeParser {
    low: f64,
    high: f64,
    rejected: RefCell<Option<String>>,
}

impl RangeParser {
    fn new(low: f64, high: f64) -> Self {
        Self { low, high, rejected: RefCell::default() }
    }

    /// Parses `text` as a number. Returns the number even if it is out of range.
    fn parse(&self, text: &str) -> Option<f64> {
        let number = parse(text);
        // Compares in single precision, because most ranges are defined in single precision.
        let fits = |number: f64| (self.low as f32..=self.high as f32).contains(&(number as f32));
        let text = text.trim();
        let is_an_end = [self.low, self.high].into_iter().any(|end| text == format::field(end));
        if !text.is_empty() && !is_an_end && !number.is_some_and(fits) {
            self.rejected.replace(Some(text.to_owned()));
        }
        number
    }

    /// Returns a message about the most recently rejected text, if any.
    fn message(&self) -> Option<String> {
        let text = self.rejected.take()?;
        let [low, high] = [self.low, self.high].map(|end| {
            if end.fract() == 0.0 && end.abs() < 1e9 { format!("{end}") } else { format::field(end) }
        });
        Some(format!("Enter a number from {low} to {high}, not “{text}”"))
    }
}
