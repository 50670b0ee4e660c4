//! Widgets of the panel: labelled rows, buttons, chips and checkboxes.

use egui::{
    Align, Button, CollapsingHeader, ComboBox, Label, Layout, Response, RichText, Sense, Stroke, TextStyle,
    TextWrapMode, WidgetInfo, WidgetText, WidgetType, vec2,
};

use super::action::{Action, Collector};
use super::{jump, keys, theme};

pub(super) fn heading(ui: &mut egui::Ui, title: &str) {
    ui.label(self::title(ui, title));
}

/// Shows the heading of a section, and at the right end of its line the widgets that `add` creates.
pub(super) fn section(ui: &mut egui::Ui, title: &str, add: impl FnOnce(&mut egui::Ui)) {
    ui.add_space(6.0);
    ui.horizontal(|ui| {
        heading(ui, title);
        ui.with_layout(Layout::right_to_left(Align::Center), add);
    });
}

/// Shows a button that can be disabled; returns whether the user clicked it. The tooltip `help` is shown in both states.
pub(super) fn enabled_button(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, text, help): (&str, &str, &str),
    is_enabled: bool,
) -> bool {
    let button = with_help(ui.add_enabled(is_enabled, Button::new(text)), help);
    out.record(key, &button);
    button.clicked()
}

/// Shows a collapsible section that starts collapsed, and expands it if `unfolds` is true.
pub(super) fn folded(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, title, help): (&str, impl Into<WidgetText>, &str),
    unfolds: bool,
    add: impl FnOnce(&mut egui::Ui, &mut Collector),
) {
    let header = CollapsingHeader::new(title).id_salt(key).open(unfolds.then_some(true));
    let header = header.show(ui, |ui| add(ui, out));
    out.record(key, &header.header_response.on_hover_text(help));
}

/// Returns `text` in the style of a section heading.
pub(super) fn title(ui: &egui::Ui, text: &str) -> RichText {
    RichText::new(text).strong().color(theme::of(ui).accent)
}

/// Shows a small grey note below a control, aligned with the column of controls.
pub(super) fn note(ui: &mut egui::Ui, text: &str) {
    ui.horizontal_top(|ui| {
        ui.spacing_mut().interact_size.y = 0.0;
        ui.add_space(theme::LABEL_WIDTH + ui.spacing().item_spacing.x);
        ui.add(Label::new(small(ui, text)).wrap());
    });
}

/// Shows `text` as a note that takes the height of the longest of `texts`, so that the controls below do not move when
/// another of `texts` is shown.
pub(super) fn note_with_height_of<'a>(ui: &mut egui::Ui, text: &str, texts: impl Iterator<Item = &'a str>) {
    let width = ui.available_width() - theme::LABEL_WIDTH - ui.spacing().item_spacing.x;
    let height = |text: &str| {
        let text = WidgetText::from(small(ui, text));
        text.into_galley(ui, Some(TextWrapMode::Wrap), width, TextStyle::Small).size().y
    };
    let missing = texts.map(height).fold(0.0, f32::max) - height(text);
    note(ui, text);
    ui.add_space(missing.max(0.0));
}

/// Returns `text` in the small, grey style of hints.
pub(super) fn small(ui: &egui::Ui, text: impl Into<String>) -> RichText {
    RichText::new(text).small().color(theme::of(ui).weak)
}

/// Adds a tooltip to `control`. Calls `text` only while the tooltip is shown.
pub(super) fn tooltip(control: Response, text: impl FnOnce() -> String) -> Response {
    control.on_hover_ui(|ui| {
        ui.set_max_width(ui.spacing().tooltip_width);
        ui.label(text());
    })
}

/// Adds a tooltip to `control` that is shown even if the control is disabled.
pub(super) fn with_help(control: Response, help: &str) -> Response {
    control.on_hover_text(help).on_disabled_hover_text(help)
}

/// Shows a button for `action`, with the tooltip `help`.
pub(super) fn button(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, text, help): (&str, &str, &str),
    action: Action,
) {
    let button = ui.button(text).on_hover_text(help);
    out.button(key, &button, action);
}

/// Shows a button for `action`, with the action's description and shortcut as its tooltip.
pub(super) fn shortcut_button(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, text): (&str, &str),
    action: Action,
) {
    let hint = keys::hint(&action);
    button(ui, out, (key, text, hint), action);
}

