//! List of the heaviest bodies, in the "Scene" section of the panel. Clicking a body makes the camera follow it.

use egui::{Button, RichText, vec2};

use super::action::{Action, Collector};
use super::model::Model;
use super::theme;
use super::widgets::folded;
use crate::base::{format, units};

/// Shows the list of the heaviest bodies, collapsed at first. Shows nothing if the list is empty.
pub(super) fn show(ui: &mut egui::Ui, model: &Model, out: &mut Collector) {
    if model.heaviest.is_empty() {
        return;
    }
    let help = "Bodies that are heavier than most, with their masses. Click a body to select and follow it.";
    folded(ui, out, ("heaviest", "Heaviest bodies", help), false, |ui, out| {
        ui.spacing_mut().item_spacing.y = 2.0;
        for &(body, mass) in model.heaviest {
            row(ui, model, (body, mass), out);
        }
    });
}

/// Shows a button with a body's name (or its number) and its mass. Clicking it makes the camera follow the body.
fn row(ui: &mut egui::Ui, model: &Model, (body, mass): (usize, f32), out: &mut Collector) {
    let (colours, stats) = (theme::of(ui), model.stats);
    let number = format!("Body {}", format::count(body as u64));
    let name = stats.names.get(body).unwrap_or(&number);
    let mass = units::quantity(f64::from(mass), stats.config.start.units.mass.as_ref(), 3);
    let is_selected = stats.selected.is_some_and(|selected| selected.body == body);
    let name_text = RichText::new(name).color(if is_selected { colours.strong } else { colours.text });
    let mass = RichText::new(mass).monospace().size(12.0).color(colours.weak);
    let button = Button::new((name_text, egui::Atom::grow(), mass)).selected(is_selected).truncate();
    let button = ui.add(button.min_size(vec2(ui.available_width(), 0.0)));
    let button = button.on_hover_text(format!("Select {name} and follow it with the camera"));
    out.button(format_args!("heavy {body}"), &button, Action::Follow(body));
}
