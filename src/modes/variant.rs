//! Kernel variants, their compile-time parameters (knobs), and recipes, which are variants with values for all knobs.

use std::any::Any;
use std::collections::BTreeMap;

use super::accuracy::TOLERANCE;
use super::counts::Counts;
use super::kernels::Define;
use crate::base::params::product;
use crate::base::{Result, invalid};
use crate::compute::{DeviceInfo, DeviceKind, KernelSource};

/// A kernel variant. All variants of a mode compute the same step in different ways.
#[derive(Debug)]
pub struct Variant {
    /// Name of the variant in `--variant` and the panel.
    pub name: &'static str,
    /// One-line description of the variant.
    pub summary: &'static str,
    /// Path of the source file, relative to `kernels/`.
    pub file: &'static str,
    /// Text of the source file.
    pub source: &'static str,
    /// Compile-time parameters (knobs), in addition to the work-group size.
    pub knobs: &'static [Knob],
    /// Returns a good work-group size for a device.
    pub work_group: fn(&DeviceInfo) -> usize,
    /// Whether the kernels work only with the size that `work_group` returns.
    pub has_fixed_group: bool,
    /// Name of the knob that sets the width of a work-group, if a work-group covers a rectangle of cells.
    pub width_knob: Option<&'static str>,
    /// Returns the number of bodies or cells that a work-group advances.
    pub bodies_per_group: fn(&Recipe) -> usize,
    /// Number of bodies updated per reciprocal square root: 2 if each pair is computed once for both bodies, else 1.
    pub sides: f64,
    /// Largest relative error of the variant that the `check` command accepts.
    pub tolerance: f64,
    /// Usual relative error with default parameters; `None` if the variant is exact up to rounding.
    pub normal_error: Option<f64>,
    /// Keys of the mode's parameters that this variant uses but some other variants do not. Parameters that no variant
    /// lists are used by all variants.
    pub own_params: &'static [&'static str],
    /// Device memory that the variant needs per body or cell, in bytes, in addition to what its mode needs.
    pub bytes_per_body: usize,
    /// Returns the local memory that a work-group needs, in bytes.
    pub local_bytes: fn(&Recipe) -> usize,
    /// Condition under which several devices can compute a step together.
    pub together: Together,
    /// Whether the hardware limit of the mode applies. It does not apply to variants that skip pairs or memory traffic.
    pub has_limit: bool,
    /// Returns how many operations and bytes a pair or cell needs; `None` if these numbers depend on the bodies. The
    /// mode may increase the numbers (see [`Mode::counts`](super::Mode::counts)).
    pub counts: fn(&Recipe) -> Option<Counts>,
    /// Whether the variant sorts the bodies into the cells of a tree, which pictures can show.
    pub has_cells: bool,
    /// Data for building the variant's solver. Only the mode knows the data's type.
    pub solver: &'static (dyn Any + Send + Sync),
}

/// Variants are equal if their names and sources are equal.
impl PartialEq for Variant {
    fn eq(&self, other: &Self) -> bool {
        (self.name, self.file, self.source) == (other.name, other.file, other.source)
    }
}

impl Variant {
    /// Default values of a variant's fields: one body per work-item, and no local memory.
    pub(super) const BASE: Self = Self {
        name: "",
        summary: "",
        file: "",
        source: "",
        knobs: &[],
        work_group: |device| if device.kind == DeviceKind::Cpu { 64 } else { 256 },
        has_fixed_group: false,
        width_knob: None,
        bodies_per_group: |recipe| recipe.work_group,
        sides: 1.0,
        tolerance: TOLERANCE,
        normal_error: None,
        own_params: &[],
        bytes_per_body: 0,
        local_bytes: |_| 0,
        together: Together::Freely,
        has_limit: true,
        counts: |_| None,
        has_cells: false,
        solver: &(),
    };

    /// Returns the data for building the variant's solver. Fails if the variant belongs to another mode.
    pub(super) fn solver<T: Any>(&self) -> Result<&'static T> {
        let solver = self.solver.downcast_ref();
        solver.ok_or_else(|| invalid!("the variant {} belongs to another mode", self.name))
    }

    pub(super) fn source(&self) -> KernelSource {
        KernelSource { file: self.file, text: self.source }
    }
}

