//! Names of bodies.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::base::error::Plain;

/// Largest number of bodies that may have names.
pub const MAX_NAMED: usize = 1 << 18;
/// Maximum number of characters in the name of a body.
pub const MAX_NAME: usize = 48;

/// Names of bodies, by the index of the body. Bodies without a name are absent. Clones share memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BodyNames(Arc<BTreeMap<usize, Arc<str>>>);

impl BodyNames {
    /// Returns the name of a body, if it has one.
    pub fn get(&self, body: usize) -> Option<&str> {
        self.0.get(&body).map(|name| &**name)
    }

    /// Returns the index and the name of each named body, in the order of the indices.
    pub fn iter(&self) -> impl Iterator<Item = (usize, &str)> {
        self.0.iter().map(|(body, name)| (*body, &**name))
    }

    /// Returns whether no body has a name.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Removes the name of the body with the index `body`, if it has one, and lowers the index of each later body by 1.
    pub fn remove(&mut self, body: usize) {
        let later = |at: &usize| at - usize::from(*at > body);
        let left = self.0.iter().filter(|(at, _)| **at != body);
        self.0 = Arc::new(left.map(|(at, name)| (later(at), name.clone())).collect());
    }

    /// Returns the names as a list with an entry for each body up to the last named one; the entry of a body without a name
    /// is empty.
    pub fn to_list(&self) -> Vec<String> {
        let count = self.0.last_key_value().map_or(0, |(last, _)| last + 1);
        (0..count).map(|body| self.get(body).unwrap_or_default().to_owned()).collect()
    }

    /// Returns the names of the first `count` bodies.
    pub fn of_first(mut self, count: usize) -> Self {
        if !self.fit(count) {
            Arc::make_mut(&mut self.0).split_off(&count);
        }
        self
    }

    /// Returns whether all named bodies have an index below `count`.
    pub fn fit(&self, count: usize) -> bool {
        self.0.last_key_value().is_none_or(|(last, _)| *last < count)
    }
}

/// Collects the names of bodies 0, 1, and so on. An empty string means that a body has no name. Names are shortened to
/// [`MAX_NAME`] characters, control characters are escaped, and names beyond the first [`MAX_NAMED`] bodies are dropped.
impl<T: AsRef<str>> FromIterator<T> for BodyNames {
    fn from_iter<I: IntoIterator<Item = T>>(names: I) -> Self {
        let name = |(body, name): (usize, T)| {
            let name = name.as_ref().trim();
            (!name.is_empty()).then(|| (body, Plain(name, MAX_NAME).to_string().into()))
        };
        Self(Arc::new(names.into_iter().take(MAX_NAMED).enumerate().filter_map(name).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_with_their_bodies_when_a_body_is_removed() {
        let mut names: BodyNames = ["Sun", "", "Earth", "Moon"].into_iter().collect();
        assert_eq!(
            (names.get(2), names.get(1), names.fit(4), names.fit(3)),
            (Some("Earth"), None, true, false)
        );
        let before = names.clone();
        names.remove(1);
        assert_eq!(names.to_list(), ["Sun", "Earth", "Moon"]);
        names.remove(1);
        assert_eq!(names.to_list(), ["Sun", "Moon"]);
        assert_eq!(before.to_list(), ["Sun", "", "Earth", "Moon"], "copies keep their names");
    }

    #[test]
    fn body_names_are_truncated_and_control_characters_are_escaped() {
        let names: BodyNames = [" a\u{1b}b ".to_owned(), "x".repeat(500)].into_iter().collect();
        assert_eq!(names.get(0), Some("a\\u{1b}b"));
        assert!(names.get(1).is_some_and(|name| name.chars().count() <= MAX_NAME + 1));
    }
}
