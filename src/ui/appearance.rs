//! "Picture" section of the panel: the quantity that the colours represent, and the settings of a [`Look`].

use super::action::{Action, Collector};
use super::fields::Fields;
use super::model::Model;
use super::parameters::more;
use super::widgets::{enabled_button, section, shortcut_button};
use crate::base::ChangeEffect::View;
use crate::base::{CellCounts, Look, MOST_BOXES, ParamValues, Params, format};

/// Keys of the settings that apply only to kernel variants with a tree.
const OF_TREES: &[&str] = &["cells", "cells_depth"];
/// Tooltip text that says why the settings for drawing the tree's cells are disabled.
const NO_TREE: &str = "The variant in use has no tree. Choose the tree variant in the Kernel section.";

/// Keys of the settings that have no effect on a flat picture and are then disabled, with the tooltip [`IS_FLAT`].
const OF_SPACE: &[&str] = &[
    "auto_exposure",
    "occlusion",
    "depth_cue",
    "stars",
    "cells",
    "cells_depth",
    "follow",
    "turn",
    "keep_in_view",
];
const IS_FLAT: &str = "This setting has no effect on a two-dimensional picture.";

pub(super) fn show(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { recipe, stats, .. } = *model;
    let (config, look) = (&mut *model.config, &mut *model.look);
    // The user's changes are relative to the look of the scene.
    let default = config.start.look.complete();
    section(ui, "Picture", |ui| {
        let help =
            "Reset the picture settings to those of the scene, and theme and text size to their defaults";
        if enabled_button(ui, out, ("reset picture", "↺ Reset picture", help), *look != default) {
            *look = default.clone();
        }
        shortcut_button(ui, out, ("reset view", "Reset camera"), Action::ResetView);
    });
    let defaults = config.mode.info().mode_for(&config.start).values();
    let disabled = (&[][..], "");
    config.mode.visit(&mut Fields {
        ui,
        out,
        defaults: &defaults,
        disabled,
        note: None,
        shows: |info| info.effect == View,
    });
    let defaults = ParamValues::collect(&mut default.clone());
    let has_cells = recipe.is_some_and(|recipe| recipe.variant.has_cells);
    let disabled = match (config.mode.info().work.orbit, has_cells) {
        (Err(_), _) => (OF_SPACE, IS_FLAT),
        (Ok(()), false) => (OF_TREES, NO_TREE),
        (Ok(()), true) => (&[][..], ""),
    };
    let palette = look.palette;
    look.visit(&mut Fields {
        ui,
        out,
        defaults: &defaults,
        disabled,
        note: None,
        shows: |info| !info.advanced,
    });
    if look.palette != palette && look.palette != default.palette {
        // Some colours, such as those of stars, do not come from the palette.
        config.mode.use_palette();
    }
    let help = "Glow, stars, grid, tree cells and camera motion; theme and text size of the window";
    more(ui, out, ("more picture", "More picture settings", help), look, |ui, out, look| {
        let limit = stats.cells.and_then(|counts| limit(look, &counts));
        let note = limit.as_ref().map(|text| ("cells_depth", &**text));
        look.visit(&mut Fields { ui, out, defaults: &defaults, disabled, note, shows: |info| info.advanced });
    });
}

/// If the tree depth set in `look` has too many cells to draw, returns a note that names the depth shown instead.
fn limit(look: &Look, counts: &CellCounts) -> Option<String> {
    let is_cut = counts.walk.is_none() && (counts.depth as f32) < look.cells_depth;
    is_cut.then(|| {
        let (depth, most) = (counts.depth, format::count(MOST_BOXES as u64));
        format!("Showing depth {depth}, because the next deeper level has more than {most} cells")
    })
}