/// Declares the variants of a mode, slowest first, and the table `VARIANTS`. A row is `/// summary`, then `CONSTANT =
/// "name", solver, field: value…;`. Omitted fields have their default values. The kernels are in `kernels/MODE/NAME.cl`
/// or, for a row with `"name" in "file"`, in another file of that folder.
macro_rules! variants {
    ($mode:literal, $base:expr; $(
        $(#[doc = $summary:literal])+
        $row:ident = $name:literal $(in $file:literal)?, $solver:expr $(, $field:ident: $value:expr)*;
    )+) => {
        $(
            $(#[doc = $summary])+
            pub const $row: Variant = Variant {
                name: $name,
                summary: concat!($($summary),+).trim_ascii_start(),
                file: concat!($mode, "/", variants!(@file $name $($file)?), ".cl"),
                source: include_str!(concat!(
                    env!("CARGO_MANIFEST_DIR"), "/kernels/", $mode, "/", variants!(@file $name $($file)?), ".cl"
                )),
                solver: $solver,
                $($field: $value,)*
                ..$base
            };
        )+

        /// All kernel variants of the mode, slowest first.
        pub static VARIANTS: [Variant; [$(stringify!($row)),+].len()] = [$($row),+];

        $(const _: () = assert!($row.knobs.len() <= $crate::modes::variant::MAX_KNOBS);)+
    };
    (@file $name:literal) => { $name };
    (@file $name:literal $file:literal) => { $file };
}
pub(super) use variants;

/// Condition under which several devices can compute the steps of a variant together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Together {
    /// Devices can share a step even if they use different kernel variants.
    Freely,
    /// Devices can share a step only if they use the same kernel variant.
    Alike,
    /// Devices can share a step only if they have the same variant, model and driver, so that they round identically.
    SameModel,
    /// Devices cannot share a step: the variant runs on a single device.
    No,
}

impl Together {
    /// Returns whether the device `other` can compute steps together with the device `first`.
    pub fn allows(self, first: &DeviceInfo, other: &DeviceInfo) -> bool {
        match self {
            Self::Freely | Self::Alike => true,
            Self::SameModel => {
                let of = |device: &DeviceInfo| {
                    (device.model().to_owned(), device.platform.clone(), device.driver.clone())
                };
                of(first) == of(other)
            }
            Self::No => false,
        }
    }
}

/// A compile-time parameter of a variant's kernels. It changes only the speed, unless `is_method` is set.
#[derive(Debug)]
pub struct Knob {
    /// Name of the compile-time parameter in `--knob` and the panel.
    pub name: &'static str,
    /// Label in the panel; empty if the panel shows the name.
    pub label: &'static str,
    /// Name of the macro that passes the value to the kernel; empty if only the host uses the value.
    pub define: &'static str,
    /// One-line description of the compile-time parameter.
    pub summary: &'static str,
    /// Values that the compile-time parameter may have.
    pub options: &'static [u32],
    /// Name and description of each value, in the order of `options`; empty if the values are plain numbers.
    pub choices: &'static [(&'static str, &'static str)],
    /// Whether the value selects a method of computation, which changes the error of the result. The last option is
    /// then the default, and `auto` and tuning always use it.
    pub is_method: bool,
    /// Whether the guessed value is always the fastest. Tuning then does not try other values.
    pub never_hurts: bool,
    /// Whether files that older versions wrote lack the compile-time parameter. It then has the value that is guessed
    /// for one body.
    pub may_be_missing: bool,
    /// Returns a good value of the compile-time parameter for a device and a number of bodies.
    pub guess: fn(&DeviceInfo, usize) -> u32,
}

impl Knob {
    /// Creates a compile-time parameter without a summary. Tuning may try values other than the guessed one.
    pub(super) const fn new(
        name: &'static str,
        define: &'static str,
        options: &'static [u32],
        guess: fn(&DeviceInfo, usize) -> u32,
    ) -> Self {
        Self {
            name,
            label: "",
            define,
            summary: "",
            options,
            choices: &[],
            is_method: false,
            never_hurts: false,
            may_be_missing: false,
            guess,
        }
    }

    /// Sets the summary of the compile-time parameter.
    pub(super) const fn summary(self, summary: &'static str) -> Self {
        Self { summary, ..self }
    }

    /// Turns the compile-time parameter into one that selects a method. `label` is shown in the panel, and `choices`
    /// holds a name and a description of each value. The last option is the default.
    pub(super) const fn method(
        self,
        label: &'static str,
        choices: &'static [(&'static str, &'static str)],
    ) -> Self {
        Self { label, choices, is_method: true, ..self }
    }

    /// Returns whether the compile-time parameter is an on/off switch.
    pub fn is_switch(&self) -> bool {
        self.options == [0, 1]
    }

    /// Returns the name and the description of a value, or `None` if the value has no name.
    pub fn choice(&self, value: u32) -> Option<(&'static str, &'static str)> {
        let at = self.options.iter().position(|option| *option == value)?;
        self.choices.get(at).copied()
    }

    /// Returns a value as text in the syntax of `--knob`: its name or, if it has none, the number.
    pub fn word(&self, value: u32) -> String {
        self.choice(value).map_or_else(|| value.to_string(), |(name, _)| name.to_owned())
    }

    /// Parses a value, given by its name or as a number. Returns `None` if the text is not one of the options.
    pub fn read(&self, text: &str) -> Option<u32> {
        let is_meant = |option: &u32| text == option.to_string() || text == self.word(*option);
        self.options.iter().copied().find(is_meant)
    }

    /// Returns whether `value` selects the default method. Returns false for a compile-time parameter without methods.
    fn is_default_method(&self, value: u32) -> bool {
        self.is_method && self.options.last() == Some(&value)
    }
}

/// Returns the least common multiple of two numbers.
pub(super) fn common_multiple(a: usize, b: usize) -> usize {
    let divisor = |mut a: usize, mut b: usize| {
        while b > 0 {
            (a, b) = (b, a % b);
        }
        a
    };
    a / divisor(a, b).max(1) * b
}

/// Maximum number of compile-time parameters (knobs) of a variant.
pub const MAX_KNOBS: usize = 7;

/// A kernel variant with a work-group size and values for all of its compile-time parameters (knobs).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Recipe {
    /// The kernel variant.
    pub variant: &'static Variant,
    /// Number of work-items in a work-group.
    pub work_group: usize,
    /// Values of the compile-time parameters, in the order of `Variant::knobs`. Unused entries are 0.
    values: [u32; MAX_KNOBS],
}

