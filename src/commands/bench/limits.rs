//! Measures the hardware limits of a device. `bench` compares the measured speeds of kernels with these limits.

use crate::base::{Result, format};
use crate::compute::{Device, Probe, Roofline};
use crate::engine::Resolved;
use crate::modes::{Busy, ModeInfo};

/// Measured hardware limits of a device. Limits that could not be measured are missing.
pub(super) struct Limits {
    /// Peak rates of arithmetic and memory access.
    pub(super) roofline: Roofline,
    /// For each mode, a small benchmark that measures the highest speed that the device can reach in this mode.
    probes: Vec<(&'static ModeInfo, Probe)>,
}

impl Limits {
    /// Measures the device's peak rates of arithmetic and memory access, and the speed limit of each of `modes`. A
    /// limit that cannot be measured stays unknown; only the first failure is printed.
    pub(super) fn measure(device: &Device, modes: impl Iterator<Item = &'static ModeInfo>) -> Self {
        let mut failures = Vec::new();
        let roofline = Roofline::measure(device, &mut |why| failures.push(why));
        let probe = |info: &'static ModeInfo| -> Result<_> {
            let mut probe = Probe::new(device, info.limit.micro())?;
            while probe.turn()? {}
            Ok((info, probe))
        };
        let probes = modes.filter_map(|info| probe(info).map_err(|why| failures.push(why)).ok()).collect();
        if let Some(why) = failures.first() {
            eprintln!("note: cannot measure all peak speeds of the device: {why}");
        }
        Self { roofline, probes }
    }

    /// Repeats the measurement of a mode's limit. If the machine was busy during earlier measurements, their results
    /// are too low.
    pub(super) fn refine(&mut self, info: &ModeInfo) {
        if let Some((_, probe)) = self.probes.iter_mut().find(|(other, _)| *other == info) {
            // If the measurement fails, the earlier result is kept.
            let _ = probe.turn();
        }
    }

    /// Formats the limits as text such as `multiply-adds 256 G/s · reciprocal square roots 12.0 G/s · …`.
    pub(super) fn text(&self) -> String {
        let Roofline {
            multiply_adds_per_second: multiply_adds,
            roots_per_second: roots,
            fetched_bytes_per_second: fetched,
            copied_bytes_per_second: copied,
        } = self.roofline;
        let rate = |(name, value, unit): (&str, Option<f64>, &str)| match value {
            Some(value) => format!("{name} {}{unit}/s", format::si(value)),
            None => format!("{name} –"),
        };
        let rates = [
            ("multiply-adds", multiply_adds, ""),
            ("reciprocal square roots", roots, ""),
            ("cache reads", fetched, "B"),
            ("memory copies", copied, "B"),
        ];
        let limits = self.probes.iter().map(|(info, probe)| {
            let limit = format::si(info.limit.at(probe.rate()));
            format!("peak speed of {}: {} {}/s", info.name, limit.trim_end(), info.work.unit)
        });
        rates.into_iter().map(rate).chain(limits).collect::<Vec<_>>().join(" · ")
    }

    /// Returns the speed limit of a variant, the ratio of `speed` to this limit, and how busy each part of the device
    /// is. Returns `None` if the limit is unknown or the variant has none.
    pub(super) fn busy(&self, info: &ModeInfo, resolved: Resolved, speed: f64) -> Option<(f64, f64, Busy)> {
        let (_, probe) = self.probes.iter().find(|(other, _)| *other == info)?;
        let limit = info.limit.at(probe.rate());
        let busy = Busy::new(speed / limit, (&info.limit, limit), &resolved.recipe, &self.roofline);
        resolved.recipe.variant.has_limit.then_some((limit, speed / limit, busy))
    }
}
