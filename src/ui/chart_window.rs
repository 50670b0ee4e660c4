//! "Chart" window with the results of the last measurement.

use egui::{Align, Button, Label, Layout, ProgressBar};

use super::action::{Action, ChartFormat, Collector};
use super::chart_drawing::draw;
use super::overlay;
use super::widgets::{button, small};
use crate::base::Choice;
use crate::engine::Trial;
use crate::export::chart::Chart;

/// Progress and results of the current or most recent speed measurement.
#[derive(Debug, Clone, Default)]
pub struct Measurement {
    /// Completed fraction of the current measurement, from 0 to 1; `None` if no measurement is running.
    pub running: Option<f32>,
    /// Chart of the results; `None` before the first measurement.
    pub chart: Option<Chart>,
    /// Whether the chart window is shown.
    pub is_open: bool,
    /// Path of the file that the chart was last saved to.
    pub saved: Option<String>,
}

impl Measurement {
    /// Adds a result to the chart, and sets the completed fraction of the measurement to `share` (from 0 to 1).
    pub fn add(&mut self, share: f32, trial: Trial) {
        self.running.iter_mut().for_each(|done| *done = share);
        self.chart.iter_mut().for_each(|chart| chart.trials.push(trial));
    }
}

pub(super) fn show(ctx: &egui::Context, measurement: &mut Measurement, out: &mut Collector) {
    let Measurement { running, chart: Some(chart), is_open, saved } = measurement else { return };
    let window = overlay::window_beside(ctx, "Chart", is_open, 620.0);
    window.default_height(400.0).min_height(240.0).show(ctx, |ui| {
        let below = 2.0 * ui.spacing().interact_size.y + 3.0 * ui.spacing().item_spacing.y;
        draw(ui, chart, ui.available_height() - below);
        ui.horizontal(|ui| {
            save_buttons(ui, out, ("save", !chart.trials.is_empty()), Action::SaveChart);
            ui.with_layout(Layout::right_to_left(Align::Center), |ui| {
                if let Some(share) = running {
                    let help = "Stop measuring and continue the simulation";
                    button(ui, out, ("stop chart", "Stop", help), Action::StopStudy);
                    ui.add(ProgressBar::new(*share).desired_height(8.0));
                }
            });
        });
        let text = match saved {
            Some(path) => format!("Saved as {path}"),
            None => "Point at a marker to see its values.".to_owned(),
        };
        ui.add(Label::new(small(ui, text)).truncate());
    });
}

/// Shows a button for each format in which a chart can be saved. In tests, the buttons' names start with `key`.
pub(super) fn save_buttons(
    ui: &mut egui::Ui,
    out: &mut Collector,
    (key, has_results): (&str, bool),
    action: fn(ChartFormat) -> Action,
) {
    for (format, opt) in ChartFormat::OPTIONS {
        let name = opt.name;
        let button = Button::new(format!("Save {}", name.to_uppercase()));
        let button = ui
            .add_enabled(has_results, button)
            .on_hover_text("Save to the folder in which gravitile was started")
            .on_disabled_hover_text("No results yet");
        out.button(format_args!("{key} {name}"), &button, action(*format));
    }
}
