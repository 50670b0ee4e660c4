//! Trials as lines over an axis: one description, which the panel draws, pictures show and CSV files hold.

use std::io::{self, Write};

use crate::compute::DeviceInfo;
use crate::config::Config;
use crate::modes::{ModeInfo, Variant};
use crate::trial::{Study, Trial};

/// What the speed is drawn against.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// Work-items to a work-group.
    WorkGroup,
    /// Number of bodies or cells.
    Bodies,
    /// When it was tried: the first, the second …
    Order,
}

impl Axis {
    /// In words, where `things` are what a mode has N of.
    pub fn title(self, things: &str) -> String {
        match self {
            Self::WorkGroup => "work-group size".to_owned(),
            Self::Bodies => format!("number of {things}"),
            Self::Order => "recipes tried, in order".to_owned(),
        }
    }

    /// For the name of a file.
    pub fn name(self) -> &'static str {
        match self {
            Self::WorkGroup => "work-groups",
            Self::Bodies => "bodies",
            Self::Order => "tuning",
        }
    }

    /// Whether its numbers double from one to the next.
    pub fn is_logarithmic(self) -> bool {
        self != Self::Order
    }
}

/// Speeds of one mode on one device.
#[derive(Debug, Clone)]
pub struct Chart {
    /// What they are drawn against.
    pub axis: Axis,
    /// The mode.
    pub info: &'static ModeInfo,
    /// What was measured, in order.
    pub trials: Vec<Trial>,
    /// Where the bodies start.
    pub scene: String,
    /// Where they are computed.
    pub device: String,
    /// Its driver.
    pub driver: String,
}

/// The trials of one variant.
#[derive(Debug, PartialEq)]
pub struct Line {
    /// The variant.
    pub variant: &'static Variant,
    /// Its place in the ladder.
    pub rung: usize,
    /// Places on the axis, from left to right, and the best trial at each.
    pub points: Vec<(usize, Trial)>,
}

impl Chart {
    /// One that is still empty, for trials with the mode and the start of `config`.
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

    /// One that is still empty, for a study that is to come.
    pub fn of(study: Study, config: &Config, device: &DeviceInfo) -> Self {
        let axis = match study {
            Study::Tune => Axis::Order,
            Study::WorkGroups => Axis::WorkGroup,
            Study::Bodies => Axis::Bodies,
        };
        Self::new(axis, &study.subject(config), device)
    }

    /// A line for each variant that was measured, in the order of the ladder.
    pub fn lines(&self) -> Vec<Line> {
        let line = |(rung, variant): (usize, &'static Variant)| {
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
            Line { variant, rung, points }
        };
        let lines = self.info.variants.iter().enumerate().map(line);
        lines.filter(|line| !line.points.is_empty()).collect()
    }

    /// What is measured, with its unit: `interactions/s`.
    pub fn unit(&self) -> String {
        format!("{}/s", self.info.work.unit)
    }

    /// How many bodies or cells there were, if always the same number.
    pub fn bodies(&self) -> Option<usize> {
        let first = self.trials.first()?.bodies;
        self.trials.iter().all(|trial| trial.bodies == first).then_some(first)
    }

    /// Writes every trial of `charts`, in order: a header, then a line for each.
    ///
    /// # Errors
    /// What `file` refuses.
    pub fn write_csv(charts: &[Self], file: &mut dyn Write) -> io::Result<()> {
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

/// As a field of a CSV file: in quotes where it holds what would end it.
fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_keep_their_commas() {
        assert_eq!(quoted("Portable Computing"), "Portable Computing");
        assert_eq!(quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
    }
}
