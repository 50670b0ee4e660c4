//! Parameters, declared once with the macros `parameters!` and `choice!`. The panel, `--set`, scenes, range checks and
//! tests access the parameters through a [`Visitor`].

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

/// Effects that changing a parameter can have, from the cheapest to the most expensive.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ChangeEffect {
    /// The change affects the window, whichever scene is shown. Scene files do not store the parameter.
    Window,
    /// The change affects the picture but not the simulation.
    View,
    /// The change takes effect at the next step.
    Live,
    /// The change rebuilds the kernels but keeps the state.
    Rebuild,
    /// The change restarts the scene.
    Reseed,
}

/// Mapping from slider positions to values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Equal distances on the slider correspond to equal differences between values.
    Linear,
    /// Equal distances on the slider correspond to equal ratios between values.
    Log,
}

/// Description of a parameter.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// Name of the parameter in `--set key=value`, files and reports.
    pub key: &'static str,
    /// Name of the parameter in the panel.
    pub label: &'static str,
    /// Help text for the parameter.
    pub help: &'static str,
    /// Unit of the value; empty if the value has no unit.
    pub unit: &'static str,
    /// Effect of changing the value.
    pub effect: ChangeEffect,
    /// Whether the panel lists the parameter in a collapsed section, as it does for parameters that few users need.
    pub advanced: bool,
}

impl Info {
    /// Describes a parameter that is always listed, has no unit, and has the effect [`ChangeEffect::Live`].
    pub const fn new(key: &'static str, label: &'static str, help: &'static str) -> Self {
        Self { key, label, help, unit: "", effect: ChangeEffect::Live, advanced: false }
    }

    /// Sets the unit of the parameter's value.
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// Sets the effect of changing the parameter.
    pub const fn effect(self, effect: ChangeEffect) -> Self {
        Self { effect, ..self }
    }

    /// Sets whether the panel lists the parameter in a collapsed section.
    pub const fn advanced(self, advanced: bool) -> Self {
        Self { advanced, ..self }
    }
}

/// Name and help text of an option of a [`Choice`].
#[derive(Debug, PartialEq, Eq)]
pub struct Opt {
    /// Name of the option in `--set`, files and the panel.
    pub name: &'static str,
    /// Help text for the option.
    pub help: &'static str,
}

/// A parameter type whose values are a few named options, such as an enum declared with `choice!`.
pub trait Choice: Copy + PartialEq + 'static {
    /// Options of the choice, in the order in which the panel lists them.
    const OPTIONS: &'static [(Self, Opt)];

    /// Returns the index of this option in [`Choice::OPTIONS`].
    fn index(self) -> usize {
        Self::OPTIONS.iter().position(|(option, _)| *option == self).unwrap_or(0)
    }

    /// Returns the name of this option.
    fn name(self) -> &'static str {
        Self::OPTIONS[self.index()].1.name
    }
}

/// Declares an enum that implements [`Choice`]. The doc comment of each option becomes its help text.
macro_rules! choice {
    ($(#[$of_enum:meta])* pub enum $name:ident { $($(#[doc = $help:literal])+ $option:ident = $text:literal,)+ }) => {
        $(#[$of_enum])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name {
            $($(#[doc = $help])+ $option,)+
        }

        impl $crate::base::params::Choice for $name {
            const OPTIONS: &'static [(Self, $crate::base::params::Opt)] = &[$((
                Self::$option,
                $crate::base::params::Opt { name: $text, help: concat!($($help),+).trim_ascii() },
            )),+];
        }
    };
}
pub(crate) use choice;

/// Reads or edits parameters. For each parameter, [`Params::visit`] calls the method that handles the parameter's type.
pub trait Visitor {
    /// Visits a numeric parameter with its accepted range and the scale of its slider.
    fn float(&mut self, info: &Info, value: &mut f32, range: RangeInclusive<f32>, scale: Scale);
    /// Visits a parameter that can be on or off.
    fn flag(&mut self, info: &Info, value: &mut bool);
    /// Visits a parameter that is a [`Choice`]; `index` is the position of the chosen option in `options`.
    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]);
}

/// A type that a parameter can have: a number, a switch or a [`Choice`].
pub trait Value {
    /// Accepted range and slider scale of a number; `()` for other types.
    type Range;

