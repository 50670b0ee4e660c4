//! A list of values for one parameter, such as `--set opening=0.001,0.002`. `bench` measures the values one after the
//! other.

use crate::base::{ParamValue, Result, invalid};
use crate::modes::{Mode, ModeInfo, Variant};

/// A parameter of a mode, and the values to measure.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Sweep {
    pub(super) key: String,
    /// Values to measure, as the user wrote them.
    values: Vec<String>,
}

impl Sweep {
    /// Separates the arguments of `--set` that have one value for all measurements from the argument with a list, if
    /// there is one.
    ///
    /// # Errors
    /// Returns an error if several parameters have lists, or if a list contains an assignment to another parameter.
    pub(super) fn split(assignments: &[String]) -> Result<(Vec<String>, Option<Self>)> {
        let (lists, set): (Vec<_>, Vec<_>) = assignments
            .iter()
            .cloned()
            .partition(|word| word.split_once('=').is_some_and(|it| it.1.contains(',')));
        if let Some(word) = lists.iter().find(|word| word.matches('=').count() > 1) {
            let apart = word.split(',').map(str::trim).collect::<Vec<_>>().join(" ");
            return Err(invalid!("--set {word}: separate the parameters with spaces, as in --set {apart}"));
        }
        if let [first, second, ..] = &lists[..] {
            return Err(invalid!("--set {first} {second}: only one parameter can have several values"));
        }
        let sweep = lists.iter().filter_map(|word| word.split_once('=')).next().map(|(key, values)| Self {
            key: key.trim().to_owned(),
            values: values.split(',').map(|value| value.trim().to_owned()).collect(),
        });
        Ok((set, sweep))
    }

    /// Returns an error if none of the variants to measure uses the parameter of this sweep.
    pub(super) fn check(&self, ladders: &[(&'static ModeInfo, Vec<&'static Variant>)]) -> Result<()> {
        let all =
            || ladders.iter().flat_map(|(info, variants)| variants.iter().map(|variant| (*info, *variant)));
        if all().any(|(info, variant)| info.uses(variant, &self.key)) {
            return Ok(());
        }
        let names = |of: Vec<&str>| of.join(", ");
        let chosen = names(all().map(|(_, variant)| variant.name).collect());
        let is_user = |variant: &&Variant| variant.own_params.contains(&self.key.as_str());
        let users = ladders.iter().flat_map(|(info, _)| info.variants).filter(is_user);
        Err(invalid!(
            "--set {}={}: the kernels of {chosen} do not use this parameter; add --variant {}",
            self.key,
            self.values.join(","),
            names(users.map(|variant| variant.name).collect())
        ))
    }

    /// Returns one assignment such as `opening=0.001` for each measurement of `variant`, or a single `None` if the
    /// variant ignores the parameter of this sweep.
    pub(super) fn assignments(&self, info: &ModeInfo, variant: &Variant) -> Vec<Option<String>> {
        match info.uses(variant, &self.key) {
            true => self.values.iter().map(|value| Some(format!("{}={value}", self.key))).collect(),
            false => vec![None],
        }
    }

    /// Returns the key of the swept parameter and its value in `mode`, or `None` if `variant` ignores the parameter.
    pub(super) fn value(&self, mode: &dyn Mode, variant: &Variant) -> Option<(&'static str, ParamValue)> {
        let uses = mode.info().uses(variant, &self.key);
        mode.values().iter().find(|(key, _)| uses && *key == self.key)
    }
}
