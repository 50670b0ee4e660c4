//! "Distributions" page of the Plots window: the density profile with a density law, and the speeds with Maxwell's law.

use std::io::{self, Write};
use std::ops::RangeInclusive;

use egui::{Rangef, RichText, Sense};
use egui_plot::{Axis, Bar, BarChart, GridMark, Line, MarkerShape, Plot, PlotBounds, Points};

use super::action::Collector;
use super::chart_drawing::{GRID_FADES, SPEED_WIDTH, hints, log_bounds, log_marks, log_text};
use super::plot_lines::{marks, number};
use super::theme;
use super::widgets::{Chip, chips, small};
use crate::base::{Choice, Unit, Units, format, units};
use crate::modes::distributions::{DensityProfile, Distribution, Distributions, SpeedHistogram};
use crate::scene::density::DensityLaw;
use crate::session::Stats;

/// Minimum and maximum height of a plot, in points. Plots shrink to fit a low window.
const HEIGHTS: [f32; 2] = [70.0, 190.0];
/// Combined height of a plot's title and x-axis label, in points.
const TITLE: f32 = 32.0;
/// Height of the window's contents other than the plots, in points.
const AROUND: f32 = 180.0;
/// Number of line segments in the curve of a law.
const POINTS: usize = 96;

/// State of the "Distributions" page.
#[derive(Debug, Default)]
pub(super) struct DistributionPage {
    /// The density law that the user has chosen; `None` for the one that the scene suggests.
    law: Option<DensityLaw>,
}

impl DistributionPage {
    /// Plots the distributions that the mode offers, and returns the text to show below the plots.
    pub(super) fn show(&mut self, ui: &mut egui::Ui, stats: &Stats, out: &mut Collector) -> String {
        let info = stats.config.mode.info();
        if info.distributions.is_empty() {
            ui.label(format!("The mode {} has no bodies, so there are no distributions to plot.", info.name));
            return String::new();
        }
        let Some(distributions) = &stats.distributions else {
            ui.label("Computing…");
            return String::new();
        };
        let unit = &stats.config.start.units;
        let room = ui.ctx().available_rect().height() - AROUND;
        let height = (room / info.distributions.len() as f32 - TITLE).clamp(HEIGHTS[0], HEIGHTS[1]);
        for wanted in info.distributions {
            match (wanted, &distributions.density, &distributions.speeds) {
                (Distribution::Density, Some(profile), _) => self.density(ui, profile, (unit, height), out),
                (Distribution::Density, None, _) => {
                    missing(ui, "There are too few bodies for a density profile.");
                }
                (Distribution::Speeds, _, Some(speeds)) => {
                    show_speeds(ui, speeds, (unit.speed().as_ref(), height));
                }
                (Distribution::Speeds, _, None) => {
                    missing(ui, "The bodies do not move relative to each other.");
                }
            }
        }
        let time = units::quantity(distributions.time, unit.time.as_ref(), 4);
        let step = format::count(distributions.step);
        format!(
            "Step {step}, time {time}. All bodies are included. While this page is shown, it is updated at most four times per second, \
             and less often if updates would slow the simulation."
        )
    }

    /// Plots the measured density profile together with a density law.
    fn density(
        &mut self,
        ui: &mut egui::Ui,
        profile: &DensityProfile,
        (unit, height): (&Units, f32),
        out: &mut Collector,
    ) {
        let law = self.law.unwrap_or(profile.suggested);
        let (scaled, is_exact) = profile.laws[law.index()];
        ui.horizontal(|ui| {
            let whence = if is_exact { "from the scene" } else { "fitted" };
            let radius = units::quantity(scaled.radius, unit.length.as_ref(), 3);
            title(
                ui,
                "Density by distance from the densest point",
                &format!("{} {radius}, {whence}", symbol(law)),
            );
            let options =
                DensityLaw::OPTIONS.iter().map(|(it, opt)| Chip::new(opt.name, opt.help, *it == law));
            if let Some(clicked) = chips(ui, out, ("density law", "Density law"), options) {
                self.law = Some(DensityLaw::OPTIONS[clicked].0);
            }
        });
        let length = unit.length.as_ref().map_or(1.0, |unit| unit.size);
        let (density, density_label) = density_unit(unit);
        let at = |r: f64, rho: f64| [(r * length).log10(), (rho * density).log10()];
        let points: Vec<[f64; 2]> =
            profile.shells.iter().map(|shell| at(shell.radius(), shell.value)).collect();
        let [x, y] = log_bounds(points.iter().copied());
        let [from, to] = [*x.start(), *x.end()];
        let curve = (0..=POINTS).map(|nth| {
            let r = 10f64.powf(from + (to - from) * nth as f64 / POINTS as f64) / length;
            at(r, scaled.at(r))
        });
        let colours = theme::of(ui);
        let x_axis =
            hints(ui, Axis::X, units::labelled("distance", unit.length.as_ref())).formatter(log_number);
        let y_axis = hints(ui, Axis::Y, density_label).formatter(log_number).min_thickness(SPEED_WIDTH);
        plain_plot("density", height)
            .x_grid_spacer(|input| log_marks(input.bounds))
            .y_grid_spacer(|input| log_marks(input.bounds))
            .custom_x_axes(vec![x_axis])
            .custom_y_axes(vec![y_axis])
            .show(ui, |plot| {
                plot.set_plot_bounds(PlotBounds::from_min_max([from, *y.start()], [to, *y.end()]));
                plot.line(
                    Line::new(law.name(), curve.collect::<Vec<_>>()).color(colours.line_of(1)).width(1.5_f32),
                );
                let shells = Points::new("bodies", points.clone()).shape(MarkerShape::Circle).radius(2.5_f32);
                plot.points(shells.color(colours.accent));
            });
    }