/// Shows a row with a label and, beside it, the controls that `add` creates. Passes the label to `add`, then returns it.
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
            // Clickable, but without keyboard focus: the Tab key must skip labels.
            ui.add(Label::new(RichText::new(label).color(theme::of(ui).text)).truncate().sense(Sense::CLICK))
        });
        let label = with_help(label.inner, help);
        add(ui, &label);
        label
    });
    inner.inner
}

/// Shows a row with a ↺ (reset) button. Clicking the button or double-clicking the label restores `default`.
pub(super) fn resettable<T: PartialEq + Copy>(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, label, help): (&str, &str, &str),
    value: &mut T,
    default: T,
    add: impl FnOnce(&mut egui::Ui, &mut Collector, &Response, &mut T),
) {
    let name = row(ui, label, help, |ui, name| {
        let height = ui.spacing().interact_size.y;
        // Space for ↺ is reserved while the button is hidden, so that the other controls never move.
        let width = (ui.available_width() - height - ui.spacing().item_spacing.x).max(0.0);
        ui.allocate_ui(vec2(width, height), |ui| {
            ui.set_min_width(width);
            add(ui, out, name, value);
        });
        if *value != default {
            let reset = ui.add(Button::new("↺").frame(false).min_size(vec2(height, height)));
            let enabled = reset.enabled();
            // A screen reader cannot read the symbol.
            reset.widget_info(|| WidgetInfo::labeled(WidgetType::Button, enabled, format!("Reset {label}")));
            let reset = reset.on_hover_text("Restore the default");
            out.record(format_args!("reset {key}"), &reset);
            if reset.clicked() {
                *value = default;
            }
        }
    });
    if name.double_clicked() && ui.is_enabled() {
        *value = default;
    }
}

/// A chip: the button for one option in a row of buttons from which the user picks one.
pub(super) struct Chip<'a> {
    /// Text on the button.
    pub name: &'a str,
    /// Tooltip of the button.
    pub help: &'a str,
    /// Whether the option is selected.
    pub selected: bool,
    /// Whether to outline the option because `auto` currently resolves to it.
    pub in_use: bool,
}

impl<'a> Chip<'a> {
    /// Returns a chip (a button for one option) without an outline.
    pub(super) fn new(name: &'a str, help: &'a str, selected: bool) -> Self {
        Self { name, help, selected, in_use: false }
    }
}

/// Shows a row of chips (buttons for options). Returns the index of the clicked chip, unless that chip was already selected.
pub(super) fn chips<'a>(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, label): (&str, &str),
    options: impl IntoIterator<Item = Chip<'a>>,
) -> Option<usize> {
    let mut clicked = None;
    let line = ui.horizontal_wrapped(|ui| {
        ui.spacing_mut().item_spacing = vec2(3.0, 3.0);
        ui.spacing_mut().button_padding.x = 5.0;
        for (i, option) in options.into_iter().enumerate() {
            let chip = chip(ui, label, &option);
            out.record(format_args!("{key} {}", option.name), &chip);
            if chip.clicked() && !option.selected {
                clicked = Some(i);
            }
        }
    });
    out.record(key, &line.response);
    jump::reveal(key, &line.response);
    clicked
}

/// Shows chips for `auto` and for `options` (value, name, tooltip). Stores the choice in `chosen`, where `None` means
/// `auto`. Returns whether the user made a choice.
pub(super) fn auto_row<T: Copy + PartialEq>(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, label, help): (&str, &str, &str),
    options: &[(T, String, &str)],
    (chosen, in_use): (&mut Option<T>, Option<T>),
) -> bool {
    let mut clicked = None;
    let auto = Chip::new("auto", "Let the program choose; the option in use is outlined", chosen.is_none());
    let chips_of_options = options.iter().map(|(value, name, help)| {
        let in_use = chosen.is_none() && in_use == Some(*value);
        Chip { in_use, ..Chip::new(name, help, *chosen == Some(*value)) }
    });
    let name = row(ui, label, help, |ui, _| {
        clicked = chips(ui, out, (key, label), std::iter::once(auto).chain(chips_of_options));
    });
    let choice = if name.double_clicked() { Some(0) } else { clicked };
    if let Some(at) = choice {
        *chosen = at.checked_sub(1).map(|at| options[at].0);
    }
    choice.is_some()
}