    /// Calls the method of `visitor` that handles this type.
    fn visit(&mut self, visitor: &mut dyn Visitor, info: &Info, range: Self::Range);
}

impl Value for f32 {
    type Range = (RangeInclusive<f32>, Scale);

    fn visit(&mut self, visitor: &mut dyn Visitor, info: &Info, (range, scale): Self::Range) {
        visitor.float(info, self, range, scale);
    }
}

impl Value for bool {
    type Range = ();

    fn visit(&mut self, visitor: &mut dyn Visitor, info: &Info, (): ()) {
        visitor.flag(info, self);
    }
}

impl<C: Choice> Value for C {
    type Range = ();

    fn visit(&mut self, visitor: &mut dyn Visitor, info: &Info, (): ()) {
        let options: Vec<&'static Opt> = C::OPTIONS.iter().map(|(_, opt)| opt).collect();
        let mut index = self.index();
        visitor.option(info, &mut index, &options);
        *self = C::OPTIONS[index.min(C::OPTIONS.len() - 1)].0;
    }
}

/// A struct whose fields are parameters.
pub trait Params {
    /// Calls `visitor` for each parameter, always in the same order.
    fn visit(&mut self, visitor: &mut dyn Visitor);
}

/// Declares a struct of parameters, and implements `Default` and [`Params`] for it. A row is `/// help`, then `key: type =
/// default, "label" [range, scale] unit("unit") effect(effect) advanced(true) => hook,`. Only numbers have a range and a
/// scale. All that follows the range is optional; `hook` is a method that runs after each visit to the parameter.
macro_rules! parameters {
    ($(#[$meta:meta])* pub struct $params:ident {
        $(
            $(#[doc = $help:literal])+
            $key:ident: $type:ty = $default:expr, $label:literal $([$range:expr, $scale:ident])?
            $($extra:ident($value:expr))* $(=> $hook:ident)?,
        )+
    }) => {
        $(#[$meta])*
        pub struct $params {
            $($(#[doc = $help])+ pub $key: $type,)+
        }

        impl Default for $params {
            fn default() -> Self {
                Self { $($key: $default),+ }
            }
        }

        impl $crate::base::params::Params for $params {
            fn visit(&mut self, visitor: &mut dyn $crate::base::params::Visitor) {
                use $crate::base::params::{Info, Scale, Value};
                $(
                    let help = concat!($($help),+).trim_ascii_start();
                    let info = Info::new(stringify!($key), $label, help)$(.$extra($value))*;
                    let range = ($($range, Scale::$scale)?);
                    Value::visit(&mut self.$key, visitor, &info, range);
                    $(self.$hook();)?
                )+
            }
        }
    };
}
pub(crate) use parameters;

/// A copy of a parameter's value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParamValue {
    /// Value of a numeric parameter.
    Float(f32),
    /// Whether a switch is on.
    Flag(bool),
    /// Name of the selected option of a [`Choice`].
    Option(&'static str),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ParamValue::Float(x) => write!(f, "{x}"),
            ParamValue::Flag(on) => write!(f, "{on}"),
            ParamValue::Option(name) => f.write_str(name),
        }
    }
}

impl serde::Serialize for ParamValue {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match *self {
            // Writes the shortest decimal that parses to the same float: 0.05 instead of 0.05000000074505806.
            ParamValue::Float(x) => s.serialize_f64(x.to_string().parse().unwrap_or(x.into())),
            ParamValue::Flag(on) => s.serialize_bool(on),
            ParamValue::Option(name) => s.serialize_str(name),
        }
    }
}

/// Returns the labels and current values of those parameters whose values differ from `before`. Changes no values.
pub fn labelled_changes(
    before: &ParamValues,
    params: &mut (impl Params + ?Sized),
) -> Vec<(&'static str, ParamValue)> {
    let (changes, _) = before.changes(&ParamValues::collect(params));
    let infos = infos(params);
    let label = |key| infos.iter().find(|info| info.key == key).map_or(key, |info| info.label);
    changes.into_iter().map(|(key, value)| (label(key), value)).collect()
}

/// Returns the descriptions of all parameters, in the order in which [`Params::visit`] visits them. Changes no values.
pub fn infos(params: &mut (impl Params + ?Sized)) -> Vec<Info> {
    struct Infos(Vec<Info>);
    impl Visitor for Infos {
        fn float(&mut self, info: &Info, _: &mut f32, _: RangeInclusive<f32>, _: Scale) {
            self.0.push(*info);
        }

        fn flag(&mut self, info: &Info, _: &mut bool) {
            self.0.push(*info);
        }

        fn option(&mut self, info: &Info, _: &mut usize, _: &[&'static Opt]) {
            self.0.push(*info);
        }
    }
    let mut infos = Infos(Vec::new());
    params.visit(&mut infos);
    infos.0
}

/// Keys, effects and values of all parameters, in the order in which [`Params::visit`] visits them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ParamValues(Vec<(&'static str, ChangeEffect, ParamValue)>);

impl ParamValues {
    /// Copies the values of `params`. The borrow is mutable only because `Params::visit` requires it; no value changes.
    pub fn collect(params: &mut (impl Params + ?Sized)) -> Self {
        let mut values = Self::default();
        params.visit(&mut values);
        values
    }

    /// Returns the key and value of each parameter, in the order in which the parameters were visited.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, ParamValue)> + '_ {
        self.0.iter().map(|&(key, _, value)| (key, value))
    }

    /// Returns the value of the parameter named `key`, or `None` if there is no such parameter.
    pub fn get(&self, key: &str) -> Option<ParamValue> {
        self.iter().find(|(k, _)| *k == key).map(|(_, value)| value)
    }

    /// Returns the value of the parameter named `key`, or `None` if the parameter does not exist or is not a number.
    pub fn float(&self, key: &str) -> Option<f32> {
        match self.get(key)? {
            ParamValue::Float(x) => Some(x),
            _ => None,
        }
    }

    /// Returns only the parameters whose [`ChangeEffect`] is `effect`.
    pub fn of(&self, effect: ChangeEffect) -> Self {
        Self(self.0.iter().copied().filter(|(_, own, _)| *own == effect).collect())
    }

    /// Returns the keys and new values of the parameters whose values differ in `new`, and the most expensive effect of
    /// these changes; the effect is `None` if no value differs.
    pub fn changes(&self, new: &ParamValues) -> (Vec<(&'static str, ParamValue)>, Option<ChangeEffect>) {
        let changed = || self.0.iter().zip(&new.0).filter(|(old, new)| old != new).map(|(_, new)| *new);
        (
            changed().map(|(key, _, value)| (key, value)).collect(),
            changed().map(|(_, effect, _)| effect).max(),
        )
    }
}

impl serde::Serialize for ParamValues {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.iter())
    }
}

