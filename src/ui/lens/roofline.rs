//! "Roofline" page of the Lens window: the speeds of the variants used so far, and the peak rates of the device.

use egui::{Label, TextStyle};

use crate::export::roofline_chart::{RooflineChart, RooflinePoint};
use crate::modes::MODES;
use crate::session::Rung;
use crate::ui::action::{Action, Collector};
use crate::ui::chart_window::save_buttons;
use crate::ui::model::Model;
use crate::ui::roofline::draw;
use crate::ui::widgets::small;

/// Minimum height of the roofline chart, in points.
const MIN_HEIGHT: f32 = 160.0;

/// State of the "Roofline" page.
#[derive(Debug, Default)]
pub struct RooflinePage {
    /// Most recent chart; `None` if the page has not been shown yet, or no variant has been measured.
    pub chart: Option<RooflineChart>,
    /// Path of the file that the chart was last saved to.
    pub saved: Option<String>,
}

pub(super) fn show(ui: &mut egui::Ui, page: &mut RooflinePage, model: &Model, out: &mut Collector) {
    page.chart = chart(model);
    let Some(chart) = &page.chart else {
        ui.label("Run the simulation to measure its speed.");
        return;
    };
    // Below the chart stand the buttons and at most three lines of text.
    let below = ui.spacing().interact_size.y
        + 2.0 * ui.spacing().item_spacing.y
        + 3.0 * ui.text_style_height(&TextStyle::Small);
    draw(ui, chart, (ui.available_height() - below).max(MIN_HEIGHT));
    ui.horizontal(|ui| {
        save_buttons(ui, out, ("save roofline", !chart.points.is_empty()), Action::SaveRoofline);
    });
    let texts = [page.saved.as_ref().map(|path| format!("Saved as {path}")), Some(hint(chart, model))];
    for text in texts.into_iter().flatten() {
        ui.add(Label::new(small(ui, text)).wrap());
    }
}

/// Returns the chart of all variants used so far with the current mode and number of bodies; `None` if there are none.
fn chart(model: &Model) -> Option<RooflineChart> {
    let stats = model.stats;
    let info = MODES.iter().copied().find(|info| info.name == stats.mode)?;
    let scene = &stats.config.start.name;
    let point = |rung: &Rung| {
        Some(RooflinePoint {
            variant: info.variant(rung.variant)?,
            counts: rung.counts?,
            work_per_second: rung.pairs_per_second,
        })
    };
    let mut chart = RooflineChart::new((info, stats.bodies, scene), model.device, stats.peaks);
    chart.points = stats.ladder.iter().filter_map(point).collect();
    chart.current = info.variant(stats.variant);
    (!stats.ladder.is_empty()).then_some(chart)
}

/// Returns the note below the chart: a limitation of what is shown now, or else how to use the chart.
fn hint(chart: &RooflineChart, model: &Model) -> String {
    let stats = model.stats;
    let is_shown = chart.points.iter().any(|point| Some(point.variant) == chart.current);
    match chart.peaks.multiply_adds_per_second {
        _ if stats.sharing.as_ref().is_some_and(|sharing| sharing.used() > 1) => {
            "Several devices compute the steps, but the lines are the peak rates of the first device only.".to_owned()
        }
        _ if !is_shown => format!(
            "The variant `{}` has no marker, because its number of operations depends on the positions of the bodies.",
            stats.variant
        ),
        None => "The device's peak rates are being measured while the simulation runs. Each line appears when its measurement is done.".to_owned(),
        Some(_) => "Point at a marker to see its numbers. The ring marks the variant in use. Markers move if you change the \
                    work-group size or other settings. `gravitile bench --roofline FILE` measures all variants."
            .to_owned(),
    }
}
