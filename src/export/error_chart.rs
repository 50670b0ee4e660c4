//! Charts of error against speed, for PNG files and CSV files.

use std::io::{self, Write};

use super::chart::quoted;
use crate::base::ParamValue;
use crate::compute::DeviceInfo;
use crate::modes::accuracy::SampleErrors;
use crate::modes::{ModeInfo, Variant};

/// A chart of the errors and speeds of a mode's kernels on one device, for several values of one parameter.
#[derive(Debug, Clone)]
pub struct ErrorChart {
    /// Simulation mode whose kernels were measured.
    pub info: &'static ModeInfo,
    /// Name of the parameter whose values are compared.
    pub key: String,
    /// Number of bodies or cells.
    pub bodies: usize,
    /// Name of the measured scene.
    pub scene: String,
    /// Name of the measured device.
    pub device: String,
    /// Driver version of the measured device.
    pub driver: String,
    /// Measurements, in the order in which they were made.
    pub points: Vec<ErrorPoint>,
}

/// Speed and errors of a kernel variant at one value of the compared parameter.
#[derive(Debug, Clone)]
pub struct ErrorPoint {
    /// Measured kernel variant.
    pub variant: &'static Variant,
    /// Value of the compared parameter; `None` if the variant does not use the parameter.
    pub value: Option<ParamValue>,
    /// Speed in steps per second.
    pub steps_per_second: f64,
    /// Relative errors of the last step, on a sample of bodies.
    pub errors: SampleErrors,
}

impl ErrorPoint {
    /// Returns the label of the point: the value of the compared parameter, or the variant's name if it has no value.
    pub fn label(&self) -> String {
        self.value.map_or_else(|| self.variant.name.to_owned(), |value| value.to_string())
    }
}

impl ErrorChart {
    /// Creates an empty chart that compares several values of the parameter `key`.
    pub fn new(
        (info, key, bodies): (&'static ModeInfo, &str, usize),
        scene: &str,
        device: &DeviceInfo,
    ) -> Self {
        Self {
            info,
            key: key.to_owned(),
            bodies,
            scene: scene.to_owned(),
            device: device.name.clone(),
            driver: device.driver.clone(),
            points: Vec::new(),
        }
    }

    /// Returns a line for each measured variant: its index in the mode's list of variants, the variant, and its points
    /// with finite, nonzero errors, in order of increasing error.
    pub fn lines(&self) -> Vec<(usize, &'static Variant, Vec<&ErrorPoint>)> {
        let line = |(index, variant): (usize, &'static Variant)| {
            let can_show = |point: &&ErrorPoint| point.errors.rms > 0.0 && point.errors.rms.is_finite();
            let own = self.points.iter().filter(|point| point.variant == variant).filter(can_show);
            let mut points: Vec<_> = own.collect();
            points.sort_by(|a, b| a.errors.rms.total_cmp(&b.errors.rms));
            (index, variant, points)
        };
        let lines = self.info.variants.iter().enumerate().map(line);
        lines.filter(|(.., points)| !points.is_empty()).collect()
    }

    /// Writes all measurements in `charts` as CSV: a header, then one line per measurement.
    pub(crate) fn write_csv(charts: &[Self], file: &mut dyn Write) -> io::Result<()> {
        writeln!(
            file,
            "device,driver,mode,scene,variant,bodies,parameter,value,steps_per_second,sample,rms,median,p99,max"
        )?;
        for Self { info, key, bodies, scene, device, driver, points } in charts {
            let [device, driver, scene] = [device, driver, scene].map(|text| quoted(text));
            for ErrorPoint { variant, value, steps_per_second, errors } in points {
                let SampleErrors { count, rms, median, p99, max } = errors;
                let value = value.map(|value| value.to_string()).unwrap_or_default();
                let p99 = p99.map(|error| format!("{error:e}")).unwrap_or_default();
                write!(file, "{device},{driver},{},{scene},{},{bodies},{key},", info.name, variant.name)?;
                writeln!(file, "{value},{steps_per_second},{count},{rms:e},{median:e},{p99},{max:e}")?;
            }
        }
        Ok(())
    }
}