impl Visitor for ParamValues {
    fn float(&mut self, info: &Info, value: &mut f32, _: RangeInclusive<f32>, _: Scale) {
        self.0.push((info.key, info.effect, ParamValue::Float(*value)));
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        self.0.push((info.key, info.effect, ParamValue::Flag(*value)));
    }

    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]) {
        self.0.push((info.key, info.effect, ParamValue::Option(options[*index].name)));
    }
}

/// Reason why a parameter could not be set. The parameter keeps its value.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetError {
    /// No parameter has this key.
    #[error("unknown parameter `{key}`; the parameters are {known}")]
    UnknownKey {
        /// Name of the parameter that was requested.
        key: String,
        /// Valid keys, separated by commas.
        known: String,
    },
    /// The parameter does not accept the value.
    #[error("{key}={text} is not allowed: {key} must be {allowed}")]
    BadValue {
        /// Key of the parameter.
        key: &'static str,
        /// The text that was rejected as a value.
        text: String,
        /// Description of the accepted values.
        allowed: String,
    },
}

/// Sets the parameter named `key` to the value that `text` represents.
///
/// # Errors
/// Returns an error if the parameter does not exist or does not accept the text.
pub fn set(params: &mut (impl Params + ?Sized), key: &str, text: &str) -> Result<(), SetError> {
    let mut setter = Setter { key, text: text.trim(), known: Vec::new(), outcome: None };
    params.visit(&mut setter);
    let known = setter.known.join(", ");
    setter.outcome.unwrap_or_else(|| Err(SetError::UnknownKey { key: key.to_owned(), known }))
}

struct Setter<'a> {
    key: &'a str,
    text: &'a str,
    known: Vec<&'static str>,
    outcome: Option<Result<(), SetError>>,
}

