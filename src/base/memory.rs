//! Host memory from the allocator or from a driver.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// A fixed-length array in host memory, allocated by Rust or by a driver. Devices access memory that a driver allocated
/// faster than other memory.
///
/// The values stay at the same address when the `Memory` moves, and are accessible only through the `Memory`.
pub struct Memory<T>(Box<dyn Owner<T>>);

/// An owner of memory that dereferences to a slice.
trait Owner<T>: DerefMut<Target = [T]> + Send + Sync {}
impl<T, M: DerefMut<Target = [T]> + Send + Sync> Owner<T> for M {}

impl<T> Memory<T> {
    /// Wraps the memory of `owner`.
    ///
    /// # Safety
    /// Until `owner` is dropped, it must always dereference to the same slice, and nothing else may access the slice.
    pub unsafe fn new(owner: impl DerefMut<Target = [T]> + Send + Sync + 'static) -> Self {
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
        // SAFETY: a `Vec` that nothing can resize dereferences to its own allocation.
        unsafe { Self::new(values) }
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
