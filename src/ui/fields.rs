//! Panel rows for editing parameters, generated from the parameters' descriptions.

use std::ops::RangeInclusive;

use egui::Response;

use super::action::Collector;
use super::numbers::slider_row;
use super::swatches;
use super::widgets::{Chip, chips, labelled_checkbox, list, note, resettable};
use crate::base::{ChangeEffect, Info, Opt, ParamValue, ParamValues, Scale, Visitor};

/// Largest number of options that are shown as a row of buttons; more options are shown as a drop-down list.
const MOST_CHIPS: usize = 4;

/// A [`Visitor`] that shows a row for each parameter, with a control that changes its value.
pub(super) struct Fields<'a> {
    pub ui: &'a mut egui::Ui,
    pub out: &'a mut Collector,
    pub defaults: &'a ParamValues,
    /// Keys of the disabled parameters, and the reason why they are disabled, for their tooltips.
    pub disabled: (&'a [&'a str], &'a str),
    /// Key of a numeric parameter, and a note to show below its row.
    pub note: Option<(&'a str, &'a str)>,
    /// Function that returns whether to show a parameter.
    pub shows: fn(&Info) -> bool,
}

impl Visitor for Fields<'_> {
    fn float(&mut self, info: &Info, value: &mut f32, range: RangeInclusive<f32>, scale: Scale) {
        if !(self.shows)(info) {
            return;
        }
        let (help, default) = (self.help(info), self.defaults.float(info.key).unwrap_or(*value));
        let is_enabled = self.is_enabled(info);
        let Self { ui, out, .. } = self;
        ui.add_enabled_ui(is_enabled, |ui| {
            slider_row(ui, out, (info.key, info.label, &help), (value, default), (range, scale));
        });
        if let Some((_, text)) = self.note.filter(|(key, _)| *key == info.key) {
            note(ui, text);
        }
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        let read = |value| if let ParamValue::Flag(on) = value { Some(on) } else { None };
        self.row(info, value, read, |ui, out, (label, help), value| {
            labelled_checkbox(ui, out, info.key, (info.label, label, help), value);
        });
    }

    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]) {
        let read = |value| match value {
            ParamValue::Option(name) => options.iter().position(|opt| opt.name == name),
            _ => None,
        };
        self.row(info, index, read, |ui, out, (label, help), index| {
            if info.key == "palette" {
                return swatches::show(ui, out, index);
            }
            if options.len() > MOST_CHIPS {
                let texts = options.iter().map(|opt| (opt.name, opt.help));
                let shown = (options[*index].name, *index);
                *index = list(ui, out, (info.key, (info.label, label), help), shown, texts).unwrap_or(*index);
                return;
            }
            let chip = |(i, opt): (usize, &&'static Opt)| Chip::new(opt.name, opt.help, i == *index);
            let all = options.iter().enumerate().map(chip);
            if let Some(clicked) = chips(ui, out, (info.key, info.label), all) {
                *index = clicked;
            }
        });
    }
}

impl Fields<'_> {
    /// Shows a parameter's row. `add` creates the control from the label and tooltip; `read` extracts the default value.
    fn row<T: PartialEq + Copy>(
        &mut self,
        info: &Info,
        value: &mut T,
        read: impl FnOnce(ParamValue) -> Option<T>,
        add: impl FnOnce(&mut egui::Ui, &mut Collector, (&Response, &str), &mut T),
    ) {
        if !(self.shows)(info) {
            return;
        }
        let (help, default) = (self.help(info), self.defaults.get(info.key).and_then(read).unwrap_or(*value));
        let texts = (info.key, info.label, &*help);
        let is_enabled = self.is_enabled(info);
        let Self { ui, out, .. } = self;
        ui.add_enabled_ui(is_enabled, |ui| {
            resettable(ui, out, texts, value, default, |ui, out, label, value| {
                add(ui, out, (label, &help), value);
            });
        });
    }

    fn is_enabled(&self, info: &Info) -> bool {
        !self.disabled.0.contains(&info.key)
    }

    /// Returns a parameter's tooltip. If the parameter is disabled, the tooltip starts with the reason.
    fn help(&self, info: &Info) -> String {
        match self.is_enabled(info) {
            true => help(info),
            false => format!("{}\n\n{}", self.disabled.1, help(info)),
        }
    }
}

/// Returns a parameter's tooltip: its help text, its name and unit, and the effect of changing it.
fn help(info: &Info) -> String {
    let &Info { key, help, unit, effect, .. } = info;
    let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
    let effect = match effect {
        ChangeEffect::Window => "this setting changes only the window, and applies to all scenes",
        ChangeEffect::View => "this setting changes only the picture",
        ChangeEffect::Live => "a change takes effect at the next step",
        ChangeEffect::Rebuild => "a change rebuilds the kernel; the simulation then continues",
        ChangeEffect::Reseed => "a change restarts the scene",
    };
    format!("{help}\n\n{key}{unit} · {effect}")
}
