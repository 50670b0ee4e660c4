//! Parameters described once, read by many: the panel, `--set`, scenes, range checks and tests are all
//! visitors of the one description that a mode gives of its fields in [`Params::visit`].

use std::collections::BTreeSet;
use std::fmt;
use std::ops::RangeInclusive;

/// What a change of a parameter costs, cheapest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// The picture is another, the simulation is not.
    View,
    /// In force from the next step.
    Live,
    /// The kernels are built anew; the state is kept.
    Rebuild,
    /// The scene starts afresh.
    Reseed,
}

/// How a slider spreads its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scale {
    /// Evenly.
    Linear,
    /// By factors.
    Log,
}

/// What there is to say about one parameter.
#[derive(Debug, Clone, Copy)]
pub struct Info {
    /// The name in `--set key=value`, files and reports.
    pub key: &'static str,
    /// The name in the panel.
    pub label: &'static str,
    /// One sentence of help.
    pub help: &'static str,
    /// Unit of the value, empty if it has none.
    pub unit: &'static str,
    /// What a change costs.
    pub effect: Effect,
}

impl Info {
    /// A live parameter without unit.
    pub const fn new(key: &'static str, label: &'static str, help: &'static str) -> Self {
        Self { key, label, help, unit: "", effect: Effect::Live }
    }

    /// With a unit.
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }

    /// With an effect other than live.
    pub const fn effect(self, effect: Effect) -> Self {
        Self { effect, ..self }
    }
}

/// One option of a [`Choice`].
#[derive(Debug, PartialEq, Eq)]
pub struct Opt {
    /// The name in `--set`, files and the panel.
    pub name: &'static str,
    /// One sentence of help.
    pub help: &'static str,
}

/// A parameter with a few named options: an enum whose variants are listed once, in order.
pub trait Choice: Copy + PartialEq + 'static {
    /// The options with their names.
    const OPTIONS: &'static [(Self, Opt)];

    /// Where this option stands in the list.
    fn index(self) -> usize {
        Self::OPTIONS.iter().position(|(option, _)| *option == self).unwrap_or(0)
    }

    /// This option's name.
    fn name(self) -> &'static str {
        Self::OPTIONS[self.index()].1.name
    }
}

/// Reads or edits the parameters of a mode, one call each.
pub trait Visitor {
    /// A number in a range.
    fn float(&mut self, info: &Info, value: &mut f32, range: RangeInclusive<f32>, scale: Scale);
    /// A switch.
    fn flag(&mut self, info: &Info, value: &mut bool);
    /// One of `options`, by index. Modes call [`dyn Visitor::choice`] instead.
    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]);
}

impl dyn Visitor + '_ {
    /// One option of a [`Choice`].
    pub fn choice<C: Choice>(&mut self, info: &Info, value: &mut C) {
        let options: Vec<&'static Opt> = C::OPTIONS.iter().map(|(_, opt)| opt).collect();
        let mut index = value.index();
        self.option(info, &mut index, &options);
        *value = C::OPTIONS[index.min(C::OPTIONS.len() - 1)].0;
    }
}

/// Something with parameters: a plain struct whose `visit` says one line for each field.
pub trait Params {
    /// Shows every parameter to `visitor`, always in the same order.
    fn visit(&mut self, visitor: &mut dyn Visitor);
}

/// The value of a parameter, apart from where it lives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Value {
    /// A number.
    Float(f32),
    /// A switch.
    Flag(bool),
    /// The name of an option.
    Option(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Value::Float(x) => write!(f, "{x}"),
            Value::Flag(on) => write!(f, "{on}"),
            Value::Option(name) => f.write_str(name),
        }
    }
}

impl serde::Serialize for Value {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        match self {
            Value::Float(x) => s.serialize_f32(*x),
            Value::Flag(on) => s.serialize_bool(*on),
            Value::Option(name) => s.serialize_str(name),
        }
    }
}

/// Every parameter with its value, in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values(Vec<(&'static str, Effect, Value)>);

impl Values {
    /// The values of `params` now; `params` is only read, though a visit borrows it mutably.
    pub fn collect(params: &mut (impl Params + ?Sized)) -> Self {
        let mut values = Self::default();
        params.visit(&mut values);
        values
    }