    /// Writes the distributions as CSV, in scene units. Each row is a range of distances or speeds.
    ///
    /// # Errors
    /// Returns an error if `file` cannot be written.
    pub(super) fn write_csv(&self, distributions: &Distributions, file: &mut dyn Write) -> io::Result<()> {
        writeln!(file, "distribution,from,to,bodies,value,law,law_value")?;
        if let Some(profile) = &distributions.density {
            let law = self.law.unwrap_or(profile.suggested);
            let (scaled, _) = profile.laws[law.index()];
            for shell in &profile.shells {
                let (name, expected) = (law.name(), scaled.at(shell.radius()));
                writeln!(
                    file,
                    "density,{},{},{},{},{name},{expected}",
                    shell.from, shell.to, shell.bodies, shell.value
                )?;
            }
        }
        if let Some(speeds) = &distributions.speeds {
            for bin in &speeds.bins {
                let expected = speeds.maxwell(0.5 * (bin.from + bin.to));
                writeln!(
                    file,
                    "speed,{},{},{},{},Maxwell,{expected}",
                    bin.from, bin.to, bin.bodies, bin.value
                )?;
            }
        }
        Ok(())
    }
}

/// Returns the label of a mark on a logarithmic axis, as a plain number or a power of ten.
fn log_number(mark: GridMark, range: &RangeInclusive<f64>) -> String {
    let value = 10f64.powf(mark.value);
    match log_text(mark, range).is_empty() {
        true => String::new(),
        false if (1e-3..1e4).contains(&value) => format::significant(value, 1),
        false => format!("{value:.0e}"),
    }
}

/// Returns the text to show before the value of the scale radius: the names of the law and of the radius.
fn symbol(law: DensityLaw) -> &'static str {
    match law {
        DensityLaw::Plummer => "Plummer: a =",
        DensityLaw::Nfw => "NFW: scale radius",
    }
}

/// Returns the factor that converts densities from scene units to the shown unit, and the label of a density axis.
fn density_unit(unit: &Units) -> (f64, String) {
    match (&unit.mass, &unit.length) {
        (Some(mass), Some(length)) => {
            (mass.size / length.size.powi(3), format!("density ({}/{}³)", mass.name, length.name))
        }
        _ => (1.0, "density".to_owned()),
    }
}

/// Plots the histogram of the speeds together with Maxwell's distribution.
fn show_speeds(ui: &mut egui::Ui, speeds: &SpeedHistogram, (unit, height): (Option<&Unit>, f32)) {
    let size = unit.map_or(1.0, |unit| unit.size);
    ui.horizontal(|ui| {
        let law = format!(
            "Maxwell in {} dimensions, rms {}",
            speeds.dimensions,
            units::quantity(speeds.rms, unit, 3)
        );
        title(ui, "Speeds relative to the centre of mass", &law);
        if speeds.beyond > 0.0 {
            let share = format::significant(100.0 * speeds.beyond, 2);
            ui.label(small(ui, format!("{share} % are faster (not shown)")));
        }
    });
    let bars = speeds.bins.iter().map(|bin| {
        let middle = 0.5 * (bin.from + bin.to) * size;
        Bar::new(middle, bin.value / size).width((bin.to - bin.from) * size)
    });
    let top = speeds.bins.last().map_or(0.0, |bin| bin.to);
    let curve = (0..=POINTS).map(|nth| top * nth as f64 / POINTS as f64);
    let curve: Vec<[f64; 2]> = curve.map(|v| [v * size, speeds.maxwell(v) / size]).collect();
    let highest = speeds.bins.iter().map(|bin| bin.value / size).chain(curve.iter().map(|[_, y]| *y));
    let highest = highest.fold(0.0, f64::max);
    let colours = theme::of(ui);
    let x_axis = hints(ui, Axis::X, units::labelled("speed", unit)).formatter(number);
    let y_axis = hints(ui, Axis::Y, "fraction per unit speed").formatter(number).min_thickness(SPEED_WIDTH);
    plain_plot("speeds", height)
        .x_grid_spacer(|input| marks(input.bounds))
        .y_grid_spacer(|input| marks(input.bounds))
        .custom_x_axes(vec![x_axis])
        .custom_y_axes(vec![y_axis])
        .show(ui, |plot| {
            plot.set_plot_bounds(PlotBounds::from_min_max([0.0, 0.0], [top * size, 1.08 * highest]));
            plot.bar_chart(BarChart::new("bodies", bars.collect()).color(colours.accent.gamma_multiply(0.6)));
            plot.line(Line::new("Maxwell", curve).color(colours.line_of(1)).width(1.5_f32));
        });
}

/// Returns an empty plot that cannot be zoomed and shows no values at the pointer.
fn plain_plot(key: &'static str, height: f32) -> Plot<'static> {
    Plot::new(key)
        .height(height)
        .sense(Sense::hover())
        .show_x(false)
        .show_y(false)
        .grid_spacing(Rangef::new(1.0, GRID_FADES))
}

/// Shows the title `text` of a plot, and a description of the plotted law in the colour of the law's curve.
fn title(ui: &mut egui::Ui, text: &str, law: &str) {
    let colours = theme::of(ui);
    ui.label(RichText::new(text).small().color(colours.accent));
    ui.label(RichText::new(law).small().color(colours.line_of(1)));
}

fn missing(ui: &mut egui::Ui, text: &str) {
    ui.label(small(ui, text));
}
