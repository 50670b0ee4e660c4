//! Mouse tools: toolbar at the upper left of the picture, and markers over the picture.

use egui::{Color32, CursorIcon, Label, LayerId, Painter, Pos2, Rect, Stroke, pos2, vec2};

use super::action::{Action, Collector, Tool};
use super::model::{Markers, Model, ToolSettings};
use super::numbers::slider_row;
use super::widgets::{Chip, chips, small};
use super::{keys, theme};
use crate::base::Scale;

/// Preferred width of the toolbar, in points.
const WIDTH: f32 = 316.0;
/// Margin inside the toolbar's frame, in points.
const PADDING: f32 = 6.0;
/// Minimum distance from the toolbar to the edges of the picture, in points.
const MARGIN: f32 = 10.0;

/// Opacity of the osculating orbit of the selected body.
const ORBIT: f32 = 0.7;

/// Shows the toolbar `below` points from the top of the picture, or under the `overlay` if the picture is narrow. Returns the
/// toolbar's rectangle, or `None` if the toolbar is not shown.
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
        theme::veil(ui).inner_margin(PADDING).show(ui, |ui| {
            ui.set_width(outer - 2.0 * PADDING);
            let is_paused = !model.config.running && !is_filming;
            choice(ui, model.tools, out);
            settings(ui, model.tools, is_paused, out);
        });
    });
    Some(shown.response.rect)
}

/// Shows a button for each mouse tool.
fn choice(ui: &mut egui::Ui, tools: &mut ToolSettings, out: &mut Collector) {
    let all = [
        (Tool::Look, "look", "Drag to rotate the view, click to select a body"),
        (Tool::Launch, "launch", keys::hint(&Action::ToggleTool(Tool::Launch))),
        (Tool::Attract, "attract", keys::hint(&Action::ToggleTool(Tool::Attract))),
    ];
    ui.horizontal(|ui| {
        ui.label("Mouse").on_hover_text("What dragging in the picture does");
        // Narrow gaps, so that the row fits at twice the text size.
        ui.spacing_mut().item_spacing.x = 3.0;
        ui.spacing_mut().button_padding.x = 5.0;
        let chip = |&(tool, name, help)| Chip::new(name, help, tool == tools.tool);
        if let Some(clicked) = chips(ui, out, ("mouse", "Mouse"), all.iter().map(chip)) {
            tools.tool = all[clicked].0;
        }
    });
}

/// Shows the setting of the selected mouse tool, and a hint on how to use the tool.
fn settings(ui: &mut egui::Ui, tools: &mut ToolSettings, is_paused: bool, out: &mut Collector) {
    let usual = ToolSettings::default();
    let strength_help = "How strongly the mouse attracts or repels bodies while the simulation runs.";
    let (texts, values, range, hint) = match tools.tool {
        Tool::Look => return,
        Tool::Launch => (
            ("launch mass", "Mass", "Mass of a launched body, as a share of the total mass of all bodies."),
            (&mut tools.mass_share, usual.mass_share),
            1e-6..=1.0,
            "Drag to launch a body: a longer drag gives a higher velocity, and half the picture's height gives \
             escape velocity. Shift+drag launches a cluster. Escape cancels.",
        ),
        Tool::Attract => (
            ("pull strength", "Strength", strength_help),
            (&mut tools.strength, usual.strength),
            0.05..=20.0,
            match is_paused {
                true => "Paused. Press Space to run; the mouse then attracts bodies.",
                false => {
                    "Hold the left button to attract. Hold the right button, or Shift and the left button, to repel."
                }
            },
        ),
    };
    slider_row(ui, out, texts, values, (range, Scale::Log));
    ui.add(Label::new(small(ui, hint)).wrap());
}

/// Draws a circle that is visible on both dark and bright backgrounds.
pub(super) fn ring(painter: &Painter, at: Pos2, radius: f32, colour: Color32) {
    painter.circle_stroke(at, radius, Stroke::new(4.0_f32, Color32::from_black_alpha(170)));
    painter.circle_stroke(at, radius, Stroke::new(2.0_f32, colour));
}

/// Draws the markers of the mouse tools, and turns the pointer into a crosshair while a tool is selected.
pub(super) fn show_markers(ctx: &egui::Context, model: &Model) {
    let picture = model.picture(ctx);
    let Markers { selected, orbit, aim, path, attractor, .. } = model.markers;
    let colours = theme::of_context(ctx);
    let painter = ctx.layer_painter(LayerId::background()).with_clip_rect(picture);
    let place = |[x, y]: [f32; 2]| {
        pos2(picture.center().x + x * picture.height(), picture.center().y + y * picture.height())
    };
    for line in orbit {
        let stroke = Stroke::new(1.5_f32, colours.accent.gamma_multiply(ORBIT));
        painter.line(line.iter().map(|at| place(*at)).collect(), stroke);
    }
    if let Some(at) = selected {
        ring(&painter, place(*at), 10.0, colours.accent);
    }
    for (nth, ends) in path.windows(2).enumerate() {
        // The predicted path fades with time, because later positions are less certain.
        let share = 1.0 - nth as f32 / path.len() as f32;
        let stroke = Stroke::new(2.0_f32, colours.accent.gamma_multiply(0.15 + 0.85 * share));
        painter.line_segment([place(ends[0]), place(ends[1])], stroke);
    }
    if let Some([from, to]) = aim {
        let (from, to) = (place(*from), place(*to));
        painter.circle_filled(from, 4.0, colours.strong);
        painter.arrow(from, to - from, Stroke::new(1.5_f32, colours.strong));
    }
    if let Some((at, radius)) = attractor {
        ring(&painter, place(*at), (radius * picture.height()).max(6.0), colours.accent);
        painter.circle_filled(place(*at), 3.0, colours.accent);
    }
    let is_over = ctx.pointer_hover_pos().is_some_and(|at| picture.contains(at));
    if model.tools.active(model.config) != Tool::Look && is_over && !ctx.is_pointer_over_area() {
        ctx.set_cursor_icon(CursorIcon::Crosshair);
    }
}