    /// Keys and values in order.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, Value)> + '_ {
        self.0.iter().map(|&(key, _, value)| (key, value))
    }

    /// The value of `key`.
    pub fn get(&self, key: &str) -> Option<Value> {
        self.iter().find(|(k, _)| *k == key).map(|(_, value)| value)
    }

    /// The number `key`, if it is one.
    pub fn float(&self, key: &str) -> Option<f32> {
        match self.get(key)? {
            Value::Float(x) => Some(x),
            _ => None,
        }
    }

    /// Those whose change has this effect.
    pub fn of(&self, effect: Effect) -> Self {
        Self(self.0.iter().copied().filter(|(_, own, _)| *own == effect).collect())
    }

    /// What differs in `new`, and the costliest effect among it.
    pub fn changes(&self, new: &Values) -> (Vec<(&'static str, Value)>, Option<Effect>) {
        let changed = || self.0.iter().zip(&new.0).filter(|(old, new)| old != new).map(|(_, new)| *new);
        (
            changed().map(|(key, _, value)| (key, value)).collect(),
            changed().map(|(_, effect, _)| effect).max(),
        )
    }
}

impl serde::Serialize for Values {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_map(self.iter())
    }
}

impl Visitor for Values {
    fn float(&mut self, info: &Info, value: &mut f32, _: RangeInclusive<f32>, _: Scale) {
        self.0.push((info.key, info.effect, Value::Float(*value)));
    }

    fn flag(&mut self, info: &Info, value: &mut bool) {
        self.0.push((info.key, info.effect, Value::Flag(*value)));
    }

    fn option(&mut self, info: &Info, index: &mut usize, options: &[&'static Opt]) {
        self.0.push((info.key, info.effect, Value::Option(options[*index].name)));
    }
}

/// Why a parameter was not set. Nothing has changed then.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum SetError {
    /// No such key.
    #[error("there is no parameter `{key}`; the parameters are {known}")]
    UnknownKey {
        /// The key that was asked for.
        key: String,
        /// The keys there are.
        known: String,
    },
    /// A value that the parameter does not take.
    #[error("{key}={text} is not allowed: {key} takes {allowed}")]
    BadValue {
        /// The parameter.
        key: &'static str,
        /// What was given.
        text: String,
        /// What is allowed.
        allowed: String,
    },
}

/// Sets the parameter `key` from text.
///
/// # Errors
/// If there is no such key, or the text is no value that the parameter allows.
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
            self.outcome = Some(match parsed {
                Some(value) => {
                    *target = value;
                    Ok(())
                }
                None => {
                    Err(SetError::BadValue { key: info.key, text: self.text.to_owned(), allowed: allowed() })
                }
            });
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

/// The most combinations that are all tried.
const MOST_COMBINATIONS: usize = 16;

/// Combinations of the choices and switches of `params` that the simulation heeds, as `--set` would take them: all, or
/// where these are more than `MOST_COMBINATIONS` so many that any two of their values meet in at least one.
/// A choice among numbers stays what it is, as all other numbers do.
pub fn combinations(params: &mut (impl Params + ?Sized)) -> Vec<Vec<(&'static str, &'static str)>> {
    struct Product(Vec<Vec<(&'static str, &'static str)>>);
    impl Product {
        fn times(&mut self, key: &'static str, values: &[&'static str]) {
            let extended =
                self.0.iter().flat_map(|row| values.iter().map(|v| [row.as_slice(), &[(key, *v)]].concat()));
            self.0 = extended.collect();
        }
    }
    impl Visitor for Product {
        fn float(&mut self, _: &Info, _: &mut f32, _: RangeInclusive<f32>, _: Scale) {}
        fn flag(&mut self, info: &Info, _: &mut bool) {
            self.times(info.key, &["false", "true"]);
        }
        fn option(&mut self, info: &Info, _: &mut usize, options: &[&'static Opt]) {
            let counts = options.iter().any(|opt| opt.name.parse::<f32>().is_ok());
            if info.effect == Effect::View || counts {
                return;
            }
            self.times(info.key, &options.iter().map(|opt| opt.name).collect::<Vec<_>>());
        }
    }
    let mut product = Product(vec![Vec::new()]);
    params.visit(&mut product);
    if product.0.len() > MOST_COMBINATIONS { covering(product.0) } else { product.0 }
}

/// Those of `rows` that it takes for any two values that meet in a row to meet in one of them: the first row, and then
/// always the one in which most values meet that have not met before.
fn covering<T: Copy + Ord>(rows: Vec<Vec<T>>) -> Vec<Vec<T>> {
    let pairs = |row: &Vec<T>| -> BTreeSet<(T, T)> {
        (0..row.len()).flat_map(|i| (0..i).map(move |j| (j, i))).map(|(j, i)| (row[j], row[i])).collect()
    };
    let mut left: BTreeSet<(T, T)> = rows.iter().flat_map(pairs).collect();
    let mut chosen = Vec::new();
    while !left.is_empty() {
        let news = |row: &Vec<T>| pairs(row).intersection(&left).count();
        // The first of those that are as good.
        let best = rows.iter().rev().max_by_key(|row| news(row)).cloned().unwrap_or_default();
        left = left.difference(&pairs(&best)).copied().collect();
        chosen.push(best);
    }
    chosen
}
