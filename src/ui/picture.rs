//! How it is drawn: the rows of a [`Look`], folded away until somebody wants them.

use std::ops::RangeInclusive;

use egui::{
    Button, CollapsingHeader, Color32, CornerRadius, Mesh, RichText, Sense, Stroke, StrokeKind, WidgetInfo,
    WidgetType, vec2,
};

use super::fields::Fields;
use super::keys::{self, Command};
use super::theme;
use super::widgets::{Sink, jumped, land};
use crate::look::{Look, Palette};
use crate::params::{Choice, Info, Opt, Params, Scale, Values, Visitor};

/// Colours that a swatch is made of.
const TONES: usize = 12;

/// Shows the section.
pub(super) fn show(ui: &mut egui::Ui, look: &mut Look, sink: &mut Sink) {
    ui.add_space(10.0);
    let title = RichText::new("Picture").strong().color(theme::of(ui).accent);
    let unfolds = jumped(ui.ctx()).is_some_and(|key| Values::collect(look).get(key).is_some());
    let header =
        CollapsingHeader::new(title).id_salt("picture").open(unfolds.then_some(true)).show(ui, |ui| {
            let default = Look::default();
            let defaults = Values::collect(&mut default.clone());
            look.visit(&mut PictureFields(Fields { ui, sink, defaults: &defaults }));
            ui.add_space(4.0);
            ui.horizontal(|ui| {
                let reset = ui.add_enabled(*look != default, Button::new("↺ Reset picture"));
                let help = "everything about the picture as it comes";
                let reset = reset.on_hover_text(help).on_disabled_hover_text(help);
                sink.note("reset picture", &reset);
                if reset.clicked() {
                    *look = default;
                }
                let home = ui.button("Reset view").on_hover_text(keys::hint(Command::ResetView));
                sink.note("reset view", &home);
                if home.clicked() {
                    sink.commands.push(Command::ResetView);
                }
            });
        });
    let help = "how it is drawn: colours, light, trails, camera";
    sink.note("picture", &header.header_response.on_hover_text(help));
}

/// Rows as of any parameters, but swatches for the palette.
struct PictureFields<'a>(Fields<'a>);

impl Visitor for PictureFields<'_> {
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
        self.0.choose(info, index, options, |ui, sink, index| {
            ui.spacing_mut().item_spacing = vec2(4.0, 4.0);
            ui.horizontal_wrapped(|ui| {
                let width = ((ui.available_width() - 2.0 * 4.0) / 3.0).floor();
                for (nth, option) in Palette::OPTIONS.iter().enumerate() {
                    if swatch(ui, sink, option, (width, nth == *index)) {
                        *index = nth;
                    }
                }
            });
        });
    }
}

/// Whether it was clicked.
fn swatch(
    ui: &mut egui::Ui,
    sink: &mut Sink,
    (palette, opt): &(Palette, Opt),
    (width, selected): (f32, bool),
) -> bool {
    let (rect, response) = ui.allocate_exact_size(vec2(width, 18.0), Sense::click());
    let inner = rect.shrink(3.0);
    let mut mesh = Mesh::default();
    for nth in 0..=TONES {
        let share = nth as f32 / TONES as f32;
        let [red, green, blue] = palette.colour(share);
        let x = inner.left() + share * inner.width();
        for y in [inner.top(), inner.bottom()] {
            mesh.colored_vertex(egui::pos2(x, y), Color32::from_rgb(red, green, blue));
        }
        if nth > 0 {
            let at = 2 * nth as u32;
            mesh.add_triangle(at - 2, at - 1, at);
            mesh.add_triangle(at - 1, at, at + 1);
        }
    }
    ui.painter().add(mesh);
    let colours = theme::of(ui);
    let edge = match (selected, response.hovered() || response.has_focus()) {
        (true, _) => Stroke::new(2.0_f32, colours.accent),
        (false, true) => Stroke::new(1.0_f32, colours.weak),
        (false, false) => Stroke::NONE,
    };
    ui.painter().rect_stroke(rect, CornerRadius::same(4), edge, StrokeKind::Inside);
    let enabled = ui.is_enabled();
    let name = format!("Palette: {}", opt.name);
    response.widget_info(|| WidgetInfo::selected(WidgetType::RadioButton, enabled, selected, &name));
    sink.note(format!("palette {}", opt.name), &response);
    if selected {
        land("palette", &response);
    }
    response.on_hover_text(format!("{}: {}", opt.name, opt.help)).clicked()
}
