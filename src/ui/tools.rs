//! Toolbar of the mouse tools at the upper left of the picture.

use egui::{Align, Button, Label, Layout, Rect, vec2};

use super::action::{Action, Tool};
use super::collector::Collector;
use super::model::Model;
use super::numbers::slider;
use super::tool_settings::ToolSettings;
use super::widgets::{Chip, chips, resettable, small};
use super::{keys, theme};
use crate::base::params::Scale;
use crate::session::Stats;

/// Preferred width of the toolbar, in points.
const WIDTH: f32 = 316.0;
/// Margin inside the toolbar's frame, in points.
const PADDING: f32 = 6.0;
/// Distance from the edges of the picture, in points.
const MARGIN: f32 = 10.0;

/// Shows the toolbar `below` points under the top of the picture, and returns its place.
///
/// If the picture is too narrow, the toolbar stands below the `overlay`.
pub(super) fn show(
    ctx: &egui::Context,
    model: &mut Model,
    out: &mut Collector,
    (below, overlay, is_filming): (f32, Rect, bool),
) -> Option<Rect> {
    // While the panel is hidden, an unused toolbar would only cover the picture.
    let is_bare = below > 0.0 && model.tools.tool == Tool::Look;
    if model.config.mode.info().work.tools.is_err() || is_bare {
        return None;
    }
    let picture = ctx.available_rect().shrink(MARGIN);
    let outer = (WIDTH + 2.0 * PADDING).min(picture.width()).max(3.0 * PADDING);
    let mut corner = picture.left_top() + vec2(0.0, below);
    if corner.x + outer + MARGIN > overlay.left() {
        corner.y = corner.y.max(overlay.bottom() + MARGIN);
    }
    // `Order::Background` would pass clicks on to the picture.
    let area = egui::Area::new("tools".into()).fixed_pos(corner).order(egui::Order::Middle);
    let shown = area.show(ctx, |ui| {
        let fill = theme::of(ui).veil();
        egui::Frame::NONE.fill(fill).corner_radius(8).inner_margin(PADDING).show(ui, |ui| {
            ui.set_width(outer - 2.0 * PADDING);
            let is_paused = !model.config.running && !is_filming;
            choice(ui, model, out);
            settings(ui, model.tools, is_paused, out);
        });
    });
    Some(shown.response.rect)
}

/// Shows the button that undoes the last manual edit.
pub(super) fn undo(ui: &mut egui::Ui, stats: &Stats, out: &mut Collector) {
    let undo = ui.add_enabled(stats.undos > 0, Button::new("Undo"));
    let help = match stats.last_edit {
        Some(kind) => format!("{}: {}", keys::hint(&Action::Undo), kind.name()),
        None => keys::hint(&Action::Undo).to_owned(),
    };
    let undo = undo.on_hover_text(&help).on_disabled_hover_text(&help);
    out.button("undo", &undo, Action::Undo);
}

/// Shows the tools as chips, and the Undo button.
fn choice(ui: &mut egui::Ui, model: &mut Model, out: &mut Collector) {
    let Model { tools, stats, .. } = model;
    let all = [
        (Tool::Look, "look", "Drag to turn the view, click to select a body"),
        (Tool::Launch, "launch", keys::hint(&Action::ToggleTool(Tool::Launch))),
        (Tool::Attract, "attract", keys::hint(&Action::ToggleTool(Tool::Attract))),
    ];
    ui.horizontal(|ui| {
        ui.label("Mouse").on_hover_text("What a drag over the picture does");
        // Narrow gaps, so that the row fits at twice the text size.
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 5.0;
        let chip = |&(tool, name, help)| Chip { name, help, selected: tool == tools.tool, in_use: false };
        if let Some(clicked) = chips(ui, out, ("mouse", "Mouse"), all.iter().map(chip)) {
            tools.tool = all[clicked].0;
        }
        ui.with_layout(Layout::right_to_left(Align::Center), |ui| undo(ui, stats, out));
    });
}

/// Shows the setting of the selected tool, and how to use the tool.
fn settings(ui: &mut egui::Ui, tools: &mut ToolSettings, is_paused: bool, out: &mut Collector) {
    let usual = ToolSettings::default();
    let (texts, (value, default), range, hint) = match tools.tool {
        Tool::Look => return,
        Tool::Launch => (
            ("launch mass", "Mass", "Mass of a launched body, as a share of the mass of all bodies."),
            (&mut tools.mass_share, usual.mass_share),
            1e-6..=1.0,
            "Drag an arrow to set the velocity; half the picture's height is escape speed. Shift launches a cluster, \
             Escape cancels.",
        ),
        Tool::Attract => (
            (
                "pull strength",
                "Strength",
                "How strongly the mouse attracts or repels bodies while the simulation runs.",
            ),
            (&mut tools.strength, usual.strength),
            0.05..=20.0,
            match is_paused {
                true => "Paused. Press Space to run; the mouse then attracts bodies.",
                false => "Hold the left button to attract; hold the right button or Shift to repel.",
            },
        ),
    };
    resettable(ui, out, texts, value, default, |ui, out, label, value| {
        slider(ui, out, (texts.0, label, texts.2), value, (range, Scale::Log), default);
    });
    ui.add(Label::new(small(ui, hint)).wrap());
}
