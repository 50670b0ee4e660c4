//! "Appearance" section of the panel: the rows of a [`Look`], collapsed by default.

use std::ops::RangeInclusive;

use egui::{Button, Color32, CornerRadius, Mesh, Sense, Stroke, StrokeKind, WidgetInfo, WidgetType, vec2};

use super::action::{Action, Collector};
use super::fields::Fields;
use super::widgets::{folded, shortcut_button, title, tooltip, with_help};
use super::{jump, theme};
use crate::base::look::{Look, Palette};
use crate::base::params::{Choice, Info, Opt, ParamValues, Params, Scale, Visitor};

/// Number of colour steps in a palette's swatch.
const SWATCH_STEPS: usize = 12;

/// Shows the Appearance section of the panel.
pub(super) fn show(ui: &mut egui::Ui, look: &mut Look, out: &mut Collector) {
    ui.add_space(10.0);
    let unfolds = jump::target(ui.ctx()).is_some_and(|key| ParamValues::collect(look).get(key).is_some());
    let help = "Colours, light, trails and camera of the picture, and theme and size of the panel";
    folded(ui, out, ("picture", title(ui, "Appearance"), help), unfolds, |ui, out| {
        let default = Look::default();
        let defaults = ParamValues::collect(&mut default.clone());
        look.visit(&mut LookFields(Fields { ui, out, defaults: &defaults }));
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

/// A [`Visitor`] that shows rows for the appearance parameters, and a swatch for each colour palette.
struct LookFields<'a>(Fields<'a>);

impl Visitor for LookFields<'_> {
    fn float(&mut self, info: &Info, value: &mut f32, range: RangeInclusive<f32>, scale: Scale) {
        self.0.float(info, value, range, scale);
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        self.0.flag(info, value);
    }

    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]) {
        if info.key != "palette" {
            return self.0.option(info, index, options);
        }
        self.0.choose(info, index, options, |ui, out, index| {
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            ui.horizontal_wrapped(|ui| {
                let width = ((ui.available_width() - 2.0 * 4.0) / 3.0).floor();
                for (nth, option) in Palette::OPTIONS.iter().enumerate() {
                    if swatch(ui, out, option, (width, nth == *index)) {
                        *index = nth;
                    }
                }
            });
        });
    }
}

/// Shows a palette as a button with its colours; returns whether it was clicked.
fn swatch(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (palette, opt): &(Palette, Opt),
    (width, is_selected): (f32, bool),
) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(width, 18.0), Sense::click());
    ui.painter().add(colour_strip(*palette, rect.shrink(3.0)));
    let colours = theme::of(ui);
    let edge = match (is_selected, response.hovered() || response.has_focus()) {
        (true, _) => Stroke::new(2.0_f32, colours.accent),
        (false, true) => Stroke::new(1.0_f32, colours.weak),
        (false, false) => Stroke::NONE,
    };
    ui.painter().rect_stroke(rect, CornerRadius::same(4), edge, StrokeKind::Inside);
    let enabled = ui.is_enabled();
    let name = || format!("Palette: {}", opt.name);
    response.widget_info(|| WidgetInfo::selected(WidgetType::RadioButton, enabled, is_selected, name()));
    out.record(format_args!("palette {}", opt.name), &response);
    if is_selected {
        jump::reveal("palette", &response);
    }
    tooltip(response, || format!("{}: {}", opt.name, opt.help)).clicked()
}

/// Returns a rectangle filled with the colours of a palette, from low to high.
fn colour_strip(palette: Palette, rect: egui::Rect) -> Mesh {
    let mut mesh = Mesh::default();
    for nth in 0..=SWATCH_STEPS {
        let share = nth as f32 / SWATCH_STEPS as f32;
        let [red, green, blue] = palette.colour(share);
        let x = rect.left() + share * rect.width();
        for y in [rect.top(), rect.bottom()] {
            mesh.colored_vertex(egui::pos2(x, y), Color32::from_rgb(red, green, blue));
        }
        if nth > 0 {
            let at = 2 * nth as u32;
            mesh.add_triangle(at - 2, at - 1, at);
            mesh.add_triangle(at - 1, at, at + 1);
        }
    }
    mesh
}
