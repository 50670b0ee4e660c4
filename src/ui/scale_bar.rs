//! Information at the lower right of the picture: the date, the spacing of the grid, and a scale bar with its length.

use egui::{Align2, RichText, Sense, Stroke, vec2};

use super::model::Model;
use super::theme;
use crate::base::{Unit, format, look};

/// Distance of the scale bar from the edges of the picture, in points.
const MARGIN: f32 = 10.0;
/// Maximum length of the scale bar, in points. The minimum is 0.4 times this length.
const LONGEST: f32 = 150.0;
/// Height of the marks at the ends of the scale bar, in points.
const MARK: f32 = 7.0;

/// Shows the date if the scene has one, and the grid spacing and a scale bar if the picture settings enable them.
pub(super) fn show(ctx: &egui::Context, model: &Model) {
    let units = &model.stats.config.start.units;
    let unit = units.length.as_ref();
    let bar = match model.look.scale_bar {
        look::ScaleBar::Auto => unit.is_some(),
        look::ScaleBar::On => true,
        look::ScaleBar::Off => false,
    };
    let date = units.date(model.stats.time);
    if !(bar || model.look.grid) && date.is_none() {
        return;
    }
    let area = egui::Area::new("scale".into())
        .anchor(Align2::RIGHT_BOTTOM, [-MARGIN, -MARGIN])
        .order(egui::Order::Background)
        .interactable(false);
    let points_per_unit = model.heights_per_unit * ctx.available_rect().height();
    let length = round_length(f64::from(LONGEST / points_per_unit), unit).filter(|_| bar);
    let grid = model.look.grid.then(|| format!("grid {}", short(model.grid_spacing.into(), unit)));
    let texts = date.map(|date| date.to_string()).into_iter().chain(grid);
    let texts = texts.chain(length.map(|length| short(length, unit)));
    area.show(ctx, |ui| {
        theme::veil(ui).inner_margin(6).show(ui, |ui| {
            ui.spacing_mut().item_spacing.x = 10.0;
            ui.horizontal(|ui| {
                let colour = theme::of(ui).text;
                for text in texts {
                    ui.label(RichText::new(text).monospace().size(12.0).color(colour));
                }
                if let Some(length) = length {
                    let width = length as f32 * points_per_unit;
                    let (rect, _) = ui.allocate_exact_size(vec2(width, MARK), Sense::hover());
                    let stroke = Stroke::new(1.5_f32, colour);
                    ui.painter().hline(rect.x_range(), rect.center().y, stroke);
                    for x in [rect.left(), rect.right()] {
                        ui.painter().vline(x, rect.y_range(), stroke);
                    }
                }
            });
        });
    });
}

/// Formats a round length, given in scene units, without trailing zeros; converts it to `unit` if given.
fn short(length: f64, unit: Option<&Unit>) -> String {
    let number = format::field(length * unit.map_or(1.0, |unit| unit.size));
    unit.map_or(number.clone(), |unit| format!("{number} {}", unit.name))
}

/// Returns the largest round length, in scene units, that is at most `most`. A length is round if it is 1, 2 or 5 times
/// a power of ten in `unit`, or in scene units if `unit` is `None`.
fn round_length(most: f64, unit: Option<&Unit>) -> Option<f64> {
    let size = unit.map_or(1.0, |unit| unit.size);
    let most = most * size;
    let power = 10f64.powi(most.log10().floor() as i32);
    let length =
        [5.0, 2.0, 1.0].map(|digit| digit * power).into_iter().find(|length| *length <= most * (1.0 + 1e-9));
    length.map(|length| length / size).filter(|length| length.is_normal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scale_bar_has_a_round_length_in_the_displayed_unit() {
        let unit = Unit { size: 4.0, name: "AU".to_owned() };
        for (most, unit, text) in [
            (1.0, None, "1"),
            (0.99, None, "0.5"),
            (49.0, None, "20"),
            (3e-7, None, "2e-7"),
            (1.0, Some(&unit), "2 AU"),
            (2000.0, Some(&unit), "5000 AU"),
        ] {
            let length = round_length(most, unit).unwrap();
            assert!(length <= most && length > 0.39 * most, "{length} of {most}");
            assert_eq!(short(length, unit), text);
        }
        assert_eq!([0.0, f64::NAN, f64::INFINITY].map(|most| round_length(most, None)), [None; 3]);
    }
}