impl Recipe {
    /// Returns a recipe for `variant` with good settings for a device and a number of bodies.
    pub fn guess(variant: &'static Variant, device: &DeviceInfo, bodies: usize) -> Self {
        let mut values = [0; MAX_KNOBS];
        for (value, knob) in values.iter_mut().zip(variant.knobs) {
            *value = (knob.guess)(device, bodies);
        }
        let mut recipe = Self { variant, work_group: 1, values };
        recipe.work_group = (variant.work_group)(device).min(recipe.max_work_group(device));
        recipe
    }

    /// Creates a recipe from a work-group size and named compile-time parameters. Missing parameters that select a
    /// method, or that [may be missing](Knob::may_be_missing), get their default. Returns `None` if any other parameter
    /// is missing, if one is unknown or out of range, or if the work-group is too large for the device.
    pub fn of_words(
        variant: &'static Variant,
        device: &DeviceInfo,
        work_group: usize,
        knobs: &BTreeMap<String, u32>,
    ) -> Option<Self> {
        let mut recipe = Self::guess(variant, device, 1);
        for knob in variant.knobs {
            match knobs.get(knob.name) {
                Some(value) if knob.options.contains(value) => recipe = recipe.with_knob(knob.name, *value),
                None if knob.is_method || knob.may_be_missing => {}
                _ => return None,
            }
        }
        let is_known = |name: &String| variant.knobs.iter().any(|knob| knob.name == *name);
        let fits = (1..=recipe.max_work_group(device)).contains(&work_group);
        (fits && knobs.keys().all(is_known)).then(|| recipe.with_work_group(work_group))
    }

    /// Returns the value of the compile-time parameter `name`, or 0 if the variant does not have it.
    pub fn knob(&self, name: &str) -> u32 {
        self.knobs().find(|(knob, _)| knob.name == name).map_or(0, |(_, value)| value)
    }

