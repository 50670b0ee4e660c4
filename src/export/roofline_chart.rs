//! Roofline charts, for the window, PNG files and CSV files: operations per second against operations per byte
//! (Williams, Waterman and Patterson 2009, Communications of the ACM 52, 65).

use std::io::{self, Write};

use super::chart::quoted;
use crate::compute::{DeviceInfo, Roofline};
use crate::modes::{Counts, Limit, ModeInfo, Variant};

/// The speeds of a mode's kernels on one device, and the peak rates of the device.
#[derive(Debug, Clone)]
pub struct RooflineChart {
    /// Simulation mode whose kernels were measured.
    pub info: &'static ModeInfo,
    /// Number of bodies or cells.
    pub bodies: usize,
    /// Name of the measured scene.
    pub scene: String,
    /// Name of the measured device.
    pub device: String,
    /// Driver version of the measured device.
    pub driver: String,
    /// Peak rates of the device.
    pub peaks: Roofline,
    /// Measured variants.
    pub points: Vec<RooflinePoint>,
    /// Variant that the simulation uses. A ring around its marker highlights it; `None` if no marker has a ring.
    pub current: Option<&'static Variant>,
}

/// Speed of a kernel variant, and its operations and bytes per unit of work.
#[derive(Debug, Clone)]
pub struct RooflinePoint {
    /// Measured kernel variant.
    pub variant: &'static Variant,
    /// Floating-point operations and bytes per pair of bodies or per cell.
    pub counts: Counts,
    /// Speed in pairs of bodies or in cells per second.
    pub work_per_second: f64,
}

impl RooflinePoint {
    /// Returns the speed in floating-point operations per second.
    pub fn operations_per_second(&self) -> f64 {
        self.work_per_second * self.counts.operations
    }
}

/// A roof: the limit on operations per second that one part of a device sets, such as its arithmetic or a cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Roof {
    /// Name of the roof, such as `memory copies`.
    pub name: &'static str,
    /// Limit that the roof sets: operations per second if `shape` is `Level`, bytes per second if `shape` is `Slope`.
    pub rate: f64,
    /// Whether the roof limits operations or bytes.
    pub shape: Shape,
}

/// Shape of a roof in the chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// A horizontal line, for a part of the device that computes.
    Level,
    /// A rising line: the limit that the bandwidth of a memory or cache sets.
    Slope,
}

impl Roof {
    /// Returns the number of operations per second that the roof allows at the arithmetic intensity `intensity`, in
    /// operations per byte.
    pub fn at(&self, intensity: f64) -> f64 {
        match self.shape {
            Shape::Level => self.rate,
            Shape::Slope => self.rate * intensity,
        }
    }
}

