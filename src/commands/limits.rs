//! What `bench` compares speeds with: the limits that the device sets.

use crate::compute::{Device, Probe, Roofline};
use crate::engine::Resolved;
use crate::error::Result;
use crate::modes::{Busy, ModeInfo};
use crate::ui;

/// What the device can do, as far as it could be measured.
pub(super) struct Limits {
    roofline: Roofline,
    /// What measures the limit of each mode.
    probes: Vec<(&'static ModeInfo, Probe)>,
}

impl Limits {
    /// Measures the device, and the limits of `modes`. What fails is no reason to measure no speeds: it is said once.
    pub fn measure(device: &Device, modes: impl Iterator<Item = &'static ModeInfo>) -> Self {
        let mut failures = Vec::new();
        let roofline = Roofline::measure(device, &mut |why| failures.push(why));
        let probe = |info: &'static ModeInfo| -> Result<_> {
            let mut probe = Probe::new(device, info.limit.micro())?;
            while probe.turn()? {}
            Ok((info, probe))
        };
        let probes = modes.filter_map(|info| probe(info).map_err(|why| failures.push(why)).ok()).collect();
        if let Some(why) = failures.first() {
            eprintln!("not all limits are known: {why}");
        }
        Self { roofline, probes }
    }

    /// Rates of the device.
    pub fn roofline(&self) -> Roofline {
        self.roofline
    }

    /// Looks again: on a machine with other work, the first look may have been at a bad time.
    pub fn refine(&mut self, info: &ModeInfo) {
        if let Some((_, probe)) = self.probes.iter_mut().find(|(other, _)| *other == info) {
            // Then the first look has to do.
            let _ = probe.turn();
        }
    }

    /// `fma 256 G/s · root 12.0 G/s · …`.
    pub fn text(&self) -> String {
        let Roofline {
            multiply_adds_per_second: multiply_adds,
            roots_per_second: roots,
            fetched_bytes_per_second: fetched,
            copied_bytes_per_second: copied,
        } = self.roofline;
        let rate = |(name, value, unit): (&str, Option<f64>, &str)| match value {
            Some(value) => format!("{name} {}{unit}/s", ui::format::si(value)),
            None => format!("{name} –"),
        };
        let rates = [
            ("fma", multiply_adds, ""),
            ("root", roots, ""),
            ("fetch from cache", fetched, "B"),
            ("copy", copied, "B"),
        ];
        let limits = self.probes.iter().map(|(info, probe)| {
            let limit = ui::format::si(info.limit.at(probe.rate()));
            format!("limit of {}: {} {}/s", info.name, limit.trim_end(), info.work.unit)
        });
        rates.into_iter().map(rate).chain(limits).collect::<Vec<_>>().join(" · ")
    }

    /// The limit, the share of it that a speed is, and how busy that keeps the device, if there is a limit.
    pub fn busy(&self, info: &ModeInfo, resolved: Resolved, speed: f64) -> Option<(f64, f64, Busy)> {
        let (_, probe) = self.probes.iter().find(|(other, _)| *other == info)?;
        let limit = info.limit.at(probe.rate());
        let busy = Busy::new(speed / limit, (&info.limit, limit), &resolved.recipe, &self.roofline);
        resolved.recipe.variant.has_limit.then_some((limit, speed / limit, busy))
    }
}