impl Setter<'_> {
    fn apply<T>(&mut self, info: &Info, target: &mut T, parsed: Option<T>, allowed: impl Fn() -> String) {
        self.known.push(info.key);
        if info.key == self.key {
            let text = || self.text.to_owned();
            let rejected = || SetError::BadValue { key: info.key, text: text(), allowed: allowed() };
            self.outcome = Some(parsed.map(|value| *target = value).ok_or_else(rejected));
        }
    }
}

impl Visitor for Setter<'_> {
    fn float(&mut self, info: &Info, value: &mut f32, range: RangeInclusive<f32>, _: Scale) {
        let parsed = self.text.parse().ok().filter(|x| range.contains(x));
        self.apply(info, value, parsed, || format!("a number from {} to {}", range.start(), range.end()));
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        let parsed = match self.text {
            "true" | "on" | "yes" | "1" => Some(true),
            "false" | "off" | "no" | "0" => Some(false),
            _ => None,
        };
        self.apply(info, value, parsed, || "true or false".to_owned());
    }

    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]) {
        let parsed = options.iter().position(|opt| opt.name == self.text);
        self.apply(info, index, parsed, || {
            options.iter().map(|opt| opt.name).collect::<Vec<_>>().join(" or ")
        });
    }
}

/// Maximum number of combinations that [`combinations`] returns without reducing them to a subset.
const MOST_COMBINATIONS: usize = 16;

/// Returns combinations of settings to test; each is a list of keys and texts for [`set`]. The combinations cover all
/// switches and all choices that affect the simulation, but no numbers and no choices whose options are numbers. If
/// there are more than `MOST_COMBINATIONS`, returns a subset that still contains every pair of values.
pub fn combinations(params: &mut (impl Params + ?Sized)) -> Vec<Vec<(&'static str, &'static str)>> {
    struct Switches(Vec<(&'static str, Vec<&'static str>)>);
    impl Visitor for Switches {
        fn float(&mut self, _: &Info, _: &mut f32, _: RangeInclusive<f32>, _: Scale) {}
        fn flag(&mut self, info: &Info, _: &mut bool) {
            self.0.push((info.key, vec!["false", "true"]));
        }
        fn option(&mut self, info: &Info, _: &mut usize, options: &[&'static Opt]) {
            let has_numbers = options.iter().any(|opt| opt.name.parse::<f32>().is_ok());
            if info.effect != ChangeEffect::View && !has_numbers {
                self.0.push((info.key, options.iter().map(|opt| opt.name).collect()));
            }
        }
    }
    let mut switches = Switches(Vec::new());
    params.visit(&mut switches);
    let all = product(&switches.0);
    if all.len() > MOST_COMBINATIONS { covering(all) } else { all }
}

/// Returns all combinations in which each key is paired with one of its values.
pub fn product<V: Copy>(choices: &[(&'static str, Vec<V>)]) -> Vec<Vec<(&'static str, V)>> {
    choices.iter().fold(vec![Vec::new()], |rows, (key, values)| {
        let with = |row: &Vec<_>, value: &V| [row.as_slice(), &[(*key, *value)]].concat();
        rows.iter().flat_map(|row| values.iter().map(move |value| with(row, value))).collect()
    })
}

/// Returns a subset of `rows` that still contains every pair of values that occurs together in a row. Starts with the
/// row that has the most pairs, then repeatedly adds the row with the most missing pairs.
fn covering<T: Copy + Ord>(rows: Vec<Vec<T>>) -> Vec<Vec<T>> {
    let pairs = |row: &Vec<T>| -> BTreeSet<(T, T)> {
        (0..row.len()).flat_map(|i| (0..i).map(move |j| (j, i))).map(|(j, i)| (row[j], row[i])).collect()
    };
    let mut left: BTreeSet<(T, T)> = rows.iter().flat_map(pairs).collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let news = |row: &Vec<T>| pairs(row).intersection(&left).count();
        // Reverses the rows, because `max_by_key` returns the last of equally good rows.
        let best = rows.iter().rev().max_by_key(|row| news(row)).cloned().unwrap_or_default();
        left = left.difference(&pairs(&best)).copied().collect();
        chosen.push(best);
    }
    chosen
}
