//! Host memory that a driver may have lent.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A list of values in memory of which only the owner knows where it is from: the allocator's, or a driver's that a
/// device reaches faster. Its length stays.
pub struct Memory<T>(Box<dyn Lent<T>>);

/// Whoever owns the memory may be sent to, and looked at from, another thread.
trait Lent<T>: DerefMut<Target = [T]> + Send + Sync {}
impl<T, M: DerefMut<Target = [T]> + Send + Sync> Lent<T> for M {}

impl<T> Memory<T> {
    /// The memory that `owner` has, and gives back when it is dropped, on whichever thread that is.
    pub fn new(owner: impl DerefMut<Target = [T]> + Send + Sync + 'static) -> Self {
        Self(Box::new(owner))
    }
}

impl<T> Deref for Memory<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for Memory<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Send + Sync + 'static> From<Vec<T>> for Memory<T> {
    fn from(values: Vec<T>) -> Self {
        Self::new(values)
    }
}

impl<T: Send + Sync + 'static> FromIterator<T> for Memory<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Vec::from_iter(values).into()
    }
}

impl<T: Send + Sync + 'static> Default for Memory<T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<T: Clone + Send + Sync + 'static> Clone for Memory<T> {
    fn clone(&self) -> Self {
        self.to_vec().into()
    }
}

impl<T: PartialEq> PartialEq for Memory<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: fmt::Debug> fmt::Debug for Memory<T> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        (**self).fmt(f)
    }
}