impl RooflineChart {
    /// Creates a chart without points.
    pub fn new(
        (info, bodies, scene): (&'static ModeInfo, usize, &str),
        device: &DeviceInfo,
        peaks: Roofline,
    ) -> Self {
        let (device, driver) = (device.name.clone(), device.driver.clone());
        Self {
            info,
            bodies,
            scene: scene.to_owned(),
            device,
            driver,
            peaks,
            points: Vec::new(),
            current: None,
        }
    }

    /// Returns the roofs whose rates were measured. The rate of reciprocal roots is converted to operations per second:
    /// each root is counted as all operations that a kernel performs per root.
    pub fn roofs(&self) -> Vec<Roof> {
        let Roofline {
            multiply_adds_per_second,
            roots_per_second,
            fetched_bytes_per_second,
            copied_bytes_per_second,
        } = self.peaks;
        // Operations per reciprocal root, for the point with the most operations per pair.
        let of_a_root = match &self.info.limit {
            Limit::Pair(pair) if pair.roots > 0.0 => {
                let largest = self.points.iter().map(|point| point.counts.operations).fold(0.0, f64::max);
                Some(largest / pair.roots).filter(|operations| *operations > 0.0)
            }
            _ => None,
        };
        let roots = roots_per_second.zip(of_a_root).map(|(roots, operations)| roots * operations);
        [
            ("multiply-adds", multiply_adds_per_second.map(|rate| 2.0 * rate), Shape::Level),
            ("reciprocal square roots", roots, Shape::Level),
            ("cache reads", fetched_bytes_per_second, Shape::Slope),
            ("memory copies", copied_bytes_per_second, Shape::Slope),
        ]
        .into_iter()
        .filter_map(|(name, rate, shape)| Some(Roof { name, rate: rate?, shape }))
        .collect()
    }

    /// Returns the largest number of operations per second that the device's arithmetic and caches allow at the
    /// arithmetic intensity `intensity`, in operations per byte. Returns `None` if the peak rate of the arithmetic is
    /// unknown.
    pub fn ceiling(&self, intensity: f64) -> Option<f64> {
        let roofs = self.roofs();
        roofs.iter().any(|roof| roof.name == "multiply-adds").then(|| {
            let limits = roofs.iter().filter(|roof| ["multiply-adds", "cache reads"].contains(&roof.name));
            limits.map(|roof| roof.at(intensity)).fold(f64::INFINITY, f64::min)
        })
    }

    /// Writes all points in `charts` as CSV: a header, then one line per point, with the peak rates of its device.
    pub(crate) fn write_csv(charts: &[Self], file: &mut dyn Write) -> io::Result<()> {
        writeln!(
            file,
            "device,driver,mode,scene,variant,bodies,operations_per_unit,bytes_per_unit,operations_per_byte,\
             operations_per_second,multiply_adds_per_second,roots_per_second,fetched_bytes_per_second,copied_bytes_per_second"
        )?;
        for chart in charts {
            let Self { info, bodies, scene, device, driver, peaks, points, .. } = chart;
            let [device, driver, scene] = [device, driver, scene].map(|text| quoted(text));
            let peaks = [
                peaks.multiply_adds_per_second,
                peaks.roots_per_second,
                peaks.fetched_bytes_per_second,
                peaks.copied_bytes_per_second,
            ]
            .map(|rate| rate.map(|rate| rate.to_string()).unwrap_or_default())
            .join(",");
            for point in points {
                let Counts { operations, bytes } = point.counts;
                write!(file, "{device},{driver},{},{scene},{},{bodies},", info.name, point.variant.name)?;
                let (intensity, speed) = (point.counts.intensity(), point.operations_per_second());
                writeln!(file, "{operations},{bytes},{intensity},{speed},{peaks}")?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::modes::gravity;

    fn chart() -> RooflineChart {
        let peaks = Roofline {
            multiply_adds_per_second: Some(50e9),
            roots_per_second: Some(4e9),
            fetched_bytes_per_second: Some(200e9),
            copied_bytes_per_second: None,
        };
        let mut chart = RooflineChart::new((&gravity::INFO, 1000, "spiral"), &DeviceInfo::default(), peaks);
        let counts = Counts { operations: 20.0, bytes: 16.0 };
        let variant = gravity::INFO.variants.first().unwrap();
        chart.points.push(RooflinePoint { variant, counts, work_per_second: 1e9 });
        chart
    }

    #[test]
    fn the_roofline_ceiling_is_the_lowest_roof_at_an_arithmetic_intensity() {
        let chart = chart();
        let roofs: Vec<_> = chart.roofs().into_iter().map(|roof| (roof.name, roof.at(0.25))).collect();
        let expected = [("multiply-adds", 100e9), ("reciprocal square roots", 80e9), ("cache reads", 50e9)];
        assert_eq!(roofs, expected);
        assert_eq!(chart.ceiling(0.25), Some(50e9));
        assert_eq!(chart.ceiling(10.0), Some(100e9));
    }

    #[test]
    fn a_roofline_csv_file_has_one_row_per_point() {
        let mut file = Vec::new();
        RooflineChart::write_csv(&[chart()], &mut file).unwrap();
        let text = String::from_utf8(file).unwrap();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
        assert_eq!((rows.len(), rows[0].len(), rows[1].len()), (2, 14, 14), "{text}");
        let value = |name: &str| rows[1][rows[0].iter().position(|key| *key == name).unwrap()];
        assert_eq!((value("operations_per_byte"), value("operations_per_second")), ("1.25", "20000000000"));
        assert_eq!((value("copied_bytes_per_second"), value("variant")), ("", "naive"));
    }
}
