//! Charts of speed measurements, for the panel, PNG files and CSV files.

use std::io::{self, Write};

use crate::compute::DeviceInfo;
use crate::engine::{Config, Study, Trial};
use crate::modes::{ModeInfo, Variant};

/// The horizontal axis of a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Work-group size: the number of work-items in a work-group.
    WorkGroup,
    /// Number of bodies or cells.
    Bodies,
    /// Sequence number of the measurement, starting at 1.
    Order,
}

impl Axis {
    /// Returns the title of the axis. `things` names the counted objects, such as "bodies".
    pub fn title(self, things: &str) -> String {
        match self {
            Self::WorkGroup => "work-group size".to_owned(),
            Self::Bodies => format!("number of {things}"),
            Self::Order => "settings, in the order tried".to_owned(),
        }
    }

    /// Returns the name of the axis for use in file names.
    pub fn name(self) -> &'static str {
        match self {
            Self::WorkGroup => "work-groups",
            Self::Bodies => "bodies",
            Self::Order => "tuning",
        }
    }

    /// Returns whether the axis is logarithmic. A logarithmic axis suits quantities that double from one measurement to
    /// the next.
    pub fn is_logarithmic(self) -> bool {
        self != Self::Order
    }
}

/// A chart of the measured speeds of a simulation mode's kernels on one device.
#[derive(Debug, Clone)]
pub struct Chart {
    /// Horizontal axis of the chart.
    pub axis: Axis,
    /// Simulation mode whose kernels were measured.
    pub info: &'static ModeInfo,
    /// Speed measurements shown in the chart, in the order in which they were made.
    pub trials: Vec<Trial>,
    /// Name of the measured scene.
    pub scene: String,
    /// Name of the measured device.
    pub device: String,
    /// Driver version of the measured device.
    pub driver: String,
}

/// A line of a chart: the speeds of one kernel variant.
#[derive(Debug, PartialEq)]
pub struct Line {
    /// Kernel variant that the line shows.
    pub variant: &'static Variant,
    /// Index of the kernel variant in the mode's list of variants.
    pub index: usize,
    /// Points of the line, in ascending order of the value on the horizontal axis. Each point has this value and the
    /// fastest measurement made at it.
    pub points: Vec<(usize, Trial)>,
}

impl Chart {
    /// Creates an empty chart for the mode and the scene of `config`.
    pub fn new(axis: Axis, config: &Config, device: &DeviceInfo) -> Self {
        Self {
            axis,
            info: config.mode.info(),
            trials: Vec::new(),
            scene: config.start.name.clone(),
            device: device.name.clone(),
            driver: device.driver.clone(),
        }
    }

    /// Creates an empty chart for the results of `study`, with the horizontal axis that suits the study.
    pub fn of(study: Study, config: &Config, device: &DeviceInfo) -> Self {
        let axis = match study {
            Study::Tune => Axis::Order,
            Study::WorkGroups => Axis::WorkGroup,
            Study::Bodies => Axis::Bodies,
        };
        Self::new(axis, &study.subject(config), device)
    }

    /// Returns one line for each measured variant, in the order of the mode's list of variants.
    pub fn lines(&self) -> Vec<Line> {
        let line = |(index, variant): (usize, &'static Variant)| {
            let of_variant = |(_, trial): &(usize, &Trial)| trial.recipe.variant == variant;
            let mut points: Vec<(usize, Trial)> = Vec::new();
            for (nth, trial) in (1..).zip(&self.trials).filter(of_variant) {
                let place = match self.axis {
                    Axis::WorkGroup => trial.recipe.work_group,
                    Axis::Bodies => trial.bodies,
                    Axis::Order => nth,
                };
                match points.iter_mut().find(|(taken, _)| *taken == place) {
                    Some((_, best)) if best.pairs_per_second >= trial.pairs_per_second => {}
                    Some((_, best)) => *best = *trial,
                    None => points.push((place, *trial)),
                }
            }
            points.sort_by_key(|(place, _)| *place);
            Line { variant, index, points }
        };
        let lines = self.info.variants.iter().enumerate().map(line);
        lines.filter(|line| !line.points.is_empty()).collect()
    }

    /// Returns the unit of the speeds in the chart, such as `interactions/s`.
    pub fn unit(&self) -> String {
        format!("{}/s", self.info.work.unit)
    }

    /// Returns the number of bodies or cells if it is the same in all measurements, and `None` otherwise.
    pub fn bodies(&self) -> Option<usize> {
        let first = self.trials.first()?.bodies;
        self.trials.iter().all(|trial| trial.bodies == first).then_some(first)
    }

    /// Writes all measurements in `charts` as CSV: a header, then one line per measurement.
    pub(crate) fn write_csv(charts: &[Self], file: &mut dyn Write) -> io::Result<()> {
        writeln!(file, "device,driver,mode,scene,variant,bodies,work_group,knobs,unit,per_second")?;
        for Self { info, trials, scene, device, driver, .. } in charts {
            let [device, driver, scene] = [device, driver, scene].map(|text| quoted(text));
            for Trial { recipe, bodies, pairs_per_second, .. } in trials {
                let (variant, work_group, knobs) = (recipe.variant.name, recipe.work_group, recipe.words());
                let unit = info.work.unit;
                write!(file, "{device},{driver},{},{scene},{variant},{bodies},", info.name)?;
                writeln!(file, "{work_group},{knobs},{unit},{pairs_per_second:.0}")?;
            }
        }
        Ok(())
    }
}

/// Returns `text` as a field of a CSV file, quoted if it contains a comma, a quote or a line break.
pub(super) fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_fields_with_commas_are_quoted_and_quotes_are_doubled() {
        assert_eq!(quoted("Portable Computing"), "Portable Computing");
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
    }
}
