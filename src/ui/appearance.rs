//! "Appearance" section of the panel: the settings of a [`Look`], collapsed by default.

use egui::Button;

use super::action::{Action, Collector};
use super::fields::Fields;
use super::jump;
use super::widgets::{folded, shortcut_button, title, with_help};
use crate::base::look::Look;
use crate::base::params::{ParamValues, Params};

/// Shows the Appearance section of the panel.
pub(super) fn show(ui: &mut egui::Ui, look: &mut Look, out: &mut Collector) {
    ui.add_space(10.0);
    let unfolds = jump::target(ui.ctx()).is_some_and(|key| ParamValues::collect(look).get(key).is_some());
    let help = "Colours, brightness, trails and camera of the picture; theme and text size of the window";
    folded(ui, out, ("picture", title(ui, "Appearance"), help), unfolds, |ui, out| {
        let default = Look::default();
        let defaults = ParamValues::collect(&mut default.clone());
        look.visit(&mut Fields { ui, out, defaults: &defaults });
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let reset = ui.add_enabled(*look != default, Button::new("↺ Reset appearance"));
            let reset = with_help(reset, "Reset every setting in this section to its default");
            out.record("reset picture", &reset);
            if reset.clicked() {
                *look = default;
            }
            shortcut_button(ui, out, ("reset view", "Reset camera"), Action::ResetView);
        });
    });
}
