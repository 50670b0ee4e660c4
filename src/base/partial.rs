//! Values for some of the parameters of a struct, such as the drawing settings that a scene or a user chooses.

use std::collections::BTreeMap;
use std::marker::PhantomData;

use super::params::{self, ChangeEffect, ParamValue, ParamValues, Params, SetError};

/// Values for some of the parameters of `P`. `P` accepts each of these values.
#[derive(Debug, Clone, PartialEq)]
pub struct Partial<P> {
    values: BTreeMap<&'static str, ParamValue>,
    of: PhantomData<P>,
}

impl<P> Default for Partial<P> {
    fn default() -> Self {
        Self { values: BTreeMap::new(), of: PhantomData }
    }
}

impl<P: Params + Default + Clone> Partial<P> {
    /// Returns the values of all parameters of `params`.
    pub fn all(params: &P) -> Self {
        Self { values: values(params).iter().collect(), of: PhantomData }
    }

    /// Returns the values in `after` that differ from those in `before`.
    pub fn changes(before: &P, after: &P) -> Self {
        let (changes, _) = values(before).changes(&values(after));
        Self { values: changes.into_iter().collect(), of: PhantomData }
    }

    /// Sets the parameter named `key` to the value that `text` represents.
    ///
    /// # Errors
    /// Returns an error, and changes nothing, if `P` has no such parameter or the parameter does not accept the text.
    pub fn set(&mut self, key: &str, text: &str) -> Result<(), SetError> {
        let mut params = P::default();
        params::set(&mut params, key, text)?;
        self.values.extend(values(&params).iter().filter(|(known, _)| *known == key));
        Ok(())
    }

    /// Sets the parameter named `key` to `value`, which must be a valid value of this parameter.
    pub fn insert(&mut self, key: &'static str, value: ParamValue) {
        self.values.insert(key, value);
    }

    /// Removes the value of the parameter named `key`, if there is one.
    pub fn remove(&mut self, key: &str) {
        self.values.remove(key);
    }

    /// Adds the values of `other`, which override existing values of the same parameters.
    pub fn extend(&mut self, other: &Self) {
        self.values.extend(other.iter());
    }

    /// Keeps only the values of parameters whose [`ChangeEffect`] is `effect`.
    pub fn retain(&mut self, effect: ChangeEffect) {
        let kept = values(&P::default()).of(effect);
        self.values.retain(|key, _| kept.get(key).is_some());
    }

    /// Returns the value of the parameter named `key`, or `None` if there is no value for it.
    pub fn get(&self, key: &str) -> Option<ParamValue> {
        self.values.get(key).copied()
    }

    /// Returns the key and the value of each parameter, in alphabetical order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, ParamValue)> + '_ {
        self.values.iter().map(|(key, value)| (*key, *value))
    }

    /// Returns whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Sets each parameter of `params` for which this `Partial` has a value.
    pub fn apply(&self, params: &mut P) {
        for (key, value) in self.iter() {
            let set = params::set(params, key, &value.to_string());
            debug_assert!(set.is_ok(), "{set:?}");
        }
    }

    /// Returns a `P` with these values; all other parameters have their defaults.
    pub fn complete(&self) -> P {
        let mut params = P::default();
        self.apply(&mut params);
        params
    }
}

fn values<P: Params + Clone>(params: &P) -> ParamValues {
    ParamValues::collect(&mut params.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::base::look::{Look, Palette};

    #[test]
    fn only_values_that_are_set_are_applied() {
        let mut partial = Partial::<Look>::default();
        partial.set("palette", "ice").unwrap();
        partial.set("trails", "23.7").unwrap();
        let mut look = Look { stars: 0.9, trails: 5.0, ..Look::default() };
        partial.apply(&mut look);
        assert_eq!(look, Look { stars: 0.9, palette: Palette::Ice, trails: 24.0, ..Look::default() });
        assert_eq!(Partial::changes(&Look::default(), &partial.complete()), partial);
        partial.remove("trails");
        assert_eq!(partial.iter().collect::<Vec<_>>(), [("palette", ParamValue::Option("ice"))]);
    }

    #[test]
    fn setting_an_unknown_key_or_an_invalid_value_changes_nothing() {
        let mut partial = Partial::<Look>::default();
        for (key, text) in [("nope", "1"), ("exposure", "5"), ("exposure", "nan"), ("bloom", "maybe")] {
            assert!(partial.set(key, text).is_err(), "{key}={text}");
        }
        assert!(partial.is_empty());
    }

    #[test]
    fn every_value_round_trips_exactly() {
        let look = Look { exposure: 0.1 + 0.2, bloom_strength: 1.0 / 3.0, turn: true, ..Look::default() };
        assert_eq!(Partial::all(&look).complete(), look);
    }
}
