//! Widgets made from the description that a mode gives of its parameters.

use std::ops::RangeInclusive;

use egui::Response;

use super::widgets::{Chip, Sink, chips, resettable, slider, switch};
use crate::config::Config;
use crate::modes::Mode;
use crate::params::{Effect, Info, Opt, Scale, Value, Values, Visitor};

/// What "reset" goes back to: the parameters that suit the scene.
pub(super) fn default_mode(config: &Config) -> Box<dyn Mode> {
    config.mode.info().mode_for(&config.start)
}

/// A [`Visitor`] that shows one row for each parameter, and edits it.
pub(super) struct Fields<'a> {
    pub ui: &'a mut egui::Ui,
    pub sink: &'a mut Sink,
    pub defaults: &'a Values,
}

impl Visitor for Fields<'_> {
    fn float(&mut self, info: &Info, value: &mut f32, range: RangeInclusive<f32>, scale: Scale) {
        let read = |value| if let Value::Float(x) = value { Some(x) } else { None };
        self.row(info, value, read, |ui, sink, (label, help, default), value| {
            slider(ui, sink, (info.key, label, help), value, (range, scale), default);
        });
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        let read = |value| if let Value::Flag(on) = value { Some(on) } else { None };
        self.row(info, value, read, |ui, sink, (label, help, _), value| {
            switch(ui, sink, info.key, (info.label, label, help), value);
        });
    }

    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]) {
        self.choose(info, index, options, |ui, sink, index| {
            let chip = |(i, opt): (usize, &&Opt)| Chip {
                name: opt.name,
                help: opt.help,
                selected: i == *index,
                in_force: false,
            };
            let all = options.iter().enumerate().map(chip);
            if let Some(clicked) = chips(ui, sink, (info.key, info.label), all) {
                *index = clicked;
            }
        });
    }
}

impl Fields<'_> {
    /// A row for one of some options, which `add` shows.
    pub fn choose(
        &mut self,
        info: &Info,
        index: &mut usize,
        options: &[&'static Opt],
        add: impl FnOnce(&mut egui::Ui, &mut Sink, &mut usize),
    ) {
        let read = |value| match value {
            Value::Option(name) => options.iter().position(|opt| opt.name == name),
            _ => None,
        };
        self.row(info, index, read, |ui, sink, _, index| add(ui, sink, index));
    }

    /// A row for a parameter, which `add` shows: it is given the row's label, the help and the default, which `read` reads.
    fn row<T: PartialEq + Copy>(
        &mut self,
        info: &Info,
        value: &mut T,
        read: impl FnOnce(Value) -> Option<T>,
        add: impl FnOnce(&mut egui::Ui, &mut Sink, (&Response, &str, T), &mut T),
    ) {
        let (help, default) = (help(info), self.defaults.get(info.key).and_then(read).unwrap_or(*value));
        let words = (info.key, info.label, &*help);
        resettable(self.ui, self.sink, words, value, default, |ui, sink, label, value| {
            add(ui, sink, (label, &help, default), value);
        });
    }
}

/// All that there is to say about a parameter.
fn help(info: &Info) -> String {
    let &Info { key, label: _, help, unit, effect } = info;
    let unit = if unit.is_empty() { String::new() } else { format!(" [{unit}]") };
    let effect = match effect {
        Effect::View => "in the picture only",
        Effect::Live => "from the next step on",
        Effect::Rebuild => "rebuilds the kernel, keeps what there is",
        Effect::Reseed => "starts the scene afresh",
    };
    format!("{help}\n\n{key}{unit} · {effect}")
}
