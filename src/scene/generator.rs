//! Generators: functions that create the bodies or the walls of a scene.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::density::DensityModel;
use super::lines::quoted;
use crate::base::{ParamValues, Result, State, invalid};

/// Input to [`Generator::make`], in addition to the generator's arguments.
#[derive(Debug, Clone)]
pub struct Setup<'a> {
    /// Number of bodies to create, at least 1; for a fluid, the approximate number of cells.
    pub bodies: usize,
    /// Seed of the random numbers. The same seed produces the same bodies in every version and on every platform.
    pub seed: u64,
    /// Parameters of the mode; for example, orbital speeds depend on `g` and `eps`.
    pub params: &'a ParamValues,
}

/// A generator: a function that makes a scene's bodies or fluid, and the arguments that scene files may set.
#[derive(Debug)]
pub struct Generator {
    /// Name of the generator in scene files.
    pub name: &'static str,
    /// Arguments of the generator that a scene file may set.
    pub arguments: &'static [Argument],
    /// Density law of the bodies; `None` if no law is known.
    pub density: Option<DensityModel>,
    /// Function that makes the initial state of a scene.
    pub make: fn(&Setup, &Arguments) -> State,
}

/// A numeric argument of a generator.
#[derive(Debug)]
pub struct Argument {
    /// Name of the argument in scene files.
    pub name: &'static str,
    /// Value of the argument if a scene file does not set it.
    pub default: f64,
    /// Accepted values of the argument.
    pub range: RangeInclusive<f64>,
}

impl Argument {
    pub(super) const fn new(name: &'static str, default: f64, range: RangeInclusive<f64>) -> Self {
        Self { name, default, range }
    }
}

/// Names and values of all arguments of a generator.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Arguments(BTreeMap<&'static str, f64>);

impl Arguments {
    /// Creates the arguments of `generator`: the values in `given`, and defaults for the rest. Rejects unknown names
    /// and invalid values.
    pub(crate) fn new(generator: &Generator, given: &BTreeMap<String, f64>) -> Result<Self> {
        let mut values: BTreeMap<_, _> =
            generator.arguments.iter().map(|argument| (argument.name, argument.default)).collect();
        for (name, value) in given {
            let argument = generator.arguments.iter().find(|argument| argument.name == name);
            let argument = argument.ok_or_else(|| {
                let known: Vec<_> = generator.arguments.iter().map(|argument| argument.name).collect();
                let (of, name, known) = (generator.name, quoted(name), known.join(", "));
                invalid!("{of} has no argument {name}; its arguments are: {known}")
            })?;
            if !argument.range.contains(value) {
                let (from, to) = (argument.range.start(), argument.range.end());
                return Err(invalid!("{name} = {value} is not allowed; {name} must be from {from} to {to}"));
            }
            values.insert(argument.name, *value);
        }
        Ok(Self(values))
    }

    /// Returns the value of an argument, or 0 if the generator has no such argument.
    pub(super) fn get(&self, name: &str) -> f64 {
        debug_assert!(self.0.contains_key(name), "no argument {name}");
        self.0.get(name).copied().unwrap_or(0.0)
    }

    /// Returns the names and values of the arguments of `generator` that differ from their defaults.
    pub(super) fn non_default(&self, generator: &Generator) -> BTreeMap<String, f64> {
        let values = generator.arguments.iter().map(|argument| (argument, self.get(argument.name)));
        let others = values.filter(|(argument, value)| argument.default != *value);
        others.map(|(argument, value)| (argument.name.to_owned(), value)).collect()
    }
}