/// Shows a drop-down list of `options` (name, tooltip). The closed list shows the text `shown`. Returns the index of
/// the option that the user clicked, if any.
pub(super) fn list<'a>(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, label, help): (&str, (&str, &Response), &str),
    (shown, selected): (&str, usize),
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Option<usize> {
    let mut clicked = None;
    let list =
        ComboBox::from_id_salt(key).selected_text(shown).width(theme::LIST_WIDTH).height(theme::LIST_HEIGHT);
    let list = list.show_ui(ui, |ui| {
        for (nth, (name, help)) in options.into_iter().enumerate() {
            let option = ui.selectable_label(nth == selected, name);
            let spoken = || format!("{}: {name}", label.0);
            option.widget_info(|| {
                WidgetInfo::selected(WidgetType::RadioButton, true, nth == selected, spoken())
            });
            let option = option.on_hover_text(help);
            out.record(format_args!("{key} {name}"), &option);
            if option.clicked() {
                clicked = Some(nth);
            }
        }
    });
    let list = with_help(list.response.labelled_by(label.1.id), help);
    out.record(key, &list);
    jump::reveal(key, &list);
    clicked
}

/// Shows a row with a drop-down list of `auto` and `options` (value, name, tooltip). Stores the choice in `chosen`, where
/// `None` means `auto`, which currently resolves to `in_use`.
pub(super) fn auto_list<T: Copy + PartialEq + ToString>(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, label, help): (&str, &str, &str),
    options: &[(T, String, &str)],
    (chosen, in_use): (&mut Option<T>, T),
) {
    let place = |value: T| options.iter().position(|option| option.0 == value);
    let selected = chosen.and_then(place);
    let shown = match (*chosen, place(in_use)) {
        (Some(value), _) => selected.map_or_else(|| value.to_string(), |nth| options[nth].1.clone()),
        (None, Some(nth)) => format!("auto ({})", options[nth].1),
        (None, None) => "auto".to_owned(),
    };
    let all = options.iter().map(|(_, name, help)| (name.as_str(), *help));
    let all = std::iter::once(("auto", "Let the program choose")).chain(all);
    let mut clicked = None;
    let name = row(ui, label, help, |ui, name| {
        clicked = list(ui, out, (key, (label, name), help), (&shown, selected.map_or(0, |nth| nth + 1)), all);
    });
    let clicked = if name.double_clicked() { Some(0) } else { clicked };
    if let Some(nth) = clicked {
        *chosen = nth.checked_sub(1).map(|nth| options[nth].0);
    }
}

/// Shows one chip, a button for an option. `label` names the choice for screen readers.
pub(super) fn chip(ui: &mut egui::Ui, label: &str, option: &Chip) -> Response {
    let &Chip { name, help, selected, in_use } = option;
    let colours = theme::of(ui);
    let stroke = if in_use { Stroke::new(1.0_f32, colours.accent) } else { Stroke::NONE };
    let (fill, text) =
        if selected { (colours.accent_fill, colours.strong) } else { (colours.raised, colours.text) };
    let chip = ui.add(Button::new(RichText::new(name).color(text)).fill(fill).stroke(stroke));
    let enabled = ui.is_enabled();
    let info =
        || WidgetInfo::selected(WidgetType::RadioButton, enabled, selected, format!("{label}: {name}"));
    chip.widget_info(info);
    with_help(chip, help)
}

/// Shows a checkbox with an outline, so that an empty checkbox is visible on the panel's background.
pub(super) fn checkbox(ui: &mut egui::Ui, on: &mut bool, text: impl Into<WidgetText>) -> Response {
    ui.scope(|ui| {
        let (fill, line) = (theme::of(ui).sunken, theme::of(ui).weak);
        let visuals = &mut ui.visuals_mut().widgets;
        // `active` keeps its own outline, which shows the keyboard focus.
        for state in [&mut visuals.inactive, &mut visuals.hovered] {
            (state.bg_fill, state.bg_stroke.color) = (fill, line);
        }
        visuals.active.bg_fill = fill;
        visuals.inactive.bg_stroke.width = 1.0;
        ui.checkbox(on, text)
    })
    .inner
}

/// Shows a checkbox that the user can also toggle by clicking `label`.
pub(super) fn labelled_checkbox(
    ui: &mut egui::Ui,
    out: &mut Collector,
    key: &str,
    (name, label, help): (&str, &Response, &str),
    on: &mut bool,
) {
    *on ^= label.clicked();
    let checkbox = checkbox(ui, on, "");
    let enabled = checkbox.enabled();
    checkbox.widget_info(|| WidgetInfo::selected(WidgetType::Checkbox, enabled, *on, name));
    let checkbox = with_help(checkbox, help);
    out.record(key, &checkbox);
    jump::reveal(key, &checkbox);
}