    /// Returns the recipe with `value` for the compile-time parameter `name`; unchanged if there is no such parameter.
    #[must_use]
    pub fn with_knob(mut self, name: &str, value: u32) -> Self {
        if let Some(at) = self.variant.knobs.iter().position(|knob| knob.name == name) {
            self.values[at] = value;
        }
        self
    }

    /// Returns the recipe with the given work-group size.
    #[must_use]
    pub fn with_work_group(self, work_group: usize) -> Self {
        Self { work_group, ..self }
    }

    /// Returns every compile-time parameter (knob) with its value.
    pub fn knobs(&self) -> impl Iterator<Item = (&'static Knob, u32)> + use<> {
        self.variant.knobs.iter().zip(self.values)
    }

    /// Returns the values of the compile-time parameters by name.
    pub fn values(&self) -> BTreeMap<&'static str, u32> {
        self.knobs().map(|(knob, value)| (knob.name, value)).collect()
    }

    /// Returns the compile-time parameters as text in the syntax of `--knob`, leaving out methods at their default.
    pub fn words(&self) -> String {
        let told = self.knobs().filter(|(knob, value)| !knob.is_default_method(*value));
        told.map(|(knob, value)| format!("{}={}", knob.name, knob.word(value))).collect::<Vec<_>>().join(" ")
    }

    /// Returns the macros that the kernels are compiled with: the work-group size and the knobs.
    pub(super) fn defines(&self) -> Vec<Define> {
        let compiled = self.knobs().filter(|(knob, _)| !knob.define.is_empty());
        let knobs = compiled.map(|(knob, value)| (knob.define, value.to_string()));
        std::iter::once(("WORK_GROUP", self.work_group.to_string())).chain(knobs).collect()
    }

    /// Returns the number of bodies or cells that a work-group advances.
    pub fn bodies_per_group(&self) -> usize {
        (self.variant.bodies_per_group)(self)
    }

    /// Returns the number of work-items that advance `bodies` bodies, rounded up to whole work-groups.
    pub(super) fn items(&self, bodies: usize) -> usize {
        bodies.div_ceil(self.bodies_per_group()) * self.work_group
    }

    /// Returns the number of bodies per work-item, which is below 1 if several work-items share a body.
    pub(super) fn bodies_per_item(&self) -> f64 {
        self.bodies_per_group() as f64 / self.work_group as f64
    }

    /// Returns the largest work-group size that the device supports with the recipe's other settings.
    pub fn max_work_group(&self, device: &DeviceInfo) -> usize {
        if self.variant.has_fixed_group {
            return (self.variant.work_group)(device).min(device.max_work_group);
        }
        let fits = |size: &usize| {
            (self.variant.local_bytes)(&self.with_work_group(*size)) as u64 <= device.local_bytes
        };
        (1..=device.max_work_group).rev().find(fits).unwrap_or(1)
    }

    /// Returns the work-group sizes that users can choose: powers of two, and the largest possible size.
    pub fn work_groups(&self, device: &DeviceInfo) -> Vec<usize> {
        let most = self.max_work_group(device);
        let powers = (0..).map(|k| 1 << k).take_while(|&size| size <= most);
        let mut sizes: Vec<usize> = powers.filter(|_| !self.variant.has_fixed_group).collect();
        if sizes.last() != Some(&most) {
            sizes.push(most);
        }
        sizes
    }

    /// Returns recipes to check: all combinations of numeric knob values, and each on/off knob and each method changed
    /// separately.
    pub fn relatives(&self) -> Vec<Self> {
        let sizes = self.variant.knobs.iter().filter(|knob| !knob.is_switch() && !knob.is_method);
        let sizes: Vec<_> = sizes.map(|knob| (knob.name, knob.options.to_vec())).collect();
        let with = |row: Vec<_>| row.into_iter().fold(*self, |it, (name, value)| it.with_knob(name, value));
        let mut all: Vec<Self> = product(&sizes).into_iter().map(with).collect();
        for (knob, value) in self.knobs().filter(|(knob, _)| knob.is_switch() || knob.is_method) {
            let others = knob.options.iter().filter(|other| **other != value);
            all.extend(others.map(|other| self.with_knob(knob.name, *other)));
        }
        all
    }
}
