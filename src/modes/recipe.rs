//! A rung of a ladder with all its numbers settled: what is compiled.

use std::collections::BTreeMap;

use super::Variant;
use crate::compute::DeviceInfo;

/// A number that a variant's kernel is compiled with: it changes how fast a step is, and nothing else.
#[derive(Debug)]
pub struct Knob {
    /// The name in `--knob` and the panel.
    pub name: &'static str,
    /// The name in the kernel; empty if only the host reads it.
    pub define: &'static str,
    /// One line on what it is.
    pub summary: &'static str,
    /// What it may be.
    pub options: &'static [u32],
    /// Whether its guess is never slower than another value: nobody has to search for it.
    pub never_hurts: bool,
    /// A good guess for a device and a number of bodies: one of the options.
    pub guess: fn(&DeviceInfo, usize) -> u32,
}

impl Knob {
    /// Whether it only turns something off and on.
    pub fn is_switch(&self) -> bool {
        self.options == [0, 1]
    }
}

/// The least number that both divide.
pub(super) fn common_multiple(a: usize, b: usize) -> usize {
    let divisor = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    a / divisor(a, b).max(1) * b
}

/// The most knobs that a variant has.
pub const MAX_KNOBS: usize = 5;

/// A rung of a ladder with all its numbers settled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// The rung.
    pub variant: &'static Variant,
    /// Work-items to a work-group.
    pub work_group: usize,
    /// The knobs in the variant's order, and nothing behind them.
    values: [u32; MAX_KNOBS],
}

impl Recipe {
    /// What is a good guess for a device and a number of bodies.
    pub fn guess(variant: &'static Variant, device: &DeviceInfo, bodies: usize) -> Self {
        let mut values = [0; MAX_KNOBS];
        for (value, knob) in values.iter_mut().zip(variant.knobs) {
            *value = (knob.guess)(device, bodies);
        }
        let mut recipe = Self { variant, work_group: 1, values };
        recipe.work_group = (variant.work_group)(device).min(recipe.max_work_group(device));
        recipe
    }

    /// The recipe that words mean to a device; none if it cannot be meant: another value of a knob than there is, one that
    /// is missing or too many, or a work-group that the device does not take.
    pub fn of_words(
        variant: &'static Variant,
        device: &DeviceInfo,
        work_group: usize,
        knobs: &BTreeMap<String, u32>,
    ) -> Option<Self> {
        let mut recipe = Self::guess(variant, device, 1);
        for knob in variant.knobs {
            let value = knobs.get(knob.name).filter(|value| knob.options.contains(value))?;
            recipe = recipe.with_knob(knob.name, *value);
        }
        let fits = (1..=recipe.max_work_group(device)).contains(&work_group);
        (fits && knobs.len() == variant.knobs.len()).then(|| recipe.with_work_group(work_group))
    }

    /// The value of the knob `name`; 0 of one that the variant does not have.
    pub fn knob(&self, name: &str) -> u32 {
        self.knobs().find(|(knob, _)| knob.name == name).map_or(0, |(_, value)| value)
    }

    /// The same with another value of the knob `name`, if the variant has it.
    #[must_use]
    pub fn with_knob(mut self, name: &str, value: u32) -> Self {
        if let Some(at) = self.variant.knobs.iter().position(|knob| knob.name == name) {
            self.values[at] = value;
        }
        self
    }

    /// The same with another work-group.
    #[must_use]
    pub fn with_work_group(self, work_group: usize) -> Self {
        Self { work_group, ..self }
    }

    /// Every knob with its value.
    pub fn knobs(&self) -> impl Iterator<Item = (&'static Knob, u32)> + use<> {
        self.variant.knobs.iter().zip(self.values)
    }

    /// The knobs by name.
    pub fn values(&self) -> BTreeMap<&'static str, u32> {
        self.knobs().map(|(knob, value)| (knob.name, value)).collect()
    }

    /// The knobs as one types them after `--knob`.
    pub fn words(&self) -> String {
        self.knobs().map(|(knob, value)| format!("{}={value}", knob.name)).collect::<Vec<_>>().join(" ")
    }

    /// What the kernel is compiled with.
    pub(super) fn defines(&self) -> Vec<(&'static str, String)> {
        let compiled = self.knobs().filter(|(knob, _)| !knob.define.is_empty());
        let knobs = compiled.map(|(knob, value)| (knob.define, value.to_string()));
        std::iter::once(("WORK_GROUP", self.work_group.to_string())).chain(knobs).collect()
    }

    /// Bodies that a work-group steps.
    pub fn bodies_per_group(&self) -> usize {
        (self.variant.bodies_per_group)(self)
    }

    /// Work-items that step `bodies`: whole work-groups.
    pub(super) fn items(&self, bodies: usize) -> usize {
        bodies.div_ceil(self.bodies_per_group()) * self.work_group
    }

    /// Bodies that a work-item steps: less than one, where several share the work.
    pub(super) fn bodies_per_item(&self) -> f64 {
        self.bodies_per_group() as f64 / self.work_group as f64
    }

    /// The largest work-group that a device takes with these knobs.
    pub fn max_work_group(&self, device: &DeviceInfo) -> usize {
        let fits = |size: &usize| {
            (self.variant.local_bytes)(&self.with_work_group(*size)) as u64 <= device.local_bytes
        };
        (1..=device.max_work_group).rev().find(fits).unwrap_or(1)
    }

    /// The work-group sizes worth offering: powers of two, and the largest.
    pub fn work_groups(&self, device: &DeviceInfo) -> Vec<usize> {
        let most = self.max_work_group(device);
        let mut sizes: Vec<usize> = (0..).map(|k| 1 << k).take_while(|&size| size <= most).collect();
        if sizes.last() != Some(&most) {
            sizes.push(most);
        }
        sizes
    }

    /// The same with every combination of the knobs that are sizes, and with each switch turned the other way.
    pub fn relatives(&self) -> Vec<Self> {
        let mut all = vec![*self];
        for knob in self.variant.knobs.iter().filter(|knob| !knob.is_switch()) {
            let with =
                |recipe: Self| knob.options.iter().map(move |&value| recipe.with_knob(knob.name, value));
            all = all.into_iter().flat_map(with).collect();
        }
        let switches = self.knobs().filter(|(knob, _)| knob.is_switch());
        all.extend(switches.map(|(knob, value)| self.with_knob(knob.name, 1 - value)));
        all
    }
}
