//! Widgets made from the description that a mode gives of its parameters.

use std::ops::RangeInclusive;

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
        let default = self.defaults.float(info.key).unwrap_or(*value);
        let help = help(info);
        resettable(
            self.ui,
            self.sink,
            (info.key, info.label, &help),
            value,
            default,
            |ui, sink, label, value| {
                slider(ui, sink, (info.key, label, &help), value, (range, scale), default);
            },
        );
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        let default = self.defaults.get(info.key).map_or(*value, |v| v == Value::Flag(true));
        let help = help(info);
        resettable(
            self.ui,
            self.sink,
            (info.key, info.label, &help),
            value,
            default,
            |ui, sink, label, value| {
                switch(ui, sink, info.key, (info.label, label, &help), value);
            },
        );
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
        let default = match self.defaults.get(info.key) {
            Some(Value::Option(name)) => options.iter().position(|opt| opt.name == name),
            _ => None,
        };
        let (help, default) = (help(info), default.unwrap_or(*index));
        let words = (info.key, info.label, &*help);
        resettable(self.ui, self.sink, words, index, default, |ui, sink, _, index| add(ui, sink, index));
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
