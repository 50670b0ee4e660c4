//! "Parameters" section of the panel: the parameters of the mode.

use std::sync::Arc;

use super::action::{Action, Collector};
use super::fields::Fields;
use super::jump;
use super::widgets::{enabled_button, folded, section};
use crate::base::ChangeEffect::View;
use crate::base::{Info, Params, params};
use crate::engine::Config;

/// Shows the parameters that affect the simulation. The "Picture" section shows the other parameters.
pub(super) fn show(ui: &mut egui::Ui, config: &mut Config, out: &mut Collector) {
    let defaults = config.mode.info().mode_for(&config.start).values();
    section(ui, "Parameters", |ui| {
        let texts = ("reset all", "↺ Reset all", "Set every parameter to the scene's default");
        if enabled_button(ui, out, texts, config.mode.values() != defaults) {
            out.actions.push(Action::ResetParameters);
        }
    });
    let (defaults, disabled, note) = (&defaults, (&[][..], ""), None);
    let shows = |info: &Info| !info.advanced && info.effect != View;
    config.mode.visit(&mut Fields { ui, out, defaults, disabled, note, shows });
    more(
        ui,
        out,
        ("more parameters", "More parameters", "Parameters that rarely need to be changed"),
        &mut *config.mode,
        |ui, out, mode| {
            let shows = |info: &Info| info.advanced && info.effect != View;
            mode.visit(&mut Fields { ui, out, defaults, disabled, note, shows });
        },
    );
}

/// Shows the collapsible part `title` of a section, which contains the advanced parameters among `params`.
pub(super) fn more<P: Params + ?Sized>(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, title, help): (&str, &str, &str),
    params: &mut P,
    add: impl FnOnce(&mut egui::Ui, &mut Collector, &mut P),
) {
    let is_target =
        |key: Arc<str>| params::infos(params).iter().any(|info| info.advanced && info.key == &*key);
    let unfolds = jump::target(ui.ctx()).is_some_and(is_target);
    folded(ui, out, (key, title, help), unfolds, |ui, out| add(ui, out, params));
}
