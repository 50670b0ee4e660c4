//! Widgets made from the description that a mode gives of its parameters.

use std::ops::RangeInclusive;

use egui::{Button, DragValue, Response, Slider, vec2};

use super::widgets::{Chip, Sink, chips, double_clicked, row, switch};
use super::{format, theme};
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

impl Fields<'_> {
    /// A row whose ↺, or a double click on its label, brings back `default`.
    fn field<T: PartialEq + Copy>(
        &mut self,
        info: &Info,
        value: &mut T,
        default: T,
        add: impl FnOnce(&mut egui::Ui, &mut Sink, &Response, &mut T),
    ) {
        let label = row(self.ui, info.label, &help(info), |ui, label| {
            let height = ui.spacing().interact_size.y;
            // The place of ↺ stays free, so that nothing moves when it comes and goes.
            let width = ui.available_width() - height - ui.spacing().item_spacing.x;
            ui.allocate_ui(vec2(width, height), |ui| {
                ui.set_min_width(width);
                add(ui, self.sink, label, value);
            });
            if *value != default {
                let reset = ui.add(Button::new("↺").frame(false).min_size(vec2(height, height)));
                let reset =
                    named(reset, format!("Reset {}", info.label)).on_hover_text("back to the default");
                self.sink.note(format!("reset {}", info.key), &reset);
                if reset.clicked() {
                    *value = default;
                }
            }
        });
        if label.double_clicked() {
            *value = default;
        }
    }
}

impl Visitor for Fields<'_> {
    fn float(&mut self, info: &Info, value: &mut f32, range: RangeInclusive<f32>, scale: Scale) {
        let default = self.defaults.float(info.key).unwrap_or(*value);
        self.field(info, value, default, |ui, sink, label, value| {
            let height = ui.spacing().interact_size.y;
            ui.spacing_mut().slider_width =
                ui.available_width() - theme::NUMBER_WIDTH - ui.spacing().item_spacing.x;
            let speed = match scale {
                Scale::Linear => f64::from(range.end() - range.start()) / 300.0,
                Scale::Log => f64::from(*value) / 100.0,
            };
            let logarithmic = scale == Scale::Log;
            let slider = Slider::new(value, range.clone()).show_value(false).logarithmic(logarithmic);
            let slider = ui.add(slider).labelled_by(label.id).on_hover_text(help(info));
            sink.note(info.key, &slider);
            if double_clicked(&slider) {
                *value = default;
            }
            let number = DragValue::new(value)
                .range(range)
                .speed(speed)
                // A half-typed number must not reach the simulation.
                .update_while_editing(false)
                .custom_formatter(|x, _| format::field(x));
            let number = ui.add_sized([theme::NUMBER_WIDTH, height], number).labelled_by(label.id);
            sink.note(format!("{} number", info.key), &number.on_hover_text(help(info)));
        });
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        let default = self.defaults.get(info.key).map_or(*value, |v| v == Value::Flag(true));
        self.field(info, value, default, |ui, sink, label, value| {
            switch(ui, sink, info.key, (info.label, label, &help(info)), value);
        });
    }

    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]) {
        let default = match self.defaults.get(info.key) {
            Some(Value::Option(name)) => options.iter().position(|opt| opt.name == name),
            _ => None,
        };
        self.field(info, index, default.unwrap_or(*index), |ui, sink, _, index| {
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

/// Gives a control whose text is a symbol a name that can be read out.
fn named(response: Response, name: String) -> Response {
    let enabled = response.enabled();
    response.widget_info(|| egui::WidgetInfo::labeled(egui::WidgetType::Button, enabled, &name));
    response
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
