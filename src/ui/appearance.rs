//! "Appearance" section of the panel: the settings of a [`Look`], collapsed by default.

use egui::Button;

use super::action::{Action, Collector};
use super::fields::Fields;
use super::jump;
use super::model::Model;
use super::widgets::{folded, shortcut_button, title, with_help};
use crate::base::{CellCounts, Look, MOST_BOXES, ParamValues, Params, format};

/// Keys of the settings that apply only to kernel variants with a tree.
const OF_TREES: &[&str] = &["cells", "cells_depth"];
/// Tooltip text that says why the settings for drawing the tree's cells are disabled.
const NO_TREE: &str = "The variant in use has no tree. Choose the variant tree in the section Kernel.";

pub(super) fn show(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { recipe, stats, .. } = *model;
    let look = &mut *model.look;
    let has_cells = recipe.is_some_and(|recipe| recipe.variant.has_cells);
    ui.add_space(10.0);
    let unfolds = jump::target(ui.ctx()).is_some_and(|key| ParamValues::collect(look).get(key).is_some());
    let help = "Colours, brightness, trails and camera of the picture; theme and text size of the window";
    folded(ui, out, ("picture", title(ui, "Appearance"), help), unfolds, |ui, out| {
        // The user's changes are relative to the look of the scene.
        let default = model.config.start.look.complete();
        let defaults = ParamValues::collect(&mut default.clone());
        let disabled = (if has_cells { &[][..] } else { OF_TREES }, NO_TREE);
        let limit = stats.cells.and_then(|counts| limit(look, &counts));
        let note = limit.as_ref().map(|text| ("cells_depth", &**text));
        look.visit(&mut Fields { ui, out, defaults: &defaults, disabled, note });
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            let reset = ui.add_enabled(*look != default, Button::new("↺ Reset appearance"));
            let reset = with_help(reset, "Reset every setting in this section to the scene's value");
            out.record("reset picture", &reset);
            if reset.clicked() {
                *look = default;
            }
            shortcut_button(ui, out, ("reset view", "Reset camera"), Action::ResetView);
        });
    });
}

/// Returns a note that names the tree depth shown instead, if the depth set in `look` has too many cells to draw.
fn limit(look: &Look, counts: &CellCounts) -> Option<String> {
    let is_cut = counts.walk.is_none() && (counts.depth as f32) < look.cells_depth;
    is_cut.then(|| {
        let (depth, most) = (counts.depth, format::count(MOST_BOXES as u64));
        format!("Showing the cells of depth {depth}: the next depth has more than {most} cells")
    })
}
