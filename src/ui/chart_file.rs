//! Writes charts to files, as pictures or as CSV.

use std::io::{self, Cursor, Write};

use egui::vec2;
use image::ImageFormat;

use super::action::ChartFormat;
use super::{chart_drawing, error_chart, rasterizer, roofline, theme};
use crate::export::chart::Chart;
use crate::export::error_chart::ErrorChart;
use crate::export::roofline_chart::RooflineChart;

/// Size of a chart in a picture file, in points.
const SIZE: egui::Vec2 = vec2(800.0, 500.0);
/// Pixels per point in a picture file, high enough for printing.
const SCALE: f32 = 2.0;
/// Margin around a chart in a picture file, in points.
const MARGIN: f32 = 14.0;

impl ChartFormat {
    /// Writes `charts` to `file` in this format, one below the other.
    ///
    /// # Errors
    /// Returns an error if `file` cannot be written.
    pub fn write(self, charts: &[Chart], file: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv => Chart::write_csv(charts, file),
            Self::Png => write_png(charts, chart_drawing::draw, file),
        }
    }

    /// Writes charts of error against speed to `file` in this format, one below the other.
    ///
    /// # Errors
    /// Returns an error if `file` cannot be written.
    pub fn write_errors(self, charts: &[ErrorChart], file: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv => ErrorChart::write_csv(charts, file),
            Self::Png => write_png(charts, error_chart::draw, file),
        }
    }

    /// Writes roofline charts to `file` in this format, one below the other.
    ///
    /// # Errors
    /// Returns an error if `file` cannot be written.
    pub fn write_rooflines(self, charts: &[RooflineChart], file: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Csv => RooflineChart::write_csv(charts, file),
            Self::Png => write_png(charts, roofline::draw, file),
        }
    }
}

fn write_png<C>(charts: &[C], draw: fn(&mut egui::Ui, &C, f32), file: &mut dyn Write) -> io::Result<()> {
    let mut png = Cursor::new(Vec::new());
    picture(charts, draw).write_to(&mut png, ImageFormat::Png).map_err(io::Error::other)?;
    file.write_all(png.get_ref())
}

/// Draws `charts` into a single picture, one below the other.
fn picture<C>(charts: &[C], draw: fn(&mut egui::Ui, &C, f32)) -> image::RgbImage {
    let size = vec2(SIZE.x, SIZE.y * charts.len() as f32);
    rasterizer::paint(size, SCALE, |ctx| {
        let frame = egui::Frame::NONE.fill(theme::of_context(ctx).surface);
        egui::CentralPanel::default().frame(frame).show(ctx, |ui| {
            ui.spacing_mut().item_spacing = vec2(0.0, 0.0);
            for (nth, chart) in charts.iter().enumerate() {
                ui.allocate_ui(SIZE, |ui| {
                    egui::Frame::NONE.inner_margin(MARGIN).show(ui, |ui| {
                        ui.spacing_mut().item_spacing = theme::ITEM_SPACING;
                        let all = ui.available_size();
                        ui.push_id(nth, |ui| draw(ui, chart, all.y));
                        ui.allocate_space(ui.available_size());
                    });
                });
            }
        });
    })
}
